// A language model as it is trained today, with attention, LayerNormalization, AdamW, clipping and autocast: its steps
// are captured as one graph, and the graph's replays are bit for bit the steps that are not captured.
#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <catena/autograd/backend/backend.h>
#include <catena/catena.h>
#include <catena/tests/support/cuda_device/control.h>

using autograd::Array;
using autograd::Variable;

namespace {

constexpr int kKinds = 11, kUnits = 16, kLayers = 4, kHeads = 2, kTokens = 6, kBatch = 4, kUpdates = 7;

struct LanguageModel : nn::Chain {
  nn::EmbedID embed{kKinds, kUnits}, position{kTokens, kUnits};
  nn::TransformerEncoder body{kLayers, kUnits, kHeads, {.dim_feedforward = 4 * kUnits, .norm_first = true}};
  nn::Linear out{kUnits, kKinds};
  NN_MEMBERS(embed, position, body, out)

  Variable operator()(const Variable& x, const Variable& t) {
    const Array places = autograd::arrays::arange(kTokens, autograd::Dtype::int64, x.data().device());
    const Variable h = body(embed(x) + position(places), {.causal = true});
    return nn::softmax_cross_entropy(out(h.reshape(-1, kUnits)), t.reshape(-1));
  }
};

training::TupleDataset text() {
  std::vector<std::int32_t> x, t;
  const auto character = [](int i) { return std::int32_t((i * i / 3 + i) % kKinds); };
  for (int i = 0; i < kUpdates * kBatch * kTokens; ++i) {
    x.push_back(character(i));
    t.push_back(character(i + 1));
  }
  const autograd::Device host;
  const autograd::Shape shape{kUpdates * kBatch, kTokens};
  return training::TupleDataset(autograd::array(x, shape, host), autograd::array(t, shape, host));
}

// The weights after the updates, and how often a graph was launched on the software device.
struct Outcome {
  std::vector<float> weights;
  std::optional<unsigned long long> graph_launches;
};
Outcome outcome(bool capture, std::optional<autograd::Dtype> autocast) {
  autograd::seed(5);
  LanguageModel model;
  training::AdamW optimizer;
  optimizer.setup(model);
  optimizer.add_hook(training::GradientClipping(0.5));
  const training::TupleDataset data = text();
  training::SerialIterator batches(data, kBatch, {.shuffle = false});
  training::StandardUpdater updater(
      batches, optimizer,
      {.device = autograd::default_backend().default_device(), .autocast = autocast, .capture = capture});
  std::optional<cuda_device::Control> control;
  if (cuda_device::Control::available()) control.emplace().reset_records();
  for (int k = 0; k < kUpdates; ++k) updater.update();
  Outcome result;
  if (control) result.graph_launches = control->calls("cuGraphLaunch");
  for (const Variable& p : model.params())
    for (const float v : autograd::to_vector<float>(p.data())) result.weights.push_back(v);
  return result;
}

void compare(std::optional<autograd::Dtype> autocast) {
  const Outcome plain = outcome(false, autocast), captured = outcome(true, autocast);
  BOOST_TEST(plain.weights.size() > 10000u);
  BOOST_TEST((captured.weights == plain.weights), "weights differ");
  // Two ordinary updates come first; the third is captured and launched as the others are replayed.
  if (captured.graph_launches) BOOST_TEST(*captured.graph_launches == kUpdates - 2u);
  if (plain.graph_launches) BOOST_TEST(*plain.graph_launches == 0u);
}

}  // namespace

BOOST_AUTO_TEST_CASE(replays_are_steps) { compare({}); }
BOOST_AUTO_TEST_CASE(replays_are_steps_under_autocast) { compare(autograd::Dtype::bfloat16); }
