// Trains a perceptron (784-1000-1000-10) or a small convolutional network on MNIST.
// test: --synthetic --epoch 1 --unit 50 --out result --no-progress
// writes: result/log result/snapshot_iter_20
// prints: # unit: 50
// prints: # Minibatch-size: 100
// prints: dataset: generated
// prints: epoch +main/loss +validation/main/loss +main/accuracy +validation/main/accuracy +elapsed_time
// prints: 1 +[0-9.]+ +[0-9.]+ +0[.][0-9]+ +0[.][0-9]+ +[0-9.]+
#include <getopt.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <system_error>

#include <catena/catena.h>

using autograd::Variable;

struct MLP : nn::Chain {
  nn::Linear l1, l2, l3;
  double dropout_ratio;
  MLP(int units, int out, double ratio)
      : l1(units), l2(units), l3(out), dropout_ratio(ratio) {}  // input sizes are found on the first call
  NN_MEMBERS(l1, l2, l3)
  Variable hidden(const Variable& h) const { return dropout_ratio > 0 ? nn::dropout(h, {.ratio = dropout_ratio}) : h; }
  Variable operator()(const Variable& x) { return l3(hidden(nn::relu(l2(hidden(nn::relu(l1(x))))))); }
};

struct CNN : nn::Chain {
  nn::Convolution2D conv1{16, 5}, conv2{32, 5};
  nn::BatchNormalization bn1{16};
  nn::Linear fc1, fc2;
  explicit CNN(int out) : fc1(128), fc2(out) {}
  NN_MEMBERS(conv1, bn1, conv2, fc1, fc2)
  Variable operator()(const Variable& x) {
    Variable h = nn::max_pooling_2d(nn::relu(bn1(conv1(x.reshape(-1, 1, 28, 28)))), 2);
    h = nn::max_pooling_2d(nn::relu(conv2(h)), 2);
    return fc2(nn::relu(fc1(h)));
  }
};

struct Arguments {
  int batchsize = 100, epochs = 20, units = 1000, frequency = -1, gpu = -1;
  double dropout = 0;
  std::uint64_t seed = 0;
  std::string out = "result", resume, model = "mlp", optimizer = "adam";
  bool generated = false, progress = true, capture = false;
};

constexpr const char kHelp[] = R"(Catena example: MNIST

  -b, --batchsize N        images per minibatch (100)
  -e, --epoch N            sweeps over the training images (20)
  -f, --frequency N        snapshot every so many epochs (-1: at the end)
  -g, --gpu N              GPU to train on (-1: the CPU)
  -o, --out FOLDER         folder of the results (result)
  -r, --resume FILE        snapshot to resume from
  -u, --unit N             hidden units of the perceptron (1000)
  -m, --model NAME         mlp or cnn (mlp)
      --optimizer NAME     adam or momentum (adam)
      --dropout RATIO      dropout ratio of the perceptron's hidden layers (0)
      --seed N             of initial weights, order and dropout (0)
      --generated          generated digit images instead of MNIST (or --synthetic)
      --capture            on a GPU, run each update as one CUDA graph
      --no-progress        no progress bar
)";

template <class T> void read(const char* name, std::string_view text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  catena::check<catena::ValueError>(error == std::errc() && end == text.data() + text.size(), name, '"', text,
                                    "\" is no number that fits");
}
void read_choice(const char* name, const std::string& text, const char* a, const char* b, std::string& value) {
  catena::check<catena::ValueError>(text == a || text == b, name, '"', text, "\" is neither ", a, " nor ", b);
  value = text;
}

