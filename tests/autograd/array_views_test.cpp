// Views: what they show, that they share memory, and joins.
#include <boost/test/unit_test.hpp>

#include <catena/autograd/array.h>
#include <catena/tests/support/framework_devices.h>

using namespace autograd;
using catena::IndexError;
using catena::ValueError;

namespace {

template <class T> void check_values(const Array& a, const std::vector<T>& expected) {
  const std::vector<T> got = to_vector<T>(a);
  BOOST_TEST(got == expected, boost::test_tools::per_element());
}
Array numbers(const Shape& shape) { return reshape(arrays::arange(catena::size_of(shape), Dtype::float32), shape); }
bool share(const Array& a, const Array& b) { return a->storage == b->storage; }

}  // namespace

BOOST_AUTO_TEST_SUITE(array_views)

BOOST_AUTO_TEST_CASE(reshape_views_where_strides_allow) {
  const Array a = numbers({2, 3, 4});
  const Array b = reshape(a, {6, -1});
  BOOST_TEST(b.shape() == Shape({6, 4}));
  BOOST_TEST(share(a, b));
  fill(slice(b, 0, 0, 1), -1);
  check_values<float>(slice(reshape(a, {24}), 0, 0, 5), {-1, -1, -1, -1, 4});
  const Array t = transpose(numbers({2, 3}));
  const Array flat = reshape(t, {6});
  BOOST_TEST(!share(t, flat));
  check_values<float>(flat, {0, 3, 1, 4, 2, 5});
  BOOST_TEST(reshape(numbers({1}), {}).shape() == Shape());
  BOOST_TEST(reshape(arrays::empty({0, 3}), {3, 0}).shape() == Shape({3, 0}));
  BOOST_CHECK_THROW(reshape(a, {5, -1}), ValueError);
  BOOST_CHECK_THROW(reshape(a, {-1, -1}), ValueError);
}

BOOST_AUTO_TEST_CASE(transposes) {
  const Array a = numbers({2, 3, 4});
  BOOST_TEST(transpose(a).shape() == Shape({4, 3, 2}));
  BOOST_TEST(transpose(a, Dims{1, 2, 0}).shape() == Shape({3, 4, 2}));
  BOOST_TEST(transpose(a, Dims{-1, 0, 1}).shape() == Shape({4, 2, 3}));
  check_values<float>(transpose(numbers({2, 3})), {0, 3, 1, 4, 2, 5});
  check_values<float>(transpose(transpose(a, Dims{1, 2, 0}), Dims{2, 0, 1}) - a, std::vector<float>(24));
  BOOST_TEST(swapaxes(a, 0, -1).shape() == Shape({4, 3, 2}));
  BOOST_CHECK_THROW(transpose(a, Dims{0, 1}), ValueError);
  BOOST_CHECK_THROW(transpose(a, Dims{0, 1, 1}), ValueError);
  BOOST_CHECK_THROW(transpose(a, Dims{0, 1, 3}), catena::IndexError);
  BOOST_CHECK_THROW(swapaxes(a, 0, 3), ValueError);
}

BOOST_AUTO_TEST_CASE(results_lie_like_dense_operands) {
  const Array a = transpose(numbers({2, 4, 4, 3}), Dims{0, 3, 1, 2});  // images, channels last
  const Array b = (a + 1) * arrays::full({3, 1, 1}, 2);
  BOOST_TEST(b.strides() == a.strides());
  std::vector<float> expected = to_vector<float>(a);
  for (float& v : expected) v = (v + 1) * 2;
  check_values<float>(b, expected);
  Array c = copy(a);
  BOOST_TEST(c.is_c_contiguous());
  BOOST_TEST((c + a).shape() == a.shape());
  check_values<float>((c + a) - (a + c), std::vector<float>(96));
  Array d = transpose(numbers({2, 4, 4, 3}), Dims{0, 3, 1, 2});
  d += a;
  d *= arrays::full({1, 3, 1, 1}, 0.5);
  check_values<float>(d, to_vector<float>(a));
  check_values<float>(sum(a, {0, 2, 3}), to_vector<float>(sum(c, {0, 2, 3})));
  check_values<float>(sum(a, {0, 1}), to_vector<float>(sum(c, {0, 1})));
  check_values<float>(amax(a, {2, 3}, true), to_vector<float>(amax(c, {2, 3}, true)));
  BOOST_TEST(sum(a, {1}, true).shape() == Shape({2, 1, 4, 4}));
}

BOOST_AUTO_TEST_CASE(broadcasts_and_their_adjoint) {
  const Array a = numbers({3, 1});
  const Array b = broadcast_to(a, {2, 3, 4});
  BOOST_TEST(share(a, b));
  check_values<float>(slice(b, 2, 0, 1), {0, 1, 2, 0, 1, 2});
  check_values<float>(sum_to(b, {3, 1}), {0, 8, 16});
  BOOST_TEST(sum_to(b, {3, 1}).shape() == Shape({3, 1}));
  BOOST_TEST(sum_to(b, {}).shape() == Shape());
  BOOST_TEST(item(sum_to(b, {})).to_double() == 24);
  BOOST_TEST(sum_to(a, {3, 1}).get() == a.get());
  BOOST_TEST((sum_to(arrays::ones({4}, Dtype::int32), {1}).dtype() == Dtype::int32));
  BOOST_CHECK_THROW(broadcast_to(a, {3, 0, 2}), ValueError);
  BOOST_CHECK_THROW(broadcast_to(a, {2, 4}), ValueError);
  BOOST_CHECK_THROW(sum_to(a, {2, 1}), ValueError);
  BOOST_CHECK_THROW(sum_to(a, {1, 3, 1}), ValueError);
}

