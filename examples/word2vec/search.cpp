// Finds the words whose vectors, learnt by train_word2vec, are most similar to that of a word.
// after: train_word2vec
// test: --model ../test_train_word2vec_cpu/word2vec.model
// input: w2 nonsense
// prints: >> query: w2.w[0-9]+: [0-9.]+.w[0-9]+: [0-9.]+.w[0-9]+: [0-9.]+.w[0-9]+: [0-9.]+.w[0-9]+: [0-9.]+
// prints: >> "nonsense" is not found
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include <catena/catena.h>

#include "../arguments.h"

constexpr int n_result = 5;  // number of search results to show

int main(int argc, char** argv) try {
  Arguments args(argc, argv, "Catena example: similar words");
  const std::string path =
      args.option("-m,--model", "word2vec.model", "file of the vectors, written by train_word2vec");
  args.finish();

  std::ifstream file(path);
  std::int64_t n_vocab = 0, n_units = 0;
  file >> n_vocab >> n_units;
  std::vector<std::string> index2word;
  std::vector<float> values;
  std::string word;
  while (file >> word) {
    index2word.push_back(word);
    for (float value; std::int64_t(values.size()) < n_units * std::int64_t(index2word.size()) && file >> value;)
      values.push_back(value);
  }
  catena::check<catena::IOError>(n_vocab > 0 && std::int64_t(values.size()) == n_vocab * n_units, "search", path,
                                 " does not hold ", n_vocab, " words with ", n_units, " numbers each");

  nd::Array w = nd::array(values).reshape(n_vocab, n_units);
  w /= nd::sqrt((w * w).sum(1, {.keepdims = true}));  // normalize

  std::string q;
  while (std::cout << ">> " << std::flush, std::getline(std::cin, q)) {
    const auto found = std::find(index2word.begin(), index2word.end(), q);
    if (found == index2word.end()) {
      std::cout << '"' << q << "\" is not found\n";
      continue;
    }
    const nd::Array similarity = nd::dot(w, w[found - index2word.begin()]);
    const std::vector<float> scores = similarity.to_vector<float>();
    std::cout << "query: " << q << '\n';
    int count = 0;
    for (const std::int64_t i : nd::argsort(-similarity).to_vector<std::int64_t>()) {
      const std::string& name = index2word[std::size_t(i)];
      if (std::isnan(scores[std::size_t(i)]) || name == q) continue;
      std::cout << name << ": " << scores[std::size_t(i)] << '\n';
      if (++count == n_result) break;
    }
  }
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "search: %s\n", e.what());
  return 1;
}
