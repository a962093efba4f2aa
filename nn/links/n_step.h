// Recurrent networks of several layers over sequences of different lengths, in one call: the functions of
// nn/functions/recurrent.h with their weights. For layers that are called once per time, see lstm.h and gru.h.
//
//   nn::NStepLSTM lstm(2, 100, 200, 0.5);               // layers, in_size, out_size, dropout
//   auto [hy, cy, ys] = lstm({}, {}, xs);               // xs[i]: (length i, in_size), in any order
//
// Child k = layer * D + direction, for D directions, has the parameters w0, b0, w1, b1, ... in the order of the
// functions' formulas; w is drawn from N(0, 1 / in), b is 0. For S layers of N units and B sequences, hx, cx, hy and cy
// are (S D, B, N), where null means zeros; ys[i] (length i, N D) are the states of the last layer. `train` switches
// dropout on; default: the thread's train mode. ValueError for an empty list and for a sequence of length 0; other
// errors are those of the functions.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>

#include <catena/nn/chain_list.h>
#include <catena/nn/functions/recurrent.h>

namespace nn {

namespace internal {

enum class NStepCell : std::uint8_t { lstm, gru, tanh, relu };

class CATENA_EXPORT NStepBase : public ChainList {
 public:
  Variable call(const Variables& args) override;  // TypeError: there are several results

  int n_layers, in_size, out_size, direction;  // direction: the number of directions
  double dropout;
  std::optional<bool> use_cudnn;  // default: the thread's configuration

 protected:
  struct Sizes {
    int n_layers, in_size, out_size;
    double dropout;
    std::optional<bool> use_cudnn;
    bool bias = true;  // false: the children have no b
  };
  NStepBase(NStepCell cell, int directions, const Sizes& sizes);
  NStepLSTMResult run(const Variable& hx, const Variable& cx, const Variables& xs,
                      const std::optional<bool>& train) const;
  // The same for sequences in the form of n_step_lstm(): one (B_t, in) per time, where B_t does not increase. The
  // result `ys` has this form as well. Null states are zeros.
  NStepLSTMResult run_by_time(const Variable& hx, const Variable& cx, const Variables& by_time,
                              const std::optional<bool>& train) const;

 private:
  NStepCell cell_;
  bool has_bias_;
};

class CATENA_EXPORT NStepWithCells : public NStepBase {
 public:
  NStepLSTMResult operator()(const Variable& hx, const Variable& cx, const Variables& xs,
                             const std::optional<bool>& train = {}) const {
    return run(hx, cx, xs, train);
  }
  // nullopt is Chainer's None, for states of zeros: lstm(std::nullopt, std::nullopt, xs).
  NStepLSTMResult operator()(std::nullopt_t, std::nullopt_t, const Variables& xs,
                             const std::optional<bool>& train = {}) const {
    return run({}, {}, xs, train);
  }

 protected:
  using NStepBase::NStepBase;
};
class CATENA_EXPORT NStepWithoutCells : public NStepBase {
 public:
  NStepResult operator()(const Variable& hx, const Variables& xs, const std::optional<bool>& train = {}) const {
    const NStepLSTMResult all = run(hx, {}, xs, train);
    return {all.hy, all.ys};
  }
  NStepResult operator()(std::nullopt_t, const Variables& xs, const std::optional<bool>& train = {}) const {
    return (*this)(Variable(), xs, train);
  }

