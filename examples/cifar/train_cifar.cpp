// Trains a network in the style of VGG to classify small colour images.
// test: --synthetic --images 16 --epoch 1 --batchsize 8 --seed 1
// test on cpu: --gpu -1
// no test on cuda: a network of this size is too slow on the software device
// writes: result/log result/cg.dot result/snapshot_iter_2
// prints: # Minibatch-size: 8
// prints: Using CIFAR10 dataset.
// prints: dataset: generated
// prints: epoch +main/loss +validation/main/loss +main/accuracy +validation/main/accuracy +elapsed_time
// prints: 1 +[0-9.]+ +[0-9.e+]+ +[0-9.]+ +[0-9.]+ +[0-9.]+
#include <cstdio>
#include <string>

#include <catena/catena.h>

#include "../arguments.h"
#include "images.h"
#include "vgg.h"

int main(int argc, char** argv) try {
  Arguments args(argc, argv, "Catena example: CIFAR");
  const std::string dataset = args.choice("-d,--dataset", {"cifar10", "cifar100"}, "data set");
  const int batchsize = args.option("-b,--batchsize", 64, "images in a minibatch");
  const double learnrate = args.option("-l,--learnrate", 0.05, "learning rate of SGD");
  const int epoch = args.option("-e,--epoch", 300, "sweeps over the training images");
  const int gpu = args.option("-g,--gpu", 0, "GPU; -1: the CPU");
  const std::string out = args.option("-o,--out", "result", "folder of the results");
  const std::string resume = args.option("-r,--resume", "", "snapshot from which training continues");
  const int seed = args.option("--seed", 0, "of the weights and the order of the images");
  const bool synthetic = args.flag("--synthetic", "generated images instead of CIFAR");
  const int limit = args.option("--images", 0, "images of the training and of the test; 0: all");
  args.finish();

  std::printf("GPU: %d\n# Minibatch-size: %d\n# epoch: %d\n\n", gpu, batchsize, epoch);
  use_device(gpu);
  autograd::seed(seed);

  const auto [train, test] = cifar_images(dataset, synthetic, limit);
  // The classifier reports the softmax cross entropy and the accuracy of each minibatch.
  nn::Classifier model(VGG(dataset == "cifar10" ? 10 : 100));

  training::MomentumSGD optimizer(learnrate);
  optimizer.setup(model);
  optimizer.add_hook(training::WeightDecay(5e-4));

  training::SerialIterator train_iter(train, batchsize);
  training::SerialIterator test_iter(test, batchsize, {.repeat = false, .shuffle = false});

  training::StandardUpdater updater(train_iter, optimizer);
  training::Trainer trainer(updater, {epoch, "epoch"}, out);

  // The evaluator calls the model in test mode: without dropout, and with the running averages of the normalizations.
  trainer.extend(training::Evaluator(test_iter, model));
  trainer.extend(training::ExponentialShift("lr", 0.5), {.trigger = {25, "epoch"}});
  trainer.extend(training::dump_graph("main/loss"));
  trainer.extend(training::snapshot(), {.trigger = {epoch, "epoch"}});
  trainer.extend(training::LogReport());
  trainer.extend(training::PrintReport(
      {"epoch", "main/loss", "validation/main/loss", "main/accuracy", "validation/main/accuracy", "elapsed_time"}));
  trainer.extend(training::ProgressBar());

  if (!resume.empty()) nn::serializers::load_npz(resume, trainer);
  trainer.run();
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "train_cifar: %s\n", e.what());
  return 1;
}
