// The kernels that the build generates and compiles for the software CUDA device: those of every row and loop of the
// registry in the layouts that tests have most, with a thinned choice of dtypes, those of the structural calls, and
// some programs of several steps. Any other kernel is compiled when a test needs it (jit.h).
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

// Loop number of a signature ("ff->f") of a kernel; ValueError when it has none.
int loop_number(const catena::KernelDef& def, const std::string& signature);

// Of one row in one form.
nd::cuda::KernelKey key_of(const catena::KernelDef& def, const catena::Loop& loop, nd::cuda::Form form, int rank,
                           int reduced_rank = 1);
// Kernels of the structural calls, that no row of the registry is part of.
std::vector<nd::cuda::KernelKey> structural_keys();

// All of them, in the order of the registry.
std::vector<nd::cuda::GeneratedKernel> manifest();

// The kernel that a description ("add ff->f contiguous rank=1 ...") tells, or "program <name> ..." for a named program;
// ValueError with the line when it tells none.
nd::cuda::GeneratedKernel generate(const std::string& line);

}  // namespace cuda_device
