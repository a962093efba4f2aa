#include <catena/nn/functions/objects/activation.h>

#include <catena/nn/functions/objects/arguments.h>

namespace nn::functions {

ClippedReLU::ClippedReLU(double z)
    : FunctionObjectOf("ClippedReLU", {1}, node, [=](const Variables& x) { return clipped_relu(x[0], z); }) {}
CReLU::CReLU(int axis)
    : FunctionObjectOf("CReLU", {1}, composed, [=](const Variables& x) { return crelu(x[0], axis); }) {}
ELU::ELU(double alpha) : FunctionObjectOf("ELU", {1}, node, [=](const Variables& x) { return elu(x[0], alpha); }) {}
LeakyReLU::LeakyReLU(double slope)
    : FunctionObjectOf("LeakyReLU", {1}, node, [=](const Variables& x) { return leaky_relu(x[0], slope); }) {}
LogSoftmax::LogSoftmax(bool use_cudnn)
    : FunctionObjectOf("LogSoftmax", {1}, node,
                       [=](const Variables& x) { return log_softmax(x[0], {.use_cudnn = if_false(use_cudnn)}); }) {}
LSTM::LSTM()
    : FunctionObjectOf("LSTM", {2}, node, [](const Variables& x) {
        const auto [c, h] = lstm(x[0], x[1]);
        return Variables{c, h};
      }) {}
ReLU::ReLU(bool use_cudnn)
    : FunctionObjectOf("ReLU", {1}, node, [=](const Variables& x) { return relu(x[0], {if_false(use_cudnn)}); }) {}
Sigmoid::Sigmoid(bool use_cudnn)
    : FunctionObjectOf("Sigmoid", {1}, node, [=](const Variables& x) { return sigmoid(x[0], {if_false(use_cudnn)}); }) {
}
SLSTM::SLSTM()
    : FunctionObjectOf("SLSTM", {4}, node, [](const Variables& x) {
        const auto [c, h] = slstm(x[0], x[1], x[2], x[3]);
        return Variables{c, h};
      }) {}
Softmax::Softmax(bool use_cudnn, int axis)
    : FunctionObjectOf("Softmax", {1}, node, [=](const Variables& x) {
        return softmax(x[0], {.axis = axis, .use_cudnn = if_false(use_cudnn)});
      }) {}
Softplus::Softplus(double beta)
    : FunctionObjectOf("Softplus", {1}, node, [=](const Variables& x) { return softplus(x[0], beta); }) {}
Tanh::Tanh(bool use_cudnn)
    : FunctionObjectOf("Tanh", {1}, node, [=](const Variables& x) { return tanh(x[0], {if_false(use_cudnn)}); }) {}

}  // namespace nn::functions
