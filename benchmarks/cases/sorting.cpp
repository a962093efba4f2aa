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

// Moves the median of a line, or element p["kth"], to its position. Contenders compare only that element, because the
// others may be in any order.
Ready partition(const Parameters& p) {
  const std::int64_t kth = get(p, "kth", p.at("n") / 2);
  Ready ready = rotating(
      p, [&](std::int64_t seed) { return input(p, {p.at("n")}, seed, -1); },
      [kth](const nd::Array& a) { return nd::partition(a, kth); });
  ready.result = [p, kth] { return nd::partition(input(p, {p.at("n")}, 0, -1), kth)(nd::Slice(kth, kth + 1)); };
  return ready;
}
// Returns the positions of the smallest elements of each row, up to element p["kth"], which contenders compare.
Ready argpartition(const Parameters& p) {
  const std::int64_t kth = p.at("kth");
  Ready ready = of_matrix(p, [kth](const nd::Array& a) { return nd::argpartition(a, kth); });
  ready.result = [p, kth] {
    const nd::Array a = input(p, {p.at("rows"), p.at("columns")}, 0, -1);
    return nd::take_along_axis(a, nd::argpartition(a, kth)(nd::ellipsis, nd::Slice(kth, kth + 1)), 1);
  };
  return ready;
}
Parameters partitioned_rows(Draw& draw) {
  Parameters p = sorted(draw);
  p["kth"] = draw.log_uniform(1, p["columns"]) - 1;
  return p;
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
    {"sorting/argpartition",
     {{"rows", 64}, {"columns", 32000}, {"kth", 50}, {"sets", 4}},
     {{"rows", 3}, {"columns", 9}, {"kth", 2}, {"sets", 2}},
     argpartition,
     partitioned_rows},
    {"scan/cumsum", rows, few,
     [](const Parameters& p) { return of_matrix(p, [](const nd::Array& a) { return nd::cumsum(a); }); }, summed},
    {"scan/cumsum_axis0", rows, few,
     [](const Parameters& p) { return of_matrix(p, [](const nd::Array& a) { return nd::cumsum(a, 0); }); }, summed},
    {"scan/cumsum_axis1", rows, few,
     [](const Parameters& p) { return of_matrix(p, [](const nd::Array& a) { return nd::cumsum(a, 1); }); }, summed},
};

}  // namespace
}  // namespace bench
