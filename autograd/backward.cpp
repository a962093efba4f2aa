#include <catena/autograd/backward.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include <catena/autograd/backward_watch.h>
#include <catena/autograd/current_device.h>
#include <catena/autograd/debug.h>
#include <catena/autograd/function_node.h>
#include <catena/autograd/hooks.h>
#include <catena/autograd/variable_node.h>
#include <catena/kernels/base/error_context.h>

namespace autograd {

using internal::Access;
using internal::VariableNode;

namespace {

std::atomic<std::uint64_t> last_run{0};

// Modes during a backward rule. The rule builds a graph only if its gradients will be differentiated again.
class RuleModes {
 public:
  explicit RuleModes(bool double_backprop) : RuleModes(internal::modes(), double_backprop) {}

 private:
  RuleModes(internal::Modes& modes, bool double_backprop)
      : enable_backprop_(modes.enable_backprop, double_backprop),
        double_backprop_(modes.double_backprop, double_backprop),
        in_backward_rule_(modes.in_backward_rule, !double_backprop) {}
  ModeScope enable_backprop_, double_backprop_, in_backward_rule_;
};

}  // namespace

// One backward run. Gradients are stored in VariableNode::grad; VariableNode::run is the id of the run that wrote them.
class BackwardEngine {
 public:
  BackwardEngine(bool double_backprop, bool retain_grad)
      : id_(last_run.fetch_add(1, std::memory_order_relaxed) + 1),
        double_(double_backprop),
        retain_grad_(retain_grad) {}
  ~BackwardEngine() {
    if (!queue_.empty()) abandon();
  }

  // State of grad(): only the functions in `functions` are processed, gradients that variables already have are
  // ignored, and all gradients are restored at the end, also those of an outer run that is in progress.
  struct Isolated {
    std::unordered_set<const FunctionNode*> functions;
    std::unordered_set<const VariableNode*> wanted;
    struct Saved {
      VariableNode* node;
      Variable grad;
      bool shared;
      std::uint64_t run;
      Variable held;
    };
    std::vector<Saved> saved;
  };
  void isolate(Isolated* isolated) { isolated_ = isolated; }

  void keep(VariableNode* n) { kept_ = n; }
  void report_parameters(const internal::OnParameter* to) { on_parameter_ = to; }

  void enqueue(VariableNode* n) {
    FunctionNode* f = n->creator;
    if (f == nullptr || (isolated_ && !isolated_->functions.contains(f))) return;
    if (!f->lists_output(n)) [[unlikely]]
      catena::fail<catena::RuntimeError>(
          "backward", f->label(), " was applied again after it made this variable; make one function object per call");
    if (f->run_ == id_) return;
    queue_.push_back({f->rank(), order_++, f});
    retain(f);
    f->run_ = id_;
    std::push_heap(queue_.begin(), queue_.end());
  }

  void run() {
    while (!queue_.empty()) {
      std::pop_heap(queue_.begin(), queue_.end());
      const NodePtr<FunctionNode> f(queue_.back().function);
      queue_.pop_back();
      process(*f);
    }
  }

  internal::BackwardWatch& watch() noexcept { return watch_; }

  // The caller passes a handle of x in `held`. The run moves from it if it needs the gradient later: the last other
  // handle may be destroyed meanwhile, and the gradient must remain. `held` may be null only if the run takes the
  // gradient out of x again, that is, if x has a creator or grad() restores the gradients. With double backprop the
  // graph of the gradient refers to x, so a gradient that stayed in a variable without handles would never be freed.
  void accumulate(VariableNode* x, const Variable& gx, Variable& held);

 private:
  struct Item {
    int rank;
    std::uint32_t order;
    FunctionNode* function;  // owned
    friend bool operator<(const Item& a, const Item& b) {
      return a.rank != b.rank ? a.rank < b.rank : a.order > b.order;
    }
  };

  // True if the gradient of x can be read after this run.
  bool kept(const VariableNode* x) const {
    return x->requires_grad && (x->creator == nullptr || retain_grad_) &&
           x->handles.load(catena::MemoryOrder::relaxed) != 0;
  }
  bool wanted(const VariableNode* x) {
    if (isolated_)
      return isolated_->wanted.contains(x) || (x->creator != nullptr && isolated_->functions.contains(x->creator));
    return kept(x) || (x->requires_grad && x->creator != nullptr && leads_to_kept(x->creator));
  }
  bool leads_to_kept(FunctionNode* f);
  void process(FunctionNode& f);
  Variables call_rule(FunctionNode& f, const Targets& targets, const Variables& gy);
  Variable hold_output(VariableNode* y);
  Variables take_output_grads(FunctionNode& f);
  void drop_output_grads(FunctionNode& f) noexcept;
  void abandon() noexcept;

