#include <catena/autograd/ndarray_backend/convolution/pointwise.h>

#include <algorithm>

#include <catena/kernels/rows/families.h>

namespace autograd::internal {
namespace {

std::int64_t pixels_of(const Shape& shape) { return catena::size_of(shape) / (shape[0] * shape[1]); }
bool are_all(std::span<const std::int64_t> lengths, std::int64_t n) {
  return std::all_of(lengths.begin(), lengths.end(), [n](std::int64_t length) { return length == n; });
}

// Products of few columns with many weights are slower than oneDNN's convolution, which takes the pixels of all images
// together.
bool is_product(const Shape& images, const Shape& w, const ConvolutionSpec& spec) {
  constexpr std::int64_t kPixels = 128, kWeights = 128 * 128;
  return spec.groups == 1 && are_all({w.begin() + 2, w.end()}, 1) &&
         are_all({spec.stride.begin(), spec.stride.end()}, 1) && are_all({spec.pad.begin(), spec.pad.end()}, 0) &&
         (pixels_of(images) >= kPixels || catena::size_of(w) <= kWeights);
}

// The channels of an image are the rows of a matrix.
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
    apply_into(catena::rows::add, operands, {&y, 1});
  }
  set_last_implementation("pointwise");
  return reshape(y, y_shape);
}

Array pointwise_convolution_backward_data(const Array& w, const Array& gy, const Shape& x_shape,
                                          const ConvolutionSpec& spec) {
  if (!gy.is_c_contiguous() || !is_product(gy.shape(), w.shape(), spec)) return {};
  const Array gx = matmul(transpose(matrix(w)), matrices(gy));
  set_last_implementation("pointwise");
  return reshape(gx, x_shape);
}

Array pointwise_convolution_backward_filter(const Array& x, const Array& gy, const Shape& w_shape,
                                            const ConvolutionSpec& spec) {
  if (!x.is_c_contiguous() || !gy.is_c_contiguous() || !is_product(x.shape(), w_shape, spec)) return {};
  const Array products = matmul(matrices(gy), transpose(matrices(x), Dims{0, 2, 1}));
  const Array gw = x.shape(0) == 1 ? products : sum(products, 0);
  set_last_implementation("pointwise");
  return reshape(gw, w_shape);
}

}  // namespace autograd::internal
