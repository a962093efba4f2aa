// Forms in which users of PyTorch and Chainer write optimizers, schedulers, loaders and reports.
#include <algorithm>
#include <cmath>

#include <catena/autograd/functions/reduction.h>
#include <catena/nn/serializers/state_dict.h>
#include <catena/tests/support/training_fixtures.h>
#include <catena/training/extensions.h>
#include <catena/training/lr_schedulers.h>
#include <catena/training/optimizers.h>
#include <catena/training/parallel/data_loader.h>
#include <catena/training/updater.h>

using namespace test;
using namespace training;

namespace {

const auto each = boost::test_tools::per_element();
std::vector<double> of(const Variable& v) { return autograd::to_vector<double>(v.data()); }
void give_grads(nn::Link& link, float g) {
  for (Variable p : link.params()) p.set_grad(autograd::full_like(p.data(), g));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(torch_training_names)

BOOST_AUTO_TEST_CASE(an_optimizer_in_one_expression) {
  nn::Linear model(2, 1, {.initialW = 1.0});
  auto sgd = SGD({.lr = 0.5, .momentum = 0.25}).setup(model);
  BOOST_TEST(&sgd.target() == &model);
  BOOST_TEST(sgd.lr() == 0.5);
  sgd.momentum = 0;
  give_grads(model, 1);
  sgd.update();
  BOOST_TEST(of(model.W) == (std::vector<double>{0.5, 0.5}), each);
  auto listed = Adam(0.25).setup(Variables{model.W});
  BOOST_TEST(listed.alpha == 0.25);
  BOOST_TEST(listed.target().params().size() == 1u);
  Optimizer& same = listed.setup(model);
  BOOST_TEST(&same == &listed);
  BOOST_TEST(AdamW({.alpha = 0.125}).setup(model).get_hyper("alpha") == 0.125);
}

BOOST_AUTO_TEST_CASE(gradients_that_are_cleared_or_zero) {
  nn::Linear model(2, 1);
  SGD sgd(model, 0.1);
  give_grads(model, 1);
  sgd.zero_grad(false);
  BOOST_TEST(autograd::to_vector<double>(model.W.grad()) == (std::vector<double>{0, 0}), each);
  sgd.zero_grad();
  BOOST_TEST(!model.W.grad());
}

BOOST_AUTO_TEST_CASE(groups_that_come_later) {
  nn::Linear body(2, 1, {.nobias = true, .initialW = 1.0}), head(1, 1, {.nobias = true, .initialW = 1.0});
  SGD sgd(body.params(), {.lr = 0.5, .momentum = 0.5});
  sgd.add_param_group({.params = head.params(), .lr = 0.25, .momentum = 0.125});
  give_grads(body, 1);
  give_grads(head, 1);
  sgd.update();
  BOOST_TEST(of(body.W) == (std::vector<double>{0.5, 0.5}), each);
  BOOST_TEST(of(head.W) == (std::vector<double>{0.75}), each);
  sgd.update();  // v = momentum v + g
  BOOST_TEST(of(body.W) == (std::vector<double>{-0.25, -0.25}), each);
  BOOST_TEST(of(head.W) == (std::vector<double>{0.75 - 0.25 * 1.125}), each);
  BOOST_TEST(sgd.param_groups()[0].params()[0].is_same(head.W));
  BOOST_TEST(sgd.param_groups()[0].namedparams()[0].path == "/1");
  SGD of_model(body, 0.1);
  BOOST_CHECK_THROW(of_model.add_param_group({.params = head.params()}), catena::KeyError);
}

BOOST_AUTO_TEST_CASE(states_have_the_hyperparameters) {
  nn::Linear model(2, 1);
  SGD one(model, 0.5), other(model, 0.125);
  one.add_param_group({.match = "*/b", .lr = 0.25, .name = "biases"});
  other.add_param_group({.match = "*/b", .lr = 0.75, .name = "biases"});
  nn::StateDict state = one.state_dict();
  BOOST_TEST(state.at("hyper/lr").size() == 1);
  other.load_state_dict(state);
  BOOST_TEST(other.lr() == 0.5);
  BOOST_TEST(other.param_group("biases").lr() == 0.25);
  std::erase_if(state, [](const auto& entry) { return entry.first.starts_with("hyper/"); });
  other.lr = 2;
  other.load_state_dict(state);  // without them, they stay
  BOOST_TEST(other.lr() == 2);
  StepLR scheduler(one, 1, 0.5), resumed(other, 1, 0.5);
  scheduler.step();
  BOOST_TEST(scheduler.last_epoch() == 1);
  resumed.load_state_dict(scheduler.state_dict());
  BOOST_TEST(resumed.last_epoch() == 1);
  BOOST_TEST(other.lr() == 0.25);
  PlateauScheduler plateau(one), second(other);
  plateau.step(3);
  second.load_state_dict(plateau.state_dict());
  BOOST_TEST(second.best() == 3);
}

// A parameter may be named as the part of the state with the hyperparameters, and has a rate of its own.
BOOST_AUTO_TEST_CASE(states_of_a_parameter_named_hyper) {
  nn::Link model, other;
  for (nn::Link* link : {&model, &other}) link->add_param("hyper", nn::Parameter(floats({1, 2}, {2})));
  MomentumSGD one(model, 0.5), second(other, 0.25);
  one.update_rule("/hyper").set_hyper("lr", 0.125);
  give_grads(model, 1);
  one.update();
  const Warnings warnings;
  second.load_state_dict(one.state_dict());
  BOOST_TEST(warnings.texts.empty());
  BOOST_TEST(second.lr() == 0.5);
  BOOST_TEST(second.update_rule("/hyper").get_hyper("lr") == 0.125);
  BOOST_TEST(autograd::to_vector<double>(second.states("/hyper")[0]) == (std::vector<double>{-0.125, -0.125}), each);
}

BOOST_AUTO_TEST_CASE(checkpoints_of_several_states) {
  nn::Linear model(2, 1, {.initialW = 2.0}), other(2, 1, {.initialW = 0.0});
  Adam adam(model, 0.5), second(other, 0.25);
  give_grads(model, 1);
  adam.update();
  const TemporaryFolder folder("checkpoints");
  const std::string file = folder / "checkpoint.npz";
  nn::save({{"model", model.state_dict()}, {"optimizer", adam.state_dict()}, {"epoch", 3}}, file);
  nn::StateDict checkpoint = nn::load(file);
  other.load_state_dict(checkpoint["model"]);
  second.load_state_dict(checkpoint["optimizer"]);
  BOOST_TEST(of(other.W) == of(model.W), each);
  BOOST_TEST(second.t() == 1);
  BOOST_TEST(second.alpha == 0.5);
  BOOST_TEST(autograd::item(checkpoint["epoch"]).to<int>() == 3);
  BOOST_TEST(!checkpoint["nothing"]);
  BOOST_TEST(!checkpoint.contains("nothing"));
  checkpoint["more"] = model.W.data();
  BOOST_TEST(checkpoint.at("more").shape() == (Shape{1, 2}));
  BOOST_CHECK_THROW(checkpoint.below("nothing"), catena::KeyError);
  checkpoint = model.state_dict();
  checkpoint.erase("b");
  const auto [missing, unexpected] = other.load_state_dict(checkpoint, {.strict = false});
  BOOST_TEST(missing == (std::vector<std::string>{"b"}), each);
  BOOST_TEST(unexpected.empty());
}

BOOST_AUTO_TEST_CASE(loaders_and_splits) {
  const TupleDataset data(autograd::arrays::arange(5), autograd::arrays::arange(5));
  DataLoader loader(data, 2, true);
  BOOST_TEST(loader.size() == 3);
  std::vector<double> seen;
  for (const Example& batch : loader)
    for (const double v : autograd::to_vector<double>(batch.values[0])) seen.push_back(v);
  std::sort(seen.begin(), seen.end());
  BOOST_TEST(seen == (std::vector<double>{0, 1, 2, 3, 4}), each);
  DataLoader ordered(data, 2);
  BOOST_TEST(autograd::to_vector<double>((*ordered.begin()).values[0]) == (std::vector<double>{0, 1}), each);
  const auto [first, rest] = split_dataset_random(data, 2, {.seed = 7});
  const auto by_number = split_dataset_random(data, 2, 7);
  BOOST_TEST(rest.size() == 3);
  BOOST_TEST(
      autograd::to_vector<double>(first[0].values[0]) == autograd::to_vector<double>(by_number.first[0].values[0]),
      each);
}

BOOST_AUTO_TEST_CASE(losses_of_several_variables) {
  const Variable x(floats({1, 2}, {2}));
  const LossFunction of_two = [](const Variable& a, const Variable& b) { return autograd::sum(a * b); };
  const LossFunction of_list = [](const Variables& all) { return all[0]; };
  const LossFunction of_any = [](const auto& all) { return Variable(all[0]); };
  LossFunction none;
  BOOST_TEST(of_two(Variables{x, x}).item() == 5);
  BOOST_TEST(of_list(Variables{x}).is_same(x));
  BOOST_TEST(of_any(Variables{x}).is_same(x));
  BOOST_TEST(!none);
  BOOST_CHECK_THROW(of_two(Variables{x}), catena::TypeError);
}

BOOST_AUTO_TEST_CASE(adagrad_with_the_defaults_of_pytorch) {
  nn::Linear model(1, 1, {.nobias = true, .initialW = 1.0});
  Adagrad adagrad(model.parameters(), {.lr = 0.5});
  BOOST_TEST(adagrad.get_hyper("eps") == 1e-10);
  BOOST_TEST(Adagrad().get_hyper("lr") == 0.01);
  double p = 1, h = 0;
  for (const float g : {2.f, -1.f}) {
    give_grads(model, g);
    adagrad.update();
    h += double(g) * double(g);
    p -= 0.5 * double(g) / (std::sqrt(h) + 1e-10);
  }
  BOOST_TEST(of(model.W)[0] == p, boost::test_tools::tolerance(1e-6));
}

BOOST_AUTO_TEST_CASE(observed_values_and_keys_of_logs) {
  nn::Observation seen;
  seen.set("loss", 0.5);
  BOOST_TEST(double(seen["loss"]) == 0.5);
  BOOST_CHECK_THROW(seen["accuracy"].value(), catena::KeyError);
  const LogReportOptions options{.keys = {"main/loss"}};
  BOOST_TEST(options.keys.value() == (std::vector<std::string>{"main/loss"}), each);
  BOOST_TEST(!LogReportOptions{}.keys.has_value());
  const std::vector<std::string> two{"main/loss", "main/accuracy"};
  const LogReportOptions by_list{.keys = {"main/loss", "main/accuracy"}}, by_vector{.keys = two},
      nested{.keys = {{"main/loss", "main/accuracy"}}}, of_strings{.keys = {{two[0], two[1]}}};
  for (const LogReportOptions* o : {&by_list, &by_vector, &nested, &of_strings})
    BOOST_TEST(o->keys.value() == two, each);
}

BOOST_AUTO_TEST_SUITE_END()
