// The warning of a loss that is NaN.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <catena/autograd/debug.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/reduction.h>

using namespace autograd;

namespace {

std::vector<std::string> nan_warnings;
void note_nan_warning(std::string_view category, std::string_view text) {
  nan_warnings.push_back(std::string(category) + ": " + std::string(text));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(nan_loss)

BOOST_AUTO_TEST_CASE(is_told_once_in_one_line) {
  const WarningHandler previous = set_warning_handler(note_nan_warning);
  for (const Dtype t : {Dtype::float32, Dtype::float64, Dtype::float16})
    sum(Variable(arrays::ones({3}, t)) * 2).backward();
  Variable infinite(arrays::full({}, std::numeric_limits<double>::infinity(), Dtype::float64));
  (infinite * 1).backward();
  warn_of_nan_loss(1.0);
  warn_of_nan_loss(-std::numeric_limits<double>::infinity());
  // A variable of several elements is no loss.
  Variable many = log(Variable(arrays::full({2}, -1)));
  many.set_grad(arrays::ones({2}));
  many.backward();
  BOOST_TEST(nan_warnings.size() == 0u);

  const Device host{};
  {
    const OwnLossWarning own;  // a training loop tells more
    sum(log(Variable(arrays::full({1}, -1, Dtype::float32, host)))).backward();
  }
  BOOST_TEST(nan_warnings.size() == 0u);
  for (const Dtype t : {Dtype::float16, Dtype::float32, Dtype::float64})
    for (int step = 0; step < 2; ++step) {
      Variable loss = sum(log(Variable(arrays::full({1}, -1, t, host))));
      loss.backward();
    }
  warn_of_nan_loss(NAN, "main/loss");
  set_warning_handler(previous);
  BOOST_REQUIRE(nan_warnings.size() == 1u);
  BOOST_TEST(nan_warnings[0].starts_with("RuntimeWarning: the loss is nan; "), nan_warnings[0]);
  BOOST_TEST(nan_warnings[0].find('\n') == std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
