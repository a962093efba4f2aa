// Optimizers of lists and groups of parameters, as PyTorch's constructors take them, and options by PyTorch's names.
// One step of a rule without a state is p - lr g.
#include <cmath>

#include <catena/autograd/debug.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/nn/serializers/npz.h>
#include <catena/tests/support/training_fixtures.h>
#include <catena/training/lbfgs.h>
#include <catena/training/optimizer_hooks.h>
#include <catena/training/optimizers.h>

using namespace test;
using namespace training;
using Doubles = std::vector<double>;

namespace {

const auto each = boost::test_tools::per_element();

struct Two : nn::Chain {
  nn::Linear a{1, 1, {.nobias = true}}, b{1, 1, {.nobias = true}};
  NN_MEMBERS(a, b)
  Two() { set(1); }
  void set(float value) {
    for (const Variable& w : {Variable(a.W), Variable(b.W)}) autograd::fill(w.data(), value);
  }
  Variable operator()(const Variable& x) { return autograd::sum(b(a(x))); }
  Doubles weights() const { return {values(a.W.data())[0], values(b.W.data())[0]}; }
};
// Both weights are 1, and so are both gradients for x = 1.
Array one() { return floats({1}, {1, 1}); }

}  // namespace

BOOST_AUTO_TEST_SUITE(parameter_lists)

BOOST_AUTO_TEST_CASE(only_the_listed_ones_are_updated) {
  const Warnings warnings;
  Two model;
  SGD sgd(model.b.parameters(), {.lr = 0.25});
  model(one()).backward();
  sgd.step();
  BOOST_TEST(model.weights() == (Doubles{1, 0.75}), each);
  sgd.zero_grad();
  BOOST_TEST(!model.b.W.grad());
  BOOST_TEST(bool(model.a.W.grad()));
  model.set(1);
  sgd.update([&] { return model(one()); });
  BOOST_TEST(model.weights() == (Doubles{1, 0.75}), each);
  BOOST_TEST(warnings.texts.empty());
  BOOST_TEST(sgd.target().namedparams()[0].path == "/0");
  BOOST_TEST(sgd.target().params()[0].is_same(model.b.W));
  // A list with one parameter twice, and one of the options by default.
  MomentumSGD twice(Variables{model.a.W, model.b.W, model.a.W});
  BOOST_TEST(twice.target().params().size() == 2);
  SGD later;
  later.setup(model.parameters());
  BOOST_TEST(later.target().params().size() == 2);
}

BOOST_AUTO_TEST_CASE(errors) {
  Two model;
  const auto said = [](const Variables& params) { return message_of<catena::ValueError>([&] { SGD{params}; }); };
  BOOST_TEST(has(said({}), "SGD: the list of parameters is empty"));
  BOOST_TEST(has(said({model.a.W, Variable()}), "SGD: a variable of the list is null"));
  const auto grouped = [&](double lr, const Variables& params) {
    return message_of<catena::ValueError>([&] {
      SGD({{.params = model.a.parameters(), .lr = lr}, {.params = params}});
    });
  };
  BOOST_TEST(has(grouped(1, {}), "needs its `params`"));
  SGD kept(model);
  BOOST_CHECK_THROW(kept.setup(Variables()), catena::ValueError);
  BOOST_TEST(&kept.target() == &model);
}

BOOST_AUTO_TEST_CASE(groups_of_the_constructor) {
  Two model;
  SGD sgd({{.params = model.a.parameters(), .lr = 0.5}, {.params = model.b.parameters()}}, {.lr = 0.25});
  model(one()).backward();
  sgd.step();
  BOOST_TEST(model.weights() == (Doubles{0.5, 0.75}), each);
  BOOST_TEST(sgd.param_groups().size() == 2);
  BOOST_TEST(sgd.param_group("0").get_hyper("lr") == 0.5);
  BOOST_TEST(!sgd.param_group("1").has_hyper("lr"));
  // The rate of Adam is alpha; AdaDelta has none.
  AdamW adam({{.params = model.a.parameters(), .lr = 0.5, .hyperparams = {{"weight_decay_rate", 0}}}}, {.lr = 0.25});
  BOOST_TEST(adam.param_group("0").get_hyper("alpha") == 0.5);
  BOOST_TEST(adam.param_group("0").get_hyper("weight_decay_rate") == 0);
  BOOST_TEST(adam.get_hyper("alpha") == 0.25);
  BOOST_CHECK_THROW(AdaDelta({{.params = model.a.parameters(), .lr = 0.5}}), catena::KeyError);
  // The hyperparameter of that name counts.
  ParamGroup both = sgd.add_param_group({.params = model.b.parameters(), .lr = 2, .hyperparams = {{"lr", 3}}});
  BOOST_TEST(both.get_hyper("lr") == 3);
}

