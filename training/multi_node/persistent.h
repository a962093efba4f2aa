// Running statistics that are the same on all ranks.
#pragma once

#include <string>

#include <catena/nn/link.h>
#include <catena/training/multi_node/ranks.h>
#include <catena/training/trainer.h>

namespace training {

// Replaces the floating persistents of a model by their means over the ranks, on all of them: ranks that see different
// examples have different running statistics (BatchNormalization; MultiNodeBatchNormalization has equal ones). Runs
// before evaluators and snapshots, by default once per epoch. Other persistents (counts) stay as they are.
//
//   trainer.extend(training::AllreducePersistent(model, comm));
//
// The arrays themselves are written. 16-bit floats are added in float32. ValueError on all ranks if the models differ.
class CATENA_EXPORT AllreducePersistent : public Extension {
 public:
  AllreducePersistent(Held<nn::Link> model, AnyCommunicator comm);
  void operator()(Trainer&) override { (*this)(); }
  void operator()();  // for use without a trainer
  std::string default_name() const override { return "AllreducePersistent"; }

 private:
  Held<nn::Link> model_;
  AnyCommunicator comm_;
};

}  // namespace training
