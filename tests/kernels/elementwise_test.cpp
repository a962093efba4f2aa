// Elementwise bodies on floats: accuracy against long double, and special values. One line of the table per kernel.
#include <bit>
#include <cmath>

#include <boost/test/unit_test.hpp>

#include <catena/tests/kernels/kernel_calls.h>

BOOST_AUTO_TEST_SUITE(elementwise)

using namespace test;  // NOLINT
using Wide = long double;

struct Unary {
  const char* name;
  double low, high;  // domain of the random points
  double bound;      // largest error in units of the last place
  Wide (*oracle)(Wide);
};

// libmvec promises 4 ulp. What is not a call of it is exact (0.5) or says why.
const Unary kUnary[] = {
    {"negative", -9, 9, 0, [](Wide x) { return -x; }},
    {"absolute", -9, 9, 0, [](Wide x) { return std::fabs(x); }},
    {"reciprocal", -9, 9, 0.5, [](Wide x) { return 1 / x; }},
    {"square", -9, 9, 0.5, [](Wide x) { return x * x; }},
    {"sqrt", -1, 99, 0.501, [](Wide x) { return std::sqrt(x); }},
    {"sign", -9, 9, 0, [](Wide x) { return x > 0    ? 1
                                           : x < 0  ? -1
                                           : x == 0 ? Wide(0)
                                                    : x; }},
    {"copy", -9, 9, 0, [](Wide x) { return x; }},
    {"exp", -80, 80, 4, [](Wide x) { return std::exp(x); }},
    {"expm1", -20, 80, 4, [](Wide x) { return std::expm1(x); }},
    {"exp2", -120, 120, 4, [](Wide x) { return std::exp2(x); }},
    {"log", -1, 1e6, 4, [](Wide x) { return std::log(x); }},
    {"log2", -1, 1e6, 4, [](Wide x) { return std::log2(x); }},
    {"log10", -1, 1e6, 4, [](Wide x) { return std::log10(x); }},
    {"log1p", -1.1, 10, 4, [](Wide x) { return std::log1p(x); }},
    {"sin", -100, 100, 4, [](Wide x) { return std::sin(x); }},
    {"cos", -100, 100, 4, [](Wide x) { return std::cos(x); }},
    {"tan", -100, 100, 4, [](Wide x) { return std::tan(x); }},
    {"arcsin", -1.1, 1.1, 4, [](Wide x) { return std::asin(x); }},
    {"arccos", -1.1, 1.1, 4, [](Wide x) { return std::acos(x); }},
    {"arctan", -50, 50, 4, [](Wide x) { return std::atan(x); }},
    {"deg2rad", -720, 720, 1.5,
     [](Wide x) { return x * (3.14159265358979323846264338328L / 180); }},  // the factor is rounded too
    {"rad2deg", -9, 9, 1.5, [](Wide x) { return x * (180 / 3.14159265358979323846264338328L); }},
    {"sinh", -80, 80, 4, [](Wide x) { return std::sinh(x); }},
    {"cosh", -80, 80, 4, [](Wide x) { return std::cosh(x); }},
    {"tanh", -10, 10, 4, [](Wide x) { return std::tanh(x); }},
    {"arcsinh", -1e4, 1e4, 4, [](Wide x) { return std::asinh(x); }},
    {"arccosh", 0.9, 1e4, 4, [](Wide x) { return std::acosh(x); }},
    {"arctanh", -1.1, 1.1, 4, [](Wide x) { return std::atanh(x); }},
    {"rint", -9, 9, 0, [](Wide x) { return std::nearbyint(x); }},
    {"floor", -9, 9, 0, [](Wide x) { return std::floor(x); }},
    {"ceil", -9, 9, 0, [](Wide x) { return std::ceil(x); }},
    {"trunc", -9, 9, 0, [](Wide x) { return std::trunc(x); }},
    {"fix", -9, 9, 0, [](Wide x) { return std::trunc(x); }},
    {"relu", -9, 9, 0, [](Wide x) { return x < 0 ? Wide(0) : x; }},
    {"sigmoid", -80, 80, 4, [](Wide x) { return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x)); }},
};

