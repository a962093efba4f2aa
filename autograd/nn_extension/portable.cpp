// Portable pooling, batch normalization and im2col of NnExtension. One and two spatial axes are computed by indexed
// kernels, more by strided views.
#include <algorithm>
#include <limits>
#include <optional>

#include <catena/autograd/array.h>
#include <catena/autograd/backend/backend.h>
#include <catena/autograd/nn_extension.h>
#include <catena/autograd/nn_extension/convolution.h>
#include <catena/autograd/nn_extension/layout.h>
#include <catena/autograd/nn_extension/window_program.h>
#include <catena/kernels/base/view_layout.h>
#include <catena/kernels/registry/families.h>

namespace autograd {
namespace {

void ran() { set_last_implementation("portable"); }

// Adds an axis of height 1 for one spatial axis: (N, C, W) becomes (N, C, 1, W), (N, C, K, O) becomes (N, C, 1, K, 1,
// O).
Array lifted(const Array& x) { return expand_dims(x, 2); }
Array lifted_columns(const Array& col) { return expand_dims(expand_dims(col, 2), 4); }
Dims lifted(const Dims& d, std::int64_t first) { return {first, d[0]}; }
PoolingSpec lifted(const PoolingSpec& s) {
  return {lifted(s.size, 1), lifted(s.stride, 1), lifted(s.pad, 0), s.cover_all};
}
ConvolutionSpec lifted(const ConvolutionSpec& s) {
  return {lifted(s.stride, 1), lifted(s.pad, 0), lifted(s.dilate, 1), s.groups, s.cover_all, s.deterministic};
}
Array flattened(const Array& x) { return squeeze(x, 2); }

// Returns a new array on the device of x, of shape (n, c, spatial...).
Array near(const Array& x, const Dims& spatial, Dtype dtype) {
  return x.backend().empty(internal::image_shape(x.shape(0), x.shape(1), spatial), dtype, x.device());
}

Dims lengths_of(const Array& x, int first, int count) {
  return Dims(std::span<const std::int64_t>(x.shape().data() + first, std::size_t(count)));
}

// ---- any number of spatial axes -----------------------------------------------------------------
// Returns the elements that a tap reads: padded[start : start + step * out : step] along every spatial axis.
Array tap(const Array& padded, const Dims& at, const ConvolutionSpec& spec, const Dims& out) {
  Array view = padded;
  for (int i = 0; i < at.size(); ++i) {
    const std::int64_t start = at[i] * spec.dilate[i];
    view = slice(view, i + 2, start, start + (out[i] - 1) * spec.stride[i] + 1, spec.stride[i]);
  }
  return view;
}

// Calls f(position) for every position of the kernel in C order.
template <class F> void for_each_tap(const Dims& size, F&& f) {
  Dims at = Dims::filled(size.size(), 0);
  for (std::int64_t i = 0, n = catena::size_of(size); i < n; ++i) {
    f(at);
    for (int axis = size.size() - 1; axis >= 0 && ++at[axis] == size[axis]; --axis) at[axis] = 0;
  }
}

// Returns the lengths of the padded image, which includes all taps.
Dims padded_lengths(const Dims& spatial, const Dims& taps, const ConvolutionSpec& spec, const Dims& out) {
  Dims lengths;
  for (int i = 0; i < spatial.size(); ++i)
    lengths.push_back(
        std::max(spatial[i] + spec.pad[i], (taps[i] - 1) * spec.dilate[i] + (out[i] - 1) * spec.stride[i] + 1));
  return lengths;
}

// Returns the columns of tap `at`: col[:, :, at...].
Array column(const Array& col, const Dims& at) {
  Array view = col;
  for (std::int64_t k : at) {
    view = slice(view, 2, k, k + 1);
    view = squeeze(view, 2);
  }
  return view;
}

Array columns_by_views(const Array& x, const Dims& taps, const ConvolutionSpec& spec, const Dims& out,
                       const Scalar& outside) {
  const Dims spatial = lengths_of(x, 2, taps.size());
  Array padded = near(x, padded_lengths(spatial, taps, spec, out), x.dtype());
  fill(padded, outside);
  assign(internal::without_padding(padded, spatial, spec.pad), x);
  Dims shape = taps;
  for (std::int64_t n : out) shape.push_back(n);
  Array col = near(x, shape, x.dtype());
  for_each_tap(taps, [&](const Dims& at) { assign(column(col, at), tap(padded, at, spec, out)); });
  return col;
}

Array images_by_views(const Array& col, const Dims& spatial, const ConvolutionSpec& spec) {
  const int rank = spatial.size();
  const Dims taps = lengths_of(col, 2, rank), out = lengths_of(col, 2 + rank, rank);
  Array padded = near(col, padded_lengths(spatial, taps, spec, out), col.dtype());
  fill(padded, 0);
  for_each_tap(taps, [&](const Dims& at) {
    Array part = tap(padded, at, spec, out);
    part += column(col, at);
  });
  return copy(internal::without_padding(padded, spatial, spec.pad));
}

// True if strided views are faster. On the CPU one strided copy per tap is faster than the indexed kernel, which
// computes an index per element; on a GPU one launch is faster than many. 16-bit sums must not round between taps, so
// over one or two axes they use the kernel. Both add in the same order.
bool by_views(const Array& a, const Dims& taps, const Dims& out) {
  if (taps.size() > 2) return true;
  return a.device().kind == Device::Kind::cpu && catena::itemsize(a.dtype()) >= 4 &&
         a.shape(0) * a.shape(1) * catena::size_of(out) >= 256;
}

ConvolutionSpec as_convolution(const PoolingSpec& s) {
  ConvolutionSpec spec;
  spec.stride = s.stride;
  spec.pad = s.pad;
  spec.dilate = Dims::filled(s.size.size(), 1);
  spec.cover_all = s.cover_all;
  return spec;
}

// Returns the elements of all windows: (n, c, positions in the window, out...).
Array windows(const Array& x, const PoolingSpec& spec, const Dims& out, const Scalar& outside) {
  Shape shape{x.shape(0), x.shape(1), catena::size_of(spec.size)};
  for (std::int64_t n : out) shape.push_back(n);
  return reshape(columns_by_views(x, spec.size, as_convolution(spec), out, outside), shape);
}

// Returns an array that is true where the position in the window equals `indexes`.
Array is_indexed(const Array& indexes, const PoolingSpec& spec) {
  const std::int64_t count = catena::size_of(spec.size);
  std::vector<std::int32_t> numbers;
  for (std::int64_t i = 0; i < count; ++i) numbers.push_back(std::int32_t(i));
  const Array positions = indexes.backend().from_host(numbers.data(), {count}, Dtype::int32, indexes.device());
  Shape shape = Shape::filled(indexes.ndim() - 1, 1);
  shape[0] = count;
  return apply(catena::kernels::equal, {expand_dims(indexes, 2), reshape(positions, shape)});
}

Array unwindowed(const Array& values, const Dims& spatial, const PoolingSpec& spec) {
  Shape shape = internal::image_shape(values.shape(0), values.shape(1), spec.size);
  for (int i = 3; i < values.ndim(); ++i) shape.push_back(values.shape(i));
  return images_by_views(reshape(values, shape), spatial, as_convolution(spec));
}

}  // namespace

// ---- pooling ------------------------------------------------------------------------------------
Arrays NnExtension::do_max_pooling(const Array& x, const PoolingSpec& spec, const Dims& out) {
  if (internal::has_window_program(x, lengths_of(x, 2, out.size()), spec, out)) {
    ran();
    return internal::max_pooling_program(x, spec, out);
  }
  if (out.size() == 1) {
    const Arrays y = do_max_pooling(lifted(x), lifted(spec), lifted(out, 1));
    return {flattened(y[0]), flattened(y[1])};
  }
  if (out.size() > 2) {
    const Array col = windows(x, spec, out, -std::numeric_limits<double>::infinity());
    ran();
    return {amax(col, 2), astype(reduce(catena::kernels::argmax, col, 2), Dtype::int32)};
  }
  const Arrays y{near(x, out, x.dtype()), near(x, out, Dtype::int32)};
  const Operand in[] = {x, spec.size[0], spec.size[1], spec.stride[0], spec.stride[1], spec.pad[0], spec.pad[1]};
  apply_indexed(catena::kernels::max_pool_2d, in, y);
  ran();
  return y;
}

Array NnExtension::do_max_pooling_values(const Array& x, const PoolingSpec& spec, const Dims& out) {
  if (!internal::has_window_program(x, lengths_of(x, 2, out.size()), spec, out)) return do_max_pooling(x, spec, out)[0];
  ran();
  return internal::max_pooling_values_program(x, spec, out);
}

Array NnExtension::do_max_pooling_backward(const Array& gy, const Array& indexes, const Dims& spatial,
                                           const PoolingSpec& spec) {
  if (internal::has_window_program_backward(gy, spatial, spec, lengths_of(gy, 2, spatial.size()))) {
    ran();
    return internal::max_pooling_backward_program(gy, indexes, spatial, spec);
  }
  if (spatial.size() == 1)
    return flattened(do_max_pooling_backward(lifted(gy), lifted(indexes), lifted(spatial, 1), lifted(spec)));
  if (spatial.size() > 2) {
    const Array sent = where(is_indexed(indexes, spec), expand_dims(gy, 2), 0);
    ran();
    return unwindowed(sent, spatial, spec);
  }
  Array gx = near(gy, spatial, gy.dtype());
  const Operand in[] = {gy,          indexes,    spec.size[0], spec.size[1], spec.stride[0], spec.stride[1],
                        spec.pad[0], spec.pad[1]};
  apply_indexed(catena::kernels::max_pool_2d_bwd, in, {&gx, 1});
  ran();
  return gx;
}

Array NnExtension::do_max_pooling_by_index(const Array& x, const Array& indexes, const PoolingSpec& spec) {
  const int rank = spec.size.size();
  if (rank == 1) return flattened(do_max_pooling_by_index(lifted(x), lifted(indexes), lifted(spec)));
  const Dims out = lengths_of(indexes, 2, rank);
  if (rank > 2) {
    ran();
    return sum(where(is_indexed(indexes, spec), windows(x, spec, out, 0), 0), 2);
  }
  Array y = near(x, out, x.dtype());
  const Operand in[] = {x, indexes, spec.size[1], spec.stride[0], spec.stride[1], spec.pad[0], spec.pad[1]};
  apply_indexed(catena::kernels::max_pool_2d_by_index, in, {&y, 1});
  ran();
  return y;
}

Array NnExtension::do_average_pooling(const Array& x, const PoolingSpec& spec, const Dims& out) {
  if (out.size() == 1) return flattened(do_average_pooling(lifted(x), lifted(spec), lifted(out, 1)));
  if (out.size() > 2) {
    ran();
    return sum(windows(x, spec, out, 0), 2) / double(catena::size_of(spec.size));
  }
  Array y = near(x, out, x.dtype());
  const Operand in[] = {x, spec.size[0], spec.size[1], spec.stride[0], spec.stride[1], spec.pad[0], spec.pad[1]};
  apply_indexed(catena::kernels::average_pool_2d, in, {&y, 1});
  ran();
  return y;
}

Array NnExtension::do_average_pooling_backward(const Array& gy, const Dims& spatial, const PoolingSpec& spec) {
  if (spatial.size() == 1) return flattened(do_average_pooling_backward(lifted(gy), lifted(spatial, 1), lifted(spec)));
  if (spatial.size() > 2) {
    const std::int64_t count = catena::size_of(spec.size);
    Array share = expand_dims(gy / double(count), 2);
    Shape shape = share.shape();
    shape[2] = count;
    ran();
    return unwindowed(broadcast_to(share, shape), spatial, spec);
  }
  Array gx = near(gy, spatial, gy.dtype());
  const Operand in[] = {gy, spec.size[0], spec.size[1], spec.stride[0], spec.stride[1], spec.pad[0], spec.pad[1]};
  apply_indexed(catena::kernels::average_pool_2d_bwd, in, {&gx, 1});
  ran();
  return gx;
}

// ---- batch normalisation ------------------------------------------------------------------------
namespace {

// Batch normalization of channels-last arrays, in which neighbours in memory belong to different channels. A row-wise
// kernel would read every channel with a large stride. This class views the array as a matrix whose rows have several
// positions with all their channels, and runs contiguous elementwise and reduction calls on it.
class NeighbouringChannels {
 public:
  // Returns nothing if the channels are not innermost or the array is not dense.
  static std::optional<NeighbouringChannels> of(const Array& x, const Dims& axes) {
    const auto item = static_cast<std::int64_t>(catena::itemsize(x.dtype()));
    if (x.size() == 0 || item < 4) return {};
    const auto is_reduced = [&](std::int64_t axis) { return std::find(axes.begin(), axes.end(), axis) != axes.end(); };
    NeighbouringChannels c;
    for (int axis = 0; axis < x.ndim(); ++axis) c.order_.push_back(axis);
    std::stable_sort(c.order_.begin(), c.order_.end(), [&](std::int64_t a, std::int64_t b) {
      return is_reduced(a) != is_reduced(b) ? is_reduced(a) : x.strides()[int(a)] > x.strides()[int(b)];
    });
    for (int axis = 0; axis < x.ndim(); ++axis) (is_reduced(axis) ? c.positions_ : c.channels_) *= x.shape(axis);
    if (c.channels_ < 4 || !transpose(x, c.order_).is_c_contiguous()) return {};
    c.inverse_ = catena::inverse_axes(c.order_);
    const std::int64_t most = std::max<std::int64_t>(1, kRow / c.channels_);
    c.together_ = greatest_divisor(c.positions_, most);
    c.groups_ = greatest_divisor(c.positions_ / c.together_, kGroups);
    return c;
  }

