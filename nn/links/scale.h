// A factor along some axes, with or without a bias.
#pragma once

#include <initializer_list>
#include <optional>
#include <type_traits>

#include <catena/kernels/base/named.h>
#include <catena/nn/links/bias.h>

namespace nn {

struct ScaleOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  std::optional<Shape> W_shape = {};     // shape of the parameter W, initially 1; absent: each call gets a W
  bool bias_term = false;                // adds a Bias along the same axis
  std::optional<Shape> bias_shape = {};  // shape of the bias if W is no parameter; else the bias has the shape of W
};

// x W (+ b), where the axes of W correspond to those of x from `axis` on; see scale().
//
//   nn::Scale(1, {3})                          W (3): link(x)
//   nn::Scale(1, {3}, true)                    W (3) and bias/b (3)
//   nn::Scale(1)                               no parameter: link(x, W)
//   nn::Scale(1, {.bias_term = true, .bias_shape = nn::Shape{3}})
//
// ValueError for a bias without a known shape, and for a call with one argument if two are needed, or vice versa.
class CATENA_EXPORT Scale : public Chain {
 public:
  using Options = ScaleOptions;
  explicit Scale(int along = 1) : Scale(along, Options{}) {}
  Scale(int along, const Options& options);
  // A template, so that {.W_shape = {3}} means options: g++ would also accept it as the list {{3}}.
  template <class N = catena::Integer>
  Scale(int along, std::initializer_list<std::type_identity_t<N>> W_shape, bool bias_term = false)
      : Scale(along, Options{.W_shape = Shape(W_shape), .bias_term = bias_term}) {}
  template <catena::ShapeLike S>
  Scale(int along, const S& W_shape, bool bias_term = false)
      : Scale(along, Options{.W_shape = Shape(W_shape), .bias_term = bias_term}) {}

  NN_MEMBERS(W, bias)
  Variable operator()(const Variable& x);
  Variable operator()(const Variable& x, const Variable& W);

  OptionalParameter W;
  std::optional<Bias> bias;
  int axis;

 private:
  Variable with_bias(const Variable& y);
};

}  // namespace nn
