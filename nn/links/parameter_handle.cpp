#include <catena/nn/links/parameter_handle.h>

#include <utility>

#include <catena/nn/link_parameters.h>
#include <catena/nn/links/filters.h>

namespace nn::internal {

WeightAndBias::WeightAndBias(Parameter given) : W(std::move(given)) {}
WeightAndBias::WeightAndBias(const WeightAndBias& o) : Link(o), W(o.W), b(o.b) { refer_handles(); }
WeightAndBias& WeightAndBias::operator=(const WeightAndBias& o) {
  Link::operator=(static_cast<const Link&>(o));
  W = o.W;
  b = o.b;
  refer_handles();
  return *this;
}

void WeightAndBias::refer_handles() {
  weight.refer_to(W);
  bias.refer_to(handle_of(b));
}

void WeightAndBias::update_handles() {
  const bool are_current = weight.is_same(W) && (b ? bias.is_same(*b) : !bias);
  if (!are_current && !are_parameters_replaced()) refer_handles();
}

}  // namespace nn::internal
