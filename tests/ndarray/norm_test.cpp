// Norms of every order over every pair of axes against their definitions in double precision; spellings, dtypes,
// errors.
#include <catena/ndarray/routines/linalg.h>

#include <catena/ndarray/routines/manipulation.h>
#include <catena/ndarray/routines/math.h>
#include <catena/tests/support/host_matrices.h>

namespace {

using nd::Array;
using nd::linalg::norm;
using test::Matrix;
using test::message_of;

constexpr double kInf = std::numeric_limits<double>::infinity();

double vector_norm(const std::vector<double>& x, std::optional<double> order) {
  double sum = 0, most = 0, least = kInf;
  const double p = order.value_or(2);
  for (double v : x) {
    most = std::max(most, std::abs(v));
    least = std::min(least, std::abs(v));
    sum += p == 0 ? double(v != 0) : std::pow(std::abs(v), p);
  }
  return p == kInf ? most : p == -kInf ? least : p == 0 ? sum : std::pow(sum, 1 / p);
}

double matrix_norm(const Matrix& m, double p) {
  std::vector<double> sums(std::size_t(std::abs(p) == 1 ? m.columns : m.rows));
  for (std::int64_t i = 0; i < m.rows; ++i)
    for (std::int64_t j = 0; j < m.columns; ++j) sums[std::size_t(std::abs(p) == 1 ? j : i)] += std::abs(m(i, j));
  return p > 0 ? *std::max_element(sums.begin(), sums.end()) : *std::min_element(sums.begin(), sums.end());
}

// The least and largest eigenvalue of m^H m by the characteristic polynomial, for matrices with two columns.
std::pair<double, double> singular_values(const Matrix& m) {
  const Matrix g = adjoint(m) * m;
  const double a = g(0, 0).real(), d = g(1, 1).real(), b = std::abs(g(0, 1));
  const double root = std::sqrt((a - d) * (a - d) / 4 + b * b);
  return {std::sqrt(std::max(0.0, (a + d) / 2 - root)), std::sqrt((a + d) / 2 + root)};
}

bool close(double a, double e, double tolerance) { return a == e || std::abs(a - e) <= tolerance * std::abs(e); }

}  // namespace

BOOST_AUTO_TEST_SUITE(norms)

BOOST_AUTO_TEST_CASE(vectors) {
  std::mt19937 random(1);
  test::Turns turns("norms of vectors");
  std::size_t k = 0;
  for (nd::Dtype t : test::kAllDtypes)
    for (const std::optional<double>& p :
         {std::optional<double>(), std::optional(kInf), std::optional(-kInf), std::optional(0.0), std::optional(1.0),
          std::optional(2.0), std::optional(3.0), std::optional(-1.0), std::optional(0.5)}) {
      if (!turns.take(k++, t)) continue;
      const Array x = test::scattered(test::random_array({4, 5, 3}, t, random), random);
      const bool exact = !catena::is_floating(t);
      for (int axis = 0; axis < 3; ++axis) {
        const Array result = p ? norm(x, *p, axis - 3) : norm(x, {.axis = axis}),
                    kept =
                        norm(x, {.ord = p ? nd::linalg::NormOrder(*p) : std::nullopt, .axis = axis, .keepdims = true});
        BOOST_TEST(result.dtype() == (exact ? nd::float64 : t));
        const Array rows = nd::moveaxis(x, axis, 2);
        BOOST_REQUIRE(result.shape() == (nd::Shape{rows.shape(0), rows.shape(1)}));
        BOOST_TEST(kept.ndim() == 3);
        BOOST_TEST(test::same_bits(kept.reshape(result.shape()), result));
        const auto v = rows.to_vector<double>(), actual = result.to_vector<double>();
        const std::int64_t n = rows.shape(2);
        const double tolerance = catena::itemsize(t) == 2 && !exact ? 1e-2 : 1e-5;
        for (std::int64_t i = 0; i < result.size(); ++i) {
          const std::vector<double> row(v.begin() + i * n, v.begin() + (i + 1) * n);
          BOOST_TEST(close(actual[std::size_t(i)], vector_norm(row, p), tolerance),
                     t << " order " << p.value_or(99) << " axis " << axis);
        }
      }
    }
}

BOOST_AUTO_TEST_CASE(matrices_over_every_pair_of_axes) {
  std::mt19937 random(2);
  for (nd::Dtype t : {nd::float64, nd::float32}) {
    const Array x = test::random_array({2, 4, 2, 3}, t, random);
    for (int row = 0; row < 4; ++row)
      for (int column = 0; column < 4; ++column) {
        if (row == column) continue;
        const Array moved = nd::moveaxis(x, {row, column}, {2, 3});
        const auto stack = test::matrices_of(moved);
        const auto check = [&](const nd::linalg::NormOrder& order, auto expected) {
          const Array result = norm(x, order, {row - 4, column}), kept = norm(x, order, {row, column}, true);
          BOOST_TEST(result.dtype() == t);
          BOOST_TEST(result.shape() == (nd::Shape{moved.shape(0), moved.shape(1)}));
          BOOST_TEST((kept.ndim() == 4 && kept.shape(row) == 1 && kept.shape(column) == 1));
          BOOST_TEST(test::same_bits(kept.reshape(result.shape()), result));
          const auto actual = result.to_vector<double>();
          for (std::size_t i = 0; i < stack.size(); ++i)
            BOOST_TEST(close(actual[i], expected(stack[i]), t == nd::float32 ? 1e-4 : 1e-11),
                       row << ", " << column << ": " << actual[i] << " instead of " << expected(stack[i]));
        };
        for (double p : {1.0, -1.0, kInf, -kInf}) check(p, [p](const Matrix& m) { return matrix_norm(m, p); });
        const auto frobenius = [](const Matrix& m) {
          double sum = 0;
          for (const auto& z : m.v) sum += std::norm(z);
          return std::sqrt(sum);
        };
        check("fro", frobenius);
        check({}, frobenius);
        if (moved.shape(3) != 2) continue;
        check(2, [](const Matrix& m) { return singular_values(m).second; });
        check("nuc", [](const Matrix& m) { return singular_values(m).first + singular_values(m).second; });
        if (moved.shape(2) > 1) check(-2, [](const Matrix& m) { return singular_values(m).first; });
      }
  }
}

