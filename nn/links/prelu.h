// Parametric rectified linear unit.
#pragma once

#include <concepts>

#include <catena/nn/functions/activation.h>
#include <catena/nn/link.h>
#include <catena/nn/parameter_handle.h>

namespace nn {

struct PReLUOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  int num_parameters = 1;  // one slope for all, or one for each channel
  double init = 0.25;
};
// x where x >= 0, else W x; see prelu(). W has the shape of the first axes of x after the batch; () for one slope.
//   nn::PReLU()  nn::PReLU({3})  nn::PReLU(3)  nn::PReLU({3}, 0.1)
// (He, Zhang, Ren, Sun: Delving Deep into Rectifiers, 2015.)
class CATENA_EXPORT PReLU : public internal::WeightAndBias {
 public:
  explicit PReLU(const Shape& shape = {}, const Initializer& init = 0.25);
  template <std::integral I>
  explicit PReLU(I channels, const Initializer& init = 0.25) : PReLU(Shape(channels), init) {}

  // PReLU({.num_parameters = 3}); W is () for one parameter
  template <std::same_as<PReLUOptions> O = PReLUOptions>
  explicit PReLU(const O& o) : PReLU(o.num_parameters == 1 ? Shape() : Shape{o.num_parameters}, o.init) {}

  NN_MEMBERS(W)
  Variable operator()(const Variable& x);
};

}  // namespace nn
