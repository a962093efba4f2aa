// vjp, jvp, jacobian, hessian and hvp against closed forms.
#include <catena/autograd/derivatives.h>

#include <boost/test/unit_test.hpp>
#include <cmath>

#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/linalg.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/tests/support/framework_devices.h>
#include <catena/tests/support/message_of.h>

using namespace autograd;

namespace {

Variable doubles(std::vector<double> v, const Shape& shape) { return Variable(array<double>(v, shape)); }
std::vector<double> values(const Variable& v) { return to_vector<double>(v.data()); }
void check_close(const Variable& v, const std::vector<double>& expected, const Shape& shape) {
  BOOST_TEST(v.shape() == shape);
  const std::vector<double> got = values(v);
  BOOST_REQUIRE_EQUAL(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i)
    BOOST_TEST(std::abs(got[i] - expected[i]) < 1e-12 * (1 + std::abs(expected[i])));
}

// f(x)[i] = x[i]^2 x[(i + 1) % 3]: J[i][i] = 2 x[i] x[i+1], J[i][i+1] = x[i]^2.
Variable cycle(const Variable& x) { return x * x * x({1, 2, 0}); }
const std::vector<double> kX{0.5, -1.5, 2};
std::vector<double> cycle_jacobian() {
  std::vector<double> j(9);
  for (std::size_t i = 0; i < 3; ++i) {
    const std::size_t k = (i + 1) % 3;
    j[3 * i + i] = 2 * kX[i] * kX[k];
    j[3 * i + k] = kX[i] * kX[i];
  }
  return j;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(derivatives)

BOOST_AUTO_TEST_CASE(products_with_a_jacobian_and_the_jacobian) {
  const Variable x = doubles(kX, {3}), v = doubles({1, -2, 0.25}, {3});
  const std::vector<double> J = cycle_jacobian(), w = values(v);
  std::vector<double> left(3), right(3);
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t k = 0; k < 3; ++k) {
      left[k] += w[i] * J[3 * i + k];
      right[i] += J[3 * i + k] * w[k];
    }
  const auto [y, gx] = vjp(cycle, x, v);
  check_close(y, values(cycle(x)), {3});
  check_close(gx, left, {3});
  const auto [same, ty] = jvp(cycle, x, v);
  check_close(same, values(y), {3});
  check_close(ty, right, {3});
  check_close(jacobian(cycle, x), J, {3, 3});
  BOOST_TEST(!x.grad());
  for (const Variable& result : {y, gx, ty, jacobian(cycle, x)}) BOOST_TEST((result.creator() == nullptr));
}

// sum(x[i]^2 x[i+1]): H[i][i] = 2 x[i+1], H[i][i+1] = H[i+1][i] = 2 x[i].
BOOST_AUTO_TEST_CASE(the_hessian_and_its_products) {
  const auto f = [](const Variable& x) { return sum(cycle(x)); };
  const Variable x = doubles(kX, {3}), v = doubles({3, 0.5, -1}, {3});
  std::vector<double> H(9), Hv(3);
  for (std::size_t i = 0; i < 3; ++i) {
    const std::size_t k = (i + 1) % 3;
    H[3 * i + i] += 2 * kX[k];
    H[3 * i + k] += 2 * kX[i];
    H[3 * k + i] += 2 * kX[i];
  }
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t k = 0; k < 3; ++k) Hv[i] += H[3 * i + k] * values(v)[k];
  check_close(hessian(f, x), H, {3, 3});
  const auto [y, product] = hvp(f, x, v);
  check_close(product, Hv, {3});
  BOOST_TEST(double(y) == double(f(x)));
}

