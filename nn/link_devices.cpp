// Link::to by the name of a device, and Link::requires_grad_.
#include <charconv>

#include <catena/nn/link.h>

namespace nn {

Link& Link::to(std::string_view device) {
  if (device == "cpu" || device == "cpu:0") return to_cpu();
  if (device == "cuda") return to_gpu();
  int id = -1;
  if (device.starts_with("cuda:")) {
    const auto [end, error] = std::from_chars(device.data() + 5, device.data() + device.size(), id);
    if (error != std::errc() || end != device.data() + device.size()) id = -1;
  }
  catena::check<catena::ValueError>(id >= 0, "Link.to", "\"", device,
                                    "\" is no device; \"cpu\", \"cuda\" and \"cuda:1\" are");
  return to_gpu(id);
}

Link& Link::requires_grad_(bool requires_grad) {
  if (requires_grad) enable_update();
  else disable_update();
  return *this;
}

}  // namespace nn
