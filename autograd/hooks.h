// Function hooks: code that runs before and after every forward and backward of a thread's functions, or of one
// function.
//
//   TimerHook timer;
//   {
//     HookScope scope(timer);                        // or: auto scope = timer.scope();
//     loss = model(x); loss.backward();
//   }
//   std::cout << timer.total_time();
//
// Operations inside a backward rule run no hooks: a hook is called once per function and backward pass.
//
// Thread safety: a scope belongs to the thread that opened it. A hook registered by several threads must be
// thread-safe.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <utility>
#include <vector>

#include <catena/autograd/function_node.h>

namespace autograd {

class HookScope;
class ProfileExtension;

// Base class; every member function does nothing unless overridden. In backward, in_data holds the arrays that still
// exist (else null), and out_grad is null where there is no gradient.
class CATENA_EXPORT FunctionHook {
 public:
  virtual ~FunctionHook();
  virtual std::string name() const = 0;
  virtual void forward_preprocess(const FunctionNode& function, const Arrays& in_data);
  virtual void forward_postprocess(const FunctionNode& function, const Arrays& in_data);
  virtual void backward_preprocess(const FunctionNode& function, const Arrays& in_data, const Arrays& out_grad);
  virtual void backward_postprocess(const FunctionNode& function, const Arrays& in_data, const Arrays& out_grad);
  // Called instead of the postprocess if an exception leaves a forward or backward whose preprocess has returned, so
  // that a hook can end what its preprocess began. Inner functions are reported before outer ones, and the hooks of one
  // function in reverse order.
  virtual void failed(const FunctionNode& function) noexcept;
  // A HookScope of this hook: Python's `with hook:`.
  [[nodiscard]] HookScope scope();
};

// Registers a hook on the calling thread until the end of the scope, under its name. KeyError if the name is in use.
class CATENA_EXPORT HookScope {
 public:
  explicit HookScope(FunctionHook& hook);
  ~HookScope();
  HookScope(const HookScope&) = delete;
  HookScope& operator=(const HookScope&) = delete;

 private:
  FunctionHook* hook_;
};

// The name of a `with hook:` as an object: function_hook_scope guard(hook).
using function_hook_scope = HookScope;

// Returns the hooks of the calling thread, in the order of registration.
CATENA_EXPORT std::vector<std::pair<std::string, FunctionHook*>> get_function_hooks();

// Measures the wall time of every forward and backward until the device of the inputs has finished. Calls that end with
// an exception are not in the history.
class CATENA_EXPORT TimerHook : public FunctionHook {
 public:
  std::string name() const override { return "TimerHook"; }
  void forward_preprocess(const FunctionNode& function, const Arrays& in_data) override;
  void forward_postprocess(const FunctionNode& function, const Arrays& in_data) override;
  void backward_preprocess(const FunctionNode& function, const Arrays& in_data, const Arrays& out_grad) override;
  void backward_postprocess(const FunctionNode& function, const Arrays& in_data, const Arrays& out_grad) override;
  void failed(const FunctionNode& function) noexcept override;

  // Labels of functions and seconds, in the order of execution.
  const std::vector<std::pair<std::string, double>>& call_history() const noexcept { return call_history_; }
  double total_time() const noexcept;
  struct Total {
    std::string function;  // its label
    double seconds;
    std::int64_t calls;  // forwards and backwards
  };
  // Returns the sums over calls with the same label, in the order of their first calls. A function that is called by
  // another one also counts in the time of that one.
  std::vector<Total> summary() const;
  // Prints the summary as a table. null: std::cout
  void print_report(std::ostream* file = nullptr) const;

 private:
  void stop(const FunctionNode& function, const Arrays& in_data);
  std::vector<std::int64_t> started_;  // in nanoseconds; a stack, because functions may call functions
  std::vector<std::pair<std::string, double>> call_history_;
};

// Marks every forward and backward on the timeline of a profiler as a range LABEL.forward or LABEL.backward (NVTX). The
// ranges cover host time: for work on a GPU they cover the launches. An exception ends its ranges.
class CATENA_EXPORT CUDAProfileHook : public FunctionHook {
 public:
  CUDAProfileHook();  // RuntimeError if the default backend has no such ranges
  std::string name() const override { return "CUDAProfileHook"; }
  void forward_preprocess(const FunctionNode& function, const Arrays& in_data) override;
  void forward_postprocess(const FunctionNode& function, const Arrays& in_data) override;
  void backward_preprocess(const FunctionNode& function, const Arrays& in_data, const Arrays& out_grad) override;
  void backward_postprocess(const FunctionNode& function, const Arrays& in_data, const Arrays& out_grad) override;
  void failed(const FunctionNode& function) noexcept override;

 private:
  ProfileExtension* ranges_;
};

// Prints label, inputs and gradients before every forward and backward.
class CATENA_EXPORT PrintHook : public FunctionHook {
 public:
  explicit PrintHook(std::string sep = "", std::string end = "\n", std::ostream* file = nullptr,
                     bool flush = true);  // null: std::cout
  std::string name() const override { return "PrintHook"; }
  void forward_preprocess(const FunctionNode& function, const Arrays& in_data) override;
  void backward_preprocess(const FunctionNode& function, const Arrays& in_data, const Arrays& out_grad) override;

 private:
  void line(const std::string& text);
  std::string end_;
  std::ostream* file_;
  bool flush_;
};

// The names of Chainer's module: function_hooks::TimerHook.
namespace function_hooks {
using autograd::CUDAProfileHook, autograd::PrintHook, autograd::TimerHook;
}

namespace internal {
// Returns null if the thread has no hooks.
CATENA_EXPORT const std::vector<std::pair<std::string, FunctionHook*>>* thread_hooks() noexcept;
// Returns the hooks of the thread, then those of the function; a hook of the function replaces a thread hook with the
// same name.
std::vector<FunctionHook*> merged_hooks(const NamedHooks& local);

// Calls the hooks around one forward or backward: step(hook) calls preprocess in before() and postprocess in after().
// The destructor calls `failed` for hooks whose postprocess was not called.
class HookedCall {
 public:
  HookedCall(const FunctionNode& function, std::vector<FunctionHook*> hooks)
      : function_(function), hooks_(std::move(hooks)) {}
  ~HookedCall() {
    while (begun_ > ended_) hooks_[--begun_]->failed(function_);
  }
  HookedCall(const HookedCall&) = delete;
  HookedCall& operator=(const HookedCall&) = delete;
  template <class Step> void before(const Step& step) {
    for (; begun_ < hooks_.size(); ++begun_) step(*hooks_[begun_]);
  }
  template <class Step> void after(const Step& step) {
    while (ended_ < begun_) step(*hooks_[ended_++]);
  }

 private:
  const FunctionNode& function_;
  const std::vector<FunctionHook*> hooks_;
  std::size_t begun_ = 0, ended_ = 0;
};
}  // namespace internal

}  // namespace autograd
