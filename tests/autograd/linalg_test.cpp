// Products of stacks of matrices, inverses and determinants.
#include <catena/autograd/functions/linalg.h>

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <string>
#include <vector>

#include <catena/autograd/flag.h>
#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/linalg_extension.h>
#include <catena/autograd/testing.h>
#include <catena/tests/support/framework_derivatives.h>

using namespace autograd;
using test::spread;

namespace {

using Numbers = std::vector<double>;
const test::DerivativeOptions kProducts{.atol16 = 1e-2, .rtol16 = 2e-2};

// Well-conditioned matrices (..., n, n): `diagonal` is added to their diagonals.
Array matrices(const Shape& shape, int seed = 0, double diagonal = 2) {
  Numbers v = to_vector<double>(spread(shape, -1, 1, seed));
  const std::int64_t n = shape.back();
  for (std::size_t i = 0; i < v.size(); ++i)
    if (const auto at = std::int64_t(i) % (n * n); at / n == at % n) v[i] += diagonal;
  return array(v, shape);
}

// By Laplace's expansion along the first row.
double determinant(const Numbers& a, std::size_t n) {
  if (n == 0) return 1;
  double sum = 0;
  for (std::size_t k = 0; k < n; ++k) {
    Numbers minor;
    for (std::size_t i = 1; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j)
        if (j != k) minor.push_back(a[i * n + j]);
    sum += (k % 2 == 0 ? 1 : -1) * a[k] * determinant(minor, n - 1);
  }
  return sum;
}

// The product of one matrix (m, k) at `a` with one (k, n) at `b`.
Numbers product(const double* a, const double* b, std::int64_t m, std::int64_t k, std::int64_t n) {
  Numbers c;
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (std::int64_t l = 0; l < k; ++l) sum += a[i * k + l] * b[l * n + j];
      c.push_back(sum);
    }
  return c;
}

const auto says = [](const std::string& text) {
  return [text](const catena::Error& e) { return std::string(e.what()).find(text) != std::string::npos; };
};

}  // namespace

BOOST_AUTO_TEST_SUITE(linalg)

BOOST_AUTO_TEST_CASE(matmul_of_stacks) {
  // Stacks (2, 1, 3, 4) and (5, 4, 2), whose leading axes broadcast to (2, 5).
  const Array a = spread({2, 1, 3, 4}), b = spread({5, 4, 2}, -1, 1, 1);
  const Numbers as = to_vector<double>(a), bs = to_vector<double>(b);
  Numbers expected;
  for (std::int64_t i = 0; i < 2; ++i)
    for (std::int64_t j = 0; j < 5; ++j)
      for (const double v : product(as.data() + i * 12, bs.data() + j * 8, 3, 4, 2)) expected.push_back(v);
  const Array y = array(expected, {2, 5, 3, 2});
  const auto turned = [](const Array& m) { return contiguous(swapaxes(m, -1, -2)); };
  for (const bool transa : {false, true})
    for (const bool transb : {false, true}) {
      const auto f = [&](const Variables& v) { return Variables{matmul(v[0], v[1], transa, transb)}; };
      const Array left = transa ? turned(a) : a, right = transb ? turned(b) : b;
      testing::assert_allclose(f({Variable(left), Variable(right)})[0].data(), y, 1e-12, 1e-12);
      test::check_derivatives("matmul of stacks", f, {left, right}, kProducts);
    }
  const auto f = [](const Variables& v) { return Variables{matmul(v[0], v[1])}; };
  // A matrix and a vector, on either side of a stack.
  const Array matrix = spread({4, 2}, -1, 1, 2), column = spread({2}, -1, 1, 3), row = spread({4}, -1, 1, 4);
  BOOST_CHECK(f({Variable(a), Variable(matrix)})[0].shape() == (Shape{2, 1, 3, 2}));
  BOOST_CHECK(f({Variable(b), Variable(column)})[0].shape() == (Shape{5, 4}));
  BOOST_CHECK(f({Variable(row), Variable(b)})[0].shape() == (Shape{5, 2}));
  const Numbers column_product = to_vector<double>(f({Variable(b), Variable(column)})[0].data()),
                cs = to_vector<double>(column);
  for (std::size_t i = 0; i < 20; ++i)
    BOOST_TEST(std::fabs(column_product[i] - (bs[2 * i] * cs[0] + bs[2 * i + 1] * cs[1])) < 1e-14);
  BOOST_CHECK(matmul(Variable(row), Variable(b), true).shape() == (Shape{5, 2}));  // a vector has no transpose
  test::check_derivatives("matmul with a matrix", f, {a, matrix}, kProducts);
  test::check_derivatives("matmul with a column", f, {b, column}, kProducts);
  test::check_derivatives("matmul with a row", f, {row, b}, kProducts);
  test::check_derivatives("matmul of nothing", f, {spread({0, 3, 4}), spread({4, 2})}, kProducts);
  test::check_derivatives("matmul over nothing", f, {spread({2, 3, 0}), spread({0, 2})}, kProducts);
  test::check_derivatives("matmul of ones", f, {spread({1, 1, 1}), spread({1, 1, 1})}, kProducts);
  BOOST_CHECK_EXCEPTION(matmul(Variable(a), Variable(a)), catena::InvalidType,
                        says("MatMul (Forward)\n\nExpect: a.shape[-1] == b.shape[-2]\nActual: 4 != 3"));
  BOOST_CHECK_EXCEPTION(matmul(Variable(arrays::ones({2, 3, 4})), Variable(arrays::ones({3, 4, 2}))),
                        catena::InvalidType, says("a.shape[:-2] and b.shape[:-2] broadcast together"));
  BOOST_CHECK_THROW(matmul(Variable(arrays::ones({2, 3, 4})), Variable(arrays::ones({}))), catena::InvalidType);
  BOOST_CHECK_THROW(matmul(Variable(arrays::ones({2, 3, 4})), Variable(arrays::ones({4, 2}, Dtype::float64))),
                    catena::InvalidType);
  BOOST_CHECK_THROW(
      matmul(Variable(arrays::ones({2, 2, 2}, Dtype::int32)), Variable(arrays::ones({2, 2}, Dtype::int32))),
      catena::InvalidType);
}

