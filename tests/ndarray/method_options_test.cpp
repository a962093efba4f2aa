// Options that a method or a function takes: every one of them is used here by its name or its place.
#include <cmath>

#include <catena/ndarray/device/stream.h>
#include <catena/ndarray/routines/creation.h>
#include <catena/ndarray/routines/indexing.h>
#include <catena/ndarray/routines/manipulation.h>
#include <catena/ndarray/routines/random.h>
#include <catena/ndarray/routines/reduction.h>
#include <catena/tests/support/ndarray_values.h>

namespace {

using nd::Array;
using nd::Shape;
using test::difference;

// The sums and so on of the rows of {{3, 1, 2}, {0, 5, 4}}, with the reduced axis kept.
struct OfRows {
  Array a = nd::array({{3, 1, 2}, {0, 5, 4}}), out = nd::empty({2, 1}, nd::float64);
  // The results of one call with a dtype and one with an array to write to.
  void check(const char* what, const Array& typed, const Array& written, const Array& expected) const {
    CHECK_SAME(difference(typed, expected.astype(nd::float32)), what);
    BOOST_TEST(written.get() == out.get(), what);
    CHECK_SAME(difference(out, expected.astype(nd::float64)), what);
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(method_options)

BOOST_AUTO_TEST_CASE(reducing_methods) {
  const OfRows t;
  const Array &a = t.a, &out = t.out;
  t.check("sum", a.sum({.axis = 1, .dtype = nd::float32, .keepdims = true}),
          a.sum({.axis = 1, .out = out, .keepdims = true}), nd::array({{6}, {9}}));
  t.check("prod", a.prod({.axis = 1, .dtype = nd::float32, .keepdims = true}),
          a.prod({.axis = 1, .out = out, .keepdims = true}), nd::array({{6}, {0}}));
  t.check("max", a.max({.axis = 1, .dtype = nd::float32, .keepdims = true}),
          a.max({.axis = 1, .out = out, .keepdims = true}), nd::array({{3}, {5}}));
  t.check("min", a.min({.axis = 1, .dtype = nd::float32, .keepdims = true}),
          a.min({.axis = 1, .out = out, .keepdims = true}), nd::array({{1}, {0}}));
  t.check("mean", a.mean({.axis = 1, .dtype = nd::float32, .keepdims = true}),
          a.mean({.axis = 1, .out = out, .keepdims = true}), nd::array({{2}, {3}}));
  // The squares of the deviations sum to 2 and 14.
  t.check("var", a.var({.axis = 1, .dtype = nd::float32, .ddof = 1, .keepdims = true}),
          a.var({.axis = 1, .out = out, .ddof = 1, .keepdims = true}), nd::array({{1}, {7}}));
  t.check("std", a.std({.axis = 1, .dtype = nd::float32, .ddof = 1, .keepdims = true}),
          a.std({.axis = 1, .out = out, .ddof = 1, .keepdims = true}), nd::array({{1.0}, {std::sqrt(7.0)}}));
  const Array truth = nd::empty({2, 1}, nd::bool_);
  BOOST_TEST(a.all({.axis = 1, .out = truth, .keepdims = true}).get() == truth.get());
  CHECK_SAME(difference(truth, nd::array({{true}, {false}})), "all");
  BOOST_TEST(a.any({.axis = 1, .out = truth, .keepdims = true}).get() == truth.get());
  CHECK_SAME(difference(truth, nd::array({{true}, {true}})), "any");
}

BOOST_AUTO_TEST_CASE(positions_of_extrema) {
  const Array a = OfRows().a, out = nd::empty({2, 1}, nd::int64);
  BOOST_TEST(a.argmax({.axis = 1, .out = out, .keepdims = true}).get() == out.get());
  CHECK_SAME(difference(out, nd::array({{0}, {1}})), "argmax");
  CHECK_SAME(difference(a.argmax({.axis = 1, .dtype = nd::int32, .keepdims = true}), nd::array({{0}, {1}}, nd::int32)),
             "argmax of int32");
  BOOST_TEST(a.argmin({.axis = 1, .out = out, .keepdims = true}).get() == out.get());
  CHECK_SAME(difference(out, nd::array({{1}, {0}})), "argmin");
  CHECK_SAME(difference(a.argmin({.axis = 1, .dtype = nd::int32, .keepdims = true}), nd::array({{1}, {0}}, nd::int32)),
             "argmin of int32");
}

BOOST_AUTO_TEST_CASE(views_and_outputs) {
  const Array a = nd::arange(8).reshape(2, 2, 2);
  // Element k of the diagonal of the axes 0 and 2 is a[k, :, k].
  CHECK_SAME(difference(a.diagonal(0, 0, 2), nd::array({{0, 5}, {2, 7}})), "diagonal");
  const Array numbers = nd::array({0, 1}), out = nd::zeros(2);
  BOOST_TEST(numbers.choose({nd::zeros(2), nd::ones(2)}, {.out = out}).get() == out.get());
  CHECK_SAME(difference(out, nd::array({0.0, 1.0})), "choose");
}

BOOST_AUTO_TEST_CASE(created_arrays) {
  const Array a = nd::ones({2, 3}, nd::int16);
  BOOST_TEST(nd::empty_like(a, {.dtype = nd::float32}).dtype() == nd::float32);
  CHECK_SAME(difference(nd::zeros_like(a, {.dtype = nd::float32}), nd::zeros({2, 3}, nd::float32)), "zeros_like");
  CHECK_SAME(difference(nd::ones_like(a, {.dtype = nd::float32}), nd::ones({2, 3}, nd::float32)), "ones_like");
  CHECK_SAME(difference(nd::full_like(a, 7, {.dtype = nd::float32}), nd::full({2, 3}, 7.f)), "full_like");
  const Array same = nd::ascontiguousarray(a, nd::int16), cast = nd::ascontiguousarray(a.T(), nd::float64);
  BOOST_TEST(same.get() == a.get());
  BOOST_TEST(cast.is_c_contiguous());
  CHECK_SAME(difference(cast, nd::ones({3, 2})), "ascontiguousarray");
  CHECK_SAME(difference(nd::logspace(0, 4, 4, {.endpoint = false, .base = 2, .dtype = nd::int32}),
                        nd::array({1, 2, 4, 8}, nd::int32)),
             "logspace");
}

BOOST_AUTO_TEST_CASE(random_arrays) {
  namespace r = nd::random;
  for (const Array& a : {r::random({2, 3}, {.dtype = nd::float32}), r::ranf({2, 3}, {.dtype = nd::float32}),
                         r::sample({2, 3}, {.dtype = nd::float32}), r::rand({2, 3}, {.dtype = nd::float32}),
                         r::randn({2, 3}, {.dtype = nd::float32}), r::lognormal(0, 1, {2, 3}, {.dtype = nd::float32}),
                         r::gumbel(0, 1, {2, 3}, {.dtype = nd::float32})}) {
    BOOST_TEST(a.shape() == (Shape{2, 3}));
    BOOST_TEST(a.dtype() == nd::float32);
    BOOST_TEST((a != a(0, 0)).any().item<bool>());
  }
  r::RandomState g(3);
  for (const Array& a :
       {g.rand({2, 3}, {.dtype = nd::float32}), g.randn({2, 3}, {.dtype = nd::float32}),
        g.normal(0, 1, {2, 3}, {.dtype = nd::float32}), g.lognormal(0, 1, {2, 3}, {.dtype = nd::float32})})
    BOOST_TEST((a.dtype() == nd::float32 && a.shape() == Shape{2, 3}));
  const Array dice = r::random_integers(1, 6, {2, 300});
  BOOST_TEST(dice.shape() == (Shape{2, 300}));
  BOOST_TEST(dice.min().item<int>() == 1);
  BOOST_TEST(dice.max().item<int>() == 6);
}

BOOST_AUTO_TEST_CASE(events_that_block) {
  const nd::Event event({.block = true, .disable_timing = true});
  const nd::Stream stream;
  stream.record(event);
  event.synchronize();
  BOOST_TEST(event.done());
}

BOOST_AUTO_TEST_SUITE_END()
