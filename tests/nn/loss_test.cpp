// Losses.
#include <catena/nn/functions/loss.h>

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <random>

#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/testing.h>
#include <catena/nn/functions/modules.h>
#include <catena/tests/support/framework_derivatives.h>
#include <catena/tests/support/framework_devices.h>
#include <catena/tests/support/framework_golden.h>

using namespace autograd;
using test::spread;

namespace {

Array labels(const std::vector<std::int32_t>& t, const Shape& shape) { return array(t, shape); }

// By loops in double.
std::vector<double> naive_losses(const Array& x, const std::vector<std::int32_t>& t, const std::vector<double>& weight,
                                 int ignore) {
  const std::int64_t n = x.shape(0), c = x.shape(1), d = n * c == 0 ? 0 : x.size() / (n * c);
  const std::vector<double> xs = to_vector<double>(x);
  std::vector<double> losses;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t k = 0; k < d; ++k) {
      const std::int32_t label = t[std::size_t(i * d + k)];
      double total = 0, max = -INFINITY;
      for (std::int64_t j = 0; j < c; ++j) max = std::max(max, xs[std::size_t((i * c + j) * d + k)]);
      for (std::int64_t j = 0; j < c; ++j) total += std::exp(xs[std::size_t((i * c + j) * d + k)] - max);
      losses.push_back(label == ignore ? 0
                                       : -weight[std::size_t(label)] *
                                             (xs[std::size_t((i * c + label) * d + k)] - max - std::log(total)));
    }
  return losses;
}

// The gradient of the sum of gy times the losses: weight[t] gy (softmax(x) - [j = t]).
std::vector<double> naive_gradients(const Array& x, const std::vector<std::int32_t>& t,
                                    const std::vector<double>& weight, const std::vector<double>& gy) {
  const std::int64_t n = x.shape(0), c = x.shape(1), d = x.size() / (n * c);
  const std::vector<double> xs = to_vector<double>(x);
  std::vector<double> gx(xs.size());
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t k = 0; k < d; ++k) {
      const auto row = std::size_t(i * d + k);
      double total = 0;
      for (std::int64_t j = 0; j < c; ++j) total += std::exp(xs[std::size_t((i * c + j) * d + k)]);
      for (std::int64_t j = 0; j < c && t[row] >= 0; ++j) {
        const auto at = std::size_t((i * c + j) * d + k);
        gx[at] = (std::exp(xs[at]) / total - double(j == t[row])) * weight[std::size_t(t[row])] * gy[row];
      }
    }
  return gx;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(loss)

BOOST_AUTO_TEST_CASE(softmax_cross_entropy_values_and_derivatives) {
  struct Case {
    Shape x;
    std::vector<std::int32_t> t;
  };
  const Case cases[] = {{{4, 3}, {0, 2, -1, 1}},
                        {{2, 3, 2}, {0, 1, -1, 2}},
                        {{2, 3, 2, 2}, {0, 1, -1, 2, 2, 2, 1, -1}},
                        {{1, 1}, {0}},
                        {{2, 3}, {-1, -1}}};
  for (const Case& c : cases)
    for (const bool normalize : {true, false})
      for (const bool weighted : {false, true})
        for (const char* reduce : {"mean", "sum", "no"})
          for (const bool cache : {true, false}) BOOST_TEST_CONTEXT(c.x << normalize << weighted << reduce << cache) {
              const Array x = spread(c.x, -2, 2);
              Shape t_shape = c.x;
              t_shape.erase(1);
              const Array t = labels(c.t, t_shape), w = spread({c.x[1]}, 0.5, 2, 5);
              const auto f = [&](const Variables& v) {
                return Variables{
                    nn::softmax_cross_entropy(v[0], v[1],
                                              {.normalize = normalize,
                                               .cache_score = cache,
                                               .class_weight = weighted ? astype(w, v[0].dtype()) : Array(),
                                               .reduce = reduce})};
              };
              std::vector<double> expected = naive_losses(
                  x, c.t, weighted ? to_vector<double>(w) : std::vector<double>(std::size_t(c.x[1]), 1.0), -1);
              if (std::string(reduce) != "no") {
                double total = 0, valid = 0;
                for (const double l : expected) total += l;
                for (const std::int32_t label : c.t) valid += label != -1;
                const double count = normalize ? std::max(valid, 1.0) : double(c.x[0]);
                expected = {std::string(reduce) == "mean" ? total / count : total};
                t_shape = {};
              }
              BOOST_CHECK_NO_THROW(testing::assert_allclose(f({Variable(x), Variable(t)})[0].data(),
                                                            array(expected, t_shape), 1e-12, 1e-12));
              test::check_derivatives("softmax_cross_entropy", f, {x, t}, {.atol16 = 5e-3, .rtol16 = 5e-2});
            }
}

