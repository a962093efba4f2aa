// Chainer's volatile flag, and the modes of a thread.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <span>
#include <string_view>

#include <catena/kernels/base/atomic.h>
#include <catena/kernels/base/error.h>
#include <catena/kernels/base/scoped_value.h>

namespace autograd {

// ON: the variable has no graph. OFF: it has one. AUTO: it has one if the mode of the thread is on. ON and OFF do not
// mix.
class CATENA_EXPORT Flag {
 public:
  enum Value : unsigned char { kOff, kOn, kAuto };
  constexpr Flag(Value v = kOff) noexcept : v_(v) {}
  Flag(bool v) noexcept : v_(v ? kOn : kOff) {}
  Flag(std::string_view text);  // "on", "ON", "off", "OFF", "auto", "AUTO"; ValueError otherwise
  Flag(const char* text) : Flag(std::string_view(text)) {}
  Flag(std::nullopt_t) noexcept : v_(kAuto) {}
  constexpr Value value() const noexcept { return v_; }
  explicit operator bool() const;  // ValueError for AUTO
  friend constexpr bool operator==(Flag a, Flag b) noexcept { return a.v_ == b.v_; }
  friend bool operator<(Flag, Flag) = delete;  // flags have no order
  friend bool operator>(Flag, Flag) = delete;
  friend bool operator<=(Flag, Flag) = delete;
  friend bool operator>=(Flag, Flag) = delete;

 private:
  Value v_;
};
inline constexpr Flag OFF{Flag::kOff}, ON{Flag::kOn}, AUTO{Flag::kAuto};
CATENA_EXPORT std::ostream& operator<<(std::ostream& out, Flag f);
// Returns ON if any flag is ON, else OFF if any is OFF, else AUTO. ValueError for ON together with OFF.
CATENA_EXPORT Flag aggregate_flags(std::span<const Flag> flags);

// Modes of the calling thread. A new thread starts with backprop on, train on, and the type checks of the process.
namespace internal {
enum class TypeChecks : unsigned char { as_process, off, on };
struct GradInputs;
class Autocast;
struct TrainMode {
  bool config = true;  // of the configuration, which scopes change
  bool now = true;     // also off within the call of a link that was set to evaluation by eval(), and behind it
  int calls = 0;       // of links, in progress
};
struct Modes {
  bool enable_backprop = true;
  TrainMode train;
  bool train_is_chosen = false;  // by a scope of this thread, or of the thread for which it works
  TypeChecks type_checks = TypeChecks::as_process;
  bool double_backprop = true;  // gradients get a graph and can be differentiated again
  // Inside a rule without double backprop: the engine runs hooks and NaN checks, nested calls do not.
  bool in_backward_rule = false;
  bool has_own_loss_warning = false;        // OwnLossWarning of debug.h
  bool allows_in_place_changes = false;     // InPlaceChanges of debug.h
  std::uint32_t recomputation = 0;          // number of the call of forget() that is being recomputed; 0: none
  const GradInputs* grad_inputs = nullptr;  // inputs of the running calls of grad(); null within Variable::backward
  Autocast* autocast = nullptr;             // the casts of autocast.h; null: none
};
CATENA_EXPORT Modes& modes() noexcept;
CATENA_EXPORT extern catena::Atomic<bool> debug_flag, type_checks_disabled;
inline bool checks_types(const Modes& m) noexcept {
  return m.type_checks == TypeChecks::as_process ? !type_checks_disabled.load(catena::MemoryOrder::relaxed)
                                                 : m.type_checks == TypeChecks::on;
}
}  // namespace internal

using ModeScope = catena::ScopedValue<bool>;  // sets one mode and restores it when it is destroyed
// auto scope = no_backprop_mode(), or no_backprop_mode scope;  affects AUTO variables only.
struct no_backprop_mode : ModeScope {
  [[nodiscard]] no_backprop_mode() : ModeScope(internal::modes().enable_backprop, false) {}
};
struct force_backprop_mode : ModeScope {
  [[nodiscard]] force_backprop_mode() : ModeScope(internal::modes().enable_backprop, true) {}
};

namespace internal {
// Marks, for a scope, that this thread has chosen its mode `train`. A null argument marks nothing.
class CATENA_EXPORT TrainChoice {
 public:
  explicit TrainChoice(std::optional<bool> train) noexcept;
  ~TrainChoice();
  TrainChoice(const TrainChoice&) = delete;
  TrainChoice& operator=(const TrainChoice&) = delete;

