// PyTorch's torch.tensor: a variable of numbers, lists, containers or an array.
//
//   Variable a = autograd::tensor({{1.0, 2.0}, {3.0, 4.0}}, {.requires_grad = true});
//   Variable b = autograd::tensor(std::vector<float>{1, 2}, nd::float64);
#pragma once

#include <concepts>
#include <optional>
#include <string_view>

#include <catena/autograd/array.h>
#include <catena/autograd/memory_format.h>
#include <catena/autograd/ndarray_backend/convert.h>
#include <catena/autograd/variable.h>
#include <catena/ndarray/routines/creation.h>

namespace autograd {

// A device, or its name: "cpu", "cuda", "cuda:1"; ValueError for other texts.
struct CATENA_EXPORT DeviceOption : std::optional<Device> {
  using std::optional<Device>::optional;
  DeviceOption(const std::optional<Device>& device) : optional(device) {}
  template <std::convertible_to<std::string_view> S> DeviceOption(const S& name) : DeviceOption(named(name)) {}

 private:
  static Device named(std::string_view name);
};
// A generator of random numbers that the function advances; default: default_generator().
struct GeneratorOption {
  GeneratorOption() = default;
  GeneratorOption(Generator& g) : generator_(&g) {}
  Generator& get() const { return generator_ != nullptr ? *generator_ : default_generator(); }

 private:
  Generator* generator_ = nullptr;
};
// Options of tensor() and of the functions that make tensors.
struct TensorOptions {
  std::optional<Dtype> dtype = {};
  Layout layout = strided;
  DeviceOption device = {};    // default: the current one
  bool requires_grad = false;  // a Variable made from an array requires its gradient by default
  bool pin_memory = false;     // without effect, as layout and memory_format
  MemoryFormat memory_format = contiguous_format;
  GeneratorOption generator = {};  // of functions of random numbers
};

namespace internal {
CATENA_EXPORT Variable tensor_of(const nd::Values& values, const TensorOptions& options);
CATENA_EXPORT Variable tensor_of(const nd::Array& a, bool is_number, const TensorOptions& options);
// A leaf of the array, on the device of the options. TypeError of tensor() for requires_grad.
CATENA_EXPORT Variable tensor_root(const Array& a, const TensorOptions& options);
}  // namespace internal

// Returns a leaf of a copy of the values. Without a dtype, numbers in braces and single numbers have the one of
// nd::array, but float32 (the dtype of the configuration) in place of float64, as in PyTorch; elements of containers
// and arrays keep theirs. TypeError for requires_grad with a dtype that is neither floating nor complex; errors of
// nd::array. The options may be a dtype alone.
template <nd::internal::DtypeOr<TensorOptions> O = TensorOptions>
Variable tensor(const nd::Values& values, const O& options = {}) {
  return internal::tensor_of(values, nd::internal::with_dtype<TensorOptions>(options));
}
template <std::convertible_to<nd::Array> A, nd::internal::DtypeOr<TensorOptions> O = TensorOptions>
Variable tensor(const A& a, const O& options = {}) {
  return internal::tensor_of(nd::Array(a), false, nd::internal::with_dtype<TensorOptions>(options));
}
template <nd::Element E, nd::internal::DtypeOr<TensorOptions> O = TensorOptions>
Variable tensor(E number, const O& options = {}) {
  return internal::tensor_of(nd::array(number), true, nd::internal::with_dtype<TensorOptions>(options));
}

}  // namespace autograd
