// The position of an iterator in its sweeps over a dataset. Internal to training; users use iterators.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <catena/autograd/array.h>
#include <catena/kernels/base/pointers.h>
#include <catena/nn/serializers/serializer.h>

namespace training::internal {

// The selected examples and their seeds. While the dataset loads an example or stacks a batch, the library's generators
// are seeded with the seed of the example (of the first one, if the dataset stacks batches). This seed depends on the
// iterator's seed, the number of sweeps begun before, and the index of the example.
struct CATENA_EXPORT Selection {
  // The examples from the end of the previous piece up to `end`, and the seed of their sweep.
  struct Piece {
    std::size_t end;
    std::uint64_t seed;
  };
  std::vector<std::int64_t> indices;
  std::vector<Piece> pieces;

  bool is_empty() const noexcept { return indices.empty(); }
  std::uint64_t seed(std::size_t k) const noexcept;  // seed of example k
  Selection only(std::size_t k) const;               // only example k
};

// The indices of the batches, in sequence or in a new random order for every sweep. A sweep ends with the batch that
// reaches its end: with `repeat`, the batch is completed from the next sweep; without it, the last batch is short.
// Copies share the current order, so a copy that runs ahead costs little.
class CATENA_EXPORT Sweep {
 public:
  // `who`: class name of the iterator, for messages. ValueError for a batch size below 1, and if there are no examples.
  Sweep(const char* who, std::int64_t size, std::int64_t batch_size, bool repeat, bool shuffle,
        std::optional<std::uint64_t> seed);
  Selection next();  // empty: the iteration has ended
  bool has_ended() const noexcept { return !repeat_ && epoch_ > 0; }
  void rewind();  // to the beginning, with a new order

  const char* who() const noexcept { return who_; }
  std::int64_t batch_size() const noexcept { return batch_size_; }
  std::int64_t position() const noexcept { return position_; }
  std::int64_t epoch() const noexcept { return epoch_; }
  double epoch_detail() const noexcept { return double(epoch_) + double(position_) / double(size_); }
  std::optional<double> previous_epoch_detail() const noexcept { return previous_epoch_detail_; }
  bool is_new_epoch() const noexcept { return is_new_epoch_; }

  // Stores position, order, the generator of further orders, and the state from which the seeds of examples are
  // computed. Loading an order of another length is a ValueError. `order_always`: without a shuffled order, stores -1
  // instead, because Chainer's MultiprocessIterator requires the key.
  void serialize(nn::Serializer& s, bool order_always = false);
  // Stores the generator of further orders, if orders are random, and the state from which the seeds of examples are
  // computed.
  void serialize_generator(nn::Serializer& s);

 private:
  void load(nn::Serializer& s);
  void begin_sweep();
  const char* who_;
  std::int64_t size_, batch_size_;
  bool repeat_, shuffle_;
  autograd::Generator generator_;  // generator of orders
  std::uint64_t streams_;          // the iterator's seed for the draws of the dataset
  std::uint64_t sweeps_ = 0;       // number of sweeps begun so far, including those before a rewind()
  catena::Shared<const std::vector<std::int64_t>> order_;
  std::int64_t position_ = 0, epoch_ = 0;
  bool is_new_epoch_ = false;
  std::optional<double> previous_epoch_detail_;
};

}  // namespace training::internal
