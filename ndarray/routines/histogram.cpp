#include <catena/ndarray/routines/histogram.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <optional>

#include <catena/kernels/base/shape.h>
#include <catena/ndarray/core/storage.h>
#include <catena/ndarray/device/device.h>
#include <catena/ndarray/engine/out_of_memory.h>
#include <catena/ndarray/engine/ufunc.h>
#include <catena/ndarray/routines/indexing.h>
#include <catena/ndarray/routines/joining.h>
#include <catena/ndarray/routines/linalg.h>
#include <catena/ndarray/routines/loops_histogram.h>
#include <catena/ndarray/routines/manipulation.h>
#include <catena/ndarray/routines/math.h>
#include <catena/ndarray/routines/quantiles.h>
#include <catena/ndarray/routines/reduction.h>
#include <catena/ndarray/routines/sorting.h>
#include <catena/ndarray/routines/statistics.h>

namespace nd {
namespace {

using catena::check;

// The elements in one row; bools as numbers.
Array elements_of(std::string_view op, const Array& a) {
  check<TypeError>(!a.is_null(), op, "the array is null");
  check<TypeError>(!catena::is_complex_dtype(a.dtype()), op, "complex numbers have no order");
  return a.dtype() == Dtype::bool_ ? a.ravel().astype(Dtype::uint8) : a.ravel();
}

// ---- edges --------------------------------------------------------------------------------------

std::pair<double, double> ends_of(std::string_view op, const Array& x, const BinRange& range) {
  std::pair<double, double> ends{0, 1};
  if (range.ends()) ends = *range.ends();
  else if (x.size() > 0) ends = {amin(x).item<double>(), amax(x).item<double>()};
  check<ValueError>(std::isfinite(ends.first) && std::isfinite(ends.second), op, "the range [", ends.first, ", ",
                    ends.second, "] is not finite; ", range.ends() ? "give" : "the elements need", " a finite range");
  check<ValueError>(ends.first <= ends.second, op, "the range ends at ", ends.second, ", before it begins at ",
                    ends.first);
  if (ends.first < ends.second) return ends;
  return {ends.first - 0.5, ends.second + 0.5};
}

Array widths_of(const Array& x) { return x(Slice(1, {})) - x(Slice({}, -1)); }

struct BinEdges {
  Array edges;                                         // on the device of the elements
  std::optional<std::pair<double, double>> ends = {};  // of bins of equal width
};
Array counts_of(const Array& x, const BinEdges& bins, const Array& weights);

// The number of bins for which an estimate of the squared error of the density is least.
double stone_width(const Array& x, std::pair<double, double> ends, double spread) {
  const auto n = static_cast<double>(x.size());
  if (n <= 1 || spread == 0) return 0;
  const auto most = std::max<std::int64_t>(100, static_cast<std::int64_t>(std::sqrt(n)));
  std::int64_t best = 1;
  double least = 0;
  for (std::int64_t bins = 1; bins <= most; ++bins) {
    const Array share = counts_of(x, {linspace(ends.first, ends.second, bins + 1), ends}, {}) / n;
    const double error = (2 - (n + 1) * sum(square(share)).item<double>()) / (spread / static_cast<double>(bins));
    if (bins == 1 || error < least) least = error, best = bins;
  }
  if (best == most) catena::warn("RuntimeWarning", "histogram: the number of bins that 'stone' chose may be too small");
  return spread / static_cast<double>(best);
}

double doane_width(const Array& x, double spread) {
  const auto n = static_cast<double>(x.size());
  if (n <= 2) return 0;
  const Array values = x.astype(Dtype::float64);
  const double deviation = nd::std(values).item<double>();
  if (!(deviation > 0)) return 0;
  const Array away = (values - mean(values)) / deviation;
  const double skewness = mean(away * away * away).item<double>();
  const double error = std::sqrt(6 * (n - 2) / ((n + 1) * (n + 3)));
  return spread / (1 + std::log2(n) + std::log2(1 + std::abs(skewness) / error));
}

// The width of bins that a rule chooses for elements within the ends, of which there is at least one; 0 for no choice.
double width_of(std::string_view op, const std::string& rule, const Array& x, std::pair<double, double> ends) {
  const auto n = static_cast<double>(x.size());
  const double spread = amax(x).item<double>() - amin(x).item<double>();
  const auto deviation = [&] { return nd::std(x).item<double>(); };
  const auto quartiles = [&] {
    const auto q = percentile(x, {25, 75}).to_vector<double>();
    return 2 * (q[1] - q[0]) / std::cbrt(n);
  };
  const double square_root = spread / std::sqrt(n), sturges = spread / (std::log2(n) + 1);
  if (rule == "sqrt") return square_root;
  if (rule == "sturges") return sturges;
  if (rule == "rice") return spread / (2 * std::cbrt(n));
  if (rule == "scott") return std::cbrt(24 * std::sqrt(std::numbers::pi) / n) * deviation();
  if (rule == "doane") return doane_width(x, spread);
  if (rule == "stone") return stone_width(x, ends, spread);
  if (rule == "fd") return quartiles();
  check<ValueError>(rule == "auto", op, "bins is '", rule, "', must be 'auto', 'fd', 'doane', 'scott', 'stone', ",
                    "'rice', 'sturges' or 'sqrt'");
  return std::min(std::max(quartiles(), square_root / 2), sturges);
}

std::int64_t bins_by_rule(std::string_view op, const std::string& rule, const Array& x, const BinRange& range,
                          std::pair<double, double> ends) {
  const Array inside = range.ends() ? Array(x((x >= ends.first) & (x <= ends.second))) : x;
  double width = width_of(op, rule, inside.size() > 0 ? inside : zeros(1), ends);
  if (inside.size() == 0 || width == 0) return 1;
  if (catena::is_integer(x.dtype())) width = std::max(width, 1.);
  return static_cast<std::int64_t>(std::ceil((ends.second - ends.first) / width));
}

std::int64_t bin_number(std::string_view op, const Bins& bins) {
  const Array& given = bins.array();
  check<TypeError>(catena::is_integer(given.dtype()), op, "bins is a number of ", given.dtype(),
                   ", must be an integer, a list of edges or the name of a rule");
  const auto number = given.item<std::int64_t>();
  check<ValueError>(number > 0, op, "bins is ", number, ", must be positive");
  return number;
}

BinEdges edges_of(std::string_view op, const Array& x, const Bins& bins, const BinRange& range, bool has_weights) {
  if (bins.rule().empty() && bins.array().ndim() > 0) {
    const Array& edges = bins.array();
    check<ValueError>(edges.ndim() == 1, op, "bins has rank ", edges.ndim(), ", must be a number or have rank 1");
    check<ValueError>(!any(edges(Slice({}, -1)) > edges(Slice(1, {}))).item<bool>(), op,
                      "the edges are not in ascending order");
    return {bins.is_array() ? edges : edges.to_device(x.device())};
  }
  check<TypeError>(bins.rule().empty() || !has_weights, op, "the rule '", bins.rule(),
                   "' takes no weights; give the number of bins or their edges");
  const DeviceScope scope(x.device());
  const std::int64_t given = bins.rule().empty() ? bin_number(op, bins) : 0;
  const auto ends = ends_of(op, x, range);
  const std::int64_t n = bins.rule().empty() ? given : bins_by_rule(op, bins.rule(), x, range, ends);
  const Array edges =
      linspace(ends.first, ends.second, n + 1, catena::is_floating(x.dtype()) ? x.dtype() : Dtype::float64);
  check<ValueError>(!any(edges(Slice({}, -1)) >= edges(Slice(1, {}))).item<bool>(), op, n, " bins from ", ends.first,
                    " to ", ends.second, " are narrower than the numbers of ", edges.dtype(), " lie apart");
  return {edges, ends};
}

// ---- counts -------------------------------------------------------------------------------------

// The bin of every element, counted from 1. Before the first edge it is 0 and behind the last one the number of edges;
// for NaN it is one of both. The next three functions and count_in_bins give the same bins.
Array bin_by_comparisons(const Array& x, const Array& edges) {
  Array place = (x > edges(-1)).astype(Dtype::uint8);  // the last bin includes its right edge
  for (std::int64_t k = 0; k + 1 < edges.size(); ++k) add(place, x >= edges(k), {.out = place});
  return place;
}
// For bins of equal width: calculates the bin, which rounding may make wrong by one, and compares with its edges.
Array bin_by_width(const Array& given, const BinEdges& bins) {
  const Array x = given.astype(Dtype::float64, {.copy = false}), edges = bins.edges.astype(Dtype::float64);
  const auto [first, last] = *bins.ends;
  const auto n = static_cast<double>(edges.size() - 1);
  Array position = (x - first) * (n / (last - first));
  fmax(position, 0, {.out = position});
  fmin(position, n - 1, {.out = position});
  const Array bin = position.astype(Dtype::int64), left = edges(Slice({}, -1)), right = edges(Slice(1, {})).copy();
  right(-1) = nextafter(right(-1), inf);  // the last bin includes its right edge
  const Array above = x >= take(right, bin);
  add(bin, x >= take(left, bin), {.out = bin});
  add(bin, above, {.out = bin});
  return bin;
}
// True if bin_by_width and count_in_bins can calculate bins: the reciprocal of the width neither overflows nor is 0.
bool have_one_width(const BinEdges& bins) {
  if (!bins.ends) return false;
  const auto [first, last] = *bins.ends;
  return std::isnormal(static_cast<double>(bins.edges.size() - 1) / (last - first));
}
Array bin_by_search(const Array& x, const Array& edges) {
  const Array place = searchsorted(edges, x, "right");
  subtract(place, x == edges(-1), {.out = place});  // the last bin includes its right edge
  return place;
}
Array bin_of(const Array& x, const BinEdges& bins) {
  constexpr std::int64_t few = 32;  // so many comparisons of all elements take less time than a search
  if (bins.edges.size() <= few) return bin_by_comparisons(x, bins.edges);
  return have_one_width(bins) ? bin_by_width(x, bins) : bin_by_search(x, bins.edges);
}
// `counts` with one more position at both ends, without these.
Array without_ends(const Array& counts) { return counts(Slice(1, -1)).copy(); }

// True if counts_by_width takes the numbers: it counts without an array with the bin of each number.
bool counts_on_host(const Array& x, const BinEdges& bins, const Array& weights) {
  return x.device().kind == Device::Kind::cpu && weights.is_null() && have_one_width(bins) &&
         bins.edges.size() - 1 <= internal::kMostEqualBins;
}
Array counts_by_width(const Array& given, const BinEdges& bins) {
  const Array x = given.dtype() == Dtype::float32 ? given : given.astype(Dtype::float64, {.copy = false});
  const std::vector<double> edges = bins.edges.astype(Dtype::float64).to_vector<double>();
  const Array counts = zeros(bins.edges.size() - 1, Dtype::int64);
  internal::count_in_bins(internal::contiguous(x), {edges.data(), counts.size()},
                          reinterpret_cast<std::int64_t*>(counts->data));
  return counts;
}

// The counts or sums of weights, as int64 or float64, complex128 for complex weights.
Array counts_of(const Array& x, const BinEdges& bins, const Array& weights) {
  const std::int64_t length = bins.edges.size() + 1;
  if (length < 3) return zeros(0, weights.is_null() ? Dtype::int64 : Dtype::float64);
  if (counts_on_host(x, bins, weights)) return counts_by_width(x, bins);
  const Array place = bin_of(x, bins);
  if (weights.is_null() || !catena::is_complex_dtype(weights.dtype()))
    return without_ends(internal::counted("histogram", place, weights, length));
  const Array real = internal::counted("histogram", place, weights.real(), length);
  return without_ends(real +
                      std::complex<double>(0, 1) * internal::counted("histogram", place, weights.imag(), length));
}

void check_weights(std::string_view op, const Array& weights, const Shape& shape) {
  check<ValueError>(weights.is_null() || weights.shape() == shape, op, "the weights have shape ",
                    weights.is_null() ? shape : weights.shape(), ", must have shape ", shape);
}

std::vector<Bins> bins_of_axes(std::string_view op, const AxisBins& bins, std::int64_t axes) {
  if (bins.same()) return std::vector<Bins>(static_cast<std::size_t>(axes), bins.list()[0]);
  check<ValueError>(static_cast<std::int64_t>(bins.list().size()) == axes, op, "there are bins for ",
                    bins.list().size(), " axes, and the points have ", axes, " coordinates");
  return bins.list();
}

// Counts points whose coordinates are given one by one.
std::pair<Array, std::vector<Array>> count_points(std::string_view op, const std::vector<Array>& coordinates,
                                                  const std::vector<Bins>& bins, const HistogramddOptions& o) {
  const auto axes = static_cast<int>(coordinates.size());
  check<ValueError>(o.range.empty() || o.range.size() == coordinates.size(), op, "there are ", o.range.size(),
                    " ranges, and the points have ", axes, " coordinates");
  check_weights(op, o.weights, coordinates[0].shape());
  check<TypeError>(o.weights.is_null() || !catena::is_complex_dtype(o.weights.dtype()), op, "the weights are complex");
  std::vector<Array> edges;
  Array place;
  Shape shape;
  std::int64_t length = 1;
  std::vector<Key> inner;
  for (std::size_t k = 0; k < coordinates.size(); ++k) {
    const Array& x = coordinates[k];
    check<ValueError>(bins[k].rule().empty(), op, "rules such as '", bins[k].rule(), "' are for one axis only");
    const BinEdges along = edges_of(op, x, bins[k], o.range.empty() ? BinRange() : o.range[k], false);
    const std::int64_t n = along.edges.size() + 1;
    const Array bin = bin_of(x, along).astype(Dtype::int64, {.copy = false});
    place = k == 0 ? bin : place * n + bin;
    edges.push_back(along.edges);
    length *= n;
    shape.push_back(n);
    inner.push_back(Slice(1, -1));
  }
  const Array counts = internal::counted(op, place, o.weights, length).reshape(shape).index(inner);
  Array result = counts.astype(Dtype::float64);
  if (!o.density) return {result, edges};
  const Array total = sum(result);
  for (int k = 0; k < axes; ++k) {
    Shape along = Shape::filled(axes, 1);
    along[k] = -1;
    result = result / widths_of(edges[std::size_t(k)]).reshape(along);
  }
  return {result / total, edges};
}

}  // namespace

std::pair<Array, Array> histogram(const Array& a, const HistogramOptions& o) try {
  const Array x = elements_of("histogram", a);
  check_weights("histogram", o.weights, a.shape());
  const Array weights = o.weights.is_null() ? o.weights : o.weights.ravel();
  const BinEdges bins = edges_of("histogram", x, o.bins, o.range, !weights.is_null());
  const DeviceScope scope(x.device());
  Array counts = counts_of(x, bins, weights);
  if (!weights.is_null()) counts = counts.astype(weights.dtype(), {.copy = false});
  if (o.density) counts = counts / widths_of(bins.edges).astype(Dtype::float64) / sum(counts);
  return {counts, bins.edges};
} catch (...) {
  internal::rethrow_out_of_memory("histogram");
}

Array histogram_bin_edges(const Array& a, const HistogramOptions& o) try {
  const Array x = elements_of("histogram_bin_edges", a);
  check_weights("histogram_bin_edges", o.weights, a.shape());
  return edges_of("histogram_bin_edges", x, o.bins, o.range, !o.weights.is_null()).edges;
} catch (...) {
  internal::rethrow_out_of_memory("histogram_bin_edges");
}

std::pair<Array, std::vector<Array>> histogramdd(const std::vector<Array>& coordinates,
                                                 const HistogramddOptions& o) try {
  check<ValueError>(!coordinates.empty(), "histogramdd", "there are no coordinates");
  std::vector<Array> rows;
  for (const Array& x : coordinates) {
    rows.push_back(elements_of("histogramdd", x));
    check<ValueError>(x.ndim() == 1 && x.shape() == coordinates[0].shape(), "histogramdd",
                      "arrays of coordinates have the shapes ", coordinates[0].shape(), " and ", x.shape(),
                      ", must have one shape of rank 1");
  }
  const auto axes = static_cast<std::int64_t>(rows.size());
  return count_points("histogramdd", rows, bins_of_axes("histogramdd", o.bins, axes), o);
} catch (...) {
  internal::rethrow_out_of_memory("histogramdd");
}

std::pair<Array, std::vector<Array>> histogramdd(const Array& sample, const HistogramddOptions& o) {
  check<TypeError>(!sample.is_null(), "histogramdd", "the array is null");
  if (sample.ndim() < 2) return histogramdd(std::vector<Array>{sample.ravel()}, o);
  check<ValueError>(sample.ndim() == 2, "histogramdd", "the sample has rank ", sample.ndim(), ", must have rank 2");
  std::vector<Array> coordinates;
  for (std::int64_t k = 0; k < sample.shape(1); ++k) coordinates.push_back(sample(Slice(), k));
  return histogramdd(coordinates, o);
}

Histogram2d histogram2d(const Array& x, const Array& y, const HistogramddOptions& o) try {
  const std::vector<Array> coordinates{elements_of("histogram2d", x), elements_of("histogram2d", y)};
  check<ValueError>(x.ndim() == 1 && x.shape() == y.shape(), "histogram2d", "x and y have the shapes ", x.shape(),
                    " and ", y.shape(), ", must have one shape of rank 1");
  std::vector<Bins> bins;
  const std::vector<Bins>& list = o.bins.list();
  const bool are_numbers = std::all_of(list.begin(), list.end(), [](const Bins& b) { return b.number().has_value(); });
  if (!o.bins.same() && list.size() != 2 && are_numbers) {  // edges in braces
    std::vector<Array> edges;
    for (const Bins& bin : list) edges.push_back(bin.array());
    const Bins both(stack(edges).to_device(x.device()));
    bins = {both, both};
  } else {
    bins = bins_of_axes("histogram2d", o.bins, 2);
  }
  auto [H, edges] = count_points("histogram2d", coordinates, bins, o);
  return {H, edges[0], edges[1]};
} catch (...) {
  internal::rethrow_out_of_memory("histogram2d");
}

}  // namespace nd
