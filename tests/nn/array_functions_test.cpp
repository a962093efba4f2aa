// Functions of images, sequences and indices; the golden group of all functions that move elements.
#include <catena/nn/functions/array.h>

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <catena/autograd/flag.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/testing.h>
#include <catena/nn/functions/modules.h>
#include <catena/tests/support/framework_derivatives.h>
#include <catena/tests/support/framework_golden.h>

using namespace autograd;
using test::spread;

namespace {

using I = std::int64_t;
using Numbers = std::vector<double>;
const test::DerivativeOptions kExact{.atol32 = 0, .rtol32 = 1e-6, .atol16 = 1e-3};

Numbers numbers(const Variable& v) { return to_vector<double>(v.data()); }
Array arange_of(const Shape& shape) {
  return astype(reshape(arrays::arange(catena::size_of(shape)), shape), Dtype::float64);
}
const auto says = [](const std::string& text) {
  return [text](const catena::Error& e) { return std::string(e.what()).find(text) != std::string::npos; };
};

}  // namespace

BOOST_AUTO_TEST_SUITE(array_functions)

BOOST_AUTO_TEST_CASE(pixels_and_channels) {
  struct Row {
    Variable (*to_space)(const Variable&, int);
    Variable (*to_depth)(const Variable&, int);
    I (*channel)(I i, I j, I c, I r, I C);
  };
  const Row rows[] = {
      {nn::depth2space, nn::space2depth, [](I i, I j, I c, I r, I C) { return (i * r + j) * C + c; }},
      {nn::pixel_shuffle, nn::pixel_unshuffle, [](I i, I j, I c, I r, I) { return (c * r + i) * r + j; }}};
  for (const Row& row : rows)
    for (const I r : {1, 2, 3}) {
      const I B = 2, C = 2, H = 2, W = 3;
      const Array x = arange_of({B, C * r * r, H, W});
      const Variable y = row.to_space(Variable(x), int(r));
      BOOST_CHECK_EQUAL(y.shape(), (Shape{B, C, r * H, r * W}));
      const Numbers ys = numbers(y);
      for (I b = 0; b < B; ++b)
        for (I c = 0; c < C; ++c)
          for (I h = 0; h < r * H; ++h)
            for (I w = 0; w < r * W; ++w) {
              const I k = row.channel(h % r, w % r, c, r, C);
              BOOST_TEST(ys[std::size_t(((b * C + c) * r * H + h) * r * W + w)] ==
                         double(((b * C * r * r + k) * H + h / r) * W + w / r));
            }
      BOOST_TEST(numbers(row.to_depth(y, int(r))) == to_vector<double>(x), boost::test_tools::per_element());
      const auto there = [&](const Variables& v) { return Variables{row.to_space(v[0], int(r))}; };
      const auto back = [&](const Variables& v) { return Variables{row.to_depth(v[0], int(r))}; };
      test::check_derivatives("to space", there, {spread({1, r * r, 2, 2})}, kExact);
      test::check_derivatives("to depth", back, {spread({1, 2, r, 2 * r})}, kExact);
      test::check_derivatives("to depth of nothing", back, {spread({0, 2, r, 2 * r})}, kExact);
    }
  // Appendix A3.
  BOOST_TEST(numbers(nn::depth2space(Variable(arange_of({1, 8, 1, 1})), 2)) == (Numbers{0, 2, 4, 6, 1, 3, 5, 7}),
             boost::test_tools::per_element());
  for (const auto f : {nn::depth2space, nn::pixel_shuffle}) {
    BOOST_CHECK_EXCEPTION(f(Variable(arrays::ones({1, 6, 2, 2})), 2), catena::InvalidType,
                          says("Expect: X.shape[1] % r ** 2 == 0"));
    BOOST_CHECK_THROW(f(Variable(arrays::ones({4, 2, 2})), 2), catena::InvalidType);
    BOOST_CHECK_THROW(f(Variable(arrays::ones({1, 4, 2, 2}, Dtype::int32)), 2), catena::InvalidType);
    BOOST_CHECK_THROW(f(Variable(arrays::ones({1, 4, 2, 2})), 0), catena::ValueError);
  }
  for (const auto f : {nn::space2depth, nn::pixel_unshuffle}) {
    BOOST_CHECK_THROW(f(Variable(arrays::ones({1, 1, 3, 2})), 2), catena::InvalidType);
    BOOST_CHECK_THROW(f(Variable(arrays::ones({1, 1, 2, 3})), 2), catena::InvalidType);
    BOOST_CHECK_THROW(f(Variable(arrays::ones({1, 1, 2, 2})), -1), catena::ValueError);
  }
}

