// Folder training: the training loop and its parts: optimizers, datasets, iterators, updaters, triggers, the trainer.
// Extensions are in training/extensions, data sets in training/datasets; models and their files are in nn. This folder
// may use nn, autograd and kernels.
//
// Trainer: runs an updater until its stop trigger fires, with extensions around every update. It can be saved and
// resumed at any iteration: a resumed run equals an uninterrupted one.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <catena/kernels/base/function.h>
#include <catena/kernels/base/pointers.h>
#include <catena/nn/reporter.h>
#include <catena/training/extension.h>
#include <catena/training/format.h>
#include <catena/training/updater.h>

namespace training {

using nn::DictSummary, nn::get_current_reporter, nn::Observation, nn::report, nn::report_scope, nn::Reporter,
    nn::Summary;

struct TrainerOptions {
  TriggerSpec stop_trigger = {};  // without one it runs forever
  std::string out = "result";     // the folder of the files of extensions
};

class CATENA_EXPORT Trainer {
 public:
  // Without a stop trigger it runs forever: Trainer(updater, {20, training::epoch}, "result").
  Trainer(Held<Updater> updater, TriggerSpec stop_trigger = {}, std::string out = "result");
  // Trainer(updater, {.stop_trigger = {20, "epoch"}, .out = "result"})
  template <std::same_as<TrainerOptions> O = TrainerOptions>
  Trainer(Held<Updater> updater, const O& options) : Trainer(std::move(updater), options.stop_trigger, options.out) {}
  Trainer(const Trainer&) = delete;
  Trainer& operator=(const Trainer&) = delete;
  ~Trainer();

  // Registers an extension. A name in use gets the suffix _1, _2, ... The name "training" is a ValueError.
  template <class E, class = std::enable_if_t<std::is_base_of_v<Extension, E>>>
  E& extend(E extension, const ExtendOptions& options = {}) {
    auto shared = internal::make_held(std::move(extension));
    E& result = *shared;
    add(std::move(shared), options);
    return result;
  }
  //   trainer.extend([](training::Trainer& t) { ... }, {.name = "mine", .finalizer = [&] { file.close(); }});
  void extend(catena::Function<void(Trainer&)> extension, const ExtendOptions& options = {});
  // A function that does not need the trainer.
  template <std::invocable F>
  requires(!std::is_base_of_v<Extension, F>) void extend(F extension, const ExtendOptions& options = {}) {
    extend(catena::Function<void(Trainer&)>([f = std::move(extension)](Trainer&) mutable { f(); }), options);
  }
  void add(catena::Shared<Extension> extension, const ExtendOptions& options = {});
  // An object that the program keeps as well, as a shared pointer.
  void extend(catena::Shared<Extension> extension, const ExtendOptions& options = {}) {
    add(std::move(extension), options);
  }
  // The ValueError for another name lists the names. The result may be used like a pointer, too.
  Extension& get_extension(const std::string& name);
  // The same as an object of its class: get_extension<LogReport>("LogReport").log(). TypeError for another class.
  template <class E> E& get_extension(const std::string& name) {
    auto* const found = dynamic_cast<E*>(&get_extension(name));
    catena::check<catena::TypeError>(found != nullptr, "get_extension", "the extension ", name, " is of another class");
    return *found;
  }
  std::vector<std::string> extension_names() const;

  // May be called once (else RuntimeError). Creates `out` (IOError if it cannot, also where an extension will not be
  // able to write its file; nothing has run then), calls extensions before training, then loops until the stop trigger
  // fires: runs an update, then evaluates each trigger once, in the order of priorities, right before its extension,
  // then those of extensions that save the trainer and the stop trigger, and then saves. If an exception leaves the
  // loop, extensions and updater are finalized before it is rethrown; its message then begins with the iteration and
  // the name of the extension, or "the stop trigger". (Extension::on_error sees it.) A reported loss (a key that ends
  // in "loss", or the loss of an optimizer) that is NaN or infinite is warned of once; FailOnNonNumber stops at it.
  void run();

  Updater& updater() const noexcept { return *updater_; }
  Trigger* stop_trigger() const noexcept { return stop_.get(); }
  const std::string& out() const noexcept { return out_; }
  Observation& observation() noexcept { return observation_; }
  Reporter& reporter() noexcept { return reporter_; }
  // Ends the training after the current iteration, as if the stop trigger had fired. Extensions that save the trainer
  // then run whether or not their triggers fire, so that the training can be resumed. See StopOnSignal.
  void stop() noexcept { stop_requested_ = true; }
  double elapsed_time() const;  // in seconds, including the time before a resume; RuntimeError before run
  bool is_running() const noexcept { return state_ == State::running; }
  // Asks a trigger. In the course of an iteration it is asked once: a trigger that several share (one that is given as
  // a shared pointer, also to reports and as the stop trigger) gives to all of them what it answered the first one. It
  // would be wrong to ask twice, for a trigger may count its calls, or what it has fired for.
  bool asks(Trigger& trigger);
  // Where the updater was before the update of the current iteration; empty before run().
  struct Position {
    std::int64_t iteration;
    double epoch_detail;
  };
  const std::optional<Position>& previous_position() const noexcept { return previous_; }

  // Stores "updater", "extensions/<name>", "extension_triggers/<name>", "stop_trigger", the elapsed time, the result at
  // this iteration of a stop trigger with a state (so that it is not evaluated again), and the generators of the thread
  // and of the array library (nd::random). To resume, construct the same objects, load, and call run().
  void serialize(nn::Serializer& s);

 private:
  struct Entry {
    std::string name;
    catena::Shared<Extension> extension;
    catena::Shared<Trigger> trigger;
    int priority;
    bool before_training, saves;
    catena::Function<void()> finalizer;
  };
  enum class State { fresh, running, done };
  std::vector<Entry*> sorted();
  void make_out() const;
  void initialize_all();
  void tell_of_error(const std::exception_ptr& error);
  void loop();
  void update();
  void extend_iteration(const std::vector<Entry*>& others, const std::vector<Entry*>& savers, bool& stop);
  void watch_losses(bool wait);
  bool should_stop();
  bool asks_to_stop();
  void finalize_all();
  void serialize_extension(nn::Serializer& extensions, Entry& e);
  void serialize_stop(nn::Serializer& s);

  Held<Updater> updater_;
  catena::Shared<Trigger> stop_;
  std::string out_;
  Reporter reporter_;
  Observation observation_;
  std::vector<catena::Owned<Entry>> entries_;
  State state_ = State::fresh;
  std::optional<Position> previous_;
  // The iteration after whose update the stop trigger was last evaluated, in this run or the resumed one, and its
  // result.
  std::optional<std::int64_t> asked_at_;
  bool stops_ = false;
  bool stop_requested_ = false;
  std::size_t unasked_ = 0;  // extensions whose triggers will still be asked in this iteration
  std::optional<std::vector<std::pair<const Trigger*, bool>>> answers_;  // of this iteration; empty between iterations
  bool warned_of_loss_ = false;
  double start_ = 0;  // seconds, of a steady clock
  double previous_time_ = 0, final_time_ = 0;
};

}  // namespace training
