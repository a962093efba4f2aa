#include <catena/training/datasets/ptb.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>

#include <catena/kernels/base/error.h>
#include <catena/kernels/base/text.h>
#include <catena/kernels/formats/atomic_file.h>
#include <catena/kernels/formats/byte_stream.h>
#include <catena/kernels/formats/npz.h>
#include <catena/training/datasets/cache.h>
#include <catena/training/datasets/draw.h>

namespace training::datasets {

using autograd::Dtype;
using catena::check;
using catena::ValueError;

Vocabulary::Vocabulary(const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    check<ValueError>(!contains(word), "Vocabulary", "the word \"", word, "\" is there twice");
    add(word);
  }
}

bool Vocabulary::contains(std::string_view word) const { return numbers_.contains(word); }

std::int32_t Vocabulary::operator[](std::string_view word) const {
  const auto found = numbers_.find(word);
  check<catena::KeyError>(found != numbers_.end(), "Vocabulary", "there is no word \"", word, "\" among ",
                          items_.size());
  return found->second;
}

std::vector<std::string> Vocabulary::words() const {
  std::vector<std::string> all;
  for (const auto& [word, number] : items_) all.push_back(word);
  return all;
}

std::int32_t Vocabulary::add(const std::string& word) {
  const auto [found, is_new] = numbers_.try_emplace(word, static_cast<std::int32_t>(items_.size()));
  if (is_new) items_.emplace_back(word, found->second);
  return found->second;
}

namespace {

constexpr const char* kEnd = "<eos>";

std::string address(const std::string& part) {
  return "https://raw.githubusercontent.com/tomsercu/lstm/master/data/ptb." + part + ".txt";
}
std::string cache_path(const std::string& name) {
  return get_dataset_directory("pfnet/chainer/ptb", false) + '/' + name;
}

std::string read_text(const char* op, const std::string& path) {
  catena::FileSource file(op, path);
  std::string text;
  std::string chunk(1 << 20, '\0');
  while (const std::size_t n = file.read(chunk.data(), chunk.size())) text.append(chunk, 0, n);
  return text;
}

// Returns the words between white space, and <eos> after every line, also after empty ones.
std::vector<std::string> read_words(const char* op, const std::string& part) {
  std::vector<std::string> words;
  for (const std::string& line : catena::parts_of(read_text(op, cached_download(address(part))), '\n')) {
    for (std::string& word : catena::words_of(line)) words.push_back(std::move(word));
    words.emplace_back(kEnd);
  }
  return words;
}

std::vector<std::int32_t> numbers_of(const std::vector<std::string>& words, const Vocabulary& vocabulary) {
  std::vector<std::int32_t> numbers;
  for (const std::string& word : words) numbers.push_back(vocabulary[word]);
  return numbers;
}

Array to_array(const std::vector<std::int32_t>& numbers) {
  return autograd::from_host(numbers.data(), {std::int64_t(numbers.size())}, Dtype::int32);
}

Array get_words(const std::string& part, std::optional<Vocabulary>& vocabulary) {
  constexpr const char* op = "get_ptb_words";
  const auto creator = [&](const std::string& to) {
    if (!vocabulary) vocabulary = get_ptb_words_vocabulary();
    std::vector<std::int32_t> numbers = numbers_of(read_words(op, part), *vocabulary);
    catena::AtomicFile file(op, to);
    catena::NpzWriter npz(file, true);
    npz.add("x", Dtype::int32, {std::int64_t(numbers.size())}, std::as_bytes(std::span(numbers)));
    npz.finish();
    file.commit();
    return numbers;
  };
  const auto loader = [&](const std::string& from) {
    const catena::NpzReader npz(op, from);
    const catena::NpyArray x = npz.read("x");
    check<ValueError>(x.dtype == Dtype::int32 && x.shape.size() == 1, npz.context(), "x has the shape ", x.shape,
                      " and the elements ", x.descr, "; a list of int32 is needed");
    const auto numbers = x.as<std::int32_t>();
    return std::vector<std::int32_t>(numbers.begin(), numbers.end());
  };
  return to_array(cache_or_load_file(cache_path(part + ".npz"), creator, loader));
}

// ---- generated text: the number of a word determines four likely successors ----------------------
class Sentences {
 public:
  Sentences(std::uint64_t seed, std::uint64_t part, std::int64_t n_words)
      : seed_(seed), part_(part), n_words_(n_words) {}