template <class T> std::string sig(int inputs) {
  const char c = std::is_same_v<T, float> ? 'f' : 'd';
  return std::string(std::size_t(inputs), c) + "->" + c;
}

template <class T> std::vector<T> specials() {
  using L = std::numeric_limits<T>;
  return {T(0),     T(-0.0),   L::infinity(), -L::infinity(), L::quiet_NaN(), L::denorm_min(), -L::denorm_min(),
          L::min(), L::max(),  L::lowest(),   L::epsilon(),   T(1),           T(-1),           T(0.5),
          T(-0.5),  T(1.5),    T(-1.5),       T(2.5),         T(1e30),        T(-1e30),        T(88.5),
          T(710.0), T(-104.0), T(-745.5)};
}

// Below this the functions that are flushed or computed as their limits may err by a subnormal: libmvec does not
// promise more.
template <class T> bool both_tiny(T y, Wide exact) {
  return std::fabs(static_cast<Wide>(y)) <= std::numeric_limits<T>::min() &&
         std::fabs(exact) <= std::numeric_limits<T>::min();
}

template <class T> void check_unary(const Unary& f) {
  Noise noise(7);
  std::vector<T> x = noise.vector<T>(4000, f.low, f.high);
  for (int i = 0; i < 2000; ++i) x.push_back(static_cast<T>(noise.uniform(-1, 1) * std::exp2(noise.uniform(-30, 3))));
  const std::size_t ordinary = x.size();
  for (T v : specials<T>()) x.push_back(v);
  const auto y = apply<T>(f.name, sig<T>(1), x);
  Wide worst = 0;
  std::size_t at = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const Wide exact = f.oracle(x[i]);
    const Wide error = i >= ordinary && both_tiny(y[i], exact) ? 0 : ulps(y[i], exact);
    if (error > worst) worst = error, at = i;
    if (static_cast<T>(exact) == 0 && !std::isnan(x[i]) && x[i] == 0)
      BOOST_TEST(std::signbit(y[i]) == (std::string_view(f.name) == "sign" ? false : std::signbit(exact)),
                 f.name << "(" << x[i] << ")");
  }
  BOOST_TEST(worst <= f.bound, f.name << " " << sig<T>(1) << ": " << double(worst) << " ulp at " << x[at] << ": "
                                      << y[at] << " for " << double(f.oracle(x[at])));
}

BOOST_AUTO_TEST_CASE(unary_functions_are_accurate_and_right_at_special_values) {
  for (const Unary& f : kUnary) {
    check_unary<float>(f);
    check_unary<double>(f);
  }
}

struct Binary {
  const char* name;
  double low0, high0, low1, high1;
  double bound;
  Wide (*oracle)(Wide, Wide);
};

Wide wide_logaddexp(Wide a, Wide b) {
  return a == b ? a + std::log(2.0L) : std::fmax(a, b) + std::log1p(std::exp(-std::fabs(a - b)));
}
Wide wide_logaddexp2(Wide a, Wide b) {
  return a == b ? a + 1 : std::fmax(a, b) + std::log1p(std::exp2(-std::fabs(a - b))) / std::log(2.0L);
}
Wide first_nan(Wide a, Wide b, Wide y) { return std::isnan(a) ? a : std::isnan(b) ? b : y; }

