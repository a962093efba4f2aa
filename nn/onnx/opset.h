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
// NoEquivalent for an operand of an elementwise function whose dtype the operators of the opset do not have.
void require_operand(std::int64_t opset, std::string_view function, Dtype dtype);

}  // namespace nn::onnx::internal
