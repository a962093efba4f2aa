// Uses functions that cuDNN 9 marks as deprecated: on an H100, the heuristics of cuDNN 9.19 have no engine for a graph
// of batch normalization in training, in any dtype or layout, and reject a graph of inference.
#include <catena/autograd/ndarray_backend/cudnn/normalization.h>

#include <algorithm>
#include <limits>
#include <optional>

#include <catena/autograd/backend/backend.h>
#include <catena/autograd/ndarray_backend/cudnn/arrays.h>
#include <catena/autograd/nn_extension/layout.h>
#include <catena/kernels/registry/families.h>
#include <catena/ndarray/engine/execute.h>

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
  if (!library().has_batch_norm) throw NotSupported{};
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

// ---- channels innermost ----
// For 16-bit images with the channels innermost, the functions with workspaces have kernels that read the images
// fewer times. Their mode also has kernels for other images, but those are less accurate.
constexpr int kPersistent = api::cudnn_batch_norm_spatial_persistent;
constexpr std::int64_t kChannelsTogether = 4;  // the number of channels must be a multiple of it

bool suits_persistent(const Array& x, const Problem& p) {
  return p.mode == api::cudnn_batch_norm_spatial && p.layout == Layout::channels_last &&
         catena::itemsize(x.dtype()) == 2 && x.shape(1) % kChannelsTogether == 0;
}

void* data_of(const Array& a) { return a ? static_cast<void*>(a->data) : nullptr; }
std::size_t bytes_of(const Array& a) { return a ? static_cast<std::size_t>(a.size()) : 0; }

// The memory of these functions. `used` is false if they do not support the problem.
struct Spaces {
  bool used = false;
  Array workspace, reserve;  // uint8; null: 0 bytes

  // `get_workspace` asks for the size of the workspace. The reserve is new or, for gradients, as it was written.
  template <class F>
  Spaces(const Handle& handle, const Array& x, const Problem& p, F&& get_workspace,
         const std::optional<Array>& written = {}) {
    if (!suits_persistent(x, p)) return;
    std::size_t work = 0, kept = 0;
    try {
      get_workspace(api::cudnn_batch_norm_only, &work);
      CATENA_CUDNN(get_batch_norm_reserve, handle.get(), kPersistent, api::cudnn_batch_norm_only, nullptr,
                   p.images.get(), &kept);
    } catch (const NotSupported&) {
      return;
    }
    if (written && bytes_of(*written) != kept) return;
    const auto space = [&](std::size_t bytes) {
      return bytes == 0 ? Array() : x.backend().empty({std::int64_t(bytes)}, Dtype::uint8, x.device());
    };
    workspace = space(work);
    reserve = written ? *written : space(kept);
    if (written && reserve) record_use(reserve);
    used = true;
  }
};

// ---- moving averages ----
// The averages that cuDNN moves: decay * average + (1 - decay) * statistic, where the variance is multiplied by
// n / (n - 1). For n = 1 this is undefined.
class Averages {
 public:
  Averages(const BatchStatistics& s, double count) : used_(s.moving_mean && count > 1), s_(s) {}
  bool used() const { return used_; }
  double factor() const { return used_ ? 1 - s_.decay : 1.0; }
  void* mean() const { return used_ ? data_of(s_.moving_mean) : nullptr; }
  void* variance() const { return used_ ? data_of(s_.moving_variance) : nullptr; }
  // Calls run(), which writes them.
  template <class F> void write_on(nd::StreamRef stream, F&& run) const {
    if (!used_) return run();
    const catena::ArrayHeader* const written[] = {s_.moving_mean.get(), s_.moving_variance.get()};
    nd::internal::launch_on(stream, {}, written, run);
  }

 private:
  bool used_;
  const BatchStatistics& s_;
};

}  // namespace