 protected:
  using NStepBase::NStepBase;
};

}  // namespace internal

// Options of the classes below: NStepLSTM(2, 100, 200, {.dropout = 0.5}).
struct NStepLinkOptions {
  double dropout = 0;
  std::optional<bool> use_cudnn = {};
};

class CATENA_EXPORT NStepLSTM : public internal::NStepWithCells {
 public:
  NStepLSTM(int n_layers, int in_size, int out_size, double dropout_, std::optional<bool> use_cudnn_ = {});
  template <std::same_as<NStepLinkOptions> O = NStepLinkOptions>
  NStepLSTM(int layers, int in, int out, const O& o = {}) : NStepLSTM(layers, in, out, o.dropout, o.use_cudnn) {}
};
// The link of n_step_bilstm: see NStepLSTM.
class CATENA_EXPORT NStepBiLSTM : public internal::NStepWithCells {
 public:
  NStepBiLSTM(int n_layers, int in_size, int out_size, double dropout_, std::optional<bool> use_cudnn_ = {});
  template <std::same_as<NStepLinkOptions> O = NStepLinkOptions>
  NStepBiLSTM(int layers, int in, int out, const O& o = {}) : NStepBiLSTM(layers, in, out, o.dropout, o.use_cudnn) {}
};
// The link of n_step_gru: see NStepLSTM.
class CATENA_EXPORT NStepGRU : public internal::NStepWithoutCells {
 public:
  NStepGRU(int n_layers, int in_size, int out_size, double dropout_, std::optional<bool> use_cudnn_ = {});
  template <std::same_as<NStepLinkOptions> O = NStepLinkOptions>
  NStepGRU(int layers, int in, int out, const O& o = {}) : NStepGRU(layers, in, out, o.dropout, o.use_cudnn) {}
};
// The link of n_step_bigru: see NStepLSTM.
class CATENA_EXPORT NStepBiGRU : public internal::NStepWithoutCells {
 public:
  NStepBiGRU(int n_layers, int in_size, int out_size, double dropout_, std::optional<bool> use_cudnn_ = {});
  template <std::same_as<NStepLinkOptions> O = NStepLinkOptions>
  NStepBiGRU(int layers, int in, int out, const O& o = {}) : NStepBiGRU(layers, in, out, o.dropout, o.use_cudnn) {}
};
// The link of n_step_rnn with tanh: see NStepLSTM.
class CATENA_EXPORT NStepRNNTanh : public internal::NStepWithoutCells {
 public:
  NStepRNNTanh(int n_layers, int in_size, int out_size, double dropout_, std::optional<bool> use_cudnn_ = {});
  template <std::same_as<NStepLinkOptions> O = NStepLinkOptions>
  NStepRNNTanh(int layers, int in, int out, const O& o = {}) : NStepRNNTanh(layers, in, out, o.dropout, o.use_cudnn) {}
};
// The link of n_step_birnn with tanh: see NStepLSTM.
class CATENA_EXPORT NStepBiRNNTanh : public internal::NStepWithoutCells {
 public:
  NStepBiRNNTanh(int n_layers, int in_size, int out_size, double dropout_, std::optional<bool> use_cudnn_ = {});
  template <std::same_as<NStepLinkOptions> O = NStepLinkOptions>
  NStepBiRNNTanh(int layers, int in, int out, const O& o = {})
      : NStepBiRNNTanh(layers, in, out, o.dropout, o.use_cudnn) {}
};
// The link of n_step_rnn with relu: see NStepLSTM.
class CATENA_EXPORT NStepRNNReLU : public internal::NStepWithoutCells {
 public:
  NStepRNNReLU(int n_layers, int in_size, int out_size, double dropout_, std::optional<bool> use_cudnn_ = {});
  template <std::same_as<NStepLinkOptions> O = NStepLinkOptions>
  NStepRNNReLU(int layers, int in, int out, const O& o = {}) : NStepRNNReLU(layers, in, out, o.dropout, o.use_cudnn) {}
};
// The link of n_step_birnn with relu: see NStepLSTM.
class CATENA_EXPORT NStepBiRNNReLU : public internal::NStepWithoutCells {
 public:
  NStepBiRNNReLU(int n_layers, int in_size, int out_size, double dropout_, std::optional<bool> use_cudnn_ = {});
  template <std::same_as<NStepLinkOptions> O = NStepLinkOptions>
  NStepBiRNNReLU(int layers, int in, int out, const O& o = {})
      : NStepBiRNNReLU(layers, in, out, o.dropout, o.use_cudnn) {}
};

}  // namespace nn