  double positions() const { return double(positions_); }
  // Returns x, or an array of its shape, as (groups, rows of a group, elements of a row).
  Array matrix(const Array& x) const {
    return reshape(transpose(x, order_), {groups_, positions_ / (together_ * groups_), together_ * channels_});
  }
  Array restored(const Array& matrix, const Shape& shape) const {
    return transpose(reshape(matrix, ordered(shape)), inverse_);
  }
  // Returns the statistic, one element per channel, repeated along a row.
  Array along_row(const Array& statistic) const {
    const Array one = reshape(transpose(statistic, order_), {1, channels_});
    return reshape(broadcast_to(one, {together_, channels_}), {together_ * channels_});
  }
  // Returns the sum over all rows, from the sums of each group (groups are summed in parallel), and then over the
  // positions of a row.
  Array total(const Array& sums, const Shape& shape) const {
    return transpose(reshape(sum(reshape(sums, {groups_ * together_, channels_}), 0), ordered(shape)), inverse_);
  }

 private:
  static constexpr std::int64_t kRow = 1024, kGroups = 16;

  static std::int64_t greatest_divisor(std::int64_t n, std::int64_t most) {
    std::int64_t d = std::min(n, most);
    while (n % d != 0) --d;
    return d;
  }
  Shape ordered(const Shape& shape) const {
    Shape s;
    for (std::int64_t axis : order_) s.push_back(shape[int(axis)]);
    return s;
  }

