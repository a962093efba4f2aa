// Losses of arrays of one shape, of rows, and of covariances, against formulas in double.
#include <boost/test/unit_test.hpp>
#include <cmath>

#include <catena/autograd/testing.h>
#include <catena/nn/functions/loss.h>
#include <catena/tests/support/framework_derivatives.h>
#include <catena/tests/support/framework_devices.h>

using namespace autograd;
using test::spread;

namespace {

using Doubles = std::vector<double>;
using Loss = std::function<Variable(const Variables&, const std::string& reduce)>;

Array labels(const std::vector<std::int32_t>& t, const Shape& shape) { return array(t, shape); }

// "no", "sum" and "mean" over `count` of the expected losses, with their derivatives.
void check_reductions(const std::string& name, const Loss& loss, const Arrays& inputs, const Doubles& expected,
                      const Shape& shape, double count, const test::DerivativeOptions& options = {}) {
  double total = 0;
  for (const double l : expected) total += l;
  for (const char* reduce : {"no", "sum", "mean"}) BOOST_TEST_CONTEXT(name << " " << reduce) {
      const auto f = [&](const Variables& v) { return Variables{loss(v, reduce)}; };
      Variables x;
      for (const Array& a : inputs) x.push_back(Variable(a));
      const std::string text = reduce;
      const Array wanted = text == "no"    ? array(expected, shape)
                           : text == "sum" ? array(Doubles{total}, {})
                                           : array(Doubles{total / std::max(count, 1.0)}, {});
      BOOST_CHECK_NO_THROW(testing::assert_allclose(f(x)[0].data(), wanted, 1e-12, 1e-12));
      test::check_derivatives(name, f, inputs, options);
    }
}

struct Likelihood {
  const char* name;
  int arguments;
  Variable (*loss)(const Variables&, const std::string&);
  double (*value)(double, double, double);
};
const Likelihood kLikelihoods[] = {
    {"bernoulli_nll", 2, [](const Variables& v, const std::string& r) { return nn::bernoulli_nll(v[0], v[1], r); },
     [](double x, double y, double) { return std::log1p(std::exp(y)) - x * y; }},
    {"gaussian_nll", 3, [](const Variables& v, const std::string& r) { return nn::gaussian_nll(v[0], v[1], v[2], r); },
     [](double x, double m, double v) {
       return 0.5 * (v + std::log(2 * M_PI)) + 0.5 * (x - m) * (x - m) * std::exp(-v);
     }},
    {"gaussian_kl_divergence", 2,
     [](const Variables& v, const std::string& r) { return nn::gaussian_kl_divergence(v[0], v[1], r); },
     [](double m, double v, double) { return 0.5 * (m * m + std::exp(v) - v - 1); }},
    {"huber_loss", 2, [](const Variables& v, const std::string& r) { return nn::huber_loss(v[0], v[1], 0.6, r); },
     [](double x, double t, double) {
       const double a = std::fabs(x - t);
       return a <= 0.6 ? 0.5 * a * a : 0.6 * (a - 0.3);
     }},
};

}  // namespace

BOOST_AUTO_TEST_SUITE(pair_losses)

BOOST_AUTO_TEST_CASE(likelihoods_and_huber) {
  for (const Likelihood& row : kLikelihoods)
    for (const Shape& shape : {Shape{3, 4}, Shape{}, Shape{1}, Shape{0, 3}, Shape{2, 3, 2}})
      BOOST_TEST_CONTEXT(row.name << shape) {
        const Array all[] = {spread(shape), spread(shape, -1, 1, 3), spread(shape, -1.5, 1, 5)};
        const Doubles a = to_vector<double>(all[0]), b = to_vector<double>(all[1]), c = to_vector<double>(all[2]);
        Doubles expected;
        for (std::size_t i = 0; i < a.size(); ++i) expected.push_back(row.value(a[i], b[i], c[i]));
        Arrays inputs{all[0], all[1]};
        if (row.arguments == 3) inputs.push_back(all[2]);
        check_reductions(row.name, row.loss, inputs, expected, shape, double(a.size()));
      }
}

