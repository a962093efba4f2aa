// Statistics with PyTorch's names, options and defaults: variances are unbiased here, and not in var and std of
// functions/reduction.h. Floating (InvalidType). Negative axes count from the end; AxisError for one out of range,
// ValueError without elements.
#pragma once

#include <concepts>
#include <optional>
#include <string_view>
#include <vector>

#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/extrema.h>
#include <catena/autograd/functions/reduction.h>

namespace autograd {

// ---- means and variances ----
// auto [var, mean] = var_mean(x, 1): over axes, with the divisor n - correction.
struct CorrectionOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  Axes dim = {};
  std::optional<bool> unbiased = {};  // true: a correction of 1; false: of 0
  double correction = 1;
  bool keepdim = false;
  double subtracted() const { return unbiased ? double(*unbiased) : correction; }
};
struct VarMean {
  Variable var, mean;
};
struct StdMean {
  Variable std, mean;
};
CATENA_EXPORT VarMean var_mean(const Variable& x, const CorrectionOptions& o);
CATENA_EXPORT StdMean std_mean(const Variable& x, const CorrectionOptions& o);
template <class A = Axes>
VarMean var_mean(const Variable& x, const std::type_identity_t<A>& dim = {}, bool keepdim = false) {
  return var_mean(x, CorrectionOptions{.dim = dim, .keepdim = keepdim});
}
template <class A = Axes>
StdMean std_mean(const Variable& x, const std::type_identity_t<A>& dim = {}, bool keepdim = false) {
  return std_mean(x, CorrectionOptions{.dim = dim, .keepdim = keepdim});
}
// Sums and means of the elements that are not NaN; the mean of none is NaN.
CATENA_EXPORT Variable nansum(const Variable& x, const ReductionOptions& o);
CATENA_EXPORT Variable nanmean(const Variable& x, const ReductionOptions& o);
template <class A = Axes>
Variable nansum(const Variable& x, const std::type_identity_t<A>& dim = {}, bool keepdim = false) {
  return nansum(x, ReductionOptions{.dim = dim, .keepdim = keepdim});
}
template <class A = Axes>
Variable nanmean(const Variable& x, const std::type_identity_t<A>& dim = {}, bool keepdim = false) {
  return nanmean(x, ReductionOptions{.dim = dim, .keepdim = keepdim});
}
// The covariance matrix, and the matrix of correlation coefficients, of variables (rows) and observations (columns); a
// vector is one variable, whose result is a number. fweights: how often each observation counts, integers; aweights:
// how much. ValueError for a rank above 2.
struct CovOptions {
  double correction = 1;
  Variable fweights = {}, aweights = {};
};
CATENA_EXPORT Variable cov(const Variable& x, const CovOptions& o = {});
CATENA_EXPORT Variable corrcoef(const Variable& x);

// ---- extrema ----
template <std::same_as<ReductionOptions> O = ReductionOptions> Variable amax(const Variable& x, const O& o) {
  return amax(x, o.axes(), o.keeps());
}
template <std::same_as<ReductionOptions> O = ReductionOptions> Variable amin(const Variable& x, const O& o) {
  return amin(x, o.axes(), o.keeps());
}
// The least and the greatest elements.
struct MinMax {
  Variable min, max;
};
// auto [least, greatest] = aminmax(x, {.dim = 1}): over one axis or all elements.
CATENA_EXPORT MinMax aminmax(const Variable& x, const ExtremumOptions& o = {});

