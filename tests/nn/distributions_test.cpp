// Distributions: values of torch.distributions, moments of samples, gradients, and what is refused.
#include <catena/nn/distributions/distributions.h>

#include <cmath>
#include <limits>

#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/tests/support/training_fixtures.h>

using namespace test;
namespace D = nn::distributions;

namespace {

using Doubles = std::vector<double>;
Variable of(std::initializer_list<float> v) { return Variable(floats(v, {std::int64_t(v.size())})); }
void check_near(const Variable& found, const Doubles& expected, double tolerance = 2e-6) {
  const Doubles values = autograd::to_vector<double>(found.data());
  BOOST_TEST(values.size() == expected.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    BOOST_TEST((values[i] == expected[i] || std::abs(values[i] - expected[i]) <= tolerance),
               i << ": " << values[i] << ", not " << expected[i]);
}
// The mean and the variance of many samples of a distribution of two elements.
void check_moments(const D::Distribution& d) {
  autograd::seed(3);
  constexpr int kSamples = 40000;
  const Doubles x = autograd::to_vector<double>(d.sample({kSamples}).data());
  const Doubles mean = autograd::to_vector<double>(d.mean().data());
  const Doubles variance = autograd::to_vector<double>(d.variance().data());
  for (std::size_t k = 0; k < 2; ++k) {
    double sum = 0, squares = 0;
    for (std::size_t i = k; i < x.size(); i += 2) sum += x[i], squares += (x[i] - mean[k]) * (x[i] - mean[k]);
    BOOST_TEST(std::abs(sum / kSamples - mean[k]) < 6 * std::sqrt(variance[k] / kSamples));
    BOOST_TEST(std::abs(squares / kSamples / variance[k] - 1) < 0.1);
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(distributions)

BOOST_AUTO_TEST_CASE(values_of_torch_distributions) {
  const Variable loc = of({0.5f, -1}), scale = of({2, 0.5f}), x = of({1, -0.25f});
  const double inf = std::numeric_limits<double>::infinity();
  const D::Normal normal(loc, scale);
  check_near(normal.log_prob(x), {-1.6433357, -1.3507913});
  check_near(normal.entropy(), {2.1120858, 0.7257913});
  check_near(normal.cdf(x), {0.5987063, 0.9331928});
  check_near(normal.stddev(), {2, 0.5});
  check_near(D::kl_divergence(normal, D::Normal({.loc = 0, .scale = 1})), {0.9318528, 0.8181472});
  const D::Laplace laplace(loc, scale);
  check_near(laplace.log_prob(x), {-1.6362944, -1.5});
  check_near(laplace.entropy(), {2.3862944, 1.0});
  check_near(laplace.variance(), {8, 0.5});
  const D::Uniform uniform(of({0, -1}), of({2, 1}));
  check_near(uniform.log_prob(of({1, 3})), {-0.6931472, -inf});
  check_near(uniform.entropy(), {0.6931472, 0.6931472});
  check_near(uniform.variance(), {1.0 / 3, 1.0 / 3});
  const D::Exponential exponential(scale);
  check_near(exponential.log_prob(of({1, 0.25f})), {-1.3068528, -0.8181472});
  check_near(exponential.entropy(), {0.3068528, 1.6931472});
  check_near(exponential.variance(), {0.25, 4});
  check_near(D::kl_divergence(exponential, D::Exponential(1)), {0.1931472, 0.3068528});
}

BOOST_AUTO_TEST_CASE(discrete_values_of_torch_distributions) {
  const D::Bernoulli coin(of({0.25f, 0.9f})), other({.logits = of({1, -2})});
  check_near(coin.log_prob(of({1, 0})), {-1.3862944, -2.3025849});
  check_near(coin.entropy(), {0.5623351, 0.325083});
  check_near(coin.variance(), {0.1875, 0.09});
  check_near(D::kl_divergence(coin, other), {0.5009266, 1.601845});
  const D::Categorical dice({.probs = Variable(floats({1, 2, 1, 0.5f, 0.25f, 0.25f}, {2, 3}))});
  const D::Categorical logits({.logits = Variable(floats({0, 1, 2, 1, 0, 0}, {2, 3}))});
  check_near(dice.log_prob(ints({1, 0})), {-0.6931472, -0.6931472});
  check_near(dice.entropy(), {1.0397208, 1.0397208});
  check_near(D::kl_divergence(dice, logits), {0.3678851, 0.0117239});
  check_near(dice.probs, {0.25, 0.5, 0.25, 0.5, 0.25, 0.25});
  BOOST_TEST(dice.batch_shape() == (Shape{2}));
  BOOST_TEST(dice.sample({5}).shape() == (Shape{5, 2}));
  BOOST_TEST(dice.log_prob(dice.sample({5})).shape() == (Shape{5, 2}));
}

BOOST_AUTO_TEST_CASE(moments_of_samples) {
  const Variable loc = of({0.5f, -1}), scale = of({2, 0.5f});
  check_moments(D::Normal(loc, scale));
  check_moments(D::Laplace(loc, scale));
  check_moments(D::Uniform(of({0, -1}), of({2, 1})));
  check_moments(D::Exponential(scale));
  check_moments(D::Bernoulli(of({0.25f, 0.9f})));
  autograd::seed(4);
  const D::Categorical dice(of({0.2f, 0.5f, 0.3f}));
  Doubles counts(3);
  for (const double c : autograd::to_vector<double>(dice.sample({30000}).data())) counts.at(std::size_t(c)) += 1;
  BOOST_TEST(std::abs(counts[0] / 30000 - 0.2) < 0.015);
  BOOST_TEST(std::abs(counts[1] / 30000 - 0.5) < 0.015);
}

// The derivatives of log p and of a sample to the parameters, by their formulas.
BOOST_AUTO_TEST_CASE(gradients) {
  Variable loc = of({0.5f, -1}), scale = of({2, 0.5f});
  const D::Normal normal(loc, scale);
  autograd::sum(normal.log_prob(of({1, -0.25f}))).backward();
  check_near(Variable(loc.grad()), {0.5 / 4, 0.75 / 0.25});
  check_near(Variable(scale.grad()), {0.25 / 8 - 0.5, 0.5625 / 0.125 - 2});
  loc.cleargrad(), scale.cleargrad();
  autograd::seed(5);
  const Variable z = normal.rsample();
  autograd::sum(z).backward();
  check_near(Variable(loc.grad()), {1, 1});
  const Doubles noise = autograd::to_vector<double>(scale.grad()), drawn = autograd::to_vector<double>(z.data());
  BOOST_TEST(std::abs(0.5 + 2 * noise[0] - drawn[0]) < 1e-5);
  BOOST_TEST(!normal.sample().requires_grad());
}

BOOST_AUTO_TEST_CASE(independent_axes_and_refusals) {
  const Variable loc = of({0.5f, -1}), scale = of({2, 0.5f});
  const D::Independent<D::Normal> both(D::Normal(loc, scale), 1), standard(D::Normal(of({0, 0}), of({1, 1})), 1);
  check_near(both.log_prob(of({1, -0.25f})), {-1.6433357 - 1.3507913}, 4e-6);
  check_near(both.entropy(), {2.1120858 + 0.7257913}, 4e-6);
  check_near(D::kl_divergence(both, standard), {0.9318528 + 0.8181472}, 4e-6);
  BOOST_CHECK_THROW(D::Independent<D::Normal>(D::Normal(loc, scale), 2), catena::ValueError);
  BOOST_CHECK_THROW(D::Bernoulli(D::ProbsOptions{}), catena::ValueError);
  BOOST_CHECK_THROW(D::Categorical({.probs = loc, .logits = loc}), catena::ValueError);
  BOOST_CHECK_THROW(D::Categorical(0.5), catena::ValueError);
  BOOST_CHECK_THROW(D::Bernoulli(0.5).rsample(), catena::NotImplementedError);
  BOOST_CHECK_THROW(D::Bernoulli(0.5).cdf(0.5), catena::NotImplementedError);
  check_near(D::Normal(0, 2).log_prob(of({1, 2})), {-1.7370857, -2.1120857});
}

BOOST_AUTO_TEST_SUITE_END()
