// Depthwise convolutions of arrays on CUDA by the library's own kernels, in both memory layouts, against sums over the
// windows in float64 on the host.
#include <boost/test/unit_test.hpp>

#include <cmath>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include <catena/autograd/ndarray_backend/convolution/device_depthwise.h>
#include <catena/catena.h>
#include <catena/ndarray/device/device.h>
#include <catena/tests/support/cuda_device/control.h>

namespace {

using namespace autograd;
using Pass = Convolution::Pass;

const Device kCuda{Device::Kind::cuda, 0};

struct Case {
  std::int64_t images, channels, height, width, k, stride, pad_y, pad_x;
  bool cover_all = false;
  std::int64_t out(bool y) const {
    return get_conv_outsize(y ? height : width, k, stride, y ? pad_y : pad_x, cover_all, 1);
  }
};
constexpr Case kCases[] = {{2, 3, 9, 7, 3, 1, 1, 1},  {2, 5, 8, 9, 3, 2, 1, 0},    {1, 2, 3, 3, 3, 1, 0, 0},
                           {3, 33, 6, 5, 3, 1, 1, 1}, {1, 40, 7, 8, 5, 2, 2, 2},   {2, 4, 11, 6, 5, 1, 0, 3},
                           {1, 3, 10, 9, 7, 1, 3, 3}, {2, 2, 12, 13, 7, 2, 3, 1},  {2, 4, 6, 6, 3, 2, 0, 0, true},
                           {9, 2, 5, 70, 3, 1, 1, 1}, {40, 3, 17, 13, 3, 1, 2, 2}, {2, 3, 4, 5, 3, 1, 3, 4}};

struct Host {
  std::vector<double> v;
  std::int64_t c, h, w;
  double& at(std::int64_t n, std::int64_t ch, std::int64_t y, std::int64_t x) {
    return v[std::size_t(((n * c + ch) * h + y) * w + x)];
  }
};
// Multiples of 1/8 that a few bits hold.
Host numbers(std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w, int seed) {
  Host a{std::vector<double>(std::size_t(n * c * h * w)), c, h, w};
  for (std::size_t i = 0; i < a.v.size(); ++i)
    a.v[i] = double((i * 7 + i / 5 * 3 + std::size_t(seed)) % 11) / 8 - 0.625;
  return a;
}
Array on_device(const Host& a, Dtype t, bool last) {
  const std::int64_t n = std::int64_t(a.v.size()) / (a.c * a.h * a.w);
  const Array all =
      to_device(astype(from_host(a.v.data(), {n, a.c, a.h, a.w}, Dtype::float64, nd::cpu_device), t), kCuda);
  return last ? transpose(copy(transpose(all, {0, 2, 3, 1})), {0, 3, 1, 2}) : all;
}
void check_close(const Array& actual, const Host& expected, double tolerance, const char* what) {
  const std::vector<double> a = to_vector<double>(actual);
  BOOST_REQUIRE(a.size() == expected.v.size());
  double scale = 1, worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    scale = std::max(scale, std::abs(expected.v[i]));
    worst = std::max(worst, std::isnan(a[i]) ? 1e300 : std::abs(a[i] - expected.v[i]));
  }
  BOOST_TEST(worst <= tolerance * scale, what << " is off by " << worst);
}

void check(const Case& c, Dtype t, bool last) {
  const std::int64_t oh = c.out(true), ow = c.out(false);
  Host x = numbers(c.images, c.channels, c.height, c.width, 1), w = numbers(c.channels, 1, c.k, c.k, 2),
       gy = numbers(c.images, c.channels, oh, ow, 3), b = numbers(1, c.channels, 1, 1, 4);
  Host y = gy, gx = x, gw = w;
  for (Host* h : {&gx, &gw}) std::fill(h->v.begin(), h->v.end(), 0.0);
  for (std::int64_t n = 0; n < c.images; ++n)
    for (std::int64_t ch = 0; ch < c.channels; ++ch)
      for (std::int64_t i = 0; i < oh; ++i)
        for (std::int64_t j = 0; j < ow; ++j) {
          double sum = b.at(0, ch, 0, 0);
          const double g = gy.at(n, ch, i, j);
          for (std::int64_t ky = 0; ky < c.k; ++ky)
            for (std::int64_t kx = 0; kx < c.k; ++kx) {
              const std::int64_t row = i * c.stride + ky - c.pad_y, column = j * c.stride + kx - c.pad_x;
              if (row < 0 || row >= c.height || column < 0 || column >= c.width) continue;
              sum += w.at(ch, 0, ky, kx) * x.at(n, ch, row, column);
              gx.at(n, ch, row, column) += w.at(ch, 0, ky, kx) * g;
              gw.at(ch, 0, ky, kx) += x.at(n, ch, row, column) * g;
            }
          y.at(n, ch, i, j) = sum;
        }
  Convolution call{.pass = Pass::forward,
                   .spec = {.stride = {c.stride, c.stride},
                            .pad = {c.pad_y, c.pad_x},
                            .dilate = {1, 1},
                            .groups = c.channels,
                            .cover_all = c.cover_all},
                   .x_shape = {c.images, c.channels, c.height, c.width},
                   .w_shape = {c.channels, 1, c.k, c.k},
                   .y_shape = {c.images, c.channels, oh, ow},
                   .x = on_device(x, t, last),
                   .w = on_device(w, t, false),
                   .y = {},
                   .b = reshape(on_device(b, t, false), {c.channels})};
  const Array given_x = call.x, given_w = call.w;
  BOOST_REQUIRE(internal::suits_device_depthwise(call));
  const double tolerance = t == Dtype::float64 ? 1e-13 : t == Dtype::float32 ? 2e-6 : t == Dtype::float16 ? 1e-3 : 8e-3;
  const Array made = internal::device_depthwise_convolution(call);
  check_close(made, y, tolerance, "y");
  if (last && ow > 1) BOOST_TEST(made.strides()[1] == std::int64_t(catena::itemsize(t)));
  call.b = {};
  call.x = {};
  call.y = on_device(gy, t, last);
  call.pass = Pass::data;
  check_close(internal::device_depthwise_convolution(call), gx, tolerance, "gx");
  call.w = {};
  call.x = given_x;
  call.pass = Pass::filter;
  const Array g = internal::device_depthwise_convolution(call);
  check_close(g, gw, tolerance, "gw");
  BOOST_TEST(g.is_c_contiguous());
  BOOST_TEST((g.dtype() == t));
  // Gradients of the other layout are brought into that of the images.
  call.y = on_device(gy, t, !last);
  check_close(internal::device_depthwise_convolution(call), gw, tolerance, "gw of another layout");
}

