#include <catena/autograd/ndarray_backend/device_extension.h>

#include <cstring>
#include <utility>

#include <catena/autograd/ndarray_backend/convert.h>
#include <catena/ndarray/cuda/runtime/graph.h>

namespace autograd::internal {
namespace {

class RecordedGraph final : public DeviceExtension::Recorded {
 public:
  RecordedGraph(Device device, const catena::Function<void()>& f) : graph_(f, device) {}
  void replay() override { graph_.replay(); }

 private:
  nd::cuda::Graph graph_;
};

class CudaDeviceExtension final : public DeviceExtension {
 public:
  catena::Owned<Recorded> record(Device device, const catena::Function<void()>& f) override {
    return catena::Owned<Recorded>(new RecordedGraph(device, f));
  }
  bool is_recording() const noexcept override { return nd::cuda::is_recording(); }
  Array live_scalar(Device device, std::uint64_t first, catena::Function<std::uint64_t()> refresh) override {
    std::byte* element = nd::cuda::live_bytes(&first, sizeof first, [refresh = std::move(refresh)](std::byte* at) {
      const std::uint64_t value = refresh();
      std::memcpy(at, &value, sizeof value);
    });
    // The graph owns the memory, and only operations of the graph read it.
    catena::Storage* storage = nd::wrap_storage(element, sizeof first, device, {});
    const Array a(catena::make_header(storage, element, Dtype::uint64, {}, {}, device, &nd::array_owner()));
    catena::release(storage);
    return a;
  }
};

}  // namespace

DeviceExtension& cuda_device_extension() {
  static CudaDeviceExtension extension;
  return extension;
}

}  // namespace autograd::internal
