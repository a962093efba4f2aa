// A stream on which batches are made and copied to a device, beside the computations of the program. Internal.
#pragma once

#include <catena/autograd/backend/stream_extension.h>
#include <catena/kernels/base/function.h>
#include <catena/kernels/base/pointers.h>
#include <catena/training/iterator.h>

namespace training::internal {

// Thread safety: belongs to one thread at a time.
class CopyStream {
 public:
  // Returns null for a device that works synchronously. Arrays that the program has made on the current stream are
  // complete before the new stream goes on.
  static catena::Owned<CopyStream> on(Device device);
  // Calls f, which makes arrays of the batch, with this stream as the current one. Arrays of the batch that are on the
  // device are complete before; work that the current stream has otherwise is not waited for. Returns the end of the
  // work of f.
  catena::Owned<autograd::StreamExtension::Point> run(const Batch& batch, const catena::Function<void()>& f);

 private:
  CopyStream(autograd::StreamExtension& streams, Device device);
  autograd::StreamExtension& streams_;
  Device device_;
  catena::Owned<autograd::StreamExtension::Stream> stream_;
};

}  // namespace training::internal