BOOST_AUTO_TEST_CASE(spellings_of_norms) {
  const Array x = nd::array({{3.0, 4.0}, {0.0, 0.0}});
  for (const Array& n : {norm(x), norm(x, "fro"), norm(x, "f"), norm(x, 2), norm(x, "nuc"), norm(x, {.ord = 2}),
                         norm(x, 2, {0, 1}), norm(x, {}, {0, 1}), norm(x, {.axis = {0, 1}}), norm(x, std::nullopt)}) {
    BOOST_TEST(n.shape() == nd::Shape());
    BOOST_TEST(std::abs(n.item<double>() - 5) < 1e-14);
  }
  test::check_values<double>(norm(x, nd::inf), {7});
  test::check_values<double>(norm(x, -nd::inf), {0});
  test::check_values<double>(norm(x, 1, 1), {7, 0});
  test::check_values<double>(norm(x, 1, -1, true), {7, 0});
  BOOST_TEST(norm(x, 1, 1, {.keepdims = true}).shape() == (nd::Shape{2, 1}));
  BOOST_TEST(norm(x, 2, 0, true).shape() == (nd::Shape{1, 2}));
  BOOST_TEST(norm(x, {.keepdims = true}).shape() == (nd::Shape{1, 1}));
  test::check_values<double>(norm(nd::arange(24).reshape(2, 3, 4)), {std::sqrt(4324.0)});
}

// 16-bit floats and large numbers: squares are summed in a wider type, where there is one.
BOOST_AUTO_TEST_CASE(ranges) {
  const Array x = nd::full({4}, 300.0, {.dtype = nd::float16});
  BOOST_TEST(norm(x).item<double>() == 600);
  BOOST_TEST(norm(x).dtype() == nd::float16);
  const Array z = nd::array(std::vector<test::Complex>{{3, 4}, {0, 12}}, {2}, {.dtype = nd::complex64});
  BOOST_TEST(norm(z).dtype() == nd::float32);
  for (const auto& [p, expected] :
       {std::pair(2.0, 13.0), std::pair(1.0, 17.0), std::pair(kInf, 12.0), std::pair(-kInf, 5.0), std::pair(0.0, 2.0)})
    BOOST_TEST(std::abs(norm(z, p).item<double>() - expected) < 1e-5);
  for (const double p : {2.0, 1.0, kInf, -kInf, 0.0, 3.0, -1.5}) BOOST_TEST(norm(z, p).dtype() == nd::float32, p);
}

BOOST_AUTO_TEST_CASE(norms_of_nothing) {
  const Array none = nd::zeros({0, 3});
  for (const Array& n : {norm(none), norm(none, 1), norm(none, nd::inf), norm(none, 2), norm(none, "nuc")})
    BOOST_TEST(n.item<double>() == 0);
  test::check_values<double>(norm(none, 1, 0), {0, 0, 0});
  test::check_values<double>(norm(none, nd::inf, 0), {0, 0, 0});
  BOOST_CHECK_THROW(norm(none, -nd::inf, 0), nd::ValueError);
  BOOST_CHECK_THROW(norm(none, -2), nd::ValueError);
  BOOST_TEST(norm(none, 1, 1).shape() == (nd::Shape{0}));
}

BOOST_AUTO_TEST_CASE(errors) {
  const Array x = nd::ones({2, 3, 4});
  BOOST_TEST(message_of<nd::ValueError>([&] { norm(x, 2); }) ==
             "norm: there are norms over one axis or two, not over 3: the array has the shape (2, 3, 4)");
  BOOST_TEST(message_of<nd::ValueError>([&] { norm(x, 3, {0, 1}); }) == "norm: order 3 is not one of matrices");
  BOOST_TEST(message_of<nd::ValueError>([&] {
               norm(x, "max", {0, 1});
             }) == "norm: order \"max\" is not one of matrices");
  BOOST_TEST(message_of<nd::ValueError>([&] { norm(x, "fro", 0); }) == "norm: order \"fro\" is not one of vectors");
  BOOST_CHECK_THROW(norm(x, 0, {0, 1}), nd::ValueError);
  BOOST_CHECK_THROW(norm(x, 1, {1, 1}), nd::ValueError);
  BOOST_CHECK_THROW(norm(x, 1, {1, -2}), nd::ValueError);
  BOOST_CHECK_THROW(norm(x, 1, 3), nd::ValueError);
  BOOST_CHECK_THROW(norm(x, {.axis = {0, 1, 2}}), nd::ValueError);
  BOOST_CHECK_THROW(norm(Array()), nd::TypeError);
  BOOST_CHECK_THROW(norm(nd::array(2.0), 1), nd::ValueError);
  BOOST_TEST(norm(nd::array(-2.0)).item<double>() == 2);
}

BOOST_AUTO_TEST_SUITE_END()
