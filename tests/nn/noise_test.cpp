// Dropout.
#include <catena/nn/functions/noise.h>

#include <boost/test/unit_test.hpp>
#include <cmath>

#include <catena/autograd/functions/math.h>
#include <catena/autograd/testing.h>
#include <catena/tests/support/framework_derivatives.h>
#include <catena/tests/support/framework_golden.h>

using namespace autograd;
using test::spread;

BOOST_AUTO_TEST_SUITE(noise)

BOOST_AUTO_TEST_CASE(drops_the_right_share_and_scales_the_rest) {
  for (const double ratio : {0.1, 0.5, 0.9}) {
    seed(3);
    const std::vector<float> y =
        to_vector<float>(nn::dropout(Variable(ones({200, 500})), {.ratio = ratio, .train = true}).data());
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
  Variable x(ones({50, 7}));
  Variable y = nn::dropout(x, {.ratio = 0.3, .train = true});
  y.set_grad(ones({50, 7}));
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
  const Variable x(ones({100}));
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
  const Variable x(ones({1000}));
  const auto mode = train_mode(true);
  seed(5);
  const Array by_name = nn::dropout(x, {.ratio = 0.25}).data();
  seed(5);
  BOOST_TEST((to_vector<double>(nn::dropout(x, 0.25).data()) == to_vector<double>(by_name)));
  BOOST_TEST(to_vector<double>(amax(by_name))[0] == 1 / 0.75, boost::test_tools::tolerance(1e-6));
}

BOOST_AUTO_TEST_CASE(errors) {
  const Variable x(ones({3}));
  BOOST_CHECK_EXCEPTION(nn::dropout(x, {.ratio = 1}), catena::ValueError, [](const catena::Error& e) {
    return e.what() == std::string("dropout: the ratio 1 does not lie in [0, 1)");
  });
  BOOST_CHECK_THROW(nn::dropout(x, {.ratio = -0.1}), catena::ValueError);
  BOOST_CHECK_THROW(nn::dropout(Variable(ones({3}, Dtype::int32)), {.train = true}), catena::InvalidType);
}

BOOST_AUTO_TEST_CASE(golden_values) {
  test::run_golden(
      "noise",
      {{"dropout",
        [](const test::GoldenCall& c) {
          return Variables{nn::dropout(c.x(0), {.ratio = c.number("ratio", 0.5), .train = c.flag("train", true)})};
        }}},
      {.lacks = [](const test::Json& json) { return json["input_names"].size() > 1 ? "given_mask" : ""; }});
}

BOOST_AUTO_TEST_SUITE_END()
