// Trains ResNet-50 on ImageNet (ILSVRC 2012) in several processes, each with its part of the pictures.
// ranks: 2
// test: pictures/train.txt pictures/val.txt --root pictures --mean pictures/mean.npy --synthetic --seed 1
// test: --test --epoch 1 --warmup 0 --batchsize 1 --val_batchsize 1 --loaderjob 1
// test: --mnbn --autocast bfloat16 --allreduce-grad-dtype float16
// no test on cuda: a network of this size is too slow on the software device
// writes: pictures/train.txt pictures/train_0.png pictures/train_1.png pictures/train_2.png pictures/train_3.png
// writes: pictures/val.txt pictures/val_0.png pictures/val_1.png pictures/mean.npy
// writes: result_resnet50/log result_resnet50/imagenet.0.2 result_resnet50/imagenet.1.2
// prints: # ranks: 2
// prints: # images in an update: 2
// prints: epoch +iteration +main/loss +validation/main/loss +main/accuracy +validation/main/accuracy +lr
// prints: 1 +2 +[0-9.]+ +[0-9.e+]+ +[0-9.]+ +[0-9.]+ +7[.]8125e-05
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include <catena/catena.h>
#include <catena/training/multi_node.h>

#include "../arguments.h"
#include "../imagenet/preprocessed_dataset.h"
#include "../imagenet/resnet50.h"
#include "../imagenet/synthetic.h"

// The factor of the learning rate: from 1 / `scale` to 1 within the warm-up, then a tenth after a third, two thirds and
// eight ninths of all iterations (Goyal et al., arXiv:1706.02677).
training::Schedule learning_rate(double iterations, double warmup, double scale) {
  std::vector<double> milestones;  // they count from the end of the warm-up
  for (const double ninths : {3., 6., 8.}) milestones.push_back(std::max(0., iterations * ninths / 9 - warmup));
  const training::Schedule decay = training::schedules::multi_step(milestones);
  return warmup > 0 ? training::schedules::warmup(warmup, decay, std::min(1., 1 / scale)) : decay;
}

