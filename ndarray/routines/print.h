// Text of arrays in NumPy's format: rows in brackets, aligned columns, floats with the digits needed to identify them
// (at most `precision` behind the point). The format is scientific if the largest magnitude is 1000 times the smallest
// or at least 1e8 (float32: 1e6, float16: 1e3), or the smallest is below 1e-4; long arrays are abbreviated with "...".
//
//   std::cout << a;                          [[1. 2.]
//                                             [3. 4.]]
//   nd::array_repr(a)                        array([[1., 2.],
//                                                  [3., 4.]])
//
// All functions wait for the device.
#pragma once

#include <iosfwd>
#include <string>

#include <catena/ndarray/core/array.h>

namespace nd {

struct PrintOptions {
  int precision = 8;              // digits behind the point
  std::int64_t threshold = 1000;  // arrays with more elements are summarised
  int edgeitems = 3;              // elements shown at each end of an axis in a summary
  int linewidth = 75;
  bool suppress_small = false;  // small numbers do not cause scientific notation
};

// Returns the text without the dtype. A 0-d array is printed as its element, with the digits that identify it.
// ValueError for negative options.
CATENA_EXPORT std::string array_str(const Array& a, const PrintOptions& options = {});
// Returns array(...), with the dtype unless the elements imply it (bool, int64 and float64). An array without elements
// is "[]", with its shape unless that is (0,).
CATENA_EXPORT std::string array_repr(const Array& a, const PrintOptions& options = {});

inline std::string to_string(const Array& a, const PrintOptions& options = {}) { return array_str(a, options); }
using catena::to_string;  // for shapes and devices

// Writes array_str; "null" for a null array. If the precision of the stream is not the default 6, it is the number of
// digits behind the point: out << std::setprecision(3) << a, also for a 0-d array. The stream's locale has no effect.
CATENA_EXPORT std::ostream& operator<<(std::ostream& out, const Array& a);

}  // namespace nd