// Lines of few classes, or of few positions, share tiles. Against (p - [j = t]) w gy by loops in double.
BOOST_AUTO_TEST_CASE(gradients_of_few_classes_and_many_rows) {
  std::mt19937 random(7);
  for (const Shape& shape : {Shape{300, 1}, {300, 2}, {171, 3}, {129, 5}, {100, 6}, {90, 7, 2}, {61, 2, 5}, {40, 4, 6}})
    for (const Dtype dtype : {Dtype::float32, Dtype::float64}) {
      const std::int64_t n = shape[0], c = shape[1], d = shape.size() == 3 ? shape[2] : 1;
      std::vector<std::int32_t> t;
      for (std::int64_t i = 0; i < n * d; ++i) t.push_back(std::int32_t(random() % unsigned(c + 1)) - 1);
      Shape t_shape = shape;
      t_shape.erase(1);
      const Array x = spread(shape, -2, 2), w = spread({c}, 0.5, 2, 5), gy = spread(t_shape, -1, 1, 3);
      const Variable v(astype(x, dtype));
      Variable y = nn::softmax_cross_entropy(v, Variable(labels(t, t_shape)),
                                             {.class_weight = astype(w, dtype), .reduce = "no"});
      y.set_grad(astype(gy, dtype));
      y.backward();
      const std::vector<double> expected = naive_gradients(x, t, to_vector<double>(w), to_vector<double>(gy));
      const double bound = dtype == Dtype::float32 ? 1e-6 : 1e-14;
      BOOST_TEST_CONTEXT(shape << ' ' << dtype)
      BOOST_CHECK_NO_THROW(testing::assert_allclose(v.grad(), array(expected, shape), bound, bound));
    }
}

// The logarithm of the sum is far below the last digit of the maximum.
BOOST_AUTO_TEST_CASE(a_small_loss_beside_large_scores) {
  const Array x = array<float>({1000, 988.487f, -1011.5f, -1000}, {2, 2});
  const std::vector<std::int32_t> t{0, 1};
  const std::vector<double> exact = naive_losses(x, t, {1, 1}, -1);
  Variable v(x), y = nn::softmax_cross_entropy(v, Variable(labels(t, {2})), {.reduce = "no"});
  y.set_grad(arrays::ones({2}, Dtype::float32));
  y.backward();
  const std::vector<double> losses = to_vector<double>(y.data()), gx = to_vector<double>(v.grad());
  for (std::size_t i = 0; i < 2; ++i) {
    BOOST_TEST((exact[i] > 9e-6 && exact[i] < 1.1e-5), exact[i]);
    BOOST_TEST(std::fabs(losses[i] - exact[i]) < 1e-7, losses[i] << " for " << exact[i]);
    BOOST_TEST(std::fabs(gx[3 * i] - std::expm1(-exact[i])) < 2e-7, gx[3 * i]);
    BOOST_TEST(std::fabs(gx[1 + i] + std::expm1(-exact[i])) < 1e-9, gx[1 + i]);
  }
}

// Losses and gradients of 16-bit scores are computed in float32.
BOOST_AUTO_TEST_CASE(sixteen_bit_scores_round_once) {
  for (const Dtype dtype : {Dtype::float16, Dtype::bfloat16}) {
    const Array x = astype(spread({4, 50}, -2, 2), dtype);
    const std::vector<std::int32_t> t{3, 49, -1, 0};
    const std::vector<double> ones(50, 1.0), exact = naive_losses(x, t, ones, -1),
                                             slope = naive_gradients(x, t, ones, {1, 1, 1, 1});
    Variable v(x), y = nn::softmax_cross_entropy(v, Variable(labels(t, {4})), {.reduce = "no"});
    y.set_grad(arrays::ones({4}, dtype));
    y.backward();
    const double unit = dtype == Dtype::float16 ? std::ldexp(1.01, -11) : std::ldexp(1.01, -8);
    BOOST_TEST_CONTEXT(dtype) {
      BOOST_CHECK_NO_THROW(testing::assert_allclose(y.data(), array(exact, {4}), 0, unit));
      BOOST_CHECK_NO_THROW(testing::assert_allclose(v.grad(), array(slope, {4, 50}), 0, unit));
    }
  }
}

