// Members beyond plain ones: containers, pointers and optionals in the list, members added at run time.
#include <array>
#include <memory>

#include <catena/nn/serializers/npz.h>
#include <catena/tests/support/training_fixtures.h>

using namespace test;

namespace {

using Strings = std::vector<std::string>;
std::vector<std::string> paths(const nn::Link& l) {
  std::vector<std::string> result;
  for (const nn::NamedParam& p : l.namedparams()) result.push_back(p.path);
  return result;
}

struct Piece : nn::Chain {
  nn::Linear l{2, 2, {.nobias = true}};
  std::int64_t count = 0;
  NN_MEMBERS(l, count)
  Variable operator()(const Variable& x) { return l(x); }
};

struct Containers : nn::Chain {
  std::vector<Piece> blocks{3};
  std::array<nn::Linear, 2> pair{nn::Linear(2, 1), nn::Linear(2, 1)};
  nn::Parameter scales[2] = {nn::Parameter(1.0, {1}), nn::Parameter(2.0, {1})};
  std::optional<nn::Linear> absent, present{nn::Linear(2, 2)};
  std::shared_ptr<nn::Link> any = std::make_shared<TinyMLP>();
  std::shared_ptr<nn::Linear> nothing;
  std::vector<double> rates{0.5, 0.25};
  NN_MEMBERS(blocks, pair, scales, absent, present, any, nothing, rates)
};

// One link behind two members.
struct Tied : nn::Chain {
  std::shared_ptr<nn::Linear> encoder = std::make_shared<nn::Linear>(2, 2), decoder = encoder;
  nn::Linear head{2, 1};
  NN_MEMBERS(encoder, decoder, head)
};

struct Growing : nn::Chain {
  nn::Parameter listed{1.0, {1}};
  nn::Linear first{2, 2};
  NN_MEMBERS(listed, first)
};

}  // namespace

BOOST_AUTO_TEST_SUITE(members)

BOOST_AUTO_TEST_CASE(containers_and_pointers) {
  Containers c;
  BOOST_TEST(paths(c) == (Strings{"/scales/0", "/scales/1", "/blocks/0/l/W", "/blocks/1/l/W", "/blocks/2/l/W",
                                  "/pair/0/W", "/pair/0/b", "/pair/1/W", "/pair/1/b", "/present/W", "/present/b",
                                  "/any/l1/W", "/any/l1/b", "/any/l2/W", "/any/l2/b"}),
             boost::test_tools::per_element());
  BOOST_TEST(c.named_children().front().first == "blocks/0");
  nn::serializers::DictionarySerializer s;
  s.save(c);
  Strings keys;
  for (const auto& e : s.entries()) keys.push_back(e.key);
  BOOST_TEST(std::count(keys.begin(), keys.end(), "blocks/2/count") == 1);
  BOOST_TEST(std::count(keys.begin(), keys.end(), "rates/1") == 1);
}

BOOST_AUTO_TEST_CASE(containers_are_saved_copied_and_grow) {
  const TemporaryFolder folder("containers");
  Containers a, b;
  a.blocks[1].count = 7;
  a.rates[1] = 9;
  autograd::fill(a.blocks[2].l.W.data(), 4);
  nn::serializers::save_npz(folder / "c.npz", a);
  nn::serializers::load_npz(folder / "c.npz", b);
  BOOST_TEST(b.blocks[1].count == 7);
  BOOST_TEST(b.rates[1] == 9);
  BOOST_TEST(values(b.blocks[2].l.W.data())[0] == 4);

  Containers copied = a;  // deep, but for what a shared pointer shares
  autograd::fill(copied.blocks[2].l.W.data(), 5);
  BOOST_TEST(values(a.blocks[2].l.W.data())[0] == 4);
  BOOST_TEST(copied.any.get() == a.any.get());
  const Variable shared = a.any->params()[0];
  Variable(shared).set_grad(autograd::arrays::ones(shared.shape()));
  const Containers fresh = nn::copy(a, nn::CopyMode::init);
  BOOST_TEST(bool(shared.grad()));  // the source is left alone
  Variable(shared).cleargrad();
  Variable(a.any->params()[0]).set_grad(autograd::arrays::ones(shared.shape()));
  copied.addgrads(a);
  BOOST_TEST(values(shared.grad())[0] == 1);

  b.blocks.resize(4);  // the parameters keep their identity when the vector moves them
  BOOST_TEST(paths(b)[5] == "/blocks/3/l/W");
}

BOOST_AUTO_TEST_CASE(what_members_share_is_one_parameter) {
  Tied t;
  BOOST_TEST(paths(t) == (Strings{"/encoder/W", "/encoder/b", "/head/W", "/head/b"}), boost::test_tools::per_element());
  BOOST_TEST(t.links().size() == 3u);
  BOOST_TEST(t.count_params() == 4 + 2 + 2 + 1);
  const TemporaryFolder folder("tied");
  nn::serializers::save_npz(folder / "t.npz", t);
  Tied loaded;
  nn::serializers::load_npz(folder / "t.npz", loaded);  // each path is in the file
  BOOST_TEST(same_bits(loaded.decoder->W.data(), t.encoder->W.data()));
}

