// Eigenvalues of general matrices, LU, triangular equations, the exponential, equations of tensors and norms: values
// of NumPy and SciPy, and what defines the functions.
#include <catena/tests/support/host_matrices.h>
#include <catena/tests/support/ndarray_numpy.h>

using test::each;
using test::matrices_of;
using test::Matrix;
namespace linalg = nd::linalg;

namespace {

using nd::Array;

void check_vectors(const Array& a) {
  const auto [values, vectors] = linalg::eig(a);
  BOOST_TEST((values.shape() == nd::Shape(linalg::eigvals(a).shape()) && vectors.shape() == a.shape()));
  BOOST_TEST((values.dtype() == vectors.dtype() && values.is_c_contiguous() && vectors.is_c_contiguous()));
  const auto m = matrices_of(a), v = matrices_of(vectors);
  const auto w = test::columns_of(values), alone = test::columns_of(linalg::eigvals(a));
  const double bound = 20 * test::precision(values.dtype());
  for (std::size_t i = 0; i < m.size(); ++i) {
    BOOST_TEST(test::distance(m[i] * v[i], v[i] * test::diagonal(w[i], m[i].rows, m[i].rows)) < bound);
    BOOST_TEST(test::distance(w[i], alone[i]) < bound);
    for (std::int64_t j = 0; j < m[i].rows; ++j) {
      double length = 0;
      for (std::int64_t k = 0; k < m[i].rows; ++k) length += std::norm(v[i](k, j));
      BOOST_TEST(std::abs(length - 1) < bound);
    }
  }
}

// A triangular matrix with a large diagonal.
Array triangle(const nd::Shape& shape, nd::Dtype dtype, bool lower, std::mt19937& random) {
  auto stack = matrices_of(test::normal_array(shape, dtype, random));
  for (Matrix& m : stack)
    for (std::int64_t i = 0; i < m.rows; ++i)
      for (std::int64_t j = 0; j < m.rows; ++j) {
        if (i == j) m(i, j) += 5.0 + double(m.rows) / 4;
        else if (lower != (j < i)) m(i, j) = 0;
      }
  return test::array_of(stack, shape, dtype);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(matrix_functions)

BOOST_FIXTURE_TEST_CASE(eigenvalues, test::NumpyScene) {
  NUMPY("np.linalg.eig(s).eigenvalues", linalg::eig(s).eigenvalues, "float64 (3) 4.73155942 2.38676037 1.88168021");
  NUMPY("abs(np.linalg.eig(s).eigenvectors)", nd::absolute(linalg::eig(s).eigenvectors),
        "float64 (3, 3) 0.835736731 0.503029647 0.220239168 0.511495352 0.85902763 0.0210721478 0.199791445 "
        "0.0950405425 0.97521827");
  NUMPY("np.linalg.eigvals(s)", linalg::eigvals(s), "float64 (3) 4.73155942 2.38676037 1.88168021");
  NUMPY("np.linalg.eigvals(f)", linalg::eigvals(f), "float32 (2) -0.372281313 5.37228155");
  NUMPY("np.linalg.eigvals(np.array([[0., 1.], [-1., 0.]]))", linalg::eigvals(nd::array({{0., 1.}, {-1., 0.}})),
        "complex128 (2) 0 1 0 -1");
  NUMPY("np.linalg.eigvals(np.array([[[0., 1.], [-1., 0.]], [[2., 0.], [0., 3.]]]))",
        linalg::eigvals(nd::array({{{0., 1.}, {-1., 0.}}, {{2., 0.}, {0., 3.}}})),
        "complex128 (2, 2) 0 1 0 -1 2 0 3 0");
  NUMPY("np.linalg.eigvals(np.array([[1, 2], [3, 4]]))", linalg::eigvals(nd::array({{1, 2}, {3, 4}})),
        "float64 (2) -0.372281323 5.37228132");
  NUMPY("np.linalg.eigvals(z[:2, None] * z[:2] + f)",
        linalg::eigvals(z(nd::Slice(2), nd::newaxis) * z(nd::Slice(2)) + f),
        "complex128 (2) 9.42144103 11.4458623 0.578558975 -1.4458623");
  NUMPY("np.linalg.eigvals(np.zeros((0, 0)))", linalg::eigvals(nd::zeros({0, 0})), "float64 (0)");
  NUMPY("np.linalg.eigvals(np.zeros((0, 2, 2)))", linalg::eigvals(nd::zeros({0, 2, 2})), "float64 (0, 2)");
  NUMPY("np.linalg.eig(np.zeros((0, 0))).eigenvectors", linalg::eig(nd::zeros({0, 0})).eigenvectors, "float64 (0, 0)");
  NUMPY("np.linalg.eig(np.array([[2.]])).eigenvectors", linalg::eig(nd::array({{2.}})).eigenvectors,
        "float64 (1, 1) 1");
  NUMPY_RAISES("np.linalg.eig(a)", linalg::eig(a), nd::LinAlgError);
  NUMPY_RAISES("np.linalg.eigvals(v)", linalg::eigvals(v), nd::LinAlgError);
  NUMPY_RAISES("np.linalg.eig(g)", linalg::eig(g), nd::LinAlgError);
  BOOST_CHECK_THROW(linalg::eig(Array()), nd::TypeError);
  BOOST_TEST((linalg::eig(nd::eye(2, nd::bfloat16)).eigenvalues.dtype() == nd::float32));
  NUMPY("np.linalg.svdvals(a)", linalg::svdvals(a), "float64 (3) 12.7184178 0.861306124 1.32419867e-16");
  NUMPY("np.linalg.svdvals(q)", linalg::svdvals(q),
        "float64 (2, 3) 22.4092982 1.95534034 2.11510991e-16 61.7858969 0.709187805 6.88747809e-16");
  NUMPY_RAISES("np.linalg.svdvals(v)", linalg::svdvals(v), nd::LinAlgError);
}

BOOST_AUTO_TEST_CASE(eigenvectors) {
  std::mt19937 random(11);
  for (nd::Dtype t : test::kSolvedDtypes)
    for (const nd::Shape& shape : {nd::Shape{1, 1}, nd::Shape{6, 6}, nd::Shape{3, 5, 5}, nd::Shape{2, 3, 4, 4},
                                   nd::Shape{2, 40, 40}, nd::Shape{7, 3, 3}})
      for (const Array& a : test::layouts_of(test::normal_array(shape, t, random), random)) {
        const auto before = test::bytes_of(a);
        check_vectors(a);
        BOOST_TEST((test::bytes_of(a) == before));
      }
}

BOOST_FIXTURE_TEST_CASE(lu, test::NumpyScene) {
  // numpy: import scipy.linalg as sl
  NUMPY("sl.lu(s)[1]", linalg::lu(s).L, "float64 (3, 3) 1 0 0 0.25 1 0 0.125 0.0454545455 1");
  NUMPY("sl.lu(b)[0]", linalg::lu(b).P, "float64 (3, 3) 0 1 0 1 0 0 0 0 1");
  NUMPY("sl.lu(b)[1]", linalg::lu(b).L, "float64 (3, 3) 1 0 0 -0.8 1 0 -0.6 0.75 1");
  NUMPY("sl.lu(b)[2]", linalg::lu(b).U, "float64 (3, 4) -2.5 4 1 0.25 0 2.2 1.3 3.2 0 0 5.625 -0.25");
  NUMPY("sl.lu(b.T)[0]", linalg::lu(b.T()).P, "float64 (4, 4) 0 0 0 1 0 1 0 0 0 0 1 0 1 0 0 0");
  NUMPY("sl.lu(b.T)[1]", linalg::lu(b.T()).L,
        "float64 (4, 3) 1 0 0 -0.333333333 1 0 0.166666667 0.234693878 1 0.666666667 -0.653061224 0.0197397936");
  NUMPY("sl.lu(b.T)[2]", linalg::lu(b.T()).U, "float64 (3, 3) 3 0.25 2 0 4.08333333 -0.0833333333 0 0 5.68622449");
  NUMPY("sl.lu(b.T, permute_l=True)[0]", linalg::lu(b.T(), {.permute_l = true}).L,
        "float64 (4, 3) 0.666666667 -0.653061224 0.0197397936 -0.333333333 1 0 0.166666667 0.234693878 1 1 0 0");
  NUMPY("sl.lu(b.T, True)[1]", linalg::lu(b.T(), true).U,
        "float64 (3, 3) 3 0.25 2 0 4.08333333 -0.0833333333 0 0 5.68622449");
  NUMPY("sl.lu(b.T, p_indices=True)[0]", linalg::lu(b.T(), {.p_indices = true}).P, "int32 (4) 3 1 2 0");
  NUMPY("sl.lu(t)[0]", linalg::lu(t).P, "float64 (4, 2, 2) 0 1 1 0 0 1 1 0 0 1 1 0 0 1 1 0");
  NUMPY("sl.lu(t, permute_l=True)[0]", linalg::lu(t, true).L,
        "float64 (4, 2, 2) 0.2 1 1 0 0.142857143 1 1 0 0.0769230769 1 1 0 0 1 1 0");
  NUMPY("sl.lu(f)[0]", linalg::lu(f).P, "float32 (2, 2) 0 1 1 0");
  NUMPY("sl.lu(z[:2, None] * z[:2] + f)[2]", linalg::lu(z(nd::Slice(2), nd::newaxis) * z(nd::Slice(2)) + f).U,
        "complex128 (2, 2) 9 6 3 7 0 0 1.33333333 -1.66666667");
  NUMPY("sl.lu(z[:2, None] * z[:2] + f)[0]", linalg::lu(z(nd::Slice(2), nd::newaxis) * z(nd::Slice(2)) + f).P,
        "float64 (2, 2) 1 0 0 1");
  NUMPY("sl.lu(np.ones((2, 3)))[2]", linalg::lu(nd::ones({2, 3})).U, "float64 (2, 3) 1 1 1 0 0 0");
  NUMPY("sl.lu(e3)[0]", linalg::lu(e3).P, "float64 (0, 0)");
  NUMPY("sl.lu(e3)[2]", linalg::lu(e3).U, "float64 (0, 3)");
  NUMPY("sl.lu(e3.T)[1]", linalg::lu(e3.T()).L, "float64 (3, 0)");
  BOOST_CHECK_THROW(linalg::lu(v), nd::LinAlgError);
  NUMPY("sl.lu_factor(s)[0]", linalg::lu_factor(s).lu,
        "float64 (3, 3) 4 1 0.5 0.25 2.75 0.125 0.125 0.0454545455 1.93181818");
  NUMPY("sl.lu_factor(b.T[:3])[0]", linalg::lu_factor(b.T()(nd::Slice(3))).lu,
        "float64 (3, 3) 2 -2.5 1.5 -0.5 2.75 0 0.25 0.590909091 5.625");
  NUMPY("sl.lu_factor(b.T[:3])[1]", linalg::lu_factor(b.T()(nd::Slice(3))).piv, "int32 (3) 0 1 2");
  NUMPY("sl.lu_factor(b)[1]", linalg::lu_factor(b).piv, "int32 (3) 1 1 2");
  NUMPY("sl.lu_factor(t)[0]", linalg::lu_factor(t).lu,
        "float64 (4, 2, 2) 15 23 0.2 6.4 14 22 0.142857143 6.85714286 13 21 0.0769230769 7.38461538 12 20 0 8");
  NUMPY("sl.lu_factor(np.ones((2, 2)))[0]", linalg::lu_factor(nd::ones({2, 2})).lu, "float64 (2, 2) 1 1 1 0");
  // numpy: factors = sl.lu_factor(b.T[:3])
  const linalg::LUFactor factors = linalg::lu_factor(b.T()(nd::Slice(3)));
  NUMPY("sl.lu_solve(factors, i)", linalg::lu_solve(factors, i), "float64 (3) 1.46666667 0.363636364 -0.0161616162");
  NUMPY("sl.lu_solve(factors, i, trans=1)", linalg::lu_solve(factors, i, 1),
        "float64 (3) 1.5030303 0.961616162 -0.0888888889");
  NUMPY("sl.lu_solve(factors, a)", linalg::lu_solve(factors, a),
        "float64 (3, 4) 1.13333333 1.73333333 2.33333333 2.93333333 1 1.27272727 1.54545455 1.81818182 0.488888889 "
        "0.476767677 0.464646465 0.452525253");
  NUMPY("sl.lu_solve(factors, a, 1)", linalg::lu_solve(factors, a, 1),
        "float64 (3, 4) 0.418181818 0.860606061 1.3030303 1.74545455 0.703030303 1.0989899 1.49494949 1.89090909 "
        "0.733333333 0.755555556 0.777777778 0.8");
  NUMPY("sl.lu_solve(factors, z[:3], 2)", linalg::lu_solve(factors, z(nd::Slice(3)), 2),
        "complex128 (3) 2.38787879 1.11515152 1.75353535 1.20808081 -0.0444444444 -0.0444444444");
  NUMPY_RAISES("sl.lu_solve(factors, v)", linalg::lu_solve(factors, v), nd::ValueError);
  NUMPY_RAISES("sl.lu_solve(factors, i, 3)", linalg::lu_solve(factors, i, 3), nd::ValueError);
  BOOST_CHECK_THROW(linalg::lu_solve({s, v}, i), nd::ValueError);
}

BOOST_AUTO_TEST_CASE(factors) {
  std::mt19937 random(12);
  for (nd::Dtype t : test::kSolvedDtypes)
    for (const nd::Shape& shape :
         {nd::Shape{1, 1}, nd::Shape{6, 4}, nd::Shape{3, 4, 7}, nd::Shape{2, 3, 5, 5}, nd::Shape{2, 70, 70}})
      for (const Array& a : test::layouts_of(test::normal_array(shape, t, random), random)) {
        const auto [p, l, u] = linalg::lu(a);
        const auto permuted = linalg::lu(a, true), indices = linalg::lu(a, {.p_indices = true});
        BOOST_TEST((permuted.P.is_null() && indices.P.dtype() == nd::int32 && l.dtype() == t && u.dtype() == t));
        const auto m = matrices_of(a), mp = matrices_of(p), ml = matrices_of(l), mu = matrices_of(u),
                   pl = matrices_of(permuted.L);
        for (std::size_t i = 0; i < m.size(); ++i) {
          BOOST_TEST(test::distance(mp[i] * (ml[i] * mu[i]), m[i]) < test::precision(t));
          BOOST_TEST(test::distance(pl[i] * mu[i], m[i]) < test::precision(t));
        }
        if (a.shape(-1) != a.shape(-2)) continue;
        nd::Shape sides = shape;
        sides.back() = 3;
        const Array b = test::normal_array(sides, t, random);
        const linalg::LUFactor factors = linalg::lu_factor(a);
        const std::uint64_t version = factors.lu.version();
        for (int trans = 0; trans < 3; ++trans) {
          const auto x = matrices_of(linalg::lu_solve(factors, b, trans)), right = matrices_of(b);
          for (std::size_t i = 0; i < m.size(); ++i) {
            Matrix op = trans == 0 ? m[i] : adjoint(m[i]);
            if (trans == 1)
              for (auto& z : op.v) z = std::conj(z);
            BOOST_TEST(test::distance(op * x[i], right[i]) < 50 * test::precision(t));
          }
        }
        BOOST_TEST(factors.lu.version() == version);
      }
}

BOOST_FIXTURE_TEST_CASE(triangular, test::NumpyScene) {
  // numpy: import scipy.linalg as sl
  NUMPY("sl.solve_triangular(s, i)", linalg::solve_triangular(s, i), "float64 (3) 0.447916667 -0.0416666667 0.5");
  NUMPY("sl.solve_triangular(s, i, lower=True)", linalg::solve_triangular(s, i, {.lower = true}),
        "float64 (3) 0.5 -0.166666667 0.395833333");
  NUMPY("sl.solve_triangular(s, i, trans=1)", linalg::solve_triangular(s, i, {.trans = 1}),
        "float64 (3) 0.5 -0.166666667 0.395833333");
  NUMPY("sl.solve_triangular(s, i, 'T', True)", linalg::solve_triangular(s, i, "T", true),
        "float64 (3) 0.447916667 -0.0416666667 0.5");
  NUMPY("sl.solve_triangular(s, a, unit_diagonal=True)", linalg::solve_triangular(s, a, {.unit_diagonal = true}),
        "float64 (3, 4) -3.125 -3.25 -3.375 -3.5 1.375 1.75 2.125 2.5 4.5 5 5.5 6");
  NUMPY("sl.solve_triangular(s, a, 0, True, True)", linalg::solve_triangular(s, a, 0, true, true),
        "float64 (3, 4) 0.5 1 1.5 2 2 2 2 2 3.75 4 4.25 4.5");
  NUMPY("sl.solve_triangular(s + 1j * d[:, :3], z[:3], trans='C')",
        linalg::solve_triangular(s + std::complex<double>(0, 1) * d(nd::_, nd::Slice(3)), z(nd::Slice(3)),
                                 {.trans = "C"}),
        "complex128 (3) 0.36 0.52 -0.255384615 0.443076923 -0.0719230769 0.0253846154");
  NUMPY("sl.solve_triangular(t + 1, t)", linalg::solve_triangular(t + 1, t),
        "float64 (4, 2, 2) -1.125 -0.125 0.625 0.958333333 -1.56521739 -0.173913043 0.608695652 0.956521739 "
        "-2.45454545 -0.272727273 0.590909091 0.954545455 -5.14285714 -0.571428571 0.571428571 0.952380952");
  NUMPY("sl.solve_triangular(np.zeros((0, 0)), e)", linalg::solve_triangular(nd::zeros({0, 0}), e), "float64 (0)");
  NUMPY_RAISES("sl.solve_triangular(s * (s != 3), i)", linalg::solve_triangular(s * (s != 3), i), nd::LinAlgError);
  NUMPY_RAISES("sl.solve_triangular(s, v)", linalg::solve_triangular(s, v), nd::ValueError);
  NUMPY_RAISES("sl.solve_triangular(a, i)", linalg::solve_triangular(a, i), nd::LinAlgError);
  BOOST_CHECK_THROW(linalg::solve_triangular(s, i, {.trans = "X"}), nd::ValueError);
  BOOST_CHECK_THROW(linalg::solve_triangular(s, zero), nd::ValueError);
  BOOST_TEST(nd::isfinite(linalg::solve_triangular(s * (s != 3), i, {.unit_diagonal = true})).all().item<bool>());
}

BOOST_AUTO_TEST_CASE(triangles) {
  std::mt19937 random(13);
  for (nd::Dtype t : test::kSolvedDtypes)
    for (const nd::Shape& shape : {nd::Shape{1, 1}, nd::Shape{6, 6}, nd::Shape{3, 5, 5}, nd::Shape{2, 70, 70}})
      for (const bool lower : {false, true})
        for (const Array& a : test::layouts_of(triangle(shape, t, lower, random), random)) {
          nd::Shape sides = shape;
          sides.back() = 3;
          const Array b = test::scattered(test::normal_array(sides, t, random), random);
          const std::uint64_t version = a.version();
          for (int trans = 0; trans < 3; ++trans) {
            const Array x = linalg::solve_triangular(a, b, trans, lower);
            BOOST_TEST((x.dtype() == t && x.shape() == b.shape() && x.is_c_contiguous()));
            const auto m = matrices_of(a), solution = matrices_of(x), right = matrices_of(b);
            for (std::size_t i = 0; i < m.size(); ++i) {
              Matrix op = trans == 0 ? m[i] : adjoint(m[i]);
              if (trans == 1)
                for (auto& z : op.v) z = std::conj(z);
              BOOST_TEST(test::distance(op * solution[i], right[i]) < test::precision(t));
            }
          }
          BOOST_TEST(a.version() == version);
        }
  // One matrix for a stack of right sides, and the other way round.
  const Array a = triangle({4, 4}, nd::float64, true, random), b = test::normal_array({5, 4, 2}, nd::float64, random);
  const Array x = linalg::solve_triangular(a, b, {.lower = true});
  for (int i = 0; i < 5; ++i)
    BOOST_TEST(test::distance(matrices_of(a)[0] * matrices_of(x)[std::size_t(i)], matrices_of(b)[std::size_t(i)]) <
               1e-12);
  BOOST_TEST(linalg::solve_triangular(nd::broadcast_to(a, {3, 4, 4}), b(0)).shape() == (nd::Shape{3, 4, 2}));
}

BOOST_FIXTURE_TEST_CASE(exponential, test::NumpyScene) {
  // numpy: import scipy.linalg as sl
  NUMPY("sl.expm(s)", linalg::expm(s),
        "float64 (3, 3) 82.326468 43.836474 18.0569585 43.836474 37.7177383 10.5729907 18.0569585 10.5729907 "
        "10.8708897");
  NUMPY("sl.expm(s * 1e-3)", linalg::expm(s * 1e-3),
        "float64 (3, 3) 1.00400864 0.00100356908 0.000501627821 0.00100356908 1.00300504 0.000250876598 "
        "0.000501627821 0.000250876598 1.00200216");
  NUMPY("sl.expm(s / 20)", linalg::expm(s / 20),
        "float64 (3, 3) 1.2232803 0.0597826823 0.0294372798 0.0597826823 1.1634068 0.0149002644 0.0294372798 "
        "0.0149002644 1.10562199");
  NUMPY("sl.expm(s / 7)", linalg::expm(s / 7),
        "float64 (3, 3) 1.79239096 0.238747748 0.114459338 0.238747748 1.55266031 0.0591954835 0.114459338 "
        "0.0591954835 1.33553651");
  NUMPY("sl.expm(s / 3)", linalg::expm(s / 3),
        "float64 (3, 3) 4.03293554 1.12077535 0.512141081 1.12077535 2.90251086 0.275369179 0.512141081 0.275369179 "
        "1.99402053");
  NUMPY("sl.expm(-10 * s)", linalg::expm(-10 * s),
        "float64 (3, 3) 3.37309063e-10 1.2607612e-11 -1.44325653e-09 1.2607612e-11 3.47893833e-11 -1.41804131e-10 "
        "-1.44325653e-09 -1.41804131e-10 6.40024726e-09");
  NUMPY("sl.expm(1j * s)", linalg::expm(std::complex<double>(0, 1) * s),
        "complex128 (3, 3) -0.185758955 -0.478773695 0.321522446 -0.719050126 0.0340795414 -0.338671195 0.321522446 "
        "-0.719050126 -0.532617738 0.244447205 0.0677124434 -0.177677145 0.0340795414 -0.338671195 0.0677124434 "
        "-0.177677145 -0.296740785 0.871740311");
  NUMPY("sl.expm(t)", linalg::expm(t),
        "float64 (4, 2, 2) 1.00197149e+12 1.75537526e+12 2.39369354e+12 4.19356288e+12 1.54235594e+11 2.80840249e+11 "
        "3.93176349e+11 7.15916092e+11 2.40149806e+10 4.56855815e+10 6.59902844e+10 1.25538495e+11 3.7841603e+09 "
        "7.56832061e+09 1.13524809e+10 2.27049618e+10");
  NUMPY("sl.expm(t / 8 - 1)", linalg::expm(t / 8 - 1),
        "float64 (4, 2, 2) 0.786761532 0.943184938 2.20076486 7.07466112 0.597560108 0.543367886 1.63010366 "
        "6.03123897 0.462433306 0.235847629 1.17923814 5.17938588 0.367879441 0 0.822761926 4.48168907");
  NUMPY("sl.expm(np.array([[3.]]))", linalg::expm(nd::array({{3.}})), "float64 (1, 1) 20.0855369");
  NUMPY("sl.expm(np.zeros((2, 2)))", linalg::expm(nd::zeros({2, 2})), "float64 (2, 2) 1 0 0 1");
  NUMPY("sl.expm(np.zeros((0, 0)))", linalg::expm(nd::zeros({0, 0})), "float64 (0, 0)");
  NUMPY("sl.expm(np.array([[0., 1.], [0., 0.]]))", linalg::expm(nd::array({{0., 1.}, {0., 0.}})),
        "float64 (2, 2) 1 1 0 1");
  NUMPY("sl.expm(np.array([[1, 2], [3, 4]]))", linalg::expm(nd::array({{1, 2}, {3, 4}})),
        "float64 (2, 2) 51.9689562 74.7365646 112.104847 164.073803");
  NUMPY("sl.expm(np.array([[np.nan, 1], [1, 1]]))", linalg::expm(nd::array({{double(NAN), 1.}, {1., 1.}})),
        "float64 (2, 2) nan nan nan nan");
  NUMPY_RAISES("sl.expm(a)", linalg::expm(a), nd::LinAlgError);
  // Float32 has limits of its own.
  for (const double scale : {0.01, 0.3, 1.0, 8.0}) {
    const Array x = s * scale, exact = linalg::expm(x), rough = linalg::expm(x.astype(nd::float32));
    BOOST_TEST((rough.dtype() == nd::float32));
    BOOST_TEST(test::distance(matrices_of(rough)[0], matrices_of(exact)[0]) < 1e-5);
  }
  // Each matrix of a stack is scaled by its own norm.
  const Array stack = nd::stack({s * 40, s * 1e-3, s}), together = linalg::expm(stack);
  for (int i = 0; i < 3; ++i)
    BOOST_TEST(test::distance(matrices_of(together(i))[0], matrices_of(linalg::expm(stack(i)))[0]) < 1e-11);
}

BOOST_FIXTURE_TEST_CASE(tensors, test::NumpyScene) {
  // numpy: x = np.eye(12).reshape(3, 4, 2, 6) + np.arange(144.).reshape(3, 4, 2, 6) % 7
  const Array x = nd::eye(12).reshape(3, 4, 2, 6) + nd::arange(144.).reshape(3, 4, 2, 6) % 7;
  NUMPY("np.linalg.tensorsolve(x, b)", linalg::tensorsolve(x, b),
        "float64 (2, 6) 0.79388413 -1.17324551 0.894364466 -1.74049296 -2.08458815 0.54155751 -0.435495935 "
        "-0.95611587 1.32675449 -0.355635534 1.25950704 2.41541185");
  NUMPY("np.linalg.tensorsolve(x.transpose(0, 2, 1, 3), b, axes=(1, 3))",
        linalg::tensorsolve(x.transpose(0, 2, 1, 3), b, {.axes = nd::Dims{1, 3}}),
        "float64 (2, 6) 0.79388413 -1.17324551 0.894364466 -1.74049296 -2.08458815 0.54155751 -0.435495935 "
        "-0.95611587 1.32675449 -0.355635534 1.25950704 2.41541185");
  NUMPY("np.linalg.tensorsolve(s, i)", linalg::tensorsolve(s, i), "float64 (3) 0.5 -0.2 0.4");
  NUMPY("np.linalg.tensorinv(x).sum(0)", linalg::tensorinv(x).sum(0), "float64 (6, 3, 4) # 0.323355695 11.8545686");
  NUMPY("np.linalg.tensorinv(x.reshape(12, 2, 6), ind=1).sum(2)", linalg::tensorinv(x.reshape(12, 2, 6), 1).sum(2),
        "float64 (2, 6) 0.023235513 0.0229766481 0.021220505 0.0250986046 0.0212940267 0.0492452739 0.0464598267 "
        "0.023235513 0.0229766481 0.021220505 0.0250986046 0.0212940267");
  NUMPY("np.linalg.tensorinv(s, 1)", linalg::tensorinv(s, 1),
        "float64 (3, 3) 0.279411765 -0.0882352941 -0.0588235294 -0.0882352941 0.364705882 -0.0235294118 "
        "-0.0588235294 -0.0235294118 0.517647059");
  NUMPY_RAISES("np.linalg.tensorsolve(q, f)", linalg::tensorsolve(q, f), nd::LinAlgError);
  NUMPY_RAISES("np.linalg.tensorsolve(x * 0, b)", linalg::tensorsolve(x * 0, b), nd::LinAlgError);
  NUMPY_RAISES("np.linalg.tensorinv(a, ind=1)", linalg::tensorinv(a, 1), nd::LinAlgError);
  NUMPY_RAISES("np.linalg.tensorinv(s, ind=0)", linalg::tensorinv(s, 0), nd::ValueError);
}

BOOST_FIXTURE_TEST_CASE(more_options, test::NumpyScene) {
  NUMPY("np.linalg.pinv(s, hermitian=True)", linalg::pinv(s, {.hermitian = true}),
        "float64 (3, 3) 0.279411765 -0.0882352941 -0.0588235294 -0.0882352941 0.364705882 -0.0235294118 "
        "-0.0588235294 -0.0235294118 0.517647059");
  NUMPY("np.linalg.pinv(np.outer(i, i), hermitian=True, rtol=1e-10)",
        linalg::pinv(nd::outer(i, i), {.rtol = 1e-10, .hermitian = true}),
        "float64 (3, 3) 0.16 0 0.08 0 0 0 0.08 0 0.04");
  NUMPY("np.linalg.pinv(a, rtol=0.2)", linalg::pinv(a, {.rtol = 0.2}),
        "float64 (4, 3) 0.00656074047 0.0164478353 0.0263349302 0.00755434311 0.0189388061 0.0303232691 "
        "0.00854794575 0.0214297768 0.0343116079 0.00954154838 0.0239207476 0.0382999468");
  NUMPY("np.linalg.pinv(a, rcond=0.2)", linalg::pinv(a, {.rcond = 0.2}),
        "float64 (4, 3) 0.00656074047 0.0164478353 0.0263349302 0.00755434311 0.0189388061 0.0303232691 "
        "0.00854794575 0.0214297768 0.0343116079 0.00954154838 0.0239207476 0.0382999468");
  NUMPY("np.linalg.pinv(t, rtol=np.array([0.1, 0.2, 0.3, 0.4]))",
        linalg::pinv(t, {.rtol = nd::array({0.1, 0.2, 0.3, 0.4})}),
        "float64 (4, 2, 2) -0.239583333 0.114583333 0.15625 -0.03125 0.0062299219 0.0167821825 0.0108655755 "
        "0.0292697203 0.00597389683 0.017638238 0.0107702878 0.0317998294 0.00561774717 0.0185541585 0.0104968566 "
        "0.0346687623");
  NUMPY_RAISES("np.linalg.pinv(a, 0.1, rtol=0.1)", linalg::pinv(a, {.rcond = 0.1, .rtol = 0.1}), nd::ValueError);
  NUMPY("np.linalg.matrix_rank(a, rtol=0.1)", linalg::matrix_rank(a, {.rtol = 0.1}), "int64 () 1");
  NUMPY("np.linalg.matrix_rank(a, rtol=1e-3)", linalg::matrix_rank(a, {.rtol = 1e-3}), "int64 () 2");
  NUMPY("np.linalg.matrix_rank(a, tol=1)", linalg::matrix_rank(a, {.tol = 1}), "int64 () 1");
  NUMPY("np.linalg.matrix_rank(np.outer(i, i), hermitian=True)",
        linalg::matrix_rank(nd::outer(i, i), {.hermitian = true}), "int64 () 1");
  NUMPY("np.linalg.matrix_rank(-s, hermitian=True, tol=2.0)", linalg::matrix_rank(-s, {.tol = 2.0, .hermitian = true}),
        "int64 () 2");
  NUMPY("np.linalg.matrix_rank(q, rtol=np.array([1e-3, 0.5]))",
        linalg::matrix_rank(q, {.rtol = nd::array({1e-3, 0.5})}), "int64 (2) 2 1");
  NUMPY_RAISES("np.linalg.matrix_rank(a, 0.1, rtol=0.1)", linalg::matrix_rank(a, {.tol = 0.1, .rtol = 0.1}),
               nd::ValueError);
  NUMPY("np.linalg.cholesky(s, upper=True)", linalg::cholesky(s, {.upper = true}),
        "float64 (3, 3) 2 0.5 0.25 0 1.6583124 0.0753778361 0 0 1.38989862");
  // numpy: k = np.array([[0, 1, 2], [-1, 0, 1], [-2, -1, 0]]) / 4
  const Array k = nd::array({{0, 1, 2}, {-1, 0, 1}, {-2, -1, 0}}) / 4;
  NUMPY("np.linalg.cholesky(s - 9 * np.minimum(k, 0), upper=True)",
        linalg::cholesky(s - 9 * nd::minimum(k, 0), {.upper = true}),
        "float64 (3, 3) 2 0.5 0.25 0 1.6583124 0.0753778361 0 0 1.38989862");
  NUMPY("np.linalg.cholesky(s + 1j * k, upper=True)",
        linalg::cholesky(s + std::complex<double>(0, 1) * k, {.upper = true}),
        "complex128 (3, 3) 2 0 0.5 0.125 0.25 0.25 0 0 1.65359457 0 0.056694671 0.0944911183 0 0 0 0 1.36486525 0");
}

BOOST_FIXTURE_TEST_CASE(norms, test::NumpyScene) {
  NUMPY("np.linalg.vector_norm(v)", linalg::vector_norm(v), "float64 () 7.43303437");
  NUMPY("np.linalg.vector_norm(q)", linalg::vector_norm(q), "float64 () 65.7571289");
  NUMPY("np.linalg.vector_norm(q, axis=1)", linalg::vector_norm(q, {.axis = 1}),
        "float64 (2, 4) 8.94427191 10.3440804 11.8321596 13.3790882 28.2842712 29.9833287 31.685959 33.3916157");
  NUMPY("np.linalg.vector_norm(q, axis=(0, 2), ord=3)", linalg::vector_norm(q, {.axis = {0, 2}, .ord = 3}),
        "float64 (3) 21.601646 28.2093157 35.2090886");
  NUMPY("np.linalg.vector_norm(q, axis=(2, 0), ord=np.inf, keepdims=True)",
        linalg::vector_norm(q, {.axis = {2, 0}, .keepdims = true, .ord = nd::inf}), "float64 (1, 3, 1) 15 19 23");
  NUMPY("np.linalg.vector_norm(q, keepdims=True, ord=1)", linalg::vector_norm(q, {.keepdims = true, .ord = 1}),
        "float64 (1, 1, 1) 276");
  NUMPY("np.linalg.vector_norm(d, ord=-1)", linalg::vector_norm(d, {.ord = -1}), "float64 () 0");
  NUMPY("np.linalg.vector_norm(a, ord=-np.inf)", linalg::vector_norm(a, {.ord = -nd::inf}), "float64 () 0.5");
  NUMPY("np.linalg.vector_norm(z)", linalg::vector_norm(z), "float64 () 7.76208735");
  NUMPY("np.linalg.vector_norm(e)", linalg::vector_norm(e), "float64 () 0");
  NUMPY("np.linalg.vector_norm(e3, axis=(0, 1))", linalg::vector_norm(e3, {.axis = {0, 1}}), "float64 () 0");
  NUMPY("np.linalg.vector_norm(zero)", linalg::vector_norm(zero), "float64 () 2.5");
  NUMPY("[np.linalg.vector_norm(x) for x in reals[1:9]]",
        each({reals.begin() + 1, reals.begin() + 9}, [](auto& x) { return linalg::vector_norm(x); }),
        "float64 () 12.5698051 | float64 () 12.5698051 | float64 () 12.5698051 | float64 () 12.5698051 | float64 () "
        "12.5698051 | float64 () 12.5698051 | float64 () 12.5698051 | float64 () 12.5698051");
  NUMPY_RAISES("np.linalg.vector_norm(q, axis=3)", linalg::vector_norm(q, {.axis = 3}), nd::Error);
  NUMPY_RAISES("np.linalg.vector_norm(q, axis=(0, 0))", linalg::vector_norm(q, {.axis = {0, 0}}), nd::ValueError);
  NUMPY("np.linalg.matrix_norm(a)", linalg::matrix_norm(a), "float64 () 12.7475488");
  NUMPY("np.linalg.matrix_norm(q)", linalg::matrix_norm(q), "float64 (2) 22.4944438 61.7899668");
  NUMPY("np.linalg.matrix_norm(q, ord=2)", linalg::matrix_norm(q, {.ord = 2}), "float64 (2) 22.4092982 61.7858969");
  NUMPY("np.linalg.matrix_norm(q, ord='nuc', keepdims=True)", linalg::matrix_norm(q, {.keepdims = true, .ord = "nuc"}),
        "float64 (2, 1, 1) 24.3646385 62.4950847");
  NUMPY("np.linalg.matrix_norm(t, ord=1)", linalg::matrix_norm(t, {.ord = 1}), "float64 (4) 34 32 30 28");
  NUMPY("np.linalg.matrix_norm(t, ord=-np.inf)", linalg::matrix_norm(t, {.ord = -nd::inf}), "float64 (4) 14 12 10 8");
  NUMPY_RAISES("np.linalg.matrix_norm(v)", linalg::matrix_norm(v), nd::ValueError);
  NUMPY_RAISES("np.linalg.matrix_norm(a, ord=3)", linalg::matrix_norm(a, {.ord = 3}), nd::ValueError);
}

BOOST_AUTO_TEST_SUITE_END()
