// Link::to by the name of a device, and Link::requires_grad_.
#include <catena/kernels/base/device_name.h>
#include <catena/nn/link.h>

namespace nn {

Link& Link::to(std::string_view device) {
  return to_device(catena::device_from_name("Link.to", device, autograd::default_backend().default_device()));
}

Link& Link::requires_grad_(bool requires_grad) {
  if (requires_grad) enable_update();
  else disable_update();
  return *this;
}

}  // namespace nn
