// Functions that connect layers.
#include <catena/nn/functions/connection.h>

#include <boost/test/unit_test.hpp>
#include <cmath>

#include <catena/autograd/flag.h>
#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/operators.h>
#include <catena/autograd/testing.h>
#include <catena/nn/functions/recurrent.h>
#include <catena/tests/support/framework_derivatives.h>
#include <catena/tests/support/framework_golden.h>

using namespace autograd;
using test::spread;

namespace {

// y[n, m] = sum_k x[n, k] W[m, k] + b[m], by loops in double.
Array naive_linear(const Array& x, const Array& W, const Array& b) {
  const std::int64_t n = x.shape(0), m = W.shape(0), k = W.shape(1);
  const std::vector<double> xs = to_vector<double>(x), ws = to_vector<double>(W),
                            bs = b ? to_vector<double>(b) : std::vector<double>(std::size_t(m));
  std::vector<double> y;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < m; ++j) {
      double s = bs[std::size_t(j)];
      for (std::int64_t l = 0; l < k; ++l) s += xs[std::size_t(i * k + l)] * ws[std::size_t(j * k + l)];
      y.push_back(s);
    }
  return array(y, {n, m});
}

struct Geometry {
  std::int64_t h, w, kh, kw;
  nn::ConvolutionOptions options;
};

Array naive_convolution(const Array& x, const Array& W, const Array& b, const nn::ConvolutionOptions& o) {
  const std::int64_t n = x.shape(0), c = x.shape(1), h = x.shape(2), w = x.shape(3), m = W.shape(0), kh = W.shape(2),
                     kw = W.shape(3);
  const auto length = [&](std::int64_t size, std::int64_t k, int s, int p, int d) {
    const std::int64_t dk = k + (k - 1) * (d - 1);
    return o.cover_all ? (size + 2 * p - dk + s - 1) / s + 1 : (size + 2 * p - dk) / s + 1;
  };
  const std::int64_t oh = length(h, kh, o.stride.y, o.pad.y, o.dilate.y),
                     ow = length(w, kw, o.stride.x, o.pad.x, o.dilate.x);
  const std::vector<double> xs = to_vector<double>(x), ws = to_vector<double>(W),
                            bs = b ? to_vector<double>(b) : std::vector<double>(std::size_t(m));
  std::vector<double> y;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t out = 0; out < m; ++out)
      for (std::int64_t oy = 0; oy < oh; ++oy)
        for (std::int64_t ox = 0; ox < ow; ++ox) {
          double s = bs[std::size_t(out)];
          for (std::int64_t ch = 0; ch < c; ++ch)
            for (std::int64_t ky = 0; ky < kh; ++ky)
              for (std::int64_t kx = 0; kx < kw; ++kx) {
                const std::int64_t yy = oy * o.stride.y + ky * o.dilate.y - o.pad.y,
                                   xx = ox * o.stride.x + kx * o.dilate.x - o.pad.x;
                if (yy < 0 || yy >= h || xx < 0 || xx >= w) continue;
                s += xs[std::size_t(((i * c + ch) * h + yy) * w + xx)] *
                     ws[std::size_t(((out * c + ch) * kh + ky) * kw + kx)];
              }
          y.push_back(s);
        }
  return array(y, {n, m, oh, ow});
}

}  // namespace

BOOST_AUTO_TEST_SUITE(connection)

BOOST_AUTO_TEST_CASE(linear_values_and_derivatives) {
  for (const bool bias : {true, false})
    for (const Shape& shape : {Shape{4, 6}, Shape{2, 3, 2}, Shape{1, 6}, Shape{0, 6}})
      BOOST_TEST_CONTEXT(shape << bias) {
        Arrays in{spread(shape), spread({5, 6}, -1, 1, 1)};
        if (bias) in.push_back(spread({5}, -1, 1, 2));
        const auto f = [](const Variables& v) {
          return Variables{nn::linear(v[0], v[1], v.size() > 2 ? v[2] : Variable())};
        };
        const Array expected = naive_linear(reshape(in[0], {shape[0], 6}), in[1], bias ? in[2] : Array());
        BOOST_CHECK_NO_THROW(testing::assert_allclose(
            f({Variable(in[0]), Variable(in[1]), bias ? Variable(in[2]) : Variable()})[0].data(), expected, 1e-12,
            1e-12));
        test::check_derivatives("linear", f, in, {.atol16 = 1e-2, .rtol16 = 1e-2});
      }
}