BOOST_AUTO_TEST_CASE(scores_of_any_layout) {
  const Array memory = spread({2, 3, 4, 5}, -2, 2);
  for (const Dims& order : {Dims{0, 1, 2, 3}, Dims{0, 3, 1, 2}, Dims{0, 1, 3, 2}, Dims{3, 2, 1, 0}, Dims{2, 1, 0, 3}})
    for (const double smoothing : {0.0, 0.25}) {
      const Array x = transpose(memory, order);
      const std::int64_t classes = x.shape(1);
      const Shape t_shape{x.shape(0), x.shape(2), x.shape(3)};
      std::vector<std::int32_t> t;
      for (std::int64_t i = 0; i < x.size() / classes; ++i) t.push_back(std::int32_t((7 * i) % (classes + 1)) - 1);
      const std::vector<double> ones(std::size_t(classes), 1.0);
      const Array gy = spread(t_shape, 0.5, 1.5, 3);
      Variable v(x), y = nn::softmax_cross_entropy(v, Variable(labels(t, t_shape)),
                                                   {.reduce = "no", .label_smoothing = smoothing});
      y.set_grad(gy);
      y.backward();
      // The smoothed target is a mixture of all classes.
      const std::vector<double> gys = to_vector<double>(gy);
      std::vector<double> losses = naive_losses(x, t, ones, -1), gx = naive_gradients(x, t, ones, gys);
      for (double& l : losses) l *= 1 - smoothing;
      for (double& g : gx) g *= 1 - smoothing;
      for (std::int32_t c = 0; c < classes; ++c) {
        std::vector<std::int32_t> other = t;
        for (std::int32_t& label : other) label = label < 0 ? -1 : c;
        const std::vector<double> more = naive_losses(x, other, ones, -1), slope = naive_gradients(x, other, ones, gys);
        for (std::size_t k = 0; k < losses.size(); ++k) losses[k] += more[k] * smoothing / double(classes);
        for (std::size_t k = 0; k < gx.size(); ++k) gx[k] += slope[k] * smoothing / double(classes);
      }
      BOOST_TEST_CONTEXT(x.shape() << ' ' << smoothing) {
        BOOST_CHECK_NO_THROW(testing::assert_allclose(y.data(), array(losses, t_shape), 1e-13, 1e-13));
        BOOST_CHECK_NO_THROW(testing::assert_allclose(v.grad(), array(gx, x.shape()), 1e-14, 1e-13));
      }
    }
}

BOOST_AUTO_TEST_CASE(extreme_scores_and_empty_batches) {
  const Variable far(array<float>({-1000, 1}, {1, 2}));
  BOOST_TEST(item(nn::softmax_cross_entropy(far, Variable(labels({0}, {1}))).data()).to_double() == 1001.0);
  BOOST_TEST(
      item(nn::softmax_cross_entropy(Variable(arrays::zeros({0, 3})), Variable(labels({}, {0}))).data()).to_double() ==
      0.0);
}

BOOST_AUTO_TEST_CASE(softmax_cross_entropy_errors) {
  const Variable x(arrays::ones({2, 3})), t(labels({0, 1}, {2}));
  BOOST_CHECK_EXCEPTION(nn::softmax_cross_entropy(x, Variable(arrays::ones({2}))), catena::InvalidType,
                        [](const catena::Error& e) {
                          return std::string(e.what()).find("\nt is float32: t.astype(int32)\n") != std::string::npos;
                        });
  BOOST_CHECK_THROW(nn::softmax_cross_entropy(x, Variable(arrays::ones({2}, Dtype::bool_))), catena::InvalidType);
  BOOST_CHECK_THROW(nn::softmax_cross_entropy(x, Variable(labels({0, 1, 2}, {3}))), catena::InvalidType);
  BOOST_CHECK_THROW(nn::softmax_cross_entropy(x, Variable(labels({0, 1}, {2, 1}))), catena::InvalidType);
  BOOST_CHECK_THROW(nn::softmax_cross_entropy(x, t, {.class_weight = arrays::ones({2})}), catena::ValueError);
  BOOST_CHECK_THROW(nn::softmax_cross_entropy(x, t, {.class_weight = arrays::ones({3}, Dtype::int32)}),
                    catena::ValueError);
  BOOST_CHECK_EXCEPTION(
      nn::softmax_cross_entropy(x, t, {.reduce = "none"}), catena::ValueError, [](const catena::Error& e) {
        return e.what() ==
               std::string("softmax_cross_entropy: reduce is \"none\"; it must be \"mean\", \"sum\" or \"no\"");
      });
  BOOST_CHECK_EXCEPTION(nn::softmax_cross_entropy(x, t, {.label_smoothing = 1}), catena::ValueError,
                        [](const catena::Error& e) {
                          return e.what() == std::string(
                                                 "softmax_cross_entropy: label_smoothing is 1; it must be at "
                                                 "least 0 and less than 1");
                        });
  BOOST_CHECK_THROW(nn::softmax_cross_entropy(x, Variable(arrays::ones({2, 4}))), catena::InvalidType);
}

