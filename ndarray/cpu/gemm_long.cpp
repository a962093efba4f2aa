#include <catena/ndarray/cpu/gemm_long.h>

#include <algorithm>
#include <bit>

#include <catena/kernels/registry/multiarch.h>
#include <catena/ndarray/cpu/workspace.h>

namespace nd::cpu {
namespace {

using catena::Dtype;

constexpr std::int64_t kTileSide = 2048;  // side of the part of c that is computed at once

CATENA_MULTIARCH void add_line(float* to, const float* from, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) to[i] += from[i];
}

class Pieces {
 public:
  Pieces(Multiply multiply, Dtype dtype, std::int64_t k, std::int64_t depth)
      : multiply_(multiply), dtype_(dtype), item_(std::int64_t(catena::itemsize(dtype))) {
    const std::int64_t wanted = (k + depth - 1) / depth;
    constexpr std::int64_t kUnit = 64;  // pieces begin at whole vectors
    length_ = ((k + wanted - 1) / wanted + kUnit - 1) / kUnit * kUnit;
  }

  bool run(const Gemm& g) const {
    const std::int64_t pieces = (g.k + length_ - 1) / length_;
    if (pieces == 1) return multiply_(dtype_, g);
    // The left part has a power of two pieces, so the tree of additions depends only on the number of pieces.
    const std::int64_t left = std::int64_t(std::bit_floor(std::uint64_t(pieces - 1))) * length_;
    Gemm first = g, second = g;
    first.k = left;
    second.k = g.k - left;
    second.a += left * item_ * (g.transpose_a ? g.lda : 1);
    second.b += left * item_ * (g.transpose_b ? 1 : g.ldb);
    const Workspace memory(std::size_t(g.m * g.n * item_));
    second.c = memory.data();
    second.ldc = g.n;
    if (!run(first) || !run(second)) return false;
    const std::int64_t reals = item_ / std::int64_t(sizeof(float));
    for (std::int64_t i = 0; i < g.m; ++i)
      add_line(reinterpret_cast<float*>(g.c + i * g.ldc * item_),
               reinterpret_cast<const float*>(second.c + i * g.n * item_), g.n * reals);
    return true;
  }

 private:
  Multiply multiply_;
  Dtype dtype_;
  std::int64_t item_, length_;
};

}  // namespace

std::int64_t library_depth(const Gemm& g) {
  constexpr std::int64_t kSmall = 1'000'000, kFewResults = 4096;
  const std::int64_t results = g.m * g.n;
  if (g.k <= kSmall / results) return 1024;
  return results <= kFewResults ? 6 * 1024 : 16 * 1024;
}

bool multiply_in_pieces(Multiply multiply, Dtype dtype, const Gemm& g, std::int64_t depth) {
  if (catena::real_dtype(dtype) != Dtype::float32 || g.k <= 2 * depth) return multiply(dtype, g);
  const auto item = std::int64_t(catena::itemsize(dtype));
  const Pieces pieces(multiply, dtype, g.k, depth);
  for (std::int64_t i = 0; i < g.m; i += kTileSide)
    for (std::int64_t j = 0; j < g.n; j += kTileSide) {
      Gemm tile = g;
      tile.m = std::min(kTileSide, g.m - i);
      tile.n = std::min(kTileSide, g.n - j);
      tile.a += i * item * (g.transpose_a ? 1 : g.lda);
      tile.b += j * item * (g.transpose_b ? g.ldb : 1);
      tile.c += (i * g.ldc + j) * item;
      if (!pieces.run(tile)) return false;
    }
  return true;
}

}  // namespace nd::cpu
