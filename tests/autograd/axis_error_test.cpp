// Axes that an array does not have, in differentiable functions: their type checks throw an error that is an
// InvalidType, as Chainer's, and an AxisError, as NumPy's.
#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

#include <catena/autograd/config.h>
#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/reduction.h>

namespace {

using namespace autograd;

struct Case {
  const char* name;
  void (*call)(const Variable& x, int axis);
  int ndim = 2;
};

const std::vector<Case> kCases{
    {"sum", [](const Variable& x, int k) { sum(x, k); }},
    {"mean", [](const Variable& x, int k) { mean(x, k); }},
    {"max", [](const Variable& x, int k) { max(x, k); }},
    {"var", [](const Variable& x, int k) { var(x, k); }},
    {"logsumexp", [](const Variable& x, int k) { logsumexp(x, k); }},
    {"average", [](const Variable& x, int k) { average(x, k); }},
    {"cumsum", [](const Variable& x, int k) { cumsum(x, k); }},
    {"transpose",
     [](const Variable& x, int k) {
       transpose(x, {0, k});
     }},
    {"swapaxes", [](const Variable& x, int k) { swapaxes(x, 0, k); }},
    {"rollaxis", [](const Variable& x, int k) { rollaxis(x, k); }},
    {"squeeze", [](const Variable& x, int k) { squeeze(x, k); }},
    {"flip", [](const Variable& x, int k) { flip(x, k); }},
    {"roll", [](const Variable& x, int k) { roll(x, 1, k); }},
    {"concat",
     [](const Variable& x, int k) {
       concat({x, x}, k);
     }},
    {"split_axis", [](const Variable& x, int k) { split_axis(x, 1, k); }},
    {"separate", [](const Variable& x, int k) { separate(x, k); }},
    {"sort", [](const Variable& x, int k) { sort(x, k); }},
    {"diagonal", [](const Variable& x, int k) { diagonal(x, 0, 0, k); }},
    {"expand_dims", [](const Variable& x, int k) { expand_dims(x, k); }, 3},
    {"stack",
     [](const Variable& x, int k) {
       stack({x, x}, k);
     },
     3},
};

void check_axis(const Case& c, const Variable& x, int axis) {
  const std::string rule =
      "axis " + std::to_string(axis) + " is out of bounds for array of dimension " + std::to_string(c.ndim);
  BOOST_CHECK_EXCEPTION(c.call(x, axis), catena::AxisError, [&](const catena::AxisError& e) {
    return e.axis() == axis && e.ndim() == c.ndim && std::string(e.what()).ends_with(rule);
  });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(axis_error)

BOOST_AUTO_TEST_CASE(type_checks_throw_both_kinds_of_errors) {
  const Variable x(arrays::ones({2, 3}));
  for (const Case& c : kCases) {
    BOOST_TEST_CONTEXT(c.name) {
      for (const int axis : {c.ndim, -c.ndim - 1}) {
        check_axis(c, x, axis);
        BOOST_CHECK_EXCEPTION(c.call(x, axis), catena::InvalidType, [](const catena::InvalidType& e) {
          return std::string(e.what()).find("Invalid operation is performed in: ") == 0 && !e.expect().empty();
        });
        BOOST_CHECK_THROW(c.call(x, axis), catena::ValueError);
        BOOST_CHECK_THROW(c.call(x, axis), catena::IndexError);
        BOOST_CHECK_THROW(c.call(x, axis), catena::Error);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(without_type_checks_the_axis_is_checked_by_the_arrays) {
  const Variable x(arrays::ones({2, 3}));
  const auto scope = using_config({.type_check = false});
  for (const Case& c : kCases) {
    BOOST_TEST_CONTEXT(c.name) { check_axis(c, x, c.ndim); }
  }
}

BOOST_AUTO_TEST_CASE(the_message_has_the_lines_of_both) {
  const Variable x(arrays::ones({2, 3}));
  BOOST_CHECK_EXCEPTION(sum(x, 2), catena::InvalidAxis, [](const catena::InvalidAxis& e) {
    return e.what() == std::string(
                           "Invalid operation is performed in: Sum (Forward)\n\nExpect: axis < in_types[0].ndim\n"
                           "Actual: 2 >= 2\naxis 2 is out of bounds for array of dimension 2");
  });
}

BOOST_AUTO_TEST_SUITE_END()