  // Returns the next word as a number of the generator; 0 is <eos>.
  std::int64_t next() {
    internal::Draw draw(seed_, part_ << 40 | ++count_);
    if (length_ > 2 && draw.uniform(0, 1) < 0.12 * double(length_) / 8) {
      length_ = 0;
      previous_ = 0;
      return 0;
    }
    ++length_;
    // A power of a uniform number, so that small numbers are frequent, as in natural languages.
    const auto frequent = [&](internal::Draw& from) {
      return 1 + std::min(n_words_ - 2, std::int64_t(std::pow(from.uniform(0, 1), 3.0) * double(n_words_ - 1)));
    };
    if (draw.uniform(0, 1) < 0.7) {
      const auto choice = static_cast<std::uint64_t>(draw.uniform(0, 4));
      internal::Draw successors(seed_ ^ 0x7072656465636573, static_cast<std::uint64_t>(previous_) * 4 + choice);
      previous_ = frequent(successors);
    } else {
      previous_ = frequent(draw);
    }
    return previous_;
  }

 private:
  std::uint64_t seed_, part_, count_ = 0;
  std::int64_t n_words_, previous_ = 0, length_ = 0;
};

std::string word_of(std::int64_t number) { return number == 0 ? kEnd : 'w' + std::to_string(number); }

void check_options(const char* op, const GeneratedPtb& o) {
  check<ValueError>(o.n_words >= 3, op, "a text of ", o.n_words, " words has no sentences; 3 or more are needed");
  check<ValueError>(o.train > 0 && o.valid > 0 && o.test > 0, op, "there must be words in all parts, not ", o.train,
                    ", ", o.valid, " and ", o.test);
}

// Generates the training part and the vocabulary that it defines.
std::vector<std::int32_t> generate_train(const GeneratedPtb& o, Vocabulary& vocabulary) {
  Sentences sentences(o.seed, 0, o.n_words);
  std::vector<std::int32_t> numbers;
  for (std::int64_t i = 0; i < o.train; ++i)  // the last word ends the last sentence, so that there is always an <eos>
    numbers.push_back(vocabulary.add(i + 1 == o.train ? kEnd : word_of(sentences.next())));
  return numbers;
}

// Generates another part; words outside the vocabulary are skipped.
Array generate_part(const GeneratedPtb& o, std::uint64_t part, std::int64_t n, const Vocabulary& vocabulary) {
  Sentences sentences(o.seed, part, o.n_words);
  std::vector<std::int32_t> numbers;
  while (std::int64_t(numbers.size()) < n)
    if (const std::string word = word_of(sentences.next()); vocabulary.contains(word))
      numbers.push_back(vocabulary[word]);
  return to_array(numbers);
}

}  // namespace

Vocabulary get_ptb_words_vocabulary() {
  constexpr const char* op = "get_ptb_words_vocabulary";
  const auto creator = [&](const std::string& to) {
    Vocabulary vocabulary;
    std::string text;
    for (const std::string& word : read_words(op, "train"))
      if (!vocabulary.contains(word)) {
        vocabulary.add(word);
        text += word + '\n';
      }
    catena::write_file_atomically(op, to, text);
    return vocabulary;
  };
  const auto loader = [&](const std::string& from) { return Vocabulary(catena::words_of(read_text(op, from))); };
  return cache_or_load_file(cache_path("vocab.txt"), creator, loader);
}

PtbWords get_ptb_words() {
  std::optional<Vocabulary> vocabulary;
  Array train = get_words("train", vocabulary), valid = get_words("valid", vocabulary),
        test = get_words("test", vocabulary);
  return {train, valid, test};
}

PtbWords generated_ptb_words(const GeneratedPtb& options) {
  check_options("generated_ptb_words", options);
  Vocabulary vocabulary;
  const Array train = to_array(generate_train(options, vocabulary));
  return {train, generate_part(options, 1, options.valid, vocabulary),
          generate_part(options, 2, options.test, vocabulary)};
}

Vocabulary generated_ptb_words_vocabulary(const GeneratedPtb& options) {
  check_options("generated_ptb_words_vocabulary", options);
  Vocabulary vocabulary;
  generate_train(options, vocabulary);
  return vocabulary;
}

}  // namespace training::datasets
