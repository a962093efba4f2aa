// Types for the text of an ElementwiseKernel or a ReductionKernel in addition to CUDA's own: 16-bit floats with
// arithmetic, complex numbers, operands, minimum and maximum of numbers of two types, constants, and atomic functions
// for element types that CUDA does not support.
#pragma once

#include <catena/kernels/device/atomic_pair.h>
#include <catena/kernels/device/user_complex.h>
#include <catena/kernels/device/user_module.h>
#include <catena/kernels/device/user_parameters.h>
#include <catena/kernels/numeric.h>

// The text of one element is a function. On the CPU it must be inlined into the loop, so that the loop is vectorised.
#if defined(CATENA_USER_HOST)
#define CATENA_USER_ELEMENT [&]() __attribute__((always_inline))->void
#else
#define CATENA_USER_ELEMENT [&]() -> void
#endif

// The constants of <math.h>, which NVRTC lacks, and of CUDA's math_constants.h.
#if CATENA_DEVICE
using ptrdiff_t = decltype(static_cast<char*>(nullptr) - static_cast<char*>(nullptr));
#define INFINITY __builtin_bit_cast(float, 0x7f800000u)
#define NAN __builtin_bit_cast(float, 0x7fc00000u)
#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LOG10E 0.43429448190325182765
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
#endif
#define CUDART_PI_F 3.141592654f
#define CUDART_PI 3.1415926535897931e+0
#define CUDART_INF_F __builtin_bit_cast(float, 0x7f800000u)
#define CUDART_INF __builtin_bit_cast(double, 0x7ff0000000000000ull)
#define CUDART_NAN_F __builtin_bit_cast(float, 0x7fffffffu)
#define CUDART_NAN __builtin_bit_cast(double, 0xfff8000000000000ull)

// min(x, 2) for an x of another type than int, with the type of `?:`. CUDA has it only for some pairs of types.
#if !defined(CATENA_CPU_SHIM)
namespace catena::user {
template <class T>
concept builtin_number = !__is_class(T) && requires(T v) {
  v + 1.0;
};
template <class A, class B>
concept different_numbers = builtin_number<A> && builtin_number<B> && !is_same<A, B>;
}  // namespace catena::user
template <class A, class B>
requires(catena::user::different_numbers<A, B>) ND_FN auto min(A a, B b) -> decltype(true ? a : b) {
  using T = decltype(true ? a : b);
  return min(T(a), T(b));
}
template <class A, class B>
requires(catena::user::different_numbers<A, B>) ND_FN auto max(A a, B b) -> decltype(true ? a : b) {
  using T = decltype(true ? a : b);
  return max(T(a), T(b));
}
#endif

