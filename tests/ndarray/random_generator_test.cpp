// default_rng() and its distributions against their exact probabilities and moments, with fixed seeds and stated
// bounds; choices, bytes, orders on both classes.
#include <catena/ndarray/routines/random.h>

#include <cmath>
#include <functional>
#include <map>
#include <numbers>

#include <catena/ndarray/routines/creation.h>
#include <catena/ndarray/routines/indexing.h>
#include <catena/ndarray/routines/math.h>
#include <catena/ndarray/routines/reduction.h>
#include <catena/ndarray/routines/sorting.h>
#include <catena/ndarray/routines/statistics.h>
#include <catena/tests/support/ndarray_values.h>

namespace {

using nd::Array;
using nd::random::default_rng;
using nd::random::Generator;
using test::message_of;
using test::same_bits;

constexpr int kMany = 40000;

// Mean and variance of a sample within 5 standard deviations of theirs. `fourth`: the fourth central moment over the
// squared variance (3 for a normal distribution), which gives the deviation of the variance.
void check_moments(const char* what, const Array& sample, double mean, double variance, double fourth) {
  const Array x = sample.astype(nd::float64);
  const double n = double(x.size()), m = x.mean().item<double>(), v = x.var().item<double>();
  BOOST_TEST(std::abs(m - mean) <= 5 * std::sqrt(variance / n), what << ": mean " << m << ", not " << mean);
  BOOST_TEST(std::abs(v - variance) <= 5 * variance * std::sqrt((fourth - 1) / n),
             what << ": variance " << v << ", not " << variance);
}

// The chi-square statistic of integers against their probabilities, where at least 5 are expected in a cell: below
// k + 5 sqrt(2 k) for k cells, which a true sample exceeds with a probability below 1e-4 for these k.
void check_probabilities(const char* what, const Array& sample, const std::function<double(double)>& log_probability) {
  const auto values = sample.to_vector<std::int64_t>();
  std::map<std::int64_t, double> counts;
  for (std::int64_t v : values) ++counts[v];
  double statistic = 0, rest_expected = double(values.size()), rest_seen = rest_expected;
  int cells = 0;
  for (std::int64_t k = counts.begin()->first; k <= counts.rbegin()->first; ++k) {
    const double expected = double(values.size()) * std::exp(log_probability(double(k)));
    if (expected < 5) continue;
    const auto found = counts.find(k);
    const double seen = found == counts.end() ? 0 : found->second;
    statistic += (seen - expected) * (seen - expected) / expected;
    rest_expected -= expected;
    rest_seen -= seen;
    ++cells;
  }
  if (rest_expected >= 5) statistic += (rest_seen - rest_expected) * (rest_seen - rest_expected) / rest_expected;
  BOOST_TEST(cells > 0);
  BOOST_TEST(statistic < cells + 5 * std::sqrt(2.0 * cells), what << ": chi-square " << statistic << " of " << cells);
}

double log_choose(double n, double k) { return std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1); }

}  // namespace

BOOST_AUTO_TEST_SUITE(random_generator)

BOOST_AUTO_TEST_CASE(states) {
  Generator a = default_rng(7), b = default_rng(nd::random::Philox4x3210(7));
  const Array first = a.random({10}), second = a.random(3);
  BOOST_TEST(same_bits(b.random({10}), first));
  BOOST_TEST(same_bits(default_rng(a).random({5}), default_rng(nd::random::BitGenerator(a)).random({5})));
  BOOST_TEST(same_bits(b.random(3), second));
  BOOST_TEST(a.initial_seed() == 7u);
  BOOST_TEST(default_rng().initial_seed() != default_rng().initial_seed());
  nd::random::RandomState old(7);
  BOOST_TEST(same_bits(old.random_sample({10}), first));
  old.seed(7);
  BOOST_TEST(same_bits(old.rand({10}), first));
}

// A value depends on seed, offset and its position alone, not on the layout of the parameters or on other elements.
BOOST_AUTO_TEST_CASE(values_of_a_position) {
  const Array means = nd::linspace(0.5, 60, 24).reshape(4, 6);
  const Array whole = default_rng(3).poisson(means);
  BOOST_TEST(same_bits(default_rng(3).poisson(means.T().copy().T()), whole));
  BOOST_TEST(same_bits(default_rng(3).poisson(means(0), {1, 6})(0), whole(0)));
  BOOST_TEST(same_bits(default_rng(3).poisson(means(0)), whole(0)));
  Generator a = default_rng(3);
  a.poisson(1, {10});
  BOOST_TEST(a.offset() == 10u);
  BOOST_TEST(!same_bits(a.poisson(means), whole));
}

