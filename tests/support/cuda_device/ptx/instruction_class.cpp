#include <catena/tests/support/cuda_device/ptx/instruction_class.h>

#include <algorithm>
#include <initializer_list>
#include <utility>
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

// The bits of an integer type such as "u32"; 0 for other types.
int integer_bits(std::string_view type) {
  if (type.size() < 2 || !any(type.substr(0, 1), {"s", "u", "b"}) || type.starts_with("bf")) return 0;
  int bits = 0;
  for (char c : type.substr(1)) bits = 10 * bits + (c - '0');
  return bits;
}

// The two types of a conversion such as "cvt.rn.f32.s32". The low half of a register pair is a register, and so is the
// high one after a shift by 32 (names_half); the machine code has no instruction for them. A float16 becomes a float32
// by an addition of halves.
InstructionClass conversion(const Words& words) {
  const std::string_view to = words[words.size() - 2], from = words.back();
  const int to_bits = integer_bits(to), from_bits = integer_bits(from);
  if (to_bits > 0 && from_bits > 0) {
    const bool narrower = to_bits < from_bits && to_bits >= 16, extended_by_zeros = from == "u32" && to_bits == 64;
    return narrower || extended_by_zeros ? InstructionClass::move : InstructionClass::integer;
  }
  if (to == "f32" && from == "f16") return InstructionClass::half;
  return to == "f64" || from == "f64" ? InstructionClass::float64 : InstructionClass::convert;
}

std::string_view last_operand(std::string_view text) {
  text.remove_prefix(text.find_last_of(',') + 1);
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  return text.substr(0, text.find_first_of("; \t"));
}
// "shr.u64 %rd2, %rd1, 32;"
bool names_half(const Words& words, std::string_view text) {
  return words[0] == "shr" && any(words.back(), {"u64", "b64"}) && last_operand(text) == "32";
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
  if (names_half(words, text)) return InstructionClass::move;
  return arithmetic(words);
}

void Merged::find(std::string_view text, std::int32_t result, std::span<const std::int32_t> operands,
                  InstructionClass& kind) {
  const Words words = opcode_of(text);
  const std::string_view op = words[0], type = words.back();
  const auto among = [&](const auto& made) {
    return std::find_if(operands.begin(), operands.end(), [&](std::int32_t r) { return r >= 0 && made.contains(r); });
  };
  if (op == "mul" && has(words, "wide")) {
    products_[result] = false;
  } else if (op == "add" && any(type, {"s64", "u64"})) {
    if (const auto found = among(products_); found != operands.end())
      kind = std::exchange(products_[*found], true) ? InstructionClass::multiply : InstructionClass::move;
  } else if (any(op, {"and", "or", "xor"}) && type == "b32") {
    logic_.insert(result);
  } else if (op == "setp" && (has(words, "eq") || has(words, "ne")) && any(type, {"s32", "u32", "b32"})) {
    if (last_operand(text) == "0" && among(logic_) != operands.end()) kind = InstructionClass::move;
  }
}

bool is_store(std::string_view text) { return opcode_of(text)[0] == "st"; }
bool is_read_only_load(std::string_view text) {
  const Words words = opcode_of(text);
  return words[0] == "ld" && has(words, "nc");
}

}  // namespace cuda_device::ptx
