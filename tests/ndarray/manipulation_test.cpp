// Shapes, axes, broadcasting, repeating, rearranging, padding.
#include <catena/ndarray/routines/manipulation.h>
#include <catena/ndarray/routines/padding.h>

#include <iostream>
#include <map>

#include <catena/ndarray/routines/indexing.h>
#include <catena/ndarray/routines/math.h>
#include <catena/tests/support/ndarray_values.h>

namespace {

using nd::Array;
using nd::Slice;
using test::difference;
using test::message_of;
using test::same_bits;

Array value_array(const nd::Shape& shape, nd::Dtype t) {
  std::mt19937 random(static_cast<unsigned>(t));
  return test::random_array(shape, t, random);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(manipulation)

// Whatever only moves elements must treat all dtypes alike: the result for int64 positions says where each element
// goes.
BOOST_AUTO_TEST_CASE(every_dtype_moves_alike) {
  std::mt19937 random(2);
  const std::pair<const char*, std::function<Array(const Array&)>> moves[] = {
      {"tile",
       [](const Array& a) {
         return nd::tile(a, {2, 1, 3});
       }},
      {"repeat", [](const Array& a) { return nd::repeat(a, 3, 1); }},
      {"repeat list",
       [](const Array& a) {
         return nd::repeat(a, {2, 0, 1}, -2);
       }},
      {"repeat all", [](const Array& a) { return nd::repeat(a, 2); }},
      {"roll", [](const Array& a) { return nd::roll(a, -5, 2); }},
      {"roll all", [](const Array& a) { return nd::roll(a, 7); }},
      {"rot90",
       [](const Array& a) {
         return nd::rot90(a, 3, {0, 2});
       }},
      {"flip", [](const Array& a) { return nd::flip(a, 1); }},
      {"moveaxis",
       [](const Array& a) {
         return nd::moveaxis(a, {0, -1}, {-1, 0});
       }},
      {"rollaxis", [](const Array& a) { return nd::rollaxis(a, 2); }},
  };
  const nd::Shape shape{2, 3, 4};
  for (const auto& [name, move] : moves) {
    const Array where_from = move(nd::arange(24).reshape(shape));
    for (nd::Dtype t : test::kAllDtypes) {
      const Array a = value_array(shape, t);
      const Array expected = nd::take(a, where_from);
      BOOST_TEST(same_bits(move(a), expected), name << " of " << t);
      BOOST_TEST(same_bits(move(test::scattered(a, random)), expected), name << " of scattered " << t);
    }
  }
}

BOOST_AUTO_TEST_CASE(views_write_through) {
  const std::pair<const char*, std::function<Array(const Array&)>> views[] = {
      {"expand_dims", [](const Array& a) { return nd::expand_dims(a, 1); }},
      {"atleast_3d", [](const Array& a) { return nd::atleast_3d(a); }},
      {"transpose", [](const Array& a) { return nd::transpose(a); }},
      {"swapaxes", [](const Array& a) { return nd::swapaxes(a, 0, 1); }},
      {"rollaxis", [](const Array& a) { return nd::rollaxis(a, 1); }},
      {"moveaxis", [](const Array& a) { return nd::moveaxis(a, 0, 1); }},
      {"flip", [](const Array& a) { return nd::flip(a, -1); }},
      {"rot90", [](const Array& a) { return nd::rot90(a); }},
      {"rot90 by 0", [](const Array& a) { return nd::rot90(a, 4); }},
      {"reshape",
       [](const Array& a) {
         return nd::reshape(a, {3, 2});
       }},
      {"ravel", [](const Array& a) { return nd::ravel(a); }},
  };
  for (const auto& [name, view] : views) {
    const Array a = nd::zeros({2, 3});
    const Array v = view(a);
    v.fill(1);
    BOOST_TEST(a.sum().item<int>() == 6, name);
    BOOST_TEST(v.get() != a.get(), name);
  }
  const Array a = nd::zeros({2, 3});
  for (const Array& copy : {nd::tile(a, 1), nd::repeat(a, 1, 0), nd::roll(a, 0, 0)}) BOOST_TEST(copy->data != a->data);
  BOOST_TEST(nd::rollaxis(a, 1, 1).get() == a.get());
  BOOST_TEST(nd::rollaxis(a, 1, 2).get() == a.get());
  BOOST_TEST(nd::atleast_2d(a).get() == a.get());
  BOOST_TEST(nd::broadcast_to(a, {4, 2, 3}).strides()[0] == 0);
  BOOST_TEST(!nd::ravel(a.T()).shares_memory(a));
}

BOOST_AUTO_TEST_CASE(empty_arrays_and_rank_0) {
  const Array e = nd::zeros({0, 3}), s = nd::array(4);
  BOOST_TEST(nd::tile(e, {2, 2}).shape() == (nd::Shape{0, 6}));
  BOOST_TEST(nd::tile(s, {2, 3}).shape() == (nd::Shape{2, 3}));
  BOOST_TEST(nd::tile(s, nd::Dims{}).ndim() == 0);
  BOOST_TEST(nd::repeat(e, 2, 0).shape() == (nd::Shape{0, 3}));
  BOOST_TEST(nd::repeat(s, 3).shape() == nd::Shape{3});
  BOOST_TEST(nd::roll(e, 1).get() == e.get());
  BOOST_TEST(nd::roll(e, 1, 1).get() == e.get());
  CHECK_SAME(difference(nd::roll(s, 5), s), "roll of 0-d");
  BOOST_TEST(nd::flip(e, 0).shape() == e.shape());
  BOOST_TEST(nd::rot90(e).shape() == (nd::Shape{3, 0}));
  CHECK_SAME(difference(nd::pad(e, 1), nd::zeros({2, 5})), "pad of nothing");
  CHECK_SAME(difference(nd::pad(s, 3), s), "pad of 0-d");
  BOOST_TEST(nd::expand_dims(s, -1).shape() == nd::Shape{1});
  BOOST_TEST(nd::broadcast_to(s, {0}).size() == 0);
  BOOST_TEST(nd::broadcast_arrays({}).empty());
  BOOST_TEST(nd::broadcast_arrays({nd::zeros({0}), nd::zeros({1})})[1].size() == 0);  // a length of 1 fits 0
  BOOST_TEST(nd::atleast_1d({s, e})[0].shape() == nd::Shape{1});
}

BOOST_AUTO_TEST_CASE(rolling_far) {
  const Array a = nd::arange(5);
  for (std::int64_t shift : {INT64_MIN + 1, std::int64_t(-7), std::int64_t(0), std::int64_t(13), INT64_MAX}) {
    const Array r = nd::roll(a, shift);
    for (int i = 0; i < 5; ++i) BOOST_TEST(r(std::int64_t((i + (shift % 5 + 5) % 5) % 5)).item<int>() == i);
  }
}

BOOST_AUTO_TEST_CASE(moving_axes) {
  const Array a = nd::zeros({2, 3, 4, 5});
  BOOST_TEST(nd::moveaxis(a, 0, -1).shape() == (nd::Shape{3, 4, 5, 2}));
  BOOST_TEST(nd::moveaxis(a, {3, 0}, {0, 2}).shape() == (nd::Shape{5, 3, 2, 4}));
  BOOST_TEST(message_of<nd::ValueError>([&] {
               nd::moveaxis(a, {0, 1}, {2});
             }) == "moveaxis: source (0, 1) and destination (2,) have different lengths");
  BOOST_TEST(message_of<nd::ValueError>([&] {
               nd::moveaxis(a, {0, -4}, {1, 2});
             }) == "moveaxis: axis 0 is given twice in (0, -4)");
}

BOOST_AUTO_TEST_CASE(copying_to) {
  Array a = nd::zeros({2, 3}, nd::int32);
  nd::copyto(a, nd::array({1, 2, 3}));
  nd::copyto(a, 7, {.where = nd::array({true, false, false})});
  CHECK_SAME(difference(a, nd::array({{7, 2, 3}, {7, 2, 3}}, {.dtype = nd::int32})), "where");
  nd::copyto(a, a(Slice(), Slice({}, {}, -1)), {.where = nd::array({{1}, {0}})});
  CHECK_SAME(difference(a, nd::array({{3, 2, 7}, {7, 2, 3}}, {.dtype = nd::int32})), "overlap");
  nd::copyto(a, 2.7, {.casting = nd::Casting::unsafe});
  BOOST_TEST(a(0, 0).item<int>() == 2);
  BOOST_TEST(message_of<nd::TypeError>([&] { nd::copyto(a, nd::zeros(3)); }) ==
             "copyto: cannot cast the result from float64 to int32 under casting 'same_kind'");
  BOOST_CHECK_THROW(nd::copyto(a, 1.5), nd::TypeError);
  BOOST_CHECK_THROW(nd::copyto(nd::zeros(1, nd::uint8), -1), nd::TypeError);
  BOOST_CHECK_NO_THROW(nd::copyto(nd::zeros(1, nd::uint8), 1));
  BOOST_CHECK_THROW(nd::copyto(a, nd::array({1, 2, 3}), {.casting = nd::Casting::safe}), nd::TypeError);
  BOOST_TEST(message_of<nd::ValueError>([&] { nd::copyto(a, nd::zeros(6, nd::int32)); }) ==
             "copyto: shape (6,) cannot be broadcast to (2, 3): length 6 on axis -1 is neither 1 nor 3");
  BOOST_CHECK_THROW(nd::copyto(a, 1, {.where = nd::ones(2, nd::bool_)}), nd::ValueError);
  nd::copyto(nd::zeros({0, 3}), 1, {.where = nd::ones(3, nd::bool_)});
  for (nd::Dtype t : test::kAllDtypes) {
    const Array source = value_array({4, 4}, t), to = nd::zeros({4, 4}, t);
    nd::copyto(to, source.T());
    BOOST_TEST(same_bits(to, source.T()), t);
    const Array mask = nd::array({true, false, true, false}), other = nd::zeros({4, 4}, t);
    nd::copyto(other, source, {.where = mask});
    BOOST_TEST(same_bits(other(Slice(), Slice(0, {}, 2)), source(Slice(), Slice(0, {}, 2))), t);
    BOOST_TEST(same_bits(other(Slice(), 1), nd::zeros(4, t)), t);
  }
}

BOOST_AUTO_TEST_CASE(padding) {
  const Array a = nd::array({{1, 2}, {3, 4}});
  CHECK_SAME(difference(nd::pad(a, {{1, 0}, {0, 1}}, "constant", {.constant_values = {{7, 7}, {8, 9}}}),
                        nd::array({{7, 7, 9}, {1, 2, 9}, {3, 4, 9}})),
             "corners belong to the last axis");
  CHECK_SAME(difference(nd::pad(a, {0, 1}, "constant", {.constant_values = -1}),
                        nd::array({{1, 2, -1}, {3, 4, -1}, {-1, -1, -1}})),
             "one pair");
  for (nd::Dtype t : test::kAllDtypes) {
    const Array x = value_array({3, 2}, t), p = nd::pad(x, 2, "constant", {.constant_values = 1});
    BOOST_TEST(p.dtype() == t);
    BOOST_TEST(same_bits(p(Slice(2, -2), Slice(2, -2)), x), t);
    BOOST_TEST(same_bits(p(Slice(0, 2)), nd::ones({2, 6}, t)), t);
  }
  BOOST_TEST(message_of<nd::ValueError>([&] { nd::pad(a, 1, "edges"); }) ==
             "pad: mode is 'edges', must be constant, edge, empty, linear_ramp, maximum, mean, median, minimum, "
             "reflect, symmetric or wrap");
  BOOST_TEST(message_of<nd::ValueError>([&] { nd::pad(a, -1); }) ==
             "pad: the widths -1 and -1 of axis 0 cannot be negative");
  BOOST_TEST(message_of<nd::ValueError>([&] {
               nd::pad(a, {{1, 1}, {1, 1}, {1, 1}});
             }) == "pad: pad_width has sides for 3 axes, the array has rank 2");
}

BOOST_AUTO_TEST_CASE(errors) {
  const Array a = nd::zeros({2, 3}), s = nd::zeros({});
  BOOST_TEST(message_of<nd::ValueError>([&] { nd::expand_dims(a, 3); }) ==
             "expand_dims: axis 3 is out of bounds for array of dimension 3");
  BOOST_TEST(message_of<nd::ValueError>([&] { nd::expand_dims(a, -4); }) ==
             "expand_dims: axis -4 is out of bounds for array of dimension 3");
  BOOST_TEST(message_of<nd::ValueError>([&] { nd::rollaxis(a, 2); }) ==
             "rollaxis: axis 2 is out of bounds for array of dimension 2");
  BOOST_TEST(message_of<nd::ValueError>([&] { nd::rollaxis(a, 0, 3); }) ==
             "rollaxis: start 3 is out of range for arrays of rank 2");
  BOOST_TEST(message_of<nd::ValueError>([&] { nd::swapaxes(a, 0, 2); }) ==
             "swapaxes: axis 2 is out of bounds for array of dimension 2");
  BOOST_TEST(message_of<nd::ValueError>([&] { nd::transpose(a, {0}); }) ==
             "transpose: 1 axes (0,) were given for an array of rank 2");
  BOOST_TEST(message_of<nd::IndexError>([&] {
               nd::transpose(a, {0, 2});
             }) == "transpose: axis 2 is out of bounds for array of dimension 2");
  BOOST_TEST(message_of<nd::ValueError>([&] {
               nd::transpose(a, {0, -2});
             }) == "transpose: axis 0 is given twice in (0, -2)");
  BOOST_TEST(message_of<nd::ValueError>([&] { nd::reshape(a, {4}); }) ==
             "reshape: cannot reshape array of size 6 into shape (4,)");
  BOOST_TEST(message_of<nd::ValueError>([&] {
               nd::reshape(a, {-1, -1});
             }) == "reshape: shape (-1, -1) leaves more than one length unknown");
  BOOST_CHECK_THROW(nd::reshape(nd::zeros({0}), {-1, 0}), nd::ValueError);
  BOOST_CHECK_THROW(nd::reshape(a, {-2, 3}), nd::ValueError);
  BOOST_TEST(message_of<nd::ValueError>([&] { nd::squeeze(a, 0); }) ==
             "squeeze: axis 0 of shape (2, 3) has the length 2, not 1");
  BOOST_CHECK_THROW(nd::squeeze(s, 1), nd::ValueError);
  BOOST_TEST(message_of<nd::ValueError>([&] { nd::broadcast_to(a, {3}); }) ==
             "broadcast_to: shape (2, 3) cannot be broadcast to (3,), which has fewer axes");
  BOOST_CHECK_THROW(nd::broadcast_to(a, {2, -1}), nd::ValueError);
  BOOST_TEST(
      message_of<nd::ValueError>([&] {
        nd::broadcast_arrays({a, nd::zeros({2})});
      }) ==
      "broadcast_arrays: shapes (2, 3) and (2,) do not match: lengths 3 and 2 on axis -1 are neither equal nor 1");
  BOOST_TEST(message_of<nd::ValueError>([&] { nd::tile(a, {1, -2}); }) == "tile: repetitions (1, -2) are negative");
  BOOST_TEST(message_of<nd::ValueError>([&] { nd::repeat(a, -1); }) ==
             "repeat: the number of repetitions -1 is negative");
  BOOST_TEST(message_of<nd::ValueError>([&] {
               nd::repeat(a, {1, 2, 3}, 0);
             }) == "repeat: 3 repetitions are given for axis 0 of length 2");
  BOOST_TEST(message_of<nd::ValueError>([&] {
               nd::repeat(a, {1, 2, 3});
             }) == "repeat: 3 repetitions are given for axis 0 of length 6");
  BOOST_TEST(message_of<nd::ValueError>([&] {
               nd::repeat(a, {1, -2}, 0);
             }) == "repeat: the number of repetitions -2 is negative");
  BOOST_TEST(message_of<nd::ValueError>([&] { nd::flip(s, 0); }) ==
             "flip: axis 0 is out of bounds for array of dimension 0");
  BOOST_TEST(message_of<nd::ValueError>([&] { nd::fliplr(a(0)); }) ==
             "fliplr: axis 1 is out of bounds for array of dimension 1");
  BOOST_TEST(message_of<nd::ValueError>([&] { nd::flipud(s); }) ==
             "flipud: axis 0 is out of bounds for array of dimension 0");
  BOOST_TEST(message_of<nd::ValueError>([&] { nd::roll(a, 1, 2); }) ==
             "roll: axis 2 is out of bounds for array of dimension 2");
  BOOST_TEST(message_of<nd::ValueError>([&] { nd::rot90(a, 1, {0}); }) ==
             "rot90: a plane has two axes, given were (0,)");
  BOOST_TEST(message_of<nd::ValueError>([&] { nd::rot90(a(0)); }) ==
             "rot90: an array of rank 1 cannot be turned; the rank must be at least 2");
  BOOST_TEST(message_of<nd::ValueError>([&] { nd::rot90(a, 1, {1, -1}); }) == "rot90: axes (1, -1) are the same");
}

// An array of the highest rank has no room for an axis of repetitions.
BOOST_AUTO_TEST_CASE(repetitions_in_arrays_of_the_highest_rank) {
  std::vector<int> shape(32, 1);
  shape[3] = shape[31] = 2;
  const nd::Array a = nd::arange(4).reshape(shape), twice = nd::repeat(a, 2, 31);
  BOOST_TEST((twice.to_vector<int>() == std::vector<int>{0, 0, 1, 1, 2, 2, 3, 3}));
  BOOST_TEST(twice.shape()[31] == 4);
  BOOST_TEST((nd::repeat(a, 2, 3).to_vector<int>() == std::vector<int>{0, 1, 0, 1, 2, 3, 2, 3}));
  BOOST_TEST((nd::repeat(a, {1, 3}, 3).to_vector<int>() == std::vector<int>{0, 1, 2, 3, 2, 3, 2, 3}));
  BOOST_TEST(nd::repeat(a, 0, 3).size() == 0);
}

BOOST_AUTO_TEST_SUITE_END()
