#include <catena/autograd/hooks.h>

#include <algorithm>
#include <iostream>

#include <catena/autograd/backend/backend.h>
#include <catena/autograd/backend/profile_extension.h>
#include <catena/kernels/base/clock.h>
#include <catena/kernels/base/descriptors.h>
#include <catena/kernels/base/text.h>

namespace autograd {
namespace {

using HookList = std::vector<std::pair<std::string, FunctionHook*>>;

// A pointer, so that a thread without hooks needs only one load; the list exists only while it has entries.
constinit thread_local HookList* hooks_of_thread = nullptr;

}  // namespace

FunctionHook::~FunctionHook() = default;
HookScope FunctionHook::scope() { return HookScope(*this); }
void FunctionHook::forward_preprocess(const FunctionNode&, const Arrays&) {}
void FunctionHook::forward_postprocess(const FunctionNode&, const Arrays&) {}
void FunctionHook::backward_preprocess(const FunctionNode&, const Arrays&, const Arrays&) {}
void FunctionHook::backward_postprocess(const FunctionNode&, const Arrays&, const Arrays&) {}
void FunctionHook::failed(const FunctionNode&) noexcept {}

HookScope::HookScope(FunctionHook& hook) : hook_(&hook) {
  const std::string name = hook.name();
  for (const auto& entry : get_function_hooks())
    catena::check<catena::KeyError>(entry.first != name, "HookScope", "a hook named ", name, " is registered already");
  if (hooks_of_thread == nullptr) hooks_of_thread = new HookList;
  hooks_of_thread->emplace_back(name, &hook);
}

HookScope::~HookScope() {
  std::erase_if(*hooks_of_thread, [this](const auto& entry) { return entry.second == hook_; });
  if (hooks_of_thread->empty()) delete std::exchange(hooks_of_thread, nullptr);
}

std::vector<std::pair<std::string, FunctionHook*>> get_function_hooks() {
  return hooks_of_thread ? *hooks_of_thread : HookList();
}

namespace internal {

const HookList* thread_hooks() noexcept { return hooks_of_thread; }

std::vector<FunctionHook*> merged_hooks(const NamedHooks& local) {
  HookList merged = get_function_hooks();
  for (const auto& [name, hook] : local) {
    const auto same =
        std::find_if(merged.begin(), merged.end(), [&name = name](const auto& entry) { return entry.first == name; });
    if (same != merged.end()) same->second = hook.get();
    else merged.emplace_back(name, hook.get());
  }
  std::vector<FunctionHook*> result;
  for (const auto& entry : merged) result.push_back(entry.second);
  return result;
}

}  // namespace internal

// ---- TimerHook ----------------------------------------------------------------------------------

namespace {
// Waits for the device, so that the measured time includes its asynchronous work.
void finish(const Arrays& arrays) {
  for (const Array& a : arrays)
    if (a && a.device().kind != Device::Kind::cpu) return a.backend().synchronize(a.device());
}
}  // namespace

void TimerHook::forward_preprocess(const FunctionNode&, const Arrays& in_data) {
  finish(in_data);
  started_.push_back(catena::internal::steady_nanoseconds());
}
void TimerHook::backward_preprocess(const FunctionNode&, const Arrays& in_data, const Arrays& out_grad) {
  finish(in_data);
  finish(out_grad);
  started_.push_back(catena::internal::steady_nanoseconds());
}
void TimerHook::stop(const FunctionNode& function, const Arrays& arrays) {
  const std::int64_t started = started_.back();
  started_.pop_back();  // first: waiting for the device may throw an error of earlier work
  finish(arrays);
  const std::int64_t elapsed = catena::internal::steady_nanoseconds() - started;
  call_history_.emplace_back(function.label(), 1e-9 * static_cast<double>(elapsed));
}
void TimerHook::forward_postprocess(const FunctionNode& function, const Arrays& in_data) { stop(function, in_data); }
void TimerHook::backward_postprocess(const FunctionNode& function, const Arrays&, const Arrays& out_grad) {
  stop(function, out_grad);
}
void TimerHook::failed(const FunctionNode&) noexcept { started_.pop_back(); }

double TimerHook::total_time() const noexcept {
  double sum = 0;
  for (const auto& call : call_history_) sum += call.second;
  return sum;
}

// ---- CUDAProfileHook ----------------------------------------------------------------------------

CUDAProfileHook::CUDAProfileHook() : ranges_(default_backend().extension<ProfileExtension>(Device())) {
  catena::check<catena::RuntimeError>(ranges_ != nullptr, "CUDAProfileHook", "the array library ",
                                      default_backend().name(), " has no ranges for profilers (NVTX)");
}

void CUDAProfileHook::forward_preprocess(const FunctionNode& function, const Arrays&) {
  ranges_->range_push(function.label() + ".forward");
}
void CUDAProfileHook::forward_postprocess(const FunctionNode&, const Arrays&) { ranges_->range_pop(); }
void CUDAProfileHook::backward_preprocess(const FunctionNode& function, const Arrays&, const Arrays&) {
  ranges_->range_push(function.label() + ".backward");
}
void CUDAProfileHook::backward_postprocess(const FunctionNode&, const Arrays&, const Arrays&) { ranges_->range_pop(); }
void CUDAProfileHook::failed(const FunctionNode&) noexcept { ranges_->range_pop(); }

// ---- PrintHook ----------------------------------------------------------------------------------

// `sep` would separate the parts of a line, but every line here has one part.
PrintHook::PrintHook(std::string /*sep*/, std::string end, std::ostream* file, bool flush)
    : end_(std::move(end)), file_(file ? file : &std::cout), flush_(flush) {}

void PrintHook::line(const std::string& text) {
  const catena::BrokenPipeScope unread;
  *file_ << catena::printable(text) << end_;
  if (flush_) file_->flush();
}

namespace {
std::string describe(const Array& a) { return Variable(a, {.volatile_ = AUTO}).debug_print(); }
}  // namespace

void PrintHook::forward_preprocess(const FunctionNode& function, const Arrays& in_data) {
  line("function\t" + function.label());
  line("input data");
  for (const Array& a : in_data)
    if (a) line(describe(a));
}

void PrintHook::backward_preprocess(const FunctionNode& function, const Arrays& in_data, const Arrays& out_grad) {
  forward_preprocess(function, in_data);
  line("output gradient");
  for (const Array& a : out_grad)
    if (a) line(describe(a));
}

}  // namespace autograd
