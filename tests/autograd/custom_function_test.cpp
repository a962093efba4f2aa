// Functions of static forward and backward against closed forms, with derivatives of any order.
#include <catena/autograd/custom_function.h>

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <tuple>

#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/functions/torch_names.h>
#include <catena/autograd/no_grad.h>
#include <catena/tests/support/framework_devices.h>
#include <catena/tests/support/message_of.h>

using namespace autograd;
using Doubles = std::vector<double>;

namespace {

Variable doubles(const Doubles& v) { return Variable(array<double>(v, {std::int64_t(v.size())})); }
void check(const Array& a, const Doubles& expected) {
  BOOST_REQUIRE(bool(a));
  const Doubles got = to_vector<double>(a);
  BOOST_REQUIRE_EQUAL(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i)
    BOOST_TEST(std::abs(got[i] - expected[i]) < 1e-12 * (1 + std::abs(expected[i])));
}
Variable derivative(const Variable& y, const Variable& x) { return grad(sum(y), x, {.create_graph = true})[0]; }

struct Cube : CustomFunction<Cube> {
  static Variable forward(Context& ctx, const Variable& x) {
    ctx.save_for_backward({x});
    return x * x * x;
  }
  static Variable backward(Context& ctx, const Variable& gy) { return 3 * square(ctx.saved_tensors()[0]) * gy; }
};

// Reads its output.
struct Exponential : CustomFunction<Exponential> {
  static Variable forward(AutogradContext& ctx, const Variable& x) {
    const Variable y = exp(x);
    ctx.save_for_backward({y});
    return y;
  }
  static Variable backward(AutogradContext& ctx, const Variable& gy) { return gy * ctx.get_saved_variables()[0]; }
};

// The form of libtorch: contexts are pointers, and gradients are lists.
struct Product : CustomFunction<Product> {
  static Variable forward(AutogradContext* ctx, const Variable& a, const Variable& b, double factor) {
    ctx->save_for_backward({a, b});
    ctx->saved_data["factor"] = factor;
    return a * b * factor;
  }
  static variable_list backward(AutogradContext* ctx, variable_list gy) {
    const variable_list saved = ctx->get_saved_variables();
    return {gy[0] * saved[1] * ctx->saved_data["factor"], gy[0] * saved[0] * ctx->saved_data["factor"]};
  }
};

// The product and the sum; a number between the variables.
struct ProductAndSum : CustomFunction<ProductAndSum> {
  static inline std::vector<bool> wanted;
  static std::tuple<Variable, Variable> forward(Context& ctx, const Variable& a, double factor, const Variable& b) {
    ctx.save_for_backward({a, b, a * factor});
    ctx.saved_data["factor"] = factor;
    return {a * b * factor, a + b};
  }
  static Variables backward(Context& ctx, const Variable& gp, const Variable& gs) {
    const Variables& saved = ctx.saved_variables();
    wanted = {ctx.needs_input_grad(0), ctx.needs_input_grad(1), ctx.needs_input_grad(2)};
    return {gp * saved[1] * ctx.saved_data["factor"] + gs, gp * saved[2] + gs};
  }
};

// Scales by labels, which are no reals, and has no gradient for them.
struct Labelled : CustomFunction<Labelled> {
  static Variables forward(Context& ctx, const Variable& x, const Variable& labels) {
    const Variable factor(astype(labels.data(), x.dtype()), {.requires_grad = false});
    ctx.save_for_backward({factor});
    return {x * factor};
  }
  static std::tuple<Variable, Variable> backward(Context& ctx, const Variables& g) {
    return {g[0] * ctx.saved_variables()[0], Variable()};
  }
};

// Has two results and notes which of their gradients need gradients themselves.
struct Twice : CustomFunction<Twice> {
  static Variables forward(Context&, const Variable& x) { return {x * 2, x * 3}; }
  static Variables backward(Context&, const Variable& g1, const Variable& g2) {
    needed = {g1.requires_grad(), g2.requires_grad()};
    return {g1 * 2 + g2 * 3};
  }
  static inline std::vector<bool> needed;
};

// Returns its input, which it saves twice, and reverses the gradient.
struct Reversal : CustomFunction<Reversal> {
  static Variable forward(Context& ctx, const Variable& x) {
    ctx.save_for_backward({x, x});
    return x;
  }
  static Variable backward(Context& ctx, const Variable& gy) {
    return -gy * ctx.saved_variables()[0] / ctx.saved_variables()[1];
  }
};

// Errors of its parts, by the number.
struct Wrong : CustomFunction<Wrong> {
  static Variable forward(Context& ctx, const Variable& x, int how) {
    ctx.saved_data["how"] = how;
    ctx.save_for_backward({x});
    return how == 0 ? Variable() : x * 2;
  }
  static Variables backward(Context& ctx, const Variable& g) {
    if (ctx.saved_data["how"] == 1) return {g, g};
    return {g * ctx.saved_variables()[0]};
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(custom_functions)

// x^3: 3 x^2, 6 x, 6.
BOOST_AUTO_TEST_CASE(derivatives_of_any_order) {
  const Variable x = doubles({2, -1});
  const Variable y = Cube::apply(x);
  BOOST_TEST(y.creator()->label() == "Cube");
  check(y.data(), {8, -1});
  const Variable first = derivative(y, x), second = derivative(first, x);
  check(first.data(), {12, 3});
  check(second.data(), {12, -6});
  check(derivative(second, x).data(), {6, 6});
  // Within a graph, and twice the same input.
  const Variable z = Cube::apply(x * 2) + Cube::apply(x);
  check(derivative(z, x).data(), {9 * 12, 9 * 3});
}

BOOST_AUTO_TEST_CASE(a_saved_output) {
  const Variable x = doubles({0, 1});
  const Doubles e{1, std::exp(1.0)};
  Variable first;
  {
    const Variable y = Exponential::apply(x);
    check(y.data(), e);
    first = derivative(y, x);
  }
  check(first.data(), e);
  check(derivative(derivative(first, x), x).data(), e);  // after the output itself is gone
}

BOOST_AUTO_TEST_CASE(contexts_as_pointers) {
  const Variable a = doubles({1, 2}), b = doubles({3, -1});
  const Variable y = Product::apply(a, b, 10);
  check(y.data(), {30, -20});
  y.sum().backward();
  check(a.grad(), {30, -10});
  check(b.grad(), {10, 20});
}

BOOST_AUTO_TEST_CASE(several_inputs_and_outputs) {
  const Variable a = doubles({1, 2}), b = doubles({3, -1});
  const Variables y = ProductAndSum::apply(a, 10, b);
  BOOST_REQUIRE_EQUAL(y.size(), 2U);
  check(y[0].data(), {30, -20});
  check(y[1].data(), {4, 1});
  sum(y[0] * y[1]).backward();  // 10 a b (a + b): 20 a b + 10 b^2, 20 a b + 10 a^2
  check(a.grad(), {60 + 90, -40 + 10});
  check(b.grad(), {60 + 10, -40 + 40});
  BOOST_TEST(ProductAndSum::wanted == (std::vector<bool>{true, true, false}), boost::test_tools::per_element());
  // Of one output: the other one has a gradient of zeros.
  check(derivative(ProductAndSum::apply(a, 1, b)[0], a).data(), {3, -1});
  check(derivative(ProductAndSum::apply(a, 1, b)[1], b).data(), {1, 1});
  // Only one input wants a gradient.
  const Variable constant(b.data(), {.requires_grad = false});
  sum(ProductAndSum::apply(a, 1, constant)[0]).backward();
  BOOST_TEST(ProductAndSum::wanted == (std::vector<bool>{true, false, false}), boost::test_tools::per_element());
  BOOST_TEST(!constant.grad());
  // Other saved values than inputs and outputs are constants: of gp * a * factor the part by a is missing.
  const Variable p = ProductAndSum::apply(a, 1, b)[0];
  check(derivative(derivative(p, a), b).data(), {1, 1});
  check(derivative(p, b).data(), {1, 2});
}

BOOST_AUTO_TEST_CASE(arrays_labels_and_missing_gradients) {
  const Variable x = doubles({1, 2});
  const Array labels = array<std::int32_t>({3, 0}, {2});
  const Variables y = Labelled::apply(x, labels);
  check(y[0].data(), {3, 0});
  sum(y[0]).backward();
  check(x.grad(), {3, 0});
  // The zeros for a missing gradient are constants.
  check(grad({Twice::apply(x)[1] * x}, {x},
             {.grad_outputs = Variable(arrays::ones({2}, Dtype::float64)), .create_graph = true})[0]
            .data(),
        {6, 12});
  BOOST_TEST(Twice::needed == (std::vector<bool>{false, true}), boost::test_tools::per_element());
  const Variable empty(arrays::zeros({0}, Dtype::float64));
  Variable z = Cube::apply(empty);
  BOOST_TEST(z.size() == 0);
  sum(z).backward();
  BOOST_TEST(empty.grad().shape() == (Shape{0}));
  // Views: a transposed input.
  const Variable m(array<double>({1, 2, 3, 4}, {2, 2}));
  check(contiguous(Cube::apply(transpose(m)).data()), {1, 27, 8, 64});
}

BOOST_AUTO_TEST_CASE(an_input_that_is_the_result) {
  const Variable x = doubles({2, -3});
  const Variable y = Reversal::apply(x);
  BOOST_TEST(!y.is_same(x));
  check(y.data(), {2, -3});
  sum(y * y + x).backward();  // -2 x + 1
  check(x.grad(), {-3, 7});
  BOOST_TEST((x.creator() == nullptr));
}

BOOST_AUTO_TEST_CASE(without_a_graph) {
  const Variable x = doubles({2});
  {
    const no_grad scope;
    BOOST_TEST((Cube::apply(x).creator() == nullptr));
  }
  BOOST_TEST(Cube::apply(x).creator()->num_inputs() == 1U);
  Cube::apply(x).backward();
  check(x.grad(), {12});
}

BOOST_AUTO_TEST_CASE(errors) {
  const Variable x = doubles({2});
  BOOST_TEST(test::message_of<catena::TypeError>([&] { Wrong::apply(x, 0); }).find("without a value") !=
             std::string::npos);
  const std::string said = test::message_of<catena::ValueError>([&] { Wrong::apply(x, 1).backward(); });
  BOOST_TEST(said.find("2 gradients for 1 inputs") != std::string::npos);
  Variable y = Wrong::apply(x, 2);
  x.data() += 1;
  BOOST_TEST(test::message_of<catena::RuntimeError>([&] { y.backward(); }).find("changed in place") !=
             std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
