#include <catena/kernels/base/config.h>

#include <dlfcn.h>
#include <zlib.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <mutex>

#include <catena/kernels/base/descriptors.h>
#include <catena/kernels/base/error.h>
#include <catena/kernels/base/parallel.h>
#include <catena/kernels/base/seed.h>
#include <catena/kernels/base/version.h>

namespace catena {
namespace {

struct ConfigSources {
  std::mutex mutex;
  std::vector<internal::ConfigSource> all;
};
ConfigSources& config_sources() {
  static ConfigSources sources;
  return sources;
}

std::string threads_in_effect() { return concat(max_threads(), " threads"); }
std::string seed_in_effect() {
  const char* const text = std::getenv("CHAINER_SEED");
  return text == nullptr || *text == '\0' ? "drawn at the start" : concat("seed ", initial_seed());
}

void add_kernels(internal::ConfigList& list) {
  list.add("catena", "version", std::string(version()));
  list.add("catena", "compiler", std::string(__VERSION__));
#ifdef __OPTIMIZE__
  list.add("catena", "optimised", std::string("yes"));
#else
  list.add("catena", "optimised", std::string("no"));
#endif
  list.add("catena", "file", internal::file_of(reinterpret_cast<const void*>(&version)));
  list.add("libraries", "zlib", std::string(zlibVersion()));
  list.add_variable("OMP_NUM_THREADS", threads_in_effect);
  list.add_variable("CHAINER_SEED", seed_in_effect);
  list.add_variable("CATENA_TEST_SKIP");
}

}  // namespace

namespace internal {

void ConfigList::add(std::string_view section, std::string_view name, std::string (*value)()) {
  std::string text;
  try {
    text = value();
  } catch (const Error& e) {
    text = e.what();
  }
  add(section, name, std::move(text));
}

void ConfigList::add(std::string_view section, std::string_view name, std::string value) {
  entries.push_back({std::string(section), std::string(name), std::move(value)});
}

void ConfigList::add_variable(const char* name, std::string (*in_effect)()) {
  const char* const text = std::getenv(name);
  std::string value = text == nullptr ? "not set" : catena::concat('"', text, '"');
  if (in_effect != nullptr) {
    add("environment", name, in_effect);
    value += "; in effect: " + entries.back().value;
    entries.pop_back();
  }
  add("environment", name, std::move(value));
}

bool add_config(ConfigSource source) {
  ConfigSources& sources = config_sources();
  const std::lock_guard lock(sources.mutex);
  if (std::find(sources.all.begin(), sources.all.end(), source) == sources.all.end()) sources.all.push_back(source);
  return true;
}

std::string file_of(const void* address) {
  Dl_info info{};
  return dladdr(address, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : "unknown";
}

}  // namespace internal

std::vector<ConfigEntry> config_entries() {
  std::vector<internal::ConfigSource> sources = {&add_kernels};
  {
    const std::lock_guard lock(config_sources().mutex);
    sources.insert(sources.end(), config_sources().all.begin(), config_sources().all.end());
  }
  internal::ConfigList list;
  for (const internal::ConfigSource source : sources) source(list);
  // Groups the entries of all libraries by section.
  std::vector<ConfigEntry> sorted;
  for (const char* section : {"catena", "libraries", "devices", "kernels", "environment"})
    for (const ConfigEntry& entry : list.entries)
      if (entry.section == section) sorted.push_back(entry);
  return sorted;
}

std::string config_text() {
  std::string text, section;
  for (const ConfigEntry& entry : config_entries()) {
    if (entry.section != section) text += (section.empty() ? "" : "\n") + entry.section + ":\n";
    section = entry.section;
    text += concat("  ", entry.name, ": ", entry.value, '\n');
  }
  return text;
}

void show_config() {
  const BrokenPipeScope unread;
  std::fputs(config_text().c_str(), stdout);
  std::fflush(stdout);
}

}  // namespace catena
