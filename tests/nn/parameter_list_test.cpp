// PyTorch's containers of parameters.
#include <catena/nn/parameter_list.h>

#include <catena/tests/support/link_values.h>

using namespace test;
using Strings = std::vector<std::string>;

namespace {

const auto each = boost::test_tools::per_element();

nn::Parameter filled(float value) { return nn::Parameter(floats({value, value}, {2})); }

struct Net : nn::Chain {
  nn::ParameterList factors;
  nn::ParameterDict shifts{{"right", filled(5)}, {"left", filled(1)}};
  Net() {
    for (int i = 0; i < 3; ++i) factors.append(filled(float(i + 1)));
  }
  NN_MEMBERS(factors, shifts)
  Variable operator()(Variable h) {
    for (nn::Parameter& factor : factors) h = h * factor;
    return h + shifts["left"];
  }
};

Variable x() { return Variable(floats({1, -2}, {2})); }

}  // namespace

BOOST_AUTO_TEST_SUITE(parameter_lists)

BOOST_AUTO_TEST_CASE(members_of_a_class) {
  Net net;
  CHECK_VALUES(net(x()), {7, -11});
  BOOST_TEST(keys(net) == (Strings{"factors/0", "factors/1", "factors/2", "shifts/left", "shifts/right"}), each);
  BOOST_TEST(net.params().size() == 5u);
  net(x()).sum().backward();
  CHECK_VALUES(Variable(net.factors[0].grad()), {6, -12});
  CHECK_VALUES(Variable(net.shifts["left"].grad()), {1, 1});
  Net twin = net;
  autograd::fill(twin.factors[0].data(), 0);
  autograd::fill(twin.shifts["left"].data(), 3);
  CHECK_VALUES(twin(x()), {3, 3});
  CHECK_VALUES(net(x()), {7, -11});
  net.load_state_dict(twin.state_dict());
  CHECK_VALUES(net(x()), {3, 3});
}

BOOST_AUTO_TEST_CASE(elements_of_a_list) {
  const Array values = floats({2, 4}, {2});
  nn::ParameterList list({filled(1), values, Variable(values)});
  autograd::fill(values, 0);  // the parameters have copies
  CHECK_VALUES(list[1], {2, 4});
  CHECK_VALUES(list[-1], {2, 4});
  BOOST_TEST(list[2].name() == "2");
  nn::Parameter& last = list.append(floats({7}, {1}));
  BOOST_TEST(&last == &list[3]);
  list.extend({filled(8)});
  BOOST_TEST(list.size() == 5u);
  list.extend(list);  // a list is extended by its own parameters
  BOOST_TEST(list.size() == 10u);
  BOOST_TEST(list[7].name() == "7");
  list[0] = nn::Parameter(floats({9, 9}, {2}));
  CHECK_VALUES(list[0], {9, 9});
  CHECK_VALUES(list[5], {1, 1});
  BOOST_CHECK_THROW(list[10], catena::IndexError);
  BOOST_CHECK_THROW(list[-11], catena::IndexError);
  BOOST_CHECK_THROW(list(x()), catena::NotImplementedError);
  BOOST_TEST(nn::ParameterList().size() == 0u);
  const std::vector<nn::Parameter> two{filled(1), filled(2)};
  BOOST_TEST(nn::ParameterList(two).size() == 2u);
  nn::ParameterList moved = std::move(list);
  BOOST_TEST(moved.size() == 10u);
  moved.to_dtype(autograd::Dtype::float64);
  BOOST_TEST((moved[0].dtype() == autograd::Dtype::float64));
}

BOOST_AUTO_TEST_CASE(elements_by_name) {
  nn::ParameterDict dict({{"b", filled(1)}, {"a", floats({2, 4}, {2})}});
  nn::Parameter& c = dict.insert("c", filled(3));
  dict.update({{"d", filled(4)}});
  BOOST_TEST(&dict["c"] == &c);
  BOOST_TEST(dict.keys() == (Strings{"b", "a", "c", "d"}), each);
  BOOST_TEST(dict.size() == 4u);
  BOOST_TEST(dict.values().size() == 4u);
  BOOST_TEST(dict.contains("d"));
  BOOST_TEST(!dict.contains("e"));
  std::string names;
  for (auto& [name, parameter] : dict.items()) names += name + std::to_string(int(values(parameter.data())[0]));
  BOOST_TEST(names == "b1a2c3d4");
  dict["b"] = filled(6);
  CHECK_VALUES(dict["b"], {6, 6});
  dict.update({{"c", floats({7, 8}, {2})}, {"d", filled(5)}});
  BOOST_TEST(&dict["c"] == &c);
  BOOST_TEST(c.name() == "c");
  CHECK_VALUES(c, {7, 8});
  CHECK_VALUES(dict["d"], {5, 5});
  BOOST_TEST(dict.keys() == (Strings{"b", "a", "c", "d"}), each);
  BOOST_CHECK_THROW(dict.update({{"f", filled(1)}, {"d", filled(1)}, {"g/h", filled(1)}}), catena::AttributeError);
  BOOST_TEST(!dict.contains("f"));
  CHECK_VALUES(dict["d"], {5, 5});
  BOOST_CHECK_THROW(dict.insert("a", filled(1)), catena::AttributeError);
  BOOST_CHECK_THROW(dict.insert("a/b", filled(1)), catena::AttributeError);
  BOOST_CHECK_THROW(dict.insert("", filled(1)), catena::AttributeError);
  BOOST_TEST(has(message_of<catena::KeyError>([&] { dict["e"]; }), "e (there are: b, a, c, d)"));
  nn::ParameterDict twin = dict;
  autograd::fill(twin["a"].data(), 0);
  CHECK_VALUES(dict["a"], {2, 4});
}

BOOST_AUTO_TEST_SUITE_END()
