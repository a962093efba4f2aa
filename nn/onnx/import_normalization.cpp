// Operators that normalize, and the softmax.
#include <array>

#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/nn/functions/activation.h>
#include <catena/nn/functions/normalization.h>
#include <catena/nn/onnx/import_operator.h>

namespace nn::onnx::importing {

namespace normalization {
namespace {

using Call = const OperatorCall&;

// Before version 13 the array is a matrix: all axes from `axis` on together are normalized.
template <auto f> Variables softmax(Call c) {
  const Variable& x = c.input(0);
  const bool as_matrix = c.opset() < 13;
  const int axis = c.axis(c.integer("axis", as_matrix ? 1 : -1), std::max(x.ndim(), 1));
  if (!as_matrix && x.ndim() >= 2) return {f(x, axis)};
  return {autograd::reshape(f(matrix_of(x, axis), 1), x.shape())};
}
Variable softmax_of(const Variable& x, int axis) { return nn::softmax(x, axis); }
Variable log_softmax_of(const Variable& x, int axis) { return nn::log_softmax(x, axis); }

Variables batch_normalization(Call c) {
  const Variable& x = c.input(0);
  if (c.integer("training_mode", 0) != 0 || c.has_output(1))
    c.unsupported("statistics of batches are not imported: export the network in inference mode");
  return {nn::fixed_batch_normalization(x, c.input(1), c.input(2), c.input(3), c.input(4),
                                        FixedBatchNormalizationOptions{.eps = c.number("epsilon", 1e-5)})};
}

Variables instance_normalization(Call c) {
  const Variable& x = c.input(0);
  return {nn::instance_normalization(x, c.input(1), c.input(2), c.number("epsilon", 1e-5))};
}

// Version 18 has a factor for each group, later ones for each channel.
Variables group_normalization(Call c) {
  const Variable& x = c.input(0);
  const auto groups = int(c.integer("num_groups"));
  Variable gamma = c.input(1), beta = c.input(2);
  if (c.opset() < 21 && x.ndim() >= 2 && groups > 0) {
    gamma = autograd::repeat(gamma, x.shape(1) / groups);
    beta = autograd::repeat(beta, x.shape(1) / groups);
  }
  return {nn::group_normalization(x, groups, gamma, beta, c.number("epsilon", 1e-5))};
}

Variables layer_normalization(Call c) {
  const Variable& x = c.input(0);
  const int axis = c.axis(c.integer("axis", -1), x.ndim());
  const double eps = c.number("epsilon", 1e-5);
  Shape last;
  catena::Dims axes;
  for (int k = axis; k < x.ndim(); ++k) last.push_back(x.shape(k)), axes.push_back(k);
  const Variable gamma = autograd::broadcast_to(c.input(1), last);
  const Variable beta = c.has(2) ? autograd::broadcast_to(c.input(2), last)
                                 : constant(autograd::arrays::zeros(last, gamma.dtype(), x.device()));
  Variables result{nn::layer_normalization(x, gamma, beta, eps)};
  if (!c.has_output(1) && !c.has_output(2)) return result;
  result.push_back(autograd::mean(x, axes, true));
  result.push_back(autograd::rsqrt(autograd::var(x, autograd::Axes(axes), true) + eps));
  return result;
}
Variables rms_normalization(Call c) {
  const Variable& x = c.input(0);
  const int axis = c.axis(c.integer("axis", -1), x.ndim());
  Shape last;
  for (int k = axis; k < x.ndim(); ++k) last.push_back(x.shape(k));
  return {nn::rms_normalization(x, autograd::broadcast_to(c.input(1), last), c.number("epsilon", 1e-5))};
}

// alpha is divided by the number of channels in a window.
Variables local_response(Call c) {
  const std::int64_t size = c.integer("size");
  if (size < 1) c.refuse("its size is ", size);
  if (size % 2 == 0) c.unsupported("windows of an even number of channels are not imported");
  return {
      nn::local_response_normalization(c.input(0), LocalResponseOptions{.n = int(size),
                                                                        .k = c.number("bias", 1),
                                                                        .alpha = c.number("alpha", 1e-4) / double(size),
                                                                        .beta = c.number("beta", 0.75)})};
}

// x / norm along an axis; 0 for a norm of 0.
Variables lp_normalization(Call c) {
  const Variable& x = c.input(0);
  return {nn::normalize(x, 0, c.axis(c.integer("axis", -1), x.ndim()), double(c.integer("p", 2)))};
}

constexpr std::array kOperators = {
    Operator{"BatchNormalization", batch_normalization, 0, 1u << 3 | 1u << 4},
    Operator{"GroupNormalization", group_normalization},
    Operator{"InstanceNormalization", instance_normalization},
    Operator{"LRN", local_response},
    Operator{"LayerNormalization", layer_normalization},
    Operator{"LogSoftmax", softmax<log_softmax_of>},
    Operator{"LpNormalization", lp_normalization},
    Operator{"RMSNormalization", rms_normalization},
    Operator{"Softmax", softmax<softmax_of>},
};

}  // namespace
}  // namespace normalization

std::span<const Operator> normalization_operators() { return normalization::kOperators; }

}  // namespace nn::onnx::importing
