#include "scene.h"

namespace {

nd::Array waves(const nd::Shape& shape, double phase) {
  return nd::sin(nd::arange(double(catena::size_of(shape)), nd::float32) + phase).reshape(shape);
}

}  // namespace

chainer_scene::chainer_scene()
    : a(waves({4, 3}, 0)),
      x(a),
      y(waves({4, 3}, 1)),
      c(waves({4, 3}, 2)),
      p(nd::square(waves({4, 3}, 3)) * 0.9f + 0.05f),
      x4(waves({4, 12}, 4)),
      t(nd::array({0, 1, 2, 1}, nd::int32)),
      tb(nd::array({{0, 1, 0}, {1, 1, 0}, {0, 0, 1}, {1, 0, 1}}, nd::int32)),
      tone(nd::ones({4, 1}, nd::int32)),
      pairs(nd::array({0, 1, 0, 1}, nd::int32)),
      perm(nd::array({3, 2, 1, 0}, nd::int32)),
      cond(a > 0),
      W(waves({2, 3}, 5)),
      b(waves({2}, 6)),
      W3(waves({3, 3, 2}, 7)),
      gamma(nd::ones(3, nd::float32)),
      beta(nd::zeros(3, nd::float32)),
      s(nd::eye(3, nd::float32) * 3 + waves({3, 3}, 8)),
      st(nd::eye(3, nd::float32) * 3 + waves({4, 3, 3}, 9)),
      img(waves({2, 4, 8, 8}, 10)),
      Wc(waves({6, 4, 3, 3}, 11)),
      bc(waves({6}, 12)),
      Wd(waves({4, 6, 3, 3}, 13)),
      Wp(waves({2, 4, 3, 3}, 14)),
      theta(waves({2, 2, 3}, 15)),
      grid(waves({2, 2, 4, 4}, 16)),
      rois(nd::array({{0, 0, 0, 4, 4}}, nd::float32)),
      seq{Variable(waves({2, 3}, 17)), Variable(waves({1, 3}, 18))},
      hx1(nd::zeros({1, 2, 3}, nd::float32)),
      hx2(nd::zeros({2, 2, 3}, nd::float32)),
      classifier(MLP()),
      train(a, nd::array({0, 1, 2, 1}, nd::int32)),
      iterator(train, 2),
      once(train, 2, {.repeat = false, .shuffle = false}),
      updater((optimizer.setup(classifier), iterator), optimizer),
      trainer(updater, {2, training::epoch}, "result") {}
chainer_scene::~chainer_scene() = default;

std::vector<autograd::Variables> chainer_scene::weights(int matrices, int directions) {
  std::vector<autograd::Variables> all;
  for (int k = 0; k < directions; ++k) {
    all.emplace_back();
    for (int m = 0; m < matrices; ++m) all.back().push_back(Variable(waves({3, 3}, m)));
  }
  return all;
}
std::vector<autograd::Variables> chainer_scene::biases(int matrices, int directions) {
  std::vector<autograd::Variables> all;
  for (int k = 0; k < directions; ++k) {
    all.emplace_back();
    for (int m = 0; m < matrices; ++m) all.back().push_back(Variable(waves({3}, m)));
  }
  return all;
}
