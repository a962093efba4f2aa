// PyTorch's names `weight` and `bias` of the parameters W and b of a layer.
#pragma once

#include <catena/autograd/variable.h>

namespace nn {

namespace internal {
// True while functional_call() computes on this thread with other variables in the place of parameters. Handles then
// keep the parameters.
CATENA_EXPORT bool are_parameters_replaced() noexcept;
}  // namespace internal

// A handle of a parameter of the same layer: for reading, and for functions that write into the parameter. To exchange
// the parameter, assign to W or b; from the next call of the layer on, the handle refers to the new one. Compilers show
// the lines about assignments in their error messages.
class ParameterHandle : public autograd::Variable {
 public:
  ParameterHandle() noexcept = default;
  ParameterHandle(const ParameterHandle&) = default;
  void operator=(const Variable&) = delete;  // layer.W = nn::Parameter(...), layer.b = ...
  // These would assign a new variable to the handle alone.
  template <class B> void operator+=(const B&) = delete;  // layer.W.data() += ...
  template <class B> void operator-=(const B&) = delete;  // layer.W.data() -= ...
  template <class B> void operator*=(const B&) = delete;  // layer.W.data() *= ...
  template <class B> void operator/=(const B&) = delete;  // layer.W.data() /= ...

 private:
  friend class Linear;
  friend class Convolution2D;
  ParameterHandle& operator=(const ParameterHandle&) = default;  // layer.W = other.W, layer.b = other.b
  void refer_to(const Variable& parameter) { Variable::operator=(parameter); }
};

}  // namespace nn