// The states have the paths of the list.
BOOST_AUTO_TEST_CASE(files) {
  const TemporaryFolder folder("parameter_lists");
  const std::string path = (folder.path / "optimizer.npz").string();
  Two model;
  SGD saved(model.parameters(), {.lr = 0.25, .momentum = 0.5});
  model(one()).backward();
  saved.step();
  nn::save_npz(path, saved);
  SGD loaded(model.parameters(), {.lr = 0.25, .momentum = 0.5});
  nn::load_npz(path, loaded);
  BOOST_TEST(loaded.t() == 1);
  BOOST_TEST(values(loaded.states("/1")[0]) == (Doubles{-1}), each);
}

// Every setup leaves the rate of the options. It counts after the hooks, among which may be a WeightDecay as well.
BOOST_AUTO_TEST_CASE(weight_decay_of_the_options) {
  Two model, other;
  SGD sgd(model, {.lr = 0.5, .weight_decay = 0.25});
  model(one()).backward();
  sgd.step();
  BOOST_TEST(model.weights() == (Doubles{0.375, 0.375}), each);  // 1 - 0.5 (1 + 0.25)
  sgd.setup(other);
  other(one()).backward();
  sgd.step();
  BOOST_TEST(other.weights() == (Doubles{0.375, 0.375}), each);
  const auto next_weight = [&] {
    other.set(1);
    sgd.update([&] { return other(one()); });
    return other.weights()[0];
  };
  sgd.add_hook(GradientHardClipping(-0.5, 0.5));
  BOOST_TEST(next_weight() == 0.625);  // 1 - 0.5 (0.5 + 0.25)
  sgd.remove_hook("GradientHardClipping");
  sgd.add_hook(WeightDecay(0.5));
  BOOST_TEST(next_weight() == 0.125);  // 1 - 0.5 (1 + 0.5 + 0.25)
  // Without a rate, an infinite weight does not make a gradient of 0 NaN.
  SGD without(model.a.parameters());
  model.set(INFINITY);
  model.zerograds();
  without.update();
  BOOST_TEST(model.weights()[0] == INFINITY);
}

BOOST_AUTO_TEST_CASE(weight_decay_of_groups) {
  for (const double momentum : {0.0, 0.5}) {
    Two model;
    SGD sgd({{.params = model.a.parameters(), .hyperparams = {{"weight_decay", 0}}}, {.params = model.b.parameters()}},
            {.lr = 0.5, .momentum = momentum, .weight_decay = 0.25});
    model(one()).backward();
    sgd.step();
    BOOST_TEST(model.weights() == (Doubles{0.5, 0.375}), each);
  }
  // The first step of Adam is alpha, whatever the gradient, unless it is 0.
  for (const AdamConvention convention : {AdamConvention::pytorch, AdamConvention::chainer}) {
    Two model;
    Adam adam(model, {.alpha = 0.5, .weight_decay = 0.25, .convention = convention});
    adam.add_param_group({.match = "a", .hyperparams = {{"weight_decay", 0}}});
    model.zerograds();
    adam.update();
    BOOST_TEST(model.weights()[0] == 1);
    BOOST_TEST(model.weights()[1] == 0.5, boost::test_tools::tolerance(1e-5));
  }
}

BOOST_AUTO_TEST_CASE(options_by_the_names_of_pytorch) {
  Two model;
  const Adam adam(model, {.lr = 0.5, .betas = {0.25, 0.75}, .eps = 0.125});
  BOOST_TEST(adam.get_hyper("alpha") == 0.5);
  BOOST_TEST(adam.get_hyper("beta1") == 0.25);
  BOOST_TEST(adam.get_hyper("beta2") == 0.75);
  BOOST_TEST(adam.get_hyper("eps") == 0.125);
  const AdamW adam_w(model.parameters(), {.lr = 0.5, .weight_decay = 0.25});
  BOOST_TEST(adam_w.get_hyper("alpha") == 0.5);
  BOOST_TEST(adam_w.get_hyper("beta2") == 0.999);
  BOOST_TEST(adam_w.get_hyper("weight_decay_rate") == 0.25);
  BOOST_TEST(AdamW({.lr = 0.5}).get_hyper("weight_decay_rate") == AdamW().get_hyper("weight_decay_rate"));
  BOOST_TEST(Adam({.eps = 0.5}).get_hyper("eps") == 0.5);  // suits both kinds of options
  BOOST_TEST(has(message_of<catena::ValueError>([&] { SGD(model, {.nesterov = true}); }), "nesterov needs a momentum"));
}

BOOST_AUTO_TEST_SUITE_END()