 private:
  bool is_off_;
};
// Returns the mode `train`, for a function whose option is not given. Warns if this thread never chose the mode while
// another thread is within a scope that turned it off: a scope affects only its own thread, and was probably meant for
// this one too.
CATENA_EXPORT bool trains(std::string_view op);

// The mode `train` during the call of a link: that of the configuration, or off for a link that was set to evaluation.
// Functions that follow the call, in the operator() of a class, have the mode of the model to which the link belongs.
class LinkMode {
 public:
  LinkMode(bool link_trains, bool model_trains) noexcept : before_(modes().train.now), model_trains_(model_trains) {
    TrainMode& mode = modes().train;
    mode.now = mode.config && link_trains;
    ++mode.calls;
  }
  ~LinkMode() {
    TrainMode& mode = modes().train;
    mode.now = --mode.calls > 0 ? before_ : mode.config && model_trains_;
  }
  LinkMode(const LinkMode&) = delete;
  LinkMode& operator=(const LinkMode&) = delete;

 private:
  bool before_, model_trains_;
};
// The mode of functions until the next call of a link on this thread.
CATENA_EXPORT void set_mode_of_functions(bool train) noexcept;
}  // namespace internal

// Sets, on the calling thread only, the default of the `train` option of dropout, batch_normalization and others, until
// the end of the scope: const auto scope = train_mode(false), or train_mode scope(false). Links that were set to
// evaluation by eval() evaluate in either mode.
class [[nodiscard]] train_mode {
 public:
  [[nodiscard]] explicit train_mode(bool train)
      : choice_(train), mode_(internal::modes().train, {.config = train, .now = train}) {}

 private:
  internal::TrainChoice choice_;
  catena::ScopedValue<internal::TrainMode> mode_;
};
using TrainScope = train_mode;

// True if functions on this thread check the types of their inputs.
inline bool is_type_check_enabled() noexcept { return internal::checks_types(internal::modes()); }
// Sets type checks for the whole process. Initially they are on, unless the environment variable CHAINER_TYPE_CHECK is
// 0. `Function::type_check_enable = on` does the same. A scope of a thread takes precedence.
inline void set_type_check(bool on) noexcept {
  internal::type_checks_disabled.store(!on, catena::MemoryOrder::relaxed);
}
struct [[nodiscard]] TypeCheckMode : catena::ScopedValue<internal::TypeChecks> {
  explicit TypeCheckMode(bool on)
      : ScopedValue(internal::modes().type_checks, on ? internal::TypeChecks::on : internal::TypeChecks::off) {}
};
[[nodiscard]] inline TypeCheckMode type_check_mode(bool on) { return TypeCheckMode(on); }

namespace internal {
// The setting of the process in the form of a variable.
struct TypeCheckEnable {
  const TypeCheckEnable& operator=(bool on) const noexcept {
    set_type_check(on);
    return *this;
  }
  operator bool() const noexcept { return !type_checks_disabled.load(catena::MemoryOrder::relaxed); }
};
}  // namespace internal

// Debug mode is process-wide: functions check their arrays for NaN after every forward and backward, and check values.
// The environment variable CHAINER_DEBUG sets the initial value.
inline bool is_debug() noexcept { return internal::debug_flag.load(catena::MemoryOrder::relaxed); }
inline void set_debug(bool debug) noexcept { internal::debug_flag.store(debug, catena::MemoryOrder::relaxed); }
class [[nodiscard]] DebugMode {
 public:
  explicit DebugMode(bool debug) : previous_(is_debug()) { set_debug(debug); }
  ~DebugMode() { set_debug(previous_); }
  DebugMode(const DebugMode&) = delete;
  DebugMode& operator=(const DebugMode&) = delete;

 private:
  bool previous_;
};

}  // namespace autograd
