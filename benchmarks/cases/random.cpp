// Random numbers. Generators differ, so contenders compare the number of elements.
#include <catena/benchmarks/cases.h>

namespace bench {
namespace {

const Parameters full{{"n", 1 << 22}}, tiny{{"n", 60}};

const Cases cases{
    {"random/uniform", full, tiny,
     [](const Parameters& p) {
       const std::int64_t n = p.at("n");
       return Ready{repeated([n] { return nd::random::random_sample({n}, {.dtype = nd::float32}); }),
                    [n] { return nd::array({n}); }};
     }},
    {"random/normal", full, tiny,
     [](const Parameters& p) {
       const std::int64_t n = p.at("n");
       return Ready{repeated([n] { return nd::random::standard_normal({n}, {.dtype = nd::float32}); }),
                    [n] { return nd::array({n}); }};
     }},
};

}  // namespace
}  // namespace bench
