// Interpolation, sampling, patches, pooling to given sizes and of regions, convolutions with moved taps: against
// PyTorch and against loops.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>

#include <catena/autograd/functions/array.h>
#include <catena/autograd/testing.h>
#include <catena/nn/functions.h>
#include <catena/tests/support/framework_derivatives.h>
#include <catena/tests/support/framework_golden.h>

using namespace autograd;
using test::GoldenCall;
using test::spread;

namespace {

using Numbers = std::vector<double>;

auto says(const std::string& text) {
  return [text](const catena::Error& e) {
    BOOST_TEST_INFO(e.what());
    return std::string(e.what()).find(text) != std::string::npos;
  };
}
void close(const Array& a, const Array& b, double tolerance = 1e-10) {
  BOOST_CHECK_NO_THROW(testing::assert_allclose(a, b, tolerance, tolerance));
}
nn::Pair pair_of(const GoldenCall& c, const char* arg) {
  const Dims d = c.dims(arg);
  return {int(d[0]), int(d[1])};
}
nn::InterpolateOptions interpolation(const GoldenCall& c) {
  static std::string mode;  // the options refer to it
  mode = c.text("mode", "");
  nn::InterpolateOptions o{
      .mode = mode, .align_corners = c.flag("align_corners", false), .antialias = c.flag("antialias", false)};
  if (c.has("size")) o.size = nn::Lengths(c.dims("size"));
  else o.scale_factor = c.number("scale_factor", 1);
  return o;
}
nn::FoldOptions folds(const GoldenCall& c) {
  return {.stride = pair_of(c, "stride"), .pad = pair_of(c, "pad"), .dilate = pair_of(c, "dilate")};
}
Variables sampled(const GoldenCall& c) {
  const std::string mode = c.text("mode", ""), padding = c.text("padding_mode", "");
  return {nn::spatial_transformer_sampler(
      c.x("x"), c.x("grid"), {.mode = mode, .padding_mode = padding, .align_corners = c.flag("align_corners", true)})};
}

BOOST_AUTO_TEST_SUITE(image_functions)

BOOST_AUTO_TEST_CASE(golden_values) {
  test::GoldenFunctions all;
  const auto one = [&](const std::string& name, const std::function<Variable(const GoldenCall&)>& f) {
    all[name] = [f](const GoldenCall& c) { return Variables{f(c)}; };
  };
  one("interpolate", [](const GoldenCall& c) { return nn::interpolate(c.x(0), interpolation(c)); });
  all["grid_sample"] = sampled;
  one("unfold", [](const GoldenCall& c) { return nn::unfold(c.x(0), pair_of(c, "ksize"), folds(c)); });
  one("fold", [](const GoldenCall& c) { return nn::fold(c.x(0), {5, 6}, pair_of(c, "ksize"), folds(c)); });
  using Adaptive = Variable (*)(const Variable&, const nn::Lengths&);
  for (const auto& [name, f] :
       std::map<std::string, Adaptive>{{"adaptive_average_pooling_2d", nn::adaptive_average_pooling_2d},
                                       {"adaptive_max_pooling_2d", nn::adaptive_max_pooling_2d},
                                       {"adaptive_average_pooling_nd", nn::adaptive_average_pooling_nd},
                                       {"adaptive_max_pooling_nd", nn::adaptive_max_pooling_nd}})
    one(name, [f](const GoldenCall& c) {
      const Dims size = c.dims("size");
      return f(c.x(0), size.size() == 1 ? nn::Lengths(int(size[0])) : nn::Lengths(size));
    });
  one("linear", [](const GoldenCall& c) { return nn::linear(c.x("x"), c.x("W"), c.x("b"), -1); });
  const nn::ConvolutionNdOptions o{.stride = 2, .pad = 1, .groups = 2};
  const nn::DeconvolutionNdOptions t{.stride = 2, .pad = 1, .groups = 2};
  one("convolution_1d", [&](const GoldenCall& c) { return nn::convolution_1d(c.x(0), c.x(1), c.x(2), o); });
  one("convolution_3d", [&](const GoldenCall& c) { return nn::convolution_3d(c.x(0), c.x(1), c.x(2), o); });
  one("deconvolution_1d", [&](const GoldenCall& c) { return nn::deconvolution_1d(c.x(0), c.x(1), c.x(2), t); });
  one("deconvolution_3d", [&](const GoldenCall& c) { return nn::deconvolution_3d(c.x(0), c.x(1), c.x(2), t); });
  one("max_pooling_1d", [](const GoldenCall& c) { return nn::max_pooling_1d(c.x(0), 2, 1, 1); });
  one("max_pooling_3d", [](const GoldenCall& c) { return nn::max_pooling_3d(c.x(0), 2, 1, 1); });
  one("average_pooling_1d", [](const GoldenCall& c) { return nn::average_pooling_1d(c.x(0), 2, 1, 1); });
  one("average_pooling_3d", [](const GoldenCall& c) { return nn::average_pooling_3d(c.x(0), 2, 1, 1); });
  test::run_golden("torch_images", all);
}

BOOST_AUTO_TEST_CASE(derivatives) {
  const Array image = spread({1, 2, 4, 3}, -2, 2);
  const auto check = [&](const char* name, const std::function<Variable(const Variable&)>& f) {
    test::check_derivatives(name, [&](const Variables& v) { return Variables{f(v[0])}; }, {image});
  };
  check("interpolate", [](const Variable& x) { return nn::interpolate(x, {3, 5}, "bicubic"); });
  check("adaptive_average", [](const Variable& x) { return nn::adaptive_average_pooling_2d(x, {3, 2}); });
  check("adaptive_max", [](const Variable& x) { return nn::adaptive_max_pooling_2d(x, {3, 2}); });
  check("global_average", [](const Variable& x) { return nn::global_average_pooling(x); });
  check("global_max", [](const Variable& x) { return nn::global_max_pooling(x); });
  check("unfold", [](const Variable& x) { return nn::unfold(x, 2, {.pad = 1}); });
  const Array rois = array<double>({0.3, 0.2, 3.4, 2.9, -1, 1, 6, 2.2}, {2, 4}),
              images = array<std::int64_t>({0, 0}, {2});
  check("align", [&](const Variable& x) { return nn::roi_average_align_2d(x, rois, images, 2); });
  check("max_align",
        [&](const Variable& x) { return nn::roi_max_align_2d(x, rois, images, 2, {.sampling_ratio = 2}); });
  check("pooling", [&](const Variable& x) { return nn::roi_average_pooling_2d(x, rois, images, 2, 1); });
  check("max_pooling", [&](const Variable& x) { return nn::roi_max_pooling_2d(x, rois, images, 2, 1); });
}

BOOST_AUTO_TEST_CASE(interpolation_of_other_arrays_and_errors) {
  const Variable x(spread({1, 2, 4, 3}));
  close(nn::interpolate(x, 5).data(), nn::interpolate(x, {.size = nn::Lengths(5), .mode = "nearest"}).data());
  close(nn::interpolate(x, {.scale_factor = 2, .mode = "linear"}).data(),
        nn::interpolate(x, {8, 6}, "bilinear").data());
  close(nn::resize_images(x, {3, 7}, "bilinear", true).data(), nn::resize_images(x, {3, 7}).data());
  close(nn::resize_images(x, {3, 7}, "bicubic", false).data(), nn::interpolate(x, {3, 7}, "cubic").data());
  close(nn::resize_images(x, {3, 7}, "nearest").data(), nn::interpolate(x, {3, 7}).data());
  BOOST_TEST(nn::interpolate(Variable(arrays::ones({0, 2, 4})), 3).shape() == (Shape{0, 2, 3}));
  // Results and gradients lie in C order, although intermediate arrays do not.
  for (const char* mode : {"nearest", "bilinear", "bicubic"}) {
    const Variable image(spread({2, 3, 4, 5}));
    Variable resized = nn::interpolate(image, {7, 3}, mode);
    BOOST_TEST(resized.data().is_c_contiguous());
    resized.set_grad(arrays::ones({2, 3, 7, 3}, Dtype::float64));
    resized.backward();
    BOOST_TEST(image.grad().is_c_contiguous());
  }
  // A result of the same size is no second name of x.
  Variable same = nn::interpolate(x, {4, 3}, "bilinear");
  BOOST_TEST(!same.is_same(x));
  same.set_grad(spread({1, 2, 4, 3}));
  same.backward();
  close(x.grad(), spread({1, 2, 4, 3}));
  BOOST_CHECK_EXCEPTION(nn::interpolate(x, 5, "lanczos"), catena::ValueError, says("mode is \"lanczos\""));
  BOOST_CHECK_EXCEPTION(nn::interpolate(x, {.mode = "linear"}), catena::ValueError,
                        says("one of size and scale_factor must be given"));
  BOOST_CHECK_THROW(nn::interpolate(x, 5, "linear", {.scale_factor = 2}), catena::ValueError);
  BOOST_CHECK_THROW(nn::interpolate(x, 0), catena::ValueError);
  BOOST_CHECK_THROW(nn::interpolate(x, {.scale_factor = 0.1}), catena::ValueError);
  BOOST_CHECK_THROW(nn::interpolate(x, 5, "nearest", {.align_corners = true}), catena::ValueError);
  BOOST_CHECK_THROW(nn::interpolate(x, 5, "cubic", {.align_corners = true, .antialias = true}), catena::ValueError);
  BOOST_CHECK_THROW(nn::interpolate(x, {1, 2, 3}), catena::AssertionError);
  BOOST_CHECK_THROW(nn::interpolate(Variable(arrays::ones({2, 2})), 2), catena::InvalidType);
  BOOST_CHECK_EXCEPTION(nn::spatial_transformer_sampler(x, Variable(spread({1, 2, 2, 2})), {.mode = "cubic"}),
                        catena::ValueError, says("mode is \"cubic\""));
  BOOST_CHECK_EXCEPTION(nn::spatial_transformer_sampler(x, Variable(spread({1, 2, 2, 2})), {.padding_mode = "wrap"}),
                        catena::ValueError, says("padding_mode is \"wrap\""));
}

// PyTorch's pad, from the last axis on.
BOOST_AUTO_TEST_CASE(widths_from_the_last_axis_on) {
  const Variable x(array<double>({1, 2, 3}, {1, 1, 3}));
  const auto is = [](const Variable& y, const Numbers& expected) {
    BOOST_TEST(to_vector<double>(y.data()) == expected, boost::test_tools::per_element());
  };
  is(nn::pad(x, {2, 1}, {.mode = "reflect"}), {3, 2, 1, 2, 3, 2});
  is(nn::pad(x, {2, 1}, {.mode = "replicate"}), {1, 1, 1, 2, 3, 3});
  is(nn::pad(x, {2, 1}, {.mode = "circular"}), {2, 3, 1, 2, 3, 1});
  is(nn::pad(x, {2, 1}, {.value = 9}), {9, 9, 1, 2, 3, 9});
  const Variable square(array<double>({0, 1, 2, 3}, {1, 2, 2}));
  is(nn::pad(square, {0, 1, 1, 0}, {.mode = "constant", .value = 0}), {0, 0, 0, 0, 1, 0, 2, 3, 0});
  BOOST_CHECK_EQUAL(nn::pad(square, {0, 1, 1, 0}, {.value = 0}).shape(), (Shape{1, 3, 3}));
  BOOST_CHECK_EQUAL(nn::pad(square, {1, 1, 2, 2, 0, 3}, {.value = 0}).shape(), (Shape{4, 6, 4}));
  BOOST_CHECK_EQUAL(nn::pad(square, {}, {.value = 0}).shape(), (Shape{1, 2, 2}));
  test::check_derivatives("pad",
                          [](const Variables& v) {
                            return Variables{nn::pad(v[0], {1, 0, 2, 1}, {.mode = "replicate"})};
                          },
                          {spread({2, 3, 2})});
  BOOST_CHECK_EXCEPTION(nn::pad(x, {1, 1}, {.mode = "edge"}), catena::ValueError, says("the modes are"));
  BOOST_CHECK_EXCEPTION(nn::pad(x, {1, 1, 1}, {.value = 1}), catena::ValueError, says("there are 3 widths"));
  BOOST_CHECK_THROW(nn::pad(Variable(arrays::ones({2})), {1, 1, 1, 1}, {.value = 1}), catena::ValueError);
}

BOOST_AUTO_TEST_CASE(patches_and_their_sums) {
  // The adjoint of unfold: <unfold(x), c> = <x, fold(c)>, with gaps and overlaps.
  for (const nn::FoldOptions& o :
       {nn::FoldOptions{.stride = 3}, nn::FoldOptions{.pad = 1}, nn::FoldOptions{.dilate = 2}}) {
    const Array x = spread({2, 2, 5, 7});
    const Variable patches = nn::unfold(Variable(x), {2, 3}, o);
    const Array c = spread(patches.shape(), -1, 1, 3);
    const Variable image = nn::fold(Variable(c), {5, 7}, {2, 3}, o);
    BOOST_TEST(to_vector<double>(sum(patches.data() * c))[0] == to_vector<double>(sum(x * image.data()))[0],
               boost::test_tools::tolerance(1e-10));
  }
  BOOST_CHECK_THROW(nn::fold(Variable(arrays::ones({1, 5, 4})), 3, 2), catena::InvalidType);
  BOOST_CHECK_THROW(nn::fold(Variable(arrays::ones({1, 4, 5})), 3, 2), catena::InvalidType);
  BOOST_CHECK_THROW(nn::fold(Variable(arrays::ones({1, 4, 4})), 0, 2), catena::ValueError);
  BOOST_CHECK_THROW(nn::unfold(Variable(arrays::ones({1, 4, 4, 4})), 2, {.stride = 0}), catena::ValueError);
}

BOOST_AUTO_TEST_CASE(adaptive_pooling_of_equal_elements_and_errors) {
  // Each bin of equal elements gives its gradient to its first element.
  Variable x(arrays::ones({1, 1, 5}));
  Variable y = nn::adaptive_max_pooling_nd(x, 3);
  y.set_grad(array<float>({1, 2, 4}, {1, 1, 3}));
  y.backward();
  BOOST_TEST(to_vector<float>(x.grad()) == (std::vector<float>{1, 2, 0, 4, 0}), boost::test_tools::per_element());
  const Variable infinite(array<float>({1, INFINITY, 2, 3, 4}, {1, 1, 5}));
  BOOST_TEST(to_vector<float>(nn::adaptive_average_pooling_nd(infinite, 3).data())[2] == 3.5f);
  BOOST_TEST(nn::adaptive_max_pooling_nd(Variable(arrays::ones({0, 2, 5})), 3).shape() == (Shape{0, 2, 3}));
  BOOST_TEST(nn::adaptive_average_pooling_nd(Variable(arrays::ones({0, 2, 5})), 3).shape() == (Shape{0, 2, 3}));
  BOOST_TEST(nn::global_average_pooling(Variable(arrays::ones({2, 3, 4, 5}))).shape() == (Shape{2, 3}));
  BOOST_CHECK_THROW(nn::adaptive_max_pooling_nd(x, 0), catena::ValueError);
  BOOST_CHECK_THROW(nn::adaptive_average_pooling_nd(Variable(arrays::ones({1, 1, 0})), 2), catena::ValueError);
  BOOST_CHECK_THROW(nn::adaptive_average_pooling_2d(x, 2), catena::InvalidType);
  BOOST_CHECK_THROW(nn::global_max_pooling(Variable(arrays::ones({2, 3}))), catena::InvalidType);
}

// ---- regions: each bin by loops ----
struct Region {
  Numbers corners;  // y_min, x_min, y_max, x_max
  std::int64_t image;
};
const std::vector<Region> kRegions = {
    {{0.6, 1.2, 4.9, 5.3}, 1}, {{-2, -3, 2.5, 9}, 0}, {{3, 3, 3.2, 3.1}, 1}, {{30, 1, 40, 4}, 0}};

struct ByLoops {
  Numbers x = to_vector<double>(spread({2, 2, 6, 5}, -2, 2));
  double pixel(std::int64_t b, std::int64_t c, std::int64_t i, std::int64_t j) const {
    return x[std::size_t(((b * 2 + c) * 6 + i) * 5 + j)];
  }
  // As in the paper's code: no value further than a pixel outside, the border between.
  double at(std::int64_t b, std::int64_t c, double v, double u, bool& known) const {
    known = v >= -1 && v <= 6 && u >= -1 && u <= 5;
    if (!known) return 0;
    v = std::min(std::max(v, 0.0), 5.0), u = std::min(std::max(u, 0.0), 4.0);
    const std::int64_t i = std::int64_t(v), j = std::int64_t(u), i1 = std::min<std::int64_t>(i + 1, 5),
                       j1 = std::min<std::int64_t>(j + 1, 4);
    const double a = v - double(i), d = u - double(j);
    return (1 - a) * ((1 - d) * pixel(b, c, i, j) + d * pixel(b, c, i, j1)) +
           a * ((1 - d) * pixel(b, c, i1, j) + d * pixel(b, c, i1, j1));
  }
};
struct Bin {
  double total = 0, most = -INFINITY, count = 0;
  bool any = false;
  void add(double value) {
    total += value;
    most = std::max(most, value);
    any = true;
  }
  double average() const { return count > 0 ? total / count : 0; }
  double maximum() const { return any ? most : 0; }
};
Bin aligned(const ByLoops& x, const Region& r, std::int64_t c, std::int64_t p, std::int64_t q, double scale, int ratio,
            bool is_aligned) {
  const double shift = is_aligned ? 0.5 : 0;
  const double y0 = r.corners[0] * scale - shift, x0 = r.corners[1] * scale - shift, y1 = r.corners[2] * scale - shift,
               x1 = r.corners[3] * scale - shift;
  const double h = (is_aligned ? y1 - y0 : std::max(y1 - y0, 1.0)) / 2,
               w = (is_aligned ? x1 - x0 : std::max(x1 - x0, 1.0)) / 3;
  const int n = ratio > 0 ? ratio : int(std::ceil(h)), m = ratio > 0 ? ratio : int(std::ceil(w));
  Bin bin;
  bin.count = n * m;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j) {
      bool known = false;
      const double value =
          x.at(r.image, c, y0 + double(p) * h + (i + 0.5) * h / n, x0 + double(q) * w + (j + 0.5) * w / m, known);
      if (known) bin.add(value);
    }
  return bin;
}
Bin of_pixels(const ByLoops& x, const Region& r, std::int64_t c, std::int64_t p, std::int64_t q, double scale) {
  const auto rounded = [&](std::size_t k) { return std::round(r.corners[k] * scale); };
  const double h = std::max(rounded(2) - rounded(0), 1.0) / 2, w = std::max(rounded(3) - rounded(1), 1.0) / 3;
  Bin bin;
  for (std::int64_t i = 0; i < 6; ++i)
    for (std::int64_t j = 0; j < 5; ++j) {
      const double v = double(i) - rounded(0), u = double(j) - rounded(1);
      if (v < std::floor(double(p) * h) || v >= std::ceil(double(p + 1) * h) || u < std::floor(double(q) * w) ||
          u >= std::ceil(double(q + 1) * w))
        continue;
      bin.add(x.pixel(r.image, c, i, j));
      ++bin.count;
    }
  return bin;
}

