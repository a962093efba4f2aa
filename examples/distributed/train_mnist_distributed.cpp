// Trains the perceptron of train_mnist in several processes, each with its part of the images.
// ranks: 2
// test: --synthetic --epoch 1 --unit 50 --seed 1
// writes: result_distributed/log
// prints: # ranks: 2
// prints: # Minibatch-size: 100
// prints: epoch +main/loss +main/accuracy +elapsed_time
// prints: 1 +[0-9.]+ +0[.][0-9]+ +[0-9.]+
// prints: test accuracy: 0[.][0-9]+
#include <cstdio>
#include <string>

#include <catena/catena.h>
#include <catena/training/multi_node.h>

#include "../arguments.h"
#include "../mnist/images.h"
#include "../mnist/mlp.h"

int main(int argc, char** argv) try {
  Arguments args(argc, argv, "Catena example: MNIST in several processes");
  const int batchsize = args.option("-b,--batchsize", 100, "images in a minibatch of one rank");
  const int epoch = args.option("-e,--epoch", 20, "sweeps over the training images");
  const bool on_gpu = args.flag("-g,--gpus", "each rank of a machine uses a GPU of its own");
  const std::string out = args.option("-o,--out", "result_distributed", "folder of the results");
  const int unit = args.option("-u,--unit", 1000, "units of a hidden layer");
  const std::string name = args.choice("-c,--communicator", {"naive", "flat", "pure_nccl"}, "how gradients are added");
  const int seed = args.option("--seed", 0, "of the weights and the order of the images");
  const bool synthetic = args.flag("--synthetic", "generated images instead of MNIST");
  const bool double_buffering = args.flag("--double-buffering", "gradients are one update late");
  const bool shard_states = args.flag("--shard-states", "each rank has a part of the states of Adam");
  args.finish();

  // The number of the rank on its machine is that of its GPU, which must be current before pure_nccl is created.
  use_device(on_gpu ? training::create_communicator("naive")->intra_rank() : -1);
  const auto comm = training::create_communicator(name);
  const bool is_first = comm->rank() == 0;  // it writes and prints
  if (is_first)
    std::printf("# ranks: %d\n# unit: %d\n# Minibatch-size: %d\n# epoch: %d\n\n", comm->size(), unit, batchsize, epoch);
  autograd::seed(seed);

  nn::Classifier model(MLP(unit, 10));
  training::Adam adam;
  const auto optimizer = training::create_multi_node_optimizer(
      adam, comm, {.double_buffering = double_buffering, .shard_states = shard_states});
  optimizer->setup(model);

  const auto [train, test] = mnist_images(synthetic);
  const training::DistributedSampler part({.rank = comm->rank(), .size = comm->size(), .seed = std::uint64_t(seed)});
  training::SerialIterator train_iter(train, batchsize, {.order_sampler = part});
  training::StandardUpdater updater(train_iter, optimizer);
  training::Trainer trainer(updater, {epoch, "epoch"}, out);
  if (is_first) {
    trainer.extend(training::LogReport());
    trainer.extend(training::PrintReport({"epoch", "main/loss", "main/accuracy", "elapsed_time"}));
  }
  trainer.run();

  // All ranks have the same weights.
  if (is_first) {
    training::SerialIterator test_iter(test, batchsize, {.repeat = false, .shuffle = false});
    training::Evaluator evaluator(test_iter, model);
    std::printf("test accuracy: %g\n", evaluator().at("main/accuracy").value());
  }
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "train_mnist_distributed: %s\n", e.what());
  return 1;
}
