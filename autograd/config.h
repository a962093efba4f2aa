// The configuration of the calling thread through one scope, under the names of Chainer's `config`:
//
//   const auto scope = using_config({.cudnn_deterministic = true, .max_workspace_size = 64 << 20});
//   const auto scope = using_config("use_cudnn", "never");          // or: using_config scope("use_cudnn", "never");
//   if (config.train) ...                                           // or: config().train
//   config.train = false;                                           // from now on, on this thread
//
// A scope changes the entries that it lists and restores them at its end, also after an exception. Arguments of a call
// (`train`, `use_cudnn`, `deterministic`) take precedence over the configuration. A new thread starts with the
// defaults.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

#include <catena/autograd/flag.h>
#include <catena/kernels/base/dtype.h>

namespace autograd {

// Whether cuDNN computes functions of CUDA arrays. kAuto and kAlways: if cuDNN is installed and supports the case.
// kNever: always use the library's own kernels.
class CATENA_EXPORT UseCudnn {
 public:
  enum Value : unsigned char { kNever, kAuto, kAlways };
  constexpr UseCudnn(Value v = kAuto) noexcept : v_(v) {}
  template <std::same_as<bool> Bool> constexpr UseCudnn(Bool v) noexcept : v_(v ? kAuto : kNever) {}
  UseCudnn(std::string_view text);  // "never", "auto", "always"; ValueError otherwise
  UseCudnn(const char* text) : UseCudnn(std::string_view(text)) {}
  constexpr Value value() const noexcept { return v_; }
  friend constexpr bool operator==(UseCudnn a, UseCudnn b) noexcept { return a.v_ == b.v_; }

 private:
  Value v_;
};

// A floating dtype, or mixed16: float16, but float32 for what needs more digits, such as the parameters and statistics
// of normalizations.
class CATENA_EXPORT DefaultDtype {
 public:
  constexpr DefaultDtype() noexcept = default;  // float32
  DefaultDtype(catena::Dtype dtype);            // TypeError unless it is floating
  DefaultDtype(std::string_view text);          // "mixed16", or the name of a floating dtype; TypeError otherwise
  DefaultDtype(const char* text) : DefaultDtype(std::string_view(text)) {}
  static constexpr DefaultDtype mixed() noexcept {
    DefaultDtype d;
    d.dtype_ = catena::Dtype::float16, d.is_mixed_ = true;
    return d;
  }
  constexpr bool is_mixed() const noexcept { return is_mixed_; }
  constexpr catena::Dtype dtype() const noexcept { return dtype_; }  // float16 for mixed16
  friend constexpr bool operator==(const DefaultDtype&, const DefaultDtype&) noexcept = default;

 private:
  catena::Dtype dtype_ = catena::Dtype::float32;
  bool is_mixed_ = false;
};
inline constexpr DefaultDtype mixed16 = DefaultDtype::mixed();

// The entries that a scope changes.
struct ConfigOptions {
  std::optional<bool> train = {}, enable_backprop = {}, type_check = {};
  std::optional<bool> debug = {};                // for the whole process, like set_debug
  std::optional<bool> cudnn_deterministic = {};  // only algorithms whose order of summation is fixed
  std::optional<UseCudnn> use_cudnn = {};
  // In bytes; not negative. Replaces the limit of the process (autograd::cuda::set_max_workspace_size) on this thread.
  std::optional<std::int64_t> max_workspace_size = {};
  // The dtype of parameters and of arrays that initializers make, unless their initializer has one: {.dtype = mixed16}.
  // A parameter gets it when it is made, not when the first call determines its shape.
  std::optional<DefaultDtype> dtype = {};
  // Whether a variable that is reported keeps its graph; otherwise the report has its value only.
  std::optional<bool> keep_graph_on_report = {};
};

namespace internal {
CATENA_EXPORT ConfigOptions config_entry(std::string_view name, bool value);
CATENA_EXPORT ConfigOptions config_entry(std::string_view name, std::int64_t value);
CATENA_EXPORT ConfigOptions config_entry(std::string_view name, double value);  // always throws
CATENA_EXPORT ConfigOptions config_entry(std::string_view name, std::string_view value);
CATENA_EXPORT ConfigOptions config_entry(std::string_view name, UseCudnn value);
CATENA_EXPORT ConfigOptions config_entry(std::string_view name, const DefaultDtype& value);
}  // namespace internal

// A scope with other options; its destructor puts the old ones back.
class CATENA_EXPORT using_config {
 public:
  // ValueError for a negative size; nothing is changed then. (A template, so that {.train = false} means the options.)
  template <std::same_as<ConfigOptions> O = ConfigOptions>
  [[nodiscard]] explicit using_config(const O& changes) : using_config(changes, 0) {}
  // Changes one entry by its name. AttributeError for an unknown name, TypeError for a value of the wrong type.
  template <class Value>
  requires(std::is_convertible_v<const Value&, std::string_view> || std::is_convertible_v<const Value&, UseCudnn> ||
           std::is_convertible_v<const Value&, DefaultDtype> || std::is_arithmetic_v<Value>)
      [[nodiscard]] using_config(std::string_view name, const Value& value)
      : using_config(entry(name, value), 0) {}
  ~using_config();
  using_config(const using_config&) = delete;
  using_config& operator=(const using_config&) = delete;

