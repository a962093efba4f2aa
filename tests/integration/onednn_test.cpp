// oneDNN's convolutions against the portable ones, which implementation ran, and where the results lie.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <thread>

#include <catena/autograd/nn_extension.h>
#include <catena/catena.h>
#include <catena/kernels/base/parallel.h>
#include <catena/kernels/registry/families.h>
#include <catena/ndarray/cpu/gemm.h>

using namespace autograd;

namespace {

bool built_in() { return nd::cpu::onednn_takes(Dtype::float32); }

Array random(const Shape& shape, Dtype t = Dtype::float32) {
  static thread_local Generator g{5, 0};
  return random_uniform(shape, -1, 1, t, g, Device{});
}
Array in_channels_last(const Array& x) { return transpose(copy(transpose(x, Dims{0, 2, 3, 1})), Dims{0, 3, 1, 2}); }
bool is_channels_last(const Array& x) { return transpose(x, Dims{0, 2, 3, 1}).is_c_contiguous(); }

void check_close(const Array& got, const Array& expected, const char* what) {
  BOOST_TEST(got.shape() == expected.shape());
  if (!(got.shape() == expected.shape())) return;
  const std::vector<double> a = to_vector<double>(got), b = to_vector<double>(expected);
  double worst = 0, scale = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    worst = std::max(worst, std::abs(a[i] - b[i]));
    scale = std::max(scale, std::abs(b[i]));
  }
  BOOST_TEST(worst <= 1e-4 * scale, what << ": " << worst << " of " << scale);
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
struct Case {
  Shape x, w;
  ConvolutionSpec spec;
};
const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {{2, 1, 28, 28}, {8, 1, 5, 5}, spec_of({1, 1}, {0, 0})},
      {{2, 3, 33, 30}, {16, 3, 7, 7}, spec_of({2, 2}, {3, 3})},
      {{2, 32, 14, 15}, {48, 32, 3, 3}, spec_of({1, 1}, {1, 1})},
      {{2, 17, 9, 9}, {5, 17, 3, 2}, spec_of({2, 1}, {1, 0}, {}, true)},
      {{1, 16, 13, 13}, {16, 16, 3, 3}, spec_of({1, 1}, {2, 2}, {2, 2})},
      {{2, 32, 8, 8}, {32, 8, 3, 3}, spec_of({1, 1}, {1, 1}, {}, false, 4)},
      {{2, 16, 8, 8}, {16, 1, 3, 3}, spec_of({2, 2}, {1, 1}, {}, true, 16)},
      {{3, 64, 7, 7}, {32, 64, 1, 1}, spec_of({1, 1}, {0, 0})},
      {{1, 1, 1, 1}, {1, 1, 1, 1}, spec_of({1, 1}, {0, 0})},
      {{2, 4, 20}, {8, 4, 3}, spec_of({2}, {1}, {2})},
      {{1, 3, 5, 6, 7}, {4, 3, 2, 3, 2}, spec_of({1, 2, 1}, {1, 0, 1})},
  };
  return all;
}

Dims spatial(const Shape& s) { return Dims(std::span<const std::int64_t>(s.begin() + 2, std::size_t(s.size() - 2))); }

