#include <catena/autograd/config.h>

#include <string>

namespace autograd {
namespace {

using catena::check;
using catena::fail;
using internal::CudnnModes;
using internal::Modes;

struct FlagEntry {
  std::string_view name;
  std::optional<bool> ConfigOptions::*entry;
};
constexpr FlagEntry kFlags[] = {{"train", &ConfigOptions::train},
                                {"enable_backprop", &ConfigOptions::enable_backprop},
                                {"type_check", &ConfigOptions::type_check},
                                {"debug", &ConfigOptions::debug},
                                {"cudnn_deterministic", &ConfigOptions::cudnn_deterministic},
                                {"keep_graph_on_report", &ConfigOptions::keep_graph_on_report}};
constexpr std::string_view kUseCudnn = "use_cudnn", kWorkspace = "max_workspace_size", kDtype = "dtype";

// Entries that no other header has.
struct OwnEntries {
  DefaultDtype dtype;
  bool keep_graph_on_report = false;
};
OwnEntries& own_entries() noexcept {
  static constinit thread_local OwnEntries entries;
  return entries;
}

template <class T> void exchange_one(T& entry, const std::optional<T>& wanted, std::optional<T>& before) noexcept {
  if (!wanted) return;
  before = entry;
  entry = *wanted;
}

// Sets the entries that `changes` has; returns these entries with their previous values.
ConfigOptions exchange(const ConfigOptions& changes) noexcept {
  ConfigOptions before;
  Modes& modes = internal::modes();
  CudnnModes& cudnn = internal::cudnn_modes();
  exchange_one(modes.train.config, changes.train, before.train);
  if (changes.train) modes.train.now = *changes.train;
  exchange_one(modes.enable_backprop, changes.enable_backprop, before.enable_backprop);
  exchange_one(cudnn.deterministic, changes.cudnn_deterministic, before.cudnn_deterministic);
  exchange_one(cudnn.use_cudnn, changes.use_cudnn, before.use_cudnn);
  exchange_one(cudnn.max_workspace_size, changes.max_workspace_size, before.max_workspace_size);
  exchange_one(own_entries().dtype, changes.dtype, before.dtype);
  exchange_one(own_entries().keep_graph_on_report, changes.keep_graph_on_report, before.keep_graph_on_report);
  if (changes.debug) {
    before.debug = is_debug();
    set_debug(*changes.debug);
  }
  return before;
}

// Throws the error for an unknown entry, or for a value of the wrong type.
[[noreturn]] void refuse(std::string_view name, const char* given) {
  constexpr const char* op = "using_config";
  for (const FlagEntry& f : kFlags)
    if (f.name == name) fail<catena::TypeError>(op, name, " takes a bool, not ", given);
  if (name == kUseCudnn) fail<catena::TypeError>(op, name, " takes \"never\", \"auto\" or \"always\", not ", given);
  if (name == kWorkspace) fail<catena::TypeError>(op, name, " takes a number of bytes, not ", given);
  if (name == kDtype) fail<catena::TypeError>(op, name, " takes a floating dtype or \"mixed16\", not ", given);
  std::string names;
  for (const FlagEntry& f : kFlags) (names += f.name) += ", ";
  fail<catena::AttributeError>(op, "there is no entry \"", name, "\"; the entries are ", names, kUseCudnn, ", ",
                               kWorkspace, " and ", kDtype);
}

}  // namespace

UseCudnn::UseCudnn(std::string_view text) {
  if (text == "never") v_ = kNever;
  else if (text == "auto") v_ = kAuto;
  else if (text == "always") v_ = kAlways;
  else fail<catena::ValueError>("use_cudnn", "\"", text, "\" is not one of never, auto, always");
}

DefaultDtype::DefaultDtype(catena::Dtype dtype) : dtype_(dtype) {
  check<catena::TypeError>(catena::is_floating(dtype), "dtype", "the default dtype is ", dtype,
                           "; parameters need a floating one");
}

DefaultDtype::DefaultDtype(std::string_view text)
    : DefaultDtype(text == "mixed16" ? mixed16 : DefaultDtype(catena::dtype_from_name(text))) {}

namespace {
// Sets the entries that `changes` has; returns these entries, except for type_check, with their previous values.
ConfigOptions change(const ConfigOptions& changes, const char* op) {
  check<catena::ValueError>(changes.max_workspace_size.value_or(0) >= 0, op, "max_workspace_size is ",
                            changes.max_workspace_size.value_or(0), " bytes; it must not be negative");
  if (changes.type_check)
    internal::modes().type_checks = *changes.type_check ? internal::TypeChecks::on : internal::TypeChecks::off;
  return exchange(changes);
}
}  // namespace

using_config::using_config(const ConfigOptions& changes, int)
    : choice_(changes.train), trains_(internal::modes().train.now), type_checks_(internal::modes().type_checks) {
  previous_ = change(changes, "using_config");
}

using_config::~using_config() {
  exchange(previous_);
  if (previous_.train) internal::modes().train.now = trains_;
  internal::modes().type_checks = type_checks_;
}

Config internal::config_now() noexcept {
  const Modes& modes = internal::modes();
  const CudnnModes& cudnn = internal::cudnn_modes();
  Config c{modes.train.now,
           modes.enable_backprop,
           internal::checks_types(modes),
           is_debug(),
           cudnn.deterministic,
           cudnn.use_cudnn,
           {},
           own_entries().dtype,
           own_entries().keep_graph_on_report};
  if (cudnn.max_workspace_size >= 0) c.max_workspace_size = cudnn.max_workspace_size;
  return c;
}

catena::Dtype get_dtype(std::optional<catena::Dtype> dtype, catena::Dtype map_mixed16) noexcept {
  const DefaultDtype& set = own_entries().dtype;
  return dtype ? *dtype : set.is_mixed() ? map_mixed16 : set.dtype();
}

namespace internal {

void set_config(const ConfigOptions& changes) {
  change(changes, "config");
  if (changes.train) modes().train_is_chosen = true;
}

ConfigOptions config_entry(std::string_view name, bool value) {
  ConfigOptions o;
  if (name == kUseCudnn) {
    o.use_cudnn = UseCudnn(value);
    return o;
  }
  for (const FlagEntry& f : kFlags)
    if (f.name == name) {
      o.*f.entry = value;
      return o;
    }
  refuse(name, "a bool");
}

ConfigOptions config_entry(std::string_view name, std::int64_t value) {
  if (name != kWorkspace) refuse(name, "a number");
  ConfigOptions o;
  o.max_workspace_size = value;
  return o;
}

ConfigOptions config_entry(std::string_view name, double) { refuse(name, "a floating-point number"); }

ConfigOptions config_entry(std::string_view name, std::string_view value) {
  if (name == kDtype) return config_entry(name, DefaultDtype(value));
  if (name != kUseCudnn) refuse(name, "a text");
  return config_entry(name, UseCudnn(value));
}

ConfigOptions config_entry(std::string_view name, UseCudnn value) {
  if (name != kUseCudnn) refuse(name, "a value of use_cudnn");
  ConfigOptions o;
  o.use_cudnn = value;
  return o;
}

ConfigOptions config_entry(std::string_view name, const DefaultDtype& value) {
  if (name != kDtype) refuse(name, "a dtype");
  ConfigOptions o;
  o.dtype = value;
  return o;
}

CudnnModes& cudnn_modes() noexcept {
  static constinit thread_local CudnnModes modes;
  return modes;
}

}  // namespace internal
}  // namespace autograd
