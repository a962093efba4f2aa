// The transforms of PyTorch's torch.func, and its checks of gradients.
#include <catena/autograd/func.h>

#include <boost/test/unit_test.hpp>
#include <map>
#include <string>

#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/grad.h>
#include <catena/autograd/gradient_check.h>
#include <catena/autograd/no_grad.h>
#include <catena/autograd/operators.h>
#include <catena/tests/support/framework_devices.h>

using namespace autograd;

namespace {

using Doubles = std::vector<double>;
using Map = std::map<std::string, Variable>;

Variable constant(const Doubles& v, const Shape& shape) {
  return Variable(array<double>(v, shape), {.requires_grad = false});
}
void check(const Variable& y, const Shape& shape, const Doubles& expected) {
  BOOST_TEST(y.shape() == shape);
  const Doubles values = to_vector<double>(y.data());
  BOOST_REQUIRE(values.size() == expected.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    BOOST_TEST(values[i] == expected[i], boost::test_tools::tolerance(1e-12));
}
Variable cube(const Variable& x) { return x * x * x; }
Variable sum_of_cubes(const Variable& x) { return sum(cube(x)); }
Variable product(const Variable& x, const Variable& y) { return sum(x * y * y); }

}  // namespace

BOOST_AUTO_TEST_SUITE(func_transforms)

BOOST_AUTO_TEST_CASE(gradients) {
  const Variable x = constant({1, -2}, {2}), y = constant({3, 5}, {2});
  check(func::grad(sum_of_cubes)(x), {2}, {3, 12});
  BOOST_TEST(!func::grad(sum_of_cubes)(x).requires_grad());
  const auto [g, value] = func::grad_and_value(sum_of_cubes)(x);
  check(g, {2}, {3, 12});
  check(value, {}, {-7});
  check(func::grad(product, 1)(x, y), {2}, {6, -20});
  check(func::grad(product, {.argnums = 1})(x, y), {2}, {6, -20});
  const Variables both = func::grad(product, {0, 1})(x, y);
  check(both[0], {2}, {9, 25});
  check(both[1], {2}, {6, -20});
  BOOST_CHECK_THROW(func::grad(product, 2)(x, y), catena::IndexError);
  BOOST_CHECK_THROW(func::grad(cube)(x), catena::ValueError);
}

BOOST_AUTO_TEST_CASE(transforms_are_nested) {
  const Variable x = constant({1, -2}, {2}), three = constant({3}, {});
  const auto slope = [](const Variable& v) { return sum(func::grad(sum_of_cubes)(v)); };
  check(func::grad(slope)(x), {2}, {6, -12});
  // The inner function reads the argument of the outer one: d/dy (2 x y) at x = 3.
  const auto outer = [&](const Variable& y) { return func::grad([&](const Variable& v) { return v * v * y; })(three); };
  check(func::grad(outer)(three), {}, {6});
  const Variable root = Variable(x.data());
  check(autograd::grad({sum(func::grad(sum_of_cubes)(root))}, {root})[0], {2}, {6, -12});
  const auto along = [&](const Variable& y) {
    return func::jvp([&](const Variable& v) { return v * v * y; }, three, three).second;
  };
  check(func::grad(along)(three), {}, {18});
}

BOOST_AUTO_TEST_CASE(arguments_that_are_lists_and_maps) {
  const Variable x = constant({1, -2}, {2}), y = constant({3, 5}, {2});
  const auto loss = [](const Map& p, const Variable& v) { return sum(p.at("w") * p.at("w") * v + p.at("b")); };
  const Map p{{"w", x}, {"b", y}};
  const Map g = func::grad(loss)(p, y);
  check(g.at("w"), {2}, {6, -20});
  check(g.at("b"), {2}, {1, 1});
  BOOST_CHECK_THROW(func::grad(loss, 1)(p, y), catena::ValueError);
  const auto of_list = [](const Variables& v) { return sum(v[0] * v[1]); };
  const Variables gs = func::grad(of_list)(Variables{x, y});
  check(gs[0], {2}, {3, 5});
  check(gs[1], {2}, {1, -2});
}

BOOST_AUTO_TEST_CASE(matrices_of_derivatives) {
  const Variable x = constant({1, -2}, {2});
  check(func::jacrev(cube)(x), {2, 2}, {3, 0, 0, 12});
  check(func::jacfwd(cube)(x), {2, 2}, {3, 0, 0, 12});
  check(func::hessian(sum_of_cubes)(x), {2, 2}, {6, 0, 0, -12});
  check(func::jacfwd(func::jacrev(sum_of_cubes))(x), {2, 2}, {6, 0, 0, -12});
  check(func::hessian(cube)(x), {2, 2, 2}, {6, 0, 0, 0, 0, 0, 0, -12});
  check(functional::vhp(sum_of_cubes, x, constant({1, 10}, {2})).derivative, {2}, {6, -120});
}

BOOST_AUTO_TEST_CASE(products_with_jacobians) {
  const Variable x = constant({1, -2}, {2}), v = constant({10, 100}, {2});
  const auto [y, back] = func::vjp(cube, x);
  check(y, {2}, {1, -8});
  check(back(v)[0], {2}, {30, 1200});
  check(back(x)[0], {2}, {3, -24});
  BOOST_CHECK_THROW(back(constant({1}, {1})), catena::ValueError);
  const auto [z, tangent] = func::jvp(cube, x, v);
  check(z, {2}, {1, -8});
  check(tangent, {2}, {30, 1200});
  const auto [zs, tangents] = func::jvp(product, {x, v}, {x, x});
  check(tangents[0], {}, {1 * 100 - 2 * 10000 + 2 * (10 + 4 * 100)});
  const auto [w, along] = func::linearize(cube, x);
  check(w, {2}, {1, -8});
  check(along(v), {2}, {30, 1200});
}

BOOST_AUTO_TEST_CASE(batches) {
  const Variable xs = constant({1, 2, 3, 4}, {2, 2}), w = constant({1, 10}, {2});
  check(func::vmap(sum_of_cubes)(xs), {2}, {9, 91});
  check(func::vmap(product, {.in_dims = {std::nullopt, 0}})(w, xs), {2}, {41, 169});
  check(func::vmap(func::grad(product, 1), {.in_dims = {std::nullopt, 0}})(w, xs), {2, 2}, {2, 40, 6, 80});
  check(func::vmap(cube, {.in_dims = 1, .out_dims = 1})(xs), {2, 2}, {1, 8, 27, 64});
  const auto scaled = [](const Map& p, const Variable& v) { return Map{{"y", p.at("w") * v}}; };
  const Map ys = func::vmap(scaled, {.in_dims = {0, std::nullopt}})(Map{{"w", xs}}, w);
  check(ys.at("y"), {2, 2}, {1, 20, 3, 40});
  BOOST_CHECK_THROW(func::vmap(cube, {.in_dims = {0, 0}})(xs), catena::ValueError);
  BOOST_CHECK_THROW(func::vmap(cube, {.randomness = "other"})(xs), catena::ValueError);
}

// backward of vmap calls the function again, when the caller of vmap has returned.
BOOST_AUTO_TEST_CASE(gradients_of_batches) {
  const Variable x(array<double>({1, 2, 3, 4}, {2, 2})), w = constant({1, 10}, {2});
  const auto mapped = [](const Variable& v, double factor) {
    const std::vector<double> factors(100, factor);  // on the heap
    return func::vmap([factors](const Variable& a) { return sum(a * a) * factors[99]; })(v);
  };
  const Variable y = mapped(x, 3);
  sum(y).backward();
  check(x.grad_var(), {2, 2}, {6, 12, 18, 24});
  check(func::grad([&](const Variable& v) { return sum(mapped(v, 2)); })(x), {2, 2}, {4, 8, 12, 16});
  check(func::grad([&](const Variable& v) { return sum(func::vmap(func::grad(sum_of_cubes))(v)); })(x), {2, 2},
        {6, 12, 18, 24});
  check(func::jacrev([&](const Variable& v) { return mapped(v, 1); })(constant({1, 2}, {2, 1})), {2, 2, 1},
        {2, 0, 0, 4});
  check(func::hessian([&](const Variable& v) { return sum(mapped(v, 1)); })(constant({1, 2}, {2, 1})), {2, 1, 2, 1},
        {2, 0, 0, 2});
  const auto [z, back] = func::vjp([&](const Variable& v) { return mapped(v, 1); }, x);
  check(back(w)[0], {2, 2}, {2, 4, 60, 80});
  const auto scaled = [&] {
    const Map names{{"w", w}};
    return func::vmap(
        [](const Map& p, const Variable& v) {
          return Map{{"y", p.at("w") * v * v}};
        },
        {.in_dims = {std::nullopt, 0}})(names, x);
  };
  check(autograd::grad({sum(scaled().at("y"))}, {x})[0], {2, 2}, {2, 40, 6, 80});
}

BOOST_AUTO_TEST_CASE(checks_of_gradients) {
  const Variable x(array<double>({0.5, -0.3}, {2})), w = constant({2, 3}, {2});
  BOOST_TEST(gradcheck(cube, x));
  BOOST_TEST(gradgradcheck(cube, x));
  BOOST_TEST(gradcheck([](const Variable& a, const Variable& b) { return Variables{a * b, sum(a)}; }, {x, w}));
  BOOST_TEST(gradcheck(cube, x, {.fast_mode = true}));
  BOOST_TEST(x.grad().get() == nullptr);
  // The gradient of x times a copy of its values is wrong.
  const auto wrong = [](const Variable& a) { return a * Variable(a.data(), {.requires_grad = false}); };
  BOOST_TEST(!gradcheck(wrong, x, {.raise_exception = false}));
  BOOST_CHECK_THROW(gradcheck(wrong, x), catena::AssertionError);
  BOOST_CHECK_THROW(gradcheck(cube, w), catena::ValueError);
}

BOOST_AUTO_TEST_SUITE_END()
