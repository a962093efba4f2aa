// Training steps: the optimizer alone; forward, backward and update of networks; and only the outputs of networks.
#include <algorithm>
#include <cmath>
#include <memory>

#include <catena/benchmarks/cases.h>
#include <catena/benchmarks/networks.h>
#include <catena/training/multi_node.h>

namespace bench {
namespace {

using autograd::Variable;

// ---- the optimizer ------------------------------------------------------------------------------
struct Weights : nn::Link {
  nn::Parameter W;
  explicit Weights(const nd::Array& values) : W(autograd::Array(values)) {}
  NN_MEMBERS(W)
};

template <class Optimizer> struct Updated {
  nn::ChainList model;
  Optimizer optimizer;
  explicit Updated(const Parameters& p) {
    const nd::Shape shape{p.at("rows"), p.at("columns")};
    for (std::int64_t i = 0; i < p.at("tensors"); ++i) {
      Weights& link = model.add_link(Weights(uniform(shape, 2 * i, -1)));
      link.W.set_grad(uniform(shape, 2 * i + 1, -1));
    }
    optimizer.setup(model);
  }
};

// The compared result is the first tensor after one update.
template <class Optimizer> Ready updates(const Parameters& p) {
  auto u = std::make_shared<Updated<Optimizer>>(p);
  return {repeated([u] { u->optimizer.update(); }), [u] {
            u->optimizer.update();
            return nd::Array(static_cast<Weights&>(u->model[0]).W.data());
          }};
}

// Moves the averages of all tensors towards weights that are 1 greater than they were at the first update.
Ready weight_average(const Parameters& p) {
  struct Averaged : Updated<training::SGD> {
    training::WeightAverage average{model, {.decay = 0.99}};
    using Updated::Updated;
  };
  auto a = std::make_shared<Averaged>(p);
  a->average.update();
  for (autograd::Variable w : a->model.params()) w.data() += 1;
  return {repeated([a] { a->average.update(); }), [a] {
            a->average.update();
            return nd::Array(a->average.average("/0/W"));
          }};
}

// ---- networks -----------------------------------------------------------------------------------
template <class Model> struct Trained {
  Model model;
  training::Adam adam;
  std::vector<std::pair<nd::Array, nd::Array>> batches;
  std::size_t at = 0;

  explicit Trained(const Parameters& p) : model(p) {
    const std::int64_t n = p.at("batch");
    for (std::int64_t s = 0; s < p.at("sets"); ++s)
      batches.emplace_back(uniform(Model::input(n), 2 * s), labels(n, 2 * s + 1, 10));
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

// The same training by a multi-node optimizer with one rank.
template <class Model> struct TrainedByRank : Trained<Model> {
  explicit TrainedByRank(const Parameters& p) : Trained<Model>(p) {
    training::create_multi_node_optimizer(this->adam, training::create_communicator());
    this->step();  // the first update broadcasts the weights
    this->at = 0;
  }
};

// The compared result is the loss of the second step, which depends on forward, backward and update.
template <class Model, template <class> class Steps = Trained> Ready steps(const Parameters& p) {
  auto t = std::make_shared<Steps<Model>>(p);
  return {repeated([t] { t->step(); }), [t] {
            t->step();
            return nd::Array(t->step().data());
          }};
}

// Computes outputs of the network in test mode, without a graph.
template <class Model> Ready outputs(const Parameters& p) {
  auto model = std::make_shared<Model>(p);
  return rotating(
      p, [&](std::int64_t seed) { return uniform(Model::input(p.at("batch")), seed); },
      [model](const nd::Array& x) {
        const auto mode = autograd::no_backprop_mode();
        const auto test = autograd::train_mode(false);
        return nd::Array((*model)(x).data());
      });
}

// A layer with weights of 8 bits, or with the floating weights that these stand for.
template <bool int8> Ready layer(const Parameters& p) {
  const auto inputs = int(p.at("inputs")), outputs = int(p.at("outputs"));
  struct Set {
    std::shared_ptr<nn::Linear> layer;
    nd::Array x;
  };
  return rotating(
      p,
      [&](std::int64_t seed) {
        Set s{std::make_shared<nn::Linear>(inputs, outputs), uniform({p.at("batch"), inputs}, 2 * seed, -1)};
        initialize(*s.layer, 2 * seed + 1);
        if (int8) nn::quantize_weights(*s.layer);
        else {
          const auto [values, scale] = nn::quantize_per_channel(s.layer->W.data());
          s.layer->W.set_data(nn::dequantize(Variable(values), autograd::as_variable(scale)).data());
        }
        return s;
      },
      [](const Set& s) {
        const auto mode = autograd::using_config({.train = false, .enable_backprop = false});
        return nd::Array((*s.layer)(s.x).data());
      });
}

// Parameters with at most a fifth of the limit in total, because an update accesses four arrays of that size.
Parameters parameters(Draw& draw) {
  const std::int64_t n = std::max<std::int64_t>(10, draw.elements() / 5);
  const std::int64_t tensors = draw.log_uniform(1, std::clamp<std::int64_t>(n / 10, 1, 200));
  const std::int64_t rows = draw.length(1, std::max<std::int64_t>(1, n / tensors));
  return {{"tensors", tensors}, {"rows", rows}, {"columns", std::max<std::int64_t>(1, n / tensors / rows)}};
}
Parameters batch(Draw& draw) { return {{"batch", draw.at_most(draw.one_of({1, 8, 64, 256}))}, {"sets", 2}}; }
Parameters inferred(Draw& draw) { return {{"batch", draw.one_of({1, 2, 8, 32})}, {"sets", 2}}; }

template <Parameters (*draw_others)(Draw&)> Parameters with_units(Draw& draw) {
  Parameters p = draw_others(draw);
  p["units"] = draw.length(10, draw.at_most(1000));
  return p;
}
template <Parameters (*draw_others)(Draw&)> Parameters with_width(Draw& draw) {
  Parameters p = draw_others(draw);
  p["width"] = draw.at_most(64);
  return p;
}

const Cases cases{
    {"optimizer/adam_200x64x64",
     {{"tensors", 200}, {"rows", 64}, {"columns", 64}},
     {{"tensors", 3}, {"rows", 4}, {"columns", 5}},
     updates<training::Adam>},
    {"optimizer/adam_25600000",
     {{"tensors", 1}, {"rows", 25600}, {"columns", 1000}},
     {{"rows", 4}, {"columns", 5}},
     updates<training::Adam>,
     parameters},
    {"optimizer/adamw_200x64x64",
     {{"tensors", 200}, {"rows", 64}, {"columns", 64}},
     {{"tensors", 3}, {"rows", 4}, {"columns", 5}},
     updates<training::AdamW>},
    {"optimizer/lamb_200x64x64",
     {{"tensors", 200}, {"rows", 64}, {"columns", 64}},
     {{"tensors", 3}, {"rows", 4}, {"columns", 5}},
     updates<training::LAMB>},
    {"optimizer/lion_200x64x64",
     {{"tensors", 200}, {"rows", 64}, {"columns", 64}},
     {{"tensors", 3}, {"rows", 4}, {"columns", 5}},
     updates<training::Lion>},
    {"optimizer/weight_average_200x64x64",
     {{"tensors", 200}, {"rows", 64}, {"columns", 64}},
     {{"tensors", 3}, {"rows", 4}, {"columns", 5}},
     weight_average},
    {"training/mlp",
     {{"batch", 100}, {"units", 1000}, {"sets", 8}},
     {{"batch", 4}, {"units", 5}, {"sets", 2}},
     steps<MLP>,
     with_units<batch>},
    {"training/mlp_of_one_rank",
     {{"batch", 100}, {"units", 1000}, {"sets", 8}},
     {{"batch", 4}, {"units", 5}, {"sets", 2}},
     steps<MLP, TrainedByRank>},
    {"training/cnn", {{"batch", 64}, {"sets", 8}}, {{"batch", 2}, {"sets", 2}}, steps<CNN>, batch},
    {"training/resnet18",
     {{"batch", 64}, {"width", 64}, {"sets", 2}},
     {{"batch", 2}, {"width", 2}, {"sets", 1}},
     steps<ResNet18>,
     with_width<batch>},
    {"inference/mlp",
     {{"batch", 32}, {"units", 1000}, {"sets", 8}},
     {{"batch", 4}, {"units", 5}, {"sets", 2}},
     outputs<MLP>,
     with_units<inferred>},
    {"inference/cnn", {{"batch", 32}, {"sets", 8}}, {{"batch", 2}, {"sets", 2}}, outputs<CNN>, inferred},
    {"inference/resnet18",
     {{"batch", 32}, {"width", 64}, {"sets", 2}},
     {{"batch", 2}, {"width", 2}, {"sets", 1}},
     outputs<ResNet18>,
     with_width<inferred>},
    {"inference/int8_linear",
     {{"batch", 1}, {"inputs", 4096}, {"outputs", 4096}, {"sets", 4}},
     {{"batch", 2}, {"inputs", 70}, {"outputs", 5}, {"sets", 2}},
     layer<true>},
    {"inference/float32_linear",
     {{"batch", 1}, {"inputs", 4096}, {"outputs", 4096}, {"sets", 4}},
     {{"batch", 2}, {"inputs", 70}, {"outputs", 5}, {"sets", 2}},
     layer<false>},
};

}  // namespace
}  // namespace bench
