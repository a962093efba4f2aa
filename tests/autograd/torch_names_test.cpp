// PyTorch's names of modes, of options of backward and grad, and of item.
#include <limits>

#include <boost/test/unit_test.hpp>

#include <catena/autograd/autocast.h>
#include <catena/autograd/config.h>
#include <catena/autograd/derivatives.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/functions/torch_names.h>
#include <catena/autograd/hooks.h>
#include <catena/autograd/no_grad.h>
#include <catena/autograd/operators.h>
#include <catena/autograd/variable.h>

using namespace autograd;
using Doubles = std::vector<double>;

namespace {

Variable numbers() { return Variable(arrays::full({2}, 3.0, Dtype::float64)); }
Doubles of(const Variable& v) { return to_vector<double>(v.data()); }

}  // namespace

BOOST_AUTO_TEST_SUITE(torch_names)

BOOST_AUTO_TEST_CASE(scopes_without_a_graph) {
  const Variable x = numbers();
  {
    const auto scope = no_grad();
    BOOST_TEST(((x * x).creator() == nullptr));
    {
      const auto inner = force_backprop_mode();
      BOOST_TEST(((x * x).creator() != nullptr));
      const NoGradGuard guard;
      BOOST_TEST(((x * x).creator() == nullptr));
    }
    BOOST_TEST(((x * x).creator() == nullptr));
  }
  BOOST_TEST(((x * x).creator() != nullptr));
}

// A result without a graph needs no gradient, so that nothing is computed for it later.
BOOST_AUTO_TEST_CASE(results_without_a_graph_need_no_gradient) {
  const Variable x = numbers();
  Variable y;
  {
    const no_grad scope;
    y = exp(x * 2);
    BOOST_TEST(!y.requires_grad());
  }
  BOOST_TEST(((y * 3).creator() == nullptr));
  BOOST_TEST((y * x).requires_grad());
  BOOST_TEST((x * 2).requires_grad());
  BOOST_TEST((x * 2).detach().requires_grad() == false);
}

BOOST_AUTO_TEST_CASE(autocast_as_an_object) {
  {
    const Autocast guard(Dtype::float16);
    BOOST_TEST((autocast_dtype() == Dtype::float16));
    const Autocast off(Dtype::float16, false);
    BOOST_TEST(!autocast_dtype().has_value());
  }
  BOOST_TEST(!autocast_dtype().has_value());
  const Autocast guard;
  BOOST_TEST((autocast_dtype() == Dtype::bfloat16));
}

BOOST_AUTO_TEST_CASE(arguments_of_autocast) {
  const auto dtype = [] { return autocast_dtype().value_or(Dtype::float32); };
  {
    const autocast guard({.dtype = Dtype::float16});
    BOOST_TEST(dtype() == Dtype::float16);
    const autocast inner({.device_type = "cpu"});
    BOOST_TEST(dtype() == Dtype::bfloat16);
    const autocast off({.enabled = false});
    BOOST_TEST(!autocast_dtype().has_value());
  }
  {
    const autocast guard({.device_type = "cuda"});
    BOOST_TEST(dtype() == Dtype::float16);
    const autocast inner("cuda", Dtype::bfloat16);
    BOOST_TEST(dtype() == Dtype::bfloat16);
    const autocast of_type("cuda");
    BOOST_TEST(dtype() == Dtype::float16);
    const autocast off("cpu", Dtype::bfloat16, false);
    BOOST_TEST(!autocast_dtype().has_value());
  }
  BOOST_CHECK_THROW(autocast({.device_type = "tpu"}), catena::ValueError);
  BOOST_CHECK_THROW(autocast("float16"), catena::ValueError);
  BOOST_CHECK_THROW(autocast({.dtype = Dtype::float64}), catena::ValueError);
  BOOST_TEST(!autocast_dtype().has_value());
}

