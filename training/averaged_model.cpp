#include <catena/training/averaged_model.h>

#include <catena/nn/links/batch_normalization.h>

namespace training::internal {

struct StatisticsOfBatches::Known {
  nn::BatchNormalization* link;
  double decay;
};

StatisticsOfBatches::StatisticsOfBatches(nn::Link& model) : mode_({.train = true, .enable_backprop = false}) {
  for (nn::Link* const link : model.links()) modes_.emplace_back(link, link->training());
  model.train();
  for (nn::Link* const link : model.links())
    if (auto* const found = dynamic_cast<nn::BatchNormalization*>(link)) known_.push_back({found, found->decay});
}

StatisticsOfBatches::~StatisticsOfBatches() {
  for (const Known& k : known_) k.link->decay = k.decay;
  // A link comes before those below it, whose modes it sets, too.
  for (const auto& [link, mode] : modes_)
    if (link->training() != mode) link->train(mode);
}

void StatisticsOfBatches::begin_batch() {
  for (const Known& k : known_) k.link->decay = double(batches_) / double(batches_ + 1);
  ++batches_;
}

void average_by(const AverageFunction& function, nn::Link& averages, nn::Link& model, std::int64_t n) {
  if (n == 0) {
    averages.copyparams(model);
    return;
  }
  const autograd::using_config mode({.enable_backprop = false});
  std::vector<autograd::Variable> to, from;
  for (const autograd::Variable& p : averages.params()) to.push_back(p);
  for (const autograd::Variable& p : model.params()) from.push_back(p);
  std::vector<std::pair<autograd::Array, autograd::Array>> results;
  for (std::size_t k = 0; k < to.size(); ++k) {
    if (!to[k].data()) continue;
    const autograd::Variable average = function(to[k], from[k], n);
    catena::check<catena::ValueError>(average.shape() == to[k].shape(), "AveragedModel", "avg_fn gave the shape ",
                                      average.shape(), " for a parameter of the shape ", to[k].shape());
    results.emplace_back(to[k].data(), average.data());
  }
  for (const auto& [parameter, average] : results) autograd::assign(parameter, average);
}

}  // namespace training::internal