// The CPU always names a label that is no class; other devices do so in debug mode, and the loss is NaN otherwise. The
// exception of debug mode is the reference's.
// By name, and before the other options in the order of the reference; values and gradients stay the same bits.
BOOST_AUTO_TEST_CASE(use_cudnn_of_cross_entropies) {
  namespace F = nn::functions;
  const Variable t(labels({0, 2, -1, 1}, {4})), all(labels({0, 2, 0, 1}, {4})),
      binary(labels({0, 1, -1, 1, 0, 1}, {2, 3}));
  const Array weight = array<double>({0.5, 1, 2}, {3});
  const auto run = [](const Shape& shape, const auto& loss) {
    Variable x(spread(shape, -2, 2));
    Variable y = loss(x);
    sum(y).backward();
    return std::pair(to_vector<double>(y.data()), to_vector<double>(x.grad()));
  };
  using V = const Variable&;
  const auto same = [&run](const Shape& shape, const auto& expected, const auto&... losses) {
    const auto wanted = run(shape, expected);
    BOOST_TEST(((run(shape, losses) == wanted) && ...));
  };
  same(
      {4, 3}, [&](V x) { return nn::softmax_cross_entropy(x, t); },
      [&](V x) { return nn::softmax_cross_entropy(x, t, {.use_cudnn = false}); },
      [&](V x) { return nn::softmax_cross_entropy(x, t, false); },
      [&](V x) { return F::softmax_cross_entropy(x, t, true); });
  same(
      {4, 3}, [&](V x) { return nn::softmax_cross_entropy(x, all, {.normalize = false, .ignore_label = 1}); },
      [&](V x) { return nn::softmax_cross_entropy(x, all, false, false, true, {}, 1); });
  same(
      {4, 3},
      [&](V x) {
        return nn::softmax_cross_entropy(x, t, {.cache_score = false, .class_weight = weight, .reduce = "no"});
      },
      [&](V x) { return nn::softmax_cross_entropy(x, t, true, true, false, weight, -1, "no"); });
  same(
      {2, 3}, [&](V x) { return nn::sigmoid_cross_entropy(x, binary); },
      [&](V x) { return nn::sigmoid_cross_entropy(x, binary, {.use_cudnn = false}); },
      [&](V x) { return nn::sigmoid_cross_entropy(x, binary, false); },
      [&](V x) { return F::sigmoid_cross_entropy(x, binary, true); });
  same(
      {2, 3}, [&](V x) { return nn::sigmoid_cross_entropy(x, binary, {.normalize = false}); },
      [&](V x) { return nn::sigmoid_cross_entropy(x, binary, false, false); });
  same(
      {2, 3}, [&](V x) { return nn::sigmoid_cross_entropy(x, binary, {.reduce = "no"}); },
      [&](V x) { return nn::sigmoid_cross_entropy(x, binary, false, true, "no"); });
}

BOOST_AUTO_TEST_CASE(labels_that_are_no_classes) {
  const Variable x(arrays::ones({2, 3}));
  const bool on_cpu = test::default_device().kind == Device::Kind::cpu;
  for (const Dtype t : {Dtype::int8, Dtype::uint8, Dtype::int32, Dtype::int64, Dtype::uint64}) {
    for (const bool debug : {false, true}) BOOST_TEST_CONTEXT(t << (debug ? ", debug mode" : "")) {
        const DebugMode mode(debug);
        const Variable outside(astype(labels({0, 3}, {2}), t));
        const auto run = [&] { return nn::softmax_cross_entropy(x, outside); };
        const auto named = [](const catena::Error& e) {
          return e.what() ==
                 std::string("softmax_cross_entropy: the label 3 is neither one of 3 classes nor the ignored -1");
        };
        if (debug) BOOST_CHECK_EXCEPTION(run(), catena::ValueError, named);
        else if (on_cpu) BOOST_CHECK_EXCEPTION(run(), catena::IndexError, named);
        else BOOST_TEST(std::isnan(item(run().data()).to_double()));
        BOOST_CHECK_NO_THROW(nn::softmax_cross_entropy(x, outside, {.ignore_label = 3}));
      }
  }
  if (!on_cpu) return;
  BOOST_CHECK_THROW(nn::softmax_cross_entropy(x, Variable(labels({0, -2}, {2}))), catena::IndexError);
  BOOST_CHECK_THROW(nn::softmax_cross_entropy(x, Variable(labels({0, -1}, {2})), {.ignore_label = 1}),
                    catena::IndexError);
}

