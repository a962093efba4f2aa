// Trains the perceptron of train_mnist without a Trainer: the loop over the minibatches is written out.
// test: --synthetic --epoch 1 --unit 50 --seed 1
// writes: mlp.model mlp.state
// prints: epoch:  1
// prints: train mean loss: [0-9.]+, accuracy: 0[.][0-9]+
// prints: test mean  loss: [0-9.]+, accuracy: 0[.][0-9]+
// prints: save the optimizer
#include <cstdio>
#include <string>

#include <catena/catena.h>

#include "../arguments.h"
#include "images.h"
#include "mlp.h"

int main(int argc, char** argv) try {
  Arguments args(argc, argv, "Catena example: MNIST");
  const int batchsize = args.option("-b,--batchsize", 100, "images in a minibatch");
  const int epoch = args.option("-e,--epoch", 20, "sweeps over the training images");
  const int gpu = args.option("-g,--gpu", -1, "GPU; -1: the CPU");
  const std::string out = args.option("-o,--out", ".", "folder of the results, which exists");
  const std::string resume = args.option("-r,--resume", "", "folder of the results from which training continues");
  const int unit = args.option("-u,--unit", 1000, "units of a hidden layer");
  const int seed = args.option("--seed", 0, "of the weights and the order of the images");
  const bool synthetic = args.flag("--synthetic", "generated images instead of MNIST");
  args.finish();

  std::printf("GPU: %d\n# unit: %d\n# Minibatch-size: %d\n# epoch: %d\n\n", gpu, unit, batchsize, epoch);
  use_device(gpu);
  autograd::seed(seed);

  nn::Classifier model(MLP(unit, 10));
  training::Adam optimizer;
  optimizer.setup(model);
  if (!resume.empty()) {
    nn::serializers::load_npz(resume + "/mlp.model", model);
    nn::serializers::load_npz(resume + "/mlp.state", optimizer);
  }

  const auto [train, test] = mnist_images(synthetic);
  training::SerialIterator train_iter(train, batchsize);
  training::SerialIterator test_iter(test, batchsize, {.repeat = false, .shuffle = false});

  double sum_loss = 0, sum_accuracy = 0;
  const auto add = [&](std::int64_t images) {
    sum_loss += model.loss.item<double>() * double(images);
    sum_accuracy += model.accuracy.item<double>() * double(images);
  };
  const auto print_means = [&](const char* of, std::int64_t images) {
    std::printf("%s loss: %g, accuracy: %g\n", of, sum_loss / double(images), sum_accuracy / double(images));
    sum_loss = sum_accuracy = 0;
  };
  while (optimizer.epoch() < epoch) {
    const auto [x, t] = training::to_variables(*train_iter.next());
    optimizer.update(model, x, t);
    add(t.size());

    if (train_iter.is_new_epoch()) {
      optimizer.new_epoch();  // counted there, because it is saved with the optimizer
      std::printf("epoch:  %d\n", int(optimizer.epoch()));
      print_means("train mean", train->size());
      for (const training::Batch& batch : test_iter) {
        const auto [test_x, test_t] = training::to_variables(batch);
        model(test_x, test_t);
        add(test_t.size());
      }
      test_iter.reset();
      print_means("test mean ", test->size());
    }
  }

  std::printf("save the model\n");
  nn::serializers::save_npz(out + "/mlp.model", model);
  std::printf("save the optimizer\n");
  nn::serializers::save_npz(out + "/mlp.state", optimizer);
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "train_mnist_custom_loop: %s\n", e.what());
  return 1;
}
