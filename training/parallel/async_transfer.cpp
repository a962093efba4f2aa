#include <catena/training/parallel/async_transfer.h>

#include <algorithm>
#include <utility>
#include <vector>

#include <catena/training/parallel/copy_stream.h>

namespace training {

// The streams of the devices that have been used; null for devices that work synchronously.
struct ConcatWithAsyncTransfer::Streams {
  internal::CopyStream* of(Device device) {
    for (const auto& [known, stream] : list)
      if (known == device) return stream.get();
    return list.emplace_back(device, internal::CopyStream::on(device)).second.get();
  }
  std::vector<std::pair<Device, catena::Owned<internal::CopyStream>>> list;
};

ConcatWithAsyncTransfer::ConcatWithAsyncTransfer(Options options)
    : options_(std::move(options)), streams_(catena::Shared<Streams>::make()) {}

Example ConcatWithAsyncTransfer::operator()(const Batch& batch, DeviceId device) const {
  const auto concat = [&] { return concat_examples(batch, device, options_.padding); };
  internal::CopyStream* const stream = device ? streams_->of(*device) : nullptr;
  if (stream == nullptr) return concat();
  Example result;
  stream->run(batch, [&] { result = concat(); })();
  return result;
}

}  // namespace training
