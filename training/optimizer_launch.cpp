// The update of the parameters: one launch for all of one dtype, device and library, or one call for
// each parameter.
#include <catena/training/optimizer.h>

#include <algorithm>
#include <memory>
#include <optional>

#include <catena/autograd/array_backend.h>
#include <catena/autograd/capture.h>
#include <catena/autograd/variable_node.h>
#include <catena/kernels/base/error_context.h>
#include <catena/kernels/registry/families.h>
#include <catena/kernels/registry/kernel.h>
#include <catena/kernels/registry/tensor_table.h>
#include <catena/training/optimizer_parts.h>

namespace training {

using autograd::Device;
using autograd::Dtype;
using catena::check;
using catena::RuntimeError;
using catena::TypeError;

namespace {

// Returns the loop for parameters of `dtype`, the type of the last operand.
int loop_for(const catena::KernelDef& kernel, Dtype dtype) {
  for (int i = 0; i < int(kernel.num_loops); ++i)
    if (kernel.loop_table[i].type[std::size_t(kernel.num_operands() - 1)] == dtype) return i;
  catena::fail<TypeError>(kernel.name, "there is no update for parameters of ", dtype);
}

// The tensors of one dtype, device and array library, updated in one launch.
struct Launch {
  Launch(const catena::KernelDef& kernel, const Array& parameter)
      : dtype(parameter.dtype()),
        device(parameter.device()),
        owner(parameter->owner),
        backend(parameter.backend()),
        kernel(kernel),
        loop(loop_for(kernel, dtype)) {}
  bool takes(const Array& parameter) const {
    return parameter.dtype() == dtype && parameter.device() == device && parameter->owner == owner;
  }

  // Arrays of parameters, gradients and states are borrowed, because they outlive the step; `held` owns the others.
  void read(const Array& a) {
    if (a.is_c_contiguous()) operands.push_back(a.get());
    else operands.push_back(held.emplace_back(autograd::copy(a)).get());
  }
  void write(const Array& a) {
    if (a.is_c_contiguous()) return operands.push_back(a.get());
    read(a);
    stand_ins.emplace_back(a, held.back());
  }

  // `hyper` has one entry, or those that hyper_of refers to.
  catena::call::MultiTensor call(std::span<const catena::Hyper> hyper,
                                 const autograd::HyperRefresh* refresh = nullptr) {
    const std::span<const std::int32_t> which = hyper.size() > 1 ? hyper_of : std::span<const std::int32_t>();
    return {&kernel, loop, operands, hyper, which, refresh, &table};
  }
  void run(const catena::call::MultiTensor& update) {
    backend.execute(update);
    for (const auto& [original, stand_in] : stand_ins) autograd::assign(original, stand_in);
  }
  void clear() {
    operands.clear();
    hyper_of.clear();
    held.clear();
    stand_ins.clear();
    shared.clear();
  }

  const Dtype dtype;
  const Device device;
  const catena::ArrayOwner* const owner;
  autograd::Backend& backend;
  const catena::KernelDef& kernel;
  const int loop;
  catena::TensorTable table;
  // Used only during one step.
  std::vector<catena::ArrayHeader*> operands;
  std::vector<std::int32_t> hyper_of;  // one per tensor
  std::vector<Array> held;
  std::vector<std::pair<Array, Array>>
      stand_ins;              // pairs of an array that is not contiguous and the one that the kernel writes instead
  std::vector<Array> shared;  // operands used by all tensors
};

}  // namespace

struct Optimizer::Pass {
  explicit Pass(const catena::KernelDef& of) : kernel(of) {}

  // Neighbouring parameters mostly belong to the same launch.
  Launch& launch_of(const Array& parameter) {
    if (last != nullptr && last->takes(parameter)) return *last;
    const auto at = std::find_if(launches.begin(), launches.end(), [&](const auto& l) { return l->takes(parameter); });
    last = at != launches.end() ? at->get() : launches.emplace_back(std::make_unique<Launch>(kernel, parameter)).get();
    return *last;
  }
  // Called after all tensors were added. Removes launches without a tensor. If there are several launches, checks the
  // later ones before the first one runs.
  void complete(std::span<const catena::Hyper> hyper) {
    last = nullptr;
    std::erase_if(launches, [](const auto& l) { return l->operands.empty(); });
    if (launches.size() < 2) return;
    for (const auto& l : launches) l->table.update(l->call(hyper));
  }

  const catena::KernelDef& kernel;
  std::vector<std::unique_ptr<Launch>> launches;
  Launch* last = nullptr;

