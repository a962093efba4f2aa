// Activations, losses, pooling and patches against formulas and loops written down plainly.
#include <cmath>

#include <boost/test/unit_test.hpp>

#include <catena/tests/kernels/kernel_calls.h>

BOOST_AUTO_TEST_SUITE(nn)

using namespace test;  // NOLINT
using Vec = std::vector<double>;
using I = std::int64_t;

double logistic(double x) { return 1 / (1 + std::exp(-x)); }
double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::fabs(x))); }
double normal_cdf(double x) { return 0.5 * std::erfc(-x / std::sqrt(2)); }
double gelu_slope(double x) { return normal_cdf(x) + x * std::exp(-x * x / 2) / std::sqrt(2 * M_PI); }
// By the hyperbolic tangent of the definition.
double gelu_tanh(double x) { return x / 2 * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))); }
double gelu_tanh_slope(double x) {
  const double c = std::sqrt(2 / M_PI), t = std::tanh(c * (x + 0.044715 * x * x * x));
  return (1 + t) / 2 + (t * t < 1 ? x / 2 * (1 - t * t) * c * (1 + 3 * 0.044715 * x * x) : 0);
}
double mish_slope(double x) {
  const double t = std::tanh(softplus(x));
  return t + x * (1 - t * t) * logistic(x);
}

struct Activation {
  const char* name;
  double parameter;  // NaN: there is none
  double (*oracle)(double x, double p);
};
const double none = std::nan("");
const Activation kForward[] = {
    {"relu", none, [](double x, double) { return x > 0 ? x : 0; }},
    {"clipped_relu", 2, [](double x, double z) { return std::min(std::max(0.0, x), z); }},
    {"sigmoid", none, [](double x, double) { return logistic(x); }},
    {"leaky_relu", 0.2, [](double x, double s) { return x >= 0 ? x : s * x; }},
    {"leaky_relu", -3, [](double x, double s) { return x >= 0 ? x : s * x; }},
    {"elu", 1.5, [](double x, double a) { return x >= 0 ? x : a * std::expm1(x); }},
    {"softplus", 2, [](double x, double b) { return std::log1p(std::exp(b * x)) / b; }},
    {"hard_sigmoid", none, [](double x, double) { return std::min(std::max(0.2 * x + 0.5, 0.0), 1.0); }},
    {"silu", none, [](double x, double) { return x * logistic(x); }},
    {"gelu", none, [](double x, double) { return x * normal_cdf(x); }},
    {"gelu_tanh", none, [](double x, double) { return gelu_tanh(x); }},
    {"mish", none, [](double x, double) { return x * std::tanh(softplus(x)); }},
    {"hard_swish", none, [](double x, double) { return x * std::min(std::max(x + 3, 0.0), 6.0) / 6; }},
};
// Gradients for gy = 1 by their formulas (of x, or of y where the kernel takes y; here y = x is just a number).
const Activation kBackward[] = {
    {"relu_bwd", none, [](double y, double) { return y > 0 ? 1.0 : 0.0; }},
    {"clipped_relu_bwd", 2, [](double x, double z) { return x > 0 && x < z ? 1.0 : 0.0; }},
    {"sigmoid_bwd", none, [](double y, double) { return y * (1 - y); }},
    {"tanh_bwd", none, [](double y, double) { return 1 - y * y; }},
    {"leaky_relu_bwd", 0.2, [](double x, double s) { return x >= 0 ? 1 : s; }},
    {"elu_bwd", 1.5, [](double x, double a) { return x >= 0 ? 1 : a * std::exp(x); }},
    {"softplus_bwd", 2, [](double x, double b) { return logistic(b * x); }},
    {"hard_sigmoid_bwd", none, [](double x, double) { return std::fabs(x) < 2.5 ? 0.2 : 0.0; }},
    {"silu_bwd", none, [](double x, double) { return logistic(x) * (1 + x * logistic(-x)); }},
    {"gelu_bwd", none, [](double x, double) { return gelu_slope(x); }},
    {"gelu_tanh_bwd", none, [](double x, double) { return gelu_tanh_slope(x); }},
    {"mish_bwd", none, [](double x, double) { return mish_slope(x); }},
    {"hard_swish_bwd", none, [](double x, double) { return x >= 3   ? 1
                                                           : x > -3 ? x / 3 + 0.5
                                                                    : 0; }},
};

