// Data sets and loaders with the names of PyTorch's torch.utils.data. The iterators of a Trainer are in iterator.h and
// parallel/iterators.h.
//
//   auto [train, valid] = training::random_split(training::TensorDataset(x, t), {50000, 10000});
//   training::DataLoader loader(train, {.batch_size = 64, .shuffle = true, .num_workers = 2});
//   for (int epoch = 0; epoch < 10; ++epoch)
//     for (const training::Example& batch : loader) ...              // batch.values[0], batch.values[1]
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <catena/kernels/base/pointers.h>
#include <catena/training/dataset.h>
#include <catena/training/iterator.h>
#include <catena/training/parallel/collate.h>
#include <catena/training/samplers.h>

namespace training {

// Data sets of dataset.h.
using TensorDataset = TupleDataset;
using ConcatDataset = ConcatenatedDataset;
using StackDataset = TupleDataset;

// The examples of a dataset at these indices, which may repeat. IndexError for one that is out of range.
class CATENA_EXPORT Subset : public DatasetMixin {
 public:
  Subset(AnyDataset dataset, std::vector<std::int64_t> indices);
  template <std::integral I>
  requires(!std::same_as<I, std::int64_t>) Subset(AnyDataset dataset, const std::vector<I>& indices)
      : Subset(std::move(dataset), std::vector<std::int64_t>(indices.begin(), indices.end())) {}
  const std::vector<std::int64_t>& indices() const noexcept { return indices_; }
  std::int64_t size() const override { return std::int64_t(indices_.size()); }
  Example get_example(std::int64_t i) const override;
  std::optional<Example> get_batch(std::span<const std::int64_t> indices) const override;

 private:
  DatasetPtr dataset_;
  std::vector<std::int64_t> indices_;
};

// Random parts of these lengths. ValueError for a negative length and for lengths whose sum is not the size of the
// dataset. `seed` as in split_dataset_random.
CATENA_EXPORT std::vector<DatasetPtr> random_split(AnyDataset dataset, const std::vector<std::int64_t>& lengths,
                                                   std::optional<std::uint64_t> seed = {});
// Fractions of the size, whose sum is 1 (ValueError): rounded down, and one example more for the first ones, as many as
// are left.
CATENA_EXPORT std::vector<DatasetPtr> random_split(AnyDataset dataset, const std::vector<double>& fractions,
                                                   std::optional<std::uint64_t> seed = {});
// With PyTorch's option in its place: random_split(dataset, lengths, generator).
template <class Size, std::same_as<autograd::Generator> G>
std::vector<DatasetPtr> random_split(AnyDataset dataset, const std::vector<Size>& sizes, const G& generator) {
  return random_split(std::move(dataset), sizes, SplitOptions{.generator = generator});
}
// Of a list in braces, as many parts: auto [train, valid] = random_split(dataset, {6, 2}), or {0.75, 0.25}. The seed is
// a number, or named: {.seed = 42}.
template <class T, std::size_t N, class Seed = SplitOptions>
std::array<DatasetPtr, N> random_split(AnyDataset dataset, const T (&sizes)[N], const Seed& seed = {}) {
  using Size = std::conditional_t<std::is_integral_v<T>, std::int64_t, double>;
  std::vector<DatasetPtr> parts = random_split(std::move(dataset), std::vector<Size>(sizes, sizes + N), seed);
  std::array<DatasetPtr, N> result;
  for (std::size_t i = 0; i < N; ++i) result[i] = std::move(parts[i]);
  return result;
}

// The examples of both, one after the other.
template <class A, class B>
ConcatenatedDataset operator+(A&& a, B&& b) requires(
    std::is_base_of_v<DatasetMixin, std::remove_cvref_t<A>>&& std::is_base_of_v<DatasetMixin, std::remove_cvref_t<B>>) {
  return ConcatenatedDataset(std::forward<A>(a), std::forward<B>(b));
}

// Examples that come one after the other, of which there is no number. A class overrides next(), which returns nothing
// at the end, and reset(), with which each sweep of a DataLoader begins; or it has begin() and end(), of a range of
// examples, and overrides none.
//
//   struct Lines : training::IterableDataset {
//     std::ifstream file{"numbers.txt"};
//     std::optional<training::Example> next() override { ... }
//     void reset() override { file.seekg(0); }
//   };
class CATENA_EXPORT IterableDataset {
 public:
  virtual ~IterableDataset();
  virtual std::optional<Example> next();  // by default a TypeError
  virtual void reset() {}
};
namespace internal {
template <class S>
concept StreamOfRange = std::is_base_of_v<IterableDataset, S> && requires(S& s) {
  Example(*s.begin());
  s.begin() != s.end();
};
// The elements of a class that has begin() and end().
template <StreamOfRange S> class RangeStream : public IterableDataset {
 public:
  explicit RangeStream(catena::Shared<S> range) : range_(std::move(range)) {}
  std::optional<Example> next() override {
    if (!at_) at_.emplace(range_->begin());
    if (!(*at_ != range_->end())) return {};
    Example example(**at_);
    ++*at_;
    return example;
  }
  void reset() override { at_.reset(); }

 private:
  const catena::Shared<S> range_;
  std::optional<decltype(std::declval<S&>().begin())> at_;
};
}  // namespace internal
// The examples of several streams, one stream after the other. ValueError without streams.
class CATENA_EXPORT ChainDataset : public IterableDataset {
 public:
  explicit ChainDataset(std::vector<Held<IterableDataset>> streams);
  std::optional<Example> next() override;
  void reset() override;