BOOST_AUTO_TEST_CASE(products_of_batches) {
  struct Case {
    Shape a, b;
    bool transa, transb;
  };
  const Case cases[] = {{{2, 3, 4}, {2, 4, 5}, false, false}, {{2, 4, 3}, {2, 4, 5}, true, false},
                        {{2, 3, 4}, {2, 5, 4}, false, true},  {{2, 4, 3}, {2, 5, 4}, true, true},
                        {{2, 3}, {2, 3}, true, false},        {{2, 3}, {2, 4}, false, true},
                        {{2, 3, 4}, {2, 4}, false, false},    {{2, 3}, {2, 3, 4}, true, false},
                        {{0, 3, 4}, {0, 4, 5}, false, false}, {{1, 1}, {1, 1}, false, false}};
  for (const Case& c : cases) BOOST_TEST_CONTEXT(c.a << c.b << c.transa << c.transb) {
      const Array a = spread(c.a), b = spread(c.b, -1, 1, 1);
      const auto stack_of = [](const Array& x, bool transposed) {
        const Array three = x.ndim() == 2 ? reshape(x, {x.shape(0), x.shape(1), 1}) : x;
        return contiguous(transposed ? swapaxes(three, 1, 2) : three);
      };
      const Array ma = stack_of(a, c.transa), mb = stack_of(b, c.transb);
      const Numbers as = to_vector<double>(ma), bs = to_vector<double>(mb);
      const std::int64_t m = ma.shape(1), k = ma.shape(2), n = mb.shape(2);
      Numbers expected;
      for (std::int64_t i = 0; i < ma.shape(0); ++i)
        for (const double v : product(as.data() + i * m * k, bs.data() + i * k * n, m, k, n)) expected.push_back(v);
      const auto f = [&](const Variables& v) { return Variables{batch_matmul(v[0], v[1], c.transa, c.transb)}; };
      testing::assert_allclose(f({Variable(a), Variable(b)})[0].data(), array(expected, {ma.shape(0), m, n}), 1e-12,
                               1e-12);
      test::check_derivatives("batch_matmul", f, {a, b}, kProducts);
    }
  const Variable x(arrays::ones({2, 3, 4}));
  BOOST_CHECK_EXCEPTION(batch_matmul(x, Variable(arrays::ones({3, 4, 2}))), catena::InvalidType,
                        says("BatchMatMul (Forward)\n\nExpect: a.shape[0] == b.shape[0]\nActual: 2 != 3"));
  BOOST_CHECK_THROW(batch_matmul(x, x), catena::InvalidType);
  BOOST_CHECK_THROW(batch_matmul(x, Variable(arrays::ones({2}))), catena::InvalidType);
  BOOST_CHECK_THROW(batch_matmul(x, Variable(arrays::ones({2, 4, 2}, Dtype::float64))), catena::InvalidType);
  BOOST_CHECK_THROW(batch_matmul(x, Variable(arrays::ones({1, 2, 4, 2}))), catena::InvalidType);
}

