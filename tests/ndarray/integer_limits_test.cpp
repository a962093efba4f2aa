// Numbers that a dtype cannot hold, as NumPy 2 treats them: comparisons and true division take them, what would store
// them is an OverflowError. The values are NumPy's.
#include <cmath>
#include <cstdint>

#include <catena/ndarray/ndarray.h>
#include <catena/tests/support/ndarray_values.h>

namespace {

using nd::Array;
using test::same_bits;

Array u8() { return nd::array({1, 255}, nd::uint8); }
Array u64() { return nd::array(std::vector<std::uint64_t>{0, UINT64_MAX}); }
Array i64() { return nd::array(std::vector<std::int64_t>{-1, INT64_MAX}); }
constexpr std::uint64_t kAbove = std::uint64_t(1) << 63;  // 2^63

bool is(const Array& a, bool first, bool second) { return same_bits(a, nd::array({first, second})); }

}  // namespace

BOOST_AUTO_TEST_SUITE(integer_limits)

BOOST_AUTO_TEST_CASE(comparisons_are_those_of_the_numbers) {
  BOOST_TEST(is(u8() < 300, true, true));
  BOOST_TEST(is(u8() > -1, true, true));
  BOOST_TEST(is(u8() == -1, false, false));
  BOOST_TEST(is(u8() == 257, false, false));  // 257 wraps to 1
  BOOST_TEST(is(u8() != 257, true, true));
  BOOST_TEST(is(u8() <= 256, true, true));
  BOOST_TEST(is(u8() >= 256, false, false));
  BOOST_TEST(is(300 > u8(), true, true));
  BOOST_TEST(is(-1 >= u8(), false, false));
  BOOST_TEST(is(u64() >= -1, true, true));
  BOOST_TEST(is(u64() == -1, false, false));  // -1 wraps to the greatest
  BOOST_TEST(is(u64() == INT64_MIN, false, false));
  BOOST_TEST(is(i64() < kAbove, true, true));
  BOOST_TEST(is(i64() == UINT64_MAX, false, false));  // it wraps to -1
  BOOST_TEST(is(nd::array({-128, 127}, nd::int8) > -129, true, true));
  BOOST_TEST(is(nd::array({-128, 127}, nd::int8) == 128, false, false));
  BOOST_TEST(is(nd::array({true, false}) < 300, true, true));
  BOOST_TEST(is(u64() == i64(), false, false));
  BOOST_TEST(is(u64() < i64(), false, false));
  // Any layout, and what comparisons are used in.
  const Array wide = nd::arange(512, nd::uint16).astype(nd::uint8);
  BOOST_TEST((wide(nd::Slice({}, {}, -3)) < 256).all().item<bool>());
  BOOST_TEST((wide(nd::Slice(1, {}, 2)) > -1).all().item<bool>());
  BOOST_TEST(u8()(u8() < 300).size() == 2);
  BOOST_TEST(is(nd::equal(u8(), 300), false, false));
}

BOOST_AUTO_TEST_CASE(logical_functions_ask_whether_a_number_is_zero) {
  BOOST_TEST(is(nd::logical_and(u8(), 256), true, true));  // 256 wraps to 0
  BOOST_TEST(is(nd::logical_or(nd::zeros(2, nd::uint8), 256), true, true));
  BOOST_TEST(is(nd::logical_xor(u8(), -256), false, false));
}

BOOST_AUTO_TEST_CASE(true_division_gives_floats) {
  BOOST_TEST(same_bits(u8() / 256, nd::array({0.00390625, 0.99609375})));
  BOOST_TEST(same_bits(u8() / -1, nd::array({-1., -255.})));
  BOOST_TEST(same_bits(1000 / nd::array({1, -5}, nd::int8), nd::array({1000., -200.})));
  BOOST_TEST(same_bits(u64() / -1, nd::array({-0., -18446744073709551616.})));
  BOOST_TEST(same_bits(i64() / kAbove, nd::array({-1 / 9223372036854775808., 1.})));
}