BOOST_AUTO_TEST_CASE(activations_and_their_gradients) {
  Noise noise(1);
  Vec x = noise.vector<double>(300, -6, 6);
  for (double v : {0.0, -0.0, 2.0, 2.5, -2.5, 1000.0, -1000.0}) x.push_back(v);
  for (const Activation& a : kForward) {
    const Vec y = std::isnan(a.parameter) ? apply<double>(a.name, "d->d", x)
                                          : apply<double>(a.name, "dd->d", x, Vec{a.parameter});
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (std::isinf(std::exp(2 * x[i]))) continue;  // the oracle of softplus
      BOOST_TEST(std::fabs(y[i] - a.oracle(x[i], a.parameter)) <= 1e-14 * (1 + std::fabs(x[i])),
                 a.name << "(" << x[i] << ") " << y[i]);
    }
  }
  for (const Activation& a : kBackward)
    for (double g : {1.0, -0.5}) {
      const Vec gy(x.size(), g);
      const Vec gx = std::isnan(a.parameter) ? apply<double>(a.name, "dd->d", x, gy)
                                             : apply<double>(a.name, "ddd->d", x, Vec{a.parameter}, gy);
      for (std::size_t i = 0; i < x.size(); ++i)
        BOOST_TEST(std::fabs(gx[i] - g * a.oracle(x[i], a.parameter)) <= 1e-13 * (1 + x[i] * x[i]),
                   a.name << "(" << x[i] << ") " << gx[i]);
    }
  const auto extreme = apply<float>("softplus", "ff->f", std::vector<float>{1000, -1000}, std::vector<float>{1});
  BOOST_TEST((extreme[0] == 1000 && extreme[1] == 0));
  for (const char* name : {"relu", "sigmoid"})
    BOOST_TEST(std::isnan(apply<float>(name, "f->f", std::vector<float>{std::nanf("")})[0]));
}

// float32 has a series of its own for the normal distribution: relative to x Phi(x), which is tiny far below 0, the
// error is that of exp(-x^2 / 2).
BOOST_AUTO_TEST_CASE(gelu_of_float32_keeps_the_digits_of_its_tail) {
  std::vector<float> x;
  for (float v = -13; v <= 13; v += 1.f / 64) x.push_back(v);
  const auto y = apply<float>("gelu", "f->f", x),
             gx = apply<float>("gelu_bwd", "ff->f", x, std::vector<float>(x.size(), 1));
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double v = x[i], exact = v * normal_cdf(v), slope = gelu_slope(v);
    BOOST_TEST(std::fabs(y[i] - exact) <= (4e-7 + 4e-8 * v * v) * std::fabs(exact), "gelu(" << v << ") is " << y[i]);
    // The slope has a root near -0.75.
    BOOST_TEST(std::fabs(gx[i] - slope) <= (4e-7 + 4e-8 * v * v) * (std::fabs(slope) + normal_cdf(v)),
               "gelu'(" << v << ") is " << gx[i]);
  }
}

BOOST_AUTO_TEST_CASE(far_from_zero_activations_are_zero_or_the_input) {
  const std::vector<float> x = {1e30f, -1e30f, 200, -200, std::nanf("")}, one(5, 1.f);
  for (const char* name : {"silu", "gelu", "gelu_tanh", "mish", "hard_swish"}) {
    const auto y = apply<float>(name, "f->f", x);
    const auto gx = apply<float>((name + std::string("_bwd")).c_str(), "ff->f", x, one);
    BOOST_TEST((y[0] == x[0] && y[1] == 0 && y[2] == 200 && y[3] == 0 && std::isnan(y[4])), name);
    BOOST_TEST((gx[0] == 1 && gx[1] == 0 && gx[2] == 1 && std::fabs(gx[3]) < 1e-30 && std::isnan(gx[4])), name);
  }
}

