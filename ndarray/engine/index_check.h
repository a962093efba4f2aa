// Switches the checks of indices on CUDA devices. If an array of indices is on the CPU, an index or a label that is out
// of range is an IndexError, thrown before anything is written. On CUDA, detecting it would require waiting for the
// device, so there, as in CuPy, an index wraps: it is taken modulo the length of its axis. (A label that is no class
// makes the loss NaN.) To find such an index, switch checks on:
//
//   nd::check_indices(true);
//   y = x(i);               // enqueues a check, then the gather, which wraps
//   y.to_vector<float>();   // IndexError: "index: the index 7 is out of range for axis 0 of length 5"
//
// The error is thrown once, for one of the wrong indices, by the next call that waits for the device (item(),
// to_vector(), copies to the host, synchronize()); the device stays usable. A check reads the indices once on the
// device. A graph that is captured while checks are on contains them.
//
// Thread safety: the switch belongs to the process, and all functions may be called from any thread.
#pragma once

#include <catena/kernels/base/export.h>

namespace nd {

CATENA_EXPORT bool checks_indices() noexcept;  // initially false
CATENA_EXPORT void check_indices(bool on) noexcept;

// Switches checks on or off until the end of the scope, then restores the previous setting.
class [[nodiscard]] IndexCheckScope {
 public:
  explicit IndexCheckScope(bool on) : before_(checks_indices()) { check_indices(on); }
  ~IndexCheckScope() { check_indices(before_); }
  IndexCheckScope(const IndexCheckScope&) = delete;
  IndexCheckScope& operator=(const IndexCheckScope&) = delete;

 private:
  bool before_;
};

}  // namespace nd
