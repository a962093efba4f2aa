#include <catena/training/sweep.h>

#include <algorithm>
#include <utility>

#include <catena/autograd/random_state.h>
#include <catena/kernels/base/error.h>
#include <catena/kernels/base/error_context.h>
#include <catena/training/dataset.h>
#include <catena/training/stored_number.h>

namespace training::internal {

using catena::check;
using catena::ValueError;

Sweep::Sweep(const char* who, std::int64_t size, std::int64_t batch_size, const SweepOptions& options)
    : who_(who),
      size_(size),
      batch_size_(batch_size),
      length_(size),
      repeat_(options.repeat),
      has_order_(options.shuffle.value_or(true)) {
  check<ValueError>(batch_size > 0, who_, "the batch size is ", batch_size);
  check<ValueError>(size > 0, who_, "the dataset is empty");
  if (options.order_sampler) {
    check<ValueError>(!options.shuffle, who_, "shuffle and order_sampler are both given; the sampler defines the ",
                      "order, so leave out shuffle");
    sampler_ = options.order_sampler->shared();
    length_ = sampler_->length(size);
    check<ValueError>(length_ > 0, who_, "the length of the sampler's orders is ", length_);
  }
  if (options.seed) {
    generator_ = {*options.seed, 0};
  } else {
    autograd::Generator& g = autograd::default_generator();
    generator_ = {g.seed + 0x9e3779b97f4a7c15u * (g.take(4) + 1), 0};  // a separate stream of random numbers
  }
  streams_ = generator_.seed;
  rewind();
}

Sweep::Order Sweep::next_order(autograd::Generator& generator) const {
  if (!sampler_) return permutation(size_, generator);
  std::span<const std::int64_t> current;
  if (order_) current = *order_;
  Order order = sampler_->order({size_, static_cast<std::int64_t>(sweeps_), current, generator});
  check<ValueError>(std::int64_t(order.size()) == length_, who_, "the sampler gave an order of ", order.size(),
                    " indices; its length() is ", length_);
  return order;
}

// Counts how often each index came before, for samplers that draw an index several times.
void Sweep::set_order(Order order) {
  Order repetitions;
  if (sampler_) {
    Order seen(static_cast<std::size_t>(size_), 0);
    bool repeats = false;
    for (const std::int64_t i : order) {
      check<ValueError>(i >= 0 && i < size_, who_, "the order has the index ", i, ", but there are ", size_,
                        " examples");
      repetitions.push_back(seen[static_cast<std::size_t>(i)]++);
      repeats = repeats || repetitions.back() > 0;
    }
    if (!repeats) repetitions.clear();
  }
  catena::Shared<const Order> counts;
  if (!repetitions.empty()) counts = catena::Shared<Order>::make(std::move(repetitions));
  order_ = catena::Shared<Order>::make(std::move(order));
  repetitions_ = std::move(counts);
}

void Sweep::begin_sweep() try {
  if (has_order_) {
    autograd::Generator generator = generator_;
    set_order(next_order(generator));
    generator_ = generator;
  }
  ++sweeps_;
} catch (...) {
  catena::rethrow_standard(who_);
}

ExampleKey Sweep::key_at(std::int64_t position) const {
  const auto k = static_cast<std::size_t>(position);
  const std::int64_t index = has_order_ ? (*order_)[k] : position;
  std::uint64_t seed =
      autograd::derived_seed(autograd::derived_seed(streams_, sweeps_), static_cast<std::uint64_t>(index));
  if (repetitions_ && (*repetitions_)[k] > 0)
    seed = autograd::derived_seed(seed, static_cast<std::uint64_t>((*repetitions_)[k]));
  return {seed, static_cast<std::int64_t>(sweeps_ - 1), index};
}

void Sweep::rewind() {
  begin_sweep();
  position_ = epoch_ = 0;
  is_new_epoch_ = false;
  previous_epoch_detail_.reset();
}

Selection Sweep::next() {
  if (has_ended()) return {};
  previous_epoch_detail_ = epoch_detail();
  is_new_epoch_ = false;
  Selection selected;
  const auto most = std::size_t(repeat_ ? batch_size_ : std::min(batch_size_, length_ - position_));
  selected.indices.reserve(most);
  selected.keys.reserve(most);
  for (std::int64_t wanted = batch_size_; wanted > 0;) {
    const std::int64_t taken = std::min(wanted, length_ - position_);
    for (std::int64_t i = position_; i < position_ + taken; ++i) {
      selected.keys.push_back(key_at(i));
      selected.indices.push_back(selected.keys.back().index);
    }
    position_ += taken;
    wanted -= taken;
    if (position_ < length_) break;
    position_ = 0;
    ++epoch_;
    is_new_epoch_ = true;
    if (!repeat_) break;
    begin_sweep();
  }
  return selected;
}

void Sweep::serialize(nn::Serializer& s, bool order_always) {
  if (!s.is_writer()) return load(s);
  s("current_position", position_);
  s("epoch", epoch_);
  s("is_new_epoch", is_new_epoch_);
  if (has_order_) {
    Order order = *order_;
    s("order", order);
  } else if (order_always) {
    std::int64_t none = -1;
    s("order", none);
  }
  double previous = previous_epoch_detail_.value_or(-1.0);
  s("previous_epoch_detail", previous);
  // Chainer does not store the generator's state. With the state, the orders after a resume equal those of an
  // uninterrupted run.
  const auto own = s["_catena"];
  (*own)("seed", generator_.seed);
  (*own)("offset", generator_.offset);
  (*own)("streams", streams_);
  (*own)("sweeps", sweeps_);
}

void Sweep::serialize_generator(nn::Serializer& s) {
  restore_on_rollback(s, generator_, streams_, sweeps_);
  if (has_order_ && (s.is_writer() || s.contains("seed"))) {
    s("seed", generator_.seed);
    s("offset", generator_.offset);
  }
  if (!s.is_writer() && !s.contains("streams")) return;
  s("streams", streams_);
  s("sweeps", sweeps_);
}

// Reads and checks all entries before it changes anything.
void Sweep::load(nn::Serializer& s) {
  std::int64_t position = position_, epoch = epoch_;
  bool is_new_epoch = is_new_epoch_;
  s("current_position", position);
  serialize_count(s, "epoch", epoch, who_);
  s("is_new_epoch", is_new_epoch);
  check<ValueError>(position >= 0 && position < length_, who_, "the stored position ", position, " in sweep ", epoch,
                    " is out of range for ", length_, " examples");
  Order order = order_ ? *order_ : Order();
  if (has_order_) {
    // Earlier versions of Chainer wrote "_order".
    s(!s.contains("order") && s.contains("_order") ? "_order" : "order", order);
    check<ValueError>(std::int64_t(order.size()) == length_, who_, "the stored order has ", order.size(), " indices, ",
                      sampler_ ? "those of the sampler " : "the dataset ", length_, sampler_ ? "" : " examples");
    for (const std::int64_t i : order)
      check<ValueError>(i >= 0 && i < size_, who_, "the stored order holds the index ", i, ", but there are ", size_,
                        " examples");
  }
  double previous = -1.0;
  if (s.contains("previous_epoch_detail")) {
    serialize_progress(s, "previous_epoch_detail", previous, who_);
  } else if (const double detail = double(epoch) + double(position) / double(length_); detail > 0) {
    previous = std::max(detail - double(batch_size_) / double(length_), 0.0);
  }
  autograd::Generator generator = generator_;
  const auto own = s["_catena"];
  if (own->contains("seed")) {
    (*own)("seed", generator.seed);
    (*own)("offset", generator.offset);
  }
  std::uint64_t streams = streams_, sweeps = static_cast<std::uint64_t>(epoch) + 1;
  if (own->contains("streams")) (*own)("streams", streams);
  if (own->contains("sweeps")) (*own)("sweeps", sweeps);
  s.on_rollback([this, before = *this] { *this = before; });
  position_ = position;
  epoch_ = epoch;
  is_new_epoch_ = is_new_epoch;
  if (has_order_) set_order(std::move(order));
  previous_epoch_detail_ = previous < 0 ? std::nullopt : std::optional<double>(previous);
  generator_ = generator;
  streams_ = streams;
  sweeps_ = sweeps;
}

}  // namespace training::internal
