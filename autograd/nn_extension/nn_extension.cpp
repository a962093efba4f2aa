// Checks and dtypes of NnExtension; those of recurrent networks are in recurrent.cpp.
#include <catena/autograd/nn_extension.h>

#include <algorithm>

#include <catena/autograd/array.h>
#include <catena/autograd/backend/backend.h>
#include <catena/autograd/config.h>
#include <catena/autograd/nn_extension/convolution.h>
#include <catena/autograd/nn_extension/layout.h>
#include <catena/autograd/nn_extension/window_program.h>
#include <catena/kernels/base/view_layout.h>

namespace autograd {
namespace {

using catena::AssertionError;
using catena::check;
using catena::TypeError;
using catena::ValueError;
using internal::image_shape;
using internal::spatial_of;
using Pass = Convolution::Pass;

thread_local constinit std::string_view last_used{};

// Python's floor division; b > 0.
std::int64_t floor_divide(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0); }

void check_positive(const char* op, const Dims& v, const char* what, std::int64_t least) {
  for (std::int64_t n : v) check<ValueError>(n >= least, op, what, " ", v, " must be at least ", least);
}

int spatial_rank(const char* op, const Array& x) {
  check<ValueError>(bool(x) && x.ndim() >= 3, op, "the array must have shape (N, C, spatial...), it has ",
                    x ? x.shape() : Shape());
  check<TypeError>(catena::is_floating(x.dtype()), op, "the dtype must be floating, it is ", x.dtype());
  return x.ndim() - 2;
}

void check_output(const char* op, const Dims& out) {
  if (out.size() == 2) {
    check<AssertionError>(out[0] > 0, op, "Height in the output should be positive, it is ", out[0]);
    check<AssertionError>(out[1] > 0, op, "Width in the output should be positive, it is ", out[1]);
  }
  for (std::int64_t n : out) check<AssertionError>(n > 0, op, "Output sizes should be positive, they are ", out);
}

// Returns the spec with all entries checked and one dilation per axis.
ConvolutionSpec checked(const char* op, const ConvolutionSpec& given, int rank) {
  ConvolutionSpec spec = given;
  if (spec.dilate.empty()) spec.dilate = Dims::filled(rank, 1);
  check<ValueError>(spec.stride.size() == rank && spec.pad.size() == rank && spec.dilate.size() == rank, op, "stride ",
                    spec.stride, ", pad ", spec.pad, " and dilate ", spec.dilate, " need one entry for each of ", rank,
                    " spatial axes");
  check_positive(op, spec.stride, "stride", 1);
  check_positive(op, spec.pad, "pad", 0);
  check_positive(op, spec.dilate, "dilate", 1);
  check<ValueError>(spec.groups >= 1, op, "groups ", spec.groups, " must be at least 1");
  return spec;
}

void check_pooling(const char* op, const PoolingSpec& spec, int rank) {
  check<ValueError>(spec.size.size() == rank && spec.stride.size() == rank && spec.pad.size() == rank, op, "size ",
                    spec.size, ", stride ", spec.stride, " and pad ", spec.pad, " need one entry for each of ", rank,
                    " spatial axes");
  check_positive(op, spec.size, "size", 1);
  check_positive(op, spec.stride, "stride", 1);
  check_positive(op, spec.pad, "pad", 0);
  constexpr std::int64_t kMost = std::int64_t(1) << 30;  // positions in a window are numbers of 32 bits
  for (int i = 0; i < rank; ++i)
    check<ValueError>(std::max({spec.size[i], spec.stride[i], spec.pad[i]}) <= kMost, op, "size ", spec.size,
                      ", stride ", spec.stride, " and pad ", spec.pad, " must be at most ", kMost);
}

Dims convolution_outsize(const Dims& spatial, const Dims& kernel, const ConvolutionSpec& spec) {
  Dims out;
  for (int i = 0; i < spatial.size(); ++i)
    out.push_back(get_conv_outsize(spatial[i], kernel[i], spec.stride[i], spec.pad[i], spec.cover_all, spec.dilate[i]));
  return out;
}

Dims pooling_outsize(const char* op, const Array& x, const PoolingSpec& spec) {
  check_pooling(op, spec, spatial_rank(op, x));
  Dims out;
  for (int i = 0; i < spec.size.size(); ++i)
    out.push_back(get_conv_outsize(x.shape(i + 2), spec.size[i], spec.stride[i], spec.pad[i], spec.cover_all));
  check_output(op, out);
  return out;
}

// True for 16-bit pooling over more than two axes: it is computed on columns, and 16-bit sums would round after every
// tap.
bool needs_wider(const Array& x) { return x.ndim() > 4 && catena::itemsize(x.dtype()) < 4; }

}  // namespace

