// Sequences of links and functions: positions, keys, copies, repetition.
#include <catena/nn/sequential.h>

#include <catena/nn/link_hook.h>
#include <catena/nn/links/torch_normalization.h>
#include <catena/nn/module_list.h>
#include <catena/tests/support/training_fixtures.h>

using namespace test;

namespace {

using Strings = std::vector<std::string>;
Strings paths(const nn::Link& l) {
  Strings result;
  for (const nn::NamedParam& p : l.namedparams()) result.push_back(p.path);
  return result;
}
std::vector<int> sizes(const nn::Sequential& s) {  // the outputs of Linear elements, 0 for functions
  std::vector<int> result;
  for (const nn::Sequential::Element& e : s)
    result.push_back(e.is_link() ? dynamic_cast<nn::Linear&>(e.as_link()).out_size : 0);
  return result;
}
#define CHECK_LIST(a, ...) BOOST_TEST(a == (__VA_ARGS__), boost::test_tools::per_element())

struct Twice {
  Variable operator()(const Variable& x) const { return x * 2; }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(sequences)

BOOST_AUTO_TEST_CASE(elements_have_positions_and_links_keys) {
  nn::Sequential s(nn::Linear(2, 3), nn::relu, nn::Linear(3, 4), Twice());
  CHECK_LIST(sizes(s), std::vector<int>{3, 0, 4, 0});
  CHECK_LIST(paths(s), Strings{"/0/W", "/0/b", "/2/W", "/2/b"});
  BOOST_TEST(&s[0].as_link() == s.named_children()[0].second);
  BOOST_TEST(&s[-2].as_link() == s.named_children()[1].second);
  const Variable x(floats({-1, 2}, {1, 2}));
  CHECK_LIST(values(s[1](x).data()), std::vector<double>{0, 2});
  CHECK_LIST(values(s[3](x).data()), std::vector<double>{-2, 4});
  BOOST_TEST(s[0](x).shape() == Shape({1, 3}));
  nn::Link& first = s[0];
  BOOST_TEST(&first == &s[0].as_link());
  BOOST_TEST(has(message_of<catena::TypeError>([&] { s[1].as_link(); }), "a function, not a link"));
  BOOST_TEST(has(message_of<catena::IndexError>([&] { s[4]; }), "4 is out of range for 4 elements"));
  BOOST_CHECK_THROW(s[-5], catena::IndexError);
}

BOOST_AUTO_TEST_CASE(elements_have_the_members_of_layers) {
  nn::Sequential s(nn::Linear(2, 3), nn::relu, nn::BatchNorm2d(3), nn::Sequential(nn::Linear(3, 1)));
  BOOST_TEST(s[0].weight.is_same(s.params()[0]));
  BOOST_TEST(s[0].bias.shape() == Shape({3}));
  BOOST_TEST(s[2].weight.is_same(*s[2].as<nn::BatchNorm2d>()->gamma));
  BOOST_TEST(s[3][0].weight.shape() == Shape({1, 3}));
  BOOST_TEST(!s[1].weight);
  BOOST_TEST(s[1].parameters().empty());
  s[0].requires_grad_(false);
  BOOST_TEST(!s.params()[0].requires_grad());
  BOOST_TEST(s.params()[2].requires_grad());
  s[2].eval();
  BOOST_TEST(!s[2].training());
  BOOST_TEST(s[0].state_dict().size() == 2U);
  BOOST_CHECK_THROW(s[0][0], catena::TypeError);
  std::vector<double> seen;
  const Variable x(floats({-1, 2}, {1, 2}));
  auto hook = s[1].register_forward_hook([&](nn::Link&, const Variables& in, const Variable& y) {
    seen = {double(in.size()), values(y.data())[0]};
  });
  CHECK_LIST(values(s[1](x).data()), std::vector<double>{0, 2});
  CHECK_LIST(seen, std::vector<double>{1, 0});
  hook.remove();
  seen.clear();
  s[1](x);
  BOOST_TEST(seen.empty());
  int links = 0;
  for (auto& layer : s) links += layer.as<nn::Linear>() != nullptr ? 1 : 0;
  BOOST_TEST(links == 1);
}

// A function keeps its hooks in a copy and in a list, and a hook whose call fails learns of it.
BOOST_AUTO_TEST_CASE(functions_have_hooks) {
  struct Counter : nn::LinkHook {
    int before = 0, after = 0, failures = 0;
    std::string name() const override { return "Counter"; }
    void forward_preprocess(nn::Link&, const Variables&) override { ++before; }
    void forward_postprocess(nn::Link&, const Variables&, const Variables&) override { ++after; }
    void failed(nn::Link&) noexcept override { ++failures; }
  };
  const auto counter = catena::Shared<Counter>::make();
  const Variable x(floats({-1, 2}, {1, 2}));
  bool fails = false;
  nn::Sequential s([&fails](const Variable& v) {
    catena::check<catena::ValueError>(!fails, "test", "the function fails");
    return v * 2;
  });
  s[0].add_hook(catena::Shared<nn::LinkHook>(counter));
  s(x);
  nn::Sequential twin = s;
  twin(x);
  nn::ModuleList list({s[0]});
  list[0](x);
  BOOST_TEST(counter->before == 3);
  BOOST_TEST(counter->after == 3);
  fails = true;
  BOOST_CHECK_THROW(s(x), catena::ValueError);
  BOOST_TEST(counter->after == 3);
  BOOST_TEST(counter->failures == 1);
  BOOST_CHECK_THROW(s[0].eval(), catena::TypeError);  // it has the mode of the sequence
  BOOST_CHECK_THROW(s[0].train(), catena::TypeError);
  BOOST_CHECK_THROW(nn::Sequential::Element()(x), catena::ValueError);
}

// The names of torch.nn.Sequential(Linear(2, 3), ReLU(), Linear(3, 4)).named_parameters(), and keys of its state dict.
BOOST_AUTO_TEST_CASE(names_of_pytorch) {
  nn::Sequential s(nn::Linear(2, 3), nn::ReLU(), nn::Linear(3, 4));
  Strings names;
  for (const nn::NamedParam& p : s.named_parameters()) names.push_back(p.path);
  CHECK_LIST(names, Strings{"0.weight", "0.bias", "2.weight", "2.bias"});
  BOOST_TEST(s.state_dict().contains("2.weight"));
  BOOST_TEST(!s.state_dict().contains("1.weight"));
}

// Chainer counts the links alone, as a ChainList does.
BOOST_AUTO_TEST_CASE(files_with_the_keys_of_chainer) {
  const test::TemporaryFolder folder("keys");
  nn::ChainList list(nn::Linear(2, 3), nn::Linear(3, 4));
  nn::serializers::save_npz(folder / "list.npz", list);
  nn::Sequential s(nn::Linear(2, 3), nn::relu, nn::Linear(3, 4));
  BOOST_CHECK_THROW(nn::serializers::load_npz(folder / "list.npz", s), catena::KeyError);
  nn::serializers::load_npz(folder / "list.npz", s, {.rename = {{"2", "1"}}});
  for (std::size_t i = 0; i < 4; ++i) BOOST_TEST(same_bits(s.params()[i].data(), list.params()[i].data()));
}

BOOST_AUTO_TEST_CASE(elements_are_replaced) {
  nn::Sequential s(nn::Linear(2, 3), nn::relu, nn::Linear(3, 4));
  const Variable first = s.params()[0];
  s[2] = nn::Linear(3, 5);
  CHECK_LIST(sizes(s), std::vector<int>{3, 0, 5});
  BOOST_TEST(s[2].as_link().name() == "2");
  s[1] = nn::Linear(3, 3);
  CHECK_LIST(paths(s), Strings{"/0/W", "/0/b", "/1/W", "/1/b", "/2/W", "/2/b"});
  BOOST_TEST(s[2].as_link().name() == "2");
  BOOST_TEST(s.params()[0].is_same(first));
  nn::Sequential other = s;
  other[0] = nn::tanh;
  CHECK_LIST(sizes(other), std::vector<int>{0, 3, 5});
  CHECK_LIST(sizes(s), std::vector<int>{3, 3, 5});
  s[0] = s[1];
  BOOST_TEST(same_bits(s.params()[0].data(), s.params()[2].data()));
  BOOST_TEST(!s.params()[0].is_same(s.params()[2]));
  BOOST_CHECK_THROW(s[0] = nn::Sequential::Element(), catena::ValueError);

  nn::Sequential named({{"body", nn::Linear(2, 3)}, {"head", nn::Linear(3, 4)}});
  named[-1] = nn::Linear(3, 2);
  CHECK_LIST(paths(named), Strings{"/body/W", "/body/b", "/head/W", "/head/b"});
  BOOST_TEST(named[1].weight.shape() == Shape({2, 3}));
  nn::Sequential moved = std::move(named);
  moved[0] = nn::relu;
  CHECK_LIST(paths(moved), Strings{"/head/W", "/head/b"});
  moved.insert(0, nn::Linear(2, 3));
  CHECK_LIST(sizes(moved), std::vector<int>{3, 0, 2});
}

BOOST_AUTO_TEST_CASE(slices_share_arrays) {
  nn::Sequential s(nn::Linear(2, 3), nn::relu, nn::Linear(3, 4));
  nn::Sequential body = s.slice(0, -1), last = s[catena::Slice(-1, {})];
  CHECK_LIST(sizes(body), std::vector<int>{3, 0});
  CHECK_LIST(sizes(last), std::vector<int>{4});
  autograd::fill(s.params()[0].data(), 7);
  CHECK_LIST(values(body.params()[0].data()), std::vector<double>(6, 7));
  CHECK_LIST(sizes(s.slice(0, {}, 2)), std::vector<int>{3, 4});
  BOOST_CHECK_THROW(s.slice(0, 1, 0), catena::ValueError);
}

BOOST_AUTO_TEST_CASE(insert_and_remove) {
  nn::Sequential s(nn::Linear(1, 1), nn::Linear(1, 2));
  const std::vector<Variable> before = s.params();
  s.insert(1, nn::tanh);
  s.insert(0, nn::Linear(1, 5));
  CHECK_LIST(sizes(s), std::vector<int>{5, 1, 0, 2});
  s.insert(-1, nn::Linear(1, 6));
  s.insert(5, Twice());
  CHECK_LIST(sizes(s), std::vector<int>{5, 1, 0, 6, 2, 0});
  BOOST_TEST(s.params()[2].is_same(before[0]));  // the links themselves have moved
  BOOST_TEST(s.params()[6].is_same(before[2]));
  CHECK_LIST(paths(s), Strings{"/0/W", "/0/b", "/1/W", "/1/b", "/3/W", "/3/b", "/4/W", "/4/b"});
  BOOST_TEST(s.named_children()[2].second->name() == "3");
  s.remove(2);
  s.remove(-1);
  CHECK_LIST(sizes(s), std::vector<int>{5, 1, 6, 2});
  const nn::Sequential::Element taken = s.pop(0);
  BOOST_TEST(taken.as_link().name() == "");
  BOOST_TEST(s.pop().as_link().param("W").is_same(before[2]));
  CHECK_LIST(sizes(s), std::vector<int>{1, 6});
  BOOST_TEST(s.named_children()[0].second->name() == "0");
  s.extend(s);
  CHECK_LIST(sizes(s), std::vector<int>{1, 6, 1, 6});
  BOOST_TEST(same_bits(s.params()[0].data(), s.params()[4].data()));
  BOOST_TEST(!s.params()[0].is_same(s.params()[4]));
  s.clear();
  BOOST_TEST(s.size() == 0u);
  BOOST_CHECK_THROW(s.pop(), catena::IndexError);
  BOOST_CHECK_THROW(s.remove(0), catena::IndexError);
  BOOST_CHECK_THROW(s.insert(1, nn::relu), catena::IndexError);
  BOOST_CHECK_THROW(s.insert(0, nn::Sequential::Element()), catena::ValueError);
  BOOST_TEST(s.size() == 0u);
}

BOOST_AUTO_TEST_CASE(sequences_in_sequences_are_flattened) {
  nn::Sequential inner(nn::Linear(2, 2), nn::tanh), middle(inner, nn::Linear(2, 3));
  nn::Sequential s(middle, nn::sigmoid, nn::Linear(3, 4));
  nn::Sequential flat = s.flatten();
  CHECK_LIST(sizes(flat), std::vector<int>{2, 0, 3, 0, 4});
  CHECK_LIST(paths(flat), Strings{"/0/W", "/0/b", "/2/W", "/2/b", "/4/W", "/4/b"});
  const Variable x(floats({0.5f, -1}, {1, 2}));
  BOOST_TEST(same_bits(flat(x).data(), s(x).data()));
  autograd::fill(flat.params()[0].data(), 0);  // a copy
  BOOST_TEST(!same_bits(flat(x).data(), s(x).data()));
  BOOST_TEST(nn::Sequential().flatten().size() == 0u);
}

BOOST_AUTO_TEST_CASE(repetition) {
  const nn::Sequential block(nn::Linear(3, 3), nn::relu);
  const auto first = [](const nn::Sequential& s, std::size_t i) { return s.params()[2 * i].data(); };
  const nn::Sequential fresh = block.repeat(3), equal = block.repeat(3, nn::CopyMode::copy),
                       shared = block.repeat(3, nn::CopyMode::share);
  for (const nn::Sequential* s : {&fresh, &equal, &shared}) {
    BOOST_TEST(s->size() == 6u);
    CHECK_LIST(paths(*s), Strings{"/0/W", "/0/b", "/2/W", "/2/b", "/4/W", "/4/b"});
  }
  BOOST_TEST(same_bits(first(fresh, 0), first(block, 0)));
  BOOST_TEST(!same_bits(first(fresh, 1), first(block, 0)));
  BOOST_TEST(!same_bits(first(fresh, 1), first(fresh, 2)));
  for (std::size_t i = 0; i < 3; ++i) BOOST_TEST(same_bits(first(equal, i), first(block, 0)));
  autograd::fill(first(equal, 0), 7);
  BOOST_TEST(values(first(equal, 1))[0] != 7);
  BOOST_TEST(values(first(block, 0))[0] != 7);
  autograd::fill(first(shared, 2), 5);
  for (std::size_t i = 0; i < 3; ++i) BOOST_TEST(values(first(shared, i))[0] == 5);
  BOOST_TEST(values(first(block, 0))[0] == 5);
  BOOST_TEST(!shared.params()[0].is_same(shared.params()[2]));

  const nn::Linear layer(2, 2);
  nn::Sequential tower = nn::repeat(layer, 2, nn::CopyMode::copy);
  CHECK_LIST(sizes(tower), std::vector<int>{2, 2});
  BOOST_TEST(same_bits(tower.params()[2].data(), layer.W.data()));
  BOOST_TEST(nn::repeat(block, 2).size() == 4u);
  BOOST_TEST(nn::repeat(layer, 0).size() == 0u);
  BOOST_CHECK_THROW(nn::repeat(layer, -1), catena::ValueError);
}

BOOST_AUTO_TEST_CASE(copies_of_named_elements) {
  nn::Sequential s;
  s.add_module("fc", nn::Linear(3, 3));
  CHECK_LIST(paths(s.repeat(2)), Strings{"/fc/W", "/fc/b", "/1/W", "/1/b"});
  s.extend(s);
  CHECK_LIST(paths(s), Strings{"/fc/W", "/fc/b", "/1/W", "/1/b"});
  BOOST_CHECK_THROW(s.add_module("fc", nn::Linear(3, 3)), catena::AttributeError);
  BOOST_CHECK_THROW(s.add_module("1", nn::Linear(3, 3)), catena::AttributeError);  // a link without a name may get it
  s.append(nn::relu);
  BOOST_TEST(has(message_of<catena::AttributeError>([&] { s.add_module("", nn::relu); }), "is empty or has a slash"));
}

BOOST_AUTO_TEST_SUITE_END()