const Binary kBinary[] = {
    {"add", -9, 9, -9, 9, 0.5, [](Wide a, Wide b) { return a + b; }},
    {"subtract", -9, 9, -9, 9, 0.5, [](Wide a, Wide b) { return a - b; }},
    {"multiply", -9, 9, -9, 9, 0.5, [](Wide a, Wide b) { return a * b; }},
    {"true_divide", -9, 9, -9, 9, 0.501, [](Wide a, Wide b) { return a / b; }},
    {"fmod", -99, 99, -9, 9, 0, [](Wide a, Wide b) { return std::fmod(a, b); }},
    {"power", 0, 30, -20, 20, 4, [](Wide a, Wide b) { return std::pow(a, b); }},
    {"maximum", -9, 9, -9, 9, 0, [](Wide a, Wide b) { return first_nan(a, b, a >= b ? a : b); }},
    {"minimum", -9, 9, -9, 9, 0, [](Wide a, Wide b) { return first_nan(a, b, a <= b ? a : b); }},
    {"fmax", -9, 9, -9, 9, 0, [](Wide a, Wide b) { return std::isnan(a)   ? b
                                                          : std::isnan(b) ? a
                                                          : a >= b        ? a
                                                                          : b; }},
    {"fmin", -9, 9, -9, 9, 0, [](Wide a, Wide b) { return std::isnan(a)   ? b
                                                          : std::isnan(b) ? a
                                                          : a <= b        ? a
                                                                          : b; }},
    // Same sign, or the sum of a large number and a small one cancels and only its absolute error is bounded.
    {"logaddexp", 1, 50, 1, 50, 2, [](Wide a, Wide b) { return first_nan(a, b, wide_logaddexp(a, b)); }},
    {"logaddexp2", 1, 50, 1, 50, 2, [](Wide a, Wide b) { return first_nan(a, b, wide_logaddexp2(a, b)); }},
    {"arctan2", -9, 9, -9, 9, 4, [](Wide a, Wide b) { return std::atan2(a, b); }},
    {"hypot", -9, 9, -9, 9, 1.5, [](Wide a, Wide b) { return std::hypot(a, b); }},
    {"copysign", -9, 9, -9, 9, 0, [](Wide a, Wide b) { return std::copysign(a, b); }},
};

template <class T> void check_binary(const Binary& f) {
  Noise noise(8);
  std::vector<T> a = noise.vector<T>(4000, f.low0, f.high0), b = noise.vector<T>(4000, f.low1, f.high1);
  const std::size_t ordinary = a.size();
  const bool finite_only = std::string_view(f.name).starts_with("logadd");
  for (T u : specials<T>())
    for (T v : specials<T>()) {
      const bool extreme = std::fabs(u) > T(1e5) || std::fabs(v) > T(1e5) || u < 0 || v < 0;
      if (finite_only && extreme && std::isfinite(u) && std::isfinite(v)) continue;
      a.push_back(u);
      b.push_back(v);
    }
  const auto y = apply<T>(f.name, sig<T>(2), a, b);
  Wide worst = 0;
  std::size_t at = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const Wide exact = f.oracle(a[i], b[i]);
    const Wide error = i >= ordinary && both_tiny(y[i], exact) ? 0 : ulps(y[i], exact);
    if (error > worst) worst = error, at = i;
  }
  BOOST_TEST(worst <= f.bound, f.name << " " << sig<T>(2) << ": " << double(worst) << " ulp at " << a[at] << ", "
                                      << b[at] << ": " << y[at] << " for " << double(f.oracle(a[at], b[at])));
}

BOOST_AUTO_TEST_CASE(binary_functions_are_accurate_and_right_at_special_values) {
  for (const Binary& f : kBinary) {
    check_binary<float>(f);
    check_binary<double>(f);
  }
}

// Where e^a + e^b is near 1, the error is relative to the operands and 1/2, not to the result.
template <class T> void check_sums_near_one(const char* name, Wide base, Wide (*oracle)(Wide, Wide)) {
  std::vector<T> a, b;
  for (int k = 1; k < 5000; ++k) {
    a.push_back(static_cast<T>(std::log(Wide(k) / 5000) / base));
    b.push_back(static_cast<T>(std::log(1 - Wide(k) / 5000) / base));
  }
  const auto y = apply<T>(name, sig<T>(2), a, b);
  Wide worst = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    const Wide exact = oracle(a[i], b[i]), m = std::fmax(a[i], b[i]);
    worst =
        std::fmax(worst, std::fabs(y[i] - exact) / (std::fmax(std::fabs(m), 0.5L) * std::numeric_limits<T>::epsilon()));
  }
  BOOST_TEST(worst <= 2, name << " " << sig<T>(2) << ": " << double(worst));
}
BOOST_AUTO_TEST_CASE(sums_of_exponentials_near_one) {
  check_sums_near_one<float>("logaddexp", 1, wide_logaddexp);
  check_sums_near_one<double>("logaddexp", 1, wide_logaddexp);
  check_sums_near_one<float>("logaddexp2", std::log(2.0L), wide_logaddexp2);
  check_sums_near_one<double>("logaddexp2", std::log(2.0L), wide_logaddexp2);
  const double inf = HUGE_VAL;
  const std::vector<double> a = {inf, inf, -inf, -inf, 3, -800, 0, -1e308, 1e308},
                            b = {inf, -inf, -inf, 5, -inf, 0, -740, -1e308, -1e308},
                            expected = {inf, inf, -inf, 5, 3, 0, std::exp(-740), -1e308, 1e308};
  const auto y = apply<double>("logaddexp", "dd->d", a, b);
  for (std::size_t i = 0; i < a.size(); ++i)
    BOOST_TEST((y[i] == expected[i] || std::fabs(y[i] - expected[i]) <= 5e-324), a[i] << ", " << b[i] << ": " << y[i]);
}

