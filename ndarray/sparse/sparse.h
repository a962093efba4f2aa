// Sparse matrices as in scipy.sparse and cupyx.scipy.sparse: compressed rows (CSR), compressed columns (CSC) and lists
// of coordinates (COO). Equations with sparse matrices: ndarray/sparse/linalg.h.
//
//   nd::sparse::csr_matrix A({data, {row, col}}, {3, 4});   duplicates are added up
//   nd::sparse::csr_matrix B({data, indices, indptr}, {3, 4}), C(dense);
//   nd::Array y = A * x, z = nd::matmul(x, A);
//   auto S = A + 2 * B, P = A * C.T(), row = A(0), part = A(nd::Slice(1, 3));
//
// Like arrays, matrices are handles: a copy of a matrix has the same arrays, copy() copies them. The arrays may be
// shared with those from which the matrix was made, on any device; results are on the device of the operands.
//
// Elements are bools, integers, floats of 32 and 64 bits and complex numbers (TypeError for float16 and bfloat16);
// results have the dtypes of SciPy, that is, the promotion of the operands. Integers wrap, bools are added by "or".
// Indices are int32, or int64 if a length or the number of entries needs it. Sums have a fixed order on each device.
//
// `*` is the matrix product, as of SciPy's matrices (csr_matrix), and the product with numbers; multiply() is the
// elementwise one. Sums over an axis are arrays of rank 1, as of SciPy's sparse arrays (csr_array). Results have rows
// with sorted columns without duplicates; sums, differences and products by multiply() hold no zeros.
//
// Functions whose results have a number of entries that depends on the elements wait for the device. Products of a
// matrix and a dense array do not.
//
// Thread safety: may be called from any thread; the caller must order writes to a matrix with other accesses.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <catena/ndarray/core/array.h>
#include <catena/ndarray/device/device.h>
#include <catena/ndarray/routines/creation.h>
#include <catena/ndarray/routines/indexing.h>

namespace nd::sparse {

class csr_matrix;
class csc_matrix;

// {row, col}: the places of entries, integers of rank 1.
struct CATENA_EXPORT Coordinates {
  Coordinates(const ArrayLike& row, const ArrayLike& col);
  Array row, col;
};
// {data, {row, col}}
struct CATENA_EXPORT Entries {
  Entries(const ArrayLike& data, const Coordinates& places);
  Array data, row, col;
};
// {data, indices, indptr}: row i has the entries data[k] in the columns indices[k], k = indptr[i] ... indptr[i+1] - 1.
struct CATENA_EXPORT CompressedRows {
  CompressedRows(const ArrayLike& data, const ArrayLike& indices, const ArrayLike& indptr);
  Array data, indices, indptr;
};

// A list of entries and their places; the element of a place that occurs several times is the sum of its entries.
// Everything that a csr_matrix can do, a coo_matrix can do through its conversion to one.
class CATENA_EXPORT coo_matrix {
 public:
  coo_matrix() = default;  // a null matrix: TypeError in use
  // ValueError for arrays of different lengths and places outside of the shape, which is by default the smallest one
  // that has all places.
  explicit coo_matrix(const Entries& entries);
  coo_matrix(const Entries& entries, const Shape& shape, std::optional<Dtype> dtype = {});
  // The elements of a dense matrix that are not 0; a vector is a row. ValueError for other ranks.
  template <std::same_as<Array> A> explicit coo_matrix(const A& dense, std::optional<Dtype> dtype = {});
  explicit coo_matrix(const csr_matrix& matrix);
  // A matrix without entries.
  explicit coo_matrix(const Shape& shape, Dtype dtype = Dtype::float64);

  Array data() const { return data_; }
  Array row() const { return row_; }
  Array col() const { return col_; }
  Shape shape() const { return {rows_, columns_}; }
  std::int64_t shape(int axis) const { return shape()[catena::normalize_axis("shape", axis, 2)]; }
  int ndim() const noexcept { return 2; }
  std::int64_t nnz() const { return data_.size(); }  // the number of entries, zeros among them included
  Dtype dtype() const { return data_.dtype(); }
  Device device() const { return data_.device(); }

