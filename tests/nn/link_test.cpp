// Links and chains: paths, order, copies, devices, copying between models.
#include <catena/nn/link.h>

#include <cmath>
#include <optional>

#include <catena/tests/support/framework_devices.h>
#include <catena/tests/support/training_fixtures.h>

using namespace test;
using nn::CopyMode;

namespace {

struct Leaf : nn::Link {
  nn::Parameter W, b;
  std::optional<nn::Parameter> extra;
  nn::Persistent average;
  std::int64_t count = 0;
  bool flag = false;
  double rate_ = 0.5;  // a trailing underscore is no part of the key
  std::string text = "t";
  Leaf() : W(1.0, {2, 3}), b(2.0), average(floats({1, 2}, {2})) {}
  NN_MEMBERS(W, b, extra, average, count, flag, rate_, text)
};

struct Inner : nn::Chain {
  Leaf first, second;
  nn::Parameter scale{3.0, {1}};
  NN_MEMBERS(first, scale, second)
  Variable operator()(const Variable& a, const Variable& b) { return a + b; }
};

struct Derived : Inner {
  Leaf third;
  NN_MEMBERS_OF(Inner, third)
  Variable operator()(const Variable& a) { return a; }
};

struct Empty : nn::Chain {
  NN_MEMBERS()
};

std::vector<std::string> paths(const nn::Link& l) {
  std::vector<std::string> result;
  for (const nn::NamedParam& p : l.namedparams()) result.push_back(p.path);
  return result;
}
std::vector<std::string> link_paths(nn::Link& l, bool skipself = false) {
  std::vector<std::string> result;
  for (const nn::NamedLink& p : l.namedlinks(skipself)) result.push_back(p.path);
  return result;
}
using Strings = std::vector<std::string>;

}  // namespace

BOOST_AUTO_TEST_SUITE(links)

BOOST_AUTO_TEST_CASE(paths_and_order) {
  Derived d;
  // Own parameters first, then the children in the order of their list, base classes before derived ones.
  const Strings expected{"/scale", "/first/W", "/first/b", "/second/W", "/second/b", "/third/W", "/third/b"};
  BOOST_TEST(paths(d) == expected, boost::test_tools::per_element());
  BOOST_TEST(link_paths(d) == (Strings{"/", "/first", "/second", "/third"}), boost::test_tools::per_element());
  BOOST_TEST(link_paths(d, true) == (Strings{"/first", "/second", "/third"}), boost::test_tools::per_element());
  BOOST_TEST(d.links().size() == 4u);
  BOOST_TEST(d.links(true).front() == &d.first);
  BOOST_TEST(d.named_children().size() == 3u);
  BOOST_TEST(d.named_children()[2].first == "third");
  BOOST_TEST(d.first.named_children().empty());
  BOOST_TEST(d.params().size() == 7u);
  BOOST_TEST(d.params()[0].is_same(d.scale));
  d.second.extra.emplace(0.0, Shape{4});
  BOOST_TEST(paths(d)[5] == "/second/extra");
  BOOST_TEST(paths(Empty()).empty());
}

BOOST_AUTO_TEST_CASE(uninitialised_parameters_and_counts) {
  Inner i;
  BOOST_TEST(!i.has_uninitialized_params());  // own ones only
  BOOST_TEST(i.first.has_uninitialized_params());
  i.first.b.initialize({5});
  BOOST_TEST(!i.first.has_uninitialized_params());
  BOOST_TEST(i.count_params() == 1 + 6 + 5 + 6);
}

BOOST_AUTO_TEST_CASE(calls_by_arguments) {
  Derived d;
  Inner i;
  const Variable x(floats({1, 2}, {2})), y(floats({3, 4}, {2}));
  BOOST_TEST(values(i.call({x, y}).data()) == (std::vector<double>{4, 6}), boost::test_tools::per_element());
  BOOST_TEST(values(d.call({x}).data()) == (std::vector<double>{1, 2}), boost::test_tools::per_element());
  BOOST_TEST(has(message_of<catena::TypeError>([&] { i.call({x}); }), "1 variables"));
  BOOST_CHECK_THROW(Empty().call({x}), catena::TypeError);
  BOOST_CHECK_THROW(nn::Link().call({x}), catena::NotImplementedError);
}

