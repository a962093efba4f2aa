// The update of the parameters: one launch for all of one dtype, device and library, or one call for
// each parameter.
#include <catena/training/optimizer.h>

#include <algorithm>
#include <memory>

#include <catena/autograd/capture.h>
#include <catena/autograd/variable_node.h>
#include <catena/kernels/base/error_context.h>
#include <catena/kernels/registry/tensor_table.h>

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

  catena::call::MultiTensor call(const catena::Hyper& hyper, const autograd::HyperRefresh* refresh = nullptr) {
    return {&kernel, loop, operands, {&hyper, 1}, {}, refresh, &table};
  }
  void run(const catena::call::MultiTensor& update) {
    backend.execute(update);
    for (const auto& [original, stand_in] : stand_ins) autograd::assign(original, stand_in);
  }
  void clear() {
    operands.clear();
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
  void complete(const catena::Hyper& hyper) {
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

Optimizer::~Optimizer() = default;

void Optimizer::update_one(Variable&, std::span<Array>) {
  catena::fail<catena::NotImplementedError>(rule_.name,
                                            "the rule has no kernel, and the class does not override update_one");
}

Optimizer::Pass& Optimizer::pass_of(const catena::KernelDef& kernel) {
  for (const auto& p : passes_)
    if (&p->kernel == &kernel) return *p;
  return *passes_.emplace_back(std::make_unique<Pass>(kernel));
}

// Everything that can fail runs before the first kernel: after an error, parameters, states and t are unchanged.
void Optimizer::launch() {
  Pass& pass = pass_of(*rule_.kernel);
  const Pass::Step step(pass);
  for (Slot& s : slots_) {
    const autograd::internal::VariableNode* const gradient =
        autograd::internal::Access::node(s.param.param)->root()->grad;
    if (!s.takes_part() || gradient == nullptr) continue;
    const Array& p = s.param.param.data();
    if (p.size() == 0) continue;
    Launch& launch = pass.launch_of(p);
    launch.read(gradient->data);
    launch.write(p);
    for (const Array& state : s.states) launch.operands.push_back(state.get());
  }
  const catena::Hyper hyper = rule_.block(hyper_, t_ + 1);
  pass.complete(hyper);
  ++t_;
  // In captured work, a replay is another update: the first launch increments the counter, and all launches read the
  // new values.
  bool first = true;
  for (const auto& launch : pass.launches) {
    const autograd::HyperRefresh next = [this, first](std::span<catena::Hyper> block) {
      if (first) ++t_;
      block[0] = rule_.block(hyper_, t_);
    };
    try {
      launch->run(launch->call(hyper, &next));
    } catch (...) {
      if (first) --t_;  // no parameter has been updated
      throw;
    }
    first = false;
  }
}

void Optimizer::update_each() {
  check<RuntimeError>(!autograd::is_capturing(), rule_.name,
                      "update_one cannot be captured: replays would see neither the number of the update nor the "
                      "hyperparameters of their time");
  ++t_;
  bool first = true;
  for (Slot& s : slots_) {
    if (!s.takes_part() || !s.has_grad() || s.param.param.size() == 0) continue;
    try {
      update_one(s.param.param, s.states);
    } catch (...) {
      if (first) --t_;  // no parameter has been updated
      catena::rethrow_from(catena::concat(rule_.name, ", parameter ", s.param.path));
    }
    first = false;
  }
}

void Optimizer::transform_grads(const catena::KernelDef& kernel, const catena::Hyper& hyper,
                                std::span<const Array> shared) {
  const bool takes_parameter = kernel.nin > shared.size();
  Pass& pass = pass_of(kernel);
  const Pass::Step step(pass);
  for (Slot& s : slots_) {
    Variable& p = s.param.param;
    if (!s.takes_part() || !s.has_grad() || p.size() == 0) continue;
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
  pass.complete(hyper);
  for (const auto& launch : pass.launches) launch->run(launch->call(hyper));
}

}  // namespace training