  csr_matrix tocsr() const;
  csc_matrix tocsc() const;
  coo_matrix tocoo() const { return *this; }
  Array toarray() const;
  Array todense() const { return toarray(); }
  coo_matrix T() const;
  coo_matrix transpose() const { return T(); }
  coo_matrix copy() const;
  coo_matrix astype(Dtype dtype) const;
  void sum_duplicates();
  void eliminate_zeros();

 private:
  friend class csr_matrix;
  coo_matrix(Array data, Array row, Array col, std::int64_t rows, std::int64_t columns);

  Array data_, row_, col_;
  std::int64_t rows_ = 0, columns_ = 0;
};

// A matrix of compressed rows.
class CATENA_EXPORT csr_matrix {
 public:
  csr_matrix() = default;  // a null matrix: TypeError in use
  // The entries of a list, of which those with the same place are added up. Errors as for coo_matrix.
  explicit csr_matrix(const Entries& entries);
  csr_matrix(const Entries& entries, const Shape& shape, std::optional<Dtype> dtype = {});
  // The entries of each row in any order; the number of columns is by default the least one that suffices. ValueError
  // for an indptr that does not begin with 0, decreases, or does not end with the number of entries or with the number
  // of rows, and for columns outside of the shape. The check waits for the device.
  explicit csr_matrix(const CompressedRows& rows);
  csr_matrix(const CompressedRows& rows, const Shape& shape, std::optional<Dtype> dtype = {});
  // The elements of a dense matrix that are not 0; a vector is a row. ValueError for other ranks.
  template <std::same_as<Array> A>
  explicit csr_matrix(const A& dense, std::optional<Dtype> dtype = {}) : csr_matrix(of_dense(dense, dtype)) {}
  csr_matrix(const coo_matrix& matrix);
  csr_matrix(const csc_matrix& matrix);
  // A matrix without entries.
  explicit csr_matrix(const Shape& shape, Dtype dtype = Dtype::float64);

  Array data() const { return data_; }
  Array indices() const { return indices_; }
  Array indptr() const { return indptr_; }
  Shape shape() const { return {rows_, columns_}; }
  std::int64_t shape(int axis) const { return shape()[catena::normalize_axis("shape", axis, 2)]; }
  int ndim() const noexcept { return 2; }
  std::int64_t nnz() const { return data_.size(); }  // the number of entries, zeros among them included
  Dtype dtype() const { return data_.dtype(); }
  Device device() const { return data_.device(); }

  // ---- conversion ----
  Array toarray() const;
  Array todense() const { return toarray(); }
  csr_matrix tocsr() const { return *this; }
  csc_matrix tocsc() const;
  coo_matrix tocoo() const;
  // The transposed matrix, also in compressed rows. (That of tocsc() shares the arrays.)
  csr_matrix T() const;
  csr_matrix transpose() const { return T(); }
  csr_matrix copy() const;
  csr_matrix astype(Dtype dtype) const;  // the same matrix if it has that dtype
  csr_matrix to_device(Device device) const;
  // A matrix with other data for the same places; ValueError for another shape of the data.
  csr_matrix with_data(const Array& data) const;

  // ---- the entries, in place ----
  // The columns of each row in ascending order.
  void sort_indices();
  // The same, and entries with the same place added up.
  void sum_duplicates();
  void eliminate_zeros();
  // True if the columns of each row ascend without duplicates.
  bool has_canonical_format() const;