 private:
  using_config(const ConfigOptions& changes, int);
  template <class Value> static ConfigOptions entry(std::string_view name, const Value& value) {
    if constexpr (std::is_same_v<Value, bool>) return internal::config_entry(name, value);
    else if constexpr (std::is_integral_v<Value>) return internal::config_entry(name, std::int64_t(value));
    else if constexpr (std::is_floating_point_v<Value>) return internal::config_entry(name, double(value));
    else if constexpr (std::is_convertible_v<const Value&, std::string_view>)
      return internal::config_entry(name, std::string_view(value));
    else if constexpr (std::is_convertible_v<const Value&, UseCudnn>)
      return internal::config_entry(name, UseCudnn(value));
    else return internal::config_entry(name, DefaultDtype(value));
  }

  internal::TrainChoice choice_;
  bool trains_;
  ConfigOptions previous_;
  internal::TypeChecks type_checks_;
};
using ConfigScope = using_config;

// Copies of the current values on the calling thread.
struct Config {
  bool train, enable_backprop, type_check, debug, cudnn_deterministic;
  UseCudnn use_cudnn;
  std::optional<std::int64_t> max_workspace_size;  // none: the limit of the process applies
  DefaultDtype dtype;
  bool keep_graph_on_report;
};
namespace internal {
CATENA_EXPORT Config config_now() noexcept;
CATENA_EXPORT void set_config(const ConfigOptions& changes);

// An entry of the configuration as a variable.
template <class T, class Read = T> class ConfigEntry {
 public:
  constexpr ConfigEntry(std::optional<T> ConfigOptions::*written, Read Config::*read) noexcept
      : written_(written), read_(read) {}
  ConfigEntry(const ConfigEntry&) = delete;  // bool before = config.train;
  const ConfigEntry& operator=(const T& value) const {
    ConfigOptions changes;
    changes.*written_ = value;
    set_config(changes);
    return *this;
  }
  operator Read() const noexcept { return config_now().*read_; }

 private:
  std::optional<T> ConfigOptions::*written_;
  Read Config::*read_;
};

struct ConfigObject {
  ConfigEntry<bool> train{&ConfigOptions::train, &Config::train};
  ConfigEntry<bool> enable_backprop{&ConfigOptions::enable_backprop, &Config::enable_backprop};
  ConfigEntry<bool> type_check{&ConfigOptions::type_check, &Config::type_check};
  ConfigEntry<bool> debug{&ConfigOptions::debug, &Config::debug};
  ConfigEntry<bool> cudnn_deterministic{&ConfigOptions::cudnn_deterministic, &Config::cudnn_deterministic};
  ConfigEntry<UseCudnn> use_cudnn{&ConfigOptions::use_cudnn, &Config::use_cudnn};
  ConfigEntry<std::int64_t, std::optional<std::int64_t>> max_workspace_size{&ConfigOptions::max_workspace_size,
                                                                            &Config::max_workspace_size};
  ConfigEntry<DefaultDtype> dtype{&ConfigOptions::dtype, &Config::dtype};
  ConfigEntry<bool> keep_graph_on_report{&ConfigOptions::keep_graph_on_report, &Config::keep_graph_on_report};
  Config operator()() const noexcept { return config_now(); }
};
}  // namespace internal

// The configuration of the calling thread: config() is a copy of all values, config.train one of them. An assignment
// lasts until the next one, or until the end of a scope that began before it and changes the same entry. ValueError for
// a negative max_workspace_size.
inline constexpr internal::ConfigObject config;
// Returns `dtype` if it is given, else the dtype of the configuration, where mixed16 is `map_mixed16`.
CATENA_EXPORT catena::Dtype get_dtype(std::optional<catena::Dtype> dtype = {},
                                      catena::Dtype map_mixed16 = catena::Dtype::float16) noexcept;

namespace internal {
struct CudnnModes {
  UseCudnn use_cudnn;
  bool deterministic = false;
  std::int64_t max_workspace_size = -1;  // -1: the limit of the process
  constexpr bool uses_cudnn() const noexcept { return use_cudnn.value() != UseCudnn::kNever; }
};
CATENA_EXPORT CudnnModes& cudnn_modes() noexcept;  // modes of the calling thread
}  // namespace internal

}  // namespace autograd
