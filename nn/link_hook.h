// Link hooks: code that runs before and after the calls of links.
//
//   link.add_hook(nn::link_hooks::SpectralNormalization());          // of one link, under the hook's name
//   link.delete_hook("SpectralNormalization");
//   nn::link_hooks::TimerHook timer;
//   {
//     nn::LinkHookScope scope(timer);                                // of every link that this thread calls
//     loss = model(x, t);
//   }
//   auto handle = link.register_forward_hook([](nn::Link&, const Variables& x, const Variable& y) { ... });
//   handle.remove();
//   link.add_hook(nn::CallbackLinkHook(
//       "shapes", {.forward_postprocess = [](nn::Link&, const Variables&, const Variables& y) {
//         std::cout << y[0].shape() << "\n";
//       }}));
//
// Hooks run in the operator() of the layers of nn/links, in Sequential, ChainList and Classifier, and for every class
// in Link::call. A class of a program whose operator() is called directly runs its hooks if the body begins with a
// LinkCall (below). A call that runs within another call of the same link, as operator() does within call(), runs no
// hooks again.
//
// Order: before a call the hooks of the thread, then those of the link, each in the order of registration, and after it
// in the reverse order; a hook of the link replaces a hook of the thread with the same name. A copy of a link has the
// same hook objects, so a hook stores values that belong to one link in that link.
//
// Thread safety: as for links. A hook object that several threads use, also through copies of a link, must be
// thread-safe; those of nn/link_hooks are, except for TimerHook.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <catena/kernels/base/function.h>
#include <catena/kernels/base/pointers.h>
#include <catena/nn/link.h>

namespace nn {

class LinkHookScope;

// Base class; every member function does nothing unless overridden.
class CATENA_EXPORT LinkHook {
 public:
  virtual ~LinkHook();
  virtual std::string name() const = 0;
  virtual void added(Link& link);    // by add_hook; an exception leaves the link without the hook
  virtual void deleted(Link& link);  // by delete_hook
  virtual void forward_preprocess(Link& link, const Variables& args);
  virtual void forward_postprocess(Link& link, const Variables& args, const Variables& outputs);
  // Called instead of the postprocess if an exception leaves a call whose preprocess has returned.
  virtual void failed(Link& link) noexcept;
  // A LinkHookScope of this hook: Python's `with hook:`.
  [[nodiscard]] LinkHookScope scope();
};

// The hook of functions that are given.
struct LinkCallbacks {
  catena::Function<void(Link& link, const Variables& args)> forward_preprocess = {};
  catena::Function<void(Link& link, const Variables& args, const Variables& outputs)> forward_postprocess = {};
};
class CATENA_EXPORT CallbackLinkHook : public LinkHook {
 public:
  CallbackLinkHook(std::string hook_name, LinkCallbacks callbacks)
      : name_(std::move(hook_name)), callbacks_(std::move(callbacks)) {}
  std::string name() const override { return name_; }
  void forward_preprocess(Link& link, const Variables& args) override;
  void forward_postprocess(Link& link, const Variables& args, const Variables& outputs) override;

 private:
  std::string name_;
  LinkCallbacks callbacks_;
};

// Registers a hook for all links that the calling thread calls until the end of the scope. KeyError if a hook of the
// thread has its name.
class CATENA_EXPORT LinkHookScope {
 public:
  explicit LinkHookScope(LinkHook& hook);
  ~LinkHookScope();
  LinkHookScope(const LinkHookScope&) = delete;
  LinkHookScope& operator=(const LinkHookScope&) = delete;

 private:
  LinkHook* hook_;
};

// Runs the hooks of one call of a link, in the link's mode (Link::train):
//
//   Variable MyLayer::operator()(const Variable& x) {
//     nn::LinkCall called(*this, x);                  // runs forward_preprocess
//     return called(autograd::matmul(x, W));          // runs forward_postprocess and returns the result
//   }
class CATENA_EXPORT LinkCall {
 public:
  template <class... V> explicit LinkCall(Link& link, const V&... args) : mode_(link.mode_of_call()) {
    if (enter(link)) begin(link, list_of(args...));
  }
  ~LinkCall();
  LinkCall(const LinkCall&) = delete;
  LinkCall& operator=(const LinkCall&) = delete;

  Variable operator()(const Variable& output) {
    if (running_) end({output});
    return output;
  }
  // For a link with several results: called.end({c, h}).
  void end(const Variables& outputs);

 private:
  struct Running;
  // Returns true if there are hooks to run. Work that is being captured watches the mode of the link.
  static bool enter(const Link& link);
  void begin(Link& link, const Variables& args);
  static Variables list_of(const Variables& args) { return args; }
  template <class... V> static Variables list_of(const V&... args) { return Variables{Variable(args)...}; }

  const autograd::internal::LinkMode mode_;
  catena::Owned<Running> running_;
};

namespace internal {
using NamedLinkHooks = std::vector<std::pair<std::string, catena::Shared<LinkHook>>>;
// The hooks of a link; null if it has none. Those of `editable_hooks` may be changed.
CATENA_EXPORT const NamedLinkHooks* hooks_of(const Link& link) noexcept;
NamedLinkHooks& editable_hooks(Link& link);
}  // namespace internal

}  // namespace nn