BOOST_AUTO_TEST_CASE(arithmetic_refuses_them) {
  BOOST_CHECK_THROW(u8() + 300, nd::OverflowError);
  BOOST_CHECK_THROW(u8() - 300, nd::OverflowError);
  BOOST_CHECK_THROW(u8() * -1, nd::OverflowError);
  BOOST_CHECK_THROW(u8() % 256, nd::OverflowError);
  BOOST_CHECK_THROW(nd::floor_divide(u8(), 256), nd::OverflowError);
  BOOST_CHECK_THROW(nd::power(u8(), 300), nd::OverflowError);
  BOOST_CHECK_THROW(u8() & 256, nd::OverflowError);
  BOOST_CHECK_THROW(nd::maximum(u8(), -1), nd::OverflowError);
  BOOST_CHECK_THROW(u64() + -1, nd::OverflowError);
  BOOST_CHECK_THROW(i64() + kAbove, nd::OverflowError);
  BOOST_CHECK_THROW(nd::where(nd::array({true, false}), u8(), 300), nd::OverflowError);
  BOOST_CHECK_THROW(nd::divmod(u8(), 256), nd::OverflowError);
  BOOST_CHECK_THROW(u8() + 300, nd::ValueError);  // its base
  BOOST_TEST(test::message_of<nd::OverflowError>([] { u8() + 300; }) ==
             "add: the integer 300 does not fit uint8, the dtype it takes beside the arrays");
  BOOST_TEST(((nd::array({true}) + 300).dtype() == nd::int64));
  BOOST_TEST(same_bits(nd::add(u8(), 300, {.dtype = nd::int32}), nd::array({301, 555}, nd::int32)));
  BOOST_CHECK_THROW(nd::add(u8(), 300, {.dtype = nd::uint8}), nd::OverflowError);
  BOOST_TEST(is(nd::less(u8(), 300, {.dtype = nd::bool_}), true, true));
  Array a = u8();
  BOOST_CHECK_THROW(a += 300, nd::OverflowError);
  BOOST_CHECK_THROW(a *= -1, nd::OverflowError);
  BOOST_CHECK_THROW(a(0) += 300, nd::OverflowError);
  BOOST_TEST(same_bits(a, u8()));
}

BOOST_AUTO_TEST_CASE(clip_takes_bounds_beyond_the_numbers) {
  const Array a = nd::array({1, 200}, nd::uint8);
  BOOST_TEST(same_bits(nd::clip(a, -1, 100), nd::array({1, 100}, nd::uint8)));
  BOOST_TEST(same_bits(nd::clip(a, 5, 300), nd::array({5, 200}, nd::uint8)));
  BOOST_TEST(same_bits(a.clip(-1, 300), a));
  BOOST_TEST(same_bits(nd::clip(i64(), 0, UINT64_MAX), nd::array(std::vector<std::int64_t>{0, INT64_MAX})));
  BOOST_TEST(same_bits(nd::clip(a, 1.5, 300), nd::array({1.5, 200.})));
  BOOST_TEST(same_bits(nd::clip(a, nd::array({280, 280}, nd::int16), 300), nd::array({280, 280}, nd::int16)));
  BOOST_CHECK_THROW(nd::clip(a, 256, 300), nd::OverflowError);
  BOOST_CHECK_THROW(nd::clip(a, -5, -1), nd::OverflowError);
}