BOOST_AUTO_TEST_CASE(cpp_copies_are_deep) {
  Inner a;
  a.first.W.set_grad(autograd::arrays::ones({2, 3}));
  Inner b = a;
  BOOST_TEST(paths(b) == paths(a), boost::test_tools::per_element());
  autograd::fill(b.first.W.data(), 7);
  autograd::fill(b.first.W.grad(), 7);
  autograd::fill(b.first.average.array(), 7);
  b.first.count = 7;
  BOOST_TEST(values(a.first.W.data())[0] == 1);
  BOOST_TEST(values(a.first.W.grad())[0] == 1);
  BOOST_TEST(values(a.first.average.array())[0] == 1);
  BOOST_TEST(a.first.count == 0);
  BOOST_TEST(!b.params()[0].is_same(a.params()[0]));
  // The list of the copy names the copy's members.
  BOOST_TEST(b.params()[1].is_same(b.first.W));
  b = a;
  BOOST_TEST(values(b.first.W.data())[0] == 1);
  const Inner moved = std::move(b);
  BOOST_TEST(moved.params()[1].is_same(moved.first.W));
  BOOST_TEST(has(message_of<catena::ValueError>([&] { b.cleargrads(); }), "has been moved from"));
}

BOOST_AUTO_TEST_CASE(names_of_pytorch_and_chainer) {
  const Inner a;
  const Inner b = nn::deepcopy(a);
  BOOST_TEST(paths(b) == paths(a), boost::test_tools::per_element());
  autograd::fill(b.first.W.data(), 7);
  autograd::fill(b.first.average.array(), 7);
  BOOST_TEST(values(a.first.W.data())[0] == 1);
  BOOST_TEST(values(a.first.average.array())[0] == 1);
  const Derived whole;
  BOOST_TEST(paths(nn::deepcopy(whole)) == paths(whole), boost::test_tools::per_element());
  BOOST_TEST(has(message_of<catena::TypeError>([&] { nn::deepcopy(static_cast<const Inner&>(whole)); }), "Derived"));
  Inner all;
  Strings of_options;
  for (const nn::NamedLink& l : all.namedlinks({.skipself = true})) of_options.push_back(l.path);
  BOOST_TEST(of_options == (Strings{"/first", "/second"}), boost::test_tools::per_element());
  BOOST_TEST(all.namedlinks({.skipself = false}).size() == 3U);
  BOOST_TEST(all.links({.skipself = true}).size() == 2U);
  BOOST_TEST(all.links({.skipself = true})[0] == &all.first);
}

BOOST_AUTO_TEST_CASE(copy_modes) {
  Inner a;
  a.first.W.set_grad(autograd::arrays::ones({2, 3}));
  Inner shared = nn::copy(a);  // share is the default
  BOOST_TEST(!shared.first.W.is_same(a.first.W));
  BOOST_TEST(!bool(shared.first.W.grad()));
  autograd::fill(shared.first.W.data(), 5);
  autograd::fill(shared.first.average.array(), 6);
  BOOST_TEST(values(a.first.W.data())[0] == 5);
  BOOST_TEST(values(a.first.average.array())[0] == 6);

  Inner copied = nn::copy(a, CopyMode::copy);
  autograd::fill(copied.first.W.data(), 8);
  BOOST_TEST(values(a.first.W.data())[0] == 5);
  BOOST_TEST(values(copied.first.W.grad())[0] == 1);

  const Inner fresh = nn::copy(a, CopyMode::init);
  BOOST_TEST(values(fresh.first.W.data())[0] == 1);  // its initializer's value again
  BOOST_TEST(values(a.first.W.data())[0] == 5);
  BOOST_TEST(!fresh.first.b.is_initialized());
}

