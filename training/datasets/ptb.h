// Penn Tree Bank: newspaper sentences as sequences of word numbers (Marcus et al., 1993; preprocessed by Mikolov).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <catena/training/dataset.h>

namespace training::datasets {

// Word numbers as int32, on the current device: auto [train, valid, test] = training::datasets::get_ptb_words();
struct PtbWords {
  Array train, valid, test;
};

// Words and their numbers, 0 to size() - 1, in this order:
//   vocabulary["the"]; vocabulary.words()[32]; for (const auto& [word, number] : vocabulary) ...
class CATENA_EXPORT Vocabulary {
 public:
  using Item = std::pair<std::string, std::int32_t>;
  Vocabulary() = default;
  explicit Vocabulary(const std::vector<std::string>& words);  // ValueError for a word that occurs twice

  std::int64_t size() const noexcept { return static_cast<std::int64_t>(items_.size()); }
  bool contains(std::string_view word) const;
  std::int32_t operator[](std::string_view word) const;  // the KeyError for an unknown word names it
  std::int32_t at(std::string_view word) const { return (*this)[word]; }
  std::vector<std::string> words() const;
  std::int32_t add(const std::string& word);  // returns its number, a new one for a new word

  std::vector<Item>::const_iterator begin() const noexcept { return items_.begin(); }
  std::vector<Item>::const_iterator end() const noexcept { return items_.end(); }

 private:
  std::vector<Item> items_;
  std::map<std::string, std::int32_t, std::less<>> numbers_;
};

// Returns the words of the three parts: 929589, 73760 and 82430, with <eos> after every line. The first call reads the
// texts from the download cache (and downloads missing ones), and writes train.npz, valid.npz, test.npz (member x) and
// vocab.txt (one word per line) to pfnet/chainer/ptb of the data set root; later calls, and Chainer, read these files.
// IOError, with the address and the path of the missing file, if a text is not available; generated_ptb_words() works
// everywhere. KeyError for a word outside the vocabulary.
CATENA_EXPORT PtbWords get_ptb_words();
// Returns the 10000 words of the training text, numbered in the order of their first occurrence.
CATENA_EXPORT Vocabulary get_ptb_words_vocabulary();

// Synthetic sentences in the same form, in which a word makes some words more likely to follow; `seed` determines
// everything. The vocabulary has at most `n_words` words, including <eos>, numbered in the order of their first
// occurrence in the training part. ValueError unless there are at least 3 words and each part has some.
struct GeneratedPtb {
  std::int64_t train = 20000, valid = 2000, test = 2000;  // numbers of words, including <eos>
  std::int64_t n_words = 1000;
  std::uint64_t seed = 0;
};
CATENA_EXPORT PtbWords generated_ptb_words(const GeneratedPtb& options = {});
CATENA_EXPORT Vocabulary generated_ptb_words_vocabulary(const GeneratedPtb& options = {});

}  // namespace training::datasets
