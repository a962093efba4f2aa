// The language of type checks: evaluation, printing, laziness.
#include <catena/autograd/type_check.h>

#include <boost/test/unit_test.hpp>

#include <catena/autograd/array.h>
#include <catena/tests/support/allocations.h>

using namespace autograd;
using namespace autograd::type_check;
namespace tc = autograd::type_check;

namespace {
const std::vector<TypeInfo> kTypes = {{{2, 3}, Dtype::float32}, {{4}, Dtype::int32}, {{}, Dtype::bfloat16}};
const TypeInfoTuple in_types{std::span<const TypeInfo>(kTypes)};
}  // namespace

BOOST_AUTO_TEST_SUITE(type_check)

BOOST_AUTO_TEST_CASE(values) {
  BOOST_TEST(in_types.size().eval() == 3);
  BOOST_CHECK(in_types[0].shape.eval() == (Shape{2, 3}));
  BOOST_TEST(in_types[0].shape[1].eval() == 3);
  BOOST_TEST(in_types[0].shape[-1].eval() == 3);
  BOOST_TEST(in_types[1].ndim.eval() == 1);
  BOOST_CHECK(in_types[1].dtype.eval() == Dtype::int32);
  BOOST_TEST(in_types[1].dtype.kind().eval() == 'i');
  BOOST_TEST(in_types[2].dtype.kind().eval() == 'f');
  BOOST_TEST(in_types[0].dtype.character().eval() == 'f');
  BOOST_TEST(prod(in_types[0].shape).eval() == 6);
  BOOST_CHECK(in_types[0].shape[slice(1)].eval() == (Dims{3}));
  BOOST_CHECK(in_types[0].shape[slice({}, {}, -1)].eval() == (Dims{3, 2}));
  BOOST_CHECK(in_types[0].shape[ellipsis].eval() == (Dims{2, 3}));
  BOOST_CHECK(tc::tuple(in_types[0].ndim, 1).eval() == (Dims{2, 1}));
}

BOOST_AUTO_TEST_CASE(arithmetic) {
  const auto x = variable(7, "x"), y = variable(-2, "y");
  BOOST_TEST((x + y).eval() == 5);
  BOOST_TEST((x - y * 3).eval() == 13);
  BOOST_TEST((x / y).eval() == -3.5);
  BOOST_TEST(floor_div(x, y).eval() == -4);
  BOOST_TEST((x % y).eval() == -1);
  BOOST_TEST(tc::pow(y, 3).eval() == -8);  // a power, not a remainder
  BOOST_TEST((-x).eval() == -7);
  BOOST_TEST((~x).eval() == -8);
  BOOST_TEST(((x & 3) | (x ^ 1)).eval() == 7);
  BOOST_TEST((x << 2).eval() == 28);
  BOOST_TEST((x >> 1).eval() == 3);
  BOOST_CHECK_THROW((x % 0).eval(), catena::ValueError);
}

BOOST_AUTO_TEST_CASE(printing) {
  const auto x = variable(1, "x");
  const auto s = variable(Dims{1, 2, 3}, "x");
#define PRINTS(expression, text) BOOST_TEST(to_string(expression) == text)
  PRINTS(x, "x");
  PRINTS(x + 1, "x + 1");
  PRINTS(1 + x, "1 + x");
  PRINTS(x + x - x, "x + x - x");
  PRINTS(x + (x - x), "x + (x - x)");
  PRINTS((x + x) * x, "(x + x) * x");
  PRINTS(x + x * x, "x + x * x");
  PRINTS(x * (x / x), "x * (x / x)");
  PRINTS(floor_div(x, x) % x, "x // x % x");
  PRINTS(tc::pow(x, tc::pow(x, x)), "x ** x ** x");
  PRINTS(tc::pow(tc::pow(x, x), x), "(x ** x) ** x");
  PRINTS(-tc::pow(x, x), "-x ** x");
  PRINTS(tc::pow(-x, x), "(-x) ** x");
  PRINTS(-(-x), "--x");
  PRINTS(-(x + x), "-(x + x)");
  PRINTS(~x, "~x");
  PRINTS(+x * x, "+x * x");
  PRINTS((x | x) ^ x, "(x | x) ^ x");
  PRINTS(x | (x ^ (x & x)), "x | x ^ x & x");
  PRINTS((x << x) + x, "(x << x) + x");
  PRINTS(x << (x + x), "x << x + x");
  PRINTS(x + x == x, "x + x == x");
  PRINTS(x != 1, "x != 1");
  PRINTS(s[0], "x[0]");
  PRINTS(s[slice()], "x[:]");
  PRINTS(s[slice(1)], "x[1:]");
  PRINTS(s[slice({}, 2)], "x[:2]");
  PRINTS(s[slice(1, 2, 1)], "x[1:2:1]");
  PRINTS(s[ellipsis], "x[...]");
  PRINTS(s[x], "x[x]");
  PRINTS(s[tc::at(0, 1)], "x[0, 1]");
  PRINTS(s[tc::at(ellipsis, 1, slice(2))], "x[..., 1, 2:]");
  PRINTS(tc::tuple(), "()");
  PRINTS(tc::tuple(0), "(0,)");
  PRINTS(tc::tuple(0, x), "(0, x)");
  PRINTS(tc::list(0), "[0]");
  PRINTS(in_types.size(), "in_types.size");
  PRINTS(in_types[0].shape[1] + in_types[1].ndim, "in_types[0].shape[1] + in_types[1].ndim");
  PRINTS(prod(in_types[0].shape), "prod(in_types[0].shape)");
  PRINTS(in_types[0].dtype.character(), "in_types[0].dtype.char");
  PRINTS(function("sum", [](const Dims& d) { return d[0]; })(in_types[0].shape, 1), "sum(in_types[0].shape, 1)");
#undef PRINTS
}