BOOST_AUTO_TEST_CASE(sizes) {
  Generator g = default_rng(1);
  BOOST_TEST(g.random().ndim() == 0);
  BOOST_TEST(g.random(3).shape() == nd::Shape{3});
  BOOST_TEST(g.uniform(-1, 1, {2, 3}).shape() == (nd::Shape{2, 3}));
  BOOST_TEST(g.uniform({2, 3}).shape() == (nd::Shape{2, 3}));
  BOOST_TEST(g.uniform(nd::zeros({2, 1}), nd::ones(3)).shape() == (nd::Shape{2, 3}));
  BOOST_TEST(g.integers(10).ndim() == 0);
  BOOST_TEST(g.integers(10, {4}).shape() == nd::Shape{4});
  BOOST_TEST(g.integers(0, 10, {4}).shape() == nd::Shape{4});
  BOOST_TEST(g.integers(0, 10, 4, {.dtype = nd::uint8}).dtype() == nd::uint8);
  BOOST_TEST(g.integers(0, 10, 4, nd::uint8).dtype() == nd::uint8);
  BOOST_TEST(g.gamma(nd::ones({2, 1}), nd::ones(3), {4, 2, 3}).shape() == (nd::Shape{4, 2, 3}));
  BOOST_TEST(g.standard_gamma(2, {0}).size() == 0);
  BOOST_TEST(g.poisson(3).ndim() == 0);
  BOOST_TEST(g.poisson(3, {2}).dtype() == nd::int64);
  BOOST_TEST(g.dirichlet(nd::ones(3)).shape() == nd::Shape{3});
  BOOST_TEST(g.dirichlet(nd::ones(3), {2, 5}).shape() == (nd::Shape{2, 5, 3}));
  BOOST_TEST(message_of<nd::ValueError>([&] { g.beta(nd::ones(3), 1, {2}); }) ==
             "beta: shapes (3,) and (2,) do not match: lengths 3 and 2 on axis -1 are neither equal nor 1");
  BOOST_TEST(message_of<nd::ValueError>([&] { g.poisson(nd::ones(3), nd::Shape{1}); }) ==
             "poisson: parameters of shape (3,) cannot be broadcast to the size (1,)");
}

BOOST_AUTO_TEST_CASE(filled_arrays) {
  const Array out = nd::empty({3, 4}, nd::float32);
  Generator g = default_rng(2);
  BOOST_TEST(g.random({}, {.out = out}).shares_memory(out));
  BOOST_TEST(same_bits(out, default_rng(2).random({3, 4}, {.dtype = nd::float32})));
  const Array strided = nd::zeros({4, 3}).T();
  default_rng(2).standard_normal({3, 4}, {.out = strided});
  BOOST_TEST(same_bits(strided.copy(), default_rng(2).standard_normal({3, 4})));
  default_rng(2).standard_exponential({}, {.out = strided});
  BOOST_TEST(same_bits(strided.copy(), default_rng(2).standard_exponential({3, 4})));
  for (nd::Dtype t : {nd::float32, nd::float64}) {
    BOOST_TEST(default_rng(2).standard_normal({2}, {.dtype = t}).dtype() == t);
    // The dtype stands alone, as NumPy's argument of that place.
    BOOST_TEST(same_bits(default_rng(2).standard_normal({2}, t), default_rng(2).standard_normal({2}, {.dtype = t})));
    BOOST_TEST(same_bits(default_rng(2).random({2}, t), default_rng(2).random({2}, {.dtype = t})));
    BOOST_TEST(
        same_bits(default_rng(2).standard_exponential({2}, t), default_rng(2).standard_exponential({2}, {.dtype = t})));
    BOOST_TEST(
        same_bits(default_rng(2).standard_gamma(3.0, {2}, t), default_rng(2).standard_gamma(3.0, {2}, {.dtype = t})));
    BOOST_TEST(default_rng(2).standard_exponential({2}, {.dtype = t}).dtype() == t);
  }
  default_rng(2).standard_gamma(2, {}, {.out = strided});
  BOOST_TEST(same_bits(strided.copy(), default_rng(2).standard_gamma(2, {3, 4})));
  BOOST_TEST(message_of<nd::TypeError>([&] { g.random({}, {.dtype = nd::float64, .out = out}); }) ==
             "random: out has the dtype float32, not float64");
  BOOST_TEST(message_of<nd::ValueError>([&] { g.random({5}, {.out = out}); }) ==
             "random: out has the shape (3, 4), not the size (5,)");
  BOOST_TEST(message_of<nd::TypeError>([&] { g.random({5}, {.dtype = nd::int32}); }) ==
             "random: samples cannot have the dtype int32, which is not floating");
}

