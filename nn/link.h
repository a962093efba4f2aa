// Folder nn: layers and their parts: links, parameters, initializers, the reporter. Functions are in nn/functions,
// layer classes in nn/links, files in nn/serializers; optimizers and training loops are in training. This folder may
// use autograd and kernels.
//
// Link: an object with parameters. A class lists its members once; naming, saving, moving and copying all use this
// list.
//
//   struct MLP : nn::Chain {
//     nn::Linear l1, l2;
//     MLP(int units, int out) : l1(units), l2(out) {}
//     NN_MEMBERS(l1, l2)                                        // keys "l1" and "l2", in this order
//     Variable operator()(const Variable& x) { return l2(nn::relu(l1(x))); }
//   };
//
// For members whose number is known only at run time, list a container, or use add_param and add_link.
//
// A C++ copy of a link is a deep copy: parameters, gradients and persistents are independent (nn::copy offers other
// modes). Links behind a std::shared_ptr are shared with the copy. Thread safety: a link belongs to one thread at a
// time. Several threads may call a link in no_backprop_mode if all its parameters are initialised and its operator()
// changes no member.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include <catena/kernels/base/function.h>
#include <catena/kernels/base/pointers.h>
#include <catena/nn/copy_mode.h>
#include <catena/nn/link_hook_handle.h>
#include <catena/nn/link_members.h>
#include <catena/nn/member_visitor.h>
#include <catena/nn/parameter.h>

namespace nn {

class Buffer;  // nn/buffer.h
class Link;
class LinkHook;
class Serializer;
class StateDict;
struct LoadOptions;
struct LoadReport;

// Options of Link::links and Link::namedlinks.
struct LinksOptions {
  bool skipself = false;  // leave out the link itself
};

// Options of Link::add_param.
struct AddParamOptions {
  std::optional<Dtype> dtype = {};
  Initializer initializer = {};
};

namespace internal {
class AnyLink;
struct Naming;
// TypeError unless `link`, the class of an object, is `type`, the one by which a function knows it.
CATENA_EXPORT void check_class(const char* op, const std::type_info& link, const std::type_info& type);
}  // namespace internal

// Links in their order, for a loop: for (nn::Link& link : model.modules()) ...
class LinkRange {
 public:
  class Iterator {
   public:
    explicit Iterator(Link* const* at) noexcept : at_(at) {}
    Link& operator*() const noexcept { return **at_; }
    Iterator& operator++() noexcept { return ++at_, *this; }
    friend bool operator==(const Iterator&, const Iterator&) = default;

   private:
    Link* const* at_;
  };
  explicit LinkRange(std::vector<Link*> links) noexcept : links_(std::move(links)) {}
  Iterator begin() const noexcept { return Iterator(links_.data()); }
  Iterator end() const noexcept { return Iterator(links_.data() + links_.size()); }
  std::size_t size() const noexcept { return links_.size(); }
  bool empty() const noexcept { return links_.empty(); }
  Link& operator[](std::size_t i) const noexcept { return *links_[i]; }

 private:
  std::vector<Link*> links_;
};

// A parameter or a link with its path from the link that was asked, such as "/l1/W".
struct NamedParam {
  std::string path;  // "/l1/W", or the name in named_parameters()
  Variable param;    // a handle; its data may be pending
};
struct NamedLink {
  std::string path;  // "/" for the root, "/l1", "/l1/conv"
  Link* link;
};

// A parameter of this name, shape and dtype: {"W", {3, 2}}, {"b", {3}, float64}.
struct ParamShape {
  std::string name;
  Shape shape;
  Dtype dtype = Dtype::float32;
};

namespace internal {
// load_state_dict(state, strict), in state_dict.h, where the report is complete.
template <class L, std::same_as<bool> B> auto load_state_dict_strictly(L& link, const StateDict& state, B strict);
}  // namespace internal

class CATENA_EXPORT Link {
 public:
  using Variable = autograd::Variable;  // for use in users' classes
  Link();
  // Adds these parameters as add_param(name, shape, dtype) does: Link({{"W", {3, 2}}, {"b", {3}}}).
  explicit Link(std::initializer_list<ParamShape> params);
  Link(const Link&);
  Link(Link&&) noexcept;
  Link& operator=(const Link&);
  Link& operator=(Link&&) noexcept;
  // A child of another class cannot be assigned through a Link&, which would copy a part of it.
  template <class L>
  requires(std::is_base_of_v<Link, std::decay_t<L>> && !std::is_same_v<Link, std::decay_t<L>>) Link& operator=(L&&) =
      delete;  // dict.insert("name", nn::Linear(3, 2))
  virtual ~Link();