 private:
  std::vector<Held<IterableDataset>> streams_;
  std::size_t at_ = 0;  // the stream that is read
};

// The options stand in PyTorch's order, which designated initializers keep.
struct DataLoaderOptions {
  std::int64_t batch_size = 1;
  bool shuffle = false;
  std::optional<AnyOrderSampler> sampler = {};  // defines the order in place of shuffle; both are a ValueError
  // Batches of a sampler; ValueError beside batch_size, shuffle, sampler or drop_last.
  std::optional<BatchSampler> batch_sampler = {};
  // Threads that load batches ahead; 0: the calling thread loads. Elements of a class of a program, which collate_fn
  // takes, are read by the thread that iterates, without workers and without a seed of their own for the random numbers
  // of each example (SerialIterator).
  int num_workers = 0;
  // Makes the batch of the examples, in place of concat_examples: [](const Examples& examples) { ... }, or of the
  // elements, [](const std::vector<autograd::Variable>& batch) { ... }: collate.h. Elements of a class of a program,
  // such as a std::vector of structs with texts, need it (TypeError). It runs in the thread that iterates.
  Collate collate_fn = {};
  bool pin_memory = false;  // without effect: batches are moved from pinned memory anyway
  bool drop_last = false;   // leaves out a last batch that is not full
  double timeout = 0;       // without effect: threads of this process load, which end with it
  // Called once in the constructor with the number of each worker. Generators need no seed: see SerialIterator.
  catena::Function<void(int worker)> worker_init_fn = {};
  std::string_view multiprocessing_context = {};      // without effect
  std::optional<autograd::Generator> generator = {};  // PyTorch's form of `seed`: its seed is taken
  DeviceId device = {};                               // the device to which batches are moved
  Padding padding = {};                               // of examples of unequal shapes
  // Seed of the orders and of the numbers that the dataset draws; see SerialIterator.
  std::optional<std::uint64_t> seed = {};
  int prefetch_factor = 2;                  // batches that the workers load ahead, at least 1
  bool persistent_workers = false;          // without effect: the threads live as long as the loader
  std::string_view pin_memory_device = {};  // without effect, as pin_memory
  bool in_order = true;                     // without effect: batches always come in their order
};

// An element of an example as an array, by PyTorch's name: default_convert(1.5).
inline autograd::Array default_convert(const ExampleValue& value) { return value.array(); }
// PyTorch's description of a worker. get_worker_info() has none: one thread reads a stream, and the threads of a loader
// share its dataset, so that no dataset need be divided.
struct WorkerInfo {
  int id = 0, num_workers = 1;
  std::uint64_t seed = 0;
};
inline std::optional<WorkerInfo> get_worker_info() { return {}; }
// PyTorch's name of concat_examples.
inline Example default_collate(const Examples& examples) { return concat_examples(examples); }

// The batches of one sweep after the other: every begin() starts a sweep in a new order, and ends the one before. The
// elements are batches as concat_examples stacks them; a reference to one is valid until the next one. A batch of one
// array is a Variable, too: for (auto batch : loader) y = net(batch). batch[0] is its first array, and not the first
// row of that. Beside the loops of a program; a Trainer takes an Iterator.
//
// ValueError for a batch_size below 1 and a num_workers below 0.
class CATENA_EXPORT DataLoader {
 public:
  using Options = DataLoaderOptions;
  explicit DataLoader(internal::LoaderDataset dataset, Options options = {});
  // DataLoader(dataset, 64, true): the batch size and shuffle by position.
  template <std::integral N>
  DataLoader(internal::LoaderDataset dataset, N batch_size, bool shuffle = false, Options options = {})
      : DataLoader(std::move(dataset),
                   (options.batch_size = batch_size, options.shuffle = shuffle, std::move(options))) {}
  // DataLoader(dataset, 64, {.shuffle = true}). ValueError for a batch_size in both places.
  template <std::integral N, std::same_as<DataLoaderOptions> O = DataLoaderOptions>
  DataLoader(internal::LoaderDataset dataset, N batch_size, const O& options)
      : DataLoader(std::move(dataset), with_batch_size(options, batch_size)) {}
  // A stream of examples, which has no order of its own: shuffle and a sampler are a ValueError, size() a TypeError,
  // and num_workers a ValueError, because one thread reads a stream.
  explicit DataLoader(Held<IterableDataset> stream, Options options = {});
  template <class S>
  requires(internal::StreamOfRange<std::remove_reference_t<S>>) explicit DataLoader(S&& stream, Options options = {})
      : DataLoader(of_range(std::forward<S>(stream)), std::move(options)) {}