BOOST_AUTO_TEST_CASE(inverses) {
  const test::DerivativeOptions options{.atol16 = 1e-2, .rtol16 = 2e-2};
  const auto one = [](const Variables& v) { return Variables{inv(v[0])}; };
  const auto several = [](const Variables& v) { return Variables{batch_inv(v[0])}; };
  // 70 is beyond the systems that ndarray solves without LAPACK.
  for (const std::int64_t n : {1, 2, 5, 17, 70}) BOOST_TEST_CONTEXT(n) {
      const Array a = matrices({n, n}, int(n), n < 10 ? 2 : 20);
      const Array y = inv(Variable(a)).data();
      const Numbers unit = product(to_vector<double>(a).data(), to_vector<double>(y).data(), n, n, n);
      for (std::int64_t i = 0; i < n * n; ++i)
        BOOST_TEST(std::fabs(unit[std::size_t(i)] - (i / n == i % n ? 1 : 0)) < 1e-10);
      testing::assert_allclose(portable_linalg_extension().inv(a), y, 1e-10, 1e-10);
    }
  for (const Shape& s : {Shape{3, 3}, Shape{1, 1}, Shape{0, 0}})
    test::check_derivatives("inv", one, {matrices(s)}, options);
  for (const Shape& s : {Shape{2, 3, 3}, Shape{1, 1, 1}, Shape{0, 3, 3}, Shape{2, 0, 0}})
    test::check_derivatives("batch_inv", several, {matrices(s)}, options);
  // Appendix A23.
  Variable a(array<double>({2, 1, 0.5, 3}, {2, 2}));
  Variable y = inv(a);
  testing::assert_allclose(y.data(), array<double>({0.545455, -0.181818, -0.090909, 0.363636}, {2, 2}), 1e-5, 0);
  y.set_grad(array<double>({1, 0, 0, 0}, {2, 2}));
  y.backward();
  testing::assert_allclose(a.grad(), array<double>({-0.297521, 0.049587, 0.099174, -0.016529}, {2, 2}), 1e-5, 0);

  BOOST_CHECK_THROW(inv(Variable(arrays::ones({3}))), catena::InvalidType);
  BOOST_CHECK_EXCEPTION(inv(Variable(arrays::ones({2, 3}))), catena::InvalidType,
                        says("Inv (Forward)\n\nExpect: a.shape[-2] == a.shape[-1]\nActual: 2 != 3"));
  BOOST_CHECK_THROW(batch_inv(Variable(arrays::ones({3, 3}))), catena::InvalidType);
  BOOST_CHECK_THROW(batch_inv(Variable(arrays::ones({2, 3, 2}))), catena::InvalidType);
  BOOST_CHECK_THROW(inv(Variable(arrays::ones({2, 2}, Dtype::int32))), catena::InvalidType);
}

BOOST_AUTO_TEST_CASE(singular_matrices) {
  Array stack = matrices({3, 2, 2});
  assign(slice(stack, 0, 1, 2), array<double>({1, 2, 2, 4}, {2, 2}));
  const bool on_cpu = stack.device().kind == Device::Kind::cpu;
  const auto one_is_nan = [](const Array& y) {
    const Numbers v = to_vector<double>(y);
    for (std::size_t i = 0; i < v.size(); ++i) BOOST_TEST(std::isnan(v[i]) == (i / 4 == 1));
  };
  if (on_cpu) {
    BOOST_CHECK_EXCEPTION(batch_inv(Variable(stack)), catena::ValueError, says("matrix (1,) of the stack"));
    BOOST_CHECK_EXCEPTION(inv(Variable(arrays::ones({2, 2}))), catena::ValueError, says("is singular"));
  } else {
    one_is_nan(batch_inv(Variable(stack)).data());
    const DebugMode debug(true);
    BOOST_CHECK_THROW(batch_inv(Variable(stack)), catena::ValueError);
  }
  one_is_nan(linalg_extension(stack).inv(stack, false));
  one_is_nan(portable_linalg_extension().inv(stack, false));
  BOOST_CHECK_EXCEPTION(portable_linalg_extension().inv(stack), catena::LinAlgError,
                        says("inv: matrix (1,) of the stack of shape (2, 2) is singular"));
  BOOST_CHECK_EXCEPTION(portable_linalg_extension().inv(arrays::zeros({2, 2})), catena::LinAlgError,
                        says("inv: the matrix of shape (2, 2) is singular"));
  // The determinant is 0, its gradient an error.
  Variable a(stack);
  Variable y = batch_det(a);
  BOOST_TEST(to_vector<double>(y.data())[1] == 0);
  y.set_grad(ones_like(y.data()));
  BOOST_CHECK_EXCEPTION(y.backward(), catena::ValueError, says("Input has singular matrices."));
  BOOST_TEST(double(det(Variable(arrays::zeros({3, 3})))) == 0);
}

