// Random numbers. Generators differ, so contenders compare the number of elements.
#include <catena/benchmarks/cases.h>

namespace bench {
namespace {

const Parameters full{{"n", 1 << 22}}, tiny{{"n", 60}};

const Parameters of_1000{{"n", 1 << 22}, {"population", 1000}};

Ready choice(const Parameters& p) {
  const std::int64_t n = p.at("n"), population = p.at("population");
  return {repeated([n, population] { return nd::random::choice(population, {n}); }), [n] { return nd::array({n}); }};
}
Parameters chosen(Draw& draw) {
  return {{"n", draw.length(10, draw.at_most(10000000))}, {"population", draw.log_uniform(2, 1000000000)}};
}

Parameters some(Draw& draw) { return {{"n", draw.length(10, draw.at_most(100000000))}}; }

const Cases cases{
    {"random/choice", of_1000, tiny, choice, chosen},
    {"random/uniform", full, tiny,
     [](const Parameters& p) {
       const std::int64_t n = p.at("n");
       return Ready{repeated([n] { return nd::random::random_sample({n}, {.dtype = nd::float32}); }),
                    [n] { return nd::array({n}); }};
     },
     some},
    {"random/normal", full, tiny,
     [](const Parameters& p) {
       const std::int64_t n = p.at("n");
       return Ready{repeated([n] { return nd::random::standard_normal({n}, {.dtype = nd::float32}); }),
                    [n] { return nd::array({n}); }};
     },
     some},
};

}  // namespace
}  // namespace bench
