// Text of arrays in NumPy's format (kernels/base/array_text.h).
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

#include <catena/kernels/base/array_text.h>
#include <catena/ndarray/core/array.h>

namespace nd {

using catena::get_printoptions, catena::printoptions, catena::PrintOptions, catena::set_printoptions;

// Returns the text without the dtype. A 0-d array is printed as its element, with the digits that identify it.
// ValueError for negative options.
CATENA_EXPORT std::string array_str(const Array& a, const PrintOptions& options = get_printoptions());
// Returns array(...), with the dtype unless the elements imply it (bool, int64 and float64). An array without elements
// is "[]", with its shape unless that is (0,).
CATENA_EXPORT std::string array_repr(const Array& a, const PrintOptions& options = get_printoptions());

// NumPy's other name of array_str.
inline std::string array2string(const Array& a, const PrintOptions& options = get_printoptions()) {
  return array_str(a, options);
}

// The text that operator<< prints.
inline std::string to_string(const Array& a, const PrintOptions& options = get_printoptions()) {
  return array_str(a, options);
}
using catena::to_string;  // for shapes and devices

// Writes array_str; "null" for a null array. If the precision of the stream is not the default 6, it is the number of
// digits behind the point: out << std::setprecision(3) << a, also for a 0-d array. The stream's locale has no effect.
CATENA_EXPORT std::ostream& operator<<(std::ostream& out, const Array& a);

}  // namespace nd
