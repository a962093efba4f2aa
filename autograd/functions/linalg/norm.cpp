#include <limits>

#include <catena/autograd/functions/basic_math.h>
#include <catena/autograd/functions/linalg/structure.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/input_types.h>

namespace autograd {

using catena::check;
using catena::ValueError;

namespace {

Array is_0(const Variable& x) { return apply(catena::kernels::equal, {x.data(), 0}); }
Array is_not_0(const Variable& x) { return apply(catena::kernels::not_equal, {x.data(), 0}); }
// x to the power of p; the derivative at 0 is 0.
Variable power_of(const Variable& x, double p) { return masked(pow(x + astype(is_0(x), x.dtype()), p), is_not_0(x)); }

Variable root_of_squares(const Variable& x, const Axes& axes, bool keepdims) {
  return power_of(sum(square(x), axes, keepdims), 0.5);
}

void check_floating(const Variable& x) {
  internal::check_input_types("Norm", {x}, [](const type_check::TypeInfoTuple& in_types) {
    type_check::expect(in_types[0].dtype.kind() == 'f');
  });
}

Variable norm_of_vectors(const Variable& x, const NormOrder& ord, const Axes& axes, bool keepdims) {
  check<ValueError>(ord.number().has_value(), "norm", "the order \"", ord.name(), "\" is none of vectors");
  const double p = *ord.number(), inf = std::numeric_limits<double>::infinity();
  if (p == 2) return root_of_squares(x, axes, keepdims);
  if (p == 0) return sum(Variable(astype(is_not_0(x), x.dtype())), axes, keepdims);
  const Variable sizes = absolute(x);
  if (p == inf) return max(sizes, axes, keepdims);
  if (p == -inf) return min(sizes, axes, keepdims);
  if (p == 1) return sum(sizes, axes, keepdims);
  if (p < 0) return pow(sum(pow(sizes, p), axes, keepdims), 1 / p);
  return power_of(sum(power_of(sizes, p), axes, keepdims), 1 / p);
}

Variable norm_by_singular_values(const Variable& x, const NormOrder& ord, int rows, int columns, bool keepdims) {
  Dims order;
  for (int axis = 0; axis < x.ndim(); ++axis)
    if (axis != rows && axis != columns) order.push_back(axis);
  order.push_back(rows);
  order.push_back(columns);
  const Variable s = svdvals(transpose(x, order));
  const Variable y = !ord.number() ? sum(s, -1) : *ord.number() > 0 ? max(s, -1) : min(s, -1);
  return keepdims ? reshape(y, catena::reduced_shape(x.shape(), Dims{std::min(rows, columns), std::max(rows, columns)},
                                                     true))
                  : y;
}

Variable matrix_norm(const Variable& x, const NormOrder& ord, int rows, int columns, bool keepdims) {
  const Dims both{rows, columns};
  if (!ord.number()) {
    const std::string_view name = ord.name();
    check<ValueError>(name == "fro" || name == "f" || name == "nuc", "norm", "the order \"", name,
                      "\" is none of matrices: \"fro\", \"f\", \"nuc\", 1, -1, 2, -2, inf and -inf are");
    return name == "nuc" ? norm_by_singular_values(x, ord, rows, columns, keepdims)
                         : root_of_squares(x, both, keepdims);
  }
  const double p = *ord.number(), size = p < 0 ? -p : p;
  if (size == 2) return norm_by_singular_values(x, ord, rows, columns, keepdims);
  check<ValueError>(size == 1 || size == std::numeric_limits<double>::infinity(), "norm", "the order ", p,
                    " is none of matrices: 1, -1, 2, -2, inf and -inf are");
  // The axes that are kept until the sums are compared.
  const int summed = size == 1 ? rows : columns, compared = size == 1 ? columns : rows;
  const Variable sums = sum(absolute(x), summed, true);
  const Variable y = p > 0 ? max(sums, compared, true) : min(sums, compared, true);
  return keepdims ? y : squeeze(y, both);
}

Variable norm_of(const Variable& x, const NormOptions& o) {
  if (o.ord.absent() && (!o.axis.given() || o.axis.values().size() <= 2)) return root_of_squares(x, o.axis, o.keepdims);
  Dims axes;
  if (o.axis.given()) {
    catena::normalize_axes("norm", o.axis, x.ndim());
    for (const std::int64_t axis : o.axis.values()) axes.push_back(catena::normalize_axis("norm", axis, x.ndim()));
  } else {
    for (int axis = 0; axis < x.ndim(); ++axis) axes.push_back(axis);
  }
  check<ValueError>(axes.size() == 1 || axes.size() == 2, "norm", "a norm with an order is over one or two axes, not ",
                    axes.size());
  return axes.size() == 1 ? norm_of_vectors(x, o.ord, axes, o.keepdims)
                          : matrix_norm(x, o.ord, int(axes[0]), int(axes[1]), o.keepdims);
}

}  // namespace

Variable norm(const Variable& x, const NormOptions& options) {
  check_floating(x);
  const NormOptions o{.ord = options.order(), .axis = options.axes(), .keepdims = options.keeps()};
  return internal::computed_wide(x, [&](const Variable& wide) { return norm_of(wide, o); });
}

Variable vector_norm(const Variable& x, const NormOptions& o) {
  check_floating(x);
  const NormOrder order = o.order().absent() || o.order().name() == "fro" ? NormOrder(2) : o.order();
  return internal::computed_wide(
      x, [&](const Variable& wide) { return norm_of_vectors(wide, order, o.axes(), o.keeps()); });
}

Variable cdist(const Variable& x, const Variable& y, double p) {
  internal::check_input_types(
      "CDist", {x, y},
      [](const type_check::TypeInfoTuple& in_types) {
        using namespace type_check;
        expect(in_types[0].dtype.kind() == 'f', in_types[0].dtype == in_types[1].dtype, in_types[0].ndim >= 2,
               in_types[1].ndim >= 2, in_types[0].shape[-1] == in_types[1].shape[-1]);
      },
      "x y");
  const Dtype dtype = x.dtype(), compute = catena::compute_dtype(dtype);
  return cast(norm(expand_dims(cast(x, compute), -2) - expand_dims(cast(y, compute), -3), p, -1), dtype);
}

}  // namespace autograd
