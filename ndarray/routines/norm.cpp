// Norms: reductions of absolute values, by a kernel that reads the elements once if there is one.
#include <algorithm>

#include <catena/kernels/registry/families.h>
#include <catena/kernels/registry/kernel.h>
#include <catena/ndarray/engine/out_of_memory.h>
#include <catena/ndarray/engine/reduction.h>
#include <catena/ndarray/routines/linalg.h>
#include <catena/ndarray/routines/manipulation.h>
#include <catena/ndarray/routines/math.h>
#include <catena/ndarray/routines/matrices.h>
#include <catena/ndarray/routines/reduction.h>

namespace nd::linalg {

using catena::check;

namespace {

constexpr const char* kOp = "norm";

// 16-bit floats are summed in float32, whose range their squares do not leave, and rounded once.
Array square_sum(const Array& x, const Axes& axes) {
  if (catena::is_complex_dtype(x.dtype())) return square_sum(x.real(), axes) + square_sum(x.imag(), axes);
  const Dtype working = catena::compute_dtype(x.dtype());
  const catena::KernelDef& def = catena::kernels::sum_squares;
  return nd::internal::reduce_with_loop(def, def.loop_of(working), x, {.axis = axes, .keepdims = true}, working);
}
Array euclidean(const Array& x, const Axes& axes) {
  const Array total = square_sum(x, axes);
  return sqrt(total, {.out = total}).astype(catena::real_dtype(x.dtype()), {.copy = false});
}

// Without elements, the largest absolute value is 0.
Array largest(const Array& x, int axis) {
  return nd::internal::apply_reduction(catena::kernels::amax, x,
                                       {.axis = axis, .keepdims = true, .empty_value = Scalar(0)});
}
Array least(const Array& x, int axis) { return amin(x, {.axis = axis, .keepdims = true}); }
Array total(const Array& x, int axis) { return sum(x, {.axis = axis, .keepdims = true}); }

// The norms below keep the reduced axes with length 1.
Array vector_norm(const Array& x, const NormOrder& order, int axis) {
  check<ValueError>(order.name().empty(), kOp, "order \"", order.name(), "\" is not one of vectors");
  if (order.absent() || *order.number() == 2) return euclidean(x, axis);
  const double p = *order.number();
  if (p == inf) return largest(absolute(x), axis);
  if (p == -inf) return least(absolute(x), axis);
  if (p == 1) return total(absolute(x), axis);
  const Dtype real = catena::real_dtype(x.dtype());
  if (p == 0) return count_nonzero(x, {.axis = axis, .keepdims = true}).astype(real);
  // Computed in float64, so that the powers do not overflow, and rounded once.
  Array powers = absolute(x).astype(Dtype::float64, {.copy = false});
  powers = power(powers, p);
  return power(total(powers, axis), 1 / p).astype(real, {.copy = false});
}

// Norms of the singular values; the two axes keep their places.
Array norm_of_singular_values(const Array& x, const NormOrder& order, int row, int column) {
  const Array s = svd(moveaxis(x, {row, column}, {-2, -1}), true, false);
  const Array value = order.number() ? (*order.number() == 2 ? largest(s, -1) : least(s, -1)) : total(s, -1);
  return moveaxis(expand_dims(value, -1), {-2, -1}, {row, column});
}

Array matrix_norm(const Array& x, const NormOrder& order, int row, int column) {
  if (order.absent() || order.name() == "fro" || order.name() == "f") return euclidean(x, {row, column});
  const double p = order.number().value_or(0);
  if (order.name() == "nuc" || p == 2 || p == -2) return norm_of_singular_values(x, order, row, column);
  if (p == 1) return largest(total(absolute(x), row), column);
  if (p == -1) return least(total(absolute(x), row), column);
  if (p == inf) return largest(total(absolute(x), column), row);
  if (p == -inf) return least(total(absolute(x), column), row);
  if (order.number()) catena::fail<ValueError>(kOp, "order ", p, " is not one of matrices");
  catena::fail<ValueError>(kOp, "order \"", order.name(), "\" is not one of matrices");
}

}  // namespace

Array norm(const Array& x, const NormOptions& o) try {
  check<TypeError>(!x.is_null(), kOp, "the array is null");
  const bool exact = catena::is_exact(x.dtype());
  const Array values = exact ? x.astype(Dtype::float64) : x;
  const int rank = x.ndim();
  Dims axes;
  if (o.axis.given()) catena::normalize_axes(kOp, o.axis, rank);  // throws for repeated axes
  for (std::int64_t i = 0; i < (o.axis.given() ? o.axis.values().size() : rank); ++i)
    axes.push_back(o.axis.given() ? catena::normalize_axis(kOp, o.axis.values()[static_cast<int>(i)], rank) : i);
  Array result;
  if (!o.axis.given() && o.ord.absent()) {
    result = euclidean(values, axes);
  } else {
    check<ValueError>(axes.size() == 1 || axes.size() == 2, kOp, "there are norms over one axis or two, not over ",
                      axes.size(), ": the array has the shape ", x.shape());
    result = axes.size() == 1 ? vector_norm(values, o.ord, static_cast<int>(axes[0]))
                              : matrix_norm(values, o.ord, static_cast<int>(axes[0]), static_cast<int>(axes[1]));
  }
  return o.keepdims ? result
                    : result.reshape(catena::reduced_shape(x.shape(), catena::normalize_axes(kOp, axes, rank), false));
} catch (...) {
  nd::internal::rethrow_out_of_memory("norm");
}

}  // namespace nd::linalg
