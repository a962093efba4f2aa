// Trains a recursive network to tell from the parse tree of a sentence whether it sounds negative or positive.
// test: --synthetic --test --epoch 5 --seed 1 --batchsize 5
// prints: dataset: generated
// prints: Epoch: 4.loss: [0-9.]+.[0-9.]+ iters/sec, [0-9.]+ sec
// prints: Train data evaluation:. Node accuracy: [0-9.]+ %% .[0-9]+/[0-9]+.. Root accuracy: [0-9.]+ %% .[0-9]+/10.
// prints: Develop data evaluation:
// prints: Test evaluateion
//
// The network is the simple one of R. Socher, C. Lin, A. Y. Ng, C. D. Manning: Parsing Natural Scenes and Natural
// Language with Recursive Neural Networks, ICML 2011.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <catena/catena.h>

#include "../arguments.h"
#include "generated_trees.h"
#include "trees.h"

using autograd::Variable;

// Computes the vector of a part of the sentence from those of its two parts, and the scores of its labels.
struct RecursiveNet : nn::Chain {
  nn::EmbedID embed;
  nn::Linear l, w;
  RecursiveNet(int n_vocab, int n_units, int n_label)
      : embed(n_vocab, n_units), l(n_units * 2, n_units), w(n_units, n_label) {}
  NN_MEMBERS(embed, l, w)

  Variable leaf(const Variable& x) { return embed(x); }
  Variable node(const Variable& left, const Variable& right) { return nn::tanh(l(autograd::concat({left, right}))); }
  Variable label(const Variable& v) { return w(v); }
};

struct Counts {
  long correct_node = 0, total_node = 0, correct_root = 0, total_root = 0;
};

// Returns the sum of the losses of all nodes, and the vector of the root. With `evaluate`, counts correct labels in
// place of the losses.
std::pair<Variable, Variable> traverse(RecursiveNet& model, const Tree& node, Counts* evaluate = nullptr,
                                       bool root = true) {
  Variable loss, v;
  if (node.is_leaf()) {
    loss = autograd::zeros({});
    v = model.leaf(nd::array({node.word}));
  } else {
    const auto [left_loss, left] = traverse(model, *node.left, evaluate, false);
    const auto [right_loss, right] = traverse(model, *node.right, evaluate, false);
    v = model.node(left, right);
    loss = left_loss + right_loss;
  }
  const Variable y = model.label(v);
  if (evaluate == nullptr) return {loss + nn::softmax_cross_entropy(y, nd::array({node.label})), v};

  const bool correct = int(y.data().argmax()) == node.label;
  evaluate->correct_node += correct;
  evaluate->total_node += 1;
  evaluate->correct_root += root && correct;
  evaluate->total_root += root;
  return {loss, v};
}

std::string with_commas(long n) {
  std::string digits = std::to_string(n);
  for (std::size_t i = digits.size(); i > 3;) digits.insert(i -= 3, ",");
  return digits;
}

void evaluate(RecursiveNet& model, const std::vector<Tree>& trees) {
  const auto no_graph = autograd::no_backprop_mode();
  Counts result;
  for (const Tree& tree : trees) traverse(model, tree, &result);
  const auto print = [](const char* what, long correct, long total) {
    std::printf(" %s accuracy: %.2f %%%% (%s/%s)\n", what, 100.0 * double(correct) / double(total),
                with_commas(correct).c_str(), with_commas(total).c_str());
  };
  print("Node", result.correct_node, result.total_node);
  print("Root", result.correct_root, result.total_root);
}

int main(int argc, char** argv) try {
  Arguments args(argc, argv, "Catena example: sentiment of sentences");
  const int gpu = args.option("-g,--gpu", -1, "GPU; -1: the CPU");
  const int n_epoch = args.option("-e,--epoch", 400, "sweeps over the training trees");
  const int n_units = args.option("-u,--unit", 30, "units of a layer");
  const int batchsize = args.option("-b,--batchsize", 25, "trees in a minibatch");
  const int n_label = args.option("-l,--label", 5, "number of labels");
  const int epoch_per_eval = args.option("-p,--epocheval", 5, "epochs between evaluations");
  const int seed = args.option("--seed", 0, "of the weights, the order of the trees and generated trees");
  const bool test = args.flag("--test", "use 10 trees of each part");
  const bool synthetic = args.flag("--synthetic", "generated trees instead of those in the folder trees");
  args.finish();

  use_device(gpu);
  autograd::seed(seed);

  const std::size_t max_size = test ? 10 : 0;
  Vocabulary vocab;
  std::vector<Tree> train_trees, test_trees, develop_trees;
  if (!synthetic && std::filesystem::exists("trees/train.txt")) {
    std::puts("dataset: trees");
    train_trees = parse_corpus(read_lines("trees/train.txt"), vocab, max_size);
    test_trees = parse_corpus(read_lines("trees/test.txt"), vocab, max_size);
    develop_trees = parse_corpus(read_lines("trees/dev.txt"), vocab, max_size);
  } else {
    std::puts(
        "dataset: generated (scores of words are added, \"not\" turns them around; the program download fetches "
        "the Stanford Sentiment Treebank)");
    TreeGenerator generator(seed);
    train_trees = parse_corpus(generator.lines(800), vocab, max_size);
    test_trees = parse_corpus(generator.lines(200), vocab, max_size);
    develop_trees = parse_corpus(generator.lines(200), vocab, max_size);
  }

  RecursiveNet model(int(vocab.size()), n_units, n_label);

  training::AdaGrad optimizer({.lr = 0.1});
  optimizer.setup(model);
  optimizer.add_hook(training::WeightDecay(0.0001));

  std::mt19937 random(seed);
  Variable accum_loss = autograd::zeros({});
  int count = 0;
  for (int epoch = 0; epoch < n_epoch; ++epoch) {
    std::printf("Epoch: %d\n", epoch);
    double total_loss = 0;
    const auto start = std::chrono::steady_clock::now();
    std::shuffle(train_trees.begin(), train_trees.end(), random);
    for (const Tree& tree : train_trees) {
      accum_loss += traverse(model, tree).first;
      count += 1;

      if (count >= batchsize) {
        model.cleargrads();
        accum_loss.backward();
        optimizer.update();
        total_loss += double(accum_loss);

        accum_loss = autograd::zeros({});
        count = 0;
      }
    }
    std::printf("loss: %.2f\n", total_loss);

    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    std::printf("%.2f iters/sec, %.2f sec\n\n", double(train_trees.size()) / seconds, seconds);

    if ((epoch + 1) % epoch_per_eval == 0) {
      std::puts("Train data evaluation:");
      evaluate(model, train_trees);
      std::puts("Develop data evaluation:");
      evaluate(model, develop_trees);
      std::puts("");
    }
  }

  std::puts("Test evaluateion");
  evaluate(model, test_trees);
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "train_sentiment: %s\n", e.what());
  return 1;
}
