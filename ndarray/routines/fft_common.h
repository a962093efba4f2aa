// For the functions of nd::fft: lengths, scales and dtypes.
#pragma once

#include <string_view>

#include <catena/ndarray/core/array.h>

namespace nd::internal {

// True for the dtypes that are transformed in single precision.
CATENA_EXPORT bool is_single_precision(Dtype dtype);
// The factor of a transform whose product with its inverse is `size` times its argument. ValueError for another norm
// than "backward", "ortho" and "forward".
CATENA_EXPORT double fft_scale(std::string_view op, std::string_view norm, double size, bool inverse);
// The array in a dtype as contiguous rows of `length` numbers along the last axis: the first ones, or with zeros
// behind.
CATENA_EXPORT Array rows_of_length(const Array& a, std::int64_t length, Dtype dtype);

}  // namespace nd::internal
