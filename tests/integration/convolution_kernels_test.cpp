// The CPU's own convolutions (depthwise, pointwise, sampled, Winograd, strided) against im2col and matrix products in
// float64: every pass, all geometries, the same bits at any number of threads.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <iostream>

#include <catena/autograd/ndarray_backend/convolution/avx2.h>
#include <catena/autograd/nn_extension.h>
#include <catena/catena.h>
#include <catena/kernels/base/parallel.h>
#include <catena/ndarray/cpu/gemm.h>

using namespace autograd;

namespace {

bool built_in() { return nd::cpu::onednn_takes(Dtype::float32); }

Array random(const Shape& shape) {
  static thread_local Generator g{11, 0};
  return random_uniform(shape, -1, 1, Dtype::float32, g, Device{});
}
Array channels_last(const Array& x) { return transpose(copy(transpose(x, Dims{0, 2, 3, 1})), Dims{0, 3, 1, 2}); }
Array wide(const Array& x) { return x ? astype(x, Dtype::float64) : x; }
Dims spatial(const Shape& s) { return Dims(std::span<const std::int64_t>(s.begin() + 2, std::size_t(s.size() - 2))); }

struct Case {
  Shape x, w;
  ConvolutionSpec spec;
};
std::ostream& operator<<(std::ostream& to, const Case& c) {
  return to << "x " << c.x << " w " << c.w << " stride " << c.spec.stride << " pad " << c.spec.pad << " dilate "
            << c.spec.dilate << " groups " << c.spec.groups << " cover_all " << c.spec.cover_all;
}

void check_close(const Array& got, const Array& expected, double bound, const char* what) {
  BOOST_TEST(got.shape() == expected.shape());
  if (!(got.shape() == expected.shape())) return;
  const std::vector<double> a = to_vector<double>(got), b = to_vector<double>(expected);
  double worst = 0, scale = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!(std::abs(a[i] - b[i]) <= worst)) worst = std::abs(a[i] - b[i]);  // also if it is not a number
    scale = std::max(scale, std::abs(b[i]));
  }
  BOOST_TEST(worst <= bound * scale, what << ": " << worst << " of " << scale);
}

struct Passes {
  Array y, plain, gx, gw;
};
Passes passes(NnExtension& nn, const Case& c, const Array& x, const Array& w, const Array& b, const Array& gy) {
  return {nn.convolution(x, w, b, c.spec), nn.convolution(x, w, {}, c.spec),
          nn.convolution_backward_data(w, gy, spatial(c.x), c.spec),
          nn.convolution_backward_filter(x, gy, spatial(c.w), x.dtype(), c.spec)};
}
void check_passes(const Passes& got, const Passes& expected, double bound) {
  check_close(got.y, expected.y, bound, "forward");
  check_close(got.plain, expected.plain, bound, "forward without bias");
  check_close(got.gx, expected.gx, bound, "data");
  check_close(got.gw, expected.gw, bound, "filter");
}
void check_same(const Passes& got, const Passes& expected) {
  const auto same = [](const Array& a, const Array& b) { return to_vector<float>(a) == to_vector<float>(b); };
  BOOST_TEST(same(got.y, expected.y));
  BOOST_TEST(same(got.plain, expected.plain));
  BOOST_TEST(same(got.gx, expected.gx));
  BOOST_TEST(same(got.gw, expected.gw));
}

// Who computes each pass.
struct Who {
  std::string_view forward, data, filter;
  bool is_ours() const { return forward != "onednn" && data != "onednn" && filter != "onednn"; }
};
Who all(const char* who) { return {who, who, who}; }
void check_who(const Case& c, const Array& x, const Array& w, const Array& gy, const Who& expected) {
  NnExtension& nn = nn_extension(x);
  nn.convolution(x, w, {}, c.spec);
  BOOST_TEST(last_implementation() == expected.forward);
  nn.convolution_backward_data(w, gy, spatial(c.x), c.spec);
  BOOST_TEST(last_implementation() == expected.data);
  nn.convolution_backward_filter(x, gy, spatial(c.w), Dtype::float32, c.spec);
  BOOST_TEST(last_implementation() == expected.filter);
}

