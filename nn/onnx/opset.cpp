#include <catena/nn/onnx/opset.h>

#include <algorithm>
#include <span>

namespace nn::onnx::internal {
namespace {

// The operators and attributes that the functions of this folder write and that the first opset lacks, with the opset
// in which each appeared. (github.com/onnx/onnx, docs/Changelog.md.)
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

// The first opsets in which operators take bfloat16, and integers below 32 bits (Relu: any integers). Operators that
// are not listed take them in the first opset already.
struct TakesSince {
  std::string_view op_type;
  std::int64_t opset;
};
constexpr TakesSince kBfloat16[] = {
    {"Acos", 22},           {"Acosh", 22},       {"Asin", 22},      {"Asinh", 22},     {"Atan", 22},
    {"Atanh", 22},          {"Cos", 22},         {"Cosh", 22},      {"CumSum", 14},    {"Elu", 22},
    {"GreaterOrEqual", 16}, {"HardSigmoid", 22}, {"HardSwish", 22}, {"LeakyRelu", 16}, {"LessOrEqual", 16},
    {"PRelu", 16},          {"Round", 22},       {"Selu", 22},      {"Sin", 22},       {"Sinh", 22},
    {"Softplus", 22},       {"Tan", 22},         {"Where", 16},
};
constexpr TakesSince kNarrowIntegers[] = {{"Add", 14}, {"Div", 14}, {"Mul", 14}, {"Relu", 14}, {"Sub", 14}};

// The first opset that has all of the operators, which are separated by ", ".
std::int64_t since(std::span<const TakesSince> table, std::string_view operators) {
  std::int64_t opset = kFirstOpset;
  while (!operators.empty()) {
    const std::string_view one = operators.substr(0, operators.find(','));
    operators.remove_prefix(std::min(operators.size(), one.size() + 2));
    for (const TakesSince& t : table)
      if (t.op_type == one) opset = std::max(opset, t.opset);
  }
  return opset;
}

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

void require_operand(std::int64_t opset, std::string_view operators, Dtype dtype) {
  const bool is_narrow = catena::is_integer(dtype) && catena::itemsize(dtype) < 4;
  std::int64_t needed = kFirstOpset;
  if (dtype == Dtype::bfloat16) needed = since(kBfloat16, operators);
  else if (is_narrow || (operators == "Relu" && catena::is_integer(dtype))) needed = since(kNarrowIntegers, operators);
  require(opset >= needed, "the operators of opset ", opset, " do not take ", dtype, "; {.opset_version = ", needed,
          "} has them");
}

}  // namespace nn::onnx::internal
