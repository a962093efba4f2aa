// Trains a recurrent language model on the characters of a text by truncated backpropagation, and writes some text.
// test: --generated --test --epoch 1 --batchsize 10 --bproplen 30 --unit 8 --length 5 --no-progress
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

// An embedding, LSTMs and a linear layer. Each block starts from the states after the previous one, through which no
// gradient flows.
struct CharRNN : nn::Chain {
  nn::EmbedID embed;
  nn::NStepLSTM lstm;
  nn::Linear out;
  NN_MEMBERS(embed, lstm, out)

  CharRNN(int kinds, int units, int layers) : embed(kinds, units), lstm(layers, units, units, 0.0), out(units, kinds) {}

  void reset_state() { h = c = Variable(); }
  // Returns the scores (pieces * length, kinds) of the next character for each character of x (pieces, length).
  Variable scores(const Variable& x) {
    const auto [hy, cy, ys] = lstm(h, c, separate(embed(x)));
    h = hy.data();
    c = cy.data();
    return out(concat(ys, 0));
  }
  Variable operator()(const Variable& x, const Variable& t) {
    const Variable loss = nn::softmax_cross_entropy(scores(x), t.reshape(-1));
    nn::report("bits", loss.data() / std::log(2.0), this);  // per character
    return loss;
  }

 private:
  Variable h, c;
};

int main(int argc, char** argv) try {
  Arguments args(argc, argv, "Catena example: a recurrent language model of characters");
  const int batchsize = args.option("-b,--batchsize", 50, "pieces of the text that are read side by side");
  const int bproplen = args.option("-l,--bproplen", 50, "characters through which gradients go back");
  const int epoch = args.option("-e,--epoch", 10, "sweeps over the text");
  const int unit = args.option("-u,--unit", 256, "units of a layer");
  const int layer = args.option("--layer", 1, "layers");
  const double lr = args.option("--lr", 0.002, "step size of Adam");
  const double gradclip = args.option("-c,--gradclip", 5.0, "largest norm of the gradients");
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
  CharRNN model(int(text.characters.size()), unit, layer);
  training::Adam optimizer({.alpha = lr});
  optimizer.setup(model);
  optimizer.add_hook(training::GradientClipping(gradclip));

  TextIterator train_iter(text.train, batchsize, bproplen);
  TextIterator valid_iter(text.valid, batchsize, bproplen, false);
  training::StandardUpdater updater(train_iter, optimizer);
  training::Trainer trainer(updater, {epoch, "epoch"}, out);
  CharRNN evaluated = nn::copy(model);  // the same weights, separate states
  trainer.extend(training::Evaluator(valid_iter, evaluated,
                                     {.eval_hook = [&](training::Evaluator&) { evaluated.reset_state(); }}));
  trainer.extend(training::LogReport());
  trainer.extend(training::PrintReport({"epoch", "iteration", "main/bits", "validation/main/bits", "elapsed_time"}));
  if (!no_progress) trainer.extend(training::ProgressBar());
  trainer.run();

  nn::serializers::save_npz(out + "/model.npz", model);
  model.reset_state();
  std::size_t read = 0;  // characters that have gone into the states
  const auto scores = [&](const std::string& written) {
    const Variable y = model.scores(text.numbers_of(written.substr(read)).reshape(1, -1));
    read = written.size();
    return y(nd::Slice(-1, {}));
  };
  std::printf("\n%s\n", continued(prime, length, scores, text, temperature, seed).c_str());
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "train_char_rnn: %s\n", e.what());
  return 1;
}
