#include <catena/autograd/functions/reduction.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include <catena/autograd/autocast.h>
#include <catena/autograd/function_node.h>
#include <catena/autograd/function_options.h>
#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/elementwise.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/input_types.h>
#include <catena/kernels/base/view_layout.h>
#include <catena/kernels/registry/families.h>

namespace autograd {

using type_check::TypeInfoTuple;

namespace {

// Restores the reduced axes of a gradient with length 1.
Variable with_kept_axes(const Variable& g, const Shape& shape, const Dims& axes) {
  return reshape(g, catena::reduced_shape(shape, axes, true));
}

class Reduction : public FunctionNode, public internal::HasOptions {
 public:
  Reduction(const Axes& axes, bool keepdims) : axes_(axes), keepdims_(keepdims) {}
  void options(internal::FunctionOptions& o) const override {
    if (axes_.given()) o.integers("axes", axes_.values());
    o.integer("keepdims", keepdims_);
  }
  void check_type_forward(const TypeInfoTuple& in_types) const override {
    using namespace type_check;
    expect(in_types.size() == 1);
    if (takes_integers()) expect(in_types[0].dtype.kind() != 'c');
    else expect(in_types[0].dtype.kind() == 'f');
    autograd::internal::expect_axes(in_types, axes_);
  }
  virtual bool takes_integers() const { return false; }

  // Broadcasts a value of the result's shape over the reduced axes.
  Variable spread(const Variable& g) const {
    const Shape shape = input_shape(0);
    if (keepdims_ || !axes_.given()) return broadcast_to(g, shape);
    return broadcast_to(with_kept_axes(g, shape, axes_of(shape.size())), shape);
  }
  // Returns for each element the product of the others along the reduced axes.
  Variable others(const Variable& x) const;
  // Returns the distances from the mean along the reduced axes.
  Variable centred(const Variable& x) const {
    const Variable wide = cast(x, catena::compute_dtype(x.dtype()));
    return cast(wide - mean(wide, axes_of(x.ndim()), true), x.dtype());
  }

 protected:
  Dims axes_of(int rank) const { return catena::reduced_axes("reduction", axes_, rank); }

  Axes axes_;
  bool keepdims_;
};

// Returns for each element of x (M, N) the product of the others of its row. Elements i and i + N / 2 are a pair. The
// product of the others is that of the other pairs, by this function, times the other element of the pair.
Variable products_of_others(const Variable& x) {
  const std::int64_t n = x.shape(1);
  if (n <= 1) return Variable(ones_like(x.data()));
  if (n % 2 != 0) {
    const Variable one(arrays::full({x.shape(0), 1}, 1, x.dtype(), x.device()));
    return split_axis(products_of_others(concat({x, one}, 1)), {n}, 1)[0];
  }
  const Variables half = split_axis(x, 2, 1);
  const Variable rest = products_of_others(half[0] * half[1]);
  return concat({rest * half[1], rest * half[0]}, 1);
}

Variable Reduction::others(const Variable& x) const {
  if (x.size() == 0) return x;
  const Dims reduced = axes_of(x.ndim());
  Dims order;
  std::int64_t n = 1;
  for (int axis = 0; axis < x.ndim(); ++axis)
    if (std::find(reduced.begin(), reduced.end(), axis) == reduced.end()) order.push_back(axis);
  for (const std::int64_t axis : reduced) {
    order.push_back(axis);
    n *= x.shape(int(axis));
  }
  const Variable moved = transpose(cast(x, catena::compute_dtype(x.dtype())), order);
  const Variable products = reshape(products_of_others(reshape(moved, {x.size() / n, n})), moved.shape());
  return cast(transpose(products, catena::inverse_axes(order)), x.dtype());
}

// ---- the reductions of autograd/reductions.inc --------------------------------------------------

// The values that a rule reads; x and y are null unless the rule retains them.
struct ReductionValues {
  Variable x, y;
  const Variable& gy;
  double count;  // elements per result
  struct Spread {
    const Reduction& node;
    Variable operator()(const Variable& v) const { return node.spread(v); }
  } spread;
};
struct ReductionReads {
  static constexpr Retain nothing = kRetainNothing, x = kRetainX, y = kRetainY, xy = kRetainX | kRetainY;
};
struct ReductionDtypes {
  static constexpr bool any = true, floating = false;
};
struct ReductionRule {
  const char *name, *label;
  Array (*compute)(const Array& x, const Axes& axes, bool keepdims);
  bool takes_integers;
  Retain retain;
  Variable (*gradient)(const ReductionValues& v);
};

class ReductionByRule final : public Reduction {
 public:
  ReductionByRule(const ReductionRule& rule, const Axes& axes, bool keepdims)
      : Reduction(axes, keepdims), rule_(rule) {}
  std::string label() const override { return rule_.label; }
  // The name of the input belongs to the message about its dtype, which says how to convert it.
  std::string_view input_names() const override { return rule_.takes_integers ? "" : "x"; }
  bool takes_integers() const override { return rule_.takes_integers; }
  Arrays forward(const Arrays& x) override {
    if (rule_.retain & kRetainX) retain_inputs({0});
    if (rule_.retain & kRetainY) retain_outputs({0});
    if (!axes_.given()) return {rule_.compute(x[0], axes_, keepdims_)};
    return {rule_.compute(x[0], catena::normalize_axes(rule_.name, axes_, x[0].ndim()), keepdims_)};
  }
  Variables backward(const Targets&, const Variables& gy) override {
    if (!catena::is_floating(input_dtype(0))) return {Variable()};
    const double count = double(catena::size_of(input_shape(0))) / double(gy[0].size());
    return {rule_.gradient({.x = rule_.retain & kRetainX ? retained_input(0) : Variable(),
                            .y = rule_.retain & kRetainY ? retained_output(0) : Variable(),
                            .gy = gy[0],
                            .count = count,
                            .spread = {*this}})};
  }

