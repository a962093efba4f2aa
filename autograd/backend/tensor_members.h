// PyTorch's members for the framework's arrays: a.index_put_({0, Slice()}, 1), a.select(1, 0), a.masked_fill(mask, 0).
//
// They are the members of these names of a variable of the array that needs no gradient, so their results are variables
// (defined in variable.h, which callers include), and views have the memory of the array where those of a variable do.
// Members that arrays of the array library have as well are those of that library.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include <catena/kernels/base/shape.h>

namespace autograd {

class IndexItem;

// clang-format off
#define CATENA_TENSOR_MEMBERS(X) \
  X(select) X(narrow) X(slice) X(masked_fill) X(masked_select) X(masked_scatter) X(gather) X(scatter) X(index_select) \
  X(index_add) X(index_copy) X(index_fill) X(take_along_dim) X(chunk) X(unbind) X(mm) X(matmul) X(bmm) X(mv) X(t) \
  X(mT) X(outer) X(inner) X(addmm) X(relu) X(softmax) X(log_softmax) X(sigmoid) X(tanh) X(sin) X(cos) X(tan) X(sign) \
  X(floor) X(ceil) X(trunc) X(expm1) X(log1p) X(log2) X(log10) X(rsqrt) X(reciprocal) X(neg) X(erf) X(clamp_min) \
  X(clamp_max) X(maximum) X(minimum) X(remainder) X(fmod) X(floor_divide) X(atan2) X(lerp) X(add) X(sub) X(mul) X(div) \
  X(eq) X(ne) X(lt) X(le) X(gt) X(ge) X(isnan) X(isinf) X(isfinite) X(allclose) X(equal) X(logical_and) X(logical_or) \
  X(logical_not) X(expand_as) X(view_as) X(reshape_as) X(repeat_interleave) X(roll) X(tril) X(triu) X(movedim) \
  X(moveaxis) X(swapdims) X(unfold) X(diag) X(diag_embed) X(topk) X(kthvalue) X(quantile) X(logsumexp) X(cummax) \
  X(cummin) X(detach) X(type) X(type_as) X(to_float) X(to_double) X(half) X(bfloat16) X(to_long) X(to_int) X(to_bool) \
  X(cuda) X(is_cuda) X(is_cpu) X(is_floating_point) X(is_complex) X(scalar_type) X(element_size) X(numpy) \
  X(multinomial) X(bernoulli) X(bincount) X(unique) X(new_tensor) X(new_zeros) X(new_ones) X(new_full) X(new_empty)
// clang-format on

// Every member is a template, so that Variable must be complete only where a member is called.
template <class Derived> class TensorMembers {
 public:
#define CATENA_FORWARD(name)                                                \
  template <class D = Derived, class... X> auto name(const X&... x) const { \
    return as_variable(static_cast<const D&>(*this)).name(x...);            \
  }
  CATENA_TENSOR_MEMBERS(CATENA_FORWARD)
#undef CATENA_FORWARD
#undef CATENA_TENSOR_MEMBERS

  template <class D = Derived, class K = IndexItem> auto index(const std::vector<K>& items) const {
    return as_variable(static_cast<const D&>(*this)).index(items);
  }
  template <class T, class D = Derived, class K = IndexItem>
  const D& index_put_(const std::vector<K>& items, const T& values, bool accumulate = false) const {
    as_variable(static_cast<const D&>(*this)).index_put_(items, values, accumulate);
    return static_cast<const D&>(*this);
  }
  template <class D = Derived> auto expand(const catena::Shape& shape) const {
    return as_variable(static_cast<const D&>(*this)).expand(shape);
  }
  template <std::integral... I>
  requires(sizeof...(I) > 1) auto expand(I... lengths) const { return expand(catena::Shape{lengths...}); }
  template <class D = Derived> auto tile(const catena::Dims& reps) const {
    return as_variable(static_cast<const D&>(*this)).tile(reps);
  }
  template <class D = Derived> auto flip(const catena::Axes& axes = {}) const {
    return as_variable(static_cast<const D&>(*this)).flip(axes);
  }
  template <class D = Derived> auto split(std::int64_t length, int axis = 0) const {
    return as_variable(static_cast<const D&>(*this)).split(length, axis);
  }
  template <class D = Derived> auto split(const std::vector<std::int64_t>& lengths, int axis = 0) const {
    return as_variable(static_cast<const D&>(*this)).split(lengths, axis);
  }
  // A bound is a number or an array: a.clamp(0, 1), a.clamp({.min = 0}).
  template <class B, class C, class D = Derived> auto clamp(const B& low, const C& high) const {
    return as_variable(static_cast<const D&>(*this)).clamp(low, high);
  }
  template <class O = struct ClampOptions, class D = Derived> auto clamp(const O& options) const {
    return as_variable(static_cast<const D&>(*this)).clamp(options);
  }
  template <class D = Derived> const catena::Shape& sizes() const { return static_cast<const D&>(*this).shape(); }
};

}  // namespace autograd
