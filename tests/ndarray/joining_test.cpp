// Joining and cutting arrays.
#include <catena/ndarray/routines/joining.h>

#include <iostream>

#include <catena/ndarray/routines/indexing.h>
#include <catena/ndarray/routines/manipulation.h>
#include <catena/ndarray/routines/math.h>
#include <catena/tests/support/ndarray_values.h>

namespace {

using nd::Array;
using test::difference;
using test::message_of;

}  // namespace

BOOST_AUTO_TEST_SUITE(joining)

BOOST_AUTO_TEST_CASE(every_pair_of_dtypes) {
  std::mt19937 random(2);
  for (nd::Dtype t : test::kAllDtypes)
    for (nd::Dtype u : test::kAllDtypes) {
      const Array a = nd::abs(test::random_array({2, 3}, nd::int32, random)).astype(t),
                  b = nd::abs(test::random_array({1, 3}, nd::int32, random)).astype(u);
      const nd::Dtype both = nd::promote_types(t, u);
      const Array joined = nd::concatenate({a, b});
      CHECK_SAME(difference(joined(nd::Slice(0, 2)), a.astype(both)), t << " with " << u);
      CHECK_SAME(difference(joined(nd::Slice(2, {})), b.astype(both)), t << " with " << u);
    }
}

// Pieces of any layout along every axis, against the elements one by one.
BOOST_AUTO_TEST_CASE(pieces_of_any_layout) {
  std::mt19937 random(7);
  const auto check = [&](const std::vector<Array>& pieces, int axis, const std::string& what) {
    const Array joined = nd::concatenate(pieces, axis);
    BOOST_TEST(joined.is_c_contiguous());
    std::int64_t at = 0;
    for (const Array& piece : pieces) {
      const std::int64_t n = piece.shape()[axis];
      std::vector<nd::IndexKey> key(std::size_t(piece.ndim()), nd::Slice());
      Array part = nd::take(joined, nd::arange(at, at + n), {.axis = axis});
      BOOST_TEST(test::same_bits(part, piece), what << " at " << at);
      at += n;
    }
    BOOST_TEST(joined.shape()[axis] == at);
  };
  for (const nd::Dtype t : {nd::int8, nd::float16, nd::float32, nd::float64, nd::complex128})
    for (int axis = 0; axis < 3; ++axis) {
      std::vector<Array> pieces, scattered, odd;
      for (const std::int64_t n : {3, 1, 4, 0, 5}) {
        nd::Shape shape{4, 6, 2};
        shape[axis] = n;
        const Array a = test::random_array(shape, nd::float32, random).astype(t);
        pieces.push_back(a);
        scattered.push_back(test::scattered(a, random));
        odd.push_back(n == 1 ? nd::broadcast_to(a, shape) : a(nd::Slice({}, {}, -1)));
      }
      const std::string what = catena::concat(t, " along ", axis);
      check(pieces, axis, what);
      check(scattered, axis, what + ", scattered");
      check(odd, axis, what + ", reversed");
    }
  // More pieces than a launch takes, with some that need one of their own in between.
  std::vector<Array> many;
  for (int k = 0; k < 230; ++k) {
    const Array block = test::random_array({2, 3, 4}, nd::int16, random);
    many.push_back(
        k % 50 == 7
            ? test::random_array({4, 3, 2}, nd::int16, random).transpose({2, 1, 0})(nd::Slice(), nd::Slice({}, {}, 2))
            : block);
  }
  check(many, 1, "many");
  // Pieces of some hundred kilobytes, which threads divide among themselves.
  const auto large = [&](std::int64_t n) { return test::random_array({n, 3}, nd::float32, random); };
  check({large(90000), large(1), large(120000)}, 0, "large");
  check({large(70000), large(70000).copy()(nd::Slice({}, {}, -1))}, 1, "large, along the last axis");
  // Unaligned memory, and words of 16 bytes.
  const Array bytes = test::random_array({4096}, nd::int8, random);
  check({bytes(nd::Slice(1, 1001)), bytes(nd::Slice(16, 1616)), bytes(nd::Slice(3, 4))}, 0, "unaligned");
  check({bytes(nd::Slice(0, 1024)), bytes(nd::Slice(1024, 2048))}, 0, "aligned");
  check({bytes(nd::Slice(1, 1025)), bytes(nd::Slice(2, 1026))}, 0, "unaligned, of whole words");
  const Array table = test::random_array({8, 100}, nd::int8, random);
  check({table(nd::Slice(), nd::Slice(0, 32)), table(nd::Slice(), nd::Slice(32, 64))}, 1, "rows that are unaligned");
}

