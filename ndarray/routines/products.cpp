#include <catena/ndarray/routines/products.h>

#include <algorithm>
#include <limits>

#include <catena/kernels/base/shape.h>
#include <catena/ndarray/core/storage.h>
#include <catena/ndarray/engine/out_of_memory.h>
#include <catena/ndarray/engine/ufunc.h>
#include <catena/ndarray/routines/creation.h>
#include <catena/ndarray/routines/einsum.h>
#include <catena/ndarray/routines/indexing.h>
#include <catena/ndarray/routines/joining.h>
#include <catena/ndarray/routines/manipulation.h>
#include <catena/ndarray/routines/math.h>
#include <catena/ndarray/routines/matrices.h>
#include <catena/ndarray/routines/operand.h>

namespace nd {

using catena::check;

namespace {

Array conjugated(const Array& x) { return catena::is_complex_dtype(x.dtype()) ? x.conjugate() : x; }

// The array with an axis of length 1 before (or behind) every axis, after enough leading ones for `rank` axes.
Array interleaved(const Array& x, int rank, bool before) {
  Shape shape;
  for (int i = x.ndim() - rank; i < x.ndim(); ++i) {
    if (before) shape.push_back(1);
    shape.push_back(i < 0 ? 1 : x.shape()[i]);
    if (!before) shape.push_back(1);
  }
  return x.reshape(shape);
}

}  // namespace

Array kron(const Operand& a, const Operand& b) try {
  const auto [x, y] = internal::as_arrays(a, b);
  const int rank = std::max(x.ndim(), y.ndim());
  check<ValueError>(2 * rank <= catena::kMaxRank, "kron", "arrays of ", rank, " axes are beyond the limit of ",
                    catena::kMaxRank / 2);
  const Array products = multiply(interleaved(x, rank, false), interleaved(y, rank, true));
  Shape shape;
  for (int i = 0; i < rank; ++i) shape.push_back(products.shape()[2 * i] * products.shape()[2 * i + 1]);
  return products.reshape(shape);
} catch (...) {
  internal::rethrow_out_of_memory("kron");
}

// ---- vectors --------------------------------------------------------------------------------------
namespace {

Shape without_last(const Array& a) { return catena::reduced_shape(a.shape(), a.ndim() - 1, false); }

// out = x y - z w
void difference_of_products(const Array& x, const Array& y, const Array& z, const Array& w, const Array& out) {
  multiply(x, y, {.out = out});
  subtract(out, z * w, {.out = out});
}

Array cross_product(const char* op, const Array& a, const Array& b) {
  const std::int64_t of_a = a.shape().back(), of_b = b.shape().back();
  const Dtype dtype = promote_types(a.dtype(), b.dtype());
  check<TypeError>(dtype != Dtype::bool_, op, "bools have no difference, convert them with astype first");
  const auto at = [](const Array& v, int i) { return v(ellipsis, i); };
  Shape shape = catena::broadcast_shapes(op, without_last(a), without_last(b));
  const Operand both[] = {a, b};
  const Device device = internal::common_device(op, both);
  if (of_a == 2 && of_b == 2) {
    const Array third(internal::new_array(shape, dtype, device, op));
    difference_of_products(at(a, 0), at(b, 1), at(a, 1), at(b, 0), third);
    return third;
  }
  shape.push_back(3);
  const Array result(internal::new_array(shape, dtype, device, op));
  if (of_a == 3 && of_b == 3) {
    for (int i = 0; i < 3; ++i) {
      const int j = (i + 1) % 3, k = (i + 2) % 3;
      difference_of_products(at(a, j), at(b, k), at(a, k), at(b, j), at(result, i));
    }
    return result;
  }
  // The third element of one vector is 0.
  const Array &plane = of_a == 2 ? a : b, &space = of_a == 2 ? b : a;
  multiply(at(plane, 1), at(space, 2), {.out = at(result, 0)});
  multiply(at(plane, 0), at(space, 2), {.out = at(result, 1)});
  negative(at(result, of_a == 2 ? 1 : 0), {.out = at(result, of_a == 2 ? 1 : 0)});
  difference_of_products(at(a, 0), at(b, 1), at(a, 1), at(b, 0), at(result, 2));
  return result;
}

}  // namespace

Array cross(const Array& a, const Array& b, const CrossOptions& o) try {
  constexpr const char* op = "cross";
  for (const Array* x : {&a, &b}) {
    check<TypeError>(!x->is_null(), op, "an array is null");
    check<ValueError>(x->ndim() > 0, op, "an array is 0-d, the product is one of vectors");
  }
  const Array x = moveaxis(a, o.axis.value_or(o.axisa), -1), y = moveaxis(b, o.axis.value_or(o.axisb), -1);
  const std::int64_t of_x = x.shape().back(), of_y = y.shape().back();
  check<ValueError>((of_x == 2 || of_x == 3) && (of_y == 2 || of_y == 3), op, "the vectors of arrays of shapes ",
                    a.shape(), " and ", b.shape(), " have ", of_x, " and ", of_y, " elements, they must have 3 (or 2)");
  const Array result = cross_product(op, x, y);
  return of_x == 2 && of_y == 2 ? result : moveaxis(result, -1, o.axis.value_or(o.axisc));
} catch (...) {
  internal::rethrow_out_of_memory("cross");
}

Array vecdot(const Array& x1, const Array& x2, const VecdotOptions& o) {
  constexpr const char* op = "vecdot";
  const auto vectors = [&](const Array& x) {
    check<TypeError>(!x.is_null(), op, "an array is null");
    check<ValueError>(x.ndim() > 0, op, "an array is 0-d, the products are those of vectors");
    return o.axis == -1 ? x : moveaxis(x, o.axis, -1);
  };
  const Array a = vectors(x1), b = vectors(x2);
  check<ValueError>(a.shape().back() == b.shape().back(), op, "the vectors of arrays of shapes ", x1.shape(), " and ",
                    x2.shape(), " have ", a.shape().back(), " and ", b.shape().back(), " elements");
  return einsum("...i,...i->...", conjugated(a), b);
}

Array matvec(const Array& x1, const Array& x2) {
  check<ValueError>(x1.ndim() >= 2 && x2.ndim() >= 1, "matvec", "arrays of shapes ", x1.shape(), " and ", x2.shape(),
                    " are not matrices and vectors");
  return matmul(x1, expand_dims(x2, -1)).squeeze(-1);
}

Array vecmat(const Array& x1, const Array& x2) {
  check<ValueError>(x1.ndim() >= 1 && x2.ndim() >= 2, "vecmat", "arrays of shapes ", x1.shape(), " and ", x2.shape(),
                    " are not vectors and matrices");
  return matmul(expand_dims(conjugated(x1), -2), x2).squeeze(-2);
}

namespace linalg {

Array outer(const Array& x1, const Array& x2) {
  check<ValueError>(x1.ndim() == 1 && x2.ndim() == 1, "outer", "arrays of shapes ", x1.shape(), " and ", x2.shape(),
                    " are not vectors; nd::outer flattens arrays");
  return nd::outer(x1, x2);
}

Array cross(const Array& x1, const Array& x2, int axis) {
  check<ValueError>(x1.ndim() == 0 || x2.ndim() == 0 || (x1.shape(axis) == 3 && x2.shape(axis) == 3), "cross",
                    "the vectors of arrays of shapes ", x1.shape(), " and ", x2.shape(), " do not have 3 elements");
  return nd::cross(x1, x2, {.axis = axis});
}

Array diagonal(const Array& x, std::int64_t offset) { return nd::diagonal(x, offset, -2, -1); }
Array trace(const Array& x, std::int64_t offset, std::optional<Dtype> dtype) {
  return nd::trace(x, offset, -2, -1, {.dtype = dtype});
}

// ---- chains ---------------------------------------------------------------------------------------
namespace {

// The best place to divide the chain of matrices i to j, by the numbers of rows of each and of columns of the last.
class Chain {
 public:
  explicit Chain(const std::vector<Array>& matrices) : n_(matrices.size()), work_(n_ * n_, 0), division_(n_ * n_, 0) {
    std::vector<double> sides;
    for (const Array& m : matrices) sides.push_back(static_cast<double>(m.shape()[0]));
    sides.push_back(static_cast<double>(matrices.back().shape()[1]));
    for (std::size_t length = 2; length <= n_; ++length)
      for (std::size_t i = 0; i + length <= n_; ++i) divide(i, i + length - 1, sides);
  }
  Array product(const std::vector<Array>& matrices, std::size_t i, std::size_t j, const Array& out) const {
    if (i == j) return matrices[i];
    const std::size_t k = division_[i * n_ + j];
    return dot(product(matrices, i, k, {}), product(matrices, k + 1, j, {}), {.out = out});
  }

