#include <catena/nn/link_hook.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>

#include <catena/autograd/capture.h>
#include <catena/kernels/base/text.h>

namespace nn {

using catena::check;
using catena::KeyError;
using internal::NamedLinkHooks;

LinkHook::~LinkHook() = default;
void LinkHook::added(Link&) {}
void LinkHook::deleted(Link&) {}
void LinkHook::forward_preprocess(Link&, const Variables&) {}
void LinkHook::forward_postprocess(Link&, const Variables&, const Variables&) {}
void LinkHook::failed(Link&) noexcept {}

void CallbackLinkHook::forward_preprocess(Link& link, const Variables& args) {
  if (callbacks_.forward_preprocess) callbacks_.forward_preprocess(link, args);
}
void CallbackLinkHook::forward_postprocess(Link& link, const Variables& args, const Variables& outputs) {
  if (callbacks_.forward_postprocess) callbacks_.forward_postprocess(link, args, outputs);
}

// ---- registration -------------------------------------------------------------------------------
namespace {

thread_local std::vector<LinkHook*> thread_hooks;

auto named(const NamedLinkHooks& hooks, std::string_view name) {
  return std::find_if(hooks.begin(), hooks.end(), [&](const auto& h) { return h.first == name; });
}

}  // namespace

LinkHookScope::LinkHookScope(LinkHook& hook) : hook_(&hook) {
  const std::string name = hook.name();
  for (const LinkHook* other : thread_hooks)
    check<KeyError>(other->name() != name, "LinkHookScope", "a hook named ", name, " is in use on this thread");
  thread_hooks.push_back(&hook);
}
LinkHookScope::~LinkHookScope() { std::erase(thread_hooks, hook_); }

Link& Link::add_hook(catena::Shared<LinkHook> hook, std::string_view name) {
  check<catena::ValueError>(bool(hook), "Link.add_hook", "the pointer to the hook is null");
  const std::string key = name.empty() ? hook->name() : std::string(name);
  const NamedLinkHooks* const before = internal::hooks_of(*this);
  check<KeyError>(before == nullptr || named(*before, key) == before->end(), "Link.add_hook",
                  "the link has a hook named ", key, " already: delete_hook(\"", key, "\") removes it");
  hook->added(*this);
  internal::editable_hooks(*this).emplace_back(key, std::move(hook));
  return *this;
}

Link& Link::delete_hook(std::string_view name) {
  const NamedLinkHooks* const before = internal::hooks_of(*this);
  std::string names;
  if (before != nullptr)
    for (const auto& [key, hook] : *before) names += (names.empty() ? "" : ", ") + key;
  check<KeyError>(before != nullptr && named(*before, name) != before->end(), "Link.delete_hook",
                  "there is no hook named ", name, " (there are: ", names, ")");
  NamedLinkHooks& hooks = internal::editable_hooks(*this);
  const catena::Shared<LinkHook> removed = named(hooks, name)->second;
  std::erase_if(hooks, [&](const auto& h) { return h.first == name; });
  removed->deleted(*this);
  return *this;
}

// ---- functions as hooks -------------------------------------------------------------------------
namespace internal {

RemovableHook::~RemovableHook() = default;

// Several threads may call the function and remove it.
template <class F> class FunctionOfHook : public RemovableHook {
 public:
  explicit FunctionOfHook(F function) : function_(catena::Shared<F>::make(std::move(function))) {}
  bool is_removed() const { return !function(); }
  // Destroys the function; if it is running, at its end.
  void remove() override {
    catena::Shared<F> removed;  // destroyed after the lock
    const std::lock_guard lock(mutex_);
    std::swap(removed, function_);
  }
  template <class... A> void call(A&... arguments) const {
    if (const catena::Shared<F> f = function()) (*f)(arguments...);
  }

 private:
  catena::Shared<F> function() const {
    const std::lock_guard lock(mutex_);
    return function_;
  }
  mutable std::mutex mutex_;
  catena::Shared<F> function_;
};

class StateHook final : public FunctionOfHook<StateHookFunction> {
 public:
  StateHook(StateHookFunction function, StateMoment at) : FunctionOfHook(std::move(function)), moment(at) {}
  const StateMoment moment;
};

}  // namespace internal

namespace {

// The hook of register_forward_hook and register_forward_pre_hook.
class FunctionHook final : public LinkHook, public internal::FunctionOfHook<internal::LinkHookFunction> {
 public:
  FunctionHook(internal::LinkHookFunction function, bool before)
      : FunctionOfHook(std::move(function)),
        name_("forward_hook_" + std::to_string(next_number.fetch_add(1, std::memory_order_relaxed))),
        before_(before) {}
  std::string name() const override { return name_; }
  void forward_preprocess(Link& link, const Variables& args) override {
    const Variables no_outputs;
    if (before_) call(link, args, no_outputs);
  }
  void forward_postprocess(Link& link, const Variables& args, const Variables& outputs) override {
    if (!before_) call(link, args, outputs);
  }