BOOST_AUTO_TEST_CASE(copyparams) {
  Inner a, b;
  autograd::fill(a.first.W.data(), 4);
  a.second.b.initialize({3});
  a.first.W.set_grad(autograd::arrays::ones({2, 3}));
  autograd::fill(a.first.average.array(), 9);
  b.copyparams(a);
  BOOST_TEST(values(b.first.W.data())[0] == 4);
  BOOST_TEST(!bool(b.first.W.grad()));
  BOOST_TEST(values(b.first.average.array())[0] == 1);  // persistents stay
  BOOST_TEST(values(b.second.b.data()) == std::vector<double>(3, 2.0),
             boost::test_tools::per_element());  // created from the source
  BOOST_TEST(!b.first.b.is_initialized());

  Derived d;
  autograd::fill(d.first.W.data(), -1);
  BOOST_TEST(has(message_of<catena::KeyError>([&] { d.copyparams(a); }), "/third/W"));
  BOOST_TEST(values(d.first.W.data())[0] == -1);  // nothing was copied
  Inner pending;
  BOOST_TEST(has(message_of<catena::KeyError>([&] { a.copyparams(pending); }), "/second/b"));
  Inner other;
  other.scale = nn::Parameter(1.0, {2});
  BOOST_TEST(has(message_of<catena::ValueError>([&] { other.copyparams(a); }), "/scale"));
  BOOST_TEST(values(other.first.W.data())[0] == 1);
}

BOOST_AUTO_TEST_CASE(addgrads) {
  Inner a, b;
  a.first.W.set_grad(autograd::arrays::full({2, 3}, 2.0));
  a.scale.set_grad(autograd::arrays::full({1}, 3.0));
  b.scale.set_grad(autograd::arrays::full({1}, 1.0));
  b.addgrads(a);
  BOOST_TEST(values(b.first.W.grad())[5] == 2);
  BOOST_TEST(values(b.scale.grad())[0] == 4);
  BOOST_TEST(!bool(b.second.W.grad()));
  autograd::fill(b.first.W.grad(), 0);  // it became a copy
  BOOST_TEST(values(a.first.W.grad())[0] == 2);
  BOOST_CHECK_THROW(Derived().addgrads(a), catena::KeyError);
  a.first.b.initialize({2});
  a.first.b.set_grad(autograd::arrays::ones({2}));
  BOOST_TEST(has(message_of<catena::ValueError>([&] { b.addgrads(a); }), "/first/b"));
  BOOST_TEST(values(b.scale.grad())[0] == 4);
}

BOOST_AUTO_TEST_CASE(cleargrads) {
  Inner a;
  a.first.W.set_grad(autograd::arrays::ones({2, 3}));
  a.scale.set_grad(autograd::arrays::ones({1}));
  a.cleargrads();
  for (const Variable& p : a.params()) BOOST_TEST(!bool(p.grad()));
  a.zerograds();
  BOOST_TEST(values(a.scale.grad())[0] == 0);
}

BOOST_AUTO_TEST_CASE(parameters_from_shapes) {
  nn::Link l({{"W", {3, 2}}, {"b", {3}, Dtype::float64}, {"later", {-1, 2}}});
  BOOST_TEST(paths(l) == (Strings{"/W", "/b", "/later"}), boost::test_tools::per_element());
  BOOST_TEST(l.param("W").shape() == Shape({3, 2}));
  BOOST_TEST((l.param("W").dtype() == Dtype::float32));
  BOOST_TEST((l.param("b").dtype() == Dtype::float64));
  for (const char* name : {"W", "b"})
    for (const Array& a : {l.param(name).data(), l.param(name).grad()})
      for (const double v : values(a)) BOOST_TEST(std::isnan(v));
  BOOST_TEST(!l.param("later").is_initialized());
  BOOST_TEST(has(message_of<catena::KeyError>([&] { l.param("c"); }), "W, b, later"));
  BOOST_CHECK_THROW(nn::Link({{"W", {1}}, {"W", {1}}}), catena::AttributeError);
  nn::Link added;
  BOOST_TEST((added.add_param("half", {2}, Dtype::float16).dtype() == Dtype::float16));
  // The dtype is the initializer's, where there is one; the gradient is NaN all the same.
  nn::Parameter& one = added.add_param("one", {2}, Dtype::float16, 1.0);
  BOOST_TEST((one.dtype() == Dtype::float32));
  BOOST_TEST(values(one.data())[1] == 1);
  BOOST_TEST(std::isnan(values(one.grad())[1]));
  added.cleargrads();
  BOOST_TEST(!bool(one.grad()));
  nn::Link copied = l;
  autograd::fill(copied.param("W").data(), 1);
  BOOST_TEST(std::isnan(values(l.param("W").data())[0]));
}

