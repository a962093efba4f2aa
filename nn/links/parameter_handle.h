// PyTorch's names `weight` and `bias` of the parameters W and b of a layer.
#pragma once

#include <catena/autograd/variable.h>

namespace nn {

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