  // ---- parts ----
  // Rows, as a matrix: A(1) with one row, A(Slice(0, 9, 2)), A({0, 2}) or an index array or mask of rows. IndexError
  // for rows that are not there.
  template <class K> csr_matrix operator()(const K& key) const { return take_rows(Array(row_numbers()(key))); }
  csr_matrix operator()(std::initializer_list<catena::Integer> rows) const {
    return take_rows(Array(row_numbers()(rows)));
  }
  // Rows and columns: A(_, 1), A(Slice(2), Slice(1, 3)).
  template <class R, class C>
  requires(!(std::integral<R> && std::integral<C>)&&!(catena::is_index_array<R> &&
                                                      catena::is_index_array<C>)) csr_matrix
  operator()(const R& rows, const C& columns) const {
    return (*this)(rows).T()(columns).T();
  }
  // One element, as an array of rank 0.
  template <std::integral R, std::integral C> Array operator()(R row, C column) const {
    return element(static_cast<std::int64_t>(row), static_cast<std::int64_t>(column));
  }
  csr_matrix getrow(std::int64_t i) const { return (*this)(i); }
  csr_matrix getcol(std::int64_t j) const { return (*this)(_, j); }
  // The elements (i, i + k), as an array of rank 1; empty if the matrix has no such diagonal.
  Array diagonal(std::int64_t k = 0) const;

  // ---- sums ----
  // Of all elements, with rank 0, or over an axis, with rank 1. Bools and integers are added as int64 or uint64.
  // ValueError for an axis other than 0, 1, -1, -2.
  Array sum(std::optional<int> axis = {}, std::optional<Dtype> dtype = {}) const;
  // Means of integers are float64.
  Array mean(std::optional<int> axis = {}, std::optional<Dtype> dtype = {}) const;
  std::int64_t count_nonzero() const;  // elements that are not 0

  // ---- products ----
  // With a vector (columns), a matrix (columns, N) or a sparse matrix. ValueError for other shapes.
  Array dot(const Array& x) const;
  csr_matrix dot(const csr_matrix& x) const;
  // Elementwise: with a matrix of the same shape, or with a number or a dense array that broadcasts to it.
  csr_matrix multiply(const csr_matrix& x) const;
  csr_matrix multiply(const Operand& x) const;
  csr_matrix power(const Operand& n) const;  // of the entries

  csr_matrix operator-() const;

 private:
  friend class coo_matrix;
  friend class csc_matrix;
  csr_matrix(Array data, Array indices, Array indptr, std::int64_t columns, bool canonical);
  static csr_matrix of_dense(const Array& dense, std::optional<Dtype> dtype);
  static csr_matrix of_places(const Array& data, const Array& row, const Array& col, std::int64_t rows,
                              std::int64_t columns);
  // The same with sorted columns, and with duplicates.
  static csr_matrix of_sorted(const Array& data, const Array& row, const Array& col, std::int64_t rows,
                              std::int64_t columns);
  void check_format(std::string_view op) const;
  void check_unchanged(std::string_view op) const;  // checks the format again if it has been written to
  bool is_unchanged() const;
  csr_matrix canonical() const;
  csr_matrix kept(const Array& mask) const;  // the entries where the mask is true
  Array row_numbers() const;                 // 0 ... rows - 1
  Array rows_of_entries() const;
  csr_matrix take_rows(const Array& rows) const;
  Array element(std::int64_t row, std::int64_t column) const;
  Array dot_from_left(const Array& x) const;
  // The entries of both matrices in one pass, on the CPU.
  static csr_matrix combined(const csr_matrix& a, const csr_matrix& b, bool product);
  static csr_matrix joined(const std::vector<csr_matrix>& list, int axis);

  friend CATENA_EXPORT csr_matrix operator+(const csr_matrix& a, const csr_matrix& b);
  friend CATENA_EXPORT Array operator*(const Array& a, const csr_matrix& b);
  friend CATENA_EXPORT csr_matrix vstack(const std::vector<csr_matrix>& blocks);
  friend CATENA_EXPORT csr_matrix hstack(const std::vector<csr_matrix>& blocks);

