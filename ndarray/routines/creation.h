// The room ndarray/routines/: the functions that users call, by NumPy's chapters: creation, manipulation, joining,
// indexing, math, reduction, statistics, sorting, linalg, random, io, print. A routine checks its arguments and
// describes calls; it launches nothing itself but goes through ndarray/engine/. May use kernels/, ndarray/core/,
// ndarray/device/ and ndarray/engine/; random also cuRAND through ndarray/cuda/vendor/.
//
// This header: new arrays by shape, from host data, of ranges, and matrices. Results are on the current device and,
// unless stated otherwise, C-contiguous.
//
// ValueError for a shape with a negative length or too many elements, OutOfMemoryError if there is not enough memory.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <catena/ndarray/core/array.h>

namespace nd {

struct CreateOptions {
  std::optional<Dtype> dtype = {};
  Order order = Order::C;
};
struct ArrayOptions {
  std::optional<Dtype> dtype = {};
  bool copy = true;
  int ndmin = 0;  // the least rank: axes of length 1 are prepended
};
struct EyeOptions {
  std::optional<std::int64_t> M = {};  // columns; default: N
  std::int64_t k = 0;                  // number of the diagonal; above the main one for k > 0
  Dtype dtype = Dtype::float64;
};
struct LinspaceOptions {
  bool endpoint = true;
  std::optional<Dtype> dtype = {};
};
struct LogspaceOptions {
  bool endpoint = true;
  double base = 10.0;
  std::optional<Dtype> dtype = {};
};
struct MeshgridOptions {
  std::string_view indexing = "xy";  // or "ij"
  bool copy = true;                  // false: broadcast views instead of copies
};

// ---- by shape: float64 unless a dtype is given --------------------------------------------------
CATENA_EXPORT Array empty(const Shape& shape, const CreateOptions& options);  // uninitialised
CATENA_EXPORT Array zeros(const Shape& shape, const CreateOptions& options);
CATENA_EXPORT Array ones(const Shape& shape, const CreateOptions& options);
inline Array empty(const Shape& shape, Dtype dtype = Dtype::float64) {
  return empty(shape, CreateOptions{.dtype = dtype});
}
inline Array zeros(const Shape& shape, Dtype dtype = Dtype::float64) {
  return zeros(shape, CreateOptions{.dtype = dtype});
}
inline Array ones(const Shape& shape, Dtype dtype = Dtype::float64) {
  return ones(shape, CreateOptions{.dtype = dtype});
}
template <std::integral I> Array empty(I n, Dtype dtype = Dtype::float64) {
  return empty(Shape{static_cast<std::int64_t>(n)}, dtype);
}
template <std::integral I> Array zeros(I n, Dtype dtype = Dtype::float64) {
  return zeros(Shape{static_cast<std::int64_t>(n)}, dtype);
}
template <std::integral I> Array ones(I n, Dtype dtype = Dtype::float64) {
  return ones(Shape{static_cast<std::int64_t>(n)}, dtype);
}

// With the shape and (unless given) the dtype of `a`; C order, on the current device.
CATENA_EXPORT Array empty_like(const Array& a, std::optional<Dtype> dtype = {});
CATENA_EXPORT Array zeros_like(const Array& a, std::optional<Dtype> dtype = {});
CATENA_EXPORT Array ones_like(const Array& a, std::optional<Dtype> dtype = {});
CATENA_EXPORT Array full_like(const Array& a, const Scalar& value, std::optional<Dtype> dtype = {});

namespace internal {
// The dtype of a C++ type, as in NumPy: int64 for int, otherwise the dtype of the type.
template <class E> constexpr Dtype literal_dtype() {
  if constexpr (std::is_same_v<E, int>) return Dtype::int64;
  else return catena::dtype_of<E>;
}
CATENA_EXPORT Array from_elements(const void* data, Dtype data_dtype, const Shape& shape, const ArrayOptions& options);
[[noreturn]] CATENA_EXPORT void throw_ragged(std::int64_t expected, std::size_t got);
[[noreturn]] CATENA_EXPORT void throw_wrong_count(std::size_t n, const Shape& shape);
}  // namespace internal

// Every element is `value`. The dtype, unless given, is that of the value: int64 for an int, float32 for a float,
// float64 for a double...
CATENA_EXPORT Array full(const Shape& shape, const Scalar& value, const CreateOptions& options = {});
template <Element E> Array full(const Shape& shape, E value, const CreateOptions& options = {}) {
  return full(shape, Scalar(value),
              {.dtype = options.dtype.value_or(internal::literal_dtype<E>()), .order = options.order});
}

// ---- from data ----------------------------------------------------------------------------------
// A copy of another array, cast unsafely; with copy = false the array itself or a view, if nothing has to change.
CATENA_EXPORT Array array(const Array& a, const ArrayOptions& options = {});
// A 0-d array of a host number.
template <Element E> Array array(E value, const ArrayOptions& options = {}) {
  const Scalar s(value);
  const Array a = full(Shape{}, s, {.dtype = options.dtype.value_or(internal::literal_dtype<E>())});
  return options.ndmin > 0 ? array(a, {.copy = false, .ndmin = options.ndmin}) : a;
}
// n host elements in C order, copied. The dtype is that of E unless given.
template <Element E> Array array(const E* data, const Shape& shape, const ArrayOptions& options = {}) {
  return internal::from_elements(data, catena::dtype_of<E>, shape, options);
}
// A vector; ValueError if its number of elements is not that of the shape.
template <Element E> Array array(const std::vector<E>& values, const Shape& shape, const ArrayOptions& options = {}) {
  if (std::int64_t(values.size()) != catena::size_of(shape)) internal::throw_wrong_count(values.size(), shape);
  if constexpr (std::is_same_v<E, bool>) {
    const std::vector<unsigned char> bytes(values.begin(), values.end());
    return internal::from_elements(bytes.data(), Dtype::bool_, shape, options);
  } else {
    return internal::from_elements(values.data(), catena::dtype_of<E>, shape, options);
  }
}
template <Element E> Array array(const std::vector<E>& values, const ArrayOptions& options = {}) {
  return array(values, Shape{std::int64_t(values.size())}, options);
}
// Nested lists: array({1.0, 2.0}), array({{1, 2}, {3, 4}}). Integer literals give int64, as in NumPy. ValueError for
// nested lists of different lengths.
template <Element E> Array array(std::initializer_list<E> values, const ArrayOptions& options = {}) {
  const Dtype dtype = options.dtype.value_or(internal::literal_dtype<E>());
  return internal::from_elements(values.begin(), catena::dtype_of<E>, Shape{std::int64_t(values.size())},
                                 {.dtype = dtype, .ndmin = options.ndmin});
}
template <Element E>
Array array(std::initializer_list<std::initializer_list<E>> rows, const ArrayOptions& options = {}) {
  const std::int64_t columns = rows.size() == 0 ? 0 : std::int64_t(rows.begin()->size());
  std::vector<std::conditional_t<std::is_same_v<E, bool>, unsigned char, E>> flat;
  for (const auto& row : rows) {
    if (std::int64_t(row.size()) != columns) internal::throw_ragged(columns, row.size());
    flat.insert(flat.end(), row.begin(), row.end());
  }
  const Dtype dtype = options.dtype.value_or(internal::literal_dtype<E>());
  return internal::from_elements(flat.data(), catena::dtype_of<E>, Shape{std::int64_t(rows.size()), columns},
                                 {.dtype = dtype, .ndmin = options.ndmin});
}
template <Element E>
Array array(std::initializer_list<std::initializer_list<std::initializer_list<E>>> planes,
            const ArrayOptions& options = {}) {
  const std::int64_t rows = planes.size() == 0 ? 0 : std::int64_t(planes.begin()->size());
  const std::int64_t columns = rows == 0 ? 0 : std::int64_t(planes.begin()->begin()->size());
  std::vector<std::conditional_t<std::is_same_v<E, bool>, unsigned char, E>> flat;
  for (const auto& plane : planes) {
    if (std::int64_t(plane.size()) != rows) internal::throw_ragged(rows, plane.size());
    for (const auto& row : plane) {
      if (std::int64_t(row.size()) != columns) internal::throw_ragged(columns, row.size());
      flat.insert(flat.end(), row.begin(), row.end());
    }
  }
  const Dtype dtype = options.dtype.value_or(internal::literal_dtype<E>());
  return internal::from_elements(flat.data(), catena::dtype_of<E>, Shape{std::int64_t(planes.size()), rows, columns},
                                 {.dtype = dtype, .ndmin = options.ndmin});
}

// The array itself if it already has that dtype, else a converted copy.
CATENA_EXPORT Array asarray(const Array& a, std::optional<Dtype> dtype = {});
inline Array asanyarray(const Array& a, std::optional<Dtype> dtype = {}) { return asarray(a, dtype); }
// The array itself if it is C-contiguous and has that dtype, else a copy in C order. 0-d arrays stay 0-d.
CATENA_EXPORT Array ascontiguousarray(const Array& a, std::optional<Dtype> dtype = {});

// ---- ranges -------------------------------------------------------------------------------------
// start + k * step for 0 <= k < ceil((stop - start) / step). The values are computed in the dtype, which is, unless
// given, float64 if an argument is floating, else int64. ValueError for a step of 0 or a length that is NaN or too
// large; TypeError for more than two bools.
CATENA_EXPORT Array arange(const Scalar& stop, const CreateOptions& options = {});
CATENA_EXPORT Array arange(const Scalar& start, const Scalar& stop, const CreateOptions& options = {});
CATENA_EXPORT Array arange(const Scalar& start, const Scalar& stop, const Scalar& step,
                           const CreateOptions& options = {});

// num evenly spaced numbers from start to stop (the last one is exactly stop if endpoint), computed in float64 and cast
// unsafely. ValueError for num < 0.
CATENA_EXPORT Array linspace(double start, double stop, std::int64_t num = 50, const LinspaceOptions& options = {});
// The same, and the step; NaN if there is no step.
CATENA_EXPORT std::pair<Array, double> linspace_retstep(double start, double stop, std::int64_t num = 50,
                                                        const LinspaceOptions& options = {});
// base to the powers linspace(start, stop, num).
CATENA_EXPORT Array logspace(double start, double stop, std::int64_t num = 50, const LogspaceOptions& options = {});

// Coordinate arrays over the grid of 1-D arrays (ValueError for other ranks), one per array, all of the common shape.
// "xy" swaps the first two axes, "ij" does not (ValueError for other strings). A single array is returned unchanged.
CATENA_EXPORT std::vector<Array> meshgrid(const std::vector<Array>& xi, const MeshgridOptions& options = {});

// ---- matrices -----------------------------------------------------------------------------------
// Ones where column - row == k, else zeros.
CATENA_EXPORT Array eye(std::int64_t N, const EyeOptions& options = {});
CATENA_EXPORT Array identity(std::int64_t n, Dtype dtype = Dtype::float64);
// 1-D: a square matrix with v on diagonal k. 2-D: diagonal k as a view. ValueError for other ranks.
CATENA_EXPORT Array diag(const Array& v, std::int64_t k = 0);
CATENA_EXPORT Array diagflat(const Array& v, std::int64_t k = 0);  // diag(ravel(v), k)
template <Element E> Array diag(const std::vector<E>& v, std::int64_t k = 0) { return diag(array(v), k); }
template <Element E> Array diagflat(const std::vector<E>& v, std::int64_t k = 0) { return diag(array(v), k); }

}  // namespace nd