BOOST_AUTO_TEST_CASE(labels_of_any_integer_dtype) {
  const Array x = spread({3, 3}, -2, 2);
  const auto run = [&](Dtype t, bool second) {
    Variable v(x);
    // A label of -1 is ignored where the dtype has one.
    const std::vector<std::int32_t> given{2, kind_of(t) == catena::DtypeKind::signed_ ? -1 : 0, 1};
    Variable loss = nn::softmax_cross_entropy(v, Variable(astype(labels(given, {3}), t)));
    loss.backward({.enable_double_backprop = second});
    std::vector<double> result = to_vector<double>(v.grad());
    result.push_back(item(loss.data()).to_double());
    const std::vector<double> expected = naive_losses(x, given, {1, 1, 1}, -1);
    double total = 0;
    for (const double l : expected) total += l;
    BOOST_TEST(result.back() == total / (given[1] < 0 ? 2 : 3), boost::test_tools::tolerance(1e-12));
    return result;
  };
  for (const bool second : {false, true}) {
    for (const Dtype t : {Dtype::int8, Dtype::int16, Dtype::int64})
      BOOST_TEST((run(t, second) == run(Dtype::int32, second)), t);
    for (const Dtype t : {Dtype::uint8, Dtype::uint16, Dtype::uint32, Dtype::uint64})
      BOOST_TEST((run(t, second) == run(Dtype::uint8, second)), t);
  }
}

// 300^2 exceeds the range of float16, the mean does not; the difference itself is rounded by no step before the square.
BOOST_AUTO_TEST_CASE(mean_squared_error_of_float16_squares_in_float32) {
  std::vector<double> a(1000, 0.0), b(1000, 0.0);
  a[3] = 300;
  a[4] = 1;
  b[4] = -0.0003;
  const auto error = [&](Dtype t) {
    return item(nn::mean_squared_error(Variable(astype(array(a, {1000}), t)), Variable(astype(array(b, {1000}), t)))
                    .data())
        .to_double();
  };
  BOOST_TEST(error(Dtype::float16) == 90.0, boost::test_tools::tolerance(1e-3));
  BOOST_TEST(error(Dtype::bfloat16) == 90.0, boost::test_tools::tolerance(1e-2));
  a.assign(1, 1);
  b.assign(1, -0.0003);
  // (1 + 0.0003)^2 lies above the middle between 1 and its neighbour, 1 + 0.0003 below.
  const auto one = [&](Dtype t) {
    return item(nn::mean_squared_error(Variable(astype(array(a, {1}), t)), Variable(astype(array(b, {1}), t))).data())
        .to_double();
  };
  BOOST_TEST(one(Dtype::float16) == 1.0009765625);
}

BOOST_AUTO_TEST_CASE(mean_squared_error_values_and_derivatives) {
  for (const Shape& shape : {Shape{3, 4}, Shape{}, Shape{1}}) {
    const Array a = spread(shape), b = spread(shape, -1, 1, 3);
    const auto f = [](const Variables& v) { return Variables{nn::mean_squared_error(v[0], v[1])}; };
    const std::vector<double> as = to_vector<double>(a), bs = to_vector<double>(b);
    double expected = 0;
    for (std::size_t i = 0; i < as.size(); ++i) expected += (as[i] - bs[i]) * (as[i] - bs[i]) / double(as.size());
    BOOST_TEST(item(f({Variable(a), Variable(b)})[0].data()).to_double() == expected,
               boost::test_tools::tolerance(1e-12));
    test::check_derivatives("mean_squared_error", f, {a, b});
  }
  BOOST_CHECK_THROW(nn::mean_squared_error(Variable(arrays::ones({2})), Variable(arrays::ones({3}))),
                    catena::InvalidType);
  BOOST_CHECK_THROW(nn::mean_squared_error(Variable(arrays::ones({2})), Variable(arrays::ones({2}, Dtype::float64))),
                    catena::InvalidType);
}

