// Text of arrays, as NumPy writes it: rows in brackets, columns aligned, floats with as many digits as they need (at
// most `precision` behind the point), scientific when the largest is 1000 times the smallest, above 1e8 or the smallest
// below 1e-4, "..." in long arrays.
//
//   std::cout << a;                          [[1. 2.]
//                                             [3. 4.]]
//   nd::array_repr(a)                        array([[1., 2.],
//                                                  [3., 4.]])
//
// All of this waits for the device.
#pragma once

#include <iosfwd>
#include <string>

#include <catena/ndarray/core/array.h>

namespace nd {

struct PrintOptions {
  int precision = 8;              // digits behind the point
  std::int64_t threshold = 1000;  // arrays of more elements are summarised
  int edgeitems = 3;              // elements at each end of an axis that a summary shows
  int linewidth = 75;
  bool suppress_small = false;  // no scientific notation because of small numbers
};

// Without dtype. A 0-d array is its element, with all the digits that identify it. ValueError for negative options.
CATENA_EXPORT std::string array_str(const Array& a, const PrintOptions& options = {});
// array(...), with the dtype where the elements do not show it (all but bool, int64 and float64). "[]" is written for
// an array without elements, with its shape unless that is (0,).
CATENA_EXPORT std::string array_repr(const Array& a, const PrintOptions& options = {});

inline std::string to_string(const Array& a, const PrintOptions& options = {}) { return array_str(a, options); }
using catena::to_string;  // of shapes and devices

CATENA_EXPORT std::ostream& operator<<(std::ostream& out, const Array& a);  // array_str; "null" for a null array

}  // namespace nd