BOOST_AUTO_TEST_CASE(integers_of_any_range) {
  Generator g = default_rng(4);
  const auto ends = [&](const nd::Scalar& low, const nd::Scalar& high, nd::Dtype t) {
    const Array a = g.integers(low, high, {3000}, {.dtype = t, .endpoint = true});
    BOOST_TEST(a.dtype() == t);
    BOOST_TEST((a.min().item() >= low && a.max().item() <= high), t << " from " << low << " to " << high);
    return std::pair(a.min().item(), a.max().item());
  };
  for (nd::Dtype t : {nd::int8, nd::uint8, nd::int16, nd::uint16, nd::int32, nd::uint32, nd::int64, nd::uint64}) {
    const auto [low, high] = ends(3, 8, t);
    BOOST_TEST((low == nd::Scalar(3) && high == nd::Scalar(8)), t);
  }
  const std::uint64_t top = UINT64_MAX;
  BOOST_TEST((ends(top - 4, top, nd::uint64) == std::pair<nd::Scalar, nd::Scalar>(top - 4, top)));
  BOOST_TEST((ends(std::uint64_t(INT64_MAX) - 1, std::uint64_t(INT64_MAX) + 1, nd::uint64) ==
              std::pair<nd::Scalar, nd::Scalar>(INT64_MAX - 1, std::uint64_t(INT64_MAX) + 1)));
  BOOST_TEST(
      (ends(INT64_MAX - 1, INT64_MAX, nd::int64) == std::pair<nd::Scalar, nd::Scalar>(INT64_MAX - 1, INT64_MAX)));
  const auto whole = ends(0, top, nd::uint64);
  BOOST_TEST((whole.first < nd::Scalar(top / 100) && whole.second > nd::Scalar(top / 100 * 99)));
  const auto signed_whole = ends(INT64_MIN, INT64_MAX, nd::int64);
  BOOST_TEST((signed_whole.first < nd::Scalar(INT64_MIN / 100 * 99) &&
              signed_whole.second > nd::Scalar(INT64_MAX / 100 * 99)));
  BOOST_TEST(g.integers(5, {1000}).max().item<int>() == 4);
  BOOST_TEST(message_of<nd::ValueError>([&] { g.integers(3, 3); }) == "integers: low 3 is not below high 3");
  BOOST_TEST(message_of<nd::ValueError>([&] { g.integers(0, 300, {}, {.dtype = nd::uint8}); }) ==
             "integers: the range from 0 to 299 does not fit uint8");
  BOOST_CHECK_THROW(g.integers(-1, 3, {}, {.dtype = nd::uint64}), nd::ValueError);
  BOOST_TEST(message_of<nd::TypeError>([&] { g.integers(2.5); }) == "integers: the bound 2.5 is no integer");
  BOOST_CHECK_THROW(g.integers(2, {3}, {.dtype = nd::float32}), nd::TypeError);
}

BOOST_AUTO_TEST_CASE(continuous_distributions) {
  Generator g = default_rng(5);
  check_moments("random", g.random({kMany}), 0.5, 1.0 / 12, 1.8);
  check_moments("uniform", g.uniform(-2, 4, {kMany}), 1, 3, 1.8);
  check_moments("normal", g.normal(-1, 3, {kMany}), -1, 9, 3);
  check_moments("lognormal", nd::log(g.lognormal(1, 2, {kMany})), 1, 4, 3);
  check_moments("standard_exponential", g.standard_exponential({kMany}), 1, 1, 9);
  check_moments("exponential", g.exponential(2.5, {kMany}), 2.5, 6.25, 9);
  for (double k : {0.05, 0.7, 1.0, 3.5, 1000.0}) {
    check_moments("standard_gamma", g.standard_gamma(k, {kMany}), k, k, 3 + 6 / k);
    check_moments("gamma", g.gamma(k, 2, {kMany}), 2 * k, 4 * k, 3 + 6 / k);
    check_moments("chisquare", g.chisquare(2 * k, {kMany}), 2 * k, 4 * k, 3 + 6 / k);
    // The logarithm has the derivatives of lgamma as mean and variance.
    const double h = 1e-3 * k, middle = std::lgamma(k), up = std::lgamma(k + h), down = std::lgamma(k - h);
    check_moments("log of gamma", nd::log(g.standard_gamma(k, {kMany})), (up - down) / (2 * h),
                  (up - 2 * middle + down) / (h * h), 9);
    // The cube root of a gamma variate is nearly normal: its share below the median is 1/2.
    const double median = k >= 3 ? k - 1.0 / 3 + 0.02 / k : 0;
    if (median > 0) {
      const double share = (g.standard_gamma(k, {kMany}) < median).astype(nd::float64).mean().item<double>();
      BOOST_TEST(std::abs(share - 0.5) < 0.015, "median of gamma " << k << ": " << share);
    }
  }
  for (const auto& [a, b] : {std::pair{0.3, 0.2}, {1.0, 1.0}, {2.0, 5.0}, {200.0, 50.0}}) {
    const double s = a + b, variance = a * b / (s * s * (s + 1));
    const double excess = 6 * ((a - b) * (a - b) * (s + 1) - a * b * (s + 2)) / (a * b * (s + 2) * (s + 3));
    check_moments("beta", g.beta(a, b, {kMany}), a / s, variance, 3 + excess);
  }
  const Array tiny = g.beta(1e-3, 1e-3, {2000});  // nearly all at the ends, half of them at each
  BOOST_TEST(nd::all(nd::isfinite(tiny)).item<bool>());
  BOOST_TEST(std::abs(tiny.mean().item<double>() - 0.5) < 0.06);
  check_moments("power", g.power(3, {kMany}), 0.75, 3.0 / 80, 3.1);
  // 1 / (1 + f dfnum / dfden) has a beta distribution.
  const Array ratio = 1.0 / (1.0 + g.f(5, 9, {kMany}) * (5.0 / 9));
  check_moments("f", ratio, 4.5 / 7, 4.5 * 2.5 / (49 * 8), 3);
  const Array parts = g.dirichlet(nd::array({0.5, 2.0, 3.5}), {kMany});
  BOOST_TEST(nd::abs(parts.sum(1) - 1).max().item<double>() < 1e-14);
  check_moments("dirichlet", parts(nd::Slice(), 1), 2.0 / 6, 2.0 * 4 / (36 * 7), 3);
}

