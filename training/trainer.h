// Trainer: the training loop. Runs an updater until its stop trigger, with extensions around every update, and can be
// saved and resumed in the middle: a resumed run equals the uninterrupted one.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <catena/nn/reporter.h>
#include <catena/training/extension.h>
#include <catena/training/format.h>
#include <catena/training/updater.h>

namespace training {

using nn::Observation;
using nn::Reporter;

class CATENA_EXPORT Trainer {
 public:
  // Stops never without a stop trigger: Trainer(updater, {20, training::epoch}, "result").
  Trainer(Held<Updater> updater, TriggerSpec stop_trigger = {}, std::string out = "result");
  Trainer(const Trainer&) = delete;
  Trainer& operator=(const Trainer&) = delete;

  // Registers an extension; a taken name gets the suffix _1, _2, ... The name "training" is a ValueError.
  template <class E, class = std::enable_if_t<std::is_base_of_v<Extension, E>>>
  E& extend(E extension, const ExtendOptions& options = {}) {
    auto shared = std::make_shared<E>(std::move(extension));
    E& result = *shared;
    add(std::move(shared), options);
    return result;
  }
  void extend(std::function<void(Trainer&)> extension, const ExtendOptions& options = {});
  void add(std::shared_ptr<Extension> extension, const ExtendOptions& options = {});
  Extension& get_extension(const std::string& name);  // ValueError listing the names
  std::vector<std::string> extension_names() const;

  // Once only (RuntimeError). Creates `out`, calls extensions before training, then loops: the stop trigger, an update,
  // then in the order of their priorities every trigger once, right before its extension. Extensions and updater are
  // finalized also when an exception leaves the loop, which is then rethrown.
  void run();

  Updater& updater() const noexcept { return *updater_; }
  Trigger* stop_trigger() const noexcept { return stop_.get(); }
  const std::string& out() const noexcept { return out_; }
  Observation& observation() noexcept { return observation_; }
  Reporter& reporter() noexcept { return reporter_; }
  double elapsed_time() const;  // seconds, with those before a resume; RuntimeError before run
  bool is_running() const noexcept { return state_ == State::running; }

  // "updater", "extensions/<name>", "extension_triggers/<name>", "stop_trigger", the time, and the thread's random
  // generator. Loading is the way to resume: build everything as it was, load, run.
  void serialize(nn::Serializer& s);

 private:
  struct Entry {
    std::string name;
    std::shared_ptr<Extension> extension;
    std::shared_ptr<Trigger> trigger;
    int priority;
    bool before_training;
  };
  enum class State { fresh, running, done };
  std::vector<Entry*> sorted();
  void loop(const std::vector<Entry*>& order);
  bool should_stop();
  void finalize_all();
  void serialize_extension(nn::Serializer& extensions, Entry& e);

  Held<Updater> updater_;
  std::shared_ptr<Trigger> stop_;
  std::string out_;
  Reporter reporter_;
  Observation observation_;
  std::vector<std::unique_ptr<Entry>> entries_;
  State state_ = State::fresh;
  std::chrono::steady_clock::time_point start_{};
  double previous_time_ = 0, final_time_ = 0;
};

}  // namespace training