  std::uint64_t id_;
  bool double_, retain_grad_;
  bool made_here_ = false;  // the current function has one output, and this run made its gradient
  Isolated* isolated_ = nullptr;
  const internal::OnParameter* on_parameter_ = nullptr;
  internal::BackwardWatch watch_;
  VariableNode* kept_ = nullptr;  // the variable on which backward was called; it keeps its gradient
  std::uint32_t order_ = 0;
  catena::SmallVector<Item, 16> queue_;
};

namespace {

bool repeats_elements(const Array& a) {
  if (a.is_c_contiguous()) return false;
  for (int i = 0; i < a.ndim(); ++i)
    if (a.strides()[i] == 0 && a.shape(i) > 1) return true;
  return false;
}

// True if the node's only handle has the only reference to its array and to the array's storage, and the library
// allocated the memory. The order of the loads ensures that anything another thread did to the memory before it dropped
// its reference happens before a later write.
bool holds_alone(const VariableNode* n) {
  const Array& a = n->data;
  return n->handles.load(catena::MemoryOrder::acquire) == 1 && n->creator == nullptr && a &&
         catena::is_sole_reference(*a.get()) && !repeats_elements(a) && a.backend().owns_memory(a);
}

}  // namespace

void BackwardEngine::accumulate(VariableNode* x, const Variable& gx, Variable& held) {
  if (x->run != id_ && (x->creator != nullptr || isolated_)) {
    if (isolated_) {
      isolated_->saved.push_back({x, x->grad_handle(), x->grad_shared, x->run, held});
      retain(x);
    }
    enqueue(x);  // may throw, so the gradient is written afterwards
    x->run = id_;
    x->set_grad(gx, true);
    if (held && !isolated_) {
      Access::forget(held);
      x->held_by_run = true;
    }
  } else if (x->grad == nullptr) {
    // The gradient of a leaf is visible to users, so it must be an ordinary array, not a view that repeats elements.
    if (!double_ && repeats_elements(gx.data())) x->set_grad(internal::constant_variable(copy(gx.data())), false);
    else x->set_grad(gx, true);
  } else if (double_) {
    x->set_grad(x->grad_handle() + gx, false);
  } else if (x->grad->creator == nullptr &&
             (x->grad_shared ? x->run == id_ && holds_alone(x->grad) : x->grad->data.is_c_contiguous())) {
    x->grad->data += gx.data();
  } else {
    x->set_grad(internal::constant_variable(x->grad->data + gx.data()), false);
  }
}

// Returns the handle that the run has kept since it wrote the gradient, or a new one. run_backward() holds kept_. In
// grad() the kept handle is that of an outer run.
Variable BackwardEngine::hold_output(VariableNode* y) {
  if (isolated_ == nullptr && std::exchange(y->held_by_run, false)) return Access::adopt(y);
  return y == kept_ ? Variable() : y->hold();
}

// Moves the gradients out of the outputs of f; gradients that must be kept stay, and the result has further handles of
// them.
Variables BackwardEngine::take_output_grads(FunctionNode& f) try {
  Variables gy;
  gy.reserve(f.num_outputs());
  made_here_ = false;
  for (std::size_t i = 0; i < f.num_outputs(); ++i) {
    gy.emplace_back();
    VariableNode* y = f.lock_output(i);
    if (y == nullptr) continue;
    const Variable held = hold_output(y);
    if (y->grad != nullptr && (!isolated_ || y->run == id_)) {
      made_here_ = !double_ && f.num_outputs() == 1 && y->run == id_;
      gy.back() = y->grad_handle();
    }
    const bool keep =
        y == kept_ || (retain_grad_ && held) || (isolated_ && (y->run != id_ || isolated_->wanted.contains(y)));
    if (!keep) y->set_grad({}, false);
    internal::release(y);
  }
  // Without double backprop, a gradient that the user set together with its graph must not connect the rules to that
  // graph.
  for (Variable& g : gy)
    if (!double_ && (g.volatile_flag() != AUTO || g.creator() != nullptr)) g = internal::constant_variable(g.data());
  return gy;
} catch (...) {
  drop_output_grads(f);
  throw;
}

namespace {

Arrays live_inputs(const FunctionNode& f) {
  Arrays in;
  for (std::size_t i = 0; i < f.num_inputs(); ++i) {
    const Variable held = f.input_node(i)->hold();
    in.push_back(held ? held.data() : Array());
  }
  return in;
}

Arrays arrays_of(const Variables& v) {
  Arrays a;
  for (const Variable& g : v) a.push_back(g ? g.data() : Array());
  return a;
}

}  // namespace

// Visits each function at most once per run; the search ends at the first variable that is kept.
bool BackwardEngine::leads_to_kept(FunctionNode* f) {
  struct Place {
    FunctionNode* function;
    std::size_t next;
  };
  catena::SmallVector<Place, 16> path;
  bool found = false;
  const auto enter = [&](FunctionNode* g) {
    if (g->searched_ == id_) {
      found = g->leads_to_kept_;
      return;
    }
    g->searched_ = id_;
    g->leads_to_kept_ = false;
    path.push_back({g, 0});
  };
  enter(f);
  while (!path.empty()) {
    Place& at = path.back();
    if (found || at.next == at.function->num_inputs()) {
      at.function->leads_to_kept_ = found;
      path.pop_back();
      continue;
    }
    const VariableNode* x = at.function->input_node(at.next++);
    if (kept(x)) found = true;
    else if (x->requires_grad && x->creator != nullptr) enter(x->creator);
  }
  return found;
}

namespace {

// Makes the device of the first input or gradient that is not in host memory current while the rule runs.
internal::DefaultDeviceScope scope_of_rule(const FunctionNode& f, const Variables& gy) {
  const Array* some = nullptr;
  Device of_gradients;
  for (const Variable& g : gy) {
    if (!g) continue;
    if (some == nullptr) some = &g.data();
    if (of_gradients.kind == Device::Kind::cpu) of_gradients = g.data().device();
  }
  if (some == nullptr) return {};
  for (std::size_t i = 0; i < f.num_inputs(); ++i)
    if (const Device device = f.input_node(i)->device; device.kind != Device::Kind::cpu)
      return internal::scope_of(*some, device);
  return internal::scope_of(*some, of_gradients);
}

}  // namespace

Variables BackwardEngine::call_rule(FunctionNode& f, const Targets& targets, const Variables& gy) {
  const bool hooked =
      !internal::modes().in_backward_rule && (internal::thread_hooks() != nullptr || !f.local_function_hooks().empty());
  std::optional<internal::HookedCall> hooks;
  Arrays in, out_grad;
  if (hooked) [[unlikely]] {
    hooks.emplace(f, internal::merged_hooks(f.local_function_hooks()));
    in = live_inputs(f);
    out_grad = arrays_of(gy);
    hooks->before([&](FunctionHook& h) { h.backward_preprocess(f, in, out_grad); });
  }
  Variables gx;
  {
    const RuleModes modes(double_);
    // Outside a run it is false, because a caller of a rule keeps its gradients.
    const catena::ScopedValue<bool> spare(f.gradient_is_spare_, made_here_ && holds_alone(Access::node(gy[0])));
    const internal::DefaultDeviceScope current = scope_of_rule(f, gy);
    gx = f.backward(targets, gy);
  }
  if (hooked) [[unlikely]]
    hooks->after([&](FunctionHook& h) { h.backward_postprocess(f, in, out_grad); });
  // The label is a string, so it is built only if the check fails.
  if (gx.size() != targets.size()) [[unlikely]]
    catena::fail<catena::AssertionError>(f.label(), "backward returned ", gx.size(), " gradients for ", targets.size(),
                                         " inputs");
  return gx;
}

void BackwardEngine::process(FunctionNode& f) {
  const Variables gy = take_output_grads(f);
  // A rule may have unchained the outputs, or another thread may have dropped the output with the gradient.
  if (std::none_of(gy.begin(), gy.end(), [](const Variable& g) { return bool(g); })) return;
  Targets targets;
  const std::size_t n = f.num_inputs();
  for (std::size_t i = 0; i < n; ++i)
    if (wanted(f.input_node(i))) targets.push_back(int(i));
  if (targets.empty()) return;
  const Variables gx = call_rule(f, targets, gy);
  if (f.num_inputs() != n) return;  // the rule unchained the graph
  if (is_debug() && !internal::modes().in_backward_rule)
    for (const Variable& g : gx)
      if (g && catena::is_floating(g.dtype()) && has_nan(g.data())) f.fail_nan("backward");
  VariableNode* x = nullptr;
  Variable held;
  for (std::size_t k = 0; k < gx.size(); ++k) {
    if (!gx[k]) continue;
    if (VariableNode* next = f.input_node(std::size_t(targets[k])); next != x) {
      x = next;
      held = x->held_by_run ? Variable() : x->hold();
    }
    // The last handle of a leaf may be destroyed after wanted() has seen it, by another thread or by the rule.
    if (x->creator == nullptr && !held && isolated_ == nullptr) continue;
    const Array& g = gx[k].data();
    if (g.dtype() != x->dtype || g.ndim() != int(x->shape.size()) ||
        !std::equal(x->shape.begin(), x->shape.end(), g.shape().begin()) ||
        (x->data ? x->data->owner != g->owner || x->data.device() != g.device() : x->device != g.device())) [[unlikely]]
      internal::check_grad(&f, x->data, x->dtype, Shape(std::span<const std::int64_t>(x->shape)),
                           x->data ? x->data.device() : x->device, g);
    if (x->is_parameter && on_parameter_ != nullptr) (*on_parameter_)(*x, f);
    if (x->creator == nullptr && isolated_ == nullptr) watch_.note(x, f);
    const RuleModes modes(double_);
    accumulate(x, gx[k], held);
  }
}

void BackwardEngine::drop_output_grads(FunctionNode& f) noexcept {
  for (std::size_t i = 0; i < f.num_outputs(); ++i) {
    VariableNode* y = f.lock_output(i);
    if (y == nullptr) continue;
    const Variable held = hold_output(y);
    if (y->run == id_ && y != kept_) y->set_grad({}, false);
    internal::release(y);
  }
}

// Called after an exception: gradients of unprocessed functions would keep their graphs alive.
void BackwardEngine::abandon() noexcept {
  for (const Item& item : queue_) {
    drop_output_grads(*item.function);
    release(item.function);
  }
}

namespace {

// Returns the only element, in host memory, as a double.
double loss_value(const Array& loss) {
  if (loss.dtype() == Dtype::float32) [[likely]]
    return static_cast<double>(*reinterpret_cast<const float*>(loss->data));
  return catena::is_floating(loss.dtype()) ? item(loss).to_double() : 0;
}

}  // namespace

namespace internal {

struct GradInputs {
  const std::unordered_set<const VariableNode*>& nodes;
  const GradInputs* outer;
};

bool is_grad_input(const GradInputs* inputs, const VariableNode* n) noexcept {
  for (; inputs != nullptr; inputs = inputs->outer)
    if (inputs->nodes.contains(n)) return true;
  return false;
}

namespace {

using GradInputsScope = catena::ScopedValue<const GradInputs*>;
thread_local const OnParameter* on_parameter_of_run = nullptr;

}  // namespace

const OnParameter* current_on_parameter() noexcept { return on_parameter_of_run; }

void run_backward(const Variable& start, const BackwardOptions& options, const OnParameter* on_parameter) try {
  catena::check<catena::ValueError>(bool(start), "backward", "called on a null Variable");
  VariableNode* y = Access::node(start)->root();
  const Variable held = y->hold();  // `start` may be an alias, which is no handle of y
  const FunctionNode* f = y->creator;
  // A backward pass within a rule (forget) or within an optimizer's update is not checked here: the optimizer has a
  // more detailed message.
  const bool by_user = !modes().in_backward_rule && on_parameter == nullptr;
  if (f == nullptr) return by_user ? BackwardWatch::warn_of_no_graph(start) : void();
  if (!modes().in_backward_rule) BackwardWatch::check_repeated(*f);
  if (y->grad == nullptr) {
    if (start.size() == 1) {
      if (start.device().kind == Device::Kind::cpu && !OwnLossWarning::is_active())
        warn_of_nan_loss(loss_value(start.data()));
      y->set_grad(internal::constant_variable(ones_like(start.data())), false);
    } else {
      bool other = false;
      for (std::size_t i = 0; i < f->num_outputs(); ++i) other |= f->output(i) && f->output(i).grad();
      catena::check<catena::RuntimeError>(
          other, "backward", "the variable has shape ", start.shape(),
          " and no gradient; set its grad first (only a single element starts with 1 by itself)");
    }
  }
  BackwardEngine engine(options.enable_double_backprop, options.retain_grad);
  engine.keep(y);
  engine.report_parameters(on_parameter);
  y->run = 0;
  engine.enqueue(y);
  const GradInputsScope no_grad_inputs(modes().grad_inputs, nullptr);
  const catena::ScopedValue<const OnParameter*> reports(on_parameter_of_run, on_parameter);
  engine.run();
  engine.watch().remember(modes().in_backward_rule ? nullptr : y->creator, on_parameter == nullptr);
} catch (...) {
  catena::rethrow_standard("backward");
}

}  // namespace internal

namespace {

// Returns all functions on a path from the outputs to a wanted variable.
std::unordered_set<const FunctionNode*> functions_between(const Variables& outputs,
                                                          const std::unordered_set<const VariableNode*>& wanted,
                                                          const Variables& ends) {
  std::vector<const FunctionNode*> all, pending;
  std::unordered_set<const FunctionNode*> seen, needed;
  for (const Variable& x : ends) seen.insert(x.creator());
  const auto visit = [&](const FunctionNode* f) {
    if (f != nullptr && seen.insert(f).second) pending.push_back(f);
  };
  for (const Variable& y : outputs) visit(y.creator());
  while (!pending.empty()) {
    const FunctionNode* f = pending.back();
    pending.pop_back();
    all.push_back(f);
    for (std::size_t i = 0; i < f->num_inputs(); ++i) visit(f->input_node(i)->creator);
  }
  std::sort(all.begin(), all.end(), [](const FunctionNode* a, const FunctionNode* b) { return a->rank() < b->rank(); });
  for (const FunctionNode* f : all)
    for (std::size_t i = 0; i < f->num_inputs(); ++i) {
      const VariableNode* x = f->input_node(i);
      if (wanted.contains(x) || (x->creator != nullptr && needed.contains(x->creator))) needed.insert(f);
    }
  return needed;
}

// Restores the gradients of all variables that the run wrote, even if a rule throws.
class Restore {
 public:
  explicit Restore(BackwardEngine::Isolated& isolated) : isolated_(isolated) {}
  ~Restore() {
    for (auto& s : isolated_.saved) {
      s.node->set_grad(s.grad, s.shared);
      s.node->run = s.run;
      internal::release(s.node);
    }
  }
  Restore(const Restore&) = delete;
  Restore& operator=(const Restore&) = delete;

