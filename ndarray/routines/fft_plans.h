// The plans of Fourier transforms that are kept for the next call, as cupy.fft.config.get_plan_cache():
//
//   nd::fft::config::get_plan_cache().set_memsize(64 << 20);
//   nd::fft::config::show_plan_cache_info();
//
// A plan belongs to a length and a dtype on the CPU, and to kind, lengths, dtype and number of rows on a GPU with
// cuFFT; without cuFFT a GPU has no plans. Its bytes are those of its tables on the CPU, and of its work space, which
// is memory of the pool during a call, on a GPU. All threads share the plans of a device.
//
// Thread safety: may be called from any thread.
#pragma once

#include <cstdint>
#include <string>

#include <catena/kernels/base/export.h>
#include <catena/ndarray/device/device.h>

namespace nd::fft {

// The kept plans of a device.
class CATENA_EXPORT PlanCache {
 public:
  explicit PlanCache(Device device) : device_(device) {}
  Device device() const noexcept { return device_; }

  // The most plans; -1: no limit, 0: none are kept. Initially 32 on the CPU and 16 on a GPU. ValueError below -1.
  std::int64_t get_size() const;
  void set_size(std::int64_t size) const;
  // The most bytes of all plans; -1: no limit. Initially 256 MB on the CPU and no limit on a GPU. The plan that was
  // used last is kept even if it is larger. ValueError below -1.
  std::int64_t get_memsize() const;
  void set_memsize(std::int64_t bytes) const;
  // The number and the bytes of the plans that are kept now.
  std::int64_t get_curr_size() const;
  std::int64_t get_curr_memsize() const;
  // Drops all plans.
  void clear() const;
  // Limits and numbers, and a line per plan; the one that was used last comes first. show_info() prints it.
  std::string info() const;
  void show_info() const;

 private:
  Device device_;
};

namespace config {

inline PlanCache get_plan_cache(Device device = current_device()) { return PlanCache(device); }
// Of the current device, under CuPy's names.
inline std::int64_t get_plan_cache_size() { return get_plan_cache().get_size(); }
inline void set_plan_cache_size(std::int64_t size) { get_plan_cache().set_size(size); }
inline std::int64_t get_plan_cache_max_memsize() { return get_plan_cache().get_memsize(); }
inline void set_plan_cache_max_memsize(std::int64_t bytes) { get_plan_cache().set_memsize(bytes); }
inline void clear_plan_cache() { get_plan_cache().clear(); }
inline void show_plan_cache_info() { get_plan_cache().show_info(); }

}  // namespace config
}  // namespace nd::fft
