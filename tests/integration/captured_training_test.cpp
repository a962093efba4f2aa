// Steps of training that are captured once and replayed are the steps that are not. On CUDA a step is a graph; on the CPU replay() calls the
// function again, and the same must hold.
#include <boost/test/unit_test.hpp>

#include <cmath>
#include <string>
#include <vector>

#include "autograd/capture.h"
#include "catena.h"

using autograd::Array;
using autograd::Variable;

namespace {

struct MLP : nn::Chain {
  nn::Linear l1{6, 16}, l2{16, 16}, l3{16, 3};
  NN_MEMBERS(l1, l2, l3)
  Variable operator()(const Variable& x) { return l3(nn::dropout(nn::relu(l2(nn::dropout(nn::relu(l1(x)), {.ratio = 0.25}))))); }
};

constexpr int kBatch = 8, kSteps = 20;

Array inputs(int step) {
  std::vector<double> v;
  for (int i = 0; i < kBatch * 6; ++i) v.push_back(std::sin(1.3 * i + 0.7 * step));
  return autograd::astype(autograd::array(v, {kBatch, 6}), autograd::Dtype::float32);
}
Array labels(int step) {
  std::vector<std::int32_t> v;
  for (int i = 0; i < kBatch; ++i) v.push_back((i * 7 + step) % 3);
  return autograd::array(v, {kBatch});
}

template <class Optimizer> struct Run {
  nn::Classifier<MLP> model;
  Optimizer optimizer;
  Array x = inputs(0), t = labels(0);
  std::vector<double> losses;

  Run() : model((autograd::seed(3), MLP())) { optimizer.setup(model); }
  void step() { optimizer.update(model, Variable(x), Variable(t)); }
  void next_batch(int k) {
    autograd::assign(x, inputs(k));
    autograd::assign(t, labels(k));
  }
  void note() { losses.push_back(autograd::item(model.loss.data()).to_double()); }
  // Everything that training changes, in bytes.
  std::string state() {
    nn::serializers::DictionarySerializer s;
    model.serialize(*s["model"]);
    optimizer.serialize(*s["optimizer"]);
    std::string all;
    for (const auto& e : s.entries()) all += e.key + "=" + e.text + std::string(reinterpret_cast<const char*>(e.bytes.data()), e.bytes.size());
    return all + std::to_string(autograd::default_generator().offset);
  }
};

template <class Optimizer> void change_rate(Optimizer& o, int k) {
  if (k == 10) o.set_hyper(o.hyper_names().front(), 0.02);
}

template <class Optimizer> void compare(bool expect_graph) {
  Run<Optimizer> plain;
  for (int k = 0; k < kSteps; ++k) {
    plain.next_batch(k);
    change_rate(plain.optimizer, k);
    plain.step();
    plain.note();
  }
  const std::string expected = plain.state();

  Run<Optimizer> captured;
  autograd::CapturedWork work([&] { captured.step(); });
  BOOST_TEST(work.is_graph() == expect_graph);
  captured.note();
  for (int k = 1; k < kSteps; ++k) {
    captured.next_batch(k);
    change_rate(captured.optimizer, k);
    work.replay();
    captured.note();
  }
  BOOST_TEST(captured.losses == plain.losses);
  BOOST_TEST((captured.state() == expected), "states differ");
  BOOST_TEST(captured.optimizer.t() == kSteps);
}

bool on_cuda() { return autograd::default_backend().default_device().kind == autograd::Device::Kind::cuda; }

BOOST_AUTO_TEST_SUITE(captured_training)

BOOST_AUTO_TEST_CASE(replays_are_steps_of_adam) { compare<training::Adam>(on_cuda()); }
BOOST_AUTO_TEST_CASE(replays_are_steps_of_momentum) { compare<training::MomentumSGD>(on_cuda()); }

BOOST_AUTO_TEST_CASE(random_draws_go_on) {
  autograd::seed(11);
  Array a;
  autograd::CapturedWork work([&] { a = autograd::random_normal({100}, 0, 1, autograd::Dtype::float32, autograd::default_generator()); });
  const std::vector<float> first = autograd::to_vector<float>(a);
  work.replay();
  const std::vector<float> second = autograd::to_vector<float>(a);
  autograd::seed(11);
  BOOST_TEST(first == autograd::to_vector<float>(autograd::random_normal({100}, 0, 1, autograd::Dtype::float32, autograd::default_generator())));
  BOOST_TEST(second == autograd::to_vector<float>(autograd::random_normal({100}, 0, 1, autograd::Dtype::float32, autograd::default_generator())));
}

BOOST_AUTO_TEST_CASE(what_needs_the_host_is_refused) {
  if (!on_cuda()) {
    BOOST_TEST_MESSAGE("skipped: only a graph refuses work");
    return;
  }
  const Array x = autograd::ones({3});
  BOOST_CHECK_EXCEPTION(autograd::CapturedWork([&] { autograd::item(autograd::sum(x)); }), catena::RuntimeError, [](const catena::RuntimeError& e) {
    return std::string(e.what()).find("cannot be recorded in a CUDA graph") != std::string::npos;
  });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
