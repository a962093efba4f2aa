// ConcatWithAsyncTransfer: a converter that copies batches to a device beside its computations.
#pragma once

#include <catena/kernels/base/pointers.h>
#include <catena/training/updater.h>

namespace training {

// A converter of updaters, as Chainer's: stacks the examples of a batch like concat_examples, and copies them to the
// device on a stream of its own, through pinned memory. So the copies overlap with the computations of the step before,
// which the device has not finished when the host is at the next batch. The current stream of the caller waits for the
// copies of its batch, the host does not. On the CPU, and for a batch that is to stay where it is, it is
// concat_examples.
//
//   training::StandardUpdater updater(iterator, optimizer,
//                                     {.converter = training::ConcatWithAsyncTransfer(), .device = 0});
//
// PrefetchIterator also takes the work of the host, loading and stacking, out of the step. Copies of a converter use
// the same streams, one for each device. Thread safety: belongs to one thread at a time.
class CATENA_EXPORT ConcatWithAsyncTransfer {
 public:
  struct Options {
    Padding padding = {};  // see concat_examples
  };
  ConcatWithAsyncTransfer() : ConcatWithAsyncTransfer(Options{}) {}
  explicit ConcatWithAsyncTransfer(Options options);
  // Throws what concat_examples throws.
  Example operator()(const Batch& batch, DeviceId device = {}) const;

 private:
  struct Streams;
  Options options_;
  catena::Shared<Streams> streams_;
};

}  // namespace training
