// The C++ text of a program: one loop over blocks of elements, which stay in registers and in the first-level cache
// between the steps. compiled_program.h compiles it.
#pragma once

#include <string>

#include <catena/kernels/registry/program.h>

namespace nd::cpu {

// Returns the text of extern "C" void run_program(char* const* ptr, long n). The function computes n elements of
// contiguous operands in the compute types of their slots; if bit k of `scalars` is set, operand k is one element for
// all. An output may be the same memory as an input. The results have the same bits as those of the kernels' loops: the
// bodies are the same, and bodies that call mathematical functions have their own loop over whole blocks.
//
// Returns an empty string for programs with indexed or random steps, 16-bit floats, complex numbers, bools that are
// read from memory, or a step that computes in another type than its slots have.
std::string text_of(const catena::Program& program, unsigned scalars);

inline constexpr const char* kProgramEntry = "run_program";

}  // namespace nd::cpu
