// Losses of two arrays of one shape, of pairs and triples of rows, and losses on covariances.
#include <catena/autograd/function_node.h>
#include <catena/autograd/functions/basic_math.h>
#include <catena/autograd/functions/elementwise.h>
#include <catena/autograd/functions/linalg.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/nn/functions/activation.h>
#include <catena/nn/functions/composed.h>
#include <catena/nn/functions/labels.h>
#include <catena/nn/functions/loss.h>
#include <catena/nn/functions/loss_modules.h>
#include <catena/nn/functions/probability_loss.h>

namespace nn {

using autograd::Arrays;
using autograd::Dtype;
using autograd::FunctionNode;
using autograd::Targets;
using autograd::type_check::TypeInfoTuple;
using catena::check;
using catena::ValueError;
using internal::narrowed;
using internal::wide;

// ---- errors -------------------------------------------------------------------------------------
namespace {

Variable difference(const char* label, const Variable& x0, const Variable& x1) {
  internal::check_inputs(label, "x0 x1", {x0, x1}, internal::expect_alike);
  return wide(x0) - wide(x1);
}

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
    // Computed in float32: the square of a difference of 256 is outside the range of float16.
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

Variable absolute_error(const Variable& x0, const Variable& x1) {
  return narrowed(absolute(difference("AbsoluteError", x0, x1)), internal::loss_dtype(x0.dtype()));
}
Variable squared_error(const Variable& x0, const Variable& x1) {
  return narrowed(square(difference("SquaredError", x0, x1)), internal::loss_dtype(x0.dtype()));
}

Variable internal::mean_absolute_error(const Variable& x0, const Variable& x1, const Averaged& o) {
  check_reduce("mean_absolute_error", o.reduce, {"mean", "sum", "no"});
  const Variable errors = absolute(difference("MeanAbsoluteError", x0, x1));
  if (o.reduce == "mean") return narrowed(mean(errors), loss_dtype(x0.dtype()));
  return reduced(errors, o.reduce, 1, x0.dtype());
}
Averaged internal::averaged(const LossReduction& o) { return {reduce_of("loss", o.reduction)}; }

Variable internal::mean_squared_error(const Variable& x0, const Variable& x1, const Averaged& o) {
  check_reduce("mean_squared_error", o.reduce, {"mean", "sum", "no"});
  if (o.reduce == "mean") return autograd::apply_node<MeanSquaredError>({x0, x1})[0];
  return reduced(square(difference("MeanSquaredError", x0, x1)), o.reduce, 1, x0.dtype());
}

// Returns a^2 / 2 where |a| <= delta, else delta (|a| - delta / 2).
static Variable huber(const Variable& a, double delta) {
  // By a mask, which takes less memory in the graph than the numbers that absolute() would keep.
  const Variable distance = where(internal::less_equal(a.data(), 0), -a, a);
  const Array is_near = internal::less_equal(distance.data(), delta);
  // The square of a large difference is infinite, and its gradient times 0 would be NaN.
  const Variable near = where(is_near, a, zeros_like(a.data()));
  return where(is_near, square(near) * 0.5, distance * delta - 0.5 * delta * delta);
}

Variable huber_loss(const Variable& x, const Variable& t, double delta, const HuberOptions& o) {
  internal::check_reduce("huber_loss", o.reduce, {"sum_along_second_axis", "no", "mean", "sum"});
  check<ValueError>(delta >= 0, "huber_loss", "delta is ", delta, " and must not be negative");
  const bool along_axis = o.reduce == "sum_along_second_axis";
  internal::check_inputs("HuberLoss", "x t", {x, t}, [&](const TypeInfoTuple& in_types) {
    using namespace autograd::type_check;
    internal::expect_alike(in_types);
    if (along_axis) expect(in_types[0].ndim >= 2);
  });
  const Variable losses = huber(wide(x) - wide(t), delta);
  if (along_axis) return narrowed(sum(losses, 1), internal::loss_dtype(x.dtype()));
  return internal::reduced(losses, o.reduce, double(x.size()), x.dtype());
}

Variable smooth_l1(const Variable& x, const Variable& t, const SmoothL1Options& o) {
  internal::check_reduce("smooth_l1", o.reduce, {"mean", "sum", "no"});
  check<ValueError>(o.beta >= 0, "smooth_l1", "beta is ", o.beta, " and must not be negative");
  internal::check_inputs("SmoothL1", "x t", {x, t}, internal::expect_alike);
  const Variable a = wide(x) - wide(t);
  const Variable losses = o.beta == 0 ? absolute(a) : huber(a, o.beta) * (1 / o.beta);
  return internal::reduced(losses, o.reduce, double(x.size()), x.dtype());
}
Variable huber_loss(const Variable& x, const Variable& t, const HuberLossOptions& o) {
  return huber_loss(x, t, o.delta, HuberOptions{internal::reduce_of("huber_loss", o.reduction)});
}

Variable smooth_l1_loss(const Variable& x, const Variable& t, const SmoothL1LossOptions& o) {
  return smooth_l1(x, t, {.beta = o.beta, .reduce = internal::reduce_of("smooth_l1_loss", o.reduction)});
}

// ---- metric learning ----------------------------------------------------------------------------
namespace {

// Checks for matrices of one shape with at least one row, and, if there is another input, a label per row.
void expect_rows(const TypeInfoTuple& in_types, int matrices) {
  using namespace autograd::type_check;
  internal::expect_floats(in_types, 0, matrices - 1);
  expect(in_types[0].ndim == 2, in_types[0].shape[0] > 0);
  for (int i = 1; i < matrices; ++i) expect(in_types[i].shape == in_types[0].shape);
  if (int(in_types.count()) == matrices) return;
  internal::expect_labels(in_types, matrices);
  expect(in_types[matrices].ndim == 1, in_types[matrices].shape[0] == in_types[0].shape[0]);
}

void check_margin(const char* op, double margin) {
  check<ValueError>(margin > 0, op, "margin is ", margin, " and must be positive");
}

}  // namespace

Variable contrastive(const Variable& x0, const Variable& x1, const Variable& y, const ContrastiveOptions& o) {
  internal::check_reduce("contrastive", o.reduce, {"mean", "sum", "no"});
  check_margin("contrastive", o.margin);
  internal::check_inputs("Contrastive", "x0 x1 y", {x0, x1, y},
                         [](const TypeInfoTuple& in_types) { expect_rows(in_types, 2); });
  const Variable squares = sum(square(wide(x0) - wide(x1)), 1);
  const Array is_pair = internal::converted(y.data(), squares.dtype());
  const Variable losses =
      (squares * is_pair + square(relu(o.margin - internal::root(squares))) * internal::complement(is_pair)) * 0.5;
  return internal::reduced(losses, o.reduce, double(x0.shape(0)), x0.dtype());
}

Variable triplet(const Variable& anchor, const Variable& positive, const Variable& negative, const TripletOptions& o) {
  internal::check_reduce("triplet", o.reduce, {"mean", "sum", "no"});
  check_margin("triplet", o.margin);
  internal::check_inputs("Triplet", "anchor positive negative", {anchor, positive, negative},
                         [](const TypeInfoTuple& in_types) { expect_rows(in_types, 3); });
  const Variable a = wide(anchor);
  const Variable losses = relu(sum(square(a - wide(positive)) - square(a - wide(negative)), 1) + o.margin);
  return internal::reduced(losses, o.reduce, double(anchor.shape(0)), anchor.dtype());
}

// ---- covariances --------------------------------------------------------------------------------
namespace {

Variable centred(const Variable& x) { return x - mean(x, 0, true); }

Variable half_squared_sum(const Variable& c, const CovarianceOptions& o, Dtype dtype) {
  return narrowed(o.reduce == "no" ? c : sum(square(c)) * 0.5, internal::loss_dtype(dtype));
}

// Checks for matrices with the same number of rows, at least one.
void expect_batches(const TypeInfoTuple& in_types) {
  using namespace autograd::type_check;
  internal::expect_floats(in_types, 0, int(in_types.count()) - 1);
  expect(in_types[0].ndim == 2, in_types[0].shape[0] > 0);
  for (int i = 1; i < int(in_types.count()); ++i)
    expect(in_types[i].ndim == 2, in_types[i].shape[0] == in_types[0].shape[0]);
}

}  // namespace

Variable cross_covariance(const Variable& y, const Variable& z, const CovarianceOptions& o) {
  internal::check_reduce("cross_covariance", o.reduce, {"half_squared_sum", "no"});
  internal::check_inputs("CrossCovariance", "y z", {y, z}, expect_batches);
  const Variable c = matmul(centred(wide(y)), centred(wide(z)), {.transa = true}) / double(y.shape(0));
  return half_squared_sum(c, o, y.dtype());
}

Variable decov(const Variable& h, const CovarianceOptions& o) {
  internal::check_reduce("decov", o.reduce, {"half_squared_sum", "no"});
  internal::check_inputs("DeCov", "h", {h}, expect_batches);
  const Variable deviation = centred(wide(h));
  const Array columns = autograd::arrays::arange(h.shape(1), Dtype::int64, h.device());
  const Array off_diagonal = internal::not_equal(columns, autograd::expand_dims(columns, 1));
  const Variable c = matmul(deviation, deviation, {.transa = true}) / double(h.shape(0));
  return half_squared_sum(autograd::masked(c, off_diagonal), o, h.dtype());
}

}  // namespace nn