// 2048 + 1 is a tie in float16: rounded before the bias 0.5 is added it becomes 2048, afterwards 2050.
BOOST_AUTO_TEST_CASE(linear_of_float16_rounds_once) {
  for (const bool wide : {false, true}) {
    const std::int64_t n = wide ? 64 : 2;
    std::vector<double> x(std::size_t(n), 0.0), w(std::size_t(n) * 3, 0.0);
    x[0] = 2048, x[1] = 1;
    for (std::size_t row = 0; row < 3; ++row) w[row * std::size_t(n)] = w[row * std::size_t(n) + 1] = 1;
    const auto half = [](const std::vector<double>& v, const Shape& s) { return astype(array(v, s), Dtype::float16); };
    Variable xs(half(x, {1, n})), W(half(w, {3, n})), b(half({0.5, -0.5, 3}, {3}));
    Variable y = nn::linear(xs, W, b);
    BOOST_TEST(to_vector<double>(y.data()) == (std::vector<double>{2050, 2048, 2052}),
               boost::test_tools::per_element());
    y.set_grad(arrays::ones({1, 3}, Dtype::float16));
    y.backward();
    BOOST_TEST(to_vector<double>(b.grad()) == (std::vector<double>{1, 1, 1}), boost::test_tools::per_element());
    BOOST_TEST(to_vector<double>(W.grad())[std::size_t(n)] == 2048.0);
    BOOST_TEST(to_vector<double>(xs.grad())[0] == 3.0);
    // W of another dtype is used in that of x.
    BOOST_TEST(to_vector<double>(nn::linear(xs, cast(W, Dtype::float32), b).data())[0] == 2050.0);
  }
}

BOOST_AUTO_TEST_CASE(dtypes_that_do_not_fit_are_told_with_the_cure) {
  const auto line = [](auto&& f) -> std::string {
    try {
      f();
    } catch (const catena::InvalidType& e) {
      const std::string text = e.what();
      const std::size_t begin = text.find('\n') + 1;
      return text.substr(begin, text.find('\n', begin) - begin);
    }
    return "no InvalidType";
  };
  const Variable x(arrays::ones({2, 3}, Dtype::float64)), W(arrays::ones({4, 3})), b(arrays::ones({4}));
  BOOST_TEST(line([&] { nn::linear(x, W, b); }) == "x is float64, W float32: x.astype(float32)");
  BOOST_TEST(line([&] {
               nn::linear(Variable(arrays::ones({2, 3}, Dtype::int64)), W, b);
             }) == "x is int64: x.astype(float32)");
  BOOST_TEST(line([&] {
               nn::convolution_2d(Variable(arrays::ones({1, 1, 3, 3})), Variable(arrays::ones({1, 1, 1, 1})),
                                  Variable(arrays::ones({1}, Dtype::float64)));
             }) == "x is float32, b float64: b.astype(float32)");
  // A shape that does not fit has no such line.
  BOOST_TEST(line([&] { nn::linear(Variable(arrays::ones({2, 5})), W, b); }).empty());
}

BOOST_AUTO_TEST_CASE(linear_in_the_dtype_of_x) {
  Variable x(spread({2, 3})), W(astype(spread({4, 3}), Dtype::float32));
  Variable y = nn::linear(x, W);
  BOOST_CHECK(y.dtype() == Dtype::float64);
  y.set_grad(arrays::ones({2, 4}, Dtype::float64));
  y.backward();
  BOOST_CHECK(x.grad().dtype() == Dtype::float64);
  BOOST_CHECK(W.grad().dtype() == Dtype::float32);
}

BOOST_AUTO_TEST_CASE(linear_errors) {
  const Variable x(arrays::ones({2, 3})), W(arrays::ones({4, 3}));
  BOOST_CHECK_EXCEPTION(nn::linear(x, Variable(arrays::ones({4, 5}))), catena::InvalidType,
                        [](const catena::InvalidType& e) {
                          return e.expect() == "prod(x.shape[1:]) == W.shape[1]" && e.actual() == "3 != 5";
                        });
  BOOST_CHECK_THROW(nn::linear(Variable(arrays::ones({3})), W), catena::InvalidType);
  BOOST_CHECK_THROW(nn::linear(x, Variable(arrays::ones({4, 3, 1}))), catena::InvalidType);
  BOOST_CHECK_THROW(nn::linear(x, W, Variable(arrays::ones({5}))), catena::InvalidType);
  BOOST_CHECK_THROW(nn::linear(x, W, Variable(arrays::ones({4}, Dtype::float64))), catena::InvalidType);
  BOOST_CHECK_THROW(nn::linear(Variable(arrays::ones({2, 3}, Dtype::int32)), W), catena::InvalidType);
}

