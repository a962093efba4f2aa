// Runs the text of a GPU kernel on the CPU: included before the text, it defines the built-ins of the GPU's compiler.
// The threads of a block are fibers that switch only at barriers and shuffles, so with a missing barrier the result
// depends on the order of the threads; tests run every kernel in all three orders. Blocks run one after the other.
//
// Stricter than a GPU: lanes of a warp do not run in lockstep, and a barrier that some threads of the block do not
// reach ends the program with a report ("divergent barrier").
#pragma once

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <type_traits>

#define CATENA_CPU_SHIM 1
#define __global__
#define __device__
#define __host__
#define __constant__
#define __forceinline__ inline
#define __align__(n) __attribute__((aligned(n)))
#define __launch_bounds__(...)
#define __grid_constant__
#define __shared__ thread_local  // the engine fills these variables before every block

// ---- the vector types ---------------------------------------------------------------------------
#define SHIM_VECTORS(name, T)                                        \
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
SHIM_VECTORS(char, signed char)
SHIM_VECTORS(uchar, unsigned char)
SHIM_VECTORS(short, short)
SHIM_VECTORS(ushort, unsigned short)
SHIM_VECTORS(int, int)
SHIM_VECTORS(uint, unsigned)
SHIM_VECTORS(longlong, long long)
SHIM_VECTORS(ulonglong, unsigned long long)
SHIM_VECTORS(float, float)
SHIM_VECTORS(double, double)
#undef SHIM_VECTORS

struct dim3 {
  unsigned x, y, z;
  dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
};