  // Returns the name of this link in its parent; empty for the root. add_link sets the name at once; the names of
  // members listed by a class are set when its parameters are first listed.
  const std::string& name() const noexcept { return name_; }

  // Returns all parameters: the link's own in member order, then those of the children depth-first. A parameter that
  // several members share, or to which several layers are tied, is listed once, under the first of its paths.
  std::vector<Variable> params() const;
  std::vector<NamedParam> namedparams() const;
  // With false: only the parameters that have a shape.
  std::vector<Variable> params(bool include_uninit) const;
  std::vector<NamedParam> namedparams(bool include_uninit) const;
  // Calls f for the same parameters in the same order, without building a list.
  void for_each_param(const catena::Function<void(std::string_view path, const Variable& param)>& f) const;
  std::vector<Link*> links(bool skipself = false);
  std::vector<NamedLink> namedlinks(bool skipself = false);
  // links({.skipself = true})
  template <std::same_as<LinksOptions> O = LinksOptions> std::vector<Link*> links(const O& o) {
    return links(o.skipself);
  }
  template <std::same_as<LinksOptions> O = LinksOptions> std::vector<NamedLink> namedlinks(const O& o) {
    return namedlinks(o.skipself);
  }
  LinkRange children();
  std::vector<std::pair<std::string, Link*>> named_children();
  bool has_uninitialized_params() const;  // does not include children
  // Returns one of the link's own parameters by name, listed or added. The KeyError lists the names.
  Parameter& param(std::string_view name);

  // Adds a member; added members follow the class's list in every order. AttributeError for a name that is in use, is
  // empty or has a slash. The reference stays valid until the link is moved from or destroyed. A size of -1 is
  // determined when the parameter is initialised. The variable gets the name. Without an initializer the data are NaN,
  // of `dtype` (with one, its dtype is used), and the gradient is NaN until it is cleared or set, so that a missing
  // initialisation is noticed.
  Parameter& add_param(const std::string& name, const Shape& shape, Initializer initializer = {});
  template <std::same_as<Dtype> D>
  Parameter& add_param(const std::string& name, const Shape& shape, D dtype, Initializer initializer = {}) {
    return add_param_of(name, shape, dtype, std::move(initializer));
  }
  template <std::same_as<Parameter> P> Parameter& add_param(const std::string& name, P parameter) {
    return own_param(name, std::move(parameter));
  }
  // add_param("W", {3, 4}, {.initializer = nn::initializers::Normal(0.1)})
  template <std::same_as<AddParamOptions> O = AddParamOptions>
  Parameter& add_param(const std::string& name, const Shape& shape, const O& o) {
    return o.dtype ? add_param_of(name, shape, *o.dtype, o.initializer) : add_param(name, shape, o.initializer);
  }
  Persistent& add_persistent(const std::string& name, const Array& value);

  // Freezes the parameters at or below a path ("/l1", "/l1/W", "encoder/*", "*/b": nn/path_pattern.h; all by default)
  // by set_requires_grad(false): they get no gradients, and optimizers and their hooks do not change them. They are
  // saved as usual. KeyError for a pattern without parameters. Running statistics are no parameters.
  void disable_update(std::string_view path = {});
  void enable_update(std::string_view path = {});
  bool update_enabled() const;  // true if any parameter is not frozen

  Link& to_device(Device device);
  Link& to_cpu() { return to_device({}); }
  Link& to_gpu(std::optional<int> id = {});
  // Converts the floating parameters, their gradients and the floating persistents, in place; parameters without a
  // shape will be made in that dtype. For a model that computes in 16 bits only, such as one that is deployed: training
  // needs autograd::autocast or Optimizer::use_fp32_update. Set optimizers up afterwards. TypeError unless dtype is
  // floating.
  Link& to_dtype(autograd::Dtype dtype);
  // Returns the device to which the link was moved; if it was not, the device of its parameters; without parameters,
  // the default device.
  Device device() const;
  // PyTorch's names: a device, "cpu", "cuda" or "cuda:1" (ValueError for other texts), or a dtype. Chainer's names of
  // devices, "@numpy" and "@cupy:1", are devices as well.
  template <std::convertible_to<std::string_view> S> Link& to_device(const S& name) {
    return to(std::string_view(name));
  }
  Link& cpu() { return to_cpu(); }
  Link& cuda(std::optional<int> id = {}) { return to_gpu(id); }
  Link& half() { return to_dtype(Dtype::float16); }
  Link& to(Device to) { return to_device(to); }
  Link& to(std::string_view device);
  Link& to(autograd::Dtype dtype) { return to_dtype(dtype); }

