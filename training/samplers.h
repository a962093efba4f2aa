// Order samplers, which define in which order an iterator reads a dataset: the option `order_sampler` of
// SerialIterator, MultithreadIterator and MultiprocessIterator. It takes the place of `shuffle`: giving both is a
// ValueError.
//
// A sampler has no state of its own. It draws from the generator of the iterator, whose state is part of snapshots
// ("_catena/seed" and "_catena/offset"), so that a resumed run continues with the same orders bit for bit.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <catena/autograd/array.h>
#include <catena/kernels/base/function.h>
#include <catena/kernels/base/pointers.h>
#include <catena/training/held.h>

namespace training {

namespace internal {
// A dataset, as an argument of a sampler, which needs its size alone.
template <class D>
concept HasSize = requires(const D& d) {
  { d.size() } -> std::convertible_to<std::int64_t>;
};
// A Variable. (autograd/variable.h is not included here.)
template <class W>
concept HasArrayOfWeights = requires(const W& w) {
  { w.data() } -> std::convertible_to<autograd::Array>;
  w.creator();
};

// A place in the list that a loop over a sampler reads. The iterators of a loop own the list together, so that another
// loop over the sampler does not change it. A default-constructed iterator is the end of every list.
template <class T> class DrawnIterator {
 public:
  using iterator_category = std::forward_iterator_tag;
  using value_type = T;
  using difference_type = std::ptrdiff_t;
  using pointer = const T*;
  using reference = const T&;
  DrawnIterator() noexcept = default;
  explicit DrawnIterator(catena::Shared<const std::vector<T>> list) noexcept : list_(std::move(list)) {}
  const T& operator*() const { return (*list_)[at_]; }
  const T* operator->() const { return &**this; }
  DrawnIterator& operator++() {
    ++at_;
    return *this;
  }
  DrawnIterator operator++(int) {
    DrawnIterator before = *this;
    ++at_;
    return before;
  }
  friend bool operator==(const DrawnIterator& a, const DrawnIterator& b) {
    if (a.is_end() || b.is_end()) return a.is_end() == b.is_end();
    return a.list_.get() == b.list_.get() && a.at_ == b.at_;
  }

 private:
  bool is_end() const { return list_.get() == nullptr || at_ == list_->size(); }
  catena::Shared<const std::vector<T>> list_;
  std::size_t at_ = 0;
};
}  // namespace internal

// The beginning of a sweep.
struct OrderContext {
  std::int64_t dataset_size;                    // number of examples of the dataset
  std::int64_t epoch;                           // number of sweeps begun before, from 0; reset() also begins one
  std::span<const std::int64_t> current_order;  // of the sweep before; empty for the first
  autograd::Generator& generator;               // that of the iterator
};

// The interface of samplers. A function of an OrderContext that returns an order is one, too, whose orders are as long
// as the dataset:
//
//   training::SerialIterator iterator(data, 32, {.order_sampler = [](const training::OrderContext& c) {
//     return training::permutation(c.dataset_size, c.generator);
//   }});
//
// Thread safety: an iterator calls its sampler in the thread that calls next().
class CATENA_EXPORT OrderSampler {
 public:
  virtual ~OrderSampler();
  // Returns the number of indices of an order, which is the length of a sweep; by default the size of the dataset. The
  // iterator calls it once, at construction. Throw a ValueError if the sampler is made for a dataset of another size.
  virtual std::int64_t length(std::int64_t dataset_size) const;
  // Returns the indices of the examples of a sweep: length(dataset_size) numbers from 0 to dataset_size - 1, of which
  // some may be absent and others repeated. Of another length or out of range they are a ValueError of the iterator.
  // Random numbers must come from `context.generator` only, or follow from `context.epoch`.
  virtual std::vector<std::int64_t> order(const OrderContext& context) const = 0;

  // The indices of a sweep by themselves, in a new order for every loop: for (std::int64_t i : sampler). The loops over
  // a sampler are its epochs, and may be nested: begin() draws an order, which its iterators own. Random numbers come
  // from autograd::default_generator(). ValueError for a sampler that does not know its dataset, which is given as its
  // first argument: RandomSampler(dataset).
  using const_iterator = internal::DrawnIterator<std::int64_t>;
  const_iterator begin() const;
  const_iterator end() const noexcept { return {}; }
  std::int64_t size() const { return length(known_size()); }

