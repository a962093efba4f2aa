// Trains a perceptron (784-1000-1000-10) or a small convolutional network on MNIST.
// test: --generated --epoch 1 --unit 50 --out result --no-progress
#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>

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

template <class Model>
void train(Model predictor, const Arguments& args) {
  nn::Classifier<Model> model(std::move(predictor));
  std::optional<autograd::Device> device;
  if (args.gpu >= 0) device = autograd::Device{autograd::Device::Kind::cuda, static_cast<std::int16_t>(args.gpu)};

  training::Adam adam;
  training::MomentumSGD momentum({.lr = 0.05});
  training::Optimizer& optimizer = args.optimizer == "adam" ? static_cast<training::Optimizer&>(adam) : momentum;
  optimizer.setup(model);

  const training::datasets::Mnist mnist =
      args.generated ? training::datasets::generated_mnist(2000, 500) : training::datasets::mnist();
  std::printf("dataset: %s\n", mnist.origin.c_str());
  std::printf("# training images: %ld, test images: %ld\n\n", long(mnist.train->size()), long(mnist.test->size()));

  training::SerialIterator train_iter(mnist.train, args.batchsize);
  training::SerialIterator test_iter(mnist.test, args.batchsize, {.repeat = false, .shuffle = false});
  training::Trainer trainer(
      training::StandardUpdater(train_iter, optimizer, {.device = device, .capture = args.capture}),
      {double(args.epochs), training::epoch}, args.out);

  trainer.extend(training::Evaluator(test_iter, model, {.device = device}));
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
  CLI::App app("Catena example: MNIST");
  app.add_option("-b,--batchsize", args.batchsize, "images per minibatch")->capture_default_str();
  app.add_option("-e,--epoch", args.epochs, "sweeps over the training images")->capture_default_str();
  app.add_option("-f,--frequency", args.frequency, "snapshot every so many epochs (-1: at the end)")
      ->capture_default_str();
  app.add_option("-g,--gpu", args.gpu, "GPU to train on (-1: the CPU)")->capture_default_str();
  app.add_option("-o,--out", args.out, "folder of the results")->capture_default_str();
  app.add_option("-r,--resume", args.resume, "snapshot to resume from");
  app.add_option("-u,--unit", args.units, "hidden units of the perceptron")->capture_default_str();
  app.add_option("-m,--model", args.model, "mlp or cnn")->check(CLI::IsMember({"mlp", "cnn"}))->capture_default_str();
  app.add_option("--optimizer", args.optimizer, "adam or momentum")
      ->check(CLI::IsMember({"adam", "momentum"}))
      ->capture_default_str();
  app.add_option("--dropout", args.dropout, "dropout ratio of the perceptron's hidden layers")->capture_default_str();
  app.add_option("--seed", args.seed, "of initial weights, order and dropout")->capture_default_str();
  app.add_flag("--generated", args.generated, "generated digit images instead of MNIST");
  app.add_flag("--capture", args.capture, "on a GPU, run each update as one CUDA graph");
  app.add_flag("!--no-progress", args.progress, "no progress bar");
  CLI11_PARSE(app, argc, argv);

  try {
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