BOOST_AUTO_TEST_CASE(empty_and_single) {
  const Array a = nd::zeros({2, 0}), b = nd::ones({2, 3});
  CHECK_SAME(difference(nd::concatenate({a, b}, 1), b), "with an empty array");
  BOOST_TEST(nd::concatenate({a, a}).shape() == (nd::Shape{4, 0}));
  const Array one = nd::concatenate({b});
  BOOST_TEST(!one.shares_memory(b));
  BOOST_TEST(nd::stack({nd::zeros({}), nd::zeros({})}).shape() == nd::Shape{2});
  BOOST_TEST(nd::hstack({nd::zeros({}), nd::zeros({})}).shape() == nd::Shape{2});
  BOOST_TEST(nd::concatenate(std::vector<Array>(1000, nd::ones({1, 2}))).sum().item<int>() == 2000);
}

BOOST_AUTO_TEST_CASE(join_errors) {
  const Array a = nd::zeros({2, 3});
  BOOST_TEST(message_of<nd::IndexError>([&] {
               nd::concatenate({a, a}, 3);
             }) == "concatenate: axis 3 is out of bounds for array of dimension 2");
  BOOST_TEST(message_of<nd::ValueError>([&] { nd::concatenate({}); }) == "concatenate: there are no arrays to join");
  BOOST_TEST(message_of<nd::TypeError>([&] { nd::concatenate({a, nd::zeros({})}); }) == "concatenate: array 1 is 0-d");
  BOOST_TEST(message_of<nd::TypeError>([&] { nd::concatenate({a, Array()}); }) == "concatenate: array 1 is null");
  BOOST_TEST(message_of<nd::ValueError>([&] {
               nd::concatenate({a, nd::zeros(3)});
             }) == "concatenate: arrays 0 and 1 have the ranks 2 and 1");
  BOOST_TEST(
      message_of<nd::ValueError>([&] {
        nd::concatenate({a, a, nd::zeros({2, 4})});
      }) ==
      "concatenate: shapes (2, 3) and (2, 4) of arrays 0 and 2 differ on axis 1, which is not the axis 0 of joining");
  BOOST_TEST(message_of<nd::ValueError>([&] {
               nd::stack({a, nd::zeros({3, 2})});
             }) == "stack: arrays 0 and 1 have the shapes (2, 3) and (3, 2); all must have one shape");
  BOOST_TEST(message_of<nd::IndexError>([&] { nd::stack({a}, -4); }) ==
             "stack: axis -4 is out of bounds for array of dimension 3");
  BOOST_TEST(message_of<nd::IndexError>([&] { nd::stack({a}, 3); }) ==
             "stack: axis 3 is out of bounds for array of dimension 3");
  const Array endless = nd::broadcast_to(nd::zeros(1), {std::int64_t(1) << 62});
  BOOST_TEST(message_of<nd::ValueError>([&] {
               nd::concatenate({endless, endless});
             }) == "concatenate: the lengths of axis 0 add up to too much");
  BOOST_TEST(message_of<nd::ValueError>([&] {
               nd::column_stack({nd::zeros({2, 2, 2})});
             }) == "column_stack: array 0 has rank 3, must be 1-D or 2-D");
  BOOST_CHECK_THROW(nd::hstack({}), nd::ValueError);
}

BOOST_AUTO_TEST_CASE(parts_are_views) {
  const Array a = nd::zeros({2, 7}, nd::int32);
  const auto parts = nd::array_split(a, 3, -1);
  BOOST_TEST(parts.size() == 3u);
  parts[1].fill(5);
  CHECK_SAME(difference(a(0), nd::array({0, 0, 0, 5, 5, 0, 0}, {.dtype = nd::int32})), "written through");
  std::vector<std::int64_t> lengths;
  for (const Array& p : nd::array_split(nd::arange(10), 4)) lengths.push_back(p.size());
  BOOST_TEST((lengths == std::vector<std::int64_t>{3, 3, 2, 2}));
  lengths.clear();
  for (const Array& p : nd::array_split(nd::arange(2), 5)) lengths.push_back(p.size());
  BOOST_TEST((lengths == std::vector<std::int64_t>{1, 1, 0, 0, 0}));
  const auto cuts = nd::split(nd::arange(5), {-2, 9, 3});
  CHECK_SAME(difference(cuts[0], nd::arange(3)), "negative position");
  CHECK_SAME(difference(cuts[1], nd::array({3, 4})), "behind the end");
  BOOST_TEST(cuts[2].size() == 0);
  CHECK_SAME(difference(cuts[3], nd::array({3, 4})), "going back");
}

