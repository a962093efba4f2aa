// The C++ text of a program: one loop over blocks of elements that stay in registers and in the closest cache between
// the steps. See compiled_program.h for who compiles it.
#pragma once

#include <string>

#include <catena/kernels/registry/program.h>

namespace nd::cpu {

// extern "C" void run_program(char* const* ptr, long n): n neighbouring elements of every operand, or one element for
// all of them where bit k of `scalars` is set, in the compute types of their slots; an output may be the same memory as
// an input. The results have the bits that the loops of the rows give: the bodies are the same, and those that call
// mathematical functions have a loop of their own over whole blocks, as in the rows.
//
// Empty if the program is not of this form: with indexed or random steps, 16-bit floats, complex numbers, bools that
// are read from memory, or a step that computes in another type than its slots have.
std::string text_of(const catena::Program& program, unsigned scalars);

inline constexpr const char* kProgramEntry = "run_program";

}  // namespace nd::cpu