BOOST_AUTO_TEST_CASE(shapes_of_any_rank_lists_and_independent_inputs) {
  const Variable a = doubles({1, 2, 3, 4, 5, 6}, {2, 3}), b = doubles({-1, 0.5, 2, 1, 0, 3}, {3, 2});
  check_close(jacobian([](const Variable& x) { return sum(x, 0); }, a),
              {1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1}, {3, 2, 3});
  const auto product = [](const Variable& x, const Variable& y) { return std::pair(matmul(x, y), x * 2); };
  const Variable u = doubles({1, 0, -1, 2}, {2, 2}), z = doubles(std::vector<double>(6, 0.5), {2, 3});
  const auto [ys, gs] = vjp(product, Variables{a, b}, Variables{u, z});
  check_close(gs[0], values(matmul(u, transpose(b)) + z * 2), {2, 3});
  check_close(gs[1], values(matmul(transpose(a), u)), {3, 2});
  const auto [same, ts] = jvp(product, Variables{a, b}, Variables{z, b});
  check_close(ts[0], values(matmul(z, b) + matmul(a, b)), {2, 2});
  check_close(ts[1], values(z * 2), {2, 3});
  // Of the second input of a function that reads the first one only.
  const auto first = [](const Variable& x, const Variable&) { return sum(x * x); };
  check_close(vjp(first, Variables{a, b}).derivative[1], std::vector<double>(6), {3, 2});
  check_close(hvp(first, Variables{a, b}, Variables{a, b}).derivative[1], std::vector<double>(6), {3, 2});
  const auto constant = [&](const Variable&) { return Variable(b.data()); };
  check_close(jvp(constant, a, a).derivative, std::vector<double>(6), {3, 2});
  check_close(jacobian([](const Variable& x) { return x(Slice(0, 0)); }, a), {}, {0, 3, 2, 3});
}

BOOST_AUTO_TEST_CASE(results_can_be_differentiated) {
  const Variable x = doubles({0.5, 2}, {2}), one = doubles({1, 1}, {2});
  const auto cube = [](const Variable& t) { return t * t * t; };
  const auto slope = [&](const Variable& t) { return jvp(cube, t, one, true).derivative; };
  const auto curvature = [&](const Variable& t) { return vjp(slope, t, one, true).derivative; };
  check_close(curvature(x), {3, 12}, {2});
  check_close(jvp(curvature, x, one).derivative, {6, 6}, {2});
  check_close(
      jacobian([&](const Variable& t) { return hessian([&](const Variable& s) { return sum(cube(s)); }, t, true); }, x),
      {6, 0, 0, 0, 0, 0, 0, 6}, {2, 2, 2});
  const Variable constant(x.data(), {.requires_grad = false});
  check_close(vjp(cube, constant, one, true).derivative, {0.75, 12}, {2});
  // Other variables that the function reads take part as well.
  const Variable scale = doubles({3}, {1});
  const Variable g = vjp([&](const Variable& t) { return sum(t * t) * scale; }, x, {}, true).derivative;
  check_close(grad({sum(g)}, {scale})[0], {5}, {1});
}

BOOST_AUTO_TEST_CASE(a_graph_is_made_in_no_backprop_mode_too) {
  const auto off = no_backprop_mode();
  check_close(vjp([](const Variable& t) { return sum(t * t); }, doubles({1, 2}, {2})).derivative, {2, 4}, {2});
}

BOOST_AUTO_TEST_CASE(errors_name_the_function) {
  const Variable x = doubles(kX, {3});
  BOOST_TEST(test::message_of<catena::ValueError>([&] { vjp(cycle, x); }) ==
             "vjp: an output has shape (3,): give a weight v of this shape");
  BOOST_TEST(test::message_of<catena::ValueError>([&] { jvp(cycle, x, doubles({1}, {1})); }) ==
             "jvp: the weight 0 is of (1), float64, not of (3), float64");
  BOOST_TEST(test::message_of<catena::ValueError>([&] { hvp(cycle, x, x); }) ==
             "hvp: the function must return one element, not 1 outputs of 3 elements");
  BOOST_TEST(test::message_of<catena::ValueError>([&] {
               vjp(cycle, Variables{x}, Variables{x, x});
             }) == "vjp: 2 weights given for 1 outputs");
  BOOST_CHECK_THROW(hessian(cycle, x), catena::ValueError);
  BOOST_CHECK_THROW(jacobian(cycle, Variable()), catena::TypeError);
}

BOOST_AUTO_TEST_SUITE_END()