BOOST_AUTO_TEST_CASE(nothing_stores_them) {
  const Array a = u8();
  const Array mask = nd::array({true, false}), first = nd::array({0});
  const auto refuses = [&](auto f) {
    BOOST_CHECK_THROW(f(), nd::OverflowError);
    BOOST_TEST(same_bits(a, u8()));
  };
  for (const nd::Scalar& value : {nd::Scalar(300), nd::Scalar(-1), nd::Scalar(256.0), nd::Scalar(-1.0),
                                  nd::Scalar(UINT64_MAX), nd::Scalar(INFINITY)}) {
    refuses([&] { a(0) = value; });
    refuses([&] { a(nd::ellipsis) = value; });
    refuses([&] { a(nd::Slice()) = value; });
    refuses([&] { a(first) = value; });
    refuses([&] { a(mask) = value; });
    refuses([&] { a.fill(value); });
    refuses([&] { nd::copyto(a, value, {.casting = nd::Casting::unsafe}); });
    refuses([&] { nd::copyto(a, value, {.casting = nd::Casting::unsafe, .where = mask}); });
    refuses([&] { a.scatter_add({first}, value); });
    refuses([&] { nd::full({2}, value, nd::uint8); });
    refuses([&] { nd::full_like(a, value); });
    refuses([&] { nd::array(value, nd::uint8); });
    refuses([&] { nd::array({nd::Scalar(1), value}, nd::uint8); });
  }
  BOOST_CHECK_THROW(a(0) = NAN, nd::ValueError);
  BOOST_CHECK_THROW(nd::full(2, NAN, nd::int64), nd::ValueError);
  BOOST_TEST(test::message_of<nd::OverflowError>([&] { a(0) = 300; }) ==
             "assignment: the number 300 does not fit uint8, which holds 0 to 255");
  // The limits themselves, fractions, and what has another meaning than a number that does not fit.
  const Array b = u8();
  b(0) = 255;
  b(1) = -0.5;
  BOOST_TEST(same_bits(b, nd::array({255, 0}, nd::uint8)));
  b(0) = 255.9;
  b(1) = true;
  BOOST_TEST(same_bits(b, nd::array({255, 1}, nd::uint8)));
  const Array l = nd::zeros(2, nd::int64), flag = nd::zeros(2, nd::bool_), half = nd::zeros(2, nd::float16);
  l(0) = INT64_MIN;
  l(1) = -9223372036854775808.0;
  BOOST_TEST(same_bits(l, nd::full(2, INT64_MIN)));
  BOOST_CHECK_THROW(l(0) = kAbove, nd::OverflowError);
  BOOST_CHECK_THROW(l(0) = 9223372036854775808.0, nd::OverflowError);
  flag(0) = 300;
  BOOST_TEST(is(flag, true, false));
  half(0) = 70000;
  BOOST_TEST(half(0).item<double>() == INFINITY);
  a(0) = nd::array(300);  // an array is converted
  BOOST_TEST(a(0).item<int>() == 44);
}

BOOST_AUTO_TEST_CASE(lists_are_numbers) {
  BOOST_CHECK_THROW(nd::array({1, 300}, nd::uint8), nd::OverflowError);
  BOOST_CHECK_THROW(nd::array({{1}, {300}}, nd::int8), nd::OverflowError);
  BOOST_CHECK_THROW(nd::array({-1}, nd::uint64), nd::OverflowError);
  BOOST_CHECK_THROW(nd::array({300.0}, nd::uint8), nd::OverflowError);
  BOOST_CHECK_THROW(nd::array({300, 1.5}, nd::uint8), nd::OverflowError);
  BOOST_CHECK_THROW(nd::array({1.0, double(NAN)}, nd::int32), nd::ValueError);
  BOOST_CHECK_THROW(nd::array({kAbove}, nd::int64), nd::OverflowError);
  BOOST_TEST(same_bits(nd::array({1.5, -0.5}, nd::uint8), nd::array({1, 0}, nd::uint8)));
  BOOST_TEST(same_bits(nd::array({1, 255}, nd::uint8).astype(nd::int8), nd::array({1, -1}, nd::int8)));
  BOOST_TEST(is(nd::array({300, 0}, nd::bool_), true, false));
  BOOST_TEST(nd::array(std::vector<int>{}, nd::uint8).size() == 0);
  BOOST_TEST(same_bits(nd::array(std::vector<int>{300, 1}, nd::uint8), nd::array({44, 1}, nd::uint8)));
  const int host[] = {300, 1};
  BOOST_TEST(same_bits(nd::array(&host[0], {2}, nd::uint8), nd::array({44, 1}, nd::uint8)));  // memory is converted
}

BOOST_AUTO_TEST_SUITE_END()
