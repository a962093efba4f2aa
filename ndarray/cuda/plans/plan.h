// From a bound call of the seam to what a launch needs: the key of the kernel, its parameters, grid and scratch memory.
// Pure functions: they touch no device, and the order of combination in reductions depends on their results alone.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include <catena/kernels/base/small_vector.h>
#include <catena/kernels/device/parameters.h>
#include <catena/kernels/rows/calls.h>
#include <catena/ndarray/cuda/compiler/codegen.h>

namespace nd::cuda {

// The parameter of a kernel, filled field by field in the order of its struct in kernels/device/parameters.h.
class ParameterBlock {
 public:
  const std::byte* data() const { return bytes_.data(); }
  std::size_t size() const { return size_; }  // rounded up to the struct's alignment by finish()
  void put(std::int64_t v) { append(&v, sizeof v); }
  void put(const void* p) { append(&p, sizeof p); }
  CATENA_EXPORT void append(const void* bytes, std::size_t n);
  void align(std::size_t to) { size_ = (size_ + to - 1) / to * to; }
  // Overwrites a pointer that was put at `at`.
  CATENA_EXPORT void set_pointer(std::size_t at, const void* p);
  // A pointer into scratch memory, which set_scratch supplies.
  CATENA_EXPORT void put_scratch(std::size_t offset);
  CATENA_EXPORT void set_scratch(void* memory);

 private:
  struct InScratch {
    std::size_t at, offset;
  };
  alignas(16) std::array<std::byte, catena::device::kParameterBytes> bytes_{};
  std::size_t size_ = 0;
  std::array<InScratch, 8> in_scratch_{};
  std::size_t num_in_scratch_ = 0;
};

// Every launch has blocks of kBlock threads. What it points to belongs to the call that was planned.
struct LaunchPlan {
  KernelKey key;  // arch and text are the launcher's to fill in
  // What runs: a program, or the bodies of a row with the programs around them, or what the key alone tells
  // (Form::gather...).
  const catena::Program* program = nullptr;
  const catena::KernelDef* kernel = nullptr;
  int loop = 0;
  Surroundings around = {};
  ParameterBlock parameters;
  std::uint32_t grid_x = 0, grid_y = 1;  // grid_x 0: nothing to do
};

CATENA_EXPORT GeneratedKernel generate(const LaunchPlan& plan);

// Launches on one stream, one after the other, over common scratch memory (aligned to 256; any content).
struct Sequence {
  catena::SmallVector<LaunchPlan, 1> launches;
  std::size_t scratch_bytes = 0;
  CATENA_EXPORT void set_scratch(void* memory);
  // Room for `bytes` more: its offset.
  std::size_t reserve(std::size_t bytes);
};

// `processors`: multiprocessors of the device; more blocks than fill them several times over are not launched.
CATENA_EXPORT LaunchPlan plan_elementwise(const catena::Program& program,
                                          std::span<const catena::BoundOperand> operands, const catena::Shape& loop,
                                          int processors);

// ValueError for more operands than kMaxOperands, or more axes that do not merge than there is room for beside so many.
CATENA_EXPORT Sequence plan_reduce(const catena::ReduceCall& call, int processors);

CATENA_EXPORT LaunchPlan plan_rows(const catena::RowCall& call, int processors);

// The table goes to device memory first (any address aligned to 8); set_table then completes the parameters.
struct MultiTensorPlan {
  LaunchPlan launch;
  std::vector<std::byte> table;
  std::size_t chunks_at = 0, hyper_at = 0;  // offsets in the table; the tensors come first
  CATENA_EXPORT void set_table(const void* device_memory);
};
CATENA_EXPORT MultiTensorPlan plan_multi_tensor(const catena::MultiTensorCall& call);

// Out of several values for one element any one stays, as in NumPy; the CPU backend keeps the last. IndexError for
// index arrays that are not of integers, or for indices into nothing; ValueError for more index arrays than 15.
CATENA_EXPORT LaunchPlan plan_gather(const catena::GatherCall& call, int processors);
CATENA_EXPORT LaunchPlan plan_scatter(const catena::GatherCall& call, catena::ScatterMode mode, int processors);

// `device_offset`: null, or device memory with a number that is added to the offset when the kernel runs. TypeError for
// a dtype that the kind of numbers does not come in.
CATENA_EXPORT LaunchPlan plan_random(const catena::RandomCall& call, const std::uint64_t* device_offset,
                                     int processors);

CATENA_EXPORT Sequence plan_matmul(const catena::MatmulCall& call, int processors);

CATENA_EXPORT Sequence plan_scan(const catena::ScanCall& call, int processors);
CATENA_EXPORT Sequence plan_nonzero(const catena::NonzeroCall& call, int processors);
// ValueError for rows of 2^32 elements and more.
CATENA_EXPORT Sequence plan_sort(const catena::SortCall& call, int processors);

}  // namespace nd::cuda
