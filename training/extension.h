// Extensions: code that a trainer calls around the updates.
#pragma once

#include <cstddef>
#include <exception>
#include <optional>
#include <string>

#include <catena/training/trigger.h>

namespace training {

inline constexpr int PRIORITY_WRITER = 300;     // adds observations
inline constexpr int PRIORITY_EDITOR = 200;     // edits observations
inline constexpr int PRIORITY_READER = 100;     // reads observations
inline constexpr int PRIORITY_SNAPSHOT = -100;  // see Extension::saves_trainer

// The base class of extensions. Every function has a default: a derived class overrides the functions it needs, and
// sets trigger, priority, name and the other fields in its constructor. The arguments of Trainer::extend() replace the
// fields.
//
//   struct Countdown : training::Extension {
//     std::int64_t left = 10;
//     Countdown() { trigger = {1, training::epoch}; }
//     void operator()(training::Trainer&) override { std::cout << --left << "\n"; }
//     void serialize(nn::Serializer& s) override { s("left", left); }
//   };
class CATENA_EXPORT Extension {
 public:
  Extension() = default;
  Extension(const Extension&) = default;
  Extension(Extension&&) = default;
  Extension& operator=(const Extension&) = default;
  Extension& operator=(Extension&&) = default;
  virtual ~Extension();
  // Called by Trainer::run() once, before everything else, also in a resumed training: to load a state, to open files,
  // and to detect problems that would stop the extension later, such as a file that cannot be written. Extensions that
  // save come first, because they may load a state that the others look at. Does nothing by default.
  virtual void initialize(Trainer& trainer);
  virtual void before_update(Trainer& trainer);  // called right before every update; nothing by default
  virtual void operator()(Trainer& trainer);     // nothing by default
  // Called when an exception has left the loop, before extensions are finalized, with that exception (a RuntimeError in
  // place of an object that is no std::exception). An exception of its own becomes a warning, and the first one is
  // thrown on. Does nothing by default.
  virtual void on_error(Trainer& trainer, const std::exception& error);
  // Called at the end of Trainer::run(), also after an exception: once for every call of initialize() that returned.
  virtual void finalize();
  // Saves or loads the state of the extension, so that a resumed run continues like one that was never stopped. Does
  // nothing by default. If a later part of a load fails, the functions given to s.on_rollback() are called; they
  // restore the previous state.
  virtual void serialize(nn::Serializer& s);

  TriggerSpec trigger = {1, iteration};
  int priority = PRIORITY_READER;
  bool invoke_before_training = false;
  // True if the extension saves the trainer. Such an extension runs at the end of an iteration, so that the file has
  // the state after all other extensions: first all other triggers are evaluated, then its own, then it is called. Its
  // priority does not matter. Extensions with PRIORITY_SNAPSHOT also run at the end, before those with this flag.
  bool saves_trainer = false;
  // Returns the name if none was set: that of the class, without its namespace.
  virtual std::string default_name() const;

  // Returns the name under which it is registered, with its suffix. Before registration, the name that was set; empty
  // if none was set.
  const std::string& name() const noexcept { return name_; }
  // A reference to an extension may be written like a pointer: trainer.get_extension("log")->priority.
  Extension* operator->() noexcept { return this; }
  const Extension* operator->() const noexcept { return this; }
  bool operator==(std::nullptr_t) const noexcept { return false; }
  void set_name(std::string name) { name_ = std::move(name); }

 private:
  std::string name_;
};

struct MakeExtensionOptions {
  TriggerSpec trigger = {1, iteration};
  std::string default_name = "<lambda>";
  int priority = PRIORITY_READER;
  bool invoke_before_training = false;
  catena::Function<void()> finalizer = {};
  catena::Function<void(Trainer&)> initializer = {};
  catena::Function<void(Trainer&, const std::exception&)> on_error = {};
};

// An extension that calls a function.
class CATENA_EXPORT FunctionExtension : public Extension {
 public:
  using Options = MakeExtensionOptions;
  FunctionExtension(catena::Function<void(Trainer&)> function, Options options);  // TypeError for an empty function
  void initialize(Trainer& trainer) override;
  void operator()(Trainer& trainer) override { function_(trainer); }
  void on_error(Trainer& trainer, const std::exception& error) override;
  void finalize() override;
  std::string default_name() const override { return default_name_; }

 private:
  catena::Function<void(Trainer&)> function_;
  std::string default_name_;
  catena::Function<void()> finalizer_;
  catena::Function<void(Trainer&)> initializer_;
  catena::Function<void(Trainer&, const std::exception&)> on_error_;
};

// trainer.extend(make_extension([](Trainer& t) { ... }, {.trigger = {1, epoch}, .default_name = "decay"}))
inline FunctionExtension make_extension(catena::Function<void(Trainer&)> function, MakeExtensionOptions options = {}) {
  return {std::move(function), std::move(options)};
}

// The options first, as in Chainer.
inline FunctionExtension make_extension(MakeExtensionOptions options, catena::Function<void(Trainer&)> function) {
  return {std::move(function), std::move(options)};
}

struct ExtendOptions {
  std::string name = {};  // default: the extension's name, else its default_name()
  TriggerSpec trigger = TriggerSpec::not_given();
  std::optional<int> priority = {};
  std::optional<bool> invoke_before_training = {};
  std::optional<bool> call_before_training = {};  // later Chainer's name, which goes before
  catena::Function<void()> finalizer = {};        // called at the end of the run, after the extension's finalize()
};

}  // namespace training
