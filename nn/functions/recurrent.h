// Recurrent networks over sequences of different lengths, with all layers in one call. Layers that own the weights are
// in nn/links/n_step.h, single cells in activation.h (lstm) and nn/links.
//
// n_layers = S layers of N units in D directions: D = 1, or 2 for the functions with "bi" in their names. Weights and
// states of a layer and direction have the index layer * D + direction; direction 1 goes from the last time to the
// first.
//   xs   by time: xs[t] (B_t, I) has element t of the sequences that are longer than t, the longest sequence first, so
//        B_0 >= B_1 >= ... (transpose_sequence makes such a list)
//   hx   (S D, B_0, N): the states before the first time; cx likewise
//   ws   S D lists of matrices (N, in) in the order of the formulas. in = I for those that multiply the input of the
//        first layer, N D for those that multiply the input of a later layer, N for those that multiply the state
//   bs   S D lists of vectors (N)
// -> hy, cy in the shape of hx: the states after the last time of each sequence; ys[t] (B_t, N D): the states of the
// last layer at time t, both directions side by side.
//
// The input of every layer but the first is multiplied by a dropout mask, a different one for each direction, drawn for
// each element at each time. States, xs and ys are not dropped.
//
// Gradients can be differentiated again. InvalidType for shapes that do not fit, for times that are not in the order of
// decreasing batches, and unless hx, cx, bs and xs have one floating dtype; ws may have another one. ValueError for
// other numbers of matrices, n_layers < 1 and a ratio outside [0, 1).
#pragma once

#include <concepts>
#include <optional>
#include <string>
#include <vector>

#include <catena/autograd/variable.h>

namespace nn {

using autograd::Variable;
using autograd::Variables;

struct NStepOptions {
  std::optional<bool> train = {};      // true: dropout is applied; default: the thread's train mode
  std::optional<bool> use_cudnn = {};  // for CUDA; default: the thread's configuration
};
struct NStepRNNOptions {
  std::optional<bool> train = {}, use_cudnn = {};
  std::string activation = "tanh";  // or "relu"; ValueError for other texts
};
// The last states of all layers and the outputs of the sequences.
struct NStepLSTMResult {
  Variable hy, cy;
  Variables ys;
};
struct NStepResult {
  Variable hy;
  Variables ys;
};

// The functions are objects. `train` and `use_cudnn` may be options or the last arguments:
//   n_step_gru(2, 0.5, hx, ws, bs, xs, {.train = false})  n_step_gru(2, 0.5, hx, ws, bs, xs, false)
template <auto body> struct NStepLSTMFunction {
  NStepLSTMResult operator()(int n_layers, double dropout_ratio, const Variable& hx, const Variable& cx,
                             const std::vector<Variables>& ws, const std::vector<Variables>& bs, const Variables& xs,
                             const NStepOptions& options = {}) const {
    return body(n_layers, dropout_ratio, hx, cx, ws, bs, xs, options);
  }
  template <std::same_as<bool> B>
  NStepLSTMResult operator()(int n_layers, double dropout_ratio, const Variable& hx, const Variable& cx,
                             const std::vector<Variables>& ws, const std::vector<Variables>& bs, const Variables& xs,
                             B train, std::optional<bool> use_cudnn = {}) const {
    return body(n_layers, dropout_ratio, hx, cx, ws, bs, xs, {.train = train, .use_cudnn = use_cudnn});
  }
};
template <auto body, class Options> struct NStepFunction {
  NStepResult operator()(int n_layers, double dropout_ratio, const Variable& hx, const std::vector<Variables>& ws,
                         const std::vector<Variables>& bs, const Variables& xs, const Options& options = {}) const {
    return body(n_layers, dropout_ratio, hx, ws, bs, xs, options);
  }
  template <std::same_as<bool> B>
  NStepResult operator()(int n_layers, double dropout_ratio, const Variable& hx, const std::vector<Variables>& ws,
                         const std::vector<Variables>& bs, const Variables& xs, B train,
                         std::optional<bool> use_cudnn = {}) const {
    return body(n_layers, dropout_ratio, hx, ws, bs, xs, {.train = train, .use_cudnn = use_cudnn});
  }
};

namespace internal {
using NStepLSTMBody = NStepLSTMResult(int n_layers, double dropout_ratio, const Variable& hx, const Variable& cx,
                                      const std::vector<Variables>& ws, const std::vector<Variables>& bs,
                                      const Variables& xs, const NStepOptions& options);
template <class Options>
using NStepBody = NStepResult(int n_layers, double dropout_ratio, const Variable& hx, const std::vector<Variables>& ws,
                              const std::vector<Variables>& bs, const Variables& xs, const Options& options);
CATENA_EXPORT NStepLSTMBody n_step_lstm, n_step_bilstm;
CATENA_EXPORT NStepBody<NStepOptions> n_step_gru, n_step_bigru;
CATENA_EXPORT NStepBody<NStepRNNOptions> n_step_rnn, n_step_birnn;
}  // namespace internal

// 8 matrices and biases, in the order of cuDNN: input gate, forget gate, candidate, output gate.
//   i = s(W0 x + b0 + W4 h + b4), f = s(W1 x + b1 + W5 h + b5), a = tanh(W2 x + b2 + W6 h + b6),
//   o = s(W3 x + b3 + W7 h + b7); c' = f c + i a, h' = o tanh(c')
//   auto [hy, cy, ys] = n_step_lstm(2, 0.5, hx, cx, ws, bs, xs);
inline constexpr NStepLSTMFunction<internal::n_step_lstm> n_step_lstm;
inline constexpr NStepLSTMFunction<internal::n_step_bilstm> n_step_bilstm;

// 6 matrices and biases: reset gate, update gate, candidate. The reset gate multiplies the product with the state.
//   r = s(W0 x + b0 + W3 h + b3), z = s(W1 x + b1 + W4 h + b4), a = tanh(W2 x + b2 + r (W5 h + b5));
//   h' = (1 - z) a + z h
inline constexpr NStepFunction<internal::n_step_gru, NStepOptions> n_step_gru;
inline constexpr NStepFunction<internal::n_step_bigru, NStepOptions> n_step_bigru;

// 2 matrices and biases: h' = act(W0 x + b0 + W1 h + b1).
inline constexpr NStepFunction<internal::n_step_rnn, NStepRNNOptions> n_step_rnn;
inline constexpr NStepFunction<internal::n_step_birnn, NStepRNNOptions> n_step_birnn;

}  // namespace nn
