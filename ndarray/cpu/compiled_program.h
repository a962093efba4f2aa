// Programs of several steps as loops that the system's compiler has made of their text, in place of the interpreter.
//
// A program that costs the interpreter enough (about a tenth of a second in this process) is compiled once, by a thread
// that starts one compiler at a time with the lowest priority, and kept in the cache of host_compiler.h. Until then,
// and where there is no compiler, it fails, or the program has no text, the interpreter runs it: the results have the
// same bits. That is tested before a loop is used: on drawn values it must agree with the interpreter.
//
// $CATENA_COMPILE_FUSED=off: nothing is compiled. Programs of a sanitizer's build are not compiled either.
//
// The end of the process does not wait: a compiler that runs is killed. A child of fork() begins anew.
//
// Thread safety: all functions may be called from any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include <catena/kernels/base/export.h>
#include <catena/kernels/registry/program.h>

namespace nd::cpu {

// See text_of() in program_text.h.
using ProgramLoop = void (*)(std::byte* const* ptr, std::int64_t n);

struct CompiledProgram {
  ProgramLoop run = nullptr;  // null: there is none
  unsigned scalars = 0;       // bit k: run() reads one element of operand k
};

// Notes that a program runs over n elements, and returns its loop if it has been compiled.
CompiledProgram compiled_program(const catena::Program& program, std::span<const catena::BoundOperand> operands,
                                 std::int64_t n);

// Operations per element; a mathematical function counts as four.
std::int64_t cost_of(const catena::Program& program);

struct ProgramStatistics {
  std::uint64_t compiled = 0;  // programs whose loops are in use
  std::uint64_t refused = 0;   // programs that stay with the interpreter: of those, the loops of which differed
  std::uint64_t differing = 0;
  std::string last_failure;  // the message of the compiler, or why there is none
};
CATENA_EXPORT ProgramStatistics compiled_program_statistics();

// For tests and benchmarks. How much a program must cost before it is compiled: elements times cost_of();
// negative: none is compiled, and none is used that is.
// Gives the number before.
CATENA_EXPORT std::int64_t set_program_compilation(std::int64_t least_cost);
// Until no program is being compiled.
CATENA_EXPORT void wait_for_program_compilation();

}  // namespace nd::cpu
