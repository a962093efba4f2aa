// Trains a perceptron (784-1000-1000-10) or a small convolutional network to read handwritten digits.
// test: --synthetic --epoch 1 --unit 50 --seed 1
// writes: result/log result/cg.dot result/loss.png result/accuracy.png result/snapshot_iter_20
// prints: # unit: 50
// prints: # Minibatch-size: 100
// prints: dataset: generated
// prints: epoch +main/loss +validation/main/loss +main/accuracy +validation/main/accuracy +elapsed_time
// prints: 1 +[0-9.]+ +[0-9.]+ +0[.][0-9]+ +0[.][0-9]+ +[0-9.]+
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>

#include <catena/catena.h>

#include "../arguments.h"
#include "images.h"
#include "mlp.h"

using autograd::Variable;

// Two convolutions and two layers of units. Dropout, because it would learn the training images by heart. x: (N, 784).
struct CNN : nn::Chain {
  nn::Convolution2D conv1{1, 16, 5}, conv2{16, 32, 5};
  nn::BatchNormalization bn1{16};
  nn::Linear fc1{128, {.n_batch_axes = 1}}, fc2{10};
  NN_MEMBERS(conv1, bn1, conv2, fc1, fc2)

  Variable operator()(const Variable& x) {
    Variable h = nn::max_pooling_2d(nn::relu(bn1(conv1(x.reshape(-1, 1, 28, 28)))), 2);
    h = nn::max_pooling_2d(nn::relu(conv2(h)), 2);
    h = nn::relu(fc1(nn::dropout(h, 0.25)));
    return fc2(nn::dropout(h, 0.5));
  }
};

int main(int argc, char** argv) try {
  Arguments args(argc, argv, "Catena example: MNIST");
  const int batchsize = args.option("-b,--batchsize", 100, "images in a minibatch");
  const int epoch = args.option("-e,--epoch", 20, "sweeps over the training images");
  const int frequency = args.option("-f,--frequency", -1, "epochs between snapshots; -1: one at the end");
  const int gpu = args.option("-g,--gpu", -1, "GPU; -1: the CPU");
  const std::string out = args.option("-o,--out", "result", "folder of the results");
  const std::string resume = args.option("-r,--resume", "", "snapshot from which training continues");
  const int unit = args.option("-u,--unit", 1000, "units of a hidden layer");
  const std::string name = args.choice("-m,--model", {"mlp", "cnn"}, "network");
  const int seed = args.option("--seed", 0, "of the weights and the order of the images");
  const bool synthetic = args.flag("--synthetic", "generated images instead of MNIST");
  const bool capture = args.flag("--capture", "on a GPU, an update is one CUDA graph");
  args.finish();

  std::printf("GPU: %d\n# unit: %d\n# Minibatch-size: %d\n# epoch: %d\n\n", gpu, unit, batchsize, epoch);
  use_device(gpu);
  autograd::seed(seed);

  std::unique_ptr<nn::Chain> network;
  if (name == "cnn") network = std::make_unique<CNN>();
  else network = std::make_unique<MLP>(unit, 10);
  // The classifier reports the softmax cross entropy and the accuracy of each minibatch.
  nn::Classifier model(std::move(network));

  training::Adam optimizer;
  optimizer.setup(model);

  const auto [train, test] = mnist_images(synthetic);
  training::SerialIterator train_iter(train, batchsize);
  training::SerialIterator test_iter(test, batchsize, {.repeat = false, .shuffle = false});

  training::StandardUpdater updater(train_iter, optimizer, {.capture = capture});
  training::Trainer trainer(updater, {epoch, "epoch"}, out);

  trainer.extend(training::Evaluator(test_iter, model));
  trainer.extend(training::dump_graph("main/loss"));
  trainer.extend(training::snapshot(), {.trigger = {frequency == -1 ? epoch : std::max(1, frequency), "epoch"}});
  trainer.extend(training::LogReport());
  trainer.extend(training::PlotReport({"main/loss", "validation/main/loss"}, "epoch", {.file_name = "loss.png"}));
  trainer.extend(
      training::PlotReport({"main/accuracy", "validation/main/accuracy"}, "epoch", {.file_name = "accuracy.png"}));
  trainer.extend(training::PrintReport(
      {"epoch", "main/loss", "validation/main/loss", "main/accuracy", "validation/main/accuracy", "elapsed_time"}));
  trainer.extend(training::ProgressBar());

  if (!resume.empty()) nn::serializers::load_npz(resume, trainer);
  trainer.run();
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "train_mnist: %s\n", e.what());
  return 1;
}
