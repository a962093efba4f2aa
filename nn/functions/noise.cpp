#include <catena/nn/functions/noise.h>

#include <cmath>

#include <catena/autograd/capture.h>
#include <catena/autograd/function_node.h>
#include <catena/autograd/function_options.h>
#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/input_types.h>
#include <catena/autograd/variable_node.h>
#include <catena/kernels/base/view_layout.h>
#include <catena/kernels/registry/families.h>
#include <catena/nn/functions/activation.h>
#include <catena/nn/functions/composed.h>
#include <catena/nn/functions/connection.h>

namespace nn {

using autograd::apply;
using autograd::Array;
using autograd::Arrays;
using autograd::Dtype;
using autograd::FunctionNode;
using autograd::Targets;
using autograd::Variables;

namespace {

class Dropout final : public FunctionNode, public autograd::internal::HasOptions {
 public:
  // The numbers are drawn for the elements in the given order of the axes, which is that of x in memory by default.
  Dropout(double ratio, std::uint64_t seed, const autograd::Operand& offset,
          const std::optional<autograd::Dims>& order = {})
      : ratio_(ratio), seed_(seed), offset_(offset), order_(order) {}
  std::string label() const override { return "Dropout"; }
  void options(autograd::internal::FunctionOptions& o) const override { o.number("ratio", ratio_); }
  std::string_view input_names() const override { return "x"; }
  void check_type_forward(const autograd::type_check::TypeInfoTuple& in_types) const override {
    using namespace autograd::type_check;
    expect(in_types.size() == 1, in_types[0].dtype.kind() == 'f');
  }
  Arrays forward(const Arrays& x) override {
    if (!order_) order_ = memory_order(x[0]);
    return {masked(x[0])};
  }
  Array mask(const Array& x) const { return masked(autograd::ones_like(x)); }
  // Multiplies by the same mask, which is recomputed from the seed.
  Variables backward(const Targets&, const Variables& gy) override {
    return autograd::apply_node<Dropout>({gy[0]}, ratio_, seed_, offset_, order_);
  }