BOOST_AUTO_TEST_CASE(patches_of_images) {
  struct Case {
    nn::Pair ksize;
    nn::ConvolutionOptions options;
    I oh, ow;
  };
  const Case cases[] = {{2, {}, 4, 3},
                        {{3, 2}, {.stride = {2, 1}, .pad = {1, 0}}, 3, 3},
                        {2, {.stride = 3, .pad = 1, .cover_all = true}, 3, 3},
                        {3, {.pad = 1, .dilate = 2}, 3, 2},
                        {1, {.stride = 2}, 3, 2}};
  const I n = 2, c = 3, h = 5, w = 4;
  const Array x = spread({n, c, h, w});
  const Numbers xs = to_vector<double>(x);
  for (const Case& k : cases) {
    const auto f = [&](const Variables& v) { return Variables{nn::im2col(v[0], k.ksize, k.options)}; };
    const Variable y = f({Variable(x)})[0];
    BOOST_CHECK_EQUAL(y.shape(), (Shape{n, c * k.ksize.y * k.ksize.x, k.oh, k.ow}));
    const Numbers ys = numbers(y);
    std::size_t at = 0;
    for (I image = 0; image < n * c; ++image)
      for (I j = 0; j < k.ksize.y; ++j)
        for (I i = 0; i < k.ksize.x; ++i)
          for (I oy = 0; oy < k.oh; ++oy)
            for (I ox = 0; ox < k.ow; ++ox) {
              const I row = oy * k.options.stride.y + j * k.options.dilate.y - k.options.pad.y,
                      column = ox * k.options.stride.x + i * k.options.dilate.x - k.options.pad.x;
              const bool inside = row >= 0 && row < h && column >= 0 && column < w;
              BOOST_TEST(ys[at++] == (inside ? xs[std::size_t((image * h + row) * w + column)] : 0));
            }
    test::check_derivatives("im2col", f, {spread({1, 2, h, w})}, {.atol16 = 4e-3});
  }
  BOOST_CHECK(nn::im2col(Variable(x), 3, 2, 1).shape() == (Shape{2, 27, 3, 2}));
  BOOST_CHECK(nn::im2col(Variable(x), 2, 3, 1, true).shape() == (Shape{2, 12, 3, 3}));
  BOOST_CHECK_EXCEPTION(nn::im2col(Variable(x), 6), catena::AssertionError, says("should be positive"));
  BOOST_CHECK_THROW(nn::im2col(Variable(arrays::ones({3, 4, 4})), 2), catena::InvalidType);
  BOOST_CHECK_THROW(nn::im2col(Variable(arrays::ones({1, 3, 4, 4}, Dtype::int32)), 2), catena::InvalidType);
}

// The value of one image (H, W) between its pixels, which are 0 outside.
double between(const Numbers& image, I H, I W, double y, double x) {
  const double y0 = std::floor(y), x0 = std::floor(x);
  double sum = 0;
  for (int dy = 0; dy < 2; ++dy)
    for (int dx = 0; dx < 2; ++dx) {
      const auto row = I(y0) + dy, column = I(x0) + dx;
      if (row < 0 || row >= H || column < 0 || column >= W) continue;
      sum +=
          image[std::size_t(row * W + column)] * (1 - std::fabs(y - double(row))) * (1 - std::fabs(x - double(column)));
    }
  return sum;
}

