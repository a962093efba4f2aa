#include <catena/nn/links/n_step.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <typeinfo>

#include <catena/nn/functions/array.h>
#include <catena/nn/link_hook.h>
#include <catena/nn/links/recurrent_state.h>

namespace nn {

using catena::check;
using catena::ValueError;
using internal::NStepCell;

namespace internal {

NStepBase::NStepBase(NStepCell cell, int directions, const Sizes& s)
    : n_layers(s.n_layers),
      in_size(s.in_size),
      out_size(s.out_size),
      direction(directions),
      dropout(s.dropout),
      use_cudnn(s.use_cudnn),
      cell_(cell),
      has_bias_(s.bias) {
  const int matrices = cell == NStepCell::lstm ? 8 : cell == NStepCell::gru ? 6 : 2;
  for (int layer = 0; layer < n_layers; ++layer)
    for (int d = 0; d < directions; ++d) {
      Link weights;
      for (int j = 0; j < matrices; ++j) {
        const std::int64_t in = j >= matrices / 2 ? out_size : layer == 0 ? in_size : out_size * directions;
        const std::string number = std::to_string(j);
        weights.add_param("w" + number, Parameter(initializers::HeNormal(1 / std::sqrt(2.0)), {out_size, in}));
        if (has_bias_) weights.add_param("b" + number, Parameter(0.0, {out_size}));
      }
      add_link(std::move(weights));
    }
}

Variable NStepBase::call(const Variables& args) { throw_not_callable(typeid(*this).name(), args.size()); }

namespace {

// The order of decreasing lengths; sequences of equal length stay in the given order.
class Order {
 public:
  explicit Order(const Variables& xs) : at_(xs.size()) {
    check<ValueError>(!xs.empty(), "NStep", "there are no sequences");
    for (std::size_t i = 0; i < xs.size(); ++i)
      check<ValueError>(xs[i].ndim() == 0 || xs[i].shape(0) > 0, "NStep", "sequence ", i, " of ", xs.size(),
                        " has no elements");
    std::iota(at_.begin(), at_.end(), std::size_t{0});
    std::stable_sort(at_.begin(), at_.end(), [&xs](std::size_t a, std::size_t b) {
      return xs[a].ndim() > 0 && xs[b].ndim() > 0 && xs[a].shape(0) > xs[b].shape(0);
    });
  }
  Variables sorted(const Variables& given) const {
    Variables to;
    for (const std::size_t i : at_) to.push_back(given[i]);
    return to;
  }
  Variables restored(const Variables& given) const {
    Variables to(given.size());
    for (std::size_t k = 0; k < at_.size(); ++k) to[at_[k]] = given[k];
    return to;
  }
  // The same along axis 1 of the states.
  Variable sorted(const Variable& states) const { return permuted(states, false); }
  Variable restored(const Variable& states) const { return permuted(states, true); }

