#include <catena/nn/functions/loss/class_labels.h>

#include <catena/autograd/capture.h>
#include <catena/autograd/function_node.h>
#include <catena/autograd/functions/array.h>
#include <catena/autograd/recorded.h>
#include <catena/autograd/unbatched.h>
#include <catena/autograd/variable_node.h>
#include <catena/kernels/base/warning.h>
#include <catena/kernels/registry/families.h>
#include <catena/nn/functions/composed.h>
#include <catena/nn/functions/labels.h>

namespace nn::internal {

using autograd::Arrays;
using autograd::Operand;
using catena::check;
using catena::ValueError;

Shape flat_shape(const Shape& x) {
  std::int64_t d = 1;
  for (int a = 2; a < x.size(); ++a) d *= x[a];
  return {x[0], x[1], d};
}

void expect_labelled(const TypeInfoTuple& in_types) {
  using namespace autograd::type_check;
  expect(in_types.size() == 2, in_types[0].dtype.kind() == 'f');
  expect_labels(in_types, 1);
  expect(in_types[0].ndim >= 2, in_types[1].ndim == in_types[0].ndim - 1, in_types[0].shape[0] == in_types[1].shape[0]);
  for (int a = 2; a < in_types.shape(0).size(); ++a) expect(in_types[0].shape[a] == in_types[1].shape[a - 1]);
}

Array class_weights(std::string_view op, const Array& w, const Array& x) {
  if (!w) return autograd::broadcast_to(autograd::arrays::full({1}, 1.0, x.dtype(), x.device()), {x.shape(1)});
  check<ValueError>(w.ndim() == 1 && w.shape(0) == x.shape(1), op, "class_weight has the shape ", w.shape(),
                    ", but there are ", x.shape(1), " classes");
  check<ValueError>(catena::is_floating(w.dtype()), op, "class_weight has the dtype ", w.dtype(),
                    "; a floating one is needed");
  return autograd::astype(w, x.dtype());
}

// The options of functions of labels t in files: the label that is ignored, and the class weights, if there are any.
static autograd::internal::FunctionOptions options_of(const Array& t, const Array& weight, int ignored) {
  autograd::internal::FunctionOptions options;
  options.array("t", t);
  options.integer("ignore_label", ignored);
  if (weight) options.array("class_weight", weight);
  return options;
}

Array weights_of_labels(std::string_view op, const Array& weight, const Array& x, const Array& t, int ignored) {
  const Array valid = not_equal(t, ignored);
  if (!weight) return converted(valid, x.dtype());
  const Array each = autograd::take(class_weights(op, weight, x), autograd::where(valid, t, 0), 0);
  const Array weights = autograd::where(valid, each, 0);
  if (autograd::internal::wants_elementary_nodes())
    autograd::internal::record(weights, "WeightsOfLabels", {t}, options_of(t, weight, ignored));
  return weights;
}

// Whether a batch without labels is reported. On other devices their number would have to be waited for, and within
// vmap each example has its own.
static bool warns(const Array& t) {
  return t.size() > 0 && t.device().kind == autograd::Device::Kind::cpu && !autograd::is_capturing() &&
         !autograd::internal::within_vmap();
}
static void warn_if_none(std::string_view op, const Array& count, int ignored) {
  if (autograd::to_vector<double>(count)[0] != 0) return;
  catena::warn("RuntimeWarning", catena::concat(op, ": all labels are ", ignored,
                                                ", which is ignored: the mean is 0 and has no gradient. Leave such "
                                                "batches out, or give another ignore_label"));
}

Array count_of_labels(std::string_view op, const Array& t, int ignored, autograd::Dtype dtype) {
  const Array found = autograd::map_reduce(catena::kernels::count_nonzero, catena::kernels::not_equal, {t, ignored});
  if (warns(t)) warn_if_none(op, found, ignored);
  if (autograd::internal::wants_elementary_nodes()) return count_of(not_equal(t, ignored), dtype);
  const Array count = autograd::arrays::empty({}, dtype, t.device());
  const Operand operands[] = {found, 1};
  autograd::apply_into(catena::kernels::maximum, operands, {&count, 1});
  return count;
}

Array total_weight(std::string_view op, const Array& weight, const Array& x, const Array& t, int ignored) {
  const autograd::Dtype dtype = catena::compute_dtype(x.dtype());
  if (!weight) return count_of_labels(op, t, ignored, dtype);
  if (warns(t)) count_of_labels(op, t, ignored, dtype);  // for its warning
  const Array weights = weights_of_labels(op, weight, x, t, ignored);
  const Array sum = autograd::sum(autograd::astype(weights, dtype)), total = autograd::where(greater(sum, 0), sum, 1);
  if (autograd::internal::wants_elementary_nodes()) autograd::internal::record(total, "TotalWeight", {weights});
  return total;
}

namespace {
// The gradient is linear in gy, so that its own derivative is that of a product.
class NegativeLogLikelihood final : public autograd::FunctionNode, public autograd::internal::HasOptions {
 public:
  NegativeLogLikelihood(std::string_view op, const Array& t, const Array& weight, int ignored)
      : op_(op), t_(t), weight_(weight), ignored_(ignored) {}
  std::string label() const override { return "NegativeLogLikelihood"; }
  void options(autograd::internal::FunctionOptions& o) const override { o = options_of(t_, weight_, ignored_); }
  std::string_view input_names() const override { return "x"; }
  Arrays forward(const Arrays& in) override {
    const Shape flat = flat_shape(in[0].shape());
    scale_ = -weights_of_labels(op_, weight_, in[0], t_, ignored_);
    shape_ = in[0].shape();
    const Array loss = autograd::arrays::empty({flat[0], flat[2]}, in[0].dtype(), in[0].device());
    const Operand operands[] = {autograd::reshape(in[0], flat), class_weights(op_, weight_, in[0]),
                                autograd::reshape(t_, loss.shape()), ignored_};
    autograd::apply_indexed(catena::kernels::cross_entropy_pick, operands, {&loss, 1});
    return {autograd::reshape(loss, t_.shape())};
  }
  autograd::Variables backward(const autograd::Targets&, const autograd::Variables& gy) override {
    const Shape flat = flat_shape(shape_), of_label{flat[0], 1, flat[2]};
    const Array slope = autograd::arrays::empty(flat, scale_.dtype(), scale_.device());
    const Operand operands[] = {autograd::reshape(t_, of_label), 0.0, autograd::reshape(scale_, of_label)};
    autograd::apply_indexed(catena::kernels::one_hot, operands, {&slope, 1});
    return {reshape(reshape(gy[0], of_label) * autograd::internal::constant_variable(slope), shape_)};
  }

 private:
  std::string_view op_;
  Array t_, weight_, scale_;
  Shape shape_;
  int ignored_;
};
}  // namespace

Variable picked(std::string_view op, const Variable& x, const Array& t, const Array& weight, int ignored) {
  return autograd::apply_node<NegativeLogLikelihood>({x}, op, t, weight, ignored)[0];
}

}  // namespace nn::internal