std::int64_t get_conv_outsize(std::int64_t size, std::int64_t k, std::int64_t s, std::int64_t p, bool cover_all,
                              std::int64_t d) {
  const std::int64_t room = size + 2 * p - (k + (k - 1) * (d - 1));
  return floor_divide(cover_all ? room + s - 1 : room, s) + 1;
}

std::int64_t get_deconv_outsize(std::int64_t size, std::int64_t k, std::int64_t s, std::int64_t p, bool cover_all) {
  return cover_all ? s * (size - 1) + k - s + 1 - 2 * p : s * (size - 1) + k - 2 * p;
}

std::string_view last_implementation() noexcept { return last_used; }
void set_last_implementation(std::string_view name) noexcept { last_used = name; }

NnExtension::~NnExtension() = default;

NnExtension& portable_nn_extension() {
  static NnExtension& portable = *new NnExtension;
  return portable;
}

NnExtension& nn_extension(const Array& x, std::optional<bool> use_cudnn) {
  if (x.device().kind == Device::Kind::cuda && !use_cudnn.value_or(internal::cudnn_modes().uses_cudnn()))
    return portable_nn_extension();
  NnExtension* own = x.backend().extension<NnExtension>(x.device());
  return own ? *own : portable_nn_extension();
}

// ---- products -----------------------------------------------------------------------------------
Array NnExtension::linear(const Array& x, const Array& w, const Array& b) {
  constexpr const char* op = "linear";
  const Array operands[] = {x, w, b};
  check_same_device(op, operands);
  check<ValueError>(bool(x) && bool(w) && x.ndim() == 2 && w.ndim() == 2 && x.shape(1) == w.shape(1), op, "the input ",
                    x ? x.shape() : Shape(), " does not fit the weights ", w ? w.shape() : Shape());
  check<ValueError>(!b || (b.ndim() == 1 && b.shape(0) == w.shape(0)), op, "the bias ", b ? b.shape() : Shape(),
                    " does not fit the weights ", w.shape());
  check<TypeError>(x.dtype() == w.dtype() && (!b || b.dtype() == x.dtype()), op, "the input is ", x.dtype(),
                   ", the weights are ", w.dtype(), ": they need one dtype, the bias too");
  return do_linear(x, w, b);
}

Array NnExtension::do_linear(const Array& x, const Array& w, const Array& b) {
  Array y = matmul(x, w, false, true);
  if (b) y += b;
  set_last_implementation("portable");
  return y;
}

// ---- convolution --------------------------------------------------------------------------------
Array NnExtension::do_convolution(const Convolution& c) {
  const Array result = internal::portable_convolution(c);
  set_last_implementation("portable");
  return result;
}

Array NnExtension::convolution(const Array& x, const Array& w, const Array& b, const ConvolutionSpec& given) {
  constexpr const char* op = "convolution";
  const int rank = spatial_rank(op, x);
  const ConvolutionSpec spec = checked(op, given, rank);
  const Array operands[] = {x, w, b};
  check_same_device(op, operands);
  check<ValueError>(
      bool(w) && w.ndim() == x.ndim() && w.shape(1) * spec.groups == x.shape(1) && w.shape(0) % spec.groups == 0, op,
      "the filter ", w ? w.shape() : Shape(), " with ", spec.groups, " groups does not fit the input ", x.shape());
  check<ValueError>(!b || (b.ndim() == 1 && b.shape(0) == w.shape(0)), op, "the bias ", b ? b.shape() : Shape(),
                    " does not fit the filter ", w.shape());
  const Dims out = convolution_outsize(spatial_of(x.shape()), spatial_of(w.shape()), spec);
  check_output(op, out);
  const Dtype t = catena::promote_types(x.dtype(), w.dtype());
  const Shape y_shape = image_shape(x.shape(0), w.shape(0), out);
  return astype(do_convolution({Pass::forward, spec, x.shape(), w.shape(), y_shape, astype(x, t), astype(w, t), Array(),
                                b ? astype(b, t) : b}),
                x.dtype());
}

