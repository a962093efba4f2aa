// Converts parsed text to an executable program: opcodes become functions, names become numbers and addresses, and
// every branch gets the step where its paths meet again.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <catena/tests/support/cuda_device/ptx/parser.h>
#include <catena/tests/support/cuda_device/ptx/program.h>

namespace cuda_device::ptx {

// An opcode split into words: "setp.lt.s32" is {"setp", "lt", "s32"}.
using Words = std::vector<std::string_view>;
bool has(const Words& words, std::string_view word);

// Services of the routine being decoded for the decoders of instruction groups (arithmetic.h, memory.h, lanes.h). All
// functions throw Fault, without the line.
class Operands {
 public:
  virtual ~Operands() = default;
  // Returns the number of the register that is written; "_" is a register that is never read.
  virtual std::int32_t destination(const Operand& operand) = 0;
  // Returns the number of a register, or of the constant for a literal or the address of a variable.
  virtual std::int32_t source(const Operand& operand) = 0;
  virtual std::int32_t constant(std::uint64_t value) = 0;
  // Returns the number of a predicate, or of a literal 0 or 1.
  virtual std::int32_t predicate(const Operand& operand) = 0;
  // Sets the register (from[0]) and the offset of a memory operand, and the space unless the instruction has one.
  virtual void address(const Operand& operand, Step& step) = 0;
  // Returns null if there is no variable of that name.
  virtual const Variable* variable(std::string_view name) const = 0;
};

// Throws a Fault such as "line 12: unknown instruction: foo.s32 %r1, %r2;".
void decode(std::string_view text, Program& program);

// Sets, for steps that branch, the number of the step at which all paths meet again (the immediate post-dominator); -1
// if they meet only at the end.
void find_reconvergence(std::vector<Step>& steps);

}  // namespace cuda_device::ptx
