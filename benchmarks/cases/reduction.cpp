// Reductions of a matrix larger than the caches.
#include <catena/benchmarks/cases.h>

namespace bench {
namespace {

const Parameters full{{"rows", 4096}, {"columns", 4096}, {"sets", 8}}, tiny{{"rows", 12}, {"columns", 10}, {"sets", 2}};

template <class F> Ready of_matrix(const Parameters& p, F f) {
  return rotating(
      p,
      [&](std::int64_t seed) {
        return uniform({p.at("rows"), p.at("columns")}, seed);
      },
      f);
}

const Cases cases{
    {"reduction/sum", full, tiny,
     [](const Parameters& p) { return of_matrix(p, [](const nd::Array& a) { return a.sum(); }); }},
    {"reduction/sum_axis0", full, tiny,
     [](const Parameters& p) { return of_matrix(p, [](const nd::Array& a) { return a.sum({.axis = 0}); }); }},
    {"reduction/sum_axis1", full, tiny,
     [](const Parameters& p) { return of_matrix(p, [](const nd::Array& a) { return a.sum({.axis = 1}); }); }},
    {"reduction/argmax_axis1", full, tiny,
     [](const Parameters& p) { return of_matrix(p, [](const nd::Array& a) { return a.argmax({.axis = 1}); }); }},
    {"reduction/argmax", full, tiny,
     [](const Parameters& p) { return of_matrix(p, [](const nd::Array& a) { return a.argmax(); }); }},
    {"reduction/var", full, tiny,
     [](const Parameters& p) { return of_matrix(p, [](const nd::Array& a) { return a.var(); }); }},
};

}  // namespace
}  // namespace bench
