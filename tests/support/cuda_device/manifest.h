// The kernels that the build generates and compiles for the software CUDA device: those of every registered kernel and
// loop in the layouts that tests use most, with a selection of dtypes, those of the structural calls, and some programs
// of several steps. Any other kernel is compiled when a test needs it (jit.h).
#pragma once

#include <string>
#include <vector>

#include <catena/ndarray/cuda/plans/codegen.h>

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

// Returns the number of the loop with a signature ("ff->f"); ValueError if the kernel has none.
int loop_number(const catena::KernelDef& def, const std::string& signature);

// Returns the key of one registered kernel in one form.
nd::cuda::KernelKey key_of(const catena::KernelDef& def, const catena::Loop& loop, nd::cuda::Form form, int rank,
                           int reduced_rank = 1);
// Returns the keys of the structural calls, which use no registered kernel.
std::vector<nd::cuda::KernelKey> structural_keys();

// Returns all kernels, in the order of the registry.
std::vector<nd::cuda::GeneratedKernel> manifest();

// Returns the kernel of a description ("add ff->f contiguous rank=1 ..."), or of "program <name> ..." for a named
// program. The ValueError for another text has the line.
nd::cuda::GeneratedKernel generate(const std::string& line);

}  // namespace cuda_device
