#include <catena/ndarray/device/device.h>

#include <charconv>
#include <cstdlib>

#include <catena/kernels/base/error.h>
#include <catena/ndarray/cuda/runtime/context.h>
#include <catena/ndarray/device/runtime.h>

namespace nd {
namespace {

struct Current {
  bool chosen = false;
  Device device;
};
constinit thread_local Current current;

void check_device(std::string_view op, Device device) {
  if (device == cpu_device) return;
  const int n = runtime(device.kind).device_count();
  catena::check<catena::ValueError>(device.id >= 0 && device.id < n, op, device, " does not exist, there ",
                                    n == 1 ? "is " : "are ", n, device.kind == Device::Kind::cpu ? " cpu" : " cuda",
                                    n == 1 ? " device" : " devices");
}

}  // namespace

bool is_available(Device::Kind kind) noexcept {
  try {
    return runtime(kind).device_count() > 0;
  } catch (const catena::Error&) {
    return false;
  }
}

int device_count(Device::Kind kind) { return is_available(kind) ? runtime(kind).device_count() : 0; }

Device default_device() {
  static const Device device = [] {
    const char* wanted = std::getenv("CATENA_DEVICE");
    if (wanted == nullptr || *wanted == '\0')
      return is_available(Device::Kind::cuda) ? Device{Device::Kind::cuda, 0} : cpu_device;
    const Device named = device_from_name(wanted);
    check_device("CATENA_DEVICE", named);
    return named;
  }();
  return device;
}

Device current_device() {
  if (!current.chosen) return default_device();
  return current.device;
}

void set_current_device(Device device) {
  check_device("set_current_device", device);
  current = {true, device};
}

DeviceScope::~DeviceScope() { current = {true, before_}; }

Device device_from_name(std::string_view name) {
  const std::size_t colon = name.find(':');
  const std::string_view kind = name.substr(0, colon);
  int id = 0;
  bool good = kind == "cpu" || kind == "cuda";
  if (good && colon != std::string_view::npos) {
    const char* end = name.data() + name.size();
    const auto [stop, error] = std::from_chars(name.data() + colon + 1, end, id);
    good = error == std::errc() && stop == end && id >= 0 && id < 32768;
  }
  catena::check<catena::ValueError>(good, "device", '"', name, "\" names no device; cpu, cuda and cuda:<number> do");
  return {kind == "cpu" ? Device::Kind::cpu : Device::Kind::cuda, static_cast<std::int16_t>(id)};
}

void synchronize(Device device) {
  check_device("synchronize", device);
  runtime(device.kind).synchronize_device(device.id);
}

MemoryInfo memory_info(Device device) {
  check_device("memory_info", device);
  return runtime(device.kind).memory_info(device.id);
}

const DeviceProperties& properties(Device device) {
  check_device("properties", device);
  return runtime(device.kind).properties(device.id);
}

bool can_access_peer(Device device, Device peer) {
  check_device("can_access_peer", device);
  check_device("can_access_peer", peer);
  if (device == peer) return true;
  if (device.kind == Device::Kind::cpu || peer.kind == Device::Kind::cpu) return false;
  int can = 0;
  CATENA_CU(device_can_access_peer, &can, device.id, peer.id);
  return can != 0;
}

}  // namespace nd
