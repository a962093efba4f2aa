// Differentiable functions as members of Variable.
#include <catena/autograd/backend/backend.h>
#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/basic_math.h>
#include <catena/autograd/functions/linalg.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/operators.h>
#include <catena/autograd/variable_node.h>
#include <catena/kernels/base/device_name.h>

namespace autograd {

#define CATENA_MEMBER(name) \
  Variable Variable::name() const { return autograd::name(*this); }
#include <catena/autograd/unary_members.inc>
#undef CATENA_MEMBER

const Variable& Variable::requires_grad_(bool requires_grad) const {
  Variable(*this).set_requires_grad(requires_grad);
  return *this;
}
Variable& internal::updated(Variable& a, const Variable& result) {
  const VariableNode* const n = Access::node(a);
  const bool is_kept = n != nullptr && !modes().enable_backprop && n->is_leaf() && n->alias_of == nullptr && n->data &&
                       (n->is_parameter || n->grad != nullptr);
  if (!is_kept || result.shape() != a.shape() || result.dtype() != a.dtype()) return a = result;
  assign(a.data(), result.data());
  return a;
}
const Array& Variable::writable(std::string_view op) const {
  const Array& a = present();
  const bool is_free = !internal::modes().enable_backprop || volatile_flag() == ON || (!creator() && !requires_grad());
  catena::check<catena::RuntimeError>(is_free, op,
                                      "the variable needs a gradient, and graphs keep its array; assign a "
                                      "new variable, as in x = x + y, or call x.",
                                      op, "(y) within autograd::no_grad");
  return a;
}
const Array& Variable::read_by(std::string_view op) const {
  catena::check<catena::RuntimeError>(!internal::modes().enable_backprop || !requires_grad(), op,
                                      "an operand needs a gradient, which a change in place would not give it; assign "
                                      "a new variable, as in x = x + y, or call x.",
                                      op, "(y) with y.detach() or within autograd::no_grad");
  return present();
}
Variable Variable::detach() const { return Variable(data(), {.requires_grad = false}); }
Variable Variable::clone() const { return copy(*this, device()); }
Variable Variable::to(Device to) const { return to == device() ? *this : copy(*this, to); }
Variable Variable::to(std::string_view name) const {
  return to(catena::device_from_name("Variable.to", name, data().backend().default_device()));
}

namespace {

// Returns the position with the axes of the extremum, if these are kept.
Variable position(const Variable& x, const std::optional<int>& axis, bool keepdims, bool greatest) {
  const Variable at = greatest ? autograd::argmax(x, axis) : autograd::argmin(x, axis);
  if (!keepdims) return at;
  return axis ? at.unsqueeze(*axis) : at.reshape(Shape::filled(x.ndim(), 1));
}
Axes all_or(const std::optional<int>& axis) { return axis ? Axes(*axis) : Axes(); }

}  // namespace

Extremes::Extremes(const Variable& of, std::optional<int> axis, bool keepdims, bool greatest)
    : Variable(greatest ? of.max(all_or(axis), keepdims) : of.min(all_or(axis), keepdims)),
      of_(of),
      axis_(axis),
      keepdims_(keepdims),
      greatest_(greatest) {}
Extremes& Extremes::operator=(const Variable& v) {
  Variable::operator=(v);
  of_ = {};
  return *this;
}
Variable Extremes::indices() const {
  catena::check<catena::RuntimeError>(bool(of_), "indices", "another variable was assigned to the result of ",
                                      greatest_ ? "max" : "min", ", so there are no positions");
  return position(of_, axis_, keepdims_, greatest_);
}
Extremes Variable::max(const ExtremumOptions& o) const { return {*this, o.value(), o.keeps(), true}; }
Extremes Variable::min(const ExtremumOptions& o) const { return {*this, o.value(), o.keeps(), false}; }

Variable Variable::norm(const NormOptions& o) const { return vector_norm(*this, o); }
Variable Variable::norm(const catena::NormOrder& p, const NormOptions& o) const { return norm(o.with_order(p)); }
Variable Variable::contiguous() const { return present().is_c_contiguous() ? *this : clone(); }

Mask internal::compared(Comparison how, const Operand& a, const Operand& b) {
#define CATENA_COMPARISON(op, name) &catena::kernels::name,
  const catena::KernelDef* const kernels[] = {
#include <catena/autograd/comparisons.inc>
  };
#undef CATENA_COMPARISON
  return Mask(apply(*kernels[int(how)], {a, b}));
}
#define CATENA_COMPARISON(op, name)                                            \
  Mask operator op(const Variable& a, const Variable& b) {                     \
    return internal::compared(internal::Comparison::name, a.data(), b.data()); \
  }
#include <catena/autograd/comparisons.inc>
#undef CATENA_COMPARISON
Mask Variable::eq(const Variable& other) const { return *this == other; }
Mask::operator bool() const {
  catena::check<catena::ValueError>(size() == 1, "bool", "the truth value of a comparison of ", size(),
                                    " elements is ambiguous; (x == y).all() and .any() reduce");
  return autograd::item(*this).to<bool>();
}

Variable Variable::pow(const Variable& exponent) const { return autograd::pow(*this, exponent); }
Variable Variable::pow(double exponent) const { return autograd::pow(*this, exponent); }
Variable Variable::clip(const Bound& low, const Bound& high) const { return autograd::clip(*this, low, high); }
Variable Variable::matmul(const Variable& other) const { return linalg_matmul(*this, other); }
Variable Variable::dot(const Variable& other) const {
  if (ndim() != 1 || other.ndim() != 1) return matmul(other);
  catena::check<catena::ValueError>(shape() == other.shape(), "dot", "the vectors have the lengths ", size(), " and ",
                                    other.size());
  return autograd::sum(*this * other);
}
Variable Variable::argmax(std::optional<int> axis) const { return autograd::argmax(*this, axis); }
Variable Variable::argmin(std::optional<int> axis) const { return autograd::argmin(*this, axis); }
Variable Variable::position_by(const ExtremumOptions& o, bool greatest) const {
  return position(*this, o.value(), o.keeps(), greatest);
}
Variable Variable::cumsum(std::optional<int> axis) const { return autograd::cumsum(*this, axis); }
Variable Variable::cumprod(std::optional<int> axis) const { return autograd::cumprod(*this, axis); }
Sorted Variable::sort(int axis, bool descending) const { return autograd::sort(*this, axis, descending); }
Variable Variable::argsort(int axis, bool descending) const { return autograd::argsort(*this, axis, descending); }
Sorted Variable::sort(const SortOptions& o) const { return sort(o.value(), o.descending); }
Sorted Variable::topk(std::int64_t k, int axis, bool largest) const { return autograd::topk(*this, k, axis, largest); }
Sorted Variable::topk(std::int64_t k, const TopKOptions& o) const { return topk(k, o.value(), o.largest); }

Variable Variable::gather(int axis, const Variable& index) const { return autograd::gather(*this, axis, index); }
Variable Variable::scatter(int axis, const Variable& index, const Variable& src) const {
  return autograd::scatter(*this, axis, index, src);
}
Variable Variable::scatter(int axis, const Variable& index, double src) const {
  return autograd::scatter(*this, axis, index, src);
}
Variable Variable::scatter_add(int axis, const Variable& index, const Variable& src) const {
  return autograd::scatter_add(*this, axis, index, src);
}
Variable Variable::index_select(int axis, const Variable& index) const {
  return autograd::index_select(*this, axis, index);
}
Variable Variable::masked_fill(const Variable& mask, const Variable& value) const {
  return autograd::masked_fill(*this, mask, value);
}
Variable Variable::masked_fill(const Variable& mask, double value) const {
  return autograd::masked_fill(*this, mask, value);
}
Variable Variable::masked_select(const Variable& mask) const { return autograd::masked_select(*this, mask); }

Variable Variable::flatten(int start, int end) const {
  if (ndim() == 0) return autograd::flatten(*this);
  const int first = catena::normalize_axis("flatten", start, ndim()),
            last = catena::normalize_axis("flatten", end, ndim());
  catena::check<catena::ValueError>(first <= last, "flatten", "the axes ", start, " to ", end, " of the shape ",
                                    shape(), " are in the wrong order");
  Shape joined;
  for (int k = 0; k < ndim(); ++k) {
    if (k <= first || k > last) joined.push_back(shape(k));
    else joined.back() *= shape(k);
  }
  return reshape(joined);
}
Variable Variable::squeeze(const Axes& axis) const { return autograd::squeeze(*this, axis); }
Variable Variable::unsqueeze(int axis) const { return expand_dims(*this, axis); }
Variable Variable::swapaxes(int axis1, int axis2) const { return autograd::swapaxes(*this, axis1, axis2); }
Variable Variable::moveaxis(const Dims& source, const Dims& destination) const {
  return autograd::moveaxis(*this, source, destination);
}
Variable Variable::t() const {
  catena::check<catena::ValueError>(ndim() <= 2, "t", "the shape is ", shape(), ", the rank must be at most 2");
  return ndim() == 2 ? transpose() : *this;
}
Variable Variable::expand(const Shape& shape) const {
  Shape to = shape;
  const int added = to.size() - ndim();
  for (int k = 0; k < to.size(); ++k) {
    if (to[k] != -1) continue;
    catena::check<catena::ValueError>(k >= added, "expand", "the length -1 of axis ", k,
                                      " stands for that of an axis of x, whose shape is ", present().shape());
    to[k] = present().shape(k - added);
  }
  return autograd::broadcast_to(*this, to);
}
Variable Variable::tile(const Dims& reps) const { return autograd::tile(*this, reps); }
Variable Variable::repeat_interleave(std::int64_t repeats, std::optional<int> axis) const {
  return autograd::repeat(*this, repeats, axis);
}
Variable Variable::flip(const Axes& axis) const { return autograd::flip(*this, axis); }
Variable Variable::roll(std::int64_t shift, const Axes& axis) const { return autograd::roll(*this, shift, axis); }
Variable Variable::tril(std::int64_t k) const { return autograd::tril(*this, k); }
Variable Variable::triu(std::int64_t k) const { return autograd::triu(*this, k); }
Variables Variable::chunk(std::int64_t chunks, int axis) const { return autograd::chunk(*this, chunks, axis); }
Variables Variable::split(std::int64_t length, int axis) const { return autograd::split(*this, length, axis); }
Variables Variable::split(const std::vector<std::int64_t>& lengths, int axis) const {
  return autograd::split(*this, lengths, axis);
}
Variables Variable::unbind(int axis) const { return autograd::unbind(*this, axis); }
Variables Variable::chunk(std::int64_t chunks, const AxisOption& o) const { return chunk(chunks, o.value_or(0)); }
Variables Variable::split(std::int64_t length, const AxisOption& o) const { return split(length, o.value_or(0)); }
Variables Variable::split(const std::vector<std::int64_t>& lengths, const AxisOption& o) const {
  return split(lengths, o.value_or(0));
}
Variables Variable::unbind(const AxisOption& o) const { return unbind(o.value_or(0)); }

}  // namespace autograd
