// black_out, negative_sampling, the sampler, and the options of softmax_cross_entropy beyond single labels.
#include <boost/test/unit_test.hpp>
#include <cmath>

#include <catena/autograd/testing.h>
#include <catena/nn/functions/loss.h>
#include <catena/nn/walker_alias.h>
#include <catena/tests/support/framework_derivatives.h>
#include <catena/tests/support/framework_devices.h>

using namespace autograd;
using test::spread;

namespace {

using Doubles = std::vector<double>;
using Labels = std::vector<std::int32_t>;

Array labels(const Labels& t, const Shape& shape) { return array(t, shape); }

double product(const Doubles& x, std::size_t row, const Doubles& W, std::int32_t id, std::size_t d) {
  double p = 0;
  for (std::size_t k = 0; k < d; ++k) p += x[row * d + k] * W[std::size_t(id) * d + k];
  return p;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(sampling_losses)

BOOST_AUTO_TEST_CASE(black_out_by_rows) {
  // Samples that occur twice, and one that equals its label.
  const Array x = spread({3, 4}), W = spread({6, 4}, -1, 1, 3);
  const Labels t{1, 5, 0}, samples{0, 2, 2, 3, 5, 1, 4, 3, 3};
  const Doubles xs = to_vector<double>(x), ws = to_vector<double>(W);
  Doubles expected;
  for (std::size_t n = 0; n < 3; ++n) {
    const double p = product(xs, n, ws, t[n], 4);
    double z = std::exp(p), loss = 0;
    for (std::size_t s = 0; s < 3; ++s) z += std::exp(product(xs, n, ws, samples[3 * n + s], 4));
    for (std::size_t s = 0; s < 3; ++s) loss -= std::log1p(-std::exp(product(xs, n, ws, samples[3 * n + s], 4)) / z);
    expected.push_back(loss - p + std::log(z));
  }
  double mean = 0;
  for (const double l : expected) mean += l / 3;
  for (const bool averaged : {true, false}) {
    const auto f = [&](const Variables& v) {
      return Variables{nn::black_out(v[0], v[1], v[2], v[3], averaged ? "mean" : "no")};
    };
    const Arrays inputs{x, labels(t, {3}), W, labels(samples, {3, 3})};
    Variables v;
    for (const Array& a : inputs) v.push_back(Variable(a));
    BOOST_CHECK_NO_THROW(testing::assert_allclose(
        f(v)[0].data(), averaged ? array(Doubles{mean}, {}) : array(expected, {3}), 1e-12, 1e-12));
    test::check_derivatives("black_out", f, inputs, {.atol16 = 2e-3, .rtol16 = 2e-2});
  }
}

// A small share of a sample keeps its digits beside 1.
BOOST_AUTO_TEST_CASE(black_out_far_from_the_middle) {
  const auto loss = [](float label, float sample) {
    return float(nn::black_out(Variable(arrays::ones({1, 1})), Variable(labels({0}, {1})),
                               Variable(array<float>({label, sample}, {2, 1})), Variable(labels({1}, {1, 1}))));
  };
  const float share = std::exp(-30.0f);
  BOOST_TEST(loss(30, 0) >= 0.999f * share);
  BOOST_TEST(loss(30, 0) <= 2.001f * share);
  BOOST_TEST(loss(0, 5) == float(2 * std::log1p(std::exp(5.0))), boost::test_tools::tolerance(1e-4f));
}

BOOST_AUTO_TEST_CASE(negative_sampling_by_rows) {
  const Array x = spread({4, 3}), W = spread({5, 3}, -1, 1, 3);
  const Labels t{-1, 1, 2, 4}, drawn{0, 1, 4, 0, 0, 3, 0, 2, 2, 4, 4, 4};  // the first column is not used
  const Doubles xs = to_vector<double>(x), ws = to_vector<double>(W);
  Doubles expected;
  double total = 0;
  for (std::size_t n = 0; n < 4; ++n) {
    double loss = 0;
    if (t[n] >= 0) {
      loss = std::log1p(std::exp(-product(xs, n, ws, t[n], 3)));
      for (std::size_t s = 1; s < 3; ++s) loss += std::log1p(std::exp(product(xs, n, ws, drawn[3 * n + s], 3)));
    }
    expected.push_back(loss);
    total += loss;
  }
  int calls = 0;
  const nn::Sampler sampler = [&](const Shape& shape) {
    ++calls;
    BOOST_CHECK(shape == (Shape{4, 3}));
    return labels(drawn, {4, 3});
  };
  for (const bool summed : {true, false}) {
    const auto f = [&](const Variables& v) {
      return Variables{nn::negative_sampling(v[0], v[1], v[2], sampler, 2, summed ? "sum" : "no")};
    };
    const Arrays inputs{x, labels(t, {4}), W};
    calls = 0;
    BOOST_CHECK_NO_THROW(testing::assert_allclose(f({Variable(x), Variable(inputs[1]), Variable(W)})[0].data(),
                                                  summed ? array(Doubles{total}, {}) : array(expected, {4}), 1e-12,
                                                  1e-12));
    BOOST_TEST(calls == 1);
    test::check_derivatives("negative_sampling", f, inputs, {.atol16 = 2e-3, .rtol16 = 1e-2});
  }
  const auto [loss, samples] =
      nn::negative_sampling(Variable(x), Variable(labels(t, {4})), Variable(W), sampler, 2, {}, nn::return_samples);
  BOOST_TEST((to_vector<std::int32_t>(samples) == Labels{-1, 1, 4, 1, 0, 3, 2, 2, 2, 4, 4, 4}));
  BOOST_TEST(double(loss) == total, boost::test_tools::tolerance(1e-12));
}

BOOST_AUTO_TEST_CASE(negative_sampling_draws_by_an_alias_table) {
  seed(3);
  const nn::WalkerAlias alias(std::vector<int>{1, 2, 3, 4});
  Variable x(spread({2, 3})), W(spread({4, 3}, -1, 1, 3));
  Variable loss = nn::negative_sampling(x, Variable(labels({0, 3}, {2})), W, alias, 5);
  loss.backward();
  BOOST_TEST(bool(W.grad()));
  BOOST_TEST(double(loss) > 0);
}

BOOST_AUTO_TEST_CASE(errors) {
  const Variable x(arrays::ones({2, 3})), t(labels({0, 1}, {2})), W(arrays::ones({4, 3})), s(labels({0, 1}, {2, 1}));
  const nn::Sampler sampler = [](const Shape& shape) { return arrays::zeros(shape, Dtype::int32); };
  BOOST_CHECK_THROW(nn::black_out(x, t, W, s, "sums"), catena::ValueError);
  BOOST_CHECK_THROW(nn::negative_sampling(x, t, W, sampler, 1, "sums"), catena::ValueError);
  BOOST_CHECK_THROW(nn::black_out(x, x, W, s), catena::InvalidType);
  BOOST_CHECK_THROW(nn::black_out(x, t, Variable(arrays::ones({4, 2})), s), catena::InvalidType);
  BOOST_CHECK_THROW(nn::black_out(x, t, W, Variable(labels({0}, {1, 1}))), catena::InvalidType);
  BOOST_CHECK_THROW(nn::negative_sampling(x, Variable(labels({0}, {1})), W, sampler, 1), catena::InvalidType);
  BOOST_CHECK_THROW(nn::negative_sampling(x, t, Variable(arrays::ones({4, 3}, Dtype::float64)), sampler, 1),
                    catena::InvalidType);
  BOOST_CHECK_THROW(nn::negative_sampling(x, t, W, sampler, -1), catena::ValueError);
  const nn::Sampler wrong = [](const Shape&) { return arrays::zeros({2, 2}); };
  BOOST_CHECK_EXCEPTION(nn::negative_sampling(x, t, W, wrong, 1), catena::ValueError, [](const catena::Error& e) {
    return e.what() == std::string(
                           "negative_sampling: the sampler must return integers of the shape (2, 2), not "
                           "float32 of (2, 2)");
  });
  if (test::default_device().kind != Device::Kind::cpu) return;
  BOOST_CHECK_THROW(nn::black_out(x, Variable(labels({0, 4}, {2})), W, s), catena::IndexError);
  BOOST_CHECK_THROW(nn::black_out(x, t, W, Variable(labels({0, 4}, {2, 1}))), catena::IndexError);
  BOOST_CHECK_THROW(nn::negative_sampling(x, Variable(labels({0, -2}, {2})), W, sampler, 1), catena::IndexError);
}

BOOST_AUTO_TEST_CASE(alias_tables_hold_the_probabilities) {
  const std::vector<Doubles> all = {
      {1}, {5, 3, 2}, {0, 1}, {1, 1, 1, 1}, {1e-6, 1, 3, 0, 7, 7, 0.25}, {100, 1, 1, 1, 1}};
  for (const Doubles& probs : all) {
    const nn::WalkerAlias alias(probs);
    const std::size_t n = probs.size();
    const std::vector<float> threshold = to_vector<float>(alias.threshold());
    const Labels values = to_vector<std::int32_t>(alias.values());
    BOOST_REQUIRE_EQUAL(threshold.size(), n);
    BOOST_REQUIRE_EQUAL(values.size(), 2 * n);
    Doubles share(n);
    double total = 0;
    for (const double p : probs) total += p;
    for (std::size_t k = 0; k < n; ++k) {
      const double first = std::min(double(threshold[k]), 1.0);
      share[std::size_t(values[2 * k])] += first / double(n);
      share[std::size_t(values[2 * k + 1])] += (1 - first) / double(n);
    }
    for (std::size_t k = 0; k < n; ++k) BOOST_TEST(std::fabs(share[k] - probs[k] / total) < 1e-6);
  }
}

// The table of the reference, whose probabilities are float32.
BOOST_AUTO_TEST_CASE(the_alias_table_of_the_reference) {
  const nn::WalkerAlias alias({5, 3, 4, 1, 2});
  const std::vector<float> threshold = to_vector<float>(alias.threshold());
  const Doubles expected{1.0 / 3, 2.0 / 3, 1.0 / 3, 1.0 / 3, 1};
  BOOST_REQUIRE_EQUAL(threshold.size(), 5u);
  for (std::size_t k = 0; k < 5; ++k) BOOST_TEST(std::fabs(threshold[k] - expected[k]) < 1e-6);
  BOOST_TEST((to_vector<std::int32_t>(alias.values()) == Labels{3, 1, 4, 2, 1, 2, 2, 0, 0, 0}));
}

BOOST_AUTO_TEST_CASE(alias_samples_have_the_probabilities) {
  seed(17);
  const nn::WalkerAlias alias({5, 0, 3, 2});
  const Array samples = alias.sample({100, 400});
  BOOST_CHECK(samples.dtype() == Dtype::int32);
  BOOST_CHECK(samples.shape() == (Shape{100, 400}));
  BOOST_CHECK(samples.device() == test::default_device());
  BOOST_CHECK(alias.threshold().device() == test::default_device());
  Doubles count(4);
  for (const std::int32_t s : to_vector<std::int32_t>(samples)) ++count.at(std::size_t(s));
  // Six standard deviations of 40000 samples.
  const double expected[] = {0.5, 0, 0.3, 0.2};
  for (std::size_t k = 0; k < 4; ++k) BOOST_TEST(std::fabs(count[k] / 40000 - expected[k]) <= 0.015);
  seed(17);
  BOOST_TEST((to_vector<std::int32_t>(alias({100, 400})) == to_vector<std::int32_t>(samples)));
  BOOST_TEST(alias.sample({0}).size() == 0);
  if (const auto other = test::other_device()) {
    nn::WalkerAlias moved = alias;
    moved.to_device(*other);
    BOOST_CHECK(moved.sample({3}).device() == *other);
    BOOST_CHECK(alias.sample({3}).device() == test::default_device());
  }
  BOOST_CHECK_THROW(nn::WalkerAlias(Doubles{}), catena::ValueError);
  BOOST_CHECK_THROW(nn::WalkerAlias(Doubles{0, 0}), catena::ValueError);
  BOOST_CHECK_THROW(nn::WalkerAlias(Doubles{1, NAN}), catena::ValueError);
  BOOST_CHECK_EXCEPTION(nn::WalkerAlias(Doubles{1, -2}), catena::ValueError, [](const catena::Error& e) {
    return e.what() == std::string("WalkerAlias: the probability -2 is no number from 0 on");
  });
}

BOOST_AUTO_TEST_CASE(matrices_and_vectors) {
  const Array x = spread({2, 3, 4});
  BOOST_CHECK(nn::as_mat(x).shape() == (Shape{2, 12}));
  BOOST_CHECK(nn::as_vec(x).shape() == (Shape{24}));
  BOOST_CHECK(nn::as_mat(arrays::zeros({0, 3, 2})).shape() == (Shape{0, 6}));
  BOOST_CHECK(nn::as_mat(arrays::zeros({3})).shape() == (Shape{3, 1}));
  BOOST_CHECK(nn::as_vec(arrays::zeros({})).shape() == (Shape{1}));
  fill(nn::as_mat(x), 7);  // a view of contiguous memory
  BOOST_TEST(to_vector<double>(x)[23] == 7);
  BOOST_TEST((to_vector<double>(nn::as_vec(transpose(x))) == to_vector<double>(transpose(x))));
  BOOST_CHECK_THROW(nn::as_mat(arrays::zeros({})), catena::ValueError);
}

// ---- softmax_cross_entropy ----
namespace {

// -sum(q w log softmax(x)) over axis 1 of (N, C).
Doubles cross_entropies(const Doubles& x, const Doubles& q, const Doubles& w) {
  const std::size_t c = w.size();
  Doubles losses;
  for (std::size_t n = 0; n < x.size() / c; ++n) {
    double z = 0, loss = 0;
    for (std::size_t k = 0; k < c; ++k) z += std::exp(x[n * c + k]);
    for (std::size_t k = 0; k < c; ++k) loss -= q[n * c + k] * w[k] * (x[n * c + k] - std::log(z));
    losses.push_back(loss);
  }
  return losses;
}

}  // namespace

BOOST_AUTO_TEST_CASE(cross_entropy_of_probabilities_and_smoothed_labels) {
  const Array x = spread({4, 3}, -2, 2), w = array<double>({0.5, 2, 1.25}, {3});
  const Doubles xs = to_vector<double>(x), ws = to_vector<double>(w);
  const Labels t{0, 2, -1, 1};
  for (const double e : {0.0, 0.2})
    for (const bool weighted : {false, true})
      for (const bool soft : {false, true}) BOOST_TEST_CONTEXT(e << weighted << soft) {
          Doubles q = to_vector<double>(spread({4, 3}, 0.1, 0.9, 5));
          if (!soft) {
            q.assign(12, 0.0);
            for (std::size_t n = 0; n < 4; ++n)
              if (t[n] >= 0) q[3 * n + std::size_t(t[n])] = 1;
          }
          const Array target = soft ? array(q, {4, 3}) : labels(t, {4});
          for (double& v : q) v = v * (1 - e) + e / 3;
          Doubles expected = cross_entropies(xs, q, weighted ? ws : Doubles{1, 1, 1});
          if (!soft) expected[2] = 0;
          double total = 0;
          for (const double l : expected) total += l;
          for (const char* reduce : {"no", "mean", "sum"}) {
            const std::string text = reduce;
            const auto f = [&](const Variables& v) {
              return Variables{nn::softmax_cross_entropy(v[0], v[1],
                                                         {.class_weight = weighted ? astype(w, v[0].dtype()) : Array(),
                                                          .reduce = text,
                                                          .label_smoothing = e})};
            };
            const Array wanted = text == "no"    ? array(expected, {4})
                                 : text == "sum" ? array(Doubles{total}, {})
                                                 : array(Doubles{total / (soft ? 4 : 3)}, {});
            BOOST_CHECK_NO_THROW(
                testing::assert_allclose(f({Variable(x), Variable(target)})[0].data(), wanted, 1e-12, 1e-12));
            test::check_derivatives("softmax_cross_entropy", f, {x, target}, {.atol16 = 5e-3, .rtol16 = 5e-2});
          }
        }
}

BOOST_AUTO_TEST_CASE(cross_entropy_over_the_sum_of_class_weights) {
  const Array x = spread({4, 3}, -2, 2), w = array<double>({0.5, 2, 1.25}, {3}), t = labels({0, 2, -1, 1}, {4});
  const auto loss = [&](const char* reduce, bool by_weight, double e) {
    return nn::softmax_cross_entropy(
        Variable(x), Variable(t),
        {.class_weight = w, .reduce = reduce, .label_smoothing = e, .normalize_by_weight = by_weight});
  };
  for (const double e : {0.0, 0.1}) {
    const double total = double(loss("sum", false, e));
    BOOST_TEST(double(loss("mean", false, e)) == total / 3, boost::test_tools::tolerance(1e-12));
    BOOST_TEST(double(loss("mean", true, e)) == total / 3.75, boost::test_tools::tolerance(1e-12));
    test::check_derivatives(
        "softmax_cross_entropy",
        [&](const Variables& v) {
          return Variables{nn::softmax_cross_entropy(
              v[0], v[1],
              {.class_weight = astype(w, v[0].dtype()), .label_smoothing = e, .normalize_by_weight = true})};
        },
        {x, t}, {.atol16 = 5e-3, .rtol16 = 5e-2});
  }
  const Variable ignored(labels({-1, -1, -1, -1}, {4}));
  BOOST_TEST(
      double(nn::softmax_cross_entropy(Variable(x), ignored, {.class_weight = w, .normalize_by_weight = true})) == 0.0);
}

BOOST_AUTO_TEST_SUITE_END()
