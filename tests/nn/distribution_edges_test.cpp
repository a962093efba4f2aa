// Distributions at the edges of their parameters and outside of their support, in float64 and float16. The expected
// values are those of torch.distributions, or of the formulas beside them.
#include <catena/nn/distributions/distributions.h>

#include <cmath>
#include <initializer_list>
#include <limits>
#include <vector>

#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/grad.h>
#include <catena/autograd/operators.h>
#include <catena/nn/distributions/continuous.h>
#include <catena/nn/distributions/discrete.h>
#include <catena/nn/distributions/gamma.h>
#include <catena/nn/distributions/multivariate_normal.h>
#include <catena/nn/distributions/transforms.h>
#include <catena/tests/support/training_fixtures.h>

using namespace test;
namespace D = nn::distributions;

namespace {

using Doubles = std::vector<double>;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

Variable row(const Doubles& v, Dtype dtype = Dtype::float64) {
  return Variable(autograd::astype(autograd::array<double>(v, {std::int64_t(v.size())}, autograd::Device()), dtype));
}
Doubles list(const Variable& v) { return autograd::to_vector<double>(v.data()); }
void check_near(const Variable& found, const Doubles& expected, double tolerance = 1e-12) {
  const Doubles values = list(found);
  BOOST_TEST_REQUIRE(values.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i)
    BOOST_TEST(
        (values[i] == expected[i] || std::abs(values[i] - expected[i]) <= tolerance * (1 + std::abs(expected[i]))),
        i << ": " << values[i] << ", not " << expected[i]);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(distribution_edges)

// exp(l x - A(l)) with A(l) = log((exp(l) - 1) / l).
BOOST_AUTO_TEST_CASE(continuous_bernoulli_of_every_logit) {
  const D::ContinuousBernoulli d({.logits = row({-40, -3, 0, 1e-3, 0.3, 20})});
  check_near(d.log_prob(0.25), {-6.311120545886064, 0.3996814696108113, 0, -0.0002500416667092272, -0.07874719151108968,
                                -12.004267724384857});
  const D::ContinuousBernoulli e({.logits = row({-40, -3, 0, 0.3, 20})});
  check_near(e.mean(), {0.025, 0.28093763684207734, 0.5, 0.5249625801767492, 0.9500000020611536});
  check_near(e.variance(), {0.000625, 0.05597010560905133, 1.0 / 12, 0.08295966841258995, 0.002499997938846369});
  check_near(e.icdf(e.cdf(0.375)), Doubles(5, 0.375), 1e-6);
  check_near(e.cdf(row({-1, -1, -1, -1, -1})), Doubles(5, 0));
  check_near(e.cdf(row({2, 2, 2, 2, 2})), Doubles(5, 1));
}

BOOST_AUTO_TEST_CASE(modes_at_the_corners) {
  check_near(D::Beta(row({0.5, 3, 0.5}), row({0.5, 2, 3})).mode(), {1, 2.0 / 3, 0});
  const Variable concentrations(autograd::array<double>(Doubles{0.5, 0.4, 0.1, 2, 3, 0.5}, {2, 3}, autograd::Device()));
  check_near(D::Dirichlet(concentrations).mode(), {1, 0, 0, 1.0 / 3, 2.0 / 3, 0});
}

BOOST_AUTO_TEST_CASE(outside_of_the_support) {
  const Variable x = row({-1, 0, kInfinity});
  check_near(D::Gamma(row({2}), row({3})).cdf(x), {0, 0, 1});
  check_near(D::InverseGamma(row({2}), row({3})).cdf(row({-1})), {0});
  check_near(D::HalfNormal(row({2})).cdf(x), {0, 0, 1});
  check_near(D::HalfCauchy(row({2})).cdf(row({-1, 0})), {0, 0});
  check_near(D::Exponential(row({2})).cdf(x), {0, 0, 1});
  check_near(D::Exponential(row({2})).log_prob(row({-1, 1})), {-kInfinity, std::log(2.0) - 2});
  // Of the concentration -1/2, the support ends at 2, and the distribution function is 1 - (1 - x / 2)^2.
  const D::GeneralizedPareto bounded(row({0}), row({1}), row({-0.5}));
  check_near(bounded.cdf(row({-1, 1, 2, 3})), {0, 0.75, 1, 1});
  check_near(bounded.log_prob(row({-1, 1, 2, 3})), {-kInfinity, -std::log(2.0), -kInfinity, -kInfinity});
}

// Given probabilities stay as they are; the logits are those of probabilities between eps and 1 - eps.
BOOST_AUTO_TEST_CASE(probabilities_of_0_and_1) {
  const double logit = 36.04365338911715;  // of 1 - 2^-52
  const D::Bernoulli b(row({0, 1, 0.25}));
  check_near(b.probs, {0, 1, 0.25});
  check_near(b.logits, {-logit, logit, -std::log(3.0)});
  check_near(b.log_prob(1), {-logit, 0, -std::log(4.0)});
  BOOST_TEST(list(b.sample({200}).sum(0))[0] == 0);
  BOOST_TEST(list(b.sample({200}).sum(0))[1] == 200);
  check_near(D::Bernoulli(row({0, 1}, Dtype::float16)).logits, {-6.9296875, 6.9296875}, 1e-3);
  check_near(D::Categorical(row({0, 0.5, 0.5})).logits, {-logit, -std::log(2.0), -std::log(2.0)});
  check_near(D::Geometric(row({1e-9})).log_prob(3), {std::log(1e-9) + 3 * std::log1p(-1e-9)});
}

BOOST_AUTO_TEST_CASE(results_have_the_dtype_of_the_parameters) {
  for (const Dtype dtype : {Dtype::float16, Dtype::float64}) {
    const Variable p = row({0.25, 0.5}, dtype);
    for (const Variable& v :
         {D::Bernoulli(p).log_prob(1), D::Gamma(p, 2).rsample(), D::Beta(p, p).sample(),
          D::RelaxedBernoulli(0.5, p).rsample(), D::Uniform(p, 2).rsample(),
          D::MixtureSameFamily(D::Categorical(row({0.5, 0.5}, Dtype::float32)), D::Normal(p, 1)).log_prob(0),
          D::TransformedDistribution(D::Normal(p, 1), {D::ExpTransform()}).log_prob(2)})
      BOOST_TEST((v.dtype() == dtype), v.dtype());
  }
  // Samples are inside of the support also where a dtype has few numbers.
  autograd::seed(3);
  for (const double x : list(D::RelaxedBernoulli(0.1, row({0.01, 0.99}, Dtype::float16)).rsample({500})))
    BOOST_TEST((x > 0 && x < 1), x);
  for (const double x : list(D::Gamma(row({0.01}, Dtype::float16), 1).rsample({500}))) BOOST_TEST(x > 0, x);
}

BOOST_AUTO_TEST_CASE(transforms_along_the_last_axis) {
  const D::StackTransform t({D::ExpTransform(), D::TanhTransform()}, -1);
  const Variable x = autograd::reshape(row({0.5, -1}), {1, 2});
  check_near(t(x), {std::exp(0.5), std::tanh(-1.0)});
  check_near(t.log_abs_det_jacobian(x, t(x)), {0.5, -2 * std::log(std::cosh(1.0))});
  check_near(t.inv(t(x)), {0.5, -1});
  BOOST_CHECK_THROW(t(row({1, 2, 3})), catena::ValueError);
  BOOST_CHECK_THROW(D::StackTransform({D::ExpTransform(), D::SoftmaxTransform()}), catena::ValueError);
}

BOOST_AUTO_TEST_CASE(batches_of_mixtures) {
  const D::Categorical mixture(row({0.25, 0.75}));
  const Variable means(autograd::array<double>(Doubles{0, 4, 1, 5}, {2, 2}, autograd::Device()));
  const D::MixtureSameFamily m(mixture, D::Normal(means, 1));
  BOOST_TEST((m.batch_shape() == Shape{2}));
  check_near(m.mean(), {3, 4});
  BOOST_TEST((m.sample({5}).shape() == Shape{5, 2}));
  const Variable two(autograd::array<double>(Doubles{0.5, 0.5, 0.5, 0.5, 0.5, 0.5}, {3, 2}, autograd::Device()));
  BOOST_CHECK_THROW(D::MixtureSameFamily(D::Categorical(two), D::Normal(means, 1)), catena::ValueError);
}

// The second derivative of -log(I0(k)) at k = 2; those of samples are not known.
BOOST_AUTO_TEST_CASE(second_derivatives) {
  Variable k = row({2});
  const Variable y = D::VonMises(row({0}), k).log_prob(row({0}));
  const Variable g = autograd::grad({y}, {k}, {.enable_double_backprop = true})[0];
  check_near(g, {1 - 0.697774657964008});
  check_near(autograd::grad({g}, {k})[0], {-0.164223197721208});
  Variable a = row({2});
  const Variable x = D::Gamma(a, 1).rsample();
  BOOST_CHECK_THROW(
      {
        const Variable first = autograd::grad({x}, {a}, {.enable_double_backprop = true})[0];
        autograd::grad({first}, {a});
      },
      catena::NotImplementedError);
}

BOOST_AUTO_TEST_SUITE_END()