BOOST_AUTO_TEST_CASE(determinants) {
  const test::DerivativeOptions options{.atol16 = 2e-2, .rtol16 = 2e-2};
  const auto one = [](const Variables& v) { return Variables{det(v[0])}; };
  const auto several = [](const Variables& v) { return Variables{batch_det(v[0])}; };
  for (const std::int64_t n : {0, 1, 2, 3, 6}) {
    const Array a = matrices({2, n, n}, int(n));
    const Numbers v = to_vector<double>(a);
    Numbers expected;
    for (std::int64_t m = 0; m < 2; ++m)
      expected.push_back(determinant(Numbers(v.begin() + m * n * n, v.begin() + (m + 1) * n * n), std::size_t(n)));
    const Variable y = batch_det(Variable(a));
    testing::assert_allclose(y.data(), array(expected, {2}), 1e-11, 1e-11);
    testing::assert_allclose(portable_linalg_extension().det(a), array(expected, {2}), 1e-11, 1e-11);
    const Variable alone = det(Variable(reshape(slice(a, 0, 1, 2), {n, n})));
    BOOST_CHECK(alone.shape() == Shape());
    testing::assert_allclose(alone.data(), array<double>({expected[1]}, {}), 1e-11, 1e-11);
    if (n < 4) test::check_derivatives("batch_det", several, {a}, options);
    if (n > 0 && n < 4) test::check_derivatives("det", one, {matrices({n, n}, 7)}, options);
  }
  test::check_derivatives("batch_det of no matrices", several, {spread({0, 2, 2})}, options);
  // A row exchange changes the sign.
  BOOST_TEST(double(det(Variable(array<double>({0, 1, 1, 0}, {2, 2})))) == -1);
  // Appendix A23.
  Variable a(array<double>({2, 1, 0.5, 3}, {2, 2}));
  Variable y = det(a);
  BOOST_TEST(std::fabs(double(y) - 5.5) < 1e-12);
  y.backward();
  testing::assert_allclose(a.grad(), array<double>({3, -0.5, -1, 2}, {2, 2}), 1e-12, 0);
  BOOST_CHECK_THROW(det(Variable(arrays::ones({2}))), catena::InvalidType);
  BOOST_CHECK_EXCEPTION(det(Variable(arrays::ones({2, 3}))), catena::InvalidType, says("Det (Forward)"));
  BOOST_CHECK_THROW(batch_det(Variable(arrays::ones({2, 2}))), catena::InvalidType);
  BOOST_CHECK_THROW(batch_det(Variable(arrays::ones({1, 2, 2}, Dtype::int32))), catena::InvalidType);
}

BOOST_AUTO_TEST_CASE(the_extension_checks_its_operands) {
  for (LinalgExtension* e : {&linalg_extension(arrays::ones({1, 1})), &portable_linalg_extension()}) {
    BOOST_CHECK_EXCEPTION(e->inv(Array()), catena::ValueError, says("inv: the array is null"));
    BOOST_CHECK_EXCEPTION(e->inv(arrays::ones({2, 3})), catena::ValueError,
                          says("inv: shape (2, 3): the last two lengths must be equal"));
    BOOST_CHECK_THROW(e->det(arrays::ones({2})), catena::ValueError);
    BOOST_CHECK_EXCEPTION(e->det(arrays::ones({2, 2}, Dtype::int32)), catena::TypeError,
                          says("det: the dtype int32 is not floating"));
    // More leading axes, and a matrix that lies transposed.
    const Array a = matrices({2, 3, 4, 4});
    BOOST_CHECK(e->inv(a).shape() == (Shape{2, 3, 4, 4}));
    BOOST_CHECK(e->det(a).shape() == (Shape{2, 3}));
    testing::assert_allclose(e->inv(swapaxes(a, -1, -2)), swapaxes(e->inv(a), -1, -2), 1e-12, 1e-12);
    for (const Dtype t : {Dtype::float32, Dtype::float16, Dtype::bfloat16}) {
      BOOST_CHECK(e->inv(astype(a, t)).dtype() == t);
      BOOST_CHECK(e->det(astype(a, t)).dtype() == t);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
