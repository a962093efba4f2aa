// How the functions of the libraries are written as operators of ONNX. Internal to this folder.
#pragma once

#include <span>
#include <string_view>

#include <catena/nn/onnx/graph_builder.h>

namespace nn::onnx::internal {

// An entry of the table: a function, by the name in its options or its label, and the operators that `write` may add.
struct Operators {
  std::string_view function, operators;
  void (*write)(CallView& call);
};

std::span<const Operators> elementwise_operators() noexcept;
std::span<const Operators> array_operators() noexcept;
std::span<const Operators> reduction_operators() noexcept;
std::span<const Operators> network_operators() noexcept;
std::span<const Operators> normalization_operators() noexcept;
std::span<const Operators> loss_operators() noexcept;
std::span<const Operators> index_operators() noexcept;
std::span<const Operators> region_operators() noexcept;

// Returns x, or x converted.
std::string cast_to(GraphBuilder& b, const std::string& x, Dtype from, Dtype to);
// The name of an array of positions, as int32 or int64, which Gather needs.
std::string positions(GraphBuilder& b, const std::vector<Array>& arrays);
// The positions of several arrays, which broadcast, as one int64 array whose last axis has one for each array.
std::string stacked_positions(GraphBuilder& b, const std::vector<std::vector<Array>>& indices);
// A length as a number of shape ().
std::string number_of(GraphBuilder& b, const Dim& length, Dtype dtype);
// An input of integers as int32 or int64.
std::string labels(CallView& c, std::size_t input);
// Reduces axes of x, keeping them with length 1: ReduceMean and ReduceMax have their axes as an attribute before opset
// 18.
std::string reduce(GraphBuilder& b, const char* op_type, const std::string& x, const std::vector<std::int64_t>& axes,
                   bool keepdims);

}  // namespace nn::onnx::internal
