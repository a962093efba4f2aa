// Trains a large convolutional network on several devices. Each has its own part of the images and its own minibatches.
// test: pictures/train.txt pictures/val.txt --root pictures --mean pictures/mean.npy --synthetic --seed 1
// test: --test --epoch 5 --batchsize 2 --val_batchsize 2 --loaderjob 1
// test on cpu: --gpus -1 -1
// no test on cuda: a network of this size is too slow on the software device
// writes: pictures/train.txt pictures/train_0.png pictures/train_1.png pictures/train_2.png pictures/train_3.png
// writes: pictures/val.txt pictures/val_0.png pictures/val_1.png pictures/mean.npy
// writes: result/log result/cg.dot result/snapshot_iter_5 result/model_iter_5
// prints: epoch +iteration +main/loss +validation/main/loss +main/accuracy +validation/main/accuracy +lr
// prints: 5 +5 +[0-9.]+ +[0-9.]+ +[0-9.]+ +[0-9.]+ +0.01
#include <cstdio>
#include <string>
#include <vector>

#include <catena/catena.h>

#include "../arguments.h"
#include "networks.h"
#include "preprocessed_dataset.h"
#include "synthetic.h"

int main(int argc, char** argv) try {
  Arguments args(argc, argv, "Learning convnet from ILSVRC2012 dataset");
  const std::string arch = args.choice("-a,--arch", architectures, "network");
  const int batchsize = args.option("-B,--batchsize", 32, "images in a minibatch of a device");
  const int epoch = args.option("-E,--epoch", 10, "sweeps over the training images");
  const std::vector<int> gpus = args.list("-g,--gpus", {0, 1, 2, 3}, "GPUs; -1 -1: two processes on the CPU");
  const std::string initmodel = args.option("--initmodel", "", "file with the weights to begin with");
  const int loaderjob = args.option("-j,--loaderjob", catena::max_threads(), "processes that load images, per device");
  const std::string mean_file = args.option("-m,--mean", "mean.npy", "mean image, written by compute_mean");
  const std::string resume = args.option("-r,--resume", "", "snapshot from which training continues");
  const std::string out = args.option("-o,--out", "result", "folder of the results");
  const std::string root = args.option("-R,--root", ".", "folder to which the paths of the lists refer");
  const int val_batchsize = args.option("-b,--val_batchsize", 250, "images in a minibatch of the validation");
  const int seed = args.option("--seed", 0, "of the weights and the order of the images");
  const bool synthetic = args.flag("--synthetic", "write generated pictures, both lists and the mean first");
  const bool test = args.flag("--test", "validate and save every 5 epochs, report every epoch");
  const std::string train_list = args.positional("TRAIN", "list of the training images: a path and a label per line");
  const std::string val_list = args.positional("VAL", "list of the validation images");
  args.finish();

  use_device(gpus.at(0));
  autograd::seed(seed);
  if (synthetic) write_pictures(train_list, val_list, root, mean_file);

  with_network(arch, [&](auto model) {
    if (!initmodel.empty()) {
      std::printf("Load model from %s\n", initmodel.c_str());
      nn::serializers::load_npz(initmodel, model);
    }

    const nd::Array mean = nd::load(mean_file);
    const PreprocessedDataset train(train_list, root, mean, model.insize);
    const PreprocessedDataset val(val_list, root, mean, model.insize, false);
    // Each device has a part of the images. The iterators load them in processes that run in parallel to the training.
    std::vector<training::Held<training::Iterator>> train_iters;
    for (const training::DatasetPtr& part : training::split_dataset_n_random(train, int(gpus.size())))
      train_iters.push_back(training::MultiprocessIterator(part, batchsize, {.n_processes = loaderjob}));
    training::MultiprocessIterator val_iter(val, val_batchsize,
                                            {.repeat = false, .shuffle = false, .n_processes = loaderjob});

    training::MomentumSGD optimizer(0.01, 0.9);
    optimizer.setup(model);

    training::updaters::MultiprocessParallelUpdater updater(train_iters, optimizer, model, {.devices = gpus});
    training::Trainer trainer(updater, {epoch, "epoch"}, out);

    const auto val_interval = test ? training::TriggerSpec(5, "epoch") : training::TriggerSpec(100000, "iteration");
    const auto log_interval = test ? training::TriggerSpec(1, "epoch") : training::TriggerSpec(1000, "iteration");
    trainer.extend(training::Evaluator(val_iter, model), {.trigger = val_interval});
    trainer.extend(training::dump_graph("main/loss"));
    trainer.extend(training::snapshot(), {.trigger = val_interval});
    trainer.extend(training::snapshot_object(model, "model_iter_{.updater.iteration}"), {.trigger = val_interval});
    // The interval of a LogReport determines when an entry is added, and is an option of its own.
    trainer.extend(training::LogReport({.trigger = log_interval}));
    trainer.extend(training::observe_lr(), {.trigger = log_interval});
    trainer.extend(training::PrintReport({"epoch", "iteration", "main/loss", "validation/main/loss", "main/accuracy",
                                          "validation/main/accuracy", "lr"}),
                   {.trigger = log_interval});
    trainer.extend(training::ProgressBar({.update_interval = 2}));

    if (!resume.empty()) nn::serializers::load_npz(resume, trainer);
    trainer.run();
  });
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "train_imagenet_data_parallel: %s\n", e.what());
  return 1;
}
