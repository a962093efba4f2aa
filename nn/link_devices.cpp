// Link::to by the name of a device, Link::requires_grad_, and members by PyTorch's names.
#include <catena/autograd/array_backend.h>
#include <catena/kernels/base/device_name.h>
#include <catena/nn/link.h>

namespace nn {

Link& Link::to(std::string_view device) {
  return to_device(catena::device_from_name("Link.to", device, autograd::default_backend().default_device()));
}

Link& Link::requires_grad_(bool requires_grad) {
  if (requires_grad) enable_update();
  else disable_update();
  return *this;
}

// ---- members by PyTorch's names ----
namespace {

template <class T> const T& named(const char* op, std::string_view name, const std::vector<T>& all) {
  for (const T& one : all)
    if (one.path == name) return one;
  std::string names;
  for (const T& one : all) names.append(names.empty() ? "" : ", ").append(one.path);
  catena::fail<catena::AttributeError>(op, "nothing has the name ", name, " (there are: ", names, ")");
}

}  // namespace

Variable Link::get_parameter(std::string_view name) const {
  return named("Link.get_parameter", name, named_parameters()).param;
}
Variable Link::get_buffer(std::string_view name) { return named("Link.get_buffer", name, named_buffers()).param; }
Link& Link::get_submodule(std::string_view name) { return *named("Link.get_submodule", name, named_modules()).link; }

std::string Link::extra_repr() const { return {}; }

}  // namespace nn