BOOST_AUTO_TEST_CASE(errors_and_their_means) {
  for (const Shape& shape : {Shape{3, 4}, Shape{}, Shape{1}, Shape{2, 0}}) {
    const Array a = spread(shape), b = spread(shape, -1, 1, 3);
    const Doubles as = to_vector<double>(a), bs = to_vector<double>(b);
    Doubles absolute, squared;
    double total = 0;
    for (std::size_t i = 0; i < as.size(); ++i) {
      absolute.push_back(std::fabs(as[i] - bs[i]));
      squared.push_back((as[i] - bs[i]) * (as[i] - bs[i]));
      total += absolute.back() / double(as.size());
    }
    const auto check = [&](const char* name, auto function, const Array& expected) {
      const auto f = [&](const Variables& v) { return Variables{function(v[0], v[1])}; };
      BOOST_TEST_CONTEXT(name << shape) {
        BOOST_CHECK_NO_THROW(testing::assert_allclose(f({Variable(a), Variable(b)})[0].data(), expected, 1e-12, 1e-12));
        test::check_derivatives(name, f, {a, b});
      }
    };
    check("absolute_error", nn::absolute_error, array(absolute, shape));
    check("squared_error", nn::squared_error, array(squared, shape));
    if (!as.empty()) check("mean_absolute_error", nn::mean_absolute_error, array(Doubles{total}, {}));
  }
}

BOOST_AUTO_TEST_CASE(huber_loss_sums_along_the_second_axis) {
  const Array x = spread({2, 3, 2}, -2, 2), t = spread({2, 3, 2}, -2, 2, 3);
  const auto f = [](const Variables& v) { return Variables{nn::huber_loss(v[0], v[1], 1.0)}; };
  const Variable all = nn::huber_loss(Variable(x), Variable(t), 1.0, "no");
  BOOST_CHECK_NO_THROW(
      testing::assert_allclose(f({Variable(x), Variable(t)})[0].data(), sum(all.data(), 1), 1e-12, 1e-12));
  test::check_derivatives("huber_loss", f, {x, t});
  BOOST_CHECK_THROW(nn::huber_loss(Variable(arrays::ones({3})), Variable(arrays::ones({3})), 1.0), catena::InvalidType);
  for (const double delta : {-1.0, std::nan("")})
    BOOST_CHECK_THROW(nn::huber_loss(Variable(x), Variable(t), delta), catena::ValueError);
}

BOOST_AUTO_TEST_CASE(huber_loss_of_differences_whose_square_is_infinite) {
  for (const double value : {3e38, -3e38}) {
    Variable x(array<float>({float(value), 0.5f}, {2})), t(array<float>({0, 0}, {2}));
    nn::huber_loss(x, t, 1.0, "sum").backward();
    BOOST_TEST((to_vector<double>(x.grad()) == Doubles{value > 0 ? 1.0 : -1.0, 0.5}));
    BOOST_TEST((to_vector<double>(t.grad()) == Doubles{value > 0 ? -1.0 : 1.0, -0.5}));
  }
}

BOOST_AUTO_TEST_CASE(contrastive_of_near_and_far_pairs) {
  // The third pair is one point: its distance has no derivative, the loss has.
  const Array x0 = array<double>({0.1, 0.2, -0.4, 0.5, 0.3, 0.3, -1, 2}, {4, 2}),
              x1 = array<double>({0.3, -0.1, 0.2, 0.6, 0.3, 0.3, 1, 1}, {4, 2});
  const std::vector<std::int32_t> y{1, 0, 1, 0};
  const Doubles a = to_vector<double>(x0), b = to_vector<double>(x1);
  Doubles expected;
  for (std::size_t n = 0; n < 4; ++n) {
    const double d = std::hypot(a[2 * n] - b[2 * n], a[2 * n + 1] - b[2 * n + 1]), far = std::max(1.5 - d, 0.0);
    expected.push_back(0.5 * (y[n] * d * d + (1 - y[n]) * far * far));
  }
  check_reductions(
      "contrastive", [](const Variables& v, const std::string& r) { return nn::contrastive(v[0], v[1], v[2], 1.5, r); },
      {x0, x1, labels(y, {4})}, expected, {4}, 4);
  // Of two equal points that are to be far apart, the gradient is 0 and no NaN.
  Variable same(arrays::ones({1, 2})), other(arrays::ones({1, 2}));
  Variable loss = nn::contrastive(same, other, Variable(labels({0}, {1})));
  loss.backward();
  BOOST_TEST(to_vector<float>(same.grad()) == (std::vector<float>{0, 0}), boost::test_tools::per_element());
  BOOST_TEST(float(loss) == 0.5f);
}

