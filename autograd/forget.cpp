#include <catena/autograd/forget.h>

#include <catena/autograd/autocast.h>
#include <catena/autograd/backward.h>
#include <catena/autograd/capture.h>
#include <catena/autograd/captured.h>
#include <catena/autograd/final_gradients.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/random_state.h>
#include <catena/autograd/saved_products.h>
#include <catena/autograd/variable_node.h>

namespace autograd::internal {
namespace {

using catena::check;
using catena::RuntimeError;
using Recompute = catena::Function<Variables(const Variables&)>;

constexpr const char* kOp = "forget";

// The modes in which func is called again: those of its first call, but with a graph.
class Recomputation {
 public:
  Recomputation(TrainMode train, std::optional<Dtype> autocast) : graph_(autocast), mode_(modes().train, train) {}
  std::uint32_t number() const noexcept { return call_.number(); }

 private:
  const GraphScope graph_;
  const catena::ScopedValue<TrainMode> mode_;
  const NumberedCall call_;
};

// Returns the leaves, except xs, from which functions of this recomputation made ys: the variables that func captured.
Variables captured_leaves(const Variables& ys, const Variables& xs, std::uint32_t recomputation) {
  Variables leaves;
  for_each_source(ys, xs, recomputation, [&](VariableNode& n) {
    if (n.creator != nullptr)
      catena::fail<RuntimeError>(kOp, "func reads the variable ", n.name ? *n.name + " " : std::string(), "of ",
                                 label_of(Shape(std::span<const std::int64_t>(n.shape)), n.dtype), ", which ",
                                 n.creator->label(), " made outside of it: pass it as an argument");
    if (Variable leaf = n.hold()) leaves.push_back(std::move(leaf));
  });
  return leaves;
}

// True inside grad(), which changes no variable's .grad: gradients of captured variables are not computed.
bool inside_of_grad(const Variables& leaves) {
  const GradInputs* const inputs = modes().grad_inputs;
  for (const Variable& leaf : leaves)
    check<RuntimeError>(!is_grad_input(inputs, Access::node(leaf)->graph_node()), kOp,
                        "grad() is to compute the gradient of a variable of ", leaf.label(),
                        " that func reads without having it as an argument: pass it as an argument");
  return inputs != nullptr;
}

void accumulate(Variable leaf, const Variable& g) {
  if (const Variable before = leaf.grad_variable()) leaf.set_grad_variable(before + g);
  else Access::node(leaf)->graph_node()->set_grad(g, true);  // g may be the gradient of other variables, too
}

// The last input is an empty leaf that only the node holds. Its gradient can be read, so the rule is always called,
// even if only captured variables have gradients.
class Forget final : public FunctionNode {
 public:
  Forget(Recompute func, Variable held, const CheckpointPolicy& policy)
      : func_(std::move(func)), train_(modes().train), held_(std::move(held)) {
    if (policy.kind() != CheckpointPolicy::Kind::nothing)
      saved_ = catena::Owned<SavedProducts>(new SavedProducts(policy));
  }
  std::string label() const override { return "Forget"; }

  Arrays forward(const Arrays& in) override {
    Variables xs;
    for (std::size_t i = 0; i + 1 < in.size(); ++i) {
      retain_inputs({int(i)});
      xs.push_back(Variable(in[i]));
    }
    random_ = RandomState();
    const bool has_graph = modes().enable_backprop;
    const auto no_graph = no_backprop_mode();
    const Variables ys = call(xs, has_graph);
    Arrays out;
    for (const Variable& y : ys) out.push_back(y.data());
    random_.keep_what_changed();
    if (has_graph) random_.check_repeatable(kOp);
    const Device device = out[0].device();
    const bool draws = random_.has_changed() || random_.has_generator_of(device);
    check<RuntimeError>(!is_capturing() || !draws || device.kind == Device::Kind::cpu, kOp,
                        "func draws random numbers inside of captured work, whose replays cannot repeat them");
    return out;
  }

  Variables backward(const Targets& targets, const Variables& gy) override {
    return needs_double_backprop() ? with_graph(targets, gy) : without_graph(targets, gy);
  }

 protected:
  bool allows_mixed_devices() const noexcept override { return true; }

 private:
  // `keeps`: the products that the policy chooses are kept.
  Variables call(const Variables& xs, bool keeps) const {
    std::optional<HookScope> hooked;
    if (saved_ && (keeps || saved_->is_filled())) {
      saved_->begin(keeps);
      hooked.emplace(*saved_);
    }
    const Variables ys = func_(xs);
    check_results(kOp, ys);
    return ys;
  }
  Variables call_again(const Variables& xs) const {
    const ReplayedRandom same_numbers(random_);
    const Variables ys = call(xs, false);
    check<RuntimeError>(ys.size() == num_outputs(), kOp, "func returned ", num_outputs(), " outputs in forward and ",
                        ys.size(), " in backward");
    return ys;
  }

