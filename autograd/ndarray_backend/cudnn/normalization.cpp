// Uses functions that cuDNN 9 marks as deprecated: on an H100, the heuristics of cuDNN 9.19 have no engine for a graph
// of batch normalization in training, in any dtype or layout, and reject a graph of inference.
#include <catena/autograd/ndarray_backend/cudnn/normalization.h>

#include <algorithm>
#include <limits>

#include <catena/autograd/ndarray_backend/cudnn/arrays.h>
#include <catena/kernels/registry/families.h>

namespace autograd::internal::cudnn {
namespace {

// x as (N, C, L): C are the axes that are kept, L the axes after them. All other shapes are views of this shape.
struct Problem {
  int mode = api::cudnn_batch_norm_spatial;
  Layout layout = Layout::contiguous;
  Dtype dtype, statistics_dtype;
  Shape statistics;  // the shape of x with length 1 along the axes
  TensorDescriptor images, parameters;
};

// Undocumented limits of cuDNN, the same as in PyTorch. cuDNN counts elements in an int.
std::int64_t most_images(bool spatial, bool training) {
  if (spatial) return training ? 880801 : 65535;
  return training ? 131070 : 262136;
}

Problem problem_of(const Array& x, const Dims& axes, bool training) {
  Shape statistics = x.shape();
  for (const std::int64_t axis : axes) {
    if (axis < 0 || axis >= x.ndim()) throw NotSupported{};
    statistics[static_cast<int>(axis)] = 1;
  }
  const auto is_reduced = [&](int axis) { return std::find(axes.begin(), axes.end(), axis) != axes.end(); };
  if (x.size() == 0 || x.size() > std::numeric_limits<int>::max() || !is_reduced(0)) throw NotSupported{};
  int kept = 1;
  while (kept < x.ndim() && is_reduced(kept)) ++kept;
  const int first = kept;  // the axes before the kept ones belong to N
  while (kept < x.ndim() && !is_reduced(kept)) ++kept;
  for (int axis = kept; axis < x.ndim(); ++axis)
    if (!is_reduced(axis)) throw NotSupported{};
  std::int64_t n = 1, c = 1, l = 1;
  for (int axis = 0; axis < x.ndim(); ++axis) (axis < first ? n : axis < kept ? c : l) *= x.shape(axis);
  const bool spatial = l > 1;
  if (n > most_images(spatial, training)) throw NotSupported{};

  const Layout layout = first == 1 && kept == 2 ? layout_of(x) : Layout::contiguous;
  const Dtype wide_dtype = wide(x.dtype());
  const Shape shape{n, c, l, 1}, per_channel{1, c, 1, 1};
  return {spatial ? api::cudnn_batch_norm_spatial : api::cudnn_batch_norm_per_activation,
          layout,
          x.dtype(),
          wide_dtype,
          statistics,
          tensor_descriptor(cudnn_type(x.dtype()), shape, packed_strides(shape, layout)),
          tensor_descriptor(cudnn_type(wide_dtype), per_channel, packed_strides(per_channel, Layout::contiguous))};
}

// Returns a parameter with one element per channel, in the shape and the dtype of the statistics.
Array parameter(const Array& a, const Problem& p) {
  return packed(astype(broadcast_to(a, p.statistics), p.statistics_dtype));
}
Array new_parameter(const Array& near, const Problem& p) {
  return near.backend().empty(p.statistics, p.statistics_dtype, near.device());
}

}  // namespace

Arrays batch_normalization(const Array& x, const Array& gamma, const Array& beta, double eps, const Dims& axes) {
  const Problem p = problem_of(x, axes, true);
  const Scales scales(x.dtype());
  const Array images = in_layout(x, p.layout), scale = parameter(gamma, p), bias = parameter(beta, p);
  const Array y = empty_in(p.layout, x, x.shape(), x.dtype()), mean = new_parameter(x, p),
              inv_std = new_parameter(x, p);
  const Handle handle(x);
  CATENA_CUDNN_ENQUEUE(handle, batch_norm_training, p.mode, scales.one(), scales.zero(), p.images.get(), images->data,
                       p.images.get(), y->data, p.parameters.get(), scale->data, bias->data, 1.0, nullptr, nullptr, eps,
                       mean->data, inv_std->data);
  // cuDNN does not return the variance. It is computed from inv_std; a variance of 0 could become negative by rounding.
  const Array variance = apply(catena::kernels::maximum, {1 / (inv_std * inv_std) - eps, 0});
  return {y, mean, variance, inv_std};
}

Arrays batch_normalization_backward(const Array& x, const Array& gy, const Array& gamma, const Array& mean,
                                    const Array& inv_std, const Dims& axes) {
  const Problem p = problem_of(x, axes, true);
  const Scales scales(x.dtype());
  const Array images = in_layout(x, p.layout), given = in_layout(gy, p.layout), scale = parameter(gamma, p);
  const Array center = parameter(mean, p), inverse = parameter(inv_std, p);
  const Array gx = empty_in(p.layout, x, x.shape(), x.dtype()), ggamma = new_parameter(x, p),
              gbeta = new_parameter(x, p);
  constexpr double kUnused = 1e-5;  // eps is not used with saved statistics, but cuDNN checks it
  const Handle handle(x);
  CATENA_CUDNN_ENQUEUE(handle, batch_norm_backward, p.mode, scales.one(), scales.zero(), scales.one(), scales.zero(),
                       p.images.get(), images->data, p.images.get(), given->data, p.images.get(), gx->data,
                       p.parameters.get(), scale->data, ggamma->data, gbeta->data, kUnused, center->data,
                       inverse->data);
  return {gx, astype(ggamma, x.dtype()), astype(gbeta, x.dtype())};
}

Array fixed_batch_normalization(const Array& x, const Array& gamma, const Array& beta, const Array& mean,
                                const Array& var, double eps) {
  // The normalized axes follow from the common shape of the parameters.
  Dims axes;
  for (int axis = 0; axis < x.ndim(); ++axis) {
    const auto length = [&](const Array& a) {
      const int at = axis - (x.ndim() - a.ndim());
      return at < 0 ? 1 : a.shape(at);
    };
    if (length(gamma) == 1 && length(beta) == 1 && length(mean) == 1 && length(var) == 1) axes.push_back(axis);
  }
  const Problem p = problem_of(x, axes, false);
  const Scales scales(x.dtype());
  const Array images = in_layout(x, p.layout), scale = parameter(gamma, p), bias = parameter(beta, p);
  const Array center = parameter(mean, p), variance = parameter(var, p),
              y = empty_in(p.layout, x, x.shape(), x.dtype());
  const Handle handle(x);
  CATENA_CUDNN_ENQUEUE(handle, batch_norm_inference, p.mode, scales.one(), scales.zero(), p.images.get(), images->data,
                       p.images.get(), y->data, p.parameters.get(), scale->data, bias->data, center->data,
                       variance->data, eps);
  return y;
}

}  // namespace autograd::internal::cudnn
