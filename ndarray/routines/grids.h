// Grids of positions and numbers: coordinates, geometric sequences, sequences between arrays, powers of a vector.
// (arange, linspace and logspace of numbers, meshgrid: creation.h.)
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include <catena/ndarray/core/array.h>
#include <catena/ndarray/routines/creation.h>

namespace nd {

// ---- coordinates --------------------------------------------------------------------------------
struct IndicesOptions {
  std::optional<Dtype> dtype = {};  // default: int64
};
namespace internal {
CATENA_EXPORT Array indices(const Shape& dimensions, const IndicesOptions& options);
}  // namespace internal
// Returns the positions of all elements of an array of that shape: element (k, i, j...) is the position (i, j...)[k].
// The result has the shape (number of dimensions, dimensions...).
template <internal::DtypeOr<IndicesOptions> O = IndicesOptions>
Array indices(const Shape& dimensions, const O& options = {}) {
  return internal::indices(dimensions, internal::with_dtype<IndicesOptions>(options));
}

// A number of points as the step of a GridRange, as 5j in NumPy: the range then ends with its stop.
inline Scalar points(std::int64_t n) { return Scalar(catena::complex128(0, static_cast<double>(n))); }
// A range of numbers: start, start + step... before stop; start is 0 and step 1 if they are absent. With a complex step
// such as points(5), that many numbers from start to stop.
struct GridRange {
  Scalar start = 0, stop = 0, step = 1;
  GridRange(const Scalar& start_, const Scalar& stop_, const Scalar& step_ = 1)
      : start(start_), stop(stop_), step(step_) {}
  CATENA_EXPORT GridRange(const Slice& range);  // ValueError for a slice without stop
};
namespace internal {
template <class R>
concept OneRange = std::same_as<R, GridRange> || std::same_as<R, Slice>;
CATENA_EXPORT Array grid_line(const GridRange& range);
template <std::size_t N> std::array<Array, N> as_array_of(const std::vector<Array>& list) {
  std::array<Array, N> result;
  for (std::size_t k = 0; k < N; ++k) result[k] = list[k];
  return result;
}
}  // namespace internal

// The dense grid of several ranges: mgrid({0, 5}, {0, 1, 0.5}), mgrid(Slice(0, 5), {0, 1, points(3)}). Element k of the
// result is the grid of the numbers of range k, which vary along axis k. int64 if all ranges are of integers, else
// float64. A single range gives an array of rank 1. ValueError for a step of 0.
CATENA_EXPORT Array mgrid(const std::vector<GridRange>& ranges);
template <internal::OneRange R> Array mgrid(const R& range) { return internal::grid_line(range); }
inline Array mgrid(const GridRange& x, const GridRange& y) { return mgrid(std::vector{x, y}); }
inline Array mgrid(const GridRange& x, const GridRange& y, const GridRange& z) { return mgrid(std::vector{x, y, z}); }
// The open grid: one array for each range, with its numbers along axis k and length 1 on the others.
// auto [y, x] = ogrid({0, 3}, {0, 4});
CATENA_EXPORT std::vector<Array> ogrid(const std::vector<GridRange>& ranges);
template <internal::OneRange R> Array ogrid(const R& range) { return internal::grid_line(range); }
inline std::array<Array, 2> ogrid(const GridRange& x, const GridRange& y) {
  return internal::as_array_of<2>(ogrid(std::vector{x, y}));
}
inline std::array<Array, 3> ogrid(const GridRange& x, const GridRange& y, const GridRange& z) {
  return internal::as_array_of<3>(ogrid(std::vector{x, y, z}));
}
// The positions of an array of that shape as an open grid: np.indices(shape, sparse=True).
CATENA_EXPORT std::vector<Array> ogrid(const Shape& shape);

namespace internal {
CATENA_EXPORT std::vector<Array> index_views(const Shape& shape, Dtype dtype);
template <class F, std::size_t... K> Array called(F&& f, const std::vector<Array>& x, std::index_sequence<K...>) {
  return Array(f(x[K]...));
}
template <int N, class F> Array called_with(F&& f, const std::vector<Array>& x) {
  constexpr auto invocable = []<std::size_t... K>(std::index_sequence<K...>) {
    return std::is_invocable_v<F&, decltype((void(K), std::declval<const Array&>()))...>;
  };
  if constexpr (invocable(std::make_index_sequence<std::size_t(N)>())) {
    if (x.size() == N) return called(f, x, std::make_index_sequence<std::size_t(N)>());
  }
  if constexpr (N < 6) return called_with<N + 1>(f, x);
  else
    catena::fail<ValueError>("fromfunction", "the function does not take ", x.size(),
                             " arrays, one for each axis of the "
                             "shape, which may have up to 6");
}
}  // namespace internal
// Returns function(i, j...) of the positions of all elements of an array of that shape, one array of `dtype` for each
// axis: fromfunction([](auto i, auto j) { return i + j; }, {3, 4}). The arguments are views that cannot be written.
// ValueError for another number of axes than arguments.
template <class F> Array fromfunction(F&& function, const Shape& shape, Dtype dtype = Dtype::float64) {
  return internal::called_with<1>(function, internal::index_views(shape, dtype));
}

// ---- sequences ----------------------------------------------------------------------------------
struct SpacingOptions {
  bool endpoint = true;
  std::optional<Dtype> dtype = {};
  int axis = 0;  // of the result: the axis along which the numbers of a sequence are
};
// linspace of arrays, which broadcast: num numbers from start to stop along a new axis. The dtype is the promotion of
// both, and float64 for integers. ValueError for num < 0 and an axis out of range.
CATENA_EXPORT Array linspace(const Operand& start, const Operand& stop, std::int64_t num = 50,
                             const SpacingOptions& options = {});
struct PowerSpacingOptions {
  bool endpoint = true;
  double base = 10.0;
  std::optional<Dtype> dtype = {};
  int axis = 0;
};
// base to the powers linspace(start, stop, num).
CATENA_EXPORT Array logspace(const Operand& start, const Operand& stop, std::int64_t num = 50,
                             const PowerSpacingOptions& options = {});
// num numbers from start to stop with equal ratios, of numbers or of arrays. Both ends may be negative or complex.
// float64 or complex128 unless a dtype is given. ValueError if an end is 0; with arrays, this waits for the device.
CATENA_EXPORT Array geomspace(const Operand& start, const Operand& stop, std::int64_t num = 50,
                              const SpacingOptions& options = {});
inline Array geomspace(const Operand& start, const Operand& stop, std::int64_t num, bool endpoint) {
  return geomspace(start, stop, num, {.endpoint = endpoint});
}

struct VanderOptions {
  std::optional<std::int64_t> N = {};  // columns; default: the size of x
  bool increasing = false;             // powers from 0 on; default: down to 0
};
// Returns the matrix whose columns are the powers of a vector (ValueError for other ranks), in the promotion of its
// dtype with int64.
CATENA_EXPORT Array vander(const Array& x, const VanderOptions& options = {});
inline Array vander(const Array& x, std::int64_t N, bool increasing = false) {
  return vander(x, {.N = N, .increasing = increasing});
}

}  // namespace nd
