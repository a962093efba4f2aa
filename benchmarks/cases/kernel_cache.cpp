// The time to find a compiled kernel: one given as text, and one generated from a fused function.
#include <catena/benchmarks/cases.h>

namespace bench {
namespace {

const Parameters full{{"n", 100}}, tiny{};

const Cases cases{
    {"kernel_cache/text", full, tiny,
     [](const Parameters& p) {
       const nd::ElementwiseKernel kernel("T x, T y", "T z", "z = (x - y) * (x - y)", "squared_difference");
       return ready([kernel, a = uniform({p.at("n")}, 0), b = uniform({p.at("n")}, 1)] { return kernel(a, b); });
     }},
    {"kernel_cache/fused", full, tiny,
     [](const Parameters& p) {
       const auto f = nd::fuse([](auto x, auto y) { return (x - y) * (x - y); });
       return ready([f, a = uniform({p.at("n")}, 0), b = uniform({p.at("n")}, 1)] { return f(a, b); });
     }},
};

}  // namespace
}  // namespace bench