// Operands of every size beside each other: no square overflows or loses digits.
template <class T> void check_hypot() {
  using L = std::numeric_limits<T>;
  Noise noise(15);
  std::vector<T> a, b;
  for (int e = L::min_exponent - L::digits; e < L::max_exponent; ++e)
    for (int d : {-60, -30, -12, -1, 0, 1, 12, 30, 60}) {
      a.push_back(static_cast<T>(std::ldexp(Wide(noise.uniform(1, 2)), e)));
      b.push_back(static_cast<T>(std::ldexp(Wide(noise.uniform(-2, -1)), std::min(e + d, L::max_exponent - 1))));
    }
  a.push_back(L::max());
  b.push_back(L::max());
  const auto y = apply<T>("hypot", sig<T>(2), a, b);
  Wide worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const Wide exact = std::hypot(Wide(a[i]), Wide(b[i]));
    if (exact > L::max()) {
      BOOST_TEST(y[i] >= L::max(), a[i] << ", " << b[i]);
      continue;
    }
    int e = 0;
    std::frexp(exact, &e);
    worst = std::fmax(worst, std::fabs(y[i] - exact) / std::ldexp(Wide(1), std::max(e, L::min_exponent) - L::digits));
  }
  BOOST_TEST(worst <= 1.5, sig<T>(2) << ": " << double(worst));
}
BOOST_AUTO_TEST_CASE(hypot_of_numbers_of_every_size) {
  check_hypot<float>();
  check_hypot<double>();
}

BOOST_AUTO_TEST_CASE(powers_and_lengths_beside_signalling_nan) {
  const double inf = HUGE_VAL;
  for (const double nan :
       {std::nan(""), std::bit_cast<double>(0x7ff0000000000001u), std::bit_cast<double>(0xfff4000000000000u)})
    for (const double zero : {0.0, -0.0}) {
      const std::vector<double> a = {nan, 1, nan, 2}, b = {zero, nan, 1, nan};
      const auto p = apply<double>("power", "dd->d", a, b);
      BOOST_TEST((p[0] == 1 && p[1] == 1 && std::isnan(p[2]) && std::isnan(p[3])));
      const std::vector<double> x = {nan, inf, -inf, nan, nan}, y = {inf, nan, nan, zero, nan};
      const auto h = apply<double>("hypot", "dd->d", x, y);
      BOOST_TEST((h[0] == inf && h[1] == inf && h[2] == inf && std::isnan(h[3]) && std::isnan(h[4])));
    }
}

// ---- rules that an oracle would only repeat -----------------------------------------------------
template <class T> T one(std::string_view name, T a, T b) {
  return apply<T>(name, sig<T>(2), std::vector<T>{a}, std::vector<T>{b})[0];
}

