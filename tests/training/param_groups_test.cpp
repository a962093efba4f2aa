// Parameter groups: which parameters belong to one, whose values count, schedules, hooks, snapshots, captured work. The
// trajectories of groups are in optimizer_test.cpp.
#include <catena/training/param_group.h>

#include <cmath>

#include <catena/autograd/capture.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/nn/serializers/npz.h>
#include <catena/tests/support/regression.h>
#include <catena/tests/support/training_fixtures.h>
#include <catena/training/extensions.h>
#include <catena/training/lbfgs.h>
#include <catena/training/optimizer_hooks.h>
#include <catena/training/optimizers.h>
#include <catena/training/schedules.h>
#include <catena/training/updater.h>

using namespace test;
using namespace training;
using Doubles = std::vector<double>;

namespace {

const auto each = boost::test_tools::per_element();

struct Encoder : nn::Chain {
  nn::Linear l1{2, 2}, l2{2, 2};
  NN_MEMBERS(l1, l2)
};
struct Net : nn::Chain {
  Encoder encoder;
  nn::Linear head{2, 1};
  NN_MEMBERS(encoder, head)
  void give_grads(float g = 1) {
    for (Variable p : params()) p.set_grad(autograd::full_like(p.data(), g));
  }
};

std::vector<std::string> paths(const ParamGroup& group) {
  std::vector<std::string> result;
  for (const nn::NamedParam& p : group.namedparams()) result.push_back(p.path);
  return result;
}
using Paths = std::vector<std::string>;

// How far the elements of each parameter move in one update with gradients of 1.
std::map<std::string, double> steps(Net& model, Optimizer& optimizer) {
  std::map<std::string, double> result;
  for (const nn::NamedParam& p : model.namedparams()) {
    Variable(p.param).set_data(autograd::zeros_like(p.param.data()));
    result[p.path] = 0;
  }
  model.give_grads();
  optimizer.update();
  for (const nn::NamedParam& p : model.namedparams()) result[p.path] = values(p.param.data())[0];
  return result;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(param_groups)

BOOST_AUTO_TEST_CASE(what_belongs_to_a_group) {
  Net model;
  AdamW optimizer;
  optimizer.setup(model);
  BOOST_TEST(optimizer.param_groups().size() == 1u);  // the optimizer itself
  const ParamGroup biases = optimizer.add_param_group({.match = "*/b", .hyperparams = {{"weight_decay_rate", 0}}});
  BOOST_TEST(paths(biases) == (Paths{"/encoder/l1/b", "/encoder/l2/b", "/head/b"}), each);
  BOOST_TEST(biases.name() == "0");
  BOOST_TEST(biases.get_hyper("weight_decay_rate") == 0);
  BOOST_TEST(biases.has_hyper("weight_decay_rate"));
  BOOST_TEST(biases.get_hyper("alpha") == 0.001);  // the optimizer's
  BOOST_TEST(!biases.has_hyper("alpha"));
  const ParamGroup below = optimizer.add_param_group({.match = "encoder", .name = "encoder"});
  BOOST_TEST(below.params().size() == 4u);
  const ParamGroup two = optimizer.add_param_group({.match = {"/encoder/l1/W", "head/?"}});
  BOOST_TEST(paths(two) == (Paths{"/encoder/l1/W", "/head/W", "/head/b"}), each);
  const ParamGroup matrices = optimizer.add_param_group(
      {.match = "encoder/*", .select = [](const std::string&, const Variable& p) { return p.ndim() == 2; }});
  BOOST_TEST(paths(matrices) == (Paths{"/encoder/l1/W", "/encoder/l2/W"}), each);
  const ParamGroup listed = optimizer.add_param_group({.params = model.head.params()});
  BOOST_TEST(paths(listed) == (Paths{"/head/W", "/head/b"}), each);
  BOOST_TEST(optimizer.param_groups().size() == 5u);
  BOOST_TEST(optimizer.param_group("encoder").params().size() == 4u);
  BOOST_TEST(&listed.optimizer() == &optimizer);
}

// The number of groups of before, or the next one that is not in use; rules of single parameters do not count.
BOOST_AUTO_TEST_CASE(names_by_default) {
  Net model;
  SGD optimizer;
  optimizer.setup(model);
  optimizer.update_rule("/head/b").set_hyper("lr", 1);
  BOOST_TEST(optimizer.add_param_group({.match = "*/b"}).name() == "0");
  optimizer.add_param_group({.match = "*/b", .name = "2"});
  BOOST_TEST(optimizer.add_param_group({.match = "*/W"}).name() == "3");
}

// Each value is that of the last group that has it.
BOOST_AUTO_TEST_CASE(later_groups_win) {
  Net model;
  SGD optimizer({.lr = 0.5});
  optimizer.setup(model);
  ParamGroup encoder = optimizer.add_param_group({.match = "encoder/*", .hyperparams = {{"lr", 0.25}}});
  optimizer.add_param_group({.match = "*/b", .hyperparams = {{"lr", 0.125}}});
  std::map<std::string, double> moved = steps(model, optimizer);
  BOOST_TEST(moved["/head/W"] == -0.5);
  BOOST_TEST(moved["/head/b"] == -0.125);
  BOOST_TEST(moved["/encoder/l1/W"] == -0.25);
  BOOST_TEST(moved["/encoder/l2/b"] == -0.125);
  encoder.set_hyper("lr", 1);
  optimizer.set_hyper("lr", 2);
  moved = steps(model, optimizer);
  BOOST_TEST(moved["/head/W"] == -2);
  BOOST_TEST(moved["/encoder/l1/W"] == -1);
  BOOST_TEST(moved["/encoder/l1/b"] == -0.125);
  BOOST_TEST(optimizer.lr() == 2);
  BOOST_TEST(optimizer.t() == 2);
}

BOOST_AUTO_TEST_CASE(a_model_that_has_no_parameters_any_more) {
  struct Emptied : nn::Chain {
    std::optional<nn::Linear> only{std::in_place, 2, 2};
    NN_MEMBERS(only)
  } model;
  SGD optimizer;
  optimizer.setup(model);
  model.only.reset();
  BOOST_TEST(has(message_of<catena::KeyError>([&] { optimizer.add_param_group({.match = "only"}); }),
                 "no parameter of the model belongs to the group 0: only (it has none)"));
}

// A predicate of the shape waits for the shape, and members that appear later join.
BOOST_AUTO_TEST_CASE(parameters_of_unknown_shape_and_new_ones) {
  struct Growing : nn::Chain {
    nn::Linear first{3};
    std::optional<nn::Linear> second;
    NN_MEMBERS(first, second)
  } model;
  SGD optimizer({.lr = 1});
  optimizer.setup(model);
  const ParamGroup group = optimizer.add_param_group(
      {.select = [](const std::string&, const Variable& p) { return p.ndim() == 2; }, .hyperparams = {{"lr", 0.5}}});
  BOOST_TEST(group.params().empty());
  optimizer.update([&] { return autograd::sum(model.first(Variable(autograd::arrays::ones({1, 2})))); });
  BOOST_TEST(paths(group) == Paths{"/first/W"}, each);
  BOOST_TEST(values(model.first.b->data())[0] == -1);
  model.second.emplace(2, 2);
  BOOST_TEST(paths(group) == (Paths{"/first/W", "/second/W"}), each);
}

BOOST_AUTO_TEST_CASE(errors) {
  Net model, other;
  AdamW optimizer;
  BOOST_TEST(has(message_of<catena::RuntimeError>([&] { optimizer.add_param_group({.match = "*"}); }), "call setup"));
  optimizer.setup(model);
  BOOST_TEST(has(message_of<catena::ValueError>([&] {
                   optimizer.add_param_group({.hyperparams = {{"alpha", 1}}});
                 }),
                 "give match, select or params"));
  BOOST_TEST(has(message_of<catena::KeyError>([&] { optimizer.add_param_group({.match = "nothing"}); }), "nothing"));
  BOOST_TEST(has(message_of<catena::KeyError>([&] {
                   optimizer.add_param_group({.match = "*", .hyperparams = {{"weight_decay", 0}}});
                 }),
                 "weight_decay_rate"));
  BOOST_TEST(has(message_of<catena::KeyError>([&] {
                   optimizer.add_param_group({.match = "*", .hyperparams = {{"lr", 0}}});
                 }),
                 "lr follows from others"));
  BOOST_TEST(has(message_of<catena::KeyError>([&] { optimizer.add_param_group({.params = other.head.params()}); }),
                 "not in the target"));
  BOOST_CHECK_THROW(optimizer.add_param_group({.match = "*", .name = "a/b"}), catena::ValueError);
  BOOST_TEST(optimizer.param_groups().size() == 1u);
  BOOST_TEST(optimizer.param_groups()[0].name().empty());
  ParamGroup group = optimizer.add_param_group({.match = "*", .name = "all"});
  BOOST_TEST(has(message_of<catena::KeyError>([&] { optimizer.add_param_group({.match = "*", .name = "all"}); }),
                 "a group named all already"));
  BOOST_TEST(has(message_of<catena::KeyError>([&] { optimizer.param_group("any"); }), "(there are: all)"));
  BOOST_CHECK_THROW(group.set_hyper("nothing", 1), catena::KeyError);
  BOOST_CHECK_THROW(group.get_hyper("nothing"), catena::KeyError);
  optimizer.setup(other);  // forgets the groups
  BOOST_TEST(optimizer.param_groups().size() == 1u);
  BOOST_TEST(optimizer.param_groups()[0].name().empty());
  BOOST_TEST(has(message_of<catena::RuntimeError>([&] { group.set_hyper("alpha", 1); }), "setup has started it anew"));
  LBFGS lbfgs;
  lbfgs.setup(model);
  BOOST_TEST(has(message_of<catena::ValueError>([&] { lbfgs.add_param_group({.match = "*"}); }),
                 "LBFGS has no parameter groups: a step moves all parameters along one direction"));
  BOOST_CHECK_THROW(lbfgs.update_rule("/head/W"), catena::ValueError);
}

namespace {

// Their results are those of separate optimizers, bit by bit.
template <class O> void compare_with_separate_optimizers(const char* hyper, double value) {
  const auto grads = [](Net& model, int step) {
    int k = 0;
    for (Variable p : model.params())
      p.set_grad(p.data() * 0.5 + std::sin(double(step + 7 * k++)) * autograd::ones_like(p.data()));
  };
  autograd::seed(1);
  Net together;
  Net apart = together;
  O both, plain, own;
  both.setup(together);
  both.add_param_group({.match = "encoder", .hyperparams = {{hyper, value}}});
  own.set_hyper(hyper, value);
  own.setup(apart.encoder);
  plain.setup(apart.head);
  for (int step = 0; step < 5; ++step) {
    grads(together, step);
    grads(apart, step);
    both.update();
    own.update();
    plain.update();
  }
  const auto a = together.params(), b = apart.params();
  for (std::size_t i = 0; i < a.size(); ++i) BOOST_TEST(same_bits(a[i].data(), b[i].data()), both.rule().name << i);
}

}  // namespace

BOOST_AUTO_TEST_CASE(every_optimizer_has_groups) {
  compare_with_separate_optimizers<SGD>("lr", 0.2);
  compare_with_separate_optimizers<MomentumSGD>("momentum", 0.5);
  compare_with_separate_optimizers<NesterovAG>("lr", 0.2);
  compare_with_separate_optimizers<AdaGrad>("lr", 0.2);
  compare_with_separate_optimizers<AdaDelta>("rho", 0.5);
  compare_with_separate_optimizers<Adam>("alpha", 0.2);
  compare_with_separate_optimizers<RMSprop>("alpha", 0.5);
  compare_with_separate_optimizers<RMSpropGraves>("lr", 0.2);
  compare_with_separate_optimizers<SMORMS3>("lr", 0.2);
  compare_with_separate_optimizers<CorrectedMomentumSGD>("lr", 0.2);
  compare_with_separate_optimizers<AdamW>("weight_decay_rate", 0.5);
  compare_with_separate_optimizers<AMSGrad>("beta2", 0.5);
  compare_with_separate_optimizers<AMSBound>("gamma", 0.1);
  compare_with_separate_optimizers<RAdam>("beta2", 0.9);
  compare_with_separate_optimizers<Adamax>("beta2", 0.5);
  compare_with_separate_optimizers<MSVAG>("beta", 0.5);
  compare_with_separate_optimizers<Lion>("lr", 0.1);
  compare_with_separate_optimizers<LAMB>("weight_decay_rate", 0.5);
  compare_with_separate_optimizers<Adafactor>("lr", 0.2);
  compare_with_separate_optimizers<Muon>("momentum", 0.5);
}

BOOST_AUTO_TEST_CASE(an_optimizer_of_ones_own_reads_the_values_of_the_parameter) {
  struct Plain : Optimizer {
    Plain() : Optimizer({.name = "Plain", .hyper = {{"lr", 1.0}}}) {}
    void update_one(Variable& param, std::span<Array>) override {
      autograd::assign(param.data(), param.data() - param.grad() * lr());
    }
  } optimizer;
  Net model;
  optimizer.setup(model);
  optimizer.add_param_group({.match = "*/b", .hyperparams = {{"lr", 0.5}}});
  std::map<std::string, double> moved = steps(model, optimizer);
  BOOST_TEST(moved["/head/b"] == -0.5);
  BOOST_TEST(moved["/head/W"] == -1);
  BOOST_TEST(optimizer.lr() == 1);
}

// ---- schedules ----------------------------------------------------------------------------------
BOOST_AUTO_TEST_CASE(schedulers) {
  Net model;
  SGD optimizer({.lr = 1});
  optimizer.setup(model);
  ParamGroup encoder = optimizer.add_param_group({.match = "encoder", .hyperparams = {{"lr", 8}}, .name = "encoder"});
  const ParamGroup head = optimizer.add_param_group({.match = "head", .name = "head"});
  Scheduler all(optimizer, schedules::exponential(0.5));
  all.step();
  BOOST_TEST(optimizer.lr() == 0.5);
  BOOST_TEST(encoder.get_hyper("lr") == 4);
  BOOST_TEST(!head.has_hyper("lr"));
  Scheduler one(encoder, schedules::linear(1, 0, 4));
  one.step();
  BOOST_TEST(one.value() == 3);
  BOOST_TEST(optimizer.lr() == 0.5);
  BOOST_TEST(encoder.get_hyper("lr") == 3);

  const TemporaryFolder folder("group_schedule");
  nn::serializers::save_npz(folder / "all", all);
  nn::serializers::save_npz(folder / "one", one);
  SGD resumed({.lr = 7});
  Net other;
  resumed.setup(other);
  ParamGroup again = resumed.add_param_group({.match = "encoder", .hyperparams = {{"lr", 5}}, .name = "encoder"});
  Scheduler all_again(resumed, schedules::exponential(0.5)), one_again(again, schedules::linear(1, 0, 4));
  nn::serializers::load_npz(folder / "all", all_again);
  all_again.step();
  BOOST_TEST(resumed.lr() == 0.25);
  BOOST_TEST(again.get_hyper("lr") == 2);
  nn::serializers::load_npz(folder / "one", one_again);
  one_again.step();
  BOOST_TEST(again.get_hyper("lr") == 2);

  // A file of an optimizer without the group: its rate goes on from the one with which it was added.
  SGD alone({.lr = 8});
  Net without;
  alone.setup(without);
  Scheduler of_all(alone, schedules::exponential(0.5));
  of_all.step();
  nn::serializers::save_npz(folder / "alone", of_all);
  SGD grouped({.lr = 7});
  Net with;
  grouped.setup(with);
  const ParamGroup added = grouped.add_param_group({.match = "encoder", .hyperparams = {{"lr", 5}}, .name = "encoder"});
  Scheduler continued(grouped, schedules::exponential(0.5));
  nn::serializers::load_npz(folder / "alone", continued);
  BOOST_TEST(grouped.lr() == 4);
  BOOST_TEST(added.get_hyper("lr") == 2.5);
  BOOST_TEST(one_again.t() == 2);
  PlateauScheduler plateau(optimizer, {.factor = 0.5, .patience = 0});
  plateau.step(1);
  plateau.step(1);
  BOOST_TEST(optimizer.lr() == 0.25);
  BOOST_TEST(encoder.get_hyper("lr") == 1.5);
  nn::serializers::save_npz(folder / "plateau", plateau);
  PlateauScheduler plateau_again(resumed, {.factor = 0.5, .patience = 0});
  nn::serializers::load_npz(folder / "plateau", plateau_again);
  BOOST_TEST(again.get_hyper("lr") == 1.5);
}

namespace {

// Trains with a schedule of the group of biases, or of all; returns the parameters.
Doubles trained(int iterations, const std::string& folder, const std::string& only, const std::string& resume) {
  autograd::seed(2);
  Regression model;
  AdamW optimizer({.alpha = 0.5});
  optimizer.setup(model);
  ParamGroup biases = optimizer.add_param_group({.match = "*/b", .hyperparams = {{"alpha", 0.25}}, .name = "biases"});
  Trainer trainer(StandardUpdater(SerialIterator(regression_data(), 2, {.shuffle = false}), optimizer),
                  {double(iterations), iteration}, folder);
  trainer.extend(ScheduleShift(schedules::exponential(0.5), {.group = only}));
  trainer.extend(Snapshot({.filename = "s", .trigger = {3, iteration}}));
  // Changed by the program, so that the snapshot has it.
  trainer.extend([&](Trainer&) { biases.set_hyper("beta1", biases.get_hyper("beta1") * 0.9); });
  if (!resume.empty()) nn::serializers::load_npz(resume, trainer);
  trainer.run();
  Doubles result = values(model.l.W.data());
  result.push_back(values(model.l.b->data())[0]);
  result.push_back(optimizer.get_hyper("alpha"));
  result.push_back(biases.get_hyper("alpha"));
  result.push_back(biases.get_hyper("beta1"));
  return result;
}

}  // namespace

BOOST_AUTO_TEST_CASE(shifts_and_snapshots_of_a_training) {
  for (const std::string only : {"", "biases"}) {
    const TemporaryFolder folder("groups"), second("groups_resumed");
    const Doubles whole = trained(5, folder.path.string(), only, "");
    BOOST_TEST(whole[4] == (only.empty() ? 0.5 / 32 : 0.5));
    BOOST_TEST(whole[5] == 0.25 / 32);
    trained(3, second.path.string(), only, "");
    const catena::NpzReader npz("test", second / "s");
    BOOST_TEST(npz.contains("updater/_catena/optimizer:main/groups/biases/beta1"));
    BOOST_TEST(!npz.contains("updater/_catena/optimizer:main/groups/biases/eps"));
    BOOST_TEST(trained(5, second.path.string(), only, second / "s") == whole, each);
  }
}

BOOST_AUTO_TEST_CASE(files_with_groups) {
  const TemporaryFolder folder("groups");
  Net model, other;
  SGD optimizer, without, with;
  optimizer.setup(model);
  without.setup(other);
  with.setup(other);
  optimizer.add_param_group({.match = "*/b", .hyperparams = {{"lr", 4}}, .name = "biases"}).set_hyper("lr", 2);
  struct Hyper {
    Optimizer& optimizer;
    void serialize(nn::Serializer& s) { optimizer.serialize_hyper(s); }
  } saved{optimizer}, loaded{without}, into{with};
  nn::serializers::save_npz(folder / "h", saved);
  {
    const Warnings warnings;
    nn::serializers::load_npz(folder / "h", loaded);
    BOOST_TEST(warnings.texts.size() == 1u);
    BOOST_TEST(has(warnings.texts.at(0), "a parameter group biases, which this optimizer does not have"));
  }
  ParamGroup group = with.add_param_group({.match = "head", .hyperparams = {{"lr", 4}}, .name = "biases"});
  nn::serializers::load_npz(folder / "h", into);
  BOOST_TEST(group.get_hyper("lr") == 2);
}

// ---- captured work and loss scaling -------------------------------------------------------------
BOOST_AUTO_TEST_CASE(replays_use_the_present_values) {
  Net model, plain;
  plain = model;
  Adam captured({.alpha = 0.5}), by_hand({.alpha = 0.5});
  captured.setup(model);
  by_hand.setup(plain);
  ParamGroup a = captured.add_param_group({.match = "*/b", .hyperparams = {{"alpha", 0.25}}});
  ParamGroup b = by_hand.add_param_group({.match = "*/b", .hyperparams = {{"alpha", 0.25}}});
  model.give_grads();
  plain.give_grads();
  const auto step = [&] { captured.update(); };
  step();
  autograd::CapturedWork work(step);
  for (int i = 0; i < 2; ++i) by_hand.update();
  for (int i = 0; i < 3; ++i) {
    a.set_hyper("alpha", 0.125 * i);
    b.set_hyper("alpha", 0.125 * i);
    work.replay();
    by_hand.update();
  }
  BOOST_TEST(captured.t() == 5);
  const auto p = model.params(), q = plain.params();
  for (std::size_t i = 0; i < p.size(); ++i) BOOST_TEST(same_bits(p[i].data(), q[i].data()));
}

BOOST_AUTO_TEST_CASE(with_loss_scaling) {
  Net model;
  SGD optimizer({.lr = 1});
  optimizer.setup(model);
  optimizer.loss_scaling(1000, 4);
  optimizer.add_param_group({.match = "*/b", .hyperparams = {{"lr", 0.5}}});
  std::map<std::string, double> moved = steps(model, optimizer);  // the gradients count as scaled ones
  BOOST_TEST(moved["/head/b"] == -0.125);
  BOOST_TEST(moved["/head/W"] == -0.25);
}

// ---- hooks --------------------------------------------------------------------------------------
BOOST_AUTO_TEST_CASE(hooks_of_a_group) {
  Net model;
  SGD optimizer({.lr = 1});
  optimizer.setup(model);
  ParamGroup weights = optimizer.add_param_group({.match = "*/W"});
  weights.add_hook(WeightDecay(0.5));
  for (Variable p : model.params()) p.set_data(autograd::full_like(p.data(), 2));
  model.give_grads(0);
  optimizer.update();
  BOOST_TEST(values(model.head.W.data())[0] == 1);
  BOOST_TEST(values(model.head.b->data())[0] == 2);
  BOOST_CHECK_THROW(weights.add_hook(WeightDecay(1)), catena::KeyError);
  BOOST_CHECK_THROW(weights.add_hook(Hook(), "null"), catena::TypeError);
  BOOST_CHECK_THROW(weights.add_hook(ParamHook(), "null"), catena::TypeError);
  weights.remove_hook("WeightDecay");
  BOOST_CHECK_THROW(weights.remove_hook("WeightDecay"), catena::KeyError);
  // The norm of clipping is that of the group: 2 sqrt(2) for the weights of the head, which are two.
  ParamGroup head = optimizer.add_param_group({.params = {model.head.W}});
  head.add_hook(GradientClipping(1));
  model.give_grads(2);
  optimizer.update();
  BOOST_TEST(values(model.head.W.grad())[0] == std::sqrt(0.5), boost::test_tools::tolerance(1e-6));
  BOOST_TEST(values(model.encoder.l1.W.grad())[0] == 2);
}

BOOST_AUTO_TEST_SUITE_END()
