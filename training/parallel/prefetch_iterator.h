// PrefetchIterator: the batches of another iterator, converted and copied to a device ahead.
#pragma once

#include <cstdint>
#include <optional>

#include <catena/kernels/base/pointers.h>
#include <catena/training/updater.h>

namespace training {

// Gives the batches of an iterator as arrays on a device (Batch::stacked). A thread takes the next batches from the
// iterator, converts them and copies them to the device, while the program works on the present one. On CUDA the copies
// go through pinned memory on a stream of their own, so that they overlap with computations; next() makes the current
// stream of the caller's thread wait for the copies of its batch. On the CPU the thread only converts ahead.
//
//   training::MultithreadIterator loader(data, 64, {.n_threads = 4});
//   training::PrefetchIterator batches(loader, {.device = 0});
//   training::StandardUpdater updater(batches, optimizer, {.device = 0});  // finds the batches on the device
//
// The wrapper reads a copy of the iterator, made at construction, so the iterator itself keeps its position. Its class
// must override copy(); those of this library do.
//
// Position, flags and snapshots are those of the batches that next() has returned: batches prepared ahead are prepared
// again after a resume. Files are those of the wrapped iterator, which can read them and whose files it can read.
//
// An error of the iterator or the converter is thrown by the next() whose batch it concerns; the position is then as
// before, and another next() tries again. The first batch after construction, reset(), finalize(), a load or an error
// is prepared in the caller's thread, so worker processes of a MultiprocessIterator are started there.
//
// The random numbers that the converter draws depend on the seed of the thread's default generator at construction and
// on the number of the batch, which are part of snapshots; they do not change the numbers that the program draws.
//
// Thread safety: belongs to one thread at a time. The dataset and the converter are called in another thread.
class CATENA_EXPORT PrefetchIterator : public Iterator {
 public:
  struct Options {
    std::int64_t depth = 2;  // batches that are prepared ahead, at least 1
    DeviceId device = {};    // empty: the device that is current at construction
    Converter converter = default_converter;
  };
  // ValueError for a depth below 1; TypeError for an empty converter; NotImplementedError for an iterator without
  // copy().
  PrefetchIterator(Held<Iterator> iterator, Options options);
  explicit PrefetchIterator(Held<Iterator> iterator) : PrefetchIterator(std::move(iterator), Options{}) {}
  PrefetchIterator(const PrefetchIterator& o);  // at the same position, with a thread of its own
  ~PrefetchIterator() override;

  std::optional<Batch> next() override;
  std::int64_t batch_size() const override { return seen_->batch_size(); }
  std::int64_t epoch() const override { return seen_->epoch(); }
  double epoch_detail() const override { return seen_->epoch_detail(); }
  std::optional<double> previous_epoch_detail() const override { return seen_->previous_epoch_detail(); }
  bool is_new_epoch() const override { return seen_->is_new_epoch(); }
  // Stops the thread and the workers of the iterator, and waits for them; may be called repeatedly. A later next()
  // starts them again. A next() of the wrapped iterator that is running is waited for, with a warning after 5 seconds:
  // the option `timeout` of loading iterators limits it.
  void finalize() override;
  void serialize(nn::Serializer& s) override;
  void serialize_generator(nn::Serializer& s) override;
  bool can_reset() const override { return seen_->can_reset(); }
  void reset() override;  // discards batches prepared ahead
  catena::Owned<Iterator> copy() const override;
  Device device() const noexcept { return device_; }

 private:
  struct Prepared;
  class Ahead;
  catena::Owned<Iterator> seen_;  // at the position behind the batches that next() has returned; reads nothing
  Options options_;
  Device device_;
  std::uint64_t seed_;         // of the converter's random numbers
  std::uint64_t batches_ = 0;  // number of batches that next() has returned
  catena::Owned<Ahead> ahead_;
};

}  // namespace training
