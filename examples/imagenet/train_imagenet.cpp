// Trains a large convolutional network on a list of pictures, such as those of ImageNet (ILSVRC 2012).
// test: pictures/train.txt pictures/val.txt --root pictures --mean pictures/mean.npy --synthetic --seed 1
// test: --test --epoch 5 --batchsize 2 --val_batchsize 2 --loaderjob 2
// no test on cuda: a network of this size is too slow on the software device
// writes: pictures/train.txt pictures/train_0.png pictures/train_1.png pictures/train_2.png pictures/train_3.png
// writes: pictures/val.txt pictures/val_0.png pictures/val_1.png pictures/mean.npy
// writes: result/log result/cg.dot result/snapshot_iter_10 result/model_iter_10
// prints: epoch +iteration +main/loss +validation/main/loss +main/accuracy +validation/main/accuracy +lr
// prints: 5 +10 +[0-9.]+ +[0-9.]+ +[0-9.]+ +[0-9.]+ +0.01
#include <cstdio>
#include <string>

#include <catena/catena.h>

#include "../arguments.h"
#include "networks.h"
#include "preprocessed_dataset.h"
#include "synthetic.h"

int main(int argc, char** argv) try {
  Arguments args(argc, argv, "Learning convnet from ILSVRC2012 dataset");
  const std::string arch = args.choice("-a,--arch", architectures, "network");
  const int batchsize = args.option("-B,--batchsize", 32, "images in a minibatch");
  const int epoch = args.option("-E,--epoch", 10, "sweeps over the training images");
  const int gpu = args.option("-g,--gpu", -1, "GPU; -1: the CPU");
  const std::string initmodel = args.option("--initmodel", "", "file with the weights to begin with");
  const int loaderjob = args.option("-j,--loaderjob", catena::max_threads(), "processes that load images");
  const std::string mean_file = args.option("-m,--mean", "mean.npy", "mean image, written by compute_mean");
  const std::string resume = args.option("-r,--resume", "", "snapshot from which training continues");
  const std::string out = args.option("-o,--out", "result", "folder of the results");
  const std::string root = args.option("-R,--root", ".", "folder to which the paths of the lists refer");
  const int val_batchsize = args.option("-b,--val_batchsize", 250, "images in a minibatch of the validation");
  const int seed = args.option("--seed", 0, "of the weights and the order of the images");
  const bool synthetic = args.flag("--synthetic", "write generated pictures, both lists and the mean first");
  const bool test = args.flag("--test", "validate, save and report every 10 iterations");
  const std::string train_list = args.positional("TRAIN", "list of the training images: a path and a label per line");
  const std::string val_list = args.positional("VAL", "list of the validation images");
  args.finish();

  use_device(gpu);
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
    // These iterators load the images in processes that run in parallel to the training.
    training::MultiprocessIterator train_iter(train, batchsize, {.n_processes = loaderjob});
    training::MultiprocessIterator val_iter(val, val_batchsize,
                                            {.repeat = false, .shuffle = false, .n_processes = loaderjob});

    training::MomentumSGD optimizer(0.01, 0.9);
    optimizer.setup(model);

    training::StandardUpdater updater(train_iter, optimizer);
    training::Trainer trainer(updater, {epoch, "epoch"}, out);

    const training::TriggerSpec val_interval(test ? 10 : 100000, "iteration");
    const training::TriggerSpec log_interval(test ? 10 : 1000, "iteration");
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
    trainer.extend(training::ProgressBar({.update_interval = 10}));

    if (!resume.empty()) nn::serializers::load_npz(resume, trainer);
    trainer.run();
  });
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "train_imagenet: %s\n", e.what());
  return 1;
}
