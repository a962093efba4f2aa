// Hooks on gradients, backward passes from several variables, and the further arguments of grad().
#include <boost/test/unit_test.hpp>

#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/grad.h>
#include <catena/autograd/variable.h>
#include <catena/tests/support/framework_devices.h>
#include <catena/tests/support/message_of.h>

using namespace autograd;

namespace {

using Doubles = std::vector<double>;
Variable doubles(const Doubles& v) { return Variable(array<double>(v, {std::int64_t(v.size())})); }
Doubles values(const Array& a) { return a ? to_vector<double>(a) : Doubles(); }
#define CHECK_IS(array, ...) BOOST_TEST(values(array) == (Doubles __VA_ARGS__), boost::test_tools::per_element())

}  // namespace

BOOST_AUTO_TEST_SUITE(grad_options)

BOOST_AUTO_TEST_CASE(a_hook_of_a_root_gets_the_whole_gradient_of_a_pass_once) {
  const Variable x = doubles({1, 2});
  std::vector<Doubles> seen;
  GradHook noting = x.register_hook([&](const Variable& g) { seen.push_back(values(g.data())); });
  sum(x * x + x * 3).backward();
  BOOST_REQUIRE(seen.size() == 1);
  BOOST_TEST((seen[0] == Doubles{5, 7}));
  GradHook doubling = x.register_hook([](const Variable& g) { return g * 2; });
  x.cleargrad();
  sum(x * x + x * 3).backward();
  CHECK_IS(x.grad(), {10, 14});
  sum(x).backward();  // added to the gradient that is there, which no hook gets again
  CHECK_IS(x.grad(), {12, 16});
  BOOST_TEST((seen.back() == Doubles{1, 1}));
  doubling.remove();
  noting.remove();
  noting.remove();
  x.cleargrad();
  sum(x * x).backward();
  CHECK_IS(x.grad(), {2, 4});
  BOOST_TEST(seen.size() == 3u);
}

BOOST_AUTO_TEST_CASE(a_hook_of_an_intermediate_variable_changes_what_flows_on) {
  const Variable x = doubles({1, 2});
  const Variable h = x * 3;
  const GradHook clipping =
      h.register_hook([](const Variable& g) { return minimum(g, Variable(full_like(g.data(), 5))); });
  sum(h * h).backward({.retain_grad = true});  // 2 h = 6, 12
  CHECK_IS(h.grad(), {5, 5});
  CHECK_IS(x.grad(), {15, 15});
  CHECK_IS(grad({sum(h * h)}, {x})[0].data(), {15, 15});
  CHECK_IS(grad({sum(h * h)}, {h})[0].data(), {5, 5});
  CHECK_IS(grad({sum(h * h)}, {h, x})[0].data(), {5, 5});
}

BOOST_AUTO_TEST_CASE(hooks_take_part_in_second_derivatives) {
  const Variable x = doubles({1, 2});
  const GradHook squaring = x.register_hook([](const Variable& g) { return g * g; });
  const Variable g = grad({sum(x * x * x)}, {x}, {}, true)[0];  // (3 x^2)^2 = 9 x^4
  CHECK_IS(g.data(), {9, 144});
  CHECK_IS(grad({sum(g)}, {x}, {}, false)[0].data(), {36 * 36.0, 288 * 288.0});
}

BOOST_AUTO_TEST_CASE(hooks_that_do_not_fit_are_errors_and_change_nothing) {
  const Variable x = doubles({1, 2});
  GradHook wrong = x.register_hook([](const Variable& g) { return sum(g); });
  BOOST_CHECK_THROW(sum(x).backward(), catena::ValueError);
  BOOST_TEST(!x.grad());
  wrong.remove();
  GradHook narrow = x.register_hook([](const Variable& g) { return cast(g, Dtype::float32); });
  BOOST_CHECK_THROW(sum(x).backward(), catena::TypeError);
  narrow.remove();
  BOOST_CHECK_THROW(static_cast<void>(x.register_hook(GradHook::Function())), catena::TypeError);
}

BOOST_AUTO_TEST_CASE(backward_from_several_variables_is_one_pass) {
  const Variable x = doubles({1, 2});
  const Variable h = x * x, y = sum(h), z = sum(h * 3);
  backward({y, z});
  CHECK_IS(x.grad(), {8, 16});
  CHECK_IS(y.grad(), {1});
  // One of them depends on the other.
  x.cleargrad();
  const Variable a = x * 2, b = sum(a * a);
  Variable(a).set_grad(array<double>({10, 20}, {2}));
  const Array given = a.grad();
  backward({b, a});  // b: 2 a = 4, 8
  CHECK_IS(x.grad(), {28, 56});
  CHECK_IS(given, {10, 20});
  BOOST_TEST(test::message_of<catena::RuntimeError>([&] {
               backward({sum(x), x * 1});
             }) ==
             "backward: the variable has shape (2,) and no gradient; set its grad first (only a single element starts "
             "with 1 by itself)");
  BOOST_CHECK_THROW(backward({Variable()}), catena::ValueError);
  backward({});
}

BOOST_AUTO_TEST_CASE(the_loss_scale_is_the_first_gradient) {
  const Variable x = doubles({1, 2});
  const Variable y = sum(x * x);
  y.backward({.loss_scale = 8});
  CHECK_IS(x.grad(), {16, 32});
  CHECK_IS(y.grad(), {8});
}

BOOST_AUTO_TEST_CASE(grad_inputs_set_grad_and_retain_grad) {
  const Variable x = doubles({1, 2}), w = doubles({5, 6});
  const Variable h = x * 3, y = sum(h * h);
  const Variables g = grad({y}, {x, w}, {}, {doubles({100, 200}), Variable()}, true, true);
  CHECK_IS(g[0].data(), {118, 236});
  CHECK_IS(x.grad(), {118, 236});
  BOOST_TEST(!g[1]);
  BOOST_TEST(!w.grad());
  CHECK_IS(h.grad(), {6, 12});
  const Variables again = grad({sum(x * x * x)}, {x}, {}, {doubles({1, 1})}, false, false, true);
  CHECK_IS(again[0].data(), {4, 13});
  CHECK_IS(grad({sum(again[0])}, {x})[0].data(), {6, 12});
  CHECK_IS(x.grad(), {118, 236});
  BOOST_TEST(test::message_of<catena::ValueError>([&] {
               grad({y}, {x}, {}, {Variable(), Variable()});
             }) == "grad: 2 grad_inputs given for 1 inputs");
  BOOST_CHECK_THROW(grad({y}, {x}, {}, {doubles({1})}), catena::ValueError);
}

BOOST_AUTO_TEST_CASE(integers_require_no_gradient) {
  const Variable t(array<std::int32_t>({1, 2}, {2}));
  BOOST_TEST(!t.requires_grad());
  BOOST_TEST(doubles({1}).requires_grad());
  BOOST_CHECK_THROW(Variable(t).set_requires_grad(true), catena::TypeError);
  Variable(t).set_requires_grad(false);
}

BOOST_AUTO_TEST_SUITE_END()