BOOST_AUTO_TEST_CASE(regions_by_loops) {
  const ByLoops loops;
  const Variable x(array(loops.x, {2, 2, 6, 5}));
  Numbers corners;
  std::vector<std::int64_t> images;
  for (const Region& r : kRegions) {
    corners.insert(corners.end(), r.corners.begin(), r.corners.end());
    images.push_back(r.image);
  }
  const Variable rois(array(corners, {4, 4})), numbers(array(images, {4}));
  const auto expected = [](const std::function<double(const Region&, std::int64_t, std::int64_t, std::int64_t)>& f) {
    Numbers y;
    for (const Region& r : kRegions)
      for (std::int64_t c = 0; c < 2; ++c)
        for (std::int64_t p = 0; p < 2; ++p)
          for (std::int64_t q = 0; q < 3; ++q) y.push_back(f(r, c, p, q));
    return array(y, {4, 2, 2, 3});
  };
  for (const double scale : {1.0, 0.5})
    for (const int ratio : {0, 2})
      for (const bool is_aligned : {false, true}) BOOST_TEST_CONTEXT(scale << ' ' << ratio << ' ' << is_aligned) {
          const nn::RoiAlignOptions o{.spatial_scale = scale, .sampling_ratio = ratio, .aligned = is_aligned};
          close(nn::roi_average_align_2d(x, rois, numbers, {2, 3}, o).data(),
                expected([&](auto& r, auto c, auto p, auto q) {
                  return aligned(loops, r, c, p, q, scale, ratio, is_aligned).average();
                }));
          close(nn::roi_max_align_2d(x, rois, numbers, {2, 3}, o).data(),
                expected([&](auto& r, auto c, auto p, auto q) {
                  return aligned(loops, r, c, p, q, scale, ratio, is_aligned).maximum();
                }));
        }
  for (const double scale : {1.0, 0.5}) BOOST_TEST_CONTEXT(scale) {
      close(nn::roi_average_pooling_2d(x, rois, numbers, {2, 3}, scale).data(),
            expected([&](auto& r, auto c, auto p, auto q) { return of_pixels(loops, r, c, p, q, scale).average(); }));
      close(nn::roi_max_pooling_2d(x, rois, numbers, {2, 3}, scale).data(),
            expected([&](auto& r, auto c, auto p, auto q) { return of_pixels(loops, r, c, p, q, scale).maximum(); }));
    }
  const Variable two(array<std::int64_t>({0, 2, 0, 0}, {4}));
  BOOST_CHECK_EXCEPTION(nn::roi_average_align_2d(x, rois, two, 2), catena::ValueError, says("the image 2, of which"));
  BOOST_CHECK_THROW(nn::roi_average_align_2d(x, rois, numbers, 0), catena::ValueError);
  BOOST_CHECK_THROW(nn::roi_max_align_2d(x, rois, numbers, 2, {.sampling_ratio = -1}), catena::ValueError);
  BOOST_CHECK_THROW(nn::roi_average_pooling_2d(x, rois, rois, 2, 1), catena::InvalidType);
  BOOST_TEST(nn::roi_average_align_2d(x, Variable(arrays::zeros({0, 4})), Variable(arrays::zeros({0}, Dtype::int64)), 2)
                 .shape() == (Shape{0, 2, 2, 2}));
}