BOOST_AUTO_TEST_CASE(discrete_distributions) {
  Generator g = default_rng(6);
  for (double lam : {0.3, 4.0, 9.9, 10.0, 37.5, 1000.0})
    check_probabilities("poisson", g.poisson(lam, {kMany}),
                        [&](double k) { return k * std::log(lam) - lam - std::lgamma(k + 1); });
  check_moments("poisson", g.poisson(1e12, {kMany}), 1e12, 1e12, 3);
  for (const auto& [n, p] : {std::pair{1.0, 0.4}, {20.0, 0.03}, {30.0, 0.5}, {1000.0, 0.3}, {50.0, 0.9}, {1e5, 1e-4}})
    check_probabilities("binomial", g.binomial(n, p, {kMany}), [&, n = n, p = p](double k) {
      return log_choose(n, k) + k * std::log(p) + (n - k) * std::log1p(-p);
    });
  check_moments("binomial", g.binomial(4000000000000, 0.25, {kMany}), 1e12, 0.75e12, 3);
  for (double p : {0.02, 0.5, 0.97})
    check_probabilities("geometric", g.geometric(p, {kMany}),
                        [&](double k) { return std::log(p) + (k - 1) * std::log1p(-p); });
  for (double p : {0.1, 0.8, 0.99})
    check_probabilities("logseries", g.logseries(p, {kMany}),
                        [&](double k) { return k * std::log(p) - std::log(k) - std::log(-std::log1p(-p)); });
  for (const auto& [good, bad, sample] :
       {std::array{7.0, 12.0, 5.0}, {7, 12, 16}, {300, 100, 60}, {40, 500, 300}, {15, 10, 12}})
    check_probabilities("hypergeometric", g.hypergeometric(good, bad, sample, {kMany}),
                        [&, good = good, bad = bad, sample = sample](double k) {
                          return log_choose(good, k) + log_choose(bad, sample - k) - log_choose(good + bad, sample);
                        });
}

BOOST_AUTO_TEST_CASE(derived_distributions) {
  Generator g = default_rng(11);
  const double pi = std::numbers::pi;
  check_moments("laplace", g.laplace(1, 2, kMany), 1, 8, 6);
  check_moments("rayleigh", g.rayleigh(2, kMany), 2 * std::sqrt(pi / 2), 4 * (4 - pi) / 2,
                3 - (6 * pi * pi - 24 * pi + 16) / ((4 - pi) * (4 - pi)));
  check_moments("pareto", g.pareto(9, kMany), 1. / 8, 9. / (64 * 7), 3 + 6 * (729. + 81 - 54 - 2) / (9 * 6 * 5));
  check_moments("weibull", g.weibull(2, kMany), std::tgamma(1.5), 1 - pi / 4,
                3 - (6 * pi * pi - 24 * pi + 16) / ((4 - pi) * (4 - pi)));
  check_moments("gumbel", g.gumbel(1, 2, kMany), 1 + 2 * std::numbers::egamma, 4 * pi * pi / 6, 5.4);
  check_moments("logistic", g.logistic(-1, 3, kMany), -1, 9 * pi * pi / 3, 4.2);
  check_moments("triangular", g.triangular(1, 2, 5, kMany), 8. / 3, (1 + 4 + 25 - 2 - 5 - 10) / 18., 2.4);
  check_moments("standard_t", g.standard_t(10, kMany), 0, 10. / 8, 4);
  check_moments("wald", g.wald(1, 3, kMany), 1, 1. / 3, 3 + 15. / 3);
  check_moments("noncentral_chisquare", g.noncentral_chisquare(3, 2, kMany), 5, 14, 3 + 12 * 11. / 49);
  const double f_mean = 12. * 5 / (3 * 10);  // of dfnum 3, dfden 12, nonc 2
  const double f_variance = 2. * (144. / 9) * (25 + 7 * 10) / (100 * 8);
  check_moments("noncentral_f", g.noncentral_f(3, 12, 2, kMany), f_mean, f_variance, 40);
  const Array cauchy = nd::sort(g.standard_cauchy(kMany));
  BOOST_TEST(std::abs(cauchy(kMany / 4).item<double>() + 1) < 0.05);
  BOOST_TEST(std::abs(cauchy(kMany / 2).item<double>()) < 0.03);
  BOOST_TEST(std::abs(cauchy(3 * kMany / 4).item<double>() - 1) < 0.05);
  check_probabilities("negative_binomial", g.negative_binomial(5, 0.4, kMany),
                      [](double k) { return log_choose(k + 4, k) + 5 * std::log(0.4) + k * std::log(0.6); });
  // Parameters broadcast, and the ends of their ranges are possible.
  BOOST_TEST(g.laplace(nd::zeros({2, 1}), nd::ones(3)).shape() == nd::Shape({2, 3}));
  BOOST_TEST(g.triangular(nd::zeros(2), 0, 1).shape() == nd::Shape{2});
  BOOST_TEST(g.weibull(0, 4).max().item<double>() == 0);
  BOOST_TEST(g.negative_binomial(2, 1, 4).max().item<double>() == 0);
  BOOST_CHECK_THROW(g.pareto(0), nd::ValueError);
  BOOST_CHECK_THROW(g.triangular(1, 0, 2), nd::ValueError);
  BOOST_CHECK_THROW(g.triangular(1, 1, 1), nd::ValueError);
  BOOST_CHECK_THROW(g.rayleigh(-1), nd::ValueError);
  BOOST_CHECK_THROW(g.negative_binomial(1, 0), nd::ValueError);
  BOOST_CHECK_THROW(g.wald(0, 1), nd::ValueError);
}

