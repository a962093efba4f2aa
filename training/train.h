// train(): the usual training in one call.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <catena/training/log_entry.h>
#include <catena/training/updater.h>

namespace training {

struct TrainOptions {
  double epochs = 10;  // sweeps over the training examples
  std::int64_t batch_size = 32;
  // An optimizer of the caller, whose setup() is called unless it has the model already; default: Adam().
  std::optional<Held<Optimizer>> optimizer = {};
  DeviceId device = {};        // the device to which model and batches are moved
  std::string out = "result";  // the folder of the files
  bool verbose = true;         // prints a table with a row for each epoch, and on a terminal a bar
  // Writes a snapshot after every epoch, replaces the one before, and goes on from it when the program is started
  // again.
  bool resume = false;
  LossFunction loss_func = {};  // default: the call of the model, which returns the loss, as an nn::Classifier does
};

// Trains a model with a Trainer, and returns the log: for each epoch the means of what the model reports ("main/loss"),
// and of the test examples with their means ("validation/main/loss", "validation/main/accuracy"), which are those over
// the examples. The log is also the file "log" in the folder.
//
//   nn::Classifier model(nn::Sequential(nn::Linear(100), nn::relu, nn::Linear(10)));
//   const auto [train, test] = training::datasets::get_mnist();
//   training::train(model, train, test, {.epochs = 20, .batch_size = 100});
//
// Other needs, such as schedules and pictures, are those of a Trainer of one's own: the function makes a SerialIterator
// for each set, a StandardUpdater, and the extensions Evaluator, LogReport, PrintReport, ProgressBar, and a Snapshot
// for `resume`. ValueError for epochs that are not positive and for a batch size below 1.
CATENA_EXPORT Log train(Link& model, AnyDataset train, AnyDataset test, TrainOptions options = {});
CATENA_EXPORT Log train(Link& model, AnyDataset train, TrainOptions options = {});

}  // namespace training
