#include <catena/autograd/backward.h>

#include <atomic>
#include <optional>

#include <catena/autograd/backend/backend.h>
#include <catena/autograd/backward_arguments.h>
#include <catena/autograd/backward_engine.h>
#include <catena/autograd/current_device.h>
#include <catena/autograd/debug.h>
#include <catena/autograd/grad_hooks.h>
#include <catena/autograd/hooks.h>
#include <catena/kernels/base/error_context.h>

namespace autograd {

namespace {
std::atomic<std::uint64_t> last_run{0};
}  // namespace

BackwardEngine::BackwardEngine(bool double_backprop, bool retain_grad)
    : id_(last_run.fetch_add(1, std::memory_order_relaxed) + 1),
      double_backprop_(double_backprop),
      retain_grad_(retain_grad) {}

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
  if (x->run != id_ && (x->creator != nullptr || grad_call_)) {
    if (grad_call_) {
      grad_call_->saved.push_back({x, x->grad_handle(), x->grad_shared, x->run, held});
      retain(x);
    }
    enqueue(x);  // may throw, so the gradient is written afterwards
    x->run = id_;
    x->set_grad(gx, true);
    if (held && !grad_call_) {
      Access::forget(held);
      x->held_by_run = true;
    }
  } else if (x->grad == nullptr) {
    // The gradient of a leaf is visible to users, so it must be an ordinary array, not a view that repeats elements.
    if (!double_backprop_ && repeats_elements(gx.data()))
      x->set_grad(internal::constant_variable(copy(gx.data())), false);
    else x->set_grad(gx, true);
  } else if (double_backprop_) {
    x->set_grad(x->grad_handle() + gx, false);
  } else if (x->grad->creator == nullptr &&
             (x->grad_shared ? x->run == id_ && holds_alone(x->grad) : x->grad->data.is_c_contiguous())) {
    x->grad->data += gx.data();
  } else {
    x->set_grad(internal::constant_variable(x->grad->data + gx.data()), false);
  }
}

Variable BackwardEngine::hooked(VariableNode& x, const Variable& g) const {
  if (!x.grad_hooks) [[likely]]
    return g;
  const RuleModes modes(double_backprop_);
  return x.grad_hooks->call(g);
}

void BackwardEngine::add_to_leaf(const Variable& leaf, const Variable& g) {
  const RuleModes modes(double_backprop_);
  for (HookedLeaf& entry : hooked_leaves_)
    if (entry.leaf.is_same(leaf)) {
      entry.grad = entry.grad + g;
      return;
    }
  hooked_leaves_.push_back({leaf, g});
}

void BackwardEngine::finish_leaves() {
  for (HookedLeaf& entry : hooked_leaves_) {
    const Variable g = hooked(*Access::node(entry.leaf), entry.grad);
    const RuleModes modes(double_backprop_);
    accumulate(Access::node(entry.leaf), g, entry.leaf);
  }
}

// Returns the handle that the run has kept since it wrote the gradient, or a new one. run_backward() holds the
// variables on which it was called. In grad() the kept handle is that of an outer run.
Variable BackwardEngine::hold_output(VariableNode* y) {
  if (grad_call_ == nullptr && std::exchange(y->held_by_run, false)) return Access::adopt(y);
  return is_start_node(y) ? Variable() : y->hold();
}

// Moves the gradients out of the outputs of f; gradients that must be kept stay, and the result has further handles of
// them.
Variables BackwardEngine::take_output_grads(FunctionNode& f) try {
  Variables gy;
  gy.reserve(f.num_outputs());
  grad_from_this_run_ = false;
  for (std::size_t i = 0; i < f.num_outputs(); ++i) {
    gy.emplace_back();
    VariableNode* y = f.lock_output(i);
    if (y == nullptr) continue;
    const Variable held = hold_output(y);
    if (y->grad != nullptr && (!grad_call_ || y->run == id_)) {
      grad_from_this_run_ = !double_backprop_ && f.num_outputs() == 1 && y->run == id_;
      gy.back() = hooked(*y, y->grad_handle());
      if (y->grad_hooks) y->set_grad(gy.back(), true);
      if (grad_call_ && retain_grad_ && held) grad_call_->retained.emplace_back(held, gy.back());
    }
    const bool keep = is_start_node(y) || (!grad_call_ && (retain_grad_ || y->retains_grad) && held) ||
                      (grad_call_ && (y->run != id_ || grad_call_->wanted.contains(y)));
    if (!keep) y->set_grad({}, false);
    internal::release(y);
  }
  // Without double backprop, a gradient that the user set together with its graph must not connect the rules to that
  // graph.
  for (Variable& g : gy)
    if (!double_backprop_ && (g.volatile_flag() != AUTO || g.creator() != nullptr))
      g = internal::constant_variable(g.data());
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
    const RuleModes modes(double_backprop_);
    // Outside a run it is false, because a caller of a rule keeps its gradients.
    const catena::ScopedValue<bool> spare(f.gradient_is_spare_,
                                          grad_from_this_run_ && holds_alone(Access::node(gy[0])));
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
    if (x->creator == nullptr && !held && grad_call_ == nullptr) continue;
    const Array& g = gx[k].data();
    if (g.dtype() != x->dtype || g.ndim() != int(x->shape.size()) ||
        !std::equal(x->shape.begin(), x->shape.end(), g.shape().begin()) ||
        (x->data ? x->data->owner != g->owner || x->data.device() != g.device() : x->device != g.device())) [[unlikely]]
      internal::check_grad(&f, x->data, x->dtype, Shape(std::span<const std::int64_t>(x->shape)),
                           x->data ? x->data.device() : x->device, g);
    if (x->is_parameter && on_parameter_ != nullptr) (*on_parameter_)(*x, f);
    if (x->creator == nullptr && grad_call_ == nullptr) {
      watch_.note(x, f);
      internal::FinalGradients::check_open(*x);
      if (x->grad_hooks) [[unlikely]] {
        add_to_leaf(held, gx[k]);
        continue;
      }
    }
    const RuleModes modes(double_backprop_);
    accumulate(x, gx[k], held);
  }
}