 protected:
  // Tells the size of the dataset.
  void set_known_size(std::int64_t size) noexcept { known_size_ = size; }

 private:
  std::int64_t known_size() const;
  std::optional<std::int64_t> known_size_;
  mutable catena::Shared<const std::vector<std::int64_t>> drawn_;  // the order of the last loop
  mutable std::int64_t loops_ = 0;                                 // that have begun
};

// A sampler of a program that knows its indices, as one of PyTorch that overrides __iter__:
//
//   struct Even : training::Sampler {
//     std::vector<std::int64_t> indices() const override { return {0, 2, 4}; }
//   };
class CATENA_EXPORT Sampler : public OrderSampler {
 public:
  Sampler() { set_known_size(0); }
  // Returns the indices of a sweep. Their number is asked for at the construction of an iterator and must stay.
  virtual std::vector<std::int64_t> indices() const = 0;
  std::int64_t length(std::int64_t dataset_size) const override;
  std::vector<std::int64_t> order(const OrderContext& context) const override;
};

// A sampler that calls a function.
class CATENA_EXPORT FunctionSampler : public OrderSampler {
 public:
  using Function = catena::Function<std::vector<std::int64_t>(const OrderContext&)>;
  explicit FunctionSampler(Function function);  // TypeError for an empty function
  std::vector<std::int64_t> order(const OrderContext& context) const override { return function_(context); }

 private:
  Function function_;
};
template <> struct HeldFrom<const OrderSampler> {
  template <class F>
  requires requires(const F& f, const OrderContext& c) {
    { f(c) } -> std::convertible_to<std::vector<std::int64_t>>;
  }
  static catena::Shared<const OrderSampler> make(const F& f) { return internal::make_held(FunctionSampler(f)); }
  // A list of indices, in its order: SubsetRandomSampler without `shuffle`.
  template <std::integral I> static catena::Shared<const OrderSampler> make(const std::vector<I>& indices) {
    return in_order({indices.begin(), indices.end()});
  }
  CATENA_EXPORT static catena::Shared<const OrderSampler> in_order(std::vector<std::int64_t> indices);
};

// The argument type of iterators for a sampler: an lvalue is borrowed, a temporary is owned, a pointer is shared.
using AnyOrderSampler = Held<const OrderSampler>;

// The order of the dataset. PyTorch's argument, the dataset, may be given; it is that of the iterator.
class CATENA_EXPORT SequentialSampler : public OrderSampler {
 public:
  SequentialSampler() = default;
  template <internal::HasSize D> explicit SequentialSampler(const D& d) { set_known_size(std::int64_t(d.size())); }
  std::vector<std::int64_t> order(const OrderContext& context) const override;
};

// A new random order for every sweep: the orders of `shuffle = true` with the same seed. With replacement every index
// is drawn from all examples. Without it all examples come before one of them comes again, so that a num_samples below
// the size of the dataset gives some of them.
class CATENA_EXPORT RandomSampler : public OrderSampler {
 public:
  struct Options {
    bool replacement = false;
    std::optional<std::int64_t> num_samples = {};  // length of a sweep; empty: the size of the dataset
  };
  RandomSampler() = default;
  explicit RandomSampler(Options options);  // ValueError for num_samples below 1
  // With PyTorch's first argument, the dataset; it is that of the iterator.
  template <internal::HasSize D> explicit RandomSampler(const D& d) { set_known_size(std::int64_t(d.size())); }
  template <internal::HasSize D> RandomSampler(const D& d, Options options) : RandomSampler(options) {
    set_known_size(std::int64_t(d.size()));
  }
  // ValueError for num_samples of an empty dataset
  std::int64_t length(std::int64_t dataset_size) const override;
  std::vector<std::int64_t> order(const OrderContext& context) const override;