Array NnExtension::convolution_backward_data(const Array& w, const Array& gy, const Dims& spatial,
                                             const ConvolutionSpec& given) {
  constexpr const char* op = "convolution_backward_data";
  const int rank = spatial_rank(op, gy);
  const ConvolutionSpec spec = checked(op, given, rank);
  const Array operands[] = {w, gy};
  check_same_device(op, operands);
  check<ValueError>(bool(w) && w.ndim() == gy.ndim() && w.shape(0) == gy.shape(1) && w.shape(0) % spec.groups == 0 &&
                        spatial.size() == rank,
                    op, "the filter ", w ? w.shape() : Shape(), " with ", spec.groups,
                    " groups does not fit the gradient ", gy.shape());
  check_positive(op, spatial, "the input size", 0);
  const Dims out = convolution_outsize(spatial, spatial_of(w.shape()), spec);
  check<ValueError>(out == spatial_of(gy.shape()), op, "an input of size ", spatial, " gives ", out,
                    ", the gradient has ", spatial_of(gy.shape()));
  const Dtype t = catena::promote_types(gy.dtype(), w.dtype());
  const Shape x_shape = image_shape(gy.shape(0), w.shape(1) * spec.groups, spatial);
  return astype(
      do_convolution({Pass::data, spec, x_shape, w.shape(), gy.shape(), Array(), astype(w, t), astype(gy, t), Array()}),
      gy.dtype());
}

Array NnExtension::convolution_backward_filter(const Array& x, const Array& gy, const Dims& kernel, Dtype dtype,
                                               const ConvolutionSpec& given) {
  constexpr const char* op = "convolution_backward_filter";
  const int rank = spatial_rank(op, x);
  const ConvolutionSpec spec = checked(op, given, rank);
  const Array operands[] = {x, gy};
  check_same_device(op, operands);
  check<ValueError>(bool(gy) && gy.ndim() == x.ndim() && gy.shape(0) == x.shape(0) && kernel.size() == rank &&
                        x.shape(1) % spec.groups == 0 && gy.shape(1) % spec.groups == 0,
                    op, "the gradient ", gy ? gy.shape() : Shape(), " does not fit the input ", x.shape(), " with ",
                    spec.groups, " groups");
  const Dims out = convolution_outsize(spatial_of(x.shape()), kernel, spec);
  check<ValueError>(out == spatial_of(gy.shape()), op, "a filter of size ", kernel, " gives ", out,
                    ", the gradient has ", spatial_of(gy.shape()));
  Dtype t = catena::promote_types(x.dtype(), gy.dtype());
  if (catena::itemsize(t) < 4 && catena::itemsize(dtype) >= 4)
    t = Dtype::float32;  // a wider result must not be rounded to 16 bits first
  const Shape w_shape = image_shape(gy.shape(1), x.shape(1) / spec.groups, kernel);
  return astype(do_convolution({Pass::filter, spec, x.shape(), w_shape, gy.shape(), astype(x, t), Array(),
                                astype(gy, t), Array()}),
                dtype);
}

// ---- pooling ------------------------------------------------------------------------------------
Arrays NnExtension::max_pooling(const Array& x, const PoolingSpec& spec) {
  const Dims out = pooling_outsize("max_pooling", x, spec);
  if (!needs_wider(x)) return do_max_pooling(x, spec, out);
  Arrays y = do_max_pooling(astype(x, Dtype::float32), spec, out);
  y[0] = astype(y[0], x.dtype());
  return y;
}

Array NnExtension::max_pooling_values(const Array& x, const PoolingSpec& spec) {
  const Dims out = pooling_outsize("max_pooling", x, spec);
  if (!needs_wider(x)) return do_max_pooling_values(x, spec, out);
  return astype(do_max_pooling_values(astype(x, Dtype::float32), spec, out), x.dtype());
}

