// max_pooling_2d and average_pooling_2d.
#include <catena/nn/functions/pooling.h>

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <tuple>

#include <catena/autograd/debug.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/nn_extension.h>
#include <catena/autograd/operators.h>
#include <catena/autograd/testing.h>
#include <catena/nn/functions/modules.h>
#include <catena/tests/support/framework_derivatives.h>
#include <catena/tests/support/framework_golden.h>

using namespace autograd;
using test::spread;

namespace {

struct Geometry {
  std::int64_t h, w;
  nn::Pair ksize, stride, pad;
  bool cover_all;
};
const Geometry kGeometries[] = {
    {4, 4, 2, 2, 0, true}, {5, 4, 3, 2, 1, true}, {5, 5, {2, 3}, {2, 1}, {0, 1}, false},
    {3, 3, 3, 3, 0, true}, {1, 1, 1, 1, 0, true}, {7, 6, 3, 2, 0, true},
};

Array naive_pooling(const Array& x, const Geometry& g, bool maximum) {
  const std::int64_t n = x.shape(0), c = x.shape(1);
  const bool cover = maximum && g.cover_all;
  const auto length = [&](std::int64_t size, int k, int s, int p) {
    return cover ? (size + 2 * p - k + s - 1) / s + 1 : (size + 2 * p - k) / s + 1;
  };
  const std::int64_t oh = length(g.h, g.ksize.y, g.stride.y, g.pad.y), ow = length(g.w, g.ksize.x, g.stride.x, g.pad.x);
  const std::vector<double> xs = to_vector<double>(x);
  std::vector<double> y;
  for (std::int64_t i = 0; i < n * c; ++i)
    for (std::int64_t oy = 0; oy < oh; ++oy)
      for (std::int64_t ox = 0; ox < ow; ++ox) {
        double best = -INFINITY, total = 0;
        for (int ky = 0; ky < g.ksize.y; ++ky)
          for (int kx = 0; kx < g.ksize.x; ++kx) {
            const std::int64_t yy = oy * g.stride.y + ky - g.pad.y, xx = ox * g.stride.x + kx - g.pad.x;
            if (yy < 0 || yy >= g.h || xx < 0 || xx >= g.w) continue;
            const double v = xs[std::size_t((i * g.h + yy) * g.w + xx)];
            best = std::max(best, v);
            total += v;
          }
        y.push_back(maximum ? best : total / (g.ksize.y * g.ksize.x));
      }
  return array(y, {n, c, oh, ow});
}

}  // namespace

BOOST_AUTO_TEST_SUITE(pooling)

BOOST_AUTO_TEST_CASE(values_and_derivatives) {
  for (const bool maximum : {true, false})
    for (const Geometry& g : kGeometries)
      BOOST_TEST_CONTEXT(maximum << " " << g.h << "x" << g.w << " by " << g.ksize.y << "x" << g.ksize.x) {
        const Array x = spread({2, 3, g.h, g.w});
        const auto f = [&](const Variables& v) {
          return Variables{
              maximum ? nn::max_pooling_2d(v[0], g.ksize, {.stride = g.stride, .pad = g.pad, .cover_all = g.cover_all})
                      : nn::average_pooling_2d(v[0], g.ksize, {.stride = g.stride, .pad = g.pad})};
        };
        BOOST_CHECK_NO_THROW(
            testing::assert_allclose(f({Variable(x)})[0].data(), naive_pooling(x, g, maximum), 1e-12, 1e-12));
        test::check_derivatives(maximum ? "max_pooling_2d" : "average_pooling_2d", f, {x});
      }
}

BOOST_AUTO_TEST_CASE(stride_and_pad_by_position) {
  const Variable x(spread({1, 2, 6, 5}));
  const auto same = [](const Variable& a, const Variable& b) { testing::assert_allclose(a.data(), b.data(), 0, 0); };
  BOOST_CHECK_NO_THROW(same(nn::max_pooling_2d(x, 3, 2, 1), nn::max_pooling_2d(x, 3, {.stride = 2, .pad = 1})));
  BOOST_CHECK_NO_THROW(same(nn::max_pooling_2d(x, 2, nn::Pair(2, 1)), nn::max_pooling_2d(x, 2, {.stride = {{2, 1}}})));
  BOOST_CHECK_NO_THROW(
      same(nn::average_pooling_2d(x, 3, 1, {1, 0}), nn::average_pooling_2d(x, 3, {.stride = 1, .pad = {1, 0}})));
}