void BackwardEngine::drop_output_grads(FunctionNode& f) noexcept {
  for (std::size_t i = 0; i < f.num_outputs(); ++i) {
    VariableNode* y = f.lock_output(i);
    if (y == nullptr) continue;
    const Variable held = hold_output(y);
    if (y->run == id_ && !is_start_node(y)) y->set_grad({}, false);
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

namespace {

thread_local const OnParameter* on_parameter_of_run = nullptr;

}  // namespace

const OnParameter* current_on_parameter() noexcept { return on_parameter_of_run; }

namespace {

// Gives a variable on which backward was called, and which has no gradient, the one with which it starts. f: its
// creator.
void start_gradient(const Variable& output, VariableNode* y, const FunctionNode& f, double loss_scale) {
  if (output.size() == 1) {
    if (output.device().kind == Device::Kind::cpu && !OwnLossWarning::is_active())
      warn_of_nan_loss(loss_value(output.data()));
    const Array one = loss_scale == 1 ? ones_like(output.data()) : full_like(output.data(), loss_scale);
    return y->set_grad(internal::constant_variable(one), false);
  }
  bool other = false;
  for (std::size_t i = 0; i < f.num_outputs(); ++i) other |= f.output(i) && f.output(i).grad();
  catena::check<catena::RuntimeError>(
      other, "backward", "the variable has shape ", output.shape(),
      " and no gradient; set its grad first (only a single element starts with 1 by itself)");
}

}  // namespace

void run_backward(const Variables& outputs, const BackwardOptions& options, const OnParameter* on_parameter,
                  const OnFinal* on_final) try {
  // A backward pass within a rule (forget) or within an optimizer's update is not checked here: the optimizer has a
  // more detailed message.
  const bool in_rule = modes().in_backward_rule, by_user = !in_rule && on_parameter == nullptr;
  Variables held;
  for (const Variable& output : outputs) {
    catena::check<catena::ValueError>(bool(output), "backward", "called on a null Variable");
    const Variable y = Access::node(output)->graph_node()->hold();  // `output` may be an alias, which is no handle of y
    if (y.creator() != nullptr) held.push_back(y);
    else if (by_user) BackwardWatch::warn_of_no_graph(output);
  }
  if (held.empty()) return;
  BackwardEngine engine(options.enable_double_backprop || options.create_graph, options.retain_grad);
  engine.report_parameters(on_parameter);
  std::optional<FinalGradients> final_gradients;
  if (on_final != nullptr) {
    final_gradients.emplace(held, *on_final);
    engine.report_final(&*final_gradients);
  }
  for (const Variable& output : held) {
    VariableNode* const y = Access::node(output);
    if (!in_rule) BackwardWatch::check_repeated(*y->creator);
    if (y->grad == nullptr) start_gradient(output, y, *y->creator, options.loss_scale);
  }
  for (const Variable& output : held) engine.start_at(Access::node(output), held.size() > 1);
  const catena::ScopedValue<const GradInputs*> no_grad_inputs(modes().grad_inputs, nullptr);
  const catena::ScopedValue<const OnParameter*> reports(on_parameter_of_run, on_parameter);
  engine.run();
  engine.watch().remember(in_rule ? nullptr : held[0].creator(), on_parameter == nullptr);
} catch (...) {
  catena::rethrow_standard("backward");
}

}  // namespace internal

void backward(const Variables& outputs, const BackwardOptions& options) { internal::run_backward(outputs, options); }
void backward(const Variable& output, const BackwardArguments& a) {
  internal::backward_with({output}, {.grad_tensors = a.gradient ? Variables{a.gradient} : Variables(),
                                     .create_graph = a.create_graph,
                                     .inputs = a.inputs});
}
void internal::backward_with(const Variables& outputs, const BackwardListArguments& a) {
  const Variables& gradients = a.grad_tensors;
  catena::check<catena::ValueError>(gradients.empty() || gradients.size() == outputs.size(), "backward",
                                    gradients.size(), " gradients given for ", outputs.size(), " variables");
  if (a.inputs.empty()) {
    for (std::size_t i = 0; i < gradients.size(); ++i)
      if (gradients[i]) Variable(outputs[i]).set_grad_variable(gradients[i]);
    return autograd::backward(outputs, BackwardOptions{.create_graph = a.create_graph});
  }
  for (std::size_t i = 0; i < outputs.size(); ++i)
    catena::check<catena::RuntimeError>(outputs[i].size() == 1 || (!gradients.empty() && gradients[i]), "backward",
                                        "the variable has shape ", outputs[i].shape(),
                                        " and no gradient is given for it");
  Variables before;
  for (const Variable& x : a.inputs) before.push_back(x.grad_variable());  // null for none
  const bool sets_grad = true, retains_grad = false;
  grad(outputs, a.inputs, gradients, before, sets_grad, retains_grad, a.create_graph);
}

}  // namespace autograd