BOOST_AUTO_TEST_CASE(elu_with_two_factors) {
  Noise noise(6);
  Vec x = noise.vector<double>(300, -6, 6);
  for (double v : {0.0, 1000.0, -1000.0}) x.push_back(v);
  const Vec gy = noise.vector<double>(x.size(), -1, 1),
            y = apply<double>("scaled_elu", "ddd->d", x, Vec{1.5}, Vec{0.75}),
            gx = apply<double>("scaled_elu_bwd", "dddd->d", x, gy, Vec{1.5}, Vec{0.75});
  for (std::size_t i = 0; i < x.size(); ++i) {
    BOOST_TEST(std::fabs(y[i] - (x[i] >= 0 ? 1.5 * x[i] : 0.75 * std::expm1(x[i]))) <= 1e-14 * (1 + std::fabs(x[i])));
    BOOST_TEST(std::fabs(gx[i] - gy[i] * (x[i] >= 0 ? 1.5 : 0.75 * std::exp(x[i]))) <= 1e-14);
  }
}

// A factor that is subnormal, and a gradient that is infinite.
BOOST_AUTO_TEST_CASE(gradients_of_activations_keep_extreme_factors) {
  const std::vector<float> x = {-0.5f, -1.5f, -20}, alpha = {1e-40f, 1e30f, 3e-41f}, gy = {1e30f, 1e-40f, -1e35f};
  const auto gx = apply<float>("elu_bwd", "fff->f", x, alpha, gy);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double exact = double(alpha[i]) * gy[i] * std::exp(double(x[i]));
    BOOST_TEST(std::fabs(gx[i] - exact) <= 5e-7 * std::fabs(exact), gx[i] << " for " << exact);
  }
  const float inf = HUGE_VALF;
  for (const float v : {-8.5f, -20.0f, -80.0f})
    BOOST_TEST((apply<float>("softplus_bwd", "fff->f", std::vector<float>{v}, std::vector<float>{1},
                             std::vector<float>{inf})[0] == inf),
               v);
}

// ---- losses -------------------------------------------------------------------------------------
BOOST_AUTO_TEST_CASE(cross_entropy_picks_by_label) {
  const I N = 3, C = 4, D = 2;
  Noise noise(2);
  const Vec log_y = noise.vector<double>(std::size_t(N * C * D), -3, -0.1), weight = {1, 2, 0.5, 3};
  const std::vector<std::int32_t> label = {0, 3, -1, 2, 1, 7};  // 7 is no class
  const std::int32_t ignore = -1;
  Vec loss(std::size_t(N * D));
  call_indexed("cross_entropy_pick", "*d*dii->d", {N, D},
               {{log_y, {N, C, D}}, {weight, {C}}, {label, {N, D}}, scalar(ignore), {loss, {N, D}}});
  for (I n = 0; n < N; ++n)
    for (I d = 0; d < D; ++d) {
      const std::int32_t t = label[std::size_t(n * D + d)];
      const double l = loss[std::size_t(n * D + d)];
      if (t == ignore) BOOST_TEST(l == 0);
      else if (t >= C) BOOST_TEST(std::isnan(l));
      else BOOST_TEST(l == -weight[std::size_t(t)] * log_y[std::size_t((n * C + t) * D + d)]);
    }
}

// The loss of a label, from the maximum and the logarithm of the sum; a small one beside a large score keeps its
// digits.
BOOST_AUTO_TEST_CASE(cross_entropy_of_labels) {
  const I N = 3, C = 2, D = 2;
  const std::vector<float> x = {1000, 1, 990, 2, 5, 6, 7, 8, 0, 0, 0, 0}, weight = {0.5f, 3},
                           max = {1000, 2, 7, 8, 0, 0}, log_sum = {1e-5f, 0.25f, 0.5f, 0.75f, 1, 1};
  const std::vector<std::int32_t> label = {0, 1, -1, 0, 2, 1};  // 2 is no class
  std::vector<float> loss(std::size_t(N * D), 9);
  call_indexed("cross_entropy", "*f*fffii->f", {N, 1, D},
               {{x, {N, C, D}},
                {weight, {C}},
                {max, {N, 1, D}},
                {log_sum, {N, 1, D}},
                {label, {N, 1, D}},
                scalar(std::int32_t(-1)),
                {loss, {N, 1, D}}});
  BOOST_TEST((loss[0] == 0.5f * 1e-5f && loss[1] == 3 * 0.25f && loss[2] == 0));
  BOOST_TEST((loss[3] == 0.5f * 2.75f && std::isnan(loss[4]) && loss[5] == 3));
}

