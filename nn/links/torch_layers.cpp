#include <catena/nn/links/torch_layers.h>

#include <vector>

namespace nn {

using catena::check;
using catena::ValueError;

Variable Softmax2d::operator()(const Variable& x) const {
  check<ValueError>(x && (x.ndim() == 3 || x.ndim() == 4), "Softmax2d", "x has the shape ",
                    x ? x.shape() : autograd::Shape(), "; it must be (N, C, H, W) or (C, H, W)");
  return softmax(x, x.ndim() - 3);
}

Variable Unflatten::operator()(const Variable& x) const {
  const int axis = catena::normalize_axis("Unflatten", dim, x.ndim());
  autograd::Shape shape;
  for (int a = 0; a < x.ndim(); ++a) {
    if (a == axis)
      for (const std::int64_t n : unflattened_size) shape.push_back(n);
    else shape.push_back(x.shape(a));
  }
  return x.reshape(shape);
}

Variable internal::padded(PadMode mode, int axes, const Variable& x, const Lengths& padding, double value) {
  constexpr const char* names[] = {"constant", "reflect", "replicate", "circular"};
  constexpr const char* layers[] = {"ConstantPad", "ReflectionPad", "ReplicationPad", "CircularPad"};
  const char* const layer = layers[std::size_t(mode)];
  check<ValueError>(x && (x.ndim() == axes + 1 || x.ndim() == axes + 2), layer, "x has the shape ",
                    x ? x.shape() : autograd::Shape(), " for ", axes, " spatial axes");
  std::vector<catena::Integer> widths;
  for (const std::int64_t n : padding.of(layer, "padding", 2 * axes)) widths.emplace_back(n);
  return pad_last(x, widths, PadModeOptions{.mode = names[std::size_t(mode)], .value = value});
}

}  // namespace nn
