// The time of one operation on arrays so small that arithmetic takes almost no time: dispatch, binding, allocation.
#include <catena/benchmarks/cases.h>

namespace bench {
namespace {

const Parameters full{{"n", 100}}, tiny{};

nd::Array operand(const Parameters& p, std::int64_t seed) { return uniform({p.at("n")}, seed); }

// Sizes for which dispatch takes most of the time.
Parameters small(Draw& draw) { return {{"n", draw.length(1, 2000)}}; }
Parameters small_matrix(Draw& draw) { return {{"rows", draw.length(4, 200)}, {"columns", draw.length(1, 200)}}; }

const Cases cases{
    {"overhead/add", full, tiny,
     [](const Parameters& p) { return ready([a = operand(p, 0), b = operand(p, 1)] { return a + b; }); }, small},
    {"overhead/add_out", full, tiny,
     [](const Parameters& p) {
       return ready([a = operand(p, 0), b = operand(p, 1), c = operand(p, 2)] { return nd::add(a, b, {.out = c}); });
     },
     small},
    {"overhead/add_scalar", full, tiny,
     [](const Parameters& p) { return ready([a = operand(p, 0)] { return a + 1.5; }); }, small},
    {"overhead/fused",
     {{"n", 10}},
     tiny,
     [](const Parameters& p) {
       const auto f = nd::fuse([](auto x, auto y) { return (x - y) * (x - y); });
       return ready([f, a = operand(p, 0), b = operand(p, 1)] { return f(a, b); });
     },
     small},
    {"overhead/view",
     {{"rows", 10}, {"columns", 10}},
     tiny,
     [](const Parameters& p) {
       return ready([a = uniform({p.at("rows"), p.at("columns")}, 0)] { return a(3); });
     },
     small_matrix},
    {"overhead/sum", full, tiny, [](const Parameters& p) { return ready([a = operand(p, 0)] { return a.sum(); }); },
     small},
    {"overhead/item",
     {{"n", 1000}},
     tiny,
     [](const Parameters& p) {
       const auto read = [a = operand(p, 0)] { return a.sum().item<double>(); };
       return Ready{repeated(read), [read] { return nd::array({read()}); }};
     },
     small},
};

}  // namespace
}  // namespace bench
