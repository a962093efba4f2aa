// Flags and the modes of a thread.
#include <catena/autograd/flag.h>

#include <boost/test/unit_test.hpp>
#include <sstream>
#include <thread>

#include <catena/autograd/function_node.h>
#include <catena/autograd/functions/math.h>

using namespace autograd;

BOOST_AUTO_TEST_SUITE(flag)

BOOST_AUTO_TEST_CASE(construction_and_comparison) {
  for (const char* text : {"on", "ON"}) BOOST_CHECK(Flag(text) == ON);
  for (const char* text : {"off", "OFF"}) BOOST_CHECK(Flag(text) == OFF);
  for (const char* text : {"auto", "AUTO"}) BOOST_CHECK(Flag(text) == AUTO);
  BOOST_CHECK(Flag(true) == ON);
  BOOST_CHECK(Flag(false) == OFF);
  BOOST_CHECK(Flag(std::nullopt) == AUTO);
  BOOST_CHECK(ON == "on");
  BOOST_CHECK(ON != "off");
  BOOST_CHECK(OFF == false);
  BOOST_CHECK_THROW(Flag("maybe"), catena::ValueError);
}

BOOST_AUTO_TEST_CASE(conversion_and_printing) {
  BOOST_CHECK(bool(ON));
  BOOST_CHECK(!bool(OFF));
  BOOST_CHECK_THROW(static_cast<void>(bool(AUTO)), catena::ValueError);
  std::ostringstream out;
  out << ON << OFF << AUTO;
  BOOST_TEST(out.str() == "ONOFFAUTO");
}

BOOST_AUTO_TEST_CASE(aggregation) {
  const auto aggregate = [](std::initializer_list<Flag> flags) { return aggregate_flags(flags); };
  BOOST_CHECK(aggregate({}) == AUTO);
  BOOST_CHECK(aggregate({AUTO, AUTO}) == AUTO);
  BOOST_CHECK(aggregate({AUTO, ON}) == ON);
  BOOST_CHECK(aggregate({OFF, AUTO}) == OFF);
  BOOST_CHECK(aggregate({ON, ON}) == ON);
  BOOST_CHECK_THROW(aggregate({ON, AUTO, OFF}), catena::ValueError);
}

namespace {
bool builds_graph(std::initializer_list<Flag> flags) {
  Variables x;
  for (const Flag f : flags) x.push_back(Variable(arrays::ones({2}), {.volatile_ = f}));
  return identity(x)[0].creator() != nullptr;
}
}  // namespace

BOOST_AUTO_TEST_CASE(graphs_follow_flags_and_modes) {
  BOOST_CHECK(builds_graph({OFF}));
  BOOST_CHECK(builds_graph({AUTO}));
  BOOST_CHECK(!builds_graph({ON}));
  BOOST_CHECK(!builds_graph({ON, AUTO}));
  BOOST_CHECK(builds_graph({OFF, AUTO}));
  BOOST_CHECK_THROW(builds_graph({ON, OFF}), catena::ValueError);
  {
    const auto scope = no_backprop_mode();
    BOOST_CHECK(!builds_graph({AUTO}));
    BOOST_CHECK(builds_graph({OFF}));
    {
      const auto inner = force_backprop_mode();
      BOOST_CHECK(builds_graph({AUTO}));
    }
    BOOST_CHECK(!builds_graph({AUTO}));
  }
  {
    const auto scope = force_backprop_mode();  // changes nothing outside no_backprop_mode
    BOOST_CHECK(builds_graph({AUTO}));
    BOOST_CHECK(!builds_graph({ON}));
  }
  try {
    const auto scope = no_backprop_mode();
    throw 1;
  } catch (int) {}
  BOOST_CHECK(builds_graph({AUTO}));
}

BOOST_AUTO_TEST_CASE(outputs_get_the_aggregate) {
  const Variable on(arrays::ones({2}), {.volatile_ = ON}), automatic(arrays::ones({2}), {.volatile_ = AUTO});
  BOOST_CHECK((on + automatic).volatile_flag() == ON);
  BOOST_CHECK((automatic + automatic).volatile_flag() == AUTO);
  BOOST_CHECK((Variable(arrays::ones({2}), {.volatile_ = OFF}) + automatic).volatile_flag() == OFF);
  BOOST_CHECK((on * 2).volatile_flag() == ON);
}

BOOST_AUTO_TEST_CASE(results_without_a_graph_require_no_gradient) {
  const Variable x(arrays::ones({2}));
  BOOST_TEST((x * 2).requires_grad());
  Variable y;
  {
    const auto scope = no_backprop_mode();
    y = x * 2;
    BOOST_TEST(!y.requires_grad());
    BOOST_TEST((Variable(arrays::ones({2}), {.volatile_ = OFF}) * 2).requires_grad());
    BOOST_TEST(x.requires_grad());
  }
  Variable loss = x * y;
  loss.set_grad(arrays::ones({2}));
  loss.backward();
  BOOST_TEST(!y.grad());
  BOOST_TEST(bool(x.grad()));
  BOOST_TEST(y.requires_grad_().requires_grad());
}

BOOST_AUTO_TEST_CASE(modes_belong_to_a_thread) {
  const auto scope = no_backprop_mode();
  bool other = false;
  std::thread([&] { other = internal::modes().enable_backprop; }).join();
  BOOST_CHECK(other);
  BOOST_CHECK(!internal::modes().enable_backprop);
}

BOOST_AUTO_TEST_CASE(train_mode_is_restored) {
  BOOST_CHECK(internal::modes().train.now);
  {
    const auto scope = train_mode(false);
    BOOST_CHECK(!internal::modes().train.now);
  }
  BOOST_CHECK(internal::modes().train.now);
}

BOOST_AUTO_TEST_SUITE_END()
