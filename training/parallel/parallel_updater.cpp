#include <catena/training/parallel/parallel_updater.h>

#include <algorithm>
#include <exception>

#include <catena/kernels/base/error.h>
#include <catena/kernels/base/error_context.h>
#include <catena/training/parallel/replica_step.h>
#include <catena/training/parallel/thread_pool.h>
#include <catena/training/trainer.h>

namespace training {

using catena::check;
using catena::KeyError;
using catena::ValueError;

namespace {
constexpr const char* kName = "ParallelUpdater";
}

std::vector<std::string> ParallelUpdater::names_to_copy(const Link& model, const Optimizer& optimizer,
                                                        const Options& options) {
  check<ValueError>(&model == &optimizer.target(), kName,
                    "the model is not the one that the optimizer was set up with");
  check<ValueError>(options.models.empty(), kName,
                    "models are given as well as a model to be copied; leave one of them out");
  check<ValueError>(!options.devices.is_empty(), kName, "either models or devices must be specified");
  std::vector<std::string> names;
  for (const Devices::Entry& e : options.devices.main_first(kName))
    if (e.first != "main") names.push_back(e.first);
  return names;
}

ParallelUpdater::ParallelUpdater(Held<Iterator> iterator, Held<Optimizer> optimizer, Options options)
    : StandardUpdater(std::move(iterator), std::move(optimizer), {.converter = options.converter}),
      loss_func_(options.loss_func) {
  add_replicas(options);
}
ParallelUpdater::~ParallelUpdater() = default;
ParallelUpdater::ParallelUpdater(ParallelUpdater&&) noexcept = default;

void ParallelUpdater::add_replicas(const Options& options) {
  check<ValueError>(!options.models.empty() || !options.devices.is_empty(), kName,
                    "either models or devices must be specified");
  if (options.models.empty()) {
    static_cast<void>(options.devices.main_first(kName));
    catena::fail<ValueError>(kName, "a model is copied to its devices by its class, so it is named: ",
                             "ParallelUpdater(iterator, optimizer, model, {.devices = ...})");
  }
  Optimizer& optimizer = get_optimizer("main");
  for (const auto& [name, model] : options.models) {
    const DeviceId* const device = options.devices.find(name);
    check<ValueError>(device == nullptr || device->has_value(), kName, "the device of ", name, " is null");
    Replica replica{name, model, device != nullptr ? std::optional<Device>(*device) : std::nullopt};
    for (const Replica& r : replicas_)
      check<ValueError>(r.name != name && r.model.get() != model.get(), kName, "the model ", name, " is given twice");
    const bool is_main = model.get() == &optimizer.target();
    replicas_.insert(is_main ? replicas_.begin() : replicas_.end(), std::move(replica));
  }
  check<ValueError>(replicas_[0].model.get() == &optimizer.target(), kName,
                    "none of the models is the one that the optimizer was set up with");
  for (Replica& r : replicas_)
    if (r.device) r.model->to_device(*r.device);
    else r.device = r.model->device();
  optimizer.prepare();
}

Link& ParallelUpdater::get_model(const std::string& name) const {
  std::string names;
  for (const Replica& r : replicas_) {
    if (r.name == name) return *r.model;
    names += (names.empty() ? "" : ", ") + r.name;
  }
  catena::fail<KeyError>("ParallelUpdater.get_model", "there is no model named ", name, " (there is: ", names, ")");
}

void ParallelUpdater::connect_trainer(Trainer& trainer) {
  for (std::size_t k = 1; k < replicas_.size(); ++k)
    trainer.reporter().add_link(replicas_[k].name, *replicas_[k].model);
}

namespace {

// Returns the examples k, k + n, k + 2n... of a batch; empty if there are none.
Batch part_of(const Batch& batch, std::int64_t k, std::int64_t n) {
  Batch part;
  const std::int64_t size = batch.size();
  if (batch.stacked && k < size) {
    part.stacked = *batch.stacked;
    for (Array& a : part.stacked->values) a = autograd::slice(a, 0, k, size, n);
  }
  for (std::int64_t i = k; i < std::int64_t(batch.examples.size()); i += n)
    part.examples.push_back(batch.examples[static_cast<std::size_t>(i)]);
  for (std::int64_t i = k; i < std::int64_t(batch.indices.size()); i += n)
    part.indices.push_back(batch.indices[static_cast<std::size_t>(i)]);
  return part;
}

}  // namespace

void ParallelUpdater::update_core() {
  const std::optional<Batch> batch = get_iterator("main").next();
  check<catena::RuntimeError>(batch.has_value(), kName, "the iterator main has ended; training needs one that repeats");
  for (Replica& r : replicas_) {
    if (r.loss) r.loss.unchain_backward();
    r.loss = {};
  }
  // The non-empty parts, which belong to the first models.
  const auto n = std::int64_t(replicas_.size());
  const auto busy = static_cast<std::size_t>(std::min(n, batch->size()));
  std::vector<Example> parts;
  std::vector<std::int64_t> examples;  // number of examples in each part
  for (std::size_t k = 0; k < busy; ++k) {
    const Batch part = part_of(*batch, std::int64_t(k), n);
    examples.push_back(part.size());
    parts.push_back(options_.converter(part, replicas_[k].device));
  }

  const internal::CallerState caller;
  const std::vector<std::uint64_t> seeds = internal::replica_seeds(replicas_.size() - 1);
  std::vector<nn::Observation> reported(busy);
  const double loss_scale = get_optimizer("main").loss_scale();
  const auto compute = [&](std::size_t k) {
    Replica& r = replicas_[k];
    r.loss = internal::compute_gradients(*r.model, loss_func_, parts[k], r.device, loss_scale);
  };
  const auto others = [&](int thread) {
    const auto k = static_cast<std::size_t>(thread) + 1;
    if (k >= busy) return;
    try {
      caller.run(seeds[k - 1], reported[k], [&] { compute(k); });
    } catch (...) {
      catena::rethrow_from("model " + replicas_[k].name);
    }
  };
  if (!crew_) crew_ = catena::Owned<internal::ThreadPool>(new internal::ThreadPool(static_cast<int>(n) - 1));
  Link& main = *replicas_[0].model;
  if (internal::has_pending_params(main)) {
    // The first forward pass of the main model creates pending parameters, which the others need as well.
    compute(0);
    for (std::size_t k = 1; k < replicas_.size(); ++k) replicas_[k].model->copyparams(main);
    crew_->start(others);
  } else {
    crew_->start(others);
    try {
      compute(0);
    } catch (...) {
      const std::exception_ptr error = std::current_exception();
      try {
        crew_->wait();
      } catch (...) {  // an error of the main model takes precedence
      }
      std::rethrow_exception(error);
    }
  }
  crew_->wait();

  const std::vector<double> shares = internal::shares_of(examples);
  internal::scale_gradients(main, shares[0]);
  for (std::size_t k = 1; k < busy; ++k) {
    caller.report(reported[k]);
    internal::scale_gradients(*replicas_[k].model, shares[k]);
    main.addgrads(*replicas_[k].model);
  }
  get_optimizer("main").update();
  for (std::size_t k = 1; k < replicas_.size(); ++k) replicas_[k].model->copyparams(main);
}

void ParallelUpdater::finalize() {
  crew_.reset();
  StandardUpdater::finalize();
}

void ParallelUpdater::serialize(nn::Serializer& s) {
  StandardUpdater::serialize(s);
  for (std::size_t k = 1; k < replicas_.size(); ++k) {
    Link& model = *replicas_[k].model;
    const auto own = s["_catena/model:" + replicas_[k].name];
    const std::vector<nn::NamedParam> params = replicas_[0].model->namedparams();
    const bool is_there = s.is_writer() || (!params.empty() && own->contains(params[0].path));
    model.serialize(is_there ? *own : *s["model:main"]);
  }
}

}  // namespace training