  Array data_, indices_, indptr_;
  std::int64_t rows_ = 0, columns_ = 0;
  bool canonical_ = true;
  std::uint64_t indices_version_ = 0, indptr_version_ = 0;  // at the last check
};

// {data, indices, indptr} of compressed columns: column j has the entries data[k] in the rows indices[k],
// k = indptr[j] ... indptr[j + 1] - 1.
using CompressedColumns = CompressedRows;

// A matrix of compressed columns: its arrays are those of the transposed matrix in compressed rows, T(). Columns, sums
// over an axis and products from the left cost what rows and products from the right cost for a csr_matrix. Functions
// that are not here are those of the conversion: A.tocsr().multiply(B).
class CATENA_EXPORT csc_matrix {
 public:
  csc_matrix() = default;  // a null matrix: TypeError in use
  // Errors as for csr_matrix, with columns in place of rows.
  explicit csc_matrix(const Entries& entries) : csc_matrix(csr_matrix(entries)) {}
  csc_matrix(const Entries& entries, const Shape& shape, std::optional<Dtype> dtype = {})
      : csc_matrix(csr_matrix(entries, shape, dtype)) {}
  explicit csc_matrix(const CompressedColumns& columns) : rows_(csr_matrix(columns)) {}
  csc_matrix(const CompressedColumns& columns, const Shape& shape, std::optional<Dtype> dtype = {});
  template <std::same_as<Array> A>
  explicit csc_matrix(const A& dense, std::optional<Dtype> dtype = {}) : csc_matrix(csr_matrix(dense, dtype)) {}
  csc_matrix(const csr_matrix& matrix) : rows_(matrix.T()) {}
  explicit csc_matrix(const coo_matrix& matrix) : csc_matrix(csr_matrix(matrix)) {}
  explicit csc_matrix(const Shape& shape, Dtype dtype = Dtype::float64) : csc_matrix(csr_matrix(shape, dtype)) {}

  Array data() const { return rows_.data(); }
  Array indices() const { return rows_.indices(); }
  Array indptr() const { return rows_.indptr(); }
  Shape shape() const { return {rows_.shape(1), rows_.shape(0)}; }
  std::int64_t shape(int axis) const { return shape()[catena::normalize_axis("shape", axis, 2)]; }
  int ndim() const noexcept { return 2; }
  std::int64_t nnz() const { return rows_.nnz(); }
  Dtype dtype() const { return rows_.dtype(); }
  Device device() const { return rows_.device(); }

  Array toarray() const;
  Array todense() const { return toarray(); }
  csr_matrix tocsr() const { return rows_.T(); }
  csc_matrix tocsc() const { return *this; }
  coo_matrix tocoo() const { return rows_.tocoo().T(); }
  // The transposed matrix in compressed rows, which has the same arrays.
  csr_matrix T() const { return rows_; }
  csr_matrix transpose() const { return rows_; }
  csc_matrix copy() const { return of_transposed(rows_.copy()); }
  csc_matrix astype(Dtype dtype) const { return of_transposed(rows_.astype(dtype)); }
  csc_matrix to_device(Device device) const { return of_transposed(rows_.to_device(device)); }
  csc_matrix with_data(const Array& data) const { return of_transposed(rows_.with_data(data)); }

  void sort_indices() { rows_.sort_indices(); }
  void sum_duplicates() { rows_.sum_duplicates(); }
  void eliminate_zeros() { rows_.eliminate_zeros(); }
  bool has_canonical_format() const { return rows_.has_canonical_format(); }

  // Keys as those of a csr_matrix: A(i, j), A(rows), A(_, Slice(2)).
  template <std::integral R, std::integral C> Array operator()(R row, C column) const { return rows_(column, row); }
  template <class K> csc_matrix operator()(const K& rows) const { return of_transposed(rows_(_, rows)); }
  template <class R, class C>
  requires(!(std::integral<R> && std::integral<C>)&&!(catena::is_index_array<R> &&
                                                      catena::is_index_array<C>)) csc_matrix
  operator()(const R& rows, const C& columns) const {
    return of_transposed(rows_(columns, rows));
  }
  csc_matrix getrow(std::int64_t i) const { return (*this)(i); }
  csc_matrix getcol(std::int64_t j) const { return of_transposed(rows_(j)); }
  Array diagonal(std::int64_t k = 0) const { return rows_.diagonal(-k); }

