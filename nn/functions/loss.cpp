#include <catena/nn/functions/loss.h>

#include <algorithm>

#include <catena/autograd/function_node.h>
#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/variable_node.h>
#include <catena/kernels/rows/families.h>
#include <catena/nn/functions/activation.h>
#include <catena/nn/functions/labels.h>

namespace nn {

using autograd::apply;
using autograd::Arrays;
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

// The scores as (N, C, D): all axes after the classes are merged.
Shape flat_shape(const Shape& x) {
  std::int64_t d = 1;
  for (int a = 2; a < x.size(); ++a) d *= x[a];
  return {x[0], x[1], d};
}

class SoftmaxCrossEntropy final : public FunctionNode {
 public:
  explicit SoftmaxCrossEntropy(const SoftmaxCrossEntropyOptions& o) : options_(o), mean_(o.reduce == "mean") {}
  std::string label() const override { return "SoftmaxCrossEntropy"; }
  std::string_view input_names() const override { return "x t"; }

  void check_type_forward(const autograd::type_check::TypeInfoTuple& in_types) const override {
    using namespace autograd::type_check;
    expect(in_types.size() == 2, in_types[0].dtype.kind() == 'f');
    internal::expect_labels(in_types, 1);
    expect(in_types[0].ndim >= 2, in_types[1].ndim == in_types[0].ndim - 1,
           in_types[0].shape[0] == in_types[1].shape[0]);
    for (int a = 2; a < in_types.shape(0).size(); ++a) expect(in_types[0].shape[a] == in_types[1].shape[a - 1]);
  }