BOOST_AUTO_TEST_CASE(resized_images) {
  const Array image = array<double>({-.2, .5, .1, -.3, .4, 0}, {1, 1, 2, 3});
  // Appendix A4.
  testing::assert_allclose(nn::resize_images(Variable(image), {3, 2}).data(),
                           array<double>({-.2, .1, -.25, .05, -.3, 0}, {1, 1, 3, 2}), 1e-12, 0);
  testing::assert_allclose(nn::resize_images(Variable(image), {2, 5}).data(),
                           array<double>({-.2, .15, .5, .3, .1, -.3, .05, .4, .2, 0}, {1, 1, 2, 5}), 1e-12, 0);
  for (const nn::Pair shape : {nn::Pair(4, 6), nn::Pair(1, 1), nn::Pair(2, 3), nn::Pair(7, 2)})
    for (const Shape& from : {Shape{2, 2, 3, 4}, Shape{1, 1, 1, 4}, Shape{1, 1, 1, 1}}) {
      const Array x = spread(from);
      const Numbers xs = to_vector<double>(x), ys = numbers(nn::resize_images(Variable(x), shape));
      const I H = from[2], W = from[3];
      std::size_t at = 0;
      for (I n = 0; n < from[0] * from[1]; ++n) {
        const Numbers plane(xs.begin() + n * H * W, xs.begin() + (n + 1) * H * W);
        for (I i = 0; i < shape.y; ++i)
          for (I j = 0; j < shape.x; ++j) {
            const double y = shape.y == 1 ? 0 : double(i * (H - 1)) / (shape.y - 1),
                         z = shape.x == 1 ? 0 : double(j * (W - 1)) / (shape.x - 1);
            BOOST_TEST(std::fabs(ys[at++] - between(plane, H, W, y, z)) < 1e-12);
          }
      }
      const auto f = [&](const Variables& v) { return Variables{nn::resize_images(v[0], shape)}; };
      test::check_derivatives("resize_images", f, {x});
    }
  const auto f = [](const Variables& v) { return Variables{nn::resize_images(v[0], {3, 3})}; };
  test::check_derivatives("resize_images of nothing", f, {spread({0, 1, 2, 2})});
  const Variable v(arrays::ones({1, 1, 2, 2}));
  BOOST_CHECK_EXCEPTION(nn::resize_images(v, {0, 2}), catena::ValueError,
                        says("resize_images: the output shape (0, 2) is not positive"));
  BOOST_CHECK_THROW(nn::resize_images(Variable(arrays::ones({2, 2})), 2), catena::InvalidType);
  BOOST_CHECK_THROW(nn::resize_images(Variable(arrays::ones({1, 1, 2, 2}, Dtype::uint8)), 2), catena::InvalidType);
}

BOOST_AUTO_TEST_CASE(affine_grids) {
  // Appendix A5.
  const Variable grid =
      nn::spatial_transformer_grid(Variable(array<double>({1, .5, .1, -.25, .5, -.2}, {1, 2, 3})), {2, 3});
  testing::assert_allclose(
      grid.data(), array<double>({-1.4, -.4, .6, -.4, .6, 1.6, -.45, -.7, -.95, .55, .3, .05}, {1, 2, 2, 3}), 1e-12, 0);
  const auto f = [](const Variables& v) { return Variables{nn::spatial_transformer_grid(v[0], {3, 2})}; };
  test::check_derivatives("grid", f, {spread({2, 2, 3})}, {.atol16 = 2e-3});
  test::check_derivatives("grid of nothing", f, {spread({0, 2, 3})});
  const auto point = [](const Variables& v) { return Variables{nn::spatial_transformer_grid(v[0], 1)}; };
  test::check_derivatives("grid of one point", point, {spread({1, 2, 3})}, {.atol16 = 2e-3});
  // One point lies at (-1, -1).
  const Variable one = point({Variable(array<double>({1, 2, 4, 8, 16, 32}, {1, 2, 3}))})[0];
  BOOST_TEST(numbers(one) == (Numbers{1, 8}), boost::test_tools::per_element());
  BOOST_CHECK_EXCEPTION(nn::spatial_transformer_grid(Variable(arrays::ones({1, 3, 3})), 2), catena::InvalidType,
                        says("SpatialTransformerGrid (Forward)\n\nExpect: theta.shape[1] == 2"));
  BOOST_CHECK_THROW(nn::spatial_transformer_grid(Variable(arrays::ones({2, 3})), 2), catena::InvalidType);
  BOOST_CHECK_THROW(nn::spatial_transformer_grid(Variable(arrays::ones({1, 2, 3}, Dtype::int32)), 2),
                    catena::InvalidType);
  BOOST_CHECK_THROW(nn::spatial_transformer_grid(Variable(arrays::ones({1, 2, 3})), {2, 0}), catena::ValueError);
}

