// Frozen parameters: no gradient, no hook, no decay, no momentum; saved and thawed.
#include <catena/autograd/functions/reduction.h>
#include <catena/nn/path_pattern.h>
#include <catena/nn/serializers/npz.h>
#include <catena/tests/support/training_fixtures.h>
#include <catena/training/optimizer_hooks.h>
#include <catena/training/optimizers.h>

using namespace test;
using namespace training;

namespace {

Variable sum_of_squares(TinyMLP& m) {
  Variable total;
  for (const Variable& p : m.params()) total = total ? total + autograd::sum(p * p) : autograd::sum(p * p);
  return total;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(freezing)

BOOST_AUTO_TEST_CASE(nothing_touches_a_frozen_parameter) {
  TinyMLP model;
  MomentumSGD optimizer({.lr = 0.1, .momentum = 0.9});
  optimizer.setup(model);
  optimizer.add_hook(WeightDecay(0.5));
  optimizer.add_hook(Lasso(0.5));
  optimizer.add_hook(GradientHardClipping(-1, 1));
  optimizer.add_hook(GradientClipping(1e-3));
  optimizer.update([&] { return sum_of_squares(model); });  // gives every parameter momentum
  model.l1.disable_update();
  BOOST_TEST(!model.l1.update_enabled());
  BOOST_TEST(model.update_enabled());
  const Array l1 = autograd::copy(model.l1.W.data()), l2 = autograd::copy(model.l2.W.data()),
              v = autograd::copy(optimizer.states("/l1/W")[0]);
  for (int i = 0; i < 3; ++i) optimizer.update([&] { return sum_of_squares(model); });
  BOOST_TEST(same_bits(model.l1.W.data(), l1));
  BOOST_TEST(same_bits(optimizer.states("/l1/W")[0], v));
  BOOST_TEST(!bool(model.l1.W.grad()));
  BOOST_TEST(!same_bits(model.l2.W.data(), l2));
  // A gradient from before counts in no norm.
  model.l2.W.set_grad(autograd::arrays::zeros({3, 6}));
  model.cleargrads();
  model.l1.W.set_grad(autograd::arrays::ones({6, 4}));
  BOOST_TEST(values(grads_norm(model))[0] == 0);
  optimizer.update();
  BOOST_TEST(same_bits(model.l1.W.data(), l1));
  BOOST_TEST(values(model.l1.W.grad())[0] == 1);
  model.l1.enable_update();
  optimizer.update([&] { return sum_of_squares(model); });
  BOOST_TEST(!same_bits(model.l1.W.data(), l1));
}

BOOST_AUTO_TEST_CASE(by_path_and_by_parameter) {
  TinyMLP model;
  model.disable_update("/l1");
  BOOST_TEST(!model.l1.W.requires_grad());
  BOOST_TEST(!model.l1.b->requires_grad());
  BOOST_TEST(model.l2.W.requires_grad());
  model.enable_update("l1/b");
  BOOST_TEST(model.l1.b->requires_grad());
  BOOST_TEST(!model.l1.W.requires_grad());
  BOOST_TEST(has(message_of<catena::KeyError>([&] { model.disable_update("/l"); }), "/l"));
  for (nn::NamedParam& p : model.namedparams()) p.param.set_requires_grad(p.path != "/l2/W");
  BOOST_TEST(!model.l2.W.requires_grad());
  TinyMLP copied = model;  // a copy is as frozen as its source
  BOOST_TEST(!copied.l2.W.requires_grad());
  BOOST_TEST(!nn::copy(model).l2.W.requires_grad());
  const Variable y = model(Variable(autograd::arrays::ones({1, 4})));
  BOOST_CHECK_THROW(Variable(y).set_requires_grad(false), catena::RuntimeError);
  nn::Linear lazy(3);
  lazy.disable_update();  // before its shape is known
  lazy(Variable(autograd::arrays::ones({1, 2})));
  BOOST_TEST(!lazy.W.requires_grad());
  BOOST_TEST(bool(lazy.W.data()));
}

BOOST_AUTO_TEST_CASE(by_pattern) {
  TinyMLP model;
  model.disable_update("*/b");
  BOOST_TEST(!model.l1.b->requires_grad());
  BOOST_TEST(!model.l2.b->requires_grad());
  BOOST_TEST(model.l1.W.requires_grad());
  model.enable_update("l?/[ab]");
  BOOST_TEST(model.l1.b->requires_grad());
  model.disable_update("l1/*");
  BOOST_TEST(!model.l1.update_enabled());
  BOOST_TEST(model.l2.b->requires_grad());
  model.enable_update("/");
  BOOST_TEST(model.l1.W.requires_grad());
  BOOST_TEST(has(message_of<catena::KeyError>([&] { model.disable_update("*/gamma"); }), "at or below */gamma"));
}

BOOST_AUTO_TEST_CASE(patterns_of_paths) {
  struct Case {
    const char *pattern, *path;
    bool matches;
  };
  const Case cases[] = {
      {"*", "/l1/W", true},        {"*/W", "/W", true},          {"*/W", "/a/b/W", true},
      {"/*/W", "/W", false},       {"a", "/a/b/W", true},        {"/a/b", "/a/bc/W", false},
      {"a/", "/a/W", true},        {"l?/W", "/l1/W", true},      {"l?/W", "/l12/W", false},
      {"l[0-3]/W", "/l2/W", true}, {"l[0-3]/W", "/l4/W", false}, {"l[!0-3]/W", "/l4/W", true},
      {"l[]x]/W", "/l]/W", true},  {"l[/W", "/l[/W", true},      {"*a*b*", "/xaxbx", true},
      {"*a*b*", "/xbxax", false},  {"*b", "/ab/cd", true},       {"*aab", "/aaaab", true},
      {"", "/W", false},           {"**/W", "/l1/W", true},      {"[ab-]", "/-", true},
  };
  for (const Case& c : cases) BOOST_TEST(nn::path_matches(c.pattern, c.path) == c.matches, c.pattern << " " << c.path);
}

BOOST_AUTO_TEST_CASE(frozen_parameters_are_saved) {
  const TemporaryFolder folder("frozen");
  TinyMLP model, loaded;
  model.l1.disable_update();
  nn::serializers::save_npz(folder / "m.npz", model);
  loaded.l1.disable_update();
  nn::serializers::load_npz(folder / "m.npz", loaded);
  BOOST_TEST(same_bits(loaded.l1.W.data(), model.l1.W.data()));
  // States exist for what was trained, and come back also for what is frozen now.
  Adam adam, other;
  adam.setup(model);
  BOOST_TEST(adam.states("/l1/W").empty());
  adam.update([&] { return sum_of_squares(model); });
  BOOST_TEST(adam.states("/l1/W").empty());
  nn::serializers::save_npz(folder / "frozen.npz", adam);
  other.setup(loaded);
  nn::serializers::load_npz(folder / "frozen.npz", other);
  BOOST_TEST(same_bits(other.states("/l2/W")[0], adam.states("/l2/W")[0]));
  model.enable_update();
  adam.update([&] { return sum_of_squares(model); });
  nn::serializers::save_npz(folder / "all.npz", adam);
  nn::serializers::load_npz(folder / "all.npz", other);
  BOOST_TEST(other.states("/l1/W").size() == 2u);
  BOOST_TEST(same_bits(other.states("/l1/W")[0], adam.states("/l1/W")[0]));
}

BOOST_AUTO_TEST_SUITE_END()