BOOST_AUTO_TEST_CASE(suppression_of_boxes) {
  // Boxes 0 and 1 overlap by 8 / 10, 2 touches 0, and 3 is in 0 with a quarter of its area.
  const Variable boxes(array<float>({0, 0, 3, 3, 0, 0, 3, 3.5f, 0, 3, 3, 6, 0, 0, 1.5f, 1.5f}, {4, 4})),
      scores(array<float>({0.8f, 0.9f, 0.5f, 0.7f}, {4}));
  const auto kept = [&](double threshold) { return to_vector<std::int64_t>(nn::nms(boxes, scores, threshold).data()); };
  using Ids = std::vector<std::int64_t>;
  BOOST_TEST(kept(0.5) == (Ids{1, 3, 2}), boost::test_tools::per_element());
  BOOST_TEST(kept(0.9) == (Ids{1, 0, 3, 2}), boost::test_tools::per_element());
  BOOST_TEST(kept(0.1) == (Ids{1, 2}), boost::test_tools::per_element());
  BOOST_TEST(nn::nms(Variable(arrays::zeros({0, 4})), Variable(arrays::zeros({0})), 0.5).size() == 0);
  // Areas 100 and 81 of boxes of which one lies in the other, a box beside them, and a quarter of two squares.
  const Variable first(array(std::vector<double>{0, 0, 10, 10, 0, 0, 2, 2}, {2, 4})),
      second(array(std::vector<double>{1, 1, 10, 10, 20, 20, 30, 30, 1, 1, 3, 3}, {3, 4}));
  const std::vector<double> areas{81, 100, 4};
  BOOST_TEST(to_vector<double>(nn::ops::box_area(second).data()) == areas, boost::test_tools::per_element());
  const std::vector<double> iou = to_vector<double>(nn::ops::box_iou(first, second).data()),
                            expected{0.81, 0, 4. / 100, 1. / 84, 0, 1. / 7};
  for (std::size_t i = 0; i < 6; ++i) BOOST_TEST(std::fabs(iou[i] - expected[i]) < 1e-12);
  BOOST_CHECK_THROW(nn::ops::box_iou(scores, second), catena::InvalidType);
  BOOST_CHECK_THROW(nn::nms(scores, scores, 0.5), catena::InvalidType);
}

