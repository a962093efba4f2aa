#include <catena/training/averaged_model.h>

#include <catena/nn/links/batch_normalization.h>
#include <catena/training/parallel/persistents.h>

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

void average_by(const AverageFunction& function, nn::Link& averages, nn::Link& model, std::int64_t n) {
  if (n == 0) {
    averages.copyparams(model);
    return;
  }
  const autograd::using_config mode({.enable_backprop = false});
  std::vector<autograd::Variable> to, from;
  for (const autograd::Variable& p : averages.params()) to.push_back(p);
  for (const autograd::Variable& p : model.params()) from.push_back(p);
  for (std::size_t k = 0; k < to.size(); ++k) {
    if (!to[k].data()) continue;
    const autograd::Variable average = function(to[k], from[k], n);
    catena::check<catena::ValueError>(average.shape() == to[k].shape(), "AveragedModel", "avg_fn gave the shape ",
                                      average.shape(), " for a parameter of the shape ", to[k].shape());
    autograd::assign(to[k].data(), average.data());
  }
}

namespace {

// The floating arrays among the persistents of a model, in the order of its members.
class FloatingBuffers final : public nn::MemberVisitor {
 public:
  explicit FloatingBuffers(nn::Link& model) {
    for (nn::Link* const link : model.links()) link->visit_members(*this);
  }
  void persistent(std::string_view, nn::Persistent& p) override {
    if (p.array() && catena::is_floating(p.array().dtype())) arrays.push_back(p.array());
  }
  using MemberVisitor::persistent;
  std::vector<autograd::Array> arrays;
};

}  // namespace

void average_buffers(const AverageFunction& function, nn::Link& averages, nn::Link& model, std::int64_t n) {
  std::vector<autograd::Array> results;
  if (function && n > 0) {
    const autograd::using_config mode({.enable_backprop = false});
    const FloatingBuffers before(averages), now(model);
    for (std::size_t k = 0; k < now.arrays.size(); ++k)
      results.push_back(function(autograd::Variable(before.arrays[k]), autograd::Variable(now.arrays[k]), n).data());
  }
  Persistents(model).apply_to(averages);
  const FloatingBuffers after(averages);
  for (std::size_t k = 0; k < results.size(); ++k) autograd::assign(after.arrays[k], results[k]);
}

}  // namespace training::internal