BOOST_AUTO_TEST_CASE(triplet_of_rows) {
  const Array a = spread({5, 3}), p = spread({5, 3}, -1, 1, 3), n = spread({5, 3}, -2, 2, 9);
  const Doubles as = to_vector<double>(a), ps = to_vector<double>(p), ns = to_vector<double>(n);
  Doubles expected(5, 0.2);
  for (std::size_t i = 0; i < 15; ++i)
    expected[i / 3] += (as[i] - ps[i]) * (as[i] - ps[i]) - (as[i] - ns[i]) * (as[i] - ns[i]);
  bool some = false, none = false;
  for (double& l : expected) {
    (l > 0 ? some : none) = true;
    l = std::max(l, 0.0);
  }
  BOOST_TEST(some);
  BOOST_TEST(none);
  check_reductions(
      "triplet", [](const Variables& v, const std::string& r) { return nn::triplet(v[0], v[1], v[2], 0.2, r); },
      {a, p, n}, expected, {5}, 5);
}

BOOST_AUTO_TEST_CASE(covariances) {
  const Array y = spread({4, 3}), z = spread({4, 2}, -1, 1, 3);
  const auto covariance = [](const Array& a, const Array& b) {
    const Doubles as = to_vector<double>(a), bs = to_vector<double>(b);
    const std::size_t n = std::size_t(a.shape(0)), m = std::size_t(a.shape(1)), l = std::size_t(b.shape(1));
    Doubles c(m * l);
    for (std::size_t j = 0; j < m; ++j)
      for (std::size_t k = 0; k < l; ++k) {
        double ma = 0, mb = 0;
        for (std::size_t i = 0; i < n; ++i) ma += as[i * m + j] / double(n), mb += bs[i * l + k] / double(n);
        for (std::size_t i = 0; i < n; ++i) c[j * l + k] += (as[i * m + j] - ma) * (bs[i * l + k] - mb) / double(n);
      }
    return c;
  };
  const auto check = [](const char* name, const Loss& loss, const Arrays& inputs, const Doubles& c,
                        const Shape& shape) {
    double half = 0;
    for (const double v : c) half += 0.5 * v * v;
    for (const bool summed : {false, true}) {
      const auto f = [&](const Variables& v) { return Variables{loss(v, summed ? "half_squared_sum" : "no")}; };
      Variables x;
      for (const Array& a : inputs) x.push_back(Variable(a));
      BOOST_CHECK_NO_THROW(
          testing::assert_allclose(f(x)[0].data(), summed ? array(Doubles{half}, {}) : array(c, shape), 1e-12, 1e-12));
      test::check_derivatives(name, f, inputs);
    }
  };
  check("cross_covariance",
        [](const Variables& v, const std::string& r) { return nn::cross_covariance(v[0], v[1], r); }, {y, z},
        covariance(y, z), {3, 2});
  Doubles own = covariance(y, y);
  for (std::size_t k = 0; k < 3; ++k) own[4 * k] = 0;
  check("decov", [](const Variables& v, const std::string& r) { return nn::decov(v[0], r); }, {y}, own, {3, 3});
  BOOST_TEST(double(nn::decov(Variable(arrays::ones({1, 1}, Dtype::float64)))) == 0.0);
}

