// The variables that the statements of training_spellings.tsv use, and functions for their checks, which compute with
// arrays alone.
#pragma once

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <string>

#include <catena/catena.h>

namespace spellings {

// Fails the row with the text of the condition.
void check(bool holds, const char* condition);
#define CHECK(...) ::spellings::check(bool(__VA_ARGS__), #__VA_ARGS__)

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

// The values of an array or a variable.
template <class A> nd::Array values(const A& a) {
  if constexpr (requires { a.data().is_null(); }) return nd::Array(a.data()).astype(nd::float64);
  else return nd::Array(a).astype(nd::float64);
}
template <class A, class B> bool close(const A& a, const B& b, double tolerance = 1e-5) {
  return a.shape() == b.shape() && bool((nd::absolute(a - b) <= tolerance).all());
}
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

struct Row {
  const char* name;
  void (*run)(Scene& scene);
};
extern const Row kRows[];
extern const int kNumRows;

}  // namespace spellings
