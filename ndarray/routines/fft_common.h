// For the functions of nd::fft: axes, lengths, scales and dtypes.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

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

// An axis of a transform along several, and its length if one is given.
struct FftAxis {
  int axis;
  std::optional<std::int64_t> n;
};
// The axes of a transform, in the order in which they are given; by default the last s.size() axes, or all. A length of
// -1 is that of the array. ValueError if `s` and `axes` have different lengths, and for an axis out of range.
CATENA_EXPORT std::vector<FftAxis> fft_axes(std::string_view op, const Array& a, const std::optional<Shape>& s,
                                            const Axes& axes);

}  // namespace nd::internal
