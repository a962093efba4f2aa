// Operators of Array: with arrays and with host scalars on either side, in place, comparisons, promotion of scalars.
#include <iostream>

#include <catena/ndarray/routines/math.h>
#include <catena/tests/support/ndarray_values.h>

namespace {

using nd::Array;
using test::difference;
using test::message_of;
using test::same_bits;

}  // namespace

BOOST_AUTO_TEST_SUITE(operators)

BOOST_AUTO_TEST_CASE(are_their_functions) {
  std::mt19937 random(1);
  test::Turns turns("dtypes of operators");
  for (nd::Dtype t : {nd::int32, nd::uint8, nd::int64}) {
    if (!turns.count(t == nd::uint8)) continue;  // operators call the same functions for all dtypes
    const Array a = test::random_array({2, 3}, t, random), b = nd::abs(test::random_array({3}, t, random)) % 7;
#define SAME(op, name)                           \
  BOOST_TEST(same_bits(a op b, nd::name(a, b))); \
  BOOST_TEST(same_bits(a op 3, nd::name(a, 3))); \
  BOOST_TEST(same_bits(3 op b, nd::name(3, b))); \
  BOOST_TEST(same_bits(test::scattered(a, random) op test::scattered(b, random), nd::name(a, b)))
    SAME(+, add);
    SAME(-, subtract);
    SAME(*, multiply);
    SAME(/, true_divide);
    SAME(%, remainder);
    SAME(&, bitwise_and);
    SAME(|, bitwise_or);
    SAME(^, bitwise_xor);
    SAME(<<, left_shift);
    SAME(>>, right_shift);
    SAME(==, equal);
    SAME(!=, not_equal);
    SAME(<, less);
    SAME(<=, less_equal);
    SAME(>, greater);
    SAME(>=, greater_equal);
#undef SAME
    BOOST_TEST(same_bits(-a, nd::negative(a)));
    BOOST_TEST(same_bits(~a, nd::invert(a)));
    BOOST_TEST(same_bits(+a, a));
    BOOST_TEST(!(+a).shares_memory(a));
    BOOST_TEST((a < b).dtype() == nd::bool_);
#define IN_PLACE(op, name)                                 \
  do {                                                     \
    Array x = a.copy(), y = x;                             \
    x op## = b;                                            \
    BOOST_TEST(same_bits(x, nd::name(a, b)));              \
    BOOST_TEST(x.get() == y.get());                        \
    x op## = 2;                                            \
    BOOST_TEST(same_bits(y, nd::name(nd::name(a, b), 2))); \
  } while (0)
    IN_PLACE(+, add);
    IN_PLACE(-, subtract);
    IN_PLACE(*, multiply);
    IN_PLACE(%, remainder);
    IN_PLACE(&, bitwise_and);
    IN_PLACE(|, bitwise_or);
    IN_PLACE(^, bitwise_xor);
    IN_PLACE(<<, left_shift);
    IN_PLACE(>>, right_shift);
#undef IN_PLACE
  }
  Array f = nd::ones(3);
  f /= 4;
  BOOST_TEST(difference(f, nd::full({3}, 0.25)) == "");
}

BOOST_AUTO_TEST_CASE(golden_scalar_promotion) {
  const auto golden = test::Golden::open("nd_promotion");
  BOOST_TEST(golden.cases()["add_array_scalar"].size() == 144u);
  for (const auto& row : golden.cases()["add_array_scalar"]) {
    const Array a = nd::ones(2, nd::dtype_from_name(row[0].get<std::string>()));
    const std::string kind = row[2], expected = row[3];
    nd::Scalar s;
    if (kind == "bool") s = nd::Scalar(row[1].get<bool>());
    else if (kind == "int") s = nd::Scalar(row[1].get<std::int64_t>());
    else s = nd::Scalar(row[1].is_string() ? std::stod(row[1].get<std::string>()) : row[1].get<double>());
    for (bool array_first : {true, false}) {
      std::string actual;
      try {
        actual = nd::name_of((array_first ? a + s : s + a).dtype());
      } catch (const nd::ValueError&) {
        actual = "error";
      }
      BOOST_TEST(actual == expected, row.dump() << " gives " << actual);
    }
  }
}

BOOST_AUTO_TEST_CASE(scalars_that_do_not_fit) {
  const Array a = nd::ones(2, nd::int8);
  BOOST_TEST(message_of<nd::ValueError>([&] { a + 300; }) ==
             "add: the integer 300 does not fit int8, the dtype it takes beside the arrays");
  BOOST_CHECK_THROW(nd::ones(2, nd::uint8) - (-1), nd::ValueError);
}

BOOST_AUTO_TEST_CASE(zero_dimensional_arrays_take_part_in_promotion) {
  BOOST_TEST((nd::ones(2, nd::float32) + nd::ones({}, nd::float64)).dtype() == nd::float64);
  BOOST_TEST((nd::ones(2, nd::int8) + nd::ones({}, nd::int64)).dtype() == nd::int64);
}

