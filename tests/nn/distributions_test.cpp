// Distributions: values of torch.distributions, moments of samples, gradients, and what is refused.
#include <catena/nn/distributions/distributions.h>

#include <cmath>
#include <limits>

#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/nn/distributions/gamma.h>
#include <catena/nn/distributions/multivariate_normal.h>
#include <catena/tests/support/framework_devices.h>
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
void check_moments(const D::Distribution& d, int samples = 40000) {
  autograd::seed(3);
  const Doubles x = autograd::to_vector<double>(d.sample({samples}).data());
  const Doubles mean = autograd::to_vector<double>(d.mean().data());
  const Doubles variance = autograd::to_vector<double>(d.variance().data());
  for (std::size_t k = 0; k < 2; ++k) {
    double sum = 0, squares = 0;
    for (std::size_t i = k; i < x.size(); i += 2) sum += x[i], squares += (x[i] - mean[k]) * (x[i] - mean[k]);
    BOOST_TEST(std::abs(sum / samples - mean[k]) < 6 * std::sqrt(variance[k] / samples));
    BOOST_TEST(std::abs(squares / samples / variance[k] - 1) < 0.1);
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

// The values and gradients of torch.distributions; those of kl_divergence to the logits of p, NaN there, are
// p (log p - log q - KL).
BOOST_AUTO_TEST_CASE(impossible_classes) {
  const double inf = std::numeric_limits<double>::infinity();
  const auto logits_of = [](std::initializer_list<float> v) { return D::Categorical({.logits = of(v)}); };
  Variable logits = of({0, -float(inf), 1});
  const D::Categorical masked({.logits = logits});
  check_near(masked.probs, {0.2689414, 0, 0.7310586});
  check_near(masked.log_prob(ints({0, 1, 2})), {-1.3132617, -inf, -0.3132617});
  check_near(masked.log_prob(2), {-0.3132617});
  check_near(masked.entropy(), {0.5822031});
  masked.log_prob(2).backward();
  check_near(Variable(logits.grad()), {-0.2689414, 0, 0.2689414});
  logits.cleargrad();
  masked.entropy().backward();
  check_near(Variable(logits.grad()), {0.1966119, 0, -0.1966119});
  logits.cleargrad();
  Variable other = of({1, -float(inf), 0.5f});
  const Variable divergence = D::kl_divergence(masked, D::Categorical({.logits = other}));
  check_near(divergence, {0.2574032});
  divergence.backward();
  check_near(Variable(logits.grad()), {-0.2949179, 0, 0.2949179});
  check_near(Variable(other.grad()), {0.3535179, 0, -0.3535179});
  check_near(D::kl_divergence(masked, logits_of({1, 0.25f, 0.5f})), {0.5151637});
  check_near(D::kl_divergence(logits_of({1, 0.25f, 0.5f}), masked), {inf});
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Doubles of_nan = autograd::to_vector<double>(logits_of({float(nan), 0}).entropy().data());
  BOOST_TEST(std::isnan(of_nan.at(0)));
}

// A number has the dtype and the device of the other parameter: 0.1 is not rounded to float32.
BOOST_AUTO_TEST_CASE(numbers_follow_the_other_parameter) {
  const Variable loc(autograd::array(std::vector<double>{0.5, -1}, {2}));
  const D::Normal normal(loc, 0.1);
  BOOST_TEST((normal.scale.dtype() == Dtype::float64));
  check_near(normal.log_prob(0.3), {-0.6163534402106272, -83.11635344021062}, 1e-12);
  check_near(normal.entropy(), {-0.8836465597893728, -0.8836465597893728}, 1e-12);
  check_near(D::Uniform(0.1, loc).low, {0.1, 0.1}, 1e-16);
  BOOST_TEST((D::Normal(0, 1).scale.dtype() == Dtype::float32));
  BOOST_TEST((D::Normal(of({1, 2}), 0.1).scale.dtype() == Dtype::float32));
  // Tensors without axes follow those with axes; of equal ranks the wider dtype is that of both.
  const Variable tenth(autograd::arrays::full({}, 0.1, Dtype::float64));
  BOOST_TEST((D::Normal(of({1, 2}), tenth).scale.dtype() == Dtype::float32));
  BOOST_TEST((D::Normal(of({1, 2}), loc).loc.dtype() == Dtype::float64));
  BOOST_TEST((D::Normal(ints({1, 2}), tenth).loc.dtype() == Dtype::float64));
  if (const auto device = other_device()) {
    const Variable there(autograd::arrays::full({2}, 0.5, Dtype::float32, *device));
    const D::Normal moved(there, 1);
    BOOST_TEST((moved.scale.device() == *device));
    BOOST_TEST((moved.log_prob(0.5).device() == *device));
    BOOST_TEST((D::Uniform(0, there).log_prob(0.25).device() == *device));
    BOOST_TEST((D::Gamma(2, there).log_prob(0.25).device() == *device));
    BOOST_TEST((D::Categorical(there).log_prob(1).device() == *device));
  }
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
  const D::Independent<D::Normal> of_one(D::Normal(loc, scale), 0);
  BOOST_CHECK_THROW(D::kl_divergence(both, of_one), catena::ValueError);
  BOOST_CHECK_THROW(D::Independent<D::Normal>(D::Normal(loc, scale), 2), catena::ValueError);
  BOOST_CHECK_THROW(D::Bernoulli(D::ProbsOptions{}), catena::ValueError);
  BOOST_CHECK_THROW(D::Categorical({.probs = loc, .logits = loc}), catena::ValueError);
  BOOST_CHECK_THROW(D::Categorical(0.5), catena::ValueError);
  // The entropy does not depend on loc, but has its shape.
  const Variable far = of({std::numeric_limits<float>::infinity(), 0});
  check_near(D::Normal(far, 2).entropy(), {2.1120858, 2.1120858});
  check_near(D::Laplace(far, 2).entropy(), {2.3862944, 2.3862944});
  BOOST_CHECK_THROW(D::Bernoulli(0.5).rsample(), catena::NotImplementedError);
  BOOST_CHECK_THROW(D::Bernoulli(0.5).cdf(0.5), catena::NotImplementedError);
  check_near(D::Normal(0, 2).log_prob(of({1, 2})), {-1.7370857, -2.1120857});
}

// Values of torch.distributions.Independent: the last axes of the batch are summed, also where parameters broadcast.
BOOST_AUTO_TEST_CASE(independent_axes_of_a_batch) {
  Variable loc(floats({0.5f, -1, 2, 0, 1, -0.5f}, {2, 3}));
  const D::Normal p(loc, Variable(floats({2, 0.5f, 1, 1, 0.25f, 3}, {2, 3})));
  const D::Normal q(of({0, 0, 0}), of({1, 2, 0.5f})), rows(Variable(floats({0.5f, -1}, {2, 1})), of({1, 2, 0.5f}));
  const auto axes = [](const D::Normal& d, int n) { return D::Independent<D::Normal>(d, n); };
  const Variable x = of({0.25f, 0, 1});
  check_near(axes(p, 1).log_prob(x), {-5.2646281, -10.6253835}, 1e-5);
  check_near(axes(p, 2).log_prob(x), {-15.8900116}, 1e-5);
  check_near(axes(p, 1).entropy(), {4.2568156, 3.9691335}, 1e-5);
  check_near(axes(p, 2).entropy(), {8.2259491}, 1e-5);
  check_near(D::kl_divergence(axes(p, 0), axes(q, 0)), {0.9318528, 1.0425444, 8.8068528, 0, 1.712254, 16.2082405},
             1e-5);
  check_near(D::kl_divergence(axes(q, 1), axes(p, 1)), {10.78125, 38.7400957}, 1e-4);
  check_near(D::kl_divergence(axes(rows, 1), axes(q, 1)), {0.65625, 2.625}, 1e-5);
  check_near(axes(rows, 1).entropy(), {4.2568156, 4.2568156}, 1e-5);
  check_near(axes(rows, 2).entropy(), {8.5136312}, 1e-5);
  const D::Laplace wide(Variable(floats({0.5f, -1}, {2, 1})), of({1, 2, 0.5f}));
  check_near(D::Independent<D::Laplace>(wide, 1).entropy(), {5.0794415, 5.0794415}, 1e-5);
  const D::Dirichlet weights(Variable(floats({0.5f, 1, 2, 3, 2, 1}, {2, 3}))), flat(autograd::arrays::ones({2, 3}));
  const D::Independent<D::Dirichlet> all(weights, 1);
  check_near(D::kl_divergence(all, D::Independent<D::Dirichlet>(flat, 1)), {1.3396199}, 1e-5);
  check_near(all.entropy(), {-2.7259143}, 1e-5);
  const Variable divergence = D::kl_divergence(axes(p, 1), axes(q, 1));
  check_near(divergence, {10.78125, 17.9204946}, 1e-4);
  autograd::sum(divergence * of({1, 2})).backward();
  check_near(Variable(loc.grad()), {0.5, -0.25, 8, 0, 0.5, -4}, 1e-5);
  BOOST_CHECK_THROW(D::Normal(of({1, 2}), of({1, 2, 3})), catena::ValueError);
  BOOST_CHECK_THROW(
      D::MultivariateNormal(autograd::arrays::ones({3, 2}), {.scale_tril = autograd::arrays::ones({4, 2, 2})}),
      catena::ValueError);
}

BOOST_AUTO_TEST_CASE(values_of_torch_with_gamma_functions) {
  const D::Gamma gamma(of({0.5f, 3}), of({2, 0.5f})), plain({.concentration = 1, .rate = of({1, 2})});
  check_near(gamma.log_prob(of({0.25f, 4})), {-0.0326442, -2.0});
  check_near(gamma.entropy(), {-0.6025373, 2.5407257});
  check_near(gamma.mean(), {0.25, 6});
  check_near(gamma.variance(), {0.125, 12});
  check_near(D::kl_divergence(gamma, plain), {0.8525373, 8.7661271}, 1e-5);
  const D::Beta beta(of({0.5f, 3}), of({2, 1.5f})), other({.concentration1 = of({1, 2}), .concentration0 = of({1, 2})});
  check_near(beta.log_prob(of({0.25f, 0.75f})), {0.117783, 0.6128603});
  check_near(beta.entropy(), {-0.765279, -0.273008});
  check_near(beta.mean(), {0.2, 2.0 / 3});
  check_near(beta.variance(), {0.0457143, 0.040404});
  check_near(D::kl_divergence(beta, other), {0.765279, 0.299716});
  const D::Dirichlet dirichlet(Variable(floats({0.5f, 1, 2, 3, 2, 1}, {2, 3})));
  const D::Dirichlet flat(Variable(floats({1, 1, 1}, {3})));
  const Variable p(floats({0.25f, 0.25f, 0.5f, 0.5f, 0.375f, 0.125f}, {2, 3}));
  check_near(dirichlet.log_prob(p), {0.6286087, 1.727221});
  check_near(dirichlet.entropy(), {-1.4815697, -1.2443446});
  check_near(dirichlet.mean(), {1.0 / 7, 2.0 / 7, 4.0 / 7, 0.5, 1.0 / 3, 1.0 / 6});
  check_near(dirichlet.variance(), {0.0272109, 0.0453515, 0.0544218, 0.0357143, 0.031746, 0.0198413});
  check_near(D::kl_divergence(dirichlet, flat), {0.7884225, 0.5511974});
  BOOST_TEST(dirichlet.batch_shape() == (Shape{2}));
  BOOST_TEST(dirichlet.event_shape() == (Shape{3}));
  BOOST_TEST(dirichlet.log_prob(dirichlet.sample({4})).shape() == (Shape{4, 2}));
  const D::Poisson poisson(of({0.5f, 4})), twice({.rate = of({1, 2})});
  check_near(poisson.log_prob(of({2, 3})), {-2.5794415, -1.6328764});
  check_near(poisson.mean(), {0.5, 4});
  check_near(D::kl_divergence(poisson, twice), {0.1534264, 0.7725887});
  BOOST_CHECK_THROW(poisson.entropy(), catena::NotImplementedError);
  BOOST_CHECK_THROW(D::Dirichlet(0.5), catena::ValueError);
}

BOOST_AUTO_TEST_CASE(values_of_torch_with_vectors) {
  const Variable loc = of({0.5f, -1}), x(floats({1, -0.25f, 0, 0}, {2, 2}));
  const Variable covariance(floats({2, 0.5f, 0.5f, 1}, {2, 2}));
  const Variable precision(floats({0.5714286f, -0.2857143f, -0.2857143f, 1.1428571f}, {2, 2}));
  const Variable factor(floats({1.4142136f, 0, 0.3535534f, 0.9354143f}, {2, 2}));
  const D::MultivariateNormal standard(of({0, 0}), Variable(floats({1, 0, 0, 1}, {2, 2})));
  for (const D::MultivariateNormal& d :
       {D::MultivariateNormal(loc, covariance), D::MultivariateNormal(loc, {.covariance_matrix = covariance}),
        D::MultivariateNormal(loc, {.precision_matrix = precision}),
        D::MultivariateNormal(loc, {.scale_tril = factor})}) {
    check_near(d.log_prob(x), {-2.4033992, -2.9033992}, 1e-5);
    check_near(d.entropy(), {3.117685}, 1e-5);
    check_near(d.mean(), {0.5, -1});
    check_near(d.variance(), {2, 1}, 1e-5);
    check_near(d.covariance_matrix(), {2, 0.5, 0.5, 1}, 1e-5);
    check_near(D::kl_divergence(d, standard), {0.8451921}, 1e-5);
    BOOST_TEST(d.batch_shape() == Shape{});
    BOOST_TEST(d.event_shape() == (Shape{2}));
  }
  // Several means, and several matrices.
  const D::MultivariateNormal means(x, covariance),
      matrices(loc, Variable(floats({2, 0.5f, 0.5f, 1, 1, 0, 0, 1}, {2, 2, 2})));
  BOOST_TEST(means.log_prob(loc).shape() == (Shape{2}));
  BOOST_TEST(means.entropy().shape() == (Shape{2}));
  BOOST_TEST(matrices.rsample({3}).shape() == (Shape{3, 2, 2}));
  check_near(matrices.log_prob(of({0, 0})), {-2.9033992, -1.8378771 - 0.625}, 1e-5);
  BOOST_CHECK_THROW(D::MultivariateNormal(loc, D::MultivariateNormalOptions{}), catena::ValueError);
  BOOST_CHECK_THROW(D::MultivariateNormal(loc, {.covariance_matrix = covariance, .scale_tril = factor}),
                    catena::ValueError);
  BOOST_CHECK_THROW(D::MultivariateNormal(0.5, covariance), catena::ValueError);
  BOOST_CHECK_THROW(D::MultivariateNormal(of({1, 2, 3}), covariance), catena::ValueError);
  BOOST_CHECK_THROW(D::MultivariateNormal(loc, loc), catena::ValueError);
}

BOOST_AUTO_TEST_CASE(moments_of_rejected_samples) {
  check_moments(D::Gamma(of({0.5f, 3}), of({2, 0.5f})), 20000);
  check_moments(D::Beta(of({0.5f, 3}), of({2, 1.5f})), 20000);
  check_moments(D::Poisson(of({0.5f, 300})), 10000);
  check_moments(D::Poisson(of({9.5f, 10})), 10000);
  check_moments(D::Dirichlet(of({0.5f, 2})), 20000);
  check_moments(D::MultivariateNormal(of({0.5f, -1}), Variable(floats({2, 0.5f, 0.5f, 1}, {2, 2}))));
  for (const double x : autograd::to_vector<double>(D::Poisson(of({-1, 20})).sample({2}).data()))
    BOOST_TEST((std::isnan(x) || x == std::floor(x)));
  BOOST_TEST(std::isnan(autograd::to_vector<double>(D::Poisson(of({-1})).sample().data()).at(0)));
  BOOST_TEST(std::isnan(autograd::to_vector<double>(D::Gamma(-1, 1).sample().data()).at(0)));
  // Gamma numbers of small concentrations underflow.
  autograd::seed(7);
  for (const double x : autograd::to_vector<double>(D::Beta(0.001, 0.001).sample({2000}).data()))
    BOOST_TEST((x >= 0 && x <= 1));
  for (const double x : autograd::to_vector<double>(D::Dirichlet(of({0.001f, 0.001f})).sample({2000}).data()))
    BOOST_TEST((x >= 0 && x <= 1));
  autograd::seed(6);
  const Doubles z = autograd::to_vector<double>(
      D::MultivariateNormal(of({0, 0}), Variable(floats({2, 0.5f, 0.5f, 1}, {2, 2}))).sample({40000}).data());
  double product = 0;
  for (std::size_t i = 0; i < z.size(); i += 2) product += z[i] * z[i + 1];
  BOOST_TEST(std::abs(product / 40000 - 0.5) < 0.05);
}

// The derivatives of log p to the parameters, by their formulas.
BOOST_AUTO_TEST_CASE(gradients_with_gamma_functions) {
  Variable a = of({0.5f, 3}), rate = of({2, 0.5f});
  autograd::sum(D::Gamma(a, rate).log_prob(of({0.25f, 4}))).backward();
  // log(rate) + log(x) - digamma(a), a / rate - x
  check_near(Variable(a.grad()), {-0.6931472 + 1.9635100, 0.6931472 - 0.9227843}, 1e-5);
  check_near(Variable(rate.grad()), {0, 2}, 1e-5);
  Variable loc = of({0.5f, -1});
  const Variable covariance(floats({2, 0.5f, 0.5f, 1}, {2, 2}));
  autograd::sum(D::MultivariateNormal(loc, covariance).log_prob(of({1, -0.25f}))).backward();
  // The inverse of the covariance times x - loc = (0.5, 0.75).
  check_near(Variable(loc.grad()), {0.0714286, 0.7142857}, 1e-5);
  loc.cleargrad();
  autograd::sum(D::MultivariateNormal(loc, covariance).rsample({3})).backward();
  check_near(Variable(loc.grad()), {3, 3});
}

BOOST_AUTO_TEST_SUITE_END()