BOOST_AUTO_TEST_CASE(convolution_values_and_derivatives) {
  const Geometry geometries[] = {
      {4, 5, 3, 3, {.stride = 1, .pad = 1}},
      {5, 4, 2, 3, {.stride = {2, 1}, .pad = {0, 1}}},
      {5, 5, 2, 2, {.stride = 2, .cover_all = true}},
      {6, 6, 2, 2, {.stride = 1, .pad = 1, .dilate = 2}},
      {1, 1, 1, 1, {}},
  };
  for (const Geometry& g : geometries)
    for (const bool bias : {true, false})
      BOOST_TEST_CONTEXT(g.h << "x" << g.w << " by " << g.kh << "x" << g.kw << bias) {
        Arrays in{spread({2, 3, g.h, g.w}), spread({4, 3, g.kh, g.kw}, -1, 1, 1)};
        if (bias) in.push_back(spread({4}, -1, 1, 2));
        const auto f = [&](const Variables& v) {
          return Variables{nn::convolution_2d(v[0], v[1], v.size() > 2 ? v[2] : Variable(), g.options)};
        };
        Variables v;
        for (const Array& a : in) v.push_back(Variable(a));
        BOOST_CHECK_NO_THROW(testing::assert_allclose(
            f(v)[0].data(), naive_convolution(in[0], in[1], bias ? in[2] : Array(), g.options), 1e-12, 1e-12));
        test::check_derivatives("convolution_2d", f, in, {.atol16 = 1e-2, .rtol16 = 1e-2});
      }
}

BOOST_AUTO_TEST_CASE(convolution_of_groups) {
  const Array x = spread({2, 4, 5, 4}), W = spread({6, 2, 3, 2}, -1, 1, 1), b = spread({6}, -1, 1, 2);
  const nn::ConvolutionOptions options{.stride = {2, 1}, .pad = 1, .groups = 2};
  const auto f = [&](const Variables& v) { return Variables{nn::convolution_2d(v[0], v[1], v[2], options)}; };
  // Every group alone.
  Arrays parts;
  for (const std::int64_t g : {0, 1})
    parts.push_back(naive_convolution(contiguous(slice(x, 1, 2 * g, 2 * g + 2)),
                                      contiguous(slice(W, 0, 3 * g, 3 * g + 3)),
                                      contiguous(slice(b, 0, 3 * g, 3 * g + 3)), {.stride = {2, 1}, .pad = 1}));
  testing::assert_allclose(f({Variable(x), Variable(W), Variable(b)})[0].data(), concatenate(parts, 1), 1e-12, 1e-12);
  test::check_derivatives("convolution of groups", f, {x, W, b}, {.atol16 = 1e-2, .rtol16 = 1e-2});
  const Variable v(x);
  BOOST_CHECK_EXCEPTION(nn::convolution_2d(v, Variable(arrays::ones({6, 3, 1, 1}, Dtype::float64)), {}, options),
                        catena::InvalidType, [](const catena::InvalidType& e) {
                          return e.expect() == "x.shape[1] == W.shape[1] * groups" && e.actual() == "4 != 6";
                        });
  BOOST_CHECK_THROW(nn::convolution_2d(v, Variable(arrays::ones({5, 2, 1, 1}, Dtype::float64)), {}, options),
                    catena::InvalidType);
  BOOST_CHECK_THROW(nn::convolution_2d(v, Variable(W), {}, {.groups = 0}), catena::ValueError);
}

BOOST_AUTO_TEST_CASE(depthwise_convolutions) {
  const std::int64_t C = 3, D = 2;
  const Array x = spread({2, C, 5, 4}), W = spread({D, C, 3, 2}, -1, 1, 1), b = spread({C * D}, -1, 1, 2);
  for (const nn::DepthwiseConvolutionOptions& o :
       {nn::DepthwiseConvolutionOptions{}, nn::DepthwiseConvolutionOptions{.stride = {2, 1}, .pad = {0, 1}},
        nn::DepthwiseConvolutionOptions{.pad = 1, .dilate = {1, 2}}}) {
    // Every channel with each of its filters.
    Arrays parts;
    for (std::int64_t c = 0; c < C; ++c)
      for (std::int64_t d = 0; d < D; ++d)
        parts.push_back(naive_convolution(
            contiguous(slice(x, 1, c, c + 1)), contiguous(slice(slice(W, 0, d, d + 1), 1, c, c + 1)),
            contiguous(slice(b, 0, c * D + d, c * D + d + 1)), {.stride = o.stride, .pad = o.pad, .dilate = o.dilate}));
    const auto f = [&](const Variables& v) { return Variables{nn::depthwise_convolution_2d(v[0], v[1], v[2], o)}; };
    testing::assert_allclose(f({Variable(x), Variable(W), Variable(b)})[0].data(), concatenate(parts, 1), 1e-12, 1e-12);
    test::check_derivatives("depthwise_convolution_2d", f, {x, W, b}, {.atol16 = 1e-2, .rtol16 = 1e-2});
  }
  const auto without = [](const Variables& v) { return Variables{nn::depthwise_convolution_2d(v[0], v[1])}; };
  test::check_derivatives("depthwise without bias", without, {spread({1, 1, 1, 1}), spread({1, 1, 1, 1})});
  test::check_derivatives("depthwise of nothing", without, {spread({0, 2, 3, 3}), spread({1, 2, 2, 2})});
  const Variable v(x), w(W);
  testing::assert_allclose(nn::depthwise_convolution_2d(v, w, {}, 2, 1),
                           nn::depthwise_convolution_2d(v, w, {}, {.stride = 2, .pad = 1}), 0, 0);
  BOOST_CHECK_EXCEPTION(nn::depthwise_convolution_2d(v, Variable(arrays::ones({2, 2, 3, 3}, Dtype::float64))),
                        catena::InvalidType, [](const catena::Error& e) {
                          return std::string(e.what()).find("DepthwiseConvolution2D (Forward)") != std::string::npos;
                        });
  BOOST_CHECK_THROW(nn::depthwise_convolution_2d(v, w, Variable(arrays::ones({3}, Dtype::float64))),
                    catena::InvalidType);
  BOOST_CHECK_THROW(nn::depthwise_convolution_2d(Variable(arrays::ones({3, 5, 4})), w), catena::InvalidType);
  BOOST_CHECK_THROW(nn::depthwise_convolution_2d(Variable(arrays::ones({2, 3, 5, 4}, Dtype::int32)), w),
                    catena::InvalidType);
}