BOOST_AUTO_TEST_CASE(sampled_images) {
  // Appendix A5: points (x, y), values and derivatives by x and y on the image 1..9.
  const Array nine = arange_of({1, 1, 3, 3}) + 1;
  struct Point {
    double x, y, value, dx, dy;
  };
  for (const Point& p : {Point{.5, 0, 5.5, 1, 3}, Point{1.5, 0, 3, -6, 1.5}, Point{-1.25, 1.25, 3.9375, 5.25, -5.25},
                         Point{2.5, 0, 0, 0, 0}, Point{-7, 3, 0, 0, 0}}) {
    Variable image(nine), grid(array<double>({p.x, p.y}, {1, 2, 1, 1}));
    Variable y = nn::spatial_transformer_sampler(image, grid);
    y.backward();
    BOOST_TEST(std::fabs(double(y) - p.value) < 1e-12);
    BOOST_TEST(std::fabs(to_vector<double>(grid.grad())[0] - p.dx) < 1e-12);
    BOOST_TEST(std::fabs(to_vector<double>(grid.grad())[1] - p.dy) < 1e-12);
  }
  // Against the definition, with points in and around the image.
  const I B = 2, C = 3, H = 4, W = 5, oH = 3, oW = 4;
  const Array x = spread({B, C, H, W}), grid = spread({B, 2, oH, oW}, -1.7, 1.7, 3);
  const Numbers xs = to_vector<double>(x), gs = to_vector<double>(grid),
                ys = numbers(nn::spatial_transformer_sampler(Variable(x), Variable(grid)));
  std::size_t at = 0;
  for (I b = 0; b < B; ++b)
    for (I c = 0; c < C; ++c) {
      const Numbers plane(xs.begin() + (b * C + c) * H * W, xs.begin() + (b * C + c + 1) * H * W);
      for (I k = 0; k < oH * oW; ++k) {
        const double u = (gs[std::size_t(b * 2 * oH * oW + k)] + 1) * (W - 1) / 2,
                     v = (gs[std::size_t((b * 2 + 1) * oH * oW + k)] + 1) * (H - 1) / 2;
        BOOST_TEST(std::fabs(ys[at++] - between(plane, H, W, v, u)) < 1e-12);
      }
    }
  const auto f = [](const Variables& v) { return Variables{nn::spatial_transformer_sampler(v[0], v[1])}; };
  test::check_derivatives("sampler", f, {x, grid}, {.eps = 1e-6, .atol32 = 1e-4, .atol16 = 4e-3});
  test::check_derivatives("sampler of a pixel", f, {spread({1, 1, 1, 1}), spread({1, 2, 1, 1})});
  test::check_derivatives("sampler of nothing", f, {spread({0, 1, 2, 2}), spread({0, 2, 2, 2})});
  test::check_derivatives("no points", f, {spread({1, 1, 2, 2}), spread({1, 2, 0, 2})});
  // The identity, and the map onto the corners, which is resize_images.
  const Array unit = array<double>({1, 0, 0, 0, 1, 0}, {1, 2, 3});
  const Variable image(spread({1, 2, 4, 5}));
  const auto seen = [&](nn::Pair shape) {
    return nn::spatial_transformer_sampler(image, nn::spatial_transformer_grid(Variable(unit), shape));
  };
  testing::assert_allclose(seen({4, 5}), image, 1e-12, 0);
  testing::assert_allclose(seen({3, 2}), nn::resize_images(image, {3, 2}), 1e-12, 0);
  BOOST_CHECK_THROW(f({Variable(x), Variable(arrays::ones({B, 3, 1, 1}, Dtype::float64))}), catena::InvalidType);
  BOOST_CHECK_THROW(f({Variable(x), Variable(arrays::ones({1, 2, 1, 1}, Dtype::float64))}), catena::InvalidType);
  BOOST_CHECK_THROW(f({Variable(x), Variable(arrays::ones({B, 2, 1, 1}))}), catena::InvalidType);
  BOOST_CHECK_THROW(f({Variable(arrays::ones({B, H, W})), Variable(arrays::ones({B, 2, 1, 1}))}), catena::InvalidType);
}

// By position and by name; values and gradients stay the same bits.
BOOST_AUTO_TEST_CASE(use_cudnn_of_spatial_transformers) {
  namespace F = nn::functions;
  const Array theta = spread({2, 2, 3}), image = spread({2, 3, 4, 5});
  const auto run = [&](const auto& grid_of, const auto& sampler) {
    Variable t(theta), x(image);
    const Variable grid = grid_of(t);
    Variable y = sampler(x, grid);
    sum(y * y).backward();
    std::vector<Numbers> all{numbers(grid), numbers(y), to_vector<double>(t.grad()), to_vector<double>(x.grad())};
    return all;
  };
  using V = const Variable&;
  const std::vector<Numbers> expected = run(
      [](V t) {
        return nn::spatial_transformer_grid(t, {3, 4});
      },
      [](V x, V g) { return nn::spatial_transformer_sampler(x, g); });
  BOOST_TEST(expected[1].size() == 72u);
  BOOST_CHECK(run(
                  [](V t) {
                    return nn::spatial_transformer_grid(t, {3, 4}, false);
                  },
                  [](V x, V g) { return F::spatial_transformer_sampler(x, g, false); }) == expected);
  BOOST_CHECK(run(
                  [](V t) {
                    return F::spatial_transformer_grid(t, {3, 4}, true);
                  },
                  [](V x, V g) { return nn::spatial_transformer_sampler(x, g, true); }) == expected);
  BOOST_CHECK(run(
                  [](V t) {
                    return nn::spatial_transformer_grid(t, {3, 4}, {.use_cudnn = false});
                  },
                  [](V x, V g) { return nn::spatial_transformer_sampler(x, g, {.use_cudnn = false}); }) == expected);
}

