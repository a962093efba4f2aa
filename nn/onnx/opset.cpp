#include <catena/nn/onnx/opset.h>

namespace nn::onnx::internal {
namespace {

// What appeared after the first opset, of all that the functions of this folder write: an operator, or one of its
// attributes. (github.com/onnx/onnx, docs/Changelog.md.)
struct Since {
  std::string_view op_type, attribute;
  std::int64_t opset;
};
constexpr Since kSince[] = {
    {"BatchNormalization", "training_mode", 14},
    {"DFT", "", 17},
    {"GridSample", "", 16},
    {"HardSwish", "", 14},
    {"LSTM", "layout", 14},
    {"LayerNormalization", "", 17},
    {"Reshape", "allowzero", 14},
    {"RoiAlign", "coordinate_transformation_mode", 16},
    {"ScatterElements", "reduction", 16},
    {"ScatterND", "reduction", 16},
    {"Shape", "end", 15},
    {"Shape", "start", 15},
    {"Trilu", "", 14},
};

bool has(const Attributes& attributes, std::string_view name) {
  for (const Attribute& a : attributes)
    if (a.name == name) return true;
  return false;
}

}  // namespace

std::int64_t format_of(std::int64_t opset) noexcept {
  if (opset >= 21) return 10;
  if (opset >= 19) return 9;
  return opset >= 15 ? 8 : 7;
}

void require_operator(std::int64_t opset, std::string_view op_type, const Attributes& attributes) {
  for (const Since& s : kSince) {
    if (s.op_type != op_type || opset >= s.opset || (!s.attribute.empty() && !has(attributes, s.attribute))) continue;
    refuse("the operator ", op_type, s.attribute.empty() ? "" : " with ", s.attribute, " is not in opset ", opset,
           "; {.opset_version = ", s.opset, "} has it");
  }
}

void require_operand(std::int64_t opset, std::string_view function, Dtype dtype) {
  const bool is_narrow = catena::is_integer(dtype) && catena::itemsize(dtype) < 4;
  std::int64_t since = kFirstOpset;
  if (dtype == Dtype::bfloat16) since = 16;
  else if (is_narrow || (function == "relu" && catena::is_integer(dtype))) since = 14;
  require(opset >= since, "the operators of opset ", opset, " do not take ", dtype, "; {.opset_version = ", since,
          "} has them");
}

}  // namespace nn::onnx::internal
