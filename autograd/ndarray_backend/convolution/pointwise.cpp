#include <catena/autograd/ndarray_backend/convolution/pointwise.h>

#include <catena/kernels/registry/families.h>

namespace autograd::internal {
namespace {

// Returns the images as matrices whose rows are the channels.
Array matrices(const Array& images) {
  return reshape(images, {images.shape(0), images.shape(1), pixels_of(images.shape())});
}

}  // namespace

Array pointwise_convolution(const Convolution& c) {
  if (c.pass == Convolution::Pass::filter)
    return reshape(sum_of_images(matmul(matrices(c.y), matrices(c.x), false, true)), c.w_shape);
  const Array w = reshape(c.w, {c.w_shape[0], c.w_shape[1]});
  if (c.pass == Convolution::Pass::data) return reshape(matmul(w, matrices(c.y), true), c.x_shape);
  const Array y = matmul(w, matrices(c.x));
  if (c.b) {
    const Operand operands[] = {y, reshape(c.b, {c.b.size(), 1})};
    apply_into(catena::kernels::add, operands, {&y, 1});
  }
  return reshape(y, c.y_shape);
}

}  // namespace autograd::internal
