// Whether CUDA devices check indices. An index or a label that is out of range is an IndexError, thrown before anything
// is written, where the array of indices is on the CPU. On CUDA finding it would mean to wait for the device, so there,
// as in CuPy, it wraps: it is taken modulo the length of its axis. (A label that is no class makes the loss NaN.) A
// program that is looking for such an index switches checks on:
//
//   nd::check_indices(true);
//   y = x(i);               // enqueues a check, then the gather, which wraps
//   y.to_vector<float>();   // IndexError: "index: the index 7 is out of range for axis 0 of length 5"
//
// The error is thrown by the next call that waits for the device, as item(), to_vector(), copies to the host and
// synchronize() do, once, for one of the wrong indices; the device stays usable. A check costs one reading of the
// indices on the device. A graph that is captured while checks are on contains them.
//
// Thread safety: the switch belongs to the process, and all functions may be called from any thread.
#pragma once

#include <catena/kernels/base/export.h>

namespace nd {

CATENA_EXPORT bool checks_indices() noexcept;  // initially false
CATENA_EXPORT void check_indices(bool on) noexcept;

// Switches checks on or off until the end of the scope and then restores what was before.
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
