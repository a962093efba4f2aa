// The plans of Fourier transforms that a device keeps: tables of the CPU, plans of cuFFT. The plans that were used last
// stay, up to a number and a size; ndarray/routines/fft_plans.h is the public interface.
//
// Thread safety: may be called from any thread. A plan that is in use lives on after it has been dropped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include <catena/kernels/base/array_header.h>
#include <catena/kernels/registry/fft.h>

namespace nd::internal {

struct FftPlanKey {
  catena::bound::FftKind kind = catena::bound::FftKind::complex;
  catena::Dtype dtype = catena::Dtype::complex128;
  std::int64_t lengths[3] = {1, 1, 1};  // the last one is that of the last axis
  std::int64_t rows = 0;                // 0: any number
  friend bool operator==(const FftPlanKey&, const FftPlanKey&) = default;
};

class CATENA_EXPORT FftPlans {
 public:
  static constexpr std::int64_t kNoLimit = -1;
  FftPlans(std::int64_t size, std::int64_t bytes) : size_(size), bytes_(bytes) {}

  // Returns the kept plan, or the one of `make`, which returns it with its size in bytes. Two threads may make one plan
  // at the same time; the first one is kept.
  template <class Plan, class Make> std::shared_ptr<Plan> get(const FftPlanKey& key, Make&& make) {
    if (std::shared_ptr<void> found = find(key)) return std::static_pointer_cast<Plan>(std::move(found));
    std::pair<std::shared_ptr<Plan>, std::size_t> made = make();
    return std::static_pointer_cast<Plan>(keep(key, std::move(made.first), made.second));
  }

  // The most plans and bytes; kNoLimit: any number. The plan that was used last is kept even if it is larger, except
  // with a size of 0.
  std::int64_t size() const;
  std::int64_t bytes() const;
  void set_size(std::int64_t size);
  void set_bytes(std::int64_t bytes);
  std::int64_t count() const;
  std::int64_t bytes_in_use() const;
  void clear();
  // A line per plan, the one that was used last first: "  complex128 (1000,): 32000 bytes".
  std::string lines() const;

 private:
  struct Entry {
    FftPlanKey key;
    std::shared_ptr<void> plan;
    std::int64_t bytes;
  };
  std::shared_ptr<void> find(const FftPlanKey& key);
  std::shared_ptr<void> keep(const FftPlanKey& key, std::shared_ptr<void> plan, std::size_t bytes);
  // For the holder of the mutex. The surplus is destroyed after the mutex has been released.
  std::shared_ptr<void> move_to_front(const FftPlanKey& key);
  std::list<Entry> take_surplus();

  mutable std::mutex mutex_;
  std::int64_t size_, bytes_, used_ = 0;
  std::list<Entry> entries_;  // the one that was used last first
};

// The plans of a device, which exist until the program ends.
CATENA_EXPORT FftPlans& fft_plans(catena::Device device);

}  // namespace nd::internal
