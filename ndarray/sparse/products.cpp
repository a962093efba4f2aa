#include <algorithm>
#include <utility>

#include <catena/ndarray/core/storage.h>
#include <catena/ndarray/routines/joining.h>
#include <catena/ndarray/routines/manipulation.h>
#include <catena/ndarray/routines/math.h>
#include <catena/ndarray/routines/reduction.h>
#include <catena/ndarray/routines/scan.h>
#include <catena/ndarray/routines/sorting.h>
#include <catena/ndarray/sparse/kernels.h>
#include <catena/ndarray/sparse/loops_sparse.h>
#include <catena/ndarray/sparse/sparse.h>

namespace nd::sparse {
namespace {

using catena::check;
using kernels::converted;

// The entries of rows, one row after the other.
struct RowEntries {
  Array positions;  // in the matrix
  Array indptr;     // of the result
  Array number;     // of the row in the list, for each entry
};

RowEntries entries_of_rows(const Array& indptr, const Array& rows) {
  const DeviceScope scope(indptr.device());
  const Array starts = take(indptr, rows).astype(Dtype::int64), ends = take(indptr, rows + 1);
  const Array offsets = kernels::offsets(ends - starts, Dtype::int64);
  const auto n = offsets(-1).item<std::int64_t>();
  const Array number = kernels::number_rows(offsets, n);
  return {arange(n) + take(starts - offsets(Slice(0, -1)), number), offsets, number};
}

void check_same_shape(std::string_view op, const csr_matrix& a, const csr_matrix& b) {
  check<ValueError>(a.shape() == b.shape(), op, "the matrices have the shapes ", a.shape(), " and ", b.shape(),
                    ", must have one shape");
  kernels::check_device(op, a.device(), b.device());
}

loops::Rows rows_of(const csr_matrix& m, Dtype dtype, Dtype index) {
  return {converted(m.data(), dtype), converted(m.indices(), index), converted(m.indptr(), index)};
}

}  // namespace

// ---- parts ----------------------------------------------------------------------------------------
csr_matrix csr_matrix::take_rows(const Array& given) const {
  const Array rows = given.ndim() == 0 ? given.reshape(Shape{1}) : given;
  check<IndexError>(rows.ndim() == 1, "csr_matrix", "the rows have the shape ", rows.shape(), ", must have rank 1");
  const RowEntries e = entries_of_rows(indptr_, rows);
  return {take(data_, e.positions), take(indices_, e.positions), e.indptr, columns_, has_canonical_format()};
}

Array csr_matrix::element(std::int64_t row, std::int64_t column) const {
  const csr_matrix one = (*this)(row);
  const std::int64_t j = column < 0 ? column + columns_ : column;
  check<IndexError>(j >= 0 && j < columns_, "csr_matrix", "index ", column, " is out of range for axis 1 of length ",
                    columns_);
  const Array selected = where(one.indices_ == j, one.data_, zeros_like(one.data_));
  return kernels::sum_rows(selected, one.indptr_).reshape(Shape{});
}

Array csr_matrix::diagonal(std::int64_t k) const {
  const csr_matrix c = canonical();
  const DeviceScope scope(device());
  const std::int64_t above = std::max<std::int64_t>(k, 0), below = std::max<std::int64_t>(-k, 0);
  const Array out = zeros(std::max<std::int64_t>(std::min(rows_ - below, columns_ - above), 0), dtype());
  if (out.size() == 0) return out;
  const Array row = c.rows_of_entries().astype(Dtype::int64);
  const Array at = flatnonzero(c.indices_ == row + k);
  if (at.size() > 0) out(Array(take(row, at) - below)) = take(c.data_, at);
  return out;
}

// ---- sums -----------------------------------------------------------------------------------------
Array csr_matrix::sum(std::optional<int> axis, std::optional<Dtype> dtype) const {
  check_unchanged("sum");
  if (!axis) return data_.sum({.dtype = dtype});
  const bool over_rows = catena::normalize_axis("sum", *axis, 2) == 0;
  const Dtype t = dtype.value_or(data_(Slice(0, 0)).sum().dtype());
  if (!over_rows) return kernels::sum_rows(converted(data_, t), indptr_);
  if (device().kind == Device::Kind::cpu) {
    const DeviceScope scope(device());
    return ones(rows_, t) * with_data(data_.astype(t, {.copy = false}));
  }
  const auto [order, starts] = kernels::group(indices_, columns_);
  return kernels::sum_rows(converted(take(data_, order), t), starts);
}

Array csr_matrix::mean(std::optional<int> axis, std::optional<Dtype> dtype) const {
  const bool exact = this->dtype() == Dtype::bool_ || catena::is_integer(this->dtype());
  const Dtype inner = exact ? Dtype::float64 : this->dtype();
  const std::int64_t n = !axis ? rows_ * columns_ : shape()[catena::normalize_axis("mean", *axis, 2)];
  return (sum(axis, inner) / n).astype(dtype.value_or(inner), {.copy = false});
}

std::int64_t csr_matrix::count_nonzero() const { return nd::count_nonzero(canonical().data_); }

// ---- products -------------------------------------------------------------------------------------
Array csr_matrix::dot(const Array& x) const {
  check_unchanged("matmul");
  check<ValueError>((x.ndim() == 1 || x.ndim() == 2) && x.shape(0) == columns_, "matmul",
                    "the sparse matrix has the shape ", shape(), " and the dense operand ", x.shape(),
                    ", which must be (", columns_, ") or (", columns_, ", N)");
  kernels::check_device("matmul", device(), x.device());
  const Dtype t = kernels::result_dtype(dtype(), x.dtype());
  return kernels::multiply(converted(data_, t), indices_, indptr_, converted(x, t));
}

Array csr_matrix::dot_from_left(const Array& x) const {
  check_unchanged("matmul");
  check<ValueError>((x.ndim() == 1 || x.ndim() == 2) && x.shape(-1) == rows_, "matmul",
                    "the dense operand has the shape ", x.shape(), " and the sparse matrix ", shape(),
                    ", the dense one must be (", rows_, ") or (N, ", rows_, ")");
  kernels::check_device("matmul", device(), x.device());
  if (device().kind != Device::Kind::cpu) return internal::contiguous(T().dot(x.transpose()).transpose());
  const Dtype t = kernels::result_dtype(dtype(), x.dtype());
  Shape shape = x.shape();
  shape.back() = columns_;
  const Array out(internal::new_array(shape, t, device(), "matmul"));
  if (out.size() > 0) loops::multiply_left(converted(x, t), converted(data_, t), indices_, indptr_, out);
  return out;
}
Array operator*(const Array& a, const csr_matrix& b) { return b.dot_from_left(a); }

csr_matrix csr_matrix::combined(const csr_matrix& a, const csr_matrix& b, bool product) {
  const csr_matrix x = a.canonical(), y = b.canonical();
  const Dtype t = kernels::result_dtype(a.dtype(), b.dtype());
  const std::int64_t capacity = x.nnz() + y.nnz();
  const Dtype index = kernels::index_dtype(a.rows_, a.columns_, capacity);
  const auto made = [&](std::int64_t n, Dtype dtype) {
    return Array(internal::new_array(Shape{n}, dtype, a.device(), "sparse"));
  };
  // One element more: the last value is written before it is found to be 0.
  const loops::Rows out{made(capacity + 1, t), made(capacity + 1, index), made(a.rows_ + 1, index)};
  const std::int64_t n = loops::combine(product ? loops::Combination::product : loops::Combination::sum,
                                        rows_of(x, t, index), rows_of(y, t, index), out);
  return {out.data(Slice(n)).copy(), out.indices(Slice(n)).copy(), out.indptr, a.columns_, true};
}

// On a GPU every entry of this matrix meets the entries of a row of the other one.
csr_matrix csr_matrix::dot(const csr_matrix& x) const {
  check_unchanged("matmul");
  x.check_unchanged("matmul");
  check<ValueError>(x.rows_ == columns_, "matmul", "the matrices have the shapes ", shape(), " and ", x.shape(),
                    ", the columns of the first must be as many as the rows of the second");
  kernels::check_device("matmul", device(), x.device());
  const Dtype t = kernels::result_dtype(dtype(), x.dtype());
  if (device().kind == Device::Kind::cpu) {
    const Dtype index = kernels::index_dtype(std::max(rows_, columns_), x.columns_, std::max(nnz(), x.nnz()));
    const loops::Rows product = loops::multiply_sparse(rows_of(*this, t, index), rows_of(x, t, index), x.columns_);
    return {product.data, product.indices, product.indptr, x.columns_, true};
  }
  const RowEntries e = entries_of_rows(x.indptr_, indices_);
  const Array data = take(converted(data_, t), e.number) * take(converted(x.data_, t), e.positions);
  return of_places(data, take(rows_of_entries(), e.number), take(x.indices_, e.positions), rows_, x.columns_);
}

csr_matrix csr_matrix::multiply(const csr_matrix& x) const {
  check_same_shape("multiply", *this, x);
  if (device().kind == Device::Kind::cpu) return combined(*this, x, true);
  const csr_matrix a = canonical(), b = x.canonical();
  const Dtype t = kernels::result_dtype(dtype(), x.dtype());
  // The entries of both in the order of their places; those of this matrix come first where both have one.
  const Array row = concatenate({a.rows_of_entries(), b.rows_of_entries()});
  const Array col = concatenate({a.indices_, b.indices_});
  const Array data = concatenate({a.data_.astype(t), b.data_.astype(t)});
  const Array by_column = kernels::sorted_order(col, columns_);
  const kernels::Groups by_row = kernels::group(take(row, by_column), rows_);
  const Array order = take(by_column, by_row.order);
  const csr_matrix both(take(data, order), take(col, order), by_row.starts, columns_, false);
  const Array rows = both.rows_of_entries();
  const Slice first(0, -1), second(1, None);
  const Array product = both.data_.copy(), met = zeros_like(product, {.dtype = Dtype::bool_});
  product(first) = both.data_(first) * both.data_(second);
  met(first) = (rows(first) == rows(second)) & (both.indices_(first) == both.indices_(second)) & (product(first) != 0);
  return csr_matrix(product, both.indices_, both.indptr_, columns_, true).kept(met);  // of a place only the first entry
}

csr_matrix csr_matrix::multiply(const Operand& x) const {
  check_unchanged("multiply");
  if (!x.is_array() || x.array().ndim() == 0) return with_data(data_ * x);
  const Array dense = x.array();
  kernels::check_device("multiply", device(), dense.device());
  const Array factors = broadcast_to(dense, shape())(rows_of_entries(), indices_);
  return with_data(converted(data_ * factors, kernels::result_dtype(dtype(), dense.dtype())));
}

csr_matrix csr_matrix::power(const Operand& n) const { return with_data(nd::power(data_, n)); }
csr_matrix csr_matrix::operator-() const { return with_data(-data_); }
csr_matrix abs(const csr_matrix& a) { return a.with_data(absolute(a.data())); }

// ---- sums of matrices -------------------------------------------------------------------------------
csr_matrix operator+(const csr_matrix& a, const csr_matrix& b) {
  check_same_shape("add", a, b);
  if (a.device().kind == Device::Kind::cpu) return csr_matrix::combined(a, b, false);
  a.check_unchanged("add");
  b.check_unchanged("add");
  const Dtype t = kernels::result_dtype(a.dtype(), b.dtype());
  csr_matrix sum = csr_matrix::of_places(concatenate({a.data_.astype(t), b.data_.astype(t)}),
                                         concatenate({a.rows_of_entries(), b.rows_of_entries()}),
                                         concatenate({a.indices_, b.indices_}), a.rows_, a.columns_);
  sum.eliminate_zeros();
  return sum;
}

// Negated in the dtype of the result, so that unsigned integers wrap in it.
csr_matrix operator-(const csr_matrix& a, const csr_matrix& b) {
  return a + -b.astype(kernels::result_dtype(a.dtype(), b.dtype()));
}
Array operator+(const csr_matrix& a, const Array& b) { return a.toarray() + b; }
Array operator-(const csr_matrix& a, const Array& b) { return a.toarray() - b; }
Array operator-(const Array& a, const csr_matrix& b) { return a - b.toarray(); }

}  // namespace nd::sparse

namespace nd {

Array matmul(const sparse::csr_matrix& a, const Array& b) { return a.dot(b); }
sparse::csr_matrix matmul(const sparse::csr_matrix& a, const sparse::csr_matrix& b) { return a.dot(b); }
Array matmul(const Array& a, const sparse::csr_matrix& b) { return a * b; }

}  // namespace nd
