// Sums of segments against a loop over all elements.
#include <numeric>

#include <boost/test/unit_test.hpp>

#include <catena/tests/kernels/kernel_calls.h>

BOOST_AUTO_TEST_SUITE(segment)

using namespace test;  // NOLINT
using I = std::int64_t;

BOOST_AUTO_TEST_CASE(sums_by_place) {
  // Ten elements of three columns go to six places, of which the first, the last and one between get none.
  const std::vector<I> places = {3, 1, 3, 4, 1, 1, 4, 3, 1, 1};
  std::vector<I> order(places.size());
  std::iota(order.begin(), order.end(), I(0));
  std::stable_sort(order.begin(), order.end(),
                   [&](I a, I b) { return places[std::size_t(a)] < places[std::size_t(b)]; });
  std::vector<I> sorted, starts(7);
  for (const I k : order) sorted.push_back(places[std::size_t(k)]);
  call_indexed("segment_starts", "*l->l", {7}, {{sorted, {10}}, {starts, {7}}});
  BOOST_TEST(starts == (std::vector<I>{0, 0, 5, 5, 8, 10, 10}), boost::test_tools::per_element());
  std::vector<double> values, sums(18, -1), expected(18, 0);
  for (int k = 0; k < 30; ++k) values.push_back(k * 1.25 - 7);
  for (std::size_t k = 0; k < 10; ++k)
    for (std::size_t j = 0; j < 3; ++j) expected[std::size_t(places[k]) * 3 + j] += values[k * 3 + j];
  call_indexed("segment_sum", "*d*l*l->d", {6, 3}, {{values, {10, 3}}, {order, {10}}, {starts, {7}}, {sums, {6, 3}}});
  BOOST_TEST(sums == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(sixteen_bits_are_rounded_once) {
  std::vector<float16> values(4096, float16(1.f)), sum(1);
  std::vector<I> order(4096), starts = {0, 4096};
  std::iota(order.begin(), order.end(), I(0));
  call_indexed("segment_sum", "*e*l*l->e", {1, 1},
               {{values, {4096, 1}}, {order, {4096}}, {starts, {2}}, {sum, {1, 1}}});
  BOOST_TEST(float(sum[0]) == 4096.f);  // a sum in float16 stays at 2048
}

BOOST_AUTO_TEST_SUITE_END()
