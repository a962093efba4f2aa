#include <catena/tests/support/cuda_device/ptx/instruction_class.h>

#include <algorithm>
#include <initializer_list>
#include <vector>

#include <catena/tests/support/cuda_device/ptx/decode.h>

namespace cuda_device::ptx {
namespace {

// The opcode without its guard, divided at the points.
Words opcode_of(std::string_view text) {
  const auto skip_blanks = [&] { text.remove_prefix(std::min(text.find_first_not_of(" \t\n{"), text.size())); };
  skip_blanks();
  if (text.starts_with("@")) {
    text.remove_prefix(std::min(text.find_first_of(" \t"), text.size()));
    skip_blanks();
  }
  text = text.substr(0, text.find_first_of(" \t;"));
  Words words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('.'), text.size());
    words.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (words.empty()) words.emplace_back();
  return words;
}

bool any(std::string_view word, std::initializer_list<std::string_view> among) {
  return std::find(among.begin(), among.end(), word) != among.end();
}

// The two types of a conversion such as "cvt.rn.f32.s32".
InstructionClass conversion(const Words& words) {
  const std::string_view to = words[words.size() - 2], from = words.back();
  const auto whole = [](std::string_view type) {
    return type.starts_with("s") || type.starts_with("u") || type.starts_with("b");
  };
  const bool bfloat = to.starts_with("bf") || from.starts_with("bf");
  if (!bfloat && whole(to) && whole(from)) return InstructionClass::integer;
  return to == "f64" || from == "f64" ? InstructionClass::float64 : InstructionClass::convert;
}

InstructionClass arithmetic(const Words& words) {
  const std::string_view op = words[0], type = words.back();
  const bool slow = any(op, {"div", "sqrt", "rcp", "rsqrt"});
  if (has(words, "approx") || any(op, {"ex2", "lg2", "sin", "cos", "tanh"})) return InstructionClass::special;
  if (type == "f64") return slow ? InstructionClass::float64_slow : InstructionClass::float64;
  if (type == "f32") return slow ? InstructionClass::float32_slow : InstructionClass::float32;
  if (type.starts_with("f16") || type.starts_with("bf16")) return InstructionClass::half;
  if (type == "pred") return InstructionClass::compare;
  const bool wide = any(type, {"s64", "u64", "b64"});
  if (any(op, {"div", "rem"})) return wide ? InstructionClass::divide64 : InstructionClass::divide;
  if (any(op, {"mul", "mad"})) return wide ? InstructionClass::multiply64 : InstructionClass::multiply;
  if (any(type, {"s8", "u8", "b8", "s16", "u16", "b16", "s32", "u32", "b32"})) return InstructionClass::integer;
  return wide ? InstructionClass::integer64 : InstructionClass::other;
}

}  // namespace

InstructionClass class_of(std::string_view text) {
  const Words words = opcode_of(text);
  const std::string_view op = words[0];
  if (any(op, {"ld", "ldu", "st"}))
    return has(words, "param") || has(words, "const") ? InstructionClass::move : InstructionClass::global;
  if (any(op, {"atom", "red"})) return InstructionClass::atomic;
  if (op == "mma") return InstructionClass::tensor;
  if (op == "ldmatrix" || (op == "cp" && has(words, "global"))) return InstructionClass::global;
  if (op == "cp") return InstructionClass::control;
  if (any(op, {"mov", "cvta", "isspacep", "prefetch", "prefetchu", "discard", "applypriority"}))
    return InstructionClass::move;
  if (any(op, {"bra", "brx", "ret", "exit", "call"})) return InstructionClass::control;
  if (any(op, {"bar", "barrier", "membar", "fence"}) && !has(words, "warp")) return InstructionClass::barrier;
  if (any(op, {"shfl", "vote", "activemask", "match", "redux", "bar"})) return InstructionClass::lanes;
  if (any(op, {"setp", "set", "selp", "slct"})) return InstructionClass::compare;
  if (op == "cvt") return conversion(words);
  return arithmetic(words);
}

bool is_store(std::string_view text) { return opcode_of(text)[0] == "st"; }
bool is_read_only_load(std::string_view text) {
  const Words words = opcode_of(text);
  return words[0] == "ld" && has(words, "nc");
}

}  // namespace cuda_device::ptx
