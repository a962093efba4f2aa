// Programs of several steps as compiled loops. The system's compiler makes them from the program's text; they replace
// the interpreter.
//
// A program that has cost the interpreter enough in this process is compiled once, by the call that reaches this cost,
// and kept in the cache of host_compiler.h. Meanwhile the interpreter runs the programs of other threads. It continues
// to run a program if there is no compiler, the compilation fails or the program has no text. The results have the same
// bits: before a loop is used, it is compared with the interpreter on random values.
//
// $CATENA_COMPILE_FUSED=off disables compilation. Builds with a sanitizer do not compile programs either.
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
  ProgramLoop run = nullptr;  // null: not compiled
  unsigned scalars = 0;       // bit k: run() reads one element of operand k for all elements
};

// Records that a program runs over n elements. Returns its loop if it has been compiled.
CompiledProgram compiled_program(const catena::Program& program, std::span<const catena::BoundOperand> operands,
                                 std::int64_t n);

// Returns the number of operations per element; a mathematical function counts as four.
std::int64_t cost_of(const catena::Program& program);

struct ProgramStatistics {
  std::uint64_t compiled = 0;  // programs whose loops are in use
  std::uint64_t refused = 0;   // programs that stay with the interpreter
  // Number of refused programs whose loops gave other results than the interpreter.
  std::uint64_t differing = 0;
  std::string last_failure;  // message of the compiler, or why there is no compiler
};
CATENA_EXPORT ProgramStatistics compiled_program_statistics();

// For tests and benchmarks. Sets the cost (elements times cost_of()) from which on a program is compiled; with a
// negative value, no program is compiled and no compiled loop is used. Returns the value before.
CATENA_EXPORT std::int64_t set_program_compilation(std::int64_t least_cost);

}  // namespace nd::cpu