 private:
  Variable permuted(const Variable& states, bool inv) const {
    if (std::is_sorted(at_.begin(), at_.end())) return states;
    const std::vector<std::int64_t> order(at_.begin(), at_.end());
    return permutate(states, autograd::array(order, {std::int64_t(order.size())}, states.device()), 1, inv);
  }
  std::vector<std::size_t> at_;
};

}  // namespace

NStepLSTMResult NStepBase::run(const Variable& hx, const Variable& cx, const Variables& xs,
                               const std::optional<bool>& train) const {
  LinkCall called(const_cast<NStepBase&>(*this), xs);  // hooks get a link that they may change
  const Order order(xs);
  const auto sorted = [&](const Variable& given) { return given ? order.sorted(given) : given; };
  NStepLSTMResult y = run_by_time(sorted(hx), sorted(cx), transpose_sequence(order.sorted(xs)), train);
  y.hy = order.restored(y.hy);
  if (y.cy) y.cy = order.restored(y.cy);
  y.ys = order.restored(transpose_sequence(y.ys));
  called.end(y.ys);
  return y;
}

NStepLSTMResult NStepBase::run_by_time(const Variable& hx, const Variable& cx, const Variables& by_time,
                                       const std::optional<bool>& train) const {
  const auto states = [&](const Variable& given) {
    if (given) return given;
    const Variable& first = by_time[0];
    const Shape shape{std::int64_t(n_layers) * direction, first.shape(0), out_size};
    return autograd::as_variable(autograd::arrays::zeros(shape, first.dtype(), first.device()));
  };
  std::vector<Variables> ws, bs;
  Variable no_bias;  // the zeros in place of all biases, which have one shape
  for (const Link& weights : *this) {
    ws.emplace_back();
    bs.emplace_back();
    const std::vector<Variable> all = weights.params();  // w0, b0, w1, b1, ..., or w0, w1, ...
    for (std::size_t i = 0; i < all.size(); i += has_bias_ ? 2 : 1) {
      if (!has_bias_ && !no_bias)
        no_bias = autograd::as_variable(autograd::arrays::zeros({out_size}, all[i].dtype(), all[i].device()));
      ws.back().push_back(all[i]);
      bs.back().push_back(has_bias_ ? all[i + 1] : no_bias);
    }
  }
  const Variable h = states(hx);
  const bool both = direction == 2;
  NStepLSTMResult y;
  if (cell_ == NStepCell::lstm) {
    const Variable c = states(cx);
    const NStepOptions o{.train = train, .use_cudnn = use_cudnn};
    y = both ? n_step_bilstm(n_layers, dropout, h, c, ws, bs, by_time, o)
             : n_step_lstm(n_layers, dropout, h, c, ws, bs, by_time, o);
  } else {
    NStepResult plain;
    if (cell_ == NStepCell::gru) {
      const NStepOptions o{.train = train, .use_cudnn = use_cudnn};
      plain = both ? n_step_bigru(n_layers, dropout, h, ws, bs, by_time, o)
                   : n_step_gru(n_layers, dropout, h, ws, bs, by_time, o);
    } else {
      const NStepRNNOptions o{
          .train = train, .use_cudnn = use_cudnn, .activation = cell_ == NStepCell::tanh ? "tanh" : "relu"};
      plain = both ? n_step_birnn(n_layers, dropout, h, ws, bs, by_time, o)
                   : n_step_rnn(n_layers, dropout, h, ws, bs, by_time, o);
    }
    y.hy = plain.hy;
    y.ys = plain.ys;
  }
  return y;
}

}  // namespace internal

NStepLSTM::NStepLSTM(int layers, int in, int out, double dropout_ratio, std::optional<bool> cudnn)
    : NStepWithCells(NStepCell::lstm, 1, {layers, in, out, dropout_ratio, cudnn}) {}

NStepBiLSTM::NStepBiLSTM(int layers, int in, int out, double dropout_ratio, std::optional<bool> cudnn)
    : NStepWithCells(NStepCell::lstm, 2, {layers, in, out, dropout_ratio, cudnn}) {}

NStepGRU::NStepGRU(int layers, int in, int out, double dropout_ratio, std::optional<bool> cudnn)
    : NStepWithoutCells(NStepCell::gru, 1, {layers, in, out, dropout_ratio, cudnn}) {}

NStepBiGRU::NStepBiGRU(int layers, int in, int out, double dropout_ratio, std::optional<bool> cudnn)
    : NStepWithoutCells(NStepCell::gru, 2, {layers, in, out, dropout_ratio, cudnn}) {}

NStepRNNTanh::NStepRNNTanh(int layers, int in, int out, double dropout_ratio, std::optional<bool> cudnn)
    : NStepWithoutCells(NStepCell::tanh, 1, {layers, in, out, dropout_ratio, cudnn}) {}

NStepBiRNNTanh::NStepBiRNNTanh(int layers, int in, int out, double dropout_ratio, std::optional<bool> cudnn)
    : NStepWithoutCells(NStepCell::tanh, 2, {layers, in, out, dropout_ratio, cudnn}) {}

NStepRNNReLU::NStepRNNReLU(int layers, int in, int out, double dropout_ratio, std::optional<bool> cudnn)
    : NStepWithoutCells(NStepCell::relu, 1, {layers, in, out, dropout_ratio, cudnn}) {}

NStepBiRNNReLU::NStepBiRNNReLU(int layers, int in, int out, double dropout_ratio, std::optional<bool> cudnn)
    : NStepWithoutCells(NStepCell::relu, 2, {layers, in, out, dropout_ratio, cudnn}) {}

}  // namespace nn
