#include <catena/training/parallel/data_loader.h>

#include <cmath>
#include <numeric>

#include <catena/kernels/base/error.h>
#include <catena/kernels/base/error_context.h>
#include <catena/training/parallel/iterators.h>

namespace training {

using catena::check;
using catena::ValueError;

Subset::Subset(AnyDataset dataset, std::vector<std::int64_t> indices)
    : dataset_(dataset.shared()), indices_(std::move(indices)) {
  const std::int64_t n = dataset_->size();
  for (const std::int64_t i : indices_)
    check<catena::IndexError>(i >= 0 && i < n, "Subset", "the index ", i, " is out of range for ", n, " examples");
}

Example Subset::get_example(std::int64_t i) const {
  return dataset_->get_example(indices_[static_cast<std::size_t>(i)]);
}

std::optional<Example> Subset::get_batch(std::span<const std::int64_t> indices) const {
  std::vector<std::int64_t> sources;
  for (const std::int64_t i : indices) sources.push_back(indices_[static_cast<std::size_t>(i)]);
  return dataset_->get_batch(sources);
}

std::vector<DatasetPtr> random_split(AnyDataset dataset, const std::vector<double>& fractions,
                                     std::optional<std::uint64_t> seed) {
  const std::int64_t n = dataset->size();
  double sum = 0;
  std::int64_t rest = n;
  std::vector<std::int64_t> lengths;
  for (const double part : fractions) {
    check<ValueError>(part >= 0 && part <= 1, "random_split", "the fraction ", part, " is not between 0 and 1");
    sum += part;
    lengths.push_back(static_cast<std::int64_t>(double(n) * part));
    rest -= lengths.back();
  }
  check<ValueError>(std::abs(sum - 1) < 1e-9, "random_split", "the sum of the fractions is ", sum, " and must be 1");
  for (std::size_t i = 0; rest > 0; ++i, --rest) ++lengths[i % lengths.size()];
  return random_split(std::move(dataset), lengths, seed);
}

std::vector<DatasetPtr> random_split(AnyDataset dataset, const std::vector<std::int64_t>& lengths,
                                     std::optional<std::uint64_t> seed) {
  const std::int64_t n = dataset->size();
  for (const std::int64_t length : lengths)
    check<ValueError>(length >= 0, "random_split", "the length ", length, " is negative");
  const std::int64_t sum = std::accumulate(lengths.begin(), lengths.end(), std::int64_t(0));
  check<ValueError>(sum == n, "random_split", "the sum of the lengths is ", sum, ", but there are ", n, " examples");
  const std::vector<std::int64_t> order = internal::random_order("random_split", n, seed);
  std::vector<DatasetPtr> parts;
  std::int64_t start = 0;
  for (const std::int64_t length : lengths) {
    parts.push_back(catena::Shared<SubDataset>::make(dataset, start, start + length, order));
    start += length;
  }
  return parts;
}

namespace {

// Checks the options, and replaces a batch_sampler and a generator by the options that they stand for.
DataLoaderOptions checked(DataLoaderOptions o) {
  check<ValueError>(o.batch_size >= 1, "DataLoader", "batch_size is ", o.batch_size, " and must be at least 1");
  check<ValueError>(o.num_workers >= 0, "DataLoader", "num_workers is ", o.num_workers, " and must not be negative");
  check<ValueError>(o.prefetch_factor >= 1, "DataLoader", "prefetch_factor is ", o.prefetch_factor,
                    " and must be at least 1");
  check<ValueError>(o.timeout >= 0, "DataLoader", "timeout is ", o.timeout, " and must not be negative");
  check<ValueError>(!o.sampler || !o.shuffle, "DataLoader", "shuffle is true, and a sampler is given");
  check<ValueError>(!o.generator || !o.seed, "DataLoader", "a seed and a generator are given");
  if (o.generator) o.seed = o.generator->seed;
  if (o.batch_sampler) {
    check<ValueError>(o.batch_size == 1 && !o.shuffle && !o.sampler && !o.drop_last, "DataLoader",
                      "a batch_sampler excludes batch_size, shuffle, sampler and drop_last");
    o.batch_size = o.batch_sampler->batch_size;
    o.sampler = o.batch_sampler->sampler;
    o.drop_last = o.batch_sampler->drop_last;
  }
  for (int worker = 0; o.worker_init_fn && worker < o.num_workers; ++worker) o.worker_init_fn(worker);
  return o;
}

// The batches of a stream.
class StreamIterator final : public Iterator {
 public:
  StreamIterator(catena::Shared<IterableDataset> stream, std::int64_t batch_size)
      : stream_(std::move(stream)), batch_size_(batch_size) {
    stream_->reset();
  }
  std::optional<Batch> next() override {
    Batch batch;
    while (!is_new_epoch_ && batch.size() < batch_size_) {
      std::optional<Example> example = stream_->next();
      if (example) batch.examples.push_back(std::move(*example));
      else is_new_epoch_ = true;
    }
    return batch.examples.empty() ? std::nullopt : std::optional(std::move(batch));
  }
  std::int64_t batch_size() const override { return batch_size_; }
  std::int64_t epoch() const override { return is_new_epoch_ ? 1 : 0; }
  double epoch_detail() const override { return double(epoch()); }
  bool is_new_epoch() const override { return is_new_epoch_; }
  void serialize(nn::Serializer&) override {}
  bool can_reset() const override { return true; }
  void reset() override {
    stream_->reset();
    is_new_epoch_ = false;
  }