BOOST_AUTO_TEST_CASE(distributions_by_rejection) {
  Generator g = default_rng(17);
  // The means of cos(x) are I1(kappa) / I0(kappa) (scipy.special.iv), those of sin(x) are 0.
  for (const auto& [kappa, mean] : {std::pair(0.0, 0.0),
                                    {1e-7, 5e-8},
                                    {0.5, 0.242499809},
                                    {4.0, 0.863523435},
                                    {100.0, 0.994987259},
                                    {1e8, 0.999999995}}) {
    const Array x = g.vonmises(0, kappa, kMany), c = nd::cos(x);
    const double spread = kappa > 1e5 ? 1e-7 : 5 / std::sqrt(double(kMany));
    BOOST_TEST(std::abs(nd::mean(c).item<double>() - mean) < spread);
    BOOST_TEST(std::abs(nd::mean(nd::sin(x)).item<double>()) < 5 / std::sqrt(double(kMany)));
    BOOST_TEST(nd::max(nd::abs(x)).item<double>() <= 3.1415926535897936);
  }
  const Array moved = g.vonmises(3.0, 50.0, kMany);  // wraps around pi
  BOOST_TEST(std::abs(nd::mean(nd::cos(moved - 3.0)).item<double>() - 0.989948457) < 0.002);
  BOOST_TEST(nd::any(moved < 0).item<bool>());
  // Probabilities k^-a / zeta(a) with scipy.special.zeta: zeta(2.5) = 1.341487257, zeta(1.5) = 2.612375349.
  for (const auto& [a, zeta] : {std::pair(2.5, 1.341487257), {1.5, 2.612375349}}) {
    const Array x = g.zipf(a, kMany);
    BOOST_TEST((x.dtype() == nd::int64 && nd::min(x).item<int>() == 1));
    for (const int k : {1, 2, 3, 7}) {
      const double p = std::pow(k, -a) / zeta, found = nd::mean(x == k).item<double>();
      BOOST_TEST(std::abs(found - p) < 5 * std::sqrt(p * (1 - p) / double(kMany)));
    }
  }
  BOOST_TEST(nd::all(g.zipf(5000, 100) == 1).item<bool>());
  BOOST_TEST(g.zipf(nd::array({2.0, 3.0}), {4, 2}).shape() == (nd::Shape{4, 2}));
  BOOST_TEST(g.vonmises(nd::zeros({2, 1}), nd::ones(3)).shape() == (nd::Shape{2, 3}));
  BOOST_TEST((g.zipf(2).ndim() == 0 && g.vonmises(0, 1, {0}).size() == 0));
  BOOST_CHECK_THROW(g.zipf(1), nd::ValueError);
  BOOST_CHECK_THROW(g.zipf(nd::array({2.0, 0.5})), nd::ValueError);
  BOOST_CHECK_THROW(g.vonmises(0, -1), nd::ValueError);
  BOOST_CHECK_THROW(g.vonmises(INFINITY, 1), nd::ValueError);
}

