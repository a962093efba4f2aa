#include <catena/ndarray/chainer_cuda/array_module.h>

#include <ostream>

namespace nd {

Device ArrayModule::device() const {
  if (kind_ == Device::Kind::cpu) return cpu_device;
  cuda::check_available();
  const Device current = current_device();
  return current.kind == Device::Kind::cuda ? current : Device{Device::Kind::cuda, 0};
}

Array ArrayModule::asarray(const ArrayLike& a, std::optional<Dtype> dtype) const {
  const DeviceScope on(device());
  const Array array = nd::asarray(a.array(), dtype);
  return array.device().kind == kind_ ? array : array.to_device(device());
}

std::string to_string(const ArrayModule& xp) { return xp.kind() == Device::Kind::cuda ? "nd (cuda)" : "nd (cpu)"; }
std::ostream& operator<<(std::ostream& out, const ArrayModule& xp) { return out << to_string(xp); }

}  // namespace nd