// A scale that is the same for all classes, the gradient of all classes and that of the label.
template <class T> void check_cross_entropy_bwd(const char* numbers, const char* row, const char* of_label, I C) {
  Noise noise(static_cast<unsigned>(7 + C));
  const I N = 5;
  const auto x = noise.vector<T>(std::size_t(N * C), 995, 1000), g = noise.vector<T>(std::size_t(N), -1, 1),
             weight = noise.vector<T>(std::size_t(C), 0.5, 2);
  const std::vector<T> norm = {4}, max(std::size_t(N), T(1000)), log_sum = noise.vector<T>(std::size_t(N), 0, 3);
  const std::vector<std::int32_t> label = {0, -1, std::int32_t(C - 1), std::int32_t(C / 2), std::int32_t(C)};
  std::vector<T> scale(std::size_t(N), 9), off(std::size_t(N), 9), gx(x.size(), 9);
  call_indexed("cross_entropy_scale", numbers, {N, 1, 1},
               {{weight, {C}},
                {label, {N, 1, 1}},
                scalar(std::int32_t(-1)),
                {g, {N, 1, 1}},
                {norm, {}},
                scalar(T(0.0625)),
                {scale, {N, 1, 1}},
                {off, {N, 1, 1}}});
  for (I n = 0; n < N; ++n) {
    std::vector<T> x_row(x.begin() + n * C, x.begin() + (n + 1) * C), gx_row(std::size_t(C), 9);
    std::vector<T> m = {max[std::size_t(n)]}, s = {log_sum[std::size_t(n)]}, k = {scale[std::size_t(n)]},
                   o = {off[std::size_t(n)]};
    call_row("cross_entropy_bwd", row, C, {{x_row, {C}}, {m, {}}, {s, {}}, {k, {}}, {o, {}}, {gx_row, {C}}});
    std::copy(gx_row.begin(), gx_row.end(), gx.begin() + n * C);
  }
  call_indexed("cross_entropy_label_bwd", of_label, {N, 1, 1},
               {{x, {N, C, 1}},
                {max, {N, 1, 1}},
                {log_sum, {N, 1, 1}},
                {scale, {N, 1, 1}},
                {off, {N, 1, 1}},
                {label, {N, 1, 1}},
                scalar(T(0.75)),
                {gx, {N, C, 1}}});
  for (I n = 0; n < N; ++n)
    for (I c = 0; c < C; ++c) {
      const std::int32_t t = label[std::size_t(n)];
      const T v = gx[std::size_t(n * C + c)];
      const double factor = t < 0 || t == C ? 0 : double(g[std::size_t(n)]) * weight[std::size_t(t)] / 4;
      const double p = std::exp(double(x[std::size_t(n * C + c)]) - 1000 - double(log_sum[std::size_t(n)]));
      const bool good = t == -1  ? v == 0
                        : t == C ? std::isnan(v)
                                 : std::fabs(v - factor * (p - (c == t ? 0.75 : 0.0625))) <
                                       8 * double(std::numeric_limits<T>::epsilon());
      if (!good) BOOST_ERROR(row << " at " << n << ' ' << c << " of " << C << ": " << v);
    }
}
BOOST_AUTO_TEST_CASE(gradients_of_cross_entropy) {
  for (const I C : {1, 2, 10, 16, 17, 255, 257, 1000}) {
    check_cross_entropy_bwd<float>("*fiifff->ff", "fffff->f", "*fffffif->*f", C);
    check_cross_entropy_bwd<double>("*diiddd->dd", "ddddd->d", "*dddddid->*d", C);
  }
}
// Ignored rows have the gradient 0 beside scores that are no numbers.
BOOST_AUTO_TEST_CASE(ignored_rows_have_no_gradient) {
  std::vector<float> x = {NAN, 800, -HUGE_VALF}, number = {1}, scale = {NAN}, off = {-1}, gx(3, 9);
  call_row("cross_entropy_bwd", "fffff->f", 3,
           {{x, {3}}, {number, {}}, {number, {}}, {scale, {}}, {off, {}}, {gx, {3}}});
  BOOST_TEST((gx == std::vector<float>{0, 0, 0}));
  scale = {1}, off = {0};
  call_row("cross_entropy_bwd", "fffff->f", 3,
           {{x, {3}}, {number, {}}, {number, {}}, {scale, {}}, {off, {}}, {gx, {3}}});
  BOOST_TEST((std::isnan(gx[0]) && gx[2] == 0));
}

