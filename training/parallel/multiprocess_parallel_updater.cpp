#include <catena/training/parallel/multiprocess_parallel_updater.h>

#include <algorithm>
#include <exception>
#include <string>

#include <catena/autograd/array_backend.h>
#include <catena/autograd/backend/comm_extension.h>
#include <catena/kernels/base/error.h>
#include <catena/training/parallel/fork_gate.h>
#include <catena/training/parallel/loading_iterator.h>
#include <catena/training/parallel/replicas.h>
#include <catena/training/parallel/worker_process.h>

namespace training::updaters {

using catena::check;
using catena::RuntimeError;
using catena::ValueError;
using training::internal::Persistents;

namespace internal {

Replicas::~Replicas() = default;

Variable worker_step(Iterator& iterator, Link& model, const Team& team, Device device, std::int64_t& examples) {
  const std::optional<Batch> batch = iterator.next();
  check<RuntimeError>(batch.has_value(), "MultiprocessParallelUpdater",
                      "the iterator has ended; training needs one that repeats");
  examples = batch->size();
  // A model that reports needs a reporter with a registered observer. The reports of workers are discarded.
  nn::Reporter reporter;
  reporter.add_link("main", model);
  nn::Observation unused;
  const nn::Reporter::Scope scope = reporter.scope(unused);
  return training::internal::compute_gradients(model, team.loss_func, team.converter(*batch, device), device);
}

}  // namespace internal

namespace {

constexpr const char* kName = "MultiprocessParallelUpdater";
constexpr const char* kFailed = "a worker has failed, and the workers were stopped; make a new updater";

bool is_gpu(const Device& d) { return d.kind == Device::Kind::cuda; }

// Returns the devices, that of the main model first.
std::vector<Device> checked_devices(const Devices& given) {
  check<ValueError>(!given.is_empty(), kName,
                    "devices must be specified: {.devices = {0, 1}}, or {-1, -1} for the CPU");
  std::vector<Device> devices;
  for (const auto& [name, id] : given.main_first(kName)) {
    check<ValueError>(id.has_value(), kName, "the device ", name, " is null");
    devices.push_back(*id);
    check<ValueError>(is_gpu(devices.back()) == is_gpu(devices[0]), kName, "the devices are ", devices[0], " and ",
                      devices.back(), "; they must be all GPUs, or all the CPU");
    check<ValueError>(!is_gpu(devices.back()) || std::count(devices.begin(), devices.end(), devices.back()) == 1, kName,
                      devices.back(), " is named twice");
  }
  return devices;
}

autograd::CommExtension* communication() {
  return autograd::default_backend().extension<autograd::CommExtension>(Device{Device::Kind::cuda, 0});
}
std::string why_unavailable() {
  const autograd::CommExtension* const comm = communication();
  return comm != nullptr ? comm->why_unavailable()
                         : catena::concat("the array library ", autograd::default_backend().name(),
                                          " has no communication between GPUs");
}

// Returns the number of examples, if the iterator has it.
std::optional<std::int64_t> examples_of(const Iterator& it) {
  if (const auto* serial = dynamic_cast<const SerialIterator*>(&it)) return serial->dataset()->size();
  if (const auto* loading = dynamic_cast<const training::internal::LoadingIterator*>(&it))
    return loading->dataset()->size();
  return {};
}

void check_lengths(const std::vector<Held<Iterator>>& iterators) {
  const std::optional<std::int64_t> first = examples_of(*iterators[0]);
  for (std::size_t k = 1; k < iterators.size(); ++k)
    if (const std::optional<std::int64_t> n = examples_of(*iterators[k]))
      check<ValueError>(!first || *n == *first, kName, "the dataset of iterator ", k, " has ", *n,
                        " examples, that of iterator 0 ", *first, "; they must be of one length");
}

HeldMap<Iterator> main_iterator(const std::vector<Held<Iterator>>& iterators) {
  check<ValueError>(!iterators.empty(), kName, "there are no iterators");
  return {{"main", iterators[0]}};
}

}  // namespace

bool MultiprocessParallelUpdater::available() { return why_unavailable().empty(); }

std::size_t MultiprocessParallelUpdater::number_of_copies(const Link& model, const Optimizer& optimizer,
                                                          const Options& options) {
  check<ValueError>(&model == &optimizer.target(), kName,
                    "the model is not the one that the optimizer was set up with");
  const std::vector<Device> devices = checked_devices(options.devices);
  return is_gpu(devices[0]) ? devices.size() - 1 : 0;
}

MultiprocessParallelUpdater::MultiprocessParallelUpdater(std::vector<Held<Iterator>> iterators,
                                                         Held<Optimizer> optimizer, Options options)
    : MultiprocessParallelUpdater(std::move(iterators), std::move(optimizer), std::vector<Held<Link>>(),
                                  std::move(options)) {}

MultiprocessParallelUpdater::MultiprocessParallelUpdater(std::vector<Held<Iterator>> iterators,
                                                         Held<Optimizer> optimizer, std::vector<Held<Link>> copies,
                                                         Options options)
    : StandardUpdater(main_iterator(iterators), HeldMap<Optimizer>{{"main", optimizer}},
                      {.converter = options.converter}),
      loss_func_(options.loss_func),
      others_(iterators.begin() + 1, iterators.end()),
      devices_(checked_devices(options.devices)) {
  check<ValueError>(devices_.size() == iterators.size(), kName, "there are ", devices_.size(), " devices for ",
                    iterators.size(), " iterators");
  check_lengths(iterators);
  training::internal::check_stop_timeout(kName, options.stop_timeout);
  internal::Team team{
      Held<Link>(optimizer->target()), others_, devices_, options_.converter, loss_func_, options.stop_timeout};
  if (is_gpu(devices_[0])) {
    check<ValueError>(copies.size() + 1 == devices_.size(), kName, "a model is copied to GPUs by its class, so it is ",
                      "named: MultiprocessParallelUpdater(iterators, optimizer, model, {.devices = ...})");
    const std::string reason = why_unavailable();
    check<RuntimeError>(reason.empty(), kName, reason, "; ParallelUpdater needs no communication library");
    replicas_ = internal::thread_replicas(std::move(team), std::move(copies));
  } else {
    replicas_ = internal::process_replicas(std::move(team));
  }
  optimizer->target().to_device(devices_[0]);
  optimizer->prepare();
}

MultiprocessParallelUpdater::~MultiprocessParallelUpdater() = default;
MultiprocessParallelUpdater::MultiprocessParallelUpdater(MultiprocessParallelUpdater&&) noexcept = default;

void MultiprocessParallelUpdater::setup_workers() {
  check<RuntimeError>(!failed_, kName, kFailed);
  if (others_.empty()) return;
  const Link& model = get_optimizer("main").target();
  check<RuntimeError>(!training::internal::has_pending_params(model) || iteration() > 0 || loss_, kName,
                      "parameters of the model have no shape yet; the first update starts the workers");
  replicas_->setup();
}

void MultiprocessParallelUpdater::local_step() {
  const training::internal::ForkGate::Work work;  // workers may fork meanwhile, for their iterators
  const std::optional<Batch> batch = get_iterator("main").next();
  check<RuntimeError>(batch.has_value(), kName, "the iterator main has ended; training needs one that repeats");
  examples_ = batch->size();
  loss_ = training::internal::compute_gradients(get_optimizer("main").target(), loss_func_,
                                                options_.converter(*batch, devices_[0]), devices_[0]);
}

void MultiprocessParallelUpdater::update_core() {
  check<RuntimeError>(!failed_, kName, kFailed);
  Optimizer& optimizer = get_optimizer("main");
  check<RuntimeError>(optimizer.loss_scale() == 1, kName, "the optimizer scales the loss, which the workers do not ",
                      "know: use ParallelUpdater, or bfloat16 without loss_scaling");
  if (loss_) loss_.unchain_backward();
  loss_ = {};
  const std::vector<std::uint64_t> seeds = training::internal::replica_seeds(others_.size());
  const auto begin = [&] {
    setup_workers();
    if (!others_.empty()) replicas_->begin(seeds);
  };
  try {
    // The first forward pass of the main model creates pending parameters, which the workers need.
    const bool is_pending = training::internal::has_pending_params(optimizer.target());
    if (!is_pending) begin();
    local_step();
    if (is_pending) begin();
    if (!others_.empty()) replicas_->add_gradients(examples_);
  } catch (...) {
    const std::exception_ptr error = std::current_exception();
    failed_ = !others_.empty();
    replicas_->stop(false);
    std::rethrow_exception(error);
  }
  optimizer.update();
}

void MultiprocessParallelUpdater::finalize() {
  std::exception_ptr error;
  if (replicas_->is_running()) try {
      replicas_->stop(true);
    } catch (...) {
      error = std::current_exception();
      replicas_->stop(false);
    }
  for (const Held<Iterator>& it : others_) it->finalize();
  StandardUpdater::finalize();
  if (error) std::rethrow_exception(error);
}

void MultiprocessParallelUpdater::serialize(nn::Serializer& s) {
  if (replicas_->is_running()) replicas_->fetch_state();
  StandardUpdater::serialize(s);
  for (std::size_t k = 0; k < others_.size(); ++k) {
    const auto own = s[catena::concat("_catena/worker:", k + 1)];
    const auto iterator = (*own)["iterator"];
    bool is_there = true;
    if (s.is_writer() || own->contains("is_there")) {
      (*own)("is_there", is_there);
      others_[k]->serialize(*iterator);
      Persistents values = replicas_->persistents(k);
      values.serialize(*(*own)["model"]);
      if (s.is_writer()) continue;
      s.on_rollback([this, k, before = replicas_->persistents(k)] { replicas_->set_persistents(k, before); });
      replicas_->set_persistents(k, values);
    }
  }
  // New workers get the iterators in their present state.
  if (!s.is_writer() && replicas_->is_running()) replicas_->stop(false);
}

}  // namespace training::updaters