  void cleargrads();
  void zerograds();
  // Copies the data of a structurally equal link, across devices; creates pending parameters. Gradients and persistents
  // are unchanged. A KeyError names a path that the source does not have; ValueError for another shape. Nothing is
  // copied then.
  void copyparams(const Link& from);
  // Adds the gradients of a structurally equal link, across devices. A null gradient of the source is skipped; a null
  // gradient of this link becomes a copy. Errors as for copyparams.
  void addgrads(const Link& from);
  std::int64_t count_params() const;

  // ---- PyTorch's names ----
  std::vector<Variable> parameters() const { return params(); }
  // Names as in PyTorch, "l1.weight" for "/l1/W"; the root among the modules has none.
  std::vector<NamedParam> named_parameters() const;
  // The arrays of persistents, such as running averages, as variables of the same memory; null ones are left out.
  std::vector<Variable> buffers();
  std::vector<NamedParam> named_buffers();
  void zero_grad() { cleargrads(); }
  // This link if it is of class L, else null: if (auto* conv = m.as<nn::Conv2d>()) ...
  template <class L> L* as() noexcept { return dynamic_cast<L*>(this); }
  LinkRange modules() { return LinkRange(links()); }
  std::vector<NamedLink> named_modules();
  // Calls f for every link below this one, children before their parents, and then for this one.
  template <class F> Link& apply(F&& f) {
    for (Link& child : children()) child.apply(f);
    f(*this);
    return *this;
  }
  // Adds an array, which is saved and moved with the link. The result is a Variable of the same memory where one is
  // assigned: mean = register_buffer("mean", autograd::zeros({3})). A variable that is kept in a member is not moved to
  // another device with the link: nn::Buffer mean{...} in NN_MEMBERS is.
  Buffer& register_buffer(const std::string& name, const Array& value);
  template <autograd::PlainVariable V> Buffer& register_buffer(const std::string& name, const V& value) {
    return register_buffer(name, value.data());
  }
  Parameter& register_parameter(const std::string& name, Parameter p) { return own_param(name, std::move(p)); }
  // enable_update() or disable_update(), for all parameters.
  Link& requires_grad_(bool requires_grad = true);
  // Copies of parameters and persistents by key, on the CPU, and back: see nn/serializers/state_dict.h.
  StateDict state_dict();
  LoadReport load_state_dict(const StateDict& state);
  LoadReport load_state_dict(const StateDict& state, const LoadOptions& options);
  template <std::same_as<bool> B> auto load_state_dict(const StateDict& state, B strict) {
    return internal::load_state_dict_strictly(*this, state, strict);
  }
  // A parameter, a buffer and a link below this one by PyTorch's name: "fc.weight", "fc"; "" is the link itself.
  // AttributeError for a name that is not there, which lists the names.
  Variable get_parameter(std::string_view name) const;
  Variable get_buffer(std::string_view name);
  Link& get_submodule(std::string_view name);
  // Assigns a link of the same class to the one of this name. TypeError for another class.
  template <class L> void set_submodule(std::string_view name, const L& link) requires(std::is_base_of_v<Link, L>) {
    Link& place = get_submodule(name);
    internal::check_class("set_submodule", typeid(place), typeid(L));
    static_cast<L&>(place) = link;
  }
  // Adds a child, as Chain::add_link. An object with a name of its own would be copied: pass std::move(layer).
  template <class L> std::decay_t<L>& add_module(const std::string& name, L&& link);
  Link& bfloat16() { return to_dtype(Dtype::bfloat16); }
  Link& type(Dtype dtype) { return to_dtype(dtype); }
  // to(device): the values of the parameters are kept.
  Link& to_empty(std::string_view device) { return to(device); }
  Link& share_memory() { return *this; }  // without effect: threads share memory
  // Hooks of states: pre-hooks are called as hook(link, prefix) before state_dict(), and as hook(link, state, prefix)
  // before load_state_dict(), which loads the changed copy of the state; post-hooks as hook(link, state, prefix) after
  // state_dict(), and as hook(link, report) after load_state_dict(). `prefix` is that of the link's keys: "l1/".
  template <class F> LinkHookHandle register_state_dict_pre_hook(F hook) {
    return add_state_hook(
        [hook = std::move(hook)](Link& link, const internal::StateOfHook& s) mutable { hook(link, *s.prefix); },
        internal::StateMoment::before_state);
  }
  template <class F> LinkHookHandle register_state_dict_post_hook(F hook) {
    return add_state_hook([hook = std::move(hook)](
                              Link& link, const internal::StateOfHook& s) mutable { hook(link, *s.state, *s.prefix); },
                          internal::StateMoment::after_state);
  }
  template <class F> LinkHookHandle register_load_state_dict_pre_hook(F hook) {
    return add_state_hook([hook = std::move(hook)](
                              Link& link, const internal::StateOfHook& s) mutable { hook(link, *s.state, *s.prefix); },
                          internal::StateMoment::before_load);
  }
  template <class F> LinkHookHandle register_load_state_dict_post_hook(F hook) {
    return add_state_hook(
        [hook = std::move(hook)](Link& link, const internal::StateOfHook& s) mutable { hook(link, *s.report); },
        internal::StateMoment::after_load);
  }
  // Sets this link and all links below it to training, the initial mode, or to evaluation, in which dropout is the
  // identity and normalizations use their running averages, on every thread. In a scope of train_mode(false), such as
  // that of Evaluator, all links evaluate. Functions in the operator() of a class, such as dropout, follow the model to
  // which the link belongs that was called before them on this thread, or whose mode was set since.
  Link& train(bool mode = true);
  Link& eval() { return train(false); }
  bool training() const noexcept { return !evaluates_; }
  bool is_training() const noexcept { return training(); }
  // Chainer's names: weights and biases are the parameters W and b of a layer.
  void weight() = delete;  // layer.W
  // The class Link has no function that copies an object of a derived class.
  template <class... M> void copy(M&&...) const = delete;    // Net other = model; or nn::copy(model): shares the arrays
  template <class... M> void repeat(M&&...) const = delete;  // nn::Sequential tower = nn::repeat(link, 3);
  void xp() const = delete;    // nd::zeros(...); autograd::cuda::get_array_module(x) for the device of x
  void init_scope() = delete;  // NN_MEMBERS(l1, l2) in the class lists the members
  // Members are listed, so that copies of the object have members of their own.
  template <class L>
  void register_module(const std::string&, L&&) = delete;  // NN_MEMBERS(l1) Variable operator()(Variable x)
  // Adds a function that is called after each call of this link, as hook(link, args, output), or before it, as
  // hook(link, args). link_hook.h describes the order of hooks. `args` are Variables; `output` is a Variable, or
  // Variables for a hook that takes them.
  //   auto handle = model.l1.register_forward_hook([](auto& link, const auto& args, const auto& y) { ... });
  template <class F> LinkHookHandle register_forward_hook(F hook) {
    return add_hook_function(
        [hook = std::move(hook)](Link& link, const Variables& args, const Variables& outputs) mutable {
          constexpr bool kOne = std::is_invocable_v<F&, Link&, const Variables&, const Variable&>;
          using Result = std::invoke_result_t<F&, Link&, const Variables&,
                                              std::conditional_t<kOne, const Variable&, const Variables&>>;
          static_assert(std::is_void_v<Result>, "a forward hook returns nothing: it does not replace the result");
          if constexpr (kOne) hook(link, args, outputs[0]);
          else hook(link, args, outputs);
        },
        false);
  }
  template <class F> LinkHookHandle register_forward_pre_hook(F hook) {
    static_assert(std::is_void_v<std::invoke_result_t<F&, Link&, const Variables&>>,
                  "a forward pre-hook returns nothing: it does not replace the arguments");
    return add_hook_function(
        [hook = std::move(hook)](Link& link, const Variables& args, const Variables&) mutable { hook(link, args); },
        true);
  }
  // Has hook(link, grad_inputs, grad_outputs) called in backward, once the gradient of the result of a call is known:
  // grad_outputs[0]. The gradients of the arguments are not known then: grad_inputs has a null variable for each; a
  // hook of the argument itself gets its gradient. The hook returns nothing. The link must live until then. A link that
  // returns an argument itself has no result of its own, and the hook is not called.
  template <class F> LinkHookHandle register_full_backward_hook(F hook) {
    using Result = std::invoke_result_t<F&, Link&, const Variables&, const Variables&>;
    static_assert(std::is_void_v<Result>,
                  "a backward hook returns nothing: a hook of a variable replaces its gradient");
    return register_forward_hook(
        [shared = catena::Shared<F>::make(std::move(hook))](Link& link, const Variables& args, const Variables& ys) {
          if (ys.empty() || !ys[0].requires_grad() || ys[0].creator() == nullptr) return;
          for (const Variable& x : args)
            if (ys[0].is_same(x)) return;
          ys[0].register_hook([shared, &link, n = args.size()](const Variable& gy) {
            (*shared)(link, static_cast<const Variables&>(Variables(n)), static_cast<const Variables&>(Variables{gy}));
          });
        });
  }
  // Has hook(link, grad_outputs) called at the same moment.
  template <class F> LinkHookHandle register_full_backward_pre_hook(F hook) {
    static_assert(std::is_void_v<std::invoke_result_t<F&, Link&, const Variables&>>,
                  "a backward pre-hook returns nothing: a hook of a variable replaces its gradient");
    return register_full_backward_hook(
        [hook = std::move(hook)](Link& link, const Variables&, const Variables& gy) mutable { hook(link, gy); });
  }
  // Another name of register_full_backward_hook.
  template <class F> LinkHookHandle register_backward_hook(F hook) {
    return register_full_backward_hook(std::move(hook));
  }
  // Adds a hook, which runs before and after the calls of this link (link_hook.h), under its own name or another one.
  // Returns the link. KeyError for a name that is in use.
  Link& add_hook(catena::Shared<LinkHook> hook, std::string_view name = {});
  template <class H>
  Link& add_hook(H&& hook, std::string_view name = {}) requires(std::is_base_of_v<LinkHook, std::decay_t<H>>) {
    return add_hook(catena::Shared<LinkHook>(catena::Shared<std::decay_t<H>>::make(std::forward<H>(hook))), name);
  }
  // KeyError listing the names.
  Link& delete_hook(std::string_view name);

