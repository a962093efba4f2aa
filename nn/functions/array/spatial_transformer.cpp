// Affine grids and interpolation at their points.
#include <vector>

#include <catena/autograd/array_backend.h>
#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/basic_math.h>
#include <catena/autograd/functions/elementwise.h>
#include <catena/autograd/functions/linalg.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/input_types.h>
#include <catena/autograd/recorded.h>
#include <catena/kernels/registry/families.h>
#include <catena/nn/functions/array.h>
#include <catena/nn/functions/array/sampling.h>
#include <catena/nn/functions/composed.h>

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
  Variable above;  // the distance to the pixel before, from 0 to 1, with an axis for the channels behind
};
Place place_of(const Variable& pixels, std::int64_t n) {
  // clip has a derivative strictly inside its limits.
  const Variable at = clip(pixels + 1, 0, double(n + 1));
  const Array low =
      autograd::apply(catena::kernels::clip, {autograd::apply(catena::kernels::floor, {at.data()}), 0.0, double(n)});
  autograd::Shape shape = pixels.shape();
  shape.push_back(1);
  return {autograd::astype(low, Dtype::int64), reshape(at - low, shape)};
}
Array nearest_of(const Variable& pixels, std::int64_t n) {
  const Array at = autograd::apply(catena::kernels::rint, {pixels.data()}) + 1;
  return autograd::astype(autograd::apply(catena::kernels::clip, {at, 0.0, double(n + 1)}), Dtype::int64);
}

// Reflects coordinates at `low` and `high` until they are between both.
Variable reflected(const Variable& pixels, double low, double high) {
  const double span = high - low;
  if (span <= 0) return autograd::zeros_of(pixels) + low;
  const Variable far = absolute(pixels - low);
  const Array turns = autograd::apply(catena::kernels::floor, {far.data() / span});
  const Variable rest = far - turns * span;
  const Array half = turns * 0.5;
  const Array even = internal::equal(autograd::apply(catena::kernels::floor, {half}), half);
  return where(even, rest, span - rest) + low;
}