BOOST_AUTO_TEST_CASE(float_division_follows_python) {
  const double inf = HUGE_VAL;
  BOOST_TEST(one("floor_divide", 1.0, 0.1) == 9.0);
  BOOST_TEST(one("floor_divide", -7.0, 2.0) == -4.0);
  BOOST_TEST(one("floor_divide", 7.0, -2.0) == -4.0);
  BOOST_TEST(one("floor_divide", 1.0, 0.0) == inf);
  BOOST_TEST(one("floor_divide", -1.0, 0.0) == -inf);
  BOOST_TEST(std::isnan(one("floor_divide", 0.0, 0.0)));
  BOOST_TEST(std::signbit(one("floor_divide", -0.0, 3.0)));
  BOOST_TEST(one("remainder", 1.0, inf) == 1.0);
  BOOST_TEST(one("remainder", -1.0, inf) == inf);
  BOOST_TEST(one("remainder", -7.0, 3.0) == 2.0);
  BOOST_TEST(one("remainder", 7.0, -3.0) == -2.0);
  BOOST_TEST(std::isnan(one("remainder", 7.0, 0.0)));
  BOOST_TEST(std::signbit(one("remainder", 6.0, -3.0)));
  // quotient b + rest = a, the rest on b's side and smaller.
  Noise noise(3);
  const std::vector<double> a = noise.vector<double>(5000, -50, 50), b = noise.vector<double>(5000, -5, 5);
  const auto q = apply<double>("floor_divide", "dd->d", a, b), r = apply<double>("remainder", "dd->d", a, b);
  std::vector<double> dq(a.size()), dr(a.size());
  std::byte* const p[] = {bytes_of(a), bytes_of(b), bytes_of(dq), bytes_of(dr)};
  const std::int64_t s[] = {8, 8, 8, 8};
  loop_of("divmod", "dd->dd").elementwise(p, s, std::int64_t(a.size()));
  for (std::size_t i = 0; i < a.size(); ++i) {
    BOOST_TEST_REQUIRE((q[i] == dq[i] && r[i] == dr[i]));
    BOOST_TEST_REQUIRE(
        (q[i] == std::floor(q[i]) && (r[i] == 0 || (r[i] < 0) == (b[i] < 0)) && std::fabs(r[i]) <= std::fabs(b[i])));
    BOOST_TEST_REQUIRE(std::fabs(q[i] * b[i] + r[i] - a[i]) <= 1e-12 * (1 + std::fabs(a[i])));
  }
}

BOOST_AUTO_TEST_CASE(clip_and_where) {
  const float nan = std::nanf("");
  const std::vector<float> x = {-5, 0, 5, nan, 1, 1}, low = {-1, -1, -1, -1, nan, 3}, high = {1, 1, 1, 1, nan, 2};
  const auto y = apply<float>("clip", "fff->f", x, low, high);
  BOOST_TEST((y[0] == -1 && y[1] == 0 && y[2] == 1 && std::isnan(y[3]) && y[4] == 1 && y[5] == 2));
  const std::vector<unsigned char> c = {1, 0, 1};
  const std::vector<double> a = {1, 2, 3}, b = {4, 5, 6};
  const auto w = apply<double>("where", "?dd->d", c, a, b);
  BOOST_TEST((w[0] == 1 && w[1] == 5 && w[2] == 3));
}

BOOST_AUTO_TEST_CASE(float_predicates) {
  const float inf = HUGE_VALF, nan = std::nanf("");
  const std::vector<float> x = {
      0.f, -0.f, 1.f, -1.f, inf, -inf, nan, std::copysign(nan, -1.f), std::numeric_limits<float>::max()};
  const auto is_nan = apply<bool>("isnan", "f->?", x), is_inf = apply<bool>("isinf", "f->?", x);
  const auto finite = apply<bool>("isfinite", "f->?", x), sign = apply<bool>("signbit", "f->?", x);
  const auto no = apply<bool>("logical_not", "f->?", x);
  for (std::size_t i = 0; i < x.size(); ++i) {
    BOOST_TEST_INFO(x[i]);
    BOOST_TEST((is_nan[i] == std::isnan(x[i]) && is_inf[i] == std::isinf(x[i]) && finite[i] == std::isfinite(x[i])));
    BOOST_TEST((sign[i] == std::signbit(x[i]) && no[i] == (x[i] == 0)));
  }
  for (float a : x)
    for (float b : x) {
      const auto test2 = [&](const char* name) {
        return apply<bool>(name, "ff->?", std::vector<float>{a}, std::vector<float>{b})[0] != 0;
      };
      BOOST_TEST((test2("equal") == (a == b) && test2("not_equal") == (a != b) && test2("less") == (a < b)));
      BOOST_TEST(
          (test2("less_equal") == (a <= b) && test2("greater") == (a > b) && test2("greater_equal") == (a >= b)));
      BOOST_TEST(
          (test2("logical_and") == (a && b) && test2("logical_or") == (a || b) && test2("logical_xor") == (!a != !b)));
    }
}

