// From parsed text to a program that can be executed: opcodes become functions, names become numbers and addresses,
// and every branch learns where its paths meet again.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <catena/tests/support/cuda_device/ptx/parser.h>
#include <catena/tests/support/cuda_device/ptx/program.h>

namespace cuda_device::ptx {

// "setp.lt.s32" as {"setp", "lt", "s32"}.
using Words = std::vector<std::string_view>;
bool has(const Words& words, std::string_view word);

// What the decoders of instruction groups (arithmetic.h, memory.h, lanes.h) need from the routine in work. All throw
// Fault, without the line.
class Operands {
 public:
  virtual ~Operands() = default;
  // The number of the register that is written; "_" is a register that nothing reads.
  virtual std::int32_t destination(const Operand& operand) = 0;
  // The number of a register, or that of the constant that a literal or the address of a variable is.
  virtual std::int32_t source(const Operand& operand) = 0;
  virtual std::int32_t constant(std::uint64_t value) = 0;
  // Of a predicate or a literal 0 or 1.
  virtual std::int32_t predicate(const Operand& operand) = 0;
  // Sets the space if the instruction names none, the register (from[0]) and the offset of a memory operand.
  virtual void address(const Operand& operand, Step& step) = 0;
  // Null: a name of none.
  virtual const Variable* variable(std::string_view name) const = 0;
};

// Throws Fault; "line 12: unknown instruction: foo.s32 %r1, %r2;".
void decode(std::string_view text, Program& program);

// The number of the step at which all paths from each step meet again (its immediate post-dominator), for steps that
// branch; -1: none but the end.
void find_reconvergence(std::vector<Step>& steps);

}  // namespace cuda_device::ptx
