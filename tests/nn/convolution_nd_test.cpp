// Convolutions over any number of spatial axes and their transposes, against loops in double.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <string>
#include <vector>

#include <catena/autograd/config.h>
#include <catena/autograd/function_node.h>
#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/nn_extension.h>
#include <catena/autograd/operators.h>
#include <catena/autograd/testing.h>
#include <catena/nn/functions/connection.h>
#include <catena/nn/links/convolution_2d.h>
#include <catena/nn/links/convolution_nd.h>
#include <catena/tests/support/framework_derivatives.h>
#include <catena/tests/support/framework_devices.h>

using namespace autograd;
using test::spread;

namespace {

using Doubles = std::vector<double>;

struct Geometry {
  Dims spatial, kernel, stride, pad, dilate;
  bool cover_all;
  int groups;
};
const Geometry kGeometries[] = {
    {{7}, {3}, {2}, {1}, {1}, false, 1},
    {{6}, {2}, {3}, {0}, {2}, true, 2},
    {{4, 5}, {3, 2}, {1, 2}, {1, 0}, {1, 2}, true, 1},
    {{3, 4, 3}, {2, 1, 2}, {1, 2, 1}, {0, 1, 1}, {2, 1, 1}, false, 2},
    {{3, 3, 4}, {2, 2, 3}, {2, 1, 2}, {1, 0, 0}, {1, 1, 1}, true, 1},
    {{2, 2, 3, 2}, {2, 1, 2, 2}, {1, 1, 1, 2}, {0, 0, 1, 1}, {1, 1, 1, 1}, false, 1},
    {{1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}, {1, 1, 1}, false, 1},
};
constexpr std::int64_t kImages = 2, kInputs = 4, kOutputs = 2;

Shape image(std::int64_t n, std::int64_t c, const Dims& spatial) {
  Shape s{n, c};
  for (const std::int64_t d : spatial) s.push_back(d);
  return s;
}

// One image: derivatives are checked element by element.
Array first_of(const Array& images) { return contiguous(slice(images, 0, 0, 1)); }

template <class F> void each(const Dims& box, F&& f) {
  Dims at = Dims::filled(box.size(), 0);
  for (std::int64_t i = 0, n = catena::size_of(box); i < n; ++i) {
    f(at);
    for (int a = box.size() - 1; a >= 0 && ++at[a] == box[a]; --a) at[a] = 0;
  }
}

std::size_t flat(const Dims& at, const Dims& box) {
  std::int64_t p = 0;
  for (int a = 0; a < box.size(); ++a) p = p * box[a] + at[a];
  return std::size_t(p);
}

// Calls f(position of the large image, tap, position of the small image) for all that a convolution multiplies.
template <class F> void each_product(const Geometry& g, const Dims& large, const Dims& small, F&& f) {
  each(small, [&](const Dims& o) {
    each(g.kernel, [&](const Dims& k) {
      Dims at = o;
      bool inside = true;
      for (int a = 0; a < o.size(); ++a) {
        at[a] = o[a] * g.stride[a] + k[a] * g.dilate[a] - g.pad[a];
        inside &= at[a] >= 0 && at[a] < large[a];
      }
      if (inside) f(flat(at, large), flat(k, g.kernel), flat(o, small));
    });
  });
}

Dims convolved(const Geometry& g) {
  Dims out;
  for (int a = 0; a < g.spatial.size(); ++a) {
    const std::int64_t room = g.spatial[a] + 2 * g.pad[a] - (g.kernel[a] - 1) * g.dilate[a] - 1;
    out.push_back((g.cover_all ? room + g.stride[a] - 1 : room) / g.stride[a] + 1);
  }
  return out;
}

Array naive_convolution(const Geometry& g, const Array& x, const Array& W, const Array& b) {
  const Dims out = convolved(g);
  const std::size_t plane = std::size_t(catena::size_of(g.spatial)), taps = std::size_t(catena::size_of(g.kernel)),
                    n = std::size_t(catena::size_of(out));
  const Doubles xs = to_vector<double>(x), ws = to_vector<double>(W),
                bs = b ? to_vector<double>(b) : Doubles(std::size_t(kOutputs));
  const std::size_t ci = std::size_t(kInputs / g.groups), per = std::size_t(kOutputs / g.groups);
  Doubles y;
  for (std::size_t i = 0; i < std::size_t(kImages); ++i)
    for (std::size_t m = 0; m < std::size_t(kOutputs); ++m) {
      Doubles sums(n, bs[m]);
      for (std::size_t c = 0; c < ci; ++c) {
        const double* from = &xs[(i * std::size_t(kInputs) + m / per * ci + c) * plane];
        const double* filter = &ws[(m * ci + c) * taps];
        each_product(g, g.spatial, out,
                     [&](std::size_t p, std::size_t k, std::size_t o) { sums[o] += from[p] * filter[k]; });
      }
      y.insert(y.end(), sums.begin(), sums.end());
    }
  return array(y, image(kImages, kOutputs, out));
}

// Every element of x (kImages, kInputs, g.spatial...) adds its filter at its place.
Array naive_transposed(const Geometry& g, const Array& x, const Array& W, const Array& b, const Dims& size) {
  const std::size_t plane = std::size_t(catena::size_of(g.spatial)), taps = std::size_t(catena::size_of(g.kernel)),
                    n = std::size_t(catena::size_of(size));
  const Doubles xs = to_vector<double>(x), ws = to_vector<double>(W), bs = to_vector<double>(b);
  const std::size_t outputs = std::size_t(kOutputs), per = outputs / std::size_t(g.groups),
                    ci = std::size_t(kInputs / g.groups);
  Doubles y(std::size_t(kImages) * outputs * n);
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = bs[i / n % outputs];
  for (std::size_t i = 0; i < std::size_t(kImages); ++i)
    for (std::size_t c = 0; c < std::size_t(kInputs); ++c)
      for (std::size_t m = 0; m < per; ++m) {
        double* to = &y[(i * outputs + c / ci * per + m) * n];
        const double* from = &xs[(i * std::size_t(kInputs) + c) * plane];
        const double* filter = &ws[(c * per + m) * taps];
        each_product(g, size, g.spatial,
                     [&](std::size_t p, std::size_t k, std::size_t o) { to[p] += from[o] * filter[k]; });
      }
  return array(y, image(kImages, kOutputs, size));
}

void check_same(const Variable& a, const Variable& b) {
  BOOST_CHECK_NO_THROW(testing::assert_allclose(a.data(), b.data(), 0, 0));
}

template <class E, class F> std::string words_of(F&& f) {
  try {
    f();
  } catch (const E& e) {
    return e.what();
  }
  return "nothing was thrown";
}
bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

BOOST_AUTO_TEST_SUITE(convolution_nd)

BOOST_AUTO_TEST_CASE(values_and_derivatives) {
  for (const Geometry& g : kGeometries) BOOST_TEST_CONTEXT(g.spatial << " by " << g.kernel << ", " << g.groups) {
      const Array x = spread(image(kImages, kInputs, g.spatial)),
                  W = spread(image(kOutputs, kInputs / g.groups, g.kernel), -1, 1, 1), b = spread({kOutputs}, -1, 1, 2);
      const auto f = [&](const Variables& v) {
        return Variables{nn::convolution_nd(
            v[0], v[1], v.size() > 2 ? v[2] : Variable(),
            {.stride = g.stride, .pad = g.pad, .dilate = g.dilate, .cover_all = g.cover_all, .groups = g.groups})};
      };
      BOOST_CHECK_NO_THROW(testing::assert_allclose(f({Variable(x), Variable(W), Variable(b)})[0].data(),
                                                    naive_convolution(g, x, W, b), 1e-12, 1e-12));
      BOOST_CHECK_NO_THROW(testing::assert_allclose(f({Variable(x), Variable(W)})[0].data(),
                                                    naive_convolution(g, x, W, {}), 1e-12, 1e-12));
      test::check_derivatives("convolution_nd", f, {first_of(x), W, b}, {.atol16 = 1e-2, .rtol16 = 1e-2});
    }
}

BOOST_AUTO_TEST_CASE(transposed_values_and_derivatives) {
  for (const Geometry& g : kGeometries)
    for (const bool larger : {false, true})
      BOOST_TEST_CONTEXT(g.spatial << " by " << g.kernel << ", " << g.groups << larger) {
        Dims size;
        for (int a = 0; a < g.spatial.size(); ++a) {
          const std::int64_t least =
              g.stride[a] * (g.spatial[a] - 1) + (g.kernel[a] - 1) * g.dilate[a] + 1 - 2 * g.pad[a];
          size.push_back(larger ? least + g.stride[a] - 1 : least);
        }
        if (*std::min_element(size.begin(), size.end()) <= 0) continue;
        const Array x = spread(image(kImages, kInputs, g.spatial)),
                    W = spread(image(kInputs, kOutputs / g.groups, g.kernel), -1, 1, 1),
                    b = spread({kOutputs}, -1, 1, 2);
        nn::DeconvolutionNdOptions options{.stride = g.stride, .pad = g.pad, .dilate = g.dilate, .groups = g.groups};
        if (larger) options.outsize = size;
        const auto f = [&](const Variables& v) {
          return Variables{nn::deconvolution_nd(v[0], v[1], v.size() > 2 ? v[2] : Variable(), options)};
        };
        const Array expected = naive_transposed(g, x, W, b, size);
        BOOST_CHECK_NO_THROW(
            testing::assert_allclose(f({Variable(x), Variable(W), Variable(b)})[0].data(), expected, 1e-12, 1e-12));
        if (larger == (g.groups == 1))
          test::check_derivatives("deconvolution_nd", f, {first_of(x), W, b}, {.atol16 = 2e-2, .rtol16 = 2e-2});
        // The adjoint: <convolution(y), x> = <y, deconvolution(x)>.
        const Variable image_of(spread(expected.shape(), -1, 1, 3)), v(x), w(W);
        const Variable there = nn::convolution_nd(
            image_of, w, {}, {.stride = g.stride, .pad = g.pad, .dilate = g.dilate, .groups = g.groups});
        BOOST_TEST(std::fabs(double(sum(there * v)) - double(sum(image_of * f({v, w})[0]))) < 1e-10);
      }
}

BOOST_AUTO_TEST_CASE(two_axes_agree_with_the_functions_for_images) {
  const auto in_order = using_config({.cudnn_deterministic = true});
  const Variable x(spread({2, 4, 6, 5})), W(spread({4, 4, 3, 2}, -1, 1, 1)), b(spread({4}, -1, 1, 2));
  check_same(nn::convolution_nd(x, W, b, 2, 1), nn::convolution_2d(x, W, b, 2, 1));
  check_same(nn::convolution_nd(x, W, b, {2, 1}, {1, 0}), nn::convolution_2d(x, W, b, {2, 1}, {1, 0}));
  check_same(nn::convolution_nd(x, W, {}, {.stride = 2, .cover_all = true}),
             nn::convolution_2d(x, W, {}, {.stride = 2, .cover_all = true}));
  check_same(nn::deconvolution_nd(x, W, b, 2, 1), nn::deconvolution_2d(x, W, b, 2, 1));
  check_same(nn::deconvolution_nd(x, W, b, 2, 1, {12, 9}), nn::deconvolution_2d(x, W, b, 2, 1, {12, 9}));
  check_same(nn::dilated_convolution_2d(x, W, b, 1, 2, 2), nn::convolution_2d(x, W, b, {.pad = 2, .dilate = 2}));
  check_same(nn::dilated_convolution_2d(x, W, b, 2, 1), nn::convolution_2d(x, W, b, 2, 1));
  BOOST_TEST(nn::convolution_nd(x, W).creator()->label() == "ConvolutionND");
  BOOST_TEST(nn::deconvolution_nd(x, W).creator()->label() == "DeconvolutionND");
  BOOST_TEST(nn::deconvolution_2d(x, W).creator()->label() == "Deconvolution2DFunction");
  BOOST_TEST(nn::dilated_convolution_2d(x, W).creator()->label() == "DilatedConvolution2DFunction");
}

// Strides, pads and sizes in the places of the reference, a list in braces for all axes; {} are the default options.
BOOST_AUTO_TEST_CASE(lengths_by_position) {
  const auto in_order = using_config({.cudnn_deterministic = true});
  const Variable x(spread({1, 2, 5, 4, 3})), W(spread({4, 2, 2, 2, 2})), V(spread({2, 3, 2, 2, 2})), none;
  const std::int64_t two = 2;
  check_same(nn::convolution_nd(x, W, none, {2, 1, 1}), nn::convolution_nd(x, W, none, {.stride = {2, 1, 1}}));
  check_same(nn::convolution_nd(x, W, none, {two, 1, 1u}), nn::convolution_nd(x, W, none, {.stride = {2, 1, 1}}));
  check_same(nn::convolution_nd(x, W, none, {2, 1, 1}, {0, 1, 0}),
             nn::convolution_nd(x, W, none, {.stride = {2, 1, 1}, .pad = {0, 1, 0}}));
  check_same(nn::convolution_nd(x, W, none, 2), nn::convolution_nd(x, W, none, {.stride = 2}));
  check_same(nn::convolution_nd(x, W, none, {}), nn::convolution_nd(x, W));
  BOOST_TEST(nn::convolution_nd(x, W, none, {2, 1, 1}).shape() == (Shape{1, 4, 2, 3, 2}));
  check_same(nn::deconvolution_nd(x, V, none, {2, 1, 1}), nn::deconvolution_nd(x, V, none, {.stride = {2, 1, 1}}));
  check_same(nn::deconvolution_nd(x, V, none, {2, 1, 1}, 0, {11, 5, 4}),
             nn::deconvolution_nd(x, V, none, {.stride = {2, 1, 1}, .outsize = {{11, 5, 4}}}));
  check_same(nn::deconvolution_nd(x, V, none, 2), nn::deconvolution_nd(x, V, none, {.stride = 2}));
  check_same(nn::deconvolution_nd(x, V, none, {}), nn::deconvolution_nd(x, V));
  BOOST_TEST(nn::deconvolution_nd(x, V, none, {2, 1, 1}).shape() == (Shape{1, 3, 10, 5, 4}));

  const auto f32 = [](const Array& a) { return Variable(astype(a, Dtype::float32)); };
  const Variable image = f32(x.data());
  BOOST_TEST(nn::ConvolutionND(3, 2, 4, 2, {2, 1, 1})(image).shape() == (Shape{1, 4, 2, 3, 2}));
  BOOST_TEST(nn::ConvolutionND(3, 2, 4, 2, {2, 1, 1}, {0, 1, 0})(image).shape() == (Shape{1, 4, 2, 5, 2}));
  BOOST_TEST(nn::ConvolutionND(3, 2, 4, {2, 1, 2}, 2)(image).shape() == (Shape{1, 4, 2, 2, 1}));
  BOOST_TEST(nn::ConvolutionND(3, 2, 4, 2, {})(image).shape() == (Shape{1, 4, 4, 3, 2}));
  BOOST_TEST(nn::DeconvolutionND(3, 2, 4, 2, {2, 1, 1})(image).shape() == (Shape{1, 4, 10, 5, 4}));
  BOOST_TEST(nn::DeconvolutionND(3, 2, 4, 2, {2, 1, 1}, {0, 1, 0})(image).shape() == (Shape{1, 4, 10, 3, 4}));
  BOOST_TEST(nn::DeconvolutionND(3, 2, 4, 2, {2, 1, 1}, 0, {11, 5, 4})(image).shape() == (Shape{1, 4, 11, 5, 4}));
  BOOST_TEST(nn::DeconvolutionND(3, 2, 4, 2, {})(image).shape() == (Shape{1, 4, 6, 5, 4}));
}

BOOST_AUTO_TEST_CASE(without_images_and_channels) {
  const auto forward = [](const Variables& v) { return Variables{nn::convolution_nd(v[0], v[1])}; };
  const auto back = [](const Variables& v) { return Variables{nn::deconvolution_nd(v[0], v[1])}; };
  test::check_derivatives("convolution of no image", forward, {spread({0, 2, 3, 3, 3}), spread({1, 2, 2, 2, 2})});
  test::check_derivatives("deconvolution of no image", back, {spread({0, 2, 3, 3, 3}), spread({2, 1, 2, 2, 2})});
  BOOST_TEST(forward({Variable(arrays::ones({2, 0, 4})), Variable(arrays::ones({3, 0, 2}))})[0].shape() ==
             Shape({2, 3, 3}));
  for (const double v :
       to_vector<double>(forward({Variable(arrays::ones({2, 0, 4})), Variable(arrays::ones({3, 0, 2}))})[0].data()))
    BOOST_TEST(v == 0);
}

// 4096 products of 1 / 64 in float16: the sum is 64, whatever their order, if it is not rounded on the way.
BOOST_AUTO_TEST_CASE(float16_sums_are_rounded_once) {
  const Variable x(arrays::full({1, 64, 4, 4, 4}, 0.125, Dtype::float16)),
      W(arrays::full({1, 64, 4, 4, 4}, 0.125, Dtype::float16));
  const Variable y = nn::convolution_nd(x, W);
  BOOST_CHECK(y.dtype() == Dtype::float16);
  BOOST_TEST(to_vector<double>(y.data())[0] == 64.0);
}

// Which algorithm computes a convolution is no part of its value; on the CPU the options have nothing to choose.
BOOST_AUTO_TEST_CASE(how_it_is_computed_changes_no_value) {
  const Variable x(spread({2, 3, 5, 4})), W(spread({4, 3, 3, 3}, -1, 1, 1)), V(spread({3, 4, 3, 3}, -1, 1, 2));
  const Variable expected = nn::convolution_2d(x, W), back = nn::deconvolution_2d(x, V);
  const auto close = [](const Variable& a, const Variable& b) {
    BOOST_CHECK_NO_THROW(testing::assert_allclose(a.data(), b.data(), 1e-12, 1e-12));
  };
  for (const bool on : {false, true}) {
    close(nn::convolution_2d(x, W, {}, {.deterministic = on, .use_cudnn = on}), expected);
    close(nn::convolution_nd(x, W, {}, {.deterministic = on, .use_cudnn = on}), expected);
    close(nn::deconvolution_2d(x, V, {}, {.deterministic = on, .use_cudnn = on}), back);
    close(nn::deconvolution_nd(x, V, {}, {.deterministic = on, .use_cudnn = on}), back);
    const auto scope = using_config({.cudnn_deterministic = on, .use_cudnn = on ? "always" : "never"});
    close(nn::convolution_2d(x, W), expected);
    close(nn::deconvolution_nd(x, V), back);
  }
}

BOOST_AUTO_TEST_CASE(errors) {
  const Variable x(arrays::ones({2, 4, 3, 4, 3})), W(arrays::ones({2, 4, 2, 2, 2})), V(arrays::ones({4, 2, 2, 2, 2}));
  BOOST_TEST(has(words_of<catena::InvalidType>([&] {
                   nn::convolution_nd(Variable(arrays::ones({2, 4})), W);
                 }),
                 "Invalid operation is performed in: ConvolutionND (Forward)\n\nExpect: x.ndim >= 3\nActual: "
                 "2 < 3"));
  BOOST_TEST(has(words_of<catena::InvalidType>([&] {
                   nn::convolution_nd(x, Variable(arrays::ones({2, 4, 2, 2})));
                 }),
                 "Expect: W.ndim == 5\nActual: 4 != 5"));
  BOOST_TEST(has(words_of<catena::InvalidType>([&] { nn::convolution_nd(x, V); }),
                 "Expect: x.shape[1] == W.shape[1]\nActual: 4 != 2"));
  BOOST_CHECK_THROW(nn::convolution_nd(x, W, Variable(arrays::ones({3}))), catena::InvalidType);
  BOOST_CHECK_THROW(nn::convolution_nd(x, W, Variable(arrays::ones({2}, Dtype::float64))), catena::InvalidType);
  BOOST_CHECK_THROW(nn::convolution_nd(Variable(arrays::ones({2, 4, 3, 4, 3}, Dtype::int32)), W), catena::InvalidType);
  BOOST_CHECK_THROW(nn::convolution_nd(Variable(), W), catena::TypeError);
  BOOST_CHECK_THROW(nn::convolution_nd(x, W, {}, {.groups = 0}), catena::ValueError);
  BOOST_TEST(words_of<catena::AssertionError>([&] {
               nn::convolution_nd(x, W, {}, nn::Lengths{2, 1});
             }) == "convolution_nd: stride (2, 1) needs one entry for each of 3 spatial axes");
  BOOST_TEST(has(words_of<catena::AssertionError>([&] {
                   nn::convolution_nd(x, W, {}, 1, {1, 1});
                 }),
                 "pad (1, 1) needs one entry"));
  BOOST_TEST(words_of<catena::AssertionError>([&] {
               nn::convolution_nd(x, W, {}, {.dilate = {1, 1, 1, 1}});
             }) == "convolution_nd: dilate (1, 1, 1, 1) needs one entry for each of 3 spatial axes");
  BOOST_TEST(has(words_of<catena::AssertionError>([&] { nn::convolution_nd(x, W, {}, {.dilate = 4}); }),
                 "Output sizes should be positive"));

  BOOST_TEST(has(words_of<catena::InvalidType>([&] {
                   nn::deconvolution_nd(Variable(arrays::ones({2, 4})), V);
                 }),
                 "DeconvolutionND (Forward)"));
  BOOST_CHECK_THROW(nn::deconvolution_nd(x, W), catena::InvalidType);
  BOOST_CHECK_THROW(nn::deconvolution_nd(x, Variable(arrays::ones({4, 2, 2, 2}))), catena::InvalidType);
  BOOST_CHECK_THROW(nn::deconvolution_nd(x, V, Variable(arrays::ones({4}))), catena::InvalidType);
  BOOST_CHECK_THROW(nn::deconvolution_nd(x, V, {}, {.groups = 0}), catena::ValueError);
  BOOST_TEST(words_of<catena::AssertionError>([&] {
               nn::deconvolution_nd(x, V, {}, 1, 0, {4, 5});
             }) == "deconvolution_nd: outsize (4, 5) needs one entry for each of 3 spatial axes");
  BOOST_TEST(has(words_of<catena::InvalidType>([&] {
                   nn::deconvolution_nd(x, V, {}, 1, 0, {4, 5, 5});
                 }),
                 "Expect: get_conv_outsize(outsize) == x.shape[4]\nActual: 4 != 3"));
  BOOST_TEST(words_of<catena::AssertionError>([&] { nn::deconvolution_nd(x, V, {}, 1, 2); }) ==
             "deconvolution_nd: Output sizes should be positive; they are (0, 1, 0)");
}

// Strides of 0 would divide by 0; the functions and the links say so.
BOOST_AUTO_TEST_CASE(geometry_is_checked) {
  const Variable x(arrays::ones({1, 2, 5, 5})), w(arrays::ones({2, 2, 3, 3}));
  using catena::ValueError;
  BOOST_TEST(words_of<ValueError>([&] {
               nn::deconvolution_2d(x, w, {}, {.stride = {1, 0}, .outsize = 7});
             }) == "deconvolution_2d: stride is (1, 0); at least 1 is needed");
  BOOST_TEST(words_of<ValueError>([&] { nn::convolution_2d(x, w, {}, {.pad = -1}); }) ==
             "convolution_2d: pad is (-1, -1); at least 0 is needed");
  BOOST_TEST(words_of<ValueError>([&] { nn::convolution_nd(x, w, {}, {.dilate = 0}); }) ==
             "convolution_nd: dilate is (0, 0); at least 1 is needed");
  BOOST_CHECK_THROW(nn::deconvolution_nd(x, w, {}, {.stride = -2}), ValueError);
  BOOST_CHECK_THROW(nn::depthwise_convolution_2d(x, w, {}, {.stride = 0}), ValueError);
  BOOST_CHECK_THROW(nn::Convolution2D(2, 2, 3, {.stride = 0}), ValueError);
  BOOST_CHECK_THROW(nn::Deconvolution2D(2, 2, 3, {.pad = -1}), ValueError);
  BOOST_CHECK_THROW(nn::DepthwiseConvolution2D(2, 2, 3, {.dilate = 0}), ValueError);
  BOOST_CHECK_THROW(nn::ConvolutionND(2, 2, 2, 3, {.stride = 0}), ValueError);
  BOOST_CHECK_THROW(nn::DeconvolutionND(2, 2, 2, 3, {.dilate = 0}), ValueError);
}

BOOST_AUTO_TEST_SUITE_END()
