// Recurrent networks over sequences, forward and backward: all layers and times in one call, and cells called once per
// time. Weights are hashes in PyTorch's layout, in which the matrices of gates are blocks of rows.
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>

#include <catena/benchmarks/cases.h>

namespace bench {
namespace {

using autograd::Array;
using autograd::Variable;
using autograd::Variables;

// Returns weights on [-1 / sqrt(units), 1 / sqrt(units)). There are 4 seeds per layer: matrices and biases of the input
// and the state.
nd::Array weights(const Parameters& p, const nd::Shape& shape, std::int64_t layer, std::int64_t which) {
  const double range = 1 / std::sqrt(double(p.at("units")));
  return uniform(shape, 1000 + 4 * layer + which, -range, range);
}
Array block(const Array& a, std::int64_t k, std::int64_t rows) {
  return autograd::copy(autograd::slice(a, 0, k * rows, (k + 1) * rows));
}
std::int64_t input_size(const Parameters& p, std::int64_t layer) { return p.at(layer == 0 ? "inputs" : "units"); }

// Returns the inputs as one array per time.
Variables sequence(const Parameters& p, std::int64_t seed) {
  const Array x = uniform({p.at("times"), p.at("batch"), p.at("inputs")}, seed, -1);
  Variables xs;
  for (std::int64_t t = 0; t < p.at("times"); ++t)
    xs.push_back(Variable(autograd::squeeze(autograd::slice(x, 0, t, t + 1), 0), {.requires_grad = false}));
  return xs;
}

struct Stacked {
  std::vector<Variables> ws, bs;
  Variable hx;

  Stacked(const Parameters& p, std::int64_t gates)
      : hx(autograd::arrays::zeros({p.at("layers"), p.at("batch"), p.at("units")}), {.requires_grad = false}) {
    const std::int64_t n = p.at("units");
    for (std::int64_t layer = 0; layer < p.at("layers"); ++layer) {
      ws.emplace_back();
      bs.emplace_back();
      for (const std::int64_t side : {0, 1}) {
        const Array W = weights(p, {gates * n, side == 0 ? input_size(p, layer) : n}, layer, side),
                    b = weights(p, {gates * n}, layer, 2 + side);
        for (std::int64_t g = 0; g < gates; ++g) {
          ws.back().push_back(Variable(block(W, g, n)));
          bs.back().push_back(Variable(block(b, g, n)));
        }
      }
    }
  }
  void clear() {
    for (auto* lists : {&ws, &bs})
      for (Variables& list : *lists)
        for (Variable& v : list) v.cleargrad();
  }
};

// The compared result is the gradient of the first matrix of the first layer that multiplies the state.
template <class Net> Ready passes(const Parameters& p, std::int64_t gates, Net net) {
  auto s = std::make_shared<Stacked>(p, gates);
  return rotating(
      p, [&](std::int64_t seed) { return sequence(p, seed); },
      [s, gates, net, layers = int(p.at("layers"))](const Variables& xs) {
        s->clear();
        sum(autograd::concat(net(layers, *s, xs), 0)).backward();
        return nd::Array(s->ws[0][std::size_t(gates)].grad());
      });
}

Ready lstm(const Parameters& p) {
  return passes(p, 4, [](int layers, const Stacked& s, const Variables& xs) {
    return nn::n_step_lstm(layers, 0.0, s.hx, s.hx, s.ws, s.bs, xs).ys;
  });
}
Ready gru(const Parameters& p) {
  return passes(p, 3, [](int layers, const Stacked& s, const Variables& xs) {
    return nn::n_step_gru(layers, 0.0, s.hx, s.ws, s.bs, xs).ys;
  });
}

// Rows in the order of nn::LSTM: candidate, input gate, forget gate, output gate of each unit.
Array by_unit(const Array& of_torch, std::int64_t n) {
  std::vector<Array> gates;
  for (const std::int64_t g : {2, 0, 1, 3}) gates.push_back(autograd::expand_dims(block(of_torch, g, n), 1));
  return autograd::contiguous(autograd::reshape(autograd::concatenate(gates, 1), of_torch.shape()));
}

// Uses one link per layer, without a bias on the state's side.
Ready lstm_cells(const Parameters& p) {
  auto layers = std::make_shared<std::vector<nn::LSTM>>();
  const std::int64_t n = p.at("units");
  for (std::int64_t k = 0; k < p.at("layers"); ++k) {
    const std::int64_t in = input_size(p, k);
    nn::LSTM& l = layers->emplace_back(int(in), int(n));
    l.upward.W.set_data(by_unit(weights(p, {4 * n, in}, k, 0), n));
    l.upward.b->set_data(by_unit(weights(p, {4 * n}, k, 2), n));
    l.lateral.W.set_data(by_unit(weights(p, {4 * n, n}, k, 1), n));
  }
  return rotating(
      p, [&](std::int64_t seed) { return sequence(p, seed); },
      [layers, n](const Variables& xs) {
        Variables ys;
        for (nn::LSTM& l : *layers) {
          l.reset_state();
          l.cleargrads();
        }
        for (const Variable& x : xs) {
          ys.push_back(x);
          for (nn::LSTM& l : *layers) ys.back() = l(ys.back());
        }
        sum(autograd::concat(ys, 0)).backward();
        // Returns the gradient for the input gate.
        const Array gradient = layers->front().lateral.W.grad();
        return nd::Array(autograd::squeeze(autograd::slice(autograd::reshape(gradient, {n, 4, n}), 1, 1, 2), 1));
      });
}

// ---- a step of training -------------------------------------------------------------------------
// Words to vectors, stacked LSTM, and the next word by a linear map and softmax cross entropy, with Adam.
struct LanguageModel : nn::Chain {
  nn::EmbedID embed;
  nn::NStepLSTM lstm;
  nn::Linear out;
  int times;
  std::vector<Variables> ws, bs;  // of lstm
  Variable state;

