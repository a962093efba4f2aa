#include <catena/autograd/ndarray_backend/convolution/depthwise.h>

#include <algorithm>

#include <catena/kernels/base/parallel.h>

namespace autograd::internal {
namespace {

// For a convolution over one axis, the second axis has length 1.
DepthwiseSizes sizes_of(const Shape& x, const Shape& w, const Shape& y, const ConvolutionSpec& spec) {
  const auto axis = [&](int i) { return axis_of(i, x, w, y, spec); };
  const int last = x.size() - 3;
  return {last == 1 ? axis(0) : ConvolutionAxis{1, 1, 1, 1, 1, 0}, axis(last), x[1]};
}

// True if every channel has its own filter and the planes of the filter and of `images` are contiguous. Long rows are
// excluded, because their buffers would not stay in the cache.
bool takes(const Array& images, const Shape& w, const ConvolutionSpec& spec) {
  constexpr std::int64_t kLongest = 4096;
  const int last = images.ndim() - 1;
  return images.dtype() == Dtype::float32 && images.ndim() <= 4 && spec.groups == images.shape(1) &&
         w[0] == spec.groups && w[1] == 1 && images.is_c_contiguous() &&
         std::max(images.shape(last), w[last]) * spec.dilate[last - 2] <= kLongest;
}
// True if most lanes of oneDNN's vectors of channels would be empty.
bool has_few_channels(const Shape& outputs) { return outputs[1] < 8; }
// True if planes are large enough: for small planes, copying the rows takes longer than oneDNN's reorders. Reorders of
// many images cost more, because their results fall out of the cache, so smaller planes suffice.
bool pays(const Shape& images, const Shape& outputs) {
  constexpr std::int64_t kLeast = 1500, kLeastOfMany = 900, kMany = 1'000'000;  // elements
  return has_few_channels(outputs) || pixels_of(outputs) >= kLeast ||
         (pixels_of(images) >= kLeastOfMany && catena::size_of(images) >= kMany);
}
bool data_pays(const Shape& outputs) { return has_few_channels(outputs) || pixels_of(outputs) >= 200; }
// oneDNN 2.6 has special kernels for gradients of filters of at most three columns and rows. It computes the others as
// matrix products, channel by channel.
bool filter_pays(const Shape& images, const Shape& outputs, const Shape& filter) {
  return pays(images, outputs) || std::any_of(filter.begin() + 2, filter.end(), [](std::int64_t n) { return n > 3; });
}

// Runs f(call) for parts of the planes, in parallel.
template <class F> void for_planes(const Array& near, const DepthwiseSizes& sizes, std::int64_t planes, F&& f) {
  constexpr std::int64_t kLeast = 100'000;  // minimal number of multiplications per part
  const std::int64_t work = sizes.y.out * sizes.x.out * sizes.y.kernel * sizes.x.kernel;
  catena::parallel_for(planes, std::max<std::int64_t>(1, kLeast / work), [&](std::int64_t begin, std::int64_t end) {
    const Array scratch = floats(near, depthwise_scratch(sizes));
    f(DepthwiseCall{sizes, begin, end, mutable_data_of(scratch)});
  });
  set_last_implementation("depthwise");
}

}  // namespace

Array depthwise_convolution(const Array& x, const Array& w, const Array& b, const Shape& y_shape,
                            const ConvolutionSpec& spec) {
  if (!takes(x, w.shape(), spec) || !pays(x.shape(), y_shape) || w.dtype() != x.dtype()) return {};
  const Array filter = contiguous(w), bias = contiguous_or_none(b);
  const Array y = empty_floats(x, y_shape);
  for_planes(x, sizes_of(x.shape(), w.shape(), y_shape, spec), y_shape[0] * y_shape[1], [&](const DepthwiseCall& call) {
    depthwise_forward(call, data_of(x), data_of(filter), data_or_null(bias), mutable_data_of(y));
  });
  return y;
}

Array depthwise_convolution_backward_data(const Array& w, const Array& gy, const Shape& x_shape,
                                          const ConvolutionSpec& spec) {
  if (!takes(gy, w.shape(), spec) || !data_pays(gy.shape()) || w.dtype() != gy.dtype()) return {};
  const Array filter = contiguous(w), gx = empty_floats(gy, x_shape);
  for_planes(gy, sizes_of(x_shape, w.shape(), gy.shape(), spec), x_shape[0] * x_shape[1],
             [&](const DepthwiseCall& call) {
               depthwise_backward_data(call, data_of(filter), data_of(gy), mutable_data_of(gx));
             });
  return gx;
}

Array depthwise_convolution_backward_filter(const Array& x, const Array& given, const Shape& w_shape,
                                            const ConvolutionSpec& spec) {
  if (!takes(x, w_shape, spec) || !filter_pays(x.shape(), given.shape(), w_shape) || given.dtype() != x.dtype())
    return {};
  const Array gy = contiguous(given);
  Shape shape{x.shape(0)};
  for (const std::int64_t n : w_shape) shape.push_back(n);
  const Array planes = empty_floats(x, shape);
  for_planes(x, sizes_of(x.shape(), w_shape, gy.shape(), spec), x.shape(0) * x.shape(1),
             [&](const DepthwiseCall& call) {
               depthwise_backward_filter(call, data_of(x), data_of(gy), mutable_data_of(planes));
             });
  return x.shape(0) == 1 ? reshape(planes, w_shape) : sum(planes, 0);
}

}  // namespace autograd::internal
