// Penn Tree Bank: texts put into the download cache, the caches of numbers and words, generated sentences.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>

#include <catena/kernels/formats/npz.h>
#include <catena/tests/support/training_fixtures.h>
#include <catena/training/datasets.h>

using namespace test;
using namespace training;
using datasets::Vocabulary;

namespace {

constexpr const char *kTrain = "6f1b02b3294b559912860e0ef987e0b0", *kValid = "eec861455ef29fbd5ef3bdaad595b4cb",
                     *kTest = "9499063c6a13d3cce91967df71bc27b7";

struct Root {
  TemporaryFolder folder{"ptb"};
  Root() {
    ::setenv("CATENA_OFFLINE", "1", 1);
    set_dataset_root(folder.path.string());
    std::filesystem::create_directories(folder.path / "_dl_cache");
    put(kTrain, " the cat sat on the mat \n\n a cat <unk> N\n the end");
    put(kValid, " the mat sat \n");
    put(kTest, "N N\t<unk>\r\n end \n");
  }
  ~Root() { set_dataset_root(""); }
  void put(const char* name, const std::string& text) const {
    write_file(folder / (std::string("_dl_cache/") + name), text);
  }
};
std::vector<double> numbers(std::initializer_list<double> v) { return v; }
const auto each = boost::test_tools::per_element();

}  // namespace

BOOST_AUTO_TEST_SUITE(ptb)

BOOST_AUTO_TEST_CASE(words_and_vocabulary) {
  const Root root;
  for (int time = 0; time < 2; ++time) {
    // the 0 cat 1 sat 2 on 3 mat 4 <eos> 5 a 6 <unk> 7 N 8 end 9
    const auto [train, valid, test] = datasets::get_ptb_words();
    BOOST_TEST((train.dtype() == Dtype::int32));
    BOOST_TEST(values(train) == numbers({0, 1, 2, 3, 0, 4, 5, 5, 6, 1, 7, 8, 5, 0, 9, 5}), each);
    BOOST_TEST(values(valid) == numbers({0, 4, 2, 5}), each);
    BOOST_TEST(values(test) == numbers({8, 8, 7, 5, 9, 5}), each);
    const Vocabulary vocabulary = datasets::get_ptb_words_vocabulary();
    BOOST_TEST(vocabulary.size() == 10);
    BOOST_TEST(vocabulary["the"] == 0);
    BOOST_TEST(vocabulary.at("<eos>") == 5);
    BOOST_TEST(vocabulary.words().at(9) == "end");
    BOOST_TEST(!vocabulary.contains("dog"));
    BOOST_TEST(has(message_of<catena::KeyError>([&] { vocabulary["dog"]; }), "\"dog\" among 10"));
    std::int32_t expected = 0;
    for (const auto& [word, number] : vocabulary) {
      BOOST_TEST(number == expected++);
      BOOST_TEST(vocabulary[word] == number);
    }
    // The files, which are all that the second round needs.
    const std::string folder = root.folder / "pfnet/chainer/ptb/";
    BOOST_TEST(file_content(folder + "vocab.txt") == "the\ncat\nsat\non\nmat\n<eos>\na\n<unk>\nN\nend\n");
    for (const auto& [name, n] : {std::pair{"train", 16}, {"valid", 4}, {"test", 6}}) {
      const catena::NpzReader npz("test", folder + name + ".npz");
      BOOST_TEST((npz.keys() == std::vector<std::string>{"x"}));
      BOOST_TEST(npz.read("x").descr == "<i4");
      BOOST_TEST(npz.read("x").shape == Shape({n}));
    }
    std::filesystem::remove_all(root.folder.path / "_dl_cache");
  }
}

