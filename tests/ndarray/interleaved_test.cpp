// Outputs and inputs that lie between each other without a common element: they are written where they are, without
// copies and without errors.
#include <boost/test/unit_test.hpp>

#include <catena/ndarray/ndarray.h>
#include <catena/tests/support/ndarray_values.h>

namespace {

using nd::Array;
using nd::Slice;
using test::difference;
using test::message_of;

BOOST_AUTO_TEST_SUITE(interleaved)

// Pairs of views of one array of shape (5, 6) that share no element.
std::vector<std::pair<Array, Array>> pairs_of(const Array& g) {
  return {
      {g(Slice(), Slice(0, {}, 2)), g(Slice(), Slice(1, {}, 2))},
      {g(Slice(), Slice(0, 3)), g(Slice(), Slice(3, 6))},
      {g(Slice(), Slice(0, {}, 2)), g(Slice(), Slice({}, {}, -2))},
      {g(Slice(), Slice(0, 3)), g(Slice({}, {}, -1), Slice(3, 6))},
  };
}

BOOST_AUTO_TEST_CASE(outputs_of_functions_with_two_results) {
  const Array x = nd::arange(15).reshape(5, 3) - 7.25;
  for (std::size_t k = 0; k < 4; ++k) {
    Array g = nd::zeros({5, 6});
    const auto [first, second] = pairs_of(g)[k];
    const auto check = [&, first = first, second = second](const std::pair<Array, Array>& expected, const char* what) {
      CHECK_SAME(difference(first, expected.first), what << ' ' << k);
      CHECK_SAME(difference(second, expected.second), what << ' ' << k);
      g.fill(0);
    };
    nd::divmod(x, 2.5, {.out = {first, second}});
    check(nd::divmod(x, 2.5), "divmod");
    nd::modf(x, {.out = {first, second}});
    check(nd::modf(x), "modf");
    nd::ufunc("modf").call(std::vector<nd::Operand>{x, second, first});
    const auto [fraction, whole] = nd::modf(x);
    check({whole, fraction}, "by name");
  }
  // The exponents of frexp are integers: bytes of one storage seen as two dtypes.
  Array words = nd::zeros({5, 6}, nd::int32);
  const Array numbers = words.view(nd::float32);
  const Array mantissa = numbers(Slice(), Slice(0, {}, 2)), exponent = words(Slice(), Slice(1, {}, 2));
  const Array y = x.astype(nd::float32);
  nd::frexp(y, {.out = {mantissa, exponent}});
  const auto [m, e] = nd::frexp(y);
  CHECK_SAME(difference(mantissa, m), "mantissa");
  CHECK_SAME(difference(exponent, e), "exponent");
}

BOOST_AUTO_TEST_CASE(outputs_that_share_an_element_are_refused) {
  const Array g = nd::zeros({5, 6}), x = nd::ones({5, 3});
  const auto refused = [&](const Array& a, const Array& b) {
    BOOST_TEST(message_of<nd::ValueError>([&] {
                 nd::modf(x, {.out = {a, b}});
               }) == "modf: outputs 0 and 1 share memory");
  };
  refused(g(Slice(), Slice(0, 3)), g(Slice(), Slice(2, 5)));
  refused(g(Slice(), Slice(0, {}, 2)), g(Slice(), Slice(4, {}, -2)));
  CHECK_SAME(difference(g, nd::zeros({5, 6})), "not written");
}

BOOST_AUTO_TEST_CASE(outputs_of_a_user_kernel) {
  const nd::ElementwiseKernel kernel("float64 x", "float64 y, float64 z", "y = x + 1; z = x * 2",
                                     "interleaved_outputs");
  const Array x = nd::arange(15).reshape(5, 3).astype(nd::float64);
  for (std::size_t k = 0; k < 4; ++k) {
    const Array g = nd::zeros({5, 6});
    const auto [first, second] = pairs_of(g)[k];
    const nd::Operand operands[] = {x, first, second};
    kernel.call(operands);
    CHECK_SAME(difference(first, x + 1.), k);
    CHECK_SAME(difference(second, x * 2.), k);
  }
  const Array g = nd::zeros({5, 6}), first = g(Slice(), Slice(0, 3)), second = g(Slice(), Slice(2, 5));
  const nd::Operand operands[] = {x, first, second};
  BOOST_TEST(message_of<nd::ValueError>([&] { kernel.call(operands); }) ==
             "ElementwiseKernel interleaved_outputs: the outputs y and z share memory");
}

// Reads of one half of an array and writes of the other, by calls of every kind.
BOOST_AUTO_TEST_CASE(inputs_between_outputs) {
  for (std::size_t k = 0; k < 4; ++k) {
    std::mt19937 random(7);
    const Array start = test::random_array({5, 6}, nd::float64, random);
    const auto run = [&](const char* what, const auto& f, const Array& expected) {
      const Array g = start.copy();
      const auto [to, from] = pairs_of(g)[k];
      const Array kept = from.copy();
      f(to, from);
      CHECK_SAME(difference(to, expected), what << ' ' << k);
      CHECK_SAME(difference(from, kept), what << ' ' << k);
    };
    const Array from = pairs_of(start)[k].second.copy();
    run(
        "assignment", [](Array a, Array b) { a(nd::ellipsis) = b; }, from);
    run(
        "sum", [](Array a, Array b) { nd::add(b, b, {.out = a}); }, from + from);
    run(
        "scan", [](Array a, Array b) { nd::cumsum(b, {.axis = 0, .out = a}); }, nd::cumsum(from, {.axis = 0}));
    run(
        "take",
        [](Array a, Array b) {
          nd::take(b, {4, 3, 2, 1, 0}, {.axis = 0, .out = a});
        },
        from(Slice({}, {}, -1)));
    run(
        "fused", [](Array a, Array b) { nd::fuse([](auto& x, auto y) { x = y * 2. + 1.; })(a, b); }, from * 2. + 1.);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
