// Distributions of torch.distributions: stored values and gradients of PyTorch, samples by their distribution functions
// and moments, options by name, and what is refused.
#include <catena/nn/distributions/distributions.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <type_traits>

#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/basic_math.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/operators.h>
#include <catena/nn/distributions/continuous.h>
#include <catena/nn/distributions/discrete.h>
#include <catena/nn/distributions/gamma.h>
#include <catena/nn/distributions/matrices.h>
#include <catena/nn/distributions/multivariate_normal.h>
#include <catena/nn/distributions/transforms.h>
#include <catena/tests/support/training_fixtures.h>

using namespace test;
namespace D = nn::distributions;

namespace {

using Doubles = std::vector<double>;
Variable row(std::initializer_list<float> v) { return Variable(floats(v, {std::int64_t(v.size())})); }
Doubles list(const Variable& v) { return autograd::to_vector<double>(v.data()); }

// The functions of a distribution whose first `n` inputs are parameters; `make` makes it of the inputs from `first` on.
template <class Make> void add(GoldenFunctions& table, const std::string& name, std::size_t n, Make make) {
  const auto put = [&](const char* what, auto function) {
    table[name + "." + what] = [=](const GoldenCall& c) { return Variables{function(c)}; };
  };
  const auto of = [make](const GoldenCall& c) { return make(c, 0); };
  put("log_prob", [=](const GoldenCall& c) { return of(c).log_prob(c.x(n)); });
  put("cdf", [=](const GoldenCall& c) { return of(c).cdf(c.x(n)); });
  put("icdf", [=](const GoldenCall& c) { return of(c).icdf(c.x(n)); });
  put("entropy", [=](const GoldenCall& c) { return of(c).entropy(); });
  put("mean", [=](const GoldenCall& c) { return of(c).mean(); });
  put("variance", [=](const GoldenCall& c) { return of(c).variance(); });
  put("stddev", [=](const GoldenCall& c) { return of(c).stddev(); });
  put("mode", [=](const GoldenCall& c) { return of(c).mode(); });
  using Made = std::decay_t<decltype(make(std::declval<const GoldenCall&>(), 0))>;
  if constexpr (requires(const Made& d) { kl_divergence(d, d); })
    put("kl_divergence", [=](const GoldenCall& c) { return kl_divergence(make(c, 0), make(c, n)); });
}
template <class Made> void add_of_one(GoldenFunctions& table, const std::string& name) {
  add(table, name, 1, [](const GoldenCall& c, std::size_t i) { return Made(c.x(i)); });
}
template <class Made> void add_of_two(GoldenFunctions& table, const std::string& name) {
  add(table, name, 2, [](const GoldenCall& c, std::size_t i) { return Made(c.x(i), c.x(i + 1)); });
}
template <class Made> void add_of_logits(GoldenFunctions& table, const std::string& name) {
  add(table, name, 1, [](const GoldenCall& c, std::size_t i) { return Made({.logits = c.x(i)}); });
}
void add_transform(GoldenFunctions& table, const std::string& name, const D::Transform& t) {
  table[name + "Transform.forward"] = [t](const GoldenCall& c) { return Variables{t(c.x(0))}; };
  table[name + "Transform.inverse"] = [t](const GoldenCall& c) { return Variables{t.inv(c.x(0))}; };
  table[name + "Transform.jacobian"] = [t](const GoldenCall& c) {
    return Variables{t.log_abs_det_jacobian(c.x(0), t(c.x(0)))};
  };
}
void add_numbers(GoldenFunctions& t) {
  add_of_two<D::Normal>(t, "Normal"), add_of_two<D::Laplace>(t, "Laplace"), add_of_two<D::Uniform>(t, "Uniform");
  add_of_one<D::Exponential>(t, "Exponential"), add_of_two<D::Gamma>(t, "Gamma"), add_of_two<D::Beta>(t, "Beta");
  add_of_one<D::Dirichlet>(t, "Dirichlet"), add_of_one<D::Poisson>(t, "Poisson");
  add_of_two<D::LogNormal>(t, "LogNormal"), add_of_two<D::Cauchy>(t, "Cauchy"), add_of_two<D::Gumbel>(t, "Gumbel");
  add_of_one<D::HalfNormal>(t, "HalfNormal"), add_of_one<D::HalfCauchy>(t, "HalfCauchy");
  add_of_two<D::Pareto>(t, "Pareto"), add_of_two<D::Weibull>(t, "Weibull");
  add_of_two<D::Kumaraswamy>(t, "Kumaraswamy"), add_of_one<D::ContinuousBernoulli>(t, "ContinuousBernoulli");
  add_of_two<D::VonMises>(t, "VonMises"), add_of_one<D::Chi2>(t, "Chi2");
  add_of_two<D::InverseGamma>(t, "InverseGamma"), add_of_two<D::FisherSnedecor>(t, "FisherSnedecor");
  add_of_two<D::LogisticNormal>(t, "LogisticNormal");
  add(t, "StudentT", 3, [](const GoldenCall& c, std::size_t i) { return D::StudentT(c.x(i + 2), c.x(i), c.x(i + 1)); });
  add(t, "GeneralizedPareto", 3,
      [](const GoldenCall& c, std::size_t i) { return D::GeneralizedPareto(c.x(i), c.x(i + 1), c.x(i + 2)); });
  add(t, "LowRankMultivariateNormal", 3,
      [](const GoldenCall& c, std::size_t i) { return D::LowRankMultivariateNormal(c.x(i), c.x(i + 1), c.x(i + 2)); });
  add(t, "Wishart", 2, [](const GoldenCall& c, std::size_t i) {
    const Variable& a = c.x(i + 1);
    const Variable one =
        autograd::diag_embed(Variable(autograd::arrays::full({3}, 1, a.dtype()), {.requires_grad = false}));
    return D::Wishart(c.x(i), autograd::matmul(a, a, {.transb = true}) + one);
  });
  add(t, "LKJCholesky", 1, [](const GoldenCall& c, std::size_t i) { return D::LKJCholesky(3, c.x(i)); });
}
void add_counts(GoldenFunctions& t) {
  add_of_one<D::Bernoulli>(t, "Bernoulli"), add_of_logits<D::Bernoulli>(t, "BernoulliLogits");
  add_of_one<D::Categorical>(t, "Categorical"), add_of_logits<D::Categorical>(t, "CategoricalLogits");
  add_of_one<D::Geometric>(t, "Geometric"), add_of_logits<D::Geometric>(t, "GeometricLogits");
  add_of_one<D::OneHotCategorical>(t, "OneHotCategorical"), add_of_two<D::NegativeBinomial>(t, "NegativeBinomial");
  add_of_two<D::RelaxedBernoulli>(t, "RelaxedBernoulli");
  add_of_two<D::RelaxedOneHotCategorical>(t, "RelaxedOneHotCategorical");
  add(t, "RelaxedBernoulliLogits", 2,
      [](const GoldenCall& c, std::size_t i) { return D::RelaxedBernoulli(c.x(i), {.logits = c.x(i + 1)}); });
  add(t, "Binomial", 1, [](const GoldenCall& c, std::size_t i) { return D::Binomial(7, c.x(i)); });
  add(t, "BinomialLogits", 1, [](const GoldenCall& c, std::size_t i) { return D::Binomial(7, {.logits = c.x(i)}); });
  add(t, "Multinomial", 1, [](const GoldenCall& c, std::size_t i) { return D::Multinomial(5, c.x(i)); });
  add(t, "MultinomialLogits", 1,
      [](const GoldenCall& c, std::size_t i) { return D::Multinomial({.total_count = 5, .logits = c.x(i)}); });
}
void add_composed(GoldenFunctions& t) {
  add(t, "Squashed", 2, [](const GoldenCall& c, std::size_t i) {
    return D::TransformedDistribution(D::Normal(c.x(i), c.x(i + 1)), {D::AffineTransform(0.5, -2), D::TanhTransform()});
  });
  add(t, "Mixture", 3, [](const GoldenCall& c, std::size_t i) {
    return D::MixtureSameFamily(D::Categorical({.logits = c.x(i)}), D::Normal(c.x(i + 1), c.x(i + 2)));
  });
  add(t, "VectorMixture", 2, [](const GoldenCall& c, std::size_t i) {
    return D::MixtureSameFamily(D::Categorical({.logits = c.x(i)}), D::Independent(D::Laplace(c.x(i + 1), 1), 1));
  });
}
void add_transforms(GoldenFunctions& t) {
  add_transform(t, "Affine", D::AffineTransform(0.5, row({2, -1, 0.5f})));
  add_transform(t, "AffineEvent", D::AffineTransform({.loc = 0.5, .scale = -2, .event_dim = 1}));
  add_transform(t, "Exp", D::ExpTransform()), add_transform(t, "Sigmoid", D::SigmoidTransform());
  add_transform(t, "Tanh", D::TanhTransform()), add_transform(t, "Softplus", D::SoftplusTransform());
  add_transform(t, "Power", D::PowerTransform(1.5)), add_transform(t, "Abs", D::AbsTransform());
  add_transform(t, "StickBreaking", D::StickBreakingTransform()), add_transform(t, "Softmax", D::SoftmaxTransform());
  add_transform(t, "CorrCholesky", D::CorrCholeskyTransform());
  add_transform(t, "LowerCholesky", D::LowerCholeskyTransform());
  add_transform(t, "PositiveDefinite", D::PositiveDefiniteTransform());
  add_transform(t, "Compose", D::ComposeTransform({D::AffineTransform(0.25, 0.5), D::StickBreakingTransform()}));
  add_transform(t, "ComposeInverse", D::ComposeTransform({D::ExpTransform(), D::PowerTransform(2)}).inv());
  add_transform(t, "Independent", D::IndependentTransform(D::TanhTransform(), 1));
  add_transform(t, "Reshape", D::ReshapeTransform({3}, {3, 1}));
  add_transform(t, "Stack", D::StackTransform({D::ExpTransform(), D::AffineTransform(1, 2), D::TanhTransform()}, 1));
  add_transform(t, "Cat", D::CatTransform({D::ExpTransform(), D::TanhTransform()}, 1, {2, 1}));
  const auto cumulative = [](const GoldenCall& c) {
    return D::CumulativeDistributionTransform(D::Normal(Variable(autograd::arrays::full({}, 0.5, c.x(0).dtype())), 2));
  };
  t["CumulativeTransform.forward"] = [=](const GoldenCall& c) { return Variables{cumulative(c)(c.x(0))}; };
  t["CumulativeTransform.inverse"] = [=](const GoldenCall& c) { return Variables{cumulative(c).inv(c.x(0))}; };
  t["CumulativeTransform.jacobian"] = [=](const GoldenCall& c) {
    return Variables{cumulative(c).log_abs_det_jacobian(c.x(0), c.x(0))};
  };
}

// The largest distance of the distribution function of many samples from cdf, of all elements of a distribution of
// numbers. By Kolmogorov and Smirnov it is above 2.2 / sqrt(n) with a probability of 10^-4.
void check_samples(const D::Distribution& d, std::int64_t n = 2000) {
  autograd::seed(11);
  const Variable x = d.sample({n});
  Doubles p = list(d.cdf(x));
  const std::size_t elements = p.size() / std::size_t(n);
  for (std::size_t k = 0; k < elements; ++k) {
    Doubles one;
    for (std::size_t i = k; i < p.size(); i += elements) one.push_back(p[i]);
    std::sort(one.begin(), one.end());
    double distance = 0;
    for (std::size_t i = 0; i < one.size(); ++i)
      distance = std::max({distance, one[i] - double(i) / double(n), double(i + 1) / double(n) - one[i]});
    BOOST_TEST(distance < 2.2 / std::sqrt(double(n)), "element " << k << ": " << distance);
  }
}
// The means and variances of many samples, of all elements.
void check_moments(const D::Distribution& d, std::int64_t n = 8000) {
  autograd::seed(12);
  const Doubles x = list(d.sample({n})), mean = list(d.mean()), variance = list(d.variance());
  BOOST_TEST(x.size() == mean.size() * std::size_t(n));
  for (std::size_t k = 0; k < mean.size(); ++k) {
    double sum = 0, squares = 0;
    for (std::size_t i = k; i < x.size(); i += mean.size()) sum += x[i], squares += std::pow(x[i] - mean[k], 2);
    BOOST_TEST(std::abs(sum / double(n) - mean[k]) < 6 * std::sqrt(variance[k] / double(n)), "mean " << k);
    BOOST_TEST(std::abs(squares / double(n) / variance[k] - 1) < 0.12, "variance " << k);
  }
}
void check_near(const Variable& found, const Doubles& expected, double tolerance = 1e-5) {
  const Doubles values = list(found);
  BOOST_TEST(values.size() == expected.size());
  for (std::size_t i = 0; i < std::min(values.size(), expected.size()); ++i)
    BOOST_TEST((values[i] == expected[i] || std::abs(values[i] - expected[i]) <= tolerance),
               i << ": " << values[i] << ", not " << expected[i]);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(torch_distributions)

BOOST_AUTO_TEST_CASE(values_and_gradients_of_torch) {
  GoldenFunctions table;
  add_numbers(table), add_counts(table), add_composed(table), add_transforms(table);
  GoldenOptions options;
  options.once_only = {"Wishart.log_prob"};  // cholesky reads one triangle alone
  run_golden("torch_distributions", table, options);
}

BOOST_AUTO_TEST_CASE(samples_have_the_distribution_function) {
  const Variable loc = row({0.5f, -1}), scale = row({2, 0.5f});
  check_samples(D::Normal(loc, scale)), check_samples(D::Laplace(loc, scale)), check_samples(D::Uniform(loc, 3));
  check_samples(D::Exponential(scale)), check_samples(D::LogNormal(loc, scale)), check_samples(D::Cauchy(loc, scale));
  check_samples(D::Gumbel(loc, scale)), check_samples(D::HalfNormal(scale)), check_samples(D::HalfCauchy(scale));
  check_samples(D::Pareto(scale, 2)), check_samples(D::GeneralizedPareto(loc, scale, row({0, -0.5f})));
  check_samples(D::GeneralizedPareto(loc, scale, 0.5)), check_samples(D::Weibull(scale, row({0.5f, 2})));
  check_samples(D::Kumaraswamy(scale, 2)), check_samples(D::ContinuousBernoulli(row({0.2f, 0.5f, 0.9f})));
  check_samples(D::Gamma(row({0.3f, 4}), scale)), check_samples(D::Chi2(row({1, 5})));
  check_samples(D::InverseGamma(row({1.5f, 3}), scale));
  check_samples(D::TransformedDistribution(D::Normal(loc, scale), {D::AffineTransform(1, -2), D::SigmoidTransform()}));
  check_samples(D::MixtureSameFamily(D::Categorical(row({0.3f, 0.7f})), D::Normal(loc, scale)));
}

BOOST_AUTO_TEST_CASE(samples_have_the_moments) {
  check_moments(D::StudentT(row({8, 12}), 0.5, row({2, 0.5f})), 16000);
  check_moments(D::FisherSnedecor(row({3, 6}), row({14, 20})), 16000);
  check_moments(D::Geometric(row({0.25f, 0.9f})));
  check_moments(D::Binomial(row({5, 16, 17, 300, 1000}), row({0.25f, 0.9f, 0.5f, 0.5f, 0.02f})), 1500);
  check_moments(D::NegativeBinomial(row({2, 4.5f}), row({0.25f, 0.6f})), 16000);
  check_moments(D::Multinomial(6, row({0.2f, 0.5f, 0.3f})));
  check_moments(D::OneHotCategorical(row({0.2f, 0.5f, 0.3f})));
  const Variable covariance(floats({2, 0.5f, 0.5f, 1}, {2, 2}));
  check_moments(D::Wishart(4.5, covariance));
  check_moments(D::LowRankMultivariateNormal(row({0.5f, -1}), Variable(floats({1, 0.5f}, {2, 1})), row({0.5f, 2})));
  check_moments(D::MixtureSameFamily(D::Categorical(row({0.3f, 0.7f})),
                                     D::Independent(D::Normal(Variable(floats({0, 1, 2, 3}, {2, 2})), 0.5), 1)));
  // Angles: the mean of cos(x - loc) is 1 - variance, also across pi; for a concentration of 0 they are even.
  autograd::seed(13);
  const D::VonMises angles(row({0.5f, 3, 1}), row({2, 0.5f, 0}));
  const Variable x = angles.sample({8000});
  const Doubles cosines = list(autograd::cos(x - angles.loc).mean(0)), spread = list(angles.variance());
  for (std::size_t k = 0; k < 2; ++k) BOOST_TEST(std::abs(cosines[k] + spread[k] - 1) < 0.03);
  BOOST_TEST(std::abs(cosines[2]) < 0.03);
  for (const double angle : list(x)) BOOST_TEST((angle >= -3.1415930 && angle <= 3.1415930));
  // Correlations of matrices of LKJ are those of 2 Beta(c + (dim - 2) / 2, ...) - 1.
  const Variable factor = D::LKJCholesky(3, 1.5).sample({8000});
  const Doubles correlations = list(autograd::matmul(factor, factor, {.transb = true}));
  for (const std::size_t k : {1u, 2u, 5u}) {
    double sum = 0, squares = 0;
    for (std::size_t i = k; i < correlations.size(); i += 9)
      sum += correlations[i], squares += correlations[i] * correlations[i];
    BOOST_TEST(std::abs(sum / 8000) < 0.02);
    BOOST_TEST(std::abs(squares / 8000 - 1.0 / 5) < 0.02);  // 1 / (2 a + 1) for a = c + 1 / 2
  }
  // Samples of vectors of probabilities.
  for (const Variable& p : {D::LogisticNormal(row({0.5f, -1}), 1).sample({50}),
                            D::RelaxedOneHotCategorical(0.5, row({1, 2, 3})).sample({50})})
    for (const double sum : list(autograd::sum(p, 1))) BOOST_TEST(std::abs(sum - 1) < 1e-5);
}

// Mean derivatives of samples are derivatives of moments.
BOOST_AUTO_TEST_CASE(derivatives_of_samples) {
  autograd::seed(14);
  const std::int64_t n = 8000;
  for (const double a : {0.3, 1.0, 7.0, 200.0}) {
    Variable concentration(autograd::arrays::full({}, a, Dtype::float64));
    const Variable x = D::Gamma(concentration, 2).rsample({n});
    x.mean().backward();
    BOOST_TEST(std::abs(list(Variable(concentration.grad()))[0] * 2 - 1) < 0.05);  // (a / 2)' = 1 / 2
    concentration.cleargrad();
    autograd::log(x).mean().backward();
    double trigamma = 0;
    for (int k = 0; k < 200000; ++k) trigamma += 1 / ((a + k) * (a + k));
    BOOST_TEST(std::abs(list(Variable(concentration.grad()))[0] / (trigamma + 1 / (a + 200000)) - 1) < 0.05);
  }
  Variable a = row({0.5f, 2}), b = row({1.5f, 3});
  autograd::sum(D::Beta(a, b).rsample({n}).mean(0)).backward();
  check_near(Variable(a.grad()), {1.5 / 4, 3.0 / 25}, 0.01);
  check_near(Variable(b.grad()), {-0.5 / 4, -2.0 / 25}, 0.01);
  Variable loc = row({0.5f, -1}), df = row({8, 12});
  autograd::sum(D::StudentT(df, loc, 2).rsample({3})).backward();
  check_near(Variable(loc.grad()), {3, 3});
  Variable probs = row({0.2f, 0.3f, 0.5f});
  const D::OneHotCategoricalStraightThrough through(probs);
  const Variable one = through.rsample({4});
  for (const double sum : list(autograd::sum(one, 1))) BOOST_TEST(std::abs(sum - 1) < 1e-6);
  autograd::sum(one * row({1, 2, 3})).backward();
  // of 4 (p . w) / sum(p): 4 (w - 2.3)
  check_near(Variable(probs.grad()), {4 * -1.3, 4 * -0.3, 4 * 0.7}, 1e-4);
  BOOST_CHECK_THROW(D::OneHotCategorical(probs).rsample(), catena::NotImplementedError);
  BOOST_CHECK_THROW(D::Binomial(3, 0.5).rsample(), catena::NotImplementedError);
}

BOOST_AUTO_TEST_CASE(options_by_name) {
  check_near(D::StudentT({.df = 3, .loc = 0.5, .scale = 2, .validate_args = false}).mean(), {0.5});
  check_near(D::StudentT(3).log_prob(0.5), list(D::StudentT(3, 0, 1, {.validate_args = false}).log_prob(0.5)));
  check_near(D::Normal(0, 1, {.validate_args = false}).icdf(0.5), {0});
  check_near(D::LogNormal({.loc = 0, .scale = 1}).mode(), {std::exp(-1.0)});
  check_near(D::Gumbel({.loc = 1, .scale = 2}).mode(), {1});
  check_near(D::Cauchy({.loc = 1, .scale = 2}).icdf(0.75), {3});
  check_near(D::HalfNormal({.scale = 2}).mode(), {0}), check_near(D::HalfCauchy({.scale = 2}).cdf(2), {0.5});
  check_near(D::Exponential({.rate = 2}).mean(), {0.5}), check_near(D::Chi2({.df = 3}).df, {3});
  check_near(D::Pareto({.scale = 1, .alpha = 3}).mean(), {1.5});
  check_near(D::GeneralizedPareto({.loc = 1, .scale = 2, .concentration = 0.5}).mean(), {5});
  check_near(D::Weibull({.scale = 2, .concentration = 1}).mean(), {2});
  check_near(D::Kumaraswamy({.concentration1 = 1, .concentration0 = 1}).mean(), {0.5});
  check_near(D::ContinuousBernoulli({.probs = 0.5}).mean(), {0.5});
  check_near(D::VonMises({.loc = 1, .concentration = 2}).mean(), {1});
  check_near(D::InverseGamma({.concentration = 3, .rate = 2}).mean(), {1});
  check_near(D::FisherSnedecor({.df1 = 3, .df2 = 4}).mean(), {2});
  check_near(D::Binomial({.total_count = 4, .probs = 0.5}).mean(), {2});
  check_near(D::NegativeBinomial({.total_count = 4, .logits = 0}).mean(), {4});
  check_near(D::Geometric({.logits = 0}).mean(), {1});
  check_near(D::RelaxedBernoulli({.temperature = 1, .probs = 0.5}).log_prob(0.25), {0});
  BOOST_TEST(D::RelaxedOneHotCategorical({.temperature = 1, .logits = row({0, 1})}).rsample({3}).shape() ==
             (Shape{3, 2}));
  check_near(D::LowRankMultivariateNormal(
                 {.loc = row({0, 0}), .cov_factor = Variable(floats({1, 1}, {2, 1})), .cov_diag = row({1, 2})})
                 .covariance_matrix(),
             {2, 1, 1, 3});
  BOOST_TEST(D::LKJCholesky({.dim = 3, .concentration = 2}).event_shape() == (Shape{3, 3}));
  BOOST_TEST(D::LogisticNormal({.loc = row({0, 0}), .scale = 1}).event_shape() == (Shape{3}));
  check_near(D::Wishart(4, {.scale_tril = Variable(floats({1, 0, 0, 2}, {2, 2}))}).mode(), {1, 0, 0, 4});
}

BOOST_AUTO_TEST_CASE(values_at_edges) {
  const double inf = std::numeric_limits<double>::infinity();
  check_near(D::Pareto(2, row({1, 2})).log_prob(1), {-inf, -inf});
  check_near(D::Pareto(1, row({1, 2})).mean(), {inf, 2}), check_near(D::Pareto(1, row({1, 2})).variance(), {inf, inf});
  check_near(D::HalfNormal(1).log_prob(row({-1, 0})), {-inf, -0.2257914});
  check_near(D::StudentT(row({1.5f, 2})).variance(), {inf, inf});
  BOOST_TEST(std::isnan(list(D::StudentT(1).mean())[0]));
  BOOST_TEST(std::isnan(list(D::Bernoulli(0.5).mode())[0]));
  check_near(D::Kumaraswamy(2, 3).mode(), {std::sqrt(0.2)});  // ((a - 1) / (a b - 1))^(1 / a)
  check_near(D::GeneralizedPareto(0, 1, row({0, -0.5f})).log_prob(3), {-3, -inf});
  check_near(D::Uniform(0, 1).cdf(row({-1, 0.25f, 2})), {0, 0.25, 1});
  check_near(D::kl_divergence(D::Uniform(0, 1), D::Uniform(-1, row({1, 0.5f}))), {0.6931472, inf});
  check_near(D::kl_divergence(D::Pareto(1, 2), D::Pareto(row({0.5f, 2}), 2)), {2 * 0.6931472, inf});
  check_near(D::kl_divergence(D::InverseGamma(2, 1), D::InverseGamma(2, 1)), {0});
  check_near(D::Gamma(2, 1).cdf(row({-1, 0, 1})), {0, 0, 1 - 2 / std::exp(1.0)});
  check_near(D::Binomial(3, 0.5).enumerate_support(), {0, 1, 2, 3});
  BOOST_TEST(D::Bernoulli(row({0.1f, 0.2f, 0.3f})).enumerate_support().shape() == (Shape{2, 3}));
  BOOST_TEST(D::Categorical(row({1, 2, 3})).enumerate_support().dtype() == Dtype::int64);
  check_near(D::OneHotCategorical(row({1, 2})).enumerate_support(), {1, 0, 0, 1});
  check_near(D::Multinomial(3, {.logits = row({0, -float(inf), 0})}).log_prob(row({1, 0, 2})), {std::log(3.0 / 8)});
  check_near(D::Normal(0, 1).perplexity(), {std::exp(1.4189385)});
  check_near(D::kl_divergence(D::Binomial(3, 0.5), D::Binomial(2, 0.5)), {inf});
  BOOST_CHECK_THROW(D::kl_divergence(D::Binomial(2, 0.5), D::Binomial(3, 0.5)), catena::NotImplementedError);
  BOOST_CHECK_THROW(D::Binomial(row({2, 3}), 0.5).entropy(), catena::NotImplementedError);
}

BOOST_AUTO_TEST_CASE(shapes_and_refusals) {
  const Variable loc = row({0, 1, 2});
  const auto expanded = [](const auto& d) { return d.expand({4, 3}).sample({2}).shape(); };
  BOOST_TEST(expanded(D::Normal(loc, 1)) == (Shape{2, 4, 3}));
  BOOST_TEST(expanded(D::StudentT(3, loc)) == (Shape{2, 4, 3}));
  BOOST_TEST(expanded(D::Binomial(4, 0.5)) == (Shape{2, 4, 3}));
  BOOST_TEST(expanded(D::Multinomial(4, row({1, 1}))) == (Shape{2, 4, 3, 2}));
  BOOST_TEST(expanded(D::OneHotCategoricalStraightThrough(row({1, 1}))) == (Shape{2, 4, 3, 2}));
  BOOST_TEST(expanded(D::Independent(D::Normal(loc, 1), 1)) == (Shape{2, 4, 3, 3}));
  BOOST_TEST(expanded(D::TransformedDistribution(D::Normal(loc, 1), D::ExpTransform())) == (Shape{2, 4, 3}));
  BOOST_TEST(expanded(D::LogisticNormal(loc, 1)) == (Shape{2, 4, 3, 4}));
  BOOST_TEST(expanded(D::Wishart(4, Variable(floats({1, 0, 0, 1}, {2, 2})))) == (Shape{2, 4, 3, 2, 2}));
  BOOST_TEST(expanded(D::LKJCholesky(2, 1)) == (Shape{2, 4, 3, 2, 2}));
  BOOST_TEST(expanded(D::MixtureSameFamily(D::Categorical(row({1, 1})), D::Normal(row({0, 1}), 1))) ==
             (Shape{2, 4, 3}));
  // A transform with parameters widens the base, whose samples then differ.
  const D::TransformedDistribution wide(D::Normal(0, 1), {D::AffineTransform(loc, 1)});
  BOOST_TEST(wide.batch_shape() == (Shape{3}));
  BOOST_TEST(wide.base_dist().batch_shape() == (Shape{3}));
  const D::Independent<D::Normal> vector(D::Normal(autograd::arrays::zeros({2, 3}), 1), 1);
  BOOST_TEST(vector.batch_shape() == (Shape{2}));
  BOOST_TEST(vector.event_shape() == (Shape{3}));
  const D::Transform cube({.forward = [](const Variable& x) { return x * x * x; }});
  check_near(cube(loc), {0, 1, 8});
  BOOST_CHECK_THROW(cube.inv(loc), catena::NotImplementedError);
  BOOST_CHECK_THROW(D::AbsTransform().log_abs_det_jacobian(loc, loc), catena::NotImplementedError);
  BOOST_CHECK_THROW(D::ReshapeTransform({3}, {2}), catena::ValueError);
  BOOST_CHECK_THROW(D::ReshapeTransform({4}, {2, 2})(loc), catena::ValueError);
  BOOST_CHECK_THROW(D::StackTransform({D::ExpTransform()}, 0)(loc), catena::ValueError);
  BOOST_CHECK_THROW(D::CorrCholeskyTransform()(row({1, 2})), catena::ValueError);
  BOOST_CHECK_THROW(wide.entropy(), catena::NotImplementedError);
  BOOST_CHECK_THROW(D::MixtureSameFamily(D::Categorical(row({1, 1})), D::Normal(loc, 1)), catena::ValueError);
  BOOST_CHECK_THROW(D::Binomial(3, D::ProbsOptions{}), catena::ValueError);
  BOOST_CHECK_THROW(D::Multinomial(-1, loc), catena::ValueError);
  BOOST_CHECK_THROW(D::LKJCholesky(1), catena::ValueError);
  BOOST_CHECK_THROW(D::LowRankMultivariateNormal(loc, loc, loc), catena::ValueError);
  BOOST_CHECK_THROW(D::Wishart(3, D::MultivariateNormalOptions{}), catena::ValueError);
  BOOST_CHECK_THROW(D::VonMises(0, 1).entropy(), catena::NotImplementedError);
}

BOOST_AUTO_TEST_SUITE_END()
