// The ways to specify the devices of replicas.
#pragma once

#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <typeinfo>
#include <utility>
#include <vector>

#include <catena/training/updater.h>

namespace training {

// {0, 1}, where the first device is that of the main model, or {{"main", 0}, {"second", 1}}. In a list without names,
// the others are named "replica_1", "replica_2", ...
class CATENA_EXPORT Devices {
 public:
  using Entry = std::pair<std::string, DeviceId>;
  Devices() = default;
  Devices(std::initializer_list<DeviceId> list) : Devices(std::vector<DeviceId>(list)) {}
  Devices(const std::vector<DeviceId>& list);
  Devices(std::initializer_list<Entry> named) : entries_(named) {}
  Devices(std::vector<Entry> named) : entries_(std::move(named)) {}
  Devices(const std::vector<int>& list) : Devices(std::vector<DeviceId>(list.begin(), list.end())) {}
  Devices(const std::map<std::string, int>& named) : entries_(named.begin(), named.end()) {}

  bool is_empty() const noexcept { return entries_.empty(); }
  const DeviceId* find(const std::string& name) const noexcept;  // null: there is none
  // Returns all entries, "main" first. KeyError if there is no "main", ValueError for a name that occurs twice.
  std::vector<Entry> main_first(const char* op) const;

 private:
  std::vector<Entry> entries_;
};

namespace internal {
// Throws a TypeError if the model is of a class derived from L, because a copy as an L would lose its members.
CATENA_EXPORT void check_copyable(const char* op, const Link& model, const std::type_info& as);
}  // namespace internal

}  // namespace training
