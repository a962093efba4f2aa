// From registry rows to the text that NVRTC compiles: the header of each row, the call of its body, a launch skeleton
// of kernels/device/. A text holds types and ranks, never the value of a scalar.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <catena/ndarray/cuda/compiler/kernel_key.h>

namespace nd::cuda {

struct CATENA_EXPORT GeneratedKernel {
  std::string name;                  // of the extern "C" function: what is computed, and a hash of the key
  std::vector<std::string> headers;  // to include, without repetition
  std::string body;                  // everything after the includes
  std::string parameters;            // type of its one parameter (kernels/device/parameters.h)
  std::size_t parameter_bytes = 0;   // its size
  std::string source() const;
};

// A kernel for an elementwise or indexed program; `key` says for which operands.
CATENA_EXPORT GeneratedKernel generate(const catena::Program& program, const KernelKey& key);

// The programs of a reduction, as in catena::ReduceCall; null where there is none.
struct Surroundings {
  const catena::Program* pre = nullptr;
  const catena::Program* post = nullptr;
  Dtype element = {};  // with `pre`: of what is reduced

  std::size_t inputs() const { return pre != nullptr ? pre->nin : 1; }
  // All operands: inputs, those of `post` behind the reduced value, the output.
  std::size_t operands() const { return inputs() + (post != nullptr ? post->nin - 1u : 0u) + 1; }
};
// A kernel for a reduction (or a scan by its bodies), row or multi-tensor row of the registry, or for a random fill.
CATENA_EXPORT GeneratedKernel generate(const catena::KernelDef& def, const catena::Loop& loop, const KernelKey& key,
                                       const Surroundings& around = {});
// KernelKey::program of a reduction.
CATENA_EXPORT std::uint64_t reduction_hash(const catena::KernelDef& def, const catena::Loop& loop,
                                           const Surroundings& around);

// A kernel of one of the forms that are known by their key alone: Form::gather and those behind it.
CATENA_EXPORT GeneratedKernel generate(const KernelKey& key);

// One text with all of them. Kernels that are compiled together cost half as much each.
CATENA_EXPORT std::string batch_source(std::span<const GeneratedKernel> kernels);

// Elements that a thread of a contiguous or multi-tensor kernel moves at once: 16 bytes of the widest operand.
CATENA_EXPORT int vector_width(std::span<const Dtype> operands, unsigned scalars);
// Axes that generic elementwise kernels have room for: 32, or less for many operands.
CATENA_EXPORT int generic_rank(int operands, int raw_operands);
// The same of reductions, for the kept axes and for the reduced ones.
CATENA_EXPORT int reduction_rank(std::size_t inputs, std::size_t operands);
// The same of kernels that index by `axes` arrays.
CATENA_EXPORT int gather_rank(int axes);

// Which operands of a program are raw, a bit each, and whether it has an indexed step.
struct Indexing {
  unsigned raw = 0;
  bool indexed = false;
};
CATENA_EXPORT Indexing indexing_of(const catena::Program& program);

}  // namespace nd::cuda
