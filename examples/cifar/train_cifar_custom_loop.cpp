// Trains the network of train_cifar without a Trainer: the loop over the minibatches is written out.
// test: --synthetic --images 16 --epoch 1 --batchsize 8 --seed 1
// test on cpu: --gpu -1
// no test on cuda: a network of this size is too slow on the software device
// writes: mlp.model mlp.state
// prints: epoch:  1
// prints: train mean loss: [0-9.]+, accuracy: [0-9.]+
// prints: test mean  loss: [0-9.e+]+, accuracy: [0-9.]+
// prints: save the optimizer
#include <cmath>
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
  const std::string out = args.option("-o,--out", ".", "folder of the results, which exists");
  const std::string resume = args.option("-r,--resume", "", "folder of the results from which training continues");
  const int seed = args.option("--seed", 0, "of the weights and the order of the images");
  const bool synthetic = args.flag("--synthetic", "generated images instead of CIFAR");
  const bool test_run = args.flag("--test", "200 images of the training and of the test only");
  const int limit = args.option("--images", test_run ? 200 : 0, "images of the training and of the test; 0: all");
  args.finish();

  std::printf("GPU: %d\n# Minibatch-size: %d\n# epoch: %d\n\n", gpu, batchsize, epoch);
  use_device(gpu);
  autograd::seed(seed);

  const auto [train, test] = cifar_images(dataset, synthetic, limit);
  nn::Classifier model(VGG(dataset == "cifar10" ? 10 : 100));

  // Halved every 25 epochs.
  const auto learnrate_of = [&](std::int64_t epochs) { return learnrate * std::pow(0.5, double(epochs / 25)); };
  training::MomentumSGD optimizer(learnrate);
  optimizer.setup(model);
  optimizer.add_hook(training::WeightDecay(5e-4));
  if (!resume.empty()) {
    nn::serializers::load_npz(resume + "/mlp.model", model);
    nn::serializers::load_npz(resume + "/mlp.state", optimizer);
    optimizer.set_hyper("lr", learnrate_of(optimizer.epoch()));
  }

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
      // No dropout, and the running averages of the normalizations.
      const auto test_mode = autograd::train_mode(false);
      for (const training::Batch& batch : test_iter) {
        const auto [test_x, test_t] = training::to_variables(batch);
        model(test_x, test_t);
        add(test_t.size());
      }
      test_iter.reset();
      print_means("test mean ", test->size());
      if (optimizer.epoch() % 25 == 0) {
        optimizer.set_hyper("lr", learnrate_of(optimizer.epoch()));
        std::printf("Reducing learning rate to:  %g\n", optimizer.lr());
      }
    }
  }

  std::printf("save the model\n");
  nn::serializers::save_npz(out + "/mlp.model", model, false);  // not compressed
  std::printf("save the optimizer\n");
  nn::serializers::save_npz(out + "/mlp.state", optimizer, false);
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "train_cifar_custom_loop: %s\n", e.what());
  return 1;
}