  // Stores parameters and persistents under their names, children under theirs. Saving a pending parameter is a
  // ValueError; loading creates pending parameters with the stored shape.
  virtual void serialize(Serializer& s);

  // Returns the result of the class's operator() (e.g. the loss) for a list of arguments, or of PyTorch's forward() if
  // it has no operator(). Generated by NN_MEMBERS.
  virtual Variable call(const Variables& args);
  // Calls a link whose class is not known: for (nn::Link& layer : layers) h = layer(h). An operator() of a class hides
  // these.
  Variable operator()(const Variables& args) { return call(args); }
  template <std::convertible_to<Variable>... V>
  requires(sizeof...(V) > 0) Variable operator()(const V&... args) { return call(Variables{Variable(args)...}); }
  internal::NotCallable operator()(internal::NotCallable n) { return n; }  // see HasOwnCall
  // PyTorch's name of a call. A forward() of a class hides these.
  Variable forward(const Variables& args) { return call(args); }
  template <std::convertible_to<Variable>... V>
  requires(sizeof...(V) > 0) Variable forward(const V&... args) { return call(Variables{Variable(args)...}); }
  // Calls v for every member: first the class's list, then the added members.
  void visit_members(MemberVisitor& v) {
    visit_declared(v);
    added_.visit(v);
  }