BOOST_AUTO_TEST_CASE(variables_and_links_have_the_names_of_the_members) {
  nn::Link l({{"W", {1}}});
  BOOST_TEST(l.param("W").name() == "W");
  BOOST_TEST(l.add_param("scale", {1}).name() == "scale");
  BOOST_TEST(nn::Linear(2).W.name() == "W");  // without a size, too
  BOOST_TEST(nn::Linear(2, 3).b->name() == "b");
  BOOST_TEST(nn::BatchNormalization(2).gamma->name() == "gamma");
  // Members of a user's class get their names when the parameters are listed.
  Inner i;
  BOOST_TEST(i.scale.name().empty());
  i.cleargrads();
  BOOST_TEST(i.scale.name() == "scale");
  BOOST_TEST(i.second.W.name() == "W");
  BOOST_TEST(i.second.name() == "second");
  BOOST_TEST(i.name().empty());
  i.scale.set_name("mine");  // a name of the user's stays
  BOOST_TEST(i.params()[0].name() == "mine");
  const Inner shared = nn::copy(i);
  BOOST_TEST(shared.scale.name() == "mine");
  BOOST_TEST(shared.second.name() == "second");
  nn::Chain parent;
  Leaf& child = parent.add_link("child", Leaf(i.first));
  BOOST_TEST(child.name() == "child");
  BOOST_TEST(nn::copy(child).name().empty());
  nn::ChainList list(nn::Linear(2), nn::Linear(3));
  BOOST_TEST(list[1].name() == "1");
}

BOOST_AUTO_TEST_CASE(devices) {
  const autograd::Device home = default_device();
  Inner a;
  BOOST_TEST((a.device() == home));
  a.first.W.set_grad(autograd::arrays::ones({2, 3}));
  const auto check_device = [&](autograd::Device expected) {
    BOOST_TEST((a.device() == expected));
    BOOST_TEST((a.first.W.device() == expected));
    BOOST_TEST((a.first.W.grad().device() == expected));
    BOOST_TEST((a.second.average.array().device() == expected));
    BOOST_TEST(values(a.first.W.data()) == std::vector<double>(6, 1), boost::test_tools::per_element());
    BOOST_TEST(values(a.first.W.grad()) == std::vector<double>(6, 1), boost::test_tools::per_element());
    BOOST_TEST(values(a.second.average.array()) == (std::vector<double>{1, 2}), boost::test_tools::per_element());
  };
  const auto other = other_device();
  if (!other) {
    BOOST_TEST(says_that_cuda_is_unavailable(message_of<catena::RuntimeError>([&] { a.to_gpu(); })));
    check_device(home);
    BOOST_TEST(&a.to_cpu() == &a);
    check_device(home);
    a.first.b.initialize({2});
    BOOST_TEST((a.first.b.device() == home));
    return;
  }
  nn::Link& self = a.to_device(*other);
  BOOST_TEST(&self == &a);
  check_device(*other);
  a.second.b.initialize({2});
  BOOST_TEST((a.second.b.device() == *other));
  Inner at_home;
  at_home.copyparams(a);  // across devices
  BOOST_TEST((at_home.second.b.device() == home));
  BOOST_TEST(values(at_home.second.b.data()) == std::vector<double>(2, 2), boost::test_tools::per_element());
  at_home.addgrads(a);
  BOOST_TEST((at_home.first.W.grad().device() == home));
  a.to_gpu(0);
  check_device(kCuda);
  a.to_cpu();
  check_device(kCpu);
}

BOOST_AUTO_TEST_SUITE_END()
