// Equations, inverses, determinants, ranks and powers against Gauss's elimination and the definitions, in double
// precision.
#include <catena/ndarray/routines/linalg.h>

#include <catena/ndarray/routines/manipulation.h>
#include <catena/tests/support/host_matrices.h>

namespace {

using nd::Array;
using test::adjoint;
using test::columns_of;
using test::Complex;
using test::distance;
using test::matrices_of;
using test::Matrix;
using test::message_of;
using test::precision;
using test::same_bits;
using test::unit;
namespace linalg = nd::linalg;

constexpr double kInf = std::numeric_limits<double>::infinity();

// Gauss and Jordan's inverse, and the determinant on the way.
struct Elimination {
  Matrix inverse;
  Complex determinant = 1;
  explicit Elimination(Matrix a) : inverse(unit(a.rows)) {
    const std::int64_t n = a.rows;
    for (std::int64_t c = 0; c < n; ++c) {
      std::int64_t pivot = c;
      for (std::int64_t i = c; i < n; ++i)
        if (std::abs(a(i, c)) > std::abs(a(pivot, c))) pivot = i;
      if (pivot != c) determinant = -determinant;
      for (std::int64_t j = 0; j < n; ++j) {
        std::swap(a(c, j), a(pivot, j));
        std::swap(inverse(c, j), inverse(pivot, j));
      }
      const Complex p = a(c, c);
      determinant *= p;
      for (std::int64_t j = 0; j < n; ++j) a(c, j) /= p, inverse(c, j) /= p;
      for (std::int64_t i = 0; i < n; ++i) {
        const Complex f = a(i, c);
        if (i == c || f == 0.0) continue;
        for (std::int64_t j = 0; j < n; ++j) a(i, j) -= f * a(c, j), inverse(i, j) -= f * inverse(c, j);
      }
    }
  }
};

// Well-conditioned and not symmetric: normal numbers, and more on the diagonal.
Array regular(const nd::Shape& shape, nd::Dtype dtype, std::mt19937& random) {
  auto stack = matrices_of(test::normal_array(shape, dtype, random));
  for (Matrix& m : stack)
    for (std::int64_t i = 0; i < m.rows; ++i) m(i, (i + 1) % m.rows) += 2.0 * double(m.rows);
  return test::array_of(stack, shape, dtype);
}

void check_values(const Array& a, const std::vector<Complex>& expected, double tolerance, const nd::Shape& shape) {
  BOOST_TEST(a.shape() == shape);
  const auto v = a.to_vector<Complex>();
  BOOST_REQUIRE(v.size() == expected.size());
  for (std::size_t i = 0; i < v.size(); ++i)
    BOOST_TEST(
        (v[i] == expected[i] || std::abs(v[i] - expected[i]) <= tolerance * std::max(1.0, std::abs(expected[i]))),
        v[i] << " instead of " << expected[i]);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(equations)

BOOST_AUTO_TEST_CASE(solve) {
  std::mt19937 random(1);
  for (nd::Dtype t : test::kSolvedDtypes)
    for (const nd::Shape& shape :
         {nd::Shape{1, 1}, nd::Shape{6, 6}, nd::Shape{3, 5, 5}, nd::Shape{2, 3, 4, 4}, nd::Shape{2, 70, 70}}) {
      nd::Shape vectors = shape, several = shape;
      vectors.pop_back();
      several[several.size() - 1] = 3;
      const Array b = test::normal_array(vectors, t, random), bs = test::normal_array(several, t, random);
      for (const Array& a : test::layouts_of(regular(shape, t, random), random)) {
        const auto before = test::bytes_of(a), b_before = test::bytes_of(bs);
        // Only a b of one axis is a vector; a stack of vectors is one of columns.
        const Array x = a.ndim() == 2 ? linalg::solve(a, b) : linalg::solve(a, nd::expand_dims(b, -1)).squeeze(-1);
        const Array xs = linalg::solve(a, test::scattered(bs, random));
        BOOST_TEST((test::bytes_of(a) == before && test::bytes_of(bs) == b_before));
        BOOST_TEST((x.dtype() == t && x.shape() == b.shape() && xs.shape() == bs.shape()));
        BOOST_TEST((x.is_c_contiguous() && xs.is_c_contiguous()));
        const auto m = matrices_of(a), right = matrices_of(bs), solution = matrices_of(xs), one = columns_of(b),
                   of_one = columns_of(x);
        for (std::size_t i = 0; i < m.size(); ++i) {
          BOOST_TEST(distance(m[i] * solution[i], right[i]) < precision(t));
          BOOST_TEST(distance(m[i] * of_one[i], one[i]) < precision(t));
        }
      }
    }
}

// Leading axes broadcast; a vector goes with every matrix; dtypes are promoted.
BOOST_AUTO_TEST_CASE(solutions_of_stacks) {
  std::mt19937 random(2);
  const Array a = regular({2, 1, 3, 3}, nd::float64, random), b = test::normal_array({4, 3, 2}, nd::float64, random);
  const Array x = linalg::solve(a, b);
  BOOST_TEST(x.shape() == (nd::Shape{2, 4, 3, 2}));
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 4; ++j)
      BOOST_TEST(distance(matrices_of(a(i, 0))[0] * matrices_of(x(i, j))[0], matrices_of(b(j))[0]) < 1e-12);
  const Array v = test::normal_array({3}, nd::float64, random), y = linalg::solve(a, v);
  BOOST_TEST(y.shape() == (nd::Shape{2, 1, 3}));
  BOOST_TEST(distance(matrices_of(a(1, 0))[0] * columns_of(y(1, 0))[0], columns_of(v)[0]) < 1e-12);
  BOOST_TEST(same_bits(linalg::solve(nd::broadcast_to(a(1, 0), {5, 3, 3}), b(0))(4), linalg::solve(a(1, 0), b(0))));
  BOOST_TEST(linalg::solve(nd::eye(2, nd::float32), nd::ones(2, nd::float64)).dtype() == nd::float64);
  BOOST_TEST(linalg::solve(nd::eye(2, nd::int8), nd::ones(2, nd::uint8)).dtype() == nd::float32);
  BOOST_TEST(linalg::solve(nd::eye(2, nd::int64), nd::ones(2, nd::complex64)).dtype() == nd::complex128);
  test::check_values<double>(linalg::solve(nd::array({{3, 1}, {1, 2}}), nd::array({9, 8})).astype(nd::float32), {2, 3});
}

BOOST_AUTO_TEST_CASE(inv) {
  std::mt19937 random(3);
  for (nd::Dtype t : test::kSolvedDtypes)
    for (const nd::Shape& shape : {nd::Shape{1, 1}, nd::Shape{6, 6}, nd::Shape{30, 5, 5}, nd::Shape{2, 3, 4, 4},
                                   nd::Shape{17, 17}, nd::Shape{2, 70, 70}})
      for (const Array& a : test::layouts_of(regular(shape, t, random), random)) {
        const auto before = test::bytes_of(a);
        const Array inverse = linalg::inv(a);
        BOOST_TEST((test::bytes_of(a) == before));
        BOOST_TEST((inverse.dtype() == t && inverse.shape() == shape && inverse.is_c_contiguous()));
        const auto m = matrices_of(a), result = matrices_of(inverse);
        for (std::size_t i = 0; i < m.size(); ++i) {
          BOOST_TEST(distance(result[i], Elimination(m[i]).inverse) < precision(t));
          BOOST_TEST(distance(m[i] * result[i], unit(m[i].rows)) < precision(t));
        }
      }
}

// Rows are swapped where a pivot is 0 or small.
BOOST_AUTO_TEST_CASE(pivots) {
  for (nd::Dtype t : test::kSolvedDtypes) {
    const Array swapped = nd::array({{0, 2}, {4, 0}}).astype(t), b = nd::array({2, 4}).astype(t);
    BOOST_TEST(same_bits(linalg::solve(swapped, b), nd::ones(2, t)));
    const auto inverse = matrices_of(linalg::inv(swapped))[0];
    BOOST_TEST((inverse(0, 0) == 0.0 && inverse(0, 1) == 0.25 && inverse(1, 0) == 0.5 && inverse(1, 1) == 0.0));
    const Array small = nd::array({{1e-20, 1.0}, {1.0, 1.0}}).astype(t);
    const auto x = linalg::solve(small, nd::array({1.0, 2.0}).astype(t)).to_vector<Complex>();
    BOOST_TEST(std::abs(x[0] - 1.0) + std::abs(x[1] - 1.0) < 1e-6);
  }
}

BOOST_AUTO_TEST_CASE(singular_matrices) {
  using nd::LinAlgError;
  const Array singular = nd::array({{1.0, 2.0}, {2.0, 4.0}});
  Array stack = nd::broadcast_to(nd::eye(2), {3, 2, 2}).copy();
  stack(1) = singular;
  BOOST_TEST(message_of<LinAlgError>([&] { linalg::inv(singular); }) ==
             "inv: the matrix of shape (2, 2) is singular: pivot 2 of its triangular factor is exactly 0");
  BOOST_TEST(message_of<LinAlgError>([&] { linalg::solve(stack, nd::ones(2)); }) ==
             "solve: matrix (1,) of the stack of shape (3, 2, 2) is singular: pivot 2 of its triangular factor is "
             "exactly 0");
  BOOST_CHECK_THROW(linalg::matrix_power(stack, -2), LinAlgError);
  const Array inverse = linalg::inv(stack, {.check = false}), x = linalg::solve(stack, nd::ones(2), {.check = false});
  for (int i : {0, 2}) {
    BOOST_TEST(distance(matrices_of(inverse(i))[0], unit(2)) == 0);
    test::check_values<double>(x(i), {1, 1});
  }
  for (const Array& a : {inverse(1), x(1)})
    for (double v : a.to_vector<double>()) BOOST_TEST(std::isnan(v));
  test::check_values<double>(linalg::det(stack), {1, 0, 1});
  const auto [sign, log] = linalg::slogdet(stack);
  test::check_values<double>(sign, {1, 0, 1});
  test::check_values<double>(log, {0, -kInf, 0});
}

// Against Gauss's elimination, and the values beyond the range of the numbers.
BOOST_AUTO_TEST_CASE(determinants) {
  std::mt19937 random(4);
  for (nd::Dtype t : test::kSolvedDtypes)
    for (const nd::Shape& shape : {nd::Shape{1, 1}, nd::Shape{5, 5}, nd::Shape{4, 3, 3}, nd::Shape{2, 3, 4, 4}})
      for (const Array& a : test::layouts_of(test::normal_array(shape, t, random), random)) {
        nd::Shape batch = shape;
        batch.resize(shape.size() - 2);
        std::vector<Complex> expected, signs, logs;
        for (const Matrix& m : matrices_of(a)) {
          expected.push_back(Elimination(m).determinant);
          signs.push_back(expected.back() / std::abs(expected.back()));
          logs.push_back(std::log(std::abs(expected.back())));
        }
        const Array det = linalg::det(a);
        BOOST_TEST(det.dtype() == t);
        check_values(det, expected, precision(t), batch);
        const auto [sign, logabsdet] = linalg::slogdet(a);
        BOOST_TEST((sign.dtype() == t && logabsdet.dtype() == catena::real_dtype(t)));
        check_values(sign, signs, precision(t), batch);
        check_values(logabsdet, logs, precision(t), batch);
      }
  test::check_values<double>(linalg::det(nd::array({{0, 1}, {1, 0}})), {-1});
  // Whatever the order in which the diagonal is multiplied, one of these leaves the range on the way.
  for (const std::vector<double>& d :
       {std::vector{1e200, 1e200, 1e-300}, {1e200, 1e-300, 1e200}, {1e-300, 1e200, 1e200}})
    BOOST_TEST(std::abs(linalg::det(nd::diag(d)).item<double>() / 1e100 - 1) < 1e-12);
  BOOST_TEST(linalg::det(nd::diag(nd::array({1e200, 1e200}))).item<double>() == kInf);
  for (const Array& empty : {nd::zeros({0, 0}), nd::zeros({2, 0, 0})}) {
    for (double v : linalg::det(empty).to_vector<double>()) BOOST_TEST(v == 1);
    for (double v : linalg::slogdet(empty).logabsdet.to_vector<double>()) BOOST_TEST(v == 0);
  }
  BOOST_TEST(linalg::det(nd::zeros({2, 0, 0})).shape() == (nd::Shape{2}));
  BOOST_TEST(linalg::det(nd::zeros({0, 2, 2})).shape() == (nd::Shape{0}));
}

// The four conditions of Moore and Penrose.
BOOST_AUTO_TEST_CASE(pinv) {
  std::mt19937 random(5);
  for (nd::Dtype t : test::kSolvedDtypes)
    for (const nd::Shape& shape : {nd::Shape{5, 3}, nd::Shape{3, 5}, nd::Shape{2, 4, 4}}) {
      const Array a = test::scattered(test::normal_array(shape, t, random), random);
      const Array p = linalg::pinv(a);
      BOOST_TEST(p.dtype() == t);
      const auto m = matrices_of(a), inverse = matrices_of(p);
      BOOST_REQUIRE(m.size() == inverse.size());
      for (std::size_t i = 0; i < m.size(); ++i) {
        const Matrix left = m[i] * inverse[i], right = inverse[i] * m[i];
        BOOST_TEST(distance(left * m[i], m[i]) < 10 * precision(t));
        BOOST_TEST(distance(right * inverse[i], inverse[i]) < 10 * precision(t));
        BOOST_TEST(distance(adjoint(left), left) < 10 * precision(t));
        BOOST_TEST(distance(adjoint(right), right) < 10 * precision(t));
      }
    }
  // Values that are at most rcond times the largest one do not count.
  const Array d = nd::diag(nd::array({4.0, 2.0, 1e-3}));
  const auto is = [](const Array& a, const std::vector<double>& expected) {
    const Matrix m = matrices_of(a)[0];
    for (std::int64_t i = 0; i < 3; ++i)
      for (std::int64_t j = 0; j < 3; ++j)
        BOOST_TEST(std::abs(m(i, j) - (i == j ? expected[std::size_t(i)] : 0)) < 1e-10);
  };
  is(linalg::pinv(d), {0.25, 0.5, 1000});
  is(linalg::pinv(d, 1e-2), {0.25, 0.5, 0});
  const Array both = linalg::pinv(nd::broadcast_to(d, {2, 3, 3}), nd::array({1e-2, 0.6}));
  is(both(0), {0.25, 0.5, 0});
  is(both(1), {0.25, 0, 0});
  BOOST_TEST(linalg::pinv(nd::zeros({2, 0, 3})).shape() == (nd::Shape{2, 3, 0}));
}

BOOST_AUTO_TEST_CASE(lstsq) {
  std::mt19937 random(6);
  for (nd::Dtype t : test::kSolvedDtypes)
    for (const nd::Shape& shape : {nd::Shape{6, 3}, nd::Shape{3, 6}, nd::Shape{4, 4}})
      for (const Array& a : test::layouts_of(test::normal_array(shape, t, random), random)) {
        const Array b = test::normal_array({shape[0], 2}, t, random);
        const linalg::LstsqResult result = linalg::lstsq(a, b);
        BOOST_TEST((result.rank == std::min(shape[0], shape[1]) && result.x.dtype() == t));
        BOOST_TEST(result.s.dtype() == catena::real_dtype(t));
        const Matrix m = matrices_of(a)[0], right = matrices_of(b)[0], x = matrices_of(result.x)[0];
        // The residual is orthogonal to the columns, and the solution to the null space: x = a^H y.
        Matrix off = m * x;
        for (std::size_t i = 0; i < off.v.size(); ++i) off.v[i] -= right.v[i];
        BOOST_TEST(distance(adjoint(m) * off, Matrix(m.columns, 2)) < 10 * precision(t));
        if (shape[0] < shape[1]) {
          const Matrix inverse = Elimination(m * adjoint(m)).inverse;
          BOOST_TEST(distance(x, adjoint(m) * (inverse * right)) < 10 * precision(t));
        }
        if (shape[0] > shape[1]) {
          const auto sums = result.residuals.to_vector<double>();
          BOOST_REQUIRE(sums.size() == 2);
          for (std::int64_t j = 0; j < 2; ++j) {
            double expected = 0;
            for (std::int64_t i = 0; i < off.rows; ++i) expected += std::norm(off(i, j));
            BOOST_TEST(std::abs(sums[std::size_t(j)] - expected) < 10 * precision(t));
          }
        } else {
          BOOST_TEST(result.residuals.shape() == (nd::Shape{0}));
        }
      }
  // A line through three points, as a vector; and equal columns, of which each takes a half.
  const auto [x, residuals, rank, s] =
      linalg::lstsq(nd::array({{0.0, 1.0}, {1.0, 1.0}, {2.0, 1.0}}), nd::array({-1.0, 0.2, 0.9}));
  BOOST_TEST((x.shape() == nd::Shape{2} && residuals.shape() == nd::Shape{1} && rank == 2));
  BOOST_TEST(std::abs(x(0).item<double>() - 0.95) + std::abs(x(1).item<double>() + 2.75 / 3) < 1e-12);
  BOOST_TEST(std::abs(residuals(0).item<double>() - 0.0416666666666667) < 1e-12);
  const auto equal = linalg::lstsq(nd::ones({4, 2}), nd::full({4}, 3.0));
  BOOST_TEST((equal.rank == 1 && equal.residuals.size() == 0));
  for (double v : equal.x.to_vector<double>()) BOOST_TEST(std::abs(v - 1.5) < 1e-12);
  // Singular values of 1e-10 count or not.
  const Array nearly = nd::diag(nd::array({1.0, 1e-10}));
  BOOST_TEST(linalg::lstsq(nearly, nd::ones(2)).rank == 2);
  BOOST_TEST(linalg::lstsq(nearly, nd::ones(2), 1e-9).rank == 1);
  BOOST_TEST(linalg::lstsq(nearly, nd::ones(2), -1).rank == 2);
  BOOST_TEST(linalg::lstsq(nd::zeros({0, 3}), nd::zeros(0)).x.shape() == (nd::Shape{3}));
  BOOST_TEST(linalg::lstsq(nd::zeros({3, 0}), nd::zeros({3, 2})).x.shape() == (nd::Shape{0, 2}));
  BOOST_TEST(linalg::lstsq(nd::zeros({3, 2}), nd::zeros({3, 0})).x.shape() == (nd::Shape{2, 0}));
}

BOOST_AUTO_TEST_CASE(matrix_power) {
  std::mt19937 random(7);
  const Array a = nd::array({{1, 1}, {1, 0}}, nd::int64);
  for (const std::int64_t n : {0, 1, 2, 3, 7, 50}) {
    std::int64_t f[3] = {1, 0, 1};  // Fibonacci numbers n - 1, n and n + 1
    for (std::int64_t i = 0; i < n; ++i) f[0] = f[1], f[1] = f[2], f[2] = f[0] + f[1];
    const Array power = linalg::matrix_power(a, n);
    BOOST_TEST(power.dtype() == nd::int64);
    test::check_values<std::int64_t>(power, {f[2], f[1], f[1], f[0]});
  }
  const Array b = regular({3, 4, 4}, nd::float64, random);
  for (const std::int64_t n : {-1, -3, 5}) {
    const auto power = matrices_of(linalg::matrix_power(b, n)), base = matrices_of(b);
    for (std::size_t i = 0; i < base.size(); ++i) {
      const Matrix factor = n < 0 ? Elimination(base[i]).inverse : base[i];
      Matrix expected = unit(4);
      for (std::int64_t k = 0; k < std::abs(n); ++k) expected = expected * factor;
      BOOST_TEST(distance(power[i], expected) < 1e-11);
    }
  }
  BOOST_TEST(linalg::matrix_power(nd::zeros({2, 0, 0}), 3).shape() == (nd::Shape{2, 0, 0}));
  BOOST_TEST(linalg::matrix_power(nd::zeros({2, 0, 0}), -3).shape() == (nd::Shape{2, 0, 0}));
}

BOOST_AUTO_TEST_CASE(matrix_rank) {
  const Array a = nd::array({{1.0, 2.0, 3.0}, {2.0, 4.0, 6.0}, {0.0, 0.0, 1e-3}});
  BOOST_TEST(linalg::matrix_rank(a).dtype() == nd::int64);
  BOOST_TEST(linalg::matrix_rank(a).shape() == nd::Shape());
  BOOST_TEST(linalg::matrix_rank(a).item<int>() == 2);
  BOOST_TEST(linalg::matrix_rank(a, 1e-2).item<int>() == 1);
  test::check_values<std::int64_t>(linalg::matrix_rank(nd::broadcast_to(a, {2, 3, 3}), nd::array({0.0001, 100})),
                                   {2, 0});
  test::check_values<std::int64_t>(linalg::matrix_rank(nd::zeros({2, 4, 3})), {0, 0});
  BOOST_TEST(linalg::matrix_rank(nd::eye(4, 7)).item<int>() == 4);
  BOOST_TEST(linalg::matrix_rank(nd::zeros({0, 3})).item<int>() == 0);
  BOOST_TEST(linalg::matrix_rank(nd::array({0.0, 0.0})).item<int>() == 0);
  BOOST_TEST(linalg::matrix_rank(nd::array({0.0, 2.0})).item<int>() == 1);
}

BOOST_AUTO_TEST_CASE(cond) {
  const auto is = [](const Array& c, double expected) {
    const double v = c.item<double>();
    BOOST_TEST((v == expected || std::abs(v / expected - 1) < 1e-12), v << " instead of " << expected);
  };
  const Array a = nd::array({{1.0, 0.0, -1.0}, {0.0, 1.0, 0.0}, {1.0, 0.0, 1.0}});
  is(linalg::cond(a), std::sqrt(2));
  is(linalg::cond(a, 2), std::sqrt(2));
  is(linalg::cond(a, -2), 1 / std::sqrt(2));
  is(linalg::cond(a, "fro"), std::sqrt(10));
  is(linalg::cond(a, nd::inf), 2);
  is(linalg::cond(a, -nd::inf), 1);
  is(linalg::cond(a, 1), 2);
  is(linalg::cond(a, -1), 1);
  const Array singular = nd::ones({2, 2});
  is(linalg::cond(singular, 1), kInf);
  is(linalg::cond(nd::zeros({2, 2})), kInf);
  BOOST_TEST(linalg::cond(nd::zeros({2, 2}, nd::float32), "fro").dtype() == nd::float32);
  const Array several = linalg::cond(nd::broadcast_to(a, {4, 2, 3, 3}), 1);
  BOOST_TEST(several.shape() == (nd::Shape{4, 2}));
  is(several(3, 1), 2);
  is(linalg::cond(nd::array({{3.0, 0.0, 0.0}, {0.0, 2.0, 0.0}})), 1.5);
}

BOOST_AUTO_TEST_CASE(errors) {
  using nd::LinAlgError;
  const Array a = nd::eye(3);
  BOOST_TEST(message_of<nd::ValueError>([&] {
               linalg::solve(a, nd::ones({2, 2}));
             }) == "solve: b of shape (2, 2) does not fit a of shape (3, 3)");
  BOOST_CHECK_THROW(linalg::solve(nd::broadcast_to(a, {2, 3, 3}), nd::ones({5, 3, 1})), nd::ValueError);
  BOOST_CHECK_THROW(linalg::solve(a, nd::ones({})), LinAlgError);
  BOOST_CHECK_THROW(linalg::solve(a, Array()), nd::TypeError);
  BOOST_CHECK_THROW(linalg::solve(nd::ones({2, 3}), nd::ones(2)), LinAlgError);
  BOOST_CHECK_THROW(linalg::inv(nd::ones({2, 3})), LinAlgError);
  BOOST_CHECK_THROW(linalg::det(nd::ones(3)), LinAlgError);
  BOOST_CHECK_THROW(linalg::slogdet(nd::ones({2, 3})), LinAlgError);
  BOOST_CHECK_THROW(linalg::matrix_power(nd::ones({2, 3}), 2), LinAlgError);
  BOOST_CHECK_THROW(linalg::pinv(nd::ones(3)), LinAlgError);
  BOOST_TEST(message_of<LinAlgError>([&] { linalg::lstsq(a, nd::ones(2)); }) ==
             "lstsq: a of shape (3, 3) and b of shape (2,) have different numbers of rows");
  BOOST_CHECK_THROW(linalg::lstsq(nd::ones({2, 3, 3}), nd::ones(3)), LinAlgError);
  BOOST_TEST(message_of<LinAlgError>([&] {
               linalg::cond(nd::ones({0, 3}));
             }) == "cond: matrices without elements, of shape (0, 3), have no condition number");
  BOOST_CHECK_THROW(linalg::cond(nd::ones({2, 3}), 1), LinAlgError);
}

BOOST_AUTO_TEST_CASE(equations_without_elements) {
  BOOST_TEST(linalg::solve(nd::zeros({0, 0}), nd::zeros(0)).shape() == (nd::Shape{0}));
  BOOST_TEST(linalg::solve(nd::zeros({2, 0, 0}), nd::zeros({2, 0, 3})).shape() == (nd::Shape{2, 0, 3}));
  BOOST_TEST(linalg::solve(nd::zeros({0, 3, 3}), nd::zeros({0, 3, 1})).shape() == (nd::Shape{0, 3, 1}));
  BOOST_TEST(linalg::solve(nd::eye(3), nd::zeros({3, 0})).shape() == (nd::Shape{3, 0}));
  BOOST_TEST(linalg::inv(nd::zeros({2, 0, 0})).shape() == (nd::Shape{2, 0, 0}));
  BOOST_TEST(linalg::inv(nd::zeros({0, 2, 2})).shape() == (nd::Shape{0, 2, 2}));
}

BOOST_AUTO_TEST_SUITE_END()
