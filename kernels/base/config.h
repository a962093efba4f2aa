// The contents of a problem report: versions, the libraries in use and their files, devices, settings.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <catena/kernels/base/export.h>

namespace catena {

// One line of the report: a section ("libraries"), a name ("OpenBLAS") and a value ("OpenBLAS 0.3.21 ...").
struct ConfigEntry {
  std::string section, name, value;
};

// Returns the lines of the libraries whose umbrella headers (ndarray/ndarray.h, catena.h) the program includes. Opens
// devices and optional libraries; if one cannot be used, the value is the reason. The section "environment" has every
// environment variable that they read, with its text and its effect.
CATENA_EXPORT std::vector<ConfigEntry> config_entries();
CATENA_EXPORT std::string config_text();
CATENA_EXPORT void show_config();  // prints config_text() to the standard output

namespace internal {

// Collects the lines of one library.
class CATENA_EXPORT ConfigList {
 public:
  // `value` may throw a catena::Error; the message is then used as the value.
  void add(std::string_view section, std::string_view name, std::string (*value)());
  void add(std::string_view section, std::string_view name, std::string value);
  // Adds an environment variable with its text and its effect; without `in_effect`, only its text.
  void add_variable(const char* name, std::string (*in_effect)() = nullptr);
  std::vector<ConfigEntry> entries;
};
using ConfigSource = void (*)(ConfigList& list);
// Adds a library; has an effect only once per source. The umbrella headers call it. Thread safety: any thread.
CATENA_EXPORT bool add_config(ConfigSource source);

// Returns the file of the program or shared library that contains this address; "unknown" if there is none.
CATENA_EXPORT std::string file_of(const void* address);

}  // namespace internal
}  // namespace catena