Array NnExtension::max_pooling_backward(const Array& gy, const Array& indexes, const Dims& spatial,
                                        const PoolingSpec& spec) {
  constexpr const char* op = "max_pooling_backward";
  check_pooling(op, spec, spatial_rank(op, gy));
  check<ValueError>(indexes.shape() == gy.shape() && spatial.size() == spec.size.size(), op, "indexes ",
                    indexes.shape(), " do not fit the gradient ", gy.shape());
  if (!needs_wider(gy)) return do_max_pooling_backward(gy, indexes, spatial, spec);
  return astype(do_max_pooling_backward(astype(gy, Dtype::float32), indexes, spatial, spec), gy.dtype());
}

Array NnExtension::max_pooling_by_index(const Array& x, const Array& indexes, const PoolingSpec& spec) {
  constexpr const char* op = "max_pooling_by_index";
  check_pooling(op, spec, spatial_rank(op, x));
  check<ValueError>(indexes.ndim() == x.ndim() && indexes.shape(0) == x.shape(0) && indexes.shape(1) == x.shape(1), op,
                    "indexes ", indexes.shape(), " do not fit the input ", x.shape());
  return do_max_pooling_by_index(x, indexes, spec);
}

Array NnExtension::average_pooling(const Array& x, const PoolingSpec& spec) {
  const Dims out = pooling_outsize("average_pooling", x, spec);
  if (!needs_wider(x)) return do_average_pooling(x, spec, out);
  return astype(do_average_pooling(astype(x, Dtype::float32), spec, out), x.dtype());
}

Array NnExtension::average_pooling_backward(const Array& gy, const Dims& spatial, const PoolingSpec& spec) {
  constexpr const char* op = "average_pooling_backward";
  check_pooling(op, spec, spatial_rank(op, gy));
  check<ValueError>(spatial.size() == spec.size.size(), op, "the input size ", spatial, " does not fit the gradient ",
                    gy.shape());
  if (!needs_wider(gy)) return do_average_pooling_backward(gy, spatial, spec);
  return astype(do_average_pooling_backward(astype(gy, Dtype::float32), spatial, spec), gy.dtype());
}

// ---- batch normalisation ------------------------------------------------------------------------
namespace {
// Returns the dtype of parameters for x: float32 if x has 16-bit elements and all given parameters are float32.
Dtype parameter_dtype(const Array& x, std::initializer_list<Array> given) {
  const bool wide = catena::itemsize(x.dtype()) == 2 &&
                    std::all_of(given.begin(), given.end(), [](const Array& a) { return a.dtype() == Dtype::float32; });
  return wide ? Dtype::float32 : x.dtype();
}
}  // namespace

Arrays NnExtension::batch_normalization(const Array& x, const Array& gamma, const Array& beta, double eps,
                                        const Dims& axes, const BatchStatistics& statistics) {
  const Array operands[] = {x, gamma, beta};
  check_same_device("batch_normalization", operands);
  const Dtype t = parameter_dtype(x, {gamma, beta});
  return do_batch_normalization(x, astype(gamma, t), astype(beta, t), eps, axes, statistics);
}

Arrays NnExtension::batch_normalization_backward(const Array& x, const Array& gy, const Array& gamma, const Array& mean,
                                                 const Array& inv_std, const Dims& axes, const Array& reserve) {
  const Array operands[] = {x, gy, gamma, mean, inv_std};
  check_same_device("batch_normalization_backward", operands);
  return do_batch_normalization_backward(x, internal::astype_in_order(gy, x.dtype()),
                                         astype(gamma, parameter_dtype(x, {gamma})), mean, inv_std, axes, reserve);
}

Array NnExtension::fixed_batch_normalization(const Array& x, const Array& gamma, const Array& beta, const Array& mean,
                                             const Array& var, double eps) {
  const Array operands[] = {x, gamma, beta, mean, var};
  check_same_device("fixed_batch_normalization", operands);
  const Dtype t = parameter_dtype(x, {gamma, beta, mean, var});
  return do_fixed_batch_normalization(x, astype(gamma, t), astype(beta, t), astype(mean, t), astype(var, t), eps);
}