// ---- order statistics ----
// The lower one of two middle elements (NaN if there is a NaN; nanmedian leaves NaN out), the k-th smallest from 1 on,
// and the most frequent element, the smallest of several. Over an axis: auto [values, indices] = median(x, 1). Of equal
// elements, the position of one is given.
CATENA_EXPORT Variable median(const Variable& x);
CATENA_EXPORT Variable nanmedian(const Variable& x);
CATENA_EXPORT Sorted median(const Variable& x, int dim, bool keepdim = false);
CATENA_EXPORT Sorted nanmedian(const Variable& x, int dim, bool keepdim = false);
CATENA_EXPORT Sorted kthvalue(const Variable& x, std::int64_t k, int dim = -1, bool keepdim = false);
CATENA_EXPORT Sorted mode(const Variable& x, int dim = -1, bool keepdim = false);
template <std::same_as<ExtremumOptions> O = ExtremumOptions> Sorted median(const Variable& x, const O& o) {
  return median(x, o.value().value_or(-1), o.keeps());
}
template <std::same_as<ExtremumOptions> O = ExtremumOptions> Sorted nanmedian(const Variable& x, const O& o) {
  return nanmedian(x, o.value().value_or(-1), o.keeps());
}
template <std::same_as<ExtremumOptions> O = ExtremumOptions>
Sorted kthvalue(const Variable& x, std::int64_t k, const O& o) {
  return kthvalue(x, k, o.value().value_or(-1), o.keeps());
}
template <std::same_as<ExtremumOptions> O = ExtremumOptions> Sorted mode(const Variable& x, const O& o) {
  return mode(x, o.value().value_or(-1), o.keeps());
}

struct QuantileOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  std::optional<int> dim = {};  // default: of all elements
  bool keepdim = false;
  // Between two elements: "linear", "lower", "higher", "nearest" (to even at half way) or "midpoint"; ValueError for
  // others.
  std::string_view interpolation = "linear";
};
// The elements at the fractions q of the sorted ones; NaN if there is a NaN. For a list q its axis comes first.
// ValueError for q outside of [0, 1].
CATENA_EXPORT Variable quantile(const Variable& x, double q, const QuantileOptions& o = {});
CATENA_EXPORT Variable quantile(const Variable& x, const std::vector<double>& q, const QuantileOptions& o = {});
CATENA_EXPORT Variable quantile(const Variable& x, const Variable& q, const QuantileOptions& o = {});
inline Variable quantile(const Variable& x, double q, int dim, bool keepdim = false) {
  return quantile(x, q, QuantileOptions{.dim = dim, .keepdim = keepdim});
}
// quantile of the elements that are not NaN; NaN if there is none.
CATENA_EXPORT Variable nanquantile(const Variable& x, double q, const QuantileOptions& o = {});
CATENA_EXPORT Variable nanquantile(const Variable& x, const std::vector<double>& q, const QuantileOptions& o = {});
inline Variable nanquantile(const Variable& x, double q, int dim, bool keepdim = false) {
  return nanquantile(x, q, QuantileOptions{.dim = dim, .keepdim = keepdim});
}

// ---- differences and integrals ----
struct DiffOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  std::int64_t n = 1;
  int dim = -1;
  Variable prepend = {}, append = {};
};
// The n-th differences of neighbours along an axis. ValueError for a negative n.
CATENA_EXPORT Variable diff(const Variable& x, const DiffOptions& o = {});
inline Variable diff(const Variable& x, std::int64_t n, int dim = -1) {
  return diff(x, DiffOptions{.n = n, .dim = dim});
}
struct TrapezoidOptions {
  double dx = 1;
  int dim = -1;
};
// The integral of y over an axis by the trapezoidal rule, and its running values. x has the coordinates, which
// broadcast to y. The areas of integers are in the floating dtype of the configuration.
CATENA_EXPORT Variable trapezoid(const Variable& y, const TrapezoidOptions& o = {});
CATENA_EXPORT Variable trapezoid(const Variable& y, const Variable& x, int dim = -1);
CATENA_EXPORT Variable cumulative_trapezoid(const Variable& y, const TrapezoidOptions& o = {});
CATENA_EXPORT Variable cumulative_trapezoid(const Variable& y, const Variable& x, int dim = -1);
inline Variable trapz(const Variable& y, const TrapezoidOptions& o = {}) { return trapezoid(y, o); }
inline Variable trapz(const Variable& y, const Variable& x, int dim = -1) { return trapezoid(y, x, dim); }

}  // namespace autograd
