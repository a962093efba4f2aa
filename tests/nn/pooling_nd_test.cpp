// Pooling over any number of axes, its inverses, and pooling over regions, against loops in double.
#include <boost/test/unit_test.hpp>
#include <cmath>

#include <catena/autograd/debug.h>
#include <catena/autograd/function_node.h>
#include <catena/autograd/functions/array.h>
#include <catena/autograd/nn_extension.h>
#include <catena/autograd/testing.h>
#include <catena/nn/functions/pooling.h>
#include <catena/tests/support/framework_derivatives.h>
#include <catena/tests/support/framework_devices.h>

using namespace autograd;
using test::spread;

namespace {

using Doubles = std::vector<double>;

struct Silence {
  Silence() { set_disable_experimental_feature_warning(true); }
  ~Silence() { set_disable_experimental_feature_warning(false); }
};

struct Geometry {
  Dims spatial, ksize, stride, pad;
  bool cover_all;
};
const Geometry kGeometries[] = {
    {{7}, {3}, {2}, {1}, true},
    {{7}, {3}, {2}, {0}, false},
    {{5, 4}, {2, 3}, {2, 1}, {0, 1}, true},
    {{5, 4}, {2, 3}, {2, 1}, {0, 1}, false},
    {{3, 4, 3}, {2, 2, 2}, {1, 2, 1}, {1, 0, 1}, true},
    {{3, 4, 3}, {2, 3, 1}, {1, 2, 1}, {0, 1, 0}, false},
    {{2, 2, 2, 2}, {2, 1, 2, 1}, {1, 1, 2, 2}, {0, 0, 0, 0}, false},
    {{1, 1}, {1, 1}, {1, 1}, {0, 0}, true},
};

Shape image(std::int64_t n, std::int64_t c, const Dims& spatial) {
  Shape s{n, c};
  for (const std::int64_t d : spatial) s.push_back(d);
  return s;
}

Dims pooled(const Geometry& g, const Dims& spatial, bool cover_all) {
  Dims out;
  for (int a = 0; a < spatial.size(); ++a) {
    const std::int64_t room = spatial[a] + 2 * g.pad[a] - g.ksize[a];
    out.push_back((cover_all ? room + g.stride[a] - 1 : room) / g.stride[a] + 1);
  }
  return out;
}

// Calls f(position) for every position of a box in C order.
template <class F> void each(const Dims& box, F&& f) {
  Dims at = Dims::filled(box.size(), 0);
  for (std::int64_t i = 0, n = catena::size_of(box); i < n; ++i) {
    f(at);
    for (int a = box.size() - 1; a >= 0 && ++at[a] == box[a]; --a) at[a] = 0;
  }
}

std::int64_t flat(const Dims& at, const Dims& box) {
  std::int64_t p = 0;
  for (int a = 0; a < box.size(); ++a) p = p * box[a] + at[a];
  return p;
}

// Calls f(window, position in the window, element of the image or -1) for every element of every window of one plane.
template <class F> void each_of_windows(const Geometry& g, const Dims& spatial, const Dims& out, F&& f) {
  each(out, [&](const Dims& o) {
    each(g.ksize, [&](const Dims& k) {
      Dims at = o;
      bool inside = true;
      for (int a = 0; a < o.size(); ++a) {
        at[a] = o[a] * g.stride[a] + k[a] - g.pad[a];
        inside &= at[a] >= 0 && at[a] < spatial[a];
      }
      f(flat(o, out), flat(k, g.ksize), inside ? flat(at, spatial) : -1);
    });
  });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(pooling_nd)

BOOST_AUTO_TEST_CASE(maxima_and_averages_of_any_rank) {
  const Silence silence;
  for (const Geometry& g : kGeometries) BOOST_TEST_CONTEXT(g.spatial << " by " << g.ksize << g.cover_all) {
      const Array x = spread(image(2, 2, g.spatial));
      const Doubles xs = to_vector<double>(x);
      const Dims out = pooled(g, g.spatial, g.cover_all), average_out = pooled(g, g.spatial, false);
      const auto n = std::size_t(catena::size_of(out)), m = std::size_t(catena::size_of(average_out)),
                 plane = std::size_t(catena::size_of(g.spatial));
      Doubles best(4 * n, -INFINITY), sums(4 * m), counts(4 * m);
      std::vector<std::int32_t> index(4 * n);
      for (std::size_t p = 0; p < 4; ++p) {
        each_of_windows(g, g.spatial, out, [&](std::int64_t w, std::int64_t k, std::int64_t i) {
          const double v = i < 0 ? -INFINITY : xs[p * plane + std::size_t(i)];
          double& b = best[p * n + std::size_t(w)];
          if (v > b) b = v, index[p * n + std::size_t(w)] = std::int32_t(k);
        });
        each_of_windows(g, g.spatial, average_out, [&](std::int64_t w, std::int64_t, std::int64_t i) {
          if (i >= 0) sums[p * m + std::size_t(w)] += xs[p * plane + std::size_t(i)], ++counts[p * m + std::size_t(w)];
        });
      }
      const auto maximum = [&](const Variables& v) {
        return Variables{
            nn::max_pooling_nd(v[0], g.ksize, {.stride = g.stride, .pad = g.pad, .cover_all = g.cover_all})};
      };
      const auto [y, indices] = nn::max_pooling_nd(
          Variable(x), g.ksize, {.stride = g.stride, .pad = g.pad, .cover_all = g.cover_all}, nn::return_indices);
      BOOST_CHECK_NO_THROW(testing::assert_allclose(y.data(), array(best, image(2, 2, out)), 0, 0));
      BOOST_TEST((to_vector<std::int32_t>(indices) == index));
      test::check_derivatives("max_pooling_nd", maximum, {x});

      Doubles means = sums, inner = sums;
      for (std::size_t k = 0; k < sums.size(); ++k) {
        means[k] /= double(catena::size_of(g.ksize));
        inner[k] /= counts[k];
      }
      for (const bool counted : {true, false}) {
        const auto average = [&](const Variables& v) {
          return Variables{nn::average_pooling_nd(
              v[0], g.ksize,
              {.stride = g.stride, .pad = g.pad, .pad_value = counted ? std::optional<double>(0) : std::nullopt})};
        };
        BOOST_CHECK_NO_THROW(testing::assert_allclose(
            average({Variable(x)})[0].data(), array(counted ? means : inner, image(2, 2, average_out)), 1e-12, 1e-12));
        test::check_derivatives("average_pooling_nd", average, {x});
      }
    }
}

BOOST_AUTO_TEST_CASE(two_axes_agree_with_the_functions_for_images) {
  const Silence silence;
  const Variable x(spread({2, 3, 6, 5})), small(spread({2, 3, 3, 3}));
  const auto same = [](const Variable& a, const Variable& b) {
    BOOST_CHECK_NO_THROW(testing::assert_allclose(a.data(), b.data(), 0, 0));
  };
  same(nn::max_pooling_nd(x, 3, 2, 1), nn::max_pooling_2d(x, 3, 2, 1));
  same(nn::max_pooling_nd(x, {3, 2}), nn::max_pooling_2d(x, {3, 2}));
  same(nn::average_pooling_nd(x, 3, 2, 1), nn::average_pooling_2d(x, 3, 2, 1));
  same(nn::average_pooling_nd(x, 3, {.pad = 1, .pad_value = {}}),
       nn::average_pooling_2d(x, 3, {.pad = 1, .pad_value = {}}));
  same(nn::unpooling_nd(small, 3, {.stride = 2}), nn::unpooling_2d(small, 3, {.stride = 2}));
  BOOST_TEST(nn::max_pooling_nd(x, 2).creator()->label() == "MaxPoolingND");
  BOOST_TEST(nn::average_pooling_nd(x, 2).creator()->label() == "AveragePoolingND");
  BOOST_TEST(nn::unpooling_nd(x, 2).creator()->label() == "UnpoolingND");
  BOOST_TEST(nn::unpooling_2d(x, 2).creator()->label() == "Unpooling2D");
}

BOOST_AUTO_TEST_CASE(lengths_by_position) {
  const Silence silence;
  const Variable x(spread({1, 2, 5, 4, 3}));
  const auto same = [](const Variable& a, const Variable& b) {
    BOOST_CHECK_NO_THROW(testing::assert_allclose(a.data(), b.data(), 0, 0));
  };
  same(nn::max_pooling_nd(x, 2, {2, 1, 1}), nn::max_pooling_nd(x, 2, {.stride = {{2, 1, 1}}}));
  same(nn::max_pooling_nd(x, 2, {2, 1, 1}, {0, 1, 0}, false),
       nn::max_pooling_nd(x, 2, {.stride = {{2, 1, 1}}, .pad = {0, 1, 0}, .cover_all = false}));
  same(nn::max_pooling_nd(x, 2, {}), nn::max_pooling_nd(x, 2));
  BOOST_TEST(nn::max_pooling_nd(x, 2, {2, 1, 1}).shape() == (Shape{1, 2, 3, 3, 2}));
  BOOST_TEST(nn::max_pooling_nd(x, 2, {2, 1, 1}, 0, false).shape() == (Shape{1, 2, 2, 3, 2}));
  same(nn::average_pooling_nd(x, 2, {2, 1, 1}), nn::average_pooling_nd(x, 2, {.stride = {{2, 1, 1}}}));
  same(nn::average_pooling_nd(x, 2, {2, 1, 1}, {0, 1, 0}),
       nn::average_pooling_nd(x, 2, {.stride = {{2, 1, 1}}, .pad = {0, 1, 0}}));
  same(nn::average_pooling_nd(x, 2, {}), nn::average_pooling_nd(x, 2));
  BOOST_TEST(nn::average_pooling_nd(x, 2, {2, 1, 1}).shape() == (Shape{1, 2, 2, 3, 2}));
  same(nn::unpooling_nd(x, 2, {2, 1, 1}), nn::unpooling_nd(x, 2, {.stride = {{2, 1, 1}}}));
  same(nn::unpooling_nd(x, 2, {2, 1, 1}, 0, {10, 5, 4}, false),
       nn::unpooling_nd(x, 2, {.stride = {{2, 1, 1}}, .outsize = {10, 5, 4}, .cover_all = false}));
  BOOST_TEST(nn::unpooling_nd(x, 2, {2, 1, 1}, {0, 1, 0}).shape() == (Shape{1, 2, 9, 3, 4}));
  const Variable image(spread({1, 2, 5, 4}));
  same(nn::unpooling_2d(image, 2, {2, 1}), nn::unpooling_2d(image, 2, {.stride = {{2, 1}}}));
  same(nn::unpooling_2d(image, 2, {2, 1}, 0, {10, 5}),
       nn::unpooling_2d(image, 2, {.stride = {{2, 1}}, .outsize = {10, 5}}));
  // A pair in braces is the stride, not the stride and the pad of the options.
  same(nn::max_pooling_2d(image, 3, {2, 1}), nn::max_pooling_2d(image, 3, {.stride = {{2, 1}}}));
  same(nn::max_pooling_2d(image, 2, {2, 1}, {0, 1}, false),
       nn::max_pooling_2d(image, 2, {.stride = {{2, 1}}, .pad = {0, 1}, .cover_all = false}));
  BOOST_TEST(nn::max_pooling_2d(image, 2, {2, 1}, {0, 1}, false).shape() == (Shape{1, 2, 2, 5}));
  BOOST_TEST(nn::max_pooling_2d(image, 2, {2, 1}, {0, 1}).shape() == (Shape{1, 2, 3, 5}));
  same(nn::average_pooling_2d(image, 3, {2, 1}), nn::average_pooling_2d(image, 3, {.stride = {{2, 1}}}));
  const auto [y, indices] = nn::max_pooling_2d(image, 2, {.stride = {{2, 1}}, .cover_all = false}, nn::return_indices);
  same(nn::upsampling_2d(y, indices, 2, {2, 1}, 0, {5, 4}, false),
       nn::upsampling_2d(y, indices, 2, {.stride = {{2, 1}}, .outsize = {5, 4}, .cover_all = false}));
}

BOOST_AUTO_TEST_CASE(unpooling_writes_whole_windows) {
  const Silence silence;
  for (const Geometry& g : kGeometries) BOOST_TEST_CONTEXT(g.spatial << " by " << g.ksize << g.cover_all) {
      // The image is what pools to x.
      const Dims small = pooled(g, g.spatial, g.cover_all);
      const Array x = spread(image(2, 1, small));
      const Doubles xs = to_vector<double>(x);
      const auto n = std::size_t(catena::size_of(small)), plane = std::size_t(catena::size_of(g.spatial));
      Doubles expected(2 * plane);
      for (std::size_t p = 0; p < 2; ++p)
        each_of_windows(g, g.spatial, small, [&](std::int64_t w, std::int64_t, std::int64_t i) {
          if (i >= 0) expected[p * plane + std::size_t(i)] += xs[p * n + std::size_t(w)];
        });
      const auto f = [&](const Variables& v) {
        return Variables{nn::unpooling_nd(
            v[0], g.ksize, {.stride = g.stride, .pad = g.pad, .outsize = g.spatial, .cover_all = g.cover_all})};
      };
      BOOST_CHECK_NO_THROW(
          testing::assert_allclose(f({Variable(x)})[0].data(), array(expected, image(2, 1, g.spatial)), 1e-12, 1e-12));
      test::check_derivatives("unpooling_nd", f, {x});
    }
  // The sizes by default: covering all, the smallest image that gives as many windows.
  const Variable x(array<float>({1, 2, 3, 4}, {1, 1, 2, 2}));
  BOOST_TEST((to_vector<float>(nn::unpooling_2d(x, 3, {.stride = 2, .cover_all = false}).data()) ==
              std::vector<float>{1, 1, 3, 2, 2, 1, 1, 3, 2, 2, 4, 4, 10, 6, 6, 3, 3, 7, 4, 4, 3, 3, 7, 4, 4}));
  BOOST_TEST((to_vector<float>(nn::unpooling_2d(x, 3, {.stride = 2}).data()) ==
              std::vector<float>{1, 1, 3, 2, 1, 1, 3, 2, 4, 4, 10, 6, 3, 3, 7, 4}));
  // Behind the same windows side by side, pooling gives x back.
  const Variable wide = nn::unpooling_2d(Variable(spread({1, 2, 2, 2})), 3, {.outsize = {5, 5}});
  BOOST_CHECK(wide.shape() == (Shape{1, 2, 5, 5}));
  BOOST_CHECK_NO_THROW(testing::assert_allclose(nn::max_pooling_2d(wide, 3).data(), spread({1, 2, 2, 2}), 0, 0));
}

BOOST_AUTO_TEST_CASE(upsampling_puts_maxima_back) {
  std::vector<double> ramp(36);
  for (std::size_t k = 0; k < 36; ++k) ramp[k] = double(k + 1);
  const Variable x(array(ramp, {1, 1, 6, 6}));
  const auto [y, indices] = nn::max_pooling_2d(x, 2, {}, nn::return_indices);
  const Doubles up = to_vector<double>(nn::upsampling_2d(y, indices, 2, {.outsize = {6, 6}}).data());
  for (std::size_t k = 0; k < 36; ++k) BOOST_TEST(up[k] == (k / 6 % 2 == 1 && k % 2 == 1 ? ramp[k] : 0));
  // Overlapping windows add up.
  const Array small = spread({2, 2, 3, 3}), image = spread({2, 2, 5, 4}, -1, 1, 3);
  const nn::MaxPoolingOptions windows{.stride = 2, .pad = 1, .cover_all = false};
  const Array places = nn::max_pooling_2d(Variable(image), {3, 2}, windows, nn::return_indices).indices;
  const auto f = [&](const Variables& v) {
    return Variables{
        nn::upsampling_2d(v[0], places, {3, 2}, {.stride = 2, .pad = 1, .outsize = {5, 4}, .cover_all = false})};
  };
  const Doubles picked = to_vector<double>(f({Variable(small)})[0].data()), xs = to_vector<double>(small);
  const std::vector<std::int32_t> at = to_vector<std::int32_t>(places);
  Doubles expected(2 * 2 * 5 * 4);
  for (std::size_t p = 0; p < 4; ++p)
    for (int oy = 0; oy < 3; ++oy)
      for (int ox = 0; ox < 3; ++ox) {
        const std::size_t o = p * 9 + std::size_t(3 * oy + ox);
        const int row = 2 * oy - 1 + at[o] / 2, column = 2 * ox - 1 + at[o] % 2;
        expected[p * 20 + std::size_t(4 * row + column)] += xs[o];
      }
  for (std::size_t k = 0; k < expected.size(); ++k) BOOST_TEST(std::fabs(picked[k] - expected[k]) < 1e-12);
  test::check_derivatives("upsampling_2d", f, {small});
}

BOOST_AUTO_TEST_CASE(columns_padded_with_a_value) {
  for (const Geometry& g : kGeometries) {
    const Array x = spread(image(2, 2, g.spatial));
    const Doubles xs = to_vector<double>(x);
    const Dims out = pooled(g, g.spatial, g.cover_all);
    const auto plane = std::size_t(catena::size_of(g.spatial)), windows = std::size_t(catena::size_of(out)),
               taps = std::size_t(catena::size_of(g.ksize));
    Doubles expected(4 * taps * windows);
    for (std::size_t p = 0; p < 4; ++p)
      each_of_windows(g, g.spatial, out, [&](std::int64_t w, std::int64_t k, std::int64_t i) {
        expected[(p * taps + std::size_t(k)) * windows + std::size_t(w)] =
            i < 0 ? -7.5 : xs[p * plane + std::size_t(i)];
      });
    const Array col = nn_extension(x).im2col(
        x, g.ksize, {.stride = g.stride, .pad = g.pad, .dilate = {}, .cover_all = g.cover_all}, -7.5);
    BOOST_TEST((to_vector<double>(col) == expected));
  }
}

BOOST_AUTO_TEST_CASE(lengths_for_all_axes_or_for_each) {
  const nn::Lengths three(3), each{1, 2, 3};
  BOOST_CHECK(three.of("f", "pad", 4) == (Dims{3, 3, 3, 3}));
  BOOST_CHECK(each.of("f", "pad", 3) == (Dims{1, 2, 3}));
  BOOST_CHECK(nn::Lengths(nn::Pair(4, 5)).of("f", "pad", 2) == (Dims{4, 5}));
  const std::int64_t wide = 2;
  BOOST_CHECK((nn::Lengths{wide, 1, 3u}.of("f", "pad", 3) == Dims{2, 1, 3}));
  BOOST_CHECK_THROW(nn::Lengths(Dims{3}).of("f", "pad", 2), catena::AssertionError);
  BOOST_CHECK_EXCEPTION(each.of("convolution_nd", "pad", 2), catena::AssertionError, [](const catena::Error& e) {
    return e.what() == std::string("convolution_nd: pad (1, 2, 3) needs one entry for each of 2 spatial axes");
  });
}

BOOST_AUTO_TEST_CASE(errors) {
  const Silence silence;
  const Variable x(arrays::ones({1, 1, 4, 4}));
  BOOST_CHECK_THROW(nn::max_pooling_nd(Variable(arrays::ones({2, 2})), 2), catena::InvalidType);
  BOOST_CHECK_THROW(nn::max_pooling_nd(Variable(arrays::ones({1, 1, 4}, Dtype::int32)), 2), catena::InvalidType);
  BOOST_CHECK_THROW(nn::max_pooling_nd(x, {2, 2, 2}), catena::AssertionError);
  BOOST_CHECK_THROW(nn::average_pooling_nd(x, 5), catena::AssertionError);
  BOOST_CHECK_THROW(nn::average_pooling_2d(x, 2, {.pad_value = 1.0}), catena::ValueError);
  BOOST_CHECK_THROW(nn::max_pooling_2d(x, 2, {.stride = (1 << 30) + 1}), catena::ValueError);
  BOOST_CHECK_THROW(nn::unpooling_2d(Variable(arrays::ones({1, 1, 4})), 2), catena::InvalidType);
  BOOST_CHECK_THROW(nn::unpooling_2d(x, 1, {.pad = 3}), catena::AssertionError);
  BOOST_CHECK_EXCEPTION(nn::unpooling_2d(x, 2, {.outsize = 5}), catena::InvalidType, [](const catena::Error& e) {
    const std::string text = e.what();
    return text.starts_with("Invalid operation is performed in: Unpooling2D (Forward)") &&
           text.find("get_conv_outsize(outsize[0], ...) == x.shape[2]") != text.npos &&
           text.find("3 != 4") != text.npos;
  });
  BOOST_CHECK_THROW(nn::upsampling_2d(x, arrays::zeros({1, 1, 4, 3}, Dtype::int32), 2), catena::InvalidType);
  BOOST_CHECK_THROW(nn::upsampling_2d(x, arrays::zeros({1, 1, 4, 4}), 2), catena::InvalidType);
}

// ---- regions ------------------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(regions_by_loops) {
  const Array x = spread({2, 3, 6, 7});
  // Inside, at halves of pixels, beyond the image, turned round, outside; two of the same region.
  const Doubles rois{0, 1, 1, 5, 4, 1, 0.5, 2.5, 3.5, 6.5, 1, -3, -2, 9, 20,
                     0, 5, 4, 2, 1, 1, 20,  20,  25,  25,  0, 1,  1,  5, 4};
  const Array regions = array(rois, {6, 5});
  const Doubles xs = to_vector<double>(x);
  for (const double scale : {1.0, 0.5})
    for (const auto& [outh, outw] : {std::pair(2, 3), std::pair(1, 1), std::pair(4, 2)}) {
      Doubles expected;
      std::vector<bool> empty;
      const auto rounded = [](double v) { return v < 0 ? -std::floor(0.5 - v) : std::floor(v + 0.5); };
      for (std::size_t r = 0; r < 6; ++r)
        for (std::size_t c = 0; c < 3; ++c)
          for (int p = 0; p < outh; ++p)
            for (int q = 0; q < outw; ++q) {
              const double* roi = &rois[5 * r];
              const double x0 = rounded(roi[1] * scale), y0 = rounded(roi[2] * scale);
              const float w = float(std::max(rounded(roi[3] * scale) - x0 + 1, 1.0)),
                          h = float(std::max(rounded(roi[4] * scale) - y0 + 1, 1.0));
              const float bw = w / float(outw), bh = h / float(outh);
              double best = -INFINITY;
              for (int row = 0; row < 6; ++row)
                for (int column = 0; column < 7; ++column)
                  if (row >= std::floor(float(p) * bh) + y0 && row < std::ceil(float(p + 1) * bh) + y0 &&
                      column >= std::floor(float(q) * bw) + x0 && column < std::ceil(float(q + 1) * bw) + x0)
                    best = std::max(
                        best, xs[((std::size_t(roi[0]) * 3 + c) * 6 + std::size_t(row)) * 7 + std::size_t(column)]);
              expected.push_back(best == -INFINITY ? 0 : best);
            }
      const auto f = [&, h = outh, w = outw](const Variables& v) {
        return Variables{nn::roi_pooling_2d(v[0], Variable(regions), h, w, scale)};
      };
      BOOST_CHECK_NO_THROW(
          testing::assert_allclose(f({Variable(x)})[0].data(), array(expected, {6, 3, outh, outw}), 0, 0));
      test::check_derivatives("roi_pooling_2d", f, {x});
    }
  Variable rois_given(regions), image(x);
  Variable y = nn::roi_pooling_2d(image, rois_given, 2, 2, 1);
  y.set_grad(arrays::ones(y.shape(), Dtype::float64));
  y.backward();
  BOOST_TEST(!rois_given.grad());
  BOOST_TEST(bool(image.grad()));
}

BOOST_AUTO_TEST_CASE(regions_and_gradients_of_one_maximum) {
  // Both bins of both regions see the same greatest pixel: its gradients add up; of equal pixels the first one counts.
  Variable x(arrays::ones({1, 1, 2, 2}));
  Variable y = nn::roi_pooling_2d(x, Variable(array<float>({0, 0, 0, 1, 1, 0, 0, 0, 1, 1}, {2, 5})), 1, 1, 1);
  y.set_grad(arrays::ones({2, 1, 1, 1}));
  y.backward();
  BOOST_TEST((to_vector<float>(x.grad()) == std::vector<float>{2, 0, 0, 0}));
  BOOST_CHECK(nn::roi_pooling_2d(x, Variable(arrays::zeros({0, 5})), 2, 2, 1).shape() == (Shape{0, 1, 2, 2}));
  // An image that is not there.
  const Variable missing(array<float>({1, 0, 0, 1, 1, -1, 0, 0, 1, 1}, {2, 5}));
  BOOST_TEST((to_vector<float>(nn::roi_pooling_2d(x, missing, 1, 1, 1).data()) == std::vector<float>{0, 0}));
  {
    const DebugMode debug(true);
    BOOST_CHECK_EXCEPTION(nn::roi_pooling_2d(x, missing, 1, 1, 1), catena::ValueError, [](const catena::Error& e) {
      return e.what() == std::string("roi_pooling_2d: the region 0 is of the image 1, of which there are 1");
    });
  }
  BOOST_CHECK_THROW(nn::roi_pooling_2d(x, Variable(arrays::ones({2, 4})), 1, 1, 1), catena::InvalidType);
  BOOST_CHECK_THROW(nn::roi_pooling_2d(x, Variable(arrays::ones({2, 5}, Dtype::int32)), 1, 1, 1), catena::InvalidType);
  BOOST_CHECK_THROW(nn::roi_pooling_2d(Variable(arrays::ones({1, 2, 2})), Variable(arrays::ones({2, 5})), 1, 1, 1),
                    catena::InvalidType);
  BOOST_CHECK_THROW(nn::roi_pooling_2d(x, Variable(arrays::ones({2, 5})), 0, 1, 1), catena::ValueError);
}

BOOST_AUTO_TEST_CASE(pyramids) {
  const Array x = spread({2, 3, 9, 8});
  Variables parts;
  const Variable v(x);
  parts.push_back(reshape(nn::max_pooling_2d(v, {9, 8}), {2, 3, 1, 1}));
  parts.push_back(reshape(nn::max_pooling_2d(v, {5, 4}), {2, 12, 1, 1}));
  parts.push_back(reshape(nn::max_pooling_2d(v, {3, 2}, {.pad = {1, 0}}), {2, 48, 1, 1}));
  const auto f = [](const Variables& in) { return Variables{nn::spatial_pyramid_pooling_2d(in[0], 3)}; };
  BOOST_CHECK_NO_THROW(testing::assert_allclose(f({v})[0].data(), concat(parts, 1).data(), 0, 0));
  BOOST_CHECK(f({v})[0].shape() == (Shape{2, 63, 1, 1}));
  test::check_derivatives("spatial_pyramid_pooling_2d", f, {x});
  for (const Shape& small : {Shape{1, 1, 5, 5}, Shape{1, 1, 3, 2}, Shape{1, 1, 8, 3}})
    BOOST_CHECK_THROW(nn::spatial_pyramid_pooling_2d(Variable(arrays::ones(small)), 3), catena::ValueError);
  BOOST_CHECK_THROW(nn::spatial_pyramid_pooling_2d(v, 0), catena::ValueError);
  BOOST_CHECK_THROW(nn::spatial_pyramid_pooling_2d(v, 2, nn::PoolingClass::average), catena::NotImplementedError);
  BOOST_CHECK_THROW(nn::spatial_pyramid_pooling_2d(Variable(arrays::ones({1, 4, 4})), 1), catena::InvalidType);
  BOOST_CHECK_THROW(nn::spatial_pyramid_pooling_2d(Variable(arrays::ones({1, 1, 4, 4}, Dtype::int32)), 1),
                    catena::InvalidType);
}

BOOST_AUTO_TEST_SUITE_END()