// The interface of the engine, to which kernels link.
namespace shim {

#define SHIM_EXPORT __attribute__((visibility("default")))

// The position of the running thread in its launch. The engine sets it at every switch.
struct Place {
  uint3 thread, block;
  dim3 block_dim, grid_dim;
};
SHIM_EXPORT Place& place();

SHIM_EXPORT void block_barrier();
SHIM_EXPORT void warp_barrier();
// Every lane of the warp passes `value` and gets the value of lane `source`. Does not order accesses to memory.
SHIM_EXPORT uint64_t exchange(uint64_t value, unsigned source);
SHIM_EXPORT unsigned lane();
SHIM_EXPORT unsigned
lanes();  // lanes of the running warp: fewer than 32 in the last warp if the block's size is not a multiple of 32

// Called before every atomic access with the return address.
SHIM_EXPORT void note_atomic(const void* address, size_t bytes, const void* code);

template <class T> T shuffle(T value, unsigned source) {
  static_assert(sizeof(T) <= 8 && std::is_trivially_copyable_v<T>);
  uint64_t bits = 0;
  memcpy(&bits, &value, sizeof(T));
  bits = exchange(bits, source);
  memcpy(&value, &bits, sizeof(T));
  return value;
}

// Atomic read-modify-write; returns the old value. Also atomic between kernels that run on several host threads.
template <class T, class F> __attribute__((noinline, no_sanitize("thread"))) T update(T* address, F change) {
  using Bits = std::conditional_t<sizeof(T) == 8, uint64_t, std::conditional_t<sizeof(T) == 4, uint32_t, uint16_t>>;
  note_atomic(address, sizeof(T), __builtin_return_address(0));
  auto* cell = reinterpret_cast<Bits*>(address);
  Bits old_bits = __atomic_load_n(cell, __ATOMIC_RELAXED), new_bits;
  T old;
  do {
    memcpy(&old, &old_bits, sizeof(T));
    const T changed = change(old);
    memcpy(&new_bits, &changed, sizeof(T));
  } while (!__atomic_compare_exchange_n(cell, &old_bits, new_bits, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  return old;
}

}  // namespace shim

#define threadIdx (shim::place().thread)
#define blockIdx (shim::place().block)
#define blockDim (shim::place().block_dim)
#define gridDim (shim::place().grid_dim)
inline constexpr int warpSize = 32;

// ---- barriers and exchanges ---------------------------------------------------------------------
inline void __syncthreads() { shim::block_barrier(); }
inline void __syncwarp(unsigned = ~0u) { shim::warp_barrier(); }
inline void __threadfence() {}
inline void __threadfence_block() {}
inline void __threadfence_system() {}
template <class T> T __shfl_sync(unsigned, T v, int source, int width = 32) {
  return shim::shuffle(v, shim::lane() / unsigned(width) * unsigned(width) + unsigned(source) % unsigned(width));
}
template <class T> T __shfl_up_sync(unsigned, T v, unsigned distance, int width = 32) {
  const unsigned l = shim::lane();
  return shim::shuffle(v, l % unsigned(width) >= distance ? l - distance : l);
}
template <class T> T __shfl_down_sync(unsigned, T v, unsigned distance, int width = 32) {
  const unsigned l = shim::lane();
  return shim::shuffle(v, l % unsigned(width) + distance < unsigned(width) ? l + distance : l);
}
template <class T> T __shfl_xor_sync(unsigned, T v, int mask, int = 32) {
  return shim::shuffle(v, shim::lane() ^ unsigned(mask));
}
inline unsigned __ballot_sync(unsigned mask, int predicate) {
  unsigned bits = 0;
  for (unsigned k = 0; k < shim::lanes(); ++k) bits |= unsigned(shim::shuffle(predicate, k) != 0) << k;
  return bits & mask;
}
template <class T> unsigned __match_any_sync(unsigned mask, T v) {
  unsigned bits = 0;
  for (unsigned k = 0; k < shim::lanes(); ++k) bits |= unsigned(shim::shuffle(v, k) == v) << k;
  return bits & mask;
}
inline unsigned __activemask() { return shim::lanes() == 32 ? ~0u : (1u << shim::lanes()) - 1; }
inline int __any_sync(unsigned mask, int predicate) { return __ballot_sync(mask, predicate) != 0; }
inline int __all_sync(unsigned mask, int predicate) {
  return __ballot_sync(mask, predicate) == (mask & __activemask());
}

// ---- atomic functions ---------------------------------------------------------------------------
#define SHIM_INLINE inline __attribute__((always_inline))  // so that a report shows the line of the kernel
template <class T> SHIM_INLINE T atomicAdd(T* p, std::type_identity_t<T> v) {
  return shim::update(p, [v](T x) { return T(x + v); });
}
template <class T> SHIM_INLINE T atomicSub(T* p, std::type_identity_t<T> v) {
  return shim::update(p, [v](T x) { return T(x - v); });
}
template <class T> SHIM_INLINE T atomicExch(T* p, std::type_identity_t<T> v) {
  return shim::update(p, [v](T) { return v; });
}
template <class T> SHIM_INLINE T atomicMin(T* p, std::type_identity_t<T> v) {
  return shim::update(p, [v](T x) { return v < x ? v : x; });
}
template <class T> SHIM_INLINE T atomicMax(T* p, std::type_identity_t<T> v) {
  return shim::update(p, [v](T x) { return x < v ? v : x; });
}
template <class T> SHIM_INLINE T atomicAnd(T* p, std::type_identity_t<T> v) {
  return shim::update(p, [v](T x) { return T(x & v); });
}
template <class T> SHIM_INLINE T atomicOr(T* p, std::type_identity_t<T> v) {
  return shim::update(p, [v](T x) { return T(x | v); });
}
template <class T> SHIM_INLINE T atomicXor(T* p, std::type_identity_t<T> v) {
  return shim::update(p, [v](T x) { return T(x ^ v); });
}
template <class T> SHIM_INLINE T atomicCAS(T* p, std::type_identity_t<T> expected, std::type_identity_t<T> v) {
  return shim::update(p, [expected, v](T x) { return x == expected ? v : x; });
}
SHIM_INLINE unsigned atomicInc(unsigned* p, unsigned last) {
  return shim::update(p, [last](unsigned x) { return x >= last ? 0 : x + 1; });
}
SHIM_INLINE unsigned atomicDec(unsigned* p, unsigned last) {
  return shim::update(p, [last](unsigned x) { return x == 0 || x > last ? last : x - 1; });
}
#undef SHIM_INLINE

// ---- arithmetic that the GPU's compiler has without a header ------------------------------------
template <class T> T __ldg(const T* p) { return *p; }
inline int __popc(unsigned v) { return __builtin_popcount(v); }
inline int __popcll(unsigned long long v) { return __builtin_popcountll(v); }
inline int __clz(int v) { return v == 0 ? 32 : __builtin_clz(unsigned(v)); }
inline int __clzll(long long v) { return v == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(v)); }
inline int __ffs(int v) { return __builtin_ffs(v); }
inline int __ffsll(long long v) { return __builtin_ffsll(v); }
inline int __float_as_int(float v) { return __builtin_bit_cast(int, v); }
inline unsigned __float_as_uint(float v) { return __builtin_bit_cast(unsigned, v); }
inline float __int_as_float(int v) { return __builtin_bit_cast(float, v); }
inline float __uint_as_float(unsigned v) { return __builtin_bit_cast(float, v); }
inline long long __double_as_longlong(double v) { return __builtin_bit_cast(long long, v); }
inline double __longlong_as_double(long long v) { return __builtin_bit_cast(double, v); }
inline unsigned __umulhi(unsigned a, unsigned b) { return unsigned(uint64_t(a) * b >> 32); }
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return static_cast<unsigned long long>(static_cast<unsigned __int128>(a) * b >> 64);
}
inline long long clock64() { return clock(); }
inline float rsqrtf(float v) { return 1 / sqrtf(v); }
inline double rsqrt(double v) { return 1 / sqrt(v); }
template <class A, class B>
requires std::is_arithmetic_v<A> && std::is_arithmetic_v<B>
auto min(A a, B b) {
  using T = std::common_type_t<A, B>;
  if constexpr (std::is_floating_point_v<T>) return T(fmin(T(a), T(b)));
  else return T(a) < T(b) ? T(a) : T(b);
}
template <class A, class B>
requires std::is_arithmetic_v<A> && std::is_arithmetic_v<B>
auto max(A a, B b) {
  using T = std::common_type_t<A, B>;
  if constexpr (std::is_floating_point_v<T>) return T(fmax(T(a), T(b)));
  else return T(a) < T(b) ? T(b) : T(a);
}