// Converts coordinates from -1 to 1 to pixels of an axis of length n.
Variable pixels_of(const Variable& component, std::int64_t n, const SamplerOptions& o) {
  const double last = double(n - 1);
  const Variable at = o.align_corners ? (component + 1) * (last / 2) : (component + 1) * (double(n) / 2) - 0.5;
  if (o.padding_mode == "zeros") return at;
  const Variable inside = o.padding_mode == "border" ? at
                          : o.align_corners          ? reflected(at, 0, last)
                                                     : reflected(at, -0.5, last + 0.5);
  return n > 1 ? clip(inside, 0, last) : autograd::zeros_of(inside);
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

internal::PointSampler::PointSampler(const Variable& x)
    : padded_(pad(x, {{0, 0}, {0, 0}, {1, 1}, {1, 1}})), height_(x.shape(2)), width_(x.shape(3)) {}

Variable internal::PointSampler::linear(const Array& image, const Variable& v, const Variable& u) const {
  const Place column = place_of(u, width_), line = place_of(v, height_);
  const auto pixels = [&](int below, int right) {
    return get_item(padded_, {image, Slice(), line.low + below, column.low + right});
  };
  const auto row = [&](int below) { return pixels(below, 0) * (1 - column.above) + pixels(below, 1) * column.above; };
  return row(0) * (1 - line.above) + row(1) * line.above;
}

Variable internal::PointSampler::nearest(const Array& image, const Variable& v, const Variable& u) const {
  return get_item(padded_, {image, Slice(), nearest_of(v, height_), nearest_of(u, width_)});
}

Array internal::numbers_of_images(const Variable& x, int ones) {
  autograd::Shape shape = autograd::Shape::filled(1 + ones, 1);
  shape[0] = x.shape(0);
  return autograd::reshape(autograd::arrays::arange(x.shape(0), Dtype::int64, x.device()), shape);
}

namespace {

// The elements of volumes x (B, C, D, H, W) at points (B, oD, oH, oW), given by their places along W, H and D.
Variable at_points_of_volume(const Variable& x, const Variable& u, const Variable& v, const Variable& w, bool nearest) {
  const Variable padded = pad(x, {{0, 0}, {0, 0}, {1, 1}, {1, 1}, {1, 1}});
  const Array image = internal::numbers_of_images(x, 3);
  const auto voxels = [&](const Array& plane, const Array& line, const Array& column) {
    return get_item(padded, {image, Slice(), plane, line, column});
  };
  if (nearest) return voxels(nearest_of(w, x.shape(2)), nearest_of(v, x.shape(3)), nearest_of(u, x.shape(4)));
  const Place plane = place_of(w, x.shape(2)), line = place_of(v, x.shape(3)), column = place_of(u, x.shape(4));
  const auto row = [&](int behind, int below) {
    const auto at = [&](int right) { return voxels(plane.low + behind, line.low + below, column.low + right); };
    return at(0) * (1 - column.above) + at(1) * column.above;
  };
  const auto image_at = [&](int behind) { return row(behind, 0) * (1 - line.above) + row(behind, 1) * line.above; };
  return image_at(0) * (1 - plane.above) + image_at(1) * plane.above;
}

}  // namespace

Variable spatial_transformer_sampler(const Variable& x, const Variable& grid, const SamplerOptions& o) {
  constexpr const char* op = "spatial_transformer_sampler";
  const int axes = x && x.ndim() == 5 ? 3 : 2;
  autograd::internal::check_input_types(
      "SpatialTransformerSampler", {x, grid},
      [axes](const TypeInfoTuple& in_types) {
        using namespace autograd::type_check;
        const auto image = in_types[0], points = in_types[1];
        expect(image.dtype.kind() == 'f', points.dtype == image.dtype, image.ndim == axes + 2, points.ndim == axes + 2,
               points.shape[1] == axes, image.shape[0] == points.shape[0]);
      },
      "x grid");
  catena::check<catena::ValueError>(o.mode == "bilinear" || o.mode == "nearest", op, "mode is \"", o.mode,
                                    "\"; it must be \"bilinear\" or \"nearest\"");
  catena::check<catena::ValueError>(
      o.padding_mode == "zeros" || o.padding_mode == "border" || o.padding_mode == "reflection", op,
      "padding_mode is \"", o.padding_mode, "\"; it must be \"zeros\", \"border\" or \"reflection\"");
  // Coordinates and sums of 16-bit floats are computed in float32.
  if (is_narrow(x))
    return cast(spatial_transformer_sampler(cast(x, Dtype::float32), cast(grid, Dtype::float32), o), x.dtype());
  const Variable u = pixels_of(get_item(grid, {Slice(), 0}), x.shape(axes + 1), o),
                 v = pixels_of(get_item(grid, {Slice(), 1}), x.shape(axes), o);
  if (axes == 3) {
    const Variable w = pixels_of(get_item(grid, {Slice(), 2}), x.shape(2), o);
    return transpose(at_points_of_volume(x, u, v, w, o.mode == "nearest"), {0, 4, 1, 2, 3});
  }
  const internal::PointSampler sampler(x);
  const Array image = internal::numbers_of_images(x, 2);
  const Variable y =
      transpose(o.mode == "nearest" ? sampler.nearest(image, v, u) : sampler.linear(image, v, u), {0, 3, 1, 2});
  if (!autograd::internal::wants_elementary_nodes()) return y;
  autograd::internal::FunctionOptions options;
  options.text("mode", o.mode);
  options.text("padding_mode", o.padding_mode);
  options.integer("align_corners", o.align_corners);
  return autograd::internal::recorded(y, "GridSample", {x, grid}, std::move(options));
}

}  // namespace nn
