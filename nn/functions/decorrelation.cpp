#include <catena/nn/functions/decorrelation.h>

#include <tuple>

#include <catena/autograd/function_node.h>
#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/basic_math.h>
#include <catena/autograd/functions/linalg.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/variable_node.h>
#include <catena/nn/functions/composed.h>

namespace nn {

using autograd::Array;
using autograd::Arrays;
using autograd::Dims;
using autograd::Shape;
using autograd::Targets;
using autograd::Variables;
using catena::check;
using catena::ValueError;
using internal::narrowed;
using internal::wide;

namespace {

Variable transposed(const Variable& m) { return autograd::swapaxes(m, -2, -1); }

// V diag(w) V^T
Variable composed(const Variable& V, const Variable& w) {
  const Variable scaled = V * autograd::broadcast_to(autograd::expand_dims(w, -2), V.shape());
  return autograd::linalg_matmul(scaled, transposed(V));
}

// C^(-1/2) of symmetric positive matrices (..., n, n). The rule divides by sums of eigenvalues, not by their
// differences: it is the derivative of a function of a matrix by divided differences (Daleckii and Krein),
// f[a, b] = -1 / (sqrt(a) sqrt(b) (sqrt(a) + sqrt(b))) for f(a) = a^(-1/2).
class InverseRoot final : public autograd::FunctionNode {
 public:
  std::string label() const override { return "InverseRoot"; }
  Arrays forward(const Arrays& in) override {
    retain_inputs({0});
    const auto no_graph = autograd::no_backprop_mode();
    const auto [w, V] = autograd::eigh(Variable(in[0]));
    w_ = w.data(), V_ = V.data();
    return {composed(V, 1 / autograd::sqrt(w)).data()};
  }
  Variables backward(const Targets&, const Variables& gy) override {
    // The decomposition of forward is a constant; a derivative of this rule needs that of the input.
    const auto [w, V] = needs_double_backprop() ? autograd::eigh(retained_input(0))
                                                : autograd::EighResult{autograd::internal::constant_variable(w_),
                                                                       autograd::internal::constant_variable(V_)};
    const Variable root = autograd::sqrt(w), row = autograd::expand_dims(root, -2),
                   column = autograd::expand_dims(root, -1);
    const Variable quotients = -1 / (row * column * (row + column));
    const Variable G = (gy[0] + transposed(gy[0])) * 0.5;
    const Variable inner = autograd::linalg_matmul(autograd::linalg_matmul(transposed(V), G), V) * quotients;
    return {autograd::linalg_matmul(autograd::linalg_matmul(V, inner), transposed(V))};
  }

 private:
  Array w_, V_;
};

// Checks x and returns it by groups: (groups, C / groups, N * positions).
Variable by_groups(const char* op, const Variable& x, int groups) {
  internal::check_inputs("DecorrelatedBatchNormalization", "x", {x},
                         [](const autograd::type_check::TypeInfoTuple& in_types) {
                           using namespace autograd::type_check;
                           expect(in_types[0].dtype.kind() == 'f', in_types[0].ndim >= 2);
                         });
  check<ValueError>(groups >= 1 && x.shape(1) % groups == 0, op, "x has ", x.shape(1), " channels, which ", groups,
                    " groups do not divide");
  check<ValueError>(x.size() > 0, op, "x of shape ", x.shape(), " has no elements");
  const std::int64_t n = x.shape(1) / groups;
  const Variable parts = autograd::reshape(wide(x), {x.shape(0), groups, n, x.size() / (x.shape(0) * x.shape(1))});
  return autograd::reshape(autograd::transpose(parts, Dims{1, 2, 0, 3}), {groups, n, x.size() / x.shape(1)});
}

// The other way round, in the shape and dtype of x.
Variable as_batch(const Variable& y, const Variable& x) {
  const std::int64_t positions = x.size() / (x.shape(0) * x.shape(1));
  const Variable parts = autograd::reshape(y, {y.shape(0), y.shape(1), x.shape(0), positions});
  return narrowed(autograd::reshape(autograd::transpose(parts, Dims{2, 0, 1, 3}), x.shape()), x.dtype());
}

void update(const Array& running, const Variable& value, double decay) {
  if (!running) return;
  autograd::assign(running, running * decay + autograd::reshape(value.data(), running.shape()) * (1 - decay));
}

void check_running(const Array& running, const char* name, const Shape& shape) {
  check<ValueError>(!running || running.shape() == shape, "decorrelated_batch_normalization", name, " has the shape ",
                    running ? running.shape() : Shape(), "; it must be ", shape);
}

}  // namespace

Variable decorrelated_batch_normalization(const Variable& x, const DecorrelatedBatchNormalizationOptions& o) {
  constexpr const char* kOp = "decorrelated_batch_normalization";
  check<ValueError>(o.eps > 0, kOp, "eps is ", o.eps, "; it must be positive");
  const Variable parts = by_groups(kOp, x, o.groups);
  const std::int64_t n = parts.shape(1);
  check_running(o.running_mean, "running_mean", {o.groups, n});
  check_running(o.running_projection, "running_projection", {o.groups, n, n});
  const Variable mean = autograd::mean(parts, {2}, true), centered = parts - mean;
  const Variable diagonal = autograd::diag_embed(Variable(
      autograd::arrays::full({o.groups, n}, o.eps, parts.dtype(), parts.device()), {.volatile_ = autograd::AUTO}));
  const Variable cov =
      autograd::linalg_matmul(centered, transposed(centered)) * (1.0 / double(parts.shape(2))) + diagonal;
  const Variable P = autograd::apply_node<InverseRoot>({cov})[0];
  update(o.running_mean, mean, o.decay);
  update(o.running_projection, P, o.decay);
  return as_batch(autograd::linalg_matmul(P, centered), x);
}

Variable fixed_decorrelated_batch_normalization(const Variable& x, const Variable& mean, const Variable& projection,
                                                int groups) {
  const Variable parts = by_groups("fixed_decorrelated_batch_normalization", x, groups);
  const std::int64_t n = parts.shape(1);
  for (const auto& [given, name, shape] :
       {std::tuple(&mean, "mean", Shape{groups, n}), std::tuple(&projection, "projection", Shape{groups, n, n})})
    check<ValueError>(*given && given->shape() == shape, "fixed_decorrelated_batch_normalization", name,
                      " must have the shape ", shape);
  const Variable centered = parts - autograd::expand_dims(wide(mean), 2);
  return as_batch(autograd::linalg_matmul(wide(projection), centered), x);
}

}  // namespace nn
