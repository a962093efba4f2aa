// Evaluation over all ranks of a distributed run, and means of what the ranks observe.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <catena/kernels/base/function.h>
#include <catena/training/extensions/evaluator.h>
#include <catena/training/multi_node/ranks.h>

namespace training {

// Each rank evaluates its part of the validation set, and all of them report the means over the ranks, the same
// numbers. Ranks count by the number of examples of their datasets, if the main iterator of every rank is one of this
// library with a dataset (SerialIterator, MultithreadIterator, MultiprocessIterator); else all ranks count the same, as
// in ChainerMN. So parts of unequal sizes give the mean over all examples if the evaluator is `weighted`. A name that
// only some ranks report is the mean over these. An exception on one rank is an exception on all.
//
//   trainer.extend(training::create_multi_node_evaluator(training::Evaluator(test, model), comm));
class CATENA_EXPORT MultiNodeEvaluator : public Evaluator {
 public:
  // Has the trigger, the priority and the name of the evaluator. A class derived from Evaluator works as it does alone.
  MultiNodeEvaluator(Held<Evaluator> evaluator, AnyCommunicator comm);
  void initialize(Trainer& trainer) override { evaluator_->initialize(trainer); }
  void before_update(Trainer& trainer) override { evaluator_->before_update(trainer); }
  void on_error(Trainer& trainer, const std::exception& error) override { evaluator_->on_error(trainer, error); }
  void finalize() override { evaluator_->finalize(); }
  void serialize(nn::Serializer& s) override { evaluator_->serialize(s); }
  std::string default_name() const override { return evaluator_->default_name(); }
  Observation evaluate() override;

 private:
  Held<Evaluator> evaluator_;
  AnyCommunicator comm_;
};
inline MultiNodeEvaluator create_multi_node_evaluator(Held<Evaluator> evaluator, AnyCommunicator comm) {
  return {std::move(evaluator), std::move(comm)};
}

struct GenericMultiNodeEvaluatorOptions {
  Converter converter = default_converter;
  DeviceId device = {};  // the device to which batches are moved
  int root = 0;          // the rank that gets the results
};

// A base of evaluators whose result is not a mean of results of batches (BLEU, for example): calc_local() gives the
// results of a batch, and on the root aggregate() makes the observation of those of all ranks.
class CATENA_EXPORT GenericMultiNodeEvaluator : public Evaluator {
 public:
  using Options = GenericMultiNodeEvaluatorOptions;
  GenericMultiNodeEvaluator(AnyCommunicator comm, Held<Iterator> iterator, Held<Link> target, Options options = {});
  Observation evaluate() override;  // empty on ranks other than the root

 protected:
  // Returns the results for a batch, as a rule one per example. Called without a graph and in test mode.
  virtual Examples calc_local(const Variables& batch) = 0;
  // The results of all ranks, those of rank 0 first, each rank's in the order of its iterator, as arrays on the CPU.
  virtual Observation aggregate(const Examples& results) = 0;

 private:
  AnyCommunicator comm_;
  Options options_;
};

struct ObservationAggregatorOptions {
  std::string aggregated_key = {};            // default: the key itself
  TriggerSpec comm_trigger = {1, iteration};  // when the ranks exchange their values; must fire on all ranks at once
  // Makes one value of those of all ranks since the last exchange, by rank; default: the mean of all of them.
  catena::Function<double(const std::vector<std::vector<double>>&)> aggregator = {};
};

// Reports the mean of an observed value over all ranks, the same number on all of them. Runs before extensions that
// read observations. If no rank has observed the value, none is reported.
//
//   trainer.extend(training::ObservationAggregator(comm, "main/loss"));
class CATENA_EXPORT ObservationAggregator : public Extension {
 public:
  using Options = ObservationAggregatorOptions;
  ObservationAggregator(AnyCommunicator comm, std::string original_key, Options options = {});
  void operator()(Trainer& trainer) override;
  void serialize(nn::Serializer& s) override;  // "values" and "comm_trigger"
  std::string default_name() const override { return "ObservationAggregator"; }

 private:
  AnyCommunicator comm_;
  std::string original_key_;
  Options options_;
  catena::Shared<Trigger> comm_trigger_;
  std::vector<double> values_;  // since the last exchange
};
// ChainerMN's name.
inline ObservationAggregator observation_aggregator(AnyCommunicator comm, std::string original_key,
                                                    ObservationAggregatorOptions options = {}) {
  return {std::move(comm), std::move(original_key), std::move(options)};
}

}  // namespace training
