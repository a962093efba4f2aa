// Iterators, which define the order in which training reads a dataset.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <catena/autograd/variable.h>
#include <catena/kernels/base/pointers.h>
#include <catena/nn/serializers/serializer.h>
#include <catena/training/dataset.h>
#include <catena/training/example_key.h>
#include <catena/training/held.h>
#include <catena/training/samplers.h>
#include <catena/training/sweep.h>

namespace training {

using autograd::Variable;
using autograd::Variables;
class Iterator;

// One minibatch: a list of examples, or the batch as the dataset stacked it.
struct CATENA_EXPORT Batch {
  Examples examples;
  std::optional<Example> stacked;
  std::vector<std::int64_t> indices = {};  // indices of the examples in the dataset, for messages; may be empty
  std::int64_t size() const;               // number of examples
  // An example by its position, from the end if it is negative; of a stacked batch its arrays are views. IndexError.
  //   for (const auto& [x, t] : batch) ...
  Example operator[](std::int64_t i) const;

  class Position {
   public:
    Position(const Batch* of, std::int64_t at) noexcept : of_(of), at_(at) {}
    Example operator*() const { return (*of_)[at_]; }
    Position& operator++() noexcept {
      ++at_;
      return *this;
    }
    friend bool operator==(const Position&, const Position&) = default;

   private:
    const Batch* of_;
    std::int64_t at_;
  };
  Position begin() const noexcept { return {this, 0}; }
  Position end() const { return {this, size()}; }
};

namespace internal {
// A batch under another name, for the class below, which cannot contain the class that it specialises.
struct HeldBatch : Batch {
  HeldBatch(Batch batch) : Batch(std::move(batch)) {}
};
}  // namespace internal
}  // namespace training

// The result of Iterator::next(). Beside the members of std::optional it has members of its batch, with which it is
// used like a list in Python: batch.size(), batch[0], for (const auto& [x, t] : batch). These are a ValueError at the
// end of the iteration, where there is no batch.
template <> class std::optional<training::Batch> : public std::optional<training::internal::HeldBatch> {
  using Base = std::optional<training::internal::HeldBatch>;

 public:
  using value_type = training::Batch;
  constexpr optional() noexcept = default;
  constexpr optional(std::nullopt_t) noexcept {}
  template <std::derived_from<training::Batch> B> optional(B batch) : Base(std::in_place, std::move(batch)) {}
  template <std::derived_from<training::Batch> B> optional& operator=(B batch) {
    emplace(std::move(batch));
    return *this;
  }
  optional& operator=(std::nullopt_t) noexcept {
    Base::reset();
    return *this;
  }
  template <class... A>
  explicit optional(std::in_place_t, A&&... a) : Base(std::in_place, training::Batch{std::forward<A>(a)...}) {}
  template <class... A> training::Batch& emplace(A&&... a) {
    return Base::emplace(training::Batch{std::forward<A>(a)...});
  }

  // The members of std::optional that give the batch give a Batch, and not the class that holds it.
  const training::Batch& operator*() const& noexcept { return Base::operator*(); }
  training::Batch& operator*() & noexcept { return Base::operator*(); }
  training::Batch&& operator*() && noexcept { return std::move(Base::operator*()); }
  const training::Batch* operator->() const noexcept { return Base::operator->(); }
  training::Batch* operator->() noexcept { return Base::operator->(); }
  const training::Batch& value() const& { return Base::value(); }
  training::Batch& value() & { return Base::value(); }
  training::Batch&& value() && { return std::move(Base::value()); }
  training::Batch value_or(training::Batch other) const { return has_value() ? **this : std::move(other); }

  operator const training::Batch&() const { return batch(); }  // for a function of a batch
  std::int64_t size() const { return batch().size(); }
  training::Example operator[](std::int64_t i) const { return batch()[i]; }
  training::Batch::Position begin() const { return batch().begin(); }
  training::Batch::Position end() const { return batch().end(); }

 private:
  CATENA_EXPORT const training::Batch& batch() const;
};

