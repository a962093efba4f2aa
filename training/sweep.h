// The position of an iterator in its sweeps over a dataset. Internal to training; users use iterators.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <catena/autograd/array.h>
#include <catena/kernels/base/pointers.h>
#include <catena/nn/serializers/serializer.h>
#include <catena/training/example_key.h>
#include <catena/training/samplers.h>

namespace training::internal {

// The selected examples and their keys. While the dataset loads an example or stacks a batch, the library's generators
// are seeded with the seed of its key (that of the first example, if the dataset stacks batches).
struct CATENA_EXPORT Selection {
  std::vector<std::int64_t> indices;
  std::vector<ExampleKey> keys;  // one per index

  bool is_empty() const noexcept { return indices.empty(); }
  Selection only(std::size_t k) const { return {{indices[k]}, {keys[k]}}; }  // only example k
};

struct SweepOptions {
  bool repeat = true;
  std::optional<bool> shuffle = {};
  std::optional<std::uint64_t> seed = {};
  std::optional<AnyOrderSampler> order_sampler = {};
};

// The indices of the batches: in sequence, in a new random order for every sweep, or in the orders of a sampler. A
// sweep ends with the batch that reaches its end: with `repeat`, the batch is completed from the next sweep; without
// it, the last batch is short. Copies share the current order, so a copy that runs ahead costs little.
class CATENA_EXPORT Sweep {
 public:
  // `who`: class name of the iterator, for messages. ValueError for a batch size below 1, if there are no examples, if
  // both `shuffle` and a sampler are given, and for an order of the sampler that breaks the rules of OrderSampler.
  Sweep(const char* who, std::int64_t size, std::int64_t batch_size, const SweepOptions& options);
  Selection next();  // empty: the iteration has ended
  bool has_ended() const noexcept { return !repeat_ && epoch_ > 0; }
  void rewind();  // to the beginning, with a new order

  const char* who() const noexcept { return who_; }
  std::int64_t batch_size() const noexcept { return batch_size_; }
  std::int64_t position() const noexcept { return position_; }
  std::int64_t epoch() const noexcept { return epoch_; }
  double epoch_detail() const noexcept { return double(epoch_) + double(position_) / double(length_); }
  std::optional<double> previous_epoch_detail() const noexcept { return previous_epoch_detail_; }
  bool is_new_epoch() const noexcept { return is_new_epoch_; }

  // Stores position, order, the generator of further orders, and the state from which the seeds of examples are
  // computed. Loading an order of another length is a ValueError. `order_always`: without a shuffled order, stores -1
  // instead, because Chainer's MultiprocessIterator requires the key.
  void serialize(nn::Serializer& s, bool order_always = false);
  // Stores the generator of further orders, if there are any, and the state from which the seeds of examples are
  // computed.
  void serialize_generator(nn::Serializer& s);

 private:
  using Order = std::vector<std::int64_t>;
  Order next_order(autograd::Generator& generator) const;
  void load(nn::Serializer& s);
  void begin_sweep();
  void set_order(Order order);
  ExampleKey key_at(std::int64_t position) const;

  const char* who_;
  std::int64_t size_, batch_size_;
  std::int64_t length_;  // number of indices of a sweep
  bool repeat_;
  bool has_order_;                              // random or of the sampler; false: the order of the dataset
  catena::Shared<const OrderSampler> sampler_;  // null: none
  autograd::Generator generator_;               // generator of orders
  std::uint64_t streams_;                       // the iterator's seed for the draws of the dataset
  std::uint64_t sweeps_ = 0;                    // number of sweeps begun so far, including those before a rewind()
  catena::Shared<const Order> order_;
  // For every position, how often its index came before in this sweep; null if no index comes twice.
  catena::Shared<const Order> repetitions_;
  std::int64_t position_ = 0, epoch_ = 0;
  bool is_new_epoch_ = false;
  std::optional<double> previous_epoch_detail_;
};

}  // namespace training::internal
