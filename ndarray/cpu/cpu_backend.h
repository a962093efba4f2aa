// The CPU backend: executes programs and structural calls with the host loops of the kernel registry.
//
// Results do not depend on strides, on the number of threads or on how an operation was split: f(view) equals f(copy)
// bit for bit. (Vendor matrix products are excepted; see gemm.h.) Work is done when a call returns; streams and events
// only mark times. Thread safety: all members may be called from any thread.
#pragma once

#include <catena/ndarray/device/backend.h>

namespace nd::cpu {

class CATENA_EXPORT CpuBackend final : public Backend {
 public:
  Device::Kind kind() const noexcept override { return Device::Kind::cpu; }
  int device_count() const noexcept override { return 1; }
  const DeviceProperties& properties(int device) const override;

  std::byte* allocate(int device, std::size_t bytes) override;
  void deallocate(int device, std::byte* data, std::size_t bytes) noexcept override;
  MemoryInfo memory_info(int device) const override;
  void copy(std::byte* to, Device to_device, const std::byte* from, Device from_device, std::size_t bytes,
            StreamRef stream) override;

  void synchronize(StreamRef stream) override;
  void* create_stream(int device, bool non_blocking) override;
  void destroy_stream(StreamRef stream) noexcept override;
  bool stream_done(StreamRef stream) override;
  void* create_event(int device, const EventOptions& options) override;
  void destroy_event(int device, void* event) noexcept override;
  void record_event(void* event, StreamRef stream) override;
  void wait_event(StreamRef stream, void* event) override;
  bool event_done(void* event) override;
  void synchronize_event(void* event) override;
  double elapsed_ms(void* start, void* stop) override;

  void elementwise(const catena::Program& program, std::span<const catena::BoundOperand> operands,
                   const catena::Shape& loop, StreamRef stream) override;
  void reduce(const catena::ReduceCall& call, StreamRef stream) override;
  void rows(const catena::RowCall& call, StreamRef stream) override;
  void multi_tensor(const catena::MultiTensorCall& call, StreamRef stream) override;
  void gather(const catena::GatherCall& call, StreamRef stream) override;
  void scatter(const catena::GatherCall& call, catena::ScatterMode mode, StreamRef stream) override;
  void scan(const catena::ScanCall& call, StreamRef stream) override;
  void sort(const catena::SortCall& call, StreamRef stream) override;
  void nonzero(const catena::NonzeroCall& call, StreamRef stream) override;
  void matmul(const catena::MatmulCall& call, StreamRef stream) override;
  void random(const catena::RandomCall& call, StreamRef stream) override;
  void user_kernel(const UserKernelCall& call, StreamRef stream) override;
  std::unique_ptr<DeviceModule> load_module(const ModuleText& text, int device) override;
};

}  // namespace nd::cpu
