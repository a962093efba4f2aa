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

  std::vector<std::size_t> counts() const {
    return {arrays.size(), flags.size(), integers.size(), numbers.size(), texts.size()};
  }
};

// Whether the array of a persistent has a place for that of the other one, which else replaces the persistent.
bool fits(const nn::Persistent& to, const nn::Persistent& from) {
  return from.array() && to.array() && from.array().shape() == to.array().shape();
}

template <class T> void copy_values(const std::vector<T*>& from, const std::vector<T*>& to) {
  for (std::size_t k = 0; k < from.size(); ++k) *to[k] = *from[k];
}

}  // namespace

void NextAverages::add(const autograd::Array& to, const autograd::Variable& average, const char* what) {
  catena::check<catena::ValueError>(average && average.data(), "AveragedModel", "avg_fn gave no array for a ", what);
  catena::check<catena::ValueError>(average.shape() == to.shape(), "AveragedModel", "avg_fn gave the shape ",
                                    average.shape(), " for a ", what, " of the shape ", to.shape());
  results_.emplace_back(to, average.data());
}

void NextAverages::compute_params(const AverageFunction& function) {
  nn::internal::tie_as(averages_, model_);
  const std::vector<autograd::Variable> to = averages_.params(), from = model_.params();
  catena::check<catena::ValueError>(to.size() == from.size(), "AveragedModel", "the model has ", from.size(),
                                    " parameters, and there are averages of ", to.size());
  copies_params_ = n_ == 0;
  if (copies_params_) return;
  const autograd::using_config mode({.enable_backprop = false});
  for (std::size_t k = 0; k < to.size(); ++k)
    if (to[k].data()) add(to[k].data(), function(to[k], from[k], n_), "parameter");
}

void NextAverages::compute_buffers(const AverageFunction& function) {
  const Buffers to(averages_), from(model_);
  catena::check<catena::ValueError>(to.counts() == from.counts(), "AveragedModel", "the model has ", from.arrays.size(),
                                    " persistent arrays, and there are averages of ", to.arrays.size(),
                                    "; numbers and texts are as many in both, too");
  copies_buffers_ = true;
  const autograd::using_config mode({.enable_backprop = false});
  for (std::size_t k = 0; k < from.arrays.size(); ++k) {
    if (!fits(*to.arrays[k], *from.arrays[k])) continue;
    const autograd::Array now = from.arrays[k]->array(), before = to.arrays[k]->array();
    if (function && n_ > 0 && catena::is_floating(now.dtype()))
      add(before, function(autograd::Variable(before), autograd::Variable(now), n_), "persistent array");
    else results_.emplace_back(before, now);
  }
}

void NextAverages::assign() {
  if (copies_params_) averages_.copyparams(model_);
  for (const auto& [array, value] : results_) autograd::assign(array, value);
  if (!copies_buffers_) return;
  const Buffers to(averages_), from(model_);
  copy_values(from.flags, to.flags);
  copy_values(from.integers, to.integers);
  copy_values(from.numbers, to.numbers);
  copy_values(from.texts, to.texts);
  for (std::size_t k = 0; k < from.arrays.size(); ++k)
    if (!fits(*to.arrays[k], *from.arrays[k])) *to.arrays[k] = *from.arrays[k];
}

}  // namespace training::internal