bool have_cuda() {
  if (nd::is_available(Device::Kind::cuda)) return true;
  std::cout << "skipped: there is no CUDA device on this machine\n";
  return false;
}

BOOST_AUTO_TEST_SUITE(depthwise)

BOOST_AUTO_TEST_CASE(results_of_both_layouts) {
  if (!have_cuda()) return;
  for (const Case& c : kCases)
    for (const bool last : {false, true})
      BOOST_TEST_CONTEXT(c.images << " images, " << c.channels << " channels, " << c.height << " x " << c.width << ", "
                                  << c.k << " taps, stride " << c.stride << (last ? ", channels last" : ""))
  check(c, Dtype::float32, last);
}

BOOST_AUTO_TEST_CASE(results_of_all_dtypes) {
  if (!have_cuda()) return;
  for (const Dtype t : {Dtype::float16, Dtype::bfloat16, Dtype::float64})
    for (const std::size_t k : {0, 1, 3})
      for (const bool last : {false, true}) BOOST_TEST_CONTEXT(t << " case " << k << (last ? ", channels last" : ""))
  check(kCases[k], t, last);
}

BOOST_AUTO_TEST_CASE(other_convolutions_are_left_to_libraries) {
  const Convolution suited{.pass = Pass::forward,
                           .spec = {.stride = {1, 1}, .pad = {1, 1}, .dilate = {1, 1}, .groups = 4},
                           .x_shape = {2, 4, 8, 8},
                           .w_shape = {4, 1, 3, 3},
                           .y_shape = {2, 4, 8, 8},
                           .x = {},
                           .w = {},
                           .y = {},
                           .b = {}};
  BOOST_TEST(internal::suits_device_depthwise(suited));
  std::vector<Convolution> others(8, suited);
  others[0].w_shape = {8, 1, 3, 3};
  others[1].spec.groups = 2, others[1].w_shape = {4, 2, 3, 3};
  others[2].w_shape = {4, 1, 3, 5};
  others[3].w_shape = {4, 1, 4, 4};
  others[4].spec.stride = {3, 3};
  others[5].spec.stride = {1, 2};
  others[6].spec.dilate = {2, 1};
  others[7].x_shape = {1 << 14, 4, 1 << 8, 1 << 8};
  for (std::size_t k = 0; k < others.size(); ++k)
    BOOST_TEST(!internal::suits_device_depthwise(others[k]), "other convolution " << k);
}

// One kernel for each of the results; the parts of the gradient of the filters are added by another one.
BOOST_AUTO_TEST_CASE(launches) {
  if (!cuda_device::Control::available()) return;
  const Host x = numbers(4, 8, 12, 12, 1), w = numbers(8, 1, 3, 3, 2);
  Convolution call{.pass = Pass::forward,
                   .spec = {.stride = {1, 1}, .pad = {1, 1}, .dilate = {1, 1}, .groups = 8},
                   .x_shape = {4, 8, 12, 12},
                   .w_shape = {8, 1, 3, 3},
                   .y_shape = {4, 8, 12, 12},
                   .x = on_device(x, Dtype::float16, true),
                   .w = on_device(w, Dtype::float16, false),
                   .y = {},
                   .b = {}};
  cuda_device::Control control;
  const auto names = [&] {
    internal::device_depthwise_convolution(call);
    control.reset_records();
    internal::device_depthwise_convolution(call);
    std::vector<std::string> all;
    for (const auto& l : control.launches()) all.push_back(l.kernel.substr(0, l.kernel.rfind('_')));
    return all;
  };
  BOOST_TEST(names() == std::vector<std::string>{"array_depthwise"}, boost::test_tools::per_element());
  call.y = call.x;
  call.x = {};
  call.pass = Pass::data;
  BOOST_TEST(names() == std::vector<std::string>{"array_depthwise"}, boost::test_tools::per_element());
  call.x = call.y;
  call.w = {};
  call.pass = Pass::filter;
  const std::vector<std::string> filter = names();
  BOOST_REQUIRE(filter.size() == 3u);
  BOOST_TEST(filter[0] == "array_depthwise_filter");
  BOOST_TEST(filter[1].substr(0, 4) == "sum_");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
