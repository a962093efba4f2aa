// Axes by their names: members and functions with options give what they give with axes by position, and PyTorch's
// values where the meaning is PyTorch's.
#include <cmath>
#include <limits>

#include <boost/test/unit_test.hpp>

#include <catena/autograd/functions/linalg.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/functions/torch_names.h>
#include <catena/autograd/testing.h>
#include <catena/tests/support/framework_derivatives.h>

using namespace autograd;
using Doubles = std::vector<double>;
using test::spread;

namespace {

Doubles of(const Variable& v) { return to_vector<double>(v.data()); }
void same(const Variable& a, const Variable& b) {
  BOOST_CHECK_EQUAL(a.shape(), b.shape());
  testing::assert_allclose(a.data(), b.data(), 0, 0);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(axis_options)

BOOST_AUTO_TEST_CASE(reductions) {
  const Variable x(spread({2, 3, 4}));
  same(x.sum({.dim = 1}), x.sum(1));
  same(x.sum({.axis = {0, 2}, .keepdims = true}), x.sum({0, 2}, true));
  same(x.sum({.keepdim = true}), x.sum(Axes(), true));
  same(x.sum({0, 2}, {.keepdim = true}), x.sum({0, 2}, true));
  same(x.mean({.dim = {1, 2}, .keepdim = true}), x.mean({1, 2}, true));
  same(x.mean(-1, {.keepdims = true}), x.mean(-1, true));
  same(x.prod({.dim = 1}), x.prod(1));
  same(x.prod(1, {.keepdim = true}), x.prod(1, true));
  // A list in braces is a list of axes; empty braces are all axes.
  same(x.sum({1, 2}), sum(x, Axes({1, 2})));
  same(x.max({1, 2}), max(x, Axes({1, 2})));
  same(x.sum({}), x.sum());
  BOOST_CHECK_THROW(x.sum(1, {.dim = 0}), catena::ValueError);
  BOOST_CHECK_THROW(x.mean({0, 1}, {.axis = 0}), catena::ValueError);
  BOOST_CHECK_THROW(x.sum({.dim = 1, .axis = 1}), catena::ValueError);
  BOOST_CHECK_THROW(x.max({.dim = 1, .axis = 1}), catena::ValueError);
  BOOST_CHECK_THROW(x.sum({.dim = 3}), catena::InvalidType);
}

// The squares of the distances of 1, 2, 3, 6 from their mean have the sum 14.
BOOST_AUTO_TEST_CASE(variances) {
  const Variable x(array<double>({1, 2, 3, 6}, {1, 4}));
  BOOST_TEST(x.var({.dim = 1}).item() == 3.5);
  BOOST_TEST(x.var(1, {.unbiased = false}).item() == 3.5);
  const auto near = boost::test_tools::tolerance(1e-14);
  BOOST_TEST(x.var({.dim = 1, .unbiased = true}).item() == 14.0 / 3, near);
  BOOST_TEST(x.var(1, {.correction = 2}).item() == 7.0, near);
  BOOST_TEST(x.var({.ddof = 1}).item() == 14.0 / 3, near);
  BOOST_TEST(x.std(1, {.unbiased = true}).item() == std::sqrt(14.0 / 3), near);
  BOOST_TEST(x.std({.unbiased = false}).item() == std::sqrt(3.5), near);
  BOOST_CHECK(x.var({0, 1}, {.unbiased = false, .keepdim = true}).shape() == (Shape{1, 1}));
  BOOST_CHECK(x.std({.dim = 1, .keepdim = true}).shape() == (Shape{1, 1}));
  BOOST_CHECK_THROW(x.var(1, {.dim = 1}), catena::ValueError);
  BOOST_CHECK_THROW(var(x, 0, {.axis = 1}), catena::ValueError);
  BOOST_CHECK_THROW(x.var(1, {.ddof = 1, .correction = 1}), catena::ValueError);
  BOOST_CHECK_THROW(x.std({.unbiased = true, .ddof = 2}), catena::ValueError);
  BOOST_CHECK_THROW(x.std({.unbiased = true, .correction = 0}), catena::ValueError);
}

BOOST_AUTO_TEST_CASE(extrema) {
  const Variable x(array<double>({1, 5, 5, 4, -2, 0}, {2, 3}));
  const auto [values, indices] = x.max({.dim = 1, .keepdim = true});
  BOOST_TEST(of(values) == (Doubles{5, 4}), boost::test_tools::per_element());
  BOOST_TEST(of(indices) == (Doubles{1, 0}), boost::test_tools::per_element());
  BOOST_CHECK(values.shape() == (Shape{2, 1}) && indices.shape() == (Shape{2, 1}));
  const auto [least, where_least] = x.min({.axis = 0});
  BOOST_TEST(of(least) == (Doubles{1, -2, 0}), boost::test_tools::per_element());
  BOOST_TEST(of(where_least) == (Doubles{0, 1, 1}), boost::test_tools::per_element());
  const auto [all, where_all] = x.min({.keepdims = true});
  BOOST_TEST(all.item() == -2);
  BOOST_TEST(where_all.item() == 4);
  BOOST_CHECK(all.shape() == (Shape{1, 1}) && where_all.shape() == (Shape{1, 1}));
  same(x.argmax({.dim = 1}), x.argmax(1));
  same(argmin(x, {.axis = 0}), x.argmin(0));
  same(x.argmax(1, {.keepdim = true}), x.argmax(1).unsqueeze(1));
  same(x.argmin(0, {.keepdim = true}), x.argmin(0).unsqueeze(0));
  const auto [kept, where_kept] = x.max(1, {.keepdim = true});
  same(kept, x.max({.dim = 1, .keepdim = true}));
  BOOST_TEST(of(where_kept) == of(x.argmax(1)), boost::test_tools::per_element());
  BOOST_CHECK(where_kept.shape() == kept.shape());
  same(x.min(0, {.keepdim = true}), x.min({.dim = 0, .keepdim = true}));
  const auto [two, where_two] = x.topk(2, 1, true, true);
  same(two, x.topk(2, 1).values);
  same(where_two, x.topk(2, 1).indices);
  same(x.argmin({.dim = 0, .keepdim = true}), x.argmin(0).unsqueeze(0));
  BOOST_CHECK(x.argmax({.keepdim = true}).shape() == (Shape{1, 1}));
  BOOST_TEST(x.argmax({.keepdim = true}).item() == 1);
  BOOST_TEST(x.argmax({}).item() == 1);
  BOOST_TEST(argmin(x, {}).item() == 4);
  // Gradients go to the greatest elements, to equal ones in full.
  sum(x.max({.dim = 1})).backward();
  BOOST_TEST(of(x.grad_variable()) == (Doubles{0, 1, 1, 1, 0, 0}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(orders_and_parts) {
  const Variable x(array<double>({3, 1, 2, 6, 5, 4}, {2, 3}));
  same(x.sort({.dim = 0, .descending = true}).values, x.sort(0, true).values);
  same(sort(x, {.axis = 1}).indices, x.sort(1).indices);
  same(x.argsort({.descending = true}), x.argsort(-1, true));
  same(argsort(x, {.dim = 0}), x.argsort(0));
  same(x.topk(2, {.dim = 1, .largest = false, .sorted = true}).values, x.topk(2, 1, false).values);
  same(topk(x, 1, {.axis = 0}).indices, x.topk(1, 0).indices);
  same(x.cumsum({.dim = 1}), x.cumsum(1));
  same(cumsum(x, {.axis = 0}), x.cumsum(0));
  same(x.cumprod({.axis = 1}), x.cumprod(1));
  same(cumprod(x, {.dim = 0}), x.cumprod(0));
  same(x.cumsum({}), x.cumsum());
  same(cumprod(x, {}), x.cumprod());
  BOOST_CHECK_THROW(x.cumsum({.dim = 1, .axis = 1}), catena::ValueError);
  BOOST_CHECK_THROW(x.sort({.dim = 1, .axis = 1}), catena::ValueError);
  same(x.chunk(3, {.dim = 1})[2], x.chunk(3, 1)[2]);
  same(chunk(x, 3, {.axis = 1})[0], x.chunk(3, 1)[0]);
  same(x.split(2, {.dim = 1})[1], x.split(2, 1)[1]);
  same(split(x, 1, {.axis = 0})[1], x.split(1, 0)[1]);
  same(x.split({1, 2}, {.dim = 1})[1], x.split({1, 2}, 1)[1]);
  same(split(x, {1, 2}, {.axis = 1})[0], x.split({1, 2}, 1)[0]);
  same(x.unbind({.dim = 1})[2], x.unbind(1)[2]);
  same(unbind(x, {.axis = 0})[1], x[1]);
  BOOST_CHECK(Variable(spread({2, 3, 4})).flatten({.start_dim = 1}).shape() == (Shape{2, 12}));
  BOOST_CHECK(Variable(spread({2, 3, 4})).flatten({.end_dim = 1}).shape() == (Shape{6, 4}));
}

BOOST_AUTO_TEST_CASE(limits) {
  const Variable x(array<double>({-1, 0.5, 3}, {3}));
  const auto are = [](const Variable& v, const Doubles& expected) {
    BOOST_TEST(of(v) == expected, boost::test_tools::per_element());
  };
  are(x.clamp({.min = 0, .max = 2}), {0, 0.5, 2});
  are(x.clamp({.min = 0}), {0, 0.5, 3});
  are(x.clamp({.max = 2}), {-1, 0.5, 2});
  are(x.clip({.min = 0, .max = 2}), {0, 0.5, 2});
  are(x.clamp({.min = x * 0 + 1}), {1, 1, 3});
  // Options may be kept: the variable of a bound lives as long as they do.
  const ClampOptions kept = [&] { return ClampOptions{.min = x * 0 + 1, .max = Variable(array<double>({2}, {1}))}; }();
  const Variable other(array<double>({7, 8, 9}, {3}));
  are(x.clamp(kept), {1, 1, 2});
  are(x.clip(kept), {1, 1, 2});
  BOOST_CHECK_THROW(x.clamp({.min = Variable()}), catena::TypeError);
  are(x.clamp(0, 2), {0, 0.5, 2});
  are(x.clamp(0), {0, 0.5, 3});
}

// Norms in PyTorch's sense: all elements, or those of some axes, are one vector.
BOOST_AUTO_TEST_CASE(norms) {
  const double inf = std::numeric_limits<double>::infinity();
  const Variable x(array<double>({3, -4, 0, 0, 0, 12}, {2, 3}));
  BOOST_TEST(x.norm().item() == 13);
  BOOST_TEST(x.norm(2).item() == 13);  // autograd::norm(x, 2) is the largest singular value
  BOOST_TEST(x.norm("fro").item() == 13);
  BOOST_TEST(x.norm(1).item() == 19);
  BOOST_TEST(x.norm(inf).item() == 12);
  BOOST_TEST(x.norm(0).item() == 3);
  BOOST_TEST(of(x.norm(2, {.dim = 1})) == (Doubles{5, 12}), boost::test_tools::per_element());
  BOOST_TEST(of(x.norm(1, {.axis = 0})) == (Doubles{3, 4, 12}), boost::test_tools::per_element());
  BOOST_TEST(of(x.norm({.p = 1, .dim = 1})) == (Doubles{7, 12}), boost::test_tools::per_element());
  BOOST_TEST(of(x.norm(-inf, 1)) == (Doubles{0, 0}), boost::test_tools::per_element());
  BOOST_TEST(std::fabs(x.norm(3).item() - std::cbrt(27 + 64 + 1728)) < 1e-14);
  BOOST_CHECK(x.norm(1, {.dim = 1, .keepdim = true}).shape() == (Shape{2, 1}));
  BOOST_CHECK(x.norm({.keepdims = true}).shape() == (Shape{1, 1}));
  const Variable cube(spread({2, 3, 4}));
  const Variable both = cube.norm(1, {0, 2});
  BOOST_CHECK(both.shape() == (Shape{3}));
  double expected = 0;
  for (int i = 0; i < 2; ++i)
    for (int k = 0; k < 4; ++k) expected += std::fabs(cube(i, 1, k).item());
  BOOST_TEST(std::fabs(both[1].item() - expected) < 1e-14);
  BOOST_CHECK(cube.norm(1, {0, 2}, true).shape() == (Shape{1, 3, 1}));
  BOOST_TEST(Variable(array<double>({-2}, {})).norm(1).item() == 2);
  BOOST_CHECK(Variable(arrays::zeros({0, 3}, Dtype::float64)).norm(1, {.dim = 0}).shape() == (Shape{3}));
  test::check_derivatives("norm",
                          [](const Variables& v) {
                            return Variables{v[0].norm(3, {.dim = {0, 1}})};
                          },
                          {spread({2, 3, 2}, 0.5, 1)});
  BOOST_CHECK_THROW(x.norm("nuc"), catena::ValueError);
  BOOST_CHECK_THROW(x.norm(1, {.p = 2}), catena::ValueError);
  BOOST_CHECK_THROW(x.norm({.p = 2, .ord = 2}), catena::ValueError);
  BOOST_CHECK_THROW(norm(x, 2, {.p = 1}), catena::ValueError);
  BOOST_CHECK_THROW(norm(x, 2, {.ord = 2}), catena::ValueError);
  BOOST_TEST(of(norm(x, 2, {.axis = 1, .keepdim = true})) == (Doubles{5, 12}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(elements_in_order) {
  const Variable x(spread({2, 3}));
  BOOST_TEST(x.contiguous().is_same(x));
  const Variable y = x.transpose().contiguous();
  BOOST_TEST(y.data().is_c_contiguous());
  same(y, x.transpose());
  sum(y * y).backward();
  testing::assert_allclose(x.grad(), (x * 2).data(), 1e-15, 1e-15);
}

BOOST_AUTO_TEST_SUITE_END()
