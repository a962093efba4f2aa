// Training steps: the optimizer alone, and forward, backward and update of the networks of examples/mnist.
#include <cmath>
#include <memory>

#include <catena/benchmarks/cases.h>

namespace bench {
namespace {

using autograd::Variable;

// ---- the optimizer ------------------------------------------------------------------------------
struct Weights : nn::Link {
  nn::Parameter W;
  explicit Weights(const nd::Array& values) : W(autograd::Array(values)) {}
  NN_MEMBERS(W)
};

struct Updated {
  nn::ChainList model;
  training::Adam adam;
};

Ready adam(const Parameters& p) {
  const nd::Shape shape{p.at("rows"), p.at("columns")};
  auto u = std::make_shared<Updated>();
  for (std::int64_t i = 0; i < p.at("tensors"); ++i) {
    Weights& link = u->model.add_link(Weights(uniform(shape, 2 * i, -1)));
    link.W.set_grad(uniform(shape, 2 * i + 1, -1));
  }
  u->adam.setup(u->model);
  return {repeated([u] { u->adam.update(); }), [u] {
            u->adam.update();
            return nd::Array(static_cast<Weights&>(u->model[0]).W.data());
          }};
}

// ---- networks -----------------------------------------------------------------------------------
// Weights on [-sqrt(3 / fan_in), sqrt(3 / fan_in)), biases 0.
template <class Layer> void initialize(Layer& layer, std::int64_t seed) {
  const autograd::Shape shape = layer.W.shape();
  const double range = std::sqrt(3.0 / double(layer.W.size() / shape[0]));
  layer.W.set_data(uniform(shape, seed, -range, range));
}

struct MLP : nn::Chain {
  nn::Linear l1, l2, l3;
  explicit MLP(int units) : l1(784, units), l2(units, units), l3(units, 10) {
    initialize(l1, 1000);
    initialize(l2, 1001);
    initialize(l3, 1002);
  }
  NN_MEMBERS(l1, l2, l3)
  Variable operator()(const Variable& x) { return l3(nn::relu(l2(nn::relu(l1(x))))); }
};

struct CNN : nn::Chain {
  nn::Convolution2D conv1{1, 16, 5}, conv2{16, 32, 5};
  nn::BatchNormalization bn1{16};
  nn::Linear fc1{512, 128}, fc2{128, 10};
  CNN() {
    initialize(conv1, 1000);
    initialize(conv2, 1001);
    initialize(fc1, 1002);
    initialize(fc2, 1003);
  }
  NN_MEMBERS(conv1, bn1, conv2, fc1, fc2)
  Variable operator()(const Variable& x) {
    Variable h = nn::max_pooling_2d(nn::relu(bn1(conv1(x.reshape(-1, 1, 28, 28)))), 2);
    h = nn::max_pooling_2d(nn::relu(conv2(h)), 2);
    return fc2(nn::relu(fc1(h)));
  }
};

template <class Model> struct Trained {
  Model model;
  training::Adam adam;
  std::vector<std::pair<nd::Array, nd::Array>> batches;
  std::size_t at = 0;

  template <class... A> explicit Trained(const Parameters& p, A... arguments) : model(arguments...) {
    const std::int64_t n = p.at("batch");
    for (std::int64_t s = 0; s < p.at("sets"); ++s)
      batches.emplace_back(uniform({n, 784}, 2 * s), labels(n, 2 * s + 1, 10));
    adam.setup(model);
  }
  Variable step() {
    const auto& [x, t] = batches[at];
    if (++at == batches.size()) at = 0;
    Variable loss;
    adam.update([&] { return loss = nn::softmax_cross_entropy(model(x), t); });
    return loss;
  }
};

// The compared result is the loss of the second step, which depends on forward, backward and update.
template <class Model, class... A> Ready steps(const Parameters& p, A... arguments) {
  auto t = std::make_shared<Trained<Model>>(p, arguments...);
  return {repeated([t] { t->step(); }), [t] {
            t->step();
            return nd::Array(t->step().data());
          }};
}

const Cases cases{
    {"optimizer/adam_200x64x64",
     {{"tensors", 200}, {"rows", 64}, {"columns", 64}},
     {{"tensors", 3}, {"rows", 4}, {"columns", 5}},
     adam},
    {"optimizer/adam_25600000",
     {{"tensors", 1}, {"rows", 25600}, {"columns", 1000}},
     {{"rows", 4}, {"columns", 5}},
     adam},
    {"training/mlp",
     {{"batch", 100}, {"units", 1000}, {"sets", 8}},
     {{"batch", 4}, {"units", 5}, {"sets", 2}},
     [](const Parameters& p) { return steps<MLP>(p, int(p.at("units"))); }},
    {"training/cnn",
     {{"batch", 64}, {"sets", 8}},
     {{"batch", 2}, {"sets", 2}},
     [](const Parameters& p) { return steps<CNN>(p); }},
};

}  // namespace
}  // namespace bench
