// Reductions of a matrix larger than the caches, of (outer, axis, inner) along the middle axis, and of bytes.
#include <catena/benchmarks/cases.h>

namespace bench {
namespace {

const Parameters full{{"rows", 4096}, {"columns", 4096}, {"sets", 8}}, tiny{{"rows", 12}, {"columns", 10}, {"sets", 2}};
const Parameters block{{"outer", 64}, {"axis", 1024}, {"inner", 256}, {"sets", 8}},
    small_block{{"outer", 3}, {"axis", 5}, {"inner", 4}, {"sets", 2}};
const Parameters bytes{{"rows", 4096}, {"columns", 4096}, {"sets", 32}, {"dtype", 'B'}},
    bools{{"rows", 4096}, {"columns", 4096}, {"sets", 32}, {"dtype", '?'}};

nd::Array matrix(const Parameters& p, std::int64_t seed) { return input(p, {p.at("rows"), p.at("columns")}, seed); }

template <class F> Ready of_matrix(const Parameters& p, F f) {
  return rotating(
      p, [&](std::int64_t seed) { return matrix(p, seed); }, f);
}
template <class F> Ready of_block(const Parameters& p, F f) {
  return rotating(
      p,
      [&](std::int64_t seed) {
        return input(p, {p.at("outer"), p.at("axis"), p.at("inner")}, seed);
      },
      f);
}
// Reduces bools whose result depends on every element: all false, or all true.
template <class F> Ready of_equal_bools(const Parameters& p, bool value, F f) {
  return rotating(
      p,
      [&](std::int64_t seed) {
        nd::Array a = matrix(p, seed);
        a.fill(value);
        return a;
      },
      f);
}

Parameters numbers(Draw& draw) { return draw.matrix("fdil"); }
Parameters numbers_in_block(Draw& draw) { return draw.block("fdil"); }
Parameters ordered(Draw& draw) { return draw.matrix("fdBhil"); }
Parameters floats(Draw& draw) { return draw.matrix("fd"); }
Parameters only_bools(Draw& draw) { return draw.matrix("?"); }
Parameters counted(Draw& draw) { return draw.matrix("?Bbfl"); }

const Cases cases{
    {"reduction/sum", full, tiny,
     [](const Parameters& p) { return of_matrix(p, [](const nd::Array& a) { return a.sum(); }); }, numbers},
    {"reduction/sum_axis0", full, tiny,
     [](const Parameters& p) { return of_matrix(p, [](const nd::Array& a) { return a.sum({.axis = 0}); }); }, numbers},
    {"reduction/sum_axis1", full, tiny,
     [](const Parameters& p) { return of_matrix(p, [](const nd::Array& a) { return a.sum({.axis = 1}); }); }, numbers},
    {"reduction/sum_middle", block, small_block,
     [](const Parameters& p) { return of_block(p, [](const nd::Array& a) { return a.sum({.axis = 1}); }); },
     numbers_in_block},
    {"reduction/sum_outer", block, small_block,
     [](const Parameters& p) { return of_block(p, [](const nd::Array& a) {
                                 return a.sum({.axis = {0, 2}});
                               }); },
     numbers_in_block},
    {"reduction/max", full, tiny,
     [](const Parameters& p) { return of_matrix(p, [](const nd::Array& a) { return a.max(); }); }, ordered},
    {"reduction/max_axis0", full, tiny,
     [](const Parameters& p) { return of_matrix(p, [](const nd::Array& a) { return a.max({.axis = 0}); }); }, ordered},
    {"reduction/max_axis1", full, tiny,
     [](const Parameters& p) { return of_matrix(p, [](const nd::Array& a) { return a.max({.axis = 1}); }); }, ordered},
    {"reduction/argmax", full, tiny,
     [](const Parameters& p) { return of_matrix(p, [](const nd::Array& a) { return a.argmax(); }); }, ordered},
    {"reduction/argmax_axis0", full, tiny,
     [](const Parameters& p) { return of_matrix(p, [](const nd::Array& a) { return a.argmax({.axis = 0}); }); },
     ordered},
    {"reduction/argmax_axis1", full, tiny,
     [](const Parameters& p) { return of_matrix(p, [](const nd::Array& a) { return a.argmax({.axis = 1}); }); },
     ordered},
    {"reduction/var", full, tiny,
     [](const Parameters& p) { return of_matrix(p, [](const nd::Array& a) { return a.var(); }); }, floats},
    {"reduction/any", bools, tiny,
     [](const Parameters& p) { return of_equal_bools(p, false, [](const nd::Array& a) { return a.any(); }); },
     only_bools},
    {"reduction/any_early", bools, tiny,
     [](const Parameters& p) { return of_matrix(p, [](const nd::Array& a) { return a.any(); }); }, only_bools},
    {"reduction/all", bools, tiny,
     [](const Parameters& p) { return of_equal_bools(p, true, [](const nd::Array& a) { return a.all(); }); },
     only_bools},
    {"reduction/max_bools", bools, tiny,
     [](const Parameters& p) { return of_equal_bools(p, false, [](const nd::Array& a) { return a.max(); }); },
     only_bools},
    {"reduction/count_nonzero", bytes, tiny,
     [](const Parameters& p) {
       return of_matrix(p, [](const nd::Array& a) { return nd::array(nd::count_nonzero(a)); });
     },
     counted},
};

}  // namespace
}  // namespace bench