// ---- convolutions ----
BOOST_AUTO_TEST_CASE(local_convolution_by_loops) {
  const Array x = spread({2, 2, 4, 5}), W = spread({3, 3, 2, 2, 2, 2}, -1, 1, 1), b = spread({3, 3, 2}, -1, 1, 2);
  const Numbers xs = to_vector<double>(x), ws = to_vector<double>(W), bs = to_vector<double>(b);
  Numbers y;
  for (std::size_t n = 0; n < 2; ++n)
    for (std::size_t m = 0; m < 3; ++m)
      for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t j = 0; j < 2; ++j) {
          const std::size_t at = (m * 3 + i) * 2 + j;
          double s = bs[at];
          for (std::size_t c = 0; c < 2; ++c)
            for (std::size_t p = 0; p < 2; ++p)
              for (std::size_t q = 0; q < 2; ++q)
                s += xs[((n * 2 + c) * 4 + i + p) * 5 + 2 * j + q] * ws[at * 8 + c * 4 + p * 2 + q];
          y.push_back(s);
        }
  const auto f = [](const Variables& v) {
    return Variables{nn::local_convolution_2d(v[0], v[1], v[2], {.stride = {1, 2}})};
  };
  close(f({Variable(x), Variable(W), Variable(b)})[0].data(), array(y, {2, 3, 3, 2}));
  test::check_derivatives("local_convolution_2d", f, {x, W, b}, {.atol16 = 1e-2, .rtol16 = 1e-2});
  BOOST_CHECK_THROW(nn::local_convolution_2d(Variable(x), Variable(W)), catena::InvalidType);
  BOOST_CHECK_THROW(nn::local_convolution_2d(Variable(x), Variable(W), {}, {.stride = 0}), catena::ValueError);
}

