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

// The hook of one function of register_forward_hook.
namespace {
class FunctionHook : public LinkHook {
 public:
  FunctionHook(internal::LinkHookFunction hook, bool before, internal::StateMoment moment = {})
      : name_("forward_hook_" + std::to_string(next_number.fetch_add(1, std::memory_order_relaxed))),
        function_(Function::make(std::move(hook))),
        before_(before),
        moment_(moment) {}
  std::string name() const override { return name_; }
  void forward_preprocess(Link& link, const Variables& args) override {
    if (before_ && moment_ == internal::StateMoment::none) call(link, args, {});
  }
  void forward_postprocess(Link& link, const Variables& args, const Variables& outputs) override {
    if (!before_ && moment_ == internal::StateMoment::none) call(link, args, outputs);
  }
  void at_state(Link& link, internal::StateMoment moment) const {
    if (moment_ == moment) call(link, {}, {});
  }
  bool is_removed() const { return !function(); }
  // Destroys the function; if it is running, at its end.
  void remove() {
    Function removed;  // destroyed after the lock
    const std::lock_guard lock(mutex_);
    std::swap(removed, function_);
  }

 private:
  using Function = catena::Shared<internal::LinkHookFunction>;
  Function function() const {
    const std::lock_guard lock(mutex_);
    return function_;
  }
  void call(Link& link, const Variables& args, const Variables& outputs) const {
    if (const Function f = function()) (*f)(link, args, outputs);
  }

  static inline std::atomic<std::uint64_t> next_number = 0;
  const std::string name_;
  mutable std::mutex mutex_;
  Function function_;
  const bool before_;
  const internal::StateMoment moment_;
};

bool is_removed(const LinkHook& hook) {
  const auto* const of_function = dynamic_cast<const FunctionHook*>(&hook);
  return of_function != nullptr && of_function->is_removed();
}
}  // namespace

namespace {
LinkHookHandle add_function(Link& link, internal::LinkHookFunction hook, bool before, internal::StateMoment moment) {
  if (internal::hooks_of(link) != nullptr)
    std::erase_if(internal::editable_hooks(link), [](const auto& h) { return is_removed(*h.second); });
  const auto added = catena::Shared<FunctionHook>::make(std::move(hook), before, moment);
  link.add_hook(catena::Shared<LinkHook>(added));
  return LinkHookHandle(added);
}
constinit thread_local const internal::StateOfHook* state_of_hook = nullptr;  // of the hooks in progress
}  // namespace

LinkHookHandle Link::add_hook_function(internal::LinkHookFunction hook, bool before) {
  return add_function(*this, std::move(hook), before, internal::StateMoment::none);
}

LinkHookHandle Link::add_state_hook(internal::StateHookFunction hook, internal::StateMoment moment) {
  return add_function(
      *this,
      [hook = std::move(hook)](Link& link, const Variables&, const Variables&) mutable { hook(link, *state_of_hook); },
      true, moment);
}

void internal::run_state_hooks(Link& root, StateMoment moment, StateDict* state, const LoadReport* report) {
  for (const NamedLink& l : root.namedlinks()) {
    const NamedLinkHooks* const own = hooks_of(*l.link);
    if (own == nullptr) continue;
    const NamedLinkHooks hooks = *own;  // a hook may add hooks
    const std::string prefix = l.path == "/" ? std::string() : l.path.substr(1) + "/";
    const StateOfHook now{state, &prefix, report};
    const StateOfHook* const outer = std::exchange(state_of_hook, &now);
    struct Restore {
      const StateOfHook* outer;
      ~Restore() { state_of_hook = outer; }
    } const restore{outer};
    for (const auto& [name, hook] : hooks)
      if (const auto* const f = dynamic_cast<const FunctionHook*>(hook.get())) f->at_state(*l.link, moment);
  }
}

void LinkHookHandle::remove() {
  if (hook_) static_cast<FunctionHook&>(*hook_).remove();  // null: the handle was moved
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
