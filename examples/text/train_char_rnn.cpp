// Trains a recurrent language model on the characters of a text by truncated backpropagation, and generates some text.
// test: --generated --epoch 1 --unit 32 --length 20 --out result --no-progress
// writes: result/log result/model.npz
// prints: # characters: 72825 of 13 kinds, for validation: 8091
// prints: epoch +iteration +main/bits +validation/main/bits +elapsed_time
// prints: 1 +30 +[0-9.]+ +[0-9.]+ +[0-9.]+
#include <getopt.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <catena/catena.h>

using autograd::Variable;

struct Arguments {
  int batchsize = 50, bproplen = 50, epochs = 10, units = 256, layers = 1, gpu = -1, length = 400;
  double gradclip = 5, lr = 0.002, temperature = 0.8;
  std::uint64_t seed = 0;
  std::string text, out = "result", prime = "\n";
  bool generated = false, progress = true;
};

constexpr const char kHelp[] = R"(Catena example: a language model of characters

  train_char_rnn [options] TEXT

  -b, --batchsize N        pieces of the text that are read side by side (50)
  -l, --bproplen N         characters through which gradients go back (50)
  -e, --epoch N            sweeps over the text (10)
  -u, --unit N             units of a layer (256)
      --layer N            layers (1)
      --lr RATE            step size of Adam (0.002)
  -c, --gradclip NORM      most that a gradient's norm may be (5)
  -g, --gpu N              GPU to train on (-1: the CPU)
  -o, --out FOLDER         folder of the results (result)
      --length N           characters to write in the end (400)
      --prime TEXT         what they continue (a new line)
      --temperature T      below 1: likely characters become likelier (0.8)
      --seed N             of initial weights and of the written text (0)
      --generated          a generated text in place of a file
      --no-progress        no progress bar
)";

// ---- text ----------------------------------------------------------------------------------------
// Every character is a byte; the characters of the text are numbered in ascending order.
struct Text {
  std::string characters;  // character of each number
  nd::Array train, valid;  // int32 numbers; the last tenth is for validation

  explicit Text(const std::string& text) {
    bool seen[256] = {};
    for (const unsigned char c : text) seen[c] = true;
    std::vector<std::int32_t> number(256, -1), numbers;
    for (int c = 0; c < 256; ++c) {
      if (!seen[c]) continue;
      number[std::size_t(c)] = std::int32_t(characters.size());
      characters.push_back(char(c));
    }
    for (const unsigned char c : text) numbers.push_back(number[c]);
    const nd::Array all = nd::array(numbers);
    const std::int64_t n = all.size() - all.size() / 10;
    train = all(nd::Slice(0, n));
    valid = all(nd::Slice(n, {}));
  }
  // Throws a KeyError for a character that the text does not have.
  std::int32_t number_of(char c) const {
    const std::size_t at = characters.find(c);
    catena::check<catena::KeyError>(at != std::string::npos, "train_char_rnn", "the text has no '", c, "'");
    return std::int32_t(at);
  }
};

