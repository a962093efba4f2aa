#include <catena/training/trainer.h>

#include <algorithm>
#include <exception>
#include <filesystem>

#include <catena/autograd/backend/random_extension.h>
#include <catena/autograd/debug.h>
#include <catena/kernels/base/clock.h>
#include <catena/kernels/base/descriptors.h>
#include <catena/kernels/base/error.h>
#include <catena/kernels/base/error_context.h>
#include <catena/kernels/base/warning.h>
#include <catena/nn/serializers/npz.h>
#include <catena/training/non_number.h>
#include <catena/training/stored_number.h>

namespace training {

using catena::check;
using catena::RuntimeError;
using catena::TypeError;
using catena::ValueError;

Trainer::Trainer(Held<Updater> updater, TriggerSpec stop_trigger, std::string out) try
    : updater_(std::move(updater)), stop_(stop_trigger.make()), out_(std::move(out)) {
  for (const auto& [name, optimizer] : updater_->get_all_optimizers()) reporter_.add_link(name, optimizer->target());
  updater_->connect_trainer(*this);
} catch (...) {
  catena::rethrow_standard("Trainer");
}

Trainer::~Trainer() = default;

namespace {

// Returns f(); adds the place to the message of an exception.
template <class F, class... Place> void located(F&& f, const Place&... place) {
  try {
    f();
  } catch (...) {
    catena::rethrow_from(catena::concat(place...));
  }
}

// If the reader of a pipe to which the extension prints has ended, the training continues.
void call(Extension& extension, Trainer& trainer) {
  const catena::BrokenPipeScope unread;
  extension(trainer);
}

}  // namespace

void Trainer::extend(catena::Function<void(Trainer&)> extension, const ExtendOptions& options) try {
  check<TypeError>(bool(extension), "Trainer.extend", "the extension is not callable");
  add(catena::Shared<FunctionExtension>::make(std::move(extension), MakeExtensionOptions()), options);
} catch (...) {
  catena::rethrow_standard("Trainer.extend");
}

void Trainer::add(catena::Shared<Extension> extension, const ExtendOptions& options) try {
  const std::string& set = options.name.empty() ? extension->name() : options.name;
  const std::string wanted = set.empty() ? extension->default_name() : set;
  check<ValueError>(wanted != "training", "Trainer.extend", "the name \"training\" is reserved");
  auto taken = [&](const std::string& name) {
    return std::any_of(entries_.begin(), entries_.end(), [&](const auto& e) { return e->name == name; });
  };
  std::string name = wanted;
  for (int i = 1; taken(name); ++i) name = wanted + "_" + std::to_string(i);
  catena::Owned<Entry> entry(new Entry);
  entry->name = name;
  entry->trigger = (options.trigger.is_given() ? options.trigger : extension->trigger).make();
  entry->priority = options.priority.value_or(extension->priority);
  entry->finalizer = options.finalizer;
  entry->before_training =
      options.call_before_training.value_or(options.invoke_before_training.value_or(extension->invoke_before_training));
  entry->saves = extension->saves_trainer || entry->priority == PRIORITY_SNAPSHOT;
  extension->set_name(name);
  entry->extension = std::move(extension);
  entries_.push_back(std::move(entry));
} catch (...) {
  catena::rethrow_standard("Trainer.extend");
}

Extension& Trainer::get_extension(const std::string& name) {
  std::string names;
  for (const auto& e : entries_) {
    if (e->name == name) return *e->extension;
    names += (names.empty() ? "" : ", ") + e->name;
  }
  catena::fail<ValueError>("Trainer.get_extension", "there is no extension named ", name, " (there are: ", names, ")");
}

std::vector<std::string> Trainer::extension_names() const {
  std::vector<std::string> names;
  for (const auto& e : entries_) names.push_back(e->name);
  return names;
}

std::vector<Trainer::Entry*> Trainer::sorted() {
  std::vector<Entry*> order;
  for (const auto& e : entries_) order.push_back(e.get());
  std::stable_sort(order.begin(), order.end(),
                   [](const Entry* a, const Entry* b) { return a->priority > b->priority; });
  return order;
}

bool Trainer::asks(Trigger& trigger) {
  if (!answers_) return trigger(*this);
  for (const auto& [asked, answer] : *answers_)
    if (asked == &trigger) return answer;
  const bool answer = trigger(*this);
  answers_->emplace_back(&trigger, answer);
  return answer;
}

namespace {
// True for a stop trigger that may be asked any number of times, also at the start of a resumed run.
bool depends_on_position_alone(const Trigger& stop) { return dynamic_cast<const IntervalTrigger*>(&stop) != nullptr; }
}  // namespace

bool Trainer::should_stop() {
  bool stop = false;
  located([&] { stop = asks_to_stop(); }, "the stop trigger at iteration ", updater_->iteration());
  return stop;
}

bool Trainer::asks_to_stop() {
  if (!stop_) return false;
  if (depends_on_position_alone(*stop_)) return stop_->ends(*this);
  if (asked_at_ == updater_->iteration()) return stops_;
  const bool stop = stop_->ends(*this);
  if (previous_ && previous_->iteration < updater_->iteration()) {
    asked_at_ = updater_->iteration();
    stops_ = stop;
  }
  return stop;
}

double Trainer::elapsed_time() const {
  check<RuntimeError>(state_ != State::fresh, "Trainer.elapsed_time", "training has not been started");
  if (state_ == State::done) return final_time_;
  return previous_time_ + (catena::internal::steady_seconds() - start_);
}

void Trainer::finalize_all() {
  // All objects are finalized even if one of them throws; the first error is rethrown.
  const catena::BrokenPipeScope unread;
  std::exception_ptr first;
  auto guarded = [&](auto&& f) {
    try {
      f();
    } catch (...) {
      if (!first) first = std::current_exception();
    }
  };
  for (Entry* e : sorted()) {
    guarded([&] { located([&] { e->extension->finalize(); }, "the end of the extension ", e->name); });
    if (e->finalizer) guarded([&] { located([&] { e->finalizer(); }, "the finalizer of the extension ", e->name); });
  }
  guarded([&] { updater_->finalize(); });
  if (first) std::rethrow_exception(first);
}

void Trainer::update() {
  const autograd::OwnLossWarning told_by_watch_losses;
  previous_ = Position{updater_->iteration(), updater_->epoch_detail()};
  located([&] { updater_->update(); }, "iteration ", previous_->iteration + 1);
}

void Trainer::loop() {
  std::vector<Entry*> others = sorted(), savers;
  const auto first_saver =
      std::stable_partition(others.begin(), others.end(), [](const Entry* e) { return !e->saves; });
  savers.assign(first_saver, others.end());
  others.erase(first_saver, others.end());
  std::stable_partition(savers.begin(), savers.end(), [](const Entry* e) { return !e->extension->saves_trainer; });
  previous_ = Position{updater_->iteration(), updater_->epoch_detail()};
  for (const auto* entries : {&others, &savers})
    for (Entry* e : *entries)
      if (e->before_training) located([&] { call(*e->extension, *this); }, "extension ", e->name, " before training");
  bool stop = should_stop();
  while (!stop) {
    observation_.clear();
    const Reporter::Scope scope = reporter_.scope(observation_);
    for (const auto* entries : {&others, &savers})
      for (Entry* e : *entries)
        located([&] { e->extension->before_update(*this); }, "extension ", e->name, " before iteration ",
                updater_->iteration() + 1);
    update();
    // Reading a loss on a device waits for the device, so it is done seldom; a NaN loss stays NaN.
    constexpr std::int64_t kDeviceInterval = 100;
    watch_losses(updater_->iteration() % kDeviceInterval == 0);
    extend_iteration(others, savers, stop);
  }
  watch_losses(true);
}

void Trainer::extend_iteration(const std::vector<Entry*>& others, const std::vector<Entry*>& savers, bool& stop) {
  const auto at = [&](Entry* e, auto&& step) {
    located(step, "extension ", e->name, " at iteration ", previous_->iteration + 1);
  };
  const auto fires = [&](Entry* e) { return e->trigger && asks(*e->trigger); };
  answers_.emplace();
  unasked_ = others.size() + savers.size();
  for (Entry* e : others) {
    --unasked_;
    at(e, [&] {
      if (fires(e)) call(*e->extension, *this);
    });
  }
  std::vector<Entry*> due;
  for (Entry* e : savers)
    at(e, [&] {
      if (fires(e) || (stop_requested_ && e->extension->saves_trainer)) due.push_back(e);
    });
  unasked_ = 0;
  stop = should_stop();
  for (Entry* e : due) at(e, [&] { call(*e->extension, *this); });
  stop = stop || stop_requested_;
  answers_.reset();
}

void Trainer::watch_losses(bool wait) {
  if (warned_of_loss_) return;
  const std::optional<std::string> found = internal::loss_that_is_no_number(*this, wait);
  if (!found) return;
  warned_of_loss_ = true;
  catena::warn("RuntimeWarning", catena::concat("Trainer: ", *found, " at iteration ", updater_->iteration(),
                                                "; training goes on (the extension FailOnNonNumber stops it)"));
}

void Trainer::make_out() const {
  if (out_.empty()) return;  // the working folder
  std::error_code error;
  std::filesystem::create_directories(out_, error);
  check<catena::IOError>(!error, "Trainer.run", "cannot create the result folder \"", out_, "\": ", error.message(),
                         " (the argument `out` of the trainer names another one)");
}

// Extensions that save come first, those that save the trainer before the others: they may load a state, which replaces
// what the ones before have loaded.
void Trainer::initialize_all() {
  std::vector<Entry*> order = sorted();
  const auto rank = [](const Entry* e) { return e->extension->saves_trainer ? 0 : e->saves ? 1 : 2; };
  std::stable_sort(order.begin(), order.end(), [&](const Entry* a, const Entry* b) { return rank(a) < rank(b); });
  std::size_t done = 0;
  try {
    for (Entry* e : order) {
      located([&] { e->extension->initialize(*this); }, "extension ", e->name, " before training");
      ++done;
    }
  } catch (...) {
    // Handlers of signals, hooks and open files of these extensions must not stay behind. Further errors are dropped:
    // the error of the initialization is the cause. The finalizers given to extend() belong to the end of a run, and
    // this trainer can still be run.
    const catena::BrokenPipeScope unread;
    for (std::size_t i = 0; i < done; ++i) try {
        order[i]->extension->finalize();
      } catch (...) {}
    state_ = State::fresh;
    throw;
  }
}

void Trainer::tell_of_error(const std::exception_ptr& error) {
  const auto tell = [&](const std::exception& known) {
    const catena::BrokenPipeScope unread;
    for (Entry* e : sorted()) try {
        e->extension->on_error(*this, known);
      } catch (const std::exception& own) {
        catena::warn("RuntimeWarning", catena::concat("Trainer: on_error of the extension ", e->name,
                                                      " has failed itself: ", own.what()));
      } catch (...) {
        catena::warn("RuntimeWarning",
                     catena::concat("Trainer: on_error of the extension ", e->name, " has failed itself"));
      }
  };
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& known) {
    tell(known);
  } catch (...) {
    tell(RuntimeError("an exception of a class that is not derived from std::exception"));
  }
}

