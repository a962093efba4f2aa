// Trains a recurrent language model of words by truncated backpropagation through time.
// test: --synthetic --test --batchsize 1 --bproplen 5 --epoch 1 --unit 20
// writes: result/log result/snapshot_iter_20 result/model_iter_20 model.npz
// prints: dataset: generated sentences
// prints: #vocab = 980
// prints: epoch +iteration +perplexity +val_perplexity
// prints: 0 +10 +[0-9.]+
// prints: 1 +20 +[0-9.]+ +[0-9.]+
// prints: test.test perplexity: [0-9.]+
#include <cmath>
#include <cstdio>
#include <string>

#include <catena/catena.h>

#include "../arguments.h"
#include "bptt_updater.h"
#include "parallel_sequential_iterator.h"
#include "rnn_for_lm.h"
#include "words.h"

// Adds perplexities to an entry of the log.
void compute_perplexity(training::LogEntry& result) {
  result.set("perplexity", std::exp(result.number("main/loss")));
  if (result.contains("validation/main/loss"))
    result.set("val_perplexity", std::exp(result.number("validation/main/loss")));
}

int main(int argc, char** argv) try {
  Arguments args(argc, argv, "Catena example: a language model of words");
  const int batchsize = args.option("-b,--batchsize", 20, "places of the text that are read side by side");
  const int bproplen = args.option("-l,--bproplen", 35, "words through which gradients go back");
  const int epoch = args.option("-e,--epoch", 39, "sweeps over the text");
  const int gpu = args.option("-g,--gpu", -1, "GPU; -1: the CPU");
  const double gradclip = args.option("-c,--gradclip", 5.0, "largest norm of the gradients");
  const std::string out = args.option("-o,--out", "result", "folder of the results");
  const std::string resume = args.option("-r,--resume", "", "snapshot from which training continues");
  const bool is_test = args.flag("--test", "use 100 words of each text");
  const int unit = args.option("-u,--unit", 650, "units of an LSTM");
  const std::string model_file = args.option("-m,--model", "model.npz", "file of the trained model");
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
  ParallelSequentialIterator val_iter(words.val, 1, false);
  ParallelSequentialIterator test_iter(words.test, 1, false);

  nn::Classifier model(RNNForLM(n_vocab, unit), {.compute_accuracy = false});

  training::SGD optimizer({.lr = 1.0});
  optimizer.setup(model);
  optimizer.add_hook(training::GradientClipping(gradclip));

  BPTTUpdater updater(train_iter, optimizer, bproplen);
  training::Trainer trainer(updater, {epoch, "epoch"}, out);

  auto eval_model = nn::copy(model);  // the same parameters, separate states
  trainer.extend(training::Evaluator(val_iter, eval_model,
                                     {.eval_hook = [&](training::Evaluator&) { eval_model.predictor.reset_state(); }}));

  const int interval = is_test ? 10 : 500;
  trainer.extend(training::LogReport({.trigger = {interval, "iteration"}, .postprocess = compute_perplexity}));
  trainer.extend(training::PrintReport({"epoch", "iteration", "perplexity", "val_perplexity"}),
                 {.trigger = {interval, "iteration"}});
  trainer.extend(training::ProgressBar({.update_interval = is_test ? 1 : 10}));
  trainer.extend(training::snapshot());
  trainer.extend(training::snapshot_object(model, "model_iter_{.updater.iteration}"));
  if (!resume.empty()) nn::serializers::load_npz(resume, trainer);

  trainer.run();

  std::printf("test\n");
  eval_model.predictor.reset_state();
  training::Evaluator evaluator(test_iter, eval_model);
  const training::Observation result = evaluator();
  std::printf("test perplexity: %g\n", std::exp(result.at("main/loss").value()));

  nn::serializers::save_npz(model_file, model);
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "train_ptb: %s\n", e.what());
  return 1;
}
