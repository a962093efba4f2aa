// Definitions of CUDA's built-in names for the system's C++ compiler. The CPU backend uses them to run CUDA texts
// without barriers and without exchange between threads. Empty for every other compiler.
#pragma once

#if !defined(__CUDACC_RTC__) && !defined(CATENA_CPU_SHIM)
#define CATENA_USER_HOST 1

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <catena/kernels/device/user_intrinsics.h>

// The object is compiled with hidden symbols so that they do not collide with those of other objects; only the
// functions that the backend looks up are visible.
#define __global__ __attribute__((visibility("default")))
#define __device__ __attribute__((visibility("default")))
#define __constant__ __attribute__((visibility("default")))
#define __host__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __grid_constant__
#define __align__(n) __attribute__((aligned(n)))
#define __shared__ thread_local  // one copy per thread, since one thread runs a whole block

struct uint3 {
  unsigned x, y, z;
};
struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
};

// ---- arithmetic ---------------------------------------------------------------------------------
template <class T> T __ldg(const T* p) { return *p; }
inline int __popc(unsigned v) { return __builtin_popcount(v); }
inline int __popcll(unsigned long long v) { return __builtin_popcountll(v); }
inline int __clz(int v) { return v == 0 ? 32 : __builtin_clz(unsigned(v)); }
inline int __clzll(long long v) { return v == 0 ? 64 : __builtin_clzll((unsigned long long)v); }
inline int __ffs(int v) { return __builtin_ffs(v); }
inline int __ffsll(long long v) { return __builtin_ffsll(v); }
inline int __float_as_int(float v) { return __builtin_bit_cast(int, v); }
inline unsigned __float_as_uint(float v) { return __builtin_bit_cast(unsigned, v); }
inline float __int_as_float(int v) { return __builtin_bit_cast(float, v); }
inline float __uint_as_float(unsigned v) { return __builtin_bit_cast(float, v); }
inline long long __double_as_longlong(double v) { return __builtin_bit_cast(long long, v); }
inline double __longlong_as_double(long long v) { return __builtin_bit_cast(double, v); }
inline unsigned __umulhi(unsigned a, unsigned b) { return unsigned((unsigned long long)a * b >> 32); }
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return (unsigned long long)((unsigned __int128)a * b >> 64);
}
inline float rsqrtf(float v) { return 1 / sqrtf(v); }
inline double rsqrt(double v) { return 1 / ::sqrt(v); }
inline float rsqrt(float v) { return rsqrtf(v); }

inline long long clock64() { return clock(); }

// As in CUDA: integer arguments undergo the usual conversions first; floating minimum and maximum ignore NaN.
#define CATENA_USER_MINMAX(T)                      \
  inline T min(T a, T b) { return b < a ? b : a; } \
  inline T max(T a, T b) { return a < b ? b : a; }
CATENA_USER_MINMAX(int)
CATENA_USER_MINMAX(unsigned)
CATENA_USER_MINMAX(long)
CATENA_USER_MINMAX(unsigned long)
CATENA_USER_MINMAX(long long)
CATENA_USER_MINMAX(unsigned long long)
#undef CATENA_USER_MINMAX
#define CATENA_USER_MIXED(A, B, T)                   \
  inline T min(A a, B b) { return min((T)a, (T)b); } \
  inline T min(B a, A b) { return min((T)a, (T)b); } \
  inline T max(A a, B b) { return max((T)a, (T)b); } \
  inline T max(B a, A b) { return max((T)a, (T)b); }
CATENA_USER_MIXED(int, unsigned, unsigned)
CATENA_USER_MIXED(long, unsigned long, unsigned long)
CATENA_USER_MIXED(long long, unsigned long long, unsigned long long)
inline float min(float a, float b) { return fminf(a, b); }
inline float max(float a, float b) { return fmaxf(a, b); }
inline double min(double a, double b) { return ::fmin(a, b); }
inline double max(double a, double b) { return ::fmax(a, b); }
CATENA_USER_MIXED(float, double, double)
#undef CATENA_USER_MIXED

