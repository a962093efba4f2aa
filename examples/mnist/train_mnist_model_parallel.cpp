// Trains a perceptron whose layers are split between two devices.
// test: --synthetic --epoch 1 --unit 50 --seed 1
// test on cpu: --gpu0 -1 --gpu1 -1
// writes: result_parallel/log result_parallel/cg.dot result_parallel/snapshot_iter_20
// prints: # Minibatch-size: 100
// prints: epoch +main/loss +validation/main/loss +main/accuracy +validation/main/accuracy +elapsed_time
// prints: 1 +[0-9.]+ +[0-9.]+ +0[.][0-9]+ +0[.][0-9]+ +[0-9.]+
#include <cstdio>
#include <string>

#include <catena/catena.h>

#include "../arguments.h"
#include "images.h"
#include "mlp.h"

using autograd::Variable;

// Each device has one half of the units of every layer. The halves exchange their sums twice.
struct ParallelMLP : nn::Chain {
  MLP first0, first1, second0, second1;
  int gpu0, gpu1;
  ParallelMLP(int n_units, int n_out, int gpu0_, int gpu1_)
      : first0(n_units / 2, n_units),
        first1(n_units / 2, n_units),
        second0(n_units / 2, n_out),
        second1(n_units / 2, n_out),
        gpu0(gpu0_),
        gpu1(gpu1_) {
    first0.to_device(device_of(gpu0)), second0.to_device(device_of(gpu0));
    first1.to_device(device_of(gpu1)), second1.to_device(device_of(gpu1));
  }
  NN_MEMBERS(first0, first1, second0, second1)

  // x and the result are on gpu0.
  Variable operator()(const Variable& x) {
    const Variable z0 = first0(x);
    const Variable z1 = first1(autograd::copy(x, gpu1));

    // synchronize
    const Variable h0 = z0 + autograd::copy(z1, gpu0);
    const Variable h1 = z1 + autograd::copy(z0, gpu1);

    const Variable y0 = second0(nn::relu(h0));
    const Variable y1 = second1(nn::relu(h1));

    // synchronize
    return y0 + autograd::copy(y1, gpu0);
  }
};

int main(int argc, char** argv) try {
  Arguments args(argc, argv, "Catena example: MNIST");
  const int batchsize = args.option("-b,--batchsize", 100, "images in a minibatch");
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

  // The following lines are explained in train_mnist.cpp.
  nn::Classifier model(ParallelMLP(unit, 10, gpu0, gpu1));
  training::Adam optimizer;
  optimizer.setup(model);

  const auto [train, test] = mnist_images(synthetic);
  training::SerialIterator train_iter(train, batchsize);
  training::SerialIterator test_iter(test, batchsize, {.repeat = false, .shuffle = false});

  training::StandardUpdater updater(train_iter, optimizer);
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
  std::fprintf(stderr, "train_mnist_model_parallel: %s\n", e.what());
  return 1;
}
