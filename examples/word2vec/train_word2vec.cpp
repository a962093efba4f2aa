// Learns vectors of words: words in similar contexts get similar vectors. Skip-gram or continuous bag of words.
// test: --synthetic --test --epoch 1 --batchsize 30 --unit 20 --out-type ns
// writes: result/log result/snapshot_iter_3 word2vec.model
// prints: GPU: -?[0-9].# unit: 20.Window: 5.Minibatch-size: 30.# epoch: 1.Training model: skipgram.Output type: ns
// prints: dataset: generated sentences
// prints: n_vocab: 980.data length: 100
// prints: epoch +main/loss +validation/main/loss
// prints: 1 +[0-9.]+ +[0-9.]+
#include <cstdio>
#include <fstream>
#include <iomanip>
#include <map>
#include <memory>
#include <string>

#include <catena/catena.h>

#include "../arguments.h"
#include "../ptb/words.h"
#include "window_iterator.h"

using autograd::Variable;
using LossFunction = std::shared_ptr<nn::Link>;  // loss_func->call({vectors, words})

// Predicts a word x (N) from the mean of the vectors of its context (N, C).
struct ContinuousBoW : nn::Chain {
  nn::EmbedID embed;
  LossFunction loss_func;
  NN_MEMBERS(embed, loss_func)

  ContinuousBoW(int n_vocab, int n_units, LossFunction loss)
      : embed(n_vocab, n_units, nn::initializers::Uniform(1.0 / n_units)), loss_func(std::move(loss)) {}

  Variable operator()(const Variable& x, const Variable& context) {
    const Variable h = embed(context).sum(1) * (1.0 / double(context.shape(1)));
    const Variable loss = loss_func->call({h, x});
    nn::report("loss", loss, this);
    return loss;
  }
};

// Predicts a word x (N) from the vector of each word of its context (N, C).
struct SkipGram : nn::Chain {
  nn::EmbedID embed;
  LossFunction loss_func;
  NN_MEMBERS(embed, loss_func)

  SkipGram(int n_vocab, int n_units, LossFunction loss)
      : embed(n_vocab, n_units, nn::initializers::Uniform(1.0 / n_units)), loss_func(std::move(loss)) {}

  Variable operator()(const Variable& x, const Variable& context) {
    const Variable e = embed(context);
    const Variable centers = broadcast_to(expand_dims(x, 1), context.shape());
    const Variable loss = loss_func->call({e.reshape(-1, e.shape(2)), centers.reshape(-1)});
    nn::report("loss", loss, this);
    return loss;
  }
};

struct SoftmaxCrossEntropyLoss : nn::Chain {
  nn::Linear out;
  NN_MEMBERS(out)

  SoftmaxCrossEntropyLoss(int n_in, int n_out) : out(n_in, n_out, {.initialW = 0.0}) {}
  Variable operator()(const Variable& x, const Variable& t) { return nn::softmax_cross_entropy(out(x), t); }
};

// Writes the number of words, the length of a vector, and in each further line a word and its vector.
void save_vectors(const char* path, const training::datasets::Vocabulary& vocabulary, const nd::Array& vectors) {
  std::ofstream file(path);
  file << vocabulary.size() << ' ' << vectors.shape()[1] << '\n' << std::setprecision(9);
  for (const auto& [word, number] : vocabulary) {
    file << word;
    for (const float v : vectors[number].to_vector<float>()) file << ' ' << v;
    file << '\n';
  }
}

int main(int argc, char** argv) try {
  Arguments args(argc, argv, "Catena example: vectors of words");
  const int gpu = args.option("-g,--gpu", -1, "GPU; -1: the CPU");
  const int unit = args.option("-u,--unit", 100, "length of a vector");
  const int window = args.option("-w,--window", 5, "size of the context, above 1");
  const int batchsize = args.option("-b,--batchsize", 1000, "words in a minibatch");
  const int epoch = args.option("-e,--epoch", 20, "sweeps over the text");
  const std::string model_type = args.choice("-m,--model", {"skipgram", "cbow"}, "model");
  const int negative_size = args.option("--negative-size", 5, "number of negative samples");
  const std::string out_type = args.choice("-o,--out-type", {"hsm", "ns", "original"},
                                           "loss: hierarchical softmax, negative sampling or no approximation");
  const std::string out = args.option("--out", "result", "folder of the results");
  const bool is_test = args.flag("--test", "use 100 words of each text");
  const std::string resume = args.option("-r,--resume", "", "snapshot from which training continues");
  const int seed = args.option("--seed", 0, "of the weights, the order of the words and the samples");
  const bool synthetic = args.flag("--synthetic", "generated sentences instead of the Penn Tree Bank");
  args.finish();
  std::printf(
      "GPU: %d\n# unit: %d\nWindow: %d\nMinibatch-size: %d\n# epoch: %d\nTraining model: %s\nOutput type: %s\n\n", gpu,
      unit, window, batchsize, epoch, model_type.c_str(), out_type.c_str());
  use_device(gpu);
  autograd::seed(seed);

  Words words = ptb_words(synthetic);
  const int n_vocab = words.n_vocab();
  std::map<std::int32_t, double> counts;
  for (const auto* part : {&words.train, &words.val})
    for (const std::int32_t word : *part) ++counts[word];
  if (is_test)
    for (auto* part : {&words.train, &words.val}) part->resize(100);
  std::printf("n_vocab: %d\ndata length: %zu\n", n_vocab, words.train.size());

  LossFunction loss_func;
  if (out_type == "hsm") {
    using HSM = nn::BinaryHierarchicalSoftmax;
    const auto loss = std::make_shared<HSM>(unit, HSM::create_huffman_tree(counts));
    nn::initializers::Zero()(loss->W.data());
    loss_func = loss;
  } else if (out_type == "ns") {
    std::vector<double> cs;
    for (const auto& [word, count] : counts) cs.push_back(count);
    loss_func = std::make_shared<nn::NegativeSampling>(unit, cs, negative_size);
  } else {
    loss_func = std::make_shared<SoftmaxCrossEntropyLoss>(unit, n_vocab);
  }

  const auto train = [&](auto model) {
    training::Adam optimizer;
    optimizer.setup(model);

    WindowIterator train_iter(words.train, window, batchsize);
    WindowIterator val_iter(words.val, window, batchsize, false);
    training::StandardUpdater updater(train_iter, optimizer);
    training::Trainer trainer(updater, {epoch, "epoch"}, out);

    trainer.extend(training::Evaluator(val_iter, model));
    trainer.extend(training::LogReport());
    trainer.extend(training::PrintReport({"epoch", "main/loss", "validation/main/loss"}));
    trainer.extend(training::ProgressBar());
    trainer.extend(training::snapshot(), {.trigger = {epoch, "epoch"}});
    if (!resume.empty()) nn::serializers::load_npz(resume, trainer);
    trainer.run();

    save_vectors("word2vec.model", words.vocabulary, model.embed.W.data());
  };
  if (model_type == "skipgram") train(SkipGram(n_vocab, unit, loss_func));
  else train(ContinuousBoW(n_vocab, unit, loss_func));
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "train_word2vec: %s\n", e.what());
  return 1;
}