// ---- atomic functions ---------------------------------------------------------------------------
// They must be atomic because several threads of the CPU run blocks at the same time.
namespace catena::user {
template <class T> struct same { using type = T; };
template <class T> using same_t = typename same<T>::type;

template <int Bytes> struct bits_of_size;
template <> struct bits_of_size<2> { using type = unsigned short; };
template <> struct bits_of_size<4> { using type = unsigned; };
template <> struct bits_of_size<8> { using type = unsigned long long; };

template <class T, class F> T update(T* address, F change) {
  using Bits = typename bits_of_size<sizeof(T)>::type;
  Bits* cell = reinterpret_cast<Bits*>(address);
  Bits before = __atomic_load_n(cell, __ATOMIC_RELAXED), after;
  T old;
  do {
    memcpy(&old, &before, sizeof(T));
    const T changed = change(old);
    memcpy(&after, &changed, sizeof(T));
  } while (!__atomic_compare_exchange_n(cell, &before, after, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  return old;
}
}  // namespace catena::user

#define CATENA_USER_ATOMIC(name, expression)                            \
  template <class T> T name(T* p, catena::user::same_t<T> v) {          \
    return catena::user::update(p, [v](T x) { return T(expression); }); \
  }
CATENA_USER_ATOMIC(atomicAdd, x + v)
CATENA_USER_ATOMIC(atomicSub, x - v)
CATENA_USER_ATOMIC(atomicExch, v)
CATENA_USER_ATOMIC(atomicMin, v < x ? v : x)
CATENA_USER_ATOMIC(atomicMax, x < v ? v : x)
CATENA_USER_ATOMIC(atomicAnd, x& v)
CATENA_USER_ATOMIC(atomicOr, x | v)
CATENA_USER_ATOMIC(atomicXor, x ^ v)
#undef CATENA_USER_ATOMIC
template <class T> T atomicCAS(T* p, catena::user::same_t<T> expected, catena::user::same_t<T> v) {
  return catena::user::update(p, [expected, v](T x) { return x == expected ? v : x; });
}
inline unsigned atomicInc(unsigned* p, unsigned last) {
  return catena::user::update(p, [last](unsigned x) { return x >= last ? 0 : x + 1; });
}
inline unsigned atomicDec(unsigned* p, unsigned last) {
  return catena::user::update(p, [last](unsigned x) { return x == 0 || x > last ? last : x - 1; });
}
inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
inline void __threadfence_block() {}

// ---- the vector types ---------------------------------------------------------------------------
#define CATENA_USER_VECTORS(name, T)                                 \
  struct alignas(2 * sizeof(T)) name##2 {                            \
    T x, y;                                                          \
  };                                                                 \
  struct name##3 {                                                   \
    T x, y, z;                                                       \
  };                                                                 \
  struct alignas(sizeof(T) == 8 ? 16 : 4 * sizeof(T)) name##4 {      \
    T x, y, z, w;                                                    \
  };                                                                 \
  inline name##2 make_##name##2(T x, T y) { return {x, y}; }         \
  inline name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; } \
  inline name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }
CATENA_USER_VECTORS(int, int)
CATENA_USER_VECTORS(float, float)
CATENA_USER_VECTORS(double, double)
#undef CATENA_USER_VECTORS

// ---- functions that are not available on the CPU ------------------------------------------------
// The compiler rejects a call with exactly this message; the backend searches its log for it.
#define CATENA_USER_REFUSED(name, ...) __attribute__((error(#name " is not available on the CPU"))) __VA_ARGS__
CATENA_USER_REFUSED(__syncthreads, void __syncthreads();)
CATENA_USER_REFUSED(__syncthreads_count, int __syncthreads_count(int);)
CATENA_USER_REFUSED(__syncthreads_and, int __syncthreads_and(int);)
CATENA_USER_REFUSED(__syncthreads_or, int __syncthreads_or(int);)
CATENA_USER_REFUSED(__syncwarp, void __syncwarp(unsigned = ~0u);)
CATENA_USER_REFUSED(__activemask, unsigned __activemask();)
CATENA_USER_REFUSED(__ballot_sync, unsigned __ballot_sync(unsigned, int);)
CATENA_USER_REFUSED(__any_sync, int __any_sync(unsigned, int);)
CATENA_USER_REFUSED(__all_sync, int __all_sync(unsigned, int);)
#define CATENA_USER_SHUFFLE(name) \
  template <class T> __attribute__((error(#name " is not available on the CPU"))) T name(unsigned, T, int, int = 32);
CATENA_USER_SHUFFLE(__shfl_sync)
CATENA_USER_SHUFFLE(__shfl_up_sync)
CATENA_USER_SHUFFLE(__shfl_down_sync)
CATENA_USER_SHUFFLE(__shfl_xor_sync)
#undef CATENA_USER_SHUFFLE
#undef CATENA_USER_REFUSED

#endif