Arguments parse(int argc, char** argv) {
  enum { kOptimizer = 256, kDropout, kSeed, kGenerated, kCapture, kNoProgress };
  const option options[] = {{"batchsize", required_argument, nullptr, 'b'},
                            {"epoch", required_argument, nullptr, 'e'},
                            {"frequency", required_argument, nullptr, 'f'},
                            {"gpu", required_argument, nullptr, 'g'},
                            {"out", required_argument, nullptr, 'o'},
                            {"resume", required_argument, nullptr, 'r'},
                            {"unit", required_argument, nullptr, 'u'},
                            {"model", required_argument, nullptr, 'm'},
                            {"optimizer", required_argument, nullptr, kOptimizer},
                            {"dropout", required_argument, nullptr, kDropout},
                            {"seed", required_argument, nullptr, kSeed},
                            {"generated", no_argument, nullptr, kGenerated},
                            {"synthetic", no_argument, nullptr, kGenerated},
                            {"capture", no_argument, nullptr, kCapture},
                            {"no-progress", no_argument, nullptr, kNoProgress},
                            {"help", no_argument, nullptr, 'h'},
                            {}};
  Arguments args;
  for (int o = 0; (o = getopt_long(argc, argv, "b:e:f:g:o:r:u:m:h", options, nullptr)) != -1;) switch (o) {
      case 'b': read("--batchsize", optarg, args.batchsize); break;
      case 'e': read("--epoch", optarg, args.epochs); break;
      case 'f': read("--frequency", optarg, args.frequency); break;
      case 'g': read("--gpu", optarg, args.gpu); break;
      case 'o': args.out = optarg; break;
      case 'r': args.resume = optarg; break;
      case 'u': read("--unit", optarg, args.units); break;
      case 'm': read_choice("--model", optarg, "mlp", "cnn", args.model); break;
      case kOptimizer: read_choice("--optimizer", optarg, "adam", "momentum", args.optimizer); break;
      case kDropout: read("--dropout", optarg, args.dropout); break;
      case kSeed: read("--seed", optarg, args.seed); break;
      case kGenerated: args.generated = true; break;
      case kCapture: args.capture = true; break;
      case kNoProgress: args.progress = false; break;
      case 'h': std::fputs(kHelp, stdout), std::exit(0);
      default: std::exit(2);  // getopt_long has printed the error
    }
  catena::check<catena::ValueError>(optind == argc, argv[0], "there is no argument \"",
                                    optind < argc ? argv[optind] : "", '"');
  return args;
}

// Returns MNIST, or generated digits if its files are not available.
training::datasets::Mnist images(bool generated) {
  if (generated) return training::datasets::generated_mnist(2000, 500);
  try {
    return training::datasets::mnist();
  } catch (const catena::IOError& e) {
    std::fprintf(stderr, "%s\ntrain_mnist: generated digit images take the place of MNIST\n", e.what());
    return training::datasets::generated_mnist();
  }
}

template <class Model> void train(Model predictor, const Arguments& args) {
  nn::Classifier<Model> model(std::move(predictor));

  training::Adam adam;
  training::MomentumSGD momentum({.lr = 0.05});
  training::Optimizer& optimizer = args.optimizer == "adam" ? static_cast<training::Optimizer&>(adam) : momentum;
  optimizer.setup(model);

  const training::datasets::Mnist mnist = images(args.generated);
  std::printf("dataset: %s\n", mnist.origin.c_str());
  std::printf("# training images: %ld, test images: %ld\n\n", long(mnist.train->size()), long(mnist.test->size()));

  training::SerialIterator train_iter(mnist.train, args.batchsize);
  training::SerialIterator test_iter(mnist.test, args.batchsize, {.repeat = false, .shuffle = false});
  training::Trainer trainer(training::StandardUpdater(train_iter, optimizer, {.capture = args.capture}),
                            {double(args.epochs), training::epoch}, args.out);

  trainer.extend(training::Evaluator(test_iter, model));
  const double frequency = args.frequency < 1 ? args.epochs : args.frequency;
  trainer.extend(training::Snapshot(), {.trigger = training::TriggerSpec(frequency, training::epoch)});
  trainer.extend(training::LogReport());
  trainer.extend(training::PrintReport(
      {"epoch", "main/loss", "validation/main/loss", "main/accuracy", "validation/main/accuracy", "elapsed_time"}));
  if (args.progress) trainer.extend(training::ProgressBar());

  if (!args.resume.empty()) nn::serializers::load_npz(args.resume, trainer);
  trainer.run();
}

int main(int argc, char** argv) {
  Arguments args;
  try {
    args = parse(argc, argv);
  } catch (const catena::Error& e) {
    std::fprintf(stderr, "train_mnist: %s\n", e.what());
    return 2;
  }
  try {
    // Weights, images and batches are made on this device.
    nd::set_current_device(args.gpu < 0 ? nd::cpu_device
                                        : nd::Device{nd::Device::Kind::cuda, static_cast<std::int16_t>(args.gpu)});
    autograd::seed(args.seed);
    std::printf("GPU: %d\n# unit: %d\n# Minibatch-size: %d\n# epoch: %d\n\n", args.gpu, args.units, args.batchsize,
                args.epochs);
    if (args.model == "mlp") train(MLP(args.units, 10, args.dropout), args);
    else train(CNN(10), args);
  } catch (const catena::Error& e) {
    std::fprintf(stderr, "train_mnist: %s\n", e.what());
    return 1;
  }
  return 0;
}
