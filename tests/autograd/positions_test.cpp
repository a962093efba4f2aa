// Positions along axes, sorting and running functions: derivatives, brute force, order of equal elements, NaN, empty
// arrays, errors. tests/autograd/torch_array_functions_test.cpp has the values of PyTorch.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <numeric>

#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/basic_math.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/testing.h>
#include <catena/tests/support/framework_derivatives.h>

using namespace autograd;
using test::spread;

namespace {

using I = std::int64_t;
using Numbers = std::vector<double>;
constexpr double kInf = std::numeric_limits<double>::infinity(), kNaN = std::numeric_limits<double>::quiet_NaN();
const test::DerivativeOptions kExact{.atol32 = 1e-6, .rtol32 = 1e-6, .atol16 = 1e-3, .rtol16 = 2e-3};

Numbers numbers(const Variable& v) { return to_vector<double>(v.data()); }
std::vector<I> integers(const Variable& v) { return to_vector<I>(v.data()); }
Array ints(const std::vector<I>& values, const Shape& shape) { return array(values, shape); }
const auto says = [](const std::string& text) {
  return [text](const catena::Error& e) {
    BOOST_TEST_INFO(e.what());
    return std::string(e.what()).find(text) != std::string::npos;
  };
};
using One = std::function<Variable(const Variable&)>;
test::DifferentiableFunction one(const One& f) {
  return [f](const Variables& v) { return Variables{f(v[0])}; };
}

}  // namespace

BOOST_AUTO_TEST_SUITE(positions)

BOOST_AUTO_TEST_CASE(derivatives_of_selections) {
  const Array x = spread({2, 4, 3}), index = ints({0, 3, -1, 2, 0, 0, 1, 1, -4, 3, 3, 0}, {2, 2, 3});
  const Array row = ints({1, -1, 1}, {3}), mask = astype(ints({1, 0, 1, 0, 1, 1}, {2, 1, 3}), Dtype::bool_);
  const std::pair<const char*, One> rows[] = {
      {"take_along_axis", [&](const Variable& v) { return take_along_axis(v, index, 1); }},
      {"take_along_axis of one row",
       [&](const Variable& v) {
         return take_along_axis(v, ints({2}, {1, 1, 1}), -2);
       }},
      {"gather", [&](const Variable& v) { return gather(v, 1, index); }},
      {"index_select", [&](const Variable& v) { return index_select(v, -2, row); }},
      {"masked_select", [&](const Variable& v) { return masked_select(v, mask); }},
      {"masked_fill", [&](const Variable& v) { return masked_fill(v, mask, 2); }},
      {"scatter a number", [&](const Variable& v) { return scatter(v, 1, index, 2); }},
      {"sort", [&](const Variable& v) { return sort(v, 1).values; }},
      {"topk", [&](const Variable& v) { return topk(v, 2, 1).values; }},
      {"cummax", [&](const Variable& v) { return cummax(v, 1).values; }},
      {"unfold", [&](const Variable& v) { return unfold(v, 1, 3, 1); }},
      {"as_strided",
       [&](const Variable& v) {
         return as_strided(v, {2, 3, 2}, {3, -1, 4}, 5);
       }},
      {"diagonal", [&](const Variable& v) { return diagonal(v, 1, 2, 1); }},
      {"tril", [&](const Variable& v) { return tril(v, -1); }},
      {"roll",
       [&](const Variable& v) {
         return roll(v, {1, 2}, {0, -1});
       }},
      {"repeat",
       [&](const Variable& v) {
         return repeat(v, {2, 0, 1}, -1);
       }},
      {"rot90",
       [&](const Variable& v) {
         return rot90(v, 3, {1, 2});
       }},
      {"atleast_3d", [&](const Variable& v) { return atleast_3d(v); }},
      {"moveaxis", [&](const Variable& v) { return moveaxis(v, 0, -1); }},
  };
  for (const auto& [name, f] : rows) test::check_derivatives(name, one(f), {x}, kExact);
}

