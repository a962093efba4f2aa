// The kernels that tests execute on the CPU, from their generated text. The build generates and compiles them; a test that needs
// another one adds a line to manifest.cpp.
#pragma once

#include <string>
#include <vector>

#include "ndarray/cuda/codegen.h"

namespace cuda_device {

// Programs of several steps, by name.
struct NamedProgram {
  std::string name;
  std::vector<catena::Step> steps;
  std::vector<catena::Dtype> slots;
  int nin = 0, nout = 1;
  catena::Program program() const {
    return {steps, slots, std::uint8_t(nin), 0, std::uint8_t(nout)};
  }
};
const std::vector<NamedProgram>& named_programs();
const NamedProgram& named_program(const std::string& name);

// Loop number of a signature ("ff->f") of a kernel; ValueError when it has none.
int loop_number(const catena::KernelDef& def, const std::string& signature);

std::vector<nd::cuda::GeneratedKernel> manifest();

}  // namespace cuda_device