BOOST_AUTO_TEST_CASE(several_variables) {
  Generator g = default_rng(12);
  const Array mean = nd::array({1., -2.}), cov = nd::array({{4., 1.5}, {1.5, 1.}});
  const Array x = g.multivariate_normal(mean, cov, kMany);
  BOOST_TEST(x.shape() == nd::Shape({kMany, 2}));
  check_moments("multivariate_normal, first", x(nd::_, 0), 1, 4, 3);
  check_moments("multivariate_normal, second", x(nd::_, 1), -2, 1, 3);
  check_moments("multivariate_normal, difference", x(nd::_, 0) - x(nd::_, 1), 3, 2, 3);
  BOOST_TEST(g.multivariate_normal(mean, cov).shape() == nd::Shape{2});
  BOOST_TEST(g.multivariate_normal(mean, cov, {2, 3}).shape() == nd::Shape({2, 3, 2}));
  const Array flat = g.multivariate_normal(mean, nd::array({{1., 1.}, {1., 1.}}), 100);  // singular
  BOOST_TEST(nd::absolute(flat(nd::_, 0) - flat(nd::_, 1) - 3).max().item<double>() < 1e-6);
  BOOST_CHECK_THROW(g.multivariate_normal(mean, nd::array({{1., 2.}, {2., 1.}})), nd::ValueError);
  BOOST_CHECK_THROW(g.multivariate_normal(mean, nd::eye(3)), nd::ValueError);

  const Array counts = g.multinomial(20, nd::array({0.2, 0.5, 0.3}), kMany);
  BOOST_TEST(counts.dtype() == nd::int64);
  BOOST_TEST(bool((counts.sum(-1) == 20).all()));
  const auto binomial = [](double p) {
    return [p](double k) { return log_choose(20, k) + k * std::log(p) + (20 - k) * std::log1p(-p); };
  };
  check_probabilities("multinomial, first", counts(nd::_, 0), binomial(0.2));
  check_probabilities("multinomial, second", counts(nd::_, 1), binomial(0.5));
  check_probabilities("multinomial, last", counts(nd::_, 2), binomial(0.3));
  BOOST_TEST(test::same_bits(g.multinomial(5, nd::array({0., 1., 0.})), nd::array({0, 5, 0})));
  BOOST_CHECK_THROW(g.multinomial(5, nd::array({0.8, 0.8, 0.})), nd::ValueError);
  BOOST_CHECK_THROW(g.multinomial(-1, nd::array({1.})), nd::ValueError);
}

BOOST_AUTO_TEST_CASE(functions_of_the_current_device) {
  nd::random::seed(3);
  const Array a = nd::random::exponential(2, {3, 4}), b = nd::random::poisson(3, {2}),
              c = nd::random::binomial(10, 0.5);
  const Array m = nd::random::multivariate_normal(nd::zeros(2), nd::eye(2), 3);
  nd::random::RandomState state(3);
  BOOST_TEST(same_bits(state.exponential(2, {3, 4}), a));
  BOOST_TEST(same_bits(state.poisson(3, {2}), b));
  BOOST_TEST(same_bits(state.binomial(10, 0.5), c));
  BOOST_TEST(same_bits(state.multivariate_normal(nd::zeros(2), nd::eye(2), 3), m));
  for (const Array& x : {nd::random::laplace(),
                         nd::random::logistic(0, 1, {2}),
                         nd::random::rayleigh(),
                         nd::random::gamma(2),
                         nd::random::beta(1, 2, 3),
                         nd::random::f(3, 4),
                         nd::random::chisquare(2),
                         nd::random::power(2),
                         nd::random::pareto(3),
                         nd::random::weibull(2),
                         nd::random::standard_t(5),
                         nd::random::wald(1, 1),
                         nd::random::vonmises(0, 1),
                         nd::random::zipf(2.5),
                         nd::random::standard_cauchy(3),
                         nd::random::standard_exponential({2}),
                         nd::random::standard_gamma(2),
                         nd::random::noncentral_chisquare(1, 1),
                         nd::random::noncentral_f(1, 2, 3),
                         nd::random::triangular(0, 1, 2)})
    BOOST_TEST(bool(nd::isfinite(x).all()));
  for (const Array& x : {nd::random::geometric(0.5), nd::random::logseries(0.5), nd::random::negative_binomial(2, 0.5),
                         nd::random::hypergeometric(3, 4, 2), nd::random::multinomial(3, nd::array({1.}))})
    BOOST_TEST(x.dtype() == nd::int64);
  BOOST_TEST(nd::random::dirichlet(nd::array({1., 2.}), 3).shape() == nd::Shape({3, 2}));
}

BOOST_AUTO_TEST_CASE(ends_of_parameters) {
  Generator g = default_rng(7);
  BOOST_TEST(g.poisson(0, {10}).max().item<int>() == 0);
  BOOST_TEST(g.binomial(10, nd::array({0.0, 1.0})).to_vector<int>() == (std::vector{0, 10}),
             boost::test_tools::per_element());
  BOOST_TEST(g.binomial(0, 0.5, {10}).max().item<int>() == 0);
  BOOST_TEST(g.geometric(1, {10}).to_vector<int>() == std::vector<int>(10, 1), boost::test_tools::per_element());
  BOOST_TEST(g.geometric(1e-300).item<std::int64_t>() > 0);
  BOOST_TEST(g.standard_gamma(0, {4}).max().item<double>() == 0);
  BOOST_TEST(g.exponential(0, {4}).max().item<double>() == 0);
  BOOST_TEST(g.hypergeometric(5, 3, 8, {4}).to_vector<int>() == std::vector<int>(4, 5),
             boost::test_tools::per_element());
  BOOST_TEST(g.hypergeometric(0, 30, 20, {4}).max().item<int>() == 0);
  BOOST_TEST(g.hypergeometric(30, 0, 20, {4}).min().item<int>() == 20);
}

