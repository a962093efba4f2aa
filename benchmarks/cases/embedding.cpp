// Word vectors: the vectors of a batch of sentences with the gradient of the table, and a step of skip-gram with
// negative sampling (Chainer's examples/word2vec), including the drawing of samples.
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include <catena/benchmarks/cases.h>

namespace bench {
namespace {

using autograd::Variable;

// The compared result is the gradient of the table, in which a word may occur many times.
Ready dense_gradient(const Parameters& p) {
  auto embed = std::make_shared<nn::EmbedID>(int(p.at("vocabulary")), int(p.at("units")), 0.0);
  embed->W.set_data(uniform(embed->W.shape(), 1000, -0.5, 0.5));
  const std::int64_t batch = p.at("batch"), times = p.at("times");
  return rotating(
      p,
      [&](std::int64_t seed) {
        return labels(batch * times, seed, p.at("vocabulary")).reshape({batch, times});
      },
      [embed, gy = uniform({batch, times, p.at("units")}, 2000, -1)](const nd::Array& words) {
        embed->cleargrads();
        Variable y = (*embed)(words);
        y.set_grad(gy);
        y.backward();
        return nd::Array(embed->W.grad());
      });
}

Parameters sentences(Draw& draw) {
  const std::int64_t vocabulary = draw.length(10, 200000), units = draw.length(1, 1000);
  return {{"vocabulary", draw.at_most(vocabulary)},
          {"units", std::clamp<std::int64_t>(draw.at_most(100000000) / vocabulary, 1, units)},
          {"batch", draw.at_most(draw.log_uniform(1, 256))},
          {"times", draw.at_most(draw.log_uniform(1, 100))},
          {"sets", 2}};
}

// Returns the frequencies of words by Zipf's law.
std::vector<double> counts(std::int64_t vocabulary) {
  std::vector<double> result;
  for (std::int64_t k = 0; k < vocabulary; ++k) result.push_back(double(1000000 / (k + 1) + 1));
  return result;
}

struct SkipGram : nn::Chain {
  nn::EmbedID embed;
  nn::NegativeSampling loss;
  explicit SkipGram(const Parameters& p)
      : embed(int(p.at("vocabulary")), int(p.at("units")), 0.0),
        loss(int(p.at("units")), counts(p.at("vocabulary")), int(p.at("samples"))) {
    embed.W.set_data(uniform(embed.W.shape(), 1000, -0.5, 0.5));
    loss.W.set_data(uniform(loss.W.shape(), 1001, -0.5, 0.5));
  }
  NN_MEMBERS(embed, loss)
  Variable operator()(const Variable& context, const Variable& word) { return loss(embed(context), word); }
};

struct Trained {
  SkipGram model;
  training::Adam adam;
  std::vector<std::pair<nd::Array, nd::Array>> batches;  // numbers of the two words of each pair
  std::size_t at = 0;

  explicit Trained(const Parameters& p) : model(p) {
    const std::int64_t n = p.at("pairs"), words = p.at("vocabulary");
    for (std::int64_t s = 0; s < p.at("sets"); ++s)
      batches.emplace_back(labels(n, 2 * s, words), labels(n, 2 * s + 1, words));
    adam.setup(model);
  }
  Variable step() {
    const auto& [context, word] = batches[at];
    if (++at == batches.size()) at = 0;
    Variable loss;
    adam.update([&] { return loss = model(context, word); });
    return loss;
  }
};

// The compared result is the loss of the second step, with fixed samples instead of random ones.
Ready word2vec(const Parameters& p) {
  auto t = std::make_shared<Trained>(p);
  const std::int64_t words = p.at("vocabulary");
  return {repeated([t] { t->step(); }), [t, words] {
            // The first column is replaced by the label.
            t->model.loss.sampler = [words](const autograd::Shape& shape) {
              const std::int64_t samples = shape[1] - 1;
              const autograd::Array drawn = labels(shape[0] * samples, 9000, words),
                                    ignored = autograd::arrays::zeros({shape[0], 1}, autograd::Dtype::int32);
              const autograd::Array columns[] = {ignored, autograd::reshape(drawn, {shape[0], samples})};
              return autograd::concatenate(columns, 1);
            };
            t->step();
            const nd::Array loss = t->step().data();
            t->model.loss.sampler = {};
            return loss;
          }};
}

Parameters pairs(Draw& draw) {
  return {{"pairs", draw.at_most(draw.one_of({1, 8, 64, 256, 1000, 6000}))},
          {"vocabulary", draw.length(10, draw.at_most(100000))},
          {"units", draw.length(10, draw.at_most(300))},
          {"samples", 5},
          {"sets", 2}};
}

const Cases cases{
    {"embedding/dense_gradient",
     {{"vocabulary", 100000}, {"units", 256}, {"batch", 64}, {"times", 50}, {"sets", 4}},
     {{"vocabulary", 20}, {"units", 6}, {"batch", 3}, {"times", 4}, {"sets", 2}},
     dense_gradient,
     sentences},
    {"training/word2vec",
     {{"pairs", 6000}, {"vocabulary", 10000}, {"units", 100}, {"samples", 5}, {"sets", 8}},
     {{"pairs", 7}, {"vocabulary", 20}, {"units", 6}, {"sets", 2}},
     word2vec,
     pairs},
};

}  // namespace
}  // namespace bench