BOOST_AUTO_TEST_CASE(golden_values) {
  using Call = const test::GoldenCall&;
  const auto reduce = [](Call c, const char* otherwise) { return c.text("reduce", otherwise); };
  test::run_golden(
      "loss",
      {{"absolute_error", [](Call c) { return Variables{nn::absolute_error(c.x(0), c.x(1))}; }},
       {"squared_error", [](Call c) { return Variables{nn::squared_error(c.x(0), c.x(1))}; }},
       {"mean_absolute_error", [](Call c) { return Variables{nn::mean_absolute_error(c.x(0), c.x(1))}; }},
       {"mean_squared_error", [](Call c) { return Variables{nn::mean_squared_error(c.x(0), c.x(1))}; }},
       {"huber_loss",
        [&](Call c) {
          return Variables{
              nn::huber_loss(c.x("x"), c.x("t"), c.number("delta", 1), reduce(c, "sum_along_second_axis"))};
        }},
       {"hinge",
        [&](Call c) { return Variables{nn::hinge(c.x("x"), c.x("t"), c.text("norm", "L1"), reduce(c, "mean"))}; }},
       {"contrastive",
        [&](Call c) {
          return Variables{nn::contrastive(c.x("x0"), c.x("x1"), c.x("y"), c.number("margin", 1), reduce(c, "mean"))};
        }},
       {"triplet",
        [&](Call c) {
          return Variables{
              nn::triplet(c.x("anchor"), c.x("positive"), c.x("negative"), c.number("margin", 0.2), reduce(c, "mean"))};
        }},
       {"cross_covariance",
        [&](Call c) { return Variables{nn::cross_covariance(c.x("y"), c.x("z"), reduce(c, "half_squared_sum"))}; }},
       {"decov", [&](Call c) { return Variables{nn::decov(c.x("h"), reduce(c, "half_squared_sum"))}; }},
       {"bernoulli_nll", [&](Call c) { return Variables{nn::bernoulli_nll(c.x("x"), c.x("y"), reduce(c, "sum"))}; }},
       {"gaussian_nll",
        [&](Call c) { return Variables{nn::gaussian_nll(c.x("x"), c.x("mean"), c.x("ln_var"), reduce(c, "sum"))}; }},
       {"gaussian_kl_divergence",
        [&](Call c) { return Variables{nn::gaussian_kl_divergence(c.x("mean"), c.x("ln_var"), reduce(c, "sum"))}; }},
       {"sigmoid_cross_entropy",
        [&](Call c) {
          return Variables{nn::sigmoid_cross_entropy(
              c.x("x"), c.x("t"), {.normalize = c.flag("normalize", true), .reduce = reduce(c, "mean")})};
        }},
       {"softmax_cross_entropy",
        [&](Call c) {
          return Variables{nn::softmax_cross_entropy(c.x("x"), c.x("t"),
                                                     {.normalize = c.flag("normalize", true),
                                                      .cache_score = c.flag("cache_score", true),
                                                      .class_weight = c.array("class_weight"),
                                                      .ignore_label = int(c.integer("ignore_label", -1)),
                                                      .reduce = reduce(c, "mean")})};
        }},
       {"black_out",
        [&](Call c) {
          return Variables{nn::black_out(c.x("x"), c.x("t"), c.x("W"), c.x("samples"), reduce(c, "mean"))};
        }},
       {"negative_sampling",
        [&](Call c) {
          return Variables{nn::negative_sampling(
              c.x("x"), c.x("t"), c.x("W"), [&](const Shape&) { return c.array("samples"); },
              int(c.integer("sample_size", 1)), reduce(c, "sum"))};
        }},
       {"connectionist_temporal_classification",
        [&](Call c) {
          return Variables{nn::connectionist_temporal_classification(c.list("x"), c.x("t"),
                                                                     int(c.integer("blank_symbol", 0)),
                                                                     {.input_length = c.array("input_length"),
                                                                      .label_length = c.array("label_length"),
                                                                      .reduce = reduce(c, "mean")})};
        }},
       {"crf1d",
        [&](Call c) { return Variables{nn::crf1d(c.x("cost"), c.list("xs"), c.list("ys"), reduce(c, "mean"))}; }},
       {"argmax_crf1d", [](Call c) {
          const auto [score, path] = nn::argmax_crf1d(c.x("cost"), c.list("xs"));
          Variables results{score};
          for (const Array& labels : path) results.push_back(Variable(labels));
          return results;
        }}});
}

BOOST_AUTO_TEST_SUITE_END()