BOOST_AUTO_TEST_CASE(derivatives_by_the_names_of_their_module) {
  const Variable x(array<double>({1, 2}, {2}));
  const auto cube = [](const Variable& z) { return z * z * z; };
  const auto total = [&](const Variable& z) { return sum(cube(z)); };
  BOOST_TEST(of(functional::jacobian(cube, x)) == (Doubles{3, 0, 0, 12}), boost::test_tools::per_element());
  BOOST_TEST(of(functional::hessian(total, x)) == (Doubles{6, 0, 0, 12}), boost::test_tools::per_element());
  BOOST_TEST(of(functional::vjp(total, x).derivative) == (Doubles{3, 12}), boost::test_tools::per_element());
  BOOST_TEST(of(functional::jvp(cube, x, x).derivative) == (Doubles{3, 24}), boost::test_tools::per_element());
  BOOST_TEST(of(functional::hvp(total, x, x).derivative) == (Doubles{6, 24}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_scope_of_a_hook) {
  function_hooks::TimerHook timer;
  {
    const function_hook_scope guard(timer);
    static_cast<void>(exp(numbers()));
  }
  static_cast<void>(exp(numbers()));
  BOOST_TEST(timer.call_history().size() == 1U);
}

BOOST_AUTO_TEST_CASE(item_is_a_double) {
  static_assert(std::is_same_v<decltype(numbers().item()), double>);
  BOOST_TEST(sum(numbers()).item() == 6);
  BOOST_TEST(sum(numbers()).item<int>() == 6);
  BOOST_CHECK_THROW(numbers().item(), catena::ValueError);
}

// Of the sum of x^3: 3 x^2, and 6 x.
BOOST_AUTO_TEST_CASE(options_of_backward) {
  const Variable x = numbers();
  Variable y = sum(x * x * x);
  y.backward({.retain_graph = true, .create_graph = true});
  const Variable gx = x.grad_variable();
  BOOST_TEST(of(gx) == (Doubles{27, 27}), boost::test_tools::per_element());
  x.cleargrad();
  sum(gx).backward();
  BOOST_TEST(of(x.grad_variable()) == (Doubles{18, 18}), boost::test_tools::per_element());
  const Variable z = numbers();
  y = sum(z * z);
  y.backward({.retain_graph = false});
  BOOST_TEST((z.grad_variable().creator() == nullptr));
}

BOOST_AUTO_TEST_CASE(options_of_grad) {
  const Variable x = numbers(), y = x * x * x;
  const Variables first = grad({y}, {x}, {.grad_outputs = {numbers()}, .create_graph = true});
  const Array three = numbers().data();
  BOOST_TEST(of(grad({y}, {x}, {.grad_outputs = three})[0]) == of(first[0]), boost::test_tools::per_element());
  BOOST_TEST(of(first[0]) == (Doubles{81, 81}), boost::test_tools::per_element());
  BOOST_TEST(of(grad({sum(first[0])}, {x})[0]) == (Doubles{54, 54}), boost::test_tools::per_element());
  BOOST_TEST(((grad({sum(x * x)}, {x}, {.create_graph = false})[0]).creator() == nullptr));
  // Weights by position, as before.
  BOOST_TEST(of(grad({y}, {x}, {numbers()})[0]) == (Doubles{81, 81}), boost::test_tools::per_element());
  BOOST_TEST(of(grad({y}, {x}, Variables{numbers()})[0]) == (Doubles{81, 81}), boost::test_tools::per_element());
  BOOST_TEST(of(grad({sum(y)}, {x}, {})[0]) == (Doubles{27, 27}), boost::test_tools::per_element());
  BOOST_TEST((grad({sum(y)}, {x}, {}, true)[0].creator() != nullptr));
}

BOOST_AUTO_TEST_CASE(comparisons) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Variable x(array<double>({1, 2, 3, nan}, {4})), y(array<double>({2, 2, 2, nan}, {4}));
  const auto bits = [](const Mask& mask) {
    BOOST_TEST(mask.dtype() == Dtype::bool_);
    std::string text;
    for (const bool b : to_vector<bool>(mask)) text += b ? '1' : '0';
    return text;
  };
  BOOST_TEST(bits(x == y) == "0100");
  BOOST_TEST(bits(x != y) == "1011");
  BOOST_TEST(bits(x < y) == "1000");
  BOOST_TEST(bits(x <= y) == "1100");
  BOOST_TEST(bits(x > y) == "0010");
  BOOST_TEST(bits(x >= y) == "0110");
  BOOST_TEST(bits(x == 2) == "0100");
  BOOST_TEST(bits(2 < x) == "0010");
  BOOST_TEST(bits(Variable(array<double>({0.1}, {1})) == 0.1) == "1");  // the number is no float32
  BOOST_TEST(bits(x.eq(y)) == "0100");
  BOOST_TEST(bits(x == y.data()) == "0100");
  BOOST_TEST(bits(Variable(arrays::zeros({0})) == 1) == "");
  // In a condition, one element counts.
  BOOST_TEST(bool(Variable(2) == 2));
  BOOST_TEST(!bool(Variable(2) == 3));
  BOOST_CHECK_THROW(static_cast<void>(bool(x == y)), catena::ValueError);
  BOOST_CHECK_THROW(static_cast<void>(bool(Variable(arrays::zeros({0})) == 1)), catena::ValueError);
  BOOST_TEST(of(where(x > 1, x, y))[1] == 2);
}

BOOST_AUTO_TEST_CASE(greatest_values_with_their_positions) {
  const Variable x(array<double>({1, 5, 5, 4, -2, 0}, {2, 3}));
  const auto [values, indices] = x.max(1);
  BOOST_TEST(of(values) == (Doubles{5, 4}), boost::test_tools::per_element());
  BOOST_TEST(of(indices) == (Doubles{1, 0}), boost::test_tools::per_element());  // the first of equal ones
  const auto [least, where_least] = min(x, 0, true);
  BOOST_TEST(of(least) == (Doubles{1, -2, 0}), boost::test_tools::per_element());
  BOOST_TEST(of(where_least) == (Doubles{0, 1, 1}), boost::test_tools::per_element());
  BOOST_TEST(where_least.shape() == (Shape{1, 3}));
  // The values have a gradient, and without being taken apart they are a variable.
  sum(x.max(-1)).backward();
  BOOST_TEST(to_vector<double>(x.grad()) == (Doubles{0, 1, 1, 1, 0, 0}), boost::test_tools::per_element());
  auto y = max(x, 0);
  y = y * 2;
  BOOST_TEST(of(y) == (Doubles{8, 10, 10}), boost::test_tools::per_element());
  BOOST_CHECK_THROW(y.indices(), catena::RuntimeError);
  BOOST_TEST(of(x.max())[0] == 5);
  BOOST_TEST(x.max({}, true).shape() == (Shape{1, 1}));
  BOOST_TEST(of(x.max({0, 1}))[0] == 5);
  BOOST_CHECK_THROW(x.max(2), catena::IndexError);
}

BOOST_AUTO_TEST_CASE(conversions_by_to) {
  const Variable x = numbers();
  BOOST_TEST(x.to(Dtype::float32).dtype() == Dtype::float32);
  const Variable on_cpu = x.cpu();
  BOOST_TEST(on_cpu.to("cpu").is_same(on_cpu));
  BOOST_TEST(on_cpu.cpu().is_same(on_cpu));
  BOOST_TEST(on_cpu.to("@numpy").is_same(on_cpu));
  BOOST_TEST(x.view_as(Variable(arrays::zeros({2, 1}))).shape() == (Shape{2, 1}));
  BOOST_CHECK_THROW(x.to("gpu"), catena::ValueError);
  BOOST_CHECK_THROW(x.to("cuda:x"), catena::ValueError);
  sum(x.to(Dtype::float32)).backward();
  BOOST_TEST(to_vector<double>(x.grad()) == (Doubles{1, 1}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(an_axis_by_its_name) {
  const Variable a(arrays::zeros({2, 3})), b(arrays::ones({2, 3}));
  BOOST_TEST(cat({a, b}).shape() == (Shape{4, 3}));
  BOOST_TEST(cat({a, b}, 1).shape() == (Shape{2, 6}));
  BOOST_TEST(cat({a, b}, {.dim = 1}).shape() == (Shape{2, 6}));
  AxisOption assigned;
  assigned.dim = 1;
  BOOST_TEST(cat({a, b}, assigned).shape() == (Shape{2, 6}));
  BOOST_TEST(concat({a, b}, {.axis = 0}).shape() == (Shape{4, 3}));
  BOOST_TEST(stack({a, b}, {.dim = 2}).shape() == (Shape{2, 3, 2}));
  BOOST_TEST(separate(a, {.axis = 1}).size() == 3u);
  BOOST_TEST(split_axis(a, 3, {.axis = 1})[2].shape() == (Shape{2, 1}));
  const Variable x = numbers();
  const Variable g = grad(sum(x * x * x), x, {.create_graph = true})[0];
  BOOST_TEST(of(g) == (Doubles{27, 27}), boost::test_tools::per_element());
  BOOST_TEST(of(grad(sum(g), x)[0]) == (Doubles{18, 18}), boost::test_tools::per_element());
  const Variable h = grad({sum(x * x)}, {x}, {.enable_double_backprop = true})[0];
  BOOST_TEST(of(grad(sum(h), x)[0]) == (Doubles{2, 2}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(scopes_as_objects) {
  const Variable x = numbers();
  const no_backprop_mode off;
  BOOST_TEST(((x * x).creator() == nullptr));
  {
    const force_backprop_mode on;
    BOOST_TEST(((x * x).creator() != nullptr));
  }
  const bool before = config().train;
  {
    const using_config scope("train", !before);
    BOOST_TEST(config().train == !before);
    const using_config inner({.train = before});
    BOOST_TEST(config().train == before);
    const train_mode innermost(!before);
    BOOST_TEST(config().train == !before);
  }
  BOOST_TEST(config().train == before);
  function_hooks::TimerHook timer;
  {
    const auto scope = timer.scope();
    BOOST_TEST(get_function_hooks().size() == 1u);
    x* x;
  }
  BOOST_TEST(get_function_hooks().empty());
  BOOST_TEST(timer.call_history().size() == 1u);
}

BOOST_AUTO_TEST_SUITE_END()
