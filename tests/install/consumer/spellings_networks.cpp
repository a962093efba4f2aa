// Networks as a new user would type them, who knows Chainer or PyTorch. Every line is one spelling and what it must
// give.
#include <array>
#include <cmath>
#include <iostream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <expect.h>

#include <catena/catena.h>

namespace {

template <class A> bool equal(const A& a, const std::vector<double>& values) {
  return a.template to_vector<double>() == values;
}

using autograd::Variable;
using nd::_;

void variables() {
  Variable x(nd::array({1.f, 2.f, 3.f}));
  Variable y = x * x + 2 * x + 1;
  EXPECT(equal(y.data(), {4, 9, 16}));
  y.set_grad(nd::ones(3, nd::float32));
  y.backward();
  EXPECT(equal(x.grad(), {4, 6, 8}));
  x.cleargrad();
  EXPECT(!x.grad());
  Variable loss = autograd::sum(autograd::exp(x) * 0);
  loss.backward();
  EXPECT(double(loss) == 0);
  EXPECT(loss.item<float>() == 0);
  EXPECT(equal(x.grad(), {0, 0, 0}));
  EXPECT(x.sum().item<double>() == 6);
  EXPECT(x.mean().item<double>() == 2);
  EXPECT(x[0].item<double>() == 1);
  EXPECT(equal(x({2, 0}).data(), {3, 1}));
  EXPECT(x.reshape(3, 1).shape() == nd::Shape{3, 1});
  EXPECT(x.reshape(3, 1).T().shape() == nd::Shape{1, 3});
  EXPECT(autograd::matmul(x.reshape(1, 3), x.reshape(3, 1)).item<double>() == 14);
  EXPECT(x.data().dtype() == nd::float32);
  EXPECT(double(x.data().max()) == 3);
  EXPECT(equal(nd::exp(x.data() * 0), {1, 1, 1}));
  EXPECT(equal(x.data()(x.data() > 1), {2, 3}));
  std::ostringstream text;
  text << x << x.data();
  EXPECT(text.str() == "variable([1. 2. 3.])[1. 2. 3.]");
  // the second derivative of x^3
  Variable z(nd::array({2.0}));
  Variable cube = z * z * z;
  const autograd::Variables first = autograd::grad({cube}, {z}, {}, true);
  const autograd::Variables second = autograd::grad({first[0]}, {z});
  EXPECT(double(second[0]) == 12);
  {
    const auto off = autograd::no_backprop_mode();
    EXPECT((x * 2).creator() == nullptr);
  }
}

struct MLP : nn::Chain {
  nn::Linear l1{4, 8}, l2{8, 3};
  NN_MEMBERS(l1, l2)
  Variable operator()(const Variable& x) { return l2(nn::relu(l1(x))); }
};

struct Block : nn::Chain {
  std::vector<nn::Linear> layers;
  std::optional<nn::BatchNormalization> bn;
  std::array<nn::Linear, 2> heads{nn::Linear(4, 2), nn::Linear(4, 2)};
  Block() : bn(4) {
    for (int i = 0; i < 2; ++i) layers.emplace_back(4, 4);
  }
  NN_MEMBERS(layers, bn, heads)
  Variable operator()(Variable h) {
    for (auto& l : layers) h = nn::tanh(l(h));
    if (bn) h = (*bn)(h);
    return heads[0](h) + heads[1](h);
  }
};

void links() {
  nn::Linear l(3, 2);
  EXPECT(l.W.shape() == nd::Shape{2, 3});
  EXPECT(l.W.data().size() == 6 && l.b->data().size() == 2);
  EXPECT(l(nd::ones({5, 3}, nd::float32)).shape() == nd::Shape{5, 2});
  l.W.data()(0) = 1;
  EXPECT(l.W.data()(0, 2).item<float>() == 1);
  l.W.data() *= 0.5;
  EXPECT(equal(l.W.data()(0), {0.5, 0.5, 0.5}));
  MLP net;
  EXPECT(net(nd::zeros({2, 4}, nd::float32)).shape() == nd::Shape{2, 3});
  std::size_t parameters = 0;
  for (auto& p : net.params()) parameters += static_cast<std::size_t>(p.size());
  EXPECT(parameters == 4 * 8 + 8 + 8 * 3 + 3);
  for (auto& [path, parameter] : net.namedparams()) EXPECT(path[0] == '/' && parameter.size() > 0);
  nn::Convolution2D convolution(3, 8, 3, 1, 1), lazy(std::nullopt, 8, 3, 2);
  EXPECT(convolution(nd::ones({1, 3, 5, 5}, nd::float32)).shape() == nd::Shape{1, 8, 5, 5});
  EXPECT(lazy(nd::ones({1, 3, 5, 5}, nd::float32)).shape() == nd::Shape{1, 8, 2, 2});
  net.cleargrads();
  Block block;
  EXPECT(block(nd::ones({3, 4}, nd::float32)).shape() == nd::Shape{3, 2});
  nn::Sequential model(nn::Linear(4, 8), nn::relu, nn::Linear(8, 3));
  EXPECT(model(nd::ones({1, 4}, nd::float32)).shape() == nd::Shape{1, 3});
  nn::Linear late(7);
  EXPECT(late(nd::ones({2, 5}, nd::float32)).shape() == nd::Shape{2, 7});
  RAISES("Linear", l(nd::ones({5, 4}, nd::float32)));
  RAISES("astype(float32)", l(nd::ones({5, 3})));
}

void functions() {
  const nd::Array logits = nd::array({{1.f, 2.f}, {3.f, 1.f}}), labels = nd::array({1, 0});
  EXPECT(nn::softmax_cross_entropy(logits, labels).ndim() == 0);
  EXPECT(double(nn::accuracy(logits, labels)) == 1);
  EXPECT(equal(nn::relu(nd::array({-1.f, 1.f})).data(), {0, 1}));
  EXPECT(nn::dropout(logits, 0.5).shape() == logits.shape());
  EXPECT(nn::dropout(logits, {.ratio = 0.3, .train = false}).shape() == logits.shape());
  EXPECT(nn::softmax(logits, 1).shape() == nn::softmax(logits, {.axis = 1}).shape());
  EXPECT(double(nn::softmax(logits).sum()) - 2 < 1e-6);
  EXPECT(nn::max_pooling_2d(nd::ones({1, 1, 4, 4}, nd::float32), 2).shape() == nd::Shape{1, 1, 2, 2});
  EXPECT(nn::max_pooling_2d(nd::ones({1, 1, 4, 4}, nd::float32), 2, 1).shape() == nd::Shape{1, 1, 3, 3});
  EXPECT(nn::average_pooling_2d(nd::ones({1, 1, 4, 4}, nd::float32), 3, 1, 1).shape() == nd::Shape{1, 1, 4, 4});
  EXPECT(autograd::transpose(Variable(logits), {1, 0}).shape() == nd::Shape{2, 2});
  EXPECT(nn::mean_squared_error(logits, logits).item<float>() == 0);
  EXPECT(autograd::concat({Variable(logits), Variable(logits)}).shape() == nd::Shape{2, 4});
}

void training_by_hand() {
  autograd::seed(1);
  nd::random::seed(1);
  const nd::Array x = nd::random::normal(0, 1, {32, 4}, nd::float32);
  const nd::Array t = (x.sum(1) > 0).astype(nd::int32);
  MLP net;
  training::SGD sgd(0.1);
  sgd.setup(net);
  double first = 0, last = 0;
  for (int epoch = 0; epoch < 30; ++epoch) {
    net.cleargrads();
    Variable loss = nn::softmax_cross_entropy(net(x), t);
    loss.backward();
    sgd.update();
    (epoch == 0 ? first : last) = double(loss);
  }
  EXPECT(last < first);
  for (auto& p : net.params()) p.data() -= 0.1f * p.grad();
  training::Adam adam(0.001);
  adam.setup(net);
  adam.add_hook(training::WeightDecay(1e-4));
  adam.add_hook(training::GradientClipping(1.0));
  adam.update([&] { return nn::softmax_cross_entropy(net(x), t); });
  nn::Classifier<MLP> classifier{MLP()};
  training::MomentumSGD momentum(0.1, 0.9);
  momentum.setup(classifier);
  momentum.update(classifier, x, t);
  EXPECT(classifier.loss.data().ndim() == 0);
  RAISES("", training::SGD().update());
}

void training_by_trainer(const std::string& folder) {
  const nd::Array x = nd::random::normal(0, 1, {40, 4}, nd::float32);
  const nd::Array t = (x.sum(1) > 0).astype(nd::int32);
  training::TupleDataset data(x, t);
  EXPECT(data.size() == 40);
  training::SerialIterator iterator(data, 10);
  nn::Classifier<MLP> model{MLP()};
  training::Adam optimizer;
  optimizer.setup(model);
  training::Trainer trainer(training::StandardUpdater(iterator, optimizer), {2, training::epoch}, folder);
  trainer.extend(training::LogReport());
  int calls = 0;
  trainer.extend([&](training::Trainer&) { ++calls; }, {.trigger = {1, training::epoch}});
  trainer.run();
  EXPECT(calls == 2);
  nn::serializers::save_npz(folder + "/model.npz", model);
  nn::Classifier<MLP> other{MLP()};
  nn::serializers::load_npz(folder + "/model.npz", other);
  EXPECT((model.predictor.l1.W.data() == other.predictor.l1.W.data()).all().item<bool>());
}

}  // namespace

int main() {
  variables();
  links();
  functions();
  training_by_hand();
  training_by_trainer("spellings_result");
  return failures;
}