BOOST_AUTO_TEST_CASE(padded_sequences) {
  const Array a = spread({3, 2}), b = spread({1, 2}, -1, 1, 1), none = spread({0, 2});
  const auto f = [](std::optional<I> length) {
    return [length](const Variables& v) { return Variables{nn::pad_sequence(v, length, -1)}; };
  };
  const Variable y = nn::pad_sequence({Variable(a), Variable(none), Variable(b)}, 4, 9);
  BOOST_CHECK(y.shape() == (Shape{3, 4, 2}));
  Numbers expected(24, 9);
  for (std::size_t i = 0; i < 6; ++i) expected[i] = to_vector<double>(a)[i];
  for (std::size_t i = 0; i < 2; ++i) expected[16 + i] = to_vector<double>(b)[i];
  BOOST_TEST(numbers(y) == expected, boost::test_tools::per_element());
  test::check_derivatives("pad_sequence", f({}), {a, b, none}, kExact);
  test::check_derivatives("pad_sequence to 5", f(5), {b, a}, kExact);
  test::check_derivatives("pad_sequence of one", f({}), {a}, kExact);
  test::check_derivatives("pad_sequence of nothing", f({}), {none, none}, kExact);
  BOOST_CHECK(nn::pad_sequence({Variable(none)}).shape() == (Shape{1, 0, 2}));
  const double inf = std::numeric_limits<double>::infinity();
  BOOST_TEST(numbers(nn::pad_sequence({Variable(b)}, 2, inf))[3] == inf);
  BOOST_TEST(std::isnan(numbers(nn::pad_sequence({Variable(b)}, 2, NAN))[2]));
  const Variable ints = nn::pad_sequence({Variable(array<int>({1, 2}, {2})), Variable(array<int>({3}, {1}))}, {}, -1);
  BOOST_CHECK(ints.dtype() == Dtype::int32);
  BOOST_TEST(numbers(ints) == (Numbers{1, 2, 3, -1}), boost::test_tools::per_element());
  BOOST_CHECK_EXCEPTION(nn::pad_sequence({}), catena::InvalidType, says("in_types.size > 0"));
  BOOST_CHECK_EXCEPTION(f(2)({Variable(a)}), catena::InvalidType, says("in_types[0].shape[0] <= length"));
  BOOST_CHECK_THROW(f({})({Variable(a), Variable(spread({3, 1}))}), catena::InvalidType);
  BOOST_CHECK_THROW(f({})({Variable(a), Variable(spread({3}))}), catena::InvalidType);
  BOOST_CHECK_THROW(f({})({Variable(a), Variable(arrays::ones({3, 2}))}), catena::InvalidType);
  BOOST_CHECK_THROW(f({})({Variable(spread({}))}), catena::InvalidType);
}

