#include <catena/nn/layer_members.h>

#include <string_view>

#include <catena/nn/link_parameters.h>
#include <catena/nn/module_list.h>
#include <catena/nn/sequential.h>
#include <catena/nn/serializers/state_dict.h>

namespace nn::internal {

std::string_view layer_name_of(std::string_view parameter) noexcept {
  if (parameter == "W" || parameter == "gamma") return "weight";
  if (parameter == "b" || parameter == "beta") return "bias";
  return parameter;
}

namespace {

// Finds the parameters that PyTorch's layers call weight and bias.
struct WeightAndBiasFinder final : MemberVisitor {
  Parameter *weight = nullptr, *bias = nullptr;
  void parameter(std::string_view name, Parameter& p) override {
    const std::string_view of_layer = layer_name_of(name);
    if (of_layer == "weight") weight = &p;
    if (of_layer == "bias") bias = &p;
  }
};

}  // namespace

template <class Of> void LayerMembers<Of>::refer_to(Link* link) {
  WeightAndBiasFinder found;
  if (link != nullptr) link->visit_members(found);
  // Without a change nothing is written: several threads may read the elements of one container.
  const auto refer = [](ParameterHandle& handle, Parameter* parameter) {
    if (handle.required_ == parameter) handle.update();
    else handle.refer_to(parameter, nullptr);
  };
  refer(weight, found.weight);
  refer(bias, found.bias);
}

template <class Of> void LayerMembers<Of>::refer_as(const LayerMembers& o) noexcept {
  weight.refer_as(o.weight);
  bias.refer_as(o.bias);
}

template <class Of>
LoadReport LayerMembers<Of>::load_state_dict(const StateDict& state, const LoadOptions& options) const {
  return static_cast<const Of&>(*this).layer().load_state_dict(state, options);
}

template class LayerMembers<SequenceElement>;
template class LayerMembers<ModuleEntry>;

}  // namespace nn::internal
