// Models and steps for the tests of captured training.
#pragma once

#include <cmath>
#include <cstdint>
#include <iostream>
#include <string>
#include <vector>

#include <catena/autograd/capture.h>
#include <catena/catena.h>
#include <catena/tests/support/training_fixtures.h>

namespace captured {

using autograd::Array;
using autograd::Variable;

struct MLP : nn::Chain {
  nn::Linear l1{6, 16}, l2{16, 16}, l3{16, 3};
  NN_MEMBERS(l1, l2, l3)
  Variable operator()(const Variable& x) {
    return l3(nn::dropout(nn::relu(l2(nn::dropout(nn::relu(l1(x)), {.ratio = 0.25})))));
  }
};

constexpr int kBatch = 8, kSteps = 20;

inline Array inputs(int step) {
  std::vector<double> v;
  for (int i = 0; i < kBatch * 6; ++i) v.push_back(std::sin(1.3 * i + 0.7 * step));
  return autograd::astype(autograd::array(v, {kBatch, 6}), autograd::Dtype::float32);
}
inline Array labels(int step) {
  std::vector<std::int32_t> v;
  for (int i = 0; i < kBatch; ++i) v.push_back((i * 7 + step) % 3);
  return autograd::array(v, {kBatch});
}

template <class Optimizer, class Model = MLP> struct Run {
  nn::Classifier<Model> model;
  Optimizer optimizer;
  Array x = inputs(0), t = labels(0);
  std::vector<double> losses;

  Run() : model((autograd::seed(3), Model())) { optimizer.setup(model); }
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
    for (const auto& e : s.entries())
      all += e.key + "=" + e.text + std::string(reinterpret_cast<const char*>(e.bytes.data()), e.bytes.size());
    return all + std::to_string(autograd::default_generator().offset);
  }
};

inline bool on_cuda() { return autograd::default_backend().default_device().kind == autograd::Device::Kind::cuda; }
inline bool has_graphs(const char* what) {
  if (!on_cuda()) std::cout << "skipped: " << what << ", which is a matter of graphs\n";
  return on_cuda();
}

template <class F> std::string message_of(F&& f) { return test::message_of<catena::RuntimeError>(f); }
// Lazily sized, with everything that has a state of its own.
struct Net : nn::Chain {
  nn::Linear l1{16}, l2{3};
  nn::BatchNormalization bn{16};
  bool finetune = false;
  NN_MEMBERS(l1, bn, l2)
  Variable operator()(const Variable& x) {
    return l2(nn::dropout(nn::relu(bn(l1(x), {.finetune = finetune})), {.ratio = 0.25}));
  }
};

}  // namespace captured
