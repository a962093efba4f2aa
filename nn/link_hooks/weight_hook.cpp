#include <catena/nn/link_hooks/weight_hook.h>

#include <utility>
#include <vector>

#include <catena/autograd/functions/array.h>
#include <catena/nn/link_parameters.h>
#include <catena/nn/links/convolution_2d.h>
#include <catena/nn/links/convolution_nd.h>

namespace nn::link_hooks {
namespace {

// The parameters that calls in progress on this thread have replaced; the innermost call is the last.
struct Replaced {
  Parameter* parameter;
  Variable original;
};
thread_local std::vector<Replaced> replaced;

void put_back() noexcept {
  std::swap(static_cast<Variable&>(*replaced.back().parameter), replaced.back().original);
  replaced.pop_back();
  --nn::internal::parameter_replacements();
}

}  // namespace

namespace {
void check_floating(const std::string& hook, const std::string& name, const Parameter& W) {
  if (!W.is_initialized()) return;
  catena::check<catena::TypeError>(catena::is_floating(W.dtype()), hook, name, " is ", W.dtype(),
                                   ": delete_hook() before nn::quantize_weights()");
}
}  // namespace

void WeightHook::prepare(Link&, const Variable&) const {}
std::vector<std::string> WeightHook::added_names() const { return {}; }

bool WeightHook::has_param(const Link& link, std::string_view name) {
  bool found = false;
  link.for_each_param([&](std::string_view path, const Variable&) { found |= path.substr(1) == name; });
  return found;
}

void WeightHook::make_permanent(Link& link) const {
  const Parameter& W = link.param(weight_name_);
  if (W.is_initialized()) {
    const auto no_graph = autograd::no_backprop_mode();
    const auto test_mode = autograd::train_mode(false);
    autograd::assign(W.data(), autograd::copy(weight(link, W).data()));
  }
  for (const std::string& name : added_names()) nn::internal::remove_added(link, name);
}

void WeightHook::added(Link& link) {
  const Parameter& W = link.param(weight_name_);
  check_floating(name(), weight_name_, W);
  if (!W.is_initialized()) return;
  axis_of(link, W);
  prepare(link, W);
}

void WeightHook::forward_preprocess(Link& link, const Variables& args) {
  Parameter& W = link.param(weight_name_);
  check_floating(name(), weight_name_, W);
  if (!W.is_initialized()) {
    const auto no_graph = autograd::no_backprop_mode();
    const auto test_mode = autograd::train_mode(false);
    link.call(args);
    prepare(link, W);
  }
  Variable by = weight(link, W);
  replaced.push_back({&W, std::move(by)});
  std::swap(static_cast<Variable&>(W), replaced.back().original);
  ++nn::internal::parameter_replacements();
}

void WeightHook::forward_postprocess(Link&, const Variables&, const Variables&) { put_back(); }
void WeightHook::failed(Link&) noexcept { put_back(); }

int WeightHook::axis_of(const Link& link, const Variable& W) const {
  const bool transposed =
      dynamic_cast<const Deconvolution2D*>(&link) != nullptr || dynamic_cast<const DeconvolutionND*>(&link) != nullptr;
  const int axis = axis_.value_or(transposed ? 1 : 0);
  catena::check<catena::ValueError>(axis >= 0 && axis < W.ndim(), name(), "the axis ", axis, " does not exist in ",
                                    weight_name_, " of shape ", W.shape());
  return axis;
}

Variable WeightHook::matrix(const Link& link, const Variable& W) const {
  const Variable first = autograd::swapaxes(W, 0, axis_of(link, W));
  std::int64_t columns = 1;
  for (int k = 1; k < first.ndim(); ++k) columns *= first.shape(k);
  return autograd::reshape(first, {first.shape(0), columns});
}

Variable WeightHook::as_weight(const Link& link, const Variable& rows, const Variable& W) const {
  const int axis = axis_of(link, W);
  Shape shape = W.shape();
  std::swap(shape[0], shape[axis]);
  return autograd::swapaxes(autograd::reshape(rows, shape), 0, axis);
}

}  // namespace nn::link_hooks
