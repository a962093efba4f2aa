#include <catena/autograd/ndarray_backend/convolution/sampled.h>

#include <catena/autograd/array.h>

namespace autograd::internal {
namespace {

// Returns every stride-th position of each spatial axis.
template <class Shape> Array positions(Array x, const Shape& out, const ConvolutionSpec& spec) {
  for (int i = 0; i < spec.stride.size(); ++i)
    x = slice(x, 2 + i, 0, (out[i] - 1) * spec.stride[i] + 1, spec.stride[i]);
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

bool is_sampled(const Shape& x, const Shape& w, const Shape& y, const ConvolutionSpec& spec) {
  bool strides = false;
  for (int i = 0; i < spec.stride.size(); ++i) {
    if (w[2 + i] != 1 || spec.pad[i] != 0 || (y[2 + i] - 1) * spec.stride[i] >= x[2 + i]) return false;
    strides |= spec.stride[i] > 1;
  }
  return strides;
}

ConvolutionSpec dense(const ConvolutionSpec& spec) {
  ConvolutionSpec one = spec;
  one.stride = Dims::filled(spec.stride.size(), 1);
  return one;
}

Array sampled(const Array& x, const Dims& out, const ConvolutionSpec& spec) {
  const Array read = positions(x, out, spec), copy = channels_last(x, read.shape());
  assign(copy, read);
  return copy;
}

Array spread(const Array& gx, const Shape& shape, const ConvolutionSpec& spec) {
  const Array all = channels_last(gx, shape);
  Dims out;
  for (int i = 2; i < gx.ndim(); ++i) out.push_back(gx.shape(i));
  assign(all, 0);
  assign(positions(all, out, spec), gx);
  return all;
}

}  // namespace autograd::internal
