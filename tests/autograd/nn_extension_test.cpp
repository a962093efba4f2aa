// NnExtension against plain loops in double: stride, padding, dilation, groups, cover_all, one to three spatial axes,
// every dtype.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <functional>

#include <catena/autograd/array.h>
#include <catena/autograd/nn_extension.h>
#include <catena/kernels/base/parallel.h>
#include <catena/tests/support/turns.h>

using namespace autograd;
using catena::AssertionError;
using catena::TypeError;
using catena::ValueError;

namespace {

// ---- an array of doubles and its index arithmetic, for the oracle ----
struct Dense {
  Shape shape;
  std::vector<double> v;
  explicit Dense(const Shape& s) : shape(s), v(std::size_t(catena::size_of(s))) {}
  explicit Dense(const Array& a) : shape(a.shape()), v(to_vector<double>(a)) {}
  double& at(const Dims& i) {
    std::int64_t p = 0;
    for (int k = 0; k < shape.size(); ++k) p = p * shape[k] + i[k];
    return v[std::size_t(p)];
  }
};
void each(const Shape& shape, const std::function<void(const Dims&)>& f) {
  Dims i = Dims::filled(shape.size(), 0);
  for (std::int64_t n = catena::size_of(shape); n > 0; --n) {
    f(i);
    for (int k = shape.size() - 1; k >= 0 && ++i[k] == shape[k]; --k) i[k] = 0;
  }
}
Dims joined(std::initializer_list<std::int64_t> head, const Dims& tail) {
  Dims d(head);
  for (std::int64_t n : tail) d.push_back(n);
  return d;
}
Dims tail(const Dims& d, int from) {
  return Dims(std::span<const std::int64_t>(d.begin() + from, std::size_t(d.size() - from)));
}

Array random(const Shape& shape, Dtype dtype = Dtype::float64) {
  static Generator g{17, 0};
  return astype(random_uniform(shape, -1, 1, Dtype::float64, g), dtype);
}

void check_close(const Array& got, const Dense& expected, double tolerance, const char* what) {
  BOOST_TEST_CONTEXT(what) {
    BOOST_TEST(got.shape() == expected.shape);
    if (!(got.shape() == expected.shape)) return;
    const std::vector<double> v = to_vector<double>(got);
    double worst = 0, scale = 1;
    for (std::size_t i = 0; i < v.size(); ++i) {
      worst = std::max(worst, v[i] == expected.v[i] ? 0.0 : std::isnan(v[i]) ? 1e300 : std::abs(v[i] - expected.v[i]));
      if (std::isfinite(expected.v[i])) scale = std::max(scale, std::abs(expected.v[i]));
    }
    BOOST_TEST(worst <= tolerance * scale);
  }
}

struct Case {
  Shape x, w;
  ConvolutionSpec spec;
};

// Calls f(position in y, position in x, position in w) for every product of a convolution.
void each_product(const Case& c, const Dims& out, const std::function<void(const Dims&, const Dims&, const Dims&)>& f) {
  const int rank = out.size();
  const std::int64_t per_group = c.w[0] / c.spec.groups;
  each(joined({c.x[0], c.w[0]}, out), [&](const Dims& y) {
    each(tail(c.w, 1), [&](const Dims& t) {
      Dims x{y[0], y[1] / per_group * c.w[1] + t[0]};
      for (int i = 0; i < rank; ++i) {
        const std::int64_t d = c.spec.dilate.empty() ? 1 : c.spec.dilate[i];
        x.push_back(y[i + 2] * c.spec.stride[i] + t[i + 1] * d - c.spec.pad[i]);
        if (x[i + 2] < 0 || x[i + 2] >= c.x[i + 2]) return;
      }
      f(y, x, joined({y[1]}, t));
    });
  });
}

ConvolutionSpec spec_of(const Dims& stride, const Dims& pad, const Dims& dilate = {}, bool cover_all = false,
                        std::int64_t groups = 1) {
  ConvolutionSpec s;
  s.stride = stride;
  s.pad = pad;
  s.dilate = dilate;
  s.cover_all = cover_all;
  s.groups = groups;
  return s;
}

std::vector<Case> cases() {
  return {
      {{2, 3, 7, 6}, {4, 3, 3, 3}, spec_of({1, 1}, {1, 1})},
      {{2, 3, 7, 6}, {4, 3, 3, 2}, spec_of({2, 3}, {1, 0})},
      {{2, 3, 7, 6}, {4, 3, 3, 3}, spec_of({2, 2}, {1, 1}, {}, true)},
      {{1, 2, 9, 8}, {2, 2, 3, 2}, spec_of({1, 2}, {2, 1}, {2, 3})},
      {{1, 2, 10, 11}, {2, 2, 3, 3}, spec_of({3, 2}, {1, 2}, {2, 2}, true)},
      {{2, 4, 5, 5}, {6, 2, 3, 3}, spec_of({1, 1}, {1, 1}, {}, false, 2)},
      {{2, 4, 5, 5}, {8, 1, 3, 3}, spec_of({2, 2}, {1, 1}, {}, false, 4)},  // depthwise
      {{3, 5, 4, 4}, {2, 5, 1, 1}, spec_of({1, 1}, {0, 0})},                // a matrix product
      {{1, 1, 1, 1}, {1, 1, 1, 1}, spec_of({1, 1}, {0, 0})},
      {{1, 1, 1, 1}, {2, 1, 3, 3}, spec_of({1, 1}, {1, 1})},
      {{2, 16, 6, 6}, {16, 16, 3, 3}, spec_of({1, 1}, {1, 1})},
      {{2, 12, 9, 8}, {3, 12, 3, 2}, spec_of({2, 1}, {1, 2}, {2, 1}, true)},
      {{1, 300, 4, 3}, {2, 300, 2, 2}, spec_of({3, 2}, {1, 0})},
      {{2, 3, 9}, {4, 3, 3}, spec_of({2}, {1})},
      {{2, 3, 9}, {4, 3, 2}, spec_of({2}, {1}, {3}, true)},
      {{2, 2, 4, 5, 6}, {3, 2, 2, 3, 2}, spec_of({1, 2, 1}, {1, 0, 1})},
      {{2, 2, 5, 5, 6}, {4, 1, 2, 2, 3}, spec_of({2, 1, 2}, {0, 1, 1}, {1, 2, 1}, true, 2)},
  };
}

double tolerance_of(Dtype t) {
  return t == Dtype::float64 ? 1e-12 : t == Dtype::float32 ? 1e-5 : t == Dtype::float16 ? 2e-3 : 2e-2;
}
constexpr Dtype kFloats[] = {Dtype::float32, Dtype::float64, Dtype::float16, Dtype::bfloat16};
// The dtypes of case k: on the software device one of the four, another one for the next case.
std::vector<Dtype> floats_of(std::size_t k) {
  if (!test::on_software_device()) return {std::begin(kFloats), std::end(kFloats)};
  return {kFloats[k % std::size(kFloats)]};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(nn_extension)

BOOST_AUTO_TEST_CASE(output_sizes) {
  BOOST_TEST(get_conv_outsize(7, 3, 2, 1) == 4);
  BOOST_TEST(get_conv_outsize(6, 3, 2, 0) == 2);
  BOOST_TEST(get_conv_outsize(6, 3, 2, 0, true) == 3);
  BOOST_TEST(get_conv_outsize(9, 3, 1, 0, false, 2) == 5);
  BOOST_TEST(get_conv_outsize(1, 4, 2, 0) == -1);  // floor, also below 0
  BOOST_TEST(get_deconv_outsize(4, 3, 2, 1) == 7);
  BOOST_TEST(get_deconv_outsize(3, 3, 2, 0, true) == 6);
}

BOOST_AUTO_TEST_CASE(convolutions_and_their_adjoints) {
  std::size_t number = 0;
  for (const Case& c : cases())
    for (Dtype t : floats_of(number++)) {
      const double tolerance = tolerance_of(t);
      const Array x = random(c.x, t), w = random(c.w, t), b = random({c.w[0]}, t);
      NnExtension& nn = autograd::nn_extension(x);
      const Array y = nn.convolution(x, w, b, c.spec);
      BOOST_TEST((y.dtype() == t));
      const Dims out = tail(y.shape(), 2);
      const Array gy = random(y.shape(), t);
      Dense dx(x), dw(w), db(b), expected(y.shape()), dgy(gy), gx(c.x), gw(c.w);
      each(expected.shape, [&](const Dims& i) { expected.at(i) = db.v[std::size_t(i[1])]; });
      each_product(c, out, [&](const Dims& iy, const Dims& ix, const Dims& iw) {
        expected.at(iy) += dx.at(ix) * dw.at(iw);
        gx.at(ix) += dgy.at(iy) * dw.at(iw);
        gw.at(iw) += dgy.at(iy) * dx.at(ix);
      });
      BOOST_TEST_CONTEXT("x " << c.x << " w " << c.w << " stride " << c.spec.stride << " pad " << c.spec.pad
                              << " dilate " << c.spec.dilate << " " << t) {
        check_close(y, expected, tolerance, "forward");
        check_close(nn.convolution_backward_data(w, gy, tail(c.x, 2), c.spec), gx, tolerance, "data");
        check_close(nn.convolution_backward_filter(x, gy, tail(c.w, 2), t, c.spec), gw, tolerance, "filter");
        // without a bias, and from operands that are views
        const Array plain = nn.convolution(transpose(copy(transpose(x))), transpose(copy(transpose(w))), {}, c.spec);
        check_close(plain + reshape(b, joined({-1}, Dims::filled(out.size(), 1))), expected, 4 * tolerance,
                    "forward of views");
        const Array turned = transpose(copy(transpose(gy)));
        check_close(nn.convolution_backward_data(w, turned, tail(c.x, 2), c.spec), gx, tolerance, "data of views");
        check_close(nn.convolution_backward_filter(transpose(copy(transpose(x))), turned, tail(c.w, 2), t, c.spec), gw,
                    tolerance, "filter of views");
      }
    }
}

BOOST_AUTO_TEST_CASE(broadcast_gradients_are_read_right) {
  const Array x = random({2, 8, 5, 5}, Dtype::float32), w = random({8, 8, 3, 3}, Dtype::float32);
  const ConvolutionSpec spec = spec_of({1, 1}, {1, 1});
  NnExtension& nn = autograd::nn_extension(x);
  const Array one = broadcast_to(arrays::full({}, 1), {2, 8, 5, 5}), packed = copy(one);
  check_close(nn.convolution_backward_data(w, one, {5, 5}, spec),
              Dense(nn.convolution_backward_data(w, packed, {5, 5}, spec)), 0, "data");
  check_close(nn.convolution_backward_filter(x, one, {3, 3}, Dtype::float32, spec),
              Dense(nn.convolution_backward_filter(x, packed, {3, 3}, Dtype::float32, spec)), 0, "filter");
}

BOOST_AUTO_TEST_CASE(mixed_dtypes_compute_in_the_wider_one) {
  const Array x = random({1, 2, 4, 4}, Dtype::float16), w = random({2, 2, 3, 3}, Dtype::float32);
  NnExtension& nn = autograd::nn_extension(x);
  const ConvolutionSpec spec = spec_of({1, 1}, {1, 1});
  const Array y = nn.convolution(x, w, {}, spec);
  BOOST_TEST((y.dtype() == Dtype::float16));
  check_close(y, Dense(nn.convolution(astype(x, Dtype::float64), astype(w, Dtype::float64), {}, spec)), 1e-3,
              "forward");
  BOOST_TEST((nn.convolution_backward_filter(x, y, {3, 3}, Dtype::float32, spec).dtype() == Dtype::float32));
}

BOOST_AUTO_TEST_CASE(empty_operands) {
  NnExtension& nn = autograd::nn_extension(arrays::ones({1}));
  const ConvolutionSpec spec = spec_of({1, 1}, {1, 1});
  BOOST_TEST(nn.convolution(arrays::empty({0, 2, 4, 4}), arrays::ones({3, 2, 3, 3}), {}, spec).shape() ==
             Shape({0, 3, 4, 4}));
  check_close(nn.convolution(arrays::empty({1, 0, 2, 2}), arrays::empty({2, 0, 3, 3}), arrays::ones({2}), spec),
              Dense(arrays::ones({1, 2, 2, 2})), 0, "no channels");
  BOOST_TEST(
      nn.convolution_backward_data(arrays::ones({3, 2, 3, 3}), arrays::empty({0, 3, 4, 4}), {4, 4}, spec).shape() ==
      Shape({0, 2, 4, 4}));
  check_close(nn.convolution_backward_filter(arrays::empty({0, 2, 4, 4}), arrays::empty({0, 3, 4, 4}), {3, 3},
                                             Dtype::float32, spec),
              Dense(arrays::zeros({3, 2, 3, 3})), 0, "no images");
  check_close(nn.convolution_backward_data(arrays::empty({0, 2, 3, 3}), arrays::empty({1, 0, 4, 4}), {4, 4}, spec),
              Dense(arrays::zeros({1, 2, 4, 4})), 0, "no outputs");
  BOOST_TEST(nn.max_pooling(arrays::empty({0, 2, 4, 4}), {{2, 2}, {2, 2}, {0, 0}, true})[1].shape() ==
             Shape({0, 2, 2, 2}));
}

BOOST_AUTO_TEST_CASE(convolution_errors) {
  NnExtension& nn = autograd::nn_extension(arrays::ones({1}));
  const ConvolutionSpec spec = spec_of({1, 1}, {0, 0});
  const auto has = [](const char* text) {
    return [text](const catena::Error& e) { return std::string(e.what()).find(text) != std::string::npos; };
  };
  BOOST_CHECK_EXCEPTION(nn.convolution(arrays::ones({1, 2, 4, 4}), arrays::ones({1, 3, 3, 3}), {}, spec), ValueError,
                        has("convolution: the filter (1, 3, 3, 3)"));
  BOOST_CHECK_EXCEPTION(nn.convolution(arrays::ones({1, 2, 2, 4}), arrays::ones({1, 2, 3, 3}), {}, spec),
                        AssertionError, has("Height in the output should be positive"));
  BOOST_CHECK_EXCEPTION(nn.convolution(arrays::ones({1, 2, 4, 2}), arrays::ones({1, 2, 3, 3}), {}, spec),
                        AssertionError, has("Width in the output should be positive"));
  BOOST_CHECK_THROW(nn.convolution(arrays::ones({1, 2, 4, 4}), arrays::ones({1, 2, 3, 3}), arrays::ones({2}), spec),
                    ValueError);
  BOOST_CHECK_THROW(nn.convolution(arrays::ones({1, 2, 4, 4}, Dtype::int32), arrays::ones({1, 2, 3, 3}), {}, spec),
                    TypeError);
  BOOST_CHECK_THROW(nn.convolution(arrays::ones({1, 2, 4, 4}), arrays::ones({1, 2, 3, 3}), {}, spec_of({1}, {0})),
                    ValueError);
  BOOST_CHECK_THROW(nn.convolution(arrays::ones({1, 2, 4, 4}), arrays::ones({1, 2, 3, 3}), {}, spec_of({0, 1}, {0, 0})),
                    ValueError);
  BOOST_CHECK_THROW(
      nn.convolution(arrays::ones({1, 2, 4, 4}), arrays::ones({1, 2, 3, 3}), {}, spec_of({1, 1}, {-1, 0})), ValueError);
  BOOST_CHECK_THROW(
      nn.convolution(arrays::ones({1, 2, 4, 4}), arrays::ones({3, 1, 3, 3}), {}, spec_of({1, 1}, {0, 0}, {}, false, 2)),
      ValueError);
  BOOST_CHECK_THROW(nn.convolution_backward_data(arrays::ones({1, 2, 3, 3}), arrays::ones({1, 1, 3, 3}), {4, 4}, spec),
                    ValueError);
  BOOST_CHECK_THROW(nn.convolution_backward_filter(arrays::ones({1, 2, 4, 4}), arrays::ones({2, 1, 2, 2}), {3, 3},
                                                   Dtype::float32, spec),
                    ValueError);
}

BOOST_AUTO_TEST_CASE(columns_and_images_are_adjoint) {
  for (const Case& c : cases()) {
    const Dims kernel = tail(c.w, 2);
    const Array x = random(c.x);
    NnExtension& nn = autograd::nn_extension(x);
    const Array col = nn.im2col(x, kernel, c.spec);
    const int rank = kernel.size();
    Dense dx(x), expected(col.shape());
    each(col.shape(), [&](const Dims& i) {
      Dims at{i[0], i[1]};
      for (int k = 0; k < rank; ++k) {
        const std::int64_t d = c.spec.dilate.empty() ? 1 : c.spec.dilate[k];
        at.push_back(i[2 + rank + k] * c.spec.stride[k] + i[2 + k] * d - c.spec.pad[k]);
        if (at[k + 2] < 0 || at[k + 2] >= c.x[k + 2]) return;
      }
      expected.at(i) = dx.at(at);
    });
    check_close(col, expected, 0, "im2col");
    const Array weights = random(col.shape());
    const double forward = item(sum(col * weights)).to_double();
    const double backward = item(sum(x * nn.col2im(weights, tail(c.x, 2), c.spec))).to_double();
    BOOST_TEST(std::abs(forward - backward) < 1e-10 * std::max(1., std::abs(forward)));
  }
}

namespace {

struct PoolCase {
  Shape x;
  PoolingSpec spec;
};
std::vector<PoolCase> pool_cases() {
  return {
      {{2, 3, 6, 7}, {{2, 3}, {2, 2}, {0, 0}, false}},
      {{2, 3, 6, 7}, {{3, 3}, {2, 2}, {1, 1}, true}},
      {{1, 1, 1, 1}, {{1, 1}, {1, 1}, {0, 0}, true}},
      {{1, 2, 5, 5}, {{3, 2}, {1, 3}, {2, 1}, true}},
      {{1, 2, 3, 3}, {{2, 2}, {3, 3}, {2, 2}, true}},  // windows that see only padding
      {{2, 2, 9}, {{3}, {2}, {1}, true}},
      {{2, 2, 9}, {{4}, {1}, {0}, false}},
      {{2, 2, 4, 5, 3}, {{2, 2, 2}, {2, 1, 2}, {1, 0, 1}, true}},
      {{2, 3, 6, 4}, {{2, 2}, {2, 2}, {0, 0}, false}},  // every element in one window
      {{2, 3, 7, 5}, {{2, 2}, {2, 2}, {0, 0}, true}},   // the last ones partly outside
      {{1, 3, 8, 8}, {{2, 1}, {3, 2}, {0, 0}, false}},  // gaps between them
      {{2, 3, 8, 9}, {{4, 3}, {2, 2}, {1, 0}, true}},   // more positions than a program of steps takes
      {{2, 2, 4, 4, 4}, {{2, 2, 2}, {2, 2, 2}, {0, 0, 0}, false}},
  };
}
// The same elements with the channels innermost in memory.
Array channels_last(const Array& x) {
  Dims there{0}, back{0, x.ndim() - 1};
  for (int a = 2; a < x.ndim(); ++a) there.push_back(a);
  there.push_back(1);
  for (int a = 1; a < x.ndim() - 1; ++a) back.push_back(a);
  return autograd::transpose(autograd::copy(autograd::transpose(x, there)), back);
}

}  // namespace

void check_pooling(bool last) {
  std::size_t number = last ? 2 : 0;  // other dtypes than those of the other layout
  for (const PoolCase& c : pool_cases())
    for (Dtype t : floats_of(number++)) {
      const Array x = last ? channels_last(random(c.x, t)) : random(c.x, t);
      NnExtension& nn = autograd::nn_extension(x);
      const Arrays y = nn.max_pooling(x, c.spec);
      const Array mean = nn.average_pooling(x, c.spec);
      const Array gy = last ? channels_last(random(y[0].shape(), t)) : random(y[0].shape(), t);
      const int rank = c.spec.size.size();
      const double count = double(catena::size_of(c.spec.size));
      Dense dx(x), dgy(gy), top(y[0].shape()), which(y[0].shape()), average(mean.shape()), g_top(c.x), g_average(c.x),
          picked(y[0].shape());
      each(y[0].shape(), [&](const Dims& i) {
        double best = -INFINITY, total = 0;
        std::int64_t best_position = 0, position = 0;
        Dims best_at;
        each(c.spec.size, [&](const Dims& k) {
          Dims at{i[0], i[1]};
          bool inside = true;
          for (int a = 0; a < rank; ++a) {
            at.push_back(i[a + 2] * c.spec.stride[a] + k[a] - c.spec.pad[a]);
            inside = inside && at[a + 2] >= 0 && at[a + 2] < c.x[a + 2];
          }
          if (inside) {
            total += dx.at(at);
            g_average.at(at) += dgy.at(i) / count;
            if (dx.at(at) > best) {
              best = dx.at(at);
              best_position = position;
              best_at = at;
            }
          }
          ++position;
        });
        top.at(i) = best;
        which.at(i) = double(best_position);
        average.at(i) = total / count;
        if (!best_at.empty()) {
          g_top.at(best_at) += dgy.at(i);
          picked.at(i) = best;
        }
      });
      const double tolerance = tolerance_of(t);
      BOOST_TEST_CONTEXT("x " << c.x << " size " << c.spec.size << " stride " << c.spec.stride << " pad " << c.spec.pad
                              << " " << t) {
        BOOST_TEST((y[0].dtype() == t));
        BOOST_TEST((y[1].dtype() == Dtype::int32));
        check_close(y[0], top, 0, "max");
        check_close(nn.max_pooling_values(x, c.spec), top, 0, "max alone");
        check_close(y[1], which, 0, "indexes");
        check_close(mean, average, tolerance, "average");
        check_close(nn.max_pooling_backward(gy, y[1], tail(c.x, 2), c.spec), g_top, tolerance, "gradient of max");
        check_close(nn.average_pooling_backward(gy, tail(c.x, 2), c.spec), g_average, tolerance, "gradient of average");
        check_close(nn.max_pooling_by_index(x, y[1], c.spec), picked, 0, "by index");
      }
    }
}

BOOST_AUTO_TEST_CASE(pooling) { check_pooling(false); }
BOOST_AUTO_TEST_CASE(pooling_with_the_channels_innermost) { check_pooling(true); }

BOOST_AUTO_TEST_CASE(ties_and_nan_in_max_pooling) {
  NnExtension& nn = autograd::nn_extension(arrays::ones({1}));
  const PoolingSpec spec{{2, 2}, {2, 2}, {0, 0}, false};
  BOOST_TEST(to_vector<int>(nn.max_pooling(arrays::ones({1, 1, 2, 2}), spec)[1]) == std::vector<int>{0});
  const Arrays y = nn.max_pooling(array<float>({1, NAN, 5, NAN}, {1, 1, 2, 2}), spec);
  BOOST_TEST(std::isnan(to_vector<float>(y[0])[0]));
  BOOST_TEST(to_vector<int>(y[1])[0] == 1);
  // Without indexes the same elements win: zeros of both signs and NaN with a sign, in every order of four.
  const std::vector<float> some{0.0f, -0.0f, -1, std::copysign(float(NAN), -1.0f), float(NAN), -INFINITY};
  std::vector<float> all;
  for (std::size_t k = 0; k < some.size() * some.size() * some.size() * some.size(); ++k)
    for (std::size_t place = 0, rest = k; place < 4; ++place, rest /= some.size())
      all.push_back(some[rest % some.size()]);
  const auto bits = [](const Array& a) {
    std::vector<std::pair<float, bool>> result;
    for (const float v : to_vector<float>(a)) result.emplace_back(std::isnan(v) ? 7.0f : v, std::signbit(v));
    return result;
  };
  const Array windows = array(all, {std::int64_t(all.size() / 4), 1, 2, 2});
  BOOST_TEST((bits(nn.max_pooling_values(windows, spec)) == bits(nn.max_pooling(windows, spec)[0])));
  BOOST_CHECK_THROW(nn.max_pooling_values(arrays::ones({1, 1, 1, 1}), spec), AssertionError);
  BOOST_CHECK_THROW(nn.max_pooling_values(arrays::ones({1, 1, 4, 4}, Dtype::int32), spec), TypeError);
  BOOST_CHECK_THROW(nn.max_pooling(arrays::ones({1, 1, 1, 1}), spec), AssertionError);
  BOOST_CHECK_THROW(nn.max_pooling(arrays::ones({1, 1, 4, 4}), PoolingSpec{{2}, {2}, {0}, false}), ValueError);
  BOOST_CHECK_THROW(nn.average_pooling(arrays::ones({1, 1, 4, 4}, Dtype::int32), spec), TypeError);
}

BOOST_AUTO_TEST_CASE(batch_normalization) {
  const struct {
    Shape x, p;
    Dims axes;
    bool last = false;  // the channels are innermost in memory
  } layouts[] = {{{6, 3}, {1, 3}, {0}},
                 {{4, 3, 2, 5}, {1, 3, 1, 1}, {0, 2, 3}},
                 {{4, 3, 2}, {1, 3, 2}, {0}},
                 {{1, 2}, {1, 2}, {0}},
                 {{7, 5}, {1, 5}, {0}},
                 {{4, 6, 8, 5}, {1, 6, 1, 1}, {0, 2, 3}, true},
                 {{3, 40, 7}, {1, 40, 1}, {0, 2}, true},
                 {{2, 5, 3, 4, 4}, {1, 5, 1, 1, 1}, {0, 2, 3, 4}, true}};
  std::size_t number = 0;
  for (const auto& l : layouts)
    for (Dtype t : floats_of(number++)) {
      const Array x = l.last ? channels_last(random(l.x, t)) : random(l.x, t), gamma = random(l.p, t),
                  beta = random(l.p, t);
      const Array gy = random(l.x, t);
      NnExtension& nn = autograd::nn_extension(x);
      const double eps = 1e-3;
      const Arrays y = nn.batch_normalization(x, gamma, beta, eps, l.axes);
      const Arrays g = nn.batch_normalization_backward(x, gy, gamma, y[1], y[3], l.axes);
      const double count = double(catena::size_of(l.x)) / double(catena::size_of(l.p));
      Dense dx(x), dg(gamma), db(beta), dgy(gy), mean(l.p), var(l.p), inv(l.p), ey(l.x), gg(l.p), gb(l.p), gx(l.x);
      const auto row = [&](Dims i) {
        for (std::int64_t a : l.axes) i[int(a)] = 0;
        return i;
      };
      each(l.x, [&](const Dims& i) { mean.at(row(i)) += dx.at(i) / count; });
      each(l.x, [&](const Dims& i) {
        var.at(row(i)) += (dx.at(i) - mean.at(row(i))) * (dx.at(i) - mean.at(row(i))) / count;
      });
      each(l.p, [&](const Dims& i) { inv.at(i) = 1 / std::sqrt(var.at(i) + eps); });
      each(l.x, [&](const Dims& i) {
        const Dims r = row(i);
        const double hat = (dx.at(i) - mean.at(r)) * inv.at(r);
        ey.at(i) = dg.at(r) * hat + db.at(r);
        gg.at(r) += dgy.at(i) * hat;
        gb.at(r) += dgy.at(i);
      });
      each(l.x, [&](const Dims& i) {
        const Dims r = row(i);
        const double hat = (dx.at(i) - mean.at(r)) * inv.at(r);
        gx.at(i) = dg.at(r) * inv.at(r) * (dgy.at(i) - (hat * gg.at(r) + gb.at(r)) / count);
      });
      const double tolerance = 4 * tolerance_of(t);
      BOOST_TEST_CONTEXT("x " << l.x << " " << t) {
        BOOST_TEST((y[0].dtype() == t));
        BOOST_TEST((y[1].dtype() == (t == Dtype::float64 ? t : Dtype::float32)));
        check_close(y[0], ey, tolerance, "y");
        check_close(y[1], mean, 1e-6, "mean");
        check_close(y[2], var, 1e-6, "variance");
        check_close(y[3], inv, 1e-5, "inverse deviation");
        check_close(g[0], gx, tolerance, "gx");
        check_close(g[1], gg, tolerance, "ggamma");
        check_close(g[2], gb, tolerance, "gbeta");
        for (const Array& a : g) BOOST_TEST((a.dtype() == t));
        const Array fixed = nn.fixed_batch_normalization(x, gamma, beta, astype(y[1], t), astype(y[2], t), eps);
        check_close(fixed, ey, 2 * tolerance, "fixed");
        const Array turned = transpose(copy(transpose(x)));
        check_close(nn.batch_normalization(turned, gamma, beta, eps, l.axes)[0], ey, tolerance, "y of a view");
        check_close(nn.fixed_batch_normalization(turned, gamma, beta, astype(y[1], t), astype(y[2], t), eps), ey,
                    2 * tolerance, "fixed, of a view");
      }
    }
}

// Float32 statistics of values far from 0: the deviations are summed around the mean.
BOOST_AUTO_TEST_CASE(batch_normalization_far_from_zero) {
  const Shape shape{8, 4, 16, 16}, per_channel{1, 4, 1, 1};
  for (bool last : {false, true}) {
    const Array near = random(shape, Dtype::float32);
    const Array x = last ? channels_last(near + 1000) : near + 1000;
    const Arrays y = portable_nn_extension().batch_normalization(x, arrays::ones(per_channel),
                                                                 arrays::zeros(per_channel), 1e-5, {0, 2, 3});
    const Array wide = astype(x, Dtype::float64), center = mean(wide, {0, 2, 3}, true), apart = wide - center;
    const std::vector<double> expected = to_vector<double>(mean(apart * apart, {0, 2, 3}, true)),
                              got = to_vector<double>(y[2]);
    for (std::size_t i = 0; i < expected.size(); ++i)
      BOOST_TEST(std::abs(got[i] / expected[i] - 1) < 1e-4, got[i] << ' ' << expected[i]);
  }
}

BOOST_AUTO_TEST_CASE(batch_normalization_gives_the_same_bits_with_any_number_of_threads) {
  const int before = catena::max_threads();
  const Array x = channels_last(random({6, 12, 20, 24}, Dtype::float32)),
              gy = channels_last(random({6, 12, 20, 24}, Dtype::float32));
  const Array gamma = random({1, 12, 1, 1}, Dtype::float32), beta = random({1, 12, 1, 1}, Dtype::float32);
  std::vector<std::vector<float>> results[2];
  for (int threads : {1, 2}) {
    catena::set_max_threads(threads);
    const Arrays y = portable_nn_extension().batch_normalization(x, gamma, beta, 1e-3, {0, 2, 3});
    const Arrays g = portable_nn_extension().batch_normalization_backward(x, gy, gamma, y[1], y[3], {0, 2, 3});
    for (const Arrays& all : {y, g})
      for (const Array& a : all) results[threads - 1].push_back(to_vector<float>(a));
  }
  catena::set_max_threads(before);
  BOOST_TEST((results[0] == results[1]));
}

BOOST_AUTO_TEST_CASE(the_last_implementation_is_on_record) {
  const Array x = arrays::ones({1, 2, 4, 4}, Dtype::float64), w = arrays::ones({2, 2, 3, 3}, Dtype::float64);
  portable_nn_extension().convolution(x, w, {}, spec_of({1, 1}, {1, 1}));
  BOOST_TEST(last_implementation() == "portable");
}

BOOST_AUTO_TEST_SUITE_END()
