// Optimizers. One step is a few fused kernels: the update rule is an entry of a table (a multi-tensor kernel, its
// states, its hyperparameters), and one launch updates all parameters with one dtype and device.
//
// Chainer's interface before 1.3, in which setup() took lists of parameters and gradients and rules had one state, is
// not supported: setup() takes the link, and update_one() gets all states of a parameter.
//
// Thread safety: an optimizer and its target belong to one thread at a time.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
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
#include <catena/kernels/registry/hyper.h>
#include <catena/nn/link.h>
#include <catena/nn/serializers/serializer.h>
#include <catena/training/param_group.h>

namespace training {

using nn::Link;
using nn::Serializer;

namespace internal {
class GradientExchange;
struct ExchangeAccess;
}  // namespace internal

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
    // If a group sets the hyperparameter of this name, but not this one, this one takes the same value.
    const char* follows = nullptr;
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
  // If parameters cannot have hyperparameters of their own: why. add_param_group and update_rule are then a ValueError.
  const char* no_groups = nullptr;
  // For rules with a kernel. maximize: the update goes up the gradient: `block` gets the negative rate and decay.
  // decays_gradient: the kernel gets g + weight_decay p in place of the gradient g, which stays; the rule has that
  // hyperparameter, and its kernel does not read it.
  bool maximize = false, decays_gradient = false;
};

// Options of Optimizer::loss_scaling.
struct LossScalingOptions {
  std::int64_t interval = 1000;
  std::optional<double> scale = {};
};

// PyTorch's option of zero_grad.
struct ZeroGradOptions {
  bool set_to_none = true;
};

// The handle of a hook that register_step_pre_hook or register_step_post_hook made. The hook stays without it.
class CATENA_EXPORT StepHookHandle {
 public:
  StepHookHandle(Optimizer& optimizer, std::string name) : optimizer_(&optimizer), name_(std::move(name)) {}
  void remove();  // a second call has no effect; the optimizer must be there

 private:
  Optimizer* optimizer_;
  std::string name_;
};

// The base of the optimizers: holds the model, runs hooks and applies the update rule.
class CATENA_EXPORT Optimizer {
 public:
  explicit Optimizer(UpdateRule rule);  // ValueError for a kernel without `block`
  virtual ~Optimizer();
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  // An lvalue is borrowed and must outlive the optimizer; an rvalue is owned. Resets states, hooks and counters.
  // ValueError for a link without parameters. Returns the optimizer. setup() of a temporary one of optimizers.h returns
  // an object, for Chainer's expression: auto optimizer = training::Adam().setup(model).
  Optimizer& setup(Link& target) &;
  template <class L, class = std::enable_if_t<std::is_base_of_v<Link, L> && !std::is_lvalue_reference_v<L>>>
  Optimizer& setup(L&& target) & {
    check_target(target);
    const auto owned = catena::Shared<L>::make(std::move(target));
    set_target(*owned, owned);
    return *this;
  }
  // The same for parameters without a model, such as link.params(). They have the paths "/0", "/1", ... in the order of
  // the list, where one that is there twice counts once; there is no warning about those of a model that are not in the
  // list. ValueError for an empty list and for a null variable.
  Optimizer& setup(const Variables& params) &;
  Link& target() const;  // RuntimeError before setup

