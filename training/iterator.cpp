#include <catena/training/iterator.h>

#include <algorithm>

#include <catena/kernels/base/error.h>
#include <catena/kernels/base/error_context.h>

namespace training {

using catena::check;
using catena::ValueError;

std::int64_t Batch::size() const {
  if (!stacked) return std::int64_t(examples.size());
  return stacked->values.empty() ? 0 : stacked->values[0].shape(0);
}

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

SerialIterator::SerialIterator(Held<const Dataset> dataset, std::int64_t batch_size, Options options)
    : dataset_(dataset.shared()), batch_size_(batch_size), options_(options) {
  check<ValueError>(batch_size > 0, "SerialIterator", "the batch size is ", batch_size);
  check<ValueError>(dataset_->size() > 0, "SerialIterator", "the dataset is empty");
  if (options_.seed) {
    generator_ = {*options_.seed, 0};
  } else if (options_.shuffle) {
    autograd::Generator& g = autograd::default_generator();
    generator_ = {g.seed + 0x9e3779b97f4a7c15u * (g.take(4) + 1), 0};  // a separate stream of random numbers
  }
  reset();
}

void SerialIterator::reset() {
  if (options_.shuffle) order_ = permutation(dataset_->size(), generator_);
  position_ = epoch_ = 0;
  is_new_epoch_ = false;
  previous_epoch_detail_.reset();
}

catena::Owned<Iterator> SerialIterator::copy() const { return catena::Owned<Iterator>(new SerialIterator(*this)); }

double SerialIterator::epoch_detail() const { return double(epoch_) + double(position_) / double(dataset_->size()); }

namespace {

std::string listed(const std::vector<std::int64_t>& indices) {
  constexpr std::size_t kShown = 8;
  std::string text;
  for (std::size_t i = 0; i < std::min(indices.size(), kShown); ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(indices[i]);
  return text + (indices.size() > kShown ? ", ..." : "");
}

Batch load_batch(const Dataset& dataset, std::vector<std::int64_t> indices) {
  Batch batch;
  try {
    batch.stacked = dataset.get_batch(indices);
  } catch (...) {
    catena::rethrow_from("the batch of the examples " + listed(indices));
  }
  if (!batch.stacked) {
    for (const std::int64_t i : indices) {
      try {
        batch.examples.push_back(dataset.get_example(i));
      } catch (...) {
        catena::rethrow_from("example " + std::to_string(i));
      }
    }
  }
  batch.indices = std::move(indices);
  return batch;
}

}  // namespace

std::optional<Batch> SerialIterator::next() {
  if (!options_.repeat && epoch_ > 0) return {};
  previous_epoch_detail_ = epoch_detail();
  is_new_epoch_ = false;
  const std::int64_t n = dataset_->size();
  std::vector<std::int64_t> indices;
  for (std::int64_t wanted = batch_size_; wanted > 0;) {
    const std::int64_t taken = std::min(wanted, n - position_);
    for (std::int64_t i = position_; i < position_ + taken; ++i)
      indices.push_back(options_.shuffle ? order_[static_cast<std::size_t>(i)] : i);
    position_ += taken;
    wanted -= taken;
    if (position_ < n) break;
    position_ = 0;
    ++epoch_;
    is_new_epoch_ = true;
    if (!options_.repeat) break;
    if (options_.shuffle) order_ = permutation(n, generator_);
  }
  return load_batch(*dataset_, std::move(indices));
}

void SerialIterator::serialize(nn::Serializer& s) {
  if (!s.is_writer()) return load(s);
  s("current_position", position_);
  s("epoch", epoch_);
  s("is_new_epoch", is_new_epoch_);
  if (options_.shuffle) s("order", order_);
  double previous = previous_epoch_detail_.value_or(-1.0);
  s("previous_epoch_detail", previous);
  // Chainer does not store the generator's state; with it, the orders after a resume equal those of the uninterrupted
  // run.
  const auto own = s["_catena"];
  (*own)("seed", generator_.seed);
  (*own)("offset", generator_.offset);
}

void SerialIterator::serialize_generator(nn::Serializer& s) {
  if (!options_.shuffle || (!s.is_writer() && !s.contains("seed"))) return;
  s("seed", generator_.seed);
  s("offset", generator_.offset);
}

// Reads and checks all entries before it changes the iterator.
void SerialIterator::load(nn::Serializer& s) {
  const std::int64_t n = dataset_->size();
  std::int64_t position = position_, epoch = epoch_;
  bool is_new_epoch = is_new_epoch_;
  s("current_position", position);
  s("epoch", epoch);
  s("is_new_epoch", is_new_epoch);
  check<ValueError>(position >= 0 && position < n && epoch >= 0, "SerialIterator", "the stored position ", position,
                    " in sweep ", epoch, " is out of range for ", n, " examples");
  std::vector<std::int64_t> order = order_;
  if (options_.shuffle) {
    // Earlier versions of Chainer wrote "_order".
    s(!s.contains("order") && s.contains("_order") ? "_order" : "order", order);
    check<ValueError>(std::int64_t(order.size()) == n, "SerialIterator", "the stored order has ", order.size(),
                      " indices, the dataset ", n, " examples");
    for (const std::int64_t i : order)
      check<ValueError>(i >= 0 && i < n, "SerialIterator", "the stored order holds the index ", i, ", but there are ",
                        n, " examples");
  }
  double previous = -1.0;
  if (s.contains("previous_epoch_detail")) {
    s("previous_epoch_detail", previous);
  } else if (const double detail = double(epoch) + double(position) / double(n); detail > 0) {
    previous = std::max(detail - double(batch_size_) / double(n), 0.0);
  }
  autograd::Generator generator = generator_;
  if (const auto own = s["_catena"]; own->contains("seed")) {
    (*own)("seed", generator.seed);
    (*own)("offset", generator.offset);
  }
  position_ = position;
  epoch_ = epoch;
  is_new_epoch_ = is_new_epoch;
  order_ = std::move(order);
  previous_epoch_detail_ = previous < 0 ? std::nullopt : std::optional<double>(previous);
  generator_ = generator;
}

}  // namespace training