BOOST_AUTO_TEST_CASE(in_place_casting) {
  const auto message = [](Array a, const Array& b) { return message_of<nd::TypeError>([&] { a += b; }); };
  BOOST_TEST(message(nd::ones(2, nd::uint32), nd::ones(2, nd::int32)) ==
             "add: cannot cast the result from int64 to uint32 under casting 'same_kind'");
  BOOST_TEST(message(nd::ones(2, nd::int32), nd::ones(2, nd::float32)) ==
             "add: cannot cast the result from float64 to int32 under casting 'same_kind'");
  BOOST_TEST(message(nd::ones(2, nd::bool_), nd::ones(2, nd::int64)) ==
             "add: cannot cast the result from int64 to bool under casting 'same_kind'");
  Array i = nd::ones(2, nd::int32);
  BOOST_CHECK_THROW(i /= 2, nd::TypeError);
  BOOST_CHECK_THROW(i += 1.5, nd::TypeError);
  BOOST_TEST(difference(i, nd::ones(2, nd::int32)) == "");
  Array h = nd::ones(2, nd::float16);
  h += nd::ones(2, nd::float64);  // same kind
  BOOST_TEST(difference(h, nd::full({2}, nd::float16_t(2.f))) == "");
  i += nd::ones(2, nd::int64);
  BOOST_TEST(i.dtype() == nd::int32);
  BOOST_CHECK_THROW(i += nd::ones({3, 2}, nd::int32), nd::ValueError);  // in place the shape cannot grow
}

BOOST_AUTO_TEST_CASE(in_place_through_views) {
  Array a = nd::arange(12).reshape(3, 4);
  a.T() += nd::array({100, 200, 300});
  BOOST_TEST(difference(a, nd::arange(12).reshape(3, 4) + nd::array({{100}, {200}, {300}})) == "");
  Array b = nd::arange(4);
  Array tail = b(nd::Slice(1, {})), head = b(nd::Slice({}, -1));
  tail += head;
  BOOST_TEST(difference(b, nd::array({0, 1, 3, 5})) == "");
  b(nd::Slice(0, 2)) *= 10;
  BOOST_TEST(difference(b, nd::array({0, 10, 3, 5})) == "");
  b += b;
  BOOST_TEST(difference(b, nd::array({0, 20, 6, 10})) == "");
}

BOOST_AUTO_TEST_CASE(assignment) {
  Array a = nd::zeros({2, 3}, nd::int64);
  Array row = a(0);
  a(0) = nd::array({1, 2, 3});
  BOOST_TEST(difference(row, nd::array({1, 2, 3})) == "");
  row = nd::array({7, 7, 7});  // another array from now on
  BOOST_TEST(difference(a(0), nd::array({1, 2, 3})) == "");
  a(1) = 5;
  a(nd::ellipsis, 2) = nd::array({{9.7, -9.7}});  // extra leading lengths of 1, unsafe cast
  BOOST_TEST(difference(a, nd::array({{1, 2, 9}, {5, 5, -9}})) == "");
  BOOST_TEST(message_of<nd::ValueError>([&] {
               a(nd::Slice(0, 1), 0) = nd::array({1, 2, 3});
             }) == "assignment: shape (3,) cannot be broadcast to (1,): length 3 on axis -1 is neither 1 nor 1");
  a(0) = a(1);
  BOOST_TEST(difference(a, nd::array({{5, 5, -9}, {5, 5, -9}})) == "");
  Array line = nd::arange(5);
  line(nd::Slice(1, {})) = line(nd::Slice({}, -1));
  BOOST_TEST(difference(line, nd::array({0, 0, 1, 2, 3})) == "");
}

BOOST_AUTO_TEST_CASE(bools) {
  const Array t = nd::array({true, true, false}), f = nd::array({true, false, false});
  BOOST_TEST(difference(t + f, nd::array({true, true, false})) == "");
  BOOST_TEST(difference(t * f, nd::array({true, false, false})) == "");
  BOOST_TEST(message_of<nd::TypeError>([&] { t - f; }) ==
             "subtract: no loop for (bool, bool); use bitwise_xor instead");
  BOOST_TEST(message_of<nd::TypeError>([&] { t - true; }) ==
             "subtract: no loop for (bool, bool); use bitwise_xor instead");
  BOOST_TEST(message_of<nd::TypeError>([&] { -t; }) == "negative: no loop for (bool,); use logical_not instead");
  BOOST_TEST((t - 1).dtype() == nd::int64);
  BOOST_TEST(difference(~t, nd::array({false, false, true})) == "");
  BOOST_TEST((t / f).dtype() == nd::float64);
  BOOST_TEST(nd::power(t, f).dtype() == nd::int8);
}

BOOST_AUTO_TEST_CASE(truth) {
  BOOST_TEST(!bool(nd::zeros({0})));
  BOOST_TEST(bool(nd::ones({1, 1})));
  BOOST_TEST(!bool(nd::zeros({})));
  BOOST_TEST(bool(nd::array({std::nan("")})));
  BOOST_TEST(message_of<nd::ValueError>([] { (void)bool(nd::ones(2)); }) ==
             "truth value: an array of shape (2,) has 2 elements, so its truth value is ambiguous; use any or all");
}

BOOST_AUTO_TEST_SUITE_END()
