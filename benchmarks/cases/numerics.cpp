// Statistics, sets, signals and sums of products, as users of NumPy call them.
#include <algorithm>

#include <catena/benchmarks/cases.h>

namespace bench {
namespace {

const Parameters long_line{{"n", 1 << 20}, {"sets", 4}}, short_line{{"n", 50}, {"sets", 2}};
const Parameters rows{{"rows", 1024}, {"columns", 1024}, {"sets", 4}}, few{{"rows", 4}, {"columns", 9}, {"sets", 2}};

template <class F> Ready of_line(const Parameters& p, F f) {
  return rotating(
      p, [&](std::int64_t seed) { return input(p, {p.at("n")}, seed, -1); }, f);
}
// Every tenth number or so is NaN.
template <class F> Ready with_nan(const Parameters& p, F f) {
  return rotating(
      p,
      [&](std::int64_t seed) {
        const nd::Array a = input(p, {p.at("rows"), p.at("columns")}, seed, -1);
        return nd::where(a < -0.8, nd::nan, a);
      },
      f);
}

Ready median(const Parameters& p) {
  return of_line(p, [](const nd::Array& a) { return nd::median(a); });
}
Ready percentile(const Parameters& p) {
  return of_line(p, [](const nd::Array& a) { return nd::percentile(a, {5, 50, 95}); });
}
Ready histogram(const Parameters& p) {
  return of_line(p, [](const nd::Array& a) { return nd::histogram(a, {.bins = 100}).first; });
}
Ready unique(const Parameters& p) {
  return of_line(p, [](const nd::Array& a) { return nd::unique(a); });
}
Ready interp(const Parameters& p) {
  const nd::Array x = nd::linspace(-1, 1, 1001), y = nd::sin(5 * x);
  return of_line(p, [x, y](const nd::Array& a) { return nd::interp(a, x, y); });
}
Ready convolve(const Parameters& p) {
  const nd::Array taps = nd::hanning(101).astype(nd::float32);
  return of_line(p, [taps](const nd::Array& a) { return nd::convolve(a, taps, "same"); });
}
Ready nansum(const Parameters& p) {
  return with_nan(p, [](const nd::Array& a) { return nd::nansum(a, 1); });
}
Ready nanmean(const Parameters& p) {
  return with_nan(p, [](const nd::Array& a) { return nd::nanmean(a, 0); });
}
// Three operands: a chain of products, whose order the library chooses.
Ready chain(const Parameters& p) {
  const std::int64_t n = p.at("n");
  return rotating(
      p,
      [&](std::int64_t seed) {
        return std::vector<nd::Array>{input(p, {n, n}, 3 * seed, -1), input(p, {n, n}, 3 * seed + 1, -1),
                                      input(p, {n, 4}, 3 * seed + 2, -1)};
      },
      [](const std::vector<nd::Array>& s) { return nd::einsum("ij,jk,kl->il", s[0], s[1], s[2]); });
}
// One element after the other.
Ready write_elements(const Parameters&) {
  const nd::Array a = nd::zeros({100, 100});
  return ready([a] {
    for (std::int64_t i = 0; i < 100; ++i) a(i, 99 - i) = 1.5;
    return a;
  });
}

Parameters lines(Draw& draw) {
  Parameters p = draw.line("fd");
  p["n"] = std::min<std::int64_t>(p["n"], 10000000);
  return p;
}
Parameters integers(Draw& draw) {
  Parameters p = draw.line("il");
  p["n"] = std::min<std::int64_t>(p["n"], 10000000);
  return p;
}
Parameters matrices(Draw& draw) { return draw.matrix("fd"); }
Parameters signals(Draw& draw) {  // not shorter than the window
  Parameters p = draw.line();
  p["n"] = std::clamp<std::int64_t>(p["n"], 101, 10000000);
  return p;
}
Parameters squares(Draw& draw) { return {{"n", draw.length(2, draw.at_most(1500))}, {"sets", 1}}; }

const Cases cases{
    {"numerics/median", long_line, short_line, median, lines},
    {"numerics/percentile", long_line, short_line, percentile, lines},
    {"numerics/histogram", long_line, short_line, histogram, lines},
    {"numerics/unique", {{"n", 1 << 20}, {"sets", 4}, {"dtype", 'l'}}, short_line, unique, integers},
    {"numerics/interp", long_line, short_line, interp, lines},
    {"numerics/convolve", long_line, {{"n", 200}, {"sets", 2}}, convolve, signals},
    {"numerics/nansum", rows, few, nansum, matrices},
    {"numerics/nanmean", rows, few, nanmean, matrices},
    {"numerics/einsum_chain", {{"n", 512}, {"sets", 2}}, {{"n", 5}, {"sets", 2}}, chain, squares},
    {"numerics/write_elements", {}, {}, write_elements, nullptr},
};

}  // namespace
}  // namespace bench