// By name, and behind the other options by position; values and gradients stay the same bits.
BOOST_AUTO_TEST_CASE(use_cudnn_of_pooling) {
  namespace F = nn::functions;
  const auto run = [](const auto& f) {
    Variable x(spread({2, 3, 5, 6}));
    const Variable y = f(x);
    sum(y * y).backward();
    return std::tuple(y.shape(), to_vector<double>(y.data()), to_vector<double>(x.grad()));
  };
  const auto same = [&run](const auto& expected, const auto&... calls) {
    const auto wanted = run(expected);
    BOOST_TEST(((run(calls) == wanted) && ...));
  };
  using V = const Variable&;
  same([](V x) { return nn::max_pooling_2d(x, 3, 2, 1); },
       [](V x) { return nn::max_pooling_2d(x, 3, 2, 1, true, false); },
       [](V x) { return F::max_pooling_2d(x, 3, {.stride = 2, .pad = 1, .use_cudnn = false}); });
  same(
      [](V x) {
        return nn::max_pooling_2d(x, {2, 3}, {2, 1}, 0, false);
      },
      [](V x) {
        return nn::max_pooling_2d(x, {2, 3}, {2, 1}, 0, false, true);
      });
  same([](V x) { return nn::max_pooling_nd(x, 3, 2, 1); },
       [](V x) { return nn::max_pooling_nd(x, 3, 2, 1, true, false); },
       [](V x) { return F::max_pooling_nd(x, 3, {.stride = 2, .pad = 1, .use_cudnn = false}); });
  same([](V x) { return nn::average_pooling_2d(x, 3, 2, 1); },
       [](V x) { return nn::average_pooling_2d(x, 3, 2, 1, false); },
       [](V x) { return F::average_pooling_2d(x, 3, {.stride = 2, .pad = 1, .use_cudnn = false}); });
  same(
      [](V x) {
        return nn::average_pooling_nd(x, 3, {2, 1}, 1);
      },
      [](V x) {
        return nn::average_pooling_nd(x, 3, {2, 1}, 1, false);
      },
      [](V x) {
        return F::average_pooling_nd(x, 3, {.stride = {{2, 1}}, .pad = 1, .use_cudnn = false});
      });
  same([](V x) { return nn::spatial_pyramid_pooling_2d(x, 2); },
       [](V x) { return nn::spatial_pyramid_pooling_2d(x, 2, nn::PoolingClass::max, false); },
       [](V x) { return F::spatial_pyramid_pooling_2d(x, 2, nn::PoolingClass::max, {.use_cudnn = false}); });
  const auto [y, indices] =
      nn::max_pooling_2d(Variable(spread({1, 1, 2, 2})), 2, {.use_cudnn = false}, nn::return_indices);
  BOOST_TEST(indices.shape() == y.shape());
}

