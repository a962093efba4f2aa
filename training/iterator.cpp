#include <catena/training/iterator.h>

#include <algorithm>

#include <catena/autograd/random_state.h>
#include <catena/kernels/base/error.h>
#include <catena/kernels/base/error_context.h>

namespace training {

std::int64_t Batch::size() const {
  if (!stacked) return std::int64_t(examples.size());
  return stacked->values.empty() ? 0 : stacked->values[0].shape(0);
}

Example Batch::operator[](std::int64_t i) const {
  const std::int64_t n = size(), at = i < 0 ? i + n : i;
  catena::check<catena::IndexError>(at >= 0 && at < n, "Batch", "index ", i, " is out of range for ", n, " examples");
  if (!stacked) return examples[std::size_t(at)];
  Example one;
  one.names = stacked->names;
  for (const Array& a : stacked->values) one.values.push_back(ArrayDataset(a)[at].values[0]);
  return one;
}

}  // namespace training
const training::Batch& std::optional<training::Batch>::batch() const {
  catena::check<catena::ValueError>(has_value(), "Iterator",
                                    "there is no next batch: the iteration has ended "
                                    "(StopIteration)");
  return **this;
}
namespace training {

Iterator::~Iterator() = default;
std::int64_t Iterator::batch_size() const {
  catena::fail<catena::NotImplementedError>("Iterator.batch_size", "this iterator does not say how many examples a ",
                                            "batch has; override batch_size()");
}
std::optional<double> Iterator::previous_epoch_detail() const { return {}; }
void Iterator::finalize() {}
void Iterator::serialize_generator(nn::Serializer&) {}
void Iterator::reset() {
  catena::fail<catena::NotImplementedError>("Iterator.reset", "this iterator cannot be rewound");
}

catena::Owned<Iterator> Iterator::copy() const {
  catena::fail<catena::NotImplementedError>(
      "Iterator.copy", "this iterator can be neither rewound nor copied; override can_reset() and reset(), or copy()");
}

SerialIterator::SerialIterator(Held<const DatasetMixin> dataset, std::int64_t batch_size, Options options) try
    : dataset_(dataset.shared()),
      sweep_("SerialIterator", dataset_->size(), batch_size,
             {options.repeat, options.shuffle, options.seed, std::move(options.order_sampler)}) {
} catch (...) {
  catena::rethrow_standard("SerialIterator");
}

catena::Owned<Iterator> SerialIterator::copy() const { return catena::Owned<Iterator>(new SerialIterator(*this)); }

// After an error, the position is as before.
std::optional<Batch> SerialIterator::next() try {
  internal::Sweep after = sweep_;
  internal::Selection selected = after.next();
  if (selected.is_empty()) return {};
  std::optional<Batch> batch = internal::load_batch(*dataset_, std::move(selected));
  sweep_ = std::move(after);
  return batch;
} catch (...) {
  catena::rethrow_standard("SerialIterator");
}

namespace internal {

std::string place_of(std::span<const std::int64_t> indices, bool is_batch) {
  if (!is_batch) return catena::concat("example ", indices[0]);
  constexpr std::size_t kShown = 8;
  std::string text = "the batch of the examples ";
  for (std::size_t i = 0; i < std::min(indices.size(), kShown); ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(indices[i]);
  return text + (indices.size() > kShown ? ", ..." : "");
}

Batch load_batch(const DatasetMixin& dataset, Selection selected) {
  const std::vector<std::int64_t>& indices = selected.indices;
  Batch batch;
  autograd::RandomScope random(selected.keys[0].seed);
  ExampleKeyScope key(selected.keys[0]);
  try {
    batch.stacked = dataset.get_batch(indices);
  } catch (...) {
    catena::rethrow_from(place_of(indices, true));
  }
  if (!batch.stacked) {
    for (std::size_t k = 0; k < indices.size(); ++k) {
      try {
        random.begin(selected.keys[k].seed);
        key.set(selected.keys[k]);
        batch.examples.push_back(dataset.get_example(indices[k]));
      } catch (...) {
        catena::rethrow_from(place_of({&indices[k], 1}, false));
      }
    }
  }
  batch.indices = std::move(selected.indices);
  return batch;
}

}  // namespace internal

}  // namespace training