namespace catena::user {

// The type of int64 elements and of positions. It is long long because CUDA's min and similar functions are ambiguous
// for a long and a long long.
using int64 = long long;

// Types with numbers that a float cannot hold; they must be converted to a 16-bit float directly.
template <class T>
concept finer_than_float = is_same<T, double> || is_same<T, int> || is_same<T, unsigned> || is_same<T, long> ||
    is_same<T, unsigned long> || is_same<T, long long> || is_same<T, unsigned long long>;

// A 16-bit float: computed in float, rounded to nearest even at every store.
template <class S> struct Half {
  S stored;

  Half() = default;
  ND_FN Half(float v) : stored(v) {}
  template <finer_than_float T> ND_FN Half(T v) : stored(convert<S>(v)) {}
  ND_FN operator float() const { return float(stored); }
  ND_FN Half& operator+=(float v) { return *this = Half(float(*this) + v); }
  ND_FN Half& operator-=(float v) { return *this = Half(float(*this) - v); }
  ND_FN Half& operator*=(float v) { return *this = Half(float(*this) * v); }
  ND_FN Half& operator/=(float v) { return *this = Half(float(*this) / v); }
  ND_FN Half& operator++() { return *this += 1.0f; }
  ND_FN Half& operator--() { return *this -= 1.0f; }
  static ND_FN Half of_bits(uint32_t b) {
    Half r;
    r.stored.bits = uint16_t(b);
    return r;
  }
};

template <class S> ND_FN bool isnan(Half<S> x) { return float(x) != float(x); }
template <class S> ND_FN bool isinf(Half<S> x) { return m::fabs(float(x)) == limits<float>::max(); }
template <class S> ND_FN bool isfinite(Half<S> x) { return m::fabs(float(x)) < limits<float>::max(); }
template <class S> ND_FN bool signbit(Half<S> x) { return (x.stored.bits & 0x8000u) != 0; }
template <class S> ND_FN Half<S> copysign(Half<S> x, Half<S> y) {
  return Half<S>::of_bits((x.stored.bits & 0x7fffu) | (y.stored.bits & 0x8000u));
}
// The neighbour of x in the direction of y, in the 16-bit type.
template <class S> ND_FN Half<S> nextafter(Half<S> x, Half<S> y) {
  if (isnan(x)) return x;
  if (isnan(y) || float(x) == float(y)) return y;
  if (float(x) == 0.0f) return Half<S>::of_bits((y.stored.bits & 0x8000u) | 1u);
  const bool away_from_zero = (float(y) > float(x)) == (float(x) > 0.0f);
  return Half<S>::of_bits(away_from_zero ? x.stored.bits + 1u : x.stored.bits - 1u);
}
// These ignore NaN unless both operands are NaN, as CUDA's functions do.
template <class S> ND_FN Half<S> min(Half<S> a, Half<S> b) { return skip_nan_min(float(a), float(b)); }
template <class S> ND_FN Half<S> max(Half<S> a, Half<S> b) { return skip_nan_max(float(a), float(b)); }
template <class S, class B> ND_FN Half<S> min(Half<S> a, B b) { return skip_nan_min(float(a), float(b)); }
template <class S, class B> ND_FN Half<S> max(Half<S> a, B b) { return skip_nan_max(float(a), float(b)); }
template <class S, class A> ND_FN Half<S> min(A a, Half<S> b) { return skip_nan_min(float(a), float(b)); }
template <class S, class A> ND_FN Half<S> max(A a, Half<S> b) { return skip_nan_max(float(a), float(b)); }

// Converts an element to another type by the rules of catena::convert.
template <class T> struct computed { using type = T; };
template <class S> struct computed<Half<S>> { using type = float; };
template <class S> struct computed<thrust::complex<S>> { using type = complex<S>; };
template <class To> struct converted_to {
  template <class V> static ND_FN To of(V v) { return To(convert<typename computed<To>::type>(v)); }
};
template <class S> struct converted_to<Half<S>> {
  template <class V> static ND_FN Half<S> of(V v) { return Half<S>::of_bits(convert<S>(v).bits); }
};
template <class To, class From> ND_FN To converted(From v) {
  using Wide = typename computed<From>::type;
  return converted_to<To>::of(Wide(v));
}

// Adds by the GPU's own instruction, or by compare-and-swap on the aligned 32-bit word that contains the element.
template <class S> ND_FN Half<S> atomicAdd(Half<S>* p, Half<S> v) {
#if CATENA_DEVICE
  if constexpr (device::has_pair_addition<S>)
    if (__isGlobal(p)) return Half<S>::of_bits(device::add_in_pair(&p->stored, v.stored).bits);
#endif
  unsigned* word = reinterpret_cast<unsigned*>(reinterpret_cast<uint64_t>(p) & ~uint64_t(3));
  const unsigned shift = (reinterpret_cast<uint64_t>(p) & 2) != 0 ? 16 : 0;
  unsigned before = *static_cast<volatile unsigned*>(word), seen;
  Half<S> old;
  do {
    seen = before;
    old = Half<S>::of_bits(seen >> shift);
    const unsigned sum = Half<S>(float(old) + float(v)).stored.bits;
    before = ::atomicCAS(word, seen, (seen & ~(0xffffu << shift)) | (sum << shift));
  } while (before != seen);
  return old;
}

// Returns the element at byte offset `offset` from `data`.
template <class T> ND_FN T& element(T* data, int64 offset) { return *(T*)((char*)data + offset); }
// A function of its own: compilers split loops over several axes better than with this loop in the callers. The last
// axes come first, because those of a reduction's inputs are the same for all elements of an output.
template <int Rank, class I> ND_FN int64 offset_at(const I* coordinates, const int64* strides) {
  int64 offset = 0;
  ND_UNROLL
  for (int a = Rank - 1; a >= 0; --a) offset += int64(coordinates[a]) * strides[a];
  return offset;
}

// A raw operand with its own shape and strides. x[k] is the element at position k in C order, x[index] the element at
// an array of one position per axis; neither is checked. Rank 0: every index gives the only element.
template <class T, int Rank, bool Contiguous> struct Raw {
  T* data_;
  int64 size_;
  int64 shape_[Rank > 0 ? Rank : 1];
  int64 strides_[Rank > 0 ? Rank : 1];

  ND_FN int64 size() const { return size_; }
  ND_FN const int64* shape() const { return shape_; }
  ND_FN const int64* strides() const { return strides_; }  // in bytes

  ND_FN T& operator[](int64 k) const {
    if constexpr (Rank == 0) {
      return *data_;
    } else if constexpr (Contiguous) {
      return data_[k];
    } else {
      int64 offset = 0;
      ND_UNROLL
      for (int a = Rank - 1; a > 0; --a) {
        const int64 q = k / shape_[a];
        offset += (k - q * shape_[a]) * strides_[a];
        k = q;
      }
      return at(offset + k * strides_[0]);
    }
  }
  template <class I> ND_FN T& operator[](const I* index) const { return at(offset_at<Rank>(index, strides_)); }

 private:
  ND_FN T& at(int64 offset) const { return element(data_, offset); }
};

// A scalar operand, stored in one or two words of the parameters.
template <class T> struct alignas(8) Held { T value; };

// ---- loops --------------------------------------------------------------------------------------
// Shape of a loop; Width is the unsigned type in which positions are split into coordinates.
template <int Rank, class Width> struct Range {
  int64 size;
  int64 shape[Rank];
};

// A position in a loop: _ind, _out_ind and _in_ind of a text.
template <int Rank> struct Position {
  int64 position, total;
  int64 coordinates[Rank];
  ND_FN int64 size() const { return total; }
  ND_FN const int64* get() const { return coordinates; }  // the position along each axis
};

// An operand that advances with a loop: of any strides (bytes), or contiguous.
template <class T, int Rank> struct Strided {
  T* data;
  int64 strides[Rank];
  ND_FN T& at(const Position<Rank>& p) const { return element(data, offset_at<Rank>(p.coordinates, strides)); }
};
template <class T> struct Flat {
  T* data;
  template <int Rank> ND_FN T& at(const Position<Rank>& p) const { return data[p.position]; }
};

// The part of n items that a thread computes or, if Threads is 1, a block. The threads of a device compute neighbouring
// items at the same time; on the CPU, where a block has one thread, a block computes neighbouring items.
template <int Threads> struct Share {
  int64 begin, end;

#if defined(CATENA_USER_HOST)
  ND_FN explicit Share(int64 n) {
    const int64 length = (n + gridDim.x - 1) / gridDim.x;
    begin = blockIdx.x * length < n ? blockIdx.x * length : n;
    end = begin + length < n ? begin + length : n;
  }
  static ND_FN int64 step() { return 1; }
#else
  ND_FN explicit Share(int64 n) : begin(int64(blockIdx.x) * Threads + (Threads > 1 ? threadIdx.x : 0)), end(n) {}
  static ND_FN int64 step() { return int64(gridDim.x) * Threads; }
#endif
};

// Splits a position in C order into coordinates.
template <int Rank, class Width> ND_FN void locate(int64 position, const int64* shape, int64* coordinates) {
  Width rest = Width(position);
  ND_UNROLL
  for (int a = Rank - 1; a > 0; --a) {
    const Width length = Width(shape[a]), q = rest / length;
    coordinates[a] = int64(rest - q * length);
    rest = q;
  }
  coordinates[0] = int64(rest);
}
// Advances the coordinates to the next position.
template <int Rank> ND_FN void advance(const int64* shape, int64* coordinates) {
  ++coordinates[Rank - 1];
  ND_UNROLL
  for (int a = Rank - 1; a > 0; --a) {
    if (coordinates[a] < shape[a]) return;
    coordinates[a] = 0;
    ++coordinates[a - 1];
  }
}

}  // namespace catena::user

using float16 = catena::user::Half<catena::float16>;
using bfloat16 = catena::user::Half<catena::bfloat16>;

#if CATENA_DEVICE
// CUDA defines only the unsigned overload; in two's complement the sum has the same bits.
ND_FN long long atomicAdd(long long* p, long long v) {
  return (long long)atomicAdd(reinterpret_cast<unsigned long long*>(p), (unsigned long long)v);
}
#endif
