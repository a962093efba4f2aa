#include <catena/nn/functions/torch_images.h>

#include <utility>

#include <catena/autograd/functions/basic_math.h>
#include <catena/autograd/functions/linalg.h>
#include <catena/nn/functions/composed.h>

namespace nn {

using autograd::Dims;
using autograd::Shape;
using catena::check;
using catena::ValueError;

Variable channel_shuffle(const Variable& x, int groups) {
  check<ValueError>(x && x.ndim() >= 2 && groups >= 1 && x.shape(1) % groups == 0, "channel_shuffle",
                    "x has the shape ", x ? x.shape() : Shape(), ", whose axis 1 ", groups, " groups do not divide");
  Shape apart{x.shape(0), groups, x.shape(1) / groups};
  for (int a = 2; a < x.ndim(); ++a) apart.push_back(x.shape(a));
  return autograd::swapaxes(x.reshape(apart), 1, 2).reshape(x.shape());
}

Variable grid_sample(const Variable& x, const Variable& grid, const GridSampleOptions& o) {
  check<catena::TypeError>(x && grid, "grid_sample", "an input is null");
  if (grid.ndim() != x.ndim())
    throw catena::InvalidType("grid.ndim == x.ndim", catena::concat(grid.ndim(), " != ", x.ndim()),
                              "Invalid operation is performed in: grid_sample\n\n");
  return spatial_transformer_sampler(
      x, autograd::moveaxis(grid, {-1}, {1}),
      SamplerOptions{.mode = o.mode, .padding_mode = o.padding_mode, .align_corners = o.align_corners});
}

namespace {
// n points from -1 to 1: the centres of n pixels, or the ends of the axis and points between them.
std::vector<double> points_of(std::int64_t n, bool align_corners) {
  std::vector<double> points;
  for (std::int64_t i = 0; i < n; ++i)
    points.push_back(align_corners ? (n == 1 ? 0.0 : 2 * double(i) / double(n - 1) - 1)
                                   : (2 * double(i) + 1) / double(n) - 1);
  return points;
}
}  // namespace

Variable affine_grid(const Variable& theta, const Shape& size, bool align_corners) {
  constexpr const char* kOp = "affine_grid";
  const int axes = size.size() - 2;
  check<catena::TypeError>(bool(theta), kOp, "theta is null");
  if ((axes != 2 && axes != 3) || theta.shape() != Shape{size[0], axes, axes + 1})
    throw catena::InvalidType("theta is (N, 2, 3) for 4 sizes and (N, 3, 4) for 5",
                              catena::concat("theta has the shape ", theta.shape(), " and size is ", size),
                              "Invalid operation is performed in: affine_grid\n\n");
  std::vector<std::vector<double>> points;
  std::int64_t positions = 1;
  Shape result{size[0]};
  for (int a = 0; a < axes; ++a) {
    check<ValueError>(size[2 + a] >= 1, kOp, "size is ", size, "; its lengths must be at least 1");
    points.push_back(points_of(size[2 + a], align_corners));
    positions *= size[2 + a];
    result.push_back(size[2 + a]);
  }
  result.push_back(axes);
  std::vector<double> rows;  // the coordinates of each position, the last axis first, and 1
  for (std::int64_t i = 0; i < positions; ++i) {
    std::int64_t rest = i;
    for (int a = axes - 1; a >= 0; --a) {
      rows.push_back(points[std::size_t(a)][std::size_t(rest % size[2 + a])]);
      rest /= size[2 + a];
    }
    rows.push_back(1);
  }
  const autograd::Array base =
      autograd::astype(autograd::array(rows, {positions, axes + 1}, theta.device()), theta.dtype());
  return autograd::matmul(autograd::as_variable(base), autograd::swapaxes(theta, 1, 2)).reshape(result);
}

Variable pdist(const Variable& x, double p) {
  internal::expect_rank("pdist", x, 2);
  std::vector<std::int64_t> first, second;
  for (std::int64_t i = 0; i < x.shape(0); ++i)
    for (std::int64_t j = i + 1; j < x.shape(0); ++j) {
      first.push_back(i);
      second.push_back(j);
    }
  const auto rows = [&](const std::vector<std::int64_t>& of) {
    return autograd::get_item(x, {autograd::IndexItem(autograd::array(of, {std::int64_t(of.size())}, x.device()))});
  };
  const Variable d = internal::wide(rows(first)) - internal::wide(rows(second));
  return internal::narrowed(d.norm(p, 1), x.dtype());
}

}  // namespace nn
