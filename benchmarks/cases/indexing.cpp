// Indexing with masks and integers.
#include <catena/benchmarks/cases.h>

namespace bench {
namespace {

const Parameters line{{"n", 1 << 22}, {"sets", 8}}, short_line{{"n", 60}, {"sets", 2}};
const Parameters table{{"rows", 65536}, {"columns", 64}, {"sets", 8}},
    small_table{{"rows", 12}, {"columns", 5}, {"sets", 2}};

struct Indexed {
  nd::Array values, index;
};

Parameters as(Parameters p, char dtype) {
  p["dtype"] = dtype;
  return p;
}

// Returns int64 positions on [0, n).
nd::Array positions(std::int64_t n, std::int64_t seed) { return labels(n, seed, n).astype(nd::int64); }

template <class F> Ready masked(const Parameters& p, F f) {
  return rotating(
      p,
      [&](std::int64_t seed) {
        return Indexed{input(p, {p.at("n")}, 2 * seed), input(as(p, '?'), {p.at("n")}, 2 * seed + 1)};
      },
      f);
}
Ready select(const Parameters& p) {
  return masked(p, [](const Indexed& s) { return s.values(s.index).copy(); });
}
Ready assign(const Parameters& p) {
  return masked(p, [](const Indexed& s) {
    nd::Array values = s.values;
    values(s.index) = 7;
    return values;
  });
}

Ready take(const Parameters& p) {
  return rotating(
      p,
      [&](std::int64_t seed) {
        return Indexed{input(p, {p.at("n")}, 2 * seed), positions(p.at("n"), 2 * seed + 1)};
      },
      [](const Indexed& s) { return s.values(s.index).copy(); });
}
Ready take_rows(const Parameters& p) {
  return rotating(
      p,
      [&](std::int64_t seed) {
        return Indexed{input(p, {p.at("rows"), p.at("columns")}, 2 * seed), positions(p.at("rows"), 2 * seed + 1)};
      },
      [](const Indexed& s) { return nd::take(s.values, s.index, {.axis = 0}); });
}

// Counts numbers below "classes".
Ready bincount(const Parameters& p) {
  return rotating(
      p, [&](std::int64_t seed) { return labels(p.at("n"), seed, p.at("classes")).astype(nd::int64); },
      [](const nd::Array& x) { return nd::bincount(x); });
}
Parameters counted(Draw& draw) {
  return {{"n", draw.length(10, draw.at_most(100000000))}, {"classes", draw.log_uniform(2, 1000000)}, {"sets", 1}};
}

Parameters any_line(Draw& draw) { return draw.line("fdBil"); }

const Cases cases{
    {"indexing/mask_select", line, short_line, select, any_line},
    {"indexing/mask_assign", line, short_line, assign, any_line},
    {"indexing/take", line, short_line, take, any_line},
    {"indexing/bincount",
     {{"n", 1 << 22}, {"classes", 1000}, {"sets", 4}},
     {{"n", 60}, {"sets", 2}},
     bincount,
     counted},
    {"indexing/take_rows", table, small_table, take_rows, [](Draw& draw) { return draw.matrix("fdBi"); }},
};

}  // namespace
}  // namespace bench
