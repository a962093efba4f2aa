// Trains a generator of pictures and a discriminator, which tells them from real ones, against each other.
// test: --synthetic --ch 32 --epoch 1 --snapshot_interval 10 --display_interval 5 --out out
// writes: out/log out/snapshot_iter_10.npz out/gen_iter_10.npz out/dis_iter_10.npz out/preview/image00000010.png
// prints: # Minibatch-size: 50
// prints: # n_hidden: 100
// prints: dataset: generated
// prints: epoch +iteration +gen/loss +dis/loss
// prints: 0 +5 +[0-9.]+ +[0-9.]+
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include <catena/catena.h>

#include "../arguments.h"
#include "net.h"
#include "updater.h"
#include "visualize.h"

// Returns the pictures of a folder (PNG and JPEG files), or the training images of CIFAR-10, or generated pictures if
// that is asked for or CIFAR-10 is not at hand. Pixels are 0..255.
training::DatasetPtr pictures(const std::string& folder, bool synthetic) {
  if (!folder.empty()) {
    std::vector<std::string> image_files;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      const std::string name = entry.path().filename().string();
      if (name.find("png") != std::string::npos || name.find("jpg") != std::string::npos) image_files.push_back(name);
    }
    std::printf("%s contains %zu image files\n", folder.c_str(), image_files.size());
    return training::DatasetPtr(catena::Shared<training::ImageDataset>::make(image_files, folder));
  }
  const training::datasets::CifarOptions options{.withlabel = false, .scale = 255};
  training::datasets::TrainTest cifar;
  try {
    if (!synthetic) cifar = training::datasets::get_cifar10(options);
  } catch (const catena::IOError& e) {
    std::fprintf(stderr, "%s\nGenerated pictures take the place of CIFAR-10.\n", e.what());
  }
  if (!cifar.train) cifar = training::datasets::generated_cifar10(synthetic ? 500 : 5000, 1, options);
  std::printf("dataset: %s\n", cifar.origin.c_str());
  return cifar.train;
}

int main(int argc, char** argv) try {
  Arguments args(argc, argv, "Catena example: DCGAN");
  const int batchsize = args.option("-b,--batchsize", 50, "pictures in a minibatch");
  const int epoch = args.option("-e,--epoch", 1000, "sweeps over the pictures");
  const int gpu = args.option("-g,--gpu", -1, "GPU; -1: the CPU");
  const std::string dataset =
      args.option("-i,--dataset", "", "folder of pictures of 32 x 32 pixels; default: CIFAR-10");
  const std::string out = args.option("-o,--out", "result", "folder of the results");
  const std::string resume = args.option("-r,--resume", "", "snapshot from which training continues");
  const int n_hidden = args.option("-n,--n_hidden", 100, "random numbers of which a picture is made (z)");
  const int seed = args.option("--seed", 0, "of the weights, the noise, and z of the pictures written");
  const int snapshot_every = args.option("--snapshot_interval", 1000, "iterations between snapshots");
  const int display_every = args.option("--display_interval", 100, "iterations between lines of the log");
  const int ch = args.option("--ch", 512, "channels of the widest layer");
  const bool synthetic = args.flag("--synthetic", "generated pictures instead of CIFAR-10");
  args.finish();

  std::printf("GPU: %d\n# Minibatch-size: %d\n# n_hidden: %d\n# epoch: %d\n\n", gpu, batchsize, n_hidden, epoch);
  use_device(gpu);
  autograd::seed(seed);

  Generator gen(n_hidden, 4, ch);
  Discriminator dis(4, ch);

  training::Adam opt_gen({.alpha = 0.0002, .beta1 = 0.5}), opt_dis({.alpha = 0.0002, .beta1 = 0.5});
  opt_gen.setup(gen);
  opt_dis.setup(dis);
  for (training::Adam* optimizer : {&opt_gen, &opt_dis}) optimizer->add_hook(training::WeightDecay(0.0001), "hook_dec");

  training::SerialIterator train_iter(pictures(dataset, synthetic), batchsize);

  DCGANUpdater updater(gen, dis, train_iter, {{"gen", opt_gen}, {"dis", opt_dis}}, {.device = nd::current_device()});
  training::Trainer trainer(updater, {epoch, "epoch"}, out);

  const training::ExtendOptions snapshot_interval{.trigger = {snapshot_every, "iteration"}};
  const training::ExtendOptions display_interval{.trigger = {display_every, "iteration"}};
  trainer.extend(training::snapshot({.filename = "snapshot_iter_{.updater.iteration}.npz"}), snapshot_interval);
  trainer.extend(training::snapshot_object(gen, "gen_iter_{.updater.iteration}.npz"), snapshot_interval);
  trainer.extend(training::snapshot_object(dis, "dis_iter_{.updater.iteration}.npz"), snapshot_interval);
  trainer.extend(training::LogReport({.trigger = {display_every, "iteration"}}));
  trainer.extend(training::PrintReport({"epoch", "iteration", "gen/loss", "dis/loss"}), display_interval);
  trainer.extend(training::ProgressBar({.update_interval = 10}));
  trainer.extend(out_generated_image(gen, 10, 10, seed, out), snapshot_interval);

  if (!resume.empty()) nn::serializers::load_npz(resume, trainer);
  trainer.run();
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "train_dcgan: %s\n", e.what());
  return 1;
}
