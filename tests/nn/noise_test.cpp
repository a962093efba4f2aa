// Dropout, zoneout, samples of normal distributions, dropped connections.
#include <catena/nn/functions/noise.h>

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <functional>

#include <catena/autograd/functions/math.h>
#include <catena/autograd/testing.h>
#include <catena/nn/functions/connection.h>
#include <catena/tests/support/framework_derivatives.h>
#include <catena/tests/support/framework_golden.h>

using namespace autograd;
using test::spread;

BOOST_AUTO_TEST_SUITE(noise)

BOOST_AUTO_TEST_CASE(drops_the_right_share_and_scales_the_rest) {
  for (const double ratio : {0.1, 0.5, 0.9}) {
    seed(3);
    const std::vector<float> y =
        to_vector<float>(nn::dropout(Variable(arrays::ones({200, 500})), {.ratio = ratio, .train = true}).data());
    double kept = 0;
    for (const float v : y) {
      BOOST_REQUIRE(v == 0.0f || std::fabs(v - 1 / (1 - ratio)) < 1e-5);
      kept += v != 0;
    }
    // Five standard deviations of a binomial share.
    BOOST_TEST(std::fabs(kept / double(y.size()) - (1 - ratio)) <
               5 * std::sqrt(ratio * (1 - ratio) / double(y.size())));
  }
}

