// Optimizers. One step is a few fused kernels: the update rule is an entry of a table (a multi-tensor kernel, its
// states, its hyperparameters), and one launch updates all parameters with one dtype and device.
//
// Chainer's interface before 1.3, in which setup() took lists of parameters and gradients and rules had one state, is
// not supported: setup() takes the link, and update_one() gets all states of a parameter.
//
// Thread safety: an optimizer and its target belong to one thread at a time.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <catena/kernels/base/function.h>
#include <catena/kernels/base/pointers.h>
#include <catena/kernels/base/small_vector.h>
#include <catena/kernels/registry/call.h>
#include <catena/nn/link.h>
#include <catena/nn/serializers/serializer.h>

namespace training {

using autograd::Array;
using autograd::Variable;
using autograd::Variables;
using nn::Link;
using nn::Serializer;

class Optimizer;

// A hook: called with the optimizer after the gradients are computed and before they are used.
using Hook = catena::Function<void(Optimizer&)>;
// A class of hooks: callable, and registered under its name.
template <class H>
concept NamedHook = requires(H& h, Optimizer& o) {
  h(o);
  { h.name } -> std::convertible_to<std::string>;
};

// Describes an optimizer. With a kernel, one launch updates all parameters; without one, the class overrides
// update_one:
//
//   class Signum : public training::Optimizer {
//    public:
//     explicit Signum(double lr) : Optimizer({.name = "Signum", .hyper = {{"lr", lr}}, .states = {{"m"}}}) {}
//
//    protected:
//     void update_one(Variable& param, std::span<Array> states) override {
//       states[0] += (param.grad() - states[0]) * 0.1;
//       autograd::assign(param.data(), param.data() - autograd::apply(catena::kernels::sign, {states[0]}) * lr());
//     }
//   };
//
// The code may also use any kernel of the array library, such as an nd::ElementwiseKernel given as text.
struct UpdateRule {
  struct HyperParameter {
    const char* name;
    double value;
  };
  struct State {
    const char* name;  // the key in snapshots
    double initial = 0.0;
  };
  const char* name;                           // "Adam"
  const catena::KernelDef* kernel = nullptr;  // input: the gradient; in-outs: parameter and states
  // Stored inline, so that a class describes its rule without an allocation that could fail.
  catena::SmallVector<HyperParameter, 8> hyper = {};
  catena::SmallVector<State, 4> states = {};
  // Returns the kernel's hyperparameter block for the values of `hyper`, in order, and the number of this update (from
  // 1).
  catena::Hyper (*block)(std::span<const double> values, std::int64_t t) = nullptr;
  // Computes get_hyper("lr") if no hyperparameter has that name. If null, get_hyper("lr") is a KeyError.
  double (*lr)(std::span<const double> values, std::int64_t t) = nullptr;
};

// The base of the optimizers: holds the model, runs hooks and applies the update rule.
class CATENA_EXPORT Optimizer {
 public:
  explicit Optimizer(UpdateRule rule);  // ValueError for a kernel without `block`
  virtual ~Optimizer();
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  // An lvalue is borrowed and must outlive the optimizer; an rvalue is owned. Resets states, hooks and counters.
  // ValueError for a link without parameters.
  void setup(Link& target);
  template <class L, class = std::enable_if_t<std::is_base_of_v<Link, L> && !std::is_lvalue_reference_v<L>>>
  void setup(L&& target) {
    check_target(target);
    const auto owned = catena::Shared<L>::make(std::move(target));
    set_target(*owned, owned);
  }
  Link& target() const;  // RuntimeError before setup

