// Decompositions by what defines them: products of the factors, orthonormal columns, the order of the values; stacks,
// layouts, matrices without elements, errors.
#include <catena/ndarray/routines/linalg.h>

#include <catena/kernels/base/parallel.h>
#include <catena/ndarray/routines/manipulation.h>
#include <catena/tests/support/host_matrices.h>

namespace {

using nd::Array;
using test::adjoint;
using test::columns_of;
using test::distance;
using test::matrices_of;
using test::Matrix;
using test::message_of;
using test::precision;
using test::same_bits;
using test::unit;
namespace linalg = nd::linalg;

// Calls check(array) with the array in several layouts, and sees that none of them is written.
template <class F> void in_all_layouts(const Array& a, std::mt19937& random, F&& check) {
  for (const Array& x : test::layouts_of(a, random)) {
    const auto before = test::bytes_of(x);
    const std::uint64_t version = x.version();
    check(x);
    BOOST_TEST((test::bytes_of(x) == before), "the argument was written");
    BOOST_TEST(x.version() == version);
  }
}

bool orthonormal(const Matrix& q, double tolerance) { return distance(adjoint(q) * q, unit(q.columns)) < tolerance; }

void check_cholesky(const Array& a, const Array& l) {
  BOOST_TEST(l.shape() == a.shape());
  BOOST_TEST(l.is_c_contiguous());
  const auto matrices = matrices_of(a), factors = matrices_of(l);
  BOOST_REQUIRE(matrices.size() == factors.size());
  for (std::size_t k = 0; k < factors.size(); ++k) {
    const Matrix& f = factors[k];
    BOOST_TEST(distance(f * adjoint(f), matrices[k]) < precision(l.dtype()));
    for (std::int64_t i = 0; i < f.rows; ++i) {
      BOOST_TEST(f(i, i).real() > 0);
      for (std::int64_t j = i + 1; j < f.columns; ++j) BOOST_TEST(f(i, j) == 0.0);
    }
  }
}

void check_qr(const Array& a, const linalg::QRResult& result, bool complete) {
  const std::int64_t m = a.shape(-2), n = a.shape(-1), k = complete ? m : std::min(m, n);
  const auto& [q, r] = result;
  BOOST_TEST(q.shape(-1) == k);
  BOOST_TEST(r.shape(-2) == k);
  BOOST_TEST((q.is_c_contiguous() && r.is_c_contiguous()));
  const auto matrices = matrices_of(a), left = matrices_of(q), right = matrices_of(r);
  BOOST_REQUIRE((matrices.size() == left.size() && left.size() == right.size()));
  for (std::size_t s = 0; s < left.size(); ++s) {
    BOOST_TEST(distance(left[s] * right[s], matrices[s]) < precision(q.dtype()));
    BOOST_TEST(orthonormal(left[s], precision(q.dtype())));
    for (std::int64_t i = 0; i < right[s].rows; ++i)
      for (std::int64_t j = 0; j < std::min(i, n); ++j) BOOST_TEST(right[s](i, j) == 0.0);
  }
}

void check_svd(const Array& a, const linalg::SVDResult& result, bool full) {
  const std::int64_t m = a.shape(-2), n = a.shape(-1), k = std::min(m, n);
  const auto& [u, s, vh] = result;
  BOOST_TEST(s.dtype() == catena::real_dtype(u.dtype()));
  BOOST_TEST((u.shape(-1) == (full ? m : k) && vh.shape(-2) == (full ? n : k)));
  BOOST_TEST((u.is_c_contiguous() && s.is_c_contiguous() && vh.is_c_contiguous()));
  const auto matrices = matrices_of(a), left = matrices_of(u), values = columns_of(s), right = matrices_of(vh);
  for (std::size_t i = 0; i < matrices.size(); ++i) {
    const Matrix middle = test::diagonal(values[i], left[i].columns, right[i].rows);
    BOOST_TEST(distance(left[i] * middle * right[i], matrices[i]) < precision(u.dtype()));
    BOOST_TEST(orthonormal(left[i], precision(u.dtype())));
    BOOST_TEST(orthonormal(adjoint(right[i]), precision(u.dtype())));
    for (std::int64_t j = 0; j < k; ++j)
      BOOST_TEST((values[i](j, 0).real() >= 0 && (j == 0 || values[i](j, 0).real() <= values[i](j - 1, 0).real())));
  }
}

void check_eigen(const Array& a, const linalg::EighResult& result) {
  const auto matrices = matrices_of(a), vectors = matrices_of(result.eigenvectors),
             values = columns_of(result.eigenvalues);
  BOOST_TEST(result.eigenvalues.dtype() == catena::real_dtype(result.eigenvectors.dtype()));
  BOOST_REQUIRE((matrices.size() == vectors.size() && matrices.size() == values.size()));
  for (std::size_t i = 0; i < matrices.size(); ++i) {
    const std::int64_t n = matrices[i].rows;
    const double tolerance = precision(result.eigenvectors.dtype());
    BOOST_TEST(distance(vectors[i] * test::diagonal(values[i], n, n) * adjoint(vectors[i]), matrices[i]) < tolerance);
    BOOST_TEST(orthonormal(vectors[i], tolerance));
    for (std::int64_t j = 1; j < n; ++j) BOOST_TEST(values[i](j, 0).real() >= values[i](j - 1, 0).real());
  }
}

// The matrix with NaN outside the triangle that is read.
Array without_triangle(const Array& a, bool upper) {
  auto stack = matrices_of(a);
  for (Matrix& m : stack)
    for (std::int64_t i = 0; i < m.rows; ++i)
      for (std::int64_t j = 0; j < m.columns; ++j)
        if (upper ? j > i : j < i) m(i, j) = std::numeric_limits<double>::quiet_NaN();
  return test::array_of(stack, a.shape(), a.dtype());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(decompositions)

BOOST_AUTO_TEST_CASE(cholesky) {
  std::mt19937 random(1);
  for (nd::Dtype t : test::kSolvedDtypes)
    for (const nd::Shape& shape : {nd::Shape{1, 1}, nd::Shape{7, 7}, nd::Shape{3, 5, 5}, nd::Shape{2, 3, 4, 4}})
      in_all_layouts(test::positive_array(shape, t, random), random, [&](const Array& a) {
        const Array l = linalg::cholesky(a);
        BOOST_TEST(l.dtype() == t);
        check_cholesky(a, l);
        if (a.ndim() < 4) BOOST_TEST(same_bits(linalg::cholesky(without_triangle(a, true)), l), "the lower triangle");
      });
}

BOOST_AUTO_TEST_CASE(qr) {
  std::mt19937 random(2);
  for (nd::Dtype t : test::kSolvedDtypes)
    for (const nd::Shape& shape : {nd::Shape{1, 1}, nd::Shape{5, 3}, nd::Shape{3, 5}, nd::Shape{4, 4},
                                   nd::Shape{3, 6, 4}, nd::Shape{2, 2, 3, 5}})
      in_all_layouts(test::normal_array(shape, t, random), random, [&](const Array& a) {
        const linalg::QRResult reduced = linalg::qr(a);
        BOOST_TEST((reduced.Q.dtype() == t && reduced.R.dtype() == t));
        check_qr(a, reduced, false);
        check_qr(a, linalg::qr(a, "complete"), true);
        const Array r = linalg::qr(a, "r");
        BOOST_TEST(same_bits(r, reduced.R));
      });
}

// F34: the dtype of the matrix, and work space of the right size. The Householder vectors and their factors give Q:
// Q = H_1 ... H_K, H_i = 1 - tau_i v_i v_i^H.
BOOST_AUTO_TEST_CASE(raw_qr) {
  std::mt19937 random(3);
  for (nd::Dtype t : test::kSolvedDtypes)
    for (const nd::Shape& shape : {nd::Shape{5, 3}, nd::Shape{3, 5}, nd::Shape{4, 4}}) {
      const Array a = test::normal_array(shape, t, random);
      const auto [h, tau] = linalg::qr(a, "raw");
      const std::int64_t m = shape[0], n = shape[1], k = std::min(m, n);
      BOOST_TEST((h.dtype() == t && tau.dtype() == t));
      BOOST_TEST(h.shape() == (nd::Shape{n, m}));
      BOOST_TEST(tau.shape() == (nd::Shape{k}));
      const Matrix f = matrices_of(h)[0], factors = columns_of(tau)[0];
      Matrix product(m, n);
      for (std::int64_t i = 0; i < m; ++i)
        for (std::int64_t j = i; j < n; ++j) product(i, j) = f(j, i);
      for (std::int64_t i = k - 1; i >= 0; --i) {
        Matrix v(m, 1);
        v(i, 0) = 1;
        for (std::int64_t j = i + 1; j < m; ++j) v(j, 0) = f(i, j);
        const Matrix w = adjoint(v) * product;
        for (std::int64_t p = 0; p < m; ++p)
          for (std::int64_t q = 0; q < n; ++q) product(p, q) -= factors(i, 0) * v(p, 0) * w(0, q);
      }
      BOOST_TEST(distance(product, matrices_of(a)[0]) < precision(t));
    }
  const auto [h, tau] = linalg::qr(test::normal_array({2, 300, 7}, nd::float32, random), "raw");
  BOOST_TEST(h.shape() == (nd::Shape{2, 7, 300}));
  BOOST_TEST(tau.shape() == (nd::Shape{2, 7}));
}

// F11: the argument stays as it is.
BOOST_AUTO_TEST_CASE(svd) {
  std::mt19937 random(4);
  for (nd::Dtype t : test::kSolvedDtypes)
    for (const nd::Shape& shape : {nd::Shape{1, 1}, nd::Shape{5, 3}, nd::Shape{3, 5}, nd::Shape{4, 4},
                                   nd::Shape{3, 6, 4}, nd::Shape{2, 2, 3, 5}})
      in_all_layouts(test::normal_array(shape, t, random), random, [&](const Array& a) {
        const linalg::SVDResult full = linalg::svd(a);
        BOOST_TEST((full.U.dtype() == t && full.Vh.dtype() == t));
        check_svd(a, full, true);
        check_svd(a, linalg::svd(a, false), false);
        check_svd(a, linalg::svd(a, {.full_matrices = false}), false);
        const Array s = linalg::svd(a, {.compute_uv = false});
        BOOST_TEST(s.dtype() == catena::real_dtype(t));
        const auto alone = columns_of(s), beside = columns_of(full.S);
        for (std::size_t i = 0; i < alone.size(); ++i) BOOST_TEST(distance(alone[i], beside[i]) < precision(t));
      });
}

BOOST_AUTO_TEST_CASE(eigh) {
  std::mt19937 random(5);
  for (nd::Dtype t : test::kSolvedDtypes)
    for (const nd::Shape& shape : {nd::Shape{1, 1}, nd::Shape{7, 7}, nd::Shape{3, 5, 5}, nd::Shape{2, 3, 4, 4}})
      in_all_layouts(test::positive_array(shape, t, random), random, [&](const Array& a) {
        for (const char* triangle : {"L", "U"}) {
          const Array half = without_triangle(a, *triangle == 'L');
          const linalg::EighResult result = linalg::eigh(half, triangle);
          BOOST_TEST(result.eigenvectors.dtype() == t);
          check_eigen(a, result);
          const auto alone = columns_of(linalg::eigvalsh(half, triangle)), beside = columns_of(result.eigenvalues);
          for (std::size_t i = 0; i < alone.size(); ++i) BOOST_TEST(distance(alone[i], beside[i]) < precision(t));
        }
      });
  const auto values = linalg::eigvalsh(nd::array({{2.0, 1.0}, {1.0, 2.0}})).to_vector<double>();
  BOOST_TEST(std::abs(values[0] - 1) + std::abs(values[1] - 3) < 1e-14);
}

// A matrix gives the same bits whatever the number of threads and, on the CPU, alone and in a stack.
BOOST_AUTO_TEST_CASE(matrices_of_a_stack_are_independent) {
  std::mt19937 random(6);
  const int threads = catena::max_threads();
  for (nd::Dtype t : {nd::float32, nd::float64}) {
    const Array a = test::positive_array({40, 9, 9}, t, random);
    catena::set_max_threads(1);
    const Array l = linalg::cholesky(a);
    const linalg::SVDResult svd = linalg::svd(a);
    const linalg::QRResult qr = linalg::qr(a);
    catena::set_max_threads(3);
    BOOST_TEST(same_bits(linalg::cholesky(a), l));
    const linalg::SVDResult again = linalg::svd(a);
    BOOST_TEST((same_bits(again.U, svd.U) && same_bits(again.S, svd.S) && same_bits(again.Vh, svd.Vh)));
    if (a.device().kind != nd::Device::Kind::cpu) continue;
    for (const std::int64_t i : {0, 17, 39}) {
      BOOST_TEST(same_bits(linalg::cholesky(a(i)), l(i)));
      BOOST_TEST(same_bits(linalg::svd(a(i)).U, svd.U(i)));
      BOOST_TEST(same_bits(linalg::qr(a(i)).Q, qr.Q(i)));
    }
  }
  catena::set_max_threads(threads);
}

BOOST_AUTO_TEST_CASE(dtypes) {
  std::mt19937 random(7);
  for (nd::Dtype t : test::kAllDtypes) {
    const bool wide = t == nd::int32 || t == nd::uint32 || t == nd::int64 || t == nd::uint64 || t == nd::float64;
    const nd::Dtype expected = wide ? nd::float64 : nd::float32;
    const Array a = nd::array({{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}).astype(t);
    BOOST_TEST(linalg::cholesky(a).dtype() == expected, t);
    BOOST_TEST(linalg::qr(a).R.dtype() == expected, t);
    BOOST_TEST(linalg::svd(a).S.dtype() == expected, t);
    BOOST_TEST(linalg::eigh(a).eigenvalues.dtype() == expected, t);
    test::check_values<double>(linalg::svd(a, true, false), {1, 1, 1});
  }
}

// F35: factors without elements, identities where a factor is square.
BOOST_AUTO_TEST_CASE(matrices_without_elements) {
  const auto shape_is = [](const Array& a, const nd::Shape& shape) {
    BOOST_TEST(a.shape() == shape);
    BOOST_TEST(a.dtype() == nd::float32);
  };
  const auto zeros = [](const nd::Shape& shape) { return nd::zeros(shape, nd::float32); };
  shape_is(linalg::cholesky(zeros({0, 0})), {0, 0});
  shape_is(linalg::cholesky(zeros({0, 3, 3})), {0, 3, 3});
  shape_is(linalg::cholesky(zeros({3, 0, 0})), {3, 0, 0});
  shape_is(linalg::eigh(zeros({2, 0, 0})).eigenvectors, {2, 0, 0});
  shape_is(linalg::eigvalsh(zeros({0, 2, 2})), {0, 2});
  for (const bool stack : {false, true}) {
    const auto of = [&](std::initializer_list<std::int64_t> lengths) {
      nd::Shape shape;
      if (stack) shape.push_back(2);
      for (std::int64_t n : lengths) shape.push_back(n);
      return shape;
    };
    const Array tall = zeros(of({4, 0})), flat = zeros(of({0, 3}));
    shape_is(linalg::qr(tall).Q, of({4, 0}));
    shape_is(linalg::qr(tall).R, of({0, 0}));
    shape_is(linalg::qr(flat).Q, of({0, 0}));
    shape_is(linalg::qr(flat).R, of({0, 3}));
    shape_is(linalg::qr(tall, "complete").R, of({4, 0}));
    shape_is(linalg::qr(flat, "raw").Q, of({3, 0}));
    shape_is(linalg::qr(flat, "raw").R, of({0}));
    shape_is(linalg::svd(tall, true, false), of({0}));
    shape_is(linalg::svd(tall, false).U, of({4, 0}));
    shape_is(linalg::svd(tall, false).Vh, of({0, 0}));
    shape_is(linalg::svd(flat, false).Vh, of({0, 3}));
    shape_is(linalg::svd(flat).U, of({0, 0}));
    for (const Array& square : {linalg::qr(tall, "complete").Q, linalg::svd(tall).U}) {
      shape_is(square, of({4, 4}));
      for (const Matrix& m : matrices_of(square)) BOOST_TEST(distance(m, unit(4)) == 0);
    }
    for (const Matrix& m : matrices_of(linalg::svd(flat).Vh)) BOOST_TEST(distance(m, unit(3)) == 0);
  }
  shape_is(linalg::qr(zeros({0, 4, 3})).Q, {0, 4, 3});
  shape_is(linalg::svd(zeros({0, 4, 3})).U, {0, 4, 4});
}

BOOST_AUTO_TEST_CASE(errors) {
  using nd::LinAlgError;
  const Array bad = nd::array({{1.0, 2.0}, {2.0, 1.0}});
  BOOST_TEST(message_of<LinAlgError>([&] { linalg::cholesky(bad); }) ==
             "cholesky: the matrix of shape (2, 2) is not positive definite: its leading minor of order 2 is not "
             "positive");
  Array stack = nd::broadcast_to(nd::eye(2), {2, 3, 2, 2}).copy();
  stack(1, 2) = bad;
  const Array before = stack.copy();
  BOOST_TEST(message_of<LinAlgError>([&] { linalg::cholesky(stack); }) ==
             "cholesky: matrix (1, 2) of the stack of shape (2, 3, 2, 2) is not positive definite: its leading minor "
             "of order 2 is not positive");
  BOOST_TEST(same_bits(stack, before));
  BOOST_TEST(message_of<LinAlgError>([&] {
               linalg::cholesky(nd::zeros({2, 3}));
             }) == "cholesky: the matrices must be square, the array has the shape (2, 3)");
  BOOST_TEST(message_of<LinAlgError>([&] { linalg::qr(nd::zeros(3)); }) ==
             "qr: the array of shape (3,) has 1 axes, matrices have at least 2");
  BOOST_CHECK_THROW(linalg::svd(nd::zeros({})), LinAlgError);
  BOOST_CHECK_THROW(linalg::eigh(nd::zeros({3, 2})), LinAlgError);
  BOOST_CHECK_THROW(linalg::cholesky(Array()), nd::TypeError);
  BOOST_TEST(message_of<nd::ValueError>([&] { linalg::qr(bad, "full"); }) ==
             "qr: mode \"full\" is none of \"reduced\", \"complete\", \"r\" and \"raw\"");
  for (const char* mode : {"f", "e", "economic", "", "R"}) BOOST_CHECK_THROW(linalg::qr(bad, mode), nd::ValueError);
  BOOST_TEST(message_of<nd::ValueError>([&] { linalg::eigh(bad, "X"); }) ==
             "eigh: UPLO is \"X\", it must be \"L\" or \"U\"");
  BOOST_TEST(message_of<nd::TypeError>([&] { Array(linalg::qr(bad)); }) ==
             "qr: the result has several arrays, and cannot be assigned to one");
  BOOST_CHECK_THROW(Array(linalg::svd(bad)), nd::TypeError);
}

// LAPACK finds NaN; cuSOLVER may as well answer with it.
BOOST_AUTO_TEST_CASE(what_does_not_converge) {
  Array bad = nd::ones({2, 4, 4});
  bad(1, 2, 2) = std::numeric_limits<double>::quiet_NaN();
  std::string message =
      "svd: matrix (1,) of the stack of shape (2, 4, 4) has no decomposition: the iteration did not "
      "converge";
  try {
    const Array s = linalg::svd(bad, true, false);
    BOOST_TEST((bad.device().kind != nd::Device::Kind::cpu && std::isnan(s(1, 0).item<double>())));
  } catch (const nd::LinAlgError& e) {
    BOOST_TEST(e.what() == message);
  }
}

BOOST_AUTO_TEST_SUITE_END()
