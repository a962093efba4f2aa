// Optimizers and their hooks: the reference's trajectories and states, order of a step, errors, files of the reference.
#include <catena/training/optimizer.h>

#include <cmath>

#include <catena/autograd/functions/reduction.h>
#include <catena/tests/support/framework_devices.h>
#include <catena/tests/support/optimizer_makers.h>
#include <catena/tests/support/training_fixtures.h>
#include <catena/training/optimizer_hooks.h>
#include <catena/training/optimizers.h>
#include <catena/training/schedules.h>

using namespace test;
using namespace training;
using json = test::Json;

namespace {

struct Params : nn::Link {
  nn::Parameter W, b, s;
  NN_MEMBERS(W, b, s)
};

std::unique_ptr<Optimizer> make_optimizer(const json& name, const json& args) {
  std::unique_ptr<Optimizer> optimizer = makers().at(name.get<std::string>())();
  for (const auto& [key, value] : args.items()) optimizer->set_hyper(key, value.get<double>());
  return optimizer;
}

void add_hook(Optimizer& o, const json& hook) {
  const std::string name = hook["hook"];
  const json& a = hook["args"];
  if (name == "WeightDecay") o.add_hook(WeightDecay(a[0]));
  else if (name == "Lasso") o.add_hook(Lasso(a[0]));
  else if (name == "GradientClipping") o.add_hook(GradientClipping(a[0]));
  else o.add_hook(GradientHardClipping(a[0], a[1]));
}

void add_groups(Optimizer& o, const json& groups) {
  for (const json& group : groups) {
    Hyperparams own;
    for (const auto& [name, value] : group[1].items()) own.emplace_back(name, value.get<double>());
    o.add_param_group({.match = group[0].get<std::string>(), .hyperparams = own});
  }
}

Array row(const Array& stacked, std::int64_t k) {
  Shape shape = stacked.shape();
  shape.erase(0);
  return autograd::reshape(autograd::slice(stacked, 0, k, k + 1), shape);
}

void run_case(const Golden& golden, const json& c) {
  auto array = [&](const json& key) { return to_array(golden.array(key.get<std::string>())); };
  Params target;
  const std::unique_ptr<Optimizer> optimizer = make_optimizer(c["optimizer"], c["args"]);
  for (const nn::NamedParam& p : target.namedparams()) Variable(p.param).set_data(array(c["params"][p.path.substr(1)]));
  optimizer->setup(target);
  for (const json& hook : c["hooks"]) add_hook(*optimizer, hook);
  if (c.contains("groups")) add_groups(*optimizer, c["groups"]);
  std::optional<Scheduler> scheduler;
  if (c.contains("schedule") && c["schedule"] == "cosine")
    scheduler.emplace(*optimizer, schedules::cosine(c["t"].get<double>()));
  const double atol = c["tolerance"][0], rtol = c["tolerance"][1];
  const std::int64_t steps = c["t"];
  for (std::int64_t k = 0; k < steps; ++k) {
    for (const nn::NamedParam& p : target.namedparams())
      Variable(p.param).set_grad(row(array(c["grads"][p.path.substr(1)]), k));
    optimizer->update();
    for (const nn::NamedParam& p : target.namedparams())
      check_close(p.param.data(), row(array(c["trajectory"][p.path.substr(1)]), k), atol, rtol,
                  p.path + " after step " + std::to_string(k + 1));
    if (scheduler) scheduler->step();
    const json& lr = c["lr_after"];
    if (lr.is_array() && !lr[std::size_t(k)].is_null())
      BOOST_TEST(std::fabs(optimizer->lr() - lr[std::size_t(k)].get<double>()) <=
                 1e-12 + 1e-9 * std::fabs(optimizer->lr()));
  }
  BOOST_TEST(optimizer->t() == steps);
  if (!c.contains("states")) return;
  int states = 0;
  for (const nn::NamedParam& p : target.namedparams()) {
    const std::vector<Array> own = optimizer->states(p.path);
    for (std::size_t k = 0; k < own.size(); ++k, ++states) {
      const Array stored = array(c["states"].at(p.path.substr(1) + "/" + optimizer->rule().states[k].name));
      // 0-d states became float64 in the reference, by NumPy's rules for scalars; ours keep the dtype of their
      // parameter.
      BOOST_TEST((own[k].dtype() == p.param.dtype()));
      check_close(own[k], stored.ndim() == 0 ? autograd::astype(stored, own[k].dtype()) : stored, atol, rtol,
                  p.path + " " + optimizer->rule().states[k].name);
    }
  }
  BOOST_TEST(states == int(c["states"].size()));
}

// One parameter p = {1, -2, 0.5} with the gradient {3, -4, 0.5}, one step of SGD with lr 1.
std::vector<double> after_hook(const Hook& hook) {
  Params target;
  target.W = nn::Parameter(floats({1, -2, 0.5f}, {3}));
  target.W.set_grad(floats({3, -4, 0.5f}, {3}));
  SGD sgd({.lr = 1.0});
  sgd.setup(target);
  sgd.add_hook(hook, "hook");
  sgd.update();
  return values(target.W.data());
}
void check_values(const std::vector<double>& actual, const std::vector<double>& expected) {
  BOOST_REQUIRE(actual.size() == expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) BOOST_TEST(std::fabs(actual[i] - expected[i]) < 2e-6);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(optimizers)

BOOST_AUTO_TEST_CASE(trajectories_of_the_reference) {
  const auto golden = Golden::open("optimizers");
  golden.for_each([&](const json& c) -> std::string {
    BOOST_TEST_CONTEXT(c["name"].get<std::string>()) { BOOST_CHECK_NO_THROW(run_case(golden, c)); }
    return {};
  });
}

// Optimizers that came later, against PyTorch and the formulas of the papers.
BOOST_AUTO_TEST_CASE(trajectories_of_later_optimizers) {
  const auto golden = Golden::open("torch_optimizers");
  golden.for_each([&](const json& c) -> std::string {
    BOOST_TEST_CONTEXT(c["name"].get<std::string>()) { BOOST_CHECK_NO_THROW(run_case(golden, c)); }
    return {};
  });
}

// Each parameter with hyperparameters of its own: groups of PyTorch's optimizers, and the formulas of the papers.
BOOST_AUTO_TEST_CASE(trajectories_of_parameter_groups) {
  const auto golden = Golden::open("torch_param_groups");
  golden.for_each([&](const json& c) -> std::string {
    BOOST_TEST_CONTEXT(c["name"].get<std::string>()) { BOOST_CHECK_NO_THROW(run_case(golden, c)); }
    return {};
  });
}

// The conformance values of the specification, which are independent of the stored cases.
BOOST_AUTO_TEST_CASE(conformance_after_four_steps) {
  const std::map<std::string, std::vector<double>> expected = {
      {"SGD", {.990000, -1.992000, .494000}},        {"MomentumSGD", {.981441, -1.981902, .482363}},
      {"NesterovAG", {.965967, -1.970141, .474314}}, {"AdaGrad", {.996573, -1.997216, .498178}},
      {"AdaDelta", {.975032, -1.981838, .489957}},   {"Adam", {.996116, -1.996000, .496404}},
      {"RMSprop", {.656844, -1.720711, .317399}},    {"RMSpropGraves", {.996360, -1.996768, .497478}},
      {"SMORMS3", {.994442, -1.995235, .497042}},
  };
  for (const auto& [name, after] : expected) {
    BOOST_TEST_CONTEXT(name) {
      Params target;
      target.W = nn::Parameter(floats({1, -2, 0.5f}, {3}));
      const std::unique_ptr<Optimizer> optimizer = makers().at(name)();
      optimizer->setup(target);
      for (int i = 0; i < 4; ++i) {
        target.W.set_grad(floats({.1f * float(i + 1), -.2f, .3f - .1f * float(i)}, {3}));
        optimizer->update();
      }
      check_values(values(target.W.data()), after);
    }
  }
}

BOOST_AUTO_TEST_CASE(conformance_end_to_end) {
  nn::Classifier<nn::Linear> model(nn::Linear(2, 2));
  model.predictor.W.set_data(floats({.1f, .2f, .3f, .4f}, {2, 2}));
  model.predictor.b->set_data(floats({.01f, -.02f}, {2}));
  Adam adam;
  adam.setup(model);
  const Variable x(floats({1, 2, -1, .5f, .3f, -.7f}, {3, 2})), t(ints({0, 1, 1}));
  const double losses[] = {.842713, .840838, .838965};
  for (const double expected : losses) {
    adam.update(model, x, t);
    BOOST_TEST(std::fabs(autograd::item(model.loss.data()).to_double() - expected) < 2e-6);
  }
  check_values(values(model.predictor.W.data()), {.103000, .203000, .297000, .397000});
  check_values(values(model.predictor.b->data()), {.0070001, -.0170001});
  BOOST_TEST(adam.t() == 3);
  BOOST_TEST(model.loss.creator() != nullptr);  // the graph can be drawn
  const Variable last = model.loss;
  adam.update([&] {
    BOOST_TEST(last.creator() == nullptr);  // until the next update begins
    return model(x, t);
  });
}

BOOST_AUTO_TEST_CASE(hooks_conformance) {
  check_values(after_hook(WeightDecay(.1)), {-2.1, 2.2, -0.05});
  check_values(after_hook(Lasso(.1)), {-2.1, 2.1, -0.1});
  check_values(after_hook(GradientClipping(1)), {0.402978, -1.203970, 0.400496});
  check_values(after_hook(GradientHardClipping(-1, 1)), {0, -1, 0});
}

BOOST_AUTO_TEST_CASE(clipping_leaves_small_null_and_nan_gradients) {
  for (const float g : {0.0f, 0.5f, NAN}) {
    Params target;
    target.W = nn::Parameter(floats({1}, {1}));
    target.W.set_grad(floats({g}, {1}));
    SGD sgd({.lr = 1.0});
    sgd.setup(target);
    sgd.add_hook(GradientClipping(1.0));
    sgd.update();
    if (std::isnan(g)) BOOST_TEST(std::isnan(values(target.W.data())[0]));
    else BOOST_TEST(values(target.W.data())[0] == 1 - g);
  }
}

// The norm 500 is in the range of float16, its square is not.
BOOST_AUTO_TEST_CASE(clipping_of_a_float16_gradient) {
  for (const Dtype t : {Dtype::float16, Dtype::bfloat16, Dtype::float32}) {
    Params target;
    target.W = nn::Parameter(autograd::astype(floats({0, 0}, {2}), t));
    target.W.set_grad(autograd::astype(floats({300, 400}, {2}), t));
    BOOST_TEST(autograd::item(grads_norm(target)).to_double() == 500.0);
    SGD sgd({.lr = 1.0});
    sgd.setup(target);
    sgd.add_hook(GradientClipping(5));
    sgd.update();
    const std::vector<double> moved = values(autograd::astype(target.W.data(), Dtype::float64));
    BOOST_TEST(moved[0] == -3.0, boost::test_tools::tolerance(1e-2));
    BOOST_TEST(moved[1] == -4.0, boost::test_tools::tolerance(1e-2));
  }
}

BOOST_AUTO_TEST_CASE(hooks_on_a_gradient_that_two_parameters_share) {
  Params target;
  target.W = nn::Parameter(floats({1, 1}, {2}));
  target.b = nn::Parameter(floats({10, 10}, {2}));
  const Array g = floats({2, 3}, {2});
  target.W.set_grad(g);
  target.b.set_grad(g);  // as after y = W + b
  SGD sgd({.lr = 1.0});
  sgd.setup(target);
  sgd.add_hook(WeightDecay(1.0));
  sgd.update();
  BOOST_TEST(values(target.W.data()) == (std::vector<double>{-2, -3}), boost::test_tools::per_element());
  BOOST_TEST(values(target.b.data()) == (std::vector<double>{-2, -3}), boost::test_tools::per_element());
  BOOST_TEST(values(g) == (std::vector<double>{2, 3}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(parameters_that_come_and_go) {
  struct Changing : nn::Link {
    nn::Parameter W{floats({1}, {1})};
    std::optional<nn::Parameter> extra;
    NN_MEMBERS(W, extra)
  } target;
  MomentumSGD sgd({.lr = 1.0, .momentum = 0.5});
  sgd.setup(target);
  sgd.add_hook(
      [&](Optimizer& o) {
        if (o.t() == 1) target.extra.emplace(floats({8, 4}, {2}));
      },
      "adds one");
  sgd.add_hook(WeightDecay(0.25));
  for (int i = 0; i < 2; ++i) {
    target.W.set_grad(floats({0}, {1}));
    sgd.update();
  }
  // Its gradient counted as zeros, and the hook after the one that made it saw it.
  BOOST_TEST(values(target.extra->data()) == (std::vector<double>{6, 3}), boost::test_tools::per_element());
  BOOST_TEST(values(sgd.states("/extra")[0]) == (std::vector<double>{-2, -1}), boost::test_tools::per_element());
  target.extra.reset();
  sgd.update();
  BOOST_CHECK_THROW(sgd.states("/extra"), catena::KeyError);
  // Another variable under a known name goes on with its states.
  target.W = nn::Parameter(floats({3}, {1}));
  const double v = values(sgd.states("/W")[0])[0];
  target.W.set_grad(floats({1}, {1}));
  sgd.remove_hook("WeightDecay");
  sgd.update();
  BOOST_TEST(values(target.W.data())[0] == 3 + (0.5 * v - 1));
}

BOOST_AUTO_TEST_CASE(hook_registration) {
  Params target;
  SGD sgd;
  BOOST_CHECK_THROW(sgd.add_hook(WeightDecay(1)), catena::RuntimeError);
  BOOST_CHECK_THROW(sgd.target(), catena::RuntimeError);
  sgd.setup(target);
  std::string order;
  sgd.add_hook([&](Optimizer&) { order += "a"; }, "first");
  sgd.add_hook([&](Optimizer& o) { order += o.t() == 0 ? "b" : "c"; }, "second");  // t as before this update
  BOOST_TEST(has(message_of<catena::KeyError>([&] { sgd.add_hook([](Optimizer&) {}, "first"); }), "first"));
  BOOST_CHECK_THROW(sgd.add_hook(Hook(), "null"), catena::TypeError);
  sgd.update();
  sgd.remove_hook("first");
  BOOST_CHECK_THROW(sgd.remove_hook("first"), catena::KeyError);
  sgd.update();
  BOOST_TEST(order == "abc");
  sgd.setup(target);  // forgets hooks and counters
  BOOST_TEST(sgd.t() == 0);
  sgd.update();
  BOOST_TEST(order == "abc");
}

BOOST_AUTO_TEST_CASE(missing_gradients_count_as_zeros) {
  Params target;
  target.W = nn::Parameter(floats({1}, {1}));
  target.b = nn::Parameter(floats({1}, {1}));
  MomentumSGD m({.lr = 1.0, .momentum = 0.5});
  m.setup(target);
  m.add_hook(WeightDecay(0.1));
  target.W.set_grad(floats({1}, {1}));
  m.update();
  target.cleargrads();
  m.update();  // momentum goes on, weights decay
  // W: v = -1.1, W = -0.1; then g = -0.01, v = -0.55 + 0.01, W = -0.64
  BOOST_TEST(std::fabs(values(target.W.data())[0] + 0.64) < 1e-6);
  // b: g = 0.1, v = -0.1, b = 0.9; then g = 0.09, v = -0.05 - 0.09, b = 0.76
  BOOST_TEST(std::fabs(values(target.b.data())[0] - 0.76) < 1e-6);
}

BOOST_AUTO_TEST_CASE(parameters_that_appear_in_the_first_call) {
  nn::Linear model(2);
  Adam adam;
  adam.setup(model);
  BOOST_TEST(adam.states("/W").empty());
  const Variable x(autograd::arrays::ones({3, 4}));
  adam.update([&] { return autograd::sum(model(x)); });
  BOOST_TEST(adam.states("/W").size() == 2u);
  BOOST_TEST(adam.states("/W")[0].shape() == Shape({2, 4}));
  BOOST_TEST(values(adam.states("/W")[0])[0] != 0.0);
  BOOST_CHECK_THROW(adam.states("/nothing"), catena::KeyError);
}

BOOST_AUTO_TEST_CASE(hyperparameters) {
  Adam adam({.alpha = 0.01});
  BOOST_TEST(adam.get_hyper("alpha") == 0.01);
  adam.set_hyper("beta1", 0.5);
  BOOST_TEST(adam.get_hyper("beta1") == 0.5);
  BOOST_CHECK_THROW(adam.get_hyper("lr"), catena::ValueError);  // no update yet
  BOOST_TEST(adam.lr() == 0.01);
  BOOST_TEST(has(message_of<catena::KeyError>([&] { adam.set_hyper("nothing", 1); }), "beta2"));
  BOOST_TEST(has(message_of<catena::KeyError>([&] { adam.set_hyper("lr", 1); }), "lr follows from others"));
  adam.set_hyper("alpha", 0.001);
  adam.set_hyper("beta1", 0.9);
  adam.set_t(1);
  BOOST_TEST(std::fabs(adam.lr() - 0.000316228) < 1e-9);
  adam.set_t(1000);
  BOOST_TEST(std::fabs(adam.lr() - 0.000795176) < 1e-9);
  BOOST_CHECK_THROW(AdaDelta().lr(), catena::KeyError);
}

BOOST_AUTO_TEST_CASE(dtypes_and_layouts) {
  // Two dtypes in one model, float16 with a hook that takes a factor, and a parameter that is a transposed view.
  Params target;
  target.W = nn::Parameter(autograd::transpose(autograd::array<double>({1, 2, 3, 4, 5, 6}, {2, 3})));
  target.b = nn::Parameter(autograd::astype(floats({1, 2}, {2}), Dtype::float16));
  target.W.set_grad(autograd::arrays::ones({3, 2}, Dtype::float64));
  target.b.set_grad(autograd::astype(floats({3, 4}, {2}), Dtype::float16));
  SGD sgd({.lr = 1.0});
  sgd.setup(target);
  sgd.add_hook(GradientClipping(1.0));
  sgd.update();
  const double scale = 1 / std::sqrt(6.0 + 25);
  const std::vector<double> W = values(target.W.data()), start{1, 4, 2, 5, 3, 6};
  for (std::size_t i = 0; i < 6; ++i) BOOST_TEST(std::fabs(W[i] - (start[i] - scale)) < 1e-12);
  BOOST_TEST(std::fabs(values(target.b.data())[0] - (1 - 3 * scale)) < 2e-3);
  BOOST_TEST((target.b.dtype() == Dtype::float16));
}

BOOST_AUTO_TEST_CASE(a_refused_update_changes_nothing) {
  Params target;
  target.W = nn::Parameter(floats({1}, {1}));
  target.b = nn::Parameter(autograd::astype(floats({1}, {1}), Dtype::complex64));  // no optimizer has complex numbers
  SGD sgd;
  sgd.setup(target);
  target.W.set_grad(floats({1}, {1}));
  BOOST_TEST(has(message_of<catena::TypeError>([&] { sgd.update(); }), "complex64"));
  BOOST_TEST(values(target.W.data())[0] == 1);
  BOOST_TEST(sgd.t() == 0);

  Params other;
  other.W = nn::Parameter(floats({1}, {1}));
  MomentumSGD momentum;
  momentum.setup(other);
  other.W.set_grad({});
  other.W.set_data(floats({1, 2}, {2}));  // its states have another shape now
  BOOST_TEST(has(message_of<catena::ValueError>([&] { momentum.update(); }), "/W"));
}

// Two launches, of which the second one is refused.
BOOST_AUTO_TEST_CASE(an_update_refused_for_its_last_tensor_changes_nothing) {
  Params target;
  target.W = nn::Parameter(floats({1, 2}, {2}));
  target.b = nn::Parameter(autograd::astype(floats({3}, {1}), Dtype::float64));
  SGD sgd({.lr = 1.0});
  sgd.setup(target);
  const auto give_grads = [&] {
    target.W.set_grad(floats({1, 1}, {2}));
    target.b.set_grad(autograd::astype(floats({1}, {1}), Dtype::float64));
  };
  for (int i = 0; i < 2; ++i) {  // without a table, and with one
    give_grads();
    const std::vector<double> W = values(target.W.data()), b = values(target.b.data());
    target.b.set_data(autograd::astype(floats({3, 4}, {2}), Dtype::float64));
    BOOST_CHECK_THROW(sgd.update(), catena::ValueError);
    BOOST_TEST(values(target.W.data()) == W, boost::test_tools::per_element());
    BOOST_TEST(sgd.t() == i);
    target.b.set_data(autograd::astype(floats({3}, {1}), Dtype::float64));
    sgd.update();
    BOOST_TEST(values(target.W.data())[0] == W[0] - 1);
    BOOST_TEST(values(target.b.data())[0] == 2);
    BOOST_TEST(sgd.t() == i + 1);
  }
}

// Steps of one optimizer while arrays are replaced between them: by others of the same kind, of other layouts, shapes
// and dtypes, over the same memory or not.
BOOST_AUTO_TEST_CASE(tensors_replaced_between_steps) {
  Params target;
  target.W = nn::Parameter(floats({1, 2, 3, 4}, {2, 2}));
  target.b = nn::Parameter(floats({5}, {1}));
  SGD sgd({.lr = 0.5});
  sgd.setup(target);
  const auto step = [&](const std::vector<double>& W, const std::vector<double>& b) {
    sgd.update();
    BOOST_TEST(values(target.W.data()) == W, boost::test_tools::per_element());
    BOOST_TEST(values(target.b.data()) == b, boost::test_tools::per_element());
  };
  target.W.set_grad(floats({2, 2, 2, 2}, {2, 2}));
  target.b.set_grad(floats({4}, {1}));
  step({0, 1, 2, 3}, {3});
  step({-1, 0, 1, 2}, {1});  // nothing changed
  target.b.set_grad(floats({2}, {1}));
  step({-2, -1, 0, 1}, {0});
  const Array before = target.W.data();
  target.W.set_data(floats({8, 8, 8, 8}, {2, 2}));
  step({7, 7, 7, 7}, {-1});
  BOOST_TEST(values(before) == (std::vector<double>{-2, -1, 0, 1}), boost::test_tools::per_element());
  target.W.set_data(autograd::transpose(before));  // the same memory as in the steps before
  target.W.set_grad(floats({2, 4, 6, 8}, {2, 2}));
  step({-3, -2, -4, -3}, {-2});
  BOOST_TEST(values(before) == (std::vector<double>{-3, -4, -2, -3}), boost::test_tools::per_element());
  target.W.set_data(autograd::reshape(before, {4}));
  target.W.set_grad(floats({0, 0, 0, 2}, {4}));
  step({-3, -4, -2, -4}, {-3});
  target.b.set_data(floats({1, 2, 3}, {3}));
  target.b.set_grad(floats({2, 2, 2}, {3}));
  step({-3, -4, -2, -5}, {0, 1, 2});
  target.b.set_data(autograd::array<double>({1, 2}, {2}));
  target.b.set_grad(autograd::array<double>({2, 4}, {2}));
  step({-3, -4, -2, -6}, {0, 0});
  sgd.set_hyper("lr", 1.0);
  step({-3, -4, -2, -8}, {-2, -4});
  target.W = nn::Parameter(floats({1}, {1}));
  target.W.set_grad(floats({1}, {1}));
  step({0}, {-4, -8});
}

BOOST_AUTO_TEST_CASE(owned_and_borrowed_targets) {
  SGD sgd({.lr = 1.0});
  nn::Linear model(2, 1);
  sgd.setup(model);
  BOOST_TEST(&sgd.target() == &model);
  sgd.setup(nn::Linear(3, 1));
  BOOST_TEST(&sgd.target() != &model);
  BOOST_TEST(sgd.target().count_params() == 4);
}

BOOST_AUTO_TEST_CASE(states_move_with_their_parameters) {
  const autograd::Device home = default_device();
  nn::Linear model(2, 1), still(2, 1);
  still.copyparams(model);
  Adam adam, reference;
  adam.setup(model);
  reference.setup(still);
  const auto step = [](Adam& optimizer, nn::Linear& link) {
    for (const Variable& p : link.params())
      Variable(p).set_grad(autograd::arrays::full(p.shape(), 0.5, p.dtype(), p.device()));
    optimizer.update();
  };
  const auto check_on = [&](autograd::Device device) {
    for (const Array& state : adam.states("/W")) BOOST_TEST((state.device() == device));
    BOOST_TEST((model.W.device() == device));
    check_close(model.W.data(), still.W.data(), 1e-6, 1e-6, "W");
    for (std::size_t k = 0; k < 2; ++k)
      check_close(adam.states("/W")[k], reference.states("/W")[k], 1e-6, 1e-6, "state " + std::to_string(k));
  };
  step(adam, model);
  step(reference, still);
  check_on(home);
  const auto other = other_device();
  if (!other) {
    BOOST_TEST(says_that_cuda_is_unavailable(message_of<catena::RuntimeError>([&] { model.to_device(kCuda); })));
    adam.prepare();
    check_on(home);
    step(adam, model);
    step(reference, still);
    check_on(home);
    return;
  }
  model.to_device(*other);
  adam.prepare();
  check_on(*other);
  step(adam, model);
  step(reference, still);
  check_on(*other);
}

BOOST_AUTO_TEST_CASE(files_of_the_reference) {
  const auto index = Golden::open("serializers/index");
  const catena::NpzReader stored("test", (index.folder() / "expected.npz").string());
  int checked = 0;
  for (const json& c : reference_files(index, "optimizer")) {
    const std::string file = c["file"];
    BOOST_TEST_CONTEXT(file) {
      auto array = [&](const json& key) { return to_array(stored.read(key.get<std::string>())); };
      TinyMLP model;
      for (const nn::NamedParam& p : model.namedparams())
        Variable(p.param).set_data(array(c["params_at_save"][p.path.substr(1)]));
      const std::unique_ptr<Optimizer> optimizer = make_optimizer(c["optimizer"], c["args"]);
      optimizer->setup(model);
      load_file((index.folder() / file).string(), *optimizer);
      BOOST_TEST(optimizer->t() == c["t"].get<std::int64_t>());
      BOOST_TEST(optimizer->epoch() == c["epoch"].get<std::int64_t>());

      const TemporaryFolder folder("optimizer");
      nn::serializers::save_npz(folder / "o.npz", *optimizer);
      const catena::NpzReader ours("test", folder / "o.npz");
      for (const std::string& key : ours.keys())  // later versions of Chainer read "<param>/t"
        BOOST_TEST((c["keys"].contains(key) || key.ends_with("/t")), key);
      for (const auto& [key, name] : c["values"].items()) {
        BOOST_REQUIRE(ours.contains(key));
        const catena::NpyArray theirs = stored.read(name.get<std::string>());
        BOOST_TEST((ours.read(key).data == theirs.data), key);
        BOOST_TEST((ours.read(key).descr == theirs.descr), key);
      }
      for (const json& grads : c["next_grads"]) {
        for (const nn::NamedParam& p : model.namedparams()) Variable(p.param).set_grad(array(grads[p.path.substr(1)]));
        optimizer->update();
      }
      for (const nn::NamedParam& p : model.namedparams())
        check_close(p.param.data(), array(c["params_after_two_more_steps"][p.path.substr(1)]), c["tolerance"][0],
                    c["tolerance"][1], p.path);
      ++checked;
    }
  }
  BOOST_TEST(checked == (nn::serializers::hdf5_available() ? 11 : 9));
}

BOOST_AUTO_TEST_CASE(loading_needs_the_model_first) {
  nn::Linear eager(2, 1), lazy(1);
  const TemporaryFolder folder("lazy");
  Adam a, b;
  a.setup(eager);
  b.setup(lazy);
  nn::serializers::save_npz(folder / "a.npz", a);
  BOOST_TEST(has(message_of<catena::ValueError>([&] { nn::serializers::load_npz(folder / "a.npz", b); }), "/W"));
}

BOOST_AUTO_TEST_SUITE_END()