 protected:
  // Calls v for the members of the class's list, in order. Generated by NN_MEMBERS.
  virtual void visit_declared(MemberVisitor& v);
  Link& own_link(const std::string& name, internal::AnyLink link);
  internal::AnyLink* added_link(std::string_view name) noexcept;  // null without one of this name
  static void set_name(Link& child, std::string_view name);
  // Names a new child. If this link was moved to a device, moves the child there; otherwise the child stays where it
  // is.
  void adopt(Link& child, std::string_view name) const;
  // Returns the device to which the link was moved, else that of the first parameter with data; nothing if there is
  // none.
  std::optional<Device> own_device() const;
  // Gives variables without a name the names of the members listed so far. To be called at the end of constructors;
  // without such a call, the names are set when the parameters are first listed.
  void name_params();
  // Called after this link was moved, for members outside the list (recurrent state).
  virtual void on_device_changed() {}

 public:
  // The text in the brackets of a class of a program where it is printed: std::string extra_repr() const override.
  virtual std::string extra_repr() const;

 private:
  friend struct internal::Naming;
  friend class LinkCall;
  autograd::internal::LinkMode mode_of_call() const noexcept { return {!evaluates_, !model_evaluates_}; }
  LinkHookHandle add_hook_function(internal::LinkHookFunction hook, bool before);
  LinkHookHandle add_state_hook(internal::StateHookFunction hook, internal::StateMoment moment);
  // Calls the hooks of states of this moment, those of this link before those of its children.
  void run_state_hooks(internal::StateMoment moment, StateDict* state = nullptr, const LoadReport* report = nullptr);
  Parameter& own_param(const std::string& name, Parameter parameter);
  Parameter& add_param_of(const std::string& name, const Shape& shape, Dtype dtype, Initializer initializer);

