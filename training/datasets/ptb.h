// Penn Tree Bank: sentences of newspapers as sequences of word numbers (Marcus et al., 1993; preprocessed by Mikolov).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <catena/training/dataset.h>

namespace training::datasets {

// int32 numbers of words, on the current device: auto [train, valid, test] = training::datasets::get_ptb_words();
struct PtbWords {
  Array train, valid, test;
};

// Words and their numbers, 0 to size() - 1, in that order:
//   vocabulary["the"]; vocabulary.words()[32]; for (const auto& [word, number] : vocabulary) ...
class CATENA_EXPORT Vocabulary {
 public:
  using Item = std::pair<std::string, std::int32_t>;
  Vocabulary() = default;
  explicit Vocabulary(const std::vector<std::string>& words);  // ValueError for a word that is there twice

  std::int64_t size() const noexcept { return static_cast<std::int64_t>(items_.size()); }
  bool contains(std::string_view word) const;
  std::int32_t operator[](std::string_view word) const;  // KeyError naming the word if it is not there
  std::int32_t at(std::string_view word) const { return (*this)[word]; }
  std::vector<std::string> words() const;
  std::int32_t add(const std::string& word);  // its number; a new one if it is not there

  std::vector<Item>::const_iterator begin() const noexcept { return items_.begin(); }
  std::vector<Item>::const_iterator end() const noexcept { return items_.end(); }

 private:
  std::vector<Item> items_;
  std::map<std::string, std::int32_t, std::less<>> numbers_;
};

// The words of the three parts: 929589, 73760 and 82430 with <eos> after every line. The first call reads the texts
// from the download cache, into which they are downloaded if they are not there, and writes train.npz, valid.npz,
// test.npz (member x) and vocab.txt (one word per line) into pfnet/chainer/ptb of the data set root; later calls, and
// Chainer, read these. IOError naming the address and the path to fill when a text cannot be had; generated_ptb_words()
// works everywhere. KeyError for a word that the vocabulary lacks.
CATENA_EXPORT PtbWords get_ptb_words();
// The 10000 words of the training text, numbered as they first appear.
CATENA_EXPORT Vocabulary get_ptb_words_vocabulary();

// Synthetic sentences of the same form, in which a word makes some words likely to follow: all is determined by `seed`.
// The vocabulary has at most `n_words` words, <eos> among them, numbered as they first appear in the training part.
// ValueError unless there are 3 words or more and each part has some.
struct GeneratedPtb {
  std::int64_t train = 20000, valid = 2000, test = 2000;  // words, <eos> included
  std::int64_t n_words = 1000;
  std::uint64_t seed = 0;
};
CATENA_EXPORT PtbWords generated_ptb_words(const GeneratedPtb& options = {});
CATENA_EXPORT Vocabulary generated_ptb_words_vocabulary(const GeneratedPtb& options = {});

}  // namespace training::datasets
