// Seam S1: what a device must be able to do. One implementation for the CPU, one for CUDA. Operations are data
// (programs and calls over registry rows), so an operation that is elementwise, indexed, a reduction or a row kernel
// never adds a method here.
//
// Operands arrive bound: dtypes accepted by the loop, shapes that agree, outputs allocated, overlap resolved.
// Implementations throw only for resources: memory, device, library status.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <catena/kernels/base/array_header.h>
#include <catena/kernels/rows/calls.h>

namespace nd {

using catena::Device;

// A stream of a device as a value; handle null = the device's default stream (on the CPU: the calling thread itself).
struct StreamRef {
  Device device;
  void* handle = nullptr;
  friend bool operator==(const StreamRef&, const StreamRef&) = default;
};

struct EventOptions {
  bool block = false;  // synchronize() sleeps instead of spinning
  bool disable_timing = false;
  bool interprocess = false;  // needs disable_timing (ValueError)
};

struct MemoryInfo {
  std::size_t free_bytes = 0, total_bytes = 0;
};

// What is asked of a device once; 0 and "" where a kind of device has no such thing or does not tell.
struct CATENA_EXPORT DeviceProperties {
  std::string name;
  int arch = 0;        // CUDA: 90 for compute capability 9.0
  int processors = 0;  // of the CPU: hardware threads
  int max_threads_per_processor = 0;
  std::size_t total_bytes = 0;
  std::size_t shared_bytes_per_block = 0, shared_bytes_per_block_optin = 0;
  std::size_t l2_bytes = 0;
  int clock_khz = 0, memory_clock_khz = 0, memory_bus_bits = 0;

  std::string compute_capability() const { return arch == 0 ? std::string() : std::to_string(arch); }  // "90"
};

struct UserKernelCall;
struct ModuleText;
class DeviceModule;

class CATENA_EXPORT Backend {
 public:
  virtual ~Backend();

  virtual Device::Kind kind() const noexcept = 0;
  virtual int device_count() const noexcept = 0;
  virtual const DeviceProperties& properties(int device) const = 0;

  // Raw memory, aligned to 64 bytes on the host; the pool stands above. allocate returns null when there is none left.
  virtual std::byte* allocate(int device, std::size_t bytes) = 0;
  virtual void deallocate(int device, std::byte* data, std::size_t bytes) noexcept = 0;
  virtual MemoryInfo memory_info(int device) const = 0;
  // Ordered on `stream`; either side may be host memory (device cpu:0). Blocks only when it must: host memory that is
  // not pinned.
  virtual void copy(std::byte* to, Device to_device, const std::byte* from, Device from_device, std::size_t bytes,
                    StreamRef stream) = 0;

  virtual void synchronize(StreamRef stream) = 0;
  virtual void* create_stream(int device, bool non_blocking) = 0;
  virtual void destroy_stream(StreamRef stream) noexcept = 0;
  virtual bool stream_done(StreamRef stream) = 0;
  virtual void* create_event(int device, const EventOptions& options) = 0;
  virtual void destroy_event(int device, void* event) noexcept = 0;
  virtual void record_event(void* event, StreamRef stream) = 0;
  virtual void wait_event(StreamRef stream, void* event) = 0;
  virtual bool event_done(void* event) = 0;
  virtual void synchronize_event(void* event) = 0;
  virtual double elapsed_ms(void* start, void* stop) = 0;
  // f(context, status, false) on a host thread after all earlier work of the stream; callbacks run in order. Called
  // exactly once; with drop = true when it cannot be enqueued (then this throws, too).
  virtual void add_callback(StreamRef stream, void (*f)(void* context, int status, bool drop), void* context);

  // Elementwise and indexed kernels, fused or not.
  virtual void elementwise(const catena::Program& program, std::span<const catena::BoundOperand> operands,
                           const catena::Shape& loop, StreamRef stream) = 0;
  virtual void reduce(const catena::ReduceCall& call, StreamRef stream) = 0;
  virtual void rows(const catena::RowCall& call, StreamRef stream) = 0;
  virtual void multi_tensor(const catena::MultiTensorCall& call, StreamRef stream) = 0;
  virtual void gather(const catena::GatherCall& call, StreamRef stream) = 0;
  virtual void scatter(const catena::GatherCall& call, catena::ScatterMode mode, StreamRef stream) = 0;
  virtual void scan(const catena::ScanCall& call, StreamRef stream) = 0;
  virtual void sort(const catena::SortCall& call, StreamRef stream) = 0;
  virtual void nonzero(const catena::NonzeroCall& call, StreamRef stream) = 0;
  virtual void matmul(const catena::MatmulCall& call, StreamRef stream) = 0;
  virtual void random(const catena::RandomCall& call, StreamRef stream) = 0;
  // Kernels given as text (ndarray/user_kernel/user_kernel.h): compiled for the device at their first use.
  virtual void user_kernel(const UserKernelCall& call, StreamRef stream) = 0;
  // A whole text of kernels, compiled and loaded. Backends without a compiler keep this one, which throws
  // NotImplementedError.
  virtual std::unique_ptr<DeviceModule> load_module(const ModuleText& text, int device);
};

// The backend of a kind of device. CUDA: throws RuntimeError "CUDA is unavailable: <why>" when it cannot be used.
CATENA_EXPORT Backend& backend(Device::Kind kind);

}  // namespace nd