BOOST_AUTO_TEST_CASE(deconvolutions) {
  // Every pixel of x adds its filter at its place.
  const auto naive = [](const Array& x, const Array& W, const Array& b, const nn::DeconvolutionOptions& o,
                        std::int64_t H, std::int64_t V) {
    const std::int64_t n = x.shape(0), c = x.shape(1), h = x.shape(2), w = x.shape(3), m = W.shape(1) * o.groups,
                       kh = W.shape(2), kw = W.shape(3), per = W.shape(1);
    const std::vector<double> xs = to_vector<double>(x), ws = to_vector<double>(W), bs = to_vector<double>(b);
    std::vector<double> y(std::size_t(n * m * H * V));
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = bs[i / std::size_t(H * V) % std::size_t(m)];
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t ch = 0; ch < c; ++ch)
        for (std::int64_t out = 0; out < per; ++out)
          for (std::int64_t p = 0; p < h * w; ++p)
            for (std::int64_t ky = 0; ky < kh; ++ky)
              for (std::int64_t kx = 0; kx < kw; ++kx) {
                const std::int64_t yy = p / w * o.stride.y + ky * o.dilate.y - o.pad.y,
                                   xx = p % w * o.stride.x + kx * o.dilate.x - o.pad.x,
                                   channel = ch / (c / o.groups) * per + out;
                if (yy < 0 || yy >= H || xx < 0 || xx >= V) continue;
                y[std::size_t(((i * m + channel) * H + yy) * V + xx)] +=
                    xs[std::size_t((i * c + ch) * h * w + p)] * ws[std::size_t(((ch * per + out) * kh + ky) * kw + kx)];
              }
    return array(y, {n, m, H, V});
  };
  struct Case {
    nn::DeconvolutionOptions options;
    std::int64_t H, V;
  };
  const Case cases[] = {{{}, 5, 4},
                        {{.stride = 2, .pad = 1}, 5, 4},
                        {{.stride = {1, 2}, .pad = {0, 1}}, 5, 4},
                        {{.stride = 2, .pad = 1, .outsize = nn::Pair(6, 5)}, 6, 5},
                        {{.stride = 3, .outsize = nn::Pair(11, 10)}, 11, 10},
                        {{.stride = 2, .dilate = 2}, 9, 7},
                        {{.stride = 2, .groups = 2}, 7, 6}};
  for (const Case& k : cases) {
    const Array x = spread({2, 4, 3, 3}), W = spread({4, 2, 3, 2}, -1, 1, 1),
                b = spread({2 * k.options.groups}, -1, 1, 2);
    const auto f = [&](const Variables& v) { return Variables{nn::deconvolution_2d(v[0], v[1], v[2], k.options)}; };
    testing::assert_allclose(f({Variable(x), Variable(W), Variable(b)})[0].data(), naive(x, W, b, k.options, k.H, k.V),
                             1e-12, 1e-12);
    test::check_derivatives("deconvolution_2d", f, {x, W, b}, {.atol16 = 2e-2, .rtol16 = 2e-2});
  }
  const auto without = [](const Variables& v) { return Variables{nn::deconvolution_2d(v[0], v[1])}; };
  test::check_derivatives("deconvolution without bias", without, {spread({1, 1, 1, 1}), spread({1, 1, 1, 1})});
  test::check_derivatives("deconvolution of nothing", without, {spread({0, 2, 3, 3}), spread({2, 1, 2, 2})});
  const Variable x(arrays::ones({1, 2, 3, 3})), W(arrays::ones({2, 1, 3, 3}));
  BOOST_CHECK(nn::deconvolution_2d(x, W, {}, 2, 1).shape() == (Shape{1, 1, 5, 5}));
  BOOST_CHECK(nn::deconvolution_2d(x, W, {}, 2, 1, nn::Pair(6, 5)).shape() == (Shape{1, 1, 6, 5}));
  // The adjoint of the convolution with the same filter.
  const Variable image(spread({1, 1, 5, 5})), filter(spread({2, 1, 3, 3})), other(spread({1, 2, 3, 3}, -1, 1, 4));
  BOOST_TEST(std::fabs(double(sum(nn::convolution_2d(image, filter, {}, 2, 1) * other)) -
                       double(sum(image * nn::deconvolution_2d(other, filter, {}, 2, 1)))) < 1e-12);
  BOOST_CHECK_EXCEPTION(nn::deconvolution_2d(x, W, {}, 2, 1, nn::Pair(7, 5)), catena::InvalidType,
                        [](const catena::InvalidType& e) {
                          return e.expect() == "get_conv_outsize(outsize) == x.shape[2]" && e.actual() == "4 != 3";
                        });
  BOOST_CHECK_THROW(nn::deconvolution_2d(x, Variable(arrays::ones({3, 1, 3, 3}))), catena::InvalidType);
  BOOST_CHECK_THROW(nn::deconvolution_2d(x, W, Variable(arrays::ones({2}))), catena::InvalidType);
  BOOST_CHECK_THROW(nn::deconvolution_2d(x, W, Variable(arrays::ones({1}, Dtype::float64))), catena::InvalidType);
  BOOST_CHECK_THROW(nn::deconvolution_2d(Variable(arrays::ones({2, 3, 3})), W), catena::InvalidType);
  BOOST_CHECK_THROW(nn::deconvolution_2d(x, W, {}, {.groups = 3}), catena::InvalidType);
  BOOST_CHECK_THROW(nn::deconvolution_2d(x, W, {}, {.groups = 0}), catena::ValueError);
  BOOST_CHECK_EXCEPTION(nn::deconvolution_2d(x, W, {}, 1, 3), catena::AssertionError, [](const catena::Error& e) {
    return std::string(e.what()).find("should be positive") != std::string::npos;
  });
}

