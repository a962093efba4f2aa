// The loops of direct_convolution.h: 12 vectors of sums, two of a panel and one factor fill the 16 registers.
#include <algorithm>
#include <cstring>

#include <catena/autograd/ndarray_backend/direct_convolution.h>
#include <catena/kernels/rows/multiarch.h>

#define CATENA_INLINE inline __attribute__((always_inline))

namespace autograd::internal {
namespace {

#ifdef CATENA_HAS_MULTIARCH

using Int = std::int64_t;

constexpr int kBytes = 32, kFloats = kBytes / int(sizeof(float)), kRows = 6;
constexpr Int kLanes = kDirectLanes;
typedef float V __attribute__((vector_size(kBytes)));

#define CATENA_AVX2 __attribute__((target("arch=x86-64-v3")))

CATENA_INLINE void load(V& v, const float* from) { std::memcpy(&v, from, kBytes); }
CATENA_INLINE void store(float* to, const V& v) { std::memcpy(to, &v, kBytes); }

// Adds the products of kRows factors, from[i][p], with a row of a panel.
CATENA_INLINE void add(V (&sum)[kRows][2], const float* const* from, Int p, const float* panel) {
  V low, high;
  load(low, panel);
  load(high, panel + kFloats);
#pragma GCC unroll 6
  for (int i = 0; i < kRows; ++i) {
    const V x = from[i][p] - V{};  // not x + 0, which would change -0
    sum[i][0] += x * low;
    sum[i][1] += x * high;
  }
}

CATENA_AVX2 void multiply(const float* const* from, float* const* to, Int rows, const DirectSegment* segments,
                          Int count, const float* panels, Int outputs, const float* bias) {
  Int depth = 0;
  for (Int s = 0; s < count; ++s) depth += segments[s].length;
  for (Int o = 0; o < outputs; o += kLanes, panels += depth * kLanes) {
    const Int n = std::min(kLanes, outputs - o);
    float last[kLanes] = {};
    if (bias != nullptr) std::memcpy(last, bias + o, std::size_t(n) * sizeof(float));
    V low, high;
    load(low, last);
    load(high, last + kFloats);
    for (Int r = 0; r < rows; r += kRows) {
      V sum[kRows][2] = {};
      const float* panel = panels;
      for (Int s = 0; s < count; ++s) {
        const float* line[kRows];
        for (int i = 0; i < kRows; ++i) line[i] = from[std::min(r + i, rows - 1)] + segments[s].at;
        for (Int p = 0; p < segments[s].length; ++p, panel += kLanes) add(sum, line, p, panel);
      }
#pragma GCC unroll 6
      for (int i = 0; i < kRows; ++i) {
        if (r + i >= rows) break;
        float cells[kLanes];
        float* const out = to[r + i] + o;
        float* const whole = n == kLanes ? out : cells;
        store(whole, sum[i][0] + low);
        store(whole + kFloats, sum[i][1] + high);
        if (whole == cells) std::memcpy(out, cells, std::size_t(n) * sizeof(float));
      }
    }
  }
}

CATENA_AVX2 void add_products(const DirectRow* rows, Int count, Int positions, Int step, Int depth, float* sums,
                              Int stride, bool first) {
  for (Int k = 0; k < depth; k += kRows) {
    V sum[kRows][2] = {};
    for (Int r = 0; r < count; ++r) {
      const float* line[kRows];
      for (int i = 0; i < kRows; ++i) line[i] = rows[r].x + std::min(k + i, depth - 1);
      const float* gy = rows[r].gy;
      for (Int p = 0; p < positions; ++p, gy += kLanes) add(sum, line, p * step, gy);
    }
#pragma GCC unroll 6
    for (int i = 0; i < kRows; ++i) {
      if (k + i >= depth) break;
      float* const to = sums + (k + i) * stride;
      V low = {}, high = {};
      if (!first) {
        load(low, to);
        load(high, to + kFloats);
      }
      store(to, sum[i][0] + low);
      store(to + kFloats, sum[i][1] + high);
    }
  }
}

#endif

}  // namespace

const DirectKernels* direct_kernels() {
#ifdef CATENA_HAS_MULTIARCH
  static constexpr DirectKernels kernels{multiply, add_products};
  static const bool suits = __builtin_cpu_supports("x86-64-v3") && !__builtin_cpu_supports("x86-64-v4");
  return suits ? &kernels : nullptr;
#else
  return nullptr;
#endif
}

}  // namespace autograd::internal