  explicit LanguageModel(const Parameters& p)
      : embed(int(p.at("words")), int(p.at("inputs"))),
        lstm(int(p.at("layers")), int(p.at("inputs")), int(p.at("units")), 0.0),
        out(int(p.at("units")), int(p.at("words"))),
        times(int(p.at("times"))) {
    const Stacked values(p, 4);
    for (std::int64_t layer = 0; layer < p.at("layers"); ++layer) {
      ws.emplace_back();
      bs.emplace_back();
      for (std::size_t j = 0; j < 8; ++j) {
        const std::string number = std::to_string(j);
        ws.back().push_back(lstm[layer].param("w" + number));
        bs.back().push_back(lstm[layer].param("b" + number));
        ws.back().back().set_data(values.ws[std::size_t(layer)][j].data());
        bs.back().back().set_data(values.bs[std::size_t(layer)][j].data());
      }
    }
    state = values.hx;
    embed.W.set_data(weights(p, embed.W.shape(), -2, 0));
    out.W.set_data(weights(p, out.W.shape(), -1, 0));
  }
  NN_MEMBERS(embed, lstm, out)
  // `words` is (times batch), ordered by time.
  Variable operator()(const Variable& words) {
    const Variables xs = split_axis(embed(words), times, 0);
    return out(autograd::concat(nn::n_step_lstm(lstm.n_layers, 0.0, state, state, ws, bs, xs).ys, 0));
  }
};

struct Trained {
  LanguageModel model;
  training::Adam adam;
  std::vector<std::pair<nd::Array, nd::Array>> batches;
  std::size_t at = 0;

  explicit Trained(const Parameters& p) : model(p) {
    const std::int64_t n = p.at("times") * p.at("batch");
    for (std::int64_t set = 0; set < p.at("sets"); ++set)
      batches.emplace_back(labels(n, 2 * set, p.at("words")), labels(n, 2 * set + 1, p.at("words")));
    adam.setup(model);
  }
  Variable step() {
    const auto& [x, t] = batches[at];
    if (++at == batches.size()) at = 0;
    Variable loss;
    adam.update([&] { return loss = nn::softmax_cross_entropy(model(x), t); });
    return loss;
  }
};

// The compared result is the loss of the second step, which depends on forward, backward and update.
Ready language_model(const Parameters& p) {
  auto t = std::make_shared<Trained>(p);
  return {repeated([t] { t->step(); }), [t] {
            t->step();
            return nd::Array(t->step().data());
          }};
}

Parameters drawn(Draw& draw) {
  const std::int64_t n = draw.elements(), units = draw.length(8, std::clamp<std::int64_t>(n / 2, 8, 1024));
  const std::int64_t batch = draw.log_uniform(1, std::clamp<std::int64_t>(n / units / 4, 1, 256));
  return {{"times", std::clamp<std::int64_t>(n / units / batch, 1, 200)},
          {"batch", batch},
          {"inputs", draw.length(8, 512)},
          {"units", units},
          {"layers", draw.log_uniform(1, 3)},
          {"sets", 2}};
}

Parameters drawn_language_model(Draw& draw) {
  Parameters p = drawn(draw);
  p["times"] = std::min<std::int64_t>(p["times"], 50);
  p["batch"] = std::min<std::int64_t>(p["batch"], 64);
  p["words"] =
      draw.length(50, std::clamp<std::int64_t>(draw.at_most(100'000'000) / (p["times"] * p["batch"]), 50, 20000));
  return p;
}

const Parameters full{{"times", 50}, {"batch", 50}, {"inputs", 256}, {"units", 256}, {"layers", 2}, {"sets", 2}};
const Parameters tiny{{"times", 3}, {"batch", 2}, {"inputs", 5}, {"units", 4}};

const Cases cases{
    {"recurrent/lstm", full, tiny, lstm, drawn},
    {"recurrent/gru", full, tiny, gru, drawn},
    {"recurrent/lstm_cells", full, tiny, lstm_cells, drawn},
    {"recurrent/language_model",
     {{"words", 10000}, {"times", 35}, {"batch", 20}, {"inputs", 200}, {"units", 200}, {"layers", 2}, {"sets", 2}},
     {{"words", 7}, {"times", 3}, {"batch", 2}, {"inputs", 5}, {"units", 4}},
     language_model,
     drawn_language_model},
};

}  // namespace
}  // namespace bench