BOOST_AUTO_TEST_CASE(members_added_at_run_time) {
  Growing g;
  nn::Parameter& scale = g.add_param("scale", {3}, 2.0);
  nn::Parameter& pending = g.add_param("later", nn::Parameter());
  nn::Parameter& partly = g.add_param("partly", {4, -1});
  nn::Linear& second = g.add_link("second", nn::Linear(2, 3));
  nn::Persistent& mean = g.add_persistent("mean", floats({1, 2}, {2}));
  BOOST_TEST(
      paths(g) == (Strings{"/listed", "/scale", "/later", "/partly", "/first/W", "/first/b", "/second/W", "/second/b"}),
      boost::test_tools::per_element());
  BOOST_TEST(g.params()[1].is_same(scale));
  BOOST_TEST(values(scale.data()) == std::vector<double>(3, 2), boost::test_tools::per_element());
  BOOST_TEST(!pending.is_initialized());
  BOOST_TEST(!partly.is_initialized());
  BOOST_TEST(&g["second"] == &second);
  for (const char* name : {"scale", "listed", "first", "mean", "a/b", ""})
    BOOST_TEST(has(message_of<catena::AttributeError>([&] { g.add_param(name, {1}, 1.0); }), name));
  BOOST_CHECK_THROW(g.add_link("second", nn::Linear(1)), catena::AttributeError);
  Containers c;
  BOOST_CHECK_THROW(c.add_link("blocks", nn::Linear(1)), catena::AttributeError);

  pending.initialize({2, 2});
  partly.initialize({4, 5});
  Growing copied = g;
  autograd::fill(copied.params()[1].data(), 8);
  autograd::fill(static_cast<nn::Linear&>(copied["second"]).W.data(), 8);
  BOOST_TEST(values(scale.data())[0] == 2);
  BOOST_TEST(values(second.W.data())[0] != 8);
  const TemporaryFolder folder("added");
  nn::serializers::save_npz(folder / "g.npz", copied);
  autograd::fill(mean.array(), 0);
  nn::serializers::load_npz(folder / "g.npz", g);
  BOOST_TEST(values(scale.data())[0] == 8);
  BOOST_TEST(values(second.W.data())[0] == 8);
  BOOST_TEST(values(mean.array())[1] == 2);
  const Variable handle = scale;
  g = copied;  // parameters keep their identity
  BOOST_TEST(g.params()[1].is_same(handle));
}

BOOST_AUTO_TEST_CASE(chains_are_iterated) {
  nn::Chain body;
  nn::Linear& a = body.add_link("a", nn::Linear(2, 2));
  TinyMLP& b = body.add_link("b", TinyMLP());
  std::vector<nn::Link*> seen;
  for (nn::Link& child : body) seen.push_back(&child);
  BOOST_TEST(seen == (std::vector<nn::Link*>{&a, &b}), boost::test_tools::per_element());
  BOOST_TEST(&body["b"] == &b);
  const std::string message = message_of<catena::KeyError>([&] { body["c"]; });
  BOOST_TEST(has(message, "a, b"));
  for (nn::Link& child : nn::Chain()) BOOST_TEST(&child == nullptr);
}

BOOST_AUTO_TEST_CASE(variables_are_copied_and_saved) {
  Variable x(floats({1, 2}, {2}), {.volatile_ = autograd::OFF, .name = "x", .grad = floats({3, 4}, {2})});
  const Variable derived = x * x;
  const Variable y = nn::copy(x), z = nn::copy(derived);
  BOOST_TEST(!y.is_same(x));
  BOOST_TEST(y.name() == "x");
  BOOST_TEST((y.volatile_flag() == autograd::OFF));
  autograd::fill(x.data(), 9);
  autograd::fill(x.grad(), 9);
  BOOST_TEST(values(y.data()) == (std::vector<double>{1, 2}), boost::test_tools::per_element());
  BOOST_TEST(values(y.grad()) == (std::vector<double>{3, 4}), boost::test_tools::per_element());
  BOOST_TEST(z.creator() == nullptr);

  struct Two {
    Variable with_grad, without;
    nn::Parameter p;
    void serialize(nn::Serializer& s) {
      s("a", with_grad);
      s("b", without);
      s("p", p);
    }
  };
  Two saved{nn::copy(y), z, nn::Parameter(floats({5}, {1}))};
  saved.without.set_volatile(autograd::AUTO);
  const TemporaryFolder folder("variables");
  nn::serializers::save_npz(folder / "v.npz", saved);
  Two loaded{{},
             Variable(autograd::arrays::zeros({2}), {.name = "old", .grad = autograd::arrays::ones({2})}),
             nn::Parameter()};
  loaded.without = loaded.without * 2;
  nn::serializers::load_npz(folder / "v.npz", loaded);
  BOOST_TEST(same_bits(loaded.with_grad.data(), y.data()));
  BOOST_TEST(same_bits(loaded.with_grad.grad(), y.grad()));
  BOOST_TEST(loaded.with_grad.name() == "x");
  BOOST_TEST((loaded.with_grad.volatile_flag() == autograd::OFF));
  BOOST_TEST((loaded.without.volatile_flag() == autograd::AUTO));
  BOOST_TEST(loaded.without.creator() == nullptr);
  BOOST_TEST(!bool(loaded.without.grad()));
  BOOST_TEST(values(loaded.p.data())[0] == 5);
}

BOOST_AUTO_TEST_SUITE_END()
