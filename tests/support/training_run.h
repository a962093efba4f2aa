// A small training run in which all parts have state: order of examples, dropout, batch normalization, Adam, running
// means of the log.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <catena/tests/support/training_fixtures.h>
#include <catena/training/extensions.h>
#include <catena/training/optimizer_hooks.h>
#include <catena/training/optimizers.h>

namespace test {

struct StatefulRun {
  nn::Classifier<StatefulMLP> model;
  training::Adam optimizer;
  std::shared_ptr<const training::DatasetMixin> data;
  training::SerialIterator train, validation;
  training::Trainer trainer;
  training::LogReport& log;

  // `seed` determines the initial weights and the first order; loading replaces both.
  StatefulRun(std::uint64_t seed, double iterations, const std::string& out)
      : model((autograd::seed(seed), StatefulMLP())),
        data(make_data()),
        train(data, 4),
        validation(data, 5, {.repeat = false, .shuffle = false}),
        trainer((optimizer.setup(model), training::StandardUpdater(train, optimizer)),
                {iterations, training::iteration}, out),
        log((trainer.extend(training::Evaluator(validation, model)), trainer.extend(training::LogReport()))) {
    optimizer.add_hook(training::WeightDecay(1e-3));
    trainer.extend(training::Snapshot({.trigger = {3, training::iteration}}));
  }

  static std::shared_ptr<const training::DatasetMixin> make_data() {
    autograd::Generator fixed{99, 0};
    std::vector<std::int32_t> labels;
    for (int i = 0; i < 22; ++i) labels.push_back(i % 3);
    return std::make_shared<training::TupleDataset>(
        std::vector<Array>{autograd::random_normal({22, 6}, 0, 1, Dtype::float32, fixed), ints(labels)});
  }

  // Returns all state that must be equal, as bytes; the log without its times.
  std::vector<std::string> state() {
    std::vector<std::string> parts;
    nn::serializers::DictionarySerializer s;
    trainer.serialize(s);
    for (const auto& e : s.entries()) {
      if (e.key == "_snapshot_elapsed_time" || e.key == "extensions/LogReport/_log") continue;
      parts.push_back(e.key + "=" + e.text +
                      std::string(reinterpret_cast<const char*>(e.bytes.data()), e.bytes.size()));
    }
    training::Log without_times = log.log();
    for (training::LogEntry& e : without_times) e.erase("elapsed_time");
    parts.push_back(training::to_json(without_times));
    return parts;
  }
};

}  // namespace test