BOOST_AUTO_TEST_CASE(bilinear_maps) {
  const Array e1 = spread({3, 2}), e2 = spread({3, 2, 2}, -1, 1, 1), W = spread({2, 4, 3}, -1, 1, 2),
              V1 = spread({2, 3}, -1, 1, 3), V2 = spread({4, 3}, -1, 1, 4), b = spread({3}, -1, 1, 5);
  const std::vector<double> p = to_vector<double>(e1), q = to_vector<double>(e2), w = to_vector<double>(W),
                            v1 = to_vector<double>(V1), v2 = to_vector<double>(V2), bs = to_vector<double>(b);
  std::vector<double> products, all;
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t l = 0; l < 3; ++l) {
      double s = 0, linear = bs[l];
      for (std::size_t j = 0; j < 2; ++j)
        for (std::size_t k = 0; k < 4; ++k) s += p[i * 2 + j] * q[i * 4 + k] * w[(j * 4 + k) * 3 + l];
      for (std::size_t j = 0; j < 2; ++j) linear += p[i * 2 + j] * v1[j * 3 + l];
      for (std::size_t k = 0; k < 4; ++k) linear += q[i * 4 + k] * v2[k * 3 + l];
      products.push_back(s);
      all.push_back(s + linear);
    }
  const auto three = [](const Variables& v) { return Variables{nn::bilinear(v[0], v[1], v[2])}; };
  const auto six = [](const Variables& v) { return Variables{nn::bilinear(v[0], v[1], v[2], v[3], v[4], v[5])}; };
  testing::assert_allclose(three({Variable(e1), Variable(e2), Variable(W)})[0].data(), array(products, {3, 3}), 1e-12,
                           1e-12);
  const Variables inputs{Variable(e1), Variable(e2), Variable(W), Variable(V1), Variable(V2), Variable(b)};
  testing::assert_allclose(six(inputs)[0].data(), array(all, {3, 3}), 1e-12, 1e-12);
  test::check_derivatives("bilinear", three, {e1, e2, W}, {.atol16 = 1e-2, .rtol16 = 1e-2});
  test::check_derivatives("bilinear and linear", six, {e1, e2, W, V1, V2, b}, {.atol16 = 1e-2, .rtol16 = 1e-2});
  test::check_derivatives("bilinear of nothing", three, {spread({0, 2}), spread({0, 3}), spread({2, 3, 2})});
  test::check_derivatives("bilinear of ones", three, {spread({1, 1}), spread({1, 1}), spread({1, 1, 1})});
  BOOST_CHECK_EXCEPTION(nn::bilinear(inputs[0], inputs[1], inputs[2], inputs[3]), catena::ValueError,
                        [](const catena::Error& e) {
                          return e.what() == std::string("bilinear: V1, V2 and b are given together or not at all");
                        });
  BOOST_CHECK_EXCEPTION(nn::bilinear(inputs[1], inputs[0], inputs[2]), catena::InvalidType,
                        [](const catena::InvalidType& e) {
                          return e.expect() == "prod(e1.shape[1:]) == W.shape[0]" && e.actual() == "4 != 2";
                        });
  for (std::size_t wrong = 0; wrong < 6; ++wrong) {
    Variables changed = inputs;
    changed[wrong] = Variable(astype(inputs[wrong].data(), Dtype::float32));
    BOOST_CHECK_THROW(six(changed), catena::InvalidType);
    Shape shape = inputs[wrong].shape();
    shape[0] += 1;
    changed[wrong] = Variable(arrays::ones(shape, Dtype::float64));
    BOOST_CHECK_THROW(six(changed), catena::InvalidType);
    changed[wrong] = Variable(arrays::ones({}, Dtype::float64));
    BOOST_CHECK_THROW(six(changed), catena::InvalidType);
  }
}

