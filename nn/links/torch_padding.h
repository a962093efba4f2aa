// Padding layers with PyTorch's names: one width for all sides of the spatial axes, or two for each of them, beginning
// with the last axis. They are functions, like the layers of torch_activation.h.
//
//   nn::ZeroPad2d(1), nn::ReflectionPad2d({1, 1, 2, 2}), nn::ConstantPad1d(2, 3.5)
//
// x has a batch and channels before its spatial axes, or channels alone. ValueError for negative widths and, in
// reflection, for widths that are not less than the axis.
#pragma once

#include <catena/nn/functions/lengths.h>
#include <catena/nn/functions/torch_images.h>

namespace nn {

namespace internal {
enum class PadMode : std::uint8_t { constant, reflect, replicate, circular };
CATENA_EXPORT Variable padded(PadMode mode, int axes, const Variable& x, const Lengths& padding, double value);

template <PadMode mode, int axes> struct PadLayer {
  Lengths padding;
  explicit PadLayer(const Lengths& widths) : padding(widths) {}
  Variable operator()(const Variable& x) const { return padded(mode, axes, x, padding, 0); }
};
template <int axes> struct ConstantPad {
  Lengths padding;
  double value;
  ConstantPad(const Lengths& widths, double constant) : padding(widths), value(constant) {}
  Variable operator()(const Variable& x) const { return padded(PadMode::constant, axes, x, padding, value); }
};
}  // namespace internal

// The padding is one value, 0, the mirrored elements without the edge, the nearest element, or the elements of the
// other side. Of one to three spatial axes.
using ConstantPad1d = internal::ConstantPad<1>;
using ConstantPad2d = internal::ConstantPad<2>;
using ConstantPad3d = internal::ConstantPad<3>;
using ZeroPad1d = internal::PadLayer<internal::PadMode::constant, 1>;
using ZeroPad2d = internal::PadLayer<internal::PadMode::constant, 2>;
using ZeroPad3d = internal::PadLayer<internal::PadMode::constant, 3>;
using ReflectionPad1d = internal::PadLayer<internal::PadMode::reflect, 1>;
using ReflectionPad2d = internal::PadLayer<internal::PadMode::reflect, 2>;
using ReflectionPad3d = internal::PadLayer<internal::PadMode::reflect, 3>;
using ReplicationPad1d = internal::PadLayer<internal::PadMode::replicate, 1>;
using ReplicationPad2d = internal::PadLayer<internal::PadMode::replicate, 2>;
using ReplicationPad3d = internal::PadLayer<internal::PadMode::replicate, 3>;
using CircularPad1d = internal::PadLayer<internal::PadMode::circular, 1>;
using CircularPad2d = internal::PadLayer<internal::PadMode::circular, 2>;
using CircularPad3d = internal::PadLayer<internal::PadMode::circular, 3>;

}  // namespace nn