BOOST_AUTO_TEST_CASE(joined_by_position) {
  const Array a = nd::array({1, 2, 3}), b = nd::array({4, 5, 6});
  CHECK_SAME(difference(nd::r_(a, 0, 0, b), nd::array({1, 2, 3, 0, 0, 4, 5, 6})), "r_");
  CHECK_SAME(difference(nd::r_(a, std::vector<double>{1.5}), nd::array({1.0, 2.0, 3.0, 1.5})), "r_ of a list");
  // Numbers are cast to the common dtype of arrays and numbers.
  BOOST_TEST(nd::r_(a.astype(nd::int8), 7).dtype() == nd::int8);
  BOOST_TEST(nd::r_(a.astype(nd::int8), 0.5).dtype() == nd::float64);
  BOOST_TEST(nd::r_(a.astype(nd::float32), 0.5, a.astype(nd::int8)).dtype() == nd::float32);
  BOOST_TEST(nd::r_(1, 2).dtype() == nd::int64);
  CHECK_SAME(difference(nd::r_(nd::zeros({1, 2}), nd::ones({2, 2})), nd::array({{0., 0.}, {1., 1.}, {1., 1.}})), "r_");
  CHECK_SAME(difference(nd::c_(a, b), nd::array({{1, 4}, {2, 5}, {3, 6}})), "c_");
  CHECK_SAME(difference(nd::c_(a.reshape(1, 3), 0, 0, b.reshape(1, 3)), nd::array({{1, 2, 3, 0, 0, 4, 5, 6}})), "c_");
  BOOST_TEST(nd::c_(nd::zeros({2, 3, 4}), nd::zeros({2, 3, 1})).shape() == (nd::Shape{2, 3, 5}));
  // numpy.r_['0,2', a, b], numpy.r_['0,3,1', a], numpy.r_['1,3,0', a, b], numpy.r_['0,3,-2', a, b], numpy.r_['r', a, b]
  BOOST_TEST((nd::AxisConcatenator{.ndmin = 2}(a, b).shape() == nd::Shape{2, 3}));
  BOOST_TEST((nd::AxisConcatenator{.ndmin = 3, .trans1d = 1}(a).shape() == nd::Shape{1, 3, 1}));
  BOOST_TEST((nd::AxisConcatenator{.axis = 1, .ndmin = 3, .trans1d = 0}(a, b).shape() == nd::Shape{3, 2, 1}));
  BOOST_TEST((nd::AxisConcatenator{.ndmin = 3, .trans1d = -2}(a, b).shape() == nd::Shape{2, 3, 1}));
  BOOST_TEST((nd::AxisConcatenator{.matrix = true}(a, b).shape() == nd::Shape{1, 6}));
  BOOST_TEST(nd::r_.len() == 0);
  BOOST_CHECK_THROW(nd::r_(a, nd::Slice(0, 5)), nd::NotImplementedError);
  BOOST_CHECK_THROW(nd::r_("0,2", a), nd::NotImplementedError);
  BOOST_CHECK_THROW(nd::r_(a, nd::zeros({2, 2})), nd::ValueError);
  BOOST_CHECK_THROW(nd::c_(a, nd::zeros(2)), nd::ValueError);
  BOOST_CHECK_THROW((nd::AxisConcatenator{.ndmin = 2, .trans1d = 2}(a)), nd::ValueError);
}

BOOST_AUTO_TEST_CASE(split_errors) {
  const Array a = nd::zeros({4, 5});
  BOOST_TEST(message_of<nd::ValueError>([&] { nd::split(a, 3); }) ==
             "split: axis 0 of length 4 cannot be divided into 3 equal parts");
  BOOST_TEST(message_of<nd::ValueError>([&] { nd::array_split(a, 0); }) ==
             "array_split: the number of parts 0 must be positive");
  BOOST_TEST(message_of<nd::IndexError>([&] { nd::split(a, 2, 2); }) ==
             "split: axis 2 is out of bounds for array of dimension 2");
  BOOST_TEST(message_of<nd::IndexError>([&] { nd::array_split(a, 2, -3); }) ==
             "array_split: axis -3 is out of bounds for array of dimension 2");
  BOOST_TEST(message_of<nd::ValueError>([&] { nd::vsplit(a(0), 2); }) ==
             "vsplit: an array of rank 1 cannot be cut so; the rank must be at least 2");
  BOOST_TEST(message_of<nd::ValueError>([&] { nd::hsplit(a(0, 0), 2); }) ==
             "hsplit: an array of rank 0 cannot be cut so; the rank must be at least 1");
  BOOST_TEST(message_of<nd::ValueError>([&] { nd::dsplit(a, 2); }) ==
             "dsplit: an array of rank 2 cannot be cut so; the rank must be at least 3");
}

BOOST_AUTO_TEST_SUITE_END()