BOOST_AUTO_TEST_CASE(derivatives_in_two_operands) {
  // Only the first elements of src are used; positions occur several times.
  const Array x = spread({3, 4}), src = spread({3, 5}, -1, 1, 2), index = ints({0, 2, 2, 0, 1, 1}, {2, 3});
  const Array once = ints({0, 2, 1, 2, 1, 0}, {2, 3}), row = ints({3, 0, 3}, {3});
  const auto in = [&](const char* name, auto f, const Array& a, const Array& b) {
    test::check_derivatives(
        name, [f](const Variables& v) { return Variables{f(v[0], v[1])}; }, {a, b}, kExact);
  };
  in(
      "scatter_add", [&](auto& a, auto& b) { return scatter_add(a, 0, index, b); }, x, src);
  in(
      "scatter", [&](auto& a, auto& b) { return scatter(a, 0, once, b); }, x, src);
  in(
      "index_add", [&](auto& a, auto& b) { return index_add(a, 1, row, b, 0.5); }, x, spread({3, 3}));
  in(
      "masked_fill", [&](auto& a, auto& b) { return masked_fill(a, astype(index, Dtype::bool_), b); }, spread({2, 3}),
      spread({}));
  in(
      "scatter_add of items",
      [&](auto& a, auto& b) {
        return scatter_add(a, {Slice(0, 2), row}, b);
      },
      x, spread({3}));
  in(
      "scatter_add of a slice", [&](auto& a, auto& b) { return scatter_add(a, {1}, b); }, x, spread({4}));
  in(
      "clip", [&](auto& a, auto& b) { return clip(a, b, b + 0.7); }, x, spread({3, 1}, -1, 0, 3));
  in(
      "add", [&](auto& a, auto& b) { return add(a, b, b); }, x, spread({4}));
  in(
      "maximum",
      [&](auto& a, auto& b) {
        return maximum({a, b});
      },
      x, spread({4}, -1, 1, 4));
}

BOOST_AUTO_TEST_CASE(derivatives_of_running_functions) {
  for (const int axis : {0, 1, -1}) {
    const auto at = [axis](Variable (*f)(const Variable&, std::optional<int>)) {
      return one([f, axis](const Variable& v) { return f(v, axis); });
    };
    test::check_derivatives("cumsum", at(cumsum), {spread({2, 3, 4})}, {.atol16 = 4e-3});
    test::check_derivatives("cumprod", at(cumprod), {spread({2, 3, 3})}, {.atol16 = 2e-3});
    test::check_derivatives("logcumsumexp", at(logcumsumexp), {spread({2, 3, 4})}, {.atol16 = 4e-3});
  }
  const Array zeros = array<double>({0.5, 0, -2, 0, 0, 3, 1, 0.25}, {4, 2});
  test::check_derivatives("cumprod of zeros", one([](const Variable& v) { return cumprod(v, 0); }), {zeros});
  test::check_derivatives("all elements", one([](const Variable& v) { return cumprod(v); }), {spread({2, 2})});
}

BOOST_AUTO_TEST_CASE(running_functions_of_special_values) {
  const Variable x(array<double>({-kInf, -kInf, 2, -kInf, 1000, -1000}, {6}));
  const Variable y = logcumsumexp(x, 0);
  testing::assert_allclose(y.data(), array<double>({-kInf, -kInf, 2, 2, 1000, 1000}, {6}), 0, 0);
  sum(y(Slice(2, 6)) * array<double>({1, 2, 3, 4}, {4})).backward();
  testing::assert_allclose(x.grad(), array<double>({0, 0, 3, 0, 7, 0}, {6}), 1e-12, 0);
  for (const Shape& shape : {Shape{0, 3}, Shape{3, 0}, Shape{1, 1}})
    for (const int axis : {0, 1}) {
      const Variable empty(spread(shape));
      for (const Variable& v : {cumsum(empty, axis), cumprod(empty, axis), logcumsumexp(empty, axis)}) {
        BOOST_CHECK_EQUAL(v.shape(), shape);
        empty.cleargrad();
        sum(v).backward();
        BOOST_CHECK_EQUAL(empty.grad().shape(), shape);
      }
    }
  BOOST_TEST(numbers(cumsum(Variable(spread({}, 2, 3)))).size() == 1u);
  BOOST_TEST(integers(cumsum(Variable(ints({3, 4, 5}, {3})))) == (std::vector<I>{3, 7, 12}),
             boost::test_tools::per_element());
  // Rounded once: in float16 the sum of 4096 ones would stop at 2048, if every sum were rounded.
  const Variable half(arrays::full({4096}, 1, Dtype::float16));
  BOOST_TEST(numbers(cumsum(half, 0)).back() == 4096);
}

