// The text of the character models: reading, minibatches, and writing more of it.
#pragma once

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <catena/catena.h>

// A text as numbers of its characters. Every character is a byte; they are numbered in ascending order.
struct Text {
  std::string characters;  // character of each number
  nd::Array train, valid;  // int32 numbers; the last tenth is for validation

  explicit Text(const std::string& text) : characters(text) {
    std::sort(characters.begin(), characters.end(), [](char a, char b) { return (unsigned char)a < (unsigned char)b; });
    characters.erase(std::unique(characters.begin(), characters.end()), characters.end());
    const nd::Array all = numbers_of(text);
    const std::int64_t n = all.size() - all.size() / 10;
    train = all(nd::Slice(0, n));
    valid = all(nd::Slice(n, {}));
    std::printf("# characters: %ld of %zu kinds, for validation: %ld\n\n", long(n), characters.size(),
                long(all.size() - n));
  }
  // Throws a KeyError for a character that the text does not have.
  nd::Array numbers_of(std::string_view text) const {
    std::vector<std::int32_t> number(256, -1), numbers;
    for (std::size_t i = 0; i < characters.size(); ++i) number[(unsigned char)characters[i]] = std::int32_t(i);
    for (const char c : text) {
      numbers.push_back(number[(unsigned char)c]);
      catena::check<catena::KeyError>(numbers.back() >= 0, "Text", "the text has no '", c, "'");
    }
    return nd::array(numbers);
  }
};

// Returns the text of a file, or a generated one if `path` is empty.
inline std::string read_text(const std::string& path) {
  std::string text;
  if (path.empty()) {
    std::printf("dataset: generated sentences\n");
    const auto words = training::datasets::generated_ptb_words_vocabulary().words();
    const nd::Array numbers = training::datasets::generated_ptb_words().train;
    for (const std::int32_t w : numbers.to_vector<std::int32_t>())
      text += words[std::size_t(w)] == "<eos>" ? "\n" : words[std::size_t(w)] + ' ';
  } else {
    std::printf("dataset: %s\n", path.c_str());
    std::ifstream file(path, std::ios::binary);
    text.assign(std::istreambuf_iterator<char>(file), {});
  }
  catena::check<catena::IOError>(!text.empty(), "read_text", '"', path, "\" cannot be read or is empty");
  return text;
}

// Cuts the text into pieces that are read side by side: batch k continues where batch k - 1 ended. A batch is a block
// of characters (pieces, length) and the characters that follow them.
class TextIterator : public training::Iterator {
 public:
  TextIterator(const nd::Array& text, std::int64_t pieces, std::int64_t length, bool repeat = true)
      : length_(length), repeat_(repeat) {
    const std::int64_t each = (text.size() - 1) / pieces;
    catena::check<catena::ValueError>(each > 0, "TextIterator", text.size(), " characters are too few for ", pieces,
                                      " pieces");
    x_ = text(nd::Slice(0, pieces * each)).reshape(pieces, each);
    t_ = text(nd::Slice(1, pieces * each + 1)).reshape(pieces, each);
  }

  std::optional<training::Batch> next() override {
    const std::int64_t each = x_.shape()[1];
    if (at_ == each) {
      if (!repeat_) return {};
      at_ = 0;
    }
    const nd::Slice columns(at_, std::min(each, at_ + length_));
    at_ = *columns.stop;
    is_new_epoch_ = at_ == each;
    epoch_ += is_new_epoch_;
    training::Batch batch;
    batch.stacked = training::Example({x_(nd::Slice(), columns), t_(nd::Slice(), columns)});
    return batch;
  }
  std::int64_t batch_size() const override { return x_.shape()[0]; }
  std::int64_t epoch() const override { return epoch_; }
  double epoch_detail() const override {
    return double(epoch_) + (is_new_epoch_ ? 0 : double(at_) / double(x_.shape()[1]));
  }
  bool is_new_epoch() const override { return is_new_epoch_; }
  bool can_reset() const override { return true; }
  void reset() override { at_ = epoch_ = 0, is_new_epoch_ = false; }
  void serialize(nn::Serializer& s) override {
    s("at", at_);
    s("epoch", epoch_);
    s("is_new_epoch", is_new_epoch_);
  }

 private:
  nd::Array x_, t_;
  std::int64_t length_, at_ = 0, epoch_ = 0;
  bool repeat_, is_new_epoch_ = false;
};

// Returns `written` and `length` characters that continue it. scores(written) returns the scores of the next character,
// (1, kinds). A temperature below 1 makes likely characters likelier.
template <class Scores>
std::string continued(std::string written, int length, Scores scores, const Text& text, double temperature, int seed) {
  const auto no_graph = autograd::no_backprop_mode();
  std::mt19937_64 random(static_cast<std::uint64_t>(seed));
  for (int i = 0; i < length; ++i) {
    const nd::Array p = nn::softmax(scores(written) / temperature).data();
    const std::vector<double> weights = p.to_vector<double>();
    written.push_back(text.characters[std::discrete_distribution<std::size_t>(weights.begin(), weights.end())(random)]);
  }
  return written;
}
