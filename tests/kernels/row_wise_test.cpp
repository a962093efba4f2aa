// Row-wise kernels: softmax, log-softmax and batch normalisation with their gradients, against float64 or wider.
#include <algorithm>
#include <cmath>

#include <boost/test/unit_test.hpp>

#include <catena/tests/kernels/kernel_calls.h>

BOOST_AUTO_TEST_SUITE(row)

using namespace test;  // NOLINT
using Wide = long double;

template <class T> std::string with(std::string_view pattern) {
  std::string s(pattern);
  for (char& c : s) c = c == 'T' ? char_of(dtype_of<T>) : c;
  return s;
}
template <class T> Shape row_of(const std::vector<T>& v) { return {std::int64_t(v.size())}; }

template <class T>
void check_near(const std::vector<T>& y, const std::vector<Wide>& expected, double relative, double absolute) {
  Wide worst = 0;
  for (std::size_t i = 0; i < y.size(); ++i)
    worst = std::max(worst, std::fabs(y[i] - expected[i]) - relative * std::fabs(expected[i]));
  BOOST_TEST(worst <= absolute, double(worst));
}

std::vector<std::size_t> lengths() { return {1, 2, 10, 31, 32, 33, 64, 71, 72, 100, 1000}; }

template <class T> void check_softmax() {
  Noise noise(1);
  const double eps = std::numeric_limits<T>::epsilon();
  for (std::size_t n : lengths()) {
    const auto x = noise.vector<T>(n, -30, 30), gy = noise.vector<T>(n, -1, 1);
    std::vector<T> y(n), log_y(n), gx(n), log_gx(n), max(1), log_sum(1);
    const auto count = std::int64_t(n);
    call_row("softmax", with<T>("T->T"), count, {{x, row_of(x)}, {y, row_of(y)}});
    call_row("log_softmax", with<T>("T->T"), count, {{x, row_of(x)}, {log_y, row_of(y)}});
    call_row("log_softmax_statistics", with<T>("T->;TT"), count, {{x, row_of(x)}, {max, {}}, {log_sum, {}}});
    call_row("softmax_bwd", with<T>("TT->T"), count, {{y, row_of(y)}, {gy, row_of(y)}, {gx, row_of(y)}});
    call_row("log_softmax_bwd", with<T>("TT->T"), count, {{log_y, row_of(y)}, {gy, row_of(y)}, {log_gx, row_of(y)}});
    Wide sum = 0, dot = 0, total = 0;
    std::vector<Wide> e(n), e_log(n), e_gx(n), e_log_gx(n);
    for (T v : x) sum += std::exp(Wide(v));
    for (std::size_t i = 0; i < n; ++i)
      e[i] = std::exp(Wide(x[i])) / sum, e_log[i] = x[i] - std::log(sum), dot += e[i] * gy[i], total += gy[i];
    for (std::size_t i = 0; i < n; ++i) e_gx[i] = e[i] * (gy[i] - dot), e_log_gx[i] = gy[i] - e[i] * total;
    check_near(y, e, 50 * eps, eps);
    check_near(log_y, e_log, 20 * eps, 50 * eps);
    BOOST_TEST(max[0] == *std::max_element(x.begin(), x.end()));
    check_near(log_sum, {std::log(sum) - max[0]}, 20 * eps, 20 * eps);
    check_near(gx, e_gx, 100 * eps, 20 * eps);
    check_near(log_gx, e_log_gx, 100 * eps, 50 * eps);
  }
}
BOOST_AUTO_TEST_CASE(softmax_and_its_gradients) {
  check_softmax<float>();
  check_softmax<double>();
}

BOOST_AUTO_TEST_CASE(log_softmax_is_finite_where_softmax_underflows) {
  const std::vector<float> x = {-1000, 1, 88};
  std::vector<float> y(3);
  call_row("log_softmax", "f->f", 3, {{x, {3}}, {y, {3}}});
  BOOST_TEST((y[0] == -1088 && y[1] == -87 && std::fabs(y[2]) < 1e-6));
  const std::vector<float> bad = {1, std::nanf(""), 2};
  call_row("softmax", "f->f", 3, {{bad, {3}}, {y, {3}}});
  for (float v : y) BOOST_TEST(std::isnan(v));
}

