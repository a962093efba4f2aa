// The variables that the statements of training_spellings.tsv use.
#pragma once

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <string>

#include "training_checks.h"

namespace spellings {

struct Mlp : nn::Chain {
  nn::Linear l1{4, 16}, l2{16, 3};
  NN_MEMBERS(l1, l2)
  bool had_graph = false;  // of the last call
  autograd::Dtype dtype = autograd::Dtype::bool_;
  Variable operator()(const Variable& x) {
    const Variable y = l2(nn::relu(l1(x)));
    had_graph = y.creator() != nullptr;
    dtype = y.dtype();
    return y;
  }
};

// The output of two layers with relu between them, of parameters W1, b1, W2, b2.
template <class Model> nd::Array output_of(const Model& model, const nd::Array& x) {
  const auto p = model.params();
  const nd::Array hidden = nd::maximum(nd::matmul(x.astype(nd::float64), values(p[0]).T()) + values(p[1]), 0);
  return nd::matmul(hidden, values(p[2]).T()) + values(p[3]);
}
// The mean of -log softmax(y)[label].
inline double loss_of(const nd::Array& y, const nd::Array& labels) {
  double total = 0;
  for (int i = 0; i < y.shape(0); ++i) {
    double sum = 0;
    for (int j = 0; j < y.shape(1); ++j) sum += std::exp(y(i, j).template item<double>());
    total += std::log(sum) - y(i, labels(i).template item<int>()).template item<double>();
  }
  return total / double(y.shape(0));
}
inline int number_right(const nd::Array& y, const nd::Array& labels) {
  int right = 0;
  for (int i = 0; i < y.shape(0); ++i) {
    int best = 0;
    for (int j = 1; j < y.shape(1); ++j)
      if (y(i, j).item<double>() > y(i, best).item<double>()) best = j;
    right += best == labels(i).item<int>();
  }
  return right;
}

struct Scene {
  nd::Array x, t, images;
  training::TupleDataset dataset;
  Mlp model;
  training::Adam opt;
  nn::Classifier<Mlp> classifier;
  training::Adam opt_classifier;
  training::Trainer trainer;
  std::string path, directory;
  int seen = 0, rows = 0, count = 0;
  long total = 0;
  nd::Array first_W, first_grad;  // of l1.W, after one backward pass

  explicit Scene(const std::string& folder);
};
// The names of the members in the statements: SCENE_NAMES = scene.
#define SCENE_NAMES                                                                                                  \
  auto& [x, t, images, dataset, model, opt, classifier, opt_classifier, trainer, path, directory, seen, rows, count, \
         total, first_W, first_grad]

inline Scene::Scene(const std::string& folder)
    : x((autograd::seed(3), nd::random::seed(3), nd::random::standard_normal({8, 4}, nd::float32))),
      t(nd::array({0, 1, 2, 0, 1, 2, 0, 1})),
      images(nd::random::standard_normal({8, 1, 28, 28}, nd::float32)),
      dataset(x, t),
      opt(0.001),
      classifier(Mlp{}),
      opt_classifier(0.001),
      trainer(training::StandardUpdater(training::SerialIterator(dataset, 4),
                                        (opt_classifier.setup(classifier), opt_classifier)),
              {1, training::epoch}, folder),
      path(folder + "/file"),
      directory(folder) {
  std::filesystem::create_directories(folder);
  opt.setup(model);
  nn::softmax_cross_entropy(model(x), t).backward();
  first_W = values(model.l1.W).copy();
  first_grad = values(model.l1.W.grad()).copy();
}

}  // namespace spellings