 private:
  void divide(std::size_t i, std::size_t j, const std::vector<double>& sides) {
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t k = i; k < j; ++k) {
      const double work = work_[i * n_ + k] + work_[(k + 1) * n_ + j] + sides[i] * sides[k + 1] * sides[j + 1];
      if (work >= least) continue;
      least = work;
      division_[i * n_ + j] = k;
    }
    work_[i * n_ + j] = least;
  }

  std::size_t n_;
  std::vector<double> work_;
  std::vector<std::size_t> division_;
};

}  // namespace

Array multi_dot(const std::vector<Array>& arrays, const MultiDotOptions& options) try {
  constexpr const char* op = "multi_dot";
  check<ValueError>(arrays.size() >= 2, op, "there are ", arrays.size(), " arrays, it takes at least two");
  std::vector<Array> matrices = arrays;
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    const Array& a = arrays[i];
    check<TypeError>(!a.is_null(), op, "array ", i, " is null");
    const bool vector = a.ndim() == 1 && (i == 0 || i + 1 == arrays.size());
    check<LinAlgError>(vector || a.ndim() == 2, op, "array ", i, " of shape ", a.shape(),
                       " is not a matrix; only the first and the last may be vectors");
    if (vector) matrices[i] = expand_dims(a, i == 0 ? 0 : 1);
    check<ValueError>(i == 0 || matrices[i - 1].shape()[1] == matrices[i].shape()[0], op, "arrays ", i - (i > 0),
                      " and ", i, " of shapes ", arrays[i - (i > 0)].shape(), " and ", a.shape(), " do not match");
  }
  const Array product = Chain(matrices).product(matrices, 0, matrices.size() - 1, options.out);
  if (!options.out.is_null()) return options.out;
  Shape shape;
  if (arrays.front().ndim() == 2) shape.push_back(product.shape()[0]);
  if (arrays.back().ndim() == 2) shape.push_back(product.shape()[1]);
  return product.reshape(shape);
} catch (...) {
  nd::internal::rethrow_out_of_memory("multi_dot");
}

