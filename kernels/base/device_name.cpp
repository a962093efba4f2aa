#include <catena/kernels/base/device_name.h>

#include <charconv>

#include <catena/kernels/base/error.h>

namespace catena {

Device device_from_name(std::string_view op, std::string_view name, Device current) {
  if (name == "cpu" || name == "cpu:0" || name == "@numpy" || name == "@intel64" || name == "@cpu" ||
      name == "native" || name == "native:0")
    return {};
  if (name == "cuda" || name == "@cupy" || name == "@cuda")
    return current.kind == Device::Kind::cuda ? current : Device{Device::Kind::cuda};
  std::int16_t id = -1;
  if (name.starts_with("cuda:") || name.starts_with("@cupy:") || name.starts_with("@cuda:")) {
    const std::string_view digits = name.substr(name.find(':') + 1);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), id);
    if (error != std::errc() || end != digits.data() + digits.size()) id = -1;
  }
  check<ValueError>(id >= 0, op, "\"", name, "\" is no device; \"cpu\", \"cuda\" and \"cuda:1\" are");
  return {Device::Kind::cuda, id};
}

}  // namespace catena