// ---- images -------------------------------------------------------------------------------------
namespace {

// Returns the axes in the order of memory; nothing for C order, and where the elements are not dense.
std::optional<Dims> memory_order(const Array& a) {
  if (a.is_c_contiguous()) return {};
  return catena::dense_order(a.shape(), a.strides(), catena::itemsize(a.dtype()));
}

}  // namespace

Array internal::empty_in_order_of(const Array& a, Dtype dtype) {
  const auto order = memory_order(a);
  if (!order) return a.backend().empty(a.shape(), dtype, a.device());
  return transpose(a.backend().empty(transpose(a, *order).shape(), dtype, a.device()), catena::inverse_axes(*order));
}

Array internal::astype_in_order(const Array& a, Dtype dtype) {
  if (a.dtype() == dtype) return a;
  const auto order = memory_order(a);
  if (!order) return astype(a, dtype);
  // In the order of memory, one loop reads and writes all elements.
  return transpose(astype(transpose(a, *order), dtype), catena::inverse_axes(*order));
}

Array internal::empty_images(const Array& near, const Shape& shape, Dtype dtype, bool channels_last) {
  if (!channels_last) return near.backend().empty(shape, dtype, near.device());
  Shape memory = shape;
  memory.erase(1);
  memory.push_back(shape[1]);
  return transpose(near.backend().empty(memory, dtype, near.device()),
                   catena::rolled_axes("empty_images", -1, 1, shape.size()));
}

Array internal::without_padding(const Array& padded, const Dims& spatial, const Dims& pad) {
  Array view = padded;
  for (int i = 0; i < spatial.size(); ++i) view = slice(view, i + 2, pad[i], pad[i] + spatial[i]);
  return view;
}

// ---- columns ------------------------------------------------------------------------------------
namespace {

// Returns x with padding of value `outside`, up to the ends of the windows.
Array padded_with(const Scalar& outside, const Array& x, const Dims& kernel, const ConvolutionSpec& spec,
                  const Dims& out) {
  Shape shape = x.shape();
  for (int i = 0; i < out.size(); ++i)
    shape[i + 2] = (kernel[i] - 1) * spec.dilate[i] + (out[i] - 1) * spec.stride[i] + 1;
  const Array padded = arrays::full(shape, outside, x.dtype(), x.device());
  Array to = padded, from = x;
  for (int i = 0; i < out.size(); ++i) {
    const std::int64_t most = shape[i + 2], start = std::min(spec.pad[i], most);
    const std::int64_t stop = std::min(spec.pad[i] + x.shape(i + 2), most);
    to = slice(to, i + 2, start, stop);
    from = slice(from, i + 2, 0, stop - start);
  }
  assign(to, from);
  return padded;
}

}  // namespace

Array NnExtension::im2col(const Array& x, const Dims& kernel, const ConvolutionSpec& given, const Scalar& outside) {
  const int rank = spatial_rank("im2col", x);
  const ConvolutionSpec spec = checked("im2col", given, rank);
  check<ValueError>(kernel.size() == rank, "im2col", "the kernel ", kernel, " needs one entry for each of ", rank,
                    " spatial axes");
  check_positive("im2col", kernel, "the kernel", 1);
  const Dims out = convolution_outsize(spatial_of(x.shape()), kernel, spec);
  check_output("im2col", out);
  if (outside.to_double() == 0) return do_im2col(x, kernel, spec, out);
  ConvolutionSpec unpadded = spec;
  unpadded.pad = Dims::filled(rank, 0);
  unpadded.cover_all = false;
  return do_im2col(padded_with(outside, x, kernel, spec, out), kernel, unpadded, out);
}

Array NnExtension::col2im(const Array& col, const Dims& spatial, const ConvolutionSpec& given) {
  const int rank = spatial.size();
  check<ValueError>(bool(col) && col.ndim() == 2 + 2 * rank, "col2im", "columns ", col ? col.shape() : Shape(),
                    " do not fit images of ", spatial);
  const ConvolutionSpec spec = checked("col2im", given, rank);
  check_positive("col2im", spatial, "the image size", 0);
  if (rank <= 2 || catena::itemsize(col.dtype()) >= 4) return do_col2im(col, spatial, spec);
  return astype(do_col2im(astype(col, Dtype::float32), spatial, spec), col.dtype());
}

}  // namespace autograd