 private:
  static inline std::atomic<std::uint64_t> next_number = 0;
  const std::string name_;
  const bool before_;
};

bool is_removed(const LinkHook& hook) {
  const auto* const of_function = dynamic_cast<const FunctionHook*>(&hook);
  return of_function != nullptr && of_function->is_removed();
}

}  // namespace

LinkHookHandle Link::add_hook_function(internal::LinkHookFunction hook, bool before) {
  if (internal::hooks_of(*this) != nullptr)
    std::erase_if(internal::editable_hooks(*this), [](const auto& h) { return is_removed(*h.second); });
  const auto added = catena::Shared<FunctionHook>::make(std::move(hook), before);
  add_hook(catena::Shared<LinkHook>(added));
  return LinkHookHandle(added);
}

LinkHookHandle Link::add_state_hook(internal::StateHookFunction hook, internal::StateMoment moment) {
  auto& hooks = added_.editable_state_hooks();
  std::erase_if(hooks, [](const auto& h) { return h->is_removed(); });
  const auto added = catena::Shared<internal::StateHook>::make(std::move(hook), moment);
  hooks.push_back(added);
  return LinkHookHandle(added);
}

void Link::run_state_hooks(internal::StateMoment moment, StateDict* state, const LoadReport* report) {
  for (const NamedLink& l : namedlinks()) {
    const std::string prefix = l.path == "/" ? std::string() : l.path.substr(1) + "/";
    const internal::StateOfHook of{state, &prefix, report};
    for (const auto& hook : l.link->added_.state_hooks())  // a copy: a hook may add hooks
      if (hook->moment == moment) hook->call(*l.link, of);
  }
}

void LinkHookHandle::remove() {
  if (hook_) hook_->remove();  // null: the handle was moved
}

LinkHookScope LinkHook::scope() { return LinkHookScope(*this); }

// ---- calls --------------------------------------------------------------------------------------
namespace {

constinit thread_local const Link* innermost = nullptr;  // the link whose hooks are running

NamedLinkHooks own_hooks(const Link& link) {
  const NamedLinkHooks* const own = internal::hooks_of(link);
  return own != nullptr ? *own : NamedLinkHooks();
}

std::vector<LinkHook*> merged(const NamedLinkHooks& own) {
  std::vector<LinkHook*> result;
  for (LinkHook* h : thread_hooks)
    if (named(own, h->name()) == own.end()) result.push_back(h);
  for (const auto& [name, hook] : own) result.push_back(hook.get());
  return result;
}

}  // namespace

struct LinkCall::Running {
  Running(Link& of, const Variables& given)
      : link(of), args(given), own(own_hooks(of)), hooks(merged(own)), outer(std::exchange(innermost, &of)) {}
  ~Running() {
    for (std::size_t left = begun - ended; left > 0;) hooks[--left]->failed(link);
    innermost = outer;
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  Link& link;
  const Variables args;
  const NamedLinkHooks own;  // keeps a hook alive that removes itself from the link
  const std::vector<LinkHook*> hooks;
  const Link* const outer;
  std::size_t begun = 0, ended = 0;
};

LinkCall::~LinkCall() = default;

bool LinkCall::enter(const Link& link) {
  if (autograd::is_capturing())
    autograd::watch_value(catena::concat("the mode of the link ", link.name().empty() ? "without a name" : link.name()),
                          [&link] { return std::uint64_t(link.training()); });
  return (!thread_hooks.empty() || internal::hooks_of(link) != nullptr) && innermost != &link;
}

void LinkCall::begin(Link& link, const Variables& args) {
  running_ = catena::Owned<Running>(new Running(link, args));
  for (Running& r = *running_; r.begun < r.hooks.size(); ++r.begun) r.hooks[r.begun]->forward_preprocess(link, args);
}

void LinkCall::end(const Variables& outputs) {
  if (!running_) return;
  for (Running& r = *running_; r.ended < r.begun; ++r.ended)
    r.hooks[r.begun - 1 - r.ended]->forward_postprocess(r.link, r.args, outputs);
  running_.reset();
}

}  // namespace nn
