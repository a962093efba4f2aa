#include <catena/training/weight_average.h>

#include <algorithm>
#include <vector>

#include <catena/autograd/array_backend.h>
#include <catena/autograd/capture.h>
#include <catena/kernels/base/error.h>
#include <catena/kernels/registry/families.h>
#include <catena/nn/link_parameters.h>
#include <catena/training/stored_number.h>

namespace training {

using catena::check;
using catena::RuntimeError;
using catena::ValueError;

namespace {

int loop_of(const catena::KernelDef& kernel, autograd::Dtype dtype) {
  for (int i = 0; i < int(kernel.num_loops); ++i)
    if (kernel.loop_table[i].type[1] == dtype) return i;
  catena::fail<catena::TypeError>("WeightAverage", "there is no average of ", dtype);
}

// In a scope the parameter has the average.
template <class Entry> const Array& average_of(const Entry& e, bool swapped) {
  return swapped ? e.param.data() : e.average;
}

}  // namespace

WeightAverage::WeightAverage(Link& model, Options options) : model_(&model), options_(options) {
  check<ValueError>(options_.decay >= 0 && options_.decay <= 1, "WeightAverage", "decay is ", options_.decay,
                    " and must be between 0 and 1");
  priority = PRIORITY_WRITER;  // before an evaluation of the same iteration
}

// Adds the parameters that have data and were not known, with a copy of their data.
void WeightAverage::find_params() {
  for (const nn::NamedParam& p : model_->namedparams()) {
    if (!p.param.data()) continue;
    const auto at = entries_.find(p.path);
    if (at == entries_.end()) {
      entries_.emplace(p.path, Entry{p.param, autograd::copy(p.param.data())});
      continue;
    }
    Entry& known = at->second;
    check<ValueError>(known.average.shape() == p.param.shape() && known.average.dtype() == p.param.dtype(),
                      "WeightAverage", "the parameter ", p.path, " became an array of ", p.param.dtype(), " and shape ",
                      p.param.shape(), "; its average is of ", known.average.dtype(), " and shape ",
                      known.average.shape());
    known.param = p.param;
    if (!(known.average.device() == p.param.device()))
      known.average = autograd::to_device(known.average, p.param.device());
  }
}

double WeightAverage::part() const {
  if (n_ == 0) return 1;
  if (options_.equal) return 1 / double(n_ + 1);
  const double early = (1 + double(n_)) / (10 + double(n_));
  return 1 - (options_.warm_up ? std::min(options_.decay, early) : options_.decay);
}

void WeightAverage::update() {
  check<RuntimeError>(!swapped_, "WeightAverage.update", "the model has the averages now; end the scope first");
  check<RuntimeError>(
      !autograd::is_capturing(), "WeightAverage.update",
      "it cannot be captured: replays would repeat the factor of the capture (update after the replay)");
  find_params();
  if (n_ > 0) {
    const catena::KernelDef& kernel = catena::kernels::follow;
    const catena::Hyper hyper = {part()};
    // One launch for all neighbours of one dtype and device.
    for (auto at = entries_.begin(); at != entries_.end();) {
      const Array& like = at->second.average;
      std::vector<Array> held;
      std::vector<catena::ArrayHeader*> operands;
      for (; at != entries_.end(); ++at) {
        const auto& [param, average] = at->second;
        if (average.dtype() != like.dtype() || !(average.device() == like.device())) break;
        operands.push_back(held.emplace_back(autograd::contiguous(param.data())).get());
        operands.push_back(average.get());
      }
      like.backend().execute(catena::call::MultiTensor{
          &kernel, loop_of(kernel, like.dtype()), operands, {&hyper, 1}, {}, nullptr, nullptr});
    }
  } else {
    for (auto& [path, e] : entries_) autograd::assign(e.average, e.param.data());
  }
  ++n_;
}

const Array& WeightAverage::average(const std::string& path) const {
  const auto at = entries_.find(path);
  check<catena::KeyError>(at != entries_.end(), "WeightAverage.average", "there is no average of a parameter ", path);
  return average_of(at->second, swapped_);
}

void WeightAverage::copy_to(Link& model) const {
  std::map<std::string, Variable> targets;
  model.for_each_param([&](std::string_view path, const Variable& param) { targets.emplace(path, param); });
  for (const auto& [path, e] : entries_) {
    const auto at = targets.find(path);
    check<catena::KeyError>(at != targets.end(), "WeightAverage.copy_to", "the model has no parameter ", path);
    check<ValueError>(at->second.data() && at->second.shape() == e.average.shape(), "WeightAverage.copy_to",
                      "the average of ", path, " has the shape ", e.average.shape(), ", which the parameter has not");
  }
  nn::internal::tie_as(model, *model_);
  for (const auto& [path, e] : entries_) {
    const Variable& target = targets[path];
    autograd::assign(target.data(), autograd::to_device(average_of(e, swapped_), target.device()));
  }
}

void WeightAverage::exchange() {
  for (auto& [path, e] : entries_) {
    const Array weights = e.param.data();
    e.param.set_data(e.average);
    e.average = weights;
  }
  swapped_ = !swapped_;
}

WeightAverage::Scope::Scope(WeightAverage& owner) : owner_(owner) {
  check<RuntimeError>(owner.n_ > 0, "WeightAverage.swap_in", "there is no average before the first update");
  check<RuntimeError>(!owner.swapped_, "WeightAverage.swap_in", "the model has the averages already");
  owner.find_params();
  owner.exchange();
}
WeightAverage::Scope::~Scope() { owner_.exchange(); }

void WeightAverage::operator()(Trainer&) { update(); }

void WeightAverage::serialize(nn::Serializer& s) {
  check<RuntimeError>(s.is_writer() || !swapped_, "WeightAverage.serialize",
                      "the model has the averages now; end the scope before a load");
  internal::restore_on_rollback(s, n_);
  internal::serialize_count(s, "n", n_, "WeightAverage");
  if (!s.is_writer()) find_params();
  if (n_ == 0) return;
  for (auto& [path, e] : entries_) {
    // In a scope the model, which is stored elsewhere, has the averages.
    Array weights = average_of(e, !swapped_), average = average_of(e, swapped_);
    s(path.substr(1), average);
    const std::string key = "_catena/weights" + path;
    if (s.is_writer() ? swapped_ : s.contains(key)) s(key, weights);
  }
}

}  // namespace training
