#include <catena/training/parallel/copy_stream.h>

#include <algorithm>
#include <utility>

#include <catena/autograd/array_backend.h>
#include <catena/autograd/backend/stream_extension.h>

namespace training::internal {

using autograd::StreamExtension;

static bool is_on(const Batch& batch, Device::Kind kind) {
  const auto has_one = [&](const Example& e) {
    return std::any_of(e.values.begin(), e.values.end(), [&](const Array& a) { return a && a.device().kind == kind; });
  };
  return std::any_of(batch.examples.begin(), batch.examples.end(), has_one) ||
         (batch.stacked && has_one(*batch.stacked));
}

struct CopyStream::Parts {
  Parts(StreamExtension& extension, Device of) : streams(extension), device(of), stream(extension.new_stream(of)) {
    const auto made = streams.point(device);
    stream->run([&] { made->wait(); });
  }
  StreamExtension& streams;
  Device device;
  catena::Owned<StreamExtension::Stream> stream;
};

catena::Owned<CopyStream> CopyStream::on(Device device) {
  auto* const streams = autograd::default_backend().extension<StreamExtension>(device);
  if (streams == nullptr) return {};
  return catena::Owned<CopyStream>(new CopyStream(catena::Owned<Parts>(new Parts(*streams, device))));
}

CopyStream::CopyStream(catena::Owned<Parts> parts) : parts_(std::move(parts)) {}
CopyStream::~CopyStream() = default;

catena::Function<void()> CopyStream::run(const Batch& batch, const catena::Function<void()>& f) {
  // Examples in host memory depend on no stream, so that their copies may overtake the work of the device.
  catena::Owned<StreamExtension::Point> loaded;
  catena::Shared<StreamExtension::Point> copied;
  if (is_on(batch, parts_->device.kind)) loaded = parts_->streams.point(parts_->device);
  parts_->stream->run([&] {
    if (loaded) loaded->wait();
    f();
    auto point = parts_->streams.point(parts_->device);
    auto* const address = point.get();
    copied = catena::Shared<StreamExtension::Point>::kept_by(address, std::move(point));
  });
  return [copied] { copied->wait(); };
}

}  // namespace training::internal
