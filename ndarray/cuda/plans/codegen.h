// Generates the text that NVRTC compiles for a kernel: the header with the kernel's body, the call of the body, and a
// launch skeleton of kernels/device/. A text depends on types and ranks, never on the value of a scalar.
#pragma once

#include <span>

#include <catena/ndarray/cuda/compiler/generated_kernel.h>
#include <catena/ndarray/cuda/compiler/kernel_key.h>

namespace nd::cuda {

// A kernel for an elementwise or indexed program, with the operand types and layouts of `key`.
CATENA_EXPORT GeneratedKernel generate(const catena::Program& program, const KernelKey& key);

// The programs before and after a reduction, as in catena::bound::Reduce; null if there is none.
struct FusedPrograms {
  const catena::Program* pre = nullptr;
  const catena::Program* post = nullptr;
  Dtype element = {};  // with `pre`: dtype of the reduced elements

  std::size_t inputs() const { return pre != nullptr ? pre->nin : 1; }
  // Number of operands: the inputs, the inputs of `post` after the reduced value, the output.
  std::size_t operands() const { return inputs() + (post != nullptr ? post->nin - 1u : 0u) + 1; }
};
// Generates a kernel for a reduction, scan, row-wise or multi-tensor kernel, or for a random fill.
CATENA_EXPORT GeneratedKernel generate(const catena::KernelDef& def, const catena::Loop& loop, const KernelKey& key,
                                       const FusedPrograms& fused = {});
// Returns the value of KernelKey::program for a reduction.
CATENA_EXPORT std::uint64_t reduction_hash(const catena::KernelDef& def, const catena::Loop& loop,
                                           const FusedPrograms& fused);

// A kernel of a family that the key alone describes: Family::gather and the families after it.
CATENA_EXPORT GeneratedKernel generate(const KernelKey& key);

// Elements that a thread of a contiguous or multi-tensor kernel accesses at once: 16 bytes of the widest operand.
CATENA_EXPORT int vector_width(std::span<const Dtype> operands, unsigned scalars);
// Returns the highest rank of generic elementwise kernels: 32, or less if there are many operands.
CATENA_EXPORT int generic_rank(int operands, int raw_operands);
// As generic_rank() for reductions, for the kept and for the reduced axes.
CATENA_EXPORT int reduction_rank(std::size_t inputs, std::size_t operands);
// As generic_rank() for gather and scatter with `axes` index arrays.
CATENA_EXPORT int gather_rank(int axes);

// The raw operands of a program as a bit mask, and whether it has an indexed step.
struct Indexing {
  unsigned raw = 0;
  bool indexed = false;
};
CATENA_EXPORT Indexing indexing_of(const catena::Program& program);

// True if the program calls mathematical functions. Such bodies are long and limited by arithmetic, so more than
// kHeavyWidth copies of them in the code are not faster.
CATENA_EXPORT bool is_heavy(const catena::Program& program);
inline constexpr int kHeavyWidth = 4;  // elements per thread

}  // namespace nd::cuda
