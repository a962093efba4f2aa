#include <catena/training/averaged_model.h>

#include <catena/nn/links/batch_normalization.h>

namespace training::internal {

struct StatisticsOfBatches::Known {
  nn::BatchNormalization* link;
  double decay;
};

StatisticsOfBatches::StatisticsOfBatches(nn::Link& model) : mode_({.train = true, .enable_backprop = false}) {
  for (nn::Link* const link : model.links())
    if (auto* const found = dynamic_cast<nn::BatchNormalization*>(link)) known_.push_back({found, found->decay});
}

StatisticsOfBatches::~StatisticsOfBatches() {
  for (const Known& k : known_) k.link->decay = k.decay;
}

void StatisticsOfBatches::begin_batch() {
  for (const Known& k : known_) k.link->decay = double(batches_) / double(batches_ + 1);
  ++batches_;
}

}  // namespace training::internal
