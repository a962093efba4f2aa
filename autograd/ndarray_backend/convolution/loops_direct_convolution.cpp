// The loops of direct_convolution.h. 12 vectors of sums, two of a panel and one factor use the 16 registers.
#include <algorithm>
#include <cstring>

#include <catena/autograd/ndarray_backend/convolution/avx2.h>
#include <catena/autograd/ndarray_backend/convolution/direct_convolution.h>
#include <catena/kernels/registry/multiarch.h>

namespace autograd::internal {
namespace {

#ifdef CATENA_HAS_MULTIARCH

using Int = std::int64_t;

using avx2::kFloats, avx2::kLanes, avx2::V, avx2::load, avx2::store;
static_assert(kLanes == kDirectLanes);
constexpr int kRows = 6;

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
      avx2::Sums<kRows> sum = {};
      const float* panel = panels;
      for (Int s = 0; s < count; ++s) {
        const float* line[kRows];
        for (int i = 0; i < kRows; ++i) line[i] = from[std::min(r + i, rows - 1)] + segments[s].at;
        for (Int p = 0; p < segments[s].length; ++p, panel += kLanes) avx2::add_products(sum, line, p, panel);
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
    avx2::Sums<kRows> sum = {};
    for (Int r = 0; r < count; ++r) {
      const float* line[kRows];
      for (int i = 0; i < kRows; ++i) line[i] = rows[r].x + std::min(k + i, depth - 1);
      const float* gy = rows[r].gy;
      for (Int p = 0; p < positions; ++p, gy += kLanes) avx2::add_products(sum, line, p * step, gy);
    }
#pragma GCC unroll 6
    for (int i = 0; i < kRows; ++i) {
      if (k + i >= depth) break;
      avx2::put(sums + (k + i) * stride, sum[i], first);
    }
  }
}

#endif

}  // namespace

const DirectKernels* direct_kernels() {
#ifdef CATENA_HAS_MULTIARCH
  static constexpr DirectKernels kernels{multiply, add_products};
  return avx2_is_widest() ? &kernels : nullptr;
#else
  return nullptr;
#endif
}

}  // namespace autograd::internal