BOOST_AUTO_TEST_CASE(sigmoid_cross_entropy_values) {
  const Array x = array<double>({-2, 0.5, 3, -0.25, 0, 1}, {2, 3});
  const std::vector<std::int32_t> t{1, 0, 1, -1, 0, 1};
  const Doubles xs = to_vector<double>(x);
  Doubles expected;
  for (std::size_t i = 0; i < 6; ++i)
    expected.push_back(t[i] == -1 ? 0 : std::log1p(std::exp(t[i] == 1 ? -xs[i] : xs[i])));
  for (const bool normalize : {true, false})
    check_reductions(
        "sigmoid_cross_entropy",
        [&](const Variables& v, const std::string& r) {
          return nn::sigmoid_cross_entropy(v[0], v[1], {.normalize = normalize, .reduce = r});
        },
        {x, labels(t, {2, 3})}, expected, {2, 3}, normalize ? 5 : 2);
  // A small loss keeps its digits, a large one is finite; without labels it is 0.
  const Variable far(array<float>({30, -1000}, {2}));
  const auto l =
      to_vector<float>(nn::sigmoid_cross_entropy(far, Variable(labels({1, 1}, {2})), {.reduce = "no"}).data());
  BOOST_TEST(l[0] == std::exp(-30.0f), boost::test_tools::tolerance(1e-5f));
  BOOST_TEST(l[1] == 1000.0f);
  BOOST_TEST(float(nn::sigmoid_cross_entropy(far, Variable(labels({-1, -1}, {2})))) == 0.0f);
  // The count is one of elements, also of very many: 65536 x 1.
  const Variable many(arrays::zeros({65536, 1}));
  BOOST_TEST(
      float(nn::sigmoid_cross_entropy(many, Variable(arrays::zeros({65536, 1}, Dtype::int32)))) == std::log(2.0f),
      boost::test_tools::tolerance(1e-5f));
}

BOOST_AUTO_TEST_CASE(hinge_of_both_norms) {
  const Array x = array<double>({0.3, -0.7, 1.5, -1.2, 0.1, 0.4}, {2, 3});
  const std::vector<std::int32_t> t{2, 0};
  const Doubles xs = to_vector<double>(x);
  for (const bool squared : {false, true}) {
    Doubles expected;
    for (std::size_t i = 0; i < 6; ++i) {
      const double m = std::max(0.0, 1 - (t[i / 3] == int(i % 3) ? 1 : -1) * xs[i]);
      expected.push_back(squared ? m * m : m);
    }
    check_reductions(
        "hinge",
        [&](const Variables& v, const std::string& r) {
          return nn::hinge(v[0], v[1], {.norm = squared ? "L2" : "L1", .reduce = r});
        },
        {x, labels(t, {2})}, expected, {2, 3}, 2);
  }
  BOOST_TEST(float(nn::hinge(Variable(arrays::zeros({0, 3})), Variable(labels({}, {0})))) == 0.0f);
}

// Sums that a 16-bit dtype cannot hold, of means that it can.
BOOST_AUTO_TEST_CASE(float16_is_computed_in_float32) {
  const Variable big(arrays::full({1000}, 300.0, Dtype::float16)), zero(arrays::zeros({1000}, Dtype::float16));
  BOOST_TEST(double(nn::mean_absolute_error(big, zero)) == 300.0);
  BOOST_TEST(double(nn::huber_loss(big, zero, 100, "mean")) == 25000.0, boost::test_tools::tolerance(1e-3));
  const Variable rows(arrays::full({4, 40}, 100.0, Dtype::float16)),
      shifted(arrays::full({4, 40}, 99.0, Dtype::float16)), origin(arrays::zeros({4, 40}, Dtype::float16));
  // |a - p|^2 = 40 and |a - n|^2 = 400000, which is out of range.
  BOOST_TEST(double(nn::triplet(rows, shifted, origin)) == 0.0);
  BOOST_TEST(double(nn::triplet(rows, origin, origin)) == 0.2, boost::test_tools::tolerance(1e-3));
  BOOST_TEST(double(nn::gaussian_nll(big, zero, zero, "mean")) == 45000.0, boost::test_tools::tolerance(1e-2));
}

