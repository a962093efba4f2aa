// Elements and indices of the loops over sparse matrices: their types, sums and products. Internal to ndarray/sparse.
#pragma once

#include <cstdint>
#include <type_traits>

#include <catena/ndarray/core/array.h>

#define CATENA_INLINE inline __attribute__((always_inline))

namespace nd::sparse::loops {

template <class T> CATENA_INLINE void add(T& sum, const T& x) {
  if constexpr (std::is_same_v<T, bool>) {
    sum |= x;
  } else if constexpr (catena::is_complex_dtype(catena::dtype_of<T>)) {
    sum.re += x.re;
    sum.im += x.im;
  } else {
    sum = static_cast<T>(sum + x);
  }
}
template <class T> CATENA_INLINE void add_product(T& sum, const T& x, const T& y) {
  if constexpr (std::is_same_v<T, bool>) {
    sum |= x && y;
  } else if constexpr (catena::is_complex_dtype(catena::dtype_of<T>)) {
    sum.re += x.re * y.re - x.im * y.im;
    sum.im += x.re * y.im + x.im * y.re;
  } else if constexpr (sizeof(T) < sizeof(int)) {
    sum = static_cast<T>(sum + unsigned(x) * y);
  } else {
    sum += x * y;
  }
}

// Signed integers are calculated as unsigned ones, which wrap.
template <class F> void visit_elements(Dtype dtype, F&& f) {
  switch (dtype) {
    case Dtype::bool_: return f(bool{});
    case Dtype::int8:
    case Dtype::uint8: return f(std::uint8_t{});
    case Dtype::int16:
    case Dtype::uint16: return f(std::uint16_t{});
    case Dtype::int32:
    case Dtype::uint32: return f(std::uint32_t{});
    case Dtype::int64:
    case Dtype::uint64: return f(std::uint64_t{});
    case Dtype::float32: return f(float{});
    case Dtype::float64: return f(double{});
    case Dtype::complex64: return f(complex64_t{});
    case Dtype::complex128: return f(complex128_t{});
    default: catena::fail<TypeError>("sparse", "matrices of ", dtype, " are not available");
  }
}
template <class F> void visit_indices(Dtype dtype, F&& f) {
  if (dtype == Dtype::int32) f(std::int32_t{});
  else f(std::int64_t{});
}

template <class T> const T* elements(const Array& a) { return reinterpret_cast<const T*>(a->data); }
template <class T> T* elements_to_write(const Array& a) { return reinterpret_cast<T*>(a->data); }

}  // namespace nd::sparse::loops
