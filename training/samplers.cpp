#include <catena/training/samplers.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include <catena/autograd/random_state.h>
#include <catena/kernels/base/error.h>
#include <catena/training/dataset.h>
#include <catena/training/draws.h>

namespace training {

using catena::check;
using catena::ValueError;
using internal::integer;
using internal::uniform;
using Order = std::vector<std::int64_t>;

namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

Order sequence(std::int64_t n) {
  Order order(at(n));
  std::iota(order.begin(), order.end(), std::int64_t(0));
  return order;
}

void check_num_samples(const char* who, const std::optional<std::int64_t>& n) {
  check<ValueError>(n.value_or(1) >= 1, who, "num_samples is ", n.value_or(1), "; it is at least 1");
}

void check_size(const char* who, const char* what, std::size_t of_sampler, std::int64_t dataset_size) {
  check<ValueError>(std::int64_t(of_sampler) == dataset_size, who, "there are ", of_sampler, " ", what,
                    ", but the dataset has ", dataset_size, " examples; one per example is needed");
}

}  // namespace

OrderSampler::~OrderSampler() = default;
std::int64_t OrderSampler::length(std::int64_t dataset_size) const { return dataset_size; }

OrderSampler::const_iterator OrderSampler::begin() const {
  std::span<const std::int64_t> before;
  if (drawn_) before = std::span(*drawn_);
  drawn_ = catena::Shared<const Order>::make(order({known_size(), loops_, before, autograd::default_generator()}));
  ++loops_;
  return const_iterator(drawn_);
}
std::int64_t OrderSampler::known_size() const {
  check<ValueError>(known_size_.has_value(), "OrderSampler",
                    "the size of the dataset is not known; give the dataset as the first argument of the sampler");
  return *known_size_;
}

std::int64_t Sampler::length(std::int64_t) const { return std::int64_t(indices().size()); }
Order Sampler::order(const OrderContext&) const { return indices(); }

Order SequentialSampler::order(const OrderContext& context) const { return sequence(context.dataset_size); }

// ---- random -------------------------------------------------------------------------------------
RandomSampler::RandomSampler(Options options) : options_(options) {
  check_num_samples("RandomSampler", options_.num_samples);
}

std::int64_t RandomSampler::length(std::int64_t dataset_size) const {
  check<ValueError>(dataset_size > 0 || !options_.num_samples, "RandomSampler", "num_samples is ",
                    options_.num_samples.value_or(0), ", but the dataset is empty");
  return options_.num_samples.value_or(dataset_size);
}

Order RandomSampler::order(const OrderContext& context) const {
  const std::int64_t n = context.dataset_size, wanted = length(n);
  Order order;
  order.reserve(at(wanted));
  if (options_.replacement) {
    for (std::int64_t k = 0; k < wanted; ++k) order.push_back(integer(context.generator, 0, n - 1));
    return order;
  }
  while (std::int64_t(order.size()) < wanted) {
    const Order some = permutation(n, context.generator);
    const auto taken = std::min(n, wanted - std::int64_t(order.size()));
    order.insert(order.end(), some.begin(), some.begin() + taken);
  }
  return order;
}

// ---- weighted -----------------------------------------------------------------------------------
namespace {

std::vector<double> weights_of(const autograd::Array& weights) {
  check<ValueError>(weights && weights.ndim() == 1, "WeightedRandomSampler",
                    "the weights are an array of one axis, not of shape ",
                    weights ? catena::to_string(weights.shape()) : "(null)");
  return autograd::to_vector<double>(weights);
}

}  // namespace

WeightedRandomSampler::WeightedRandomSampler(std::vector<double> weights, Options options)
    : weights_(std::move(weights)), options_(options) {
  constexpr const char* kName = "WeightedRandomSampler";
  set_known_size(std::int64_t(weights_.size()));
  check_num_samples(kName, options_.num_samples);
  std::int64_t positive = 0;
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    check<ValueError>(weights_[i] >= 0 && std::isfinite(weights_[i]), kName, "the weight of example ", i, " is ",
                      weights_[i], "; weights are finite and not negative");
    positive += weights_[i] > 0;
  }
  check<ValueError>(positive > 0, kName, "there is no weight above 0");
  if (options_.replacement) {
    sums_.resize(weights_.size());
    std::partial_sum(weights_.begin(), weights_.end(), sums_.begin());
    check<ValueError>(std::isfinite(sums_.back()), kName, "the sum of the weights is not finite");
    return;
  }
  const std::int64_t wanted = length(std::int64_t(weights_.size()));
  check<ValueError>(wanted <= positive, kName, wanted, " examples cannot be drawn without replacement from ", positive,
                    " weights above 0; give a smaller num_samples, or .replacement = true");
}

