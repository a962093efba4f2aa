// Early stopping of all ranks at the same iteration.
#pragma once

#include <optional>
#include <string>

#include <catena/kernels/base/pointers.h>
#include <catena/training/multi_node/evaluator.h>
#include <catena/training/triggers.h>

namespace training {

// EarlyStoppingTrigger of the mean of the monitored value over all ranks, so that they stop together. Each call of the
// check trigger is collective. The mean is reported as "<monitor>_aggregated".
//
//   training::Trainer trainer(updater, training::MultiNodeEarlyStoppingTrigger(comm, {.monitor =
//   "validation/main/loss"}));
//
// It must be called at every iteration. A copy has the same arguments and starts again. Errors as EarlyStoppingTrigger.
class CATENA_EXPORT MultiNodeEarlyStoppingTrigger : public Trigger {
 public:
  using Options = EarlyStoppingOptions;
  explicit MultiNodeEarlyStoppingTrigger(AnyCommunicator comm, Options options = {});
  MultiNodeEarlyStoppingTrigger(const MultiNodeEarlyStoppingTrigger& o)
      : MultiNodeEarlyStoppingTrigger(o.comm_, o.options_) {}
  MultiNodeEarlyStoppingTrigger& operator=(const MultiNodeEarlyStoppingTrigger&) = delete;
  bool operator()(Trainer& trainer) override;
  std::optional<TrainingLength> training_length() const override { return trigger_.training_length(); }
  void serialize(nn::Serializer& s) override;  // "aggregator" and "trigger"
  std::int64_t count() const noexcept { return trigger_.count(); }
  const std::optional<double>& best() const noexcept { return trigger_.best(); }

 private:
  AnyCommunicator comm_;
  Options options_;
  ObservationAggregator aggregator_;
  EarlyStoppingTrigger trigger_;
};

}  // namespace training