 private:
  const ReductionRule& rule_;
};

// Names that the list uses.
template <const catena::KernelDef& kKernel> Array reduced(const Array& x, const Axes& axes, bool keepdims) {
  return reduce(kKernel, x, axes, keepdims);
}
Array standard_deviation(const Array& x, const Axes& axes, bool keepdims) {
  const Array wide = astype(x, catena::compute_dtype(x.dtype()));
  return astype(apply(catena::kernels::sqrt, {reduce(catena::kernels::var, wide, axes, keepdims)}), x.dtype());
}
Array equal_elements(const Variable& a, const Variable& b) {
  return apply(catena::kernels::equal, {a.data(), b.data()});
}

class BatchL2NormSquared final : public FunctionNode {
 public:
  std::string label() const override { return "BatchL2NormSquared"; }
  void check_type_forward(const TypeInfoTuple& in_types) const override {
    using namespace type_check;
    expect(in_types[0].dtype.kind() == 'f', in_types[0].ndim >= 2);
  }
  Arrays forward(const Arrays& x) override {
    retain_inputs({0});
    Dims axes;
    for (int i = 1; i < x[0].ndim(); ++i) axes.push_back(i);
    return {astype(reduce(catena::kernels::sum_squares, x[0], axes), x[0].dtype())};
  }
  Variables backward(const Targets&, const Variables& gy) override {
    const Variable x = retained_input(0);
    Shape shape = gy[0].shape();
    shape.resize(x.ndim(), 1);
    return {x * 2 * reshape(gy[0], shape)};
  }
};

class LogSumExp final : public Reduction {
 public:
  using Reduction::Reduction;
  std::string label() const override { return "LogSumExp"; }
  Arrays forward(const Arrays& x) override {
    retain_inputs({0});
    retain_outputs({0});
    const Dims axes = axes_of(x[0]);
    const Array greatest = amax(x[0], axes, true);
    // Elements of a slice with an infinite maximum are not shifted.
    const Array shift = where(apply(catena::kernels::isfinite, {greatest}), greatest, 0);
    const Array y = apply(catena::kernels::log, {sum(apply(catena::kernels::exp, {x[0] - shift}), axes, true)}) + shift;
    return {keepdims_ ? y : reshape(y, catena::reduced_shape(x[0].shape(), axes, false))};
  }
  // Where y is -inf, x - y is NaN, so the gradient is set to 0.
  Variables backward(const Targets&, const Variables& gy) override {
    const Variable y = retained_output(0);
    const Array empty = apply(catena::kernels::equal, {y.data(), -std::numeric_limits<double>::infinity()});
    return {exp(retained_input(0) - spread(where(empty, 0, y))) * spread(gy[0])};
  }