BOOST_AUTO_TEST_CASE(what_cannot_be_had) {
  const Root root;
  root.put(kValid, "the dog\n");
  BOOST_TEST(has(message_of<catena::KeyError>([] { datasets::get_ptb_words(); }), "\"dog\""));
  BOOST_TEST(!std::filesystem::exists(root.folder / "pfnet/chainer/ptb/valid.npz"));
  std::filesystem::remove_all(root.folder.path / "_dl_cache");
  std::filesystem::remove_all(root.folder.path / "pfnet");
  const std::string message = message_of<catena::IOError>([] { datasets::get_ptb_words(); });
  for (const std::string& part : {std::string("/ptb.train.txt"), std::string("CATENA_OFFLINE is set"),
                                  root.folder / (std::string("_dl_cache/") + kTrain)})
    BOOST_TEST(has(message, part), message);
  BOOST_CHECK_THROW(datasets::get_ptb_words_vocabulary(), catena::IOError);
  // Damaged caches.
  std::filesystem::create_directories(root.folder / "pfnet/chainer/ptb");
  write_file(root.folder / "pfnet/chainer/ptb/vocab.txt", "one\ntwo\none\n");
  BOOST_TEST(
      has(message_of<catena::ValueError>([] { datasets::get_ptb_words_vocabulary(); }), "\"one\" is there twice"));
  write_file(root.folder / "pfnet/chainer/ptb/train.npz", "PK");
  BOOST_TEST(has(message_of<catena::ValueError>([] { datasets::get_ptb_words(); }), "train.npz"));
}

BOOST_AUTO_TEST_CASE(generated_sentences) {
  const datasets::GeneratedPtb small{.train = 8000, .valid = 300, .test = 200, .n_words = 200};
  const auto [train, valid, test] = datasets::generated_ptb_words(small);
  BOOST_TEST(train.shape() == Shape({8000}));
  BOOST_TEST(valid.shape() == Shape({300}));
  BOOST_TEST(test.shape() == Shape({200}));
  BOOST_TEST((train.dtype() == Dtype::int32));
  BOOST_TEST(same_bits(train, datasets::generated_ptb_words(small).train));
  datasets::GeneratedPtb other = small;
  other.seed = 1;
  BOOST_TEST(!same_bits(train, datasets::generated_ptb_words(other).train));
  const Vocabulary vocabulary = datasets::generated_ptb_words_vocabulary(small);
  BOOST_TEST(vocabulary.size() <= 200);
  BOOST_TEST(vocabulary.size() > 100);
  BOOST_TEST(vocabulary.contains("<eos>"));
  // Numbers by first appearance.
  const std::vector<double> words = values(train);
  double most = -1;
  for (const double w : words) {
    BOOST_REQUIRE(w <= most + 1);
    most = std::max(most, w);
  }
  BOOST_TEST(most + 1 == double(vocabulary.size()));
  for (const Array& part : {valid, test})
    for (const double w : values(part)) BOOST_REQUIRE((w >= 0 && w <= most));
  // A word says something about the next one: bits per word given the previous word, and without it.
  std::map<double, int> single;
  std::map<std::pair<double, double>, int> pairs;
  for (std::size_t i = 0; i + 1 < words.size(); ++i) ++single[words[i]], ++pairs[{words[i], words[i + 1]}];
  const double n = double(words.size() - 1);
  double bits = 0, conditional = 0;
  for (const auto& [word, count] : single) bits -= count / n * std::log2(count / n);
  for (const auto& [pair, count] : pairs) conditional -= count / n * std::log2(double(count) / single.at(pair.first));
  BOOST_TEST(bits - conditional > 1.0, bits << " and " << conditional);
  BOOST_TEST((bits > 4 && bits < 7.6), bits);
  using Options = datasets::GeneratedPtb;
  for (const Options& bad : {Options{.n_words = 2}, Options{.train = 0}, Options{.valid = 0}, Options{.test = -1}})
    BOOST_CHECK_THROW(datasets::generated_ptb_words(bad), catena::ValueError);
}

BOOST_AUTO_TEST_SUITE_END()
