// Losses over a label and a few samples instead of a large vocabulary.
#include <cmath>

#include <catena/autograd/functions/elementwise.h>
#include <catena/autograd/functions/linalg.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/nn/functions/activation.h>
#include <catena/nn/functions/composed.h>
#include <catena/nn/functions/labels.h>
#include <catena/nn/functions/loss.h>
#include <catena/nn/functions/loss/row_products.h>

namespace nn {

using autograd::IndexItem;
using autograd::Slice;
using autograd::type_check::TypeInfoTuple;
using internal::wide;

namespace {

// Checks x (N, D), t (N), W (V, D) and, in black_out, samples (N, S).
void expect_vocabulary(const TypeInfoTuple& in_types) {
  using namespace autograd::type_check;
  expect(in_types[0].dtype.kind() == 'f', in_types[2].dtype == in_types[0].dtype);
  internal::expect_labels(in_types, 1);
  expect(in_types[0].ndim == 2, in_types[1].ndim == 1, in_types[0].shape[0] == in_types[1].shape[0],
         in_types[2].ndim == 2, in_types[2].shape[1] == in_types[0].shape[1]);
  if (in_types.count() < 4) return;
  internal::expect_labels(in_types, 3);
  expect(in_types[3].ndim == 2, in_types[3].shape[0] == in_types[0].shape[0]);
}

// log(1 - exp(a)) for a <= 0. Uses the form that keeps the digits on either side of log(1/2).
class LogOfComplement final : public autograd::FunctionNode {
 public:
  std::string label() const override { return "log(1 - exp)"; }
  autograd::Arrays forward(const autograd::Arrays& in) override {
    retain_inputs({0});
    retain_outputs({0});
    const Array& a = in[0];
    const Array near = autograd::apply(catena::kernels::log, {-autograd::apply(catena::kernels::expm1, {a})}),
                far = autograd::apply(catena::kernels::log1p, {-autograd::apply(catena::kernels::exp, {a})});
    return {autograd::where(internal::greater(a, -std::log(2.0)), near, far)};
  }
  autograd::Variables backward(const autograd::Targets&, const autograd::Variables& gy) override {
    return {-gy[0] * exp(retained_input(0) - retained_output(0))};
  }
};

}  // namespace

Variable internal::row_products(const Variable& x, const Variable& W, const Array& ids) {
  const std::int64_t n = x.shape(0), columns = x.shape(1);
  const Variable rows = wide(get_item(W, {IndexItem(ids)}));
  return reshape(autograd::batch_matmul(rows, reshape(wide(x), {n, columns, 1})), {n, ids.shape(1)});
}

Variable black_out(const Variable& x, const Variable& t, const Variable& W, const Variable& samples,
                   const Averaged& o) {
  internal::check_reduce("black_out", o.reduce, {"mean", "sum", "no"});
  internal::check_inputs("BlackOut", "x t W samples", {x, t, W, samples}, expect_vocabulary);
  internal::check_labels("black_out", t.data(), W.shape(0), {});
  internal::check_labels("black_out", samples.data(), W.shape(0), {});
  const Array ids[] = {autograd::expand_dims(internal::labels_of(t.data()), 1), internal::labels_of(samples.data())};
  const Variable scores = internal::row_products(x, W, autograd::concatenate(ids, 1));
  const Variable log_share = scores - logsumexp(scores, 1, true);
  const Variable label = get_item(log_share, {Slice(), 0}), others = get_item(log_share, {Slice(), Slice(1, {})});
  return internal::reduced(-(label + sum(autograd::apply_node<LogOfComplement>({others})[0], 1)), o.reduce,
                           double(x.shape(0)), x.dtype());
}

NegativeSamplingResult negative_sampling(const Variable& x, const Variable& t, const Variable& W,
                                         const Sampler& sampler, int sample_size, const Summed& o, ReturnSamples) {
  constexpr const char* op = "negative_sampling";
  internal::check_reduce(op, o.reduce, {"sum", "mean", "no"});
  internal::check_inputs("NegativeSamplingFunction", "x t W", {x, t, W}, expect_vocabulary);
  catena::check<catena::ValueError>(sample_size >= 0, op, "sample_size is ", sample_size, " and must not be negative");
  internal::check_labels(op, t.data(), W.shape(0), -1);
  const Shape shape{x.shape(0), sample_size + 1};
  const Array drawn = sampler(shape);
  if (!drawn || drawn.shape() != shape || !catena::is_integer(drawn.dtype()))
    catena::fail<catena::ValueError>(op, "the sampler must return integers of the shape ", shape, ", not ",
                                     drawn ? catena::concat(drawn.dtype(), " of ", drawn.shape()) : "no array");
  const Array parts[] = {autograd::expand_dims(internal::labels_of(t.data()), 1),
                         internal::labels_of(autograd::slice(autograd::to_device(drawn, x.device()), 1, 1, shape[1]))};
  const Array samples = autograd::concatenate(parts, 1), known = internal::not_equal(parts[0], -1);
  const Variable scores = internal::row_products(x, W, autograd::where(known, samples, 0));
  // The loss decreases if the product with the label is large and the products with the samples are small.
  const Array first = internal::equal(autograd::arrays::arange(shape[1], autograd::Dtype::int64, x.device()), 0);
  const Variable parts_of_loss =
      autograd::masked(softplus(scores * autograd::where(first, -1, 1)), autograd::broadcast_to(known, shape));
  return {internal::reduced(sum(parts_of_loss, 1), o.reduce, double(x.shape(0)), x.dtype()), samples};
}

Variable negative_sampling(const Variable& x, const Variable& t, const Variable& W, const Sampler& sampler,
                           int sample_size, const Summed& o) {
  return negative_sampling(x, t, W, sampler, sample_size, o, return_samples).loss;
}

}  // namespace nn