BOOST_AUTO_TEST_CASE(order_of_equal_elements_and_nan) {
  const Variable x(array<double>({2, kNaN, 1, 2, -kInf, kNaN, 1, kInf}, {8}));
  const auto check = [](const Sorted& s, const std::vector<I>& expected) {
    BOOST_TEST(integers(s.indices) == expected, boost::test_tools::per_element());
  };
  check(sort(x), {4, 2, 6, 0, 3, 7, 1, 5});
  check(sort(x, 0, true), {1, 5, 7, 0, 3, 2, 6, 4});
  BOOST_TEST(integers(argsort(x, -1, true)) == integers(sort(x, 0, true).indices), boost::test_tools::per_element());
  check(topk(x, 3), {1, 5, 7});
  check(topk(x, 3, 0, false), {4, 2, 6});
  check(topk(x, 0), {});
  check(topk(x, 8), {1, 5, 7, 0, 3, 2, 6, 4});
  check(cummax(Variable(array<double>({1, 3, 3, 2, 4}, {5}))), {0, 1, 1, 1, 4});
  check(cummin(Variable(array<double>({2, 3, 2, 1, 1}, {5}))), {0, 0, 0, 3, 3});
}

BOOST_AUTO_TEST_CASE(long_rows_by_brute_force) {
  const I n = 300, rows = 3;
  const Array x = spread({rows, n});
  const Numbers xs = to_vector<double>(x);
  for (const I k : {1, 7, 150, 299})
    for (const bool largest : {true, false}) {
      const Sorted s = topk(Variable(x), k, 1, largest);
      const Numbers found = numbers(s.values);
      const std::vector<I> at = integers(s.indices);
      for (I r = 0; r < rows; ++r) {
        Numbers row(xs.begin() + r * n, xs.begin() + (r + 1) * n);
        std::sort(row.begin(), row.end());
        if (largest) std::reverse(row.begin(), row.end());
        for (I i = 0; i < k; ++i) {
          BOOST_TEST(found[std::size_t(r * k + i)] == row[std::size_t(i)]);
          BOOST_TEST(xs[std::size_t(r * n + at[std::size_t(r * k + i)])] == row[std::size_t(i)]);
        }
      }
    }
}

// The values of one element are added in the order of the index, on every device, and rounded once.
BOOST_AUTO_TEST_CASE(sums_do_not_depend_on_the_device) {
  const I n = 500;
  Numbers given;
  std::vector<I> to;
  for (I i = 0; i < 2 * n; ++i) {
    given.push_back(std::ldexp(1 + double(i % 7) / 8, int(i % 23)));
    to.push_back((i * 37) % 3);
  }
  const Array src = array(given, {2, n}), index = ints(to, {2, n});
  const auto expected = [&](auto zero) {
    std::vector<decltype(zero)> sums(6, zero);
    for (I i = 0; i < 2 * n; ++i)
      sums[std::size_t(i / n * 3 + to[std::size_t(i)])] += decltype(zero)(given[std::size_t(i)]);
    return Numbers(sums.begin(), sums.end());
  };
  const auto sums = [&](Dtype dtype) {
    return numbers(scatter_add(Variable(arrays::zeros({2, 3}, dtype)), 1, index, astype(src, dtype)));
  };
  BOOST_TEST(sums(Dtype::float32) == expected(0.f), boost::test_tools::per_element());
  const Numbers exact = expected(0.), half = sums(Dtype::bfloat16);
  for (std::size_t i = 0; i < 6; ++i) BOOST_TEST(std::abs(half[i] - exact[i]) <= exact[i] * 0.004);
}

BOOST_AUTO_TEST_CASE(straight_through_estimates) {
  const Variable x(array<double>({0.2, 3, 3, -1, kInf, 0.5}, {2, 3}));
  BOOST_TEST(numbers(hardmax(x)) == (Numbers{0, 1, 0, 0, 1, 0}), boost::test_tools::per_element());
  BOOST_TEST(numbers(hardmax(x, 0)) == (Numbers{1, 0, 1, 0, 1, 0}), boost::test_tools::per_element());
  const Variable v(spread({2, 3, 2}));
  const Array weights = spread({2, 3, 2}, -1, 1, 3);
  sum(hardmax(v, 1) * weights).backward();
  testing::assert_allclose(v.grad(), weights, 0, 0);
  BOOST_CHECK(hardmax(Variable(astype(spread({2, 2}), Dtype::float16))).dtype() == Dtype::float16);
  BOOST_CHECK_THROW(straight_through(x, v), catena::InvalidType);
  BOOST_CHECK_THROW(hardmax(v, 3), catena::InvalidType);
}

