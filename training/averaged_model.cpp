#include <catena/training/averaged_model.h>

#include <string>
#include <string_view>
#include <vector>

#include <catena/nn/link_parameters.h>
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
  nn::internal::tie_as(averages, model);
  const std::vector<autograd::Variable> to = averages.params(), from = model.params();
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

namespace {

// The persistents of a model, in the order of its members.
class Buffers final : public nn::MemberVisitor {
 public:
  explicit Buffers(nn::Link& model) {
    for (nn::Link* const link : model.links()) link->visit_members(*this);
  }
  void persistent(std::string_view, nn::Persistent& p) override { arrays.push_back(&p); }
  void persistent(std::string_view, bool& v) override { flags.push_back(&v); }
  void persistent(std::string_view, std::int64_t& v) override { integers.push_back(&v); }
  void persistent(std::string_view, double& v) override { numbers.push_back(&v); }
  void persistent(std::string_view, std::string& v) override { texts.push_back(&v); }
  std::vector<nn::Persistent*> arrays;
  std::vector<bool*> flags;
  std::vector<std::int64_t*> integers;
  std::vector<double*> numbers;
  std::vector<std::string*> texts;
};

template <class T> void copy_values(const std::vector<T*>& from, const std::vector<T*>& to) {
  for (std::size_t k = 0; k < from.size(); ++k) *to[k] = *from[k];
}

}  // namespace

void average_buffers(const AverageFunction& function, nn::Link& averages, nn::Link& model, std::int64_t n) {
  const autograd::using_config mode({.enable_backprop = false});
  const Buffers to(averages), from(model);
  copy_values(from.flags, to.flags);
  copy_values(from.integers, to.integers);
  copy_values(from.numbers, to.numbers);
  copy_values(from.texts, to.texts);
  for (std::size_t k = 0; k < from.arrays.size(); ++k) {
    const autograd::Array now = from.arrays[k]->array(), before = to.arrays[k]->array();
    if (!now || !before || now.shape() != before.shape()) *to.arrays[k] = *from.arrays[k];
    else if (function && n > 0 && catena::is_floating(now.dtype()))
      autograd::assign(before, function(autograd::Variable(before), autograd::Variable(now), n).data());
    else autograd::assign(before, now);
  }
}

}  // namespace training::internal
