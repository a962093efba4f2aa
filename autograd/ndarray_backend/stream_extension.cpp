#include <catena/autograd/ndarray_backend/stream_extension.h>

#include <catena/ndarray/device/device.h>
#include <catena/ndarray/device/runtime.h>
#include <catena/ndarray/device/stream.h>

namespace autograd::internal {
namespace {

template <class T, class Options> T made_on(Device device, const Options& options) {
  const nd::DeviceScope scope(device);
  return T(options);
}

class CudaPoint final : public StreamExtension::Point {
 public:
  explicit CudaPoint(Device device) : event_(made_on<nd::Event>(device, nd::EventOptions{.disable_timing = true})) {
    nd::runtime(device.kind).record_event(event_.ptr(), nd::current_stream(device));
  }
  void wait() override {
    const Device device = event_.device();
    nd::runtime(device.kind).wait_event(nd::current_stream(device), event_.ptr());
  }

 private:
  nd::Event event_;
};

class CudaStream final : public StreamExtension::Stream {
 public:
  explicit CudaStream(Device device) : stream_(made_on<nd::Stream>(device, nd::StreamOptions{.non_blocking = true})) {}
  void run(const catena::Function<void()>& f) override {
    const nd::StreamScope scope(stream_);
    f();
  }

 private:
  nd::Stream stream_;
};

class CudaStreamExtension final : public StreamExtension {
 public:
  catena::Owned<Stream> new_stream(Device device) override { return catena::Owned<Stream>(new CudaStream(device)); }
  catena::Owned<Point> point(Device device) override { return catena::Owned<Point>(new CudaPoint(device)); }
};

}  // namespace

StreamExtension& cuda_stream_extension() {
  static CudaStreamExtension extension;
  return extension;
}

}  // namespace autograd::internal
