#include <catena/ndarray/routines/linalg.h>

#include <algorithm>

#include <catena/kernels/base/array_layout.h>
#include <catena/ndarray/core/storage.h>
#include <catena/ndarray/engine/execute.h>
#include <catena/ndarray/engine/out_of_memory.h>
#include <catena/ndarray/engine/ufunc.h>
#include <catena/ndarray/routines/indexing.h>
#include <catena/ndarray/routines/manipulation.h>
#include <catena/ndarray/routines/math.h>
#include <catena/ndarray/routines/reduction.h>

namespace nd {

using catena::check;

namespace {

Device device_of(std::string_view op, const Array& a, const Array& b, const Array& out = {}) {
  const Operand in[2] = {a, b};
  return internal::common_device(op, in, {&out, 1});
}

// out = a @ b; all arrays have one dtype.
void multiply_into(const Array& a, const Array& b, const Array& out) {
  internal::execute(catena::call::Matmul{a.get(), b.get(), out.get()});
}

// Returns the product of two matrices of any strides as an array of `shape`; stores it in `out` if that is given.
Array matrix_product(std::string_view op, const Array& a, const Array& b, const Shape& shape, const Array& out = {}) {
  const Dtype dtype = promote_types(a.dtype(), b.dtype());
  const Device device = device_of(op, a, b, out);
  const Shape flat{a.shape()[0], b.shape()[1]};
  const Array left = a.astype(dtype, {.copy = false}), right = b.astype(dtype, {.copy = false});
  if (!out.is_null() && !out.shares_memory(left) && !out.shares_memory(right)) {
    multiply_into(left, right, out.reshape(flat));
    return out;
  }
  const Array result(internal::new_array(flat, dtype, device, op));
  multiply_into(left, right, result);
  if (out.is_null()) return result.reshape(shape);
  internal::assign(op, out.reshape(shape), result.reshape(shape));
  return out;
}

void check_dot_output(const Array& out, Dtype dtype, const Shape& shape) {
  if (out.is_null()) return;
  check<ValueError>(out.dtype() == dtype, "dot", "the output has dtype ", out.dtype(), ", the result has ", dtype);
  check<ValueError>(out.size() == catena::checked_size(shape), "dot", "the output has shape ", out.shape(),
                    ", the result has ", shape);
  check<ValueError>(out.is_c_contiguous(), "dot", "the output of shape ", out.shape(), " and strides ", out.strides(),
                    " is not C-contiguous");
}

std::int64_t product_of(const Shape& shape, const Dims& axes) {
  std::int64_t n = 1;
  for (std::int64_t axis : axes) n *= shape[static_cast<int>(axis)];
  return n;
}

// Returns the axes that are not in `axes`.
Dims other_axes(int rank, const Dims& axes) {
  Dims rest;
  for (int i = 0; i < rank; ++i)
    if (std::find(axes.begin(), axes.end(), i) == axes.end()) rest.push_back(i);
  return rest;
}

Dims joined(Dims first, const Dims& second) {
  for (std::int64_t x : second) first.push_back(x);
  return first;
}

// Returns the sum of products over pairs of axes of a and b. The axes must be normalised.
Array contract(std::string_view op, const Array& a, const Array& b, const Dims& axes_a, const Dims& axes_b,
               const Array& out = {}) {
  for (int k = 0; k < axes_a.size(); ++k) {
    const auto i = static_cast<int>(axes_a[k]), j = static_cast<int>(axes_b[k]);
    check<ValueError>(a.shape()[i] == b.shape()[j], op, "shapes ", a.shape(), " and ", b.shape(),
                      " do not match: length ", a.shape()[i], " of axis ", i, " and length ", b.shape()[j], " of axis ",
                      j, " differ");
  }
  const Dims rest_a = other_axes(a.ndim(), axes_a), rest_b = other_axes(b.ndim(), axes_b);
  Shape shape;
  for (std::int64_t i : rest_a) shape.push_back(a.shape()[static_cast<int>(i)]);
  for (std::int64_t j : rest_b) shape.push_back(b.shape()[static_cast<int>(j)]);
  catena::checked_size(shape);
  check_dot_output(out, promote_types(a.dtype(), b.dtype()), shape);
  const std::int64_t inner = product_of(a.shape(), axes_a);
  const Array left = a.transpose(joined(rest_a, axes_a)).reshape(product_of(a.shape(), rest_a), inner);
  const Array right = b.transpose(joined(axes_b, rest_b)).reshape(inner, product_of(b.shape(), rest_b));
  return matrix_product(op, left, right, shape, out);
}

}  // namespace

Array dot(const Array& a, const Array& b, const DotOptions& options) try {
  if (a.ndim() == 0 || b.ndim() == 0) {
    if (options.out.is_null()) return multiply(a, b);
    const Shape& shape = a.ndim() == 0 ? b.shape() : a.shape();
    check_dot_output(options.out, promote_types(a.dtype(), b.dtype()), shape);
    multiply(a, b, {.out = options.out.reshape(shape)});
    return options.out;
  }
  return contract("dot", a, b, {a.ndim() - 1}, {std::max(b.ndim() - 2, 0)}, options.out);
} catch (...) {
  internal::rethrow_out_of_memory("dot");
}

Array Array::dot(const Array& b) const { return dot(b, {}); }
Array Array::dot(const Array& b, const DotOptions& options) const { return nd::dot(*this, b, options); }

Array vdot(const Array& a, const Array& b) {
  check<ValueError>(a.size() == b.size(), "vdot", "shapes ", a.shape(), " and ", b.shape(), " have ", a.size(), " and ",
                    b.size(), " elements");
  const Array left = catena::is_complex_dtype(a.dtype()) ? a.conjugate() : a;
  return contract("vdot", left.ravel(), b.ravel(), {0}, {0});
}

Array inner(const Array& a, const Array& b) try {
  if (a.ndim() == 0 || b.ndim() == 0) return multiply(a, b);
  return contract("inner", a, b, {a.ndim() - 1}, {b.ndim() - 1});
} catch (...) {
  internal::rethrow_out_of_memory("inner");
}

Array outer(const Array& a, const Array& b, const OuterOptions& options) try {
  const Array column = a.reshape(-1, 1), row = b.reshape(1, -1);
  const Array& out = options.out;
  if (out.is_null()) return multiply(column, row);
  const Shape shape{column.size(), row.size()};
  check<ValueError>(out.size() == catena::checked_size(shape), "outer", "the output has ", out.size(),
                    " elements, the result has the shape ", shape);
  if (out.shape() == shape) return multiply(column, row, {.out = out});
  catena::check_output_cast("outer", promote_types(a.dtype(), b.dtype()), out.dtype(), Casting::same_kind);
  internal::assign("outer", out, multiply(column, row).reshape(out.shape()));
  return out;
} catch (...) {
  internal::rethrow_out_of_memory("outer");
}

namespace {

// The axes are normalised but not sorted, so that the axes of both operands stay paired.
Dims contracted_axes(const Dims& axes, int rank) {
  catena::normalize_axes("tensordot", axes, rank);  // checks for repeated axes
  Dims result;
  for (std::int64_t axis : axes) result.push_back(catena::normalize_axis("tensordot", axis, rank));
  return result;
}

}  // namespace

Array tensordot(const Array& a, const Array& b, const TensordotAxes& axes) try {
  if (!axes.count()) {
    check<ValueError>(axes.of_a().size() == axes.of_b().size(), "tensordot", "axes ", axes.of_a(), " and ", axes.of_b(),
                      " have different lengths");
    return contract("tensordot", a, b, contracted_axes(axes.of_a(), a.ndim()), contracted_axes(axes.of_b(), b.ndim()));
  }
  const int n = *axes.count();
  check<ValueError>(n >= 0 && n <= a.ndim() && n <= b.ndim(), "tensordot", n,
                    " axes cannot be summed over for arrays of ranks ", a.ndim(), " and ", b.ndim());
  Dims of_a, of_b;
  for (int k = 0; k < n; ++k) {
    of_a.push_back(a.ndim() - n + k);
    of_b.push_back(k);
  }
  return contract("tensordot", a, b, of_a, of_b);
} catch (...) {
  internal::rethrow_out_of_memory("tensordot");
}

namespace {

// The product of operands of any dtypes in `dtype`, stored in `out` if that is given and can hold it as it is.
Array matmul_as(const Array& a, const Array& b, Dtype dtype, const Array& out) {
  const catena::MatmulShapes shapes = catena::matmul_shapes(a.shape(), b.shape());
  const Device device = device_of("matmul", a, b, out);
  if (!out.is_null())
    check<ValueError>(out.shape() == shapes.result, "matmul", "the output has shape ", out.shape(), ", the product ",
                      shapes.result);
  const auto matrix = [dtype](const Array& x, int added_axis) {
    const Array same = x.astype(dtype, {.copy = false});
    return x.ndim() == 1 ? expand_dims(same, added_axis) : same;
  };
  const Array left = matrix(a, 0), right = matrix(b, 1);
  const bool in_place = !out.is_null() && out.dtype() == dtype && out.is_c_contiguous() && !out.shares_memory(left) &&
                        !out.shares_memory(right);
  const Array result =
      in_place ? out.reshape(shapes.product) : Array(internal::new_array(shapes.product, dtype, device, "matmul"));
  multiply_into(left, right, result);
  if (in_place) return out;
  const Array product = a.ndim() == 1 || b.ndim() == 1 ? result.reshape(shapes.result) : result;
  if (out.is_null()) return product;
  internal::assign("matmul", out, product);
  return out;
}

}  // namespace

Array matmul(const Array& a, const Array& b) { return matmul_as(a, b, promote_types(a.dtype(), b.dtype()), {}); }
Array matmul(const Array& a, const Array& b, const MatmulOptions& options) {
  const Dtype dtype = options.dtype.value_or(promote_types(a.dtype(), b.dtype()));
  const auto check_cast = [&](Dtype from, Dtype to) {
    check<TypeError>(catena::can_cast(from, to, options.casting), "matmul", "elements of ", from, " do not cast to ",
                     to, " under casting '", catena::name_of(options.casting), "'");
  };
  check_cast(a.dtype(), dtype);
  check_cast(b.dtype(), dtype);
  if (!options.out.is_null()) check_cast(dtype, options.out.dtype());
  return matmul_as(a, b, dtype, options.out);
}

Array trace(const Array& a, std::int64_t offset, int axis1, int axis2, const TraceOptions& options) try {
  return sum(diagonal(a, offset, axis1, axis2), {.axis = -1, .dtype = options.dtype, .out = options.out});
} catch (...) {
  internal::rethrow_out_of_memory("trace");
}

Array Array::trace(std::int64_t offset, int axis1, int axis2) const { return trace(offset, axis1, axis2, {}); }
Array Array::trace(std::int64_t offset, int axis1, int axis2, const TraceOptions& options) const {
  return nd::trace(*this, offset, axis1, axis2, options);
}
Array Array::norm(double p) const { return linalg::norm(ravel(), p); }

}  // namespace nd
