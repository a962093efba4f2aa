// Accuracy, scores of classes, and the coefficient of determination.
#include <catena/nn/functions/evaluation.h>

#include <boost/test/unit_test.hpp>
#include <cmath>

#include <catena/tests/support/framework_devices.h>
#include <catena/tests/support/framework_golden.h>

using namespace autograd;

namespace {

double accuracy_of(const Array& y, const Array& t, std::optional<int> ignore = {}) {
  return item(nn::accuracy(Variable(y), Variable(t), ignore).data()).to_double();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(evaluation)

BOOST_AUTO_TEST_CASE(fraction_of_hits) {
  const Array y = array<float>({0.1f, 0.9f, 0.8f, 0.2f, 0.5f, 0.5f, 0.3f, 0.7f}, {4, 2});
  const Array t = array<std::int32_t>({1, 1, 0, 1}, {4});  // the first of equal maxima counts
  BOOST_TEST(accuracy_of(y, t) == 0.75);
  BOOST_TEST(accuracy_of(y, t, 1) == 1.0);
  BOOST_TEST(nn::accuracy(Variable(y), Variable(t), {.ignore_label = 1}).item() == 1.0);
  BOOST_TEST(nn::accuracy(Variable(y), Variable(t), {}).item() == 0.75);
  BOOST_TEST(accuracy_of(y, array<std::int32_t>({5, 5, 5, 5}, {4}), 5) == 0.0);
  BOOST_TEST(accuracy_of(astype(y, Dtype::float16), t) == 0.75);
  BOOST_CHECK(nn::accuracy(Variable(astype(y, Dtype::float16)), Variable(t)).dtype() == Dtype::float16);
}

BOOST_AUTO_TEST_CASE(labels_of_any_integer_dtype) {
  const Array y = array<float>({0.1f, 0.9f, 0.8f, 0.2f, 0.4f, 0.6f, 0.3f, 0.7f}, {4, 2});
  const Array t = array<std::int32_t>({1, 1, 0, 1}, {4});
  for (const Dtype d :
       {Dtype::int8, Dtype::uint8, Dtype::int16, Dtype::uint16, Dtype::uint32, Dtype::int64, Dtype::uint64}) {
    BOOST_TEST(accuracy_of(y, astype(t, d)) == 0.5);
    BOOST_TEST(accuracy_of(y, astype(t, d), 0) == 2.0 / 3, boost::test_tools::tolerance(1e-6));
    BOOST_TEST(accuracy_of(y, astype(t, d), -1) == 0.5);  // no label of an unsigned dtype is ignored
  }
}

BOOST_AUTO_TEST_CASE(several_labels_per_sample) {
  const Array y = array<double>({1, 0, 0, 1, 0, 1, 1, 0}, {2, 2, 2});  // argmax over axis 1: {0, 1} and {1, 0}
  BOOST_TEST(accuracy_of(y, array<std::int32_t>({0, 1, 0, 0}, {2, 2})) == 0.75);
}

BOOST_AUTO_TEST_CASE(has_no_gradient) {
  Variable y(arrays::ones({2, 3}));
  const Variable a = nn::accuracy(y, Variable(array<std::int32_t>({0, 1}, {2})));
  Variable loss = a;
  loss.backward();
  BOOST_TEST(!y.grad());
}

BOOST_AUTO_TEST_CASE(errors) {
  const Variable y(arrays::ones({2, 3}));
  BOOST_CHECK_EXCEPTION(nn::accuracy(y, Variable(arrays::ones({2}))), catena::InvalidType, [](const catena::Error& e) {
    return std::string(e.what()).find("\nt is float32: t.astype(int32)\n") != std::string::npos;
  });
  BOOST_CHECK_THROW(nn::accuracy(y, Variable(array<std::int32_t>({0, 1, 2}, {3}))), catena::InvalidType);
  BOOST_CHECK_THROW(nn::accuracy(Variable(arrays::ones({2, 3, 2})), Variable(array<std::int32_t>({0, 1}, {2}))),
                    catena::InvalidType);
}

// No class is negative: losses mark so what they ignore, and accuracy counts it as a miss, as the reference does.
BOOST_AUTO_TEST_CASE(labels_that_are_no_classes) {
  const Array y = array<float>({0.1f, 0.9f, 0.8f, 0.2f}, {2, 2});
  BOOST_TEST(accuracy_of(y, array<std::int32_t>({1, -1}, {2})) == 0.5);
  const Array outside = array<std::int32_t>({1, 2}, {2});
  BOOST_TEST(accuracy_of(y, outside, 2) == 1.0);
  if (test::default_device().kind == Device::Kind::cpu) {
    BOOST_CHECK_EXCEPTION(accuracy_of(y, outside), catena::IndexError, [](const catena::Error& e) {
      return e.what() == std::string("accuracy: the label 2 is not one of 2 classes");
    });
    BOOST_CHECK_THROW(accuracy_of(y, outside, -1), catena::IndexError);
  } else {
    BOOST_TEST(accuracy_of(y, outside) == 0.5);
    const DebugMode debug(true);
    BOOST_CHECK_THROW(accuracy_of(y, outside), catena::ValueError);
  }
}

BOOST_AUTO_TEST_CASE(binary_accuracy_counts_signs) {
  const Array y = array<double>({0.5, -1, 0, -2, 3, -0.1}, {2, 3}),
              t = array<std::int32_t>({1, 0, 1, 1, -1, -1}, {2, 3});
  const auto of = [](const Array& scores, const Array& labels) {
    return item(nn::binary_accuracy(Variable(scores), Variable(labels)).data()).to_double();
  };
  BOOST_TEST(of(y, t) == 0.75);
  BOOST_TEST(of(y, astype(t, Dtype::int64)) == 0.75);
  BOOST_TEST(of(y, arrays::full({2, 3}, -1, Dtype::int32)) == 0.0);
  BOOST_TEST(of(arrays::zeros({0}), arrays::zeros({0}, Dtype::int32)) == 0.0);
  BOOST_TEST(of(arrays::zeros({}), arrays::ones({}, Dtype::int32)) == 1.0);
  BOOST_CHECK(nn::binary_accuracy(Variable(astype(y, Dtype::float16)), Variable(t)).dtype() == Dtype::float16);
  // 3000 hits are more than float16 can count one by one.
  BOOST_TEST(of(arrays::ones({3000}, Dtype::float16), arrays::ones({3000}, Dtype::int32)) == 1.0);
  BOOST_CHECK_THROW(nn::binary_accuracy(Variable(y), Variable(y)), catena::InvalidType);
  BOOST_CHECK_THROW(nn::binary_accuracy(Variable(y), Variable(arrays::zeros({3, 2}, Dtype::int32))),
                    catena::InvalidType);
}

namespace {

struct Scores {
  std::vector<double> precision, recall, fbeta;
  std::vector<std::int64_t> support;
};
Scores naive_scores(const std::vector<int>& predicted, const std::vector<int>& t, int classes, double beta,
                    int ignore) {
  Scores s;
  for (int c = 0; c < classes; ++c) {
    double hits = 0, relevant = 0, support = 0;
    for (std::size_t i = 0; i < t.size(); ++i) {
      if (t[i] == ignore) continue;
      hits += predicted[i] == c && t[i] == c;
      relevant += predicted[i] == c;
      support += t[i] == c;
    }
    const double p = hits / relevant, r = hits / support;
    s.precision.push_back(p);
    s.recall.push_back(r);
    s.fbeta.push_back((1 + beta * beta) * p * r / (beta * beta * p + r));
    s.support.push_back(std::int64_t(support));
  }
  return s;
}

void check_equal(const Variable& actual, const std::vector<double>& expected) {
  const std::vector<double> a = to_vector<double>(actual.data());
  BOOST_REQUIRE_EQUAL(a.size(), expected.size());
  for (std::size_t k = 0; k < a.size(); ++k)
    BOOST_TEST((std::isnan(expected[k]) ? std::isnan(a[k]) : std::fabs(a[k] - expected[k]) < 1e-12), k << ": " << a[k]);
}

}  // namespace

BOOST_AUTO_TEST_CASE(scores_of_classes) {
  const std::vector<int> predicted{0, 1, 2, 2, 1, 0, 3}, t{0, 2, 2, 1, 1, -1, 0};
  std::vector<double> scores(7 * 5);
  for (std::size_t i = 0; i < 7; ++i) scores[5 * i + std::size_t(predicted[i])] = 1;
  const Variable y(array(scores, {7, 5})), labels(array(std::vector<std::int32_t>(t.begin(), t.end()), {7}));
  for (const int classes : {3, 4, 6})
    for (const double beta : {1.0, 0.5, 2.0})
      for (const int ignore : {-1, 0, 9}) BOOST_TEST_CONTEXT(classes << " " << beta << " " << ignore) {
          const Scores expected = naive_scores(predicted, t, classes, beta, ignore);
          const auto s =
              nn::classification_summary(y, labels, {.label_num = classes, .beta = beta, .ignore_label = ignore});
          check_equal(s.precision, expected.precision);
          check_equal(s.recall, expected.recall);
          check_equal(s.fbeta, expected.fbeta);
          BOOST_CHECK(s.support.dtype() == Dtype::int64);
          BOOST_TEST((to_vector<std::int64_t>(s.support.data()) == expected.support));
          check_equal(nn::precision(y, labels, classes, ignore).score, expected.precision);
          check_equal(nn::recall(y, labels, classes, ignore).score, expected.recall);
          check_equal(nn::fbeta_score(y, labels, classes, beta, ignore).score, expected.fbeta);
          if (beta == 1) check_equal(nn::f1_score(y, labels, classes, ignore).score, expected.fbeta);
          BOOST_TEST(
              (to_vector<std::int64_t>(nn::f1_score(y, labels, classes, ignore).support.data()) == expected.support));
        }
  // Without a number of classes it is that of the labels.
  check_equal(nn::recall(y, labels).score, naive_scores(predicted, t, 3, 1, -1).recall);
  check_equal(nn::precision(Variable(astype(y.data(), Dtype::float16)), labels).score,
              naive_scores(predicted, t, 3, 1, -1).precision);
  const auto none = nn::classification_summary(Variable(arrays::zeros({0, 3})),
                                               Variable(arrays::zeros({0}, Dtype::int32)), {.label_num = 2});
  BOOST_TEST((to_vector<std::int64_t>(none.support.data()) == std::vector<std::int64_t>{0, 0}));
  check_equal(none.recall, {NAN, NAN});
}

BOOST_AUTO_TEST_CASE(scores_of_classes_errors) {
  const Variable y(arrays::ones({2, 3})), t(array<std::int32_t>({0, 2}, {2}));
  BOOST_CHECK_THROW(nn::classification_summary(y, y), catena::InvalidType);
  BOOST_CHECK_THROW(nn::precision(y, Variable(array<std::int32_t>({0, 1, 2}, {3}))), catena::InvalidType);
  BOOST_CHECK_THROW(nn::recall(y, t, 0), catena::ValueError);
  BOOST_CHECK_THROW(nn::f1_score(Variable(arrays::zeros({0, 3})), Variable(arrays::zeros({0}, Dtype::int32))),
                    catena::ValueError);
  const DebugMode debug(true);
  BOOST_CHECK_EXCEPTION(
      nn::classification_summary(y, t, {.label_num = 2}), catena::AssertionError, [](const catena::Error& e) {
        return e.what() == std::string("classification_summary: the label 2 is not less than label_num, 2");
      });
  const Variable right(array<float>({1, 0, 0, 0, 1, 0, 0, 0, 1}, {3, 3})), all(array<std::int32_t>({0, 1, 2}, {3}));
  BOOST_CHECK_NO_THROW(nn::classification_summary(right, all, {.label_num = 3}));
}

BOOST_AUTO_TEST_CASE(r2_score_by_columns) {
  // The second column does not vary: its score is 0.
  const Array truth = array<double>({1, 2, 0.5, 3, 2, -1, -2, 2, 4}, {3, 3}),
              pred = array<double>({1.5, 1, 0.25, 2, 2.5, -0.5, -1, 2, 3}, {3, 3});
  const std::vector<double> t = to_vector<double>(truth), p = to_vector<double>(pred);
  std::vector<double> expected;
  for (std::size_t c = 0; c < 3; ++c) {
    double mean = 0, error = 0, variance = 0;
    for (std::size_t i = 0; i < 3; ++i) mean += t[3 * i + c] / 3;
    for (std::size_t i = 0; i < 3; ++i) {
      error += (p[3 * i + c] - t[3 * i + c]) * (p[3 * i + c] - t[3 * i + c]);
      variance += (t[3 * i + c] - mean) * (t[3 * i + c] - mean);
    }
    expected.push_back(variance == 0 ? 0 : 1 - error / variance);
  }
  check_equal(nn::r2_score(Variable(pred), Variable(truth), {.multioutput = "raw_values"}), expected);
  BOOST_TEST(double(nn::r2_score(Variable(pred), Variable(truth))) == (expected[0] + expected[1] + expected[2]) / 3,
             boost::test_tools::tolerance(1e-12));
  BOOST_TEST(double(nn::r2_score(Variable(truth), Variable(truth), {.multioutput = "uniform_average"})) == 2.0 / 3,
             boost::test_tools::tolerance(1e-12));
  // Squares of float16 beyond its range.
  const Array far = array<double>({300, -300, 300, -300}, {4});
  BOOST_TEST(double(nn::r2_score(Variable(astype(far, Dtype::float16)), Variable(astype(far, Dtype::float16)))) == 1.0);
  BOOST_CHECK_THROW(nn::r2_score(Variable(pred), Variable(arrays::ones({3}, Dtype::float64))), catena::InvalidType);
  BOOST_CHECK_THROW(nn::r2_score(Variable(arrays::ones({})), Variable(arrays::ones({}))), catena::InvalidType);
  BOOST_CHECK_THROW(nn::r2_score(Variable(pred), Variable(truth), {.sample_weight = arrays::ones({3})}),
                    catena::NotImplementedError);
  BOOST_CHECK_EXCEPTION(nn::r2_score(Variable(pred), Variable(truth), {.multioutput = "mean"}), catena::ValueError,
                        [](const catena::Error& e) {
                          return e.what() == std::string(
                                                 "r2_score: multioutput is \"mean\"; it must be "
                                                 "\"uniform_average\" or \"raw_values\"");
                        });
}

BOOST_AUTO_TEST_CASE(measures_have_no_gradients) {
  Variable y(arrays::ones({2, 3})), scores(arrays::ones({2}));
  const Variable t(array<std::int32_t>({0, 2}, {2}));
  Variables results{nn::binary_accuracy(scores, t), nn::r2_score(scores, Variable(arrays::zeros({2})))};
  for (Variable& r : results) {
    r.backward();
    BOOST_TEST(!scores.grad());
  }
  Variable p = nn::precision(y, t).score;
  p.set_grad(arrays::ones({3}));
  p.backward();
  BOOST_TEST(!y.grad());
}

BOOST_AUTO_TEST_CASE(golden_values) {
  using Call = const test::GoldenCall&;
  const auto classes = [](Call c) {
    return c.has("label_num") ? std::optional<int>(int(c.integer("label_num", 0))) : std::nullopt;
  };
  const auto ignored = [](Call c) { return int(c.integer("ignore_label", -1)); };
  const auto pair = [](const nn::ClassScores& s) { return Variables{s.score, s.support}; };
  test::run_golden(
      "evaluation",
      {{"accuracy",
        [](Call c) {
          return Variables{nn::accuracy(
              c.x(0), c.x(1),
              c.has("ignore_label") ? std::optional<int>(int(c.integer("ignore_label", 0))) : std::nullopt)};
        }},
       {"binary_accuracy", [](Call c) { return Variables{nn::binary_accuracy(c.x("y"), c.x("t"))}; }},
       {"classification_summary",
        [&](Call c) {
          const auto s = nn::classification_summary(
              c.x("y"), c.x("t"), {.label_num = classes(c), .beta = c.number("beta", 1), .ignore_label = ignored(c)});
          return Variables{s.precision, s.recall, s.fbeta, s.support};
        }},
       {"precision", [&](Call c) { return pair(nn::precision(c.x("y"), c.x("t"), classes(c), ignored(c))); }},
       {"recall", [&](Call c) { return pair(nn::recall(c.x("y"), c.x("t"), classes(c), ignored(c))); }},
       {"f1_score", [&](Call c) { return pair(nn::f1_score(c.x("y"), c.x("t"), classes(c), ignored(c))); }},
       {"fbeta_score",
        [&](Call c) { return pair(nn::fbeta_score(c.x("y"), c.x("t"), classes(c), c.number("beta", 1), ignored(c))); }},
       {"r2_score", [](Call c) {
          return Variables{
              nn::r2_score(c.x("pred"), c.x("true"), {.multioutput = c.text("multioutput", "uniform_average")})};
        }}});
}

BOOST_AUTO_TEST_SUITE_END()
