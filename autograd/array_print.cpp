#include <catena/autograd/array.h>

#include <catena/kernels/base/array_text.h>

namespace autograd {

std::string to_string(const Array& a) {
  if (!a) return "None";
  const catena::PrintOptions options = catena::get_printoptions();
  const auto ends = [](const Array& x, int axis, std::int64_t n) {
    const Array parts[] = {slice(x, axis, 0, n), slice(x, axis, x.shape(axis) - n, x.shape(axis))};
    return concatenate(parts, axis);
  };
  const catena::HostElements elements = catena::host_elements(a, options, to_host, ends);
  return a.ndim() > 0 ? catena::array_text(elements, options) : catena::element_text(elements);
}

}  // namespace autograd