  Arrays forward(const Arrays& in) override {
    retain_inputs({0, 1});
    const Array &x = in[0], t = internal::labels_of(in[1]);
    const Shape shape = flat_shape(x.shape());
    internal::check_labels("softmax_cross_entropy", in[1], shape[1], options_.ignore_label);
    const Array log_y = log_probabilities(x);
    if (options_.cache_score) log_y_ = log_y;
    const Array loss = autograd::empty({shape[0], shape[2]}, x.dtype(), x.device());
    const Operand operands[] = {log_y, weights(x), autograd::reshape(t, {shape[0], shape[2]}), options_.ignore_label};
    autograd::apply_indexed(catena::rows::cross_entropy_pick, operands, {&loss, 1});
    norm_ = normaliser(x, t);
    if (!mean_) return {autograd::reshape(loss, t.shape())};
    // The sum over a 16-bit batch can exceed the range of its dtype; the mean does not.
    const Array total = autograd::reduce(catena::rows::sum, loss, {}, false, norm_.dtype());
    return {autograd::astype(total / norm_, x.dtype())};
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
  static Array log_probabilities(const Array& x) {
    const Operand operands[] = {x};
    return autograd::reshape(autograd::rows(catena::rows::log_softmax, operands, 1)[0], flat_shape(x.shape()));
  }

  Array weights(const Array& x) const {
    const Array& w = options_.class_weight;
    if (!w) return autograd::broadcast_to(autograd::full({1}, 1.0, x.dtype(), x.device()), {x.shape(1)});
    check<ValueError>(w.ndim() == 1 && w.shape(0) == x.shape(1), "softmax_cross_entropy", "class_weight has the shape ",
                      w.shape(), ", but there are ", x.shape(1), " classes");
    check<ValueError>(catena::is_floating(w.dtype()), "softmax_cross_entropy", "class_weight has the dtype ", w.dtype(),
                      "; a floating one is needed");
    return autograd::astype(w, x.dtype());
  }

  // The divisor of the sum as a 0-d array: a count computed on the device is not copied to the host.
  Array normaliser(const Array& x, const Array& t) const {
    const Dtype dtype = catena::compute_dtype(x.dtype());
    if (!mean_) return autograd::full({}, 1.0, dtype, x.device());
    if (!options_.normalize)
      return autograd::full({}, double(std::max<std::int64_t>(x.shape(0), 1)), dtype, x.device());
    const Array valid = apply(catena::rows::not_equal, {t, options_.ignore_label});
    const Array count = autograd::astype(autograd::reduce(catena::rows::count_nonzero, valid), dtype);
    return apply(catena::rows::maximum, {count, 1.0});
  }

  // The output's gradient, viewed as (N, 1, D).
  static Array spread(const Array& gy, const Shape& shape) {
    return gy.ndim() == 0 ? autograd::broadcast_to(gy, {shape[0], 1, shape[2]})
                          : autograd::reshape(gy, {shape[0], 1, shape[2]});
  }

  Variable fused(const Array& x, const Array& t, const Array& gy) const {
    const Shape shape = flat_shape(x.shape());
    const Array gx = autograd::empty(shape, x.dtype(), x.device());
    const Operand operands[] = {weights(x),
                                log_y_ ? log_y_ : log_probabilities(x),
                                autograd::reshape(t, {shape[0], 1, shape[2]}),
                                options_.ignore_label,
                                spread(gy, shape),
                                norm_};
    autograd::apply_indexed(catena::rows::cross_entropy_bwd, operands, {&gx, 1});
    return constant_variable(autograd::reshape(gx, x.shape()));
  }

  // (softmax(x) - onehot(t)) * scale * gy, where only softmax(x) and gy are differentiable.
  Variable rule(const Variable& x, const Array& t, const Variable& gy) const {
    const Shape shape = flat_shape(x.shape());
    const Array labels = autograd::reshape(t, {shape[0], 1, shape[2]});
    const Array onehot = autograd::empty(shape, x.dtype(), x.device());
    const Operand operands[] = {labels, 0.0, 1.0};
    autograd::apply_indexed(catena::rows::one_hot, operands, {&onehot, 1});
    // scale is weight[t] / normaliser for valid labels, else 0; weight[t] is computed as a sum over the one-hot axis.
    const Array weight = autograd::sum(onehot * autograd::reshape(weights(x.data()), {1, shape[1], 1}), 1, true);
    const Array valid = apply(catena::rows::not_equal, {labels, options_.ignore_label});
    const Array scale =
        autograd::astype(autograd::where(valid, weight, 0.0) / autograd::astype(norm_, x.dtype()), x.dtype());
    const Variable distance = reshape(softmax(x), shape) - constant_variable(onehot);
    const Variable g =
        gy.ndim() == 0 ? broadcast_to(gy, {shape[0], 1, shape[2]}) : reshape(gy, {shape[0], 1, shape[2]});
    return reshape(distance * constant_variable(scale) * g, x.shape());
  }

  SoftmaxCrossEntropyOptions options_;
  bool mean_;
  Array log_y_, norm_;
};

class MeanSquaredError final : public FunctionNode {
 public:
  std::string label() const override { return "MeanSquaredError"; }
  std::string_view input_names() const override { return "x0 x1"; }
  void check_type_forward(const autograd::type_check::TypeInfoTuple& in_types) const override {
    using namespace autograd::type_check;
    expect(in_types.size() == 2, in_types[0].dtype.kind() == 'f', in_types[0].dtype == in_types[1].dtype,
           in_types[0].shape == in_types[1].shape);
  }
  Arrays forward(const Arrays& in) override {
    retain_inputs({0, 1});
    const auto of = [](const Array& x0, const Array& x1) {
      const Array difference = x0 - x1;
      return autograd::mean(difference * difference);
    };
    if (catena::itemsize(in[0].dtype()) > 2) return {of(in[0], in[1])};
    // The square of a 16-bit difference of 256 is out of its dtype's range.
    const Array wide[] = {autograd::astype(in[0], Dtype::float32), autograd::astype(in[1], Dtype::float32)};
    return {autograd::astype(of(wide[0], wide[1]), in[0].dtype())};
  }
  Variables backward(const Targets& targets, const Variables& gy) override {
    const Variable x0 = retained_input(0), x1 = retained_input(1);
    const Variable g0 = (x0 - x1) * (gy[0] * (2.0 / double(x0.size())));
    Variables gradients;
    for (const int target : targets) gradients.push_back(target == 0 ? g0 : -g0);
    return gradients;
  }
};

}  // namespace

Variable softmax_cross_entropy(const Variable& x, const Variable& t, const SoftmaxCrossEntropyOptions& o) {
  check<ValueError>(o.reduce == "mean" || o.reduce == "no", "softmax_cross_entropy", "reduce is \"", o.reduce,
                    "\"; it must be \"mean\" or \"no\"");
  return autograd::apply_node<SoftmaxCrossEntropy>({x, t}, o)[0];
}

Variable mean_squared_error(const Variable& x0, const Variable& x1) {
  return autograd::apply_node<MeanSquaredError>({x0, x1})[0];
}

}  // namespace nn