BOOST_AUTO_TEST_CASE(errors_name_what_is_wrong) {
  const Variable x(arrays::ones({2, 3})), t(labels({0, 1}, {2})), u(labels({0, 1, 1, 0, 0, 1}, {2, 3}));
  const std::pair<const char*, std::function<void(const std::string&)>> all[] = {
      {"bernoulli_nll", [&](const std::string& r) { nn::bernoulli_nll(x, x, r); }},
      {"gaussian_nll", [&](const std::string& r) { nn::gaussian_nll(x, x, x, r); }},
      {"gaussian_kl_divergence", [&](const std::string& r) { nn::gaussian_kl_divergence(x, x, r); }},
      {"huber_loss", [&](const std::string& r) { nn::huber_loss(x, x, 1.0, r); }},
      {"hinge", [&](const std::string& r) { nn::hinge(x, t, "L1", r); }},
      {"sigmoid_cross_entropy", [&](const std::string& r) { nn::sigmoid_cross_entropy(x, u, {.reduce = r}); }},
      {"contrastive", [&](const std::string& r) { nn::contrastive(x, x, t, 1.0, r); }},
      {"triplet", [&](const std::string& r) { nn::triplet(x, x, x, 0.2, r); }},
      {"cross_covariance", [&](const std::string& r) { nn::cross_covariance(x, x, r); }},
      {"decov", [&](const std::string& r) { nn::decov(x, r); }},
  };
  for (const auto& [name, call] : all)
    BOOST_CHECK_EXCEPTION(call("average"), catena::ValueError, [name = name](const catena::Error& e) {
      return std::string(e.what()).starts_with(std::string(name) + ": reduce is \"average\"; it must be \"");
    });
  const Variable other(arrays::ones({2, 2})), wide(arrays::ones({2, 3}, Dtype::float64)), integers(u);
  for (const Variable& bad : {other, wide, integers}) {
    BOOST_CHECK_THROW(nn::absolute_error(x, bad), catena::InvalidType);
    BOOST_CHECK_THROW(nn::squared_error(x, bad), catena::InvalidType);
    BOOST_CHECK_THROW(nn::mean_absolute_error(x, bad), catena::InvalidType);
    BOOST_CHECK_THROW(nn::huber_loss(x, bad, 1.0), catena::InvalidType);
    BOOST_CHECK_THROW(nn::bernoulli_nll(x, bad), catena::InvalidType);
    BOOST_CHECK_THROW(nn::gaussian_nll(x, x, bad), catena::InvalidType);
    BOOST_CHECK_THROW(nn::gaussian_kl_divergence(x, bad), catena::InvalidType);
    BOOST_CHECK_THROW(nn::triplet(x, bad, x), catena::InvalidType);
    BOOST_CHECK_THROW(nn::contrastive(x, bad, t), catena::InvalidType);
  }
  BOOST_CHECK_EXCEPTION(nn::absolute_error(x, wide), catena::InvalidType, [](const catena::Error& e) {
    const std::string text = e.what();
    return text.find(
               "Invalid operation is performed in: AbsoluteError (Forward)\nx0 is float32, x1 float64: "
               "x1.astype(float32)\n") == 0;
  });
  BOOST_CHECK_THROW(nn::sigmoid_cross_entropy(x, x), catena::InvalidType);
  BOOST_CHECK_THROW(nn::hinge(x, x), catena::InvalidType);
  BOOST_CHECK_EXCEPTION(nn::hinge(x, t, "L3"), catena::NotImplementedError, [](const catena::Error& e) {
    return e.what() == std::string("hinge: norm is \"L3\"; it must be \"L1\" or \"L2\"");
  });
  BOOST_CHECK_EXCEPTION(nn::contrastive(x, x, t, 0), catena::ValueError, [](const catena::Error& e) {
    return e.what() == std::string("contrastive: margin is 0 and must be positive");
  });
  BOOST_CHECK_THROW(nn::triplet(x, x, x, -1), catena::ValueError);
  const Variable none(arrays::zeros({0, 3}));
  BOOST_CHECK_THROW(nn::triplet(none, none, none), catena::InvalidType);
  BOOST_CHECK_THROW(nn::contrastive(none, none, Variable(labels({}, {0}))), catena::InvalidType);
  BOOST_CHECK_THROW(nn::cross_covariance(x, Variable(arrays::ones({3, 3}))), catena::InvalidType);
  BOOST_CHECK_THROW(nn::decov(Variable(arrays::ones({3}))), catena::InvalidType);
  BOOST_CHECK_THROW(nn::absolute_error(x, Variable()), catena::TypeError);
  if (test::default_device().kind == Device::Kind::cpu)
    BOOST_CHECK_THROW(nn::hinge(x, Variable(labels({0, 3}, {2}))), catena::IndexError);
}

BOOST_AUTO_TEST_SUITE_END()
