// Sorting and cumulative sums, of one row or of many.
#include <catena/benchmarks/cases.h>

namespace bench {
namespace {

const Parameters rows{{"rows", 1024}, {"columns", 1024}, {"sets", 4}}, few{{"rows", 4}, {"columns", 9}, {"sets", 2}};

template <class F> Ready of_matrix(const Parameters& p, F f) {
  return rotating(
      p,
      [&](std::int64_t seed) {
        return input(p, {p.at("rows"), p.at("columns")}, seed, -1);
      },
      f);
}

// At most 10^7 elements: a row of that length sorts in a second.
Parameters sorted(Draw& draw) {
  Parameters p = draw.matrix("fdBil");
  while (p["rows"] * p["columns"] > 10000000) p["rows"] = (p["rows"] + 1) / 2, p["columns"] = (p["columns"] + 1) / 2;
  return p;
}
Parameters summed(Draw& draw) { return draw.matrix("fdl"); }

const Cases cases{
    {"sorting/sort", rows, few,
     [](const Parameters& p) { return of_matrix(p, [](const nd::Array& a) { return nd::sort(a); }); }, sorted},
    {"sorting/argsort", rows, few,
     [](const Parameters& p) { return of_matrix(p, [](const nd::Array& a) { return nd::argsort(a); }); }, sorted},
    {"scan/cumsum", rows, few,
     [](const Parameters& p) { return of_matrix(p, [](const nd::Array& a) { return nd::cumsum(a); }); }, summed},
    {"scan/cumsum_axis0", rows, few,
     [](const Parameters& p) { return of_matrix(p, [](const nd::Array& a) { return nd::cumsum(a, 0); }); }, summed},
    {"scan/cumsum_axis1", rows, few,
     [](const Parameters& p) { return of_matrix(p, [](const nd::Array& a) { return nd::cumsum(a, 1); }); }, summed},
};

}  // namespace
}  // namespace bench
