// The volatile flag of the reference and the thread-local modes.
#pragma once

#include <iosfwd>
#include <optional>
#include <span>
#include <string_view>

#include <catena/kernels/base/atomic.h>
#include <catena/kernels/base/error.h>

namespace autograd {

// ON: no graph behind this variable; OFF: a graph; AUTO: a graph if the thread's mode says so. ON and OFF do not mix.
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
// ON if any is ON, else OFF if any is OFF, else AUTO; ON together with OFF is a ValueError.
CATENA_EXPORT Flag aggregate_flags(std::span<const Flag> flags);

// Modes of the calling thread. A new thread starts with backprop on, train on, type checks as CHAINER_TYPE_CHECK says.
namespace internal {
struct Modes {
  bool enable_backprop = true;
  bool train = true;
  bool type_check = true;
  bool double_backprop = true;  // gradients being computed get a graph of their own
  // Inside a rule without double backprop: the engine runs hooks and NaN checks, nested calls do not.
  bool in_backward_rule = false;
  bool ready = false;  // the environment has been read
};
CATENA_EXPORT Modes& modes() noexcept;
CATENA_EXPORT extern catena::Atomic<bool> debug_flag;
}  // namespace internal

// Sets one mode for a scope and restores it, also when an exception leaves the scope.
class [[nodiscard]] ModeScope {
 public:
  ModeScope(bool internal::Modes::*member, bool value) : member_(member), previous_(internal::modes().*member) {
    internal::modes().*member = value;
  }
  ~ModeScope() { internal::modes().*member_ = previous_; }
  ModeScope(const ModeScope&) = delete;
  ModeScope& operator=(const ModeScope&) = delete;

 private:
  bool internal::Modes::*member_;
  bool previous_;
};
// auto scope = no_backprop_mode();  affects AUTO variables only.
[[nodiscard]] inline ModeScope no_backprop_mode() { return {&internal::Modes::enable_backprop, false}; }
[[nodiscard]] inline ModeScope force_backprop_mode() { return {&internal::Modes::enable_backprop, true}; }
// Default of the `train` option of dropout, batch_normalization and others, for code that does not pass it.
[[nodiscard]] inline ModeScope train_mode(bool train) { return {&internal::Modes::train, train}; }
[[nodiscard]] inline ModeScope type_check_mode(bool on) { return {&internal::Modes::type_check, on}; }

// Debug mode is process-wide: NaN checks after every forward and backward, value checks in functions. Environment
// CHAINER_DEBUG.
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
