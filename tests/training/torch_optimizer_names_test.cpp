// Forms in which users of PyTorch write optimizers: groups in a list, hooks of step(), options, and what is refused.
#include <cmath>

#include <catena/autograd/capture.h>
#include <catena/tests/support/training_fixtures.h>
#include <catena/training/optimizers.h>

using namespace test;
using namespace training;

namespace {

struct Pair : nn::Link {
  nn::Parameter a{floats({1}, {1})}, b{floats({2}, {1})};
  NN_MEMBERS(a, b)
  void give_grads(float g = 1) {
    a.set_grad(floats({g}, {1}));
    b.set_grad(floats({g}, {1}));
  }
};
double of(const Variable& v) { return autograd::to_vector<double>(v.data())[0]; }

}  // namespace

BOOST_AUTO_TEST_SUITE(torch_optimizer_names)

BOOST_AUTO_TEST_CASE(a_list_of_groups) {
  Pair model;
  const std::vector<ParamGroupOptions> groups = {{.params = {model.a}, .lr = 0.5}, {.params = {model.b}}};
  optim::SGD sgd(groups, {.lr = 0.25});
  model.give_grads();
  sgd.step();
  BOOST_TEST(of(model.a) == 0.5);
  BOOST_TEST(of(model.b) == 1.75);
  AdamW adam(groups, {.lr = 0.25, .weight_decay = 0.5});
  BOOST_TEST(adam.param_groups()[0].lr() == 0.5);
  BOOST_TEST(adam.param_groups()[1]["weight_decay"]() == 0.5);
  BOOST_TEST(Rprop(groups).param_groups().size() == 2u);
}

BOOST_AUTO_TEST_CASE(decay_of_the_gradient_in_groups) {
  Pair model;
  RMSprop rms({{.params = {model.a}, .weight_decay = 0.0}, {.params = {model.b}}},
              {.lr = 0.5, .alpha = 0, .eps = 0, .weight_decay = 3});
  model.give_grads(-1);
  rms.step();  // the sign of the gradient times lr
  BOOST_TEST(of(model.a) == 1.5);
  BOOST_TEST(of(model.b) == 1.5);
  BOOST_TEST(autograd::to_vector<double>(model.a.grad())[0] == -1);
  BOOST_CHECK_THROW(RMSprop(model, 0.5).get_hyper("weight_decay"), catena::KeyError);
}

// Without zero_grad between the steps, the decay of each step is added to the gradient that was given.
BOOST_AUTO_TEST_CASE(decay_leaves_the_gradient) {
  Pair model;
  Adagrad adagrad({{.params = {model.a}}, {.params = {model.b}, .weight_decay = 0.0}},
                  {.lr = 0.25, .weight_decay = 0.5, .eps = 0});
  model.give_grads();
  const Array given = model.a.grad();
  double a = 1, b = 2, sum_a = 0, sum_b = 0;
  for (int i = 0; i < 3; ++i) {
    adagrad.step();
    const double g = 1 + 0.5 * a;
    sum_a += g * g, sum_b += 1;
    a -= 0.25 * g / std::sqrt(sum_a);
    b -= 0.25 / std::sqrt(sum_b);
    BOOST_TEST(of(model.a) == a, boost::test_tools::tolerance(1e-6));
    BOOST_TEST(of(model.b) == b, boost::test_tools::tolerance(1e-6));
    BOOST_TEST((model.a.grad().get() == given.get()));
    BOOST_TEST(autograd::to_vector<double>(given)[0] == 1);
  }
}

BOOST_AUTO_TEST_CASE(captured_decay_reads_the_current_rate) {
  Pair model, plain;
  const Adagrad::Options options{.lr = 0.25, .weight_decay = 0.5};
  Adagrad captured(model, options), by_hand(plain, options);
  model.give_grads();
  plain.give_grads();
  captured.update();
  by_hand.update();
  autograd::CapturedWork work([&] { captured.update(); });
  by_hand.update();
  for (Adagrad* o : {&captured, &by_hand}) o->set_hyper("weight_decay", 2);
  work.replay();
  by_hand.update();
  BOOST_TEST(of(model.a) == of(plain.a));
  BOOST_TEST(of(model.b) == of(plain.b));
}

