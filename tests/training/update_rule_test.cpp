// The update of one parameter: its own hyperparameters, number of updates, hooks, and whether it is enabled; the timing
// of hooks.
#include <catena/training/param_group.h>

#include <cmath>

#include <catena/autograd/capture.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/nn/serializers/npz.h>
#include <catena/tests/support/training_fixtures.h>
#include <catena/training/optimizer_hooks.h>
#include <catena/training/optimizers.h>

using namespace test;
using namespace training;
using Doubles = std::vector<double>;

namespace {

const auto each = boost::test_tools::per_element();

struct Pair : nn::Link {
  nn::Parameter a{floats({1, 2}, {2})}, b{floats({3}, {1})};
  NN_MEMBERS(a, b)
  void give_grads(float g = 1) {
    a.set_grad(autograd::full_like(a.data(), g));
    b.set_grad(autograd::full_like(b.data(), g));
  }
};
struct Hyper {
  Optimizer& optimizer;
  void serialize(nn::Serializer& s) { optimizer.serialize_hyper(s); }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(update_rules)

BOOST_AUTO_TEST_CASE(own_hyperparameters) {
  Pair model;
  SGD optimizer({.lr = 1});
  optimizer.setup(model);
  ParamRule rule = optimizer.update_rule(model.a);
  BOOST_TEST(rule.path() == "/a");
  BOOST_TEST(rule.lr() == 1);
  optimizer.set_hyper("lr", 2);
  BOOST_TEST(rule.lr() == 2);  // falls back
  rule.set_hyper("lr", 0.5);
  BOOST_TEST(rule.get_hyper("lr") == 0.5);
  BOOST_TEST(optimizer.update_rule("b").lr() == 2);
  BOOST_TEST(optimizer.lr() == 2);
  // A group that is added later does not come before it.
  optimizer.add_param_group({.match = "*", .hyperparams = {{"lr", 4}}});
  BOOST_TEST(optimizer.param_groups().size() == 1u);
  model.give_grads();
  optimizer.update();
  BOOST_TEST(values(model.a.data()) == (Doubles{0.5, 1.5}), each);
  BOOST_TEST(values(model.b.data())[0] == -1);
  BOOST_TEST(has(message_of<catena::KeyError>([&] { rule.set_hyper("momentum", 1); }), "there are: lr"));
  BOOST_CHECK_THROW(optimizer.update_rule("/c"), catena::KeyError);
  BOOST_CHECK_THROW(optimizer.update_rule(Variable(autograd::arrays::ones({1}))), catena::KeyError);
  BOOST_CHECK_THROW(SGD().update_rule("/a"), catena::RuntimeError);

  const TemporaryFolder folder("rules");
  Hyper saved{optimizer};
  nn::serializers::save_npz(folder / "h", saved);
  Pair other;
  SGD resumed({.lr = 1});
  resumed.setup(other);
  resumed.add_param_group({.match = "*", .hyperparams = {{"lr", 4}}});
  Hyper loaded{resumed};
  nn::serializers::load_npz(folder / "h", loaded);
  BOOST_TEST(resumed.update_rule("/a").lr() == 0.5);
  BOOST_TEST(resumed.update_rule("/b").lr() == 4);
}

// A parameter that was frozen at first is updated as by an optimizer that begins there: PyTorch's step, Chainer's
// UpdateRule.t.
BOOST_AUTO_TEST_CASE(own_number_of_updates) {
  Pair model, fresh;
  Adam adam({.alpha = 0.5}), beginning({.alpha = 0.5});
  adam.setup(model);
  model.b.set_requires_grad(false);
  for (int i = 0; i < 3; ++i) {
    model.give_grads();
    adam.update();
  }
  BOOST_TEST(adam.update_rule("/b").t() == 0);
  model.b.set_requires_grad(true);
  beginning.setup(fresh);
  for (int i = 0; i < 2; ++i) {
    model.give_grads(i + 1);
    fresh.give_grads(i + 1);
    adam.update();
    beginning.update();
  }
  BOOST_TEST(adam.t() == 5);
  BOOST_TEST(adam.update_rule("/b").t() == 2);
  BOOST_TEST(adam.update_rule("/a").t() == 5);
  BOOST_TEST(same_bits(model.b.data(), fresh.b.data()));
  BOOST_TEST(adam.update_rule("/b").lr() == beginning.lr());

  const TemporaryFolder folder("own_t");
  nn::serializers::save_npz(folder / "m", model);
  nn::serializers::save_npz(folder / "o", adam);
  Pair other;
  Adam resumed({.alpha = 0.5});
  resumed.setup(other);
  nn::serializers::load_npz(folder / "m", other);
  nn::serializers::load_npz(folder / "o", resumed);
  BOOST_TEST(resumed.update_rule("/b").t() == 2);
  model.give_grads(3);
  other.give_grads(3);
  adam.update();
  resumed.update();
  BOOST_TEST(same_bits(model.b.data(), other.b.data()));
  BOOST_TEST(same_bits(model.a.data(), other.a.data()));
  resumed.set_t(9);
  BOOST_TEST(resumed.update_rule("/b").t() == 9);
}

BOOST_AUTO_TEST_CASE(own_number_of_updates_in_a_rule_without_a_kernel) {
  struct Counting : Optimizer {
    std::string seen;
    Counting() : Optimizer({.name = "Counting"}) {}
    void update_one(Variable&, std::span<Array>) override { seen += std::to_string(t()); }
  } optimizer;
  Pair model;
  optimizer.setup(model);
  optimizer.update_rule(model.a).set_enabled(false);
  model.give_grads();
  optimizer.update();
  optimizer.update_rule(model.a).set_enabled(true);
  optimizer.update();
  BOOST_TEST(optimizer.seen == "112");
  BOOST_TEST(optimizer.t() == 2);
}

BOOST_AUTO_TEST_CASE(a_parameter_that_is_not_enabled) {
  Pair model;
  MomentumSGD optimizer({.lr = 1, .momentum = 0.5});
  optimizer.setup(model);
  ParamRule rule = optimizer.update_rule(model.a);
  BOOST_TEST(rule.enabled());
  rule.set_enabled(false);
  optimizer.update([&] { return autograd::sum(model.a) * autograd::sum(model.b); });
  BOOST_TEST(values(model.a.data()) == (Doubles{1, 2}), each);
  BOOST_TEST(values(model.a.grad()) == (Doubles{3, 3}), each);  // has a gradient, unlike a frozen one
  BOOST_TEST(values(model.b.data())[0] == 0);
  BOOST_TEST(rule.t() == 0);
  BOOST_TEST(values(rule.state("v")) == (Doubles{0, 0}), each);
  BOOST_TEST(has(message_of<catena::KeyError>([&] { rule.state("m"); }), "states of MomentumSGD: v"));

  const TemporaryFolder folder("enabled");
  Hyper saved{optimizer};
  nn::serializers::save_npz(folder / "h", saved);
  Pair other;
  MomentumSGD resumed;
  resumed.setup(other);
  Hyper loaded{resumed};
  nn::serializers::load_npz(folder / "h", loaded);
  BOOST_TEST(!resumed.update_rule("/a").enabled());
  BOOST_TEST(resumed.update_rule("/b").enabled());
}

BOOST_AUTO_TEST_CASE(replays_count_for_the_parameters_that_they_update) {
  Pair model;
  Adam adam;
  adam.setup(model);
  ParamRule rule = adam.update_rule(model.a);
  rule.set_enabled(false);
  model.give_grads();
  const auto step = [&] { adam.update(); };
  step();
  autograd::CapturedWork work(step);
  for (int i = 0; i < 3; ++i) work.replay();
  BOOST_TEST(adam.t() == 5);
  BOOST_TEST(rule.t() == 0);
  BOOST_TEST(adam.update_rule(model.b).t() == 5);
}

// ---- hooks --------------------------------------------------------------------------------------
BOOST_AUTO_TEST_CASE(timing_and_order_of_hooks) {
  Pair model;
  SGD optimizer({.lr = 1});
  optimizer.setup(model);
  std::string order;
  const auto note = [&](const char* text) {
    return Hook([&order, text](Optimizer& o) { order += text + std::to_string(o.t()) + " "; });
  };
  optimizer.add_hook(note("post"), "post", HookTiming::post);
  optimizer.add_hook(note("pre"), "pre");
  ParamGroup group = optimizer.add_param_group({.match = "*"});
  ParamRule rule = optimizer.update_rule(model.b);
  rule.add_hook(note("rule"), "a hook");
  rule.add_hook(note("rule_post"), "another", HookTiming::post);
  group.add_hook(note("group"), "a hook");
  model.give_grads();
  optimizer.update();
  BOOST_TEST(order == "pre0 group0 rule0 post1 rule_post1 ");
  rule.remove_hook("a hook");
  optimizer.remove_hook("post");
  order.clear();
  optimizer.update();
  BOOST_TEST(order == "pre1 group1 rule_post2 ");
}

BOOST_AUTO_TEST_CASE(a_hook_adds_hooks_and_removes_itself) {
  Pair model;
  SGD optimizer;
  optimizer.setup(model);
  int once = 0, added = 0, last = 0;
  optimizer.add_hook(
      [&](Optimizer& o) {
        o.remove_hook("once");
        for (int i = 0; i < 8; ++i) o.add_hook([&](Optimizer&) { ++added; }, std::to_string(i));
        ++once;
      },
      "once");
  optimizer.add_hook([&](Optimizer&) { ++last; }, "last");
  model.give_grads();
  for (int i = 0; i < 2; ++i) optimizer.update();
  BOOST_TEST(once == 1);
  BOOST_TEST(added == 8);
  BOOST_TEST(last == 2);
}

BOOST_AUTO_TEST_CASE(hooks_for_each_parameter) {
  struct Halve {
    std::string name = "Halve";
    void operator()(ParamRule& rule, Variable& param) const {
      param.set_grad(param.grad() * (rule.path() == "/a" ? 0.5 : 0.25));
    }
  };
  Pair model;
  SGD optimizer({.lr = 1});
  optimizer.setup(model);
  optimizer.add_hook(Halve());
  std::string seen;
  optimizer.add_hook([&](ParamRule& rule, Variable&) { seen += rule.path() + std::to_string(rule.t()); }, "note",
                     HookTiming::post);
  model.give_grads(4);
  optimizer.update();
  BOOST_TEST(values(model.a.data()) == (Doubles{-1, 0}), each);
  BOOST_TEST(values(model.b.data())[0] == 2);
  BOOST_TEST(seen == "/a1/b1");
  model.b.set_requires_grad(false);
  optimizer.update_rule(model.a).add_hook(
      [&](ParamRule& rule, Variable& param) { seen += " own " + rule.path() + std::to_string(param.size()); }, "own");
  optimizer.update();
  BOOST_TEST(seen == "/a1/b1 own /a2/a2");  // not the frozen one
}

// Weights that a hook limits after each update.
BOOST_AUTO_TEST_CASE(a_hook_after_the_update_changes_parameters) {
  Pair model;
  SGD optimizer({.lr = 10});
  optimizer.setup(model);
  optimizer.update_rule(model.a).add_hook(
      [](ParamRule&, Variable& p) {
        autograd::assign(p.data(), autograd::apply(catena::kernels::maximum, {p.data(), -1}));
      },
      "at least -1", HookTiming::post);
  model.give_grads();
  optimizer.update();
  BOOST_TEST(values(model.a.data()) == (Doubles{-1, -1}), each);
  BOOST_TEST(values(model.b.data())[0] == -7);
}

// Against the formula in float64.
BOOST_AUTO_TEST_CASE(layer_wise_rates) {
  Pair model;
  SGD optimizer({.lr = 1});
  optimizer.setup(model);
  BOOST_CHECK_THROW(GradientLARS(-1), catena::ValueError);
  optimizer.add_hook(GradientLARS(2.5, 0.5, 1e-9));
  model.give_grads(2);
  optimizer.update();
  // |a| = sqrt(5) does not exceed the threshold, |b| = 3 does.
  BOOST_TEST(values(model.a.grad())[1] == 2 + 0.5 * 2, boost::test_tools::tolerance(1e-6));
  BOOST_TEST(values(model.b.grad())[0] == (2 + 0.5 * 3) * 3 / (2 + 0.5 * 3 + 1e-9), boost::test_tools::tolerance(1e-6));
}

BOOST_AUTO_TEST_SUITE_END()