BOOST_AUTO_TEST_CASE(embedded_numbers) {
  const Array W = spread({5, 3}), x = array<int>({1, 3, 3, 0, 1, 3}, {2, 3}), unknown = array<int>({1, -1, 4, -1}, {4});
  const std::vector<double> w = to_vector<double>(W);
  const auto f = [](const nn::EmbedIDOptions& o) {
    return [o](const Variables& v) { return Variables{nn::embed_id(v[0], v[1], o)}; };
  };
  for (const Dtype t : {Dtype::int8, Dtype::int32, Dtype::int64}) {
    const Variable y = nn::embed_id(Variable(astype(x, t)), Variable(W));
    BOOST_CHECK(y.shape() == (Shape{2, 3, 3}));
    const std::vector<double> ys = to_vector<double>(y.data());
    const std::size_t rows[] = {1, 3, 3, 0, 1, 3};
    for (std::size_t i = 0; i < 18; ++i) BOOST_TEST(ys[i] == w[rows[i / 3] * 3 + i % 3]);
  }
  const std::vector<double> ignored = to_vector<double>(nn::embed_id(Variable(unknown), Variable(W), -1).data());
  const std::size_t rows[] = {1, 9, 4, 9};
  for (std::size_t i = 0; i < 12; ++i) BOOST_TEST(ignored[i] == (rows[i / 3] == 9 ? 0 : w[rows[i / 3] * 3 + i % 3]));
  // Repeated numbers: four additions in float16 are each rounded once.
  test::check_derivatives("embed_id", f({}), {x, W}, {.atol16 = 4e-3});
  test::check_derivatives("embed_id but -1", f({.ignore_label = -1}), {unknown, W}, {.atol16 = 4e-3});
  test::check_derivatives("embed_id but a row", f({.ignore_label = 3}), {x, W}, {.atol16 = 4e-3});
  test::check_derivatives("embed_id of nothing", f({}), {array<int>({}, {0}), W});
  test::check_derivatives("embed_id in one row", f({}), {array<int>({0}, {1}), spread({1, 1})});
  // Row 3 is a constant.
  Variable weights(W);
  Variable y = sum(nn::embed_id(Variable(x), weights, {.padding_idx = 3}));
  BOOST_TEST(std::fabs(double(y) - double(sum(nn::embed_id(Variable(x), Variable(W))))) < 1e-14);
  y.backward();
  BOOST_TEST(to_vector<double>(weights.grad()) == (std::vector<double>{1, 1, 1, 2, 2, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0}),
             boost::test_tools::per_element());
  weights.cleargrad();
  y = sum(nn::embed_id(Variable(x), weights, {.ignore_label = 0, .padding_idx = 3}));
  y.backward();
  BOOST_TEST(to_vector<double>(weights.grad()) == (std::vector<double>{0, 0, 0, 2, 2, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0}),
             boost::test_tools::per_element());
  BOOST_CHECK_THROW(nn::embed_id(Variable(arrays::ones({2})), weights), catena::InvalidType);
  BOOST_CHECK_THROW(nn::embed_id(Variable(array<int>({1}, {})), weights), catena::InvalidType);
  BOOST_CHECK_THROW(nn::embed_id(Variable(x), Variable(arrays::ones({5}))), catena::InvalidType);
  BOOST_CHECK_THROW(nn::embed_id(Variable(x), Variable(arrays::ones({5, 3}, Dtype::int32))), catena::InvalidType);
  if (weights.device().kind == Device::Kind::cpu)
    for (const int wrong : {5, -1, -5, -6}) {
      const Variable ids(array<int>({0, wrong}, {2}));
      const auto names_the_cure = [&](const catena::IndexError& e) {
        const std::string text = e.what();
        return text.find("the index " + std::to_string(wrong) + " is out of range") != text.npos &&
               text.find("ignore_label") != text.npos;
      };
      BOOST_CHECK_EXCEPTION(nn::embed_id(ids, weights), catena::IndexError, names_the_cure);
      BOOST_CHECK_NO_THROW(nn::embed_id(ids, weights, wrong));
    }
  const DebugMode debug(true);
  BOOST_CHECK_NO_THROW(nn::embed_id(Variable(unknown), weights, -1));
  BOOST_CHECK_EXCEPTION(nn::embed_id(Variable(unknown), weights), catena::ValueError, [](const catena::Error& e) {
    return e.what() == std::string("embed_id: x has the number -1, which is not in [0, 5)");
  });
}

