// The classes of activation functions (activation.h).
#pragma once

#include <catena/nn/functions/activation.h>
#include <catena/nn/functions/objects/function_object.h>

namespace nn::functions {

struct CATENA_EXPORT ClippedReLU : FunctionObjectOf<Variable> {
  explicit ClippedReLU(double z);
};
struct CATENA_EXPORT CReLU : FunctionObjectOf<Variable> {
  explicit CReLU(int axis = 1);
};
struct CATENA_EXPORT ELU : FunctionObjectOf<Variable> {
  explicit ELU(double alpha = 1.0);
};
struct HardSigmoid : UnaryObject<"HardSigmoid", hard_sigmoid> {};
struct CATENA_EXPORT LeakyReLU : FunctionObjectOf<Variable> {
  explicit LeakyReLU(double slope = 0.2);
};
struct CATENA_EXPORT LogSoftmax : FunctionObjectOf<Variable> {
  explicit LogSoftmax(bool use_cudnn = true);
};
struct CATENA_EXPORT LSTM : FunctionObjectOf<LSTMState> {
  explicit LSTM();
};
struct PReLUFunction : BinaryObject<"PReLUFunction", prelu, FunctionObject::composed> {};
struct CATENA_EXPORT ReLU : FunctionObjectOf<Variable> {
  explicit ReLU(bool use_cudnn = true);
};
struct CATENA_EXPORT Sigmoid : FunctionObjectOf<Variable> {
  explicit Sigmoid(bool use_cudnn = true);
};
struct CATENA_EXPORT SLSTM : FunctionObjectOf<LSTMState> {
  explicit SLSTM();
};
struct CATENA_EXPORT Softmax : FunctionObjectOf<Variable> {
  explicit Softmax(bool use_cudnn = true, int axis = 1);
};
struct CATENA_EXPORT Softplus : FunctionObjectOf<Variable> {
  explicit Softplus(double beta = 1.0);
};
struct CATENA_EXPORT Tanh : FunctionObjectOf<Variable> {
  explicit Tanh(bool use_cudnn = true);
};

}  // namespace nn::functions
