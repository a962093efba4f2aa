// The order of complex numbers is NumPy's: by the real parts, equal ones by the imaginary parts. Numbers with NaN come
// last: those with a NaN as imaginary part, then those with a NaN as real part, then those with two.
//
// Thread safety: as for array.h.
#pragma once

#include <catena/ndarray/core/array.h>

namespace nd::internal {

// The int64 positions that sort a complex array along an axis; equal numbers keep their order.
CATENA_EXPORT Array complex_argsort(const Array& a, int axis);

// The positions of the greatest or the least complex numbers, as argmax counts them, and the numbers. The first number
// with a NaN counts as both. ValueError for an empty reduction.
CATENA_EXPORT Array complex_position(std::string_view op, const Array& a, const ArgReduceOptions& options,
                                     bool greatest);
CATENA_EXPORT Array complex_extremum(std::string_view op, const Array& a, const ReduceOptions& options, bool greatest);
// Among the numbers without NaN, if there is one.
CATENA_EXPORT Array complex_nan_extremum(std::string_view op, const Array& a, const TestOptions& options,
                                         bool greatest);

}  // namespace nd::internal
