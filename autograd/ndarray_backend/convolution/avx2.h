// AVX2 vectors and blocks of sums, for loops of this folder that are compiled only for AVX2, by GCC. Internal to this
// folder.
#pragma once

#include <cstdint>
#include <cstring>

#include <catena/kernels/base/export.h>

namespace autograd::internal {

// True if the loops for AVX2 are compiled in and AVX2 is the widest instruction set of this processor. (With AVX-512,
// oneDNN's convolutions are faster.)
CATENA_EXPORT bool avx2_is_widest();
// For tests: treats every processor with AVX2 as one without AVX-512. Returns avx2_is_widest().
CATENA_EXPORT bool pretend_avx2_is_widest(bool yes);

#if defined(__GNUC__) && !defined(__clang__)

#define CATENA_AVX2 __attribute__((target("arch=x86-64-v3")))
#define CATENA_AVX2_INLINE inline __attribute__((always_inline))

namespace avx2 {

constexpr int kBytes = 32, kFloats = kBytes / int(sizeof(float));
typedef float V __attribute__((vector_size(kBytes)));

CATENA_AVX2_INLINE void load(V& v, const float* from) { std::memcpy(&v, from, kBytes); }
CATENA_AVX2_INLINE void store(float* to, const V& v) { std::memcpy(to, &v, kBytes); }

// Rows of kLanes sums, in two vectors each.
constexpr std::int64_t kLanes = 2 * kFloats;
template <int rows> using Sums = V[rows][2];

// Adds the products of the factors line[i][p] and one row (kLanes elements) of a panel.
template <int rows>
CATENA_AVX2_INLINE void add_products(Sums<rows>& sum, const float* const (&line)[rows], std::int64_t p,
                                     const float* panel) {
  static_assert(rows <= 6);  // three of the 16 registers are for the panel and the factor
  V low, high;
  load(low, panel);
  load(high, panel + kFloats);
#pragma GCC unroll 6
  for (int i = 0; i < rows; ++i) {
    const V x = line[i][p] - V{};  // not x + 0, which would change -0
    sum[i][0] += x * low;
    sum[i][1] += x * high;
  }
}

// Sets to[0 .. kLanes) to a row of sums, or adds the row unless `first`.
CATENA_AVX2_INLINE void put(float* to, const V (&sum)[2], bool first) {
  V low = {}, high = {};
  if (!first) {
    load(low, to);
    load(high, to + kFloats);
  }
  store(to, sum[0] + low);
  store(to + kFloats, sum[1] + high);
}

}  // namespace avx2

#endif

}  // namespace autograd::internal
