#include <algorithm>
#include <cmath>

#include <catena/ndarray/routines/joining.h>
#include <catena/ndarray/routines/manipulation.h>
#include <catena/ndarray/routines/math.h>
#include <catena/ndarray/routines/random.h>
#include <catena/ndarray/routines/random_generator.h>
#include <catena/ndarray/routines/scan.h>
#include <catena/ndarray/routines/sets.h>
#include <catena/ndarray/routines/sorting.h>
#include <catena/ndarray/sparse/kernels.h>
#include <catena/ndarray/sparse/sparse.h>

namespace nd::sparse {
namespace {

using catena::check;

// The diagonal k of a matrix: its length, and the row and column of its first element.
struct Diagonal {
  Diagonal(const Shape& shape, std::int64_t k)
      : row(std::max<std::int64_t>(-k, 0)),
        column(std::max<std::int64_t>(k, 0)),
        length(std::max<std::int64_t>(std::min(shape[0] - row, shape[1] - column), 0)) {}
  std::int64_t row, column, length;
};

void check_lengths(std::string_view op, std::int64_t m, std::int64_t n) {
  check<ValueError>(m >= 0 && n >= 0, op, "the shape is ", Shape{m, n}, ", must not be negative");
}

// `count` different numbers below n, in ascending order.
Array distinct_numbers(std::int64_t n, std::int64_t count) {
  if (n <= 4 * count) return nd::sort(nd::random::permutation(n)(Slice(0, count)));
  Array numbers = unique(random::randint(0, n, Shape{count}, Dtype::int64));
  while (numbers.size() < count) {
    const Array more = nd::random::randint(0, n, Shape{count - numbers.size()}, Dtype::int64);
    numbers = unique(concatenate({numbers, more}));
  }
  return numbers;
}

}  // namespace

csr_matrix eye(std::int64_t m, std::int64_t n, const EyeOptions& o) {
  check_lengths("eye", m, n);
  const Diagonal d({m, n}, o.k);
  return csr_matrix({ones(d.length, o.dtype), {arange(d.length) + d.row, arange(d.length) + d.column}}, Shape{m, n});
}

csr_matrix diags(const std::vector<Array>& diagonals, const std::vector<std::int64_t>& offsets) {
  check<ValueError>(!diagonals.empty() && !offsets.empty(), "diags", "there are no diagonals");
  const std::int64_t n = diagonals[0].size() + std::abs(offsets[0]);
  return diags(diagonals, offsets, Shape{n, n});
}

csr_matrix diags(const std::vector<Array>& diagonals, const std::vector<std::int64_t>& offsets, const Shape& shape) {
  check<ValueError>(diagonals.size() == offsets.size(), "diags", "there are ", diagonals.size(), " diagonals and ",
                    offsets.size(), " offsets, must be as many");
  check<ValueError>(!diagonals.empty(), "diags", "there are no diagonals");
  check<ValueError>(shape.size() == 2, "diags", "the shape is ", shape, ", must be two lengths");
  check_lengths("diags", shape[0], shape[1]);
  const DeviceScope scope(diagonals[0].device());
  std::vector<Array> data, row, col;
  for (std::size_t k = 0; k < offsets.size(); ++k) {
    check<ValueError>(std::count(offsets.begin(), offsets.end(), offsets[k]) == 1, "diags", "the offset ", offsets[k],
                      " occurs twice");
    const Diagonal d(shape, offsets[k]);
    const Array& values = diagonals[k];
    check<ValueError>(values.ndim() == 1 && (values.size() == 1 || values.size() == d.length) && d.length > 0, "diags",
                      "diagonal ", k, " has the shape ", values.shape(), " and the offset ", offsets[k],
                      ", which has the length ", d.length, " in a matrix of shape ", shape);
    const bool exact = values.dtype() == Dtype::bool_ || catena::is_integer(values.dtype());
    data.push_back(broadcast_to(exact ? values.astype(Dtype::float64) : values, Shape{d.length}));
    row.push_back(arange(d.length) + d.row);
    col.push_back(arange(d.length) + d.column);
  }
  return csr_matrix({concatenate(data), {concatenate(row), concatenate(col)}}, shape);
}

csr_matrix random(std::int64_t m, std::int64_t n, double density, Dtype dtype) {
  check_lengths("random", m, n);
  check<ValueError>(density >= 0 && density <= 1, "random", "the density is ", density, ", must be between 0 and 1");
  check<TypeError>(dtype == Dtype::float32 || dtype == Dtype::float64, "random", "the dtype is ", dtype,
                   ", must be float32 or float64");
  const double size = static_cast<double>(m) * static_cast<double>(n);
  check<ValueError>(size < 0x1p63, "random", "the shape is ", Shape{m, n}, ", which has too many elements");
  const auto count = static_cast<std::int64_t>(std::rint(density * size));
  if (count == 0) return csr_matrix(Shape{m, n}, dtype);
  const Array places = distinct_numbers(m * n, count);
  const Array values = nd::random::random_sample(Shape{count}).astype(dtype, {.copy = false});
  return csr_matrix({values, {floor_divide(places, n), places % n}}, Shape{m, n});
}

// The lengths along the axis are added up; the other ones must be equal.
csr_matrix csr_matrix::joined(const std::vector<csr_matrix>& list, int axis) {
  const std::string_view op = axis == 0 ? "vstack" : "hstack";
  check<ValueError>(!list.empty(), op, "there are no matrices");
  Dtype t = list[0].dtype();
  Shape shape = list[0].shape();
  shape[axis] = 0;
  for (const csr_matrix& a : list) {
    a.check_unchanged(op);
    check<ValueError>(a.shape()[1 - axis] == shape[1 - axis], op, "the matrices have the shapes ", list[0].shape(),
                      " and ", a.shape(), ", must have as many ", axis == 0 ? "columns" : "rows");
    kernels::check_device(op, a.device(), list[0].device());
    t = kernels::result_dtype(t, a.dtype());
    shape[axis] += a.shape()[axis];
  }
  std::vector<Array> data, row, col;
  std::int64_t before = 0;
  for (const csr_matrix& a : list) {
    data.push_back(a.data_.astype(t, {.copy = false}));
    row.push_back(a.rows_of_entries().astype(Dtype::int64) + (axis == 0 ? before : 0));
    col.push_back(a.indices_.astype(Dtype::int64) + (axis == 0 ? 0 : before));
    before += a.shape()[axis];
  }
  return of_places(concatenate(data), concatenate(row), concatenate(col), shape[0], shape[1]);
}

csr_matrix vstack(const std::vector<csr_matrix>& blocks) { return csr_matrix::joined(blocks, 0); }
csr_matrix hstack(const std::vector<csr_matrix>& blocks) { return csr_matrix::joined(blocks, 1); }

}  // namespace nd::sparse
