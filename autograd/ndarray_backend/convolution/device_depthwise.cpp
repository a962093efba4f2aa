#include <catena/autograd/ndarray_backend/convolution/device_depthwise.h>

#include <limits>

#include <catena/autograd/array.h>
#include <catena/autograd/backend/backend.h>
#include <catena/autograd/ndarray_backend/cudnn/arrays.h>
#include <catena/ndarray/cuda/plans/depthwise.h>
#include <catena/ndarray/engine/execute.h>

namespace autograd::internal {
namespace {

using Pass = Convolution::Pass;

nd::cuda::DepthwiseCall call_of(const Convolution& c, bool channels_last) {
  nd::cuda::DepthwiseCall call;
  call.dtype = c.images().dtype();
  call.channels_last = channels_last;
  call.kernel = int(c.w_shape[2]);
  call.stride = int(c.spec.stride[0]);
  call.images = c.x_shape[0];
  call.channels = c.x_shape[1];
  call.height = c.x_shape[2], call.width = c.x_shape[3];
  call.out_height = c.y_shape[2], call.out_width = c.y_shape[3];
  call.pad_y = c.spec.pad[0], call.pad_x = c.spec.pad[1];
  return call;
}

// Enqueues the call; the operands and the result are in its layout.
void run(nd::cuda::DepthwiseCall& call, const Array& x, const Array& w, const Array& b, const Array& y,
         const Array& partial) {
  const auto data = [](const Array& a) { return a ? a->data : nullptr; };
  call.x = data(x), call.w = data(w), call.bias = data(b), call.y = data(y), call.partial = data(partial);
  const catena::ArrayHeader* const used[] = {x.get(), w.get(), b.get(), y.get(), partial.get()};
  const nd::StreamRef stream = nd::internal::stream_for(y.device());
  nd::internal::launch_on(stream, used, {}, [&] { nd::cuda::depthwise(call, stream); });
}

}  // namespace

bool suits_device_depthwise(const Convolution& c) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();  // the kernels count in 32 bits
  const std::int64_t k = c.w_shape[2];
  return c.x_shape.size() == 4 && c.w_shape[0] == c.spec.groups && c.w_shape[1] == 1 && c.x_shape[1] == c.spec.groups &&
         c.spec.groups > 1 && k == c.w_shape[3] && (k == 3 || k == 5 || k == 7) &&
         c.spec.stride[0] == c.spec.stride[1] && c.spec.stride[0] <= 2 && c.spec.dilate[0] == 1 &&
         c.spec.dilate[1] == 1 && catena::size_of(c.x_shape) <= kMost && catena::size_of(c.y_shape) <= kMost;
}

Array device_depthwise_convolution(const Convolution& c) {
  const Array& near = c.images();
  const cudnn::Layout layout = cudnn::layout_of(near);
  nd::cuda::DepthwiseCall call = call_of(c, layout == cudnn::Layout::channels_last);
  const auto images = [&](const Array& a, const Shape& shape) {
    return a ? cudnn::in_layout(a, layout) : cudnn::empty_in(layout, near, shape, near.dtype());
  };
  const Array x = images(c.x, c.x_shape), y = images(c.y, c.y_shape);
  if (c.pass != Pass::filter) {
    call.pass = c.pass == Pass::data ? nd::cuda::DepthwiseCall::Pass::data : nd::cuda::DepthwiseCall::Pass::forward;
    run(call, x, cudnn::packed(c.w), c.b ? cudnn::packed(c.b) : Array(), y, {});
    return c.pass == Pass::data ? x : y;
  }
  call.pass = nd::cuda::DepthwiseCall::Pass::filter;
  const std::int64_t pieces = call.pieces();
  Shape shape{pieces};
  for (const std::int64_t length : c.w_shape) shape.push_back(length);
  const Array partial = near.backend().empty(shape, catena::compute_dtype(near.dtype()), near.device());
  run(call, x, {}, {}, y, partial);
  return astype(pieces == 1 ? reshape(partial, c.w_shape) : sum(partial, 0), near.dtype());
}

}  // namespace autograd::internal
