// What a report about a problem should state: versions, the libraries in use and where they lie, devices, settings.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <catena/kernels/base/export.h>

namespace catena {

// One line of it: of a section ("libraries"), a name ("OpenBLAS") and what there is to say ("OpenBLAS 0.3.21 ...").
struct ConfigEntry {
  std::string section, name, value;
};

// The lines about the libraries whose umbrella headers (ndarray/ndarray.h, catena.h) the program includes. Devices and
// optional libraries are opened for it; one that cannot be used has the reason as its value. The section "environment"
// has every environment variable that they read, with its text and what is in effect.
CATENA_EXPORT std::vector<ConfigEntry> config_entries();
CATENA_EXPORT std::string config_text();
CATENA_EXPORT void show_config();  // prints config_text() to the standard output

namespace internal {

// Collects the lines of one library.
class CATENA_EXPORT ConfigList {
 public:
  // `value` may throw: the message of a catena::Error is the value then.
  void add(std::string_view section, std::string_view name, std::string (*value)());
  void add(std::string_view section, std::string_view name, std::string value);
  // An environment variable, and what is in effect; without that only its text.
  void add_variable(const char* name, std::string (*in_effect)() = nullptr);
  std::vector<ConfigEntry> entries;
};
using ConfigSource = void (*)(ConfigList& list);
// Adds a library; once for each source. The umbrella headers call it. Thread safety: any thread.
CATENA_EXPORT bool add_config(ConfigSource source);

// The file of the program or shared library that contains this address; "unknown" if there is none.
CATENA_EXPORT std::string file_of(const void* address);

}  // namespace internal
}  // namespace catena