WeightedRandomSampler::Options WeightedRandomSampler::with_number(Options options, std::int64_t num_samples) {
  check<ValueError>(!options.num_samples, "WeightedRandomSampler",
                    "num_samples is given twice, as an argument and among the options");
  options.num_samples = num_samples;
  return options;
}

WeightedRandomSampler::WeightedRandomSampler(const autograd::Array& weights, Options options)
    : WeightedRandomSampler(weights_of(weights), options) {}

std::int64_t WeightedRandomSampler::length(std::int64_t dataset_size) const {
  check_size("WeightedRandomSampler", "weights", weights_.size(), dataset_size);
  return options_.num_samples.value_or(dataset_size);
}

Order WeightedRandomSampler::order(const OrderContext& context) const {
  const std::int64_t wanted = length(context.dataset_size);
  Order order;
  order.reserve(at(wanted));
  if (options_.replacement) {
    for (std::int64_t k = 0; k < wanted; ++k) {
      // A rounded product may equal the sum; the last weight above 0 then has the draw.
      const double where = uniform(context.generator, 0, sums_.back());
      auto found = std::upper_bound(sums_.begin(), sums_.end(), where);
      if (found == sums_.end()) found = std::lower_bound(sums_.begin(), sums_.end(), sums_.back());
      order.push_back(found - sums_.begin());
    }
    return order;
  }
  // The waiting times of independent exponential distributions with these rates: the order of their ends is that of
  // successive draws among those that are left.
  std::vector<std::pair<double, std::int64_t>> times;
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    const double u = uniform(context.generator, 0, 1);
    if (weights_[i] > 0) times.emplace_back(-std::log1p(-u) / weights_[i], std::int64_t(i));
  }
  std::partial_sort(times.begin(), times.begin() + wanted, times.end());
  for (std::int64_t k = 0; k < wanted; ++k) order.push_back(times[at(k)].second);
  return order;
}

// ---- grouped by length --------------------------------------------------------------------------
LengthGroupedSampler::LengthGroupedSampler(std::vector<std::int64_t> lengths, std::int64_t batch_size, Options options)
    : lengths_(std::move(lengths)), batch_size_(batch_size), options_(options) {
  constexpr const char* kName = "LengthGroupedSampler";
  check<ValueError>(batch_size_ >= 1, kName, "the batch size is ", batch_size_);
  check<ValueError>(options_.pool_batches >= 1, kName, "pool_batches is ", options_.pool_batches,
                    "; a pool has at least 1 batch");
  for (std::size_t i = 0; i < lengths_.size(); ++i)
    check<ValueError>(lengths_[i] >= 0, kName, "the length of example ", i, " is ", lengths_[i]);
}

std::int64_t LengthGroupedSampler::length(std::int64_t dataset_size) const {
  check_size("LengthGroupedSampler", "lengths", lengths_.size(), dataset_size);
  const std::int64_t all = options_.drop_last ? dataset_size / batch_size_ * batch_size_ : dataset_size;
  check<ValueError>(all > 0 || dataset_size == 0, "LengthGroupedSampler", "drop_last leaves no batch of ", batch_size_,
                    " of ", dataset_size, " examples");
  return all;
}

Order LengthGroupedSampler::order(const OrderContext& context) const {
  Order order =
      options_.shuffle ? permutation(context.dataset_size, context.generator) : sequence(context.dataset_size);
  order.resize(at(length(context.dataset_size)));
  const auto n = std::int64_t(order.size());
  const std::int64_t batches_in_pools = std::min(options_.pool_batches, n / batch_size_ + 1);  // no overflow below
  const std::int64_t pool = batches_in_pools * batch_size_;
  for (std::int64_t begin = 0; begin < n; begin += pool)
    std::stable_sort(order.begin() + begin, order.begin() + std::min(begin + pool, n),
                     [this](std::int64_t a, std::int64_t b) { return lengths_[at(a)] > lengths_[at(b)]; });
  if (!options_.shuffle) return order;
  Order result;
  result.reserve(order.size());
  for (const std::int64_t batch : permutation(n / batch_size_, context.generator)) {
    const auto begin = order.begin() + batch * batch_size_;
    result.insert(result.end(), begin, begin + batch_size_);
  }
  result.insert(result.end(), order.begin() + std::int64_t(result.size()), order.end());
  return result;
}