 private:
  Dims axes_of(const Array& x) const { return catena::normalize_axes("logsumexp", axes_, x.ndim()); }
};

// The position of an extremum; it has no gradient.
class ArgExtremum final : public FunctionNode, public internal::HasOptions {
 public:
  ArgExtremum(const std::optional<int>& axis, bool greatest) : axis_(axis), greatest_(greatest) {}
  std::string label() const override { return greatest_ ? "ArgMax" : "ArgMin"; }
  void options(internal::FunctionOptions& o) const override {
    if (axis_) o.integer("axis", *axis_);
  }
  void check_type_forward(const TypeInfoTuple& in_types) const override {
    using namespace type_check;
    expect(in_types[0].dtype.kind() != 'c');
    if (axis_) autograd::internal::expect_axes(in_types, *axis_);
  }
  Arrays forward(const Arrays& x) override {
    const Array along = axis_ ? x[0] : autograd::reshape(x[0], {x[0].size()});
    const Array at = reduce(greatest_ ? catena::kernels::argmax : catena::kernels::argmin, along, axis_.value_or(0));
    return {astype(at, Dtype::int32)};
  }

 private:
  std::optional<int> axis_;
  bool greatest_;
};

class SumTo final : public FunctionNode {
 public:
  explicit SumTo(const Shape& shape) : shape_(shape) {}
  std::string label() const override { return "SumTo"; }
  Arrays forward(const Arrays& x) override { return {sum_to(x[0], shape_)}; }
  Variables backward(const Targets&, const Variables& gy) override { return {broadcast_to(gy[0], input_shape(0))}; }

 private:
  Shape shape_;
};

}  // namespace

#define CATENA_REDUCTION_RULE(name, label, computed_by, dtypes, reads, rule)             \
  static Variable name##_by_rule(const Variable& of, const Axes& axes, bool keepdims) {  \
    static constexpr ReductionRule kRule = {#name,                                       \
                                            label,                                       \
                                            computed_by,                                 \
                                            ReductionDtypes::dtypes,                     \
                                            ReductionReads::reads,                       \
                                            [](const ReductionValues& v) -> Variable {   \
                                              const auto& [x, y, gy, count, spread] = v; \
                                              return rule;                               \
                                            }};                                          \
    return apply_node<ReductionByRule>({of}, kRule, axes, keepdims)[0];                  \
  }                                                                                      \
  Variable Variable::name##_over(const Axes& axes, bool keepdims) const {                \
    return name##_by_rule(*this, axes, keepdims);                                        \
  }
#include <catena/autograd/reductions.inc>
#undef CATENA_REDUCTION_RULE

namespace {

// Returns the axes of a call that has them by position or among the options.
const Axes& only_axes(const char* name, const Axes& axes, const Axes& option) {
  catena::check<catena::ValueError>(!axes.given() || !option.given(), name, "the axes are given twice");
  return axes.given() ? axes : option;
}

// Returns the number of elements of a variance over its divisor.
double correction(const Variable& x, const Variable& y, double ddof) {
  const double n = y.size() == 0 ? 0 : double(x.size()) / double(y.size());
  return n / std::max(n - ddof, 0.0);
}

bool is_narrow(const Variable& x) { return x && catena::is_floating(x.dtype()) && catena::itemsize(x.dtype()) < 4; }

// Returns the weights in a shape that broadcasts to x: with the axes `axes`, in the order given.
Variable weights_along(const Variable& x, const Variable& weights, const Axes& axes) {
  if (!axes.given()) return weights;
  const Dims sorted = catena::normalize_axes("average", axes, x.ndim());
  Dims order;
  Shape shape = Shape::filled(x.ndim(), 1);
  for (const std::int64_t axis : sorted) {
    for (int k = 0; k < axes.values().size(); ++k)
      if (catena::normalize_axis("average", axes.values()[k], x.ndim()) == axis) order.push_back(k);
    shape[int(axis)] = x.shape(int(axis));
  }
  return reshape(order.size() > 1 ? transpose(weights, order) : weights, shape);
}

}  // namespace

