#include <catena/nn/parameter_handle.h>

#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>

#include <catena/nn/link_parameters.h>

namespace nn {

ParameterHandle& ParameterHandle::operator=(const ParameterHandle& o) {
  if (this == &o) return *this;
  Parameter* const own = parameter();
  // A handle may be older than an assignment to W or b of its layer.
  const Variable from = !o.is_of_layer()           ? Variable(o)
                        : o.parameter() != nullptr ? Variable(*o.parameter())
                                                   : Variable();
  catena::check<catena::RuntimeError>(own != nullptr && from, "ParameterHandle",
                                      "a layer without the parameter (a bias with nobias, or a handle that was copied) "
                                      "cannot be tied to another one");
  own->Variable::operator=(from);
  Variable::operator=(from);
  return *this;
}
Parameter* ParameterHandle::parameter() const noexcept {
  return optional_ != nullptr && *optional_ ? &**optional_ : required_;
}
void ParameterHandle::refer_to(Parameter* required, OptionalParameter* optional) {
  required_ = required;
  optional_ = optional;
  const Parameter* const own = parameter();
  Variable::operator=(own != nullptr ? Variable(*own) : Variable());
}
void ParameterHandle::update() {
  const Parameter* const own = parameter();
  const bool is_current = own != nullptr ? is_same(*own) : !*this;
  if (!is_current && !internal::are_parameters_replaced()) refer_to(required_, optional_);
}

}  // namespace nn

namespace nn::internal {

void tie_as(Link& link, const Link& other) {
  std::unordered_map<std::string, Parameter*> by_path;
  for (const PathParameter& p : parameters_of(link)) by_path.emplace(p.path, p.parameter);
  std::unordered_map<const void*, Parameter*> firsts;  // by the variable in `other`
  for (const PathParameter& p : parameters_of(other)) {
    const auto own = by_path.find(p.path);
    if (own == by_path.end()) continue;
    const auto [first, is_first] = firsts.emplace(p.parameter->id(), own->second);
    if (!is_first) own->second->Variable::operator=(*first->second);
  }
}

WeightAndBias::WeightAndBias(Parameter given) : W(std::move(given)) {}
WeightAndBias::WeightAndBias(const WeightAndBias& o) : Link(o), W(o.W), b(o.b) { refer_handles(); }
WeightAndBias::WeightAndBias(WeightAndBias&& o) noexcept : Link(std::move(o)), W(std::move(o.W)), b(std::move(o.b)) {
  refer_handles();
}
WeightAndBias& WeightAndBias::operator=(WeightAndBias&& o) noexcept {
  Link::operator=(static_cast<Link&&>(o));
  W = std::move(o.W);
  b = std::move(o.b);
  refer_handles();
  return *this;
}
WeightAndBias& WeightAndBias::operator=(const WeightAndBias& o) {
  Link::operator=(static_cast<const Link&>(o));
  W = o.W;
  b = o.b;
  refer_handles();
  return *this;
}

void WeightAndBias::refer_handles() {
  weight.refer_to(&W, nullptr);
  bias.refer_to(nullptr, &b);
}

void WeightAndBias::update_handles() {
  weight.update();
  bias.update();
}

template <class P>
ScaleAndShift<P>::ScaleAndShift(P scale, P shift, bool has_scale, bool has_shift)
    : gamma(std::move(scale)), beta(std::move(shift)), has_scale_(has_scale), has_shift_(has_shift) {
  refer_handles();
}
template <class P>
ScaleAndShift<P>::ScaleAndShift(const ScaleAndShift& o)
    : Link(o), gamma(o.gamma), beta(o.beta), has_scale_(o.has_scale_), has_shift_(o.has_shift_) {
  refer_handles();
}
template <class P>
ScaleAndShift<P>::ScaleAndShift(ScaleAndShift&& o) noexcept
    : Link(std::move(o)),
      gamma(std::move(o.gamma)),
      beta(std::move(o.beta)),
      has_scale_(o.has_scale_),
      has_shift_(o.has_shift_) {
  refer_handles();
}
template <class P> ScaleAndShift<P>& ScaleAndShift<P>::operator=(const ScaleAndShift& o) {
  Link::operator=(static_cast<const Link&>(o));
  gamma = o.gamma;
  beta = o.beta;
  has_scale_ = o.has_scale_;
  has_shift_ = o.has_shift_;
  refer_handles();
  return *this;
}
template <class P> ScaleAndShift<P>& ScaleAndShift<P>::operator=(ScaleAndShift&& o) noexcept {
  Link::operator=(static_cast<Link&&>(o));
  gamma = std::move(o.gamma);
  beta = std::move(o.beta);
  has_scale_ = o.has_scale_;
  has_shift_ = o.has_shift_;
  refer_handles();
  return *this;
}

template <class P> void ScaleAndShift<P>::refer_handles() {
  const auto refer = [](ParameterHandle& handle, P& p, bool is_there) {
    if constexpr (std::is_same_v<P, Parameter>) handle.refer_to(is_there ? &p : nullptr, nullptr);
    else handle.refer_to(nullptr, is_there ? &p : nullptr);
  };
  refer(weight, gamma, has_scale_);
  refer(bias, beta, has_shift_);
}
template <class P> void ScaleAndShift<P>::update_handles() {
  weight.update();
  bias.update();
}

template class ScaleAndShift<Parameter>;
template class ScaleAndShift<OptionalParameter>;

}  // namespace nn::internal