  Dims order_, inverse_;
  std::int64_t positions_ = 1, channels_ = 1, together_ = 1, groups_ = 1;
};

// Returns {y, mean, variance, inv_std}; all arrays have one dtype.
Arrays normalized(const Array& x, const Array& gamma, const Array& beta, double eps, const Dims& axes) {
  if (const auto c = NeighbouringChannels::of(x, axes)) {
    const Array m = c->matrix(x);
    const Shape& per_channel = gamma.shape();
    const Array center = c->total(reduce(catena::kernels::sum, m, 1), per_channel) / c->positions(),
                centers = c->along_row(center);
    const Array variance =
        c->total(map_reduce(catena::kernels::sum, catena::kernels::squared_difference, {m, centers}, 1), per_channel) /
        c->positions();
    const Array inv_std = 1 / apply(catena::kernels::sqrt, {variance + eps});
    const Array y = apply(catena::kernels::batch_norm_write,
                          {m, c->along_row(gamma), c->along_row(beta), centers, c->along_row(inv_std)});
    return {c->restored(y, x.shape()), center, variance, inv_std};
  }
  const Operand in[] = {x, gamma, beta, eps};
  return row_wise(catena::kernels::batch_norm_fwd, in, axes);
}

void move_average(const Array& average, const Array& statistic, double decay, double scale) {
  average *= decay;
  average += reshape(statistic, average.shape()) * ((1 - decay) * scale);
}

}  // namespace

void internal::move_averages(const BatchStatistics& s, const Array& mean, const Array& variance, double count) {
  if (!s.moving_mean) return;
  move_average(s.moving_mean, mean, s.decay, 1.0);
  move_average(s.moving_variance, variance, s.decay, count / std::max(count - 1, 1.0));
}

Arrays NnExtension::do_batch_normalization(const Array& x, const Array& gamma, const Array& beta, double eps,
                                           const Dims& axes, const BatchStatistics& statistics) {
  if (gamma.dtype() != x.dtype()) {
    Arrays wide = NnExtension::do_batch_normalization(internal::astype_in_order(x, gamma.dtype()), gamma, beta, eps,
                                                      axes, statistics);
    wide[0] = internal::astype_in_order(wide[0], x.dtype());
    return wide;
  }
  ran();
  Arrays made = normalized(x, gamma, beta, eps, axes);
  internal::move_averages(statistics, made[1], made[2],
                          double(x.size()) / double(std::max<std::int64_t>(made[1].size(), 1)));
  return made;
}

Arrays NnExtension::do_batch_normalization_backward(const Array& x, const Array& gy, const Array& gamma,
                                                    const Array& mean, const Array& inv_std, const Dims& axes,
                                                    const Array& reserve) {
  if (gamma.dtype() != x.dtype()) {
    const Dtype wide = gamma.dtype();
    Arrays g = NnExtension::do_batch_normalization_backward(
        internal::astype_in_order(x, wide), internal::astype_in_order(gy, wide), gamma, mean, inv_std, axes, reserve);
    g[0] = internal::astype_in_order(g[0], x.dtype());
    return g;
  }
  ran();
  if (const auto c = NeighbouringChannels::of(x, axes)) {
    const Array m = c->matrix(x), gm = c->matrix(gy), centers = c->along_row(mean), scales = c->along_row(inv_std);
    const Array gbeta = c->total(reduce(catena::kernels::sum, gm, 1), gamma.shape());
    const Array ggamma =
        c->total(map_reduce(catena::kernels::sum, catena::kernels::batch_norm_ggamma, {m, gm, centers, scales}, 1),
                 gamma.shape());
    const Array gx = apply(catena::kernels::batch_norm_gx,
                           {m, gm, c->along_row(gamma), centers, scales, c->along_row(gbeta / c->positions()),
                            c->along_row(ggamma / c->positions())});
    return {c->restored(gx, x.shape()), ggamma, gbeta};
  }
  const Operand in[] = {x, gy, gamma, mean, inv_std};
  Arrays g = row_wise(catena::kernels::batch_norm_bwd, in, axes);
  for (int k = 1; k < 3; ++k) g[std::size_t(k)] = astype(g[std::size_t(k)], x.dtype());
  return g;
}

Array NnExtension::do_fixed_batch_normalization(const Array& x, const Array& gamma, const Array& beta,
                                                const Array& mean, const Array& var, double eps) {
  if (gamma.dtype() != x.dtype()) {
    const Array wide = internal::astype_in_order(x, gamma.dtype());
    return internal::astype_in_order(NnExtension::do_fixed_batch_normalization(wide, gamma, beta, mean, var, eps),
                                     x.dtype());
  }
  ran();
  // On the CPU one root and quotient per channel are faster than one per element.
  if (x.device().kind == Device::Kind::cpu && catena::itemsize(x.dtype()) >= 4)
    return apply(catena::kernels::batch_norm_write, {x, gamma, beta, mean, apply(catena::kernels::rsqrt, {var + eps})});
  return apply(catena::kernels::fixed_batch_norm, {x, gamma, beta, mean, var, eps});
}

// ---- columns ------------------------------------------------------------------------------------
Array NnExtension::do_im2col(const Array& x, const Dims& taps, const ConvolutionSpec& spec, const Dims& out) {
  ran();
  if (taps.size() == 1) {
    const Array col = do_im2col(lifted(x), lifted(taps, 1), lifted(spec), lifted(out, 1));
    return squeeze(col, {2, 4});
  }
  if (by_views(x, taps, out)) return columns_by_views(x, taps, spec, out, 0);
  Array col = x.backend().empty({x.shape(0), x.shape(1), taps[0], taps[1], out[0], out[1]}, x.dtype(), x.device());
  const Operand in[] = {x, spec.stride[0], spec.stride[1], spec.pad[0], spec.pad[1], spec.dilate[0], spec.dilate[1]};
  apply_indexed(catena::kernels::im2col_2d, in, {&col, 1});
  return col;
}

Array NnExtension::do_col2im(const Array& col, const Dims& spatial, const ConvolutionSpec& spec) {
  ran();
  if (spatial.size() == 1) return flattened(do_col2im(lifted_columns(col), lifted(spatial, 1), lifted(spec)));
  const int rank = spatial.size();
  if (by_views(col, lengths_of(col, 2, rank), lengths_of(col, 2 + rank, rank)))
    return images_by_views(col, spatial, spec);
  Array x = near(col, spatial, col.dtype());
  const Operand in[] = {col, spec.stride[0], spec.stride[1], spec.pad[0], spec.pad[1], spec.dilate[0], spec.dilate[1]};
  apply_indexed(catena::kernels::col2im_2d, in, {&x, 1});
  return x;
}

}  // namespace autograd
