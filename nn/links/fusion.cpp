#include <catena/nn/links/fusion.h>

#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/basic_math.h>
#include <catena/autograd/functions/math.h>
#include <catena/nn/links/convolution_2d.h>
#include <catena/nn/links/convolution_nd.h>

namespace nn::utils::internal {

void fuse_normalization(const char* op, WeightAndBias& layer, const BatchNormalization& norm) {
  using catena::check, catena::ValueError;
  check<ValueError>(!layer.training() && !norm.training(), op,
                    "the layers are in training mode: call eval() of both, or of their model");
  check<ValueError>(layer.W.is_initialized(), op, "the layer has no weight yet: call it once");
  const Shape channels = norm.avg_mean.array().shape();
  const bool transposed = dynamic_cast<const Deconvolution2D*>(&layer) != nullptr ||
                          dynamic_cast<const DeconvolutionND*>(&layer) != nullptr;
  const int axis = transposed ? 1 : 0;
  check<ValueError>(channels.size() == 1 && layer.W.ndim() > axis && layer.W.shape(axis) == channels[0], op,
                    "the averages of the normalization have the shape ", channels, ", and W of shape ", layer.W.shape(),
                    " has its outputs on axis ", axis);
  const auto [W, b] =
      fuse_conv_bn_weights(layer.W, layer.b ? layer.b.variable() : Variable(), Variable(norm.avg_mean.array()),
                           Variable(norm.avg_var.array()), norm.eps, norm.gamma ? norm.gamma.variable() : Variable(),
                           norm.beta ? norm.beta.variable() : Variable(), transposed);
  layer.W.set_data(W.data());
  if (layer.b) layer.b->set_data(b.data());
  else layer.b = Parameter(b.data());
}

}  // namespace nn::utils::internal

std::pair<nn::Variable, nn::Variable> nn::utils::fuse_conv_bn_weights(const Variable& conv_w, const Variable& conv_b,
                                                                      const Variable& bn_rm, const Variable& bn_rv,
                                                                      double bn_eps, const Variable& bn_w,
                                                                      const Variable& bn_b, bool transpose) {
  const int axis = transpose ? 1 : 0;
  catena::check<catena::ValueError>(conv_w.ndim() > axis && bn_rm.ndim() == 1 && conv_w.shape(axis) == bn_rm.shape(0),
                                    "fuse_conv_bn_weights", "the mean has shape ", bn_rm.shape(), ", and the weight ",
                                    conv_w.shape(), " has its outputs on axis ", axis);
  const auto no_graph = autograd::no_backprop_mode();
  Variable scale = 1 / autograd::sqrt(bn_rv + bn_eps);
  if (bn_w) scale = scale * bn_w;
  Variable shift = -bn_rm * scale;
  if (conv_b) shift = shift + conv_b * scale;
  if (bn_b) shift = shift + bn_b;
  Shape broadcast = Shape::filled(conv_w.ndim(), 1);
  broadcast[axis] = bn_rm.shape(0);
  return {conv_w * autograd::broadcast_to(autograd::reshape(scale, broadcast), conv_w.shape()), shift};
}
