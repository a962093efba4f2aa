// Folder ndarray/cuda/: the CUDA backend. Its folders: api/ (prototypes of NVIDIA's libraries), runtime/ (contexts,
// launches, modules, staging, graphs), compiler/ (texts, NVRTC, kernel cache), plans/ (from calls to launches) and
// vendor/ (cuBLASLt, cuRAND, cuSOLVER, cuFFT, cuSPARSE, cuDNN, NCCL). It implements the interfaces of ndarray/device/
// and ndarray/user_kernel/; no code outside the folder uses the driver.
//
// This header: the backend itself. It executes programs and bound calls with kernels that are compiled at run time, on
// streams of the driver. Work is enqueued; a call returns before it is done. The order of combination in reductions,
// row-wise kernels and scans depends on shapes and strides, never on timing or on the number of multiprocessors: equal
// calls give equal bits. (A view may round differently from its copy.) Scratch memory comes from the pool, ordered by
// the stream. Thread safety: all members may be called from any thread.
#pragma once

#include <catena/ndarray/device/executor.h>
#include <catena/ndarray/device/text_kernels.h>

namespace nd::cuda {

class CATENA_EXPORT CudaBackend final : public Runtime, public Executor, public TextKernels {
 public:
  CudaBackend();  // RuntimeError "CUDA is unavailable: <why>"

  nd::Device::Kind kind() const noexcept override { return nd::Device::Kind::cuda; }
  int device_count() const noexcept override;
  const DeviceProperties& properties(int device) const override;

  std::byte* allocate(int device, std::size_t bytes) override;
  void deallocate(int device, std::byte* data, std::size_t bytes) noexcept override;
  MemoryInfo memory_info(int device) const override;
  bool copy(std::byte* to, nd::Device to_device, const std::byte* from, nd::Device from_device, std::size_t bytes,
            StreamRef stream) override;

  void synchronize(StreamRef stream) override;
  void synchronize_device(int device) override;
  void* create_stream(int device, bool non_blocking, int priority) override;
  StreamPriorities stream_priorities(int device) const override;
  StreamProperties stream_properties(StreamRef stream) const override;
  void destroy_stream(StreamRef stream) noexcept override;
  bool stream_done(StreamRef stream) override;
  void* create_event(int device, const EventOptions& options) override;
  void destroy_event(int device, void* event) noexcept override;
  void record_event(void* event, StreamRef stream) override;
  void wait_event(StreamRef stream, void* event) override;
  bool event_done(void* event) override;
  void synchronize_event(void* event) override;
  double elapsed_ms(void* start, void* stop) override;
  void add_callback(StreamRef stream, void (*f)(void* context, int status, bool drop), void* context) override;

  void execute(const catena::bound::Call& call, StreamRef stream) override;
  bool execute_in_order(const catena::bound::Elementwise& call, StreamRef stream) override;

  TextKernels* text_kernels() noexcept override { return this; }
  std::unique_ptr<DeviceModule> load_module(const ModuleText& text, int device) override;
};

}  // namespace nd::cuda
