// Folder training/parallel: training with several threads, processes and devices: iterators that load ahead, and
// updaters with a replica of the model per device. Iterators and updaters that use one thread are in training. This
// folder may use training, nn, autograd and kernels.
//
// LoadingIterator: the common base of MultithreadIterator and MultiprocessIterator.
#pragma once

#include <cstdint>
#include <optional>

#include <catena/kernels/base/pointers.h>
#include <catena/training/iterator.h>
#include <catena/training/sweep.h>

namespace training::internal {

class BatchLoader;

// ValueError unless the number of seconds is above 0 or absent.
void check_timeout(const char* who, std::optional<double> seconds);

// Gives the same batches as SerialIterator with the same options, loaded ahead by workers.
//
// Position, order and generator, and therefore a snapshot, are those of the batches that next() has returned: batches
// loaded ahead are loaded again after a resume. The caller loads the first batch after the start of the workers.
//
// A dataset draws the same random numbers as under SerialIterator with the same seed, for any number of workers and
// after a resume.
//
// If get_example or get_batch throws, next() throws an object of the same class with "example 17: " before its message;
// if several examples fail, the first in the order of the batch. The iterator is then at its position before the call,
// and the workers have stopped; another next() starts them again.
//
// A get_example or get_batch that does not return: with the option `timeout`, next() throws a RuntimeError with the
// number of the worker and the examples once a worker has spent more than that many seconds on one example (one batch,
// if the dataset stacks them). Without it next() waits as long as it takes. The first batch has no limit.
//
// Thread safety: an iterator belongs to one thread at a time. The dataset is read by several at once.
class CATENA_EXPORT LoadingIterator : public Iterator {
 public:
  ~LoadingIterator() override;
  std::optional<Batch> next() override;
  std::int64_t batch_size() const override { return sweep_.batch_size(); }
  std::int64_t epoch() const override { return sweep_.epoch(); }
  double epoch_detail() const override { return sweep_.epoch_detail(); }
  std::optional<double> previous_epoch_detail() const override { return sweep_.previous_epoch_detail(); }
  bool is_new_epoch() const override { return sweep_.is_new_epoch(); }
  // Stops the workers and waits for them; may be called repeatedly. A later next() starts them again.
  void finalize() override;
  // Uses the same file format as SerialIterator; each can read the other's files.
  void serialize(nn::Serializer& s) override;
  void serialize_generator(nn::Serializer& s) override { sweep_.serialize_generator(s); }
  bool can_reset() const override { return true; }
  void reset() override;  // starts again with a new order; allowed at any time; discards batches loaded ahead
  const DatasetPtr& dataset() const noexcept { return dataset_; }
  std::int64_t current_position() const noexcept { return sweep_.position(); }

 protected:
  LoadingIterator(const char* who, AnyDataset dataset, std::int64_t batch_size, const SweepOptions& options,
                  std::int64_t n_prefetch);
  LoadingIterator(const LoadingIterator& o);  // at the same position, with separate workers
  // Starts the workers. `bytes`: the largest size of the arrays of one unit of the first batch, where a unit is an
  // example, or a whole batch if the dataset stacks batches.
  virtual catena::Owned<BatchLoader> start(std::int64_t bytes) = 0;
  virtual bool stores_order_always() const { return false; }
  // True if examples are loaded with the CPU as current device.
  virtual bool loads_on_host() const { return false; }

 private:
  struct Ahead;
  Batch first_batch();
  void drop();
  void fill();

  DatasetPtr dataset_;
  Sweep sweep_;
  std::int64_t n_prefetch_;
  bool stacks_ = false;  // true if the dataset stacks batches
  catena::Owned<Ahead> ahead_;
};

}  // namespace training::internal