  // The scope of one step: at the end, also after an exception, keeps the tables and releases the arrays.
  struct Step {
    explicit Step(Pass& p) : pass(p) {}
    ~Step() {
      for (const auto& l : pass.launches) l->clear();
    }
    Step(const Step&) = delete;
    Step& operator=(const Step&) = delete;
    Pass& pass;
  };
};

Optimizer::~Optimizer() {
  for (const auto& group : groups_) group->optimizer = nullptr;  // handles may outlive it
  if (whole_ != nullptr) whole_->optimizer = nullptr;
}

void Optimizer::update_one(Variable&, std::span<Array>) {
  catena::fail<catena::NotImplementedError>(rule_.name,
                                            "the rule has no kernel, and the class does not override update_one");
}

Optimizer::Pass& Optimizer::pass_of(const catena::KernelDef& kernel) {
  for (const auto& p : passes_)
    if (&p->kernel == &kernel) return *p;
  return *passes_.emplace_back(std::make_unique<Pass>(kernel));
}

void Optimizer::count_updates(std::int64_t by) noexcept {
  t_ += by;
  for (Slot& s : slots_)
    if (!s.is_updated() && !s.is_updated_by_other_rank()) s.skipped_updates += by;
}

namespace {

// Tensors with equal keys have equal hyperparameters in an update.
struct HyperKey {
  std::size_t value_set;
  std::int64_t skipped_updates;
  std::size_t slot;  // of the first such tensor
  bool operator==(const HyperKey& o) const noexcept {
    return value_set == o.value_set && skipped_updates == o.skipped_updates;
  }
};

// Mostly the key of the tensor before.
std::int32_t index_of(std::vector<HyperKey>& keys, const HyperKey& key) {
  const auto at = std::find(keys.rbegin(), keys.rend(), key);
  if (at != keys.rend()) return std::int32_t(keys.rend() - at) - 1;
  keys.push_back(key);
  return std::int32_t(keys.size()) - 1;
}

}  // namespace

// The weight decay of rules whose kernel has none, during one update: adds rate times the parameter to copies of the
// gradients.
struct Optimizer::GradientDecay {
  explicit GradientDecay(Optimizer& o) : optimizer(o), pass(o.pass_of(catena::kernels::weight_decay)), step(pass) {
    for (std::size_t i = 0; i < o.value_sets_.size(); ++i) rates.push_back(o.decay_rate(i));
  }

  // Whether a parameter has a rate other than 0. In captured work, a replay may not find another rate where it is 0.
  bool applies_to(const Slot& s) {
    if (rates[s.value_set] == 0) without.push_back(s.value_set);
    return rates[s.value_set] != 0;
  }
  void add(const Slot& s, std::size_t slot, const Array& parameter, const Array& copy_of_gradient) {
    Launch& launch = pass.launch_of(parameter);
    launch.read(parameter);
    launch.operands.push_back(copy_of_gradient.get());
    launch.hyper_of.push_back(index_of(keys, {s.value_set, 0, slot}));
  }
  void complete() {
    for (const HyperKey& key : keys) hyper.push_back({rates[key.value_set]});
    pass.complete(hyper);
  }
  void run() {
    for (const auto& launch : pass.launches) {
      autograd::HyperRefresh next;
      if (autograd::is_capturing())
        next = [&o = optimizer, of = keys](std::span<catena::Hyper> blocks) {
          for (std::size_t i = 0; i < of.size(); ++i) blocks[i] = {o.decay_rate(of[i].value_set)};
        };
      launch->run(launch->call(hyper, next ? &next : nullptr));
    }
    if (autograd::is_capturing() && !without.empty())
      autograd::watch_value(catena::concat("the weight_decay of ", optimizer.rule_.name, ", which was 0,"),
                            [&o = optimizer, of = without] {
                              return std::uint64_t(std::count_if(of.begin(), of.end(), [&](std::size_t value_set) {
                                return o.decay_rate(value_set) != 0;
                              }));
                            });
  }

