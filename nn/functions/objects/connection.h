// The classes of connections (connection.h) and of recurrent networks (recurrent.h).
#pragma once

#include <catena/nn/functions/lengths.h>
#include <catena/nn/functions/objects/function_object.h>

namespace nn::functions {

// The dropout of recurrent functions, as a ratio: NStepLSTM(2, 0.5).
struct DropoutStates {
  double ratio;
  DropoutStates(double dropout) : ratio(dropout) {}
};

struct CATENA_EXPORT BilinearFunction : FunctionObjectOf<Variable> {
  explicit BilinearFunction();
};
struct CATENA_EXPORT Convolution2DFunction : FunctionObjectOf<Variable> {
  explicit Convolution2DFunction(Pair stride = 1, Pair pad = 0, bool use_cudnn = true, bool cover_all = false,
                                 bool deterministic = false);
  Convolution2DFunction(Convolution2DFunction&) = default;
  template <std::same_as<Convolution2DFunction> T> Convolution2DFunction(const T& other) : FunctionObjectOf(other) {}
};
struct CATENA_EXPORT ConvolutionND : FunctionObjectOf<Variable> {
  explicit ConvolutionND(int ndim, const Lengths& stride = 1, const Lengths& pad = 0, bool use_cudnn = true,
                         bool cover_all = false);
};
struct CATENA_EXPORT Deconvolution2DFunction : FunctionObjectOf<Variable> {
  explicit Deconvolution2DFunction(Pair stride = 1, Pair pad = 0, const OrNone<Pair>& outsize = {},
                                   bool use_cudnn = true, bool deterministic = false);
  Deconvolution2DFunction(Deconvolution2DFunction&) = default;
  template <std::same_as<Deconvolution2DFunction> T>
  Deconvolution2DFunction(const T& other) : FunctionObjectOf(other) {}
};
struct CATENA_EXPORT DeconvolutionND : FunctionObjectOf<Variable> {
  explicit DeconvolutionND(int ndim, const Lengths& stride = 1, const Lengths& pad = 0,
                           const OrNone<Lengths>& outsize = {}, bool use_cudnn = true);
};
struct CATENA_EXPORT DepthwiseConvolution2D : FunctionObjectOf<Variable> {
  explicit DepthwiseConvolution2D(Pair stride = 1, Pair pad = 0);
  DepthwiseConvolution2D(DepthwiseConvolution2D&) = default;
  template <std::same_as<DepthwiseConvolution2D> T> DepthwiseConvolution2D(const T& other) : FunctionObjectOf(other) {}
};
struct CATENA_EXPORT DilatedConvolution2DFunction : FunctionObjectOf<Variable> {
  explicit DilatedConvolution2DFunction(Pair stride = 1, Pair pad = 0, Pair dilate = 1, bool use_cudnn = true,
                                        bool cover_all = false);
  DilatedConvolution2DFunction(DilatedConvolution2DFunction&) = default;
  template <std::same_as<DilatedConvolution2DFunction> T>
  DilatedConvolution2DFunction(const T& other) : FunctionObjectOf(other) {}
};
struct CATENA_EXPORT EmbedIDFunction : FunctionObjectOf<Variable> {
  explicit EmbedIDFunction(std::optional<std::int64_t> ignore_label = std::nullopt);
  EmbedIDFunction(EmbedIDFunction&) = default;
  template <std::same_as<EmbedIDFunction> T> EmbedIDFunction(const T& other) : FunctionObjectOf(other) {}
};
struct CATENA_EXPORT LinearFunction : FunctionObjectOf<Variable> {
  explicit LinearFunction();
};
struct CATENA_EXPORT NStepLSTM : FunctionObjectOf<Variables> {
  explicit NStepLSTM(int n_layers, DropoutStates states, bool train = true);
};
struct CATENA_EXPORT NStepBiLSTM : FunctionObjectOf<Variables> {
  explicit NStepBiLSTM(int n_layers, DropoutStates states, bool train = true);
};
struct CATENA_EXPORT NStepGRU : FunctionObjectOf<Variables> {
  explicit NStepGRU(int n_layers, DropoutStates states, bool train = true);
};
struct CATENA_EXPORT NStepBiGRU : FunctionObjectOf<Variables> {
  explicit NStepBiGRU(int n_layers, DropoutStates states, bool train = true);
};
// The function n_step_rnn with tanh.
struct CATENA_EXPORT NStepRNNTanh : FunctionObjectOf<Variables> {
  explicit NStepRNNTanh(int n_layers, DropoutStates states, bool train = true);
};
// The function n_step_rnn with relu.
struct CATENA_EXPORT NStepRNNReLU : FunctionObjectOf<Variables> {
  explicit NStepRNNReLU(int n_layers, DropoutStates states, bool train = true);
};
// The function n_step_birnn with tanh.
struct CATENA_EXPORT NStepBiRNNTanh : FunctionObjectOf<Variables> {
  explicit NStepBiRNNTanh(int n_layers, DropoutStates states, bool train = true);
};
// The function n_step_birnn with relu.
struct CATENA_EXPORT NStepBiRNNReLU : FunctionObjectOf<Variables> {
  explicit NStepBiRNNReLU(int n_layers, DropoutStates states, bool train = true);
};

}  // namespace nn::functions
