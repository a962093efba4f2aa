// forget and the generators of the array library, which belong to all threads.
#include <boost/test/unit_test.hpp>

#include <thread>
#include <vector>

#include <catena/catena.h>

using autograd::Variable;

namespace {

std::vector<double> draw() { return autograd::to_vector<double>(nd::random::random_sample({4})); }
std::vector<std::vector<double>> sequence(int length) {
  nd::random::seed(7);
  std::vector<std::vector<double>> result;
  for (int k = 0; k < length; ++k) result.push_back(draw());
  return result;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(forget_random)

BOOST_AUTO_TEST_CASE(what_func_draws_is_drawn_again) {
  const auto expected = sequence(3);
  nd::random::seed(7);
  Variable x(nd::ones({4}, nd::float64));
  Variable y = autograd::forget([](const Variable& v) { return v * Variable(nd::random::random_sample({4})); }, x);
  BOOST_TEST(draw() == expected[1], boost::test_tools::per_element());
  autograd::sum(y).backward();
  BOOST_TEST(autograd::to_vector<double>(x.grad()) == expected[0], boost::test_tools::per_element());
  BOOST_TEST(draw() == expected[2], boost::test_tools::per_element());
}

// func draws nothing: what another thread draws meanwhile is neither drawn again nor twice.
BOOST_AUTO_TEST_CASE(what_other_threads_draw_is_not_rewound) {
  const auto expected = sequence(3);
  nd::random::seed(7);
  std::vector<double> of_thread;
  int calls = 0;
  Variable x(nd::ones({4}, nd::float64));
  Variable y = autograd::forget(
      [&](const Variable& v) {
        if (++calls == 2) std::thread([&] { of_thread = draw(); }).join();
        return v * 2;
      },
      x);
  BOOST_TEST(draw() == expected[0], boost::test_tools::per_element());
  autograd::sum(y).backward();
  BOOST_TEST(calls == 2);
  BOOST_TEST(of_thread == expected[1], boost::test_tools::per_element());
  BOOST_TEST(draw() == expected[2], boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()
