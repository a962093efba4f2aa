#include <catena/training/parallel/copy_stream.h>

#include <algorithm>

namespace training::internal {

using autograd::StreamExtension;

static bool is_on(const Batch& batch, Device::Kind kind) {
  const auto has_one = [&](const Example& e) {
    return std::any_of(e.values.begin(), e.values.end(), [&](const Array& a) { return a && a.device().kind == kind; });
  };
  return std::any_of(batch.examples.begin(), batch.examples.end(), has_one) ||
         (batch.stacked && has_one(*batch.stacked));
}

catena::Owned<CopyStream> CopyStream::on(Device device) {
  auto* const streams = autograd::default_backend().extension<StreamExtension>(device);
  return catena::Owned<CopyStream>(streams == nullptr ? nullptr : new CopyStream(*streams, device));
}

CopyStream::CopyStream(StreamExtension& streams, Device device)
    : streams_(streams), device_(device), stream_(streams.new_stream(device)) {
  const auto made = streams_.point(device_);
  stream_->run([&] { made->wait(); });
}

catena::Owned<StreamExtension::Point> CopyStream::run(const Batch& batch, const catena::Function<void()>& f) {
  // Examples in host memory depend on no stream, so that their copies may overtake the work of the device.
  catena::Owned<StreamExtension::Point> loaded, copied;
  if (is_on(batch, device_.kind)) loaded = streams_.point(device_);
  stream_->run([&] {
    if (loaded) loaded->wait();
    f();
    copied = streams_.point(device_);
  });
  return copied;
}

}  // namespace training::internal