BOOST_AUTO_TEST_CASE(cross_entropy_of_logistic_functions) {
  const Vec x = {-30, -2, 0, 1.5, 30, 800, -800, 800, -800}, t = {0, 0.25, 1, 0.5, 1, 1, 0, 0, 1},
            weight = {3, 3, 3, 3, 3, 3, 3, 3, 3}, g(9, -2);
  const Vec y = apply<double>("logistic_cross_entropy", "ddd->d", x, t, weight),
            gx = apply<double>("logistic_cross_entropy_bwd", "dddd->d", x, t, weight, g);
  for (std::size_t k = 0; k < x.size(); ++k) {
    const double loss = (1 - t[k]) * softplus(x[k]) + 3 * t[k] * softplus(-x[k]);
    const double slope = (1 - t[k]) * std::exp(-softplus(-x[k])) - 3 * t[k] * std::exp(-softplus(x[k]));
    BOOST_TEST(std::fabs(y[k] - loss) <= 1e-15 * loss, x[k] << ": " << y[k]);
    BOOST_TEST(std::fabs(gx[k] + 2 * slope) <= 4e-15 * std::fabs(slope), x[k] << ": " << gx[k]);
  }
}

BOOST_AUTO_TEST_CASE(a_valid_class_may_be_the_one_to_ignore) {
  const Vec log_y = {-1, -2, -3, -4}, weight = {1, 1};
  const std::vector<std::int32_t> label = {1, 0};
  Vec loss(2);
  call_indexed("cross_entropy_pick", "*d*dii->d", {2, 1},
               {{log_y, {2, 2, 1}}, {weight, {2}}, {label, {2, 1}}, scalar(std::int32_t(1)), {loss, {2, 1}}});
  BOOST_TEST((loss == Vec{0, 3}));
}

BOOST_AUTO_TEST_CASE(one_hot_rows) {
  const std::vector<std::int32_t> label = {2, 0, 5};
  std::vector<float> y(9);
  call_indexed("one_hot", "iff->f", {3, 3, 1}, {{label, {3, 1, 1}}, scalar(-1.f), scalar(2.f), {y, {3, 3, 1}}});
  BOOST_TEST((y == std::vector<float>{-1, -1, 2, 2, -1, -1, -1, -1, -1}));
}

// ---- windows ------------------------------------------------------------------------------------
struct Window {
  I n, c, h, w, kh, kw, sy, sx, ph, pw;
  bool cover_all;
  I out(I size, I k, I s, I p) const { return (cover_all ? (size + 2 * p - k + s - 1) : (size + 2 * p - k)) / s + 1; }
  I oh() const { return out(h, kh, sy, ph); }
  I ow() const { return out(w, kw, sx, pw); }
  Shape image() const { return {n, c, h, w}; }
  Shape pooled() const { return {n, c, oh(), ow()}; }
};
const Window kWindows[] = {
    {2, 3, 6, 7, 2, 2, 2, 2, 0, 0, true}, {1, 2, 5, 5, 3, 3, 1, 1, 1, 1, false}, {1, 1, 7, 4, 3, 2, 2, 1, 1, 0, true},
    {2, 1, 4, 9, 2, 3, 3, 2, 0, 2, true}, {1, 1, 3, 3, 5, 5, 2, 2, 2, 2, false}, {1, 2, 8, 8, 1, 1, 3, 3, 0, 0, false},
    {1, 1, 2, 2, 2, 2, 4, 4, 3, 3, true},  // windows that lie in the padding
};

std::vector<Given> geometry(const Window& g, bool with_kh = true) {
  std::vector<Given> v;
  if (with_kh) v.push_back(scalar(g.kh));
  for (I k : {g.kw, g.sy, g.sx, g.ph, g.pw}) v.push_back(scalar(k));
  return v;
}
std::vector<Given> join(std::vector<Given> a, const std::vector<Given>& b, const std::vector<Given>& c) {
  a.insert(a.end(), b.begin(), b.end());
  a.insert(a.end(), c.begin(), c.end());
  return a;
}
// Calls f(plane, oy, ox, position in the window, position in the plane or -1) for every element of every window.
template <class F> void each(const Window& g, F&& f) {
  for (I p = 0; p < g.n * g.c; ++p)
    for (I oy = 0; oy < g.oh(); ++oy)
      for (I ox = 0; ox < g.ow(); ++ox)
        for (I ky = 0; ky < g.kh; ++ky)
          for (I kx = 0; kx < g.kw; ++kx) {
            const I y = oy * g.sy + ky - g.ph, x = ox * g.sx + kx - g.pw;
            f((p * g.oh() + oy) * g.ow() + ox, ky * g.kw + kx,
              y >= 0 && y < g.h && x >= 0 && x < g.w ? (p * g.h + y) * g.w + x : -1);
          }
}
template <class T> std::size_t at(T i) { return std::size_t(i); }

