// Steps of recurrent layers that are captured once and replayed are the steps that are not. On CUDA a step is a graph:
// one launch, for which the host waits nowhere.
#include <boost/test/unit_test.hpp>

#include <cmath>
#include <iostream>
#include <string>
#include <vector>

#include <catena/autograd/backend/backend.h>
#include <catena/autograd/capture.h>
#include <catena/catena.h>
#include <catena/tests/support/cuda_device/control.h>

using autograd::Array;
using autograd::Variable;
using autograd::Variables;

namespace {

constexpr int kBatch = 3, kInputs = 4, kUnits = 5, kSteps = 6;

Array numbers(int step, const autograd::Shape& shape) {
  std::vector<double> v;
  for (std::int64_t i = 0; i < catena::size_of(shape); ++i) v.push_back(std::sin(1.3 * double(i) + 0.7 * step));
  return autograd::astype(autograd::array(v, shape), autograd::Dtype::float32);
}
bool on_cuda() { return autograd::default_backend().default_device().kind == autograd::Device::Kind::cuda; }

// One call of an LSTM, whose states go on from step to step in arrays of their own.
struct Cell {
  nn::LSTM lstm;
  training::Adam optimizer;
  Array x = numbers(0, {kBatch, kInputs}), c = autograd::arrays::zeros({kBatch, kUnits}),
        h = autograd::arrays::zeros({kBatch, kUnits});
  Variable loss;

  Cell() : lstm((autograd::seed(3), nn::LSTM(kInputs, kUnits))), optimizer({.alpha = 0.05}) { optimizer.setup(lstm); }
  void step() {
    optimizer.update([this] {
      lstm.set_state(Variable(c), Variable(h));
      return loss = sum(square(lstm(Variable(x)) - 0.5));
    });
    autograd::assign(c, lstm.c.data());
    autograd::assign(h, lstm.h.data());
  }
};

// Two layers over a sequence of three times, with dropout between them.
struct Sequence {
  nn::NStepLSTM net;
  training::Adam optimizer;
  Array x = numbers(0, {3 * kBatch, kInputs});
  Variable hx{autograd::arrays::zeros({2, kBatch, kUnits})};
  Variable loss;

  Sequence() : net((autograd::seed(3), nn::NStepLSTM(2, kInputs, kUnits, 0.5))), optimizer({.alpha = 0.05}) {
    optimizer.setup(net);
  }
  void step() {
    optimizer.update([this] {
      std::vector<Variables> ws(2), bs(2);
      for (std::size_t layer = 0; layer < 2; ++layer)
        for (int j = 0; j < 8; ++j) {
          nn::Link& weights = net[std::int64_t(layer)];
          ws[layer].push_back(weights.param("w" + std::to_string(j)));
          bs[layer].push_back(weights.param("b" + std::to_string(j)));
        }
      const Variables xs = split_axis(Variable(x), 3, 0);
      const auto [hy, cy, ys] = nn::n_step_lstm(2, net.dropout, hx, hx, ws, bs, xs);
      return loss = sum(square(ys[0])) + sum(square(ys[2] - 0.5)) + sum(cy);
    });
  }
};

template <class Model> void compare() {
  const auto note = [](const Model& m) { return autograd::item(m.loss.data()).to_double(); };
  std::vector<double> expected, losses;
  std::uint64_t offset = 0;
  {
    Model plain;
    for (int k = 0; k < kSteps; ++k) {
      autograd::assign(plain.x, numbers(k, plain.x.shape()));
      plain.step();
      expected.push_back(note(plain));
    }
    offset = autograd::default_generator().offset;
  }
  Model captured;
  autograd::CapturedWork work([&] { captured.step(); });
  BOOST_TEST(work.is_graph() == on_cuda());
  losses.push_back(note(captured));
  for (int k = 1; k < kSteps; ++k) {
    autograd::assign(captured.x, numbers(k, captured.x.shape()));
    work.replay();
    losses.push_back(note(captured));
  }
  BOOST_TEST(losses == expected, boost::test_tools::per_element());
  BOOST_TEST(expected[1] != expected[0]);
  BOOST_TEST(autograd::default_generator().offset == offset);
}

template <class Model> void count() {
  if (!cuda_device::Control::available()) {
    std::cout << "skipped: launches are counted by the software CUDA device\n";
    return;
  }
  Model model;
  autograd::CapturedWork work([&] { model.step(); });
  cuda_device::Control control;
  control.reset_records();
  for (int k = 0; k < 4; ++k) work.replay();
  BOOST_TEST(control.calls("cuGraphLaunch") == 4u);
  BOOST_TEST(control.calls("cuLaunchKernel") == 0u);
  BOOST_TEST(control.synchronisations() == std::vector<std::string>(), boost::test_tools::per_element());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(captured_recurrent)

BOOST_AUTO_TEST_CASE(replays_are_steps_of_an_lstm) { compare<Cell>(); }
BOOST_AUTO_TEST_CASE(replays_are_passes_over_a_sequence_with_new_masks) { compare<Sequence>(); }
BOOST_AUTO_TEST_CASE(a_step_of_an_lstm_is_one_launch_and_never_waits) { count<Cell>(); }
BOOST_AUTO_TEST_CASE(a_pass_over_a_sequence_is_one_launch_and_never_waits) { count<Sequence>(); }

BOOST_AUTO_TEST_SUITE_END()
