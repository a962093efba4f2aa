// The kernels that the build generates and compiles for the software CUDA device: a line each in manifest.txt, as the
// description in front of their text has it, or "program <name> ..." for a program below. Others are compiled when a
// test needs them; update_manifest.sh adds these.
#pragma once

#include <string>
#include <vector>

#include <catena/ndarray/cuda/compiler/codegen.h>

namespace cuda_device {

// Programs of several steps, by name.
struct NamedProgram {
  std::string name;
  std::vector<catena::Step> steps;
  std::vector<catena::Dtype> slots;
  int nin = 0, nout = 1;
  catena::Program program() const { return {steps, slots, std::uint8_t(nin), 0, std::uint8_t(nout)}; }
};
const std::vector<NamedProgram>& named_programs();
const NamedProgram& named_program(const std::string& name);

// Loop number of a signature ("ff->f") of a kernel; ValueError when it has none.
int loop_number(const catena::KernelDef& def, const std::string& signature);

// The kernel that a line describes; ValueError with the line when it describes none.
nd::cuda::GeneratedKernel generate(const std::string& line);
std::vector<std::string> manifest_lines();
std::vector<nd::cuda::GeneratedKernel> manifest();

}  // namespace cuda_device