BOOST_AUTO_TEST_CASE(stride_and_pad_by_position) {
  const Variable x(spread({1, 3, 6, 5})), W(spread({2, 3, 3, 3})), b(spread({2}));
  const auto same = [](const Variable& a, const Variable& c) { testing::assert_allclose(a.data(), c.data(), 0, 0); };
  BOOST_CHECK_NO_THROW(same(nn::convolution_2d(x, W, b, 2, 1), nn::convolution_2d(x, W, b, {.stride = 2, .pad = 1})));
  BOOST_CHECK_NO_THROW(
      same(nn::convolution_2d(x, W, {}, nn::Pair(1, 2)), nn::convolution_2d(x, W, {}, {.stride = {1, 2}})));
}

// In place of a length a bool was meant for another option, such as use_cudnn.
template <class L>
concept is_stride = requires(Variable x, L l) {
  nn::convolution_2d(x, x, x, l);
};
template <class L>
concept is_outsize = requires(Variable x, L l) {
  nn::deconvolution_2d(x, x, x, 1, 0, l);
};
template <class L>
concept is_outsize_nd = requires(Variable x, L l) {
  nn::deconvolution_nd(x, x, x, 1, 0, l);
};
BOOST_AUTO_TEST_CASE(a_bool_is_no_length) {
  BOOST_TEST((is_stride<int> && is_outsize<int> && is_outsize<std::int64_t> && is_outsize<nn::Pair>));
  BOOST_TEST((is_outsize_nd<int> && is_outsize_nd<nn::Lengths>));
  BOOST_TEST(!is_stride<bool>);
  BOOST_TEST(!is_outsize<bool>);
  BOOST_TEST(!is_outsize_nd<bool>);
}

BOOST_AUTO_TEST_CASE(convolution_errors) {
  const Variable x(arrays::ones({2, 3, 4, 4})), W(arrays::ones({5, 3, 3, 3}));
  BOOST_CHECK_THROW(nn::convolution_2d(Variable(arrays::ones({3, 4, 4})), W), catena::InvalidType);
  BOOST_CHECK_THROW(nn::convolution_2d(x, Variable(arrays::ones({5, 2, 3, 3}))), catena::InvalidType);
  BOOST_CHECK_THROW(nn::convolution_2d(x, W, Variable(arrays::ones({4}))), catena::InvalidType);
  BOOST_CHECK_THROW(nn::convolution_2d(Variable(arrays::ones({2, 3, 4, 4}, Dtype::int32)), W), catena::InvalidType);
  BOOST_CHECK_EXCEPTION(
      nn::convolution_2d(Variable(arrays::ones({2, 3, 2, 4})), W), catena::AssertionError,
      [](const catena::Error& e) { return std::string(e.what()).find("should be positive") != std::string::npos; });
}

namespace {

// The arguments of a recurrent function: matrices and biases are lists of lists, ws[0][0], ws[0][1], ...
struct NStepCall {
  int layers;
  double ratio;
  Variable hx, cx;
  std::vector<Variables> ws, bs;
  Variables xs;
  nn::NStepOptions options;
  nn::NStepRNNOptions rnn_options;

  explicit NStepCall(const test::GoldenCall& c)
      : layers(int(c.integer("n_layers", 1))),
        ratio(c.number("dropout_ratio", 0)),
        hx(c.x("hx")),
        cx(c.x("cx")),
        ws(lists(c, "ws")),
        bs(lists(c, "bs")),
        xs(c.list("xs")),
        options{.train = c.flag("train", true)},
        rnn_options{.train = c.flag("train", true), .activation = c.text("activation", "tanh")} {}
  static std::vector<Variables> lists(const test::GoldenCall& c, const std::string& name) {
    std::vector<Variables> all;
    for (Variables one; !(one = c.list(name + "[" + std::to_string(all.size()) + "]")).empty();) all.push_back(one);
    return all;
  }
};
Variables joined(Variables states, const Variables& ys) {
  for (const Variable& y : ys) states.push_back(y);
  return states;
}
Variables all_of(const nn::NStepLSTMResult& r) { return joined({r.hy, r.cy}, r.ys); }
Variables all_of(const nn::NStepResult& r) { return joined({r.hy}, r.ys); }

}  // namespace

