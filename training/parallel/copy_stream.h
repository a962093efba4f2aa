// A stream on which batches are made and copied to a device, beside the computations of the program. Internal.
#pragma once

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
  ~CopyStream();
  // Calls f, which makes arrays of the batch, with this stream as the current one. Arrays of the batch that are on the
  // device are complete before; work that the current stream has otherwise is not waited for. Returns a function that
  // makes the stream that is current in the calling thread wait for the work of f.
  catena::Function<void()> run(const Batch& batch, const catena::Function<void()>& f);

 private:
  struct Parts;
  explicit CopyStream(catena::Owned<Parts> parts);
  catena::Owned<Parts> parts_;
};

}  // namespace training::internal