// ---- parts --------------------------------------------------------------------------------------
SubsetRandomSampler::SubsetRandomSampler(std::vector<std::int64_t> indices, Options options)
    : indices_(std::move(indices)), options_(options) {
  check<ValueError>(!indices_.empty(), "SubsetRandomSampler", "the list of indices is empty");
  set_known_size(*std::max_element(indices_.begin(), indices_.end()) + 1);
}

std::int64_t SubsetRandomSampler::length(std::int64_t dataset_size) const {
  for (const std::int64_t i : indices_)
    check<catena::IndexError>(i >= 0 && i < dataset_size, "SubsetRandomSampler", "the index ", i,
                              " is out of range for a dataset of ", dataset_size, " examples");
  return std::int64_t(indices_.size());
}

catena::Shared<const OrderSampler> HeldFrom<const OrderSampler>::in_order(std::vector<std::int64_t> indices) {
  return internal::make_held(SubsetRandomSampler(std::move(indices), {.shuffle = false}));
}

Order SubsetRandomSampler::order(const OrderContext& context) const {
  if (!options_.shuffle) return indices_;
  Order order = permutation(std::int64_t(indices_.size()), context.generator);
  for (std::int64_t& i : order) i = indices_[at(i)];
  return order;
}

DistributedSampler::DistributedSampler(Options options) : options_(std::move(options)) {
  check<ValueError>(options_.size >= 1 && options_.rank >= 0 && options_.rank < options_.size, "DistributedSampler",
                    "rank ", options_.rank, " of ", options_.size, "; ranks are 0 to size - 1");
}

std::int64_t DistributedSampler::length(std::int64_t dataset_size) const {
  const std::int64_t all = options_.sampler ? (*options_.sampler)->length(dataset_size) : dataset_size;
  const std::int64_t part = all / options_.size + (!options_.drop_last && all % options_.size != 0 ? 1 : 0);
  check<ValueError>(part > 0 || all == 0, "DistributedSampler", "drop_last leaves none of ", all, " examples for ",
                    options_.size, " programs");
  return part;
}

Order DistributedSampler::order(const OrderContext& context) const {
  const std::int64_t epoch = epoch_->value_or(context.epoch);
  autograd::Generator shared{autograd::derived_seed(options_.seed, static_cast<std::uint64_t>(epoch)), 0};
  const OrderContext whole{context.dataset_size, epoch, {}, shared};
  const Order all = options_.sampler   ? (*options_.sampler)->order(whole)
                    : options_.shuffle ? permutation(context.dataset_size, shared)
                                       : sequence(context.dataset_size);
  if (options_.sampler) {
    const std::int64_t promised = (*options_.sampler)->length(context.dataset_size);
    check<ValueError>(std::int64_t(all.size()) == promised, "DistributedSampler", "its sampler gave an order of ",
                      all.size(), " indices; its length() is ", promised);
  }
  Order part;
  const std::int64_t wanted = length(context.dataset_size);
  for (std::int64_t k = 0; k < wanted; ++k)
    part.push_back(all[(at(options_.rank) + at(k) * at(options_.size)) % all.size()]);
  return part;
}

BatchSampler::BatchSampler(AnyOrderSampler order, std::int64_t size, bool leave_out_last)
    : sampler(std::move(order)), batch_size(size), drop_last(leave_out_last) {
  check<ValueError>(size >= 1, "BatchSampler", "batch_size is ", size, " and must be at least 1");
}

BatchSampler::const_iterator BatchSampler::begin() const {
  std::vector<Order> batches;
  for (const std::int64_t i : *sampler) {
    if (batches.empty() || std::int64_t(batches.back().size()) == batch_size) batches.emplace_back();
    batches.back().push_back(i);
  }
  if (drop_last && !batches.empty() && std::int64_t(batches.back().size()) < batch_size) batches.pop_back();
  return const_iterator(catena::Shared<const std::vector<Order>>::make(std::move(batches)));
}
std::int64_t BatchSampler::size() const {
  const std::int64_t n = sampler->size();
  return drop_last ? n / batch_size : (n + batch_size - 1) / batch_size;
}

FunctionSampler::FunctionSampler(Function function) : function_(std::move(function)) {
  check<catena::TypeError>(bool(function_), "order_sampler", "the function is empty");
}

}  // namespace training
