#include <catena/training/updater.h>

#include <catena/autograd/autocast.h>
#include <catena/autograd/operators.h>
#include <catena/kernels/base/error.h>
#include <catena/kernels/base/error_context.h>
#include <catena/training/stored_number.h>
#include <catena/training/trainer.h>
#include <catena/training/updater_capture.h>

namespace training {

using catena::check;
using catena::RuntimeError;
using catena::ValueError;

Example default_converter(const Batch& batch, std::optional<Device> device) { return concat_examples(batch, device); }

Variables to_variables(const Example& batch, autograd::Flag volatile_flag) {
  Variables result;
  for (std::size_t i = 0; i < batch.values.size(); ++i)
    result.push_back(Variable(batch.values[i],
                              {.volatile_ = volatile_flag, .name = batch.is_map() ? batch.names[i] : std::string()}));
  return result;
}

Variables internal::variables_of(const Batch& batch, std::optional<Device> device, std::size_t n) {
  const Example arrays = concat_examples(batch, device);
  check<ValueError>(arrays.values.size() == n, "to_variables", "an example has ", arrays.values.size(),
                    " components, not ", n, ": write to_variables<", arrays.values.size(), ">(batch)");
  return to_variables(arrays);
}

Variables internal::next_variables_of(Iterator& iterator, std::optional<Device> device, std::size_t n) {
  const std::optional<Batch> batch = iterator.next();
  check<ValueError>(batch.has_value(), "next_variables", "the iteration has ended: there is no batch");
  return variables_of(*batch, device, n);
}

const Variable& argument(const Variables& args, std::string_view name) {
  std::string names;
  for (const Variable& v : args) {
    if (v.name() == name) return v;
    names += (names.empty() ? "" : ", ") + v.name();
  }
  catena::fail<catena::KeyError>("argument", "there is no argument named ", name, " (there are: ", names, ")");
}

Updater::~Updater() = default;
void Updater::connect_trainer(Trainer&) {}
void Updater::finalize() {}

StandardUpdater::StandardUpdater(Held<Iterator> iterator, Held<Optimizer> optimizer, Options options) try
    : StandardUpdater(HeldMap<Iterator>{{"main", std::move(iterator)}},
                      HeldMap<Optimizer>{{"main", std::move(optimizer)}}, std::move(options)) {
} catch (...) {
  catena::rethrow_standard("StandardUpdater");
}

StandardUpdater::StandardUpdater(Held<Iterator> iterator, HeldMap<Optimizer> optimizers, Options options) try
    : StandardUpdater(HeldMap<Iterator>{{"main", std::move(iterator)}}, std::move(optimizers), std::move(options)) {
} catch (...) {
  catena::rethrow_standard("StandardUpdater");
}

StandardUpdater::StandardUpdater(HeldMap<Iterator> iterators, Held<Optimizer> optimizer, Options options) try
    : StandardUpdater(std::move(iterators), HeldMap<Optimizer>{{"main", std::move(optimizer)}}, std::move(options)) {
} catch (...) {
  catena::rethrow_standard("StandardUpdater");
}

StandardUpdater::StandardUpdater(HeldMap<Iterator> iterators, HeldMap<Optimizer> optimizers, Options options) try
    : iterators_(std::move(iterators)), optimizers_(std::move(optimizers)), options_(std::move(options)) {
  check<ValueError>(!iterators_.empty() && !optimizers_.empty(), "StandardUpdater", "there are ", iterators_.size(),
                    " iterators and ", optimizers_.size(), " optimizers; one of each is needed");
  options_.accumulate = options_.accumulate_grad_batches.value_or(options_.accumulate);
  check<ValueError>(options_.accumulate >= 1, "StandardUpdater", "accumulate is ", options_.accumulate,
                    " and must be at least 1");
  check<ValueError>(options_.accumulate == 1 || !options_.capture, "StandardUpdater",
                    "accumulate and capture exclude each other");
  if (options_.device)
    for (auto& [name, optimizer] : optimizers_) {
      optimizer->target().to_device(*options_.device);
      optimizer->prepare();
    }
} catch (...) {
  catena::rethrow_standard("StandardUpdater");
}

Optimizer& StandardUpdater::get_optimizer(const std::string& name) {
  return find_held(optimizers_, name, "get_optimizer");
}
Iterator& StandardUpdater::get_iterator(const std::string& name) { return find_held(iterators_, name, "get_iterator"); }

std::vector<std::pair<std::string, Optimizer*>> StandardUpdater::get_all_optimizers() {
  std::vector<std::pair<std::string, Optimizer*>> all;
  for (const auto& [name, held] : optimizers_) all.emplace_back(name, held.get());
  return all;
}

void StandardUpdater::update() try {
  for (auto& [name, held] : optimizers_) held->release_graph();
  update_core();
  ++iteration_;
} catch (...) {
  catena::rethrow_standard("StandardUpdater");
}

Example StandardUpdater::converter(const Batch& batch, std::optional<Device> device) const {
  return options_.converter(batch, device);
}
Example StandardUpdater::converter(const std::optional<Batch>& batch, std::optional<Device> device) const {
  check<RuntimeError>(batch.has_value(), "StandardUpdater", "the iterator has ended; training needs one that repeats");
  return options_.converter(*batch, device);
}

Example StandardUpdater::next_batch() { return converter(get_iterator("main").next(), options_.device); }

Variable StandardUpdater::loss_of(const std::vector<Array>& arrays, const std::vector<std::string>& names) {
  Example batch(arrays);
  batch.names = names;
  const Variables given = to_variables(batch);
  std::optional<autograd::AutocastScope> scope;
  if (options_.autocast) scope.emplace(*options_.autocast, true);
  return options_.loss_func ? options_.loss_func(given) : get_optimizer("main").target().call(given);
}

void StandardUpdater::update_core() {
  if (options_.accumulate > 1) return accumulate();
  Optimizer& optimizer = get_optimizer("main");
  const Example converted = next_batch();
  const auto step = [&](const std::vector<Array>& arrays) {
    optimizer.update([&] { return loss_of(arrays, converted.names); });
  };
  if (!options_.capture) return step(converted.values);
  if (!captured_) captured_ = catena::Shared<internal::CapturedStep>::make();
  captured_->run(converted.values, optimizer, step);
}

// The parameters that the first batch creates get their gradients cleared after its forward computation, as in
// Optimizer::update.
void StandardUpdater::accumulate() {
  Optimizer& optimizer = get_optimizer("main");
  const double loss_scale = optimizer.loss_scale();
  for (std::int64_t i = 0; i < options_.accumulate; ++i) {
    const Example converted = next_batch();
    const Variable loss = loss_of(converted.values, converted.names) / double(options_.accumulate);
    if (i == 0) optimizer.target().cleargrads();
    if (i + 1 < options_.accumulate) loss.backward({.loss_scale = loss_scale});
    else optimizer.backward(loss);  // the gradients are communicated once
  }
  optimizer.update();
}

void StandardUpdater::finalize() {
  captured_.reset();
  for (auto& [name, held] : iterators_) held->finalize();
}

void StandardUpdater::serialize(nn::Serializer& s) {
  internal::restore_on_rollback(s, iteration_);
  for (auto& [name, held] : iterators_) held->serialize(*s["iterator:" + name]);
  for (auto& [name, held] : optimizers_) {
    // The model first: loading creates its pending parameters, whose shapes the optimizer's states need.
    held->target().serialize(*s["model:" + name]);
    held->serialize(*s["optimizer:" + name]);
    // Chainer does not store hyperparameters.
    held->serialize_hyper(*s["_catena/optimizer:" + name]);
  }
  internal::serialize_count(s, "iteration", iteration_, "Updater");
}

std::int64_t StandardUpdater::epoch() const { return find_held(iterators_, "main", "StandardUpdater").epoch(); }
double StandardUpdater::epoch_detail() const { return find_held(iterators_, "main", "StandardUpdater").epoch_detail(); }
std::optional<double> StandardUpdater::previous_epoch_detail() const {
  return find_held(iterators_, "main", "StandardUpdater").previous_epoch_detail();
}
bool StandardUpdater::is_new_epoch() const { return find_held(iterators_, "main", "StandardUpdater").is_new_epoch(); }

}  // namespace training
