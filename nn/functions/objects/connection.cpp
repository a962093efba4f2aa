#include <catena/nn/functions/objects/connection.h>

#include <catena/nn/functions/connection.h>
#include <catena/nn/functions/objects/arguments.h>
#include <catena/nn/functions/recurrent.h>

namespace nn::functions {

namespace {

Variables list_of(const NStepLSTMResult& r) {
  Variables list{r.hy, r.cy};
  for (const Variable& y : r.ys) list.push_back(y);
  return list;
}
Variables list_of(const NStepResult& r) {
  Variables list{r.hy};
  for (const Variable& y : r.ys) list.push_back(y);
  return list;
}

// The inputs of recurrent functions: states, the matrices and vectors of all layers, then the times.
struct StepLists {
  std::vector<Variables> ws, bs;
  Variables xs;
};
struct StepCounts {
  int states, directions, matrices;
};
// Returns the call of a recurrent class: it divides its inputs and returns the outputs of function(x, lists) as a list.
template <class F> auto n_step(const char* label, StepCounts c, int n_layers, F function) {
  return [=](const Variables& x) {
    catena::check<catena::ValueError>(n_layers >= 1, label, "the number of layers ", n_layers, " must be at least 1");
    const std::size_t layers = std::size_t(n_layers * c.directions), each = std::size_t(c.matrices);
    const std::size_t first_x = std::size_t(c.states) + 2 * layers * each;
    if (x.size() <= first_x)
      throw catena::InvalidType(catena::concat("in_types.size() > ", first_x),
                                catena::concat(x.size(), " <= ", first_x),
                                catena::concat("Invalid operation is performed in: ", label, " (Forward)\n\n"));
    StepLists lists;
    std::size_t next = std::size_t(c.states);
    for (std::vector<Variables>* list : {&lists.ws, &lists.bs})
      for (std::size_t layer = 0; layer < layers; ++layer) {
        list->emplace_back();
        for (std::size_t i = 0; i < each; ++i) list->back().push_back(x[next++]);
      }
    lists.xs = behind(x, next);
    return list_of(function(x, lists));
  };
}

}  // namespace

BilinearFunction::BilinearFunction()
    : FunctionObjectOf("BilinearFunction", {3, 6}, composed,
                       [](const Variables& x) { return bilinear(x[0], x[1], x[2], at(x, 3), at(x, 4), at(x, 5)); }) {}
Convolution2DFunction::Convolution2DFunction(Pair stride, Pair pad, bool use_cudnn, bool cover_all, bool deterministic)
    : FunctionObjectOf("Convolution2DFunction", {2, 3}, node, [=](const Variables& x) {
        return convolution_2d(x[0], x[1], at(x, 2),
                              {.stride = stride,
                               .pad = pad,
                               .cover_all = cover_all,
                               .deterministic = if_true(deterministic),
                               .use_cudnn = if_false(use_cudnn)});
      }) {}
ConvolutionND::ConvolutionND(int ndim, const Lengths& stride, const Lengths& pad, bool use_cudnn, bool cover_all)
    : FunctionObjectOf("ConvolutionND", {2, 3}, node, [=](const Variables& x) {
        return convolution_nd(of_rank("ConvolutionND", x[0], ndim), x[1], at(x, 2),
                              {.stride = stride, .pad = pad, .cover_all = cover_all, .use_cudnn = if_false(use_cudnn)});
      }) {}
Deconvolution2DFunction::Deconvolution2DFunction(Pair stride, Pair pad, const OrNone<Pair>& outsize, bool use_cudnn,
                                                 bool deterministic)
    : FunctionObjectOf("Deconvolution2DFunction", {2, 3}, composed, [=](const Variables& x) {
        return deconvolution_2d(x[0], x[1], at(x, 2),
                                {.stride = stride,
                                 .pad = pad,
                                 .outsize = outsize,
                                 .deterministic = if_true(deterministic),
                                 .use_cudnn = if_false(use_cudnn)});
      }) {}
DeconvolutionND::DeconvolutionND(int ndim, const Lengths& stride, const Lengths& pad, const OrNone<Lengths>& outsize,
                                 bool use_cudnn)
    : FunctionObjectOf("DeconvolutionND", {2, 3}, composed, [=](const Variables& x) {
        return deconvolution_nd(of_rank("DeconvolutionND", x[0], ndim), x[1], at(x, 2),
                                {.stride = stride, .pad = pad, .outsize = outsize, .use_cudnn = if_false(use_cudnn)});
      }) {}
DepthwiseConvolution2D::DepthwiseConvolution2D(Pair stride, Pair pad)
    : FunctionObjectOf("DepthwiseConvolution2D", {2, 3}, composed, [=](const Variables& x) {
        return depthwise_convolution_2d(x[0], x[1], at(x, 2), {.stride = stride, .pad = pad});
      }) {}
DilatedConvolution2DFunction::DilatedConvolution2DFunction(Pair stride, Pair pad, Pair dilate, bool use_cudnn,
                                                           bool cover_all)
    : FunctionObjectOf("DilatedConvolution2DFunction", {2, 3}, node, [=](const Variables& x) {
        return dilated_convolution_2d(
            x[0], x[1], at(x, 2),
            {.stride = stride, .pad = pad, .dilate = dilate, .cover_all = cover_all, .use_cudnn = if_false(use_cudnn)});
      }) {}
EmbedIDFunction::EmbedIDFunction(std::optional<std::int64_t> ignore_label)
    : FunctionObjectOf("EmbedIDFunction", {2}, composed,
                       [=](const Variables& x) { return embed_id(x[0], x[1], {.ignore_label = ignore_label}); }) {}
LinearFunction::LinearFunction()
    : FunctionObjectOf("LinearFunction", {2, 3}, node,
                       [](const Variables& x) { return linear(x[0], x[1], at(x, 2)); }) {}
NStepLSTM::NStepLSTM(int n_layers, DropoutStates states, bool train)
    : FunctionObjectOf("NStepLSTM", {4, many}, node,
                       n_step("NStepLSTM", {2, 1, 8}, n_layers, [=](const Variables& x, const StepLists& l) {
                         return n_step_lstm(n_layers, states.ratio, x[0], x[1], l.ws, l.bs, l.xs, {.train = train});
                       })) {}
NStepBiLSTM::NStepBiLSTM(int n_layers, DropoutStates states, bool train)
    : FunctionObjectOf("NStepBiLSTM", {4, many}, node,
                       n_step("NStepBiLSTM", {2, 2, 8}, n_layers, [=](const Variables& x, const StepLists& l) {
                         return n_step_bilstm(n_layers, states.ratio, x[0], x[1], l.ws, l.bs, l.xs, {.train = train});
                       })) {}
NStepGRU::NStepGRU(int n_layers, DropoutStates states, bool train)
    : FunctionObjectOf("NStepGRU", {4, many}, node,
                       n_step("NStepGRU", {1, 1, 6}, n_layers, [=](const Variables& x, const StepLists& l) {
                         return n_step_gru(n_layers, states.ratio, x[0], l.ws, l.bs, l.xs, {.train = train});
                       })) {}
NStepBiGRU::NStepBiGRU(int n_layers, DropoutStates states, bool train)
    : FunctionObjectOf("NStepBiGRU", {4, many}, node,
                       n_step("NStepBiGRU", {1, 2, 6}, n_layers, [=](const Variables& x, const StepLists& l) {
                         return n_step_bigru(n_layers, states.ratio, x[0], l.ws, l.bs, l.xs, {.train = train});
                       })) {}
NStepRNNTanh::NStepRNNTanh(int n_layers, DropoutStates states, bool train)
    : FunctionObjectOf("NStepRNNTanh", {4, many}, node,
                       n_step("NStepRNNTanh", {1, 1, 2}, n_layers, [=](const Variables& x, const StepLists& l) {
                         return n_step_rnn(n_layers, states.ratio, x[0], l.ws, l.bs, l.xs, {.train = train});
                       })) {}
NStepRNNReLU::NStepRNNReLU(int n_layers, DropoutStates states, bool train)
    : FunctionObjectOf("NStepRNNReLU", {4, many}, node,
                       n_step("NStepRNNReLU", {1, 1, 2}, n_layers, [=](const Variables& x, const StepLists& l) {
                         return n_step_rnn(n_layers, states.ratio, x[0], l.ws, l.bs, l.xs,
                                           {.train = train, .activation = "relu"});
                       })) {}
NStepBiRNNTanh::NStepBiRNNTanh(int n_layers, DropoutStates states, bool train)
    : FunctionObjectOf("NStepBiRNNTanh", {4, many}, node,
                       n_step("NStepBiRNNTanh", {1, 2, 2}, n_layers, [=](const Variables& x, const StepLists& l) {
                         return n_step_birnn(n_layers, states.ratio, x[0], l.ws, l.bs, l.xs, {.train = train});
                       })) {}
NStepBiRNNReLU::NStepBiRNNReLU(int n_layers, DropoutStates states, bool train)
    : FunctionObjectOf("NStepBiRNNReLU", {4, many}, node,
                       n_step("NStepBiRNNReLU", {1, 2, 2}, n_layers, [=](const Variables& x, const StepLists& l) {
                         return n_step_birnn(n_layers, states.ratio, x[0], l.ws, l.bs, l.xs,
                                             {.train = train, .activation = "relu"});
                       })) {}

}  // namespace nn::functions
