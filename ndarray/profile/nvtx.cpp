#include <catena/ndarray/profile/nvtx.h>

#include <cxxabi.h>
#include <dlfcn.h>

#include <array>
#include <cstdlib>
#include <memory>

#include <catena/kernels/base/error.h>
#include <catena/ndarray/cuda/api/nvtx.h>

namespace nd {
namespace {

namespace api = cuda::api;

// The function tables that a tool may fill in. A tool asks for the tables of several modules; only the marks and ranges
// of the core module are called here, but tools reject a program in which a module is missing.
struct Slots {
  static constexpr unsigned kCount = 64;  // more than the number of functions of any module
  std::array<std::array<api::nvtx_function, kCount>, api::nvtx_modules> functions{};
  std::array<std::array<api::nvtx_function*, kCount>, api::nvtx_modules> tables{};
};
Slots& slots() {
  static Slots& s = *new Slots;
  return s;
}

int get_module_function_table(int module, api::nvtx_function*** table, unsigned* size) {
  if (module < api::nvtx_module_core || module >= api::nvtx_modules) return 0;
  if (table != nullptr) *table = slots().tables[static_cast<std::size_t>(module)].data();
  if (size != nullptr) *size = Slots::kCount;
  return 1;
}

const void* get_export_table(std::uint32_t id) {
  static constexpr api::nvtx_callbacks_table callbacks{sizeof(api::nvtx_callbacks_table), get_module_function_table};
  static constexpr api::nvtx_version_table version{sizeof(api::nvtx_version_table), 3, 0, [](std::uint32_t) {}};
  if (id == api::nvtx_table_callbacks) return &callbacks;
  return id == api::nvtx_table_version ? static_cast<const void*>(&version) : nullptr;
}

// Returns false if no tool is attached. A tool that cannot be opened must not stop the program.
bool attach_tool() {
  Slots& s = slots();
  for (std::size_t m = 0; m < s.tables.size(); ++m)
    for (std::size_t k = 1; k < Slots::kCount; ++k) s.tables[m][k] = &s.functions[m][k];  // function numbers start at 1
  const char* path = std::getenv("NVTX_INJECTION64_PATH");
  if (path == nullptr || *path == '\0') return false;
  void* const library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) return false;
  const auto initialize = reinterpret_cast<api::nvtx_initialize_injection>(dlsym(library, "InitializeInjectionNvtx2"));
  return initialize != nullptr && initialize(get_export_table) != 0;
}

// Returns the tool's function in a slot; null if no tool is attached.
template <class F> F function_of(int slot) {
  return nvtx::is_listening()
             ? reinterpret_cast<F>(slots().functions[api::nvtx_module_core][static_cast<std::size_t>(slot)])
             : nullptr;
}

api::nvtx_event_attributes event(const std::string& message, std::optional<std::uint32_t> color) {
  api::nvtx_event_attributes e;
  e.message_type = api::nvtx_message_ascii;
  e.message = message.c_str();
  if (color) {
    e.color_type = api::nvtx_color_argb;
    e.color = *color;
  }
  return e;
}

std::optional<std::uint32_t> color_of(int id) {
  constexpr std::uint32_t palette[] = {0xFF00FF00, 0xFF007FFF, 0xFF7F00FF, 0xFFFF0000, 0xFF7FFF00,
                                       0xFF00FF7F, 0xFF0000FF, 0xFFFF007F, 0xFFFF7F00, 0xFF7F7F7F};
  if (id < 0) return std::nullopt;
  return palette[id % 10];
}

void mark_event(const std::string& message, std::optional<std::uint32_t> color) {
  const auto f = function_of<api::nvtx_mark_function>(api::nvtx_slot_mark);
  if (f == nullptr) return;
  const api::nvtx_event_attributes e = event(message, color);
  f(&e);
}

void push_event(const std::string& message, std::optional<std::uint32_t> color) {
  const auto f = function_of<api::nvtx_push_function>(api::nvtx_slot_range_push);
  if (f == nullptr) return;
  const api::nvtx_event_attributes e = event(message, color);
  f(&e);
}

}  // namespace

namespace nvtx {

bool is_listening() {
  static const bool attached = attach_tool();
  return attached;
}

void mark(const std::string& message, int id_color) { mark_event(message, color_of(id_color)); }
void mark_c(const std::string& message, std::uint32_t color) { mark_event(message, color); }
void range_push(const std::string& message, int id_color) { push_event(message, color_of(id_color)); }
void range_push_c(const std::string& message, std::uint32_t color) { push_event(message, color); }
void range_pop() {
  if (const auto f = function_of<api::nvtx_pop_function>(api::nvtx_slot_range_pop)) f();
}

}  // namespace nvtx

// ---- names of functions -------------------------------------------------------------------------
namespace internal {
namespace {

// Returns the name without namespaces and arguments: "step" for "example::step(int, float)".
std::string last_word(std::string name) {
  constexpr std::string_view unnamed = "(anonymous namespace)::";
  for (std::size_t at; (at = name.find(unnamed)) != std::string::npos;) name.erase(at, unnamed.size());
  name = name.substr(0, name.find('('));
  name = name.substr(0, name.find('<'));
  const std::size_t colon = name.rfind(':');
  return colon == std::string::npos ? name : name.substr(colon + 1);
}

std::string readable(const char* symbol) {
  int status = -1;
  const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(symbol, nullptr, nullptr, &status), std::free);
  return status == 0 ? text.get() : symbol;
}

}  // namespace

std::string name_of_function(const void* address) {
  Dl_info info{};
  if (dladdr(address, &info) == 0 || info.dli_sname == nullptr || info.dli_saddr != address) return "";
  return last_word(readable(info.dli_sname));
}

// Parses "... [with auto f = example::step; ...]" (g++) or "... [f = &example::step]" (clang).
std::string name_in_signature(const char* pretty_function) {
  std::string text = pretty_function;
  const std::size_t at = text.find("f = ");
  if (at == std::string::npos) return "";
  text = text.substr(at + 4);
  text = text.substr(0, text.find_first_of(";]"));
  return last_word(text.starts_with('&') ? text.substr(1) : text);
}

std::string name_of_class(const std::type_info& type) {
  const std::string name = readable(type.name());
  return name.find('{') != std::string::npos || name.find("lambda") != std::string::npos ? "" : last_word(name);
}

}  // namespace internal

TimeRange::TimeRange(const std::string& message, const TimeRangeOptions& options) {
  catena::check<catena::ValueError>(!options.color_id || !options.argb_color, "TimeRange", "color_id ",
                                    options.color_id.value_or(0), " and argb_color ", options.argb_color.value_or(0),
                                    " are both given");
  if (options.argb_color) nvtx::range_push_c(message, *options.argb_color);
  else nvtx::range_push(message, options.color_id.value_or(-1));
}

}  // namespace nd
