// FunctionSet: children by name, which may be replaced, and lists of the parameters' arrays.
#include <catena/nn/function_set.h>

#include <iostream>

#include <catena/tests/support/framework_devices.h>
#include <catena/tests/support/training_fixtures.h>

using namespace test;

namespace {

using Doubles = std::vector<double>;

nn::FunctionSet two_links() {
  return nn::FunctionSet({{"l1", nn::Linear(2, 3)}, {"l2", nn::Linear(3, 1, {.nobias = true})}});
}

}  // namespace

BOOST_AUTO_TEST_SUITE(function_sets)

BOOST_AUTO_TEST_CASE(children_by_name) {
  const Warnings warnings;
  nn::FunctionSet set = two_links();
  BOOST_REQUIRE(warnings.texts.size() == 1u);
  BOOST_TEST(has(warnings.texts[0], "Use Chain instead"));
  const Variable x(floats({1, 2}, {1, 2}));
  auto& first = dynamic_cast<nn::Linear&>(static_cast<nn::Link&>(set["l1"]));
  autograd::fill(first.W.data(), 1);
  BOOST_TEST(values(set["l1"](x).data()) == Doubles(3, 3), boost::test_tools::per_element());
  nn::Linear& other = set["l1"] = nn::Linear(2, 4);  // in place of the first one
  BOOST_TEST(set["l1"](x).shape() == Shape({1, 4}));
  BOOST_TEST(other.name() == "l1");
  BOOST_TEST(set.named_children().size() == 2u);
  set["l3"] = TinyMLP();
  BOOST_TEST(set.named_children()[2].first == "l3");
  BOOST_TEST(set.params().size() == 7u);
  BOOST_TEST(has(message_of<catena::KeyError>([&] { set["l4"](x); }), "l1, l2, l3"));
  set.add_param("scale", {1}, 1.0);
  BOOST_CHECK_THROW(set["scale"] = nn::Linear(1), catena::AttributeError);
  BOOST_CHECK_THROW(set["a/b"] = nn::Linear(1), catena::AttributeError);
  nn::FunctionSet copied = set;
  autograd::fill(copied.params()[1].data(), 8);
  BOOST_TEST(values(other.W.data())[0] != 8);
}

BOOST_AUTO_TEST_CASE(lists_of_arrays) {
  const Warnings warnings;
  nn::FunctionSet set = two_links(), from = two_links();
  const std::vector<Array> parameters = set.parameters();
  BOOST_REQUIRE(parameters.size() == 3u);
  BOOST_TEST(parameters[1].shape() == Shape{3});
  BOOST_TEST(!bool(set.gradients()[0]));
  autograd::fill(parameters[0], 2);  // the arrays themselves
  BOOST_TEST(values(set.params()[0].data())[0] == 2);

  const std::vector<Array> ones{autograd::arrays::ones({3, 2}), autograd::arrays::ones({3}),
                                autograd::arrays::ones({1, 3})};
  set.set_parameters(ones);
  set.set_gradients({ones[0], Array(), ones[2]});
  BOOST_TEST(values(set.parameters()[1])[2] == 1);
  BOOST_TEST(bool(set.gradients()[0]));
  BOOST_TEST(!bool(set.gradients()[1]));
  // A gradient that does not fit changes none of them.
  BOOST_CHECK_THROW(set.set_gradients({Array(), Array(), autograd::arrays::ones({3, 1})}), catena::ValueError);
  BOOST_TEST(bool(set.gradients()[0]));
  BOOST_TEST(has(message_of<catena::ValueError>([&] { set.set_parameters({ones[0]}); }), "1 arrays were given for 3"));

  BOOST_TEST(&set.collect_parameters() == &set);
  BOOST_TEST(has(warnings.texts.back(), "collect_parameters is deprecated"));
  autograd::fill(from.parameters()[2], 5);
  if (const auto other = other_device()) from.to_device(*other);
  set.copy_parameters_from(from.parameters());
  BOOST_TEST(values(set.parameters()[2])[0] == 5);
  BOOST_TEST((set.parameters()[2].device() == default_device()));
  BOOST_TEST(values(ones[2])[0] == 5);  // copied into the array that is there
  BOOST_CHECK_THROW(set.copy_parameters_from({autograd::arrays::zeros({3, 2}), autograd::arrays::zeros({3}),
                                              autograd::arrays::zeros({3, 1})}),
                    catena::ValueError);
  BOOST_TEST(values(set.parameters()[0])[0] != 0);
}

// A set that was moved takes its children along, also back to the current device; before, a child stays where it is.
BOOST_AUTO_TEST_CASE(children_come_to_the_device_of_the_set) {
  const Warnings warnings;
  const auto other = other_device();
  if (!other) {
    std::cout << "not run: there is one device only\n";
    return;
  }
  const autograd::Device home = default_device();
  nn::Linear there(2, 3);
  there.to_device(*other);
  nn::FunctionSet set({{"l1", there}});
  nn::Linear& kept = set["l2"] = nn::Linear(3, 1);
  BOOST_TEST((set.params()[0].device() == *other));
  BOOST_TEST((kept.W.device() == home));
  set.to_device(home);
  nn::Linear& moved = set["l1"] = there;
  BOOST_TEST((moved.W.device() == home));
  BOOST_TEST((there.W.device() == *other));
  set.to_device(*other);
  nn::Linear& late = set["l3"] = nn::Linear(1);
  late.W.initialize({1, 1});
  BOOST_TEST((late.W.device() == *other));
}

BOOST_AUTO_TEST_CASE(gradients_before_there_are_parameters) {
  nn::FunctionSet set({{"l", nn::Linear(10)}});
  BOOST_TEST(has(message_of<catena::ValueError>([&] {
                   set.set_gradients({autograd::arrays::ones({10, 2}), autograd::arrays::ones({10})});
                 }),
                 "no data yet"));
}

BOOST_AUTO_TEST_SUITE_END()
