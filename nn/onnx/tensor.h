// Tensors of ONNX files as arrays, and the reverse.
#pragma once

#include <string>

#include <catena/autograd/array.h>
#include <catena/nn/onnx/model.h>

namespace nn::onnx {

// Returns the elements of `a` in raw_data, under a name.
CATENA_EXPORT Tensor to_tensor(const autograd::Array& a, const std::string& name = "");

// Returns an array of the default backend and device. TypeError for texts and for types that no array has; ValueError
// for elements that do not fill the shape, and for external data that were not read. Both name the tensor.
CATENA_EXPORT autograd::Array to_array(const Tensor& tensor);

// TypeError for DataType::string and other types that no array has.
CATENA_EXPORT catena::Dtype dtype_of(DataType type);
CATENA_EXPORT DataType data_type_of(catena::Dtype dtype) noexcept;

}  // namespace nn::onnx