BOOST_AUTO_TEST_CASE(transposed_sequences) {
  const Array a = arange_of({3, 2}), b = arange_of({2, 2}) + 10, c = arange_of({2, 2}) + 20, none = spread({0, 2});
  const Variables y = nn::transpose_sequence({Variable(a), Variable(b), Variable(c), Variable(none)});
  BOOST_REQUIRE_EQUAL(y.size(), 3u);
  BOOST_CHECK(y[0].shape() == (Shape{3, 2}));
  BOOST_TEST(numbers(y[0]) == (Numbers{0, 1, 10, 11, 20, 21}), boost::test_tools::per_element());
  BOOST_TEST(numbers(y[1]) == (Numbers{2, 3, 12, 13, 22, 23}), boost::test_tools::per_element());
  BOOST_TEST(numbers(y[2]) == (Numbers{4, 5}), boost::test_tools::per_element());
  const auto f = [](const Variables& v) { return nn::transpose_sequence(v); };
  test::check_derivatives("transpose_sequence", f, {spread({3, 2}), spread({2, 2}), spread({2, 2}), none}, kExact);
  test::check_derivatives("transpose_sequence of one", f, {spread({1})}, kExact);
  BOOST_CHECK(nn::transpose_sequence({}).empty());
  BOOST_CHECK(nn::transpose_sequence({Variable(none), Variable(none)}).empty());
  BOOST_CHECK(nn::transpose_sequence({Variable(array<int>({4, 5}, {2}))})[1].dtype() == Dtype::int32);
  // Absent gradients are zeros.
  Variable x(arrays::ones({2, 1})), z(arrays::ones({1, 1}));
  Variable second = nn::transpose_sequence({x, z})[1];
  second.set_grad(arrays::full({1, 1}, 3));
  second.backward();
  BOOST_TEST(to_vector<double>(x.grad()) == (Numbers{0, 3}), boost::test_tools::per_element());
  BOOST_TEST(to_vector<double>(z.grad()) == (Numbers{0}), boost::test_tools::per_element());
  BOOST_CHECK_EXCEPTION(f({z, x}), catena::InvalidType, says("in_types[0].shape[0] >= in_types[1].shape[0]"));
  BOOST_CHECK_THROW(f({x, Variable(arrays::ones({1, 2}))}), catena::InvalidType);
  BOOST_CHECK_THROW(f({x, Variable(arrays::ones({1, 1}, Dtype::float64))}), catena::InvalidType);
}

BOOST_AUTO_TEST_CASE(permutations) {
  const Array x = arange_of({3, 4}), order = array<int>({2, 0, 1}, {3}),
              columns = array<std::int64_t>({1, 3, 0, 2}, {4});
  const auto f = [](const Array& indices, int axis, bool inv) {
    return [=](const Variables& v) { return Variables{nn::permutate(v[0], Variable(indices), axis, inv)}; };
  };
  const Numbers there = numbers(f(order, 0, false)({Variable(x)})[0]),
                back = numbers(f(order, 0, true)({Variable(x)})[0]),
                across = numbers(f(columns, -1, true)({Variable(x)})[0]);
  const I o[] = {2, 0, 1}, p[] = {1, 3, 0, 2};
  for (I i = 0; i < 3; ++i)
    for (I j = 0; j < 4; ++j) {
      BOOST_TEST(there[std::size_t(i * 4 + j)] == double(o[i] * 4 + j));
      BOOST_TEST(back[std::size_t(o[i] * 4 + j)] == double(i * 4 + j));
      BOOST_TEST(across[std::size_t(i * 4 + p[j])] == double(i * 4 + j));
    }
  for (const bool inv : {false, true}) {
    test::check_derivatives("permutate", f(order, 0, inv), {spread({3, 4})}, kExact);
    test::check_derivatives("permutate columns", f(columns, 1, inv), {spread({3, 4})}, kExact);
    test::check_derivatives("permutate one", f(array<int>({0}, {1}), 0, inv), {spread({1})}, kExact);
    test::check_derivatives("permutate nothing", f(array<int>({}, {0}), 0, inv), {spread({0, 2})}, kExact);
  }
  Variable indices(order);
  Variable y = sum(nn::permutate(Variable(arrays::ones({3, 1})), indices));
  y.backward();
  BOOST_CHECK(!indices.grad());
  const Variable v(x);
  BOOST_CHECK_THROW(nn::permutate(v, Variable(columns)), catena::InvalidType);
  BOOST_CHECK_THROW(nn::permutate(v, Variable(arrays::ones({3}))), catena::InvalidType);
  BOOST_CHECK_THROW(nn::permutate(v, Variable(arrays::ones({3, 1}, Dtype::int32))), catena::InvalidType);
  BOOST_CHECK_THROW(nn::permutate(v, Variable(order), 2), catena::InvalidType);
  const DebugMode debug(true);
  BOOST_CHECK_NO_THROW(nn::permutate(v, Variable(order)));
  BOOST_CHECK_EXCEPTION(nn::permutate(v, Variable(array<int>({0, 2, 2}, {3}))), catena::ValueError,
                        says("permutate: the 3 indices are no permutation: 1 is missing"));
  BOOST_CHECK_THROW(nn::permutate(v, Variable(array<int>({0, 1, 3}, {3})), 0, true), catena::ValueError);
}

