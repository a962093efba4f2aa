// Fused functions against the same computation step by step.
#include <boost/test/unit_test.hpp>

#include <tuple>

#include "ndarray/ndarray.h"
#include "tests/support/ndarray_values.h"

namespace {

using nd::Array;
using nd::Dtype;

BOOST_AUTO_TEST_SUITE(fusion)

BOOST_AUTO_TEST_CASE(a_chain_has_the_bits_of_its_steps) {
  std::mt19937 random(1);
  const auto chain = [](const auto& x, const auto& y) { return nd::tanh(x * y + 1) / (nd::exp(-x) + 2); };
  const auto fused = nd::fuse(chain);
  for (const Dtype dtype : {nd::float16, nd::float32, nd::float64, nd::bfloat16})
    for (const nd::Shape& shape : {nd::Shape{}, nd::Shape{1}, nd::Shape{0}, nd::Shape{3000}, nd::Shape{7, 5, 3}}) {
      const Array x = test::random_array(shape, dtype, random), y = test::random_array(shape, dtype, random);
      CHECK_SAME(test::difference(fused(x, y), chain(x, y)), dtype << shape);
      const Array sx = test::scattered(x, random), sy = test::scattered(y, random);
      BOOST_TEST(test::same_bits(fused(sx, sy), fused(x, y)), "strided " << dtype << shape);
    }
}

BOOST_AUTO_TEST_CASE(dtypes_follow_step_by_step) {
  std::mt19937 random(2);
  for (const Dtype a : test::kAllDtypes)
    for (const Dtype b : {nd::int8, nd::uint32, nd::float16, nd::float32}) {
      const auto f = [](const auto& x, const auto& y) { return (x + y) * 3 + x; };
      const Array x = test::random_array({50}, a, random), y = test::random_array({50}, b, random);
      CHECK_SAME(test::difference(nd::fuse(f)(x, y), f(x, y)), a << " " << b);
    }
}

BOOST_AUTO_TEST_CASE(broadcasting_scalars_and_constants) {
  std::mt19937 random(3);
  const Array row = test::random_array({4}, nd::float32, random), column = test::random_array({5, 1}, nd::float32, random);
  const auto f = [](const auto& x, const auto& y, const auto& s) { return 0.1 * x - y / s + nd::maximum(x, 1.5); };
  CHECK_SAME(test::difference(nd::fuse(f)(row, column, 3), f(row, column, 3)), "int scalar");
  CHECK_SAME(test::difference(nd::fuse(f)(row, column, 0.7), f(row, column, 0.7)), "float scalar");
  double captured = 2;
  const auto scaled = nd::fuse([&](const auto& x) { return x * captured; });
  CHECK_SAME(test::difference(scaled(row), row * 2), "captured");
  captured = 5;
  CHECK_SAME(test::difference(scaled(row), row * 5), "captured anew");
}

BOOST_AUTO_TEST_CASE(selection_tests_and_casts) {
  std::mt19937 random(4);
  const Array x = test::random_array({300}, nd::float32, random), k = test::random_array({300}, nd::int32, random);
  const auto fused = nd::fuse([](const auto& a, const auto& b) { return nd::where((a > 0) & (b != 3), nd::clip(a, -1, 2), b.astype(nd::float32)); });
  CHECK_SAME(test::difference(fused(x, k), nd::where((x > 0) & nd::not_equal(k, 3), nd::clip(x, -1, 2), k.astype(nd::float32))), "where");
  const auto nonzero = nd::fuse([](const auto& b, const auto& a) { return nd::where(b, a, 0); });
  CHECK_SAME(test::difference(nonzero(k, x), nd::where(k, x, 0)), "condition of integers");
}

BOOST_AUTO_TEST_CASE(several_results) {
  std::mt19937 random(5);
  const Array x = test::random_array({64}, nd::float64, random);
  const auto f = nd::fuse([](const auto& a) {
    const auto s = a * a;
    return std::tuple(s, s + 1, a, s);
  });
  const std::vector<Array> r = f(x);
  BOOST_REQUIRE(r.size() == 4u);
  CHECK_SAME(test::difference(r[0], x * x), "square");
  CHECK_SAME(test::difference(r[1], x * x + 1), "square + 1");
  CHECK_SAME(test::difference(r[2], x), "the argument itself");
  CHECK_SAME(test::difference(r[3], x * x), "the same value twice");
  BOOST_TEST(!r[0].shares_memory(r[3]));
  BOOST_TEST(!r[2].shares_memory(x));
}

BOOST_AUTO_TEST_CASE(assignment_writes_the_argument) {
  std::mt19937 random(6);
  const Array x = test::random_array({5000}, nd::float32, random), y = test::random_array({5000}, nd::float32, random);
  const auto axpy = nd::fuse([](auto& b, const auto& a, const auto& s) { b += a * s; });
  const Array written = y.copy(), view = written.reshape({50, 100});
  axpy(written, x, 0.5);
  CHECK_SAME(test::difference(written, y + x * 0.5), "axpy");
  CHECK_SAME(test::difference(view.reshape({5000}), written), "a view sees it");
  // What is read after the assignment is the old value where the function said so.
  const auto old_and_new = nd::fuse([](auto& b) {
    const auto before = b;
    b *= 2;
    return before + b;
  });
  const Array z = y.copy();
  CHECK_SAME(test::difference(old_and_new(z), y + y * 2), "returned");
  CHECK_SAME(test::difference(z, y * 2), "written");
  // The same array twice, and overlapping views.
  const auto add_to = nd::fuse([](auto& b, const auto& a) { b += a; });
  const Array same = x.copy();
  add_to(same, same);
  CHECK_SAME(test::difference(same, x * 2), "same array");
  const Array block = x.copy(), head = block(nd::Slice(0, 4000)), tail = block(nd::Slice(1000, 5000));
  const Array expected = head.copy() + tail.copy();
  add_to(head, tail);
  CHECK_SAME(test::difference(block(nd::Slice(0, 4000)), expected), "overlapping");
}

BOOST_AUTO_TEST_CASE(long_chains_reuse_their_slots) {
  const Array x = nd::full({100}, 1.f);
  const auto f = [](const auto& a) {
    auto b = a + 0.f;
    for (int k = 0; k < 60; ++k) b = b * a + a;
    return b;
  };
  CHECK_SAME(test::difference(nd::fuse(f)(x), f(x)), "120 steps");
}

BOOST_AUTO_TEST_CASE(errors) {
  const Array x = nd::ones({3}), i = nd::ones({3}, nd::int32), other = nd::ones({4});
  const auto add = nd::fuse([](const auto& a, const auto& b) { return a + b; });
  BOOST_TEST(test::message_of<catena::TypeError>([&] { add(1, 2); }) == "fused function: at least one argument must be an array");
  BOOST_TEST(test::message_of<catena::ValueError>([&] { add(x, other); }) ==
             "fused function: shapes (3,) and (4,) do not broadcast together");
  const auto assign = nd::fuse([](auto& a, const auto& b) { a += b; });
  BOOST_TEST(test::message_of<catena::TypeError>([&] { assign(1., x); }) == "fused function: argument 0 is assigned to and must be an array");
  BOOST_TEST(test::message_of<catena::TypeError>([&] { assign(i, x); }).find("cannot cast the result from float64 to int32") != std::string::npos);
  BOOST_TEST(nd::all(i == 1).item<bool>());
  BOOST_TEST(test::message_of<catena::ValueError>([&] {
               nd::fuse([](const auto& a) {
                 auto s = a + 1.;
                 for (int k = 2; k < 18; ++k) s = s + double(k);
                 return s;
               })(x);
             }) == "fused function: 18 arguments and constants and 1 results exceed the limit of 16");
  nd::fuse([](const auto&) {})(x);  // nothing to do
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
