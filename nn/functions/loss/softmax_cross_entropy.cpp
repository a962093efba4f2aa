#include <catena/nn/functions/loss.h>

#include <algorithm>

#include <catena/autograd/function_node.h>
#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/elementwise.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/recorded.h>
#include <catena/autograd/variable_node.h>
#include <catena/kernels/registry/families.h>
#include <catena/nn/functions/activation.h>
#include <catena/nn/functions/composed.h>
#include <catena/nn/functions/labels.h>
#include <catena/nn/functions/loss/class_labels.h>

namespace nn {

using autograd::apply;
using autograd::Arrays;
using autograd::Constant;
using autograd::Dtype;
using autograd::FunctionNode;
using autograd::Operand;
using autograd::Scalar;
using autograd::Shape;
using autograd::Targets;
using autograd::Variables;
using autograd::internal::constant_variable;
using catena::check;
using catena::ValueError;

namespace {

constexpr const char* kOp = "softmax_cross_entropy";

Array weights_of(const SoftmaxCrossEntropyOptions& o, const Array& x) {
  return internal::class_weights(kOp, o.class_weight, x);
}

// Returns the divisor of the sum: a number, or a 0-d array, so that a count computed on the device is not copied to the
// host.
Constant normaliser(const SoftmaxCrossEntropyOptions& o, const Array& x, const Array& t) {
  const Dtype dtype = catena::compute_dtype(x.dtype());
  const auto number = [](std::int64_t n) { return double(std::max<std::int64_t>(n, 1)); };
  if (o.reduce != "mean") return 1.0;
  if (!o.normalize) return number(x.shape(0));
  if (catena::is_floating(t.dtype())) return number(x.size() / std::max<std::int64_t>(x.shape(1), 1));
  if (!o.normalize_by_weight || !o.class_weight) return internal::count_of_labels(kOp, t, o.ignore_label, dtype);
  return internal::total_weight(kOp, o.class_weight, x, t, o.ignore_label);
}

Variable reduced_by(const Variable& losses, const std::string& reduce, const Constant& norm, Dtype dtype) {
  if (norm.is_array()) return internal::reduced(losses, reduce, norm.array(), dtype);
  return internal::reduced(losses, reduce, norm.scalar().to_double(), dtype);
}

// Returns -sum(q w log softmax(x)) along axis 1, for probabilities q.
Variable cross_entropies(const Variable& x, const Variable& q, const SoftmaxCrossEntropyOptions& o) {
  const Variable log_y = log_softmax(internal::wide(x));
  if (!o.class_weight) return -sum(log_y * q, 1);
  Shape shape = Shape::filled(x.ndim(), 1);
  shape[1] = x.shape(1);
  return -sum(log_y * autograd::reshape(weights_of(o, internal::wide(x).data()), shape) * q, 1);
}

Variable of_probabilities(const Variable& x, const Variable& t, const SoftmaxCrossEntropyOptions& o) {
  internal::check_inputs("SoftmaxCrossEntropy", "x t", {x, t}, [](const autograd::type_check::TypeInfoTuple& in_types) {
    using namespace autograd::type_check;
    internal::expect_alike(in_types);
    expect(in_types[0].ndim >= 2);
  });
  Variable q = internal::wide(t);
  if (o.label_smoothing > 0) q = q * (1 - o.label_smoothing) + o.label_smoothing / double(x.shape(1));
  return reduced_by(cross_entropies(x, q, o), o.reduce, normaliser(o, x.data(), t.data()), x.dtype());
}

// With class weights, the gradient of a class depends on its own weight and on the sum of all.
Variable of_weighted_smoothed_labels(const Variable& x, const Variable& t, const SoftmaxCrossEntropyOptions& o) {
  internal::check_inputs("SoftmaxCrossEntropy", "x t", {x, t}, internal::expect_labelled);
  internal::check_labels(kOp, t.data(), x.shape(1), o.ignore_label);
  const Array labels = internal::labels_of(t.data());
  const Shape shape = internal::flat_shape(x.shape());
  const Array q = autograd::arrays::empty(shape, catena::compute_dtype(x.dtype()), x.device());
  const double rest = o.label_smoothing / double(shape[1]);
  const Operand operands[] = {autograd::reshape(labels, {shape[0], 1, shape[2]}), rest, 1 - o.label_smoothing + rest};
  autograd::apply_indexed(catena::kernels::one_hot, operands, {&q, 1});
  const Variable losses = cross_entropies(x, constant_variable(autograd::reshape(q, x.shape())), o);
  return reduced_by(autograd::masked(losses, internal::not_equal(labels, o.ignore_label)), o.reduce,
                    normaliser(o, x.data(), labels), x.dtype());
}

autograd::internal::FunctionOptions options_of(const SoftmaxCrossEntropyOptions& o) {
  autograd::internal::FunctionOptions f;
  f.integer("normalize", o.normalize);
  f.integer("normalize_by_weight", o.normalize_by_weight);
  f.integer("ignore_label", o.ignore_label);
  f.number("label_smoothing", o.label_smoothing);
  if (o.class_weight) f.array("class_weight", o.class_weight);
  f.text("reduce", o.reduce);
  return f;
}

class SoftmaxCrossEntropy final : public FunctionNode, public autograd::internal::HasOptions {
 public:
  explicit SoftmaxCrossEntropy(const SoftmaxCrossEntropyOptions& o) : options_(o) {}
  std::string label() const override { return "SoftmaxCrossEntropy"; }
  void options(autograd::internal::FunctionOptions& o) const override { o = options_of(options_); }
  std::string_view input_names() const override { return "x t"; }

