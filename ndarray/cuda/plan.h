// From a bound call of the seam to what a launch needs: the key of the kernel, its parameters, grid and scratch memory. Pure functions:
// they touch no device, and the order of combination in reductions depends on their results alone.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include "kernels/device/parameters.h"
#include "kernels/host/calls.h"
#include "ndarray/cuda/kernel_key.h"

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

 private:
  alignas(16) std::array<std::byte, catena::device::kParameterBytes> bytes_{};
  std::size_t size_ = 0;
};

// Every launch has blocks of kBlock threads.
struct LaunchPlan {
  KernelKey key;  // arch and text are the launcher's to fill in
  ParameterBlock parameters;
  std::uint32_t grid_x = 0, grid_y = 1;  // grid_x 0: nothing to do
};

// `processors`: multiprocessors of the device; more blocks than fill them several times over are not launched.
CATENA_EXPORT LaunchPlan plan_elementwise(const catena::Program& program, std::span<const catena::Operand> operands,
                                          const catena::Shape& loop, int processors);

struct ReducePlan {
  LaunchPlan first;
  std::size_t partial_bytes = 0;            // scratch memory for the accumulators of split reductions, 0 when there is one stage
  std::optional<LaunchPlan> second;
  CATENA_EXPORT void set_partial(void* memory);
};
CATENA_EXPORT ReducePlan plan_reduce(const catena::ReduceCall& call, int processors);

CATENA_EXPORT LaunchPlan plan_rows(const catena::RowCall& call, int processors);

// The table goes to device memory first (any address aligned to 8); set_table then completes the parameters.
struct MultiTensorPlan {
  LaunchPlan launch;
  std::vector<std::byte> table;
  std::size_t chunks_at = 0, hyper_at = 0;  // offsets in the table; the tensors come first
  CATENA_EXPORT void set_table(const void* device_memory);
};
CATENA_EXPORT MultiTensorPlan plan_multi_tensor(const catena::MultiTensorCall& call);

}  // namespace nd::cuda
