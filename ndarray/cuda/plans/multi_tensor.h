// Launches over tables of tensors. The table of a call (kernels/registry/tensor_table.h) has a copy in device memory,
// which is kept with it: a call copies only the changes since the last call, usually nothing. Hyperparameters that all
// tensors share are a parameter of the launch. Internal to ndarray/cuda.
#pragma once

#include <cstddef>
#include <vector>

#include <catena/kernels/registry/tensor_table.h>
#include <catena/ndarray/cuda/plans/plan.h>
#include <catena/ndarray/device/types.h>

namespace nd::cuda {

void run(const catena::call::MultiTensor& call, StreamRef stream);

// Returns a plan without tensors; TableImage::complete adds them.
CATENA_EXPORT LaunchPlan plan_multi_tensor(const catena::KernelDef& kernel, int loop);

// The content of the device memory: the chunks, the entries of the tensors, the hyperparameters of a call.
class CATENA_EXPORT TableImage {
 public:
  struct Range {
    std::size_t begin = 0, end = 0;
    bool empty() const { return begin == end; }
  };

  // Stores the changes since the last call and returns the range of the changed bytes. `live`: the hyperparameters are
  // read from there even if all tensors share them.
  Range update(const catena::call::MultiTensor& call, bool live = false);
  std::span<const std::byte> bytes() const { return bytes_; }
  std::size_t hyper_at() const { return hyper_at_; }
  // Sets the parameters of a launch over the copy at `device_memory` (aligned to 8).
  void complete(LaunchPlan& plan, const catena::call::MultiTensor& call, const void* device_memory) const;

 private:
  Range take(std::size_t at, const void* from, std::size_t bytes);

  std::vector<std::byte> bytes_;
  std::size_t rows_at_ = 0, hyper_at_ = 0;
  std::uint64_t version_ = 0, layout_version_ = 0;  // of the table in the last call
};

}  // namespace nd::cuda