BOOST_AUTO_TEST_CASE(errors) {
  Generator g = default_rng(8);
  BOOST_TEST(message_of<nd::ValueError>([&] { g.standard_gamma(-1); }) ==
             "standard_gamma: shape is -1, which is not >= 0");
  BOOST_TEST(message_of<nd::ValueError>([&] {
               g.binomial(3, nd::array({0.5, 1.5}));
             }).starts_with("binomial: p is 1.5, which is not >= 0 and <= 1"));
  BOOST_CHECK_THROW(g.binomial(-1, 0.5), nd::ValueError);
  BOOST_CHECK_THROW(g.poisson(-0.1), nd::ValueError);
  BOOST_CHECK_THROW(g.poisson(1e19), nd::ValueError);
  BOOST_CHECK_THROW(g.poisson(NAN), nd::ValueError);
  BOOST_CHECK_THROW(g.geometric(0), nd::ValueError);
  BOOST_CHECK_THROW(g.logseries(1), nd::ValueError);
  BOOST_CHECK_THROW(g.beta(0, 1), nd::ValueError);
  BOOST_CHECK_THROW(g.f(1, 0), nd::ValueError);
  BOOST_CHECK_THROW(g.power(0), nd::ValueError);
  BOOST_CHECK_THROW(g.chisquare(0), nd::ValueError);
  BOOST_CHECK_THROW(g.exponential(-1), nd::ValueError);
  BOOST_CHECK_THROW(g.gamma(1, -1), nd::ValueError);
  BOOST_CHECK_THROW(g.normal(0, -1), nd::ValueError);
  BOOST_CHECK_THROW(g.normal(0, nd::array({1.0, -1.0})), nd::ValueError);
  BOOST_CHECK_THROW(g.lognormal(0, -1), nd::ValueError);
  BOOST_CHECK_THROW(g.uniform(0, INFINITY), nd::ValueError);
  BOOST_CHECK_THROW(g.uniform(nd::zeros(2), nd::array({1.0, INFINITY})), nd::ValueError);
  BOOST_CHECK_THROW(g.dirichlet(nd::ones({2, 2})), nd::ValueError);
  BOOST_CHECK_THROW(g.dirichlet(nd::array({1.0, 0.0})), nd::ValueError);
  BOOST_CHECK_THROW(g.hypergeometric(3, 4, 8), nd::ValueError);
  BOOST_CHECK_THROW(g.hypergeometric(2000000000, 4, 8), nd::ValueError);
  BOOST_TEST(g.offset() == 0u);  // nothing was used up
}

BOOST_AUTO_TEST_CASE(choices) {
  nd::random::RandomState state(9);
  Generator g = default_rng(9);
  const Array p = nd::array({0.1, 0.0, 0.6, 0.3});
  const auto log_p = [&](double k) { return std::log(p(int(k)).item<double>()); };
  // Three unequal probabilities: a sign error of the Gumbel method would not show with two.
  check_probabilities("choice", state.choice(4, {kMany}, {.p = p}), log_p);
  check_probabilities("choice", g.choice(4, {kMany}, {.p = p.astype(nd::float32)}), log_p);
  check_probabilities("choice", state.choice(5, {kMany}), [](double) { return std::log(0.2); });
  // The first of a sample without replacement has the probabilities p; no place twice, none of probability 0.
  std::vector<std::int64_t> first;
  for (int i = 0; i < 4000; ++i) {
    const auto drawn = g.choice(4, 3, {.replace = false, .p = p}).to_vector<std::int64_t>();
    first.push_back(drawn[0]);
    BOOST_TEST_REQUIRE((drawn[0] != drawn[1] && drawn[0] != drawn[2] && drawn[1] != drawn[2]));
    BOOST_TEST_REQUIRE((drawn[0] != 1 && drawn[1] != 1 && drawn[2] != 1));
  }
  check_probabilities("choice without replacement", nd::array(first), log_p);
  auto all = g.choice(50, {5, 10}, {.replace = false});
  BOOST_TEST(all.shape() == (nd::Shape{5, 10}));
  BOOST_TEST(nd::sort(all.ravel()).to_vector<int>() == nd::arange(50).to_vector<int>(),
             boost::test_tools::per_element());
  const Array words = nd::array({1.5, 2.5, 3.5}).astype(nd::float32);
  BOOST_TEST(state.choice(words, {100}).dtype() == nd::float32);
  BOOST_TEST(state.choice(words).ndim() == 0);
  BOOST_TEST(g.choice(nd::arange(6).reshape(2, 3), 4, {.axis = 1}).shape() == (nd::Shape{2, 4}));
  BOOST_TEST(nd::random::choice(3, {7}).shape() == nd::Shape{7});
  // The draws come from this state alone.
  nd::random::seed(1);
  const std::uint64_t before = nd::random::get_random_state().offset();
  nd::random::RandomState again(3), other(3);
  BOOST_TEST(same_bits(again.choice(9, {5}, {.p = nd::full({9}, 1.0 / 9)}),
                       other.choice(9, {5}, {.p = nd::full({9}, 1.0 / 9)})));
  BOOST_TEST(nd::random::get_random_state().offset() == before);
}

