// grad(): gradients with respect to given variables, which changes no variable's .grad unless asked to.
#include <catena/autograd/backward_engine.h>
#include <catena/kernels/base/error_context.h>

namespace autograd {

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
  explicit Restore(BackwardEngine::GradCall& call) : grad_call_(call) {}
  ~Restore() {
    for (auto& s : grad_call_.saved) {
      s.node->set_grad(s.grad, s.shared);
      s.node->run = s.run;
      internal::release(s.node);
    }
  }
  Restore(const Restore&) = delete;
  Restore& operator=(const Restore&) = delete;

 private:
  BackwardEngine::GradCall& grad_call_;
};

// Registers the inputs of a call of grad() for is_grad_input().
class GradInputsOf {
 public:
  explicit GradInputsOf(const Variables& inputs)
      : list_{nodes_, internal::modes().grad_inputs}, scope_(internal::modes().grad_inputs, &list_) {
    for (const Variable& x : inputs)
      if (x) nodes_.insert(Access::node(x)->graph_node());
  }

 private:
  std::unordered_set<const VariableNode*> nodes_;
  internal::GradInputs list_;
  catena::ScopedValue<const internal::GradInputs*> scope_;
};

// The run of grad(). The gradients of the results are read before they are restored.
Variables gradients_of_call(BackwardEngine::GradCall& call, const Variables& outputs, const Variables& inputs,
                            const Variables& grad_outputs, bool double_backprop, bool retain_grad) {
  BackwardEngine engine(double_backprop, retain_grad);
  engine.run_for(&call);
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    Variable g = grad_outputs.empty() ? Variable() : grad_outputs[k];
    if (!g) g = internal::constant_variable(ones_like(outputs[k].data()));
    internal::check_grad(nullptr, outputs[k].data(), outputs[k].dtype(), outputs[k].shape(), outputs[k].device(),
                         g.data());
    const RuleModes modes(double_backprop);
    VariableNode* y = Access::node(outputs[k])->graph_node();
    Variable held = y->hold();
    engine.accumulate(y, g, held);
  }
  engine.run();
  Variables result;
  for (const Variable& x : inputs) {
    VariableNode* n = Access::node(x)->graph_node();
    const bool reached = std::any_of(call.saved.begin(), call.saved.end(), [n](const auto& s) { return s.node == n; });
    // The hooks of a variable whose creator was processed have run.
    const bool processed = n->creator != nullptr && call.functions.contains(n->creator);
    result.push_back(!reached ? Variable() : processed ? n->grad_handle() : engine.hooked(*n, n->grad_handle()));
  }
  return result;
}

}  // namespace

Variables grad(const Variables& outputs, const Variables& inputs, const Variables& grad_outputs,
               bool enable_double_backprop) try {
  const GradInputsOf scope(inputs);
  return internal::gradients(outputs, inputs, grad_outputs, enable_double_backprop);
} catch (...) {
  catena::rethrow_standard("grad");
}

Variables grad(const Variables& outputs, const Variables& inputs, const GradOptions& o) {
  Variables result = grad(outputs, inputs, o.grad_outputs, o.grad_inputs, o.set_grad, o.retain_grad,
                          o.create_graph || o.enable_double_backprop);
  if (o.materialize_grads)
    for (std::size_t i = 0; i < result.size(); ++i)
      if (!result[i]) result[i] = internal::constant_variable(zeros_like(inputs[i].data()));
  return result;
}

Variables grad(const Variables& outputs, const Variables& inputs, const Variables& grad_outputs,
               const Variables& grad_inputs, bool set_grad, bool retain_grad, bool enable_double_backprop) try {
  catena::check<catena::ValueError>(grad_inputs.empty() || grad_inputs.size() == inputs.size(), "grad",
                                    grad_inputs.size(), " grad_inputs given for ", inputs.size(), " inputs");
  const GradInputsOf scope(inputs);
  Variables result = internal::gradients(outputs, inputs, grad_outputs, enable_double_backprop, {}, retain_grad);
  for (std::size_t i = 0; i < grad_inputs.size(); ++i) {
    const Variable& more = grad_inputs[i];
    if (!more) continue;
    internal::check_grad(nullptr, inputs[i].data(), inputs[i].dtype(), inputs[i].shape(), inputs[i].device(),
                         more.data());
    const RuleModes modes(enable_double_backprop);
    result[i] = result[i] ? result[i] + more : more;
  }
  if (set_grad)
    for (std::size_t i = 0; i < inputs.size(); ++i) Access::node(inputs[i])->graph_node()->set_grad(result[i], true);
  return result;
} catch (...) {
  catena::rethrow_standard("grad");
}

Variables internal::gradients(const Variables& outputs, const Variables& inputs, const Variables& grad_outputs,
                              bool enable_double_backprop, const Variables& ends, bool retain_grad) {
  catena::check<catena::ValueError>(grad_outputs.empty() || grad_outputs.size() == outputs.size(), "grad",
                                    grad_outputs.size(), " grad_outputs given for ", outputs.size(), " outputs");
  for (const Variables* list : {&outputs, &inputs})
    for (const Variable& v : *list)
      catena::check<catena::TypeError>(bool(v), "grad", "an output or input is a null Variable");
  BackwardEngine::GradCall call;
  for (const Variable& x : inputs) call.wanted.insert(Access::node(x)->graph_node());
  call.functions = functions_between(outputs, call.wanted, ends);
  const Variables result = [&] {
    const Restore restore(call);
    return gradients_of_call(call, outputs, inputs, grad_outputs, enable_double_backprop, retain_grad);
  }();
  for (const auto& [y, g] : call.retained) Access::node(y)->set_grad(g, true);
  return result;
}

}  // namespace autograd