int main(int argc, char** argv) try {
  Arguments args(argc, argv, "ResNet-50 on ILSVRC2012 in several processes");
  const int batchsize = args.option("-B,--batchsize", 32, "images in a minibatch of one rank");
  const int epoch = args.option("-E,--epoch", 90, "sweeps over the training images");
  const bool on_gpu = args.flag("-g,--gpus", "each rank of a machine uses a GPU of its own");
  const std::string name = args.choice("-c,--communicator", {"naive", "flat", "pure_nccl"}, "how gradients are added");
  const std::string wire =
      args.choice("--allreduce-grad-dtype", {"float32", "float16", "bfloat16"}, "dtype in which gradients travel");
  const std::string autocast =
      args.choice("--autocast", {"float32", "float16", "bfloat16"}, "dtype of convolutions; float16 with loss scaling");
  const bool double_buffering = args.flag("--double-buffering", "gradients are one update late");
  const bool mnbn = args.flag("--mnbn", "batch normalization over the batches of all ranks");
  const double lr = args.option("--lr", 0.1, "learning rate for 256 images in an update");
  const int warmup = args.option("--warmup", 5, "epochs in which the learning rate grows");
  const std::string initmodel = args.option("--initmodel", "", "file with the weights to begin with");
  const int loaderjob = args.option("-j,--loaderjob", catena::max_threads(), "processes that load images, per rank");
  const std::string mean_file = args.option("-m,--mean", "mean.npy", "mean image, written by compute_mean");
  const std::string out = args.option("-o,--out", "result_resnet50", "folder of the results, of checkpoints, too");
  const std::string root = args.option("-R,--root", ".", "folder to which the paths of the lists refer");
  const int val_batchsize = args.option("-b,--val_batchsize", 250, "images in a minibatch of the validation");
  const int seed = args.option("--seed", 0, "of the weights and the order of the images");
  const bool synthetic = args.flag("--synthetic", "write generated pictures, both lists and the mean first");
  const bool test = args.flag("--test", "validate, save and report every 2 iterations instead of every epoch");
  const std::string train_list = args.positional("TRAIN", "list of the training images: a path and a label per line");
  const std::string val_list = args.positional("VAL", "list of the validation images");
  args.finish();

  // The number of the rank on its machine is that of its GPU, which must be current before pure_nccl is created.
  use_device(on_gpu ? training::create_communicator("naive")->intra_rank() : -1);
  const auto comm = training::create_communicator(name, {.allreduce_grad_dtype = nd::dtype(wire)});
  const bool is_first = comm->rank() == 0;             // it writes and prints
  autograd::seed(std::uint64_t(seed + comm->rank()));  // ranks cut out parts of their own; weights are those of rank 0
  if (synthetic && is_first) write_pictures(train_list, val_list, root, mean_file);
  comm->barrier();

  // All ranks read the lists, so that only the order of the images travels, and each rank loads those of its part.
  const nd::Array mean = nd::load(mean_file);
  const auto train = training::scatter_dataset(PreprocessedDataset(train_list, root, mean, ResNet50::insize), comm,
                                               {.shuffle = true, .seed = std::uint64_t(seed)});
  const auto val = training::scatter_dataset(PreprocessedDataset(val_list, root, mean, ResNet50::insize, false), comm,
                                             {.force_equal_length = false});
  training::MultiprocessIterator train_iter(train, batchsize, {.n_processes = loaderjob});
  training::MultiprocessIterator val_iter(val, val_batchsize,
                                          {.repeat = false, .shuffle = false, .n_processes = loaderjob});

  ResNet50 model = mnbn ? training::create_mnbn_model(ResNet50(), comm) : ResNet50();
  if (!initmodel.empty()) nn::serializers::load_npz(initmodel, model);

  const double scale = batchsize * comm->size() / 256.;  // the learning rate grows with the images in an update
  training::MomentumSGD momentum_sgd(lr * scale, 0.9);
  const auto optimizer =
      training::create_multi_node_optimizer(momentum_sgd, comm, {.double_buffering = double_buffering});
  optimizer->setup(model);
  optimizer->add_hook(training::WeightDecay(1e-4));
  if (autocast == "float16") optimizer->loss_scaling();

  training::StandardUpdater::Options options;
  if (autocast != "float32") options.autocast = nd::dtype(autocast);
  training::StandardUpdater updater(train_iter, optimizer, options);
  training::Trainer trainer(updater, {epoch, "epoch"}, out);

  const double per_epoch = double(train->size()) / batchsize;
  trainer.extend(training::ScheduleShift(learning_rate(epoch * per_epoch, warmup * per_epoch, scale)));
  const auto interval = test ? training::TriggerSpec(2, "iteration") : training::TriggerSpec(1, "epoch");
  trainer.extend(training::create_multi_node_evaluator(training::Evaluator(val_iter, model, {.weighted = true}), comm),
                 {.trigger = interval});
  if (is_first) {
    std::printf("# ranks: %d\n# images in an update: %d\n", comm->size(), batchsize * comm->size());
    trainer.extend(training::LogReport({.trigger = interval}));
    trainer.extend(training::observe_lr(), {.trigger = interval});
    trainer.extend(training::PrintReport({"epoch", "iteration", "main/loss", "validation/main/loss", "main/accuracy",
                                          "validation/main/accuracy", "lr"}),
                   {.trigger = interval});
    trainer.extend(training::ProgressBar({.update_interval = 10}));
  }
  auto checkpointer = training::create_multi_node_checkpointer("imagenet", comm, {.n_retains = 1});
  checkpointer.maybe_load(trainer);  // continues a run that was ended
  trainer.extend(checkpointer, {.trigger = interval});
  trainer.run();
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "train_resnet50: %s\n", e.what());
  return 1;
}
