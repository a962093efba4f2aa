// Trains a small transformer on the characters of a text, and writes some text.
// test: --generated --test --epoch 1 --batchsize 10 --context 30 --unit 8 --layer 1 --length 5 --no-progress
// writes: result/log result/model.npz
// prints: # characters: 2700 of 13 kinds, for validation: 300
// prints: epoch +iteration +main/bits +validation/main/bits +elapsed_time
// prints: 1 +9 +[0-9.]+ +[0-9.]+ +[0-9.]+
#include <cmath>
#include <cstdio>
#include <string>

#include <catena/catena.h>

#include "../arguments.h"
#include "text.h"

using autograd::Variable;

struct Transformer : nn::Chain {
  nn::EmbedID embed, position;
  nn::TransformerEncoder body;
  nn::Linear out;
  NN_MEMBERS(embed, position, body, out)

  Transformer(int kinds, int units, int layers, int heads, int length)
      : embed(kinds, units),
        position(length, units),
        body(layers, units, heads, {.dim_feedforward = 4 * units, .dropout = 0, .norm_first = true}),
        out(units, kinds) {}

  // Returns the scores (pieces * length, kinds) of the next character for each character of x (pieces, length). A
  // character sees itself and those before it.
  Variable scores(const Variable& x) {
    const Variable h = body(embed(x) + position(nd::arange(x.shape(1))), {.causal = true});
    return out(h.reshape(x.size(), -1));
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
  const bool is_mixed = args.flag("--autocast", "products and attention in bfloat16, weights and losses in float32");
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
  training::StandardUpdater::Options options;
  if (is_mixed) options.autocast = nd::bfloat16;
  training::StandardUpdater updater(train_iter, optimizer, options);
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