BOOST_AUTO_TEST_CASE(max_pooling_forward_backward_and_by_index) {
  Noise noise(3);
  for (const Window& g : kWindows) {
    Vec x = noise.vector<double>(at(size_of(g.image())), -1, 1);
    for (double& v : x) v = std::round(v * 4) / 4;  // ties
    const Vec gy = noise.vector<double>(at(size_of(g.pooled())), -1, 1);
    Vec y(gy.size()), gx(x.size()), picked(gy.size());
    std::vector<std::int32_t> index(gy.size());
    call_indexed("max_pool_2d", "*dllllll->di", g.pooled(),
                 join({{x, g.image()}}, geometry(g), {{y, g.pooled()}, {index, g.pooled()}}));
    call_indexed("max_pool_2d_bwd", "*d*illllll->d", g.image(),
                 join({{gy, g.pooled()}, {index, g.pooled()}}, geometry(g), {{gx, g.image()}}));
    call_indexed("max_pool_2d_by_index", "*dilllll->d", g.pooled(),
                 join({{x, g.image()}, {index, g.pooled()}}, geometry(g, false), {{picked, g.pooled()}}));
    Vec best(gy.size(), -HUGE_VAL), expected_gx(x.size());
    std::vector<I> best_index(gy.size(), -1), winner(gy.size(), -1);
    each(g, [&](I o, I k, I p) {
      const double v = p < 0 ? -HUGE_VAL : x[at(p)];
      if (v > best[at(o)] || (k == 0 && best_index[at(o)] < 0))
        best[at(o)] = v, best_index[at(o)] = k, winner[at(o)] = p;
    });
    for (std::size_t o = 0; o < gy.size(); ++o) {
      BOOST_TEST((y[o] == best[o] && index[o] == best_index[o]));
      BOOST_TEST(picked[o] == (winner[o] < 0 ? 0 : best[o]));
      if (winner[o] >= 0) expected_gx[at(winner[o])] += gy[o];
    }
    for (std::size_t i = 0; i < x.size(); ++i) BOOST_TEST(std::fabs(gx[i] - expected_gx[i]) < 1e-14);
  }
}

BOOST_AUTO_TEST_CASE(max_pooling_propagates_nan) {
  const Vec x = {1, std::nan(""), 3, std::nan("")};
  Vec y(1);
  std::vector<std::int32_t> index(1);
  const Window g{1, 1, 2, 2, 2, 2, 1, 1, 0, 0, false};
  call_indexed("max_pool_2d", "*dllllll->di", g.pooled(),
               join({{x, g.image()}}, geometry(g), {{y, g.pooled()}, {index, g.pooled()}}));
  BOOST_TEST((std::isnan(y[0]) && index[0] == 1));
}

BOOST_AUTO_TEST_CASE(average_pooling_counts_the_padding) {
  Noise noise(4);
  for (const Window& g : kWindows) {
    const Vec x = noise.vector<double>(at(size_of(g.image())), -1, 1),
              gy = noise.vector<double>(at(size_of(g.pooled())), -1, 1);
    Vec y(gy.size()), gx(x.size()), expected_y(gy.size()), expected_gx(x.size());
    call_indexed("average_pool_2d", "*dllllll->d", g.pooled(), join({{x, g.image()}}, geometry(g), {{y, g.pooled()}}));
    call_indexed("average_pool_2d_bwd", "*dllllll->d", g.image(),
                 join({{gy, g.pooled()}}, geometry(g), {{gx, g.image()}}));
    const double area = double(g.kh * g.kw);
    each(g, [&](I o, I, I p) {
      if (p >= 0) expected_y[at(o)] += x[at(p)] / area, expected_gx[at(p)] += gy[at(o)] / area;
    });
    for (std::size_t o = 0; o < y.size(); ++o) BOOST_TEST(std::fabs(y[o] - expected_y[o]) < 1e-14);
    for (std::size_t i = 0; i < x.size(); ++i) BOOST_TEST(std::fabs(gx[i] - expected_gx[i]) < 1e-14);
  }
}

