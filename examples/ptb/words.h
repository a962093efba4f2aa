// The words of the Penn Tree Bank and word2vec examples.
#pragma once

#include <algorithm>
#include <cstdio>
#include <vector>

#include <catena/catena.h>

// Three texts as lists of word numbers, and the words that have these numbers.
struct Words {
  std::vector<std::int32_t> train, val, test;
  training::datasets::Vocabulary vocabulary;

  int n_vocab() const { return *std::max_element(train.begin(), train.end()) + 1; }
};

// Returns the Penn Tree Bank, or generated sentences if these are asked for or the Penn Tree Bank is not at hand.
inline Words ptb_words(bool synthetic) {
  training::datasets::PtbWords words;
  training::datasets::Vocabulary vocabulary;
  try {
    if (!synthetic) {
      words = training::datasets::get_ptb_words();
      vocabulary = training::datasets::get_ptb_words_vocabulary();
    }
  } catch (const catena::IOError& e) {
    std::fprintf(stderr, "%s\nGenerated sentences take the place of the Penn Tree Bank.\n", e.what());
    synthetic = true;
  }
  if (synthetic) {
    words = training::datasets::generated_ptb_words();
    vocabulary = training::datasets::generated_ptb_words_vocabulary();
  }
  std::printf("dataset: %s\n", synthetic ? "generated sentences" : "Penn Tree Bank");
  const auto list = [](const nd::Array& numbers) { return numbers.to_vector<std::int32_t>(); };
  return {list(words.train), list(words.valid), list(words.test), vocabulary};
}