BOOST_AUTO_TEST_CASE(the_gradient_uses_the_same_mask) {
  seed(5);
  Variable x(arrays::ones({50, 7}));
  Variable y = nn::dropout(x, {.ratio = 0.3, .train = true});
  y.set_grad(arrays::ones({50, 7}));
  y.backward();
  BOOST_TEST(to_vector<float>(x.grad()) == to_vector<float>(y.data()), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(the_mask_is_returned) {
  seed(7);
  const Variable x(spread({40, 5}));
  const auto [y, mask] = nn::dropout_with_mask(x, {.ratio = 0.25, .train = true});
  std::vector<double> expected = to_vector<double>(x.data());
  const std::vector<double> factors = to_vector<double>(mask);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    BOOST_REQUIRE((factors[i] == 0 || std::fabs(factors[i] - 4.0 / 3) < 1e-12));
    expected[i] *= factors[i];
  }
  BOOST_TEST((to_vector<double>(y.data()) == expected));
  seed(7);  // the same numbers are drawn as without the mask
  BOOST_TEST((to_vector<double>(nn::dropout(x, {.ratio = 0.25, .train = true}).data()) == expected));
  const auto [same, ones_of_x] = nn::dropout_with_mask(x, {.train = false});
  BOOST_TEST(same.is_same(x));
  BOOST_TEST((to_vector<double>(ones_of_x) == std::vector<double>(200, 1.0)));
}

BOOST_AUTO_TEST_CASE(derivatives) {
  // The function under test draws the same mask at every call.
  const auto f = [](const Variables& v) {
    seed(11);
    return Variables{nn::dropout(v[0], {.ratio = 0.4, .train = true})};
  };
  for (const Shape& shape : {Shape{4, 5}, Shape{}, Shape{1}, Shape{0, 2}})
    test::check_derivatives("dropout", f, {spread(shape)});
}

BOOST_AUTO_TEST_CASE(replays_from_the_seed_and_draws_anew_at_each_call) {
  const Variable x(arrays::ones({100}));
  seed(1);
  const auto first = to_vector<float>(nn::dropout(x, {.train = true}).data()),
             second = to_vector<float>(nn::dropout(x, {.train = true}).data());
  BOOST_TEST((first != second));
  seed(1);
  BOOST_TEST((first == to_vector<float>(nn::dropout(x, {.train = true}).data())));
}

BOOST_AUTO_TEST_CASE(test_mode_and_ratio_zero_are_the_identity) {
  const Variable x(spread({3, 4}));
  BOOST_TEST(nn::dropout(x, {.train = false}).is_same(x));
  {
    const auto mode = train_mode(false);
    BOOST_TEST(nn::dropout(x).is_same(x));
  }
  BOOST_TEST((to_vector<double>(nn::dropout(x, {.ratio = 0, .train = true}).data()) == to_vector<double>(x.data())));
}

BOOST_AUTO_TEST_CASE(the_ratio_by_position) {
  const Variable x(arrays::ones({1000}));
  const auto mode = train_mode(true);
  seed(5);
  const Array by_name = nn::dropout(x, {.ratio = 0.25}).data();
  seed(5);
  BOOST_TEST((to_vector<double>(nn::dropout(x, 0.25).data()) == to_vector<double>(by_name)));
  BOOST_TEST(to_vector<double>(amax(by_name))[0] == 1 / 0.75, boost::test_tools::tolerance(1e-6));
}
// As the reference's callers write it: the ratio, then whether the network is being trained, whatever the mode is.
BOOST_AUTO_TEST_CASE(ratio_and_train_by_position) {
  const Variable x(arrays::ones({1000})), h(arrays::zeros({1000})), W(arrays::ones({7, 1000}));
  for (const bool mode_of_thread : {true, false}) {
    const auto mode = train_mode(mode_of_thread);
    BOOST_TEST(nn::dropout(x, 0.25, false).is_same(x));
    BOOST_TEST(to_vector<double>(amax(nn::dropout(x, 0.25, true).data()))[0] == 1 / 0.75,
               boost::test_tools::tolerance(1e-6));
    BOOST_TEST(nn::zoneout(h, x, 0.5, false).is_same(x));
    BOOST_TEST(to_vector<double>(amin(nn::zoneout(h, x, 0.5, true).data()))[0] == 0);
    const Variable row(arrays::ones({1, 1000}));
    BOOST_TEST(to_vector<double>(nn::simplified_dropconnect(row, W, {}, 0.5, false).data())[0] == 1000);
    BOOST_TEST(to_vector<double>(
                   nn::simplified_dropconnect(row, W, {}, 0.5, true, arrays::ones({1, 7, 1000})).data())[0] == 2000);
  }
}

BOOST_AUTO_TEST_CASE(errors) {
  const Variable x(arrays::ones({3}));
  BOOST_CHECK_EXCEPTION(nn::dropout(x, {.ratio = 1}), catena::ValueError, [](const catena::Error& e) {
    return e.what() == std::string("dropout: the ratio 1 does not lie in [0, 1)");
  });
  BOOST_CHECK_THROW(nn::dropout(x, {.ratio = -0.1}), catena::ValueError);
  BOOST_CHECK_THROW(nn::dropout(Variable(arrays::ones({3}, Dtype::int32)), {.train = true}), catena::InvalidType);
}

BOOST_AUTO_TEST_CASE(a_mask_can_be_given) {
  const Array x = spread({3, 4}),
              mask = astype(apply(catena::kernels::greater, {spread({3, 4}, -1, 1, 4), 0}), Dtype::float64) * 2;
  const auto f = [&](const Variables& v) { return Variables{nn::dropout(v[0], {.train = true, .mask = mask})}; };
  BOOST_CHECK_NO_THROW(testing::assert_allclose(f({Variable(x)})[0].data(), x * mask, 0, 0));
  test::check_derivatives("dropout", f, {x});
  // The mask of one call is what another repeats.
  const auto [y, drawn] = nn::dropout_with_mask(Variable(x), {.ratio = 0.3, .train = true});
  BOOST_CHECK_NO_THROW(testing::assert_allclose(nn::dropout(Variable(x), {.train = true, .mask = drawn}).data(),
                                                y.data(), 1e-12, 1e-12));
  BOOST_TEST(nn::dropout(Variable(x), {.train = false, .mask = mask}).data().get() == x.get());
  BOOST_CHECK_EXCEPTION(nn::dropout(Variable(x), {.train = true, .mask = arrays::ones({4})}), catena::ValueError,
                        [](const catena::Error& e) {
                          return e.what() == std::string("dropout: the mask has the shape (4,), x has (3, 4)");
                        });
}

BOOST_AUTO_TEST_CASE(zoneout_keeps_or_takes_each_element) {
  const Array h = spread({40, 50}, 1, 2), x = spread({40, 50}, -2, -1, 3);
  for (const double ratio : {0.0, 0.25, 0.9, 1.0}) {
    seed(5);
    const Variable y = nn::zoneout(Variable(h), Variable(x), {.ratio = ratio, .train = true});
    const std::vector<double> ys = to_vector<double>(y.data()), hs = to_vector<double>(h), xs = to_vector<double>(x);
    double kept = 0;
    for (std::size_t k = 0; k < ys.size(); ++k) {
      BOOST_TEST((ys[k] == hs[k] || ys[k] == xs[k]));
      kept += ys[k] == hs[k];
    }
    // Six standard deviations.
    BOOST_TEST(std::fabs(kept / 2000 - ratio) <= 6 * std::sqrt(ratio * (1 - ratio) / 2000));
  }
  const auto f = [](const Variables& v) {
    seed(11);
    return Variables{nn::zoneout(v[0], v[1], {.ratio = 0.4, .train = true})};
  };
  for (const Shape& shape : {Shape{4, 5}, Shape{}, Shape{1}, Shape{0, 2}})
    test::check_derivatives("zoneout", f, {spread(shape), spread(shape, -1, 1, 3)});
  const Variable a(h), b(x);
  BOOST_TEST(nn::zoneout(a, b, {.train = false}).is_same(b));
  const Array keep = apply(catena::kernels::greater, {h, 1.5});
  BOOST_CHECK_NO_THROW(
      testing::assert_allclose(nn::zoneout(a, b, {.train = true, .keep = keep}).data(), where(keep, h, x), 0, 0));
  BOOST_CHECK_THROW(nn::zoneout(a, b, 1.5), catena::ValueError);
  BOOST_CHECK_THROW(nn::zoneout(a, b, {.train = true, .keep = arrays::ones({2})}), catena::ValueError);
  BOOST_CHECK_THROW(nn::zoneout(a, Variable(arrays::ones({2}, Dtype::float64))), catena::InvalidType);
}

BOOST_AUTO_TEST_CASE(gaussian_has_the_mean_and_the_variance) {
  const Array mean = arrays::full({200, 200}, 3.0), ln_var = arrays::full({200, 200}, std::log(4.0));
  seed(9);
  const auto [y, eps] = nn::gaussian(Variable(mean), Variable(ln_var), {}, nn::return_eps);
  const std::vector<double> ys = to_vector<double>(y.data());
  double first = 0, second = 0;
  for (const double v : ys) first += v / 40000;
  for (const double v : ys) second += (v - first) * (v - first) / 40000;
  BOOST_TEST(std::fabs(first - 3) < 0.06);  // six standard deviations
  BOOST_TEST(std::fabs(second - 4) < 0.17);
  // The same eps gives the same numbers.
  BOOST_CHECK_NO_THROW(
      testing::assert_allclose(nn::gaussian(Variable(mean), Variable(ln_var), eps).data(), y.data(), 0, 0));
  BOOST_CHECK_NO_THROW(testing::assert_allclose(y.data(), mean + eps * 2, 1e-5, 1e-5));
  for (const Shape& shape : {Shape{3, 4}, Shape{}, Shape{1}, Shape{0, 2}}) {
    const Array sample = spread(shape, -2, 2, 5);
    const auto f = [&](const Variables& v) { return Variables{nn::gaussian(v[0], v[1], sample)}; };
    test::check_derivatives("gaussian", f, {spread(shape), spread(shape, -1, 1, 3)});
  }
  const Variable x(arrays::ones({3}));
  BOOST_CHECK_THROW(nn::gaussian(x, Variable(arrays::ones({4}))), catena::InvalidType);
  BOOST_CHECK_THROW(nn::gaussian(x, Variable(arrays::ones({3}, Dtype::int32))), catena::InvalidType);
  BOOST_CHECK_THROW(nn::gaussian(x, x, arrays::ones({4})), catena::ValueError);
}

BOOST_AUTO_TEST_CASE(dropped_connections) {
  const Array x = spread({3, 2, 2}), W = spread({5, 4}, -1, 1, 3), b = spread({5}, -1, 1, 4);
  const Array mask = apply(catena::kernels::greater, {spread({3, 5, 4}, -1, 1, 5), -0.2});
  const std::vector<double> xs = to_vector<double>(x), ws = to_vector<double>(W), bs = to_vector<double>(b),
                            ms = to_vector<double>(astype(mask, Dtype::float64));
  for (const bool train : {true, false})
    for (const bool biased : {true, false}) {
      std::vector<double> expected;
      for (std::size_t n = 0; n < 3; ++n)
        for (std::size_t m = 0; m < 5; ++m) {
          double y = biased ? bs[m] : 0;
          for (std::size_t k = 0; k < 4; ++k)
            y += ws[4 * m + k] * ms[(n * 5 + m) * 4 + k] * xs[4 * n + k] / (train ? 0.75 : 1);
          expected.push_back(y);
        }
      const auto f = [&](const Variables& v) {
        return Variables{nn::simplified_dropconnect(v[0], v[1], biased ? v[2] : Variable(),
                                                    {.ratio = 0.25, .train = train, .mask = mask})};
      };
      Arrays inputs{x, W};
      if (biased) inputs.push_back(b);
      Variables v;
      for (const Array& a : inputs) v.push_back(Variable(a));
      BOOST_CHECK_NO_THROW(testing::assert_allclose(f(v)[0].data(), array(expected, {3, 5}), 1e-12, 1e-12));
      test::check_derivatives("simplified_dropconnect", f, inputs, {.atol16 = 2e-3, .rtol16 = 1e-2});
    }
  const Variable vx(x), vW(W), vb(b);
  BOOST_CHECK_NO_THROW(testing::assert_allclose(nn::simplified_dropconnect(vx, vW, vb, {.train = false}).data(),
                                                nn::linear(vx, vW, vb).data(), 1e-12, 1e-12));
  seed(2);
  const auto drawn = to_vector<double>(nn::simplified_dropconnect(vx, vW, vb, {.train = true}).data());
  seed(2);
  BOOST_TEST((drawn == to_vector<double>(nn::simplified_dropconnect(vx, vW, vb, {.train = true}).data())));
  BOOST_TEST((drawn != to_vector<double>(nn::simplified_dropconnect(vx, vW, vb, {.train = true}).data())));
  // Of many connections the share that is kept is 1 - ratio, and the others are scaled.
  const Array many = nn::simplified_dropconnect(Variable(arrays::ones({50, 40})), Variable(arrays::ones({20, 40})), {},
                                                {.ratio = 0.2, .train = true})
                         .data();
  BOOST_TEST(std::fabs(item(mean(many)).to_double() - 40) < 6 * 40 * std::sqrt(0.25 / 40000));
  BOOST_CHECK(
      nn::simplified_dropconnect(Variable(arrays::zeros({0, 4})), Variable(arrays::ones({5, 4})), {}, {.train = true})
          .shape() == (Shape{0, 5}));
  BOOST_CHECK_THROW(nn::simplified_dropconnect(vx, vW, vb, 1.0), catena::ValueError);
  BOOST_CHECK_THROW(nn::simplified_dropconnect(vx, vW, vb, {.mask = arrays::ones({3, 5})}), catena::ValueError);
  BOOST_CHECK_THROW(nn::simplified_dropconnect(vx, Variable(arrays::ones({5, 3}, Dtype::float64))),
                    catena::InvalidType);
  BOOST_CHECK_THROW(nn::simplified_dropconnect(vx, vW, Variable(arrays::ones({4}, Dtype::float64))),
                    catena::InvalidType);
}

BOOST_AUTO_TEST_CASE(golden_values) {
  using Call = const test::GoldenCall&;
  test::run_golden(
      "noise",
      {{"dropout",
        [](Call c) {
          const double ratio = c.number("ratio", 0.5);
          const Array keep = c.array("flag");
          return Variables{
              nn::dropout(c.x(0), {.ratio = ratio,
                                   .train = c.flag("train", true),
                                   .mask = keep ? astype(keep, c.x(0).dtype()) * (1 / (1 - ratio)) : Array()})};
        }},
       {"zoneout",
        [](Call c) {
          return Variables{
              nn::zoneout(c.x("h"), c.x("x"), {.ratio = c.number("ratio", 0.5), .train = c.flag("train", true)})};
        }},
       {"gaussian", [](Call c) { return Variables{nn::gaussian(c.x("mean"), c.x("ln_var"), c.array("eps"))}; }},
       {"simplified_dropconnect", [](Call c) {
          return Variables{nn::simplified_dropconnect(
              c.x("x"), c.x("W"), c.x("b"),
              {.ratio = c.number("ratio", 0.5), .train = c.flag("train", true), .mask = c.array("mask")})};
        }}});
}

// One mask for a whole part of x: an element is 0 or x / (1 - ratio), as the first one of its part.
BOOST_AUTO_TEST_CASE(whole_parts_are_dropped) {
  struct Case {
    const char* name;
    std::function<Variable(const Variable&)> f;
    std::function<std::int64_t(std::int64_t n, std::int64_t c, std::int64_t d)> part;
    std::int64_t parts;
  };
  const std::int64_t N = 30, C = 20, D = 3;
  const Case cases[] = {
      {"channels", [](const Variable& x) { return nn::channel_dropout(x, 0.25, true); },
       [&](auto n, auto c, auto) { return n * C + c; }, N * C},
      {"examples", [](const Variable& x) { return nn::drop_path(x, {.ratio = 0.25, .train = true}); },
       [](auto n, auto, auto) { return n; }, N},
      {"times", [](const Variable& x) { return nn::time_shared_dropout(x, 0.25, 0, true); },
       [&](auto, auto c, auto d) { return c * D + d; }, C * D},
      {"last axis",
       [](const Variable& x) {
         return nn::time_shared_dropout(x, {0.25, -1, true});
       },
       [&](auto n, auto c, auto) { return n * C + c; }, N * C},
  };
  for (const Case& k : cases) BOOST_TEST_CONTEXT(k.name) {
      seed(17);
      Variable x(arrays::ones({N, C, D}, Dtype::float64));
      Variable y = k.f(x);
      const std::vector<double> v = to_vector<double>(y.data());
      std::vector<double> of_part(std::size_t(k.parts), -1);
      bool same = true;
      double kept = 0;
      for (std::int64_t i = 0; i < y.size(); ++i) {
        double& expected = of_part[std::size_t(k.part(i / (C * D), i / D % C, i % D))];
        const double given = v[std::size_t(i)];
        if (expected < 0) expected = given, kept += given != 0;
        same &= given == expected && (given == 0 || std::fabs(given - 4.0 / 3) < 1e-12);
      }
      BOOST_TEST(same);
      // Neighbouring parts are drawn independently: 3/8 of them differ.
      int changes = 0;
      for (std::size_t i = 1; i < of_part.size(); ++i) changes += of_part[i] != of_part[i - 1];
      BOOST_TEST(changes > k.parts / 5);
      BOOST_TEST(std::fabs(kept / double(k.parts) - 0.75) < 5 * std::sqrt(0.25 * 0.75 / double(k.parts)));
      y.set_grad(arrays::ones({N, C, D}, Dtype::float64));
      y.backward();
      BOOST_TEST((to_vector<double>(x.grad()) == v));
    }
  const Variable x(arrays::ones({2, 3}));
  BOOST_TEST(nn::channel_dropout(x, 0.5, false).is_same(x));
  BOOST_TEST(nn::drop_path(x, {.train = false}).is_same(x));
  BOOST_TEST(nn::time_shared_dropout(x, {.train = false}).is_same(x));
  BOOST_TEST(nn::alpha_dropout(x, 0.5, false).is_same(x));
  BOOST_CHECK_THROW(nn::channel_dropout(Variable(arrays::ones({3})), 0.5, true), catena::InvalidType);
  BOOST_CHECK_THROW(nn::drop_path(Variable(arrays::ones({})), 0.5, true), catena::InvalidType);
  BOOST_CHECK_THROW(nn::time_shared_dropout(x, 0.5, 2, true), catena::InvalidType);
  BOOST_CHECK_THROW(nn::drop_path(x, 1.0, true), catena::ValueError);
  BOOST_CHECK_THROW(nn::alpha_dropout(x, -0.1, true), catena::ValueError);
}

BOOST_AUTO_TEST_CASE(alpha_dropout_keeps_mean_and_variance) {
  seed(19);
  Generator g{23, 0};
  const Array x = random_normal({400, 500}, 0, 1, Dtype::float64, g);
  const std::vector<double> xs = to_vector<double>(x),
                            y = to_vector<double>(nn::alpha_dropout(Variable(x), 0.2, true).data());
  // The factors of PyTorch: limit -1.7580993408473766.
  const double limit = -1.7580993408473766, a = 1 / std::sqrt(0.8 * (1 + 0.2 * limit * limit)), b = -a * limit * 0.2;
  double mean = 0, square = 0, dropped = 0;
  for (std::size_t k = 0; k < y.size(); ++k) {
    const bool drop = std::fabs(y[k] - (a * limit + b)) < 1e-12;
    BOOST_REQUIRE((drop || std::fabs(y[k] - (a * xs[k] + b)) < 1e-12));
    mean += y[k], square += y[k] * y[k], dropped += drop;
  }
  const double n = double(y.size());
  BOOST_TEST(std::fabs(mean / n) < 0.02);
  BOOST_TEST(std::fabs(square / n - 1) < 0.02);
  BOOST_TEST(std::fabs(dropped / n - 0.2) < 0.005);
}

BOOST_AUTO_TEST_CASE(shared_masks_have_derivatives) {
  const auto check = [](const char* name, const std::function<Variable(const Variable&)>& f) {
    test::check_derivatives(name, [&](const Variables& v) { return seed(11), Variables{f(v[0])}; }, {spread({3, 4, 2})},
                            {.atol16 = 2e-3});
  };
  check("channel_dropout", [](const Variable& x) { return nn::channel_dropout(x, 0.4, true); });
  check("alpha_dropout", [](const Variable& x) { return nn::alpha_dropout(x, 0.4, true); });
  check("gumbel_softmax", [](const Variable& x) { return nn::gumbel_softmax(x, 0.8); });
  const Array r = spread({3, 4, 2}, 0.1, 0.4, 5);
  check("rrelu", [&](const Variable& x) { return nn::rrelu(x, {.r = astype(r, x.dtype())}); });
}

// A class is drawn with its probability; a hard sample is one of the unit vectors and has the gradient of the soft one.
BOOST_AUTO_TEST_CASE(samples_of_classes) {
  seed(29);
  const std::vector<double> p = {0.1, 0.6, 0.3};
  std::vector<double> logs;
  for (int n = 0; n < 4000; ++n)
    for (const double q : p) logs.push_back(std::log(q) + 2);
  const std::vector<double> y =
      to_vector<double>(nn::gumbel_softmax(Variable(array(logs, {4000, 3})), {.hard = true}).data());
  std::vector<double> count(3);
  for (std::size_t k = 0; k < y.size(); ++k) {
    BOOST_REQUIRE((y[k] == 0 || y[k] == 1));
    count[k % 3] += y[k];
  }
  for (std::size_t c = 0; c < 3; ++c)
    BOOST_TEST(std::fabs(count[c] / 4000 - p[c]) < 5 * std::sqrt(p[c] * (1 - p[c]) / 4000));
  const auto gradient = [](bool hard) {
    seed(31);
    Variable x(spread({2, 3, 4}));
    Variable z = nn::gumbel_softmax(x, 0.7, -1, hard);
    z.set_grad(spread({2, 3, 4}, -1, 1, 9));
    z.backward();
    return std::pair(to_vector<double>(z.data()), x.grad());
  };
  const auto [soft, of_soft] = gradient(false);
  const auto [hard, of_hard] = gradient(true);
  BOOST_CHECK_NO_THROW(testing::assert_allclose(of_hard, of_soft, 1e-14, 1e-12));
  for (std::size_t row = 0; row < 6; ++row) {
    double total = 0;
    std::size_t most = 0;
    for (std::size_t k = 0; k < 4; ++k) {
      total += soft[4 * row + k];
      if (soft[4 * row + k] > soft[4 * row + most]) most = k;
    }
    BOOST_TEST(std::fabs(total - 1) < 1e-12);
    for (std::size_t k = 0; k < 4; ++k) BOOST_TEST(hard[4 * row + k] == (k == most));
  }
  BOOST_CHECK_THROW(nn::gumbel_softmax(Variable(arrays::ones({2, 2})), 0), catena::ValueError);
  BOOST_CHECK_THROW(nn::gumbel_softmax(Variable(arrays::ones({2, 2}, Dtype::int32))), catena::InvalidType);
}

BOOST_AUTO_TEST_CASE(random_slopes) {
  seed(37);
  const Variable x(spread({20, 30}, -2, 2));
  const std::vector<double> xs = to_vector<double>(x.data()),
                            y = to_vector<double>(nn::rrelu(x, {.lower = 0.25, .upper = 0.5, .train = true}).data()),
                            fixed =
                                to_vector<double>(nn::rrelu(x, {.lower = 0.25, .upper = 0.5, .train = false}).data());
  double least = 1, most = 0;
  for (std::size_t k = 0; k < xs.size(); ++k) {
    if (xs[k] >= 0) {
      BOOST_TEST((y[k] == xs[k] && fixed[k] == xs[k]));
      continue;
    }
    BOOST_TEST(std::fabs(fixed[k] - 0.375 * xs[k]) < 1e-15);
    least = std::min(least, y[k] / xs[k]), most = std::max(most, y[k] / xs[k]);
  }
  BOOST_TEST((least >= 0.25 && least < 0.28 && most < 0.5 && most > 0.47));
  BOOST_CHECK_THROW(nn::rrelu(x, 0.5, 0.25), catena::ValueError);
  BOOST_CHECK_THROW(nn::rrelu(x, {.r = arrays::ones({3})}), catena::ValueError);
}

BOOST_AUTO_TEST_SUITE_END()
