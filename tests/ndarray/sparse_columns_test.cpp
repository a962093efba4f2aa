// Sparse matrices of compressed columns: construction, conversion, products from both sides, sums, parts, files,
// against SciPy; and the product of two sparse matrices against the dense one.
#include <unistd.h>

#include <complex>
#include <filesystem>
#include <string>

#include <catena/ndarray/sparse/sparse.h>
#include <catena/tests/support/golden.h>
#include <catena/tests/support/ndarray_numpy.h>

using nd::Slice;
using nd::sparse::coo_matrix;
using nd::sparse::csc_matrix;
using nd::sparse::csr_matrix;

namespace {

std::vector<nd::Array> parts(const csc_matrix& m) { return {m.data(), m.indices(), m.indptr()}; }

// A (3, 4) and B (3, 4) of tests/ndarray/sparse_test.cpp, by columns.
struct Columns : test::NumpyScene {
  nd::Array dense_a = nd::array({{1., 0., 2., 0.}, {0., 0., 0., 0.}, {0., 0., 3., 4.}}),
            dense_b = nd::array({{0., 5., -2., 0.}, {1., 0., 0., 0.}, {0., 0., 0.5, -4.}});
  csc_matrix A{dense_a}, B{dense_b};
};

// Small integers, of which about one in `period` is not 0.
nd::Array random_dense(std::int64_t m, std::int64_t n, int period, nd::Dtype dtype) {
  const nd::Array values = nd::random::randint(1, 9, {m, n});
  return (values * (nd::random::randint(0, period, {m, n}) == 0)).astype(dtype);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(sparse_columns)

BOOST_FIXTURE_TEST_CASE(csc_construction, Columns) {
  // numpy: import scipy.sparse as sp
  // numpy: A = sp.csc_matrix([[1., 0, 2, 0], [0, 0, 0, 0], [0, 0, 3, 4]])
  NUMPY("[A.data, A.indices, A.indptr]", parts(A), "float64 (4) 1 2 3 4 | int32 (4) 0 0 2 2 | int32 (5) 0 1 1 3 4");
  NUMPY("A.shape", A.shape(), "(3, 4)");
  NUMPY("A.nnz", A.nnz(), "int64 () 4");
  NUMPY("A.dtype", A.dtype(), "float64");
  NUMPY("A.toarray()", A.toarray(), "float64 (3, 4) 1 0 2 0 0 0 0 0 0 0 3 4");
  NUMPY("A.todense()", A.todense(), "float64 (3, 4) 1 0 2 0 0 0 0 0 0 0 3 4");
  NUMPY("sp.csc_matrix(([1., 2., 3.], [2, 0, 1], [0, 1, 1, 3])).toarray()",
        csc_matrix({{1., 2., 3.}, {2, 0, 1}, {0, 1, 1, 3}}).toarray(), "float64 (3, 3) 0 0 2 0 0 3 1 0 0");
  NUMPY("sp.csc_matrix(([1., 2., 3.], ([0, 2, 0], [1, 3, 1])), (3, 5)).toarray()",
        csc_matrix({{1., 2., 3.}, {{0, 2, 0}, {1, 3, 1}}}, {3, 5}).toarray(),
        "float64 (3, 5) 0 4 0 0 0 0 0 0 0 0 0 0 0 2 0");
  NUMPY("sp.csc_matrix(([1, 2, 3], [2, 0, 2], [0, 2, 3]), (4, 2), np.float32).toarray()",
        csc_matrix({{1, 2, 3}, {2, 0, 2}, {0, 2, 3}}, {4, 2}, nd::float32).toarray(), "float32 (4, 2) 2 0 0 0 1 3 0 0");
  NUMPY("sp.csc_matrix((3, 2)).toarray()", csc_matrix({3, 2}).toarray(), "float64 (3, 2) 0 0 0 0 0 0");
  const csc_matrix empty({0, 3}, nd::int8);
  NUMPY("[x for y in [sp.csc_matrix((0, 3), dtype=np.int8)] for x in [y.data, y.indptr, y.toarray()]]",
        (std::vector<nd::Array>{empty.data(), empty.indptr(), empty.toarray()}),
        "int8 (0) | int32 (4) 0 0 0 0 | int8 (0, 3)");
  BOOST_TEST(A.ndim() == 2);
  BOOST_TEST(A.shape(-1) == 4);
  BOOST_TEST(A.has_canonical_format());
}

BOOST_FIXTURE_TEST_CASE(csc_conversion, Columns) {
  // numpy: import scipy.sparse as sp
  // numpy: A = sp.csc_matrix([[1., 0, 2, 0], [0, 0, 0, 0], [0, 0, 3, 4]])
  NUMPY("[A.tocsr().data, A.tocsr().indices, A.tocsr().indptr]",
        (std::vector<nd::Array>{A.tocsr().data(), A.tocsr().indices(), A.tocsr().indptr()}),
        "float64 (4) 1 2 3 4 | int32 (4) 0 2 2 3 | int32 (4) 0 2 2 4");
  NUMPY("[A.tocoo().data, A.tocoo().row, A.tocoo().col]",
        (std::vector<nd::Array>{A.tocoo().data(), A.tocoo().row(), A.tocoo().col()}),
        "float64 (4) 1 2 3 4 | int32 (4) 0 0 2 2 | int32 (4) 0 2 2 3");
  NUMPY("[A.tocsr().tocsc().data, A.tocsr().tocsc().indices]",
        (std::vector<nd::Array>{A.tocsr().tocsc().data(), A.tocsr().tocsc().indices()}),
        "float64 (4) 1 2 3 4 | int32 (4) 0 0 2 2");
  NUMPY("A.tocoo().tocsc().toarray()", A.tocoo().tocsc().toarray(), "float64 (3, 4) 1 0 2 0 0 0 0 0 0 0 3 4");
  NUMPY("A.T.toarray()", A.T().toarray(), "float64 (4, 3) 1 0 0 0 0 0 2 0 3 0 0 4");
  NUMPY("A.astype(np.int32).toarray()", A.astype(nd::int32).toarray(), "int32 (3, 4) 1 0 2 0 0 0 0 0 0 0 3 4");
  // The transposed matrix has the same arrays.
  BOOST_TEST(A.T().data()->data == A.data()->data);
  BOOST_TEST(A.copy().data()->data != A.data()->data);
  const csr_matrix implicit = A;
  const csc_matrix back = implicit, from_list(A.tocoo());
  BOOST_TEST(bool(nd::array_equal(A.tocoo() * nd::arange(4), A * nd::arange(4))));
  BOOST_TEST(bool(nd::array_equal(back.toarray(), dense_a)));
  BOOST_TEST(bool(nd::array_equal(from_list.toarray(), dense_a)));
  BOOST_TEST(bool(nd::array_equal(A.to_device(nd::cpu_device).toarray(), dense_a.to_device(nd::cpu_device))));
  csc_matrix twice({{1., 2., 0.}, {{1, 1, 0}, {0, 0, 2}}}, {2, 3});
  twice.eliminate_zeros();
  BOOST_TEST(twice.nnz() == 1);
}

BOOST_FIXTURE_TEST_CASE(csc_products, Columns) {
  // numpy: import scipy.sparse as sp
  // numpy: A = sp.csc_matrix([[1., 0, 2, 0], [0, 0, 0, 0], [0, 0, 3, 4]])
  // numpy: B = sp.csc_matrix([[0., 5, -2, 0], [1, 0, 0, 0], [0, 0, .5, -4]])
  NUMPY("A @ w[:4]", A * w(Slice(4)), "float64 (3) 2 0 17.5");
  NUMPY("v[:3] @ A", v(Slice(3)) * A, "float64 (4) 3 0 12 8");
  NUMPY("A @ a.T", A * a.transpose(), "float64 (3, 3) 3.5 9.5 15.5 0 0 0 12.5 26.5 40.5");
  NUMPY("a.T @ A", a.transpose() * A, "float64 (4, 4) 0.5 0 14.5 18 1 0 17 20 1.5 0 19.5 22 2 0 22 24");
  NUMPY("A @ (w[:4] + 1j)", A * (w(Slice(4)) + std::complex<double>(0, 1)), "complex128 (3) 2 3 0 0 17.5 7");
  NUMPY("[(A @ B.T).toarray(), (A.T @ B).toarray()]",
        (std::vector<nd::Array>{(A * B.T()).toarray(), (csc_matrix(A.T()) * B).toarray()}),
        "float64 (3, 3) -4 1 1 0 0 0 -6 0 -14.5 | float64 (4, 4) 0 5 -2 0 0 0 0 0 0 10 -2.5 -12 0 0 2 -16");
  NUMPY("[(A @ B.tocsr().T).toarray(), (A.tocsr() @ B.T).toarray()]",
        (std::vector<nd::Array>{(A * B.tocsr().T()).toarray(), (A.tocsr() * csc_matrix(B.T())).toarray()}),
        "float64 (3, 3) -4 1 1 0 0 0 -6 0 -14.5 | float64 (3, 3) -4 1 1 0 0 0 -6 0 -14.5");
  NUMPY("(A + B).toarray()", (A + B).toarray(), "float64 (3, 4) 1 5 0 0 1 0 0 0 0 0 3.5 0");
  NUMPY("(A - B).toarray()", (A - B).toarray(), "float64 (3, 4) 1 -5 4 0 -1 0 0 0 0 0 2.5 8");
  NUMPY("(A + B.tocsr()).toarray()", (A + B.tocsr()).toarray(), "float64 (3, 4) 1 5 0 0 1 0 0 0 0 0 3.5 0");
  NUMPY("(A.tocsr() - B).toarray()", (A.tocsr() - B).toarray(), "float64 (3, 4) 1 -5 4 0 -1 0 0 0 0 0 2.5 8");
  NUMPY("A.multiply(B).toarray()", A.multiply(B).toarray(), "float64 (3, 4) 0 0 -4 0 0 0 0 0 0 0 1.5 -16");
  NUMPY("(2 * A / 4 - (-A) * 3).toarray()", (2 * A / 4 - (-A) * 3).toarray(),
        "float64 (3, 4) 3.5 0 7 0 0 0 0 0 0 0 10.5 14");
  BOOST_TEST(bool(nd::array_equal(nd::matmul(A, w(Slice(4))), A * w(Slice(4)))));
  BOOST_TEST(bool(nd::array_equal(nd::matmul(v(Slice(3)), A), v(Slice(3)) * A)));
  BOOST_TEST(
      bool(nd::array_equal(nd::matmul(A, csc_matrix(B.T())).toarray(), nd::matmul(dense_a, dense_b.transpose()))));
}

BOOST_FIXTURE_TEST_CASE(csc_parts_and_sums, Columns) {
  // numpy: import scipy.sparse as sp
  // numpy: A = sp.csc_matrix([[1., 0, 2, 0], [0, 0, 0, 0], [0, 0, 3, 4]])
  NUMPY("[A[0, 2], A[-1, -1]]", (std::vector<nd::Array>{A(0, 2), A(-1, -1)}), "float64 () 2 | float64 () 4");
  NUMPY("[A[:, 2].toarray(), A[0].toarray()]", (std::vector<nd::Array>{A(nd::_, 2).toarray(), A(0).toarray()}),
        "float64 (3, 1) 2 0 3 | float64 (1, 4) 1 0 2 0");
  NUMPY("A[1:, :3].toarray()", A(Slice(1, nd::None), Slice(3)).toarray(), "float64 (2, 3) 0 0 0 0 0 3");
  NUMPY("[A.getrow(2).toarray(), A.getcol(3).toarray()]",
        (std::vector<nd::Array>{A.getrow(2).toarray(), A.getcol(3).toarray()}),
        "float64 (1, 4) 0 0 3 4 | float64 (3, 1) 0 0 4");
  NUMPY("[A.diagonal(), A.diagonal(1), A.diagonal(-1)]",
        (std::vector<nd::Array>{A.diagonal(), A.diagonal(1), A.diagonal(-1)}),
        "float64 (3) 1 0 3 | float64 (3) 0 0 4 | float64 (2) 0 0");
  NUMPY("[A.sum(), sp.csc_array(A).sum(axis=0), sp.csc_array(A).sum(axis=-1)]",
        (std::vector<nd::Array>{A.sum(), A.sum(0), A.sum(-1)}),
        "float64 () 10 | float64 (4) 1 0 5 4 | float64 (3) 3 0 7");
  NUMPY("[A.mean(), sp.csc_array(A).mean(axis=1)]", (std::vector<nd::Array>{A.mean(), A.mean(1)}),
        "float64 () 0.833333333 | float64 (3) 0.75 0 1.75");
  NUMPY("A.count_nonzero()", A.count_nonzero(), "int64 () 4");
  NUMPY_RAISES("A.sum(axis=2)", A.sum(2), nd::ValueError);
}

BOOST_FIXTURE_TEST_CASE(csc_errors, Columns) {
  const auto message = [](auto&& f) { return test::message_of<nd::Error>(f); };
  BOOST_TEST(message([&] { A* w; }) ==
             "matmul: the sparse matrix has the shape (3, 4) and the dense operand (6,), which "
             "must be (4) or (4, N)");
  BOOST_TEST(
      message([&] { nd::ones(2) * A; }) ==
      "matmul: the dense operand has the shape (2,) and the sparse matrix (3, 4), the dense one must be (3) or (N, "
      "3)");
  BOOST_CHECK_THROW(A * B, nd::ValueError);
  BOOST_CHECK_THROW(csc_matrix() * w, nd::TypeError);
  BOOST_CHECK_THROW(csc_matrix({{1., 2.}, {0, 5}, {0, 1, 2}}, {3, 2}), nd::ValueError);
  BOOST_CHECK_THROW(csc_matrix({{1., 2.}, {0, 1}, {0, 1, 2}}, nd::Shape{3}), nd::ValueError);
}

// The file is SciPy's of the same matrix, and is read by load_npz.
BOOST_FIXTURE_TEST_CASE(csc_files, Columns) {
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("catena_sparse_columns_" + std::to_string(getpid()) + ".npz");
  nd::sparse::save_npz(path.string(), A);
  const csr_matrix read = nd::sparse::load_npz(path.string());
  const auto stored = nd::loadz(path.string());
  BOOST_TEST(bool(nd::array_equal(stored["indptr"], A.indptr())));
  BOOST_TEST(bool(nd::array_equal(stored["indices"], A.indices())));
  std::filesystem::remove(path);
  BOOST_TEST(bool(nd::array_equal(read.toarray(), dense_a)));
}

// Empty rows and columns, dense rows, one row, many threads' parts; every dtype wraps or rounds as the dense product.
BOOST_AUTO_TEST_CASE(sparse_times_sparse_against_dense) {
  struct Case {
    std::int64_t m, k, n;
    int period;
  };
  std::vector<Case> cases{{7, 5, 9, 3}, {1, 40, 60, 4}, {4, 4, 4, 1000}, {0, 3, 4, 2}, {3, 0, 4, 2}};
  std::vector<nd::Dtype> dtypes{nd::int64, nd::float64};  // a GPU has one body for all dtypes and lengths
  if (nd::current_device() == nd::cpu_device) {
    cases.insert(cases.end(), {{300, 200, 500, 20}, {90, 60, 3000, 200}, {50, 50, 50, 1}});
    dtypes.insert(dtypes.end(), {nd::bool_, nd::int8, nd::float32, nd::complex128});
  }
  for (const Case c : cases)
    for (const nd::Dtype dtype : dtypes)
      BOOST_TEST_CONTEXT(c.m << " x " << c.k << " x " << c.n << ", period " << c.period << ", " << dtype) {
        const nd::Array x = random_dense(c.m, c.k, c.period, dtype), y = random_dense(c.k, c.n, c.period, dtype);
        const csr_matrix product = csr_matrix(x) * csr_matrix(y);
        const nd::Array expected = nd::matmul(x, y);
        BOOST_TEST((product.dtype() == dtype));
        BOOST_TEST(bool(nd::array_equal(product.toarray(), expected)));
        BOOST_TEST(product.has_canonical_format());
        const nd::Array row = product.tocoo().row(), column = product.indices();
        const nd::Array ascends =
            (row(Slice(1, nd::None)) != row(Slice(0, -1))) | (column(Slice(1, nd::None)) > column(Slice(0, -1)));
        BOOST_TEST((product.nnz() < 2 || bool(ascends.all())));
        BOOST_TEST(bool(nd::array_equal((csc_matrix(x) * csc_matrix(y)).toarray(), expected)));
      }
}

// Entries of one place, and places whose sum is 0, which stay.
BOOST_AUTO_TEST_CASE(sparse_times_sparse_with_duplicates) {
  const csr_matrix twice({{1., 2., 3.}, {1, 1, 0}, {0, 2, 3}}, {2, 2});
  BOOST_TEST(bool(nd::array_equal((twice * twice).toarray(), nd::array({{9., 0.}, {0., 9.}}))));
  const csr_matrix x(nd::array({{1., -1.}})), y(nd::array({{2.}, {2.}}));
  const csr_matrix zero = x * y;
  BOOST_TEST(zero.nnz() == 1);
  BOOST_TEST(zero.toarray().item<double>() == 0);
}

BOOST_AUTO_TEST_SUITE_END()
