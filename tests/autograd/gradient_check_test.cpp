// The gradient checker itself: right rules pass, wrong ones are found.
#include <catena/autograd/gradient_check.h>

#include <boost/test/unit_test.hpp>
#include <cmath>

#include <catena/autograd/debug.h>
#include <catena/autograd/function.h>
#include <catena/autograd/functions/basic_math.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/testing.h>
#include <catena/tests/support/message_of.h>

using namespace autograd;
using gradient_check::check_backward;
using gradient_check::check_double_backward;
using gradient_check::numerical_grad;

namespace {

Array doubles(std::vector<double> v) {
  const Shape shape{std::int64_t(v.size())};
  return array(v, shape);
}

// x^2 with a derivative that is wrong by a factor.
struct WrongSquare final : FunctionNode {
  explicit WrongSquare(double factor) : factor(factor) {}
  std::string label() const override { return "WrongSquare"; }
  Arrays forward(const Arrays& x) override {
    retain_inputs({0});
    return {x[0] * x[0]};
  }
  Variables backward(const Targets&, const Variables& gy) override { return {gy[0] * retained_input(0) * factor}; }
  double factor;
};
// Right at first order; its rule reads the input as a constant, so the second derivative is wrong.
struct OnceOnly final : FunctionNode {
  std::string label() const override { return "OnceOnly"; }
  Arrays forward(const Arrays& x) override {
    retain_inputs({0});
    return {x[0] * x[0]};
  }
  Variables backward(const Targets&, const Variables& gy) override { return {gy[0] * retained_input(0).data() * 2}; }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(gradient_check)

BOOST_AUTO_TEST_CASE(numerical_gradients) {
  const Array x = doubles({1, 2, 3}), gy = doubles({1, 10, 100});
  const auto f = [&] { return Arrays{x * x * x}; };
  const Array g = numerical_grad(f, {x}, {gy}, 1e-4)[0];
  BOOST_CHECK_NO_THROW(testing::assert_allclose(g, doubles({3, 120, 2700}), 1e-3, 1e-6));
  BOOST_TEST(to_vector<double>(x) == (std::vector<double>{1, 2, 3}), boost::test_tools::per_element());  // restored
  const auto itself = [&] { return Arrays{x, x * 2}; };  // may return the input
  BOOST_CHECK_NO_THROW(testing::assert_allclose(numerical_grad(itself, {x}, {gy, Array()})[0], gy, 1e-8, 1e-8));
  BOOST_CHECK_THROW(numerical_grad(f, {x}, {gy}, 0), catena::AssertionError);
  BOOST_CHECK_THROW(numerical_grad(f, {x}, {gy, gy}), catena::ValueError);
}

BOOST_AUTO_TEST_CASE(inputs_and_modes_are_restored_after_an_exception) {
  const Array x = doubles({1});
  int calls = 0;
  const auto f = [&]() -> Arrays {
    BOOST_CHECK(!is_type_check_enabled());
    if (++calls == 2) throw catena::RuntimeError("stop");
    return {x};
  };
  BOOST_CHECK_THROW(numerical_grad(f, {x}, {doubles({1})}), catena::RuntimeError);
  BOOST_TEST(to_vector<double>(x)[0] == 1);
  BOOST_CHECK(is_type_check_enabled());
}

BOOST_AUTO_TEST_CASE(strided_inputs) {
  const Array whole = doubles({1, 2, 3, 4, 5, 6}), x = transpose(reshape(whole, {2, 3}));
  const auto f = [&] { return Arrays{x * x}; };
  BOOST_CHECK_NO_THROW(testing::assert_allclose(numerical_grad(f, {x}, {ones_like(x)})[0], x * 2, 1e-6, 1e-6));
}

BOOST_AUTO_TEST_CASE(wrong_gradients_are_found) {
  const Array x = doubles({1, 2}), gy = doubles({1, -1});
  const auto f = [](double factor) {
    return [factor](const Variable& v) { return apply_node<WrongSquare>({v}, factor)[0]; };
  };
  BOOST_CHECK_NO_THROW(check_backward(f(2), {x}, {gy}));
  BOOST_CHECK_EXCEPTION(check_backward(f(2.1), {x}, {gy}), catena::AssertionError, [](const auto& e) {
    return std::string(e.what()).find("the gradient of input 0 is wrong") != std::string::npos;
  });
  // One array without braces.
  BOOST_CHECK_NO_THROW(check_backward(f(2), x, gy, {.atol = 1e-3, .rtol = 1e-3}));
  BOOST_CHECK_THROW(check_backward(f(2.1), x, gy), catena::AssertionError);
  const auto once = [](const Variable& v) { return apply_node<OnceOnly>({v})[0]; };
  BOOST_CHECK_NO_THROW(check_backward(once, {x}, {gy}));
  BOOST_CHECK_THROW(check_double_backward(once, {x}, {gy}, {doubles({1, 1})}), catena::AssertionError);
  BOOST_CHECK_NO_THROW(check_double_backward(f(2), {x}, {gy}, {doubles({1, 1})}));
}

BOOST_AUTO_TEST_CASE(arguments_are_checked) {
  const Array x = doubles({1, 2}), gy = doubles({1, 1});
  const auto f = [](const Variable& v) { return square(v); };
  const auto two = [](const Variables& v) { return Variables{square(v[0]), v[0] + 1}; };
  BOOST_CHECK_THROW(check_backward(two, {x}), catena::ValueError);
  BOOST_CHECK_THROW(check_backward(f, {x}, {gy, gy}), catena::ValueError);
  BOOST_CHECK_THROW(check_backward(f, {x}, {gy}, {.no_grads = {false, true}}), catena::ValueError);
  BOOST_CHECK_THROW(check_backward(f, {x}, {gy}, {.dtype = Dtype::int32}), catena::ValueError);
  BOOST_CHECK_THROW(check_backward(f, {x}, {gy}, {.dtype = Dtype::float64, .params = {Variable(x)}}),
                    catena::ValueError);
  BOOST_CHECK_NO_THROW(check_backward([](const Variable& v) { return sum(square(v)); }, {x}));
  BOOST_CHECK_NO_THROW(check_backward(two, {x}, {gy, gy}));
  BOOST_CHECK_NO_THROW(check_backward(two, {x}, {Array(), gy}));
}

BOOST_AUTO_TEST_CASE(inputs_without_gradients) {
  const Array x = doubles({1, 2}), t = array<int>({0, 1}, {2}), gy = doubles({1, 1});
  const auto f = [](const Variables& v) { return square(v[0]) * astype(v[1].data(), Dtype::float64); };
  BOOST_CHECK_NO_THROW(check_backward(f, {x, t}, {gy}));  // integers are skipped
  BOOST_CHECK_THROW(check_backward([](const Variables& v) { return square(v[0]); }, {x, x}, {gy}),
                    catena::AssertionError);
  BOOST_CHECK_NO_THROW(
      check_backward([](const Variables& v) { return square(v[0]); }, {x, x}, {gy}, {.no_grads = {false, true}}));
  BOOST_CHECK_THROW(check_backward([](const Variables& v) { return square(v[0]); }, {x}, {gy}, {.no_grads = {true}}),
                    catena::AssertionError);
}

BOOST_AUTO_TEST_CASE(narrow_inputs_with_a_wide_numerical_side) {
  const Array x = astype(doubles({0.5, 1.25}), Dtype::float16), gy = astype(doubles({1, 0.5}), Dtype::float16);
  BOOST_CHECK_NO_THROW(check_backward([](const Variable& v) { return exp(v); }, {x}, {gy},
                                      {.atol = 5e-3, .rtol = 5e-3, .dtype = Dtype::float64}));
}

BOOST_AUTO_TEST_CASE(parameters) {
  const Variable w(doubles({2, 3}));
  const Array x = doubles({1, 2}), gy = doubles({1, 1});
  BOOST_CHECK_NO_THROW(check_backward([&](const Variable& v) { return v * w * w; }, {x}, {gy}, {.params = {w}}));
  BOOST_CHECK_THROW(check_backward([&](const Variable& v) { return v * w * w.data(); }, {x}, {gy}, {.params = {w}}),
                    catena::AssertionError);
}

BOOST_AUTO_TEST_CASE(second_derivatives_with_respect_to_parameters) {
  const Variable w(doubles({2, 3}));
  const Array x = doubles({1, 2}), gy = doubles({1, 1}), ggx = doubles({0.5, -1}), ggw = doubles({2, 1});
  const auto f = [&](const Variable& v) { return v * v * w * w; };
  BOOST_CHECK_NO_THROW(check_double_backward(f, {x}, {gy}, {ggx}, {.params = {w}, .params_grad_grad = {ggw}}));
  BOOST_CHECK_NO_THROW(check_double_backward(f, {x}, {gy}, {ggx}, {.params = {w}, .params_grad_grad = {Array()}}));
  // The gradient of w has no graph here, so its derivatives are missing.
  const auto cut = [&](const Variable& v) { return v + Variable(v.data()) * w * w; };
  BOOST_CHECK_NO_THROW(check_double_backward(cut, {x}, {gy}, {ggx}, {.params = {w}}));
  BOOST_CHECK_THROW(check_double_backward(cut, {x}, {gy}, {ggx}, {.params = {w}, .params_grad_grad = {ggw}}),
                    catena::AssertionError);
  BOOST_CHECK_THROW(check_double_backward(f, {x}, {gy}, {ggx}, {.params = {w}, .params_grad_grad = {ggw, ggw}}),
                    catena::ValueError);
}

BOOST_AUTO_TEST_CASE(points_without_a_derivative_are_found) {
  const Array gy = doubles({1, 1});
  const auto at = [&](const Array& x, const auto& f) {
    return autograd::gradient_check::numerical_grad([&] { return f(Variable(x)); }, {x}, {gy}, 1e-3,
                                                    {.detect_nondifferentiable = true});
  };
  const auto kink = [](const Variable& v) { return absolute(v); };
  const auto step = [](const Variable& v) { return floor(v); };
  const auto smooth = [](const Variable& v) { return exp(v) * v * v; };
  using autograd::gradient_check::NondifferentiableError;
  for (const double place : {0.0, 0.4e-3, -0.9e-3})
    BOOST_CHECK_THROW(at(doubles({1, place}), kink), NondifferentiableError);
  for (const double place : {1.0, 1.0004, 0.9991})
    BOOST_CHECK_THROW(at(doubles({0.5, place}), step), NondifferentiableError);
  BOOST_CHECK_THROW(at(doubles({1, 0.0}), [](const Variable& v) { return log(v); }), NondifferentiableError);
  BOOST_CHECK_NO_THROW(at(doubles({0.1, -0.002}), kink));
  for (const double place : {0.0, -2.0, 3.0, 1e-3}) BOOST_CHECK_NO_THROW(at(doubles({0.5, place}), smooth));
  const Array single = astype(doubles({1000, 0.25}), Dtype::float32);
  BOOST_CHECK_NO_THROW(at(single, [](const Variable& v) { return v * 0.1 + 5; }));
  BOOST_CHECK_THROW(check_backward(kink, {doubles({1, 0})}, {gy}, {.detection = {.detect_nondifferentiable = true}}),
                    NondifferentiableError);
}

BOOST_AUTO_TEST_CASE(a_derivative_in_a_random_direction) {
  const Variable w(doubles({2, 3}));
  const Array x = doubles({1, 2}), gy = doubles({1, 1});
  int calls = 0;
  const auto f = [&](const Variable& v) {
    ++calls;
    return v * w * w;
  };
  const std::vector<double> before = to_vector<double>(w.data());
  BOOST_CHECK_NO_THROW(check_backward(f, {x}, {gy}, {.params = {w}, .directional = true}));
  BOOST_TEST(calls == 3);  // backward, and the two ends
  BOOST_TEST(to_vector<double>(w.data()) == before, boost::test_tools::per_element());
  BOOST_TEST(to_vector<double>(x) == (std::vector<double>{1, 2}), boost::test_tools::per_element());
  BOOST_CHECK_THROW(check_backward([&](const Variable& v) { return v * w * w.data(); }, {x}, {gy},
                                   {.params = {w}, .directional = true}),
                    catena::AssertionError);
}

BOOST_AUTO_TEST_CASE(assertions_on_arrays) {
  using testing::assert_allclose;
  BOOST_CHECK_NO_THROW(assert_allclose(doubles({1, NAN, INFINITY}), doubles({1 + 1e-5, NAN, INFINITY})));
  BOOST_CHECK_THROW(assert_allclose(doubles({INFINITY}), doubles({-INFINITY})), catena::AssertionError);
  BOOST_CHECK_THROW(assert_allclose(doubles({1}), doubles({NAN})), catena::AssertionError);
  BOOST_CHECK_THROW(assert_allclose(doubles({1, 2}), doubles({1, 2, 3})), catena::AssertionError);
  BOOST_CHECK_NO_THROW(assert_allclose(doubles({2, 2, 2}), 2));
  // |x - y| <= atol + rtol |y|: 0.25 is as far as 0.05 + 0.1 * 2 allows.
  BOOST_CHECK_NO_THROW(assert_allclose(doubles({2.25}), doubles({2}), 0.05, 0.1 + 1e-9));
  BOOST_CHECK_THROW(assert_allclose(doubles({2.25}), doubles({2}), 0.05, 0.09), catena::AssertionError);
  BOOST_CHECK_THROW(assert_allclose(doubles({2.25}), doubles({2}), 0.04, 0.1), catena::AssertionError);
  const auto message = [](bool verbose) {
    return test::message_of<catena::AssertionError>([&] {
      assert_allclose(doubles({1, 2}), doubles({1, 3}), 1e-5, 1e-4, verbose);
    });
  };
  BOOST_TEST(message(true).size() > message(false).size());
  BOOST_CHECK_NO_THROW(assert_allclose(2.0, 2));
  BOOST_CHECK_EXCEPTION(assert_allclose(doubles({1, 5, 3}), doubles({1, 2, 3.5})), catena::AssertionError,
                        [](const auto& e) {
                          return std::string(e.what()).find(
                                     "2 of 3 elements differ by more than atol 1e-05 + rtol 0.0001; the largest "
                                     "difference, 3, is at element 1") != std::string::npos;
                        });
  static std::string category;
  const WarningHandler previous = set_warning_handler([](std::string_view c, std::string_view) { category = c; });
  autograd::gradient_check::assert_allclose(doubles({1}), doubles({1}));
  set_warning_handler(previous);
  BOOST_TEST(category == "DeprecationWarning");
}

BOOST_AUTO_TEST_SUITE_END()