BOOST_AUTO_TEST_CASE(columns_of_an_image_and_back) {
  Noise noise(5);
  for (I dilate : {1, 2})
    for (const Window& g : kWindows) {
      const I dy = dilate, dx = dilate, ey = (g.kh - 1) * dy + 1, ex = (g.kw - 1) * dx + 1;
      const I oh = g.out(g.h, ey, g.sy, g.ph), ow = g.out(g.w, ex, g.sx, g.pw);
      if (oh <= 0 || ow <= 0) continue;
      const Shape columns = {g.n, g.c, g.kh, g.kw, oh, ow};
      const Vec img = noise.vector<double>(at(size_of(g.image())), -1, 1),
                gcol = noise.vector<double>(at(size_of(columns)), -1, 1);
      Vec col(gcol.size()), back(img.size()), expected_back(img.size());
      const std::vector<Given> geo = {scalar(g.sy), scalar(g.sx), scalar(g.ph), scalar(g.pw), scalar(dy), scalar(dx)};
      call_indexed("im2col_2d", "*dllllll->d", columns, join({{img, g.image()}}, geo, {{col, columns}}));
      call_indexed("col2im_2d", "*dllllll->d", g.image(), join({{gcol, columns}}, geo, {{back, g.image()}}));
      std::size_t k = 0;
      bool same = true;
      for (I p = 0; p < g.n * g.c; ++p)
        for (I j = 0; j < g.kh; ++j)
          for (I i = 0; i < g.kw; ++i)
            for (I oy = 0; oy < oh; ++oy)
              for (I ox = 0; ox < ow; ++ox, ++k) {
                const I y = oy * g.sy + j * dy - g.ph, x = ox * g.sx + i * dx - g.pw;
                const bool inside = y >= 0 && y < g.h && x >= 0 && x < g.w;
                same &= col[k] == (inside ? img[at((p * g.h + y) * g.w + x)] : 0);
                if (inside) expected_back[at((p * g.h + y) * g.w + x)] += gcol[k];
              }
      BOOST_TEST(same);
      for (std::size_t i = 0; i < img.size(); ++i) BOOST_TEST(std::fabs(back[i] - expected_back[i]) < 1e-13);
    }
}

BOOST_AUTO_TEST_CASE(sixteen_bit_loops_compute_in_float32_and_round_once) {
  const std::vector<float16> x = {float16(1.f), float16(2049.f), float16(0.5f), float16(2048.f)};
  std::vector<float16> y(1);
  const Window g{1, 1, 2, 2, 2, 2, 1, 1, 0, 0, false};
  call_indexed("average_pool_2d", "*ellllll->e", g.pooled(), join({{x, g.image()}}, geometry(g), {{y, g.pooled()}}));
  BOOST_TEST(static_cast<float>(y[0]) ==
             static_cast<float>(float16((1.f + 2048.f + 0.5f + 2048.f) / 4)));  // 2049 is stored as 2048
}

BOOST_AUTO_TEST_CASE(a_step_of_alignments) {
  Noise noise(8);
  const double never = -1e10;
  Vec stay = noise.vector<double>(200, -30, 0), next = noise.vector<double>(200, -30, 0),
      skip = noise.vector<double>(200, -30, 0), penalty(200), emission = noise.vector<double>(200, -5, 0);
  for (std::size_t k = 0; k < 200; ++k) {
    if (k % 3 == 0) penalty[k] = never;
    if (k % 5 == 0) stay[k] = never;
    if (k % 7 == 0) next[k] = never;
    if (k % 35 == 0) skip[k] = never;
  }
  const Vec y = apply<double>("ctc_step", "ddddd->d", stay, next, skip, penalty, emission);
  for (std::size_t k = 0; k < 200; ++k) {
    const double sum = std::exp(stay[k]) + std::exp(next[k]) + std::exp(skip[k] + penalty[k]);
    if (sum > 0) BOOST_TEST(std::fabs(y[k] - emission[k] - std::log(sum)) < 1e-12);
    else BOOST_TEST(std::fabs(y[k] / never - 1) < 1e-6);
  }
  // A NaN is kept wherever it comes from; the logarithm of 0 is another one.
  const double nan = std::nan(""), inf = std::numeric_limits<double>::infinity();
  const Vec special =
      apply<double>("ctc_step", "ddddd->d", Vec{nan, -1, -1, -1, -inf, -inf}, Vec{-1, nan, -1, -1, -2, -inf},
                    Vec{-1, -1, nan, -1, -inf, -inf}, Vec{0, 0, 0, 0, 0, 0}, Vec{0, 0, 0, nan, 0, 0});
  for (std::size_t k = 0; k < 4; ++k) BOOST_TEST(std::isnan(special[k]));
  BOOST_TEST(special[4] == -2);
  BOOST_TEST(special[5] == -inf);
}

