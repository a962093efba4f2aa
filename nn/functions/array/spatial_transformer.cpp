// Affine grids and interpolation at their points.
#include <vector>

#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/linalg.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/input_types.h>
#include <catena/kernels/registry/families.h>
#include <catena/nn/functions/array.h>

namespace nn {

using autograd::Array;
using autograd::Dtype;
using autograd::IndexItem;
using autograd::Slice;
using autograd::type_check::TypeInfoTuple;

namespace {

// Returns point i of n points from -1 to 1.
double point(std::int64_t i, std::int64_t n) { return n == 1 ? -1 : 2 * double(i) / double(n - 1) - 1; }

bool is_narrow(const Variable& x) { return catena::itemsize(x.dtype()) < 4; }

// The positions of one component of the points along an axis of length n, padded with one pixel of 0 at either side.
struct Place {
  Array low;       // the pixel before the point, as int64; the second pixel is the next one
  Variable above;  // the distance to the pixel before, from 0 to 1: (B, oH, oW, 1)
};
Place place_of(const Variable& component, std::int64_t n) {
  // clip has a derivative strictly inside its limits.
  const Variable at = clip((component + 1) * (double(n - 1) / 2) + 1, 0, double(n + 1));
  const Array low =
      autograd::apply(catena::kernels::clip, {autograd::apply(catena::kernels::floor, {at.data()}), 0.0, double(n)});
  autograd::Shape shape = component.shape();
  shape.push_back(1);
  return {autograd::astype(low, Dtype::int64), reshape(at - low, shape)};
}

}  // namespace

Variable spatial_transformer_grid(const Variable& theta, Pair output_shape, const CudnnOptions&) {
  autograd::internal::check_input_types(
      "SpatialTransformerGrid", {theta},
      [](const TypeInfoTuple& in_types) {
        using namespace autograd::type_check;
        expect(in_types[0].dtype.kind() == 'f', in_types[0].ndim == 3, in_types[0].shape[1] == 2,
               in_types[0].shape[2] == 3);
      },
      "theta");
  const std::int64_t H = output_shape.y, W = output_shape.x;
  catena::check<catena::ValueError>(H > 0 && W > 0, "spatial_transformer_grid", "the output shape (", H, ", ", W,
                                    ") is not positive");
  std::vector<double> points(std::size_t(3 * H * W), 1);
  for (std::int64_t i = 0; i < H; ++i)
    for (std::int64_t j = 0; j < W; ++j) {
      points[std::size_t(i * W + j)] = point(j, W);
      points[std::size_t((H + i) * W + j)] = point(i, H);
    }
  const Array coordinates = autograd::astype(
      theta.data().backend().from_host(points.data(), {3, H * W}, Dtype::float64, theta.device()), theta.dtype());
  const Variable constant(coordinates, {.volatile_ = autograd::AUTO, .requires_grad = false});
  return reshape(matmul(theta, constant), {theta.shape(0), 2, H, W});
}

Variable spatial_transformer_sampler(const Variable& x, const Variable& grid, const CudnnOptions&) {
  autograd::internal::check_input_types(
      "SpatialTransformerSampler", {x, grid},
      [](const TypeInfoTuple& in_types) {
        using namespace autograd::type_check;
        const auto image = in_types[0], points = in_types[1];
        expect(image.dtype.kind() == 'f', points.dtype == image.dtype, image.ndim == 4, points.ndim == 4,
               points.shape[1] == 2, image.shape[0] == points.shape[0]);
      },
      "x grid");
  // Coordinates and sums of 16-bit floats are computed in float32.
  if (is_narrow(x))
    return cast(spatial_transformer_sampler(cast(x, Dtype::float32), cast(grid, Dtype::float32)), x.dtype());
  const Place u = place_of(get_item(grid, {Slice(), 0}), x.shape(3)),
              v = place_of(get_item(grid, {Slice(), 1}), x.shape(2));
  const Variable padded = pad(x, {{0, 0}, {0, 0}, {1, 1}, {1, 1}});
  std::vector<std::int64_t> numbers(std::size_t(x.shape(0)));
  for (std::size_t b = 0; b < numbers.size(); ++b) numbers[b] = std::int64_t(b);
  const Array image = x.data().backend().from_host(numbers.data(), {x.shape(0), 1, 1}, Dtype::int64, x.device());
  // Returns the pixels as (B, oH, oW, C).
  const auto pixels = [&](int below, int right) {
    return get_item(padded, {image, Slice(), v.low + below, u.low + right});
  };
  const auto row = [&](int below) { return pixels(below, 0) * (1 - u.above) + pixels(below, 1) * u.above; };
  return transpose(row(0) * (1 - v.above) + row(1) * v.above, {0, 3, 1, 2});
}

}  // namespace nn