void Trainer::run() try {
  check<RuntimeError>(state_ == State::fresh, "Trainer.run", "a trainer runs only once");
  make_out();
  state_ = State::running;
  start_ = catena::internal::steady_seconds();
  initialize_all();
  std::exception_ptr cause;
  try {
    loop();
  } catch (...) {
    cause = std::current_exception();
  }
  unasked_ = 0;
  answers_.reset();
  if (cause) try {
      tell_of_error(cause);
    } catch (...) {  // by a handler of warnings that throws: the cause is thrown on
    }
  final_time_ = elapsed_time();
  state_ = State::done;
  try {
    finalize_all();
  } catch (...) {
    // The error of the loop is the cause, so an error during finalization must not replace it.
    if (!cause) throw;
  }
  if (cause) std::rethrow_exception(cause);
} catch (...) {
  catena::rethrow_standard("Trainer.run");
}

void Trainer::serialize_extension(nn::Serializer& extensions, Entry& e) {
  const auto own = extensions[e.name];
  try {
    e.extension->serialize(*own);
  } catch (const catena::KeyError& error) {
    if (extensions.is_writer() || !own->keys().empty()) throw;
    std::string names;
    for (const std::string& key : extensions.keys()) {
      const std::string name = key.substr(0, key.find('/'));
      if (names != name && !names.ends_with(", " + name)) names += (names.empty() ? "" : ", ") + name;
    }
    catena::fail<catena::KeyError>("Trainer.serialize", "the snapshot holds nothing for the extension ", e.name,
                                   " (it has: ", names.empty() ? "no extension" : names, "); ", error.what());
  }
}

