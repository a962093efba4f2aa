// Folder ndarray/engine/: the call layer (this header) and, above it, the engines of elementwise functions, reductions
// and assignment. The engines determine loops, result shapes, options and allocation; the call layer executes. Routines
// with names are in ndarray/routines/, kernels in kernels/, devices behind ndarray/device/. May use kernels/,
// ndarray/core/, ndarray/memory/ and ndarray/device/.
//
// The call layer: every launch, copy and write of arrays goes through the functions below, whether it comes from a
// routine of ndarray, the framework's adapter, a user kernel or a vendor library. For each call it checks that all
// arrays are on one device (ValueError naming both; an operation runs on the device of its arrays, whatever the current
// device is), copies inputs that writing an output would change, binds the operands, skips calls without elements,
// records in the pool and in a graph under capture which memory the stream uses, launches on the current stream of the
// device and increments the versions of the written arrays. Errors of a call are thrown before any output is modified.
//
// Thread safety: all functions may be called from any thread; the caller must order writes to an array with other
// accesses.
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include <catena/kernels/registry/call.h>
#include <catena/ndarray/device/types.h>

namespace nd::internal {

using catena::ArrayHeader;

CATENA_EXPORT void execute(const catena::Call& call);

// out[...] = in, converted; shapes broadcast, any dtypes. OverflowError, or ValueError for NaN, if `in` is a number
// that the integer dtype of `out` cannot hold.
CATENA_EXPORT void convert_into(std::string_view op, const catena::Input& in, ArrayHeader& out);

// ---- bytes --------------------------------------------------------------------------------------
// Copies between C-contiguous arrays of equal size in bytes, on any two devices. Does not wait.
CATENA_EXPORT void copy_bytes(const ArrayHeader& to, const ArrayHeader& from);
// Copies between a C-contiguous array and host memory. copy_to_host() waits for the device. The others do not: until
// the stream has been synchronised, the source must not change, and the destination is incomplete.
CATENA_EXPORT void copy_to_host(void* to, const ArrayHeader& from);
CATENA_EXPORT void copy_to_host_async(void* to, const ArrayHeader& from);
CATENA_EXPORT void copy_from_host(const ArrayHeader& to, const void* from);

// ---- work that the caller enqueues ----------------------------------------------------------------
// Returns the stream that a call on arrays of `device` uses.
CATENA_EXPORT StreamRef stream_for(Device device);

// Records in the pool and in a graph under capture that work on `stream` uses the memory of these arrays. Null pointers
// are skipped.
CATENA_EXPORT void record_operands(StreamRef stream, std::span<const ArrayHeader* const> arrays);
CATENA_EXPORT void raise_versions(std::span<const ArrayHeader* const> arrays) noexcept;

// Calls run(), which enqueues work on `stream` that reads and writes these arrays: user kernels, functions of vendor
// libraries.
template <class F>
void launch_on(StreamRef stream, std::span<const ArrayHeader* const> reads, std::span<const ArrayHeader* const> writes,
               F&& run) {
  record_operands(stream, reads);
  record_operands(stream, writes);
  std::forward<F>(run)();
  raise_versions(writes);
}

// ---- checks that engines share ----------------------------------------------------------------------
// Finds the common device of several arrays. Null arrays and arrays without elements are ignored.
class CATENA_EXPORT OneDevice {
 public:
  explicit OneDevice(std::string_view op) noexcept : op_(op) {}
  void add(const ArrayHeader* a) {
    if (a != nullptr && a->size != 0) add(a->device);
  }
  void add(Device device) {
    if (!first_) first_ = device;
    else if (!(*first_ == device)) fail(device);
  }
  bool any() const noexcept { return first_.has_value(); }
  // Returns the common device; the current device if there is no array.
  Device get() const;

 private:
  [[noreturn]] void fail(Device other) const;

  std::string_view op_;
  std::optional<Device> first_;
};

// ValueError if several elements of `out` share memory (a broadcast view).
CATENA_EXPORT void check_output_layout(std::string_view op, const ArrayHeader& out);

}  // namespace nd::internal
