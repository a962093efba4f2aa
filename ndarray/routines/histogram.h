// Histograms: how many elements lie in each of several intervals, the bins.
//
//   auto [counts, edges] = histogram(a, 10);
//   histogram(a, {0., 1., 10.})  histogram(a, 10, {0, 5})  histogram(a, "auto")  histogram(a, {.density = true})
//
// A bin holds the elements from its left edge on that are below the right one; the last bin holds its right edge, too.
// NaN and elements beyond the edges are not counted. All functions wait for the device.
//
// Thread safety: may be called from any thread; the caller must order writes to an array with other accesses.
#pragma once

#include <concepts>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <catena/ndarray/core/array.h>
#include <catena/ndarray/routines/creation.h>

namespace nd {

// The bins of one axis: how many of equal width there are, their edges in ascending order, or the rule by which their
// number is chosen: "auto", "fd", "doane", "scott", "stone", "rice", "sturges" or "sqrt".
class Bins : public ArrayLike {
 public:
  using ArrayLike::ArrayLike;
  Bins(std::string_view rule) : ArrayLike(0), rule_(rule) {}
  Bins(const char* rule) : Bins(std::string_view(rule)) {}
  const std::string& rule() const noexcept { return rule_; }  // empty for numbers and edges

 private:
  std::string rule_;
};

// The range that bins of equal width divide: {0, 5}. By default it reaches from the least to the greatest element, and
// from 0 to 1 if there are none; a range of one point x is widened to [x - 0.5, x + 0.5].
class BinRange {
 public:
  BinRange() = default;
  BinRange(std::nullopt_t) {}
  template <class A, class B>
  requires(std::is_arithmetic_v<A>&& std::is_arithmetic_v<B>) BinRange(A first, B last)
      : ends_({static_cast<double>(first), static_cast<double>(last)}) {}
  const std::optional<std::pair<double, double>>& ends() const noexcept { return ends_; }

 private:
  std::optional<std::pair<double, double>> ends_;
};

struct HistogramOptions {
  [[no_unique_address]] Named named = Named();
  Bins bins = 10;
  BinRange range = {};
  bool density = false;  // float64 values whose integral over all bins is 1
  Array weights = {};    // of the shape of the array: they are summed instead of counting the elements
};
// Returns the counts, int64 or of the dtype of the weights, and the edges, of which there is one more. Edges of bins of
// equal width have the dtype of floating elements and of others float64; given edges are returned unchanged. Weights
// are summed in float64.
// ValueError for bins that are not positive, are not in ascending order, or are narrower than the dtype resolves, a
// range that is not finite or not in ascending order, weights of another shape, an unknown rule; TypeError for a number
// of bins that is not an integer, for complex elements and for weights together with a rule.
CATENA_EXPORT std::pair<Array, Array> histogram(const Array& a, const HistogramOptions& options = {});
// The edges alone.
CATENA_EXPORT Array histogram_bin_edges(const Array& a, const HistogramOptions& options = {});

// histogram(a, 10), histogram(a, 10, {.density = true}), histogram(a, 10, {0, 5}), histogram(a, 10, {0, 5}, true)
#define ND_OF_BINS(name, Result)                                                                                   \
  template <class O = HistogramOptions> Result name(const Array& a, const Bins& bins, const O& more = {}) {        \
    HistogramOptions options = more;                                                                               \
    options.bins = bins;                                                                                           \
    return name(a, options);                                                                                       \
  }                                                                                                                \
  inline Result name(const Array& a, const Bins& bins, const BinRange& range, const HistogramOptions& more = {}) { \
    HistogramOptions options = more;                                                                               \
    options.bins = bins;                                                                                           \
    options.range = range;                                                                                         \
    return name(a, options);                                                                                       \
  }
// (counts, edges).
using CountsAndEdges = std::pair<Array, Array>;
ND_OF_BINS(histogram, CountsAndEdges)
ND_OF_BINS(histogram_bin_edges, Array)
#undef ND_OF_BINS
template <std::same_as<bool> B>
CountsAndEdges histogram(const Array& a, const Bins& bins, const BinRange& range, B density,
                         const Array& weights = {}) {
  return histogram(a, bins, range, HistogramOptions{.density = density, .weights = weights});
}

// The bins of several axes: the same for all, or one item for each.
class AxisBins {
 public:
  template <class I>
  requires(std::is_integral_v<I>) AxisBins(I count) : list_{Bins(count)}, same_(true) {}
  AxisBins(const Array& edges) : list_{Bins(edges)}, same_(true) {}
  template <Element E> AxisBins(const std::vector<E>& edges) : list_{Bins(edges)}, same_(true) {}
  AxisBins(std::initializer_list<Bins> list) : list_(list) {}
  AxisBins(const std::vector<Bins>& list) : list_(list) {}
  AxisBins(const std::vector<Array>& list) : list_(list.begin(), list.end()) {}
  const std::vector<Bins>& list() const noexcept { return list_; }
  bool same() const noexcept { return same_; }

 private:
  std::vector<Bins> list_;
  bool same_ = false;
};
struct HistogramddOptions {
  [[no_unique_address]] Named named = Named();
  AxisBins bins = 10;
  std::vector<BinRange> range = {};  // one for each axis
  bool density = false;
  Array weights = {};  // one for each point
};
// Counts points. `sample` has one point in each row, shape (N, D), or is a list of D arrays of coordinates; an array of
// rank 1 has D = 1. Returns the counts, float64 of rank D, and the edges along every axis. Errors as for histogram;
// ValueError for a number of bins or ranges other than D.
CATENA_EXPORT std::pair<Array, std::vector<Array>> histogramdd(const Array& sample,
                                                               const HistogramddOptions& options = {});
template <class O = HistogramddOptions>
std::pair<Array, std::vector<Array>> histogramdd(const Array& sample, const AxisBins& bins, const O& more = {}) {
  HistogramddOptions options = more;
  options.bins = bins;
  return histogramdd(sample, options);
}
CATENA_EXPORT std::pair<Array, std::vector<Array>> histogramdd(const std::vector<Array>& coordinates,
                                                               const HistogramddOptions& options = {});
template <class O = HistogramddOptions>
std::pair<Array, std::vector<Array>> histogramdd(const std::vector<Array>& coordinates, const AxisBins& bins,
                                                 const O& more = {}) {
  HistogramddOptions options = more;
  options.bins = bins;
  return histogramdd(coordinates, options);
}

// The result of histogram2d.
struct Histogram2d {
  Array H;  // (bins of x, bins of y)
  Array xedges, yedges;
};
// Counts points (x, y), given as two arrays of rank 1 and the same length (ValueError). A list of numbers other than
// two are the edges for both axes.
CATENA_EXPORT Histogram2d histogram2d(const Array& x, const Array& y, const HistogramddOptions& options = {});
template <class O = HistogramddOptions>
Histogram2d histogram2d(const Array& x, const Array& y, const AxisBins& bins, const O& more = {}) {
  HistogramddOptions options = more;
  options.bins = bins;
  return histogram2d(x, y, options);
}

}  // namespace nd