  std::int64_t size() const;                                       // the number of batches
  const DatasetPtr& dataset() const noexcept { return dataset_; }  // null for a stream
  std::int64_t batch_size() const noexcept { return options_.batch_size; }

  class Cursor {
   public:
    explicit Cursor(DataLoader* of) : of_(of) { of_->advance(); }
    const LoadedBatch& operator*() const noexcept { return *of_->batch_; }
    const LoadedBatch* operator->() const noexcept { return &*of_->batch_; }
    Cursor& operator++() {
      of_->advance();
      return *this;
    }
    friend bool operator==(const Cursor& cursor, std::nullptr_t) { return cursor.at_end(); }

   private:
    bool at_end() const noexcept { return !of_->batch_; }
    DataLoader* of_;
  };
  Cursor begin();
  std::nullptr_t end() const noexcept { return nullptr; }

 private:
  static Options with_batch_size(Options options, std::int64_t batch_size);
  template <class S> static Held<IterableDataset> of_range(S&& stream) {
    using R = std::remove_reference_t<S>;
    if constexpr (std::is_lvalue_reference_v<S>) return internal::RangeStream<R>(catena::Shared<R>::borrowed(&stream));
    else return internal::RangeStream<R>(internal::make_held(std::move(stream)));
  }
  void advance();

  DatasetPtr dataset_;
  Options options_;
  catena::Owned<Iterator> iterator_;
  bool fresh_ = true;  // the iterator has given no batch yet
  std::optional<LoadedBatch> batch_;
  // Makes a batch of the elements of these indices; empty where the examples are stacked.
  catena::Function<Example(const Collate& collate, const Examples& indices)> collate_elements_;
};

// Python's next(iter(loader)): the first batch of a sweep, and the next ones of a cursor. ValueError at the end.
inline DataLoader::Cursor iter(DataLoader& loader) { return loader.begin(); }
CATENA_EXPORT LoadedBatch next(DataLoader::Cursor& cursor);
inline LoadedBatch next(DataLoader::Cursor&& cursor) { return *cursor; }
inline LoadedBatch next(DataLoader& loader) { return *loader.begin(); }

// The batches with their numbers: for (auto [i, batch] : enumerate(loader)) { auto [x, t] = batch; ... }
class Enumerated {
 public:
  explicit Enumerated(DataLoader& loader) : loader_(&loader) {}
  struct Cursor {
    DataLoader::Cursor of;
    std::int64_t i = 0;
    std::pair<std::int64_t, const LoadedBatch&> operator*() const { return {i, *of}; }
    Cursor& operator++() {
      ++of, ++i;
      return *this;
    }
    friend bool operator==(const Cursor& cursor, std::nullptr_t) { return cursor.of == nullptr; }
  };
  Cursor begin() const { return {loader_->begin()}; }
  std::nullptr_t end() const noexcept { return nullptr; }

 private:
  DataLoader* loader_;
};
inline Enumerated enumerate(DataLoader& loader) { return Enumerated(loader); }

// PyTorch's module.
namespace utils::data {
using namespace training;
}  // namespace utils::data
namespace data = utils::data;

}  // namespace training
