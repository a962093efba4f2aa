// PyTorch's names `weight` and `bias` of the parameters W and b, or gamma and beta, of a layer.
#pragma once

#include <optional>

#include <catena/nn/link.h>

namespace nn {

namespace internal {
template <class Of> class LayerMembers;
class WeightAndBias;
template <class P> class ScaleAndShift;
}  // namespace internal

// A handle of a parameter of the same layer: for reading, and for functions that write into the parameter. To exchange
// the parameter, assign to W or b; from the next call of the layer on, the handle refers to the new one. A copy of a
// handle is one of the parameter without the layer. Compilers show the lines about assignments in their error messages.
//
// Assigning the handle of another layer ties the weights: head.weight = embedding.weight. Both layers then have one
// parameter, which is listed once. A deep copy of the layers has a parameter for each. RuntimeError for layers of which
// one lacks the parameter.
class CATENA_EXPORT ParameterHandle : public autograd::Variable {
 public:
  ParameterHandle() noexcept = default;
  ParameterHandle(const ParameterHandle& o) noexcept : Variable(o) {}
  ParameterHandle& operator=(const ParameterHandle& o);
  void operator=(const Variable&) = delete;  // layer.W = nn::Parameter(...), layer.b = ...
  // Write into the parameter, as add_, sub_, mul_ and div_: within autograd::no_grad (RuntimeError).
  template <class B> const ParameterHandle& operator+=(const B& b) const { return add_(b), *this; }
  template <class B> const ParameterHandle& operator-=(const B& b) const { return sub_(b), *this; }
  template <class B> const ParameterHandle& operator*=(const B& b) const { return mul_(b), *this; }
  template <class B> const ParameterHandle& operator/=(const B& b) const { return div_(b), *this; }

 private:
  template <class Of> friend class internal::LayerMembers;
  friend class internal::WeightAndBias;
  template <class P> friend class internal::ScaleAndShift;
  // Refers to the same member of a layer.
  void refer_as(const ParameterHandle& o) noexcept {
    required_ = o.required_;
    optional_ = o.optional_;
    Variable::operator=(o);
  }
  void refer_to(Parameter* required, OptionalParameter* optional);
  // Refers to the parameter that the member is now. Without a change nothing is written. While functional_call()
  // or a hook has put other variables in the place of parameters, the handle keeps the parameter.
  void update();
  bool is_of_layer() const noexcept { return required_ != nullptr || optional_ != nullptr; }
  Parameter* parameter() const noexcept;  // null for a handle without a layer, and for a layer without the parameter

  // The member of the layer to which the handle belongs: one of the two, or none for a copy of a handle.
  Parameter* required_ = nullptr;
  OptionalParameter* optional_ = nullptr;
};

namespace internal {
// The parameters of a layer with handles of them. Only this part has copies of its own, so a layer that adds members
// needs none.
class CATENA_EXPORT WeightAndBias : public Link {
 public:
  Parameter W;
  OptionalParameter b;
  // PyTorch's names: handles of W and b (null with nobias).
  ParameterHandle weight, bias;

 protected:
  explicit WeightAndBias(Parameter given);
  WeightAndBias(const WeightAndBias& o);
  WeightAndBias(WeightAndBias&& o) noexcept;
  WeightAndBias& operator=(const WeightAndBias& o);
  WeightAndBias& operator=(WeightAndBias&& o) noexcept;
  void refer_handles();  // to be called at the end of constructors
  // To be called before each LinkCall: lets the handles refer to parameters that were assigned. Handles keep the
  // parameters while functional_call() or a hook puts other variables in their place.
  void update_handles();
};

// The parameters of a normalization with handles of them, of class Parameter or OptionalParameter. Copies as above. The
// flags has_scale and has_shift are those by which the derived class lists gamma and beta as its parameters.
template <class P> class CATENA_EXPORT ScaleAndShift : public Link {
 public:
  P gamma, beta;
  // PyTorch's names: handles of gamma and beta, null for a layer without them.
  ParameterHandle weight, bias;

 protected:
  // Of parameters that are no parameters of the layer there is no handle.
  ScaleAndShift(P scale, P shift, bool has_scale = true, bool has_shift = true);
  ScaleAndShift(const ScaleAndShift& o);
  ScaleAndShift(ScaleAndShift&& o) noexcept;
  ScaleAndShift& operator=(const ScaleAndShift& o);
  ScaleAndShift& operator=(ScaleAndShift&& o) noexcept;
  void refer_handles();   // to be called after a change of gamma or beta
  void update_handles();  // as of WeightAndBias

 private:
  bool has_scale_, has_shift_;
};
extern template class ScaleAndShift<Parameter>;
extern template class ScaleAndShift<OptionalParameter>;
}  // namespace internal

}  // namespace nn