  Array sum(std::optional<int> axis = {}, std::optional<Dtype> dtype = {}) const;
  Array mean(std::optional<int> axis = {}, std::optional<Dtype> dtype = {}) const;
  std::int64_t count_nonzero() const { return rows_.count_nonzero(); }

  // Products as those of a csr_matrix. The product of two sparse matrices has the format of the first one.
  Array dot(const Array& x) const;
  csc_matrix dot(const csc_matrix& x) const;
  csc_matrix multiply(const csc_matrix& x) const { return of_transposed(rows_.multiply(x.rows_)); }
  csc_matrix operator-() const { return of_transposed(-rows_); }

 private:
  static csc_matrix of_transposed(csr_matrix rows);

  friend CATENA_EXPORT Array operator*(const Array& a, const csc_matrix& b);
  friend CATENA_EXPORT csc_matrix operator+(const csc_matrix& a, const csc_matrix& b);
  friend CATENA_EXPORT csc_matrix operator-(const csc_matrix& a, const csc_matrix& b);

  csr_matrix rows_;  // the transposed matrix
};

template <std::same_as<Array> A>
coo_matrix::coo_matrix(const A& dense, std::optional<Dtype> dtype) : coo_matrix(csr_matrix(dense, dtype)) {}

// ---- operators ------------------------------------------------------------------------------------
// ValueError for shapes that differ or do not fit, and for matrices on different devices.
CATENA_EXPORT csr_matrix operator+(const csr_matrix& a, const csr_matrix& b);
CATENA_EXPORT csr_matrix operator-(const csr_matrix& a, const csr_matrix& b);
// With a dense array: a dense array.
CATENA_EXPORT Array operator+(const csr_matrix& a, const Array& b);
CATENA_EXPORT Array operator-(const csr_matrix& a, const Array& b);
CATENA_EXPORT Array operator-(const Array& a, const csr_matrix& b);
inline Array operator+(const Array& a, const csr_matrix& b) { return b + a; }
// Matrix products.
inline csr_matrix operator*(const csr_matrix& a, const csr_matrix& b) { return a.dot(b); }
inline Array operator*(const csr_matrix& a, const Array& b) { return a.dot(b); }
CATENA_EXPORT Array operator*(const Array& a, const csr_matrix& b);
// Of compressed columns.
CATENA_EXPORT csc_matrix operator+(const csc_matrix& a, const csc_matrix& b);
CATENA_EXPORT csc_matrix operator-(const csc_matrix& a, const csc_matrix& b);
inline csc_matrix operator*(const csc_matrix& a, const csc_matrix& b) { return a.dot(b); }
inline csc_matrix operator*(const csc_matrix& a, const csr_matrix& b) { return a.dot(csc_matrix(b)); }
inline csr_matrix operator*(const csr_matrix& a, const csc_matrix& b) { return a.dot(csr_matrix(b)); }
inline csc_matrix operator+(const csc_matrix& a, const csr_matrix& b) { return a + csc_matrix(b); }
inline csr_matrix operator+(const csr_matrix& a, const csc_matrix& b) { return a + csr_matrix(b); }
inline csc_matrix operator-(const csc_matrix& a, const csr_matrix& b) { return a - csc_matrix(b); }
inline csr_matrix operator-(const csr_matrix& a, const csc_matrix& b) { return a - csr_matrix(b); }
inline Array operator*(const csc_matrix& a, const Array& b) { return a.dot(b); }
CATENA_EXPORT Array operator*(const Array& a, const csc_matrix& b);
template <Element E> csc_matrix operator*(const csc_matrix& a, E number) { return a.with_data(a.data() * number); }
template <Element E> csc_matrix operator*(E number, const csc_matrix& a) { return a.with_data(a.data() * number); }
template <Element E> csc_matrix operator/(const csc_matrix& a, E number) { return a.with_data(a.data() / number); }
// With numbers.
template <Element E> csr_matrix operator*(const csr_matrix& a, E number) { return a.multiply(number); }
template <Element E> csr_matrix operator*(E number, const csr_matrix& a) { return a.multiply(number); }
template <Element E> csr_matrix operator/(const csr_matrix& a, E number) { return a.with_data(a.data() / number); }

// The absolute values of the entries.
CATENA_EXPORT csr_matrix abs(const csr_matrix& a);

// ---- making matrices ------------------------------------------------------------------------------
struct EyeOptions {
  std::int64_t k = 0;  // the diagonal of ones: elements (i, i + k)
  Dtype dtype = Dtype::float64;
};
// An m x n matrix with ones on one diagonal; the square matrix with ones on the main diagonal.
CATENA_EXPORT csr_matrix eye(std::int64_t m, std::int64_t n, const EyeOptions& options = {});
inline csr_matrix eye(std::int64_t m) { return eye(m, m); }
inline csr_matrix identity(std::int64_t n, Dtype dtype = Dtype::float64) { return eye(n, n, {.dtype = dtype}); }

// Diagonal offsets[k] holds diagonals[k], from its first element; a diagonal of one element is repeated. Without a
// shape the matrix is square, of the size that the first diagonal needs. Integers become float64. ValueError for a
// different number of diagonals and offsets, a diagonal of another length, and an offset that occurs twice.
//   diags({1., 2., 3.})   diags({main, upper}, {0, 1})   diags({ones, ones}, {-1, 1}, {4, 5})
CATENA_EXPORT csr_matrix diags(const std::vector<Array>& diagonals, const std::vector<std::int64_t>& offsets,
                               const Shape& shape);
CATENA_EXPORT csr_matrix diags(const std::vector<Array>& diagonals, const std::vector<std::int64_t>& offsets);
template <std::same_as<Array> A> csr_matrix diags(const A& diagonal, std::int64_t offset = 0) {
  return diags(std::vector<Array>{diagonal}, std::vector<std::int64_t>{offset});
}

// round(density * m * n) entries at random places, uniform in [0, 1), drawn by nd::random. ValueError for a density
// that is not between 0 and 1, TypeError for a dtype that is not floating.
CATENA_EXPORT csr_matrix random(std::int64_t m, std::int64_t n, double density = 0.01, Dtype dtype = Dtype::float64);

// Matrices below or beside each other. ValueError for no matrices and for lengths that differ.
CATENA_EXPORT csr_matrix vstack(const std::vector<csr_matrix>& blocks);
CATENA_EXPORT csr_matrix hstack(const std::vector<csr_matrix>& blocks);

// ---- files ----------------------------------------------------------------------------------------
// In SciPy's format, for scipy.sparse.load_npz; ".npz" is appended to a path without it.
CATENA_EXPORT void save_npz(const std::string& path, const csr_matrix& matrix, bool compressed = true);
CATENA_EXPORT void save_npz(const std::string& path, const coo_matrix& matrix, bool compressed = true);
CATENA_EXPORT void save_npz(const std::string& path, const csc_matrix& matrix, bool compressed = true);
// A file of a matrix in the formats csr, csc or coo, to the current device. ValueError for other content.
CATENA_EXPORT csr_matrix load_npz(const std::string& path);

}  // namespace nd::sparse

namespace nd {

CATENA_EXPORT Array matmul(const sparse::csr_matrix& a, const Array& b);
CATENA_EXPORT Array matmul(const Array& a, const sparse::csr_matrix& b);
CATENA_EXPORT sparse::csr_matrix matmul(const sparse::csr_matrix& a, const sparse::csr_matrix& b);
inline Array matmul(const sparse::csc_matrix& a, const Array& b) { return a.dot(b); }
inline Array matmul(const Array& a, const sparse::csc_matrix& b) { return a * b; }
inline sparse::csc_matrix matmul(const sparse::csc_matrix& a, const sparse::csc_matrix& b) { return a.dot(b); }

}  // namespace nd