BOOST_AUTO_TEST_CASE(the_first_of_equal_maxima_gets_the_gradient) {
  Variable x(arrays::ones({1, 1, 2, 2}));
  Variable y = nn::max_pooling_2d(x, 2);
  y.set_grad(arrays::full({1, 1, 1, 1}, 3.0));
  y.backward();
  BOOST_TEST(to_vector<float>(x.grad()) == (std::vector<float>{3, 0, 0, 0}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_window_in_the_padding_is_minus_infinity_without_gradient) {
  Variable x(arrays::ones({1, 1, 2, 2}));
  Variable y = nn::max_pooling_2d(x, 2, {.stride = 2, .pad = 2, .cover_all = true});
  BOOST_TEST(to_vector<float>(y.data())[0] == -INFINITY);
  y.set_grad(arrays::ones(y.shape()));
  y.backward();
  BOOST_TEST(to_vector<float>(x.grad()) == (std::vector<float>{1, 0, 0, 0}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(indices_are_returned_and_the_caller_may_write_them) {
  Variable x(array<float>({1, 5, 2, 0, 3, 4, 9, 8}, {1, 1, 2, 4}));
  auto [y, indices] = nn::max_pooling_2d(x, 2, {}, nn::return_indices);
  BOOST_TEST(to_vector<float>(y.data()) == (std::vector<float>{5, 9}), boost::test_tools::per_element());
  BOOST_TEST(to_vector<int>(indices) == (std::vector<int>{1, 2}), boost::test_tools::per_element());
  BOOST_CHECK(indices.dtype() == Dtype::int32);
  fill(indices, 0);
  y.set_grad(arrays::ones(y.shape()));
  y.backward();
  BOOST_TEST(to_vector<float>(x.grad()) == (std::vector<float>{0, 1, 0, 0, 0, 0, 1, 0}),
             boost::test_tools::per_element());
}

// No graph will ask where the maxima were.
BOOST_AUTO_TEST_CASE(the_same_maxima_without_a_graph) {
  const auto mode = no_backprop_mode();
  for (const Geometry& g : kGeometries)
    for (const Dtype t : {Dtype::float16, Dtype::bfloat16, Dtype::float32, Dtype::float64})
      BOOST_TEST_CONTEXT(g.h << "x" << g.w << " by " << g.ksize.y << "x" << g.ksize.x << " " << t) {
        const Array x = astype(spread({2, 3, g.h, g.w}), t),
                    wide = slice(astype(spread({2, 3, g.h, 2 * g.w}), t), 3, 0, 2 * g.w, 2);
        const nn::MaxPoolingOptions o{.stride = g.stride, .pad = g.pad, .cover_all = g.cover_all};
        for (const Array& a : {x, wide}) {
          const Variable y = nn::max_pooling_2d(Variable(a), g.ksize, o);
          BOOST_CHECK(y.dtype() == t);
          BOOST_CHECK(y.creator() == nullptr);
          BOOST_CHECK_NO_THROW(testing::assert_allclose(y.data(), naive_pooling(a, g, true), 0, 0));
        }
      }
  const auto [y, indices] =
      nn::max_pooling_2d(Variable(array<float>({1, 5, 2, 0}, {1, 1, 2, 2})), 2, {}, nn::return_indices);
  BOOST_TEST(to_vector<int>(indices) == std::vector<int>{1});
  BOOST_TEST(nn::max_pooling_2d(Variable(arrays::empty({0, 2, 4, 4})), 2).shape() == (Shape{0, 2, 2, 2}));
}

BOOST_AUTO_TEST_CASE(errors) {
  BOOST_CHECK_THROW(nn::max_pooling_2d(Variable(arrays::ones({3, 4, 4})), 2), catena::InvalidType);
  BOOST_CHECK_THROW(nn::average_pooling_2d(Variable(arrays::ones({1, 1, 4, 4}, Dtype::int32)), 2), catena::InvalidType);
  BOOST_CHECK_THROW(nn::average_pooling_2d(Variable(arrays::ones({1, 1, 2, 2})), 3), catena::AssertionError);
}

BOOST_AUTO_TEST_CASE(golden_values) {
  using Call = const test::GoldenCall&;
  set_disable_experimental_feature_warning(true);
  const auto pair = [](Call c, const char* name, nn::Pair otherwise) -> nn::Pair {
    if (!c.has(name)) return otherwise;
    const Dims d = c.dims(name);
    return d.size() == 1 ? nn::Pair(int(d[0])) : nn::Pair(int(d[0]), int(d[1]));
  };
  const auto lengths = [](Call c, const char* name, const nn::Lengths& otherwise) -> nn::Lengths {
    if (!c.has(name)) return otherwise;
    return c.args()[name].is_array() ? nn::Lengths(c.dims(name)) : nn::Lengths(int(c.integer(name, 1)));
  };
  const auto unpooling = [&](Call c) {
    nn::UnpoolingOptions o{.pad = lengths(c, "pad", 0), .cover_all = c.flag("cover_all", true)};
    if (c.has("stride")) o.stride = lengths(c, "stride", 1);
    if (c.has("outsize")) o.outsize = lengths(c, "outsize", 1);
    return o;
  };
  test::run_golden(
      "pooling",
      {{"max_pooling_2d",
        [&](Call c) {
          const nn::Pair k = pair(c, "ksize", 1), s = pair(c, "stride", k), p = pair(c, "pad", 0);
          const bool cover_all = c.flag("cover_all", true);
          const auto [y, indices] =
              nn::max_pooling_2d(c.x(0), k, {.stride = s, .pad = p, .cover_all = cover_all}, nn::return_indices);
          return Variables{y, Variable(indices)};
        }},
       {"average_pooling_2d",
        [&](Call c) {
          const nn::Pair k = pair(c, "ksize", 1);
          return Variables{
              nn::average_pooling_2d(c.x(0), k, {.stride = pair(c, "stride", k), .pad = pair(c, "pad", 0)})};
        }},
       {"max_pooling_nd",
        [&](Call c) {
          const nn::Lengths k = lengths(c, "ksize", 1);
          return Variables{nn::max_pooling_nd(c.x(0), k,
                                              {.stride = lengths(c, "stride", k),
                                               .pad = lengths(c, "pad", 0),
                                               .cover_all = c.flag("cover_all", true)})};
        }},
       {"average_pooling_nd",
        [&](Call c) {
          const nn::Lengths k = lengths(c, "ksize", 1);
          return Variables{
              nn::average_pooling_nd(c.x(0), k, {.stride = lengths(c, "stride", k), .pad = lengths(c, "pad", 0)})};
        }},
       {"unpooling_2d",
        [&](Call c) { return Variables{nn::unpooling_2d(c.x(0), lengths(c, "ksize", 1), unpooling(c))}; }},
       {"unpooling_nd",
        [&](Call c) { return Variables{nn::unpooling_nd(c.x(0), lengths(c, "ksize", 1), unpooling(c))}; }},
       {"upsampling_2d",
        [&](Call c) {
          return Variables{nn::upsampling_2d(c.x("x"), c.array("indexes"), lengths(c, "ksize", 1), unpooling(c))};
        }},
       {"roi_pooling_2d",
        [](Call c) {
          return Variables{nn::roi_pooling_2d(c.x("x"), c.x("rois"), int(c.integer("outh", 1)),
                                              int(c.integer("outw", 1)), c.number("spatial_scale", 1))};
        }},
       {"spatial_pyramid_pooling_2d",
        [](Call c) { return Variables{nn::spatial_pyramid_pooling_2d(c.x(0), int(c.integer("pyramid_height", 1)))}; }}},
      {.once_only = {"max_pooling_2d", "max_pooling_nd", "roi_pooling_2d", "spatial_pyramid_pooling_2d"}});
}

BOOST_AUTO_TEST_CASE(windows_wholly_in_the_padding) {
  const double inf = std::numeric_limits<double>::infinity();
  const Variable x = autograd::arrays::ones({1, 1, 4, 4}, Dtype::float64),
                 wide = autograd::arrays::ones({1, 1, 8, 8}, Dtype::float64);
  const auto averages = autograd::to_vector<double>(
      nn::average_pooling_2d(x, 2, {.stride = nn::Pair(2), .pad = 2, .pad_value = std::nullopt}).data());
  BOOST_TEST(averages.size() == 16u);
  for (int k = 0; k < 16; ++k) {
    const bool inside = k / 4 % 3 != 0 && k % 4 % 3 != 0;
    BOOST_TEST((inside ? averages[std::size_t(k)] == 1 : std::isnan(averages[std::size_t(k)])));
  }
  const auto maxima = autograd::to_vector<double>(nn::max_pooling_2d(wide, nn::Pair(3, 3), nn::Pair(3, 4)).data());
  BOOST_TEST(maxima == (std::vector<double>{1, 1, -inf, 1, 1, -inf, 1, 1, -inf}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()