  void check_type_forward(const autograd::type_check::TypeInfoTuple& in_types) const override {
    internal::expect_labelled(in_types);
  }

  // Does not store log softmax(x): the losses and, in backward, the gradients are computed from x and from two numbers
  // of each row, the maximum and log(sum(exp(x - maximum))). The kernel of the losses reads x only at the labels;
  // label smoothing also sums each row of x.
  Arrays forward(const Arrays& in) override {
    retain_inputs({0, 1});
    const Array x = autograd::reshape(in[0], internal::flat_shape(in[0].shape())), t = internal::labels_of(in[1]);
    internal::check_labels(kOp, in[1], x.shape(1), options_.ignore_label);
    weight_ = weights_of(options_, x);
    const Operand operand[] = {x};
    const Arrays statistics = autograd::row_wise(catena::kernels::log_softmax_statistics, operand, 1);
    max_ = statistics[0], log_sum_ = statistics[1];
    const Array loss = autograd::arrays::empty(of_rows(x), x.dtype(), x.device());
    const Operand operands[] = {x, weight_, max_, log_sum_, autograd::reshape(t, of_rows(x)), options_.ignore_label};
    autograd::apply_indexed(catena::kernels::cross_entropy, operands, {&loss, 1});
    norm_ = normaliser(options_, x, t);
    const Array losses = options_.label_smoothing > 0 ? smoothed(loss, x, t) : loss;
    if (options_.reduce == "no") return {autograd::reshape(autograd::astype(losses, x.dtype()), t.shape())};
    // The sum over a 16-bit batch may exceed the range of its dtype; the mean does not.
    const Array total = autograd::reduce(catena::kernels::sum, losses, {}, false, max_.dtype());
    const Array result = options_.reduce == "sum" ? total : total / internal::constant(norm_);
    return {autograd::astype(result, x.dtype())};
  }

  Variables backward(const Targets& targets, const Variables& gy) override {
    const Variable x = retained_input(0);
    const Array t = internal::labels_of(retained_input(1).data());
    Variables gradients;
    for (const int target : targets) {
      if (target != 0 || !gy[0]) gradients.push_back(Variable());
      else gradients.push_back(needs_double_backprop() ? rule(x, t, gy[0]) : fused(x.data(), t, gy[0].data()));
    }
    return gradients;
  }

 private:
  // The probabilities of every class but the label, and of the label.
  double off(std::int64_t classes) const { return options_.label_smoothing / double(classes); }
  double on(std::int64_t classes) const { return 1 - options_.label_smoothing + off(classes); }

  // The shape of one number for each label, of scores (N, C, D).
  static Shape of_rows(const Array& x) { return {x.shape(0), 1, x.shape(2)}; }