template <class T> void check_parts() {
  const char c = std::is_same_v<T, float> ? 'f' : 'd';
  Noise noise(12);
  std::vector<T> x = specials<T>();
  for (int i = 0; i < 3000; ++i)
    x.push_back(static_cast<T>(noise.uniform(-1, 1) * std::exp2(noise.uniform(-170, 120))));
  std::vector<T> first(x.size()), second(x.size());
  std::vector<std::int32_t> exponent(x.size());
  const std::int64_t n = std::int64_t(x.size()), size = sizeof(T), stride[] = {size, size, size},
                     stride_i[] = {size, size, 4};
  std::byte* const p[] = {bytes_of(x), bytes_of(first), bytes_of(second)};
  loop_of("modf", concat(c, "->", c, c)).elementwise(p, stride, n);
  for (std::size_t i = 0; i < x.size(); ++i) {
    T whole;
    const T fraction = std::modf(x[i], &whole);
    BOOST_TEST((same_value(first[i], fraction) && same_value(second[i], whole)), "modf " << x[i]);
  }
  std::byte* const q[] = {bytes_of(x), bytes_of(first), bytes_of(exponent)};
  loop_of("frexp", concat(c, "->", c, 'i')).elementwise(q, stride_i, n);
  for (std::size_t i = 0; i < x.size(); ++i) {
    int e = 0;
    const T mantissa = std::frexp(x[i], &e);
    BOOST_TEST((same_value(first[i], mantissa) && (!std::isfinite(x[i]) ? exponent[i] == 0 : exponent[i] == e)),
               "frexp " << x[i]);
  }
  for (std::int64_t e :
       {0, 1, -1, 30, -60, 127, -149, 400, -900, 1023, -1022, -1074, 1100, -1100, 2098, -2200, 100000, -100000}) {
    const auto y = apply<T>("ldexp", concat(c, "l->", c), x, std::vector<std::int64_t>{e});
    for (std::size_t i = 0; i < x.size(); ++i)
      BOOST_TEST(same_value(y[i], std::ldexp(x[i], int(e))), "ldexp " << x[i] << ", " << e << ": " << y[i]);
  }
  for (T b : specials<T>()) {
    const auto y = apply<T>("nextafter", sig<T>(2), x, std::vector<T>{b});
    for (std::size_t i = 0; i < x.size(); ++i)
      BOOST_TEST((same_value(y[i], std::nextafter(x[i], b)) || x[i] == b), "nextafter " << x[i] << ", " << b);
  }
}
BOOST_AUTO_TEST_CASE(parts_of_a_number) {
  check_parts<float>();
  check_parts<double>();
}

template <class Half> void check_next_half(const char* signature_text) {
  std::vector<float> ordered;  // every finite number and the infinities, ascending, one zero
  for (int bits = 0xffff; bits > 0x8000; --bits)
    ordered.push_back(static_cast<float>(Half::from_bits(static_cast<std::uint16_t>(bits))));
  for (int bits = 0; bits < 0x8000; ++bits)
    ordered.push_back(static_cast<float>(Half::from_bits(static_cast<std::uint16_t>(bits))));
  std::erase_if(ordered, [](float v) { return std::isnan(v); });
  const auto up = apply<float>("nextafter", signature_text, ordered, std::vector<float>{HUGE_VALF});
  const auto down = apply<float>("nextafter", signature_text, ordered, std::vector<float>{-HUGE_VALF});
  int wrong = 0;
  for (std::size_t i = 0; i < ordered.size(); ++i) {
    wrong += up[i] != ordered[std::min(i + 1, ordered.size() - 1)];
    wrong += down[i] != ordered[i == 0 ? 0 : i - 1];
  }
  BOOST_TEST(wrong == 0, signature_text);
}
BOOST_AUTO_TEST_CASE(neighbours_of_16_bit_floats) {
  check_next_half<float16>("ee->e");
  check_next_half<bfloat16>("EE->E");
}

BOOST_AUTO_TEST_SUITE_END()