BOOST_AUTO_TEST_CASE(empty_arrays_and_single_elements) {
  const Array none = ints({}, {0, 3});
  const Variable x(spread({2, 3}));
  BOOST_CHECK_EQUAL(gather(x, 0, none).shape(), (Shape{0, 3}));
  BOOST_CHECK_EQUAL(take_along_axis(x, ints({}, {0, 1}), 0).shape(), (Shape{0, 3}));
  BOOST_TEST(numbers(scatter_add(x, 0, none, Variable(spread({0, 3})))) == numbers(x),
             boost::test_tools::per_element());
  sum(gather(x, 0, none)).backward();
  BOOST_TEST(numbers(Variable(x.grad())) == Numbers(6), boost::test_tools::per_element());
  BOOST_CHECK_EQUAL(sort(Variable(spread({0, 3})), 0).values.shape(), (Shape{0, 3}));
  BOOST_CHECK_EQUAL(one_hot(ints({}, {0})).shape(), (Shape{0, 0}));
  BOOST_CHECK_EQUAL(one_hot(ints({2}, {})).shape(), (Shape{3}));
  BOOST_CHECK(one_hot(ints({2}, {}), 4, Dtype::int32).dtype() == Dtype::int32);
  BOOST_CHECK_EQUAL(masked_select(Variable(spread({})), astype(ints({1}, {}), Dtype::bool_)).shape(), (Shape{1}));
  BOOST_CHECK_EQUAL(roll(Variable(spread({0, 2})), 1, 0).shape(), (Shape{0, 2}));
  BOOST_CHECK_EQUAL(diagonal(x, 5).shape(), (Shape{0}));
  BOOST_CHECK_EQUAL(diagonal(x, std::numeric_limits<I>::min()).shape(), (Shape{0}));
  BOOST_CHECK_EQUAL(unfold(x, 1, 0).shape(), (Shape{2, 4, 0}));
  BOOST_CHECK_EQUAL(chunk(Variable(spread({0, 2})), 3).size(), 1u);
  BOOST_CHECK_EQUAL(meshgrid({}).size(), 0u);
  BOOST_CHECK_EQUAL(atleast_2d(Variable(spread({3}))).shape(), (Shape{1, 3}));
  BOOST_CHECK_EQUAL(atleast_1d(Variable(spread({}))).shape(), (Shape{1}));
  BOOST_CHECK_EQUAL(ravel(x).shape(), (Shape{6}));
}

BOOST_AUTO_TEST_CASE(index_errors) {
  const Variable x(spread({2, 3}));
  const Array index = ints({0, 1, 2, 0}, {2, 2});
  const auto fails = [](auto f, const std::string& text) {
    BOOST_CHECK_EXCEPTION(f(), catena::IndexError, says(text));
  };
  fails([&] { take_along_axis(x, spread({2, 2})); }, "take_along_axis");
  fails([&] { take_along_axis(x, ints({0, 0, 0}, {3, 1})); }, "do not broadcast along axis 0");
  BOOST_CHECK_EXCEPTION(take_along_axis(x, ints({0}, {1})), catena::ValueError, says("the ranks must be equal"));
  fails([&] { gather(x, 1, ints({0, 0, 0}, {3, 1})); }, "the index of shape (3, 1) is longer than x, of shape (2, 3)");
  fails([&] { gather(x, 1, ints({0}, {1})); }, "the ranks must be equal");
  fails([&] { scatter_add(x, 1, index, Variable(spread({1, 2}))); }, "longer than src, of shape (1, 2), along axis 0");
  fails([&] { index_select(x, 0, index); }, "must have rank 1");
  fails([&] { index_select(x, 0, spread({2})); }, "index_select");
  if (x.device().kind == Device::Kind::cpu) {
    fails([&] { gather(x, 0, index); }, "gather: the index 2 is out of range for axis 0 of length 2");
    fails([&] { gather(x, 1, ints({-4}, {1, 1})); }, "index -4 is out of range");
    fails([&] { scatter_add(x, 0, index, x); }, "scatter_add: the index 2");
    fails([&] { scatter(x, 0, index, 1); }, "scatter: the index 2");
    fails([&] { scatter(x, 0, index, x); }, "scatter: the index 2");
    fails([&] { index_select(x, 0, ints({2}, {1})); }, "index 2 is out of range");
    fails([&] { one_hot(ints({0, 3}, {2}), 3); }, "one_hot");
    fails([&] { one_hot(ints({-1}, {1}), 3); }, "one_hot");
  }
  BOOST_CHECK_THROW(gather(x, 2, index), catena::InvalidType);
  BOOST_CHECK_THROW(sort(x, 2), catena::InvalidType);
  BOOST_CHECK_THROW(cumsum(x, -3), catena::InvalidType);
  BOOST_CHECK_THROW(masked_select(x, index), catena::InvalidType);
  BOOST_CHECK_THROW(masked_fill(x, index, 1), catena::InvalidType);
  BOOST_CHECK_EXCEPTION(topk(x, 4), catena::ValueError, says("topk: k is 4, axis 1 has the length 3"));
  BOOST_CHECK_THROW(topk(x, -1), catena::ValueError);
  BOOST_CHECK_THROW(tril(Variable(spread({3}))), catena::InvalidType);
  BOOST_CHECK_THROW(diag(Variable(spread({2, 2, 2}))), catena::ValueError);
  BOOST_CHECK_THROW(diagonal(x, 0, 1, -1), catena::ValueError);
  BOOST_CHECK_THROW(logcumsumexp(Variable(ints({1}, {1}))), catena::InvalidType);
}

