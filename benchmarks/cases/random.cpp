// Random numbers. Generators differ, so contenders compare the number of elements.
#include <catena/benchmarks/cases.h>

namespace bench {
namespace {

const Parameters full{{"n", 1 << 22}}, tiny{{"n", 60}};

Parameters some(Draw& draw) { return {{"n", draw.length(10, draw.at_most(100000000))}}; }

const Cases cases{
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