BOOST_AUTO_TEST_CASE(selected_items) {
  const Array x = arange_of({3, 4}), t = array<int>({3, 0, 2}, {3});
  BOOST_TEST(numbers(nn::select_item(Variable(x), Variable(t))) == (Numbers{3, 4, 10}),
             boost::test_tools::per_element());
  for (const Dtype d : {Dtype::int8, Dtype::int16, Dtype::int64})
    BOOST_TEST(
        numbers(nn::select_item(Variable(astype(x, Dtype::int32)), Variable(astype(t, d)))) == (Numbers{3, 4, 10}),
        boost::test_tools::per_element());
  const auto f = [](const Variables& v) { return Variables{nn::select_item(v[0], v[1])}; };
  test::check_derivatives("select_item", f, {spread({3, 4}), t}, kExact);
  test::check_derivatives("select_item of nothing", f, {spread({0, 4}), array<int>({}, {0})}, kExact);
  const Variable v(x);
  BOOST_CHECK_THROW(nn::select_item(v, Variable(arrays::ones({3}))), catena::InvalidType);
  BOOST_CHECK_THROW(nn::select_item(v, Variable(arrays::ones({2}, Dtype::int32))), catena::InvalidType);
  BOOST_CHECK_THROW(nn::select_item(v, Variable(arrays::ones({3, 1}, Dtype::int32))), catena::InvalidType);
  BOOST_CHECK_THROW(nn::select_item(Variable(arrays::ones({3})), Variable(t)), catena::InvalidType);
  const DebugMode debug(true);
  BOOST_CHECK_NO_THROW(nn::select_item(v, Variable(t)));
  BOOST_CHECK_EXCEPTION(nn::select_item(v, Variable(array<int>({0, 4, 0}, {3}))), catena::ValueError,
                        says("select_item: t has the number 4, which is not in [0, 4)"));
  BOOST_CHECK_THROW(nn::select_item(v, Variable(array<int>({0, -1, 0}, {3}))), catena::ValueError);
}

// ---- the golden group ---------------------------------------------------------------------------
namespace {

using test::GoldenCall;
using test::Json;

std::vector<IndexItem> items_of(const GoldenCall& c) {
  static const auto golden = test::Golden::open("array");
  std::vector<IndexItem> result;
  for (const Json& token : c.json()["index"]) {
    const auto bound = [](const Json& j) { return j.is_null() ? std::optional<I>() : std::optional<I>(j.get<I>()); };
    if (token.is_string()) {
      if (token == "ellipsis") result.emplace_back(ellipsis);
      else result.emplace_back(newaxis);
    } else if (token.contains("int")) {
      result.emplace_back(token["int"].get<I>());
    } else if (token.contains("slice")) {
      result.emplace_back(Slice(bound(token["slice"][0]), bound(token["slice"][1]), bound(token["slice"][2])));
    } else {
      const char* const kind = token.contains("mask") ? "mask" : "array";
      result.emplace_back(test::to_array(golden.array(token[kind].get<std::string>())));
    }
  }
  return result;
}

nn::Pair pair_of(const GoldenCall& c, const char* name) {
  const Dims d = c.dims(name);
  return d.size() == 1 ? nn::Pair(int(d[0])) : nn::Pair(int(d[0]), int(d[1]));
}

PadSides<I> widths_of(const Json& j) {
  if (j.is_number()) return j.get<I>();
  if (j[0].is_number()) return {j[0].get<I>(), j[1].get<I>()};
  std::vector<PadSides<I>::Pair> sides;
  for (const Json& pair : j) sides.emplace_back(pair[0].get<I>(), pair[1].get<I>());
  return sides;
}

Sections sections_of(const Json& j) {
  if (j.is_number()) return j.get<I>();
  std::vector<I> positions;
  for (const Json& at : j) positions.push_back(at.get<I>());
  return positions;
}

}  // namespace