void compare(const Case& c) {
  const Array x = random(c.x), w = random(c.w), b = random({c.w[0]});
  NnExtension &fast = nn_extension(x), &portable = portable_nn_extension();
  const Array y = fast.convolution(x, w, b, c.spec);
  BOOST_TEST(last_implementation() != "portable");  // oneDNN's, or one of ours in its stead
  check_close(y, portable.convolution(x, w, b, c.spec), "forward");
  BOOST_TEST(last_implementation() == "portable");
  check_close(fast.convolution(x, w, {}, c.spec), portable.convolution(x, w, {}, c.spec), "forward without bias");
  const Array gy = random(y.shape());
  check_close(fast.convolution_backward_data(w, gy, spatial(c.x), c.spec),
              portable.convolution_backward_data(w, gy, spatial(c.x), c.spec), "data");
  fast.convolution_backward_data(w, gy, spatial(c.x), c.spec);
  BOOST_TEST(last_implementation() != "portable");
  const Array gw = fast.convolution_backward_filter(x, gy, spatial(c.w), Dtype::float32, c.spec);
  BOOST_TEST(last_implementation() != "portable");
  BOOST_TEST(gw.is_c_contiguous());
  check_close(gw, portable.convolution_backward_filter(x, gy, spatial(c.w), Dtype::float32, c.spec), "filter");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(onednn)

BOOST_AUTO_TEST_CASE(agrees_with_the_portable_convolution) {
  if (!built_in()) return;
  for (const Case& c : cases()) {
    BOOST_TEST_CONTEXT("x " << c.x << " w " << c.w << " stride " << c.spec.stride << " groups " << c.spec.groups) {
      compare(c);
      compare(c);  // with the plans of the first time
    }
  }
}

// Enough work for several threads: parts of the batch, and where there are more threads than images, rows of the
// output.
BOOST_AUTO_TEST_CASE(parts_make_the_whole) {
  if (!built_in()) return;
  const std::vector<Case> large = {
      {{1, 16, 50, 40}, {32, 16, 3, 3}, spec_of({1, 1}, {1, 1})},
      {{1, 16, 61, 40}, {32, 16, 3, 3}, spec_of({2, 1}, {2, 0}, {2, 1}, true)},
      {{3, 16, 30, 31}, {16, 16, 5, 5}, spec_of({1, 1}, {2, 2})},
      {{2, 3, 64, 64}, {32, 3, 7, 7}, spec_of({2, 2}, {3, 3})},
      {{7, 32, 20, 20}, {32, 8, 3, 3}, spec_of({1, 1}, {1, 1}, {}, false, 4)},
      {{4, 64, 28, 28}, {64, 64, 3, 3}, spec_of({1, 1}, {1, 1})},  // these by Winograd's algorithm, if oneDNN has it
      {{5, 80, 30, 26}, {64, 80, 3, 3}, spec_of({1, 1}, {0, 1})},
      {{1, 64, 58, 55}, {72, 64, 3, 3}, spec_of({1, 1}, {1, 0})},
      {{1, 24, 2000}, {24, 24, 5}, spec_of({1}, {4})},
      {{1, 8, 20, 14, 14}, {16, 8, 3, 3, 3}, spec_of({1, 1, 1}, {1, 0, 1})},
      {{9, 3, 92, 92}, {7, 3, 1, 1}, spec_of({1, 1}, {0, 0})},  // few channels: layouts that depend on the pass
      {{2, 3, 64, 60}, {32, 3, 3, 3}, spec_of({1, 1}, {1, 1})},
      {{1, 2, 90, 92}, {24, 2, 5, 5}, spec_of({1, 2}, {2, 0})},
      {{2, 11, 50, 50}, {22, 11, 5, 5}, spec_of({1, 1}, {2, 2})},
      {{3, 18, 30, 30}, {6, 18, 7, 7}, spec_of({1, 1}, {3, 3})},
      {{1, 16, 40, 64}, {32, 16, 2, 2}, spec_of({1, 1}, {30, 0})},  // rows that see nothing but padding
      {{1, 96, 7, 6}, {260, 96, 3, 3}, spec_of({1, 1}, {1, 1})},    // large filters: parts of the channels
      {{3, 64, 8, 8}, {280, 64, 3, 3}, spec_of({2, 2}, {1, 1})},
  };
  const int before = catena::max_threads();
  for (const int threads : {1, 2, 3, 8}) {
    catena::set_max_threads(threads);
    for (const Case& c : large) {
      BOOST_TEST_CONTEXT(threads << " threads, x " << c.x << " w " << c.w << " stride " << c.spec.stride) {
        compare(c);
      }
    }
  }
  catena::set_max_threads(before);
}

// Products with weights that are kept, against float64; few rows and few weights are multiplied as matrices.
BOOST_AUTO_TEST_CASE(linear_layers) {
  if (!built_in()) return;
  const int before = catena::max_threads();
  for (const int threads : {1, 3}) {
    catena::set_max_threads(threads);
    for (const std::int64_t n : {1, 2, 3, 8, 33, 128, 129}) {
      for (const auto& [inputs, outputs] : {std::pair{400, 251}, {401, 250}, {17, 8000}, {50, 30}}) {
        const Array x = random({n, inputs}), w = random({outputs, inputs}), b = random({outputs});
        const Array product = matmul(astype(x, Dtype::float64), astype(w, Dtype::float64), false, true);
        NnExtension& nn = nn_extension(x);
        BOOST_TEST_CONTEXT(threads << " threads, " << n << " x " << inputs << " x " << outputs) {
          for (int call = 0; call < 3; ++call) {
            const Array y = nn.linear(x, w, b);
            BOOST_TEST((last_implementation() == "onednn") == (n >= 2 && n <= 128 && outputs > 50));
            BOOST_TEST(y.is_c_contiguous());
            check_close(y, product + astype(b, Dtype::float64), "product");
          }
          check_close(nn.linear(x, w, {}), product, "without bias");
          const Array wide = random({n, 2 * inputs}), strided = slice(wide, 1, 0, 2 * inputs, 2);
          check_close(nn.linear(strided, w, b), nn.linear(copy(strided), w, b), "strided");
        }
      }
    }
  }
  catena::set_max_threads(before);
  const Array x = random({4, 3}), w = random({5, 3});
  BOOST_CHECK_THROW(nn_extension(x).linear(x, random({5, 4}), {}), catena::ValueError);
  BOOST_CHECK_THROW(nn_extension(x).linear(x, w, random({4})), catena::ValueError);
  BOOST_CHECK_THROW(nn_extension(x).linear(x, astype(w, Dtype::float64), {}), catena::TypeError);
  BOOST_CHECK_THROW(nn_extension(x).linear(reshape(x, {12}), w, {}), catena::ValueError);
}

BOOST_AUTO_TEST_CASE(results_are_channels_last_and_taken_as_they_are) {
  if (!built_in()) return;
  const ConvolutionSpec spec = spec_of({1, 1}, {1, 1});
  const Array x = random({2, 16, 9, 8}), w = random({16, 16, 3, 3});
  NnExtension& nn = nn_extension(x);
  const Array y = nn.convolution(x, w, {}, spec);
  BOOST_TEST(is_channels_last(y));
  BOOST_TEST(is_channels_last(
      apply(catena::kernels::maximum, {y, 0})));  // what stands between two convolutions keeps the layout
  BOOST_TEST(is_channels_last(y * random({1, 16, 1, 1}) + y));
  const Operand bn[] = {y, arrays::ones({1, 16, 1, 1}), arrays::zeros({1, 16, 1, 1}), 1e-5};
  BOOST_TEST(is_channels_last(row_wise(catena::kernels::batch_norm_fwd, bn, {0, 2, 3})[0]));
  BOOST_TEST(is_channels_last(nn.convolution_backward_data(w, y, {9, 8}, spec)));
  // the layout changes nothing but the time
  check_close(nn.convolution(in_channels_last(x), w, {}, spec), y, "channels-last input");
  check_close(nn.convolution_backward_filter(in_channels_last(x), y, {3, 3}, Dtype::float32, spec),
              nn.convolution_backward_filter(x, copy(y), {3, 3}, Dtype::float32, spec), "channels-last gradient");
  const Array cropped = slice(slice(random({2, 16, 12, 12}), 2, 1, 10), 3, 2, 10);
  check_close(nn.convolution(cropped, w, {}, spec), nn.convolution(copy(cropped), w, {}, spec), "a view");
}

// The layouts that a pass asks oneDNN for depend on the shapes only. What is a product of matrices for plain images
// alone is the same to rounding.
BOOST_AUTO_TEST_CASE(a_channels_last_image_gives_the_bits_of_a_plain_one) {
  if (!built_in()) return;
  const std::vector<std::pair<Shape, Shape>> shapes = {
      {{2, 3, 30, 31}, {7, 3, 1, 1}},  {{2, 64, 9, 9}, {8, 64, 1, 1}},      {{2, 1, 20, 20}, {16, 1, 5, 5}},
      {{2, 3, 20, 20}, {32, 3, 3, 3}}, {{2, 3, 20, 20}, {2, 3, 3, 3}},      {{2, 18, 20, 20}, {6, 18, 7, 7}},
      {{2, 16, 9, 8}, {16, 16, 3, 3}}, {{2, 140, 11, 11}, {130, 140, 1, 1}}};
  const ConvolutionSpec spec = spec_of({1, 1}, {0, 0});
  int products = 0;
  for (const auto& [image, filter] : shapes) {
    const Array x = random(image), w = random(filter), x_last = in_channels_last(x);
    NnExtension& nn = nn_extension(x);
    const Array y = nn.convolution(x, w, {}, spec);
    const bool is_product = last_implementation() == "pointwise";
    products += is_product;
    const Array gy = random(y.shape()), gy_last = in_channels_last(gy);
    const auto same = [&](const Array& a, const Array& b, const char* pass) {
      if (is_product) check_close(a, b, pass);
      else BOOST_TEST((to_vector<float>(a) == to_vector<float>(b)), pass << " of " << image << " by " << filter);
    };
    same(nn.convolution(x_last, w, {}, spec), y, "forward");
    same(nn.convolution_backward_data(w, gy_last, spatial(image), spec),
         nn.convolution_backward_data(w, gy, spatial(image), spec), "data");
    same(nn.convolution_backward_filter(x_last, gy_last, spatial(filter), Dtype::float32, spec),
         nn.convolution_backward_filter(x, gy, spatial(filter), Dtype::float32, spec), "filter");
  }
  BOOST_TEST(products == 2);
}

BOOST_AUTO_TEST_CASE(other_dtypes_and_shapes_run_portably) {
  if (!built_in()) return;
  const ConvolutionSpec spec = spec_of({1, 1}, {1, 1});
  NnExtension& nn = nn_extension(random({1}));
  const Array x = random({1, 2, 4, 4}, Dtype::float64), w = random({2, 2, 3, 3}, Dtype::float64);
  nn.convolution(x, w, {}, spec);
  BOOST_TEST(last_implementation() == "portable");
  nn.convolution(astype(x, Dtype::float16), astype(w, Dtype::float16), {}, spec);  // in float32, rounded once
  BOOST_TEST(last_implementation() == "onednn");
  BOOST_TEST(nn.convolution(arrays::empty({0, 2, 4, 4}, Dtype::float32, Device{}), astype(w, Dtype::float32), {}, spec)
                 .shape() == Shape({0, 2, 4, 4}));
  BOOST_TEST(last_implementation() == "portable");
  nn.max_pooling(x, {{2, 2}, {2, 2}, {0, 0}, true});
  BOOST_TEST(last_implementation() == "portable");
}

BOOST_AUTO_TEST_CASE(several_threads_at_once) {
  if (!built_in()) return;
  const ConvolutionSpec spec = spec_of({1, 1}, {1, 1});
  const Array x = random({2, 8, 16, 16}), w = random({8, 8, 3, 3});
  const Array expected = nn_extension(x).convolution(x, w, {}, spec);
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i)
        if (to_vector<float>(nn_extension(x).convolution(x, w, {}, spec)) != to_vector<float>(expected)) ++wrong;
    });
  for (std::thread& t : threads) t.join();
  BOOST_TEST(wrong == 0);
}

BOOST_AUTO_TEST_SUITE_END()