Arrays batch_normalization(const Array& x, const Array& gamma, const Array& beta, double eps, const Dims& axes,
                           const BatchStatistics& statistics) {
  const Problem p = problem_of(x, axes, true);
  const Scales scales(x.dtype());
  const Array images = in_layout(x, p.layout), scale = parameter(gamma, p), bias = parameter(beta, p);
  const Array y = empty_in(p.layout, x, x.shape(), x.dtype()), mean = new_parameter(x, p),
              inv_std = new_parameter(x, p);
  const double count = double(x.size()) / double(mean.size());
  const Averages averages(statistics, count);
  const Handle handle(x);
  const Spaces spaces(handle, x, p, [&](int operations, std::size_t* bytes) {
    CATENA_CUDNN(get_batch_norm_training_workspace, handle.get(), kPersistent, operations, p.images.get(), nullptr,
                 p.images.get(), p.parameters.get(), nullptr, bytes);
  });
  averages.write_on(handle.stream(), [&] {
    if (spaces.used)
      CATENA_CUDNN_ENQUEUE(handle, batch_norm_training_ex, kPersistent, api::cudnn_batch_norm_only, scales.one(),
                           scales.zero(), p.images.get(), images->data, nullptr, nullptr, p.images.get(), y->data,
                           p.parameters.get(), scale->data, bias->data, averages.factor(), averages.mean(),
                           averages.variance(), eps, mean->data, inv_std->data, nullptr, data_of(spaces.workspace),
                           bytes_of(spaces.workspace), data_of(spaces.reserve), bytes_of(spaces.reserve));
    else
      CATENA_CUDNN_ENQUEUE(handle, batch_norm_training, p.mode, scales.one(), scales.zero(), p.images.get(),
                           images->data, p.images.get(), y->data, p.parameters.get(), scale->data, bias->data,
                           averages.factor(), averages.mean(), averages.variance(), eps, mean->data, inv_std->data);
  });
  Array variance;
  if (statistics.variance || (statistics.moving_mean && !averages.used()))
    // cuDNN does not return the variance. It is computed from inv_std; a variance of 0 could become negative by
    // rounding.
    variance = apply(catena::kernels::maximum, {1 / (inv_std * inv_std) - eps, 0});
  if (!averages.used()) move_averages(statistics, mean, variance, count);
  Arrays made{y, mean, variance, inv_std};
  if (spaces.reserve) made.push_back(spaces.reserve);
  return made;
}

Arrays batch_normalization_backward(const Array& x, const Array& gy, const Array& gamma, const Array& mean,
                                    const Array& inv_std, const Dims& axes, const Array& reserve) {
  const Problem p = problem_of(x, axes, true);
  const Scales scales(x.dtype());
  const Array images = in_layout(x, p.layout), given = in_layout(gy, p.layout), scale = parameter(gamma, p);
  const Array center = parameter(mean, p), inverse = parameter(inv_std, p);
  const Array gx = empty_in(p.layout, x, x.shape(), x.dtype()), ggamma = new_parameter(x, p),
              gbeta = new_parameter(x, p);
  constexpr double kUnused = 1e-5;  // eps is not used with saved statistics, but cuDNN checks it
  const Handle handle(x);
  const Spaces spaces(
      handle, x, p,
      [&](int operations, std::size_t* bytes) {
        CATENA_CUDNN(get_batch_norm_backward_workspace, handle.get(), kPersistent, operations, p.images.get(),
                     p.images.get(), p.images.get(), nullptr, p.images.get(), p.parameters.get(), nullptr, bytes);
      },
      reserve);
  if (spaces.used)
    CATENA_CUDNN_ENQUEUE(handle, batch_norm_backward_ex, kPersistent, api::cudnn_batch_norm_only, scales.one(),
                         scales.zero(), scales.one(), scales.zero(), p.images.get(), images->data, nullptr, nullptr,
                         p.images.get(), given->data, nullptr, nullptr, p.images.get(), gx->data, p.parameters.get(),
                         scale->data, nullptr, ggamma->data, gbeta->data, kUnused, center->data, inverse->data, nullptr,
                         data_of(spaces.workspace), bytes_of(spaces.workspace), data_of(spaces.reserve),
                         bytes_of(spaces.reserve));
  else
    CATENA_CUDNN_ENQUEUE(handle, batch_norm_backward, p.mode, scales.one(), scales.zero(), scales.one(), scales.zero(),
                         p.images.get(), images->data, p.images.get(), given->data, p.images.get(), gx->data,
                         p.parameters.get(), scale->data, ggamma->data, gbeta->data, kUnused, center->data,
                         inverse->data);
  return {gx, astype(ggamma, gamma.dtype()), astype(gbeta, gamma.dtype())};
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