 private:
  Options options_;
};
// Chainer's name.
using ShuffleOrderSampler = RandomSampler;

// Draws examples with probabilities in proportion to their weights, one weight per example. Without replacement every
// index is drawn among the examples that are left, in proportion to their weights (by the keys of Efraimidis and
// Spirakis, "Weighted random sampling with a reservoir", 2006).
//
//   std::vector<double> weights;  // 1 / count of the class of each example: all classes become equally frequent
//   training::SerialIterator iterator(data, 32, {.order_sampler = training::WeightedRandomSampler(weights)});
class CATENA_EXPORT WeightedRandomSampler : public OrderSampler {
 public:
  struct Options {
    std::optional<std::int64_t> num_samples = {};  // length of a sweep; empty: the number of weights
    bool replacement = true;
  };
  // ValueError for a weight that is negative or not finite, weights that are all 0, num_samples below 1 and, without
  // replacement, above the number of weights that are not 0.
  WeightedRandomSampler(std::vector<double> weights, Options options);
  explicit WeightedRandomSampler(std::vector<double> weights) : WeightedRandomSampler(std::move(weights), Options{}) {}
  // The weights as an array of any real dtype and one axis, else ValueError.
  WeightedRandomSampler(const autograd::Array& weights, Options options);
  explicit WeightedRandomSampler(const autograd::Array& weights) : WeightedRandomSampler(weights, Options{}) {}
  template <internal::HasArrayOfWeights W>
  WeightedRandomSampler(const W& weights, std::int64_t num_samples, bool replacement = true)
      : WeightedRandomSampler(autograd::Array(weights.data()), Options{num_samples, replacement}) {}
  template <internal::HasArrayOfWeights W, std::same_as<Options> O = Options>
  WeightedRandomSampler(const W& weights, std::int64_t num_samples, const O& options)
      : WeightedRandomSampler(autograd::Array(weights.data()), with_number(options, num_samples)) {}
  template <std::same_as<autograd::Array> A, std::same_as<Options> O = Options>
  WeightedRandomSampler(const A& weights, std::int64_t num_samples, const O& options = {})
      : WeightedRandomSampler(weights, with_number(options, num_samples)) {}
  WeightedRandomSampler(std::vector<double> weights, std::int64_t num_samples, bool replacement = true)
      : WeightedRandomSampler(std::move(weights), Options{num_samples, replacement}) {}
  // WeightedRandomSampler(weights, 100, {.replacement = false}). ValueError for num_samples in both places.
  template <std::same_as<Options> O = Options>
  WeightedRandomSampler(std::vector<double> weights, std::int64_t num_samples, const O& options)
      : WeightedRandomSampler(std::move(weights), with_number(options, num_samples)) {}
  // ValueError if the dataset has not as many examples as there are weights.
  std::int64_t length(std::int64_t dataset_size) const override;
  std::vector<std::int64_t> order(const OrderContext& context) const override;

 private:
  static Options with_number(Options options, std::int64_t num_samples);

  std::vector<double> weights_, sums_;  // cumulative sums, with replacement
  Options options_;
};

// Batches of examples of similar length, for less padding. In every sweep the examples are put in a random order, which
// is cut into pools of `pool_batches` batches; each pool is sorted by descending length and cut into batches, and the
// batches are put in a random order. A last batch with fewer examples stays the last.
//
// With `repeat`, an iterator completes the last batch from the next sweep, whose batches are then cut at other places.
// `drop_last` leaves out the examples of the last batch if they are fewer, others in every sweep.
class CATENA_EXPORT LengthGroupedSampler : public OrderSampler {
 public:
  struct Options {
    std::int64_t pool_batches = 50;
    bool shuffle = true;  // false: the pools are parts of the dataset, and the batches keep their places
    bool drop_last = false;
  };
  // One length per example; the batch size is that of the iterator. ValueError for a negative length, and for a batch
  // size or pool_batches below 1.
  LengthGroupedSampler(std::vector<std::int64_t> lengths, std::int64_t batch_size, Options options);
  LengthGroupedSampler(std::vector<std::int64_t> lengths, std::int64_t batch_size)
      : LengthGroupedSampler(std::move(lengths), batch_size, Options{}) {}
  // ValueError if the dataset has not as many examples as there are lengths, and if drop_last leaves none.
  std::int64_t length(std::int64_t dataset_size) const override;
  std::vector<std::int64_t> order(const OrderContext& context) const override;

