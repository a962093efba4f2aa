#include <catena/training/weight_average.h>

#include <algorithm>

#include <catena/autograd/capture.h>
#include <catena/kernels/base/error.h>
#include <catena/kernels/registry/families.h>
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
    const auto known = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.path == p.path; });
    if (known != entries_.end()) {
      check<ValueError>(known->average.shape() == p.param.shape() && known->average.dtype() == p.param.dtype(),
                        "WeightAverage", "the parameter ", p.path, " became an array of ", p.param.dtype(),
                        " and shape ", p.param.shape(), "; its average is of ", known->average.dtype(), " and shape ",
                        known->average.shape());
      known->param = p.param;
      if (!(known->average.device() == p.param.device()))
        known->average = autograd::to_device(known->average, p.param.device());
    } else {
      entries_.push_back({p.path, p.param, autograd::copy(p.param.data())});
    }
  }
}

double WeightAverage::part() const {
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
    for (std::size_t first = 0; first < entries_.size();) {
      const Array& like = entries_[first].average;
      std::vector<Array> held;
      std::vector<catena::ArrayHeader*> operands;
      for (; first < entries_.size(); ++first) {
        const Array& average = entries_[first].average;
        if (average.dtype() != like.dtype() || !(average.device() == like.device())) break;
        operands.push_back(held.emplace_back(autograd::contiguous(entries_[first].param.data())).get());
        operands.push_back(average.get());
      }
      like.backend().execute(catena::call::MultiTensor{
          &kernel, loop_of(kernel, like.dtype()), operands, {&hyper, 1}, {}, nullptr, nullptr});
    }
  } else {
    for (Entry& e : entries_) autograd::assign(e.average, e.param.data());
  }
  ++n_;
}

const Array& WeightAverage::average(const std::string& path) const {
  for (const Entry& e : entries_)
    if (e.path == path) return e.average;
  catena::fail<catena::KeyError>("WeightAverage.average", "there is no average of a parameter ", path);
}

void WeightAverage::exchange() {
  for (Entry& e : entries_) {
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
  internal::restore_on_rollback(s, n_);
  internal::serialize_count(s, "n", n_, "WeightAverage");
  if (!s.is_writer()) find_params();
  if (n_ > 0)
    for (Entry& e : entries_) s(e.path.substr(1), e.average);
}

}  // namespace training