BOOST_AUTO_TEST_CASE(errors_of_arrangements) {
  const Variable x(spread({2, 3}));
  const auto fails = [](auto f, const std::string& text) {
    BOOST_CHECK_EXCEPTION(f(), catena::ValueError, says(text));
  };
  fails([&] { roll(x, {1, 2}, 0); }, "there are 2 shifts and 1 axes");
  fails([&] { repeat(x, -1); }, "must not be negative");
  fails([&] { repeat(x, {1, 2}, 1); }, "there are 2 numbers of repeats, axis 1 has the length 3");
  fails([&] { repeat(x, {1, -2}, 0); }, "must not be negative");
  fails([&] { rot90(x, 1, {0, 0}); }, "are the same one");
  fails([&] { moveaxis(x, {0, 1}, 0); }, "there are 2 axes and 1 destinations");
  fails([&] { moveaxis(x, {0, 0}, {0, 1}); }, "moveaxis");
  fails([&] { meshgrid({x}); }, "must have at most one axis");
  fails([&] { meshgrid({}, "kl"); }, "must be 'xy' or 'ij'");
  fails([&] { split(x, {1, 1}, 1); }, "the sum of the lengths is 2, axis 1 has the length 3");
  fails([&] { split(x, 0); }, "must be positive");
  fails([&] { chunk(x, 0); }, "must be positive");
  fails([&] { unfold(x, 1, 4); }, "the size is 4, axis 1 has the length 3");
  fails([&] { unfold(x, 1, 1, 0); }, "the step is 0");
  fails([&] { as_strided(x, {2, 2}, {3, 2}, 2); }, "the positions 2 to 7 are not all in x, which has 6 elements");
  fails([&] { as_strided(x, {2}, {-1}, 0); }, "the positions -1 to 0");
  fails([&] { as_strided(x, {2}, {std::numeric_limits<I>::max()}, 1); }, "are not all in x");
  fails([&] { as_strided(x, {2, 2}, {3}); }, "but 1 strides are given");
  fails([&] { add(Variables{}); }, "there are no variables");
  fails([&] { maximum(Variables{}); }, "there are no variables");
  BOOST_CHECK_THROW(clip(x, 1, 0), catena::AssertionError);
  BOOST_CHECK_THROW(roll(x, 1, 2), catena::InvalidType);
  BOOST_CHECK_THROW(split(x, 1, 2), catena::InvalidType);
}

// An index array that is written after the call makes backward an error, as that of get_item.
BOOST_AUTO_TEST_CASE(changed_index_arrays) {
  const Variable x(spread({2, 3}));
  const Array index = ints({0, 1, 1}, {1, 3});
  const Variable y = sum(gather(x, 0, index));
  fill(index, 0);
  BOOST_CHECK_THROW(y.backward(), catena::RuntimeError);
}

BOOST_AUTO_TEST_SUITE_END()