  // Updates every parameter from the present gradients. First, null gradients become zeros (reallocate_cleared_grads),
  // so that unused parameters decay and their momentum continues; then the hooks run (call_hooks); then t += 1 and the
  // rule; then the hooks whose timing is post. Frozen parameters (Variable::set_requires_grad, Link::disable_update)
  // and their states are excluded. In captured work (autograd/capture.h), a replay is another update, with the current
  // hyperparameters; hooks run only during the capture. Parameters, states, gradients, persistents, the list of hooks
  // and the groups are watched. A parameter that is new during a capture is a RuntimeError, because each replay would
  // create it and its states again.
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
    update_by(std::move(loss));
  }
  // For a loop of one's own, in place of loss.backward({.loss_scale = loss_scale()}): the last backward pass before
  // update(). A multi-node optimizer (multi_node/multi_node_optimizer.h) communicates gradients during it.
  void backward(const Variable& loss);
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
  template <std::same_as<LossScalingOptions> O = LossScalingOptions> void loss_scaling(const O& o) {
    loss_scaling(o.interval, o.scale);
  }
  void set_loss_scale(double scale) { loss_scaling(1000, scale); }  // a constant scale
  double loss_scale() const;                                        // 1 without loss scaling; reads the device
  std::int64_t skipped_updates() const;                             // since loss_scaling()

  // ---- float32 copies of 16-bit parameters ----
  // From now on, parameters of float16 and bfloat16 have a copy in float32, in which the update is computed and small
  // steps add up; its rounded value is the parameter. Their states are float32, too. Snapshots have the copies
  // ("<path>/fp32_param"). Where something else writes into a parameter, such as a load or copyparams, its copy
  // follows. Gradients are 16-bit until the update, after the hooks. For models of 16-bit parameters (Link::to_dtype);
  // with autocast, parameters are float32 anyway.
  void use_fp32_update(bool use = true);

  // Selects whether update(lossfun) makes gradients null before backward (the default) or sets them to zero. The
  // updated parameters are the same.
  void use_cleargrads(bool use = true) noexcept { use_cleargrads_ = use; }
  // Called before the hooks and after each of them. Gives a gradient of zeros to every parameter that has data, is not
  // frozen and has a null gradient. An override may leave gradients null: the hooks of this library and the update then
  // ignore those parameters.
  virtual void reallocate_cleared_grads();
  // Runs the hooks that come before the update, in the order of their registration, then those of groups, then those of
  // single parameters, with reallocate_cleared_grads() after each.
  virtual void call_hooks();

  // The number of updates; in update_one, of those of the parameter.
  std::int64_t t() const noexcept { return updating_ == nullptr ? t_ : t_ - updating_->skipped_updates; }
  void set_t(std::int64_t t) noexcept;  // of the optimizer and of every parameter
  std::int64_t epoch() const noexcept { return epoch_; }
  void new_epoch() noexcept { ++epoch_; }

  // Hooks run in the order of registration, before the update or, with HookTiming::post, after it. A function of an
  // optimizer is called once; one of a ParamRule and a Variable, for each parameter that is updated. A hook may add and
  // remove hooks, also itself. RuntimeError before setup; KeyError for adding a name that exists or removing one that
  // does not; TypeError for null.
  void add_hook(Hook hook, const std::string& name, HookTiming timing = HookTiming::pre);
  void add_hook(ParamHook hook, const std::string& name, HookTiming timing = HookTiming::pre);
  template <class H>
  requires(NamedHook<H> || NamedParamHook<H>) void add_hook(H hook, HookTiming timing = HookTiming::pre) {
    internal::add_named_hook(*this, std::move(hook), timing);
  }
  void remove_hook(const std::string& name);
  // The parameters that the hook in progress is for: those of its group, or all. Frozen ones are among them.
  std::vector<Variable> hook_params() const;

  // ---- groups: parameters with hyperparameters of their own ----
  // Gives the selected parameters their own hyperparameters and hooks:
  //   optimizer.add_param_group({.match = "*/b", .hyperparams = {{"weight_decay_rate", 0}}});
  //   optimizer.add_param_group({.params = model.encoder.params(), .lr = 1e-5, .name = "encoder"});
  // A parameter may be in several groups: each hyperparameter is that of the last one that has a value for it, else
  // that of the optimizer. Later parameters that the group selects join it. All parameters are still updated in one
  // launch. RuntimeError before setup, which forgets the groups. ValueError for a group that selects by nothing, for a
  // name with a slash, and if the optimizer has no groups (LBFGS). KeyError for unknown hyperparameters, a name that is
  // in use, and a group that no parameter belongs to. If setup() was called with a list of parameters, other parameters
  // of the group join the list.
  ParamGroup add_param_group(ParamGroupOptions options);
  // The groups in the order in which they were added. Without groups: one that stands for the optimizer itself, and has
  // all parameters and the optimizer's values.
  std::vector<ParamGroup> param_groups();
  ParamGroup param_group(std::string_view name);  // the KeyError lists the names
  // The update of one parameter. KeyError for a parameter or a path that the target does not have.
  ParamRule update_rule(const Variable& param);
  ParamRule update_rule(std::string_view path);

  // Hyperparameters by Chainer's names ("lr", "alpha", ...). The KeyError lists the existing names.
  double get_hyper(std::string_view name) const;
  void set_hyper(std::string_view name, double value);
  std::vector<std::string> hyper_names() const;
  void set_lr(double value);  // "lr", or "alpha" if the optimizer has no "lr" to set
  HyperReference operator[](std::string_view hyper) { return {*this, hyper}; }
  // The hyperparameter that set_lr sets, as a member: optimizer.lr *= 0.1. A call, optimizer.lr(), returns
  // get_hyper("lr"), and before the first update the hyperparameter.
  HyperReference lr{*this, "lr"};

  // ---- PyTorch's names ----
  void zero_grad(bool set_to_none = true) { set_to_none ? target().cleargrads() : target().zerograds(); }
  template <std::same_as<ZeroGradOptions> O = ZeroGradOptions> void zero_grad(const O& o) { zero_grad(o.set_to_none); }
  // Hooks of a function of the optimizer, before and after the parameters are updated, as add_hook(); setup() forgets
  // them: auto handle = optimizer.register_step_post_hook([](training::Optimizer& o) { ... }); handle.remove();
  template <std::invocable<Optimizer&> F> StepHookHandle register_step_pre_hook(F hook) {
    return add_step_hook(Hook([hook = std::move(hook)](Optimizer& o) mutable { hook(o); }), HookTiming::pre);
  }
  template <std::invocable<Optimizer&> F> StepHookHandle register_step_post_hook(F hook) {
    return add_step_hook(Hook([hook = std::move(hook)](Optimizer& o) mutable { hook(o); }), HookTiming::post);
  }
  // Hooks before and after state_dict() and load_state_dict(): hook(optimizer), and where there is a state before,
  // hook(optimizer, state), which may change the state. setup() forgets them, too.
  template <std::invocable<Optimizer&> F> nn::LinkHookHandle register_state_dict_pre_hook(F hook) {
    return add_state_hook([hook = std::move(hook)](Optimizer& o, nn::StateDict*) mutable { hook(o); },
                          nn::internal::StateMoment::before_state);
  }
  template <std::invocable<Optimizer&, nn::StateDict&> F> nn::LinkHookHandle register_state_dict_post_hook(F hook) {
    return add_state_hook([hook = std::move(hook)](Optimizer& o, nn::StateDict* s) mutable { hook(o, *s); },
                          nn::internal::StateMoment::after_state);
  }
  template <std::invocable<Optimizer&, nn::StateDict&> F> nn::LinkHookHandle register_load_state_dict_pre_hook(F hook) {
    return add_state_hook([hook = std::move(hook)](Optimizer& o, nn::StateDict* s) mutable { hook(o, *s); },
                          nn::internal::StateMoment::before_load);
  }
  template <std::invocable<Optimizer&> F> nn::LinkHookHandle register_load_state_dict_post_hook(F hook) {
    return add_state_hook([hook = std::move(hook)](Optimizer& o, nn::StateDict*) mutable { hook(o); },
                          nn::internal::StateMoment::after_load);
  }
  void step() { update(); }
  // Calls PyTorch's closure (it clears the gradients, calls backward() and returns the loss), updates, and returns the
  // loss.
  template <std::invocable F> Variable step(F&& closure) {
    Variable loss = std::forward<F>(closure)();
    update();
    return loss;
  }
  // Copies of the entries of serialize(), in memory, and back: see nn/serializers/state_dict.h. As in PyTorch, all
  // hyperparameters are stored ("hyper/lr"), also those of groups and of single parameters; below "hyper" are the keys
  // of serialize_hyper(). A state without hyperparameters leaves them as they are.
  nn::StateDict state_dict();
  nn::LoadReport load_state_dict(const nn::StateDict& state);

  const UpdateRule& rule() const noexcept { return rule_; }

  // Creates states of parameters that have none yet, except frozen ones, and moves states to the devices of their
  // parameters.
  void prepare();
  // States of the parameter at `path` ("/l1/W"), in the order of rule().states; empty before prepare.
  std::vector<Array> states(const std::string& path) const;
  // "t", "epoch", then "<path>/<state>" of every parameter that has states: all but those that have been frozen from
  // the start; and "<path>/t", as in later versions of Chainer, the number of its updates, which is "t" where it is
  // missing. Hyperparameters and hooks are not stored. Loading with pending parameters: ValueError, since their states
  // would be lost (load the model first). States that this rule does not have: a warning.
  virtual void serialize(Serializer& s);
  // Hyperparameters by name: stores those that differ from the values of the constructor, and sets those that are
  // stored. A value that a resumed program passes to the constructor is thus used unless training had changed it. The
  // same for the groups ("groups/<name>/..."), and for single parameters ("rules/<path>/...", and whether it is
  // enabled).
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
  // With the rule and the hyperparameters of another optimizer, without its target and states. It is no move
  // constructor, because derived classes would then have one as well.
  Optimizer(const Optimizer& o, std::nullptr_t) : rule_(o.rule_), hyper_(o.hyper_) {}
  // For rules without a kernel: fills the states of one parameter, in the order of rule().states. Default: arrays like
  // the parameter, filled with State::initial. Any shapes and dtypes are possible.
  virtual void init_state(const Variable& param, std::span<Array> states);
  // Updates one parameter once; t() is the number of its update, from 1, get_hyper returns its values (of its groups or
  // its own), and param.grad() is not null. Writes into param.data(); may write or replace states. RuntimeError in
  // captured work, because replays would not use the current hyperparameters.
  virtual void update_one(Variable& param, std::span<Array> states);

  // Calls setup() with the parameters of these groups, then add_param_group() for each, for constructors. ValueError
  // for a group without `params`.
  void setup_groups(std::span<const ParamGroupOptions> groups);

  // Runs the hooks whose timing is post. For classes that override update().
  void call_post_hooks();
  // For classes that override update(), before anything else: replaces the gradients of a multi-node optimizer by their
  // mean over the ranks. Returns false if no update follows, because the ranks got the weights of rank 0.
  bool exchange_gradients();

 private:
  struct Slot {
    nn::NamedParam param;
    std::vector<Array> states;
    Array own_grad;     // gradient array made by a hook of this update; only such an array may be written in place
    bool seen = false;  // it had data in an earlier call of prepare()
    bool enabled = true;
    bool owned_by_other_rank = false;  // another rank has its states and updates it (shard_states)
    bool grouped = false;              // its groups are known
    std::int64_t skipped_updates = 0;  // number of updates of the optimizer in which this parameter had no update
    std::size_t value_set = 0;         // its groups: index into value_sets_
    // With use_fp32_update: the copy; the array that it was rounded to last, and the number of writes into that.
    Array fp32_param, fp32_source;
    std::uint64_t fp32_writes = 0;
    bool is_frozen() const noexcept { return !param.param.requires_grad(); }
    bool takes_part() const { return param.param.data() && !is_frozen(); }
    bool has_grad() const noexcept;
    bool is_updated() const { return enabled && !owned_by_other_rank && takes_part() && has_grad(); }
    bool is_updated_by_other_rank() const { return owned_by_other_rank && enabled && takes_part(); }
  };
  friend class ParamGroup;
  friend class ParamRule;
  friend struct internal::ExchangeAccess;
  void check_target(const Link& target) const;
  void check_rule(const Serializer& s) const;
  void set_target(Link& target, catena::Shared<Link> owner);
  void update_by(Variable loss);
  // Parameters that got a gradient but that no optimizer updates, with the functions that used them.
  using UntrainedParameters = std::vector<std::pair<Variable, std::string>>;
  void check_untrained(const UntrainedParameters& not_updated);
  void check_reached();
  void check_own_loop();
  std::uint64_t frozen_slots() const noexcept;
  void refresh_slots();
  struct HookScope;
  StepHookHandle add_step_hook(Hook hook, HookTiming timing);
  struct StateHook;
  using StateHookFunction = catena::Function<void(Optimizer&, nn::StateDict*)>;
  nn::LinkHookHandle add_state_hook(StateHookFunction hook, nn::internal::StateMoment moment);
  void run_state_hooks(nn::internal::StateMoment moment, nn::StateDict* state = nullptr);
  struct GradientDecay;
  double decay_rate(std::size_t value_set) const;
  std::vector<double> values_for_block(const std::vector<const internal::ParamGroupData*>& groups) const;
  void run_hook(const Hook& hook);
  bool has_hooks(HookTiming timing) const noexcept;
  void run_hooks(HookTiming timing);
  void run_hooks(internal::HookList hooks, HookTiming timing);
  bool is_hooked(const Slot& slot) const noexcept;
  static Hook for_each_param(ParamHook hook);
  void prepare_states();
  void make_states(std::span<Slot*> slots);
  void make_own_states(Slot& slot);
  void check_capture() const;
  void check_states_are_here() const;
  void watch();
  void launch();
  void update_each();
  void count_updates(std::int64_t by) noexcept;
  bool is_in_fp32(const Slot& s) const;
  autograd::Dtype update_dtype(const Slot& s) const;  // of the states and of the array that the rule updates
  void refresh_fp32_param(Slot& s);
  void round_fp32_params();
  void serialize_fp32_param(Serializer& s, Slot& slot);
  // Groups, whose values come before those of the optimizer; the last one that has a value determines it.
  using ValueSet = std::vector<const internal::ParamGroupData*>;
  std::vector<double> values_of(const ValueSet& groups) const;
  double value_of(std::string_view name, std::span<const double> values, std::int64_t t) const;
  std::size_t hyper_index(std::string_view name) const;
  void check_groups(const char* op) const;
  catena::Shared<internal::ParamGroupData> add_group(ParamGroupOptions options, bool is_rule);
  catena::Shared<internal::ParamGroupData> own_group(const std::string& path);
  catena::Shared<internal::ParamGroupData> whole_group();
  void assign_groups();
  void forget_groups();
  void groups_changed();
  Slot& slot_of(std::string_view path);
  void add_stored_rules(const Serializer& s);
  void check_stored_groups(const Serializer& s) const;
  void serialize_groups(Serializer& s, bool all);
  void serialize_hyper(Serializer& s, bool all);  // `all`: stores also the values of the constructor
  struct WithHyper;
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
  bool fp32_update_ = false;
  bool in_step_ = false;  // update() is called by step(), which checks the gradients itself
  std::int64_t t_ = 0, epoch_ = 0;
  internal::HookList hooks_;
  std::vector<catena::Shared<StateHook>> state_hooks_;
  const internal::ParamGroupData* hook_group_ = nullptr;  // whose hook is in progress; null: that of no group
  std::vector<Slot> slots_;
  const Slot* updating_ = nullptr;                                // in update_one
  std::vector<catena::Shared<internal::ParamGroupData>> groups_;  // those of single parameters last
  catena::Shared<internal::ParamGroupData> whole_;               // stands for the optimizer; null until it is asked for
  std::vector<ValueSet> value_sets_ = std::vector<ValueSet>(1);  // those in use; the first one is empty
  std::vector<catena::Owned<Pass>> passes_;              // kept from step to step, because their tables seldom change
  catena::Owned<LossScaling> scaling_;                   // null: no loss scaling
  catena::Shared<internal::GradientExchange> exchange_;  // null: gradients are those of this process
  bool sharded_ = false;                                 // another rank owns new slots until the ranks have agreed
  std::uint64_t changes_ = 0;                            // number of changes of target and hooks
};

// Prints the name and the hyperparameters: Adam(alpha=0.001, beta1=0.9, ...).
CATENA_EXPORT std::ostream& operator<<(std::ostream& out, const Optimizer& optimizer);

// Chainer's name of the base class of gradient descent methods.
using GradientMethod = Optimizer;

}  // namespace training