// ---- matrices from parts --------------------------------------------------------------------------
Array khatri_rao(const Array& a, const Array& b) {
  constexpr const char* op = "khatri_rao";
  check<ValueError>(a.ndim() >= 2 && b.ndim() >= 2 && a.shape().back() == b.shape().back(), op, "arrays of shapes ",
                    a.shape(), " and ", b.shape(), " are not matrices with equally many columns");
  const Array products = multiply(expand_dims(a, -2), expand_dims(b, -3));
  Shape shape = products.shape();
  const std::int64_t columns = shape.back();
  shape.pop_back();
  const std::int64_t inner = shape.back();
  shape.pop_back();
  shape.back() *= inner;
  shape.push_back(columns);
  return products.reshape(shape);
}

Array block_diag(const std::vector<Operand>& arrays) try {
  constexpr const char* op = "block_diag";
  if (arrays.empty()) return zeros({1, 0});
  const Device device = nd::internal::common_device(op, arrays);
  std::vector<Array> blocks;
  for (const Operand& x : arrays) blocks.push_back(atleast_2d(nd::internal::as_array(x, device)));
  Dtype dtype = blocks[0].dtype();
  Shape shape;
  std::int64_t rows = 0, columns = 0;
  for (const Array& block : blocks) {
    dtype = promote_types(dtype, block.dtype());
    shape = catena::broadcast_shapes(op, shape, internal::stacked(block, {}));
    rows += internal::rows_of(block);
    columns += internal::columns_of(block);
  }
  shape.push_back(rows);
  shape.push_back(columns);
  const DeviceScope on(device);
  const Array result = zeros(shape, dtype);
  rows = columns = 0;
  for (const Array& block : blocks) {
    const std::int64_t m = internal::rows_of(block), n = internal::columns_of(block);
    result(ellipsis, Slice(rows, rows + m), Slice(columns, columns + n)) = block;
    rows += m;
    columns += n;
  }
  return result;
} catch (...) {
  nd::internal::rethrow_out_of_memory("block_diag");
}

// The numbers along the last axis in the order of the diagonals, from the last of c to the last of r.
Array toeplitz(const Operand& c, const Operand& r) try {
  constexpr const char* op = "toeplitz";
  auto [column, row] = nd::internal::as_arrays(c, r);
  column = atleast_1d(column);
  row = atleast_1d(row);
  const std::int64_t m = column.shape().back(), n = row.shape().back();
  const Shape stack = catena::broadcast_shapes(op, without_last(column), without_last(row));
  const auto at_stack = [&](const Array& x) {
    Shape shape = stack;
    shape.push_back(x.shape().back());
    return broadcast_to(x, shape);
  };
  const Array diagonals =
      concatenate({flip(at_stack(column), -1), at_stack(row)(ellipsis, Slice(std::min<std::int64_t>(n, 1), n))}, -1);
  Shape shape = without_last(diagonals);
  const auto step = static_cast<std::int64_t>(diagonals.itemsize());
  Strides strides;
  for (int i = 0; i + 1 < diagonals.ndim(); ++i) strides.push_back(diagonals.strides()[i]);
  strides.push_back(-step);
  strides.push_back(step);
  shape.push_back(m);
  shape.push_back(n);
  if (catena::size_of(shape) == 0) return Array(nd::internal::new_array(shape, diagonals.dtype(), column.device(), op));
  return nd::internal::make_view(diagonals, shape, strides, (m - 1) * step).copy();
} catch (...) {
  nd::internal::rethrow_out_of_memory("toeplitz");
}
Array toeplitz(const Operand& c) {
  const Array column = nd::internal::as_array(c, c.is_array() ? c.header()->device : current_device());
  return toeplitz(column, conjugated(column));
}

}  // namespace linalg
}  // namespace nd