BOOST_AUTO_TEST_CASE(errors_of_choices) {
  nd::random::RandomState g(10);
  BOOST_TEST(message_of<nd::ValueError>([&] { g.choice(0); }) ==
             "choice: the population has 0 elements; at least one is needed");
  BOOST_CHECK_THROW(g.choice(-3), nd::ValueError);
  BOOST_CHECK_THROW(g.choice(nd::zeros({0})), nd::ValueError);
  BOOST_TEST(message_of<nd::ValueError>([&] { g.choice(nd::zeros({})); }) ==
             "choice: the population is a 0-d array; nd::random::choice(n) draws from 0..n-1");
  BOOST_TEST(message_of<nd::ValueError>([&] { g.choice(3, {4}, {.replace = false}); }) ==
             "choice: a sample of 4 without replacement from 3 elements was asked for");
  BOOST_TEST(message_of<nd::ValueError>([&] {
               g.choice(3, {2}, {.p = nd::array({0.5, 0.5})});
             }) == "choice: probabilities of shape (2,) were given for 3 elements");
  BOOST_TEST(message_of<nd::ValueError>([&] {
               g.choice(2, {2}, {.p = nd::array({0.5, 0.4})});
             }) == "choice: the probabilities add up to 0.9, not to 1");
  BOOST_TEST(message_of<nd::ValueError>([&] {
               g.choice(2, {2}, {.p = nd::array({1.5, -0.5})});
             }) == "choice: the probability -0.5 is negative or no number");
  BOOST_CHECK_THROW(g.choice(2, {2}, {.p = nd::array({NAN, 1.0})}), nd::ValueError);
  BOOST_CHECK_THROW(g.choice(2, {2}, {.p = nd::array({{0.5, 0.5}})}), nd::ValueError);
  BOOST_TEST(message_of<nd::ValueError>([&] {
               g.choice(3, {2}, {.replace = false, .p = nd::array({1.0, 0.0, 0.0})});
             }) ==
             "choice: a sample of 2 without replacement was asked for, but only 1 elements have a probability above 0");
  BOOST_TEST(g.offset() == 0u);
}

BOOST_AUTO_TEST_CASE(bytes_and_intervals) {
  nd::random::RandomState g(11);
  const std::string a = g.bytes(10001);
  BOOST_TEST(a.size() == 10001u);
  std::vector<std::int64_t> cells;
  for (unsigned char c : a) cells.push_back(c);
  BOOST_TEST(test::chi_square(cells, 256) < 256 + 5 * std::sqrt(512.0));
  BOOST_TEST(nd::random::RandomState(11).bytes(10001) == a);
  BOOST_TEST(g.bytes(3) != a.substr(0, 3));
  BOOST_TEST(g.bytes(0).empty());
  BOOST_CHECK_THROW(g.bytes(-1), nd::ValueError);
  const Array x = g.interval(6, {7000});
  BOOST_TEST(test::chi_square(x.astype(nd::int64).to_vector<std::int64_t>(), 7) < 28);
  BOOST_TEST(g.interval(0, {5}).max().item<int>() == 0);
  BOOST_TEST(g.interval(9).ndim() == 0);
  BOOST_TEST(x.dtype() == nd::int32);
  BOOST_TEST(g.interval(9).dtype() == nd::int32);
  BOOST_TEST(g.interval(9, {2}, nd::int64).dtype() == nd::int64);
  BOOST_TEST(g.interval(9, {2}, {.dtype = nd::uint8}).dtype() == nd::uint8);
  BOOST_CHECK_THROW(g.interval(-1), nd::ValueError);
}

// The same numbers on a stream of their own, seen by the current stream without a wait by the caller; without a stream,
// on the current one again.
BOOST_AUTO_TEST_CASE(streams) {
  const nd::Stream own({.non_blocking = true});
  nd::random::RandomState g(12), plain(12);
  g.set_stream(own);
  for (int i = 0; i < 3; ++i) {
    BOOST_TEST(same_bits(g.uniform(-1, 1, {1000}), plain.uniform(-1, 1, {1000})));
    BOOST_TEST(same_bits(g.standard_normal({7}) + 1, plain.standard_normal({7}) + 1));
    if (i == 1) g.set_stream();
  }
}

BOOST_AUTO_TEST_SUITE_END()