BOOST_AUTO_TEST_CASE(a_row_that_is_not_contiguous_gives_the_same_bits) {
  Noise noise(2);
  for (std::size_t n : lengths()) {
    const auto x = noise.vector<float>(n, -5, 5), g = noise.vector<float>(n, -5, 5);
    std::vector<float> spread_x(3 * n), spread_g(3 * n), y(n), y2(n), spread_y(3 * n), spread_y2(3 * n);
    for (std::size_t i = 0; i < n; ++i) spread_x[3 * i] = x[i], spread_g[3 * i] = g[i];
    const auto count = std::int64_t(n);
    for (const char* name : {"softmax", "log_softmax"}) {
      call_row(name, "f->f", count, {{x, {count}}, {y, {count}}});
      call_row(name, "f->f", count, {{spread_x, {count}}, {spread_y, {count}}}, 3);
      call_row("log_softmax_bwd", "ff->f", count, {{x, {count}}, {g, {count}}, {y2, {count}}});
      call_row("log_softmax_bwd", "ff->f", count, {{spread_x, {count}}, {spread_g, {count}}, {spread_y2, {count}}}, 3);
      for (std::size_t i = 0; i < n; ++i) BOOST_TEST_REQUIRE((y[i] == spread_y[3 * i] && y2[i] == spread_y2[3 * i]));
    }
  }
}

template <class T> void check_batch_norm() {
  Noise noise(3);
  const double eps = std::numeric_limits<T>::epsilon(), bn_eps = 2e-5;
  for (std::size_t n : lengths()) {
    const auto x = noise.vector<T>(n, 10, 12), gy = noise.vector<T>(n, -1, 1);
    const T gamma = T(1.5), beta = T(-0.25);
    std::vector<T> y(n), gx(n), mean(1), var(1), inv_std(1), ggamma(1), gbeta(1);
    const auto count = std::int64_t(n);
    call_row("batch_norm_fwd", with<T>("TTTT->T;TTT"), count,
             {{x, {count}},
              scalar(gamma),
              scalar(beta),
              scalar(T(bn_eps)),
              {y, {count}},
              {mean, {}},
              {var, {}},
              {inv_std, {}}});
    call_row("batch_norm_bwd", with<T>("TTTTT->T;TT"), count,
             {{x, {count}},
              {gy, {count}},
              scalar(gamma),
              {mean, {}},
              {inv_std, {}},
              {gx, {count}},
              {ggamma, {}},
              {gbeta, {}}});
    Wide m = 0, v = 0, gb = 0, gg = 0;
    for (T e : x) m += e / Wide(n);
    for (T e : x) v += (e - m) * (e - m) / n;
    const Wide s = 1 / std::sqrt(v + Wide(T(bn_eps)));
    std::vector<Wide> e_y(n), e_gx(n);
    for (std::size_t i = 0; i < n; ++i)
      e_y[i] = gamma * (x[i] - m) * s + beta, gb += gy[i], gg += gy[i] * (x[i] - m) * s;
    for (std::size_t i = 0; i < n; ++i) e_gx[i] = gamma * s * (gy[i] - ((x[i] - m) * s * gg + gb) / n);
    BOOST_TEST_INFO("n " << n);
    const double loss = 12 * eps * double(s);  // x - mean cancels 12 against about 1
    BOOST_TEST(std::fabs(mean[0] - m) <= 12 * eps);
    BOOST_TEST(std::fabs(var[0] - v) <= 30 * eps);
    BOOST_TEST(std::fabs(inv_std[0] / s - 1) <= 40 * eps * double(s));
    check_near(y, e_y, 40 * loss, 4 * loss + 40 * eps);
    BOOST_TEST(std::fabs(gbeta[0] - gb) <= 10 * eps * double(n));
    BOOST_TEST(std::fabs(ggamma[0] - gg) <= 10 * (eps + loss) * double(n));
    check_near(gx, e_gx, 40 * loss, 60 * loss * double(s));
  }
}
BOOST_AUTO_TEST_CASE(batch_normalization_and_its_gradients) {
  check_batch_norm<float>();
  check_batch_norm<double>();
}

BOOST_AUTO_TEST_CASE(fixed_batch_normalization) {
  const std::vector<double> x = {1, 2, 3}, gamma = {2}, beta = {1}, mean = {2}, var = {4}, eps = {0};
  const auto y = apply<double>("fixed_batch_norm", "dddddd->d", x, gamma, beta, mean, var, eps);
  BOOST_TEST((y == std::vector<double>{0, 1, 2}));
}

BOOST_AUTO_TEST_SUITE_END()
