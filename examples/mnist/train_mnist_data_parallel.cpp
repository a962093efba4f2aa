// Trains the perceptron of train_mnist on two devices: each computes the gradients of one half of every minibatch.
// test: --synthetic --epoch 1 --unit 50 --seed 1
// test on cpu: --gpu0 -1 --gpu1 -1
// writes: result_parallel/log result_parallel/cg.dot result_parallel/snapshot_iter_5
// prints: # Minibatch-size: 400
// prints: epoch +main/loss +validation/main/loss +main/accuracy +validation/main/accuracy +elapsed_time
// prints: 1 +[0-9.]+ +[0-9.]+ +0[.][0-9]+ +0[.][0-9]+ +[0-9.]+
#include <cstdio>
#include <string>

#include <catena/catena.h>

#include "../arguments.h"
#include "images.h"
#include "mlp.h"

int main(int argc, char** argv) try {
  // This program is almost train_mnist. Only the lines about the devices are different.
  Arguments args(argc, argv, "Catena example: MNIST");
  const int batchsize = args.option("-b,--batchsize", 400, "images in a minibatch");
  const int epoch = args.option("-e,--epoch", 20, "sweeps over the training images");
  const int gpu0 = args.option("-g,--gpu0", 0, "first GPU; -1: the CPU");
  const int gpu1 = args.option("-G,--gpu1", 1, "second GPU; -1: the CPU");
  const std::string out = args.option("-o,--out", "result_parallel", "folder of the results");
  const std::string resume = args.option("-r,--resume", "", "snapshot from which training continues");
  const int unit = args.option("-u,--unit", 1000, "units of a hidden layer");
  const int seed = args.option("--seed", 0, "of the weights and the order of the images");
  const bool synthetic = args.flag("--synthetic", "generated images instead of MNIST");
  args.finish();

  std::printf("GPU: %d, %d\n# unit: %d\n# Minibatch-size: %d\n# epoch: %d\n\n", gpu0, gpu1, unit, batchsize, epoch);
  use_device(gpu0);
  autograd::seed(seed);

  nn::Classifier model(MLP(unit, 10));
  training::Adam optimizer;
  optimizer.setup(model);

  const auto [train, test] = mnist_images(synthetic);
  training::SerialIterator train_iter(train, batchsize);
  training::SerialIterator test_iter(test, batchsize, {.repeat = false, .shuffle = false});

  // The device "main" has the model that is updated; the other one has a copy. Names but "main" are arbitrary.
  training::ParallelUpdater updater(train_iter, optimizer, model, {.devices = {{"main", gpu0}, {"second", gpu1}}});
  training::Trainer trainer(updater, {epoch, "epoch"}, out);

  trainer.extend(training::Evaluator(test_iter, model));
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
  std::fprintf(stderr, "train_mnist_data_parallel: %s\n", e.what());
  return 1;
}
