// Links that are built at run time.
#include <catena/nn/chain_list.h>

#include <catena/tests/support/training_fixtures.h>

using namespace test;

namespace {

struct Blocks : nn::ChainList {
  nn::Parameter scale{2.0, {1}};
  Blocks() : nn::ChainList(nn::Linear(2, 3), nn::Linear(3, 4)) {}
  NN_MEMBERS_OF(nn::ChainList, scale)
  Variable operator()(const Variable& x) { return (*this)[1].call({(*this)[0].call({x})}) * scale; }
};

std::vector<std::string> paths(const nn::Link& l) {
  std::vector<std::string> result;
  for (const nn::NamedParam& p : l.namedparams()) result.push_back(p.path);
  return result;
}
using Strings = std::vector<std::string>;

}  // namespace

BOOST_AUTO_TEST_SUITE(chain_lists)

BOOST_AUTO_TEST_CASE(children_are_numbered) {
  nn::ChainList list(nn::Linear(2, 3), TinyMLP());
  nn::Linear& third = list.add_link(nn::Linear(3, 1, {.nobias = true}));
  BOOST_TEST(list.size() == 3u);
  BOOST_TEST(&list[2] == &third);
  BOOST_TEST(&list[-3] == &list[0]);
  BOOST_TEST(paths(list) == (Strings{"/0/W", "/0/b", "/1/l1/W", "/1/l1/b", "/1/l2/W", "/1/l2/b", "/2/W"}),
             boost::test_tools::per_element());
  BOOST_TEST(has(message_of<catena::IndexError>([&] { list[3]; }), "3"));
  BOOST_CHECK_THROW(list[-4], catena::IndexError);
}

BOOST_AUTO_TEST_CASE(slices_of_children) {
  using catena::Slice;
  nn::ChainList list(nn::Linear(1), nn::Linear(2), nn::Linear(3), nn::Linear(4));
  const auto sizes = [](const std::vector<nn::Link*>& links) {
    std::vector<int> result;
    for (nn::Link* l : links) result.push_back(dynamic_cast<nn::Linear&>(*l).out_size);
    return result;
  };
  BOOST_TEST(sizes(list[Slice(1, {})]) == (std::vector<int>{2, 3, 4}), boost::test_tools::per_element());
  BOOST_TEST(sizes(list[Slice({}, -1)]) == (std::vector<int>{1, 2, 3}), boost::test_tools::per_element());
  BOOST_TEST(sizes(list[Slice({}, {}, -2)]) == (std::vector<int>{4, 2}), boost::test_tools::per_element());
  BOOST_TEST(list[Slice(3, 99)].front() == &list[3]);  // the children themselves
  BOOST_TEST(list[Slice(4, {})].empty());
  BOOST_CHECK_THROW(list[Slice({}, {}, 0)], catena::ValueError);
}

BOOST_AUTO_TEST_CASE(copies_are_deep_and_of_the_same_class) {
  nn::ChainList list(nn::Linear(2, 3), TinyMLP());
  nn::ChainList twin = list;
  BOOST_TEST(dynamic_cast<TinyMLP*>(&twin[1]) != nullptr);
  autograd::fill(twin.params()[0].data(), 5);
  BOOST_TEST(values(list.params()[0].data())[0] != 5);
  BOOST_TEST(&twin[0] != &list[0]);
  list = twin;
  BOOST_TEST(values(list.params()[0].data())[0] == 5);
}

BOOST_AUTO_TEST_CASE(a_derived_list_has_members_of_its_own) {
  Blocks b;
  BOOST_TEST(paths(b) == (Strings{"/scale", "/0/W", "/0/b", "/1/W", "/1/b"}), boost::test_tools::per_element());
  const Variable x(floats({1, 2}, {1, 2}));
  const std::vector<double> plain = values(nn::ChainList(b).call({x}).data()), scaled = values(b.call({x}).data());
  for (std::size_t i = 0; i < 4; ++i) BOOST_TEST(scaled[i] == 2 * plain[i]);
}

BOOST_AUTO_TEST_CASE(sequential) {
  nn::Sequential s(
      nn::Linear(2, 3), [](const Variable& x) { return nn::relu(x); }, nn::Linear(3, 1));
  BOOST_TEST(s.size() == 3u);
  BOOST_TEST(paths(s) == (Strings{"/0/W", "/0/b", "/2/W", "/2/b"}), boost::test_tools::per_element());
  autograd::fill(s.params()[0].data(), 1);
  autograd::fill(s.params()[2].data(), 2);
  const Variable x(floats({1, 2, -1, -2}, {2, 2}));
  BOOST_TEST(values(s(x).data()) == (std::vector<double>{18, 0}), boost::test_tools::per_element());
  const nn::Sequential twice =
      nn::Sequential(nn::Linear(2, 2), [](const Variable& v) { return nn::relu(v); }).repeat(2);
  BOOST_TEST(twice.size() == 4u);
  BOOST_TEST(paths(twice) == (Strings{"/0/W", "/0/b", "/2/W", "/2/b"}), boost::test_tools::per_element());
  BOOST_TEST(!same_bits(twice.params()[0].data(), twice.params()[2].data()));  // initialised anew
  BOOST_CHECK_THROW(nn::Sequential().call({x}), catena::ValueError);
  BOOST_CHECK_THROW(s.repeat(-1), catena::ValueError);
}