BOOST_AUTO_TEST_CASE(golden_values) {
  const auto pair = [](const test::GoldenCall& c, const char* name, int otherwise) -> nn::Pair {
    if (!c.has(name)) return otherwise;
    const Dims d = c.dims(name);
    return d.size() == 1 ? nn::Pair(int(d[0])) : nn::Pair(int(d[0]), int(d[1]));
  };
  const auto lengths = [](const test::GoldenCall& c, const char* name, int otherwise) -> nn::Lengths {
    if (!c.has(name)) return otherwise;
    const Dims d = c.dims(name);
    return d.size() == 1 ? nn::Lengths(int(d[0])) : nn::Lengths(d);
  };
  const auto options_of = [&](const test::GoldenCall& c) {
    return nn::ConvolutionOptions{.stride = pair(c, "stride", 1),
                                  .pad = pair(c, "pad", 0),
                                  .dilate = pair(c, "dilate", 1),
                                  .cover_all = c.flag("cover_all", false)};
  };
  const auto convolution = [&](const test::GoldenCall& c) {
    return Variables{nn::convolution_2d(c.x("x"), c.x("W"), c.x("b"), options_of(c))};
  };
  test::run_golden(
      "connection",
      {{"linear", [](const test::GoldenCall& c) { return Variables{nn::linear(c.x("x"), c.x("W"), c.x("b"))}; }},
       {"bilinear",
        [](const test::GoldenCall& c) {
          return Variables{nn::bilinear(c.x("e1"), c.x("e2"), c.x("W"), c.x("V1"), c.x("V2"), c.x("b"))};
        }},
       {"embed_id",
        [](const test::GoldenCall& c) {
          nn::EmbedIDOptions options;
          if (c.has("ignore_label")) options.ignore_label = c.integer("ignore_label", 0);
          return Variables{nn::embed_id(c.x("x"), c.x("W"), options)};
        }},
       {"depthwise_convolution_2d",
        [&](const test::GoldenCall& c) {
          return Variables{
              nn::depthwise_convolution_2d(c.x("x"), c.x("W"), c.x("b"), pair(c, "stride", 1), pair(c, "pad", 0))};
        }},
       {"deconvolution_2d",
        [&](const test::GoldenCall& c) {
          nn::DeconvolutionOptions options{.stride = pair(c, "stride", 1), .pad = pair(c, "pad", 0)};
          if (c.has("outsize")) options.outsize = pair(c, "outsize", 0);
          return Variables{nn::deconvolution_2d(c.x("x"), c.x("W"), c.x("b"), options)};
        }},
       {"n_step_lstm",
        [](const test::GoldenCall& c) {
          const NStepCall a(c);
          return all_of(nn::n_step_lstm(a.layers, a.ratio, a.hx, a.cx, a.ws, a.bs, a.xs, a.options));
        }},
       {"n_step_bilstm",
        [](const test::GoldenCall& c) {
          const NStepCall a(c);
          return all_of(nn::n_step_bilstm(a.layers, a.ratio, a.hx, a.cx, a.ws, a.bs, a.xs, a.options));
        }},
       {"n_step_gru",
        [](const test::GoldenCall& c) {
          const NStepCall a(c);
          return all_of(nn::n_step_gru(a.layers, a.ratio, a.hx, a.ws, a.bs, a.xs, a.options));
        }},
       {"n_step_bigru",
        [](const test::GoldenCall& c) {
          const NStepCall a(c);
          return all_of(nn::n_step_bigru(a.layers, a.ratio, a.hx, a.ws, a.bs, a.xs, a.options));
        }},
       {"n_step_rnn",
        [](const test::GoldenCall& c) {
          const NStepCall a(c);
          return all_of(nn::n_step_rnn(a.layers, a.ratio, a.hx, a.ws, a.bs, a.xs, a.rnn_options));
        }},
       {"n_step_birnn",
        [](const test::GoldenCall& c) {
          const NStepCall a(c);
          return all_of(nn::n_step_birnn(a.layers, a.ratio, a.hx, a.ws, a.bs, a.xs, a.rnn_options));
        }},
       {"convolution_nd",
        [&](const test::GoldenCall& c) {
          return Variables{nn::convolution_nd(c.x("x"), c.x("W"), c.x("b"),
                                              {.stride = lengths(c, "stride", 1),
                                               .pad = lengths(c, "pad", 0),
                                               .cover_all = c.flag("cover_all", false)})};
        }},
       {"deconvolution_nd",
        [&](const test::GoldenCall& c) {
          nn::DeconvolutionNdOptions options{.stride = lengths(c, "stride", 1), .pad = lengths(c, "pad", 0)};
          if (c.has("outsize")) options.outsize = lengths(c, "outsize", 0);
          return Variables{nn::deconvolution_nd(c.x("x"), c.x("W"), c.x("b"), options)};
        }},
       {"convolution_2d", convolution},
       {"dilated_convolution_2d", [&](const test::GoldenCall& c) {
          return Variables{nn::dilated_convolution_2d(c.x("x"), c.x("W"), c.x("b"), options_of(c))};
        }}});
}

BOOST_AUTO_TEST_SUITE_END()
