// Products of float32 matrices (m, k) and (k, n), including the allocation of the result.
#include <catena/benchmarks/cases.h>

namespace bench {
namespace {

Ready product(const Parameters& p) {
  using Pair = std::pair<nd::Array, nd::Array>;
  return rotating(
      p,
      [&](std::int64_t seed) {
        return Pair(uniform({p.at("m"), p.at("k")}, 2 * seed, -1), uniform({p.at("k"), p.at("n")}, 2 * seed + 1, -1));
      },
      [](const Pair& s) { return nd::matmul(s.first, s.second); });
}

Parameters shape(std::int64_t m, std::int64_t k, std::int64_t n, std::int64_t sets = 1) {
  return {{"m", m}, {"k", k}, {"n", n}, {"sets", sets}};
}

const Parameters tiny = shape(5, 7, 6);

const Cases cases{
    {"matmul/1024_cubed", shape(1024, 1024, 1024, 4), tiny, product},
    {"matmul/100x784x1000", shape(100, 784, 1000, 4), tiny, product},
    {"matmul/16_cubed", shape(16, 16, 16), tiny, product},
    {"matmul/32_cubed", shape(32, 32, 32), tiny, product},
    {"matmul/64_cubed", shape(64, 64, 64), tiny, product},
};

}  // namespace
}  // namespace bench
