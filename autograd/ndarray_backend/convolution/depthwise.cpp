#include <catena/autograd/ndarray_backend/convolution/depthwise.h>

#include <algorithm>

#include <catena/kernels/base/parallel.h>

namespace autograd::internal {
namespace {

// For a convolution over one axis, the second axis has length 1.
DepthwiseSizes sizes_of(const Convolution& c) {
  const int last = c.x_shape.size() - 3;
  return {last == 1 ? axis_of(0, c) : ConvolutionAxis{1, 1, 1, 1, 1, 0}, axis_of(last, c), c.x_shape[1]};
}

// Runs f(call) for parts of the planes, in parallel.
template <class F> void for_planes(const Array& near, const DepthwiseSizes& sizes, std::int64_t planes, F&& f) {
  constexpr std::int64_t kLeast = 100'000;  // minimal number of multiplications per part
  const std::int64_t work = sizes.y.out * sizes.x.out * sizes.y.kernel * sizes.x.kernel;
  catena::parallel_for(planes, std::max<std::int64_t>(1, kLeast / work), [&](std::int64_t begin, std::int64_t end) {
    const Array scratch = floats(near, depthwise_scratch(sizes));
    f(DepthwiseCall{sizes, begin, end, mutable_data_of(scratch)});
  });
}

}  // namespace

Array depthwise_convolution(const Convolution& c) {
  const Array& images = c.images();
  const DepthwiseSizes sizes = sizes_of(c);
  const std::int64_t planes = c.x_shape[0] * c.x_shape[1];
  const Array w = contiguous_or_none(c.w), y = contiguous_or_none(c.y);
  if (c.pass == Convolution::Pass::forward) {
    const Array bias = contiguous_or_none(c.b), result = empty_floats(images, c.y_shape);
    for_planes(images, sizes, planes, [&](const DepthwiseCall& call) {
      depthwise_forward(call, data_of(c.x), data_of(w), data_or_null(bias), mutable_data_of(result));
    });
    return result;
  }
  if (c.pass == Convolution::Pass::data) {
    const Array result = empty_floats(images, c.x_shape);
    for_planes(images, sizes, planes, [&](const DepthwiseCall& call) {
      depthwise_backward_data(call, data_of(w), data_of(y), mutable_data_of(result));
    });
    return result;
  }
  Shape shape = c.w_shape;
  shape.insert(0, c.x_shape[0]);
  const Array of_planes = empty_floats(images, shape);
  for_planes(images, sizes, planes, [&](const DepthwiseCall& call) {
    depthwise_backward_filter(call, data_of(c.x), data_of(y), mutable_data_of(of_planes));
  });
  return reshape(sum_of_images(of_planes), c.w_shape);
}

}  // namespace autograd::internal
