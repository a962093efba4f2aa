// Continues a word by sampling from a model that train_ptb has trained.
// after: train_ptb
// test: --model ../test_train_ptb_cpu/model.npz --primetext w2 --unit 20 --length 50 --synthetic
// prints: w2( w[0-9]+|[.])+
#include <cstdio>
#include <random>
#include <string>

#include <catena/catena.h>

#include "../arguments.h"
#include "rnn_for_lm.h"
#include "words.h"

using autograd::Variable;

int main(int argc, char** argv) try {
  Arguments args(argc, argv, "Catena example: text from a language model of words");
  const std::string model_file = args.option("-m,--model", "", "model, saved by train_ptb; required");
  const std::string primetext = args.option("-p,--primetext", "", "word with which the text begins; required");
  const int seed = args.option("-s,--seed", 123, "of the chosen words");
  const int unit = args.option("-u,--unit", 650, "units of an LSTM of the model");
  const int sample = args.option("--sample", 1, "negative: the likeliest word instead of a random one");
  const int length = args.option("--length", 20, "words to write");
  const int gpu = args.option("--gpu", -1, "GPU; -1: the CPU");
  const bool synthetic = args.flag("--synthetic", "the model was trained on generated sentences");
  args.finish();
  if (model_file.empty() || primetext.empty()) args.fail("--model and --primetext are required");
  use_device(gpu);

  const auto vocabulary = ptb_words(synthetic).vocabulary;
  const std::vector<std::string> ivocab = vocabulary.words();

  nn::Classifier model(RNNForLM(int(vocabulary.size()), unit));
  nn::serializers::load_npz(model_file, model);
  const auto mode = autograd::using_config({.train = false, .enable_backprop = false});

  if (!vocabulary.contains(primetext)) {
    std::printf("ERROR: Unfortunately %s is unknown.\n", primetext.c_str());
    return 0;
  }
  Variable prev_word = nd::array({vocabulary[primetext]});
  model.predictor(prev_word);  // as in Chainer's program, the first word is read here and once more below
  std::printf("%s ", primetext.c_str());

  std::mt19937 random(static_cast<unsigned>(seed));
  for (int i = 0; i < length; ++i) {
    const nd::Array prob = nn::softmax(model.predictor(prev_word)).data();
    std::int32_t index;
    if (sample > 0) {
      const std::vector<double> probability = prob.to_vector<double>();
      index = std::discrete_distribution<std::int32_t>(probability.begin(), probability.end())(random);
    } else {
      index = nd::argmax(prob).item<std::int32_t>();
    }
    const std::string& word = ivocab[std::size_t(index)];
    std::printf("%s", word == "<eos>" ? "." : (word + ' ').c_str());
    prev_word = nd::array({index});
  }
  std::printf("\n");
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "gentxt: %s\n", e.what());
  return 1;
}
