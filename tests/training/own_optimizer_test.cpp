// Optimizers that users write over arrays, hyperparameters by position, and hyperparameters in snapshots.
#include <catena/training/optimizer.h>

#include <cmath>

#include <catena/autograd/capture.h>
#include <catena/nn/serializers/npz.h>
#include <catena/tests/support/training_fixtures.h>
#include <catena/training/extensions.h>
#include <catena/training/optimizer_hooks.h>
#include <catena/training/optimizers.h>

using namespace test;
using training::Optimizer;

namespace {

// Momentum by hand, with a second state of another shape and dtype: how often the parameter was updated.
class Momentum : public Optimizer {
 public:
  explicit Momentum(double lr, double momentum = 0.9)
      : Optimizer({.name = "Momentum", .hyper = {{"lr", lr}, {"momentum", momentum}}, .states = {{"v"}, {"n"}}}) {}

 protected:
  void init_state(const Variable& param, std::span<Array> states) override {
    Optimizer::init_state(param, states);
    states[1] = autograd::arrays::zeros({}, Dtype::int64, param.device());
  }
  void update_one(Variable& param, std::span<Array> states) override {
    catena::check<catena::ValueError>(lr() > 0, "update_one", "no rate");
    states[0] = states[0] * get_hyper("momentum") - param.grad() * lr();
    states[1] += 1;
    autograd::assign(param.data(), param.data() + states[0]);
  }
};

class Unwritten : public Optimizer {
 public:
  Unwritten() : Optimizer({.name = "Unwritten"}) {}
};

struct Net : nn::Chain {
  nn::Linear l1, l2{3, 2};
  Net() : l1(3) {}  // of unknown input size
  NN_MEMBERS(l1, l2)
  Variable operator()(const Variable& x) { return l2(nn::relu(l1(x))); }
};
Variable inputs() { return Variable(floats({1, -2, 3, .5f, 1.5f, -1, 2, 2, -3, 0, 1, 0}, {3, 4})); }
Variable labels() { return Variable(ints({0, 1, 1})); }

template <class O> std::vector<Array> trained(O& optimizer, int steps) {
  autograd::seed(3);
  nn::Classifier<Net> model{Net()};
  optimizer.setup(model);
  optimizer.add_hook(training::WeightDecay(0.01));
  for (int i = 0; i < steps; ++i) optimizer.update(model, inputs(), labels());
  std::vector<Array> result;
  for (const Variable& p : model.params()) result.push_back(autograd::copy(p.data()));
  return result;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(own_optimizers)

BOOST_AUTO_TEST_CASE(over_arrays_it_equals_the_built_in_one) {
  Momentum mine(0.1);
  training::MomentumSGD theirs(0.1, 0.9);
  const std::vector<Array> a = trained(mine, 5), b = trained(theirs, 5);
  BOOST_REQUIRE(a.size() == 4u);
  for (std::size_t i = 0; i < a.size(); ++i) check_close(a[i], b[i], 1e-6, 1e-5, std::to_string(i));
  BOOST_TEST(mine.t() == 5);
}

BOOST_AUTO_TEST_CASE(its_states_are_saved_and_loaded) {
  const TemporaryFolder folder("own_optimizer");
  nn::Linear model(2, 2), other(2, 2);
  Momentum first(0.1), second(0.1);
  first.setup(model);
  for (int i = 0; i < 3; ++i) {
    model.W.set_grad(floats({1, 2, 3, 4}, {2, 2}));
    first.update();  // b has no gradient: it counts as zeros
  }
  BOOST_TEST(autograd::item(first.states("/W")[1]).to_double() == 3);
  BOOST_TEST(values(first.states("/b")[0]) == (std::vector<double>{0, 0}), boost::test_tools::per_element());
  nn::serializers::save_npz(folder / "o", first);
  second.setup(other);
  nn::serializers::load_npz(folder / "o", second);
  BOOST_TEST(second.t() == 3);
  BOOST_TEST(same_bits(second.states("/W")[0], first.states("/W")[0]));
  BOOST_TEST(same_bits(second.states("/W")[1], first.states("/W")[1]));
}

BOOST_AUTO_TEST_CASE(errors) {
  nn::Linear model(1, 1);
  Unwritten unwritten;
  unwritten.setup(model);
  BOOST_TEST(message_of<catena::NotImplementedError>([&] { unwritten.update(); }) ==
             "Unwritten, parameter /W: Unwritten: the rule has no kernel, and the class does not override update_one");
  BOOST_TEST(unwritten.t() == 0);
  Momentum none(0);
  none.setup(model);
  BOOST_TEST(message_of<catena::ValueError>([&] { none.update(); }) == "Momentum, parameter /W: update_one: no rate");
  BOOST_TEST(none.t() == 0);
  struct Half : Optimizer {
    Half() : Optimizer({.name = "Half", .states = {{"a"}}}) {}
    void init_state(const Variable&, std::span<Array>) override {}
  } half;
  BOOST_TEST(
      has(message_of<catena::ValueError>([&] { half.setup(model); }), "left the state a of the parameter /W null"));
  struct NoBlock : Optimizer {
    NoBlock() : Optimizer({.name = "NoBlock", .kernel = &catena::kernels::sgd_update}) {}
  };
  BOOST_CHECK_THROW(NoBlock(), catena::ValueError);
}

BOOST_AUTO_TEST_CASE(hyperparameters_in_their_order) {
  BOOST_TEST(training::Adam(0.25).get_hyper("alpha") == 0.25);
  BOOST_TEST(training::Adam(0.25).get_hyper("beta1") == training::Adam().get_hyper("beta1"));
  BOOST_TEST(training::Adam(1).get_hyper("alpha") == 1);
  BOOST_TEST(training::SGD(0.5f).lr() == 0.5);
  BOOST_TEST(training::MomentumSGD(0.5, 0.25).get_hyper("momentum") == 0.25);
  BOOST_TEST(training::RMSpropGraves(1, 2, 3, 4).get_hyper("eps") == 4);
  BOOST_TEST(training::SMORMS3(0.5).lr() == 0.5);
  BOOST_TEST(training::AdaDelta(0.5, 0.25).get_hyper("eps") == 0.25);
}

BOOST_AUTO_TEST_CASE(changed_hyperparameters_are_in_the_snapshot) {
  const TemporaryFolder folder("hyper");
  const auto run = [&](training::Adam& adam, int iterations, const std::string& resume) {
    autograd::seed(1);
    nn::Classifier<nn::Linear> model(nn::Linear(2, 2));
    adam.setup(model);
    training::SerialIterator it(training::TupleDataset({autograd::arrays::ones({4, 2}), ints({0, 1, 0, 1})}), 2);
    training::Trainer trainer(training::StandardUpdater(it, adam), {double(iterations), training::iteration},
                              folder.path.string());
    // A schedule without state of its own.
    trainer.extend([&](training::Trainer&) { adam.set_hyper("alpha", adam.get_hyper("alpha") * 0.5); });
    trainer.extend(training::Snapshot({.filename = "s", .trigger = {3, training::iteration}}));
    if (!resume.empty()) nn::serializers::load_npz(resume, trainer);
    trainer.run();
    return values(model.predictor.W.data());
  };
  training::Adam whole(0.1, 0.8), first(0.1, 0.8), second(0.1, 0.7);
  const std::vector<double> expected = run(whole, 5, "");
  run(first, 3, "");
  const catena::NpzReader npz("test", folder / "s");
  BOOST_TEST(npz.contains("updater/_catena/optimizer:main/alpha"));
  BOOST_TEST(!npz.contains("updater/_catena/optimizer:main/beta1"));  // as the constructor has it
  run(second, 5, folder / "s");
  BOOST_TEST(second.get_hyper("alpha") == whole.get_hyper("alpha"));
  BOOST_TEST(second.get_hyper("beta1") == 0.7);  // the resuming program counts where training changed nothing
  training::Adam third(0.7, 0.8);
  run(first, 3, "");  // writes s anew, from its own changed rate
  training::Adam again(0.1, 0.8);
  run(again, 3, "");
  BOOST_TEST(run(third, 5, folder / "s") == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()
