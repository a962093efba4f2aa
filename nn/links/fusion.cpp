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
  const auto no_graph = autograd::no_backprop_mode();
  const Variable mean(norm.avg_mean.array()), var(norm.avg_var.array());
  Variable scale = 1 / autograd::sqrt(var + norm.eps);
  if (norm.gamma) scale = scale * norm.gamma.variable();
  Variable shift = -mean * scale;
  if (layer.b) shift = shift + layer.b.variable() * scale;
  if (norm.beta) shift = shift + norm.beta.variable();
  Shape broadcast = Shape::filled(layer.W.ndim(), 1);
  broadcast[axis] = channels[0];
  const Variable W = Variable(layer.W) * autograd::broadcast_to(autograd::reshape(scale, broadcast), layer.W.shape());
  layer.W.set_data(W.data());
  if (layer.b) layer.b->set_data(shift.data());
  else layer.b = Parameter(shift.data());
}

}  // namespace nn::utils::internal