namespace {

// Chainer does not store the generators. The thread's generator is used by dropout and other functions.
void serialize_generators(nn::Serializer& s) {
  if (s.is_writer() || s.contains("seed")) {
    autograd::Generator& g = autograd::default_generator();
    internal::restore_on_rollback(s, g);
    s("seed", g.seed);
    s("offset", g.offset);
  }
  autograd::RandomExtension* const others = autograd::find_random_extension();
  const auto arrays = s["arrays"];
  if (others == nullptr || (!s.is_writer() && !arrays->contains("size"))) return;
  std::vector<autograd::RandomExtension::State> states;
  if (s.is_writer()) states = others->states();
  auto size = std::int64_t(states.size());
  (*arrays)("size", size);
  for (std::int64_t i = 0; i < size; ++i) {
    const auto one = (*arrays)[std::to_string(i)];
    if (!s.is_writer()) {
      if (!one->contains("seed")) break;  // the file contains fewer entries than its size states
      states.emplace_back();
    }
    autograd::RandomExtension::State& state = states[std::size_t(i)];
    std::int64_t kind = std::int64_t(state.device.kind), id = state.device.id;
    (*one)("device_kind", kind);
    (*one)("device", id);
    check<ValueError>((kind == 0 || kind == 1) && id >= 0 && id < 1024, "Trainer.serialize",
                      "the snapshot has a random generator of the device ", id, " of kind ", kind, ", which is none");
    state.device = {static_cast<autograd::Device::Kind>(kind), static_cast<std::int16_t>(id)};
    (*one)("seed", state.seed);
    (*one)("offset", state.offset);
  }
  if (s.is_writer()) return;
  s.on_rollback([others, before = others->states()] { others->restore(before); });
  others->restore(states);
}

}  // namespace

