// Arrays made without input, or from other arrays.
#include <algorithm>

#include <catena/benchmarks/cases.h>

namespace bench {
namespace {

// Returns 0, 1, 2... Contenders compare sums, which float32 would round.
Ready arange(const Parameters& p) {
  const nd::Dtype dtype = catena::dtype_from_char(char(get(p, "dtype", 'l')));
  return ready([n = p.at("n"), dtype] { return nd::arange(n, dtype); });
}
Parameters ranges(Draw& draw) {
  const std::int64_t dtype = draw.dtype("lid");
  return {{"n", draw.elements(dtype)}, {"dtype", dtype}};
}

// Concatenates `count` arrays of n elements.
Ready concatenate(const Parameters& p) {
  return rotating(
      p,
      [&](std::int64_t seed) {
        std::vector<nd::Array> arrays;
        for (std::int64_t k = 0; k < p.at("count"); ++k) arrays.push_back(input(p, {p.at("n")}, 1000 * seed + k, -1));
        return arrays;
      },
      [](const std::vector<nd::Array>& arrays) { return nd::concatenate(arrays); });
}
Parameters pieces(Draw& draw) {
  Parameters p = draw.line("fdBil");
  p["count"] = draw.log_uniform(2, 200);
  p["n"] = std::max<std::int64_t>(1, p["n"] / p["count"]);
  return p;
}

const Cases cases{
    {"creation/arange", {{"n", 1 << 24}}, {{"n", 60}}, arange, ranges},
    {"joining/concatenate",
     {{"count", 100}, {"n", 50000}, {"sets", 4}},
     {{"count", 3}, {"n", 20}, {"sets", 2}},
     concatenate,
     pieces},
};

}  // namespace
}  // namespace bench
