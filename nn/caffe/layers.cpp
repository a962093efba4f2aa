#include <catena/nn/caffe/layers.h>

#include <algorithm>
#include <limits>

#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/operators.h>
#include <catena/nn/functions/activation.h>
#include <catena/nn/functions/loss.h>
#include <catena/nn/functions/noise.h>
#include <catena/nn/functions/normalization.h>
#include <catena/nn/functions/pooling.h>
#include <catena/nn/links/batch_normalization.h>
#include <catena/nn/links/convolution_2d.h>
#include <catena/nn/links/linear.h>
#include <catena/nn/links/scale.h>

namespace nn::links::caffe::internal {

using catena::check;
using catena::concat;
using catena::fail;
using catena::RuntimeError;
using catena::ValueError;
using Forward = CaffeFunction::Forward;

namespace {

// Limit for the elements of the dense weights of all grouped convolutions of a file, 1 GiB: dense weights are larger
// than those in the file by the number of groups. The weights of MobileNet have 3e7 elements.
constexpr std::int64_t kMaxGroupedWeights = std::int64_t(1) << 28;

// ---- forwards --------------------------------------------------------------------------------------
void check_bottoms(const Variables& bottoms, std::size_t n) {
  if (bottoms.size() != n)
    throw catena::TypeError(concat("it takes ", n, n == 1 ? " bottom" : " bottoms", ", not ", bottoms.size()));
}

// Makes a function that returns f(x), or f(net, x), for the only bottom.
template <class F> Forward unary(F f) {
  return [f](CaffeFunction& net, const Variables& bottoms) -> Variables {
    check_bottoms(bottoms, 1);
    if constexpr (std::is_invocable_v<const F&, CaffeFunction&, const Variable&>) return {f(net, bottoms[0])};
    else return {f(bottoms[0])};
  };
}
// Adds a child and returns the function that calls it.
template <class L> Forward call_child(const LayerSetup& s, L link) {
  const std::size_t index = ChildLinks::add(s.net, s.layer.name, std::move(link));
  return [index](CaffeFunction& net, const Variables& bottoms) -> Variables {
    return {ChildLinks::at(net, index).call(bottoms)};
  };
}

// ---- numbers of messages ---------------------------------------------------------------------------
int checked_int(const LayerSetup& s, const char* what, std::uint32_t value) {
  check<ValueError>(value <= std::uint32_t(std::numeric_limits<int>::max()), s.context, "its ", what, " is ", value);
  return int(value);
}
Pair checked_pair(const LayerSetup& s, const char* what, std::uint32_t h, std::uint32_t w) {
  return {checked_int(s, what, h), checked_int(s, what, w)};
}
// Returns *_h and *_w, if one of them is given, else the values of a list with one or two entries, or the default.
Pair pair_of(const LayerSetup& s, const char* what, std::uint32_t h, std::uint32_t w,
             const std::vector<std::uint32_t>& list, std::uint32_t otherwise) {
  if (h > 0 || w > 0) return checked_pair(s, what, h, w);
  check<ValueError>(list.size() <= 2, s.context, "its ", what, " has ", list.size(), " entries, of images there are 2");
  if (list.empty()) return checked_pair(s, what, otherwise, otherwise);
  return checked_pair(s, what, list.front(), list.back());
}
Pair positive(const LayerSetup& s, const char* what, Pair p) {
  check<ValueError>(p.y > 0 && p.x > 0, s.context, "its ", what, " is ", p.y, " x ", p.x);
  return p;
}

// ---- weights ---------------------------------------------------------------------------------------
// One blob of the layer, moved out of it: float32 numbers that fill the shape.
struct Weights {
  std::vector<float> values;
  Shape shape;
};

Weights weights_of(const LayerSetup& s, std::size_t i) {
  check<ValueError>(i < s.layer.blobs.size(), s.context, "it has ", s.layer.blobs.size(), " blobs of weights; blob ", i,
                    " is needed");
  Blob& blob = s.layer.blobs[i];
  std::vector<std::int64_t> dims = blob.shape.dim;
  if (blob.num != 0 || blob.channels != 0 || blob.height != 0 || blob.width != 0)
    dims = {blob.num, blob.channels, blob.height, blob.width};
  check<ValueError>(dims.size() <= std::size_t(catena::kMaxRank), s.context, "blob ", i, " has ", dims.size(),
                    " dimensions, the limit being ", catena::kMaxRank);
  Weights w{std::move(blob).values(), {}};
  std::int64_t size = 1;
  bool fits = true;
  for (const std::int64_t n : dims) {
    fits = fits && n >= 1 && !__builtin_mul_overflow(size, n, &size);
    w.shape.push_back(n);
  }
  check<ValueError>(fits && size == std::int64_t(w.values.size()), s.context, "blob ", i, " has ", w.values.size(),
                    " numbers, which do not fill its shape ", w.shape);
  return w;
}
// Returns a bias: one number per output.
Weights bias_of(const LayerSetup& s, std::size_t i, std::int64_t n) {
  Weights b = weights_of(s, i);
  check<ValueError>(std::int64_t(b.values.size()) == n, s.context, "blob ", i, " is a bias of ", b.values.size(),
                    " numbers; there are ", n, " outputs");
  return b;
}

void set_values(Parameter& to, const std::vector<float>& values, const Shape& shape) {
  to.set_data(autograd::from_host(values.data(), shape, Dtype::float32));
}
void check_child_name(const LayerSetup& s) {
  check<catena::AttributeError>(concat("/", s.layer.name, "/").find("//") == std::string::npos, s.context,
                                "its name cannot be a part of the keys of its weights");
  check<catena::AttributeError>(s.state.children.insert(s.layer.name).second, s.context,
                                "there are two layers with weights of this name");
}

// ---- layers with weights ---------------------------------------------------------------------------
// Returns the weights of a grouped convolution as those of a dense one, with 0 between groups.
std::vector<float> dense_weights(const LayerSetup& s, Weights w, std::int64_t groups) {
  if (groups == 1) return std::move(w.values);
  const std::int64_t out = w.shape[0], channels = w.shape[1], taps = w.shape[2] * w.shape[3];
  std::int64_t size = 0;
  const bool fits = !__builtin_mul_overflow(std::int64_t(w.values.size()), groups, &size) &&
                    size <= kMaxGroupedWeights - s.state.grouped_weights;
  check<ValueError>(fits, s.context, groups, " groups of weights ", w.shape,
                    " are too large as weights of one convolution (2^28 elements, all layers together)");
  s.state.grouped_weights += size;
  std::vector<float> dense(std::size_t(size), 0.0f);
  for (std::int64_t o = 0; o < out; ++o) {
    const std::int64_t group = o / (out / groups);
    std::copy_n(w.values.begin() + o * channels * taps, channels * taps,
                dense.begin() + (o * groups + group) * channels * taps);
  }
  return dense;
}

Forward convolution(const LayerSetup& s) {
  const ConvolutionParameter& p = s.layer.convolution_param;
  check<RuntimeError>(p.axis == 1, s.context, "channels along axis ", p.axis, " are not supported");
  const Pair ksize = positive(s, "kernel_size", pair_of(s, "kernel_size", p.kernel_h, p.kernel_w, p.kernel_size, 0));
  const Pair stride = positive(s, "stride", pair_of(s, "stride", p.stride_h, p.stride_w, p.stride, 1));
  const Pair pad = pair_of(s, "pad", p.pad_h, p.pad_w, p.pad, 0);
  const Pair dilate = positive(s, "dilation", pair_of(s, "dilation", 0, 0, p.dilation, 1));
  Weights w = weights_of(s, 0);
  check<ValueError>(w.shape.size() == 4 && w.shape[2] == ksize.y && w.shape[3] == ksize.x, s.context,
                    "blob 0 has the shape ", w.shape, ", the kernel is ", ksize.y, " x ", ksize.x);
  const std::int64_t out = w.shape[0], in = w.shape[1] * p.group;
  check<ValueError>(p.group >= 1 && out % p.group == 0 && out <= std::numeric_limits<int>::max(), s.context, p.group,
                    " groups do not divide the outputs of the weights ", w.shape);
  const std::vector<float> dense = dense_weights(s, std::move(w), p.group);
  check_child_name(s);
  Convolution2D link(std::nullopt, int(out), ksize,
                     {.stride = stride, .pad = pad, .dilate = dilate, .nobias = !p.bias_term});
  set_values(link.W, dense, {out, in, ksize.y, ksize.x});
  if (p.bias_term) set_values(*link.b, bias_of(s, 1, out).values, {out});
  return call_child(s, std::move(link));
}

Forward inner_product(const LayerSetup& s) {
  const InnerProductParameter& p = s.layer.inner_product_param;
  check<RuntimeError>(p.axis == 1, s.context, "the axis ", p.axis, " is not supported, only 1 is");
  const Weights w = weights_of(s, 0);
  const int rank = w.shape.size();
  check<RuntimeError>(rank == 2 || rank == 4, s.context, "weights of ", rank, " dimensions are not supported");
  const std::int64_t out = w.shape[rank - 2], in = w.shape[rank - 1];
  check<ValueError>(
      out >= 1 && in >= 1 && out <= std::numeric_limits<int>::max() && out * in == std::int64_t(w.values.size()),
      s.context, "weights of shape ", w.shape, " are no matrix");
  check_child_name(s);
  Linear link(std::nullopt, int(out), {.nobias = !p.bias_term});
  set_values(link.W, w.values, {out, in});
  if (p.bias_term) set_values(*link.b, bias_of(s, 1, out).values, {out});
  return call_child(s, std::move(link));
}

Forward batch_norm(const LayerSetup& s) {
  const BatchNormParameter& p = s.layer.batch_norm_param;
  Weights mean = weights_of(s, 0);
  const auto size = std::int64_t(mean.values.size());
  Weights var = bias_of(s, 1, size);
  check<ValueError>(size >= 1 && size <= std::numeric_limits<int>::max(), s.context, "it has ", size, " channels");
  if (s.layer.blobs.size() > 2) {  // the scale factor, by which Caffe multiplies both sums
    const float factor = bias_of(s, 2, 1).values[0];
    if (factor != 0)
      for (Weights* w : {&mean, &var})
        for (float& v : w->values) v /= factor;
  }
  check_child_name(s);
  // 1e-5 in float32 is less than the double 1e-5, the smallest number that cuDNN accepts.
  const double eps = p.eps == 1e-5f ? 1e-5 : double(p.eps);
  BatchNormalization link(int(size),
                          {.decay = p.moving_average_fraction, .eps = eps, .use_gamma = false, .use_beta = false});
  link.avg_mean = Persistent(autograd::array(mean.values, {size}));
  link.avg_var = Persistent(autograd::array(var.values, {size}));
  const std::size_t index = ChildLinks::add(s.net, s.layer.name, std::move(link));
  return unary([index, fixed = p.use_global_stats](CaffeFunction& net, const Variable& x) {
    auto& child = static_cast<BatchNormalization&>(ChildLinks::at(net, index));
    return child(x, {.test = fixed.value_or(!net.train)});
  });
}

Forward scale(const LayerSetup& s) {
  const ScaleParameter& p = s.layer.scale_param;
  check<RuntimeError>(p.axis >= 0, s.context, "the axis ", p.axis, " is not supported");
  const bool learnt = s.layer.bottom.size() == 1;  // else the second bottom is the factor
  const std::size_t bias_blob = learnt ? 1 : 0;
  ScaleOptions options{.bias_term = p.bias_term};
  Weights w, b;
  if (learnt) {
    w = weights_of(s, 0);
    options.W_shape = w.shape;
  }
  if (p.bias_term) {
    b = learnt ? bias_of(s, bias_blob, std::int64_t(w.values.size())) : weights_of(s, bias_blob);
    options.bias_shape = b.shape;
  }
  check_child_name(s);
  Scale link(p.axis, options);
  if (link.W) set_values(*link.W, w.values, w.shape);
  if (link.bias) set_values(*link.bias->b, b.values, link.bias->b->shape());
  return call_child(s, std::move(link));
}

// ---- pooling ---------------------------------------------------------------------------------------
struct PoolingGeometry {
  Pair ksize, stride, pad;
};

// Returns the number of windows along an axis as Caffe counts them: the last one may extend beyond the padding, but
// must begin inside the image or the padding before it.
std::int64_t caffe_windows(std::int64_t length, int ksize, int stride, int pad) {
  const std::int64_t covered = std::max<std::int64_t>(length + 2 * std::int64_t(pad) - ksize, 0);
  std::int64_t n = (covered + stride - 1) / stride + 1;
  if (pad > 0 && (n - 1) * stride >= length + pad) --n;
  return n;
}

void check_images(const Variable& x) {
  if (x.ndim() != 4) throw catena::InvalidType("x.ndim == 4", concat(x.ndim(), " != 4"));
}

// Returns the first h x w pixels.
Variable cropped(const Variable& y, std::int64_t h, std::int64_t w) {
  if (y.shape(2) <= h && y.shape(3) <= w) return y;
  return y(catena::ellipsis, catena::Slice(0, h), catena::Slice(0, w));
}

Variable max_pooling(const Variable& x, const PoolingGeometry& g) {
  const Variable y = max_pooling_2d(x, g.ksize, {.stride = g.stride, .pad = g.pad});
  return cropped(y, caffe_windows(x.shape(2), g.ksize.y, g.stride.y, g.pad.y),
                 caffe_windows(x.shape(3), g.ksize.x, g.stride.x, g.pad.x));
}

// Returns, for every window of an axis, its length divided by the length of its part inside the image and its padding.
std::vector<double> stretches(std::int64_t length, std::int64_t windows, int ksize, int stride, int pad) {
  std::vector<double> result;
  for (std::int64_t i = 0; i < windows; ++i) {
    const std::int64_t start = i * stride - pad;
    result.push_back(double(ksize) / double(std::min<std::int64_t>(start + ksize, length + pad) - start));
  }
  return result;
}

// Caffe divides the sum by the size of the part of the window inside the image and its padding.
Variable ceil_average_pooling(const Variable& x, const PoolingGeometry& g) {
  check_images(x);
  const std::int64_t h = x.shape(2), w = x.shape(3);
  const std::int64_t oh = caffe_windows(h, g.ksize.y, g.stride.y, g.pad.y);
  const std::int64_t ow = caffe_windows(w, g.ksize.x, g.stride.x, g.pad.x);
  const std::int64_t below = std::max<std::int64_t>((oh - 1) * g.stride.y + g.ksize.y - h - 2 * g.pad.y, 0);
  const std::int64_t beside = std::max<std::int64_t>((ow - 1) * g.stride.x + g.ksize.x - w - 2 * g.pad.x, 0);
  const bool whole = below == 0 && beside == 0;
  const Variable wide = whole ? x : autograd::pad(x, {{0, 0}, {0, 0}, {0, below}, {0, beside}});
  const Variable y = cropped(average_pooling_2d(wide, g.ksize, {.stride = g.stride, .pad = g.pad}), oh, ow);
  if (whole) return y;
  std::vector<double> factors;
  for (const double a : stretches(h, oh, g.ksize.y, g.stride.y, g.pad.y))
    for (const double b : stretches(w, ow, g.ksize.x, g.stride.x, g.pad.x)) factors.push_back(a * b);
  return y * autograd::astype(autograd::array(factors, {1, 1, oh, ow}, y.device()), y.dtype());
}

Forward pooling(const LayerSetup& s) {
  const PoolingParameter& p = s.layer.pooling_param;
  check<RuntimeError>(p.pool == PoolingParameter::max || p.pool == PoolingParameter::ave, s.context,
                      p.pool == PoolingParameter::stochastic ? "stochastic pooling" : "this method of pooling",
                      " is not supported");
  using Pool = Variable (*)(const Variable&, const PoolingGeometry&);
  Pool pool = max_pooling;
  if (p.pool == PoolingParameter::ave) {
    pool = s.options.ceil_average_pooling ? ceil_average_pooling : [](const Variable& x, const PoolingGeometry& g) {
      return average_pooling_2d(x, g.ksize, {.stride = g.stride, .pad = g.pad});
    };
  }
  if (p.global_pooling) {
    return unary([pool](const Variable& x) {
      check_images(x);
      return pool(x, {.ksize = {int(x.shape(2)), int(x.shape(3))}, .stride = 1, .pad = 0});
    });
  }
  const PoolingGeometry geometry{
      .ksize = positive(s, "kernel_size", pair_of(s, "kernel_size", p.kernel_h, p.kernel_w, {p.kernel_size}, 0)),
      .stride = positive(s, "stride", pair_of(s, "stride", p.stride_h, p.stride_w, {p.stride}, 1)),
      .pad = pair_of(s, "pad", p.pad_h, p.pad_w, {p.pad}, 0)};
  return unary([pool, geometry](const Variable& x) { return pool(x, geometry); });
}

// ---- layers without weights ------------------------------------------------------------------------
Forward concatenation(const LayerSetup& s) {
  const ConcatParameter& p = s.layer.concat_param;
  const int axis = p.axis == 1 && p.concat_dim != 1 ? checked_int(s, "concat_dim", p.concat_dim) : p.axis;
  return [axis](CaffeFunction&, const Variables& xs) -> Variables { return {autograd::concat(xs, axis)}; };
}

Forward slice(const LayerSetup& s) {
  const SliceParameter& p = s.layer.slice_param;
  const int axis = p.axis ? *p.axis : checked_int(s, "slice_dim", p.slice_dim.value_or(1));
  const std::vector<std::int64_t> points(p.slice_point.begin(), p.slice_point.end());
  const catena::Sections parts = points.empty() ? catena::Sections(s.layer.top.size()) : catena::Sections(points);
  return [axis, parts](CaffeFunction&, const Variables& xs) -> Variables {
    check_bottoms(xs, 1);
    return autograd::split_axis(xs[0], parts, axis);
  };
}

Forward dropout_layer(const LayerSetup& s) {
  const double ratio = s.layer.dropout_param.dropout_ratio;
  check<ValueError>(ratio >= 0 && ratio < 1, s.context, "its dropout_ratio is ", ratio);
  return unary(
      [ratio](CaffeFunction& net, const Variable& x) { return dropout(x, {.ratio = ratio, .train = net.train}); });
}

Forward lrn(const LayerSetup& s) {
  const LRNParameter& p = s.layer.lrn_param;
  check<RuntimeError>(p.norm_region == LRNParameter::across_channels, s.context,
                      "normalization within channels is not supported");
  const int n = checked_int(s, "local_size", p.local_size);
  check<ValueError>(n > 0, s.context, "its local_size is 0");
  const LocalResponseOptions options{.n = n, .k = p.k, .alpha = double(p.alpha) / n, .beta = p.beta};
  return unary([options](const Variable& x) { return local_response_normalization(x, options); });
}

Forward relu_layer(const LayerSetup& s) {
  const double slope = s.layer.relu_param.negative_slope;
  if (slope == 0) return unary([](const Variable& x) { return relu(x); });
  return unary([slope](const Variable& x) { return leaky_relu(x, slope); });
}

void check_softmax(const LayerSetup& s) {
  const int axis = s.layer.softmax_param.axis;
  check<RuntimeError>(axis == 1, s.context, "softmax along axis ", axis, " is not supported, only 1 is");
}
Forward softmax_layer(const LayerSetup& s) {
  check_softmax(s);
  return unary([](const Variable& x) { return softmax(x); });
}
Forward softmax_with_loss(const LayerSetup& s) {
  check_softmax(s);
  return [](CaffeFunction&, const Variables& xs) -> Variables {
    check_bottoms(xs, 2);
    return {softmax_cross_entropy(xs[0], xs[1])};
  };
}

Forward eltwise(const LayerSetup& s) {
  const EltwiseParameter& p = s.layer.eltwise_param;
  check<ValueError>(p.operation >= EltwiseParameter::prod && p.operation <= EltwiseParameter::max, s.context,
                    "its operation is ", p.operation, ", which is none of PROD (0), SUM (1) and MAX (2)");
  check<ValueError>(!s.layer.bottom.empty(), s.context, "it has no bottom");
  const std::vector<float> coeff = p.operation == EltwiseParameter::sum ? p.coeff : std::vector<float>();
  check<ValueError>(coeff.empty() || coeff.size() == s.layer.bottom.size(), s.context, "it has ", coeff.size(),
                    " coefficients for ", s.layer.bottom.size(), " bottoms");
  return [operation = p.operation, coeff](CaffeFunction&, const Variables& xs) -> Variables {
    Variable y = coeff.empty() ? xs[0] : xs[0] * coeff[0];
    for (std::size_t i = 1; i < xs.size(); ++i) {
      const Variable x = coeff.empty() ? xs[i] : xs[i] * coeff[i];
      if (operation == EltwiseParameter::prod) y = y * x;
      else if (operation == EltwiseParameter::sum) y = y + x;
      else y = autograd::maximum(y, x);
    }
    return {y};
  };
}

Forward nothing(const LayerSetup&) { return {}; }

constexpr LayerType kTypes[] = {{"Concat", 3, concatenation},
                                {"Convolution", 4, convolution},
                                {"Data", 5, nothing},
                                {"Dropout", 6, dropout_layer},
                                {"InnerProduct", 14, inner_product},
                                {"LRN", 15, lrn},
                                {"Pooling", 17, pooling},
                                {"ReLU", 18, relu_layer},
                                {"Softmax", 20, softmax_layer},
                                {"SoftmaxWithLoss", 21, softmax_with_loss},
                                {"Split", 22, nothing},
                                {"Eltwise", 25, eltwise},
                                {"Slice", 33, slice},
                                {"BatchNorm", -1, batch_norm},
                                {"Scale", -1, scale}};

}  // namespace

const LayerType* find_layer_type(const LayerParameter& layer, bool v1) noexcept {
  for (const LayerType& t : kTypes)
    if (v1 ? t.v1_type >= 0 && t.v1_type == layer.v1_type : t.name == layer.type) return &t;
  return nullptr;
}

}  // namespace nn::links::caffe::internal