std::string read_text(const Arguments& args) {
  if (args.generated) {
    const auto words = training::datasets::generated_ptb_words_vocabulary().words();
    std::string text;
    for (const std::int32_t w : training::datasets::generated_ptb_words().train.to_vector<std::int32_t>())
      text += words[std::size_t(w)] == "<eos>" ? "\n" : words[std::size_t(w)] + ' ';
    return text;
  }
  std::ifstream file(args.text, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  catena::check<catena::IOError>(!text.empty(), "train_char_rnn", '"', args.text, "\" cannot be read or is empty");
  return text;
}

// Cuts the text into pieces that are read side by side: batch k continues where batch k - 1 ended. A batch is a block
// of characters (pieces, length) and the characters that follow them.
class TextIterator : public training::Iterator {
 public:
  TextIterator(const nd::Array& text, std::int64_t pieces, std::int64_t length, bool repeat)
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
    batch.stacked = training::Example{x_(nd::Slice(), columns), t_(nd::Slice(), columns)};
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

// ---- model ---------------------------------------------------------------------------------------
// Starts each block from the states after the previous one, through which no gradient flows.
struct CharRNN : nn::Chain {
  nn::EmbedID embed;
  nn::NStepLSTM lstm;
  nn::Linear out;
  Variable h, c;

  CharRNN(int characters, const Arguments& args)
      : embed(characters, args.units), lstm(args.layers, args.units, args.units, 0.0), out(args.units, characters) {}
  NN_MEMBERS(embed, lstm, out)

  void reset_state() { h = c = Variable(); }
  // Returns the scores (pieces * length, characters) of the next character for each character of x (pieces, length).
  Variable scores(const Variable& x) {
    auto [hy, cy, ys] = lstm(h, c, separate(embed(x)));
    h = hy.data();
    c = cy.data();
    return out(concat(ys, 0));
  }
  Variable operator()(const Variable& x, const Variable& t) {
    const Variable loss = nn::softmax_cross_entropy(scores(x), t.reshape(-1));
    nn::report("bits", loss.data() / std::log(2.0), this);  // per character
    return loss;
  }
};

std::string write(CharRNN& model, const Text& text, const Arguments& args) {
  const auto no_graph = autograd::no_backprop_mode();
  std::mt19937_64 random(args.seed);
  std::string written = args.prime;
  model.reset_state();
  for (std::size_t i = 0; i < args.prime.size() + std::size_t(args.length) - 1; ++i) {
    const nd::Array x = nd::array({{text.number_of(written[i])}});
    const Variable p = nn::softmax(model.scores(x) / args.temperature);
    if (i + 1 < written.size()) continue;
    const std::vector<double> weights = autograd::to_vector<double>(p.data());
    std::discrete_distribution<std::size_t> next(weights.begin(), weights.end());
    written.push_back(text.characters[next(random)]);
  }
  return written;
}

void train(const Arguments& args) {
  const Text text(read_text(args));
  std::printf("# characters: %ld of %ld kinds, for validation: %ld\n\n", long(text.train.size()),
              long(text.characters.size()), long(text.valid.size()));
  CharRNN model(int(text.characters.size()), args);
  training::Adam optimizer({.alpha = args.lr});
  optimizer.setup(model);
  optimizer.add_hook(training::GradientClipping(args.gradclip));

  TextIterator train_iter(text.train, args.batchsize, args.bproplen, true);
  TextIterator valid_iter(text.valid, args.batchsize, args.bproplen, false);
  training::Trainer trainer(training::StandardUpdater(train_iter, optimizer), {double(args.epochs), training::epoch},
                            args.out);
  CharRNN evaluated = nn::copy(model);  // the same weights, separate states
  trainer.extend(training::Evaluator(valid_iter, evaluated,
                                     {.eval_hook = [&](training::Evaluator&) { evaluated.reset_state(); }}));
  trainer.extend(training::LogReport());
  trainer.extend(training::PrintReport({"epoch", "iteration", "main/bits", "validation/main/bits", "elapsed_time"}));
  if (args.progress) trainer.extend(training::ProgressBar());
  trainer.run();

  nn::serializers::save_npz(args.out + "/model.npz", model);
  std::printf("\n%s\n", write(model, text, args).c_str());
}

// ---- arguments -----------------------------------------------------------------------------------
template <class T>
void read(const char* name, std::string_view text, T& value, T least = std::numeric_limits<T>::lowest()) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  catena::check<catena::ValueError>(error == std::errc() && end == text.data() + text.size(), name, '"', text,
                                    "\" is no number that fits");
  catena::check<catena::ValueError>(value >= least, name, text, " is below ", least);
}

Arguments parse(int argc, char** argv) {
  enum { kLayer = 256, kRate, kLength, kPrime, kTemperature, kSeed, kGenerated, kNoProgress };
  const option options[] = {{"batchsize", required_argument, nullptr, 'b'},
                            {"bproplen", required_argument, nullptr, 'l'},
                            {"epoch", required_argument, nullptr, 'e'},
                            {"unit", required_argument, nullptr, 'u'},
                            {"layer", required_argument, nullptr, kLayer},
                            {"lr", required_argument, nullptr, kRate},
                            {"gradclip", required_argument, nullptr, 'c'},
                            {"gpu", required_argument, nullptr, 'g'},
                            {"out", required_argument, nullptr, 'o'},
                            {"length", required_argument, nullptr, kLength},
                            {"prime", required_argument, nullptr, kPrime},
                            {"temperature", required_argument, nullptr, kTemperature},
                            {"seed", required_argument, nullptr, kSeed},
                            {"generated", no_argument, nullptr, kGenerated},
                            {"no-progress", no_argument, nullptr, kNoProgress},
                            {"help", no_argument, nullptr, 'h'},
                            {}};
  Arguments args;
  for (int o = 0; (o = getopt_long(argc, argv, "b:l:e:u:c:g:o:h", options, nullptr)) != -1;) switch (o) {
      case 'b': read("--batchsize", optarg, args.batchsize, {1}); break;
      case 'l': read("--bproplen", optarg, args.bproplen, {1}); break;
      case 'e': read("--epoch", optarg, args.epochs, {1}); break;
      case 'u': read("--unit", optarg, args.units, {1}); break;
      case kLayer: read("--layer", optarg, args.layers, {1}); break;
      case kRate: read("--lr", optarg, args.lr); break;
      case 'c': read("--gradclip", optarg, args.gradclip); break;
      case 'g': read("--gpu", optarg, args.gpu); break;
      case 'o': args.out = optarg; break;
      case kLength: read("--length", optarg, args.length, {0}); break;
      case kPrime: args.prime = optarg; break;
      case kTemperature: read("--temperature", optarg, args.temperature); break;
      case kSeed: read("--seed", optarg, args.seed); break;
      case kGenerated: args.generated = true; break;
      case kNoProgress: args.progress = false; break;
      case 'h': std::fputs(kHelp, stdout), std::exit(0);
      default: std::exit(2);  // getopt_long has printed the error
    }
  if (optind < argc) args.text = argv[optind++];
  catena::check<catena::ValueError>(optind == argc && args.generated == args.text.empty(), "train_char_rnn",
                                    "one text is needed, a file or --generated");
  catena::check<catena::ValueError>(!args.prime.empty(), "--prime", "the text to continue is empty");
  return args;
}

int main(int argc, char** argv) {
  Arguments args;
  try {
    args = parse(argc, argv);
  } catch (const catena::Error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 2;
  }
  try {
    nd::set_current_device(args.gpu < 0 ? nd::cpu_device
                                        : nd::Device{nd::Device::Kind::cuda, static_cast<std::int16_t>(args.gpu)});
    autograd::seed(args.seed);
    train(args);
  } catch (const catena::Error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
  return 0;
}
