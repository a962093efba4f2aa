// Which operators and attributes an opset has. Internal to this folder.
#pragma once

#include <cstdint>
#include <string_view>

#include <catena/nn/onnx/graph_builder.h>

namespace nn::onnx::internal {

// The opsets of exported files.
constexpr std::int64_t kFirstOpset = 13, kLastOpset = 22;
// The version of the file format in which an opset appeared.
std::int64_t format_of(std::int64_t opset) noexcept;

// NoEquivalent for an operator or an attribute that the opset does not have, with the opset in which it appeared.
void require_operator(std::int64_t opset, std::string_view op_type, const Attributes& attributes);
// NoEquivalent for an operand whose dtype the operators ("Add, Mul") do not have in the opset. The operators are those
// of elementwise functions, or Where.
void require_operand(std::int64_t opset, std::string_view operators, Dtype dtype);

}  // namespace nn::onnx::internal
