// Sorting and cumulative sums, of one row or of many.
#include <algorithm>

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

// At most 10^7 elements, so that a case does not take too long.
Parameters sorted(Draw& draw) {
  Parameters p = draw.matrix("fdBil");
  while (p["rows"] * p["columns"] > 10000000) p["rows"] = (p["rows"] + 1) / 2, p["columns"] = (p["columns"] + 1) / 2;
  return p;
}
Parameters summed(Draw& draw) { return draw.matrix("fdl"); }

// Moves the median of a line to its position. Contenders compare only that element, because the others may be in any
// order.
Ready partition(const Parameters& p) {
  const std::int64_t middle = p.at("n") / 2;
  Ready ready = rotating(
      p, [&](std::int64_t seed) { return input(p, {p.at("n")}, seed, -1); },
      [middle](const nd::Array& a) { return nd::partition(a, middle); });
  ready.result = [p, middle] {
    return nd::partition(input(p, {p.at("n")}, 0, -1), middle)(nd::Slice(middle, middle + 1));
  };
  return ready;
}
Parameters partitioned(Draw& draw) {
  Parameters p = draw.line("fdBil");
  p["n"] = std::min<std::int64_t>(p["n"], 10000000);
  return p;
}

const Cases cases{
    {"sorting/sort", rows, few,
     [](const Parameters& p) { return of_matrix(p, [](const nd::Array& a) { return nd::sort(a); }); }, sorted},
    {"sorting/argsort", rows, few,
     [](const Parameters& p) { return of_matrix(p, [](const nd::Array& a) { return nd::argsort(a); }); }, sorted},
    {"sorting/partition", {{"n", 1 << 22}, {"sets", 4}}, {{"n", 50}, {"sets", 2}}, partition, partitioned},
    {"scan/cumsum", rows, few,
     [](const Parameters& p) { return of_matrix(p, [](const nd::Array& a) { return nd::cumsum(a); }); }, summed},
    {"scan/cumsum_axis0", rows, few,
     [](const Parameters& p) { return of_matrix(p, [](const nd::Array& a) { return nd::cumsum(a, 0); }); }, summed},
    {"scan/cumsum_axis1", rows, few,
     [](const Parameters& p) { return of_matrix(p, [](const nd::Array& a) { return nd::cumsum(a, 1); }); }, summed},
};

}  // namespace
}  // namespace bench