Variable average(const Variable& x, const Axes& axes, const Variable& weights, bool keepdims) {
  if (!weights) return mean(x, axes, keepdims);
  internal::check_input_types(
      "Average", {x, weights},
      [&](const TypeInfoTuple& in_types) {
        using namespace type_check;
        expect(in_types[0].dtype.kind() == 'f', in_types[0].dtype == in_types[1].dtype);
        autograd::internal::expect_axes(in_types, axes);
        if (!axes.given()) return expect(in_types[1].shape == in_types[0].shape);
        const int rank = in_types.shape(0).size();
        expect(in_types[1].ndim == variable(axes.values().size(), "len(axis)"));
        for (int k = 0; k < axes.values().size(); ++k)
          expect(in_types[1].shape[k] == in_types[0].shape[catena::normalize_axis("average", axes.values()[k], rank)]);
      },
      "x weights");
  // The sums of 16-bit floats may overflow although the quotient does not.
  if (is_narrow(x))
    return cast(average(cast(x, Dtype::float32), axes, cast(weights, Dtype::float32), keepdims), x.dtype());
  return sum(x * weights_along(x, weights, axes), axes, keepdims) / sum(weights);
}

Variable var(const Variable& x, const Axes& axes, const VarianceOptions& o) {
  const Axes& over = only_axes("var", axes, o.axes());
  const Variable y = var(x, over, o.keeps());
  return o.subtracted() == 0 ? y : y * correction(x, y, o.subtracted());
}
Variable std(const Variable& x, const Axes& axes, const VarianceOptions& o) {
  const Axes& over = only_axes("std", axes, o.axes());
  const Variable y = std(x, over, o.keeps());
  return o.subtracted() == 0 ? y : y * std::sqrt(correction(x, y, o.subtracted()));
}

#define CATENA_WITH_OPTIONS(name)                                                                \
  Variable Variable::name(const ReductionOptions& o) const { return name(o.axes(), o.keeps()); } \
  Variable Variable::name(const Axes& axes, const ReductionOptions& o) const {                   \
    return name(only_axes(#name, axes, o.axes()), o.keeps());                                    \
  }
CATENA_WITH_OPTIONS(sum)
CATENA_WITH_OPTIONS(mean)
CATENA_WITH_OPTIONS(prod)
#undef CATENA_WITH_OPTIONS
Variable Variable::var(const VarianceOptions& o) const { return autograd::var(*this, {}, o); }
Variable Variable::var(const Axes& axes, const VarianceOptions& o) const { return autograd::var(*this, axes, o); }
Variable Variable::std(const VarianceOptions& o) const { return autograd::std(*this, {}, o); }
Variable Variable::std(const Axes& axes, const VarianceOptions& o) const { return autograd::std(*this, axes, o); }

Variable logsumexp(const Variable& x, const Axes& axes, bool keepdims) {
  // For 16-bit floats, exp(x - y) would have the rounding error of y.
  if (is_narrow(x)) {
    const Variable y = logsumexp(cast(x, Dtype::float32), axes, keepdims);
    return autocast_dtype() ? y : cast(y, x.dtype());
  }
  return apply_node<LogSumExp>({x}, axes, keepdims)[0];
}

Variable batch_l2_norm_squared(const Variable& x) { return apply_node<BatchL2NormSquared>({x})[0]; }
Variable argmax(const Variable& x, std::optional<int> axis) { return apply_node<ArgExtremum>({x}, axis, true)[0]; }
Variable argmin(const Variable& x, std::optional<int> axis) { return apply_node<ArgExtremum>({x}, axis, false)[0]; }

Variable sum_to(const Variable& x, const Shape& shape) {
  if (x && x.shape() == shape) return x;
  return apply_node<SumTo>({x}, shape)[0];
}

}  // namespace autograd
