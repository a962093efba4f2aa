// Interpolation of volumes at points, against loops over the points.
#include <boost/test/unit_test.hpp>
#include <cmath>

#include <catena/nn/functions/array.h>
#include <catena/tests/support/framework_derivatives.h>
#include <catena/tests/support/training_fixtures.h>

using namespace test;

namespace {

constexpr int B = 2, C = 2, D = 3, H = 4, W = 5, oD = 2, oH = 2, oW = 3;

// A coordinate from -1 to 1 as a position along an axis of n voxels, by PyTorch's definition of grid_sample.
double position(double c, int n, const nn::SamplerOptions& o) {
  double p = o.align_corners ? (c + 1) / 2 * (n - 1) : ((c + 1) * n - 1) / 2;
  if (o.padding_mode == "reflection") {
    const double low = o.align_corners ? 0 : -0.5, high = o.align_corners ? n - 1 : n - 0.5;
    while (p < low || p > high) p = p < low ? 2 * low - p : 2 * high - p;
  }
  if (o.padding_mode != "zeros") p = std::min(std::max(p, 0.0), double(n - 1));
  return p;
}

std::vector<double> by_loops(const std::vector<double>& x, const std::vector<double>& grid,
                             const nn::SamplerOptions& o) {
  std::vector<double> y;
  constexpr int points = oD * oH * oW;
  for (int b = 0; b < B; ++b)
    for (int c = 0; c < C; ++c)
      for (int k = 0; k < points; ++k) {
        const double at[] = {position(grid[std::size_t((b * 3 + 2) * points + k)], D, o),
                             position(grid[std::size_t((b * 3 + 1) * points + k)], H, o),
                             position(grid[std::size_t(b * 3 * points + k)], W, o)};
        double sum = 0;
        for (int d = 0; d < D; ++d)
          for (int h = 0; h < H; ++h)
            for (int w = 0; w < W; ++w) {
              const int voxel[] = {d, h, w};
              double weight = 1;
              for (int axis = 0; axis < 3; ++axis) {
                const double distance = std::abs(at[axis] - voxel[axis]);
                weight *=
                    o.mode == "nearest" ? double(std::nearbyint(at[axis]) == voxel[axis]) : std::max(0.0, 1 - distance);
              }
              sum += weight * x[std::size_t((((b * C + c) * D + d) * H + h) * W + w)];
            }
        y.push_back(sum);
      }
  return y;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(volume_sampler)

BOOST_AUTO_TEST_CASE(values_of_every_mode) {
  const Variable x(spread({B, C, D, H, W})), grid(spread({B, 3, oD, oH, oW}, -1.7, 1.7, 1));
  const std::vector<double> voxels = autograd::to_vector<double>(x.data()),
                            points = autograd::to_vector<double>(grid.data());
  for (const char* mode : {"bilinear", "nearest"})
    for (const char* padding : {"zeros", "border", "reflection"})
      for (const bool corners : {true, false}) {
        const nn::SamplerOptions o{.mode = mode, .padding_mode = padding, .align_corners = corners};
        const Variable y = nn::spatial_transformer_sampler(x, grid, o);
        BOOST_REQUIRE(y.shape() == Shape({B, C, oD, oH, oW}));
        const autograd::Array expected = autograd::array<double>(by_loops(voxels, points, o), y.shape());
        check_close(y.data(), expected, 1e-12, 1e-12, std::string(mode) + " " + padding);
      }
}

BOOST_AUTO_TEST_CASE(derivatives) {
  for (const char* padding : {"zeros", "border", "reflection"}) {
    const nn::SamplerOptions o{.padding_mode = padding, .align_corners = false};
    check_derivatives(padding,
                      [&](const Variables& v) { return Variables{nn::spatial_transformer_sampler(v[0], v[1], o)}; },
                      {spread({1, 2, 3, 4, 3}), spread({1, 3, 2, 2, 2}, -1.1, 1.1, 1)},
                      {.rtol32 = 1e-3, .atol16 = 2e-2, .rtol16 = 5e-2});
  }
}

BOOST_AUTO_TEST_CASE(errors) {
  const Variable x(spread({1, 2, 3, 4, 5}));
  BOOST_CHECK_THROW(nn::spatial_transformer_sampler(x, Variable(spread({1, 2, 2, 2, 2}))), catena::InvalidType);
  BOOST_CHECK_THROW(nn::spatial_transformer_sampler(x, Variable(spread({1, 2, 2, 2}))), catena::InvalidType);
  BOOST_CHECK_THROW(nn::spatial_transformer_sampler(x, Variable(spread({2, 3, 2, 2, 2}))), catena::InvalidType);
}

BOOST_AUTO_TEST_SUITE_END()
