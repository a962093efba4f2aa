// Operators that reduce axes.
#include <array>
#include <limits>
#include <optional>

#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/basic_math.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/kernels/registry/families.h>
#include <catena/nn/onnx/import_operator.h>

namespace nn::onnx::importing {

namespace reductions {
namespace {

namespace kernels = catena::kernels;
constexpr double kInfinite = std::numeric_limits<double>::infinity();
using autograd::Axes;
using Call = const OperatorCall&;

// A sum of integers is computed on arrays, in the dtype of x.
struct Reduction {
  Variable (*floating)(const Variable& x, const Axes& axes, bool keepdims);
  const catena::KernelDef* kernel = nullptr;
  // The result of no elements, of reductions that have none otherwise; of integers, the least or greatest number.
  std::optional<double> of_none = {};
};

// The axes are an attribute, and an input from version 18 on, of ReduceSum from 13 on.
Variables reduced(Call c, const Reduction& r, std::int64_t since = 18) {
  Variable x = c.input(0);
  const Integers given = c.integers("axes", 1, since);
  const bool keepdims = c.integer("keepdims", 1) != 0;
  if (given.empty() && c.integer("noop_with_empty_axes", 0) != 0) return {x};
  catena::Dims list;
  for (const std::int64_t axis : given) list.push_back(c.axis(axis, x.ndim()));
  if (given.empty())
    for (int k = 0; k < x.ndim(); ++k) list.push_back(k);
  if (list.empty()) x = autograd::reshape(x, {1}), list.push_back(0);
  const bool adds_axis = c.input(0).ndim() == 0;
  const Axes axes(list);
  const bool keep = keepdims && !adds_axis;
  if (x.size() == 0 && r.of_none) {
    const Shape shape = autograd::reduce(kernels::sum, x.data(), axes, keep).shape();
    return {constant(autograd::arrays::full(shape, autograd::Scalar(*r.of_none), x.dtype(), x.device()))};
  }
  if (is_floating(x)) return {r.floating(x, axes, keep)};
  if (r.kernel != nullptr)
    return {constant(autograd::astype(autograd::reduce(*r.kernel, x.data(), axes, keep), x.dtype()))};
  const Variable wide = constant(autograd::astype(x.data(), Dtype::float64));
  return {cast_to(r.floating(wide, axes, keep), x.dtype())};
}

Variable l1(const Variable& x, const Axes& axes, bool keepdims) {
  return autograd::sum(autograd::absolute(x), axes, keepdims);
}
Variable sum_of_squares(const Variable& x, const Axes& axes, bool keepdims) {
  return autograd::sum(autograd::square(x), axes, keepdims);
}
Variable l2(const Variable& x, const Axes& axes, bool keepdims) {
  return autograd::sqrt(sum_of_squares(x, axes, keepdims));
}
Variable log_of_sum(const Variable& x, const Axes& axes, bool keepdims) {
  return autograd::log(autograd::sum(x, axes, keepdims));
}
Variable sum(const Variable& x, const Axes& axes, bool keepdims) { return autograd::sum(x, axes, keepdims); }
Variable mean(const Variable& x, const Axes& axes, bool keepdims) { return autograd::mean(x, axes, keepdims); }
Variable prod(const Variable& x, const Axes& axes, bool keepdims) { return autograd::prod(x, axes, keepdims); }
Variable max(const Variable& x, const Axes& axes, bool keepdims) { return autograd::max(x, axes, keepdims); }
Variable min(const Variable& x, const Axes& axes, bool keepdims) { return autograd::min(x, axes, keepdims); }
Variable logsumexp(const Variable& x, const Axes& axes, bool keepdims) {
  return autograd::logsumexp(x, axes, keepdims);
}

template <auto f> Variables by(Call c) { return reduced(c, {f}); }
Variables reduce_sum(Call c) { return reduced(c, {sum, &kernels::sum}, 13); }
Variables reduce_prod(Call c) { return reduced(c, {prod, &kernels::prod}); }
Variables reduce_max(Call c) {
  const bool is_bool = c.input(0).dtype() == Dtype::bool_;
  return reduced(c, {max, &kernels::amax, is_bool ? 0 : -kInfinite});
}
Variables reduce_min(Call c) { return reduced(c, {min, &kernels::amin, kInfinite}); }
Variables reduce_log_sum_exp(Call c) { return reduced(c, {logsumexp, nullptr, -kInfinite}); }

// Of equal elements the first, or the last one.
template <auto f> Variables position(Call c) {
  const Variable& given = c.input(0);
  const Variable x = is_floating(given) ? given : constant(autograd::astype(given.data(), Dtype::float64));
  const int axis = c.axis(c.integer("axis", 0), x.ndim());
  const bool last = c.integer("select_last_index", 0) != 0;
  Variable y = cast_to(f(last ? autograd::flip(x, axis) : x, axis), Dtype::int64);
  if (last) {
    const autograd::Scalar end(x.shape(axis) - 1);
    y = constant(autograd::apply(kernels::subtract, {end, y.data()}));
  }
  return {c.integer("keepdims", 1) != 0 ? autograd::expand_dims(y, axis) : y};
}
Variable argmax(const Variable& x, int axis) { return autograd::argmax(x, axis); }
Variable argmin(const Variable& x, int axis) { return autograd::argmin(x, axis); }

constexpr std::array kOperators = {
    Operator{"ArgMax", position<argmax>},
    Operator{"ArgMin", position<argmin>},
    Operator{"ReduceL1", by<l1>},
    Operator{"ReduceL2", by<l2>},
    Operator{"ReduceLogSum", by<log_of_sum>},
    Operator{"ReduceLogSumExp", reduce_log_sum_exp},
    Operator{"ReduceMax", reduce_max},
    Operator{"ReduceMean", by<mean>},
    Operator{"ReduceMin", reduce_min},
    Operator{"ReduceProd", reduce_prod},
    Operator{"ReduceSum", reduce_sum},
    Operator{"ReduceSumSquare", by<sum_of_squares>},
};

}  // namespace
}  // namespace reductions

std::span<const Operator> reduction_operators() { return reductions::kOperators; }

}  // namespace nn::onnx::importing
