// Sparse matrices as in SciPy: construction, conversion, products, elementwise functions, parts, sums, files.
#include <unistd.h>

#include <complex>
#include <filesystem>

#include <catena/kernels/base/parallel.h>
#include <catena/ndarray/sparse/sparse.h>
#include <catena/tests/support/golden.h>
#include <catena/tests/support/ndarray_numpy.h>

using nd::Slice;
using nd::sparse::coo_matrix;
using nd::sparse::csr_matrix;
using test::each;

namespace {

std::vector<nd::Array> parts(const csr_matrix& a) { return {a.data(), a.indices(), a.indptr()}; }
std::vector<nd::Array> parts(const coo_matrix& a) { return {a.data(), a.row(), a.col()}; }

// The matrices of the cases below: A (3, 4) with an empty row and column, B (3, 4), S (4, 4).
struct Matrices : test::NumpyScene {
  nd::Array dense_a = nd::array({{1., 0., 2., 0.}, {0., 0., 0., 0.}, {0., 0., 3., 4.}}),
            dense_b = nd::array({{0., 5., -2., 0.}, {1., 0., 0., 0.}, {0., 0., 0.5, -4.}});
  csr_matrix A{dense_a}, B{dense_b};
  csr_matrix D{{{1, 2, 4, 8, 16}, {{2, 0, 2, 0, 2}, {1, 3, 1, 0, 0}}}, {3, 4}};
};

// A folder of its own that disappears afterwards.
class Folder {
 public:
  Folder() : path_(std::filesystem::temp_directory_path() / ("catena_sparse_test_" + std::to_string(getpid()))) {
    std::filesystem::create_directories(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

void check_equal(const nd::Array& result, const nd::Array& expected) {
  BOOST_TEST(result.dtype() == expected.dtype());
  BOOST_TEST(result.shape() == expected.shape());
  BOOST_TEST(bool(nd::array_equal(result, expected)));
}

// A random matrix of small integers, of which about one in `period` is not 0.
nd::Array random_dense(std::int64_t m, std::int64_t n, int period, nd::Dtype dtype) {
  const nd::Array values = nd::random::randint(1, 9, {m, n});
  return (values * (nd::random::randint(0, period, {m, n}) == 0)).astype(dtype);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(sparse)

BOOST_FIXTURE_TEST_CASE(sparse_construction, Matrices) {
  // numpy: import scipy.sparse as sp
  // numpy: A = sp.csr_matrix([[1., 0, 2, 0], [0, 0, 0, 0], [0, 0, 3, 4]])
  // numpy: D = sp.coo_matrix(([1, 2, 4, 8, 16], ([2, 0, 2, 0, 2], [1, 3, 1, 0, 0])), (3, 4))
  NUMPY("[A.data, A.indices, A.indptr]", parts(A), "float64 (4) 1 2 3 4 | int32 (4) 0 2 2 3 | int32 (4) 0 2 2 4");
  NUMPY("A.shape", A.shape(), "(3, 4)");
  NUMPY("A.nnz", A.nnz(), "int64 () 4");
  NUMPY("A.dtype", A.dtype(), "float64");
  NUMPY("A.toarray()", A.toarray(), "float64 (3, 4) 1 0 2 0 0 0 0 0 0 0 3 4");
  NUMPY("A.todense()", A.todense(), "float64 (3, 4) 1 0 2 0 0 0 0 0 0 0 3 4");
  NUMPY("[D.tocsr().data, D.tocsr().indices, D.tocsr().indptr]", parts(D),
        "int64 (4) 8 2 16 5 | int32 (4) 0 3 0 1 | int32 (4) 0 2 2 4");
  NUMPY("D.toarray()", D.toarray(), "int64 (3, 4) 8 0 0 2 0 0 0 0 16 5 0 0");
  const coo_matrix c({{1, 2, 4, 8, 16}, {{2, 0, 2, 0, 2}, {1, 3, 1, 0, 0}}}, {3, 4});
  NUMPY("[D.data, D.row, D.col]", parts(c), "int64 (5) 1 2 4 8 16 | int32 (5) 2 0 2 0 2 | int32 (5) 1 3 1 0 0");
  NUMPY("D.nnz", c.nnz(), "int64 () 5");
  NUMPY("D.toarray()", c.toarray(), "int64 (3, 4) 8 0 0 2 0 0 0 0 16 5 0 0");
  NUMPY("D.T.toarray()", c.T().toarray(), "int64 (4, 3) 8 0 16 0 0 5 0 0 0 2 0 0");
  NUMPY("D.astype(np.float32).toarray()", c.astype(nd::float32).toarray(), "float32 (3, 4) 8 0 0 2 0 0 0 0 16 5 0 0");
  NUMPY("[A.tocoo().data, A.tocoo().row, A.tocoo().col]", parts(A.tocoo()),
        "float64 (4) 1 2 3 4 | int32 (4) 0 0 2 2 | int32 (4) 0 2 2 3");
  NUMPY("sp.coo_matrix(a).toarray()", coo_matrix(a).toarray(), "float64 (3, 4) 0.5 1 1.5 2 2.5 3 3.5 4 4.5 5 5.5 6");
  NUMPY("sp.csr_matrix(([1., 2., 3.], [2, 0, 1], [0, 1, 1, 3])).toarray()",
        csr_matrix({{1., 2., 3.}, {2, 0, 1}, {0, 1, 1, 3}}).toarray(), "float64 (3, 3) 0 0 1 0 0 0 2 3 0");
  NUMPY("sp.csr_matrix(([1., 2., 3.], ([0, 2, 0], [1, 4, 1]))).toarray()",
        csr_matrix({{1., 2., 3.}, {{0, 2, 0}, {1, 4, 1}}}).toarray(), "float64 (3, 5) 0 4 0 0 0 0 0 0 0 0 0 0 0 0 2");
  NUMPY("sp.csr_matrix(([1, 2, 3], [2, 0, 2], [0, 3, 3]), (2, 4), np.float32).toarray()",
        csr_matrix({{1, 2, 3}, {2, 0, 2}, {0, 3, 3}}, {2, 4}, nd::float32).toarray(), "float32 (2, 4) 2 0 4 0 0 0 0 0");
  NUMPY("sp.csr_matrix((3, 4)).toarray()", csr_matrix({3, 4}).toarray(), "float64 (3, 4) 0 0 0 0 0 0 0 0 0 0 0 0");
  NUMPY("[x for y in [sp.csr_matrix((0, 4), dtype=np.int8)] for x in [y.data, y.indices, y.indptr, y.toarray()]]",
        (std::vector<nd::Array>{csr_matrix({0, 4}, nd::int8).data(), csr_matrix({0, 4}).indices(),
                                csr_matrix({0, 4}).indptr(), csr_matrix({0, 4}, nd::int8).toarray()}),
        "int8 (0) | int32 (0) | int32 (1) 0 | int8 (0, 4)");
  NUMPY("sp.csr_matrix([1., 0, 3]).toarray()", csr_matrix(nd::array({1., 0., 3.})).toarray(), "float64 (1, 3) 1 0 3");
  NUMPY("sp.csr_matrix(e3).shape", csr_matrix(e3).shape(), "(0, 3)");
  NUMPY("[sp.csr_matrix(x[:, ::-1]).data for x in reals if x.dtype != np.float16]",
        each({reals[0], reals[1], reals[2], reals[3], reals[4], reals[5], reals[6], reals[7], reals[8], reals[10],
              reals[11]},
             [](auto& x) { return csr_matrix(x(nd::_, Slice(nd::None, nd::None, -1))).data(); }),
        "bool (11) 1 1 1 1 1 1 1 1 1 1 1 | int8 (11) 2 1 3 5 2 2 7 3 4 6 1 | uint8 (11) 2 1 3 5 2 2 7 3 4 6 1 | "
        "int16 (11) 2 1 3 5 2 2 7 3 4 6 1 | uint16 (11) 2 1 3 5 2 2 7 3 4 6 1 | int32 (11) 2 1 3 5 2 2 7 3 4 6 1 | "
        "uint32 (11) 2 1 3 5 2 2 7 3 4 6 1 | int64 (11) 2 1 3 5 2 2 7 3 4 6 1 | uint64 (11) 2 1 3 5 2 2 7 3 4 6 1 | "
        "float32 (11) 2 1 3 5 2 2 7 3 4 6 1 | float64 (11) 2 1 3 5 2 2 7 3 4 6 1");
  NUMPY("[sp.csr_matrix(x).T.toarray() for x in complexes]",
        each(complexes, [](auto& x) { return csr_matrix(x).T().toarray(); }),
        "complex64 (4, 3) 3 -2 7 -14 1 -6 1 -12 2 -4 6 -2 2 -8 2 -4 4 -4 0 -6 5 -10 3 0 | complex128 (4, 3) 3 -2 7 "
        "-14 1 -6 1 -12 2 -4 6 -2 2 -8 2 -4 4 -4 0 -6 5 -10 3 0");
  // Lengths beyond 2^31 have int64 indices.
  NUMPY(
      "sp.csr_matrix(([1., 2.], ([1, 0], [2**40, 7])), (2, 2**41)).indices",
      csr_matrix({{1., 2.}, {{1, 0}, {std::int64_t(1) << 40, std::int64_t(7)}}}, {2, std::int64_t(1) << 41}).indices(),
      "int64 (2) 7 1.09951163e+12");
}

BOOST_FIXTURE_TEST_CASE(sparse_construction_errors, Matrices) {
  // numpy: import scipy.sparse as sp
  NUMPY_RAISES("sp.csr_matrix(([1, 2], ([0, 1], [0, 7])), (2, 3))", csr_matrix({{1, 2}, {{0, 1}, {0, 7}}}, {2, 3}),
               nd::ValueError);
  NUMPY_RAISES("sp.csr_matrix(([1, 2], ([0, 1], [0, -1])), (2, 3))", csr_matrix({{1, 2}, {{0, 1}, {0, -1}}}, {2, 3}),
               nd::ValueError);
  NUMPY_RAISES("sp.csr_matrix(([1, 2], ([0], [0, 1])))", csr_matrix({{1, 2}, {{0}, {0, 1}}}), nd::ValueError);
  NUMPY_RAISES("sp.csr_matrix(([1, 2], [0, 1], [0, 1]), (2, 3))", csr_matrix({{1, 2}, {0, 1}, {0, 1}}, {2, 3}),
               nd::ValueError);
  NUMPY_RAISES("sp.csr_matrix(([1, 2], [0, 1], [1, 1, 2]), (2, 3))", csr_matrix({{1, 2}, {0, 1}, {1, 1, 2}}, {2, 3}),
               nd::ValueError);
  NUMPY_RAISES("sp.csr_matrix(q)", csr_matrix(q), nd::ValueError);
  NUMPY_RAISES("sp.csr_matrix(floats[0])", csr_matrix(floats[0]), nd::TypeError);
  // SciPy finds these later or never.
  BOOST_CHECK_THROW(csr_matrix({{1, 2}, {0, 5}, {0, 1, 2}}, {2, 3}), nd::ValueError);
  BOOST_CHECK_THROW(csr_matrix({{1, 2}, {0, 1}, {0, 2, 1}}, {2, 3}), nd::ValueError);
  BOOST_CHECK_THROW(csr_matrix({{1, 2, 3}, {0, 1, 2}, {0, 2, 1, 3}}, {3, 3}), nd::ValueError);
  BOOST_CHECK_THROW(csr_matrix({{1, 2}, {0., 1.}, {0, 1, 2}}, {2, 3}), nd::TypeError);
  BOOST_CHECK_THROW(csr_matrix({3, 4}, nd::float16), nd::TypeError);
  BOOST_CHECK_THROW(csr_matrix().toarray(), nd::TypeError);
  BOOST_CHECK_EXCEPTION(csr_matrix({{1, 2}, {{0, 1}, {0, 7}}}, {2, 3}), nd::ValueError, [](const nd::ValueError& e) {
    return std::string(e.what()) == "coo_matrix: col has the element 7, must be 0 to 2";
  });
  // Indices that are written after the construction are checked before their next use.
  const csr_matrix changed({{1., 2.}, {0, 1}, {0, 1, 2}}, {2, 3});
  changed.indices()(1) = 3;
  BOOST_CHECK_THROW(changed.dot(nd::ones(3)), nd::ValueError);
  BOOST_CHECK_THROW(changed.toarray(), nd::ValueError);
  changed.indices()(1) = 2;
  check_equal(changed.dot(nd::arange(3.)), nd::array({0., 4.}));
}

BOOST_FIXTURE_TEST_CASE(sparse_products, Matrices) {
  // numpy: import scipy.sparse as sp
  // numpy: A = sp.csr_matrix([[1., 0, 2, 0], [0, 0, 0, 0], [0, 0, 3, 4]])
  // numpy: B = sp.csr_matrix([[0, 5., -2, 0], [1, 0, 0, 0], [0, 0, 0.5, -4]])
  // numpy: D = sp.csr_matrix(([1, 2, 4, 8, 16], ([2, 0, 2, 0, 2], [1, 3, 1, 0, 0])), (3, 4))
  NUMPY("A @ v[:4]", A * v(Slice(4)), "float64 (3) 7 0 26");
  NUMPY("A.dot(v[:4])", A.dot(v(Slice(4))), "float64 (3) 7 0 26");
  NUMPY("A @ v[3::-1]", nd::matmul(A, v(Slice(3, nd::None, -1))), "float64 (3) 7 0 15");
  NUMPY("A @ a.T", A * a.T(), "float64 (3, 3) 3.5 9.5 15.5 0 0 0 12.5 26.5 40.5");
  NUMPY("v[:3] @ A", v(Slice(3)) * A, "float64 (4) 3 0 12 8");
  NUMPY("b.T @ A", nd::matmul(b.T(), A), "float64 (4, 4) 2 0 8.5 6 -1 0 -4.25 -3 0.5 0 19 24 3 0 12 8");
  NUMPY("(A @ B.T).toarray()", (A * B.T()).toarray(), "float64 (3, 3) -4 1 1 0 0 0 -6 0 -14.5");
  NUMPY("[x for y in [(A @ B.T).sorted_indices()] for x in (y.data, y.indices, y.indptr)]", parts(nd::matmul(A, B.T())),
        "float64 (5) -4 1 1 -6 -14.5 | int32 (5) 0 1 2 0 2 | int32 (4) 0 3 3 5");
  NUMPY("(D @ D.T).toarray()", (D * D.T()).toarray(), "int64 (3, 3) 68 0 128 0 0 0 128 0 281");
  NUMPY("D @ np.arange(4)", D * nd::arange(4), "int64 (3) 6 0 5");
  NUMPY("D @ f.astype(np.float32)[[0, 1, 0, 1]]", D * nd::Array(f({0, 1, 0, 1})), "float64 (3, 2) 14 24 0 0 31 52");
  NUMPY("A @ z", A * z, "complex128 (3) 7 2 0 0 26 17.5");
  NUMPY("A @ np.zeros((4, 0))", A * nd::zeros({4, 0}), "float64 (3, 0)");
  NUMPY("sp.csr_matrix((0, 4)) @ v[:4]", csr_matrix({0, 4}) * v(Slice(4)), "float64 (0)");
  NUMPY("sp.csr_matrix((3, 0)) @ e", csr_matrix({3, 0}) * e, "float64 (3) 0 0 0");
  NUMPY("(sp.csr_matrix((3, 0)) @ sp.csr_matrix((0, 2))).toarray()",
        (csr_matrix({3, 0}) * csr_matrix({0, 2})).toarray(), "float64 (3, 2) 0 0 0 0 0 0");
  NUMPY("[sp.csr_matrix(x) @ x.T for x in reals if x.dtype != np.float16]",
        each({reals[0], reals[1], reals[2], reals[3], reals[4], reals[5], reals[6], reals[7], reals[8], reals[10],
              reals[11]},
             [](auto& x) { return csr_matrix(x) * x.T(); }),
        "bool (3, 3) 1 1 1 1 1 1 1 1 1 | int8 (3, 3) 14 27 17 27 82 42 17 42 62 | uint8 (3, 3) 14 27 17 27 82 42 17 "
        "42 62 | int16 (3, 3) 14 27 17 27 82 42 17 42 62 | uint16 (3, 3) 14 27 17 27 82 42 17 42 62 | int32 (3, 3) "
        "14 27 17 27 82 42 17 42 62 | uint32 (3, 3) 14 27 17 27 82 42 17 42 62 | int64 (3, 3) 14 27 17 27 82 42 17 "
        "42 62 | uint64 (3, 3) 14 27 17 27 82 42 17 42 62 | float32 (3, 3) 14 27 17 27 82 42 17 42 62 | float64 (3, "
        "3) 14 27 17 27 82 42 17 42 62");
  NUMPY("[sp.csr_matrix(x.T * 100) @ (x[:, 0] * 100) for x in reals if x.dtype != np.float16 and x.dtype != bool]",
        each({reals[1], reals[2], reals[3], reals[4], reals[5], reals[6], reals[7], reals[8], reals[10], reals[11]},
             [](auto& x) { return csr_matrix(x.T() * 100) * (x(nd::_, 0) * 100); }),
        "int8 (4) -80 112 -128 96 | uint8 (4) 176 112 128 96 | int16 (4) 176 -32144 -22144 -13216 | uint16 (4) 176 "
        "33392 43392 52320 | int32 (4) 590000 230000 240000 380000 | uint32 (4) 590000 230000 240000 380000 | int64 "
        "(4) 590000 230000 240000 380000 | uint64 (4) 590000 230000 240000 380000 | float32 (4) 590000 230000 240000 "
        "380000 | float64 (4) 590000 230000 240000 380000");
  NUMPY("[(sp.csr_matrix(x) @ sp.csr_matrix(x.T)).toarray() for x in complexes]",
        each(complexes, [](auto& x) { return (csr_matrix(x) * csr_matrix(x.T())).toarray(); }),
        "complex64 (3, 3) -234 -68 -141 -138 -51 -152 -141 -138 -246 -328 -66 -138 -51 -152 -66 -138 6 -68 | "
        "complex128 (3, 3) -234 -68 -141 -138 -51 -152 -141 -138 -246 -328 -66 -138 -51 -152 -66 -138 6 -68");
  NUMPY("[sp.csr_matrix(x) @ x[0] for x in complexes]", each(complexes, [](auto& x) { return csr_matrix(x) * x(0); }),
        "complex64 (3) -234 -68 -141 -138 -51 -152 | complex128 (3) -234 -68 -141 -138 -51 -152");
  NUMPY_RAISES("A @ v", A * v, nd::ValueError);
  NUMPY_RAISES("v @ A", v * A, nd::ValueError);
  NUMPY_RAISES("A @ B", A * B, nd::ValueError);
}

BOOST_FIXTURE_TEST_CASE(sparse_elementwise, Matrices) {
  // numpy: import scipy.sparse as sp
  // numpy: A = sp.csr_matrix([[1., 0, 2, 0], [0, 0, 0, 0], [0, 0, 3, 4]])
  // numpy: B = sp.csr_matrix([[0, 5., -2, 0], [1, 0, 0, 0], [0, 0, 0.5, -4]])
  // numpy: D = sp.csr_matrix(([1, 2, 4, 8, 16], ([2, 0, 2, 0, 2], [1, 3, 1, 0, 0])), (3, 4))
  // numpy: parts = lambda x: [x.data, x.indices, x.indptr]
  NUMPY("parts(A + B)", parts(A + B), "float64 (4) 1 5 1 3.5 | int32 (4) 0 1 0 2 | int32 (4) 0 2 3 4");
  NUMPY("parts(A - B)", parts(A - B), "float64 (6) 1 -5 4 -1 2.5 8 | int32 (6) 0 1 2 0 2 3 | int32 (4) 0 3 4 6");
  NUMPY("parts(A - A)", parts(A - A), "float64 (0) | int32 (0) | int32 (4) 0 0 0 0");
  NUMPY("parts(A + D)", parts(A + D), "float64 (7) 9 2 2 16 5 3 4 | int32 (7) 0 2 3 0 1 2 3 | int32 (4) 0 3 3 7");
  NUMPY("parts(A.multiply(B))", parts(A.multiply(B)), "float64 (3) -4 1.5 -16 | int32 (3) 2 2 3 | int32 (4) 0 1 1 3");
  NUMPY("parts(D.multiply(A))", parts(D.multiply(A)), "float64 (1) 8 | int32 (1) 0 | int32 (4) 0 1 1 1");
  NUMPY("parts(A.multiply(sp.csr_matrix((3, 4))))", parts(A.multiply(csr_matrix({3, 4}))),
        "float64 (0) | int32 (0) | int32 (4) 0 0 0 0");
  NUMPY("(D.astype(np.uint8) - A.astype(np.uint8)).toarray()", (D.astype(nd::uint8) - A.astype(nd::uint8)).toarray(),
        "uint8 (3, 4) 7 0 254 2 0 0 0 0 16 5 253 252");
  NUMPY("(D.astype(bool) + A.astype(bool)).toarray()", (D.astype(nd::bool_) + A.astype(nd::bool_)).toarray(),
        "bool (3, 4) 1 0 1 1 0 0 0 0 1 1 1 1");
  NUMPY("A.multiply(b).toarray()", A.multiply(b).toarray(), "float64 (3, 4) 2 0 1 0 0 0 0 0 0 0 18 8");
  NUMPY("A.multiply(v[:4]).toarray()", A.multiply(v(Slice(4))).toarray(), "float64 (3, 4) 3 0 4 0 0 0 0 0 0 0 6 20");
  NUMPY("D.multiply(v[:3, None]).toarray()", D.multiply(v(Slice(3), nd::None)).toarray(),
        "float64 (3, 4) 24 0 0 6 0 0 0 0 32 10 0 0");
  NUMPY("np.asarray(A + b)", A + b, "float64 (3, 4) 3 -1 2.5 3 -2.5 4 1 0.25 1.5 -0.75 9 6");
  NUMPY("np.asarray(A - b)", A - b, "float64 (3, 4) -1 1 1.5 -3 2.5 -4 -1 -0.25 -1.5 0.75 -3 2");
  NUMPY("np.asarray(b - A)", b - A, "float64 (3, 4) 1 -1 -1.5 3 -2.5 4 1 0.25 1.5 -0.75 3 -2");
  NUMPY("np.asarray(b + A)", b + A, "float64 (3, 4) 3 -1 2.5 3 -2.5 4 1 0.25 1.5 -0.75 9 6");
  NUMPY("(D * 2).toarray()", (D * 2).toarray(), "int64 (3, 4) 16 0 0 4 0 0 0 0 32 10 0 0");
  NUMPY("(2.5 * D).toarray()", (2.5 * D).toarray(), "float64 (3, 4) 20 0 0 5 0 0 0 0 40 12.5 0 0");
  NUMPY("(D / 2).toarray()", (D / 2).toarray(), "float64 (3, 4) 4 0 0 1 0 0 0 0 8 2.5 0 0");
  NUMPY("(A * 2j).toarray()", (A * std::complex<double>(0, 2)).toarray(),
        "complex128 (3, 4) 0 2 0 0 0 4 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 6 0 8");
  NUMPY("(-B).toarray()", (-B).toarray(), "float64 (3, 4) 0 -5 2 0 -1 0 0 0 0 0 -0.5 4");
  NUMPY("abs(B).toarray()", abs(B).toarray(), "float64 (3, 4) 0 5 2 0 1 0 0 0 0 0 0.5 4");
  NUMPY("B.power(2).toarray()", B.power(2).toarray(), "float64 (3, 4) 0 25 4 0 1 0 0 0 0 0 0.25 16");
  NUMPY_RAISES("A + D.T", A + D.T(), nd::ValueError);
  NUMPY_RAISES("A.multiply(D.T)", A.multiply(D.T()), nd::ValueError);
  NUMPY_RAISES("A.multiply(v)", A.multiply(v), nd::ValueError);
}

BOOST_FIXTURE_TEST_CASE(sparse_entries, Matrices) {
  // numpy: import scipy.sparse as sp
  // numpy: U = sp.csr_matrix(([1, 2, 3, 0, 5], [2, 0, 2, 1, 1], [0, 3, 3, 5]), (3, 3))
  // numpy: parts = lambda x: [x.data, x.indices, x.indptr]
  // numpy: S = U.copy(); S.sort_indices()
  // numpy: N = U.copy(); N.sum_duplicates()
  // numpy: Z = U.copy(); Z.eliminate_zeros()
  // numpy: Y = U.tocoo(); Y.eliminate_zeros()
  // numpy: X = U.tocoo(); X.sum_duplicates()
  const csr_matrix U({{1, 2, 3, 0, 5}, {2, 0, 2, 1, 1}, {0, 3, 3, 5}}, {3, 3});
  NUMPY("parts(U)", parts(U), "int64 (5) 1 2 3 0 5 | int32 (5) 2 0 2 1 1 | int32 (4) 0 3 3 5");
  NUMPY("U.has_canonical_format", U.has_canonical_format(), "bool () 0");
  csr_matrix x = U.copy();
  x.sort_indices();
  NUMPY("parts(S)", parts(x), "int64 (5) 2 1 3 0 5 | int32 (5) 0 2 2 1 1 | int32 (4) 0 3 3 5");
  x = U.copy();
  x.sum_duplicates();
  NUMPY("parts(N)", parts(x), "int64 (3) 2 4 5 | int32 (3) 0 2 1 | int32 (4) 0 2 2 3");
  NUMPY("N.has_canonical_format", x.has_canonical_format(), "bool () 1");
  x = U;
  x.eliminate_zeros();
  NUMPY("parts(Z)", parts(x), "int64 (4) 1 2 3 5 | int32 (4) 2 0 2 1 | int32 (4) 0 3 3 4");
  BOOST_TEST(U.nnz() == 5);
  NUMPY("U.count_nonzero()", U.count_nonzero(), "int64 () 3");
  NUMPY("U.toarray()", U.toarray(), "int64 (3, 3) 2 0 4 0 0 0 0 5 0");
  NUMPY("U.T.toarray()", U.T().toarray(), "int64 (3, 3) 2 0 0 0 0 5 4 0 0");
  NUMPY("U.diagonal()", U.diagonal(), "int64 (3) 2 0 0");
  NUMPY("np.asarray(U.sum(0))[0]", U.sum(0), "int64 (3) 2 5 4");
  NUMPY("U @ np.array([1, 10, 100])", U * nd::array({1, 10, 100}), "int64 (3) 402 0 50");
  NUMPY("(U @ U).toarray()", (U * U).toarray(), "int64 (3, 3) 4 20 8 0 0 0 0 0 0");
  NUMPY("(U + U).toarray()", (U + U).toarray(), "int64 (3, 3) 4 0 8 0 0 0 0 10 0");
  NUMPY("U.multiply(U).toarray()", U.multiply(U).toarray(), "int64 (3, 3) 4 0 16 0 0 0 0 25 0");
  coo_matrix c = U.tocoo();
  c.eliminate_zeros();
  NUMPY("[Y.data, Y.row, Y.col]", parts(c), "int64 (4) 1 2 3 5 | int32 (4) 0 0 0 2 | int32 (4) 2 0 2 1");
  c = U.tocoo();
  c.sum_duplicates();
  NUMPY("X.toarray()", c.toarray(), "int64 (3, 3) 2 0 4 0 0 0 0 5 0");
  NUMPY("X.nnz", c.nnz(), "int64 () 3");
  // copy() has its own arrays, a copy of the handle has not.
  const csr_matrix same = A, copied = A.copy();
  A.data() *= 2;
  check_equal(same.toarray(), 2 * dense_a);
  check_equal(copied.toarray(), dense_a);
  check_equal(A.with_data(nd::ones(4)).toarray(), (dense_a != 0).astype(nd::float64));
  BOOST_CHECK_THROW(A.with_data(nd::ones(3)), nd::ValueError);
}

BOOST_FIXTURE_TEST_CASE(sparse_parts_and_sums, Matrices) {
  // numpy: import scipy.sparse as sp
  // numpy: A = sp.csr_array([[1., 0, 2, 0], [0, 0, 0, 0], [0, 0, 3, 4]])
  // numpy: M = sp.csr_matrix(A)
  // numpy: D = sp.csr_array(sp.csr_matrix(([1, 2, 4, 8, 16], ([2, 0, 2, 0, 2], [1, 3, 1, 0, 0])), (3, 4)))
  NUMPY("M[0].toarray()", A(0).toarray(), "float64 (1, 4) 1 0 2 0");
  NUMPY("M[-1].toarray()", A(-1).toarray(), "float64 (1, 4) 0 0 3 4");
  NUMPY("M.getrow(2).toarray()", A.getrow(2).toarray(), "float64 (1, 4) 0 0 3 4");
  NUMPY("M.getcol(2).toarray()", A.getcol(2).toarray(), "float64 (3, 1) 2 0 3");
  NUMPY("M[1:].toarray()", A(Slice(1, nd::None)).toarray(), "float64 (2, 4) 0 0 0 0 0 0 3 4");
  NUMPY("M[::-2].toarray()", A(Slice(nd::None, nd::None, -2)).toarray(), "float64 (2, 4) 0 0 3 4 1 0 2 0");
  NUMPY("M[3:].toarray()", A(Slice(3, nd::None)).toarray(), "float64 (0, 4)");
  NUMPY("M[[2, 0, 2]].toarray()", A({2, 0, 2}).toarray(), "float64 (3, 4) 0 0 3 4 1 0 2 0 0 0 3 4");
  NUMPY("M[i].toarray()", A(i).toarray(), "float64 (3, 4) 0 0 3 4 1 0 2 0 0 0 0 0");
  NUMPY("M[np.array([True, False, True])].toarray()", A(nd::array({true, false, true})).toarray(),
        "float64 (2, 4) 1 0 2 0 0 0 3 4");
  NUMPY("M[:, 2].toarray()", A(nd::_, 2).toarray(), "float64 (3, 1) 2 0 3");
  NUMPY("M[:2, 1:3].toarray()", A(Slice(2), Slice(1, 3)).toarray(), "float64 (2, 2) 0 2 0 0");
  NUMPY("M[2, [3, 2]].toarray()", A(2, std::vector<int>{3, 2}).toarray(), "float64 (1, 2) 4 3");
  NUMPY("M[2, 3]", A(2, 3), "float64 () 4");
  NUMPY("M[1, -1]", A(1, -1), "float64 () 0");
  NUMPY("A.diagonal()", A.diagonal(), "float64 (3) 1 0 3");
  NUMPY("[A.diagonal(k) for k in range(-4, 6)]",
        each({nd::array(-4), nd::array(-3), nd::array(-2), nd::array(-1), nd::array(0), nd::array(1), nd::array(2),
              nd::array(3), nd::array(4), nd::array(5)},
             [&](auto& k) { return A.diagonal(k.template item<std::int64_t>()); }),
        "float64 (0) | float64 (0) | float64 (1) 0 | float64 (2) 0 0 | float64 (3) 1 0 3 | float64 (3) 0 0 4 | "
        "float64 (2) 2 0 | float64 (1) 0 | float64 (0) | float64 (0)");
  NUMPY("A.sum()", A.sum(), "float64 () 10");
  NUMPY("A.sum(0)", A.sum(0), "float64 (4) 1 0 5 4");
  NUMPY("A.sum(axis=1)", A.sum(1), "float64 (3) 3 0 7");
  NUMPY("A.sum(-1)", A.sum(-1), "float64 (3) 3 0 7");
  NUMPY("D.sum(1)", D.sum(1), "int64 (3) 10 0 21");
  NUMPY("[sp.csr_array(x).sum(0) for x in reals if x.dtype != np.float16]",
        each({reals[0], reals[1], reals[2], reals[3], reals[4], reals[5], reals[6], reals[7], reals[8], reals[10],
              reals[11]},
             [](auto& x) { return csr_matrix(x).sum(0); }),
        "int64 (4) 3 3 3 2 | int64 (4) 11 9 8 8 | uint64 (4) 11 9 8 8 | int64 (4) 11 9 8 8 | uint64 (4) 11 9 8 8 | "
        "int64 (4) 11 9 8 8 | uint64 (4) 11 9 8 8 | int64 (4) 11 9 8 8 | uint64 (4) 11 9 8 8 | float32 (4) 11 9 8 8 "
        "| float64 (4) 11 9 8 8");
  NUMPY("[sp.csr_array(x).sum(1) for x in complexes]", each(complexes, [](auto& x) { return csr_matrix(x).sum(1); }),
        "complex64 (3) 6 -28 16 -32 14 -12 | complex128 (3) 6 -28 16 -32 14 -12");
  NUMPY("D.sum(0, dtype=np.float32)", D.sum(0, nd::float32), "float32 (4) 24 5 0 2");
  NUMPY("A.mean()", A.mean(), "float64 () 0.833333333");
  NUMPY("D.mean(0)", D.mean(0), "float64 (4) 8 1.66666667 0 0.666666667");
  NUMPY("D.mean(1)", D.mean(1), "float64 (3) 2.5 0 5.25");
  NUMPY("A.astype(np.float32).mean(1)", A.astype(nd::float32).mean(1), "float32 (3) 0.75 0 1.75");
  NUMPY("sp.csr_array((0, 3)).sum(0)", csr_matrix({0, 3}).sum(0), "float64 (3) 0 0 0");
  NUMPY("sp.csr_array((0, 3)).sum(1)", csr_matrix({0, 3}).sum(1), "float64 (0)");
  NUMPY_RAISES("A[3]", A(3), nd::IndexError);
  NUMPY_RAISES("A[0, 4]", A(0, 4), nd::IndexError);
  NUMPY_RAISES("A.sum(2)", A.sum(2), nd::ValueError);
}

BOOST_FIXTURE_TEST_CASE(sparse_made_matrices, Matrices) {
  // numpy: import scipy.sparse as sp
  // numpy: A = sp.csr_matrix([[1., 0, 2, 0], [0, 0, 0, 0], [0, 0, 3, 4]])
  // numpy: D = sp.csr_matrix(([1, 2, 4, 8, 16], ([2, 0, 2, 0, 2], [1, 3, 1, 0, 0])), (3, 4))
  NUMPY("sp.eye(3).toarray()", nd::sparse::eye(3).toarray(), "float64 (3, 3) 1 0 0 0 1 0 0 0 1");
  NUMPY("sp.eye(3, 4, k=1, dtype=np.int32).toarray()", nd::sparse::eye(3, 4, {.k = 1, .dtype = nd::int32}).toarray(),
        "int32 (3, 4) 0 1 0 0 0 0 1 0 0 0 0 1");
  BOOST_TEST(nd::sparse::eye(2, 3, {.k = -5}).nnz() == 0);
  NUMPY("sp.identity(2, np.complex64).toarray()", nd::sparse::identity(2, nd::complex64).toarray(),
        "complex64 (2, 2) 1 0 0 0 0 0 1 0");
  NUMPY("sp.diags(v).toarray()", nd::sparse::diags(v).toarray(), "float64 (6, 6) # 15.5 285");
  NUMPY("sp.diags(v[:2], -1).toarray()", nd::sparse::diags(v(Slice(2)), -1).toarray(),
        "float64 (3, 3) 0 0 0 3 0 0 0 1 0");
  NUMPY("sp.diags([v[:3], w[:2]], [0, 1]).toarray()", nd::sparse::diags({v(Slice(3)), w(Slice(2))}, {0, 1}).toarray(),
        "float64 (3, 3) 3 1 0 0 1 2 0 0 2");
  NUMPY("sp.diags([[1.], [-2.]], [-1, 2], shape=(3, 5)).toarray()",
        nd::sparse::diags({nd::array({1.}), nd::array({-2.})}, {-1, 2}, {3, 5}).toarray(),
        "float64 (3, 5) 0 0 -2 0 0 1 0 0 -2 0 0 1 0 0 -2");
  NUMPY_RAISES("sp.diags([v, w], [0, 1])", nd::sparse::diags({v, w}, {0, 1}), nd::ValueError);
  NUMPY_RAISES("sp.diags([v, w], [0])", nd::sparse::diags({v, w}, {0}), nd::ValueError);
  BOOST_CHECK_THROW(nd::sparse::diags({v, v}, {0, 0}), nd::ValueError);
  NUMPY("sp.vstack([A, D, A[1:2]]).toarray()", nd::sparse::vstack({A, D, A(Slice(1, 2))}).toarray(),
        "float64 (7, 4) # 41 670");
  NUMPY("sp.hstack([A, D.astype(np.float32)]).toarray()", nd::sparse::hstack({A, D.astype(nd::float32)}).toarray(),
        "float64 (3, 8) 1 0 2 0 8 0 0 2 0 0 0 0 0 0 0 0 0 0 3 4 16 5 0 0");
  NUMPY("sp.hstack([sp.csr_matrix((3, 0)), A]).toarray()", nd::sparse::hstack({csr_matrix({3, 0}), A}).toarray(),
        "float64 (3, 4) 1 0 2 0 0 0 0 0 0 0 3 4");
  NUMPY_RAISES("sp.vstack([A, A.T])", nd::sparse::vstack({A, A.T()}), nd::ValueError);
  NUMPY_RAISES("sp.hstack([])", nd::sparse::hstack({}), nd::ValueError);
  for (const double density : {0., 0.05, 0.3, 1.}) {
    const csr_matrix r = nd::sparse::random(20, 30, density, nd::float32);
    BOOST_TEST(r.nnz() == std::int64_t(600 * density + 0.5));
    BOOST_TEST((r.shape() == nd::Shape{20, 30} && r.dtype() == nd::float32 && r.has_canonical_format()));
    BOOST_TEST(bool(((r.data() >= 0) & (r.data() < 1)).all()));
  }
  const csr_matrix many = nd::sparse::random(200, 200, 0.1);
  BOOST_TEST(std::abs(double(many.sum()) - 2000) < 100);                                    // 5 standard deviations
  BOOST_TEST(bool((nd::absolute(many.with_data(nd::ones(4000)).sum(1) - 20) < 26).all()));  // 6
  BOOST_CHECK_THROW(nd::sparse::random(3, 4, 1.5), nd::ValueError);
  BOOST_CHECK_THROW(nd::sparse::random(-3, 4), nd::ValueError);
}

// Sizes around the width of vectors and the ranges of threads, against dense arrays of small integers, which are exact.
BOOST_AUTO_TEST_CASE(sparse_against_dense) {
  nd::random::seed(7);
  // Of the device, whose products are one kernel for all sizes, a part.
  const bool all = nd::current_device().kind == nd::Device::Kind::cpu;
  const std::vector<std::int64_t> columns_of_products =
      all ? std::vector<std::int64_t>{1, 2, 3, 4, 7, 8, 9, 31, 32, 33, 71, 130} : std::vector<std::int64_t>{1, 9};
  for (const nd::Dtype dtype :
       all ? std::vector<nd::Dtype>{nd::float32, nd::float64, nd::int64, nd::complex128, nd::int16}
           : std::vector<nd::Dtype>{nd::float32, nd::complex128})
    for (const auto& [m, n, period] : {std::array<int, 3>{1, 1, 1}, {1, 70, 2}, {70, 1, 2}, {20, 33, 1}, {33, 20, 9}})
      BOOST_TEST_CONTEXT(nd::name_of(dtype) << " " << m << " " << n) {
        const nd::Array x = random_dense(m, n, period, dtype), y = random_dense(m, n, period, dtype);
        const csr_matrix A(x), B(y);
        check_equal(A.toarray(), x);
        check_equal(A.T().toarray(), nd::internal::contiguous(x.T()));
        check_equal((A + B).toarray(), x + y);
        check_equal((A - B).toarray(), x - y);
        check_equal(A.multiply(B).toarray(), x * y);
        check_equal((A * B.T()).toarray(), nd::matmul(x, y.T()));
        check_equal(A.sum(0), x.sum(0));
        check_equal(A.sum(1), x.sum(1));
        for (const std::int64_t columns : columns_of_products) {
          const nd::Array z = random_dense(n, columns, 1, dtype);
          check_equal(A * z, nd::matmul(x, z));
          check_equal(A * z(nd::_, 0), nd::matmul(x, z(nd::_, 0)));
        }
        check_equal(y.T() * A, nd::matmul(y.T(), x));
        const nd::Array rows = nd::random::randint(0, m, {17});
        check_equal(A(rows).toarray(), x(rows));
      }
}

// Many rows of very different lengths: every thread has a part.
BOOST_AUTO_TEST_CASE(sparse_long_rows) {
  const std::int64_t m = 3000, n = 20000;
  const nd::Array row = nd::concatenate({nd::zeros(n, nd::int64), nd::arange(m), nd::full(n, m - 1, nd::int64)}),
                  col = nd::concatenate({nd::arange(n), nd::arange(m) * 3, nd::arange(n)});
  const csr_matrix A({nd::ones(row.size()), {row, col}}, {m, n});
  BOOST_TEST(A.nnz() == 2 * n + m - 2);
  const nd::Array x = nd::arange(double(n));
  nd::Array expected = nd::arange(double(m)) * 3;
  expected(0) = double(n) * double(n - 1) / 2;
  expected(m - 1) = double(n) * double(n - 1) / 2 + 3. * double(m - 1);
  check_equal(A * x, expected);
  check_equal(A * nd::stack({x, x, 2 * x}, 1), nd::stack({expected, expected, 2 * expected}, 1));
  check_equal(A.sum(1)(Slice(0, 2)), nd::array({double(n + 1), 1.}));
  check_equal(x(Slice(m)) * A, nd::ones(n) * double(m - 1) +
                                   nd::where(nd::arange(n) % 3 == 0, nd::arange(n) / 3, 0.) * (nd::arange(n) < 3 * m));
}

BOOST_FIXTURE_TEST_CASE(sparse_files, Matrices) {
  const Folder folder;
  const std::string path = folder / "a";
  for (const bool compressed : {false, true}) {
    nd::sparse::save_npz(path, A, compressed);
    const csr_matrix read = nd::sparse::load_npz(path + ".npz");
    check_equal(read.toarray(), A.toarray());
    check_equal(read.indices(), A.indices());
  }
  nd::sparse::save_npz(path + ".npz", D.tocoo());
  check_equal(nd::sparse::load_npz(path + ".npz").toarray(), D.toarray());
  // Files of scipy.sparse.save_npz of A as csr, csc and coo.
  const auto golden = test::source_folder() / "tests/golden/sparse";
  for (const char* format : {"csr", "csc", "coo"})
    check_equal(nd::sparse::load_npz((golden / (std::string(format) + ".npz")).string()).toarray(), dense_a);
  nd::savez(path + ".npz", {{"data", v}});
  BOOST_CHECK_THROW(nd::sparse::load_npz(path + ".npz"), nd::ValueError);
  BOOST_CHECK_THROW(nd::sparse::load_npz(path + ".missing"), nd::IOError);
  BOOST_CHECK_THROW(nd::sparse::save_npz(path, csr_matrix()), nd::TypeError);
}

// Products with 1 to 40 columns, of rows with few and many entries, against dense products. All numbers are integers.
BOOST_AUTO_TEST_CASE(products_of_all_widths) {
  const nd::Array row = nd::arange(400) * 7 % 23, column = nd::arange(400) * 11 % 90;
  const nd::Array entries = nd::arange(400) % 5 - 2;
  for (const nd::Dtype dtype : {nd::float32, nd::float64, nd::int32, nd::int16, nd::complex64}) {
    const csr_matrix m(nd::sparse::Entries(entries.astype(dtype), {row, column}), {25, 90});
    const nd::Array dense = m.toarray();
    for (std::int64_t n = 1; n <= 40; ++n) {
      const nd::Array x = (nd::arange(90 * n) * 13 % 17 - 8).reshape({90, n}).astype(dtype);
      BOOST_TEST(bool(nd::array_equal(m.dot(x), nd::matmul(dense, x))), dtype << " " << n);
    }
  }
}

// The entries of the first result are counted before there is memory for them. The other results have memory for all
// products, of which many, or almost none, are added to one entry.
BOOST_AUTO_TEST_CASE(products_of_many_entries) {
  const auto matrix = [](std::int64_t n, std::int64_t per_row, std::int64_t columns) {
    const nd::Array rows = nd::repeat(nd::arange(n), per_row), values = nd::random::randint(1, 9, {n * per_row});
    return csr_matrix(
        nd::sparse::Entries(values.astype(nd::float64), {rows, nd::random::randint(0, columns, {n * per_row})}),
        nd::Shape{n, n});
  };
  struct Size {
    std::int64_t n, per_row, columns;
  };
  // The numbers of entries decide about memory on the CPU only.
  const std::int64_t n = nd::current_device().kind == nd::Device::Kind::cpu ? 3000 : 50;
  for (const Size& s : {Size{n, 60, n}, Size{n, 40, n}, Size{n, 30, 50}, Size{500, 1, 500}})
    BOOST_TEST_CONTEXT("n = " << s.n << ", " << s.per_row << " entries in " << s.columns << " columns") {
      const csr_matrix a = matrix(s.n, s.per_row, s.columns), b = matrix(s.n, s.per_row, s.columns);
      const nd::Array x = nd::random::randint(-9, 9, {s.n}).astype(nd::float64);
      const int threads = catena::max_threads();
      for (const int used : {1, 3}) {
        catena::set_max_threads(used);
        const csr_matrix c = a.dot(b);
        // All numbers are integers below 2^53. A matrix is determined by its products with some random vectors.
        check_equal(c.dot(x), a.dot(b.dot(x)));
        check_equal(c.dot(nd::ones({s.n})), a.dot(b.dot(nd::ones({s.n}))));
        const nd::Array ends = c.indptr(), columns = c.indices();
        BOOST_TEST(columns.size() == c.data().size());
        BOOST_TEST(ends(-1).item<std::int64_t>() == columns.size());
        // In order in each row, and each only once: descents are at the ends of rows only.
        const nd::Array row = nd::repeat(nd::arange(s.n), nd::diff(ends));
        BOOST_TEST(bool(nd::all(nd::diff(row * s.n + columns) > 0)));
      }
      catena::set_max_threads(threads);
    }
}

// A result with so many columns that the entries of a row lie far apart.
BOOST_AUTO_TEST_CASE(product_with_many_columns) {
  const std::int64_t n = 1000003;
  const nd::Array column = nd::arange(300) * 999983 % n, row = nd::arange(300) % 5;
  const csr_matrix a(nd::sparse::Entries(nd::ones(10), {nd::arange(10) % 2, nd::arange(10) % 5}), {2, 5}),
      b(nd::sparse::Entries(nd::arange(300) + 1.0, {row, column}), {5, n});
  const csr_matrix c = a.dot(b);
  const nd::Array order = nd::argsort(column);
  for (const std::int64_t k : {0, 1}) {
    const nd::Array sums = nd::take(nd::arange(300) + 1.0, order);
    const csr_matrix part = c(k);
    // Row k of a has a one in each of the five columns.
    BOOST_TEST(bool(nd::array_equal(part.indices(), nd::take(column, order))));
    BOOST_TEST(bool(nd::array_equal(part.data(), sums)));
  }
}

BOOST_AUTO_TEST_SUITE_END()
