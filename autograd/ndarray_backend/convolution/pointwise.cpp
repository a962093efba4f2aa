#include <catena/autograd/ndarray_backend/convolution/pointwise.h>

#include <catena/kernels/registry/families.h>

namespace autograd::internal {
namespace {

// False for few pixels and many weights: oneDNN's convolution, which processes the pixels of all images together, is
// then faster.
bool is_product(const Shape& images, const Shape& w, const ConvolutionSpec& spec) {
  constexpr std::int64_t kPixels = 128, kWeights = 128 * 128;
  for (int i = 0; i < spec.stride.size(); ++i)
    if (w[2 + i] != 1 || spec.stride[i] != 1 || spec.pad[i] != 0) return false;
  return spec.groups == 1 && (pixels_of(images) >= kPixels || catena::size_of(w) <= kWeights);
}

// Returns the images as matrices whose rows are the channels.
Array matrices(const Array& images) {
  return reshape(images, {images.shape(0), images.shape(1), pixels_of(images.shape())});
}
Array matrix(const Array& w) { return reshape(w, {w.shape(0), w.shape(1)}); }

}  // namespace

Array pointwise_convolution(const Array& x, const Array& w, const Array& b, const Shape& y_shape,
                            const ConvolutionSpec& spec) {
  if (!x.is_c_contiguous() || !is_product(x.shape(), w.shape(), spec)) return {};
  const Array y = matmul(matrix(w), matrices(x));
  if (b) {
    const Operand operands[] = {y, reshape(b, {b.size(), 1})};
    apply_into(catena::kernels::add, operands, {&y, 1});
  }
  set_last_implementation("pointwise");
  return reshape(y, y_shape);
}

Array pointwise_convolution_backward_data(const Array& w, const Array& gy, const Shape& x_shape,
                                          const ConvolutionSpec& spec) {
  if (!gy.is_c_contiguous() || !is_product(gy.shape(), w.shape(), spec)) return {};
  const Array gx = matmul(matrix(w), matrices(gy), true);
  set_last_implementation("pointwise");
  return reshape(gx, x_shape);
}

Array pointwise_convolution_backward_filter(const Array& x, const Array& gy, const Shape& w_shape,
                                            const ConvolutionSpec& spec) {
  if (!x.is_c_contiguous() || !gy.is_c_contiguous() || !is_product(x.shape(), w_shape, spec)) return {};
  const Array products = matmul(matrices(gy), matrices(x), false, true);
  const Array gw = x.shape(0) == 1 ? products : sum(products, 0);
  set_last_implementation("pointwise");
  return reshape(gw, w_shape);
}

}  // namespace autograd::internal
