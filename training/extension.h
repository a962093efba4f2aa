// Extensions: what happens around the updates of a training loop.
#pragma once

#include <optional>
#include <string>

#include <catena/training/trigger.h>

namespace training {

inline constexpr int PRIORITY_WRITER = 300;     // adds observations
inline constexpr int PRIORITY_EDITOR = 200;     // edits them
inline constexpr int PRIORITY_READER = 100;     // reads them
inline constexpr int PRIORITY_SNAPSHOT = -100;  // after everything else of the iteration

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
  // Entries that a snapshot needs to go on as if nothing had happened. An extension that has any says so in
  // has_state().
  virtual void serialize(nn::Serializer& s);
  virtual bool has_state() const { return false; }

  virtual std::string default_name() const = 0;
  virtual TriggerSpec default_trigger() const { return {1, iteration}; }
  virtual int default_priority() const { return PRIORITY_READER; }
  virtual bool invoke_before_training() const { return false; }

  // The name it was registered under, with its suffix; empty before.
  const std::string& name() const noexcept { return name_; }
  void set_name(std::string name) { name_ = std::move(name); }

 private:
  std::string name_;
};

struct ExtendOptions {
  std::string name = {};  // default: the extension's
  std::optional<TriggerSpec> trigger = {};
  std::optional<int> priority = {};
  std::optional<bool> invoke_before_training = {};
};

}  // namespace training