namespace training {

namespace internal {
// A batch, or what Iterator::next() returns.
template <class B>
concept BatchOrNext = std::same_as<B, Batch> || std::same_as<B, std::optional<Batch>>;
}  // namespace internal
// Returns the arrays of a batch: those which the dataset stacked, or concat_examples(batch.examples, device, padding).
// ValueError at the end of the iteration, where there is no batch: concat_examples(iterator.next()).
template <internal::BatchOrNext B>
Example concat_examples(const B& batch_or_next, DeviceId device = {}, const Padding& padding = {}) {
  const Batch& batch = batch_or_next;
  return batch.stacked ? to_device(device, *batch.stacked)
                       : concat_examples(batch.examples, device, padding, batch.indices);
}
// The same with the arguments by name: concat_examples(batch, {.device = 0, .padding = -1}).
struct ConcatOptions {
  DeviceId device = {};
  Padding padding = {};
};
template <internal::BatchOrNext B, std::same_as<ConcatOptions> O = ConcatOptions>
Example concat_examples(const B& batch, const O& options) {
  return concat_examples(batch, options.device, options.padding);
}
// Of a list of examples.
template <class T, std::same_as<ConcatOptions> O = ConcatOptions>
requires std::is_constructible_v<Example, const T&> Example concat_examples(const std::vector<T>& batch, const O& o) {
  return concat_examples(Examples(batch.begin(), batch.end()), o.device, o.padding);
}

namespace internal {
// The variables of the n components of a batch (ValueError for another number); and of the next batch.
CATENA_EXPORT Variables variables_of(const Batch& batch, std::optional<Device> device, std::size_t n);
CATENA_EXPORT Variables next_variables_of(Iterator& iterator, std::optional<Device> device, std::size_t n);
template <std::size_t N> std::array<Variable, N> as_array(Variables&& all) {
  std::array<Variable, N> variables;
  for (std::size_t i = 0; i < N; ++i) variables[i] = std::move(all[i]);
  return variables;
}
}  // namespace internal

// A user's iterator must implement next(), epoch(), epoch_detail(), is_new_epoch() and serialize().
class CATENA_EXPORT Iterator {
 public:
  virtual ~Iterator();
  virtual std::optional<Batch> next() = 0;  // empty: the iteration has ended
  // The components of the next batch as variables: auto [x, t] = iterator.next_variables(), or next_variables<3>().
  // ValueError at the end of the iteration, and for another number of components.
  template <std::size_t N = 2> std::array<Variable, N> next_variables(DeviceId device = {}) {
    return internal::as_array<N>(internal::next_variables_of(*this, device, N));
  }
  virtual std::int64_t batch_size() const;  // requested examples per batch; NotImplementedError unless overridden
  virtual std::int64_t epoch() const = 0;   // number of completed sweeps
  virtual double epoch_detail() const = 0;
  virtual std::optional<double> previous_epoch_detail() const;  // before the last next()
  virtual bool is_new_epoch() const = 0;
  virtual void finalize();
  virtual void serialize(nn::Serializer& s) = 0;
  // Stores only the generators, for an iterator that starts again after a resume. Does nothing by default.
  virtual void serialize_generator(nn::Serializer& s);
  virtual bool can_reset() const { return false; }
  virtual void reset();  // NotImplementedError unless can_reset
  // Returns an independent iterator at the same position. NotImplementedError unless a class overrides it:
  //   catena::Owned<training::Iterator> copy() const override { return catena::Owned<Iterator>(new Mine(*this)); }
  virtual catena::Owned<Iterator> copy() const;

  // for (const Batch& batch : iterator): calls next() until the iteration ends. With `repeat` it never ends.
  class Cursor {
   public:
    explicit Cursor(Iterator* of) : of_(of), batch_(of->next()) {}
    const Batch& operator*() const { return *batch_; }
    const Batch* operator->() const { return &*batch_; }
    Cursor& operator++() {
      batch_ = of_->next();
      return *this;
    }
    friend bool operator==(const Cursor& cursor, std::nullptr_t) { return !cursor.batch_; }

