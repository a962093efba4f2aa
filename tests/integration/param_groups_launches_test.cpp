// Parameters with hyperparameters of their own are still updated in one launch, in graphs as well, where replays use
// the values of their time.
#include <boost/test/unit_test.hpp>

#include <iostream>
#include <string>

#include <catena/autograd/capture.h>
#include <catena/catena.h>
#include <catena/tests/support/cuda_device/control.h>

namespace {

struct Net : nn::Chain {
  nn::Linear l1{3, 4}, l2{4, 4}, l3{4, 2};
  NN_MEMBERS(l1, l2, l3)
};

bool has_control() {
  if (!cuda_device::Control::available()) std::cout << "skipped: launches are counted by the software CUDA device\n";
  return cuda_device::Control::available();
}
int launches_of(cuda_device::Control& control, const std::string& kernel) {
  int count = 0;
  for (const auto& l : control.launches()) count += l.kernel.starts_with(kernel) ? 1 : 0;
  return count;
}
void give_grads(Net& net) {
  for (autograd::Variable p : net.params()) p.set_grad(autograd::ones_like(p.data()));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(param_groups_launches)

BOOST_AUTO_TEST_CASE(one_launch_for_all_groups) {
  if (!has_control()) return;
  Net net;
  training::AdamW optimizer;
  optimizer.setup(net);
  optimizer.add_param_group({.match = "*/b", .hyperparams = {{"weight_decay_rate", 0}}});
  optimizer.add_param_group({.match = "l1", .hyperparams = {{"alpha", 0.1}}});
  optimizer.update_rule("/l3/W").set_hyper("beta1", 0.5);
  net.l2.disable_update();
  for (int i = 0; i < 2; ++i) {
    give_grads(net);
    optimizer.update();
  }
  net.enable_update();  // l2 begins with an update of its own
  give_grads(net);
  cuda_device::Control control;
  control.reset_records();
  optimizer.update();
  BOOST_TEST(launches_of(control, "adam_w_update") == 1);
}

BOOST_AUTO_TEST_CASE(float32_copies_take_three_launches) {
  if (!has_control()) return;
  Net net;
  net.to_dtype(nd::bfloat16);
  training::AdamW optimizer;
  optimizer.use_fp32_update();
  optimizer.setup(net);
  give_grads(net);
  optimizer.update();
  cuda_device::Control control;
  control.reset_records();
  optimizer.update();
  BOOST_TEST(launches_of(control, "adam_w_update") == 1);
  BOOST_TEST(launches_of(control, "convert_tensors") == 2);  // the gradients, and the results
}

BOOST_AUTO_TEST_CASE(graphs_replay_with_the_present_values_of_groups) {
  if (!has_control()) return;
  Net net, plain;
  plain = net;
  training::AdamW captured, by_hand;
  captured.setup(net);
  by_hand.setup(plain);
  const training::ParamGroupOptions biases{.match = "*/b", .hyperparams = {{"alpha", 0.25}}};
  training::ParamGroup a = captured.add_param_group(biases), b = by_hand.add_param_group(biases);
  give_grads(net);
  give_grads(plain);
  captured.update();
  autograd::CapturedWork work([&] { captured.update(); });
  for (int i = 0; i < 2; ++i) by_hand.update();
  for (int i = 0; i < 3; ++i) {
    a.set_hyper("alpha", 0.5 / (i + 1));
    b.set_hyper("alpha", 0.5 / (i + 1));
    captured.set_hyper("beta1", 0.9 - 0.1 * i);
    by_hand.set_hyper("beta1", 0.9 - 0.1 * i);
    work.replay();
    by_hand.update();
  }
  const auto p = net.params(), q = plain.params();
  for (std::size_t i = 0; i < p.size(); ++i)
    BOOST_TEST((autograd::to_vector<float>(p[i].data()) == autograd::to_vector<float>(q[i].data())), "parameter " << i);
  captured.add_param_group({.match = "*"});
  try {
    work.replay();
    BOOST_ERROR("the new group was not noticed");
  } catch (const catena::RuntimeError& e) {
    BOOST_TEST(std::string(e.what()).find("the parameter groups of AdamW changed") != std::string::npos, e.what());
  }
}

BOOST_AUTO_TEST_SUITE_END()
