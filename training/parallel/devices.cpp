#include <catena/training/parallel/devices.h>

#include <algorithm>

#include <catena/autograd/debug.h>
#include <catena/kernels/base/error.h>

namespace training {

using catena::check;

Devices::Devices(const std::vector<DeviceId>& list) {
  for (std::size_t k = 0; k < list.size(); ++k)
    entries_.emplace_back(k == 0 ? "main" : "replica_" + std::to_string(k), list[k]);
}

const DeviceId* Devices::find(const std::string& name) const noexcept {
  for (const Entry& e : entries_)
    if (e.first == name) return &e.second;
  return nullptr;
}

std::vector<Devices::Entry> Devices::main_first(const char* op) const {
  std::vector<Entry> result = entries_;
  for (const Entry& e : result)
    check<catena::ValueError>(
        std::count_if(result.begin(), result.end(), [&](const Entry& o) { return o.first == e.first; }) == 1, op,
        "devices has the name ", e.first, " twice");
  const auto main = std::find_if(result.begin(), result.end(), [](const Entry& e) { return e.first == "main"; });
  check<catena::KeyError>(main != result.end(), op, "devices must have the key \"main\"");
  std::rotate(result.begin(), main, main + 1);
  return result;
}

void internal::check_copyable(const char* op, const Link& model, const std::type_info& as) {
  check<catena::TypeError>(typeid(model) == as, op, "the model is a ", autograd::internal::class_name(typeid(model)),
                           ", but is passed as a ", autograd::internal::class_name(as),
                           ", of which a copy would lack members; pass the object under its own class");
}

}  // namespace training