 private:
  const catena::Shared<IterableDataset> stream_;
  const std::int64_t batch_size_;
  bool is_new_epoch_ = false;  // the stream has ended
};

// The examples of a dataset, without its way of stacking a batch.
class OneByOne final : public DatasetMixin {
 public:
  explicit OneByOne(DatasetPtr dataset) : dataset_(std::move(dataset)) {}
  std::int64_t size() const override { return dataset_->size(); }
  Example get_example(std::int64_t i) const override { return dataset_->get_example(i); }

 private:
  const DatasetPtr dataset_;
};

}  // namespace

DataLoader::Options DataLoader::with_batch_size(Options options, std::int64_t batch_size) {
  check<ValueError>(options.batch_size == 1, "DataLoader", "batch_size is ", batch_size, " and ", options.batch_size,
                    "; give one of them");
  options.batch_size = batch_size;
  return options;
}

DataLoader::DataLoader(internal::LoaderDataset dataset, Options options) try
    : dataset_(dataset.dataset), options_(checked(std::move(options))) {
  const std::optional<bool> shuffle = options_.sampler ? std::nullopt : std::optional(options_.shuffle);
  DatasetPtr source = dataset_;
  if (dataset.type != nullptr && options_.collate_fn.takes(*dataset.type)) {
    source = dataset.indices;
    collate_elements_ = std::move(dataset.collate_elements);
  } else {
    check<catena::TypeError>(dataset.has_examples(), "DataLoader",
                             "the elements of the dataset are no arrays, numbers or tuples of them: collate_fn must "
                             "take a std::vector of their class");
  }
  if (options_.collate_fn) source = catena::Shared<OneByOne>::make(source);
  if (options_.num_workers == 0) {
    iterator_ = catena::Owned<Iterator>(new SerialIterator(
        source, options_.batch_size,
        {.repeat = false, .shuffle = shuffle, .seed = options_.seed, .order_sampler = options_.sampler}));
  } else {
    iterator_ = catena::Owned<Iterator>(new MultithreadIterator(source, options_.batch_size,
                                                                {.repeat = false,
                                                                 .shuffle = shuffle,
                                                                 .n_threads = options_.num_workers,
                                                                 .n_prefetch = options_.prefetch_factor,
                                                                 .seed = options_.seed,
                                                                 .order_sampler = options_.sampler}));
  }
} catch (...) {
  catena::rethrow_standard("DataLoader");
}

DataLoader::DataLoader(Held<IterableDataset> stream, Options options) try : options_(checked(std::move(options))) {
  check<ValueError>(!options_.shuffle && !options_.sampler, "DataLoader",
                    "a stream has one order: it takes neither shuffle nor a sampler");
  check<ValueError>(options_.num_workers == 0, "DataLoader", "num_workers is ", options_.num_workers,
                    ", but one thread reads a stream: it must be 0");
  iterator_ = catena::Owned<Iterator>(new StreamIterator(stream.shared(), options_.batch_size));
} catch (...) {
  catena::rethrow_standard("DataLoader");
}

std::int64_t DataLoader::size() const {
  check<catena::TypeError>(bool(dataset_), "DataLoader", "the number of batches of a stream is not known");
  const std::int64_t b = options_.batch_size;
  const std::int64_t n = options_.sampler ? (*options_.sampler)->length(dataset_->size()) : dataset_->size();
  return options_.drop_last ? n / b : (n + b - 1) / b;
}

LoadedBatch next(DataLoader::Cursor& cursor) {
  check<ValueError>(!(cursor == nullptr), "next", "the sweep has ended: there is no batch");
  LoadedBatch batch = *cursor;
  ++cursor;
  return batch;
}

IterableDataset::~IterableDataset() = default;
std::optional<Example> IterableDataset::next() {
  catena::fail<catena::TypeError>("IterableDataset.next", "the class has neither next() nor begin() and end()");
}

ChainDataset::ChainDataset(std::vector<Held<IterableDataset>> streams) : streams_(std::move(streams)) {
  check<ValueError>(!streams_.empty(), "ChainDataset", "there are no streams");
}
std::optional<Example> ChainDataset::next() {
  for (; at_ < streams_.size(); ++at_)
    if (std::optional<Example> example = streams_[at_]->next()) return example;
  return {};
}
void ChainDataset::reset() {
  at_ = 0;
  for (const Held<IterableDataset>& stream : streams_) stream->reset();
}

DataLoader::Cursor DataLoader::begin() {
  if (!fresh_) iterator_->reset();
  fresh_ = true;
  return Cursor(this);
}

void DataLoader::advance() {
  batch_.reset();
  fresh_ = false;
  const std::optional<Batch> next = iterator_->next();
  if (!next || (options_.drop_last && next->size() < options_.batch_size)) return;
  const auto collated = [&] {
    return to_device(options_.device, collate_elements_ ? collate_elements_(options_.collate_fn, next->examples)
                                                        : options_.collate_fn(next->examples));
  };
  batch_.emplace(options_.collate_fn ? collated() : concat_examples(*next, options_.device, options_.padding));
}

}  // namespace training
