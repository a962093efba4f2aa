// Folder ndarray/cpu/: the CPU backend. It implements the interfaces of ndarray/device/ and ndarray/user_kernel/ with
// the host loops of the kernels, with routines for calls that have no kernel (copies, gather and scatter, sorting,
// nonzero, matrix products, factorizations), and with the system's compiler for kernels given as text. Callers bind
// operands: shapes, dtypes and overlap are checked before a call. May use kernels/, ndarray/device/,
// ndarray/user_kernel/ and ndarray/compile/.
//
// This header: the backend itself. Results do not depend on strides, on the number of threads or on how an operation is
// split: f(view) equals f(copy) bit for bit. (Matrix products by vendor libraries are an exception, see gemm.h.) Work
// is complete when a call returns; streams and events only record times. Thread safety: all members may be called from
// any thread.
#pragma once

#include <catena/ndarray/device/executor.h>
#include <catena/ndarray/device/text_kernels.h>

namespace nd::cpu {

class CATENA_EXPORT CpuBackend final : public Runtime, public Executor, public TextKernels {
 public:
  Device::Kind kind() const noexcept override { return Device::Kind::cpu; }
  int device_count() const noexcept override { return 1; }
  const DeviceProperties& properties(int device) const override;

  std::byte* allocate(int device, std::size_t bytes) override;
  void deallocate(int device, std::byte* data, std::size_t bytes) noexcept override;
  std::size_t growth_unit() const noexcept override;
  std::byte* grow(int device, std::byte* end, std::size_t bytes) override;
  void shrink(int device, std::byte* data, std::size_t bytes) noexcept override;
  MemoryInfo memory_info(int device) const override;
  bool copy(std::byte* to, Device to_device, const std::byte* from, Device from_device, std::size_t bytes,
            StreamRef stream) override;

  void synchronize(StreamRef stream) override;
  void* create_stream(int device, bool non_blocking, int priority) override;
  void destroy_stream(StreamRef stream) noexcept override;
  bool stream_done(StreamRef stream) override;
  void* create_event(int device, const EventOptions& options) override;
  void destroy_event(int device, void* event) noexcept override;
  void record_event(void* event, StreamRef stream) override;
  void wait_event(StreamRef stream, void* event) override;
  bool event_done(void* event) override;
  void synchronize_event(void* event) override;
  double elapsed_ms(void* start, void* stop) override;

  void execute(const catena::bound::Call& call, StreamRef stream) override;
  bool elementwise_flat(const catena::bound::Flat& call, StreamRef stream) override;

  TextKernels* text_kernels() noexcept override { return this; }
  std::unique_ptr<DeviceModule> load_module(const ModuleText& text, int device) override;
};

}  // namespace nd::cpu