BOOST_AUTO_TEST_CASE(golden_values) {
  test::GoldenFunctions f;
  const auto one = [&f](const char* name, std::function<Variable(const GoldenCall&)> g) {
    f[name] = [g](const GoldenCall& c) { return Variables{g(c)}; };
  };
  const auto axis = [](const GoldenCall& c, const char* name, int otherwise) {
    return int(c.integer(name, otherwise));
  };
  one("reshape", [](const GoldenCall& c) { return reshape(c.x(0), c.dims("shape")); });
  one("transpose",
      [](const GoldenCall& c) { return c.has("axes") ? transpose(c.x(0), c.dims("axes")) : transpose(c.x(0)); });
  f["broadcast"] = [](const GoldenCall& c) { return broadcast(c.xs()); };
  one("broadcast_to", [](const GoldenCall& c) { return broadcast_to(c.x(0), c.dims("shape")); });
  one("cast", [](const GoldenCall& c) { return cast(c.x(0), catena::dtype_from_name(c.text("typ", ""))); });
  one("where", [](const GoldenCall& c) { return where(c.x(0), c.x(1), c.x(2)); });
  one("get_item", [](const GoldenCall& c) { return get_item(c.x(0), items_of(c)); });
  one("copy", [&](const GoldenCall& c) {
    BOOST_TEST(axis(c, "dst", -1) == -1);  // the host, where the reference ran; here the device of the gradients
    return copy(c.x(0), c.x(0).device());
  });
  one("flatten", [](const GoldenCall& c) { return flatten(c.x(0)); });
  one("expand_dims", [&](const GoldenCall& c) { return expand_dims(c.x(0), axis(c, "axis", 0)); });
  one("squeeze", [](const GoldenCall& c) { return squeeze(c.x(0), c.axes("axis")); });
  one("swapaxes", [&](const GoldenCall& c) { return swapaxes(c.x(0), axis(c, "axis1", 0), axis(c, "axis2", 0)); });
  one("rollaxis", [&](const GoldenCall& c) { return rollaxis(c.x(0), axis(c, "axis", 0), axis(c, "start", 0)); });
  one("fliplr", [](const GoldenCall& c) { return fliplr(c.x(0)); });
  one("flipud", [](const GoldenCall& c) { return flipud(c.x(0)); });
  one("tile", [](const GoldenCall& c) { return tile(c.x(0), c.dims("reps")); });
  one("pad", [](const GoldenCall& c) {
    return pad(c.x(0), widths_of(c.args()["pad_width"]), c.text("mode", ""),
               {.constant_values = c.number("constant_values", 0)});
  });
  one("concat", [&](const GoldenCall& c) { return concat(c.xs(), axis(c, "axis", 1)); });
  one("stack", [&](const GoldenCall& c) { return stack(c.xs(), axis(c, "axis", 0)); });
  one("vstack", [](const GoldenCall& c) { return vstack(c.xs()); });
  one("hstack", [](const GoldenCall& c) { return hstack(c.xs()); });
  one("dstack", [](const GoldenCall& c) { return dstack(c.xs()); });
  f["split_axis"] = [&](const GoldenCall& c) {
    return split_axis(c.x(0), sections_of(c.args()["indices_or_sections"]), axis(c, "axis", 0));
  };
  f["separate"] = [&](const GoldenCall& c) { return separate(c.x(0), axis(c, "axis", 0)); };
  one("depth2space", [&](const GoldenCall& c) { return nn::depth2space(c.x(0), axis(c, "r", 1)); });
  one("space2depth", [&](const GoldenCall& c) { return nn::space2depth(c.x(0), axis(c, "r", 1)); });
  one("im2col", [](const GoldenCall& c) {
    return nn::im2col(c.x(0), pair_of(c, "ksize"),
                      {.stride = pair_of(c, "stride"),
                       .pad = pair_of(c, "pad"),
                       .dilate = pair_of(c, "dilate"),
                       .cover_all = c.flag("cover_all", false)});
  });
  one("resize_images", [](const GoldenCall& c) { return nn::resize_images(c.x(0), pair_of(c, "output_shape")); });
  one("spatial_transformer_grid",
      [](const GoldenCall& c) { return nn::spatial_transformer_grid(c.x(0), pair_of(c, "output_shape")); });
  one("spatial_transformer_sampler",
      [](const GoldenCall& c) { return nn::spatial_transformer_sampler(c.x(0), c.x(1)); });
  one("pad_sequence", [](const GoldenCall& c) {
    return nn::pad_sequence(c.xs(), c.has("length") ? std::optional<I>(c.integer("length", 0)) : std::nullopt,
                            c.number("padding", 0));
  });
  f["transpose_sequence"] = [](const GoldenCall& c) { return nn::transpose_sequence(c.xs()); };
  one("permutate",
      [&](const GoldenCall& c) { return nn::permutate(c.x(0), c.x(1), axis(c, "axis", 0), c.flag("inv", false)); });
  one("select_item", [](const GoldenCall& c) { return nn::select_item(c.x(0), c.x(1)); });
  test::run_golden("array", f);
}

BOOST_AUTO_TEST_SUITE_END()