  // Updates every parameter from the present gradients. First, null gradients become zeros (reallocate_cleared_grads),
  // so that unused parameters decay and their momentum continues; then the hooks run (call_hooks); then t += 1 and the
  // rule. Frozen parameters (Variable::set_requires_grad, Link::disable_update) and their states are excluded. In
  // captured work (autograd/capture.h), a replay is another update, with the current hyperparameters; hooks run only
  // during the capture. Parameters, states, gradients, persistents and the list of hooks are watched. A parameter that
  // is new during a capture is a RuntimeError, because each replay would create it and its states again.
  //
  // If there is no gradient at all, warns: the loss was probably that of another model, such as a copy made after
  // setup(). If the last Variable::backward gave a gradient to a parameter that no optimizer updates (it is not in
  // NN_MEMBERS), warns, or throws a RuntimeError in debug mode.
  virtual void update();
  // Computes loss = lossfun(args...), clears the gradients (after forward, so that parameters created in it are
  // included), backpropagates and calls update(). The graph of the loss exists until the next update begins, so that it
  // can be drawn; in captured work it is released at once. If a parameter that no optimizer updates got a gradient, a
  // warning names the function that used it; in debug mode this is a RuntimeError, before anything is updated. A loss
  // that depends on no parameter of the model gives a warning as well.
  template <class F, class... A> void update(F&& lossfun, A&&... args) {
    release_graph();
    Variable loss;
    {
      const nn::internal::CallScope scope(target());
      loss = lossfun(std::forward<A>(args)...);
    }
    step(std::move(loss));
  }
  // Returns the loss of the last update(lossfun), with its graph; null before, in captured work and after
  // release_graph().
  const Variable& loss() const noexcept { return loss_; }
  // Unchains the graph of the last loss: its memory is released, and handles of the loss keep only its value.
  void release_graph();

  // ---- loss scaling, for float16: gradients that would be rounded to 0 are multiplied by a scale on their way ----
  // From now on update(lossfun) backpropagates from the loss times the scale, and every update divides the gradients by
  // it before the hooks. In a loop of one's own: loss.backward({.loss_scale = optimizer.loss_scale()}).
  // Without `scale` it is dynamic, as torch.amp.GradScaler: it begins at 2^16; if a gradient is not finite, the update
  // is skipped (nothing changes, t() included) and the scale is halved, down to 1; after `interval` updates in a row
  // that were not skipped it is doubled. One number is read from the device per update. In captured work none is read:
  // a replay that is skipped writes the values of before, and counts in t(). A given scale is constant, and nothing is
  // checked. The scale is saved by serialize(). ValueError for an interval below 1, or a scale that is not positive.
  void loss_scaling(std::int64_t interval = 1000, std::optional<double> scale = {});
  double loss_scale() const;             // 1 without loss scaling; reads the device
  std::int64_t skipped_updates() const;  // since loss_scaling()

  // Selects whether update(lossfun) makes gradients null before backward (the default) or sets them to zero. The
  // updated parameters are the same.
  void use_cleargrads(bool use = true) noexcept { use_cleargrads_ = use; }
  // Called before the hooks and after each of them. Gives a gradient of zeros to every parameter that has data, is not
  // frozen and has a null gradient. An override may leave gradients null: the hooks of this library and the update then
  // ignore those parameters.
  virtual void reallocate_cleared_grads();
  // Runs the hooks in the order of their registration, with reallocate_cleared_grads() after each.
  virtual void call_hooks();

  std::int64_t t() const noexcept { return t_; }
  void set_t(std::int64_t t) noexcept { t_ = t; }
  std::int64_t epoch() const noexcept { return epoch_; }
  void new_epoch() noexcept { ++epoch_; }

  // Hooks run in the order of registration. RuntimeError before setup; KeyError for adding a name that exists or
  // removing one that does not; TypeError for null.
  void add_hook(Hook hook, const std::string& name);
  template <NamedHook H> void add_hook(H hook) {
    const std::string name = hook.name;
    add_hook(Hook(std::move(hook)), name);
  }
  void remove_hook(const std::string& name);

  // Hyperparameters by Chainer's names ("lr", "alpha", ...). The KeyError lists the existing names.
  double get_hyper(std::string_view name) const;
  void set_hyper(std::string_view name, double value);
  std::vector<std::string> hyper_names() const;
  double lr() const { return get_hyper("lr"); }
  void set_lr(double value);  // "lr", or "alpha" if the optimizer has no "lr" to set

  // ---- PyTorch's names ----
  void zero_grad() { target().cleargrads(); }
  void step() { update(); }
  // Copies of what serialize() stores, in memory, and back: see nn/serializers/state_dict.h.
  nn::StateDict state_dict();
  nn::LoadReport load_state_dict(const nn::StateDict& state);

  const UpdateRule& rule() const noexcept { return rule_; }

