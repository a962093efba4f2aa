#include <utility>

#include <catena/ndarray/sparse/kernels.h>
#include <catena/ndarray/sparse/sparse.h>

namespace nd::sparse {
namespace {

// The axis of the transposed matrix; an axis that does not exist stays one.
std::optional<int> other_axis(std::optional<int> axis) {
  if (!axis || *axis < -2 || *axis > 1) return axis;
  return 1 - (*axis < 0 ? *axis + 2 : *axis);
}

Shape transposed(std::string_view op, const Shape& shape) {
  catena::check<ValueError>(shape.size() == 2, op, "the shape is ", shape, ", must be two lengths");
  return {shape[1], shape[0]};
}

}  // namespace

csc_matrix csc_matrix::of_transposed(csr_matrix rows) {
  csc_matrix result;
  result.rows_ = std::move(rows);
  return result;
}

csc_matrix::csc_matrix(const CompressedColumns& columns, const Shape& shape, std::optional<Dtype> dtype)
    : rows_(columns, transposed("csc_matrix", shape), dtype) {}

csr_matrix::csr_matrix(const csc_matrix& matrix) : csr_matrix(matrix.tocsr()) {}
csc_matrix csr_matrix::tocsc() const { return csc_matrix(*this); }
csc_matrix coo_matrix::tocsc() const { return csc_matrix(*this); }

Array csc_matrix::toarray() const { return internal::contiguous(rows_.toarray().transpose()); }

Array csc_matrix::sum(std::optional<int> axis, std::optional<Dtype> dtype) const {
  return rows_.sum(other_axis(axis), dtype);
}
Array csc_matrix::mean(std::optional<int> axis, std::optional<Dtype> dtype) const {
  return rows_.mean(other_axis(axis), dtype);
}

// A x = (x^T A^T)^T.
Array csc_matrix::dot(const Array& x) const {
  rows_.check_unchanged("matmul");
  catena::check<ValueError>((x.ndim() == 1 || x.ndim() == 2) && x.shape(0) == shape(1), "matmul",
                            "the sparse matrix has the shape ", shape(), " and the dense operand ", x.shape(),
                            ", which must be (", shape(1), ") or (", shape(1), ", N)");
  if (x.ndim() == 1) return rows_.dot_from_left(x);
  return internal::contiguous(rows_.dot_from_left(x.transpose()).transpose());
}
csc_matrix csc_matrix::dot(const csc_matrix& x) const { return of_transposed(x.rows_.dot(rows_)); }

Array operator*(const Array& a, const csc_matrix& b) {
  catena::check<ValueError>((a.ndim() == 1 || a.ndim() == 2) && a.shape(-1) == b.shape(0), "matmul",
                            "the dense operand has the shape ", a.shape(), " and the sparse matrix ", b.shape(),
                            ", the dense one must be (", b.shape(0), ") or (N, ", b.shape(0), ")");
  if (a.ndim() == 1) return b.rows_.dot(a);
  return internal::contiguous(b.rows_.dot(a.transpose()).transpose());
}
csc_matrix operator+(const csc_matrix& a, const csc_matrix& b) { return csc_matrix::of_transposed(a.rows_ + b.rows_); }
csc_matrix operator-(const csc_matrix& a, const csc_matrix& b) { return csc_matrix::of_transposed(a.rows_ - b.rows_); }

}  // namespace nd::sparse
