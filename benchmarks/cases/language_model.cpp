// A step of training of a language model with transformer layers: forward, backward and update by AdamW.
#include <cmath>
#include <memory>

#include <catena/benchmarks/cases.h>

namespace bench {
namespace {

using autograd::Variable;

// Sets weights on [-bound, bound), by default sqrt(3 / fan_in).
void hash(nn::Parameter& W, std::int64_t seed, double bound = 0) {
  const autograd::Shape shape = W.shape();
  if (bound == 0) bound = std::sqrt(3.0 / double(shape[1]));
  W.set_data(uniform(shape, seed, -bound, bound));
}

// Words and positions are embedded, layers with causal attention and normalization before each part follow, and a
// linear layer scores the next words.
struct LanguageModel : nn::Chain {
  nn::EmbedID embed, position;
  nn::TransformerEncoder encoder;
  nn::Linear out;

  explicit LanguageModel(const Parameters& p)
      : embed(int(p.at("words")), int(p.at("units"))),
        position(int(p.at("context")), int(p.at("units"))),
        encoder(int(p.at("layers")), int(p.at("units")), int(p.at("heads")),
                {.dim_feedforward = int(4 * p.at("units")),
                 .dropout = 0,
                 .activation = [](const Variable& x) { return nn::gelu(x); },
                 .norm_first = true}),
        out(int(p.at("units")), int(p.at("words"))) {
    hash(embed.W, 1000, 0.05);
    hash(position.W, 1001, 0.05);
    hash(out.W, 1002);
    for (std::size_t i = 0; i < encoder.layers.size(); ++i) {
      nn::TransformerEncoderLayer& layer = encoder.layers[i];
      const std::int64_t seed = 1010 + 4 * std::int64_t(i);
      hash(layer.self_attn.in_proj->W, seed);
      hash(layer.self_attn.out_proj.W, seed + 1);
      hash(layer.linear1.W, seed + 2);
      hash(layer.linear2.W, seed + 3);
    }
  }
  NN_MEMBERS(embed, position, encoder, out)

  // words (batch, context) -> scores (batch context, words)
  Variable operator()(const Variable& words) {
    const Variable x = embed(words);
    const Variable y = encoder(x + autograd::broadcast_to(position.W, x.shape()), {.causal = true});
    return out(y.reshape(-1, y.shape(2)));
  }
};

struct Trained {
  LanguageModel model;
  training::AdamW adamw{0.001};
  std::vector<std::pair<nd::Array, nd::Array>> batches;
  std::size_t at = 0;

  explicit Trained(const Parameters& p) : model(p) {
    const std::int64_t n = p.at("batch"), context = p.at("context"), words = p.at("words");
    for (std::int64_t s = 0; s < p.at("sets"); ++s)
      batches.emplace_back(labels(n * context, 2 * s, words).reshape({n, context}),
                           labels(n * context, 2 * s + 1, words));
    adamw.setup(model);
  }
  Variable step() {
    const auto& [x, t] = batches[at];
    if (++at == batches.size()) at = 0;
    Variable loss;
    adamw.update([&] { return loss = nn::softmax_cross_entropy(model(x), t); });
    return loss;
  }
};

// The compared result is the loss of the second step, which depends on forward, backward and update.
Ready steps(const Parameters& p) {
  auto t = std::make_shared<Trained>(p);
  return {repeated([t] { t->step(); }), [t] {
            t->step();
            return nd::Array(t->step().data());
          }};
}

Parameters drawn(Draw& draw) {
  const std::int64_t heads = draw.one_of({2, 4, 8}), context = draw.length(8, draw.at_most(512));
  return {{"words", draw.length(50, 10000)},
          {"layers", draw.log_uniform(1, 4)},
          {"units", heads * draw.one_of({16, 32, 64})},
          {"heads", heads},
          {"context", context},
          {"batch", draw.log_uniform(1, 16)},
          {"sets", 2}};
}

const Cases cases{
    {"training/transformer",
     {{"words", 4096}, {"layers", 4}, {"units", 256}, {"heads", 8}, {"context", 128}, {"batch", 16}, {"sets", 2}},
     {{"words", 7}, {"layers", 2}, {"units", 8}, {"heads", 2}, {"context", 5}, {"batch", 2}, {"sets", 2}},
     steps,
     drawn},
};

}  // namespace
}  // namespace bench
