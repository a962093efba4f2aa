// Trains a small transformer on the characters of a text, and writes some text.
// test: --generated --test --epoch 1 --batchsize 10 --context 30 --unit 8 --layer 1 --length 5 --no-progress
// writes: result/log result/model.npz
// prints: # characters: 2700 of 13 kinds, for validation: 300
// prints: epoch +iteration +main/bits +validation/main/bits +elapsed_time
// prints: 1 +9 +[0-9.]+ +[0-9.]+ +[0-9.]+
#include <cmath>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

#include <catena/catena.h>

#include "../arguments.h"
#include "text.h"

using autograd::Variable;

// The rows of a matrix x (batch * time, units) are the characters of `batch` blocks.

// y = softmax(q k^T / sqrt(d)) v for every head of d units, where a character sees itself and those before it.
struct SelfAttention : nn::Chain {
  nn::Linear qkv, out;
  NN_MEMBERS(qkv, out)

  SelfAttention(int units, int heads, int length) : qkv(units, 3 * units), out(units, units), heads(heads) {
    const nd::Array times = nd::arange(length);
    mask = nd::where(times <= times(nd::Slice(), nd::newaxis), 0.f, -std::numeric_limits<float>::infinity());
  }

  Variable operator()(const Variable& x, std::int64_t batch) {
    const std::int64_t units = x.shape(1), time = x.shape(0) / batch;
    const nd::Slice times(0, time);
    const auto by_head = [&](const Variable& v) { return v.reshape(batch, time, heads, -1).transpose(0, 2, 1, 3); };
    const autograd::Variables parts = split_axis(qkv(x), 3, 1);
    const Variable q = by_head(parts[0]) / std::sqrt(double(units / heads));
    const Variable weights = nn::softmax(matmul(q, by_head(parts[1]), false, true) + mask(times, times), 3);
    const Variable y = matmul(weights, by_head(parts[2]));  // (batch, heads, time, d)
    return out(y.transpose(0, 2, 1, 3).reshape(-1, units));
  }

 private:
  std::int64_t heads;
  nd::Array mask;
};

struct Block : nn::Chain {
  nn::LayerNormalization ln1, ln2;
  SelfAttention attention;
  nn::Linear fc1, fc2;
  NN_MEMBERS(ln1, attention, ln2, fc1, fc2)

  Block(int units, int heads, int length)
      : ln1(units), ln2(units), attention(units, heads, length), fc1(units, 4 * units), fc2(4 * units, units) {}

  Variable operator()(Variable x, std::int64_t batch) {
    x += attention(ln1(x), batch);
    return x + fc2(nn::relu(fc1(ln2(x))));
  }
};

struct Transformer : nn::Chain {
  nn::EmbedID embed, position;
  std::vector<Block> blocks;
  nn::LayerNormalization ln;
  nn::Linear out;
  NN_MEMBERS(embed, position, blocks, ln, out)

  Transformer(int kinds, int units, int layers, int heads, int length)
      : embed(kinds, units), position(length, units), ln(units), out(units, kinds) {
    for (int i = 0; i < layers; ++i) blocks.emplace_back(units, heads, length);
  }

  // Returns the scores (pieces * length, kinds) of the next character for each character of x (pieces, length).
  Variable scores(const Variable& x) {
    const nd::Array times = nd::arange(x.shape(1));
    Variable h = (embed(x) + position(times)).reshape(x.size(), -1);
    for (Block& block : blocks) h = block(h, x.shape(0));
    return out(ln(h));
  }
  Variable operator()(const Variable& x, const Variable& t) {
    const Variable loss = nn::softmax_cross_entropy(scores(x), t.reshape(-1));
    nn::report("bits", loss.data() / std::log(2.0), this);  // per character
    return loss;
  }
};

int main(int argc, char** argv) try {
  Arguments args(argc, argv, "Catena example: a transformer that models characters");
  const int batchsize = args.option("-b,--batchsize", 32, "pieces of the text that are read side by side");
  const int context = args.option("-l,--context", 64, "characters of a block, which attention sees");
  const int epoch = args.option("-e,--epoch", 10, "sweeps over the text");
  const int unit = args.option("-u,--unit", 128, "units of a layer");
  const int layer = args.option("--layer", 2, "blocks of attention and two linear layers");
  const int head = args.option("--head", 4, "heads of an attention");
  const double lr = args.option("--lr", 0.002, "step size of Adam");
  const double gradclip = args.option("-c,--gradclip", 1.0, "largest norm of the gradients");
  const int gpu = args.option("-g,--gpu", -1, "GPU; -1: the CPU");
  const std::string out = args.option("-o,--out", "result", "folder of the results");
  const int length = args.option("--length", 400, "characters to write in the end");
  const std::string prime = args.option("--prime", "\n", "what they continue");
  const double temperature = args.option("--temperature", 0.8, "below 1: likely characters become likelier");
  const int seed = args.option("--seed", 0, "of the weights and of the written text");
  const bool no_progress = args.flag("--no-progress", "no progress bar");
  const bool generated = args.flag("--generated", "a generated text in place of a file");
  const bool is_test = args.flag("--test", "use 3000 characters");
  const std::string path = generated ? "" : args.positional("TEXT", "file of the text");
  args.finish();
  if (prime.empty()) args.fail("--prime: the text to continue is empty");
  use_device(gpu);
  autograd::seed(seed);

  const Text text(read_text(path).substr(0, is_test ? 3000 : std::string::npos));
  Transformer model(int(text.characters.size()), unit, layer, head, context);
  training::Adam optimizer({.alpha = lr});
  optimizer.setup(model);
  optimizer.add_hook(training::GradientClipping(gradclip));

  TextIterator train_iter(text.train, batchsize, context);
  TextIterator valid_iter(text.valid, batchsize, context, false);
  training::StandardUpdater updater(train_iter, optimizer);
  training::Trainer trainer(updater, {epoch, "epoch"}, out);
  trainer.extend(training::Evaluator(valid_iter, model));
  trainer.extend(training::LogReport());
  trainer.extend(training::PrintReport({"epoch", "iteration", "main/bits", "validation/main/bits", "elapsed_time"}));
  if (!no_progress) trainer.extend(training::ProgressBar());
  trainer.run();

  nn::serializers::save_npz(out + "/model.npz", model);
  const auto scores = [&](const std::string& written) {
    const std::string seen = written.substr(written.size() - std::min(written.size(), std::size_t(context)));
    return model.scores(text.numbers_of(seen).reshape(1, -1))(nd::Slice(-1, {}));
  };
  std::printf("\n%s\n", continued(prime, length, scores, text, temperature, seed).c_str());
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "train_transformer: %s\n", e.what());
  return 1;
}
