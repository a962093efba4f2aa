// Products of matrices (m, k) and (k, n), and of stacks of matrices, including the allocation of the result.
#include <catena/benchmarks/cases.h>

namespace bench {
namespace {

Ready product(const Parameters& p) {
  using Pair = std::pair<nd::Array, nd::Array>;
  return rotating(
      p,
      [&](std::int64_t seed) {
        return Pair(input(p, {p.at("m"), p.at("k")}, 2 * seed, -1), input(p, {p.at("k"), p.at("n")}, 2 * seed + 1, -1));
      },
      [](const Pair& s) { return nd::matmul(s.first, s.second); });
}

Parameters shape(std::int64_t m, std::int64_t k, std::int64_t n, std::int64_t sets = 1) {
  return {{"m", m}, {"k", k}, {"n", n}, {"sets", sets}};
}

const Parameters tiny = shape(5, 7, 6);

// Both operands transposed in memory, as in the gradients of a linear layer.
Ready product_of_transposed(const Parameters& p) {
  using Pair = std::pair<nd::Array, nd::Array>;
  return rotating(
      p,
      [&](std::int64_t seed) {
        return Pair(input(p, {p.at("k"), p.at("m")}, 2 * seed, -1), input(p, {p.at("n"), p.at("k")}, 2 * seed + 1, -1));
      },
      [](const Pair& s) { return nd::matmul(s.first.T(), s.second.T()); });
}

// The parts have the dtype of p. Both parts of the result are compared.
Ready complex_product(const Parameters& p) {
  using Pair = std::pair<nd::Array, nd::Array>;
  const auto operand = [p](const nd::Shape& shape, std::int64_t seed) {
    const nd::Array a = nd::empty(shape, get(p, "dtype", 'f') == 'f' ? nd::complex64 : nd::complex128);
    a.real()(nd::ellipsis) = input(p, shape, 2 * seed, -1);
    a.imag()(nd::ellipsis) = input(p, shape, 2 * seed + 1, -1);
    return a;
  };
  const auto make = [=](std::int64_t seed) {
    return Pair(operand({p.at("m"), p.at("k")}, 2 * seed), operand({p.at("k"), p.at("n")}, 2 * seed + 1));
  };
  const auto multiply = [](const Pair& s) { return nd::matmul(s.first, s.second); };
  Ready timed = rotating(p, make, multiply);
  timed.result = [=] {
    const nd::Array y = multiply(make(0));
    return joined({y.real(), y.imag()});
  };
  return timed;
}

// The scores of attention: views of (batch, tokens, heads, d) with the heads in front, multiplied by those of the keys.
Ready attention_scores(const Parameters& p) {
  using Pair = std::pair<nd::Array, nd::Array>;
  return rotating(
      p,
      [&](std::int64_t seed) {
        const nd::Shape shape{p.at("batch"), p.at("tokens"), p.at("heads"), p.at("d")};
        return Pair(input(p, shape, 2 * seed, -1), input(p, shape, 2 * seed + 1, -1));
      },
      [](const Pair& s) {
        return nd::matmul(s.first.transpose({0, 2, 1, 3}), s.second.transpose({0, 2, 3, 1}));
      });
}
Parameters heads_and_tokens(Draw& draw) {
  return {{"batch", draw.log_uniform(1, 8)},
          {"tokens", draw.length(4, draw.at_most(512))},
          {"heads", draw.log_uniform(1, 12)},
          {"d", draw.one_of({16, 32, 64, 80, 128})},
          {"sets", 1},
          {"dtype", draw.dtype("fd")}};
}

// Tiny, skinny and large products, up to 4 10^9 multiplications.
Parameters any_product(Draw& draw) {
  constexpr std::int64_t kMost = 4000000000;
  const std::int64_t side = draw.at_most(4096);
  std::int64_t m = draw.length(1, side), k = draw.length(1, side), n = draw.length(1, side);
  while (m * k * n > kMost) m = (m + 1) / 2, k = (k + 1) / 2, n = (n + 1) / 2;
  return {{"m", m}, {"k", k}, {"n", n}, {"sets", 1}, {"dtype", draw.dtype("ffd")}, {"offset", draw.offset()}};
}

const Cases cases{
    {"matmul/1024_cubed", shape(1024, 1024, 1024, 4), tiny, product},
    {"matmul/100x784x1000", shape(100, 784, 1000, 4), tiny, product},
    {"matmul/16_cubed", shape(16, 16, 16), tiny, product},
    {"matmul/32_cubed", shape(32, 32, 32), tiny, product},
    {"matmul/64_cubed", shape(64, 64, 64), tiny, product},
    {"matmul/skinny", shape(5000, 77, 9), tiny, product, any_product},
    {"matmul/complex", shape(512, 512, 512), tiny, complex_product, any_product},
    {"matmul/attention_scores",
     {{"batch", 1}, {"tokens", 1024}, {"heads", 16}, {"d", 64}, {"sets", 1}},
     {{"batch", 2}, {"tokens", 5}, {"heads", 3}, {"d", 4}},
     attention_scores,
     heads_and_tokens},
    {"matmul/transposed", shape(333, 777, 555), tiny, product_of_transposed, any_product},
};

}  // namespace
}  // namespace bench
