// A table with missing numbers: reading, means without them, groups, quantiles, correlations, a straight line, and a
// report that is written.
// writes: measured.csv report.csv measured.png
// prints: 300 rows, [1-9][0-9]* numbers missing
// prints: heat grows by 0[.][45][0-9]* a degree
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <vector>

#include <catena/ndarray/ndarray.h>

#include "picture.h"

namespace {

void check(bool condition, const char* what) {
  if (condition) return;
  std::cerr << "wrong: " << what << "\n";
  std::exit(1);
}

}  // namespace

int main() {
  {  // station, temperature, heat; some numbers are not there
    auto random = nd::random::default_rng(3);
    const nd::Array station = random.integers(0, 3, {300}), temperature = random.normal(15, 5, 300) + 2 * station;
    const nd::Array heat = 0.5 * temperature + random.normal(0, 1, 300);
    nd::Array table = nd::stack({station, temperature, heat}, {.axis = 1});
    nd::place(table, (random.random({300, 3}) < 0.05) & (nd::arange(3) > 0), {nd::nan});
    nd::savetxt("measured.csv", table, {.fmt = "%.4f", .delimiter = ",", .header = "station,temperature,heat"});
  }

  const nd::Array table = nd::genfromtxt("measured.csv", {.delimiter = ",", .skip_header = 1});
  const nd::Array missing = nd::isnan(table);
  std::cout << table.shape(0) << " rows, " << int(nd::count_nonzero(missing)) << " numbers missing\n";
  std::cout << "means " << nd::round(nd::nanmean(table, 0), 3) << ", deviations " << nd::round(nd::nanstd(table, 0), 3)
            << "\n";

  // Means of the stations: sums of groups over their sizes.
  const nd::Array rows = table(~nd::any(missing, 1));
  const nd::Array station = rows(nd::_, 0).astype(nd::int64), temperature = rows(nd::_, 1), heat = rows(nd::_, 2);
  const nd::Array means = nd::bincount(station, temperature) / nd::bincount(station);
  std::cout << "temperature of the stations: " << nd::round(means, 2) << "\n";
  check(bool((nd::diff(means) > 0).all()), "each station is warmer than the one before");

  const nd::Array quartiles = nd::percentile(temperature, {25, 50, 75});
  const auto [counts, edges] = nd::histogram(temperature, {.bins = 8});
  std::cout << "quartiles " << nd::round(quartiles, 2) << "\n";
  for (std::int64_t k = 0; k < counts.size(); ++k)
    std::cout << nd::round(edges(k), 1) << " to " << nd::round(edges(k + 1), 1) << ": " << counts(k) << "\n";
  check(int(counts.sum()) == int(temperature.size()), "all numbers are in the histogram");

  const nd::Array line = nd::polyfit(temperature, heat, 1);
  const double correlation = double(nd::corrcoef(temperature, heat)(0, 1));
  std::cout << "heat grows by " << double(line(0)) << " a degree; correlation " << correlation << "\n";
  check(std::abs(double(line(0)) - 0.5) < 0.05 && correlation > 0.9, "the line of which the table was made");

  // Points of the stations, the line, and the histogram on the lower edge.
  Picture picture{640, 400, 0, 35, -2, 18};
  const std::vector<nd::Array> colours{nd::array({30., 90., 200.}), nd::array({230., 150., 20.}),
                                       nd::array({40., 150., 70.})};
  const nd::Array outline = nd::repeat(counts, 2) / (counts.max() / 4.) - 2;
  picture.line(nd::repeat(edges, 2)(nd::Slice(1, -1)), outline, nd::array({190., 190., 190.}));
  for (std::int64_t k = 0; k < 3; ++k)
    picture.points(temperature(station == k), heat(station == k), colours[std::size_t(k)]);
  picture.line({0., 35.}, nd::polyval(line, {0., 35.}), nd::array({210., 50., 40.}));
  picture.write("measured.png");

  nd::savetxt("report.csv", nd::stack({nd::arange(3), means}, {.axis = 1}),
              {.fmt = {"%d", "%.2f"}, .delimiter = ",", .header = "station,mean"});
  check(bool(nd::allclose(nd::loadtxt("report.csv", {.delimiter = ","})(nd::_, 1), means, {.atol = 0.01})),
        "the report can be read again");
}
