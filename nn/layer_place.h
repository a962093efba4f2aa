// The options `device` and `dtype` of layers, and the numbers that PyTorch's users also give by name.
#pragma once

#include <concepts>
#include <optional>
#include <string>
#include <string_view>

#include <catena/autograd/array.h>

namespace nn {

class Link;

// A device or its name: "cpu", "cuda", "cuda:1" (ValueError for others).
class LayerDevice : public std::optional<autograd::Device> {
 public:
  LayerDevice() = default;
  LayerDevice(std::nullopt_t) {}
  LayerDevice(autograd::Device device) : optional(device) {}
  LayerDevice(const std::optional<autograd::Device>& device) : optional(device) {}
  CATENA_EXPORT LayerDevice(const char* name);
  LayerDevice(const std::string& name) : LayerDevice(name.c_str()) {}
};
using LayerDtype = std::optional<autograd::Dtype>;

namespace internal {
// Converts and moves a layer at the end of its constructor: Link::to_dtype, Link::to_device.
CATENA_EXPORT void place(Link& link, const LayerDevice& device, const LayerDtype& dtype);
// Returns the number. TypeError if it is not given.
CATENA_EXPORT int required(const char* layer, const char* name, const std::optional<int>& number);
}  // namespace internal

}  // namespace nn
