// linear and convolution_2d.
#include <catena/nn/functions/connection.h>

#include <boost/test/unit_test.hpp>

#include <catena/autograd/functions/array.h>
#include <catena/autograd/testing.h>
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
    y.set_grad(ones({1, 3}, Dtype::float16));
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
  const Variable x(ones({2, 3}, Dtype::float64)), W(ones({4, 3})), b(ones({4}));
  BOOST_TEST(line([&] { nn::linear(x, W, b); }) == "x is float64, W float32: x.astype(float32)");
  BOOST_TEST(line([&] { nn::linear(Variable(ones({2, 3}, Dtype::int64)), W, b); }) == "x is int64: x.astype(float32)");
  BOOST_TEST(line([&] {
               nn::convolution_2d(Variable(ones({1, 1, 3, 3})), Variable(ones({1, 1, 1, 1})),
                                  Variable(ones({1}, Dtype::float64)));
             }) == "x is float32, b float64: b.astype(float32)");
  // A shape that does not fit has no such line.
  BOOST_TEST(line([&] { nn::linear(Variable(ones({2, 5})), W, b); }).empty());
}

BOOST_AUTO_TEST_CASE(linear_in_the_dtype_of_x) {
  Variable x(spread({2, 3})), W(astype(spread({4, 3}), Dtype::float32));
  Variable y = nn::linear(x, W);
  BOOST_CHECK(y.dtype() == Dtype::float64);
  y.set_grad(ones({2, 4}, Dtype::float64));
  y.backward();
  BOOST_CHECK(x.grad().dtype() == Dtype::float64);
  BOOST_CHECK(W.grad().dtype() == Dtype::float32);
}

BOOST_AUTO_TEST_CASE(linear_errors) {
  const Variable x(ones({2, 3})), W(ones({4, 3}));
  BOOST_CHECK_EXCEPTION(nn::linear(x, Variable(ones({4, 5}))), catena::InvalidType, [](const catena::InvalidType& e) {
    return e.expect() == "prod(in_types[0].shape[1:]) == in_types[1].shape[1]" && e.actual() == "3 != 5";
  });
  BOOST_CHECK_THROW(nn::linear(Variable(ones({3})), W), catena::InvalidType);
  BOOST_CHECK_THROW(nn::linear(x, Variable(ones({4, 3, 1}))), catena::InvalidType);
  BOOST_CHECK_THROW(nn::linear(x, W, Variable(ones({5}))), catena::InvalidType);
  BOOST_CHECK_THROW(nn::linear(x, W, Variable(ones({4}, Dtype::float64))), catena::InvalidType);
  BOOST_CHECK_THROW(nn::linear(Variable(ones({2, 3}, Dtype::int32)), W), catena::InvalidType);
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

BOOST_AUTO_TEST_CASE(stride_and_pad_by_position) {
  const Variable x(spread({1, 3, 6, 5})), W(spread({2, 3, 3, 3})), b(spread({2}));
  const auto same = [](const Variable& a, const Variable& c) { testing::assert_allclose(a.data(), c.data(), 0, 0); };
  BOOST_CHECK_NO_THROW(same(nn::convolution_2d(x, W, b, 2, 1), nn::convolution_2d(x, W, b, {.stride = 2, .pad = 1})));
  BOOST_CHECK_NO_THROW(
      same(nn::convolution_2d(x, W, {}, nn::Pair(1, 2)), nn::convolution_2d(x, W, {}, {.stride = {1, 2}})));
}

BOOST_AUTO_TEST_CASE(convolution_errors) {
  const Variable x(ones({2, 3, 4, 4})), W(ones({5, 3, 3, 3}));
  BOOST_CHECK_THROW(nn::convolution_2d(Variable(ones({3, 4, 4})), W), catena::InvalidType);
  BOOST_CHECK_THROW(nn::convolution_2d(x, Variable(ones({5, 2, 3, 3}))), catena::InvalidType);
  BOOST_CHECK_THROW(nn::convolution_2d(x, W, Variable(ones({4}))), catena::InvalidType);
  BOOST_CHECK_THROW(nn::convolution_2d(Variable(ones({2, 3, 4, 4}, Dtype::int32)), W), catena::InvalidType);
  BOOST_CHECK_EXCEPTION(
      nn::convolution_2d(Variable(ones({2, 3, 2, 4})), W), catena::AssertionError,
      [](const catena::Error& e) { return std::string(e.what()).find("should be positive") != std::string::npos; });
}

BOOST_AUTO_TEST_CASE(golden_values) {
  const auto pair = [](const test::GoldenCall& c, const char* name, int otherwise) -> nn::Pair {
    if (!c.has(name)) return otherwise;
    const Dims d = c.dims(name);
    return d.size() == 1 ? nn::Pair(int(d[0])) : nn::Pair(int(d[0]), int(d[1]));
  };
  // The reference's dilated convolution is an option here.
  const auto convolution = [&](const test::GoldenCall& c) {
    return Variables{nn::convolution_2d(c.x("x"), c.x("W"), c.x("b"),
                                        {.stride = pair(c, "stride", 1),
                                         .pad = pair(c, "pad", 0),
                                         .dilate = pair(c, "dilate", 1),
                                         .cover_all = c.flag("cover_all", false)})};
  };
  test::run_golden(
      "connection",
      {{"linear", [](const test::GoldenCall& c) { return Variables{nn::linear(c.x("x"), c.x("W"), c.x("b"))}; }},
       {"convolution_2d", convolution},
       {"dilated_convolution_2d", convolution}});
}

BOOST_AUTO_TEST_SUITE_END()
