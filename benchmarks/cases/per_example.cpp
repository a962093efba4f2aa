// Gradients for each example of a batch: by the rules of the links, and by vmap of the gradient of one example.
#include <algorithm>
#include <memory>
#include <vector>

#include <catena/benchmarks/cases.h>
#include <catena/benchmarks/networks.h>

namespace bench {
namespace {

using autograd::Variable;
using autograd::Variables;

// A network for images of 28 x 28 without normalization over the batch.
struct SmallCNN : nn::Chain {
  nn::Convolution2D conv1{1, 16, 5}, conv2{16, 32, 5};
  nn::Linear fc{512, 10};
  explicit SmallCNN(const Parameters&) {
    initialize(conv1, 1000);
    initialize(conv2, 1001);
    initialize(fc, 1002);
  }
  NN_MEMBERS(conv1, conv2, fc)
  Variable operator()(const Variable& x) {
    const Variable h = nn::max_pooling_2d(nn::relu(conv1(x.reshape(-1, 1, 28, 28))), 2);
    return fc(nn::max_pooling_2d(nn::relu(conv2(h)), 2));
  }
};

template <class Net, bool by_rules> Ready per_example(const Parameters& p) {
  const auto model = std::make_shared<Net>(p);
  const auto step = [model, p](const Variables& batch) {
    const auto loss = [&](const Variables& b) {
      return nn::softmax_cross_entropy((*model)(b[0]), b[1], {.reduce = by_rules ? "no" : "mean"});
    };
    return nn::per_example_grads(*model, loss, batch, {.vectorized = by_rules});
  };
  const auto make = [p](std::int64_t set) {
    return Variables{Variable(autograd::Array(uniform({p.at("batch"), 784}, 2 * set))),
                     Variable(autograd::Array(labels(p.at("batch"), 2 * set + 1, 10)))};
  };
  Ready timed = rotating(p, make, [step](const Variables& batch) { return nd::Array(step(batch)[0].data()); });
  timed.result = [step, batch = make(0)] {
    const Variables g = step(batch);
    std::vector<nd::Array> gradients;
    for (std::size_t i = 0; i < g.size(); ++i) gradients.push_back(nd::Array(g[i].data()));
    return joined(gradients);
  };
  return timed;
}

const Parameters mlp{{"batch", 64}, {"units", 256}, {"sets", 2}}, tiny_mlp{{"batch", 3}, {"units", 5}};
const Parameters cnn{{"batch", 64}, {"sets", 2}}, tiny_cnn{{"batch", 2}};

Parameters batches(Draw& draw) { return {{"batch", draw.length(1, 256)}, {"sets", 1}}; }
// `most`: so many examples have gradients of 2^26 elements, or of the limit of a draw.
Parameters batches_and_units(Draw& draw) {
  const std::int64_t units = draw.length(16, 1024), most = draw.at_most(1 << 26) / (units * (784 + units));
  return {{"batch", draw.length(1, std::clamp<std::int64_t>(most, 1, 256))}, {"units", units}, {"sets", 1}};
}

const Cases cases{
    {"per_example/mlp", mlp, tiny_mlp, per_example<MLP, true>, batches_and_units},
    {"per_example/mlp_vmap", mlp, tiny_mlp, per_example<MLP, false>, batches_and_units},
    {"per_example/cnn", cnn, tiny_cnn, per_example<SmallCNN, true>, batches},
    {"per_example/cnn_vmap", cnn, tiny_cnn, per_example<SmallCNN, false>, batches},
};

}  // namespace
}  // namespace bench
