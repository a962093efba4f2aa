// Trains the language model of train_ptb without a Trainer: the loop over the text is written out.
// test: --synthetic --test --batchsize 1 --bproplen 5 --epoch 2 --unit 20
// writes: rnnlm.model rnnlm.state
// prints: iteration:  20.training perplexity:  [0-9.]+
// prints: epoch:  1.validation perplexity:  [0-9.]+.*epoch:  2.validation perplexity:  [0-9.]+
// prints: test.test perplexity: [0-9.]+
// prints: save the model.save the optimizer
#include <cmath>
#include <cstdio>
#include <string>

#include <catena/catena.h>

#include "../arguments.h"
#include "parallel_sequential_iterator.h"
#include "rnn_for_lm.h"
#include "words.h"

using autograd::Variable;
using Model = nn::Classifier<RNNForLM>;

// Returns the perplexity of a text.
double evaluate(const Model& model, ParallelSequentialIterator iter) {
  const auto mode = autograd::using_config({.train = false, .enable_backprop = false});
  Model evaluator = nn::copy(model);  // the same parameters, separate states
  evaluator.predictor.reset_state();
  double sum = 0;
  int count = 0;
  for (const training::Batch& batch : iter) {
    const auto [x, t] = training::to_variables(batch);
    sum += evaluator(x, t).item<double>();
    ++count;
  }
  return std::exp(sum / count);
}

int main(int argc, char** argv) try {
  Arguments args(argc, argv, "Catena example: a language model of words, with a loop of its own");
  const int batchsize = args.option("-b,--batchsize", 20, "places of the text that are read side by side");
  const int bproplen = args.option("-l,--bproplen", 35, "words through which gradients go back");
  const int epoch = args.option("-e,--epoch", 39, "sweeps over the text");
  const int gpu = args.option("-g,--gpu", -1, "GPU; -1: the CPU");
  const double gradclip = args.option("-c,--gradclip", 5.0, "largest norm of the gradients");
  const std::string out = args.option("-o,--out", ".", "folder of the results, which exists");
  const std::string resume = args.option("-r,--resume", "", "folder of the results from which training continues");
  const bool is_test = args.flag("--test", "use 100 words of each text");
  const int unit = args.option("-u,--unit", 650, "units of an LSTM");
  const int seed = args.option("--seed", 0, "of the weights and of dropout");
  const bool synthetic = args.flag("--synthetic", "generated sentences instead of the Penn Tree Bank");
  args.finish();
  use_device(gpu);
  autograd::seed(seed);

  Words words = ptb_words(synthetic);
  const int n_vocab = words.n_vocab();
  std::printf("#vocab = %d\n", n_vocab);
  if (is_test)
    for (auto* part : {&words.train, &words.val, &words.test}) part->resize(100);

  ParallelSequentialIterator train_iter(words.train, batchsize);
  const ParallelSequentialIterator val_iter(words.val, 1, false);
  const ParallelSequentialIterator test_iter(words.test, 1, false);

  Model model(RNNForLM(n_vocab, unit), {.compute_accuracy = false});

  training::SGD optimizer({.lr = 1.0});
  optimizer.setup(model);
  optimizer.add_hook(training::GradientClipping(gradclip));
  if (!resume.empty()) {
    nn::serializers::load_npz(resume + "/rnnlm.model", model);
    nn::serializers::load_npz(resume + "/rnnlm.state", optimizer);
  }

  double sum = 0;
  int count = 0, iteration = 0;
  while (train_iter.epoch() < epoch) {
    const std::int64_t epochs_before = train_iter.epoch();
    Variable loss = nd::array(0.f);
    ++iteration;
    for (int i = 0; i < bproplen; ++i) {
      const auto [x, t] = training::to_variables(*train_iter.next());
      loss += model(x, t);
      ++count;
    }
    sum += loss.item<double>();
    model.cleargrads();
    loss.backward();
    loss.unchain_backward();  // cuts the graph, through which the states of the LSTMs depend on these batches
    optimizer.update();

    if (iteration % 20 == 0) {
      std::printf("iteration:  %d\ntraining perplexity:  %g\n", iteration, std::exp(sum / count));
      sum = count = 0;
    }
    if (train_iter.epoch() > epochs_before)
      std::printf("epoch:  %d\nvalidation perplexity:  %g\n", int(train_iter.epoch()), evaluate(model, val_iter));
  }

  std::printf("test\ntest perplexity: %g\n", evaluate(model, test_iter));

  std::printf("save the model\n");
  nn::serializers::save_npz(out + "/rnnlm.model", model);
  std::printf("save the optimizer\n");
  nn::serializers::save_npz(out + "/rnnlm.state", optimizer);
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "train_ptb_custom_loop: %s\n", e.what());
  return 1;
}