  bool is_target(const Targets& targets, std::size_t i) const {
    for (const int t : targets)
      if (std::size_t(t) == i) return true;
    return false;
  }

  // Selects the outputs that have a gradient, together with these gradients.
  static void select(const Variables& ys, const Variables& gy, Variables& outputs, Variables& gradients) {
    for (std::size_t k = 0; k < gy.size(); ++k) {
      if (!gy[k]) continue;
      outputs.push_back(ys[k]);
      gradients.push_back(gy[k]);
    }
  }

  // The inputs are new leaves, so that the backward pass through func ends at them.
  Variables without_graph(const Targets& targets, const Variables& gy) const {
    const Recomputation recomputation(train_, autocast_);
    Variables xs, sources;
    for (std::size_t i = 0; i + 1 < num_inputs(); ++i) {
      xs.push_back(Variable(retained_input(int(i)).data(), {.requires_grad = is_target(targets, i)}));
      if (xs.back().requires_grad()) sources.push_back(xs.back());
    }
    const Variables ys = call_again(xs);
    Variables outputs, output_gradients;
    select(identity(ys), gy, outputs, output_gradients);  // all behind one node, so that one backward call reaches all
    if (inside_of_grad(captured_leaves(ys, xs, recomputation.number())))
      return gradients_of(targets, internal::gradients(outputs, sources, output_gradients, false));
    for (std::size_t k = 0; k < outputs.size(); ++k) outputs[k].set_grad(output_gradients[k].data());
    if (!outputs.empty()) run_backward({outputs[0]}, {}, current_on_parameter());
    Variables gx;
    for (const Variable& x : sources) gx.push_back(x.grad_variable());
    return gradients_of(targets, gx);
  }

  // Each input of the graph is passed through an identity node. Gradients with respect to these copies are functions of
  // the inputs, but do not flow on to the functions that made the inputs.
  Variables with_graph(const Targets& targets, const Variables& gy) const {
    const Recomputation recomputation(train_, autocast_);
    Variables xs, sources;
    for (std::size_t i = 0; i + 1 < num_inputs(); ++i) {
      const Variable x = retained_input(int(i));
      const bool wanted = is_target(targets, i);
      xs.push_back(wanted ? identity(x) : Variable(x.data(), {.requires_grad = false}));
      if (wanted) sources.push_back(xs.back());
    }
    const Variables ys = call_again(xs);
    Variables outputs, output_gradients;
    select(ys, gy, outputs, output_gradients);
    Variables leaves = captured_leaves(ys, xs, recomputation.number());
    if (inside_of_grad(leaves)) leaves.clear();
    const Variables copies = sources;  // the outer backward pass continues to the functions that made the inputs
    for (const Variable& leaf : leaves) sources.push_back(leaf);
    const Variables gx = internal::gradients(outputs, sources, output_gradients, true, copies);
    for (std::size_t k = 0; k < leaves.size(); ++k)
      if (const Variable& g = gx[copies.size() + k]) accumulate(leaves[k], g);
    return gradients_of(targets, gx);
  }

  // gx: the gradients of the inputs among the targets, in their order. The leaf that the node holds has no gradient.
  Variables gradients_of(const Targets& targets, const Variables& gx) const {
    Variables gradients;
    for (const int t : targets)
      gradients.push_back(std::size_t(t) + 1 < num_inputs() ? gx[gradients.size()] : Variable());
    return gradients;
  }

  const Recompute func_;
  const TrainMode train_;
  const std::optional<Dtype> autocast_ = autocast_dtype();
  const Variable held_;
  RandomState random_;
  catena::Owned<SavedProducts> saved_;  // null: nothing is kept
};

}  // namespace

bool computes_again(const FunctionNode& f) noexcept { return dynamic_cast<const Forget*>(&f) != nullptr; }

Variables forget(Recompute func, const Variables& xs) {
  return call_by_policy(std::move(func), xs, CheckpointPolicy());
}

Variables call_by_policy(Recompute func, const Variables& xs, const CheckpointPolicy& policy) {
  if (policy.kind() == CheckpointPolicy::Kind::everything) {
    const Variables ys = func(xs);
    check_results(kOp, ys);
    return ys;
  }
  graph_mode_of(xs);  // throws for null inputs
  const Device device = xs.empty() ? Device() : xs[0].device();
  const Variable held(arrays::empty({0}, Dtype::float32, device), {.name = "captured"});
  Variables inputs = xs;
  inputs.push_back(held);
  return apply_node<Forget>(inputs, std::move(func), held, policy);
}

}  // namespace autograd::internal