   private:
    Iterator* of_;
    std::optional<Batch> batch_;
  };
  Cursor begin() { return Cursor(this); }
  std::nullptr_t end() const noexcept { return nullptr; }
};

// Loads examples in the calling thread. A sweep ends with the call that reaches its end: with `repeat`, the batch is
// completed from the new order; without it, the last batch is short. The iterator has its own generator, so that a
// resumed run continues with the same orders.
//
// Random numbers of the dataset: while it loads an example, the generators of the library, nd::random and
// autograd::default_generator(), are replaced. The replacements depend on the seed of the iterator, the number of
// sweeps begun (the epoch; reset() also begins one), the index of the example, or, if the dataset stacks batches, of
// the first example of the batch, and on how often a sampler has drawn this index before in the sweep (example_key()
// gives epoch and index). The numbers that the dataset draws (for random crops, for example) are thus the same for any
// order of loading, any number of workers (MultithreadIterator, MultiprocessIterator), and after a resume, and do not
// change the numbers that the program draws elsewhere. This also holds for a generator that get_example makes without a
// seed (nd::random::default_rng()), but not for a generator that the dataset keeps, whose numbers go to whichever
// example is loaded next.
class CATENA_EXPORT SerialIterator : public Iterator {
 public:
  struct Options {
    bool repeat = true;
    std::optional<bool> shuffle = {};  // a new random order for every sweep; empty: true, unless there is a sampler
    // Seed of the orders and of the numbers that the dataset draws. Empty: drawn from the thread's default generator at
    // construction.
    std::optional<std::uint64_t> seed = {};
    // Defines the order and the number of examples of a sweep. `shuffle` must not be given beside it.
    std::optional<AnyOrderSampler> order_sampler = {};
  };
  // ValueError for a batch size below 1, an empty dataset, a sampler that is made for another dataset, and a sampler
  // beside `shuffle`.
  SerialIterator(Held<const DatasetMixin> dataset, std::int64_t batch_size, Options options);
  SerialIterator(Held<const DatasetMixin> dataset, std::int64_t batch_size)
      : SerialIterator(std::move(dataset), batch_size, Options{}) {}
  // With the batch size by name: SerialIterator(data, {.batch_size = 32, .repeat = false}).
  struct NamedOptions {
    std::int64_t batch_size = 0;
    bool repeat = true;
    std::optional<bool> shuffle = {};
    std::optional<std::uint64_t> seed = {};
    std::optional<AnyOrderSampler> order_sampler = {};
  };
  template <std::same_as<NamedOptions> O = NamedOptions>
  SerialIterator(Held<const DatasetMixin> dataset, const O& o)
      : SerialIterator(std::move(dataset), o.batch_size, Options{o.repeat, o.shuffle, o.seed, o.order_sampler}) {}
  // repeat and shuffle by position, as in Chainer.
  template <std::same_as<bool> Bool>
  SerialIterator(Held<const DatasetMixin> dataset, std::int64_t batch_size, Bool repeat, Bool shuffle = true)
      : SerialIterator(std::move(dataset), batch_size, Options{.repeat = repeat, .shuffle = shuffle}) {}

  std::optional<Batch> next() override;
  std::int64_t batch_size() const override { return sweep_.batch_size(); }
  std::int64_t epoch() const override { return sweep_.epoch(); }
  double epoch_detail() const override { return sweep_.epoch_detail(); }
  std::optional<double> previous_epoch_detail() const override { return sweep_.previous_epoch_detail(); }
  bool is_new_epoch() const override { return sweep_.is_new_epoch(); }
  // Stores the position, the order, and the generators. Loading an order of another length is a ValueError.
  void serialize(nn::Serializer& s) override { sweep_.serialize(s); }
  void serialize_generator(nn::Serializer& s) override { sweep_.serialize_generator(s); }
  bool can_reset() const override { return true; }
  void reset() override { sweep_.rewind(); }  // starts again with a new order
  catena::Owned<Iterator> copy() const override;
  const DatasetPtr& dataset() const noexcept { return dataset_; }
  std::int64_t current_position() const noexcept { return sweep_.position(); }

 private:
  DatasetPtr dataset_;
  internal::Sweep sweep_;
};

namespace internal {
// Loads the examples of a batch in the calling thread. Errors name the example.
Batch load_batch(const DatasetMixin& dataset, Selection selected);
// Returns the place of an error: "example 4", or "the batch of the examples 4, 1, ...".
std::string place_of(std::span<const std::int64_t> indices, bool is_batch);
}  // namespace internal

}  // namespace training