BOOST_AUTO_TEST_CASE(functions_with_defaults) {
  const Variable x(floats({-1, 2, -40, 30}, {2, 2}));
  const auto is = [&](nn::Sequential s, const Variable& expected) {
    BOOST_TEST(values(s(x).data()) == values(expected.data()), boost::test_tools::per_element());
  };
  is(nn::Sequential(nn::leaky_relu), nn::leaky_relu(x, 0.2));
  is(nn::Sequential(nn::elu), nn::elu(x, 1.0));
  is(nn::Sequential(nn::clipped_relu, nn::relu), nn::clipped_relu(x, 20.0));
  is(nn::Sequential(nn::softmax), nn::softmax(x, {.axis = 1}));
  const auto test_mode = autograd::train_mode(false);
  is(nn::Sequential(nn::dropout), x);
}

// nn::tanh is the name of several functions, of which the one of a variable alone is taken; functions::tanh is an
// object.
BOOST_AUTO_TEST_CASE(functions_with_overloads) {
  namespace F = nn::functions;
  const Variable x(floats({-1, 2, -0.5f, 3}, {2, 2}));
  const auto is = [&](nn::Sequential s, const Variable& expected) {
    BOOST_TEST(values(s(x).data()) == values(expected.data()), boost::test_tools::per_element());
  };
  const Variable once = nn::tanh(x), twice = nn::tanh(once);
  is(nn::Sequential(nn::tanh), once);
  is(nn::Sequential(F::tanh), once);
  is(nn::Sequential(nn::tanh, F::tanh), twice);
  is(nn::Sequential(nn::relu, nn::sigmoid, F::sigmoid), nn::sigmoid(nn::sigmoid(nn::relu(x))));
  nn::Linear identity(2, 2);
  autograd::assign(identity.W.data(), floats({1, 0, 0, 1}, {2, 2}));
  nn::Sequential s(identity, nn::tanh, identity, nn::tanh);
  BOOST_TEST(s.size() == 4u);
  BOOST_TEST(paths(s) == (Strings{"/0/W", "/0/b", "/2/W", "/2/b"}), boost::test_tools::per_element());
  is(s, twice);
  nn::Sequential appended;
  appended.append(nn::tanh);
  appended.append(identity);
  appended.append(nn::tanh);
  is(appended, twice);
  // Sixteen elements and more.
  nn::Sequential sixteen(nn::tanh, nn::tanh, identity, identity, identity, identity, identity, identity, identity,
                         identity, identity, identity, identity, identity, identity, nn::relu),
      seventeen(F::tanh, F::tanh, identity, identity, identity, identity, identity, identity, identity, identity,
                identity, identity, identity, identity, identity, identity, nn::relu);
  BOOST_TEST(sixteen.size() == 16u);
  BOOST_TEST(seventeen.size() == 17u);
  is(sixteen, nn::relu(twice));
  is(seventeen, nn::relu(twice));
}

BOOST_AUTO_TEST_CASE(lists_are_called_like_links) {
  nn::ChainList list(nn::Linear(2, 3), nn::Linear(3, 1));
  const Variable x(floats({1, 2}, {1, 2}));
  const std::vector<double> expected = values(list[1].call({list[0].call({x})}).data());
  BOOST_TEST(values(list(x).data()) == expected, boost::test_tools::per_element());
  BOOST_TEST(values(list({x}).data()) == expected, boost::test_tools::per_element());
  // A derived list without an operator of its own, too, also through its base.
  struct Named : nn::ChainList {
    nn::Parameter extra{1.0, {1}};
    using nn::ChainList::ChainList;
    NN_MEMBERS_OF(nn::ChainList, extra)
  } named(nn::Linear(2, 1));
  BOOST_TEST(values(named(x).data()) == values(named.call({x}).data()), boost::test_tools::per_element());
  struct Tail : nn::Sequential {
    nn::Parameter extra{1.0, {1}};
    NN_MEMBERS_OF(nn::Sequential, extra)
  } tail;
  tail.append(nn::Linear(2, 1));
  BOOST_TEST(values(tail(x).data()) == values(tail.call({x}).data()), boost::test_tools::per_element());
  BOOST_TEST(paths(tail) == (Strings{"/extra", "/0/W", "/0/b"}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(lists_are_iterated) {
  nn::ChainList list(nn::Linear(2, 3), TinyMLP());
  std::size_t i = 0;
  for (nn::Link& child : list) BOOST_TEST(&child == &list[std::int64_t(i++)]);
  BOOST_TEST(i == 2u);
  for (nn::Link& child : nn::ChainList()) BOOST_TEST(&child == nullptr);
}

BOOST_AUTO_TEST_SUITE_END()