 private:
  BackwardEngine::Isolated& isolated_;
};

}  // namespace

Variables grad(const Variables& outputs, const Variables& inputs, const Variables& grad_outputs,
               bool enable_double_backprop) try {
  std::unordered_set<const VariableNode*> nodes;
  for (const Variable& x : inputs)
    if (x) nodes.insert(Access::node(x)->root());
  const internal::GradInputs grad_inputs{nodes, internal::modes().grad_inputs};
  const internal::GradInputsScope scope(internal::modes().grad_inputs, &grad_inputs);
  return internal::gradients(outputs, inputs, grad_outputs, enable_double_backprop);
} catch (...) {
  catena::rethrow_standard("grad");
}

Variables internal::gradients(const Variables& outputs, const Variables& inputs, const Variables& grad_outputs,
                              bool enable_double_backprop, const Variables& ends) {
  catena::check<catena::ValueError>(grad_outputs.empty() || grad_outputs.size() == outputs.size(), "grad",
                                    grad_outputs.size(), " grad_outputs given for ", outputs.size(), " outputs");
  for (const Variables* list : {&outputs, &inputs})
    for (const Variable& v : *list)
      catena::check<catena::TypeError>(bool(v), "grad", "an output or input is a null Variable");
  BackwardEngine::Isolated isolated;
  for (const Variable& x : inputs) isolated.wanted.insert(Access::node(x)->root());
  isolated.functions = functions_between(outputs, isolated.wanted, ends);
  const Restore restore(isolated);
  BackwardEngine engine(enable_double_backprop, false);
  engine.isolate(&isolated);
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    Variable g = grad_outputs.empty() ? Variable() : grad_outputs[k];
    if (!g) g = internal::constant_variable(ones_like(outputs[k].data()));
    internal::check_grad(nullptr, outputs[k].data(), outputs[k].dtype(), outputs[k].shape(), outputs[k].device(),
                         g.data());
    const RuleModes modes(enable_double_backprop);
    VariableNode* y = Access::node(outputs[k])->root();
    Variable held = y->hold();
    engine.accumulate(y, g, held);
  }
  engine.run();
  Variables result;
  for (const Variable& x : inputs) {
    VariableNode* n = Access::node(x)->root();
    const bool reached =
        std::any_of(isolated.saved.begin(), isolated.saved.end(), [n](const auto& s) { return s.node == n; });
    result.push_back(reached ? n->grad_handle() : Variable());
  }
  return result;
}

}  // namespace autograd