  std::string name_;
  std::optional<Device> device_;
  internal::AddedMembers added_;
  bool evaluates_ = false, model_evaluates_ = false;  // the second one: of the link that contains this one
};

namespace internal {
// A child of any link class; owned, copies are deep.
class CATENA_EXPORT AnyLink {
 public:
  template <class L, class = std::enable_if_t<std::is_base_of_v<Link, std::decay_t<L>>>>
  explicit AnyLink(L&& link)
      : link_(new std::decay_t<L>(std::forward<L>(link))), clone_([](const Link& l) -> catena::Owned<Link> {
          return catena::Owned<Link>(new std::decay_t<L>(static_cast<const std::decay_t<L>&>(l)));
        }) {}
  AnyLink(const AnyLink& o) : link_(o.link_ ? o.clone_(*o.link_) : nullptr), clone_(o.clone_) {}
  AnyLink(AnyLink&&) noexcept = default;
  AnyLink& operator=(AnyLink o) noexcept {
    std::swap(link_, o.link_);
    std::swap(clone_, o.clone_);
    return *this;
  }
  Link& get() const noexcept { return *link_; }

 private:
  catena::Owned<Link> link_;
  catena::Owned<Link> (*clone_)(const Link&);
};
}  // namespace internal

template <class L> std::decay_t<L>& Link::add_module(const std::string& name, L&& link) {
  static_assert(!std::is_lvalue_reference_v<L>, "NN_MEMBERS(layer) lists a member; add_module takes a new link");
  return static_cast<std::decay_t<L>&>(own_link(name, internal::AnyLink(std::forward<L>(link))));
}

// PyTorch's name of the base class. Members are listed by NN_MEMBERS, and forward() may stand in place of operator().
using Module = Link;

// A link composed of named children.
//
//   nn::Chain body;
//   auto& l1 = body.add_link("l1", nn::Linear(100));             // beside what NN_MEMBERS lists in a derived class
//   for (nn::Link& child : body) ...                             // children() gives the names, too
class CATENA_EXPORT Chain : public Link {
 public:
  // Errors as for add_param.
  template <class L> std::decay_t<L>& add_link(const std::string& name, L&& link) {
    return static_cast<std::decay_t<L>&>(own_link(name, internal::AnyLink(std::forward<L>(link))));
  }
  // Deleted, because a copy would be trained instead of the passed object: a member is listed in NN_MEMBERS(l1, l2).
  template <class L> L& add_link(const std::string&, L& list_it_in_NN_MEMBERS_or_pass_nn_copy) = delete;
  Link& operator[](std::string_view name) const;  // returns a child; the KeyError lists the names

  // Visits the children in order.
  class CATENA_EXPORT Iterator {
   public:
    Iterator(const Chain* chain, std::size_t index) : chain_(chain), index_(index) {}
    Link& operator*() const;
    Iterator& operator++() noexcept {
      ++index_;
      return *this;
    }
    friend bool operator==(const Iterator&, const Iterator&) = default;

   private:
    const Chain* chain_;
    std::size_t index_;
  };
  Iterator begin() const { return {this, 0}; }
  Iterator end() const;
};

// Makes the parameters and persistents of a C++ copy those of this mode. ValueError for another structure of links.
CATENA_EXPORT void apply_copy_mode(Link& copied, const Link& source, CopyMode mode);
template <class L> L copy(const L& link, CopyModeName mode = CopyMode::share) requires(std::is_base_of_v<Link, L>) {
  L result(link);
  apply_copy_mode(result, link, mode);
  return result;
}
// nn::copy(model, {.mode = "init"})
template <class L, std::same_as<CopyOptions> O = CopyOptions>
L copy(const L& link, const O& options) requires(std::is_base_of_v<Link, L>) {
  return copy(link, options.mode);
}
// A C++ copy, with parameters of its own: Python's copy.deepcopy(model). TypeError if L is a base of the class of the
// link, because a copy would be a part of it.
template <class L> L deepcopy(const L& link) requires(std::is_base_of_v<Link, L>) {
  internal::check_class("deepcopy", typeid(link), typeid(L));
  return link;
}

}  // namespace nn
