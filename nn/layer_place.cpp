#include <catena/nn/layer_place.h>

#include <catena/autograd/array_backend.h>
#include <catena/kernels/base/device_name.h>
#include <catena/nn/link.h>

namespace nn {

LayerDevice::LayerDevice(const char* name)
    : optional(catena::device_from_name("device", name, autograd::default_backend().default_device())) {}

void internal::place(Link& link, const LayerDevice& device, const LayerDtype& dtype) {
  if (dtype) link.to_dtype(*dtype);
  if (device) link.to_device(*device);
}

int internal::required(const char* layer, const char* name, const std::optional<int>& number) {
  catena::check<catena::TypeError>(number.has_value(), layer, "the argument ", name, " is missing");
  return *number;
}

}  // namespace nn
