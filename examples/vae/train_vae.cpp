// Trains a variational autoencoder on images of handwritten digits, and writes images that it reconstructs and invents.
// test: --synthetic --test --epoch 2 --seed 1
// writes: graph.dot mlp.model mlp.state train.png train_reconstructed.png test.png test_reconstructed.png sampled.png
// prints: # dim z: 20
// prints: # Minibatch-size: 100
// prints: dataset: generated
// prints: graph generated
// prints: epoch 2.train mean loss=[0-9.]+, mean reconstruction loss=[0-9.]+.test  mean loss=[0-9.]+, mean
// prints: save the optimizer
#include <cstdio>
#include <fstream>
#include <string>
#include <tuple>

#include <catena/catena.h>

#include "../arguments.h"
#include "../mnist/images.h"
#include "net.h"

using autograd::Variable;

// Writes nine images (9, 784) in three rows; each pixel becomes a square of four by four.
void save_images(const Variable& x, const std::string& filename) {
  const nd::Array grid = (x * 255).reshape(3, 3, 28, 28).transpose(0, 2, 1, 3).reshape(84, 84).data();
  training::datasets::write_image(filename, grid.repeat(4, 0).repeat(4, 1));
}

int main(int argc, char** argv) try {
  Arguments args(argc, argv, "Catena example: variational autoencoder");
  const std::string initmodel = args.option("-m,--initmodel", "", "file from which the model is initialized");
  const std::string resume = args.option("-r,--resume", "", "file from which the optimizer continues");
  const int gpu = args.option("-g,--gpu", -1, "GPU; -1: the CPU");
  const int n_epoch = args.option("-e,--epoch", 100, "sweeps over the training images");
  const int n_latent = args.option("-z,--dimz", 20, "dimension of the encoded vector");
  const int batchsize = args.option("-b,--batchsize", 100, "images in a minibatch");
  const int seed = args.option("--seed", 0, "of the weights, the order of the images and the samples");
  const bool tiny = args.flag("--test", "train with 30 images");
  const bool synthetic = args.flag("--synthetic", "generated images instead of MNIST");
  args.finish();

  std::printf("GPU: %d\n# dim z: %d\n# Minibatch-size: %d\n# epoch: %d\n\n", gpu, n_latent, batchsize, n_epoch);
  use_device(gpu);
  autograd::seed(seed);

  std::puts("load MNIST dataset");
  auto [train, test] = mnist_images(synthetic);
  if (tiny) std::tie(train, test) = training::split_dataset(training::SubDataset(train, 0, 100), 30);
  training::SerialIterator train_iter(train, batchsize, {.repeat = false});
  training::SerialIterator test_iter(test, batchsize, {.repeat = false, .shuffle = false});

  VAE model(784, n_latent, 500);
  training::Adam optimizer;
  optimizer.setup(model);

  if (!initmodel.empty()) {
    std::printf("Load model from %s\n", initmodel.c_str());
    nn::serializers::load_npz(initmodel, model);
  }
  if (!resume.empty()) {
    std::printf("Load optimizer state from %s\n", resume.c_str());
    nn::serializers::load_npz(resume, optimizer);
  }

  for (int epoch = 1; epoch <= n_epoch; ++epoch) {
    std::printf("epoch %d\n", epoch);

    double sum_loss = 0, sum_rec_loss = 0;
    train_iter.reset();
    for (const training::Batch& batch : train_iter) {
      const auto [x, t] = training::to_variables(batch);
      optimizer.update(model.get_loss_func(), x);
      if (epoch == 1 && sum_loss == 0) {
        std::ofstream("graph.dot") << autograd::build_computational_graph({model.loss}).dump();
        std::puts("graph generated");
      }
      sum_loss += double(model.loss) * double(batch.size());
      sum_rec_loss += double(model.rec_loss) * double(batch.size());
    }
    std::printf("train mean loss=%.10g, mean reconstruction loss=%.10g\n", sum_loss / double(train->size()),
                sum_rec_loss / double(train->size()));

    sum_loss = sum_rec_loss = 0;
    test_iter.reset();
    const auto no_graph = autograd::no_backprop_mode();
    for (const training::Batch& batch : test_iter) {
      const auto [x, t] = training::to_variables(batch);
      model.get_loss_func(1.0, 10)(x);
      sum_loss += double(model.loss) * double(batch.size());
      sum_rec_loss += double(model.rec_loss) * double(batch.size());
    }
    std::printf("test  mean loss=%.10g, mean reconstruction loss=%.10g\n", sum_loss / double(test->size()),
                sum_rec_loss / double(test->size()));
  }

  std::puts("save the model");
  nn::serializers::save_npz("mlp.model", model);
  std::puts("save the optimizer");
  nn::serializers::save_npz("mlp.state", optimizer);

  // Original and reconstructed images.
  const auto no_graph = autograd::no_backprop_mode();
  const Variable x_train = training::concat_examples((*train)[{1, 3, 5, 10, 2, 0, 13, 15, 17}]).values[0];
  save_images(x_train, "train.png");
  save_images(model(x_train), "train_reconstructed.png");
  const Variable x_test = training::concat_examples((*test)[{3, 2, 1, 18, 4, 8, 11, 17, 61}]).values[0];
  save_images(x_test, "test.png");
  save_images(model(x_test), "test_reconstructed.png");

  // Images of random codes.
  const Variable z = nd::random::standard_normal({9, n_latent}, nd::float32);
  save_images(model.decode(z), "sampled.png");
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "train_vae: %s\n", e.what());
  return 1;
}
