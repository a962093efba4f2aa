#include <catena/ndarray/cpu/linear_int8.h>

#include <algorithm>
#include <cstring>

#include <catena/kernels/base/parallel.h>
#include <catena/kernels/registry/multiarch.h>
#include <catena/ndarray/cpu/tuning.h>
#include <catena/ndarray/cpu/workspace.h>

#define CATENA_INLINE inline __attribute__((always_inline))

namespace nd::cpu {
namespace {

constexpr std::int64_t kBlock = 64;    // weights that are converted at a time; they stay in registers
constexpr std::int64_t kTogether = 4;  // rows of x that share a conversion
constexpr std::int64_t kMostRows = 8;

// `rows` rows of x in float32, each of `pitch` elements, of which those from k on are zeros.
struct Task {
  const std::int8_t* w;
  const float *scale, *b, *x;
  float* y;
  std::int64_t k, pitch, outputs;
};

template <int bytes> struct Vector { typedef float V __attribute__((vector_size(bytes))); };

// Computes the outputs from `first` on, `together` at a time, so that rows of x are read once for all of them.
template <int bytes, int rows, int together> CATENA_INLINE void tile(const Task& t, std::int64_t first) {
  using V = typename Vector<bytes>::V;
  constexpr int L = bytes / int(sizeof(float)), vectors = int(kBlock) / L;
  constexpr int chains = rows == 1 ? 4 : rows == 2 ? 2 : 1;  // sums that do not wait for each other
  const std::int8_t* const w = t.w + first * t.k;
  V acc[together][rows][chains] = {};
  // Adds the products of a block of weights for each output, which are `step` apart.
  const auto add = [&](const std::int8_t* from, std::int64_t step, std::int64_t p) __attribute__((always_inline)) {
    alignas(64) float block[together][kBlock];
    for (int o = 0; o < together; ++o)
      for (int i = 0; i < int(kBlock); ++i) block[o][i] = float(from[o * step + i]);
#pragma GCC unroll 16
    for (int v = 0; v < vectors; ++v)
#pragma GCC unroll 4
      for (int r = 0; r < rows; ++r) {
        V x;
        std::memcpy(&x, t.x + r * t.pitch + p + v * L, bytes);
#pragma GCC unroll 2
        for (int o = 0; o < together; ++o) {
          V weights;
          std::memcpy(&weights, block[o] + v * L, bytes);
          acc[o][r][v % chains] += weights * x;
        }
      }
  };
  std::int64_t p = 0;
  for (; p + kBlock <= t.k; p += kBlock) add(w + p, t.k, p);
  if (p < t.k) {
    std::int8_t last[together * kBlock] = {};
    for (int o = 0; o < together; ++o) std::memcpy(last + o * kBlock, w + o * t.k + p, std::size_t(t.k - p));
    add(last, kBlock, p);
  }
#pragma GCC unroll 2
  for (int o = 0; o < together; ++o)
#pragma GCC unroll 4
    for (int r = 0; r < rows; ++r) {
      V sum = acc[o][r][0];
#pragma GCC unroll 4
      for (int c = 1; c < chains; ++c) sum += acc[o][r][c];
      float total = 0;
      for (int l = 0; l < L; ++l) total += sum[l];
      const std::int64_t at = first + o;
      t.y[r * t.outputs + at] = total * t.scale[at] + (t.b != nullptr ? t.b[at] : 0.0f);
    }
}

template <int bytes, int rows> CATENA_INLINE void outputs_of(const Task& t, std::int64_t begin, std::int64_t end) {
  constexpr int together = rows == 1 ? 1 : 2;
  for (; begin + together <= end; begin += together) tile<bytes, rows, together>(t, begin);
  if constexpr (together > 1)
    if (begin < end) tile<bytes, rows, 1>(t, begin);
}

using Loop = void (*)(const Task&, std::int64_t begin, std::int64_t end);
#define CATENA_LINEAR_INT8(bytes, ...)                                                                        \
  template <int rows> __VA_ARGS__ void outputs_##bytes(const Task& t, std::int64_t begin, std::int64_t end) { \
    outputs_of<bytes, rows>(t, begin, end);                                                                   \
  }                                                                                                           \
  constexpr Loop loops_##bytes[kTogether] = {outputs_##bytes<1>, outputs_##bytes<2>, outputs_##bytes<3>,      \
                                             outputs_##bytes<4>};
CATENA_LINEAR_INT8(16)
#ifdef CATENA_HAS_MULTIARCH
CATENA_LINEAR_INT8(32, __attribute__((target("arch=x86-64-v3"))))
CATENA_LINEAR_INT8(64, __attribute__((target("arch=x86-64-v4"))))
#endif
#undef CATENA_LINEAR_INT8

const Loop* loops() {
#ifdef CATENA_HAS_MULTIARCH
  if (__builtin_cpu_supports("x86-64-v4")) return loops_64;
  if (__builtin_cpu_supports("x86-64-v3")) return loops_32;
#endif
  return loops_16;
}

bool is_float32(const catena::ArrayHeader& a) { return a.dtype == catena::Dtype::float32 && a.c_contiguous; }
const float* floats(const catena::ArrayHeader& a) { return reinterpret_cast<const float*>(a.data); }

}  // namespace

bool linear_int8(const catena::ArrayHeader& x, const catena::ArrayHeader& w, const catena::ArrayHeader& scale,
                 const catena::ArrayHeader* b, const catena::ArrayHeader& y) {
  if (x.shape.size() != 2 || w.shape.size() != 2) return false;
  const std::int64_t n = x.shape[0], k = w.shape[1], outputs = w.shape[0];
  if (x.shape[1] != k || scale.size != outputs || (b != nullptr && b->size != outputs)) return false;
  if (n > kMostRows || w.dtype != catena::Dtype::int8 || !w.c_contiguous || !is_float32(x) || !is_float32(scale) ||
      !is_float32(y) || (b != nullptr && !is_float32(*b)))
    return false;
  if (n == 0 || outputs == 0) return true;
  const std::int64_t pitch = (k + kBlock - 1) / kBlock * kBlock;
  const Workspace memory(sizeof(float) * std::size_t(n * pitch));
  auto* const packed = reinterpret_cast<float*>(memory.data());
  for (std::int64_t r = 0; r < n; ++r) {
    if (k > 0) std::memcpy(packed + r * pitch, floats(x) + r * k, sizeof(float) * std::size_t(k));
    std::fill(packed + r * pitch + k, packed + (r + 1) * pitch, 0.0f);
  }
  const Loop* const run = loops();
  const std::int64_t grain = std::max<std::int64_t>(1, kLightGrain / std::max<std::int64_t>(n * k, 1));
  catena::parallel_for(outputs, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = 0; r < n; r += kTogether) {
      const Task task{reinterpret_cast<const std::int8_t*>(w.data),
                      floats(scale),
                      b != nullptr ? floats(*b) : nullptr,
                      packed + r * pitch,
                      reinterpret_cast<float*>(y.data) + r * outputs,
                      k,
                      pitch,
                      outputs};
      run[std::min(kTogether, n - r) - 1](task, begin, end);
    }
  });
  return true;
}

}  // namespace nd::cpu