// Values of one thread; those of more have the same bits where all passes are ours.
void check_case(const Case& c, const Who& who, double bound) {
  BOOST_TEST_CONTEXT(c) {
    const Array x = random(c.x), w = random(c.w), b = random({c.w[0]});
    const Array wide_y = portable_nn_extension().convolution(wide(x), wide(w), wide(b), c.spec);
    const Array gy = random(wide_y.shape());
    check_who(c, x, w, gy, who);
    const Passes expected = passes(portable_nn_extension(), c, wide(x), wide(w), wide(b), wide(gy));
    const int before = catena::max_threads();
    catena::set_max_threads(1);
    const Passes got = passes(nn_extension(x), c, x, w, b, gy);
    check_passes(got, expected, bound);
    for (const int threads : {2, 3, 8}) {
      if (!who.is_ours()) break;
      catena::set_max_threads(threads);
      BOOST_TEST_CONTEXT(threads << " threads") { check_same(passes(nn_extension(x), c, x, w, b, gy), got); }
    }
    catena::set_max_threads(before);
  }
}

// Lets the kernels for AVX2 run where wider vectors would be used. `available`: whether they are built in and the
// processor has AVX2; otherwise a line says that the case was skipped.
struct OnAvx2 {
  bool available = internal::pretend_avx2_is_widest(true);
  OnAvx2() {
    if (!available) std::cout << "skipped: these kernels are for processors with AVX2, in builds by GCC\n";
  }
  ~OnAvx2() { internal::pretend_avx2_is_widest(false); }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(convolution_kernels)

BOOST_AUTO_TEST_CASE(depthwise_of_every_geometry) {
  if (!built_in()) return;
  // Of the output; up to one column or row less than a stride of the input is not read.
  const std::vector<std::array<std::int64_t, 2>> sizes = {{37, 41}, {85, 18}, {4, 375}, {501, 3}, {40, 39}};
  std::int64_t n = 0;
  for (const auto& [h, w] : sizes)
    for (const std::int64_t ky : {1, 2, 3, 5})
      for (const std::int64_t kx : {1, 3, 4})
        for (const std::int64_t sx : {1, 2, 3}) {
          // The other lengths take turns.
          const std::int64_t i = n++, dy = 1 + i % 2, dx = 1 + i / 2 % 3, py = i % 4, px = i / 3 % 4, c = 2 + i % 2;
          const std::int64_t sy = 1 + (sx + i) % 3;
          const std::int64_t height = (h - 1) * sy + (ky - 1) * dy + 1 - 2 * py + i % sy;
          const std::int64_t width = (w - 1) * sx + (kx - 1) * dx + 1 - 2 * px + i / 2 % sx;
          if (height < 1 || width < 1) continue;
          check_case({{1 + i % 2, c, height, width}, {c, 1, ky, kx}, ConvolutionSpec{{sy, sx}, {py, px}, {dy, dx}, c}},
                     all("depthwise"), 3e-6);
        }
  BOOST_TEST(n == 180);
}

// Planes that are convolved in several bands of rows, windows that extend beyond the padding, one spatial axis.
BOOST_AUTO_TEST_CASE(depthwise_of_other_sizes) {
  if (!built_in()) return;
  const Who own = all("depthwise");
  check_case({{1, 2, 170, 190}, {2, 1, 3, 3}, ConvolutionSpec{{1, 1}, {1, 1}, {1, 1}, 2}}, own, 3e-6);
  check_case({{2, 2, 171, 301}, {2, 1, 5, 4}, ConvolutionSpec{{2, 2}, {2, 3}, {1, 2}, 2}}, own, 3e-6);
  check_case({{1, 2, 40, 900}, {2, 1, 7, 3}, ConvolutionSpec{{3, 1}, {3, 1}, {2, 1}, 2}}, own, 3e-6);
  check_case({{1, 12, 90, 91}, {12, 1, 3, 4}, ConvolutionSpec{{2, 2}, {1, 1}, {1, 1}, 12, true}}, own, 3e-6);
  check_case({{3, 9, 3007}, {9, 1, 3}, ConvolutionSpec{{2}, {1}, {1}, 9}}, own, 3e-6);
  const Who small{"onednn", "depthwise", "onednn"};
  check_case({{3, 70, 17, 15}, {70, 1, 3, 3}, ConvolutionSpec{{1, 1}, {1, 1}, {1, 1}, 70}}, small, 3e-6);
  // Filters of many taps, and many images.
  const Who wide{"onednn", "onednn", "depthwise"};
  check_case({{2, 9, 17}, {9, 1, 5}, ConvolutionSpec{{3}, {2}, {1}, 9}}, wide, 3e-6);
  check_case({{2, 9, 11, 12}, {9, 1, 3, 4}, ConvolutionSpec{{1, 1}, {1, 1}, {1, 1}, 9}}, wide, 3e-6);
  check_case({{2, 9, 33, 34}, {9, 1, 3, 3}, ConvolutionSpec{{2, 2}, {1, 1}, {1, 1}, 9}}, small, 3e-6);
  check_case({{110, 9, 33, 34}, {9, 1, 3, 3}, ConvolutionSpec{{2, 2}, {1, 1}, {1, 1}, 9}}, own, 3e-6);
  check_case({{2, 3, 1, 2}, {3, 1, 1, 1}, ConvolutionSpec{{1, 2}, {1, 0}, {1, 1}, 3}}, own, 3e-6);
  check_case({{1, 2, 5, 3}, {2, 1, 3, 2}, ConvolutionSpec{{3, 2}, {2, 1}, {2, 1}, 2}}, own, 3e-6);
  check_case({{2, 1, 19, 18}, {1, 1, 3, 3}, ConvolutionSpec{{1, 2}, {1, 1}, {1, 1}, 1}}, own, 3e-6);  // one channel
  check_case({{2, 4, 17}, {4, 1, 5}, ConvolutionSpec{{3}, {2}, {1}, 4}}, own, 3e-6);
}

BOOST_AUTO_TEST_CASE(depthwise_of_other_layouts) {
  if (!built_in()) return;
  const Case c{{2, 12, 99, 38}, {12, 1, 3, 3}, ConvolutionSpec{{2, 1}, {1, 1}, {1, 1}, 12}};
  const Array x = random(c.x), w = random(c.w), b = random({12}), gy = random({2, 12, 50, 38});
  NnExtension& nn = nn_extension(x);
  const Passes expected = passes(portable_nn_extension(), c, wide(x), wide(w), wide(b), wide(gy));
  check_passes(passes(nn, c, channels_last(x), w, b, channels_last(gy)), expected, 1e-5);
  check_passes(passes(nn, c, channels_last(x), w, b, gy), expected, 1e-5);
  check_passes(passes(nn, c, x, w, b, channels_last(gy)), expected, 1e-5);
  const auto strided = [](const Array& a) {  // the same elements, every second one of memory
    Shape shape = a.shape();
    const int last = shape.size() - 1;
    shape[last] *= 2;
    const Array view = slice(random(shape), last, 0, shape[last], 2);
    assign(view, a);
    return view;
  };
  check_passes(passes(nn, c, strided(x), strided(w), strided(b), strided(gy)), expected, 1e-5);
}

// Convolutions without exactly one filter per channel are not for these kernels.
BOOST_AUTO_TEST_CASE(depthwise_with_several_filters_per_channel) {
  if (!built_in()) return;
  const Case c{{2, 6, 9, 8}, {12, 1, 3, 3}, ConvolutionSpec{{1, 1}, {1, 1}, {1, 1}, 6}};
  check_case(c, all("onednn"), 1e-5);
}

BOOST_AUTO_TEST_CASE(pointwise_of_every_geometry) {
  if (!built_in()) return;
  const auto spec = [](int axes) {
    return ConvolutionSpec{Dims::filled(axes, 1), Dims::filled(axes, 0), Dims::filled(axes, 1), 1};
  };
  const Who product = all("pointwise"), library = all("onednn");
  check_case({{3, 5, 17, 19}, {7, 5, 1, 1}, spec(2)}, product, 1e-5);
  check_case({{1, 1, 8, 3}, {40, 1, 1, 1}, spec(2)}, product, 1e-5);
  check_case({{6, 33, 4, 4}, {1, 33, 1, 1}, spec(2)}, product, 1e-5);
  check_case({{2, 9, 30}, {4, 9, 1}, spec(1)}, product, 1e-5);
  check_case({{2, 6, 3, 5, 4}, {11, 6, 1, 1, 1}, spec(3)}, product, 1e-5);
  check_case({{2, 140, 12, 11}, {130, 140, 1, 1}, spec(2)}, product, 1e-5);
  check_case({{2, 140, 11, 11}, {130, 140, 1, 1}, spec(2)}, library, 1e-5);
  check_case({{2, 9, 12, 12}, {8, 9, 1, 1}, ConvolutionSpec{{1, 1}, {1, 0}, {1, 1}, 1}}, library, 1e-5);

  const Case c{{2, 12, 9, 38}, {5, 12, 1, 1}, spec(2)};
  const Array x = random(c.x), w = random(c.w), b = random({5}), gy = random({2, 5, 9, 38});
  const Passes expected = passes(portable_nn_extension(), c, wide(x), wide(w), wide(b), wide(gy));
  NnExtension& nn = nn_extension(x);
  check_passes(passes(nn, c, channels_last(x), w, b, channels_last(gy)), expected, 1e-5);
  check_passes(passes(nn, c, channels_last(x), w, b, gy), expected, 1e-5);
  check_passes(passes(nn, c, x, transpose(copy(transpose(w))), b, channels_last(gy)), expected, 1e-5);
}

BOOST_AUTO_TEST_CASE(winograd_of_every_geometry) {
  if (!built_in()) return;
  const OnAvx2 avx2;
  if (!avx2.available) return;
  const auto spec = [](std::int64_t py, std::int64_t px) { return ConvolutionSpec{{1, 1}, {py, px}, {1, 1}, 1}; };
  const std::vector<Case> cases = {
      {{2, 32, 28, 28}, {32, 32, 3, 3}, spec(1, 1)},   {{1, 48, 29, 34}, {32, 48, 3, 3}, spec(0, 0)},
      {{1, 32, 30, 31}, {80, 32, 3, 3}, spec(1, 0)},   {{3, 64, 20, 17}, {48, 64, 3, 3}, spec(2, 2)},
      {{1, 32, 3, 150}, {64, 32, 3, 3}, spec(1, 1)},   {{9, 32, 7, 7}, {32, 32, 3, 3}, spec(1, 1)},
      {{1, 32, 28, 29}, {32, 32, 3, 3}, spec(4, 3)},   {{5, 128, 14, 14}, {128, 128, 3, 3}, spec(1, 1)},
      {{1, 112, 40, 41}, {96, 112, 3, 3}, spec(1, 1)},
  };
  for (const Case& c : cases) check_case(c, all("winograd"), 1e-5);
}

// Gradients of filters with strides.
BOOST_AUTO_TEST_CASE(strided_filters_of_every_geometry) {
  if (!built_in()) return;
  const OnAvx2 avx2;
  if (!avx2.available) return;
  const std::vector<Case> cases = {
      {{3, 64, 15, 14}, {48, 64, 3, 3}, ConvolutionSpec{{2, 2}, {1, 1}, {1, 1}, 1}},
      {{3, 48, 16, 13}, {64, 48, 4, 4}, ConvolutionSpec{{2, 2}, {1, 1}, {1, 1}, 1}},
      {{2, 53, 19, 21}, {77, 53, 5, 3}, ConvolutionSpec{{3, 2}, {2, 0}, {1, 1}, 1}},  // panels that are not full
      {{4, 48, 9, 11}, {52, 48, 2, 5}, ConvolutionSpec{{1, 3}, {0, 4}, {2, 1}, 1}},
      {{4, 64, 12, 12}, {64, 64, 1, 3}, ConvolutionSpec{{2, 4}, {3, 2}, {1, 1}, 1}},
      {{11, 48, 6, 7}, {48, 48, 3, 3}, ConvolutionSpec{{2, 2}, {1, 1}, {1, 1}, 1, true}},
      {{1, 64, 1, 300}, {64, 64, 1, 7}, ConvolutionSpec{{1, 2}, {0, 3}, {1, 1}, 1}},
      {{1, 128, 24, 24}, {64, 128, 3, 3}, ConvolutionSpec{{2, 2}, {5, 5}, {1, 1}, 1}},  // windows of padding alone
  };
  for (const Case& c : cases) {
    check_case(c, {"onednn", "onednn", "strided_filter"}, 1e-5);
    const Array x = random(c.x), w = random(c.w);
    NnExtension& nn = nn_extension(x);
    const Array gy = random(nn.convolution(x, w, {}, c.spec).shape());
    const auto filter = [&](const Array& images, const Array& gradient) {
      return to_vector<float>(nn.convolution_backward_filter(images, gradient, spatial(c.w), Dtype::float32, c.spec));
    };
    const std::vector<float> expected = filter(x, gy);
    BOOST_TEST((filter(channels_last(x), channels_last(gy)) == expected));
    const int before = catena::max_threads();
    for (const int threads : {1, 2, 3, 8}) {
      catena::set_max_threads(threads);
      BOOST_TEST((filter(x, gy) == expected), c << ", " << threads << " threads");
    }
    catena::set_max_threads(before);
  }
  // Filters without strides and dilated rows are left to oneDNN.
  const Who library = all("onednn");
  check_case({{1, 48, 40, 5}, {48, 48, 5, 5}, ConvolutionSpec{{1, 1}, {4, 2}, {1, 1}, 1}}, library, 1e-5);
  check_case({{2, 48, 15, 19}, {48, 48, 3, 3}, ConvolutionSpec{{2, 1}, {2, 3}, {1, 3}, 1}}, library, 1e-5);
}

// Filters of one element with strides: of the input, what is not read has no gradient.
BOOST_AUTO_TEST_CASE(sampled_positions) {
  if (!built_in()) return;
  const std::vector<Case> cases = {
      {{3, 20, 9, 8}, {17, 20, 1, 1}, ConvolutionSpec{{2, 2}, {0, 0}, {1, 1}, 1}},
      {{2, 5, 7, 13}, {4, 5, 1, 1}, ConvolutionSpec{{1, 3}, {0, 0}, {1, 1}, 1}},
      {{1, 8, 30}, {3, 8, 1}, ConvolutionSpec{{4}, {0}, {1}, 1}},
      {{2, 6, 5, 6, 7}, {8, 3, 1, 1, 1}, ConvolutionSpec{{2, 1, 3}, {0, 0, 0}, {1, 1, 1}, 2}},
      {{2, 4, 6, 6}, {5, 4, 1, 1}, ConvolutionSpec{{2, 2}, {0, 0}, {1, 1}, 1, true}},  // a window in the padding
      {{2, 4, 6, 6}, {5, 4, 1, 1}, ConvolutionSpec{{2, 2}, {1, 0}, {1, 1}, 1}},        // padding is read
  };
  for (std::size_t i = 0; i < cases.size(); ++i) check_case(cases[i], all(i < 4 ? "sampled" : "onednn"), 1e-5);
  const Case& c = cases.front();
  const Array x = random(c.x), w = random(c.w), b = random({c.w[0]}), gy = random({3, 17, 5, 4});
  const Passes expected = passes(portable_nn_extension(), c, wide(x), wide(w), wide(b), wide(gy));
  check_passes(passes(nn_extension(x), c, channels_last(x), w, b, channels_last(gy)), expected, 1e-5);
}

// Few positions, channels that do not fill the vectors, and other filters are left to oneDNN.
BOOST_AUTO_TEST_CASE(winograd_where_it_pays) {
  if (!built_in()) return;
  const OnAvx2 avx2;
  if (!avx2.available) return;
  const auto who = [](const Shape& x, const Shape& w, const ConvolutionSpec& spec) {
    nn_extension(random({1})).convolution(random(x), random(w), {}, spec);
    return last_implementation();
  };
  const ConvolutionSpec plain = ConvolutionSpec{{1, 1}, {1, 1}, {1, 1}, 1};
  BOOST_TEST(who({1, 32, 7, 7}, {32, 32, 3, 3}, plain) != "winograd");
  BOOST_TEST(who({1, 32, 40, 40}, {40, 32, 3, 3}, plain) != "winograd");
  BOOST_TEST(who({1, 40, 40, 40}, {32, 40, 3, 3}, plain) != "winograd");
  BOOST_TEST(who({1, 32, 40, 40}, {32, 32, 5, 5}, plain) != "winograd");
  BOOST_TEST(who({1, 32, 40, 40}, {32, 32, 3, 3}, ConvolutionSpec{{2, 1}, {1, 1}, {1, 1}, 1}) != "winograd");
  BOOST_TEST(who({1, 32, 40, 40}, {32, 32, 3, 3}, ConvolutionSpec{{1, 1}, {1, 1}, {1, 2}, 1}) != "winograd");
  BOOST_TEST(who({1, 64, 40, 40}, {64, 32, 3, 3}, ConvolutionSpec{{1, 1}, {1, 1}, {1, 1}, 2}) != "winograd");
}

// A transformed filter is kept while w is not written, and for its own shape alone.
BOOST_AUTO_TEST_CASE(winograd_after_the_filter_was_written) {
  if (!built_in()) return;
  const OnAvx2 avx2;
  if (!avx2.available) return;
  const ConvolutionSpec spec = ConvolutionSpec{{1, 1}, {1, 1}, {1, 1}, 1};
  const Array x = random({1, 32, 30, 30}), w = random({64, 32, 3, 3}), gy = random({1, 64, 30, 30});
  NnExtension &nn = nn_extension(x), &portable = portable_nn_extension();
  const auto check = [&](const Array& filter, const Array& image, const Array& gradient) {
    for (int call = 0; call < 3; ++call) {
      check_close(nn.convolution(image, filter, {}, spec), portable.convolution(wide(image), wide(filter), {}, spec),
                  1e-5, "forward");
      check_close(nn.convolution_backward_data(filter, gradient, {30, 30}, spec),
                  portable.convolution_backward_data(wide(filter), wide(gradient), {30, 30}, spec), 1e-5, "data");
    }
  };
  check(w, x, gy);
  assign(w, random(w.shape()));
  check(w, x, gy);
  check(reshape(w, {32, 64, 3, 3}), gy, x);
}

BOOST_AUTO_TEST_CASE(winograd_takes_any_layout) {
  if (!built_in()) return;
  const OnAvx2 avx2;
  if (!avx2.available) return;
  const Case c{{2, 32, 19, 18}, {48, 32, 3, 3}, ConvolutionSpec{{1, 1}, {1, 1}, {1, 1}, 1}};
  const Array x = random(c.x), w = random(c.w), b = random({48}), gy = random({2, 48, 19, 18});
  NnExtension& nn = nn_extension(x);
  const Passes expected = passes(nn, c, x, w, b, gy);
  check_same(passes(nn, c, channels_last(x), channels_last(w), b, channels_last(gy)), expected);
  const Array larger = random({2, 32, 21, 22}), cropped = slice(slice(larger, 2, 1, 20), 3, 2, 20);
  check_same(passes(nn, c, cropped, w, b, gy), passes(nn, c, copy(cropped), w, b, gy));
}

BOOST_AUTO_TEST_SUITE_END()