 private:
  std::vector<std::int64_t> lengths_;
  std::int64_t batch_size_;
  Options options_;
};

// Some examples of the dataset, in a random order; with `shuffle = false`, in the given order.
class CATENA_EXPORT SubsetRandomSampler : public OrderSampler {
 public:
  struct Options {
    bool shuffle = true;
  };
  // ValueError for an empty list
  SubsetRandomSampler(std::vector<std::int64_t> indices, Options options);
  explicit SubsetRandomSampler(std::vector<std::int64_t> indices)
      : SubsetRandomSampler(std::move(indices), Options{}) {}
  // IndexError for an index that the dataset does not have
  std::int64_t length(std::int64_t dataset_size) const override;
  std::vector<std::int64_t> order(const OrderContext& context) const override;

 private:
  std::vector<std::int64_t> indices_;
  Options options_;
};

// PyTorch's options of DistributedSampler.
struct DistributedSamplerOptions {
  std::int64_t num_replicas = 1, rank = 0;
  bool shuffle = true;
  std::uint64_t seed = 0;
  bool drop_last = false;
};

// The part of one of several programs that train together: of an order that all of them have, program `rank` of `size`
// reads the indices rank, rank + size, rank + 2 size... The order is lengthened by its beginning (or shortened by
// `drop_last`), so that all parts have one length.
//
// The order depends on `seed` and the epoch only, not on the generators of the programs, so `seed` must be the same in
// all of them.
class CATENA_EXPORT DistributedSampler : public OrderSampler {
 public:
  struct Options {
    std::int64_t rank = 0, size = 1;
    bool shuffle = true;
    std::uint64_t seed = 0;
    bool drop_last = false;
    // The order to divide. Empty: a random one of all examples, or theirs with `shuffle = false`.
    std::optional<AnyOrderSampler> sampler = {};
  };
  explicit DistributedSampler(Options options);  // ValueError unless 0 <= rank < size
  // With PyTorch's first argument, the dataset, and its options; the dataset is that of the iterator.
  template <internal::HasSize D, std::same_as<DistributedSamplerOptions> O = DistributedSamplerOptions>
  explicit DistributedSampler(const D& d, const O& o)
      : DistributedSampler(Options{o.rank, o.num_replicas, o.shuffle, o.seed, o.drop_last}) {
    set_known_size(std::int64_t(d.size()));
  }
  // Sets the number of the sweep, from which the order follows. Without a call it is that of the iterator, so that each
  // sweep has another order. An iterator draws its first order when it is made, and the others when their sweeps begin.
  // Copies of a sampler, such as the one of a DataLoader, have the same number.
  void set_epoch(std::int64_t sweep) noexcept { *epoch_ = sweep; }
  // ValueError if drop_last leaves no example
  std::int64_t length(std::int64_t dataset_size) const override;
  // ValueError for an order of `sampler` that has another length than its length()
  std::vector<std::int64_t> order(const OrderContext& context) const override;

 private:
  Options options_;
  catena::Shared<std::optional<std::int64_t>> epoch_ = catena::Shared<std::optional<std::int64_t>>::make();
};

// Batches of the indices of a sampler: the option batch_sampler of DataLoader, in place of batch_size, shuffle, sampler
// and drop_last. ValueError for a batch size below 1.
//   training::BatchSampler batches(training::RandomSampler(dataset), 32, false);
struct BatchSamplerOptions {
  std::int64_t batch_size = 1;
  bool drop_last = false;
};
struct DropLastOptions {
  bool drop_last = false;
};
struct CATENA_EXPORT BatchSampler {
  template <std::same_as<BatchSamplerOptions> O = BatchSamplerOptions>
  BatchSampler(AnyOrderSampler order, const O& o) : BatchSampler(std::move(order), o.batch_size, o.drop_last) {}
  BatchSampler(AnyOrderSampler order, std::int64_t size, bool leave_out_last = false);
  // BatchSampler(sampler, 32, {.drop_last = true})
  template <std::same_as<DropLastOptions> O = DropLastOptions>
  BatchSampler(AnyOrderSampler order, std::int64_t size, const O& o)
      : BatchSampler(std::move(order), size, o.drop_last) {}
  // The batches of a sweep by themselves, as of a loop over the sampler, and their number.
  using const_iterator = internal::DrawnIterator<std::vector<std::int64_t>>;
  const_iterator begin() const;
  const_iterator end() const noexcept { return {}; }
  std::int64_t size() const;
  AnyOrderSampler sampler;
  std::int64_t batch_size;
  bool drop_last;
};

}  // namespace training
