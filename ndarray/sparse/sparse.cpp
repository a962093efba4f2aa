#include <catena/ndarray/sparse/sparse.h>

#include <algorithm>
#include <utility>

#include <catena/kernels/base/error_context.h>
#include <catena/ndarray/routines/array_like.h>
#include <catena/ndarray/routines/differences.h>
#include <catena/ndarray/routines/joining.h>
#include <catena/ndarray/routines/manipulation.h>
#include <catena/ndarray/routines/math.h>
#include <catena/ndarray/routines/reduction.h>
#include <catena/ndarray/routines/scan.h>
#include <catena/ndarray/routines/sorting.h>
#include <catena/ndarray/sparse/kernels.h>

namespace nd::sparse {
namespace {

using catena::check;
using kernels::converted;

// ValueError if an element is not in 0 ... end - 1.
void check_places(std::string_view op, std::string_view name, const Array& places, std::int64_t end) {
  if (places.size() == 0) return;
  const auto low = places.min().item<std::int64_t>(), high = places.max().item<std::int64_t>();
  check<ValueError>(low >= 0 && high < end, op, name, " has the element ", low < 0 ? low : high, ", must be 0 to ",
                    end - 1);
}

std::int64_t end_of(const Array& places) { return places.size() == 0 ? 0 : places.max().item<std::int64_t>() + 1; }

void check_shape(std::string_view op, const Shape& shape) {
  check<ValueError>(shape.size() == 2 && shape[0] >= 0 && shape[1] >= 0, op, "the shape is ", shape,
                    ", must be two lengths");
}

void check_places_array(std::string_view op, std::string_view name, const Array& a) {
  check<ValueError>(a.ndim() == 1, op, name, " has the shape ", a.shape(),
                    ", must have rank 1; of a dense matrix, write csr_matrix(nd::array({{1, 0}, {0, 2}}))");
  // An empty list is of float64.
  check<TypeError>(catena::is_integer(a.dtype()) || a.size() == 0, op, name, " has the dtype ", a.dtype(),
                   ", must be integers");
}

Array checked_data(std::string_view op, const Array& data, std::optional<Dtype> dtype) {
  const Dtype t = dtype.value_or(data.dtype());
  kernels::check_dtype(op, t);
  return converted(data, t);
}

Shape smallest_shape(const Entries& e) { return {end_of(e.row), end_of(e.col)}; }

// Element i, i + 1 of sorted places differ in the row or column; the first place is new.
Array new_places(const Array& row, const Array& col) {
  const DeviceScope scope(row.device());
  const Array isnew = ones(row.size(), Dtype::bool_);
  const Slice first(0, -1), second(1, None);
  isnew(second) = (row(second) != row(first)) | (col(second) != col(first));
  return isnew;
}

}  // namespace

// ---- arguments ------------------------------------------------------------------------------------
Coordinates::Coordinates(const ArrayLike& row_in, const ArrayLike& col_in) {
  const auto [r, c] = internal::on_one_device("sparse", row_in, col_in);
  row = r, col = c;
  check_places_array("sparse", "row", row);
  check_places_array("sparse", "col", col);
}

Entries::Entries(const ArrayLike& data_in, const Coordinates& places) : row(places.row), col(places.col) {
  catena::check<TypeError>(!data_in.array().is_null(), "sparse", "data is a null array");
  data = data_in.is_array() ? data_in.array() : internal::on_device(data_in, row.device());
  check<ValueError>(data.ndim() == 1 && data.size() == row.size() && data.size() == col.size(), "sparse",
                    "data, row and col have the shapes ", data.shape(), ", ", row.shape(), " and ", col.shape(),
                    ", must be one shape of rank 1");
  kernels::check_device("sparse", data.device(), row.device());
  kernels::check_device("sparse", data.device(), col.device());
}

CompressedRows::CompressedRows(const ArrayLike& data_in, const ArrayLike& indices_in, const ArrayLike& indptr_in) {
  const auto [d, i, p] = internal::on_one_device("csr_matrix", data_in, indices_in, indptr_in);
  data = d, indices = i, indptr = p;
  check_places_array("csr_matrix", "indices", indices);
  check_places_array("csr_matrix", "indptr", indptr);
  check<ValueError>(data.ndim() == 1 && data.size() == indices.size(), "csr_matrix",
                    "data and indices have the shapes ", data.shape(), " and ", indices.shape(),
                    ", must be one shape of rank 1");
  check<ValueError>(indptr.size() > 0, "csr_matrix", "indptr is empty, must have one element more than there are rows");
  kernels::check_device("csr_matrix", data.device(), indices.device());
  kernels::check_device("csr_matrix", data.device(), indptr.device());
}

// ---- coo_matrix -----------------------------------------------------------------------------------
coo_matrix::coo_matrix(Array data, Array row, Array col, std::int64_t rows, std::int64_t columns)
    : data_(std::move(data)), rows_(rows), columns_(columns) {
  const Dtype index = kernels::index_dtype(rows, columns, data_.size());
  row_ = converted(row, index);
  col_ = converted(col, index);
}

coo_matrix::coo_matrix(const Entries& e) : coo_matrix(e, smallest_shape(e)) {}

coo_matrix::coo_matrix(const Entries& e, const Shape& shape, std::optional<Dtype> dtype) {
  check_shape("coo_matrix", shape);
  check_places("coo_matrix", "row", e.row, shape[0]);
  check_places("coo_matrix", "col", e.col, shape[1]);
  *this = coo_matrix(checked_data("coo_matrix", e.data, dtype), e.row, e.col, shape[0], shape[1]);
}

coo_matrix::coo_matrix(const Shape& shape, Dtype dtype) : coo_matrix(csr_matrix(shape, dtype)) {}
coo_matrix::coo_matrix(const csr_matrix& matrix) : coo_matrix(matrix.tocoo()) {}

csr_matrix coo_matrix::tocsr() const {
  check_places("tocsr", "row", row_, rows_);
  check_places("tocsr", "col", col_, columns_);
  return csr_matrix::of_places(data_, row_, col_, rows_, columns_);
}
Array coo_matrix::toarray() const { return tocsr().toarray(); }
coo_matrix coo_matrix::T() const { return {data_, col_, row_, columns_, rows_}; }
coo_matrix coo_matrix::copy() const { return {data_.copy(), row_.copy(), col_.copy(), rows_, columns_}; }
coo_matrix coo_matrix::astype(Dtype dtype) const {
  return {checked_data("astype", data_, dtype), row_, col_, rows_, columns_};
}
void coo_matrix::sum_duplicates() { *this = tocsr().tocoo(); }
void coo_matrix::eliminate_zeros() {
  const Array kept = flatnonzero(data_ != 0);
  *this = coo_matrix(take(data_, kept), take(row_, kept), take(col_, kept), rows_, columns_);
}

// ---- csr_matrix: construction ---------------------------------------------------------------------
csr_matrix::csr_matrix(Array data, Array indices, Array indptr, std::int64_t columns, bool canonical)
    : data_(std::move(data)), rows_(indptr.size() - 1), columns_(columns), canonical_(canonical) {
  const Dtype index = kernels::index_dtype(rows_, columns, data_.size());
  indices_ = converted(indices, index);
  indptr_ = converted(indptr, index);
  indices_version_ = indices_.version();
  indptr_version_ = indptr_.version();
}

csr_matrix::csr_matrix(const Entries& e) : csr_matrix(e, smallest_shape(e)) {}
csr_matrix::csr_matrix(const Entries& e, const Shape& shape, std::optional<Dtype> dtype)
    : csr_matrix(coo_matrix(e, shape, dtype)) {}
csr_matrix::csr_matrix(const coo_matrix& matrix) : csr_matrix(matrix.tocsr()) {}

csr_matrix::csr_matrix(const CompressedRows& r) : csr_matrix(r, Shape{r.indptr.size() - 1, end_of(r.indices)}) {}

csr_matrix::csr_matrix(const CompressedRows& r, const Shape& shape, std::optional<Dtype> dtype) {
  check_shape("csr_matrix", shape);
  check<ValueError>(r.indptr.size() == shape[0] + 1, "csr_matrix", "indptr has ", r.indptr.size(),
                    " elements, must have ", shape[0] + 1, " for ", shape[0], " rows");
  check_places("csr_matrix", "indices", r.indices, shape[1]);
  check_places("csr_matrix", "indptr", r.indptr, r.data.size() + 1);
  *this = csr_matrix(checked_data("csr_matrix", r.data, dtype), r.indices, r.indptr, shape[1], false);
  check_format("csr_matrix");
  canonical_ = has_canonical_format();
}

csr_matrix::csr_matrix(const Shape& shape, Dtype dtype) {
  check_shape("csr_matrix", shape);
  kernels::check_dtype("csr_matrix", dtype);
  const Dtype index = kernels::index_dtype(shape[0], shape[1], 0);
  *this = csr_matrix(zeros(0, dtype), zeros(0, index), zeros(shape[0] + 1, index), shape[1], true);
}

csr_matrix csr_matrix::of_dense(const Array& given, std::optional<Dtype> dtype) {
  check<ValueError>(given.ndim() == 1 || given.ndim() == 2, "csr_matrix", "the dense array has the shape ",
                    given.shape(), ", must have rank 2, or rank 1 for one row");
  const Array dense = given.ndim() == 1 ? given(newaxis) : given;
  const Array at = internal::nonzero_rows(dense);
  const Array row = at(0), col = at(1);
  const DeviceScope scope(dense.device());
  const Array data = checked_data("csr_matrix", Array(dense(row, col)), dtype);
  return {data, col, searchsorted(row, arange(dense.shape(0) + 1)), dense.shape(1), true};
}

csr_matrix csr_matrix::of_places(const Array& data, const Array& row, const Array& col, std::int64_t rows,
                                 std::int64_t columns) {
  const Dtype index = kernels::index_dtype(rows, columns, data.size());
  const Array by_column = kernels::sorted_order(converted(col, index), columns);
  const kernels::Groups by_row = kernels::group(take(converted(row, index), by_column), rows);
  const Array order = take(by_column, by_row.order);
  csr_matrix sorted(take(data, order), take(col, order), by_row.starts, columns, false);
  return of_sorted(sorted.data_, sorted.rows_of_entries(), sorted.indices_, rows, columns);
}

csr_matrix csr_matrix::of_sorted(const Array& data, const Array& row, const Array& col, std::int64_t rows,
                                 std::int64_t columns) {
  const DeviceScope scope(data.device());
  const Dtype index = kernels::index_dtype(rows, columns, data.size());
  const Array row_starts = searchsorted(row, arange(rows + 1, row.dtype()));
  const Array isnew = new_places(row, col);
  const Array first = flatnonzero(isnew);
  if (first.size() == data.size()) return {data, col, row_starts, columns, true};
  const Array starts = concatenate({first.astype(index), full(1, data.size(), index)});
  return {kernels::sum_rows(data, starts), take(col, first), take(kernels::offsets(isnew, index), row_starts), columns,
          true};
}

// ---- checks ---------------------------------------------------------------------------------------
// Of elements between 0 and the number of entries.
void csr_matrix::check_format(std::string_view op) const {
  check_places(op, "indices", indices_, columns_);
  const auto first = indptr_(0).item<std::int64_t>(), last = indptr_(-1).item<std::int64_t>();
  check<ValueError>(first == 0, op, "indptr begins with ", first, ", must begin with 0");
  check<ValueError>(last == nnz(), op, "indptr ends with ", last, ", must end with the number of entries, ", nnz());
  const bool ascends = rows_ == 0 || bool((indptr_(Slice(1, None)) >= indptr_(Slice(0, -1))).all());
  check<ValueError>(ascends, op, "indptr decreases, must ascend");
}

bool csr_matrix::is_unchanged() const {
  return indices_.version() == indices_version_ && indptr_.version() == indptr_version_;
}

void csr_matrix::check_unchanged(std::string_view op) const {
  check<TypeError>(!data_.is_null(), op, "the matrix is null");
  if (!is_unchanged()) check_format(op);
}

bool csr_matrix::has_canonical_format() const {
  if (canonical_ && is_unchanged()) return true;
  const Array row = rows_of_entries();
  const Slice first(0, -1), second(1, None);
  return bool(((row(second) != row(first)) | (indices_(second) > indices_(first))).all());
}

csr_matrix csr_matrix::canonical() const {
  check_unchanged("sparse");
  return has_canonical_format() ? *this : of_places(data_, rows_of_entries(), indices_, rows_, columns_);
}

// ---- conversion -----------------------------------------------------------------------------------
Array csr_matrix::rows_of_entries() const { return kernels::number_rows(indptr_, nnz()); }

Array csr_matrix::row_numbers() const {
  check_unchanged("csr_matrix");
  const DeviceScope scope(device());
  return arange(rows_);
}

Array csr_matrix::toarray() const {
  const csr_matrix c = canonical();
  const DeviceScope scope(device());
  const Array dense = zeros({rows_, columns_}, dtype());
  if (c.nnz() > 0) dense(c.rows_of_entries(), c.indices_) = c.data_;
  return dense;
}

coo_matrix csr_matrix::tocoo() const {
  check_unchanged("tocoo");
  return {data_, rows_of_entries(), indices_, rows_, columns_};
}

csr_matrix csr_matrix::T() const {
  check_unchanged("transpose");
  const auto [order, starts] = kernels::group(indices_, columns_);
  return {take(data_, order), take(rows_of_entries(), order), starts, rows_, has_canonical_format()};
}

csr_matrix csr_matrix::copy() const {
  check_unchanged("copy");
  return {data_.copy(), indices_.copy(), indptr_.copy(), columns_, has_canonical_format()};
}

csr_matrix csr_matrix::with_data(const Array& data) const {
  check_unchanged("with_data");
  check<ValueError>(data.shape() == data_.shape(), "with_data", "the data have the shape ", data.shape(),
                    ", must have ", data_.shape());
  kernels::check_device("with_data", data.device(), device());
  return {checked_data("with_data", data, {}), indices_, indptr_, columns_, has_canonical_format()};
}

csr_matrix csr_matrix::astype(Dtype dtype) const {
  kernels::check_dtype("astype", dtype);
  return dtype == this->dtype() ? *this : with_data(data_.astype(dtype));
}

csr_matrix csr_matrix::to_device(Device device) const {
  check_unchanged("to_device");
  return {data_.to_device(device), indices_.to_device(device), indptr_.to_device(device), columns_,
          has_canonical_format()};
}

// ---- the entries ----------------------------------------------------------------------------------
void csr_matrix::sort_indices() {
  check_unchanged("sort_indices");
  const csr_matrix twice = T().T();
  *this = csr_matrix(twice.data_, twice.indices_, twice.indptr_, columns_, twice.has_canonical_format());
}

void csr_matrix::sum_duplicates() { *this = canonical(); }

csr_matrix csr_matrix::kept(const Array& mask) const {
  const Array at = flatnonzero(mask);
  if (at.size() == nnz()) return *this;
  return {take(data_, at), take(indices_, at), take(kernels::offsets(mask, indptr_.dtype()), indptr_), columns_,
          has_canonical_format()};
}

void csr_matrix::eliminate_zeros() {
  check_unchanged("eliminate_zeros");
  *this = kept(data_ != 0);
}

}  // namespace nd::sparse
