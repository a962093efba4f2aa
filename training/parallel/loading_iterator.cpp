#include <catena/training/parallel/loading_iterator.h>

#include <algorithm>
#include <deque>
#include <utility>

#include <catena/autograd/current_device.h>
#include <catena/autograd/random_state.h>
#include <catena/kernels/base/error_context.h>
#include <catena/training/parallel/batch_loader.h>

namespace training::internal {

void check_timeout(const char* who, std::optional<double> seconds) {
  catena::check<catena::ValueError>(seconds.value_or(1) > 0, who, "timeout is ", seconds.value_or(1),
                                    "; it is a number of seconds above 0, or empty");
}

// The workers, and the batches they have been asked for: the position after each of them.
struct LoadingIterator::Ahead {
  catena::Owned<BatchLoader> loader;
  std::deque<Sweep> positions;
};

LoadingIterator::LoadingIterator(const char* who, AnyDataset dataset, std::int64_t batch_size,
                                 const SweepOptions& options, std::int64_t n_prefetch)
    : dataset_(dataset.shared()),
      sweep_(who, dataset_->size(), batch_size, options),
      n_prefetch_(std::max<std::int64_t>(n_prefetch, 1)) {}

LoadingIterator::LoadingIterator(const LoadingIterator& o)
    : Iterator(o), dataset_(o.dataset_), sweep_(o.sweep_), n_prefetch_(o.n_prefetch_) {}

LoadingIterator::~LoadingIterator() = default;

void LoadingIterator::finalize() { ahead_.reset(); }

void LoadingIterator::drop() {
  if (!ahead_) return;
  ahead_->loader->drop();
  ahead_->positions.clear();
}

void LoadingIterator::reset() {
  drop();
  sweep_.rewind();
}

namespace {

// Returns the units of a batch; empty if the iteration has ended.
std::vector<LoadUnit> units_of(Selection selected, bool as_batch) {
  std::vector<LoadUnit> units;
  if (selected.is_empty()) return units;
  if (as_batch) {
    units.push_back({std::move(selected), true});
    return units;
  }
  for (std::size_t k = 0; k < selected.indices.size(); ++k) units.push_back({selected.only(k), false});
  return units;
}

std::int64_t bytes_of(const Batch& unit) {
  std::int64_t bytes = 0;
  const auto add = [&](const Example& e) {
    for (const Array& a : e.values)
      if (a) bytes += a.size() * std::int64_t(catena::itemsize(a.dtype()));
  };
  if (unit.stacked) add(*unit.stacked);
  for (const Example& e : unit.examples) add(e);
  return bytes;
}

}  // namespace

// Loads the first batch in the caller, to find out whether the dataset stacks batches and how large examples are.
Batch LoadingIterator::first_batch() {
  Sweep after = sweep_;
  const Selection selected = after.next();
  const std::vector<std::int64_t>& indices = selected.indices;
  std::vector<Batch> loaded;
  {
    using autograd::internal::DefaultDeviceScope;
    const auto host =
        loads_on_host() ? DefaultDeviceScope(autograd::default_backend(), Device{}) : DefaultDeviceScope();
    autograd::RandomScope random(selected.keys[0].seed);
    const ExampleKeyScope key(selected.keys[0]);
    Batch batch;
    try {
      batch.stacked = dataset_->get_batch(indices);
    } catch (...) {
      catena::rethrow_from(place_of(indices, true));
    }
    batch.indices = indices;
    stacks_ = batch.stacked.has_value();
    if (stacks_) loaded.push_back(std::move(batch));
    else
      for (const LoadUnit& unit : units_of(selected, false)) loaded.push_back(load_unit(*dataset_, unit, random));
  }
  std::int64_t largest = 0;
  for (const Batch& unit : loaded) largest = std::max(largest, bytes_of(unit));
  ahead_ = catena::Owned<Ahead>(new Ahead{start(largest), {}});
  sweep_ = std::move(after);
  return joined(std::move(loaded));
}

void LoadingIterator::fill() {
  while (std::int64_t(ahead_->positions.size()) < n_prefetch_) {
    Sweep after = ahead_->positions.empty() ? sweep_ : ahead_->positions.back();
    std::vector<LoadUnit> units = units_of(after.next(), stacks_);
    if (units.empty()) return;
    ahead_->positions.push_back(std::move(after));
    try {
      ahead_->loader->request(std::move(units));
    } catch (...) {
      ahead_->positions.pop_back();
      throw;
    }
  }
}

// After an error, the position is as before.
std::optional<Batch> LoadingIterator::next() {
  if (sweep_.has_ended()) return {};
  const Sweep before = sweep_;
  try {
    Batch batch;
    if (!ahead_) {
      batch = first_batch();
    } else {
      fill();  // after a reset, no batch has been requested yet
      batch = ahead_->loader->take();
      ahead_->loader->after_take();
      sweep_ = std::move(ahead_->positions.front());
      ahead_->positions.pop_front();
    }
    fill();
    return batch;
  } catch (...) {
    sweep_ = before;
    if (ahead_ && ahead_->loader->is_stuck()) drop();
    else finalize();
    catena::rethrow_standard(before.who());
  }
}

void LoadingIterator::serialize(nn::Serializer& s) {
  if (!s.is_writer()) drop();
  sweep_.serialize(s, stores_order_always());
}

}  // namespace training::internal
