// Padding: elements before and after each axis, by NumPy's modes.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include <catena/kernels/base/arguments.h>
#include <catena/kernels/base/function.h>
#include <catena/ndarray/core/array.h>

namespace nd {

using catena::PadSides;

struct PadOptions {
  PadSides<Scalar> constant_values = Scalar(0);            // of "constant"; cast to the dtype of the array
  std::optional<PadSides<std::int64_t>> stat_length = {};  // of maximum...: elements at each side; default: all
  PadSides<Scalar> end_values = Scalar(0);                 // of "linear_ramp": at the outer ends
  std::string_view reflect_type =
      "even";  // of "reflect", "symmetric"; "odd": twice the edge minus the mirrored element
};
// Returns a copy with elements added before and after each axis. Modes:
//   constant      constant_values
//   edge          the first and the last element
//   linear_ramp   numbers from end_values to the edge
//   maximum, mean, median, minimum   of the stat_length elements at the side
//   reflect       mirrored at the first and the last element: 3 2 | 1 2 3 | 2 1
//   symmetric     mirrored at the edge: 2 1 | 1 2 3 | 3 2
//   wrap          continued periodically: 2 3 | 1 2 3 | 1 2
//   empty         not initialised
// Axes are padded in order, so the values of later axes fill the corners. ValueError for another mode, negative widths,
// a list of sides whose length is neither 1 nor the rank, an axis of length 0 that cannot be continued, and a
// stat_length that is negative, or 0 for maximum and minimum.
CATENA_EXPORT Array pad(const Array& array, const PadSides<std::int64_t>& pad_width, std::string_view mode = "constant",
                        const PadOptions& options = {});
template <class O = PadOptions>  // pad(a, 1, {.constant_values = 5})
Array pad(const Array& array, const PadSides<std::int64_t>& pad_width, const std::type_identity_t<O>& options) {
  return pad(array, pad_width, "constant", options);
}

namespace internal {
using PadFunction = catena::Function<void(const Array& vector, std::pair<std::int64_t, std::int64_t> width, int axis)>;
}
// Pads by a function: for each axis in order, f(vector, {before, after}, axis) for every vector along it. The vectors
// are views of the result, with 0 where elements were added, into which f writes.
//   nd::pad(a, 2, [](const nd::Array& v, std::pair<std::int64_t, std::int64_t> width, int) {
//     if (width.first > 0) v(nd::Slice(0, width.first)) = 10;
//   });
CATENA_EXPORT Array pad(const Array& array, const PadSides<std::int64_t>& pad_width, const internal::PadFunction& f);

}  // namespace nd
