// Equations with sparse matrices against SciPy: cg, gmres, lsqr, spsolve; options, preconditioners, functions as
// matrices, complex systems, and errors.
#include <cmath>
#include <complex>
#include <string>
#include <vector>

#include <catena/ndarray/sparse/linalg.h>
#include <catena/tests/support/ndarray_numpy.h>

using nd::Array;
using nd::sparse::csc_matrix;
using nd::sparse::csr_matrix;
namespace linalg = nd::sparse::linalg;
using linalg::LinearOperator;

namespace {

// Poisson's equation on a line of n points, and the same with a drift, which makes it unsymmetric.
csr_matrix poisson(std::int64_t n) {
  return nd::sparse::diags({nd::full(n, 2.), nd::full(n - 1, -1.), nd::full(n - 1, -1.)}, {0, 1, -1});
}
csr_matrix drift(std::int64_t n) {
  return nd::sparse::diags({nd::full(n, 2.5), nd::full(n - 1, -1.4), nd::full(n - 1, -0.6)}, {0, 1, -1});
}

double residual(const csr_matrix& A, const Array& x, const Array& b) {
  return nd::linalg::norm(A * x - b).item<double>() / nd::linalg::norm(b).item<double>();
}

struct Systems : test::NumpyScene {
  csr_matrix P = poisson(30), D = drift(30);
  Array b30 = nd::arange(30) % 7 + 1.;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(sparse_linalg)

// After k steps from the same start, every implementation has the same vector in exact arithmetic.
BOOST_FIXTURE_TEST_CASE(conjugate_gradients, Systems) {
  // numpy: import scipy.sparse as sp, scipy.sparse.linalg as sl
  // numpy: P = sp.diags([np.full(30, 2.), np.full(29, -1.), np.full(29, -1.)], [0, 1, -1]).tocsr()
  // numpy: b30 = np.arange(30) % 7 + 1.
  NUMPY("sl.cg(P, b30, maxiter=3)[0][:6]", linalg::cg(P, b30, {.maxiter = 3}).x(nd::Slice(6)),
        "float64 (6) 23.727607 47.4552139 71.1828209 94.9104279 118.638035 110.874739");
  NUMPY("sl.cg(P, b30, maxiter=3)[1]", linalg::cg(P, b30, {.maxiter = 3}).info, "int64 () 3");
  NUMPY("sl.cg(P, b30, np.ones(30), maxiter=4)[0][:6]",
        linalg::cg(P, b30, {.x0 = nd::ones(30), .maxiter = 4}).x(nd::Slice(6)),
        "float64 (6) 50.5477886 101.59078 145.564231 195.559285 202.874955 206.0941");
  NUMPY("sl.cg(P, b30, rtol=1e-10)[0][:6]", linalg::cg(P, b30, {.rtol = 1e-10}).x(nd::Slice(6)),
        "float64 (6) 56.1290323 111.258065 164.387097 214.516129 260.645161 301.774194");
  NUMPY("sl.cg(P, b30, M=sp.diags([1. / (np.arange(30) + 1)], [0]), maxiter=3)[0][:6]",
        linalg::cg(P, b30, {.maxiter = 3, .M = nd::sparse::diags(1. / (nd::arange(30) + 1))}).x(nd::Slice(6)),
        "float64 (6) 17.126173 36.187478 64.0918701 64.0918701 64.0918701 62.9291871");
  const auto [x, info] = linalg::cg(P, b30, {.rtol = 1e-9});
  BOOST_TEST(info == 0);
  BOOST_TEST(residual(P, x, b30) < 1.01e-9);
  // Without a tolerance the iteration ends where nothing is left.
  const auto whole = linalg::cg(nd::sparse::diags(nd::ones(3)), nd::ones(3), {.rtol = 0});
  BOOST_TEST(whole.info == 0);
  BOOST_TEST(whole.x.to_vector<double>() == std::vector<double>(3, 1.0), boost::test_tools::per_element());
  // A start that is no solution of A x = 0.
  const auto zero = linalg::lsqr(nd::sparse::diags(nd::arange(2) + 1.), nd::zeros(2), {.x0 = nd::ones(2)});
  BOOST_TEST(nd::linalg::norm(zero.x).item<double>() < 1e-5);
  // The absolute tolerance ends the iteration earlier.
  int loose = 0, tight = 0;
  linalg::cg(P, b30, {.atol = 5, .callback = [&](const Array&) { ++loose; }});
  linalg::cg(P, b30, {.rtol = 1e-9, .callback = [&](const Array& y) {
                        BOOST_TEST(y.shape() == nd::Shape({30}));
                        ++tight;
                      }});
  BOOST_TEST(loose > 0);
  BOOST_TEST(loose < tight);
  // A right-hand side of 0.
  NUMPY("sl.cg(P, np.zeros(30), np.ones(30))[0]", linalg::cg(P, nd::zeros(30), {.x0 = nd::ones(30)}).x,
        "float64 (30) # 0 0");
  // A column, float32, integers.
  const Array column = linalg::cg(P, b30.reshape(30, 1), {.rtol = 1e-9}).x;
  BOOST_TEST(column.shape() == nd::Shape({30, 1}));
  BOOST_TEST(bool(nd::allclose(column.ravel(), x)));
  BOOST_TEST((linalg::cg(P.astype(nd::float32), b30.astype(nd::float32)).x.dtype() == nd::float32));
  BOOST_TEST((linalg::cg(P.astype(nd::int64), b30.astype(nd::int64)).x.dtype() == nd::float64));
}

BOOST_FIXTURE_TEST_CASE(generalized_minimal_residual, Systems) {
  // numpy: import scipy.sparse as sp, scipy.sparse.linalg as sl
  // numpy: D = sp.diags([np.full(30, 2.5), np.full(29, -1.4), np.full(29, -.6)], [0, 1, -1]).tocsr()
  // numpy: b30 = np.arange(30) % 7 + 1.
  NUMPY("sl.gmres(D, b30, restart=5, maxiter=1)[0][:6]",
        linalg::gmres(D, b30, {.restart = 5, .maxiter = 1}).x(nd::Slice(6)),
        "float64 (6) 3.23891281 5.41464487 7.35272673 8.46146422 8.99000902 8.82691629");
  NUMPY("sl.gmres(D, b30, restart=5, maxiter=2)[0][:6]",
        linalg::gmres(D, b30, {.restart = 5, .maxiter = 2}).x(nd::Slice(6)),
        "float64 (6) 3.59992068 5.73711834 7.30858055 8.49990565 9.2544317 9.30664312");
  NUMPY("sl.gmres(D, b30, restart=5, maxiter=2)[1]", linalg::gmres(D, b30, {.restart = 5, .maxiter = 2}).info,
        "int64 () 2");
  NUMPY("sl.gmres(D, b30, np.ones(30), restart=4, maxiter=2)[0][:6]",
        linalg::gmres(D, b30, {.x0 = nd::ones(30), .restart = 4, .maxiter = 2}).x(nd::Slice(6)),
        "float64 (6) 3.58876635 5.67032943 7.19284492 8.33937397 9.04832262 9.13956561");
  NUMPY("sl.gmres(D, b30, rtol=1e-10)[0][:6]", linalg::gmres(D, b30, {.rtol = 1e-10}).x(nd::Slice(6)),
        "float64 (6) 3.66402117 5.82860924 7.40936456 8.59017562 9.3070145 9.36673635");
  NUMPY("sl.gmres(D, b30, M=sp.diags([1. / (np.arange(30) + 1)], [0]), restart=5, maxiter=2)[0][:6]",
        linalg::gmres(D, b30, {.restart = 5, .maxiter = 2, .M = nd::sparse::diags(1. / (nd::arange(30) + 1))})
            .x(nd::Slice(6)),
        "float64 (6) 3.35206053 5.27900123 6.64071149 7.67337583 8.34688793 8.46437604");
  const auto [x, info] = linalg::gmres(D, b30, {.rtol = 1e-9, .restart = 7});
  BOOST_TEST(info == 0);
  BOOST_TEST(residual(D, x, b30) < 1.01e-9);
  int starts = 0;
  const auto loose = linalg::gmres(D, b30, {.atol = 5, .restart = 3, .callback = [&](const Array&) { ++starts; }});
  BOOST_TEST(loose.info == 0);
  BOOST_TEST(starts > 0);
  BOOST_TEST(nd::linalg::norm(D * loose.x - b30).item<double>() <= 5);
  // The space contains the solution before it is full; and a right-hand side of 0.
  const auto exact = linalg::gmres(nd::sparse::identity(30), b30);
  BOOST_TEST(exact.info == 0);
  BOOST_TEST(bool(nd::allclose(exact.x, b30)));
  NUMPY("sl.gmres(D, np.zeros(30), np.ones(30))[0]", linalg::gmres(D, nd::zeros(30), {.x0 = nd::ones(30)}).x,
        "float64 (30) # 0 0");
  // Without a solution: the matrix maps everything to its first row.
  const auto none = linalg::gmres(csr_matrix(nd::array({{1., 1.}, {0., 0.}})), nd::array({1., 1.}), {.maxiter = 3});
  BOOST_TEST(none.info == 3);
}

// A Hermitian and a general complex matrix.
BOOST_AUTO_TEST_CASE(complex_systems) {
  const std::complex<double> i(0, 1);
  const std::int64_t n = 12;
  const Array above = nd::full(n - 1, 1.) * i;
  const csr_matrix H = nd::sparse::diags({nd::full(n, 3.) + 0. * i, above, nd::conjugate(above)}, {0, 1, -1});
  const csr_matrix G = nd::sparse::diags({nd::full(n, 3.) + 1. * i, above, above * 0.5}, {0, 1, -1});
  const Array b = nd::arange(n) + 2. * i;
  for (const bool hermitian : {true, false}) {
    const csr_matrix& A = hermitian ? H : G;
    const auto solution = hermitian ? linalg::cg(A, b, {.rtol = 1e-10}) : linalg::gmres(A, b, {.rtol = 1e-10});
    BOOST_TEST(solution.info == 0);
    BOOST_TEST((solution.x.dtype() == nd::complex128));
    BOOST_TEST(residual(A, solution.x, b) < 1.01e-10);
    BOOST_TEST(residual(A, linalg::lsqr(A, b, {.atol = 1e-12, .btol = 1e-12}).x, b) < 1e-9);
    BOOST_TEST(residual(A, linalg::spsolve(A, b), b) < 1e-13);
  }
}

BOOST_FIXTURE_TEST_CASE(least_squares, Systems) {
  // numpy: import scipy.sparse as sp, scipy.sparse.linalg as sl
  // numpy: A = sp.csr_matrix([[1., 0], [1, 1], [0, 1]])
  // numpy: c = np.array([1., 0, -1])
  // numpy: W = sp.csr_matrix(a)
  // numpy: P = sp.diags([np.full(30, 2.), np.full(29, -1.), np.full(29, -1.)], [0, 1, -1]).tocsr()
  // numpy: b30 = np.arange(30) % 7 + 1.
  const csr_matrix A(nd::array({{1., 0.}, {1., 1.}, {0., 1.}})), W(a);
  const Array c = nd::array({1., 0., -1.});
  const auto numbers = [](const linalg::LsqrResult& r) {
    return nd::array({r.r1norm, r.r2norm, r.anorm, r.acond, r.arnorm, r.xnorm});
  };
  const auto counts = [](const linalg::LsqrResult& r) { return nd::array({std::int64_t(r.istop), r.itn}); };
  NUMPY("sl.lsqr(A, c)[0]", linalg::lsqr(A, c).x, "float64 (2) 1 -1");
  NUMPY("np.array(sl.lsqr(A, c)[1:3])", counts(linalg::lsqr(A, c)), "int64 (2) 1 1");
  NUMPY("sl.lsqr(A, np.array([1., .01, -1]))[0]", linalg::lsqr(A, nd::array({1., .01, -1.})).x,
        "float64 (2) 1.00333333 -0.996666667");
  NUMPY("np.array(sl.lsqr(A, np.array([1., .01, -1]))[1:3])", counts(linalg::lsqr(A, nd::array({1., .01, -1.}))),
        "int64 (2) 2 2");
  NUMPY("np.array(sl.lsqr(A, np.array([1., .01, 3]))[3:9])", numbers(linalg::lsqr(A, nd::array({1., .01, 3.}))),
        "float64 (6) 2.30362757 2.30362757 2 2.30940108 8.63151047e-16 1.70229257");
  NUMPY("sl.lsqr(W, v[:3])[0]", linalg::lsqr(W, v(nd::Slice(3))).x, "float64 (4) -1.75 -0.625 0.5 1.625");
  NUMPY("sl.lsqr(P, b30, iter_lim=5)[0][:6]", linalg::lsqr(P, b30, {.iter_lim = 5}).x(nd::Slice(6)),
        "float64 (6) 0.146137649 -0.214770156 -0.394633219 0.191966391 1.63972464 2.73639751");
  NUMPY("np.array(sl.lsqr(P, b30, iter_lim=5)[1:3])", counts(linalg::lsqr(P, b30, {.iter_lim = 5})), "int64 (2) 7 5");
  NUMPY("np.array(sl.lsqr(P, b30, iter_lim=5)[3:9])", numbers(linalg::lsqr(P, b30, {.iter_lim = 5})),
        "float64 (6) 21.5189223 21.5189223 6.46280501 9.60771841 3.33774895 10.7812091");
  NUMPY("sl.lsqr(P, b30, damp=.5, iter_lim=6)[0][:6]",
        linalg::lsqr(P, b30, {.damp = .5, .iter_lim = 6}).x(nd::Slice(6)),
        "float64 (6) -0.0315898961 -0.203420154 -0.165662538 0.343636541 1.17432406 1.92143222");
  NUMPY("np.array(sl.lsqr(P, b30, damp=.5, iter_lim=6)[3:9])",
        numbers(linalg::lsqr(P, b30, {.damp = .5, .iter_lim = 6})),
        "float64 (6) 21.6529234 21.9706688 7.03319682 9.9215919 1.97540283 7.87437377");
  NUMPY("sl.lsqr(P, b30, x0=np.ones(30), iter_lim=4)[0][:6]",
        linalg::lsqr(P, b30, {.iter_lim = 4, .x0 = nd::ones(30)}).x(nd::Slice(6)),
        "float64 (6) 0.268885448 0.799004995 0.681253914 1.17678932 2.3269034 3.66646226");
  NUMPY("np.array(sl.lsqr(P, b30, atol=1e-2, btol=1e-2)[1:3])",
        counts(linalg::lsqr(P, b30, {.atol = 1e-2, .btol = 1e-2})), "int64 (2) 2 20");
  NUMPY("np.array(sl.lsqr(P, b30, conlim=10)[1:3])", counts(linalg::lsqr(P, b30, {.conlim = 10})), "int64 (2) 3 6");
  NUMPY("sl.lsqr(P, np.zeros(30))[0]", linalg::lsqr(P, nd::zeros(30)).x, "float64 (30) # 0 0");
}

BOOST_FIXTURE_TEST_CASE(direct_solution, Systems) {
  // numpy: import scipy.sparse as sp, scipy.sparse.linalg as sl
  // numpy: D = sp.diags([np.full(30, 2.5), np.full(29, -1.4), np.full(29, -.6)], [0, 1, -1]).tocsr()
  // numpy: b30 = np.arange(30) % 7 + 1.
  NUMPY("sl.spsolve(D.tocsc(), b30)[:6]", linalg::spsolve(D, b30)(nd::Slice(6)),
        "float64 (6) 3.66402117 5.82860924 7.40936456 8.59017562 9.3070145 9.36673635");
  NUMPY("sl.spsolve(D.tocsc(), np.array([b30, b30 + 1]).T)[:3]",
        linalg::spsolve(D, nd::stack({b30, b30 + 1}).transpose())(nd::Slice(3)),
        "float64 (3, 2) 3.66402117 5.09258416 5.82860924 7.66532885 7.40936456 9.36269403");
  BOOST_TEST(bool(nd::allclose(linalg::spsolve(csc_matrix(D), b30), linalg::spsolve(D, b30))));
  BOOST_TEST((linalg::spsolve(D.astype(nd::float32), b30.astype(nd::float32)).dtype() == nd::float32));
  BOOST_CHECK_THROW(linalg::spsolve(csr_matrix({2, 2}), nd::ones(2)), nd::LinAlgError);
  BOOST_CHECK_THROW(linalg::spsolve(csr_matrix({2, 3}), nd::ones(2)), nd::ValueError);
  BOOST_CHECK_THROW(linalg::spsolve(D, nd::ones(2)), nd::ValueError);
  BOOST_CHECK_THROW(linalg::spsolve(D, Array()), nd::TypeError);
}

BOOST_FIXTURE_TEST_CASE(operators, Systems) {
  const LinearOperator laplace({30, 30}, [this](const Array& x) { return P * x; });
  const auto expected = linalg::cg(P, b30).x;
  BOOST_TEST(bool(nd::allclose(linalg::cg(laplace, b30).x, expected)));
  BOOST_TEST(bool(nd::allclose(linalg::cg(P.toarray(), b30).x, expected)));
  BOOST_TEST(bool(nd::allclose(linalg::cg(csc_matrix(P), b30).x, expected)));
  BOOST_TEST(bool(nd::allclose(linalg::cg(P.tocoo(), b30).x, expected)));
  BOOST_TEST(laplace.shape() == nd::Shape({30, 30}));
  BOOST_TEST((laplace.dtype() == nd::float64));
  // Products with the conjugate transposed matrix.
  const Array z = nd::array({{1., 2., 3.}, {0., 1., 0.}}) * std::complex<double>(1, 2);
  const Array y = nd::array({1., 2.}) + std::complex<double>(0, 1);
  const Array adjoint = nd::matmul(nd::conjugate(z).transpose(), y);
  for (const LinearOperator& m : {LinearOperator(z), LinearOperator(csr_matrix(z)), LinearOperator(csc_matrix(z))}) {
    BOOST_TEST(bool(nd::allclose(m.rmatvec(y), adjoint)));
    BOOST_TEST(bool(nd::allclose(m.matvec(nd::arange(3.)), nd::matmul(z, nd::arange(3.)))));
  }
}

BOOST_FIXTURE_TEST_CASE(linalg_errors, Systems) {
  const auto message = [](auto&& f) { return test::message_of<nd::Error>(f); };
  BOOST_TEST(message([&] { linalg::cg(P, nd::ones(3)); }) == "cg: b has the shape (3,), must have (30) or (30, 1)");
  BOOST_TEST(message([&] { linalg::gmres(P, b30, {.x0 = nd::ones(3)}); }) ==
             "gmres: x0 has the shape (3,), must have (30) or (30, 1)");
  BOOST_TEST(message([&] {
               linalg::cg(csr_matrix({2, 3}), nd::ones(2));
             }) == "cg: the matrix has the shape (2, 3), must be square");
  BOOST_TEST(message([&] { linalg::cg(P, b30, {.M = nd::sparse::identity(3)}); }) ==
             "cg: M has the shape (3, 3), must have that of A, (30, 30)");
  BOOST_TEST(message([&] { linalg::gmres(P, b30, {.restart = 0}); }) == "gmres: restart is 0, must be at least 1");
  BOOST_TEST(message([&] { linalg::cg(P, b30, {.rtol = -1}); }) ==
             "cg: the tolerances rtol=-1 and atol=0 must not be negative");
  BOOST_TEST(message([&] { linalg::lsqr(P, b30, {.damp = -1}); }) == "lsqr: damp is -1, must not be negative");
  const LinearOperator forward({30, 30}, [this](const Array& x) { return P * x; });
  BOOST_TEST(message([&] { linalg::lsqr(forward, b30); }) ==
             "rmatvec: the operator has no function for the conjugate transposed product: give it as rmatvec");
  const LinearOperator wrong({30, 30}, [](const Array&) { return nd::ones(2); });
  BOOST_TEST(message([&] { wrong.matvec(b30); }) == "matvec: the function gave the shape (2,), must give (30)");
  BOOST_TEST(message([&] { wrong.matvec(nd::ones(3)); }) == "matvec: the vector has the shape (3,), must have (30)");
  BOOST_CHECK_THROW(linalg::cg(LinearOperator(), b30), nd::TypeError);
  BOOST_CHECK_THROW(linalg::lsqr(LinearOperator(), b30), nd::TypeError);
  BOOST_CHECK_THROW(linalg::cg(P, Array()), nd::TypeError);
  BOOST_CHECK_THROW(LinearOperator{Array()}, nd::TypeError);
  BOOST_CHECK_THROW(LinearOperator{nd::ones(3)}, nd::ValueError);
  BOOST_CHECK_THROW(LinearOperator({2, 2}, nullptr), nd::TypeError);
}

BOOST_AUTO_TEST_SUITE_END()