BOOST_AUTO_TEST_CASE(shares_of_alignments) {
  const double never = -1e10;
  const Vec alpha = {-3, -3, -40, never, -3, never, -500, 2}, beta = {-4, -5, -40, -5, -5, never, -500, 0},
            emission = {-1, -1, -2, -1, -9, 0, -1, -1}, log_p = {-6, -6, -6, -6, -6, never, -6, -6};
  const Vec y = apply<double>("ctc_share", "dddd->d", alpha, beta, emission, log_p);
  const Vec expected = {1, std::exp(-1.), std::exp(-72.), 0, 0, 0, 0, 0};  // e^7 and more are no shares
  for (std::size_t k = 0; k < y.size(); ++k)
    BOOST_TEST(std::fabs(y[k] - expected[k]) <= 1e-14 * expected[k], "share " << k << " is " << y[k]);
}

BOOST_AUTO_TEST_CASE(cells_and_their_gradients) {
  Noise noise(9);
  constexpr std::size_t n = 70;
  std::vector<Vec> in;
  for (int k = 0; k < 12; ++k) in.push_back(noise.vector<double>(n, -2, 2));
  const auto run = [&](const char* name, const char* sig, std::vector<const Vec*> inputs, std::size_t outputs) {
    std::vector<Vec> out(outputs, Vec(n));
    std::vector<std::byte*> ptr;
    for (const Vec* v : inputs) ptr.push_back(bytes_of(*v));
    for (const Vec& v : out) ptr.push_back(bytes_of(v));
    const std::vector<std::int64_t> stride(ptr.size(), sizeof(double));
    loop_of(name, sig).elementwise(ptr.data(), stride.data(), n);
    return out;
  };
  const auto half = [&](std::size_t at, std::size_t k) {
    return std::tanh(in[at][k]) * logistic(in[at + 1][k]) + logistic(in[at + 2][k]) * in[at + 4][k];
  };
  const auto one = run("lstm", "ddddd->dd", {&in[0], &in[1], &in[2], &in[3], &in[4]}, 2);
  const auto two = run("slstm", "dddddddddd->dd",
                       {&in[0], &in[1], &in[2], &in[3], &in[4], &in[5], &in[6], &in[7], &in[8], &in[9]}, 2);
  const auto g = run("lstm_bwd", "ddddddddd->ddddd",
                     {&in[0], &in[1], &in[2], &in[3], &in[4], &in[8], &two[0], &in[10], &in[11]}, 5);
  for (std::size_t k = 0; k < n; ++k) {
    const double c1 = half(0, k), c2 = c1 + half(5, k), o = logistic(in[3][k] + in[8][k]);
    BOOST_TEST(std::fabs(one[0][k] - c1) < 1e-14);
    BOOST_TEST(std::fabs(one[1][k] - logistic(in[3][k]) * std::tanh(c1)) < 1e-14);
    BOOST_TEST(std::fabs(two[0][k] - c2) < 1e-14);
    BOOST_TEST(std::fabs(two[1][k] - o * std::tanh(c2)) < 1e-14);
    // Of gc c + gh h by each argument.
    const double gc = in[10][k], gh = in[11][k], d = gc + gh * o * (1 - std::tanh(c2) * std::tanh(c2));
    const double a = std::tanh(in[0][k]), i = logistic(in[1][k]), f = logistic(in[2][k]);
    const double expected[] = {d * i * (1 - a * a), d * a * i * (1 - i), d * in[4][k] * f * (1 - f),
                               gh * std::tanh(c2) * o * (1 - o), d * f};
    for (std::size_t q = 0; q < 5; ++q) BOOST_TEST(std::fabs(g[q][k] - expected[q]) < 1e-13);
  }
}

BOOST_AUTO_TEST_SUITE_END()
