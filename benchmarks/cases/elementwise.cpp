// Elementwise operations on arrays larger than the caches: limited by memory bandwidth or by the function. Every result
// is newly allocated.
#include <catena/benchmarks/cases.h>

namespace bench {
namespace {

const Parameters line{{"n", 1 << 24}, {"sets", 8}}, short_line{{"n", 60}, {"sets", 2}};
const Parameters pair_of_lines{{"n", 1 << 24}, {"sets", 4}};
const Parameters square{{"rows", 4096}, {"columns", 4096}, {"sets", 8}},
    small_square{{"rows", 12}, {"columns", 10}, {"sets", 2}};
const Parameters chain{{"n", 1 << 22}, {"sets", 16}};

using Pair = std::pair<nd::Array, nd::Array>;

template <class F> Ready unary(const Parameters& p, F f) {
  return rotating(
      p, [&](std::int64_t seed) { return uniform({p.at("n")}, seed, -3, 3); }, f);
}
template <class F> Ready binary(const Parameters& p, F f) {
  return rotating(
      p, [&](std::int64_t seed) { return Pair(uniform({p.at("n")}, 2 * seed), uniform({p.at("n")}, 2 * seed + 1)); },
      [f](const Pair& s) { return f(s.first, s.second); });
}

nd::Array matrix(const Parameters& p, std::int64_t seed) { return uniform({p.at("rows"), p.at("columns")}, seed); }

// Six operations.
constexpr auto chain_of_six = [](auto x, auto y) { return nd::sqrt(x * y + 1) - nd::exp(x) * y; };

Ready broadcast_add(const Parameters& p) {
  return rotating(
      p, [&](std::int64_t seed) { return Pair(matrix(p, 2 * seed), uniform({p.at("columns")}, 2 * seed + 1)); },
      [](const Pair& s) { return s.first + s.second; });
}

Ready transpose_copy(const Parameters& p) {
  return rotating(
      p, [&](std::int64_t seed) { return matrix(p, seed); }, [](const nd::Array& a) { return a.T().copy(); });
}

Ready strided_add(const Parameters& p) {
  const nd::Slice every_second({}, {}, 2);
  return binary(p,
                [every_second](const nd::Array& a, const nd::Array& b) { return a(every_second) + b(every_second); });
}

Ready add_float16(const Parameters& p) {
  return rotating(
      p,
      [&](std::int64_t seed) {
        return Pair(uniform({p.at("n")}, 2 * seed).astype(nd::float16),
                    uniform({p.at("n")}, 2 * seed + 1).astype(nd::float16));
      },
      [](const Pair& s) { return s.first + s.second; });
}

const Cases cases{
    {"elementwise/add", pair_of_lines, short_line,
     [](const Parameters& p) { return binary(p, [](const nd::Array& a, const nd::Array& b) { return a + b; }); }},
    {"elementwise/add_float16", line, short_line, add_float16},
    {"elementwise/add_strided", pair_of_lines, short_line, strided_add},
    {"elementwise/add_broadcast", square, small_square, broadcast_add},
    {"elementwise/exp", line, short_line,
     [](const Parameters& p) { return unary(p, [](const nd::Array& a) { return nd::exp(a); }); }},
    {"elementwise/tanh", line, short_line,
     [](const Parameters& p) { return unary(p, [](const nd::Array& a) { return nd::tanh(a); }); }},
    {"elementwise/cast_float64", line, short_line,
     [](const Parameters& p) { return unary(p, [](const nd::Array& a) { return a.astype(nd::float64); }); }},
    {"elementwise/cast_float16", line, short_line,
     [](const Parameters& p) { return unary(p, [](const nd::Array& a) { return a.astype(nd::float16); }); }},
    {"elementwise/chain", chain, short_line, [](const Parameters& p) { return binary(p, chain_of_six); }},
    {"elementwise/chain_fused", chain, short_line,
     [](const Parameters& p) { return binary(p, nd::fuse(chain_of_six)); }},
    {"elementwise/transpose_copy", square, small_square, transpose_copy},
};

}  // namespace
}  // namespace bench
