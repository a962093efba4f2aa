// Extensions: code that a trainer calls around the updates.
#pragma once

#include <optional>
#include <string>

#include <catena/training/trigger.h>

namespace training {

inline constexpr int PRIORITY_WRITER = 300;     // adds observations
inline constexpr int PRIORITY_EDITOR = 200;     // edits observations
inline constexpr int PRIORITY_READER = 100;     // reads observations
inline constexpr int PRIORITY_SNAPSHOT = -100;  // after all other extensions of the iteration

class CATENA_EXPORT Extension {
 public:
  Extension() = default;
  Extension(const Extension&) = default;
  Extension(Extension&&) = default;
  Extension& operator=(const Extension&) = default;
  Extension& operator=(Extension&&) = default;
  virtual ~Extension();
  virtual void operator()(Trainer& trainer) = 0;
  virtual void finalize();
  // What a snapshot stores of the extension, so that a resumed run equals the uninterrupted one: whatever it gives to
  // s. Nothing by default.
  virtual void serialize(nn::Serializer& s);

  virtual std::string default_name() const = 0;
  virtual TriggerSpec default_trigger() const { return {1, iteration}; }
  virtual int default_priority() const { return PRIORITY_READER; }
  virtual bool invoke_before_training() const { return false; }

  // The name under which it is registered, with its suffix; empty before.
  const std::string& name() const noexcept { return name_; }
  void set_name(std::string name) { name_ = std::move(name); }

 private:
  std::string name_;
};

struct ExtendOptions {
  std::string name = {};  // default: the extension's
  TriggerSpec trigger = TriggerSpec::not_given();
  std::optional<int> priority = {};
  std::optional<bool> invoke_before_training = {};
  catena::Function<void()> finalizer = {};  // called at the end of the run, after the extension's finalize()
};

}  // namespace training
