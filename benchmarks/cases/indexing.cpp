// Indexing with masks and integers, and sums of elements that integers choose.
#include <algorithm>

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

// Returns n int64 positions on [0, size).
nd::Array positions(std::int64_t n, std::int64_t seed, std::int64_t size) {
  return labels(n, seed, size).astype(nd::int64);
}
nd::Array positions(std::int64_t n, std::int64_t seed) { return positions(n, seed, n); }

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

// Masks that select 1 % of the elements: one run in a hundred, each of p["run"] neighbours.
template <class F> Ready few_selected(const Parameters& p, F f) {
  return rotating(
      p,
      [&](std::int64_t seed) {
        const std::int64_t n = p.at("n"), run = p.at("run");
        const nd::Array chosen = labels((n + run - 1) / run, 2 * seed + 1, 100) == 0;
        return Indexed{input(p, {n}, 2 * seed), nd::repeat(chosen, run)(nd::Slice(n)).copy()};
      },
      f);
}
Ready select_few(const Parameters& p) {
  return few_selected(p, [](const Indexed& s) { return s.values(s.index).copy(); });
}
Ready assign_few(const Parameters& p) {
  return few_selected(p, [](const Indexed& s) {
    nd::Array values = s.values;
    values(s.index) = 7;
    return values;
  });
}
// Lines that are long enough to have a selected run.
Parameters few_of_line(Draw& draw) {
  Parameters p = draw.line("fdBil");
  p["n"] = std::max<std::int64_t>(p["n"], 1000);
  p["run"] = 1;
  return p;
}
Parameters runs_of_line(Draw& draw) {
  Parameters p = draw.line("fdBil");
  p["n"] = std::max<std::int64_t>(p["n"], 100000);
  p["run"] = draw.log_uniform(2, 100);
  return p;
}

// Reads 1000 elements one after the other, and writes them.
Ready read_elements(const Parameters& p) {
  return rotating(
      p, [&](std::int64_t seed) { return input(p, {p.at("n")}, seed); },
      [](const nd::Array& a) {
        double sum = 0;
        for (std::int64_t i = 0; i < 1000; ++i) sum += a.item<double>(i * 7 % a.size());
        return nd::array({sum});
      });
}
Ready write_elements(const Parameters& p) {
  return rotating(
      p, [&](std::int64_t seed) { return input(p, {p.at("n")}, seed); },
      [](const nd::Array& given) {
        const nd::Array a = given.copy();
        for (std::int64_t i = 0; i < 1000; ++i) a(i * 7 % a.size()) = 1.5;
        return a;
      });
}
Parameters elements(Draw& draw) {
  Parameters p = draw.line("fd");
  p["n"] = std::min<std::int64_t>(p["n"], 100000);
  return p;
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
// Adds -1, 0 or 1 to one of p["bins"] sums, for each of p["n"] positions: float16 has these sums exactly in any order.
Ready scatter_add(const Parameters& p) {
  const std::int64_t n = p.at("n"), bins = p.at("bins");
  const auto zeros = [bins, dtype = catena::dtype_from_char(char(get(p, "dtype", 'f')))] {
    return nd::zeros({bins}, dtype);
  };
  const auto addends = [=](std::int64_t seed) {
    return Indexed{(labels(n, 2 * seed, 3) - 1).astype(zeros().dtype()), positions(n, 2 * seed + 1, bins)};
  };
  const auto add = [](const nd::Array& sums, const Indexed& s) {
    nd::scatter_add(sums, s.index, s.values);
    return sums;
  };
  Ready timed = rotating(p, addends, [add, sums = zeros()](const Indexed& s) { return add(sums, s); });
  timed.result = [=] { return add(zeros(), addends(0)); };
  return timed;
}
Parameters scattered(Draw& draw) {
  return {{"n", draw.length(10, draw.at_most(10000000))},
          {"bins", draw.log_uniform(1, 1000000)},
          {"dtype", draw.dtype("fdl")},
          {"sets", 1}};
}

Ready nonzero(const Parameters& p) {
  return rotating(
      p, [&](std::int64_t seed) { return input(as(p, '?'), {p.at("n")}, seed); },
      [](const nd::Array& mask) { return nd::nonzero(mask)[0]; });
}

Parameters counted(Draw& draw) {
  return {{"n", draw.length(10, draw.at_most(100000000))}, {"classes", draw.log_uniform(2, 1000000)}, {"sets", 1}};
}

Parameters any_line(Draw& draw) { return draw.line("fdBil"); }

const Cases cases{
    {"indexing/mask_select", line, short_line, select, any_line},
    {"indexing/mask_assign", line, short_line, assign, any_line},
    {"indexing/mask_select_few",
     {{"n", 1 << 22}, {"run", 1}, {"sets", 8}},
     {{"n", 1000}, {"sets", 2}},
     select_few,
     few_of_line},
    {"indexing/mask_assign_few",
     {{"n", 1 << 22}, {"run", 1}, {"sets", 8}},
     {{"n", 1000}, {"sets", 2}},
     assign_few,
     few_of_line},
    {"indexing/mask_select_runs",
     {{"n", 1 << 22}, {"run", 32}, {"sets", 8}},
     {{"n", 10000}, {"sets", 2}},
     select_few,
     runs_of_line},
    {"indexing/mask_assign_runs",
     {{"n", 1 << 22}, {"run", 32}, {"sets", 8}},
     {{"n", 10000}, {"sets", 2}},
     assign_few,
     runs_of_line},
    {"indexing/read_elements", {{"n", 10000}, {"sets", 1}}, {{"n", 100}}, read_elements, elements},
    {"indexing/write_elements", {{"n", 10000}, {"sets", 1}}, {{"n", 100}}, write_elements, elements},
    {"indexing/take", line, short_line, take, any_line},
    {"indexing/bincount",
     {{"n", 1 << 22}, {"classes", 1000}, {"sets", 4}},
     {{"n", 60}, {"sets", 2}},
     bincount,
     counted},
    {"indexing/scatter_add",
     {{"n", 1 << 22}, {"bins", 1 << 20}, {"sets", 2}},
     {{"n", 60}, {"bins", 7}},
     scatter_add,
     scattered},
    {"indexing/nonzero", line, short_line, nonzero, any_line},
    {"indexing/take_rows", table, small_table, take_rows, [](Draw& draw) { return draw.matrix("fdBi"); }},
};

}  // namespace
}  // namespace bench
