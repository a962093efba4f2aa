#include <catena/autograd/ndarray_backend/convolution/sampled.h>

#include <catena/autograd/array.h>
#include <catena/autograd/backend/backend.h>
#include <catena/autograd/ndarray_backend/convolution/choose.h>

namespace autograd::internal {
namespace {

// Returns the positions of x that the windows read.
Array positions(Array x, const Convolution& c) {
  for (int i = 0; i < c.spec.stride.size(); ++i)
    x = slice(x, 2 + i, 0, (c.y_shape[2 + i] - 1) * c.spec.stride[i] + 1, c.spec.stride[i]);
  return x;
}

// Returns a new array (n, channels, spatial...) whose channels are innermost in memory.
Array channels_last(const Array& like, Shape shape) {
  const std::int64_t channels = shape[1];
  Dims order{0, shape.size() - 1};
  for (int i = 1; i + 1 < shape.size(); ++i) {
    order.push_back(i);
    shape[i] = shape[i + 1];
  }
  shape.back() = channels;
  return transpose(like.backend().empty(shape, like.dtype(), like.device()), order);
}

}  // namespace

Array sampled_convolution(const Convolution& c) {
  Convolution dense = c;
  dense.spec.stride = Dims::filled(c.spec.stride.size(), 1);
  for (int axis = 2; axis < c.x_shape.size(); ++axis) dense.x_shape[axis] = c.y_shape[axis];
  if (c.x) {
    dense.x = channels_last(c.x, dense.x_shape);
    assign(dense.x, positions(c.x, c));
  }
  const Array result = convolve(dense);
  if (c.pass != Convolution::Pass::data) return result;
  const Array gx = channels_last(result, c.x_shape);
  assign(gx, 0);
  assign(positions(gx, c), result);
  return gx;
}

}  // namespace autograd::internal