// Squares of these gradients are 0 in float16. The values are those of PyTorch's optimizers in float32.
BOOST_AUTO_TEST_CASE(small_gradients_in_16_bits) {
  struct Half : nn::Link {
    nn::Parameter w{autograd::arrays::zeros({3}, Dtype::float16)};
    NN_MEMBERS(w)
  };
  const auto check = [](auto optimizer, const std::vector<double>& expected) {
    Half model;
    optimizer.setup(model);
    for (const auto& g : {floats({1e-4f, -1e-4f, 2e-4f}, {3}), floats({1e-4f, 1e-4f, 2e-4f}, {3}),
                          floats({1e-4f, -1e-4f, 1e-4f}, {3})}) {
      model.w.set_grad(autograd::astype(g, Dtype::float16));
      optimizer.step();
    }
    const auto found = autograd::to_vector<double>(model.w.data());
    for (std::size_t i = 0; i < 3; ++i) BOOST_TEST(found[i] == expected[i], boost::test_tools::tolerance(5e-3));
    BOOST_TEST((optimizer.states("/w")[0].dtype() == Dtype::float32));
  };
  check(Adadelta(), {-0.00029986456502228975, 9.995452273869887e-05, -0.0004992287140339613});
  check(Rprop(), {-0.036400001496076584, 0.014999999664723873, -0.036400001496076584});
  check(ASGD({.lr = 0.5}), {-0.0001499868812970817, 4.9995625886367634e-05, -0.00024997751461341977});
}

BOOST_AUTO_TEST_CASE(hooks_of_step) {
  Pair model;
  SGD sgd(model, 0.5);
  std::vector<double> seen;
  StepHookHandle before = sgd.register_step_pre_hook([&](Optimizer&) { seen.push_back(of(model.a)); });
  StepHookHandle after = sgd.register_step_post_hook([&](auto& o) { seen.push_back(of(model.a) + double(o.t())); });
  model.give_grads();
  sgd.step();
  BOOST_TEST(seen == (std::vector<double>{1, 1.5}), boost::test_tools::per_element());
  before.remove();
  before.remove();
  sgd.step();
  BOOST_TEST(seen.size() == 3u);
  sgd.setup(model);  // forgets the hooks
  after.remove();
  model.give_grads();
  sgd.step();
  BOOST_TEST(seen.size() == 3u);
  BOOST_CHECK_THROW(SGD(0.5).register_step_pre_hook([](Optimizer&) {}), catena::RuntimeError);
}

BOOST_AUTO_TEST_CASE(gradients_are_none_or_zero) {
  Pair model;
  SGD sgd(model, 0.5);
  model.give_grads();
  sgd.zero_grad({.set_to_none = false});
  BOOST_TEST(autograd::to_vector<double>(model.a.grad())[0] == 0);
  sgd.zero_grad({.set_to_none = true});
  BOOST_TEST(!model.a.grad());
}

BOOST_AUTO_TEST_CASE(refused_options) {
  BOOST_CHECK_THROW(SGD({.momentum = 0.5, .dampening = 0.5, .nesterov = true}), catena::ValueError);
  BOOST_CHECK_THROW(Rprop({.etas = {1.5, 1.2}}), catena::ValueError);
  BOOST_CHECK_THROW(Rprop({.etas = {0.5, 0.9}}), catena::ValueError);
  BOOST_CHECK_THROW(AdamW(AdamW::Options{.convention = AdamConvention::chainer, .maximize = true}), catena::ValueError);
  BOOST_TEST(Rprop({.lr = 0.5, .step_sizes = {1e-3, 2}}).get_hyper("step_max") == 2);
  BOOST_TEST(ASGD({.lr = 0.5, .lambd = 0.25, .t0 = 10}).get_hyper("lambd") == 0.25);
}

BOOST_AUTO_TEST_SUITE_END()
