// The keys of a link's state, and comparisons of the values of variables.
#pragma once

#include <string>
#include <vector>

#include <catena/nn/serializers/state_dict.h>
#include <catena/tests/support/training_fixtures.h>

// CHECK_VALUES(v, {1, 2}): the elements of the variable v in C order.
#define CHECK_VALUES(v, ...)                                                                      \
  BOOST_TEST(::test::values(::autograd::Variable(v).data()) == (std::vector<double> __VA_ARGS__), \
             boost::test_tools::per_element())

namespace test {

inline std::vector<std::string> keys(nn::Link& link) { return link.state_dict().keys(); }

}  // namespace test