BOOST_AUTO_TEST_CASE(deformable_convolution_by_loops) {
  const Array x = spread({1, 2, 4, 3}), W = spread({2, 2, 2, 2}, -1, 1, 1), offset = spread({1, 8, 3, 2}, -1.4, 1.4, 2),
              b = spread({2}, -1, 1, 3);
  const Numbers xs = to_vector<double>(x), ws = to_vector<double>(W), os = to_vector<double>(offset),
                bs = to_vector<double>(b);
  const auto pixel = [&](std::size_t c, std::int64_t i, std::int64_t j) {
    return i < 0 || i > 3 || j < 0 || j > 2 ? 0.0 : xs[(c * 4 + std::size_t(i)) * 3 + std::size_t(j)];
  };
  Numbers y;
  for (std::size_t m = 0; m < 2; ++m)
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j < 2; ++j) {
        double s = bs[m];
        for (std::size_t k = 0; k < 4; ++k) {
          const double v = double(2 * i + k / 2) - 1 + os[((4 + k) * 3 + i) * 2 + j],
                       u = double(2 * j + k % 2) - 1 + os[(k * 3 + i) * 2 + j];
          const std::int64_t p = std::int64_t(std::floor(v)), q = std::int64_t(std::floor(u));
          const double above = v - double(p), right = u - double(q);
          for (std::size_t c = 0; c < 2; ++c)
            s +=
                ws[(m * 2 + c) * 4 + k] * ((1 - above) * ((1 - right) * pixel(c, p, q) + right * pixel(c, p, q + 1)) +
                                           above * ((1 - right) * pixel(c, p + 1, q) + right * pixel(c, p + 1, q + 1)));
        }
        y.push_back(s);
      }
  const nn::DeformableConvolutionOptions o{.stride = 2, .pad = 1};
  const auto f = [&](const Variables& v) {
    return Variables{nn::deformable_convolution_2d_sampler(v[0], v[1], v[2], v[3], o)};
  };
  close(f({Variable(x), Variable(offset), Variable(W), Variable(b)})[0].data(), array(y, {1, 2, 3, 2}));
  test::check_derivatives("deformable_convolution", f, {x, offset, W, b}, {.atol16 = 2e-2, .rtol16 = 2e-2});
  close(nn::deformable_convolution_2d_sampler(Variable(x), Variable(arrays::zeros({1, 8, 3, 2}, Dtype::float64)),
                                              Variable(W), {}, o)
            .data(),
        nn::convolution_2d(Variable(x), Variable(W), {}, 2, 1).data());
  BOOST_CHECK_THROW(nn::deformable_convolution_2d_sampler(Variable(x), Variable(x), Variable(W)), catena::InvalidType);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