  // Creates states of parameters that have none yet, except frozen ones, and moves states to the devices of their
  // parameters.
  void prepare();
  // States of the parameter at `path` ("/l1/W"), in the order of rule().states; empty before prepare.
  std::vector<Array> states(const std::string& path) const;
  // "t", "epoch", then "<path>/<state>" of every parameter that has states: all but those that have been frozen from
  // the start; and "<path>/t", which later versions of Chainer want and nothing here reads. Hyperparameters and hooks
  // are not stored. Loading with pending parameters: ValueError, since their states would be lost (load the model
  // first). States that this rule does not have: a warning.
  virtual void serialize(Serializer& s);
  // Hyperparameters by name: stores those that differ from the values of the constructor, and sets those that are
  // stored. A value that a resumed program passes to the constructor is thus used unless training had changed it.
  void serialize_hyper(Serializer& s);

  // Runs one fused pass of a multi-tensor kernel over the gradients of all parameters, for hooks. The kernel's operands
  // are `shared` ('@' inputs), then the parameter if the kernel has it as an input, then the gradient as in-out.
  // Parameters get new gradient arrays, because backward may have given one array to several of them.
  void transform_grads(const catena::KernelDef& kernel, const catena::Hyper& hyper, std::span<const Array> shared = {});

  // Chainer's older names. zero_grads: target().zerograds(). compute_grads_norm: grads_norm(target()) as a number.
  // clip_grads and weight_decay: apply GradientClipping(maxnorm) or WeightDecay(decay) once. accumulate_grads: adds
  // arrays to the gradients of target().params(), in their order, on any device; a null gradient becomes a copy, a null
  // array adds nothing; ValueError unless there is one array for each.
  void zero_grads();
  double compute_grads_norm() const;
  void clip_grads(double maxnorm);
  void weight_decay(double decay);
  void accumulate_grads(std::span<const Array> grads);

 protected:
  // For rules without a kernel: fills the states of one parameter, in the order of rule().states. Default: arrays like
  // the parameter, filled with State::initial. Any shapes and dtypes are possible.
  virtual void init_state(const Variable& param, std::span<Array> states);
  // Updates one parameter once; t() is the number of the update, from 1, and param.grad() is not null. Writes into
  // param.data(); may write or replace states. RuntimeError in captured work, because replays would not use the current
  // hyperparameters.
  virtual void update_one(Variable& param, std::span<Array> states);

 private:
  struct Slot {
    nn::NamedParam param;
    std::vector<Array> states;
    Array own_grad;    // gradient array made by a hook of this update; only such an array may be written in place
    bool met = false;  // it had data in an earlier call of prepare()
    bool is_frozen() const noexcept { return !param.param.requires_grad(); }
    bool takes_part() const { return param.param.data() && !is_frozen(); }
    bool has_grad() const noexcept;
  };
  void check_target(const Link& target) const;
  void check_rule(const Serializer& s) const;
  void set_target(Link& target, catena::Shared<Link> owner);
  void step(Variable loss);
  // Parameters that got a gradient but that no optimizer updates, with the functions that used them.
  using UntrainedParameters = std::vector<std::pair<Variable, std::string>>;
  void check_untrained(const UntrainedParameters& not_updated);
  void check_reached();
  void check_own_loop();
  std::uint64_t frozen_slots() const noexcept;
  void refresh_slots();
  struct HookScope;
  void run_hook(const Hook& hook);
  void prepare_states();
  void make_states(std::span<Slot*> slots);
  void make_own_states(Slot& slot);
  void check_capture() const;
  void watch();
  void launch();
  void update_each();
  struct LossScaling;
  void seed_scaled(const Variable& loss);
  bool unscale_gradients();
  void launch_if_finite();
  void serialize_scaling(Serializer& s);
  struct Pass;  // one kernel over all parameters
  Pass& pass_of(const catena::KernelDef& kernel);

  UpdateRule rule_;
  std::vector<double> hyper_;
  catena::Shared<Link> owned_;
  Link* target_ = nullptr;
  Variable loss_;
  bool use_cleargrads_ = true;
  bool in_step_ = false;  // update() is called by step(), which checks the gradients itself
  std::int64_t t_ = 0, epoch_ = 0;
  std::vector<std::pair<std::string, Hook>> hooks_;
  std::vector<Slot> slots_;
  std::vector<catena::Owned<Pass>> passes_;  // kept from step to step, because their tables seldom change
  catena::Owned<LossScaling> scaling_;       // null: no loss scaling
  std::uint64_t changes_ = 0;                // number of changes of target and hooks
};

// Chainer's name of the base class of gradient descent methods.
using GradientMethod = Optimizer;

}  // namespace training