  // Returns on loss + off (the losses for all other labels), in the compute dtype. The sum of the log probabilities of
  // a row is sum(x - max) - C log_sum; that of x itself would lose digits if all scores are large.
  Array smoothed(const Array& loss, const Array& x, const Array& t) const {
    const double e = options_.label_smoothing;
    const Array sum =
        autograd::map_reduce(catena::kernels::sum, catena::kernels::subtract, {x, max_}, 1, /*keepdims=*/true);
    const Array mixed = autograd::astype(loss, max_.dtype()) * (1 - e) + log_sum_ * e - sum * off(x.shape(1));
    return autograd::where(internal::not_equal(autograd::reshape(t, loss.shape()), options_.ignore_label), mixed, 0);
  }

  Variable fused(const Array& given_x, const Array& t, const Array& gy) const {
    const Array x = autograd::reshape(given_x, internal::flat_shape(given_x.shape()));
    const std::int64_t classes = x.shape(1);
    const Array labels = autograd::reshape(t, of_rows(x)),
                each_gy = gy.ndim() == 0 ? gy : autograd::reshape(gy, of_rows(x));
    const Array scale = autograd::arrays::empty(of_rows(x), max_.dtype(), x.device()),
                each_off = autograd::arrays::empty(of_rows(x), max_.dtype(), x.device());
    const Operand of_scale[] = {weight_,     labels, options_.ignore_label, each_gy, internal::constant(norm_),
                                off(classes)};
    const Array scales[] = {scale, each_off};
    autograd::apply_indexed(catena::kernels::cross_entropy_scale, of_scale, scales);
    const Operand of_all[] = {x, max_, log_sum_, scale, each_off};
    const Array gx = autograd::row_wise(catena::kernels::cross_entropy_bwd, of_all, 1)[0];
    const Operand of_label[] = {x, max_, log_sum_, scale, each_off, labels, on(classes)};
    autograd::apply_indexed(catena::kernels::cross_entropy_label_bwd, of_label, {&gx, 1});
    return constant_variable(autograd::reshape(gx, given_x.shape()));
  }

  // (softmax(x) - q) * scale * gy for the probabilities q of the target, where only softmax(x) and gy are
  // differentiable.
  Variable rule(const Variable& x, const Array& t, const Variable& gy) const {
    const Shape shape = internal::flat_shape(x.shape());
    const Array labels = autograd::reshape(t, {shape[0], 1, shape[2]});
    const Array onehot = autograd::arrays::empty(shape, x.dtype(), x.device());
    const Operand operands[] = {labels, 0.0, 1.0};
    autograd::apply_indexed(catena::kernels::one_hot, operands, {&onehot, 1});
    // scale is weight[t] / normaliser for valid labels, else 0; weight[t] is computed as a sum over the one-hot axis.
    const Array weight = autograd::sum(onehot * autograd::reshape(weight_, {1, shape[1], 1}), 1, true);
    const Array valid = apply(catena::kernels::not_equal, {labels, options_.ignore_label});
    const Array scale = autograd::astype(autograd::where(valid, weight, 0.0) / internal::constant(norm_), x.dtype());
    const double rest = off(shape[1]);
    const Array q = rest > 0 ? onehot * (on(shape[1]) - rest) + rest : onehot;
    const Variable distance = reshape(softmax(x), shape) - constant_variable(q);
    const Variable g =
        gy.ndim() == 0 ? broadcast_to(gy, {shape[0], 1, shape[2]}) : reshape(gy, {shape[0], 1, shape[2]});
    return reshape(distance * constant_variable(scale) * g, x.shape());
  }

  SoftmaxCrossEntropyOptions options_;
  Array weight_, max_, log_sum_;
  Constant norm_;
};

}  // namespace

Variable softmax_cross_entropy(const Variable& x, const Variable& t, const SoftmaxCrossEntropyOptions& o) {
  internal::check_reduce(kOp, o.reduce, {"mean", "sum", "no"});
  check<ValueError>(o.label_smoothing >= 0 && o.label_smoothing < 1, kOp, "label_smoothing is ", o.label_smoothing,
                    "; it must be at least 0 and less than 1");
  if (t && x && catena::is_floating(t.dtype()) && t.ndim() == x.ndim()) return of_probabilities(x, t, o);
  if (o.label_smoothing > 0 && o.class_weight) {
    const Variable y = of_weighted_smoothed_labels(x, t, o);
    if (!autograd::internal::wants_elementary_nodes()) return y;
    return autograd::internal::recorded(y, "SoftmaxCrossEntropy", {x, t}, options_of(o));
  }
  return autograd::apply_node<SoftmaxCrossEntropy>({x, t}, o)[0];
}

}  // namespace nn
