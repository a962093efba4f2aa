#include <catena/training/multi_node/early_stopping.h>

#include <utility>

#include <catena/training/trainer.h>

namespace training {

namespace {

constexpr const char* kSuffix = "_aggregated";

EarlyStoppingOptions of_mean(EarlyStoppingOptions options) {
  // "auto" looks for "accuracy" in the name, which the suffix leaves there.
  options.monitor += kSuffix;
  return options;
}

}  // namespace

MultiNodeEarlyStoppingTrigger::MultiNodeEarlyStoppingTrigger(AnyCommunicator comm, Options options)
    : comm_(internal::checked("MultiNodeEarlyStoppingTrigger", comm)),
      options_(std::move(options)),
      aggregator_(comm_, options_.monitor,
                  {.aggregated_key = options_.monitor + kSuffix, .comm_trigger = options_.check_trigger}),
      trigger_(of_mean(options_)) {}

bool MultiNodeEarlyStoppingTrigger::operator()(Trainer& trainer) {
  aggregator_(trainer);
  return trigger_(trainer);
}

void MultiNodeEarlyStoppingTrigger::serialize(nn::Serializer& s) {
  aggregator_.serialize(*s["aggregator"]);
  trigger_.serialize(*s["trigger"]);
}

}  // namespace training
