// Convolutions whose filters or taps differ from position to position.
#include <catena/autograd/array_backend.h>
#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/linalg.h>
#include <catena/autograd/nn_extension.h>
#include <catena/nn/functions/array.h>
#include <catena/nn/functions/array/sampling.h>
#include <catena/nn/functions/composed.h>
#include <catena/nn/functions/connection.h>
#include <catena/nn/functions/connection/geometry.h>

namespace nn {

using autograd::Array;
using autograd::Dtype;
using autograd::get_conv_outsize;
using autograd::Shape;
using autograd::type_check::TypeInfoTuple;
using internal::narrowed;
using internal::wide;

namespace {

Variables inputs_of(const Variables& always, const Variable& b) {
  Variables inputs = always;
  if (b) inputs.push_back(b);
  return inputs;
}

void expect_local(const TypeInfoTuple& in_types, Pair stride) {
  using namespace autograd::type_check;
  internal::expect_floats(in_types, 0, int(in_types.count()) - 1);
  const auto x = in_types[0], W = in_types[1];
  expect(x.ndim == 4, W.ndim == 6, W.shape[3] == x.shape[1]);
  const Shape &image = in_types.shape(0), &filters = in_types.shape(1);
  expect(W.shape[1] == variable(get_conv_outsize(image[2], filters[4], stride.y, 0), "oh"),
         W.shape[2] == variable(get_conv_outsize(image[3], filters[5], stride.x, 0), "ow"));
  if (in_types.count() < 3) return;
  expect(in_types[2].ndim == 3);
  for (int a = 0; a < 3; ++a) expect(in_types[2].shape[a] == W.shape[a]);
}

void expect_deformable(const TypeInfoTuple& in_types, const DeformableConvolutionOptions& o) {
  using namespace autograd::type_check;
  internal::expect_floats(in_types, 0, int(in_types.count()) - 1);
  const auto x = in_types[0], offset = in_types[1], W = in_types[2];
  expect(x.ndim == 4, offset.ndim == 4, W.ndim == 4, offset.shape[0] == x.shape[0], W.shape[1] == x.shape[1]);
  const Shape &image = in_types.shape(0), &filters = in_types.shape(2);
  expect(offset.shape[1] == variable(2 * filters[2] * filters[3], "2 * kh * kw"),
         offset.shape[2] == variable(get_conv_outsize(image[2], filters[2], o.stride.y, o.pad.y), "oh"),
         offset.shape[3] == variable(get_conv_outsize(image[3], filters[3], o.stride.x, o.pad.x), "ow"));
  if (in_types.count() == 4) expect(in_types[3].ndim == 1, in_types[3].shape[0] == W.shape[0]);
}

// Returns the places of the taps without offset along one axis, i stride - pad + tap: (1, taps, length, 1) for the
// vertical axis (`rows`), else (1, taps, 1, length).
Array places_of(const Variable& x, Pair taps, bool rows, std::int64_t length, int stride, int pad) {
  std::vector<double> places;
  for (int ky = 0; ky < taps.y; ++ky)
    for (int kx = 0; kx < taps.x; ++kx)
      for (std::int64_t i = 0; i < length; ++i) places.push_back(double(i * stride - pad + (rows ? ky : kx)));
  const Shape shape = rows ? Shape{1, taps.y * taps.x, length, 1} : Shape{1, taps.y * taps.x, 1, length};
  return autograd::astype(x.data().backend().from_host(places.data(), shape, Dtype::float64, x.device()), x.dtype());
}

}  // namespace

Variable local_convolution_2d(const Variable& x, const Variable& W, const Variable& b,
                              const LocalConvolutionOptions& o) {
  internal::check_geometry("local_convolution_2d", ConvolutionOptions{.stride = o.stride}, 2);
  internal::check_inputs("LocalConvolution2DFunction", "x W b", inputs_of({x, W}, b),
                         [&](const TypeInfoTuple& in_types) { expect_local(in_types, o.stride); });
  const std::int64_t n = x.shape(0), m = W.shape(0), positions = W.shape(1) * W.shape(2),
                     taps = W.shape(3) * W.shape(4) * W.shape(5);
  const Variable patches = im2col(wide(x), {int(W.shape(4)), int(W.shape(5))}, o.stride);
  const Variable left = transpose(reshape(patches, {n, taps, positions}), {2, 0, 1}),
                 right = transpose(reshape(wide(W), {m, positions, taps}), {1, 2, 0});
  const Variable products = batch_matmul(left, right);  // (positions, n, m)
  const Variable y = reshape(transpose(products, {1, 2, 0}), {n, m, W.shape(1), W.shape(2)});
  return narrowed(b ? y + wide(b) : y, x.dtype());
}

Variable deformable_convolution_2d_sampler(const Variable& x, const Variable& offset, const Variable& W,
                                           const Variable& b, const DeformableConvolutionOptions& o) {
  internal::check_geometry("deformable_convolution_2d_sampler", o, 2);
  internal::check_inputs("DeformableConvolution2DSampler", "x offset W b", inputs_of({x, offset, W}, b),
                         [&](const TypeInfoTuple& in_types) { expect_deformable(in_types, o); });
  const Pair taps{int(W.shape(2)), int(W.shape(3))};
  const std::int64_t n = x.shape(0), count = std::int64_t(taps.y) * taps.x, h = offset.shape(2), w = offset.shape(3);
  const Variable image = wide(x), moved = wide(offset);
  const auto part = [&](std::int64_t first) {
    return get_item(moved, {autograd::Slice(), autograd::Slice(first, first + count)});
  };
  const Variable u = part(0) + places_of(image, taps, false, w, o.stride.x, o.pad.x),
                 v = part(count) + places_of(image, taps, true, h, o.stride.y, o.pad.y);
  // (n, taps, oh, ow, c)
  const Variable values = internal::PointSampler(image).linear(internal::numbers_of_images(x, 3), v, u);
  const Variable patches = reshape(transpose(values, {0, 2, 3, 4, 1}), {n * h * w, x.shape(1) * count});
  const Variable filters = reshape(wide(W), {W.shape(0), x.shape(1) * count});
  const Variable y = reshape(linear(patches, filters, b ? wide(b) : b), {n, h, w, W.shape(0)});
  return narrowed(transpose(y, {0, 3, 1, 2}), x.dtype());
}

}  // namespace nn