 private:
  // Empty where it is the order of the axes.
  static autograd::Dims memory_order(const Array& x) {
    if (x.is_c_contiguous()) return {};
    return catena::dense_order(x.shape(), x.strides(), catena::itemsize(x.dtype())).value_or(autograd::Dims());
  }
  Array masked(const Array& x) const {
    const bool moved = order_ && !order_->empty();
    const Array in = moved ? autograd::transpose(x, *order_) : x, y = autograd::empty_like(in);
    const autograd::Operand operands[] = {in, catena::Scalar(seed_), offset_, ratio_};
    autograd::apply_indexed(catena::kernels::dropout, operands, {&y, 1});
    return moved ? autograd::transpose(y, catena::inverse_axes(*order_)) : y;
  }
  double ratio_;
  std::uint64_t seed_;
  autograd::Operand offset_;
  std::optional<autograd::Dims> order_;
};

bool trains(const char* op, const std::optional<bool>& train) {
  return train ? *train : autograd::internal::trains(op);
}

// Returns options in which PyTorch's names, where they are given, have the place of Chainer's.
template <class O> O renamed(O o) {
  if (o.p) o.ratio = *o.p;
  if (o.training) o.train = o.training;
  return o;
}

// Returns a node that draws a mask for an array of n elements.
autograd::NodePtr<Dropout> draw(double ratio, autograd::Device device, std::int64_t n) {
  autograd::Generator& g = autograd::default_generator();
  const autograd::Operand offset =
      autograd::live_scalar(device, g.take(n), [n] { return autograd::default_generator().take(n); });
  return autograd::make_node<Dropout>(ratio, g.seed, offset);
}

void check_ratio(const char* op, double ratio) {
  catena::check<catena::ValueError>(ratio >= 0 && ratio < 1, op, "the ratio ", ratio, " does not lie in [0, 1)");
}

// Returns x times a given mask.
Variable by_mask(const Variable& x, const Array& mask) {
  internal::check_inputs("Dropout", "x", {x}, internal::expect_alike);
  catena::check<catena::ValueError>(mask.shape() == x.shape(), "dropout", "the mask has the shape ", mask.shape(),
                                    ", x has ", x.shape());
  return x * mask;
}

}  // namespace

Variable internal::dropout(const Variable& x, const DropoutOptions& given) {
  const DropoutOptions o = renamed(given);
  check_ratio("dropout", o.ratio);
  if (!trains("dropout", o.train)) return x;
  return o.mask ? by_mask(x, o.mask) : draw(o.ratio, x.device(), x.size())->apply({x})[0];
}

DropoutResult dropout_with_mask(const Variable& x, const DropoutOptions& given) {
  const DropoutOptions o = renamed(given);
  check_ratio("dropout", o.ratio);
  if (!trains("dropout", o.train)) return {x, autograd::ones_like(x.data())};
  if (o.mask) return {by_mask(x, o.mask), o.mask};
  const auto node = draw(o.ratio, x.device(), x.size());
  const Variable y = node->apply({x})[0];  // checks the dtype
  return {y, node->mask(x.data())};
}

// ---- dropout of whole parts ----
// Returns x times a random mask that is the same along the axes from `first` to `last` - 1.
static Variable with_shared_mask(const char* op, const Variable& x, double ratio, const std::optional<bool>& train,
                                 int first, int last) {
  check_ratio(op, ratio);
  if (!trains(op, train)) return x;
  autograd::Shape shape = x.shape();
  for (int a = first; a < last; ++a) shape[a] = 1;
  const Array all = autograd::arrays::empty(shape, catena::compute_dtype(x.dtype()), x.device());
  const Array mask = draw(ratio, x.device(), all.size())->mask(all);
  return internal::narrowed(internal::wide(x) * mask, x.dtype());
}
static void check_least_rank(const char* label, const Variable& x, int rank) {
  internal::check_inputs(label, "x", {x}, [rank](const autograd::type_check::TypeInfoTuple& in_types) {
    autograd::type_check::expect(in_types[0].dtype.kind() == 'f', in_types[0].ndim >= rank);
  });
}

Variable internal::channel_dropout(const Variable& x, const SharedDropoutOptions& given) {
  const SharedDropoutOptions o = renamed(given);
  check_least_rank("ChannelDropout", x, 2);
  return with_shared_mask("channel_dropout", x, o.ratio, o.train, 2, x.ndim());
}
Variable internal::drop_path(const Variable& x, const SharedDropoutOptions& given) {
  const SharedDropoutOptions o = renamed(given);
  check_least_rank("DropPath", x, 1);
  return with_shared_mask("drop_path", x, o.ratio, o.train, 1, x.ndim());
}
Variable internal::time_shared_dropout(const Variable& x, const TimeSharedDropoutOptions& o) {
  internal::check_inputs("TimeSharedDropout", "x", {x}, [&](const autograd::type_check::TypeInfoTuple& in_types) {
    using namespace autograd::type_check;
    expect(in_types[0].dtype.kind() == 'f');
    autograd::internal::expect_axes(in_types, o.axis);
  });
  const int time = o.axis < 0 ? o.axis + x.ndim() : o.axis;
  return with_shared_mask("time_shared_dropout", x, o.ratio, o.train, time, time + 1);
}

// alpha_dropout with a mask that is the same along the axes from `first` on.
static Variable alpha_dropped(const char* op, const Variable& x, const SharedDropoutOptions& o, int first) {
  check_ratio(op, o.ratio);
  if (!trains(op, o.train)) return x;
  constexpr double limit = -1.7580993408473766;  // of selu at -infinity
  const double a = 1 / std::sqrt((1 - o.ratio) * (1 + o.ratio * limit * limit)), b = -a * limit * o.ratio;
  const Variable z = internal::wide(x);
  autograd::Shape shape = x.shape();
  for (int k = first; k < x.ndim(); ++k) shape[k] = 1;
  const Array like = shape == x.shape() ? z.data() : autograd::arrays::empty(shape, z.dtype(), x.device());
  const Array kept = internal::greater(draw(o.ratio, x.device(), like.size())->mask(like), 0);
  return internal::narrowed(where(kept, z, limit) * a + b, x.dtype());
}
Variable internal::alpha_dropout(const Variable& x, const SharedDropoutOptions& o) {
  check_inputs("AlphaDropout", "x", {x}, expect_alike);
  return alpha_dropped("alpha_dropout", x, renamed(o), x.ndim());
}
Variable internal::feature_alpha_dropout(const Variable& x, const SharedDropoutOptions& o) {
  check_least_rank("FeatureAlphaDropout", x, 2);
  return alpha_dropped("feature_alpha_dropout", x, renamed(o), 2);
}

// channel_dropout of x with these spatial axes, or of x without a batch.
static Variable channels_dropped(const char* op, const Variable& x, const SharedDropoutOptions& o, int axes) {
  if (x && x.ndim() == axes + 1) return squeeze(internal::channel_dropout(expand_dims(x, 0), o), 0);
  internal::expect_rank(op, x, axes + 2);
  return internal::channel_dropout(x, o);
}
Variable internal::dropout1d(const Variable& x, const SharedDropoutOptions& o) {
  return channels_dropped("dropout1d", x, o, 1);
}
Variable internal::dropout3d(const Variable& x, const SharedDropoutOptions& o) {
  return channels_dropped("dropout3d", x, o, 3);
}

Variable internal::gumbel_softmax(const Variable& log_pi, const GumbelSoftmaxOptions& given) {
  GumbelSoftmaxOptions o = given;
  o.axis = o.dim.value_or(o.axis);
  catena::check<catena::ValueError>(o.tau > 0, "gumbel_softmax", "tau is ", o.tau, " and must be positive");
  internal::check_inputs("GumbelSoftmax", "log_pi", {log_pi}, internal::expect_alike);
  const Variable x = internal::wide(log_pi);
  // 0 would have an infinite logarithm.
  const Array u =
      apply(catena::kernels::maximum,
            {autograd::random_uniform(x.shape(), 0, 1, x.dtype(), autograd::default_generator(), x.device()), 1e-30});
  const Array g = -apply(catena::kernels::log, {-apply(catena::kernels::log, {u})});
  const Variable y = nn::softmax((x + g) / o.tau, o.axis);
  if (!o.hard) return internal::narrowed(y, log_pi.dtype());
  const int axis = o.axis < 0 ? o.axis + x.ndim() : o.axis;
  const Array best = autograd::reduce(catena::kernels::argmax, y.data(), axis, true);
  autograd::Shape along = autograd::Shape::filled(x.ndim(), 1);
  along[axis] = x.shape(axis);
  const Array position = autograd::reshape(autograd::arrays::arange(x.shape(axis), best.dtype(), x.device()), along);
  const Array sample = autograd::astype(internal::equal(best, position), y.dtype());
  // The numbers are those of the sample exactly; the difference has the gradient of y and is 0.
  const Variable difference = y - y.data();
  return internal::narrowed(difference + sample, log_pi.dtype());
}

Variable internal::rrelu(const Variable& x, const RReLUOptions& o) {
  catena::check<catena::ValueError>(o.lower <= o.upper, "rrelu", "lower is ", o.lower, " and above upper, ", o.upper);
  internal::check_inputs("RReLU", "x", {x}, internal::expect_alike);
  if (!o.r && !trains("rrelu", o.training ? o.training : o.train)) return nn::leaky_relu(x, (o.lower + o.upper) / 2);
  catena::check<catena::ValueError>(!o.r || o.r.shape() == x.shape(), "rrelu", "r has the shape ",
                                    o.r ? o.r.shape() : autograd::Shape(), ", x has ", x.shape());
  const Array r = o.r ? o.r
                      : autograd::random_uniform(x.shape(), o.lower, o.upper, catena::compute_dtype(x.dtype()),
                                                 autograd::default_generator(), x.device());
  const Array slope = autograd::where(internal::greater_equal(x.data(), 0), 1.0, r);
  return internal::narrowed(internal::wide(x) * autograd::astype(slope, catena::compute_dtype(x.dtype())), x.dtype());
}

// Returns where elements of h are kept: the given array, or random values.
static Array keep_of(const Variable& h, const ZoneoutOptions& o) {
  if (!o.keep) {
    // The mask of dropout is positive where the uniform number is at least the ratio. With the ratio 1 it is positive
    // nowhere.
    const Array passed =
        draw(o.ratio, h.device(), h.size())->mask(autograd::arrays::empty(h.shape(), Dtype::float32, h.device()));
    return apply(catena::kernels::logical_not, {internal::greater(passed, 0)});
  }
  catena::check<catena::ValueError>(o.keep.shape() == h.shape() && o.keep.dtype() == Dtype::bool_, "zoneout",
                                    "keep must be bool of the shape ", h.shape(), ", it is ", o.keep.dtype(), " of ",
                                    o.keep.shape());
  return o.keep;
}
static void check_zoneout(const Variable& h, const Variable& x, const ZoneoutOptions& o) {
  catena::check<catena::ValueError>(o.ratio >= 0 && o.ratio <= 1, "zoneout", "the ratio ", o.ratio,
                                    " does not lie in [0, 1]");
  internal::check_inputs("Zoneout", "h x", {h, x}, internal::expect_alike);
}

Variable zoneout(const Variable& h, const Variable& x, const ZoneoutOptions& o) {
  check_zoneout(h, x, o);
  return trains("zoneout", o.train) ? where(keep_of(h, o), h, x) : x;
}
ZoneoutResult zoneout(const Variable& h, const Variable& x, const ZoneoutOptions& o, ReturnKeep) {
  check_zoneout(h, x, o);
  if (!trains("zoneout", o.train)) return {x, autograd::arrays::zeros(h.shape(), Dtype::bool_, h.device())};
  const Array keep = keep_of(h, o);
  return {where(keep, h, x), keep};
}

GaussianResult gaussian(const Variable& mean, const Variable& ln_var, const Array& given, ReturnEps) {
  internal::check_inputs("Gaussian", "mean ln_var", {mean, ln_var}, internal::expect_alike);
  catena::check<catena::ValueError>(!given || given.shape() == mean.shape(), "gaussian", "eps has the shape ",
                                    given ? given.shape() : autograd::Shape(), ", mean has ", mean.shape());
  const Array eps =
      given ? autograd::astype(given, mean.dtype())
            : autograd::random_normal(mean.shape(), 0, 1, mean.dtype(), autograd::default_generator(), mean.device());
  const Variable noise = exp(internal::wide(ln_var) * 0.5) * eps;
  return {internal::narrowed(internal::wide(mean) + noise, mean.dtype()), eps};
}
Variable gaussian(const Variable& mean, const Variable& ln_var, const Array& eps) {
  return gaussian(mean, ln_var, eps, return_eps).y;
}

static void check_dropconnect(const Variable& x, const Variable& W, const Variable& b, const DropconnectOptions& o) {
  constexpr const char* op = "simplified_dropconnect";
  check_ratio(op, o.ratio);
  Variables inputs{x, W};
  if (b) inputs.push_back(b);
  internal::check_inputs("SimplifiedDropconnect", "x W b", inputs, [](const auto& in_types) {
    using namespace autograd::type_check;
    expect(in_types[0].dtype.kind() == 'f', in_types[1].dtype.kind() == 'f', in_types[0].ndim >= 2,
           in_types[1].ndim == 2);
    std::int64_t n = 1;
    for (int a = 1; a < in_types.shape(0).size(); ++a) n *= in_types.shape(0)[a];
    expect(variable(n, "prod(in_types[0].shape[1:])") == in_types[1].shape[1]);
    if (in_types.count() > 2)
      expect(in_types[2].dtype == in_types[0].dtype, in_types[2].ndim == 1,
             in_types[2].shape[0] == in_types[1].shape[0]);
  });
  const autograd::Shape shape{x.shape(0), W.shape(0), W.shape(1)};
  catena::check<catena::ValueError>(!o.mask || o.mask.shape() == shape, op, "the mask has the shape ",
                                    o.mask ? o.mask.shape() : autograd::Shape(), ", it must have ", shape);
}

// The linear function with weights multiplied by `mask`, which differs for each sample.
static Variable masked_linear(const Variable& x, const Variable& W, const Variable& b, const Array& mask) {
  const std::int64_t n = x.shape(0), outputs = W.shape(0), units = W.shape(1);
  const Dtype dtype = mask.dtype();
  const Variable connections =
      reshape(cast(W, dtype), {1, outputs, units}) * autograd::internal::constant_variable(mask);
  Variable y = sum(connections * reshape(cast(x, dtype), {n, 1, units}), 2);
  if (b) y = y + cast(b, dtype);
  return internal::narrowed(y, x.dtype());
}

// Returns the factors of the weights: 0 for a dropped one, else 1 / (1 - ratio) in training and 1 otherwise.
static Array dropconnect_mask(const Variable& x, const Variable& W, const DropconnectOptions& o) {
  const Dtype dtype = catena::compute_dtype(x.dtype());
  const double scale = trains("simplified_dropconnect", o.train) ? 1 / (1 - o.ratio) : 1.0;
  if (o.mask) return autograd::astype(o.mask, dtype) * scale;
  const autograd::Shape shape{x.shape(0), W.shape(0), W.shape(1)};
  return draw(o.ratio, x.device(), catena::size_of(shape))->mask(autograd::arrays::empty(shape, dtype, x.device()));
}

Variable simplified_dropconnect(const Variable& x, const Variable& W, const Variable& b, const DropconnectOptions& o) {
  check_dropconnect(x, W, b, o);
  if (!trains("simplified_dropconnect", o.train) && !o.mask) return linear(x, W, b);
  return masked_linear(x, W, b, dropconnect_mask(x, W, o));
}
DropconnectResult simplified_dropconnect(const Variable& x, const Variable& W, const Variable& b,
                                         const DropconnectOptions& o, ReturnMask) {
  check_dropconnect(x, W, b, o);
  if (!trains("simplified_dropconnect", o.train) && !o.mask) {
    const autograd::Shape shape{x.shape(0), W.shape(0), W.shape(1)};
    return {linear(x, W, b), autograd::arrays::full(shape, true, Dtype::bool_, x.device())};
  }
  const Array mask = dropconnect_mask(x, W, o);
  return {masked_linear(x, W, b, mask), internal::greater(mask, 0)};
}

}  // namespace nn