  Optimizer& optimizer;
  Pass& pass;
  const Pass::Step step;
  std::vector<double> rates;  // one per value set
  std::vector<std::size_t> without;
  std::vector<HyperKey> keys;
  std::vector<catena::Hyper> hyper;
};

double Optimizer::decay_rate(std::size_t value_set) const {
  return values_for_block(value_sets_[value_set])[hyper_index("weight_decay")];
}

// Everything that can fail runs before the first kernel: after an error, parameters, states and t are unchanged.
void Optimizer::launch() {
  Pass& pass = pass_of(*rule_.kernel);
  const Pass::Step step(pass);
  std::vector<HyperKey> keys;
  std::vector<std::pair<Array, Array>> converted;  // gradients, and their float32 copies
  std::optional<GradientDecay> decay;              // of copies of the gradients
  if (rule_.decays_gradient) decay.emplace(*this);
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    Slot& s = slots_[i];
    if (!s.is_updated()) continue;
    const Array& p = s.param.param.data();
    if (p.size() == 0) continue;
    const Array& g = autograd::internal::Access::node(s.param.param)->graph_node()->grad->data;
    const Array& updated = is_in_fp32(s) ? s.fp32_param : p;
    const bool decays = decay && decay->applies_to(s);
    Launch& launch = pass.launch_of(updated);
    if (is_in_fp32(s)) converted.emplace_back(g, launch.held.emplace_back(autograd::empty_like(updated)));
    else if (decays) launch.held.push_back(autograd::copy(g));
    const Array& gradient = is_in_fp32(s) || decays ? launch.held.back() : g;
    launch.read(gradient);
    if (decays) decay->add(s, i, updated, gradient);
    launch.write(updated);
    for (const Array& state : s.states) launch.operands.push_back(state.get());
    launch.hyper_of.push_back(index_of(keys, {s.value_set, s.skipped_updates, i}));
  }
  std::vector<catena::Hyper> hyper(std::max<std::size_t>(keys.size(), 1));
  const auto fill = [this](std::span<catena::Hyper> blocks, std::span<const HyperKey> of, std::int64_t t) {
    for (std::size_t i = 0; i < of.size(); ++i)
      blocks[i] = rule_.block(values_for_block(value_sets_[of[i].value_set]), t - of[i].skipped_updates);
  };
  fill(hyper, keys, t_ + 1);
  pass.complete(hyper);
  if (decay) decay->complete();
  internal::convert_tensors(converted);
  if (decay) decay->run();
  count_updates(1);
  // In captured work, a replay is another update: the first launch increments the counter, and all launches read the
  // new values.
  bool first = true;
  for (const auto& launch : pass.launches) {
    autograd::HyperRefresh next;
    if (autograd::is_capturing())
      next = [this, first, fill, keys](std::span<catena::Hyper> blocks) {
        if (first) count_updates(1);
        std::vector<HyperKey> current = keys;  // set_t() may have set the counts since the capture
        for (HyperKey& key : current) key.skipped_updates = slots_[key.slot].skipped_updates;
        fill(blocks, current, t_);
      };
    try {
      launch->run(launch->call(hyper, next ? &next : nullptr));
    } catch (...) {
      if (first) count_updates(-1);  // no parameter has been updated
      throw;
    }
    first = false;
  }
  round_fp32_params();
}

std::vector<double> Optimizer::values_for_block(const ValueSet& groups) const {
  std::vector<double> values = values_of(groups);
  if (!rule_.maximize) return values;
  // Rates are multiplied by decays where these do not go to the gradient, so that a decay of the parameter stays.
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::string_view name = rule_.hyper[i].name;
    if (name == "lr" || name == internal::own_name(*this, "lr") || name == "weight_decay" ||
        name == "weight_decay_rate")
      values[i] = -values[i];
  }
  return values;
}

void Optimizer::update_each() {
  check<RuntimeError>(!autograd::is_capturing(), rule_.name,
                      "update_one cannot be captured: replays would see neither the number of the update nor the "
                      "hyperparameters of their time");
  struct Updating {
    const Slot*& slot;
    ~Updating() { slot = nullptr; }
  } const scope{updating_};
  count_updates(1);
  bool first = true;
  for (Slot& s : slots_) {
    if (!s.is_updated() || s.param.param.size() == 0) continue;
    updating_ = &s;
    try {
      if (is_in_fp32(s)) {
        Variable copy(s.fp32_param);
        copy.set_grad(autograd::astype(s.param.param.grad(), Dtype::float32));
        update_one(copy, s.states);
        s.fp32_param = copy.data();  // it may be another array now
      } else {
        update_one(s.param.param, s.states);
      }
    } catch (...) {
      if (first) count_updates(-1);  // no parameter has been updated
      catena::rethrow_from(catena::concat(rule_.name, ", parameter ", s.param.path));
    }
    first = false;
  }
  round_fp32_params();
}

void Optimizer::transform_grads(const catena::KernelDef& kernel, const catena::Hyper& hyper,
                                std::span<const Array> shared) {
  const bool takes_parameter = kernel.nin > shared.size();
  Pass& pass = pass_of(kernel);
  const Pass::Step step(pass);
  for (Slot& s : slots_) {
    Variable& p = s.param.param;
    if (!s.takes_part() || !s.has_grad() || !is_hooked(s) || p.size() == 0) continue;
    Launch& launch = pass.launch_of(p.data());
    if (launch.shared.size() != shared.size())
      for (std::size_t k = 0; k < shared.size(); ++k)
        launch.shared.push_back(
            autograd::to_device(autograd::astype(shared[k], kernel.loop_table[launch.loop].type[k]), p.device()));
    for (const Array& a : launch.shared) launch.read(a);
    if (takes_parameter) launch.read(p.data());
    if (!s.own_grad || p.grad().get() != s.own_grad.get()) {
      s.own_grad = autograd::copy(p.grad());
      p.set_grad(s.own_grad);
    }
    launch.operands.push_back(s.own_grad.get());
  }
  pass.complete({&hyper, 1});
  for (const auto& launch : pass.launches) launch->run(launch->call({&hyper, 1}));
}

}  // namespace training