BOOST_AUTO_TEST_CASE(axes_of_length_one) {
  const Array a = numbers({2, 3});
  BOOST_TEST(expand_dims(a, 0).shape() == Shape({1, 2, 3}));
  BOOST_TEST(expand_dims(a, -1).shape() == Shape({2, 3, 1}));
  BOOST_TEST(expand_dims(a, 1).is_c_contiguous());
  BOOST_CHECK_THROW(expand_dims(a, 3), ValueError);
  const Array b = reshape(a, {1, 2, 1, 3});
  BOOST_TEST(squeeze(b).shape() == Shape({2, 3}));
  BOOST_TEST(squeeze(b, 2).shape() == Shape({1, 2, 3}));
  BOOST_TEST(squeeze(b, {0, -2}).shape() == Shape({2, 3}));
  BOOST_CHECK_THROW(squeeze(b, 1), ValueError);
}

BOOST_AUTO_TEST_CASE(slices) {
  const Array a = arrays::arange(10, Dtype::float32);
  check_values<float>(slice(a, 0, 2, 5), {2, 3, 4});
  check_values<float>(slice(a, 0, -3, 100), {7, 8, 9});
  check_values<float>(slice(a, 0, 1, 9, 3), {1, 4, 7});
  check_values<float>(slice(a, 0, 9, -11, -4), {9, 5, 1});
  check_values<float>(slice(a, 0, 5, 2), {});
  check_values<float>(slice(a, 0, 2, 5, -1), {});
  check_values<float>(slice(a, 0, 0, 10, INT64_MAX), {0});
  BOOST_CHECK_THROW(slice(a, 0, 0, 1, 0), ValueError);
  BOOST_CHECK_THROW(slice(a, 1, 0, 1), ValueError);
  const Array m = numbers({3, 4});
  check_values<float>(slice(slice(m, 1, 1, 3), 0, 2, -4, -2), {9, 10, 1, 2});
  Array part = slice(m, 1, 0, 1);
  part += 100;
  check_values<float>(m, {100, 1, 2, 3, 104, 5, 6, 7, 108, 9, 10, 11});
}

BOOST_AUTO_TEST_CASE(joins) {
  const Array parts[] = {numbers({2, 1}), numbers({2, 2}), arrays::empty({2, 0})};
  check_values<float>(concatenate(parts, 1), {0, 0, 1, 1, 2, 3});
  check_values<float>(concatenate(parts, -1), {0, 0, 1, 1, 2, 3});
  const Array mixed[] = {arrays::arange(2), arrays::ones({1})};
  BOOST_TEST((concatenate(mixed).dtype() == Dtype::float64));
  BOOST_CHECK_THROW(concatenate(parts, 0), ValueError);
  BOOST_CHECK_THROW(concatenate(parts, 2), IndexError);
  BOOST_CHECK_THROW(concatenate({}, 0), ValueError);
}

BOOST_AUTO_TEST_CASE(takes) {
  const Array a = numbers({3, 4});
  check_values<float>(take(a, array<int>({2, 0, -1}, {3}), 0), {8, 9, 10, 11, 0, 1, 2, 3, 8, 9, 10, 11});
  check_values<float>(take(a, array<std::int64_t>({1, 1}, {2}), 1), {1, 1, 5, 5, 9, 9});
  BOOST_TEST(take(a, array<int>({0, 1, 2, 0}, {2, 2}), 1).shape() == Shape({3, 2, 2}));
  BOOST_TEST(take(a, arrays::full({}, 1, Dtype::int32), 0).shape() == Shape({4}));
  check_values<float>(take(transpose(a), array<int>({1}, {1}), 0), {1, 5, 9});
  BOOST_TEST(take(a, arrays::empty({0}, Dtype::int32), 0).shape() == Shape({0, 4}));
  BOOST_CHECK_THROW(take(a, arrays::ones({1}), 0), IndexError);
  BOOST_CHECK_THROW(take(arrays::empty({0, 2}), array<int>({0}, {1}), 0), IndexError);
  const Array outside = array<int>({1, 4, -7}, {3});
  if (test::default_device().kind == Device::Kind::cpu)
    BOOST_CHECK_EXCEPTION(take(a, outside, 1), IndexError, [](const catena::Error& e) {
      return e.what() == std::string("take: the index 4 is out of range for axis 1 of length 4");
    });
  else check_values<float>(take(a, outside, 1), {1, 0, 1, 5, 4, 5, 9, 8, 9});
}

BOOST_AUTO_TEST_CASE(views_keep_their_memory_alive) {
  Array row;
  {
    const Array a = numbers({4, 4});
    row = slice(a, 0, 3, 4);
  }
  check_values<float>(row, {12, 13, 14, 15});
}

BOOST_AUTO_TEST_SUITE_END()