BOOST_AUTO_TEST_CASE(failures_show_both_values) {
  const auto message = [](const auto&... condition) {
    try {
      expect(condition...);
    } catch (const catena::InvalidType& e) {
      return e.expect() + " | " + e.actual();
    }
    return std::string("passed");
  };
  BOOST_TEST(message(in_types[0].ndim == 3) == "in_types[0].ndim == 3 | 2 != 3");
  BOOST_TEST(message(in_types[0].ndim != 2) == "in_types[0].ndim != 2 | 2 == 2");
  BOOST_TEST(message(in_types[0].ndim < 2) == "in_types[0].ndim < 2 | 2 >= 2");
  BOOST_TEST(message(in_types[0].ndim > 2) == "in_types[0].ndim > 2 | 2 <= 2");
  BOOST_TEST(message(in_types[0].ndim <= 1) == "in_types[0].ndim <= 1 | 2 > 1");
  BOOST_TEST(message(in_types[0].ndim >= 3) == "in_types[0].ndim >= 3 | 2 < 3");
  BOOST_TEST(message(in_types[0].dtype == Dtype::float64) == "in_types[0].dtype == float64 | float32 != float64");
  BOOST_TEST(message(in_types[1].dtype.kind() == 'f') == "in_types[1].dtype.kind == f | i != f");
  BOOST_TEST(message(in_types[0].shape == in_types[1].shape) ==
             "in_types[0].shape == in_types[1].shape | (2, 3) != (4,)");
  BOOST_TEST(message(in_types[0].shape == tc::tuple(2, 3)) == "passed");
  BOOST_TEST(message(in_types.size() == 3, in_types[0].shape[1] == variable(4, "in_size")) ==
             "in_types[0].shape[1] == in_size | 3 != 4");
  const catena::InvalidType by_hand("this", "that");
  BOOST_TEST(std::string(by_hand.what()) == "Expect: this\nActual: that");
}

// A later condition may rely on an earlier one.
BOOST_AUTO_TEST_CASE(evaluation_is_lazy) {
  BOOST_CHECK_THROW(expect(in_types[1].ndim == 2, in_types[1].shape[5] == 1), catena::InvalidType);
  BOOST_CHECK_THROW(expect(in_types[1].shape[5] == 1), catena::IndexError);
  BOOST_CHECK_THROW(expect(in_types[7].ndim == 1), catena::IndexError);
}

BOOST_AUTO_TEST_CASE(a_passing_check_allocates_nothing) {
  const auto size = variable(6, "size");
  const long before = test::allocations;
  expect(in_types.size() == 3, in_types[0].dtype.kind() == 'f', in_types[0].shape[1] == 3,
         prod(in_types[0].shape) == size, in_types[0].shape[slice(1)] == tc::tuple(3),
         tc::pow(in_types[0].ndim, 2) + 1 == 5);
  BOOST_TEST(test::allocations - before == 0);
}

namespace {
template <class A, class B>
concept HasAnd = requires(const A& a, const B& b) {
  a&& b;
};
template <class A, class B>
concept HasOr = requires(const A& a, const B& b) {
  a || b;
};
template <class A>
concept HasNot = requires(const A& a) {
  !a;
};
// Neither a condition nor a part of one.
template <class E> constexpr bool is_no_bool(const E&) {
  return !std::is_constructible_v<bool, E> && !HasAnd<E, E> && !HasAnd<E, bool> && !HasOr<E, E> && !HasNot<E>;
}
}  // namespace

BOOST_AUTO_TEST_CASE(an_expression_is_no_bool) {
  static_assert(HasAnd<int, bool> && HasOr<int, int> && HasNot<int>, "the constraints find what there is");
  const auto x = variable(1, "x");
  BOOST_TEST(is_no_bool(x));
  BOOST_TEST(is_no_bool(x == 1));
  BOOST_TEST(is_no_bool(x + 1 < 2));
  BOOST_TEST(is_no_bool(-x));
  BOOST_TEST(is_no_bool(in_types[0].ndim));
  BOOST_TEST(is_no_bool(in_types[0].shape[0] != in_types[1].shape[0]));
  BOOST_TEST(is_no_bool(in_types.size()));
  BOOST_TEST(is_no_bool(prod(in_types[0].shape)));
  BOOST_TEST(is_no_bool(tc::tuple(0)));
}

BOOST_AUTO_TEST_CASE(same_backend) {
  const Array a = arrays::ones({1}), b = arrays::ones({2}, Dtype::int32);
  const Array both[] = {a, b};
  BOOST_CHECK(same_types(both));
}

BOOST_AUTO_TEST_SUITE_END()