// A stop trigger with a state that was already evaluated before the snapshot is not evaluated again; its result is
// stored.
void Trainer::serialize_stop(nn::Serializer& s) {
  if (!stop_ || depends_on_position_alone(*stop_)) return;
  const auto own = s["_catena/stop_trigger"];
  if (s.is_writer()) {
    if (!asked_at_) return;
    (*own)("asked_at", *asked_at_);
    (*own)("stops", stops_);
    return;
  }
  internal::restore_on_rollback(s, asked_at_, stops_);
  asked_at_.reset();
  nn::serializers::DictionarySerializer state;
  stop_->serialize(state);
  if (!own->contains("asked_at") || state.entries().empty()) return;
  (*own)("asked_at", asked_at_.emplace());
  (*own)("stops", stops_);
}

void Trainer::serialize(nn::Serializer& s) {
  if (s.is_writer() && unasked_ > 0)
    catena::warn(
        "UserWarning",
        catena::concat("Trainer.serialize: an extension saves the trainer at iteration ", updater_->iteration(),
                       " before all triggers of the iteration have been asked, so that a resumed run may differ "
                       "from this one; its priority should be PRIORITY_SNAPSHOT"));
  nn::Serializer::Transaction transaction(s);
  updater_->serialize(*s["updater"]);
  if (stop_) stop_->serialize(*s["stop_trigger"]);
  serialize_stop(s);
  const auto extensions = s["extensions"], triggers = s["extension_triggers"];
  for (const auto& e : entries_) {
    serialize_extension(*extensions, *e);
    if (e->trigger) e->trigger->serialize(*(*triggers)[e->name]);
  }
  internal::restore_on_rollback(s, previous_time_);
  double elapsed = s.is_writer() ? elapsed_time() : previous_time_;
  s("_snapshot_elapsed_time", elapsed);
  if (!s.is_writer()) previous_time_ = elapsed;
  serialize_generators(*s["_catena/random"]);
  transaction.commit();
}

}  // namespace training
