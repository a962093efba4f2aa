// Function hooks: code that runs before and after every forward and backward of a thread's functions, or of one
// function.
//
//   TimerHook timer;
//   {
//     HookScope scope(timer);
//     loss = model(x); loss.backward();
//   }
//   std::cout << timer.total_time();
//
// Inside a backward rule nested operations run no hooks: a hook sees one backward per function.
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

class ProfileExtension;

// Base class; every step does nothing unless overridden. In backward, in_data holds the arrays that are still alive
// (null otherwise), and out_grad is null where no gradient arrived.
class CATENA_EXPORT FunctionHook {
 public:
  virtual ~FunctionHook();
  virtual std::string name() const = 0;
  virtual void forward_preprocess(const FunctionNode& function, const Arrays& in_data);
  virtual void forward_postprocess(const FunctionNode& function, const Arrays& in_data);
  virtual void backward_preprocess(const FunctionNode& function, const Arrays& in_data, const Arrays& out_grad);
  virtual void backward_postprocess(const FunctionNode& function, const Arrays& in_data, const Arrays& out_grad);
  // In place of the postprocess of a forward or backward whose preprocess has returned, when an exception leaves it: a
  // hook ends here what it began there. Functions inside of others are reported first, and of one function the hooks in
  // the reverse order.
  virtual void failed(const FunctionNode& function) noexcept;
};

// Registers a hook for the calling thread until the end of the scope, under its name. KeyError when the name is taken.
class CATENA_EXPORT HookScope {
 public:
  explicit HookScope(FunctionHook& hook);
  ~HookScope();
  HookScope(const HookScope&) = delete;
  HookScope& operator=(const HookScope&) = delete;

 private:
  FunctionHook* hook_;
};

// The calling thread's hooks, in the order of registration.
CATENA_EXPORT std::vector<std::pair<std::string, FunctionHook*>> function_hooks();

// Measures every forward and backward with the host's clock, until the device of the inputs has finished. Calls that
// end with an exception are not in the history.
class CATENA_EXPORT TimerHook : public FunctionHook {
 public:
  std::string name() const override { return "TimerHook"; }
  void forward_preprocess(const FunctionNode& function, const Arrays& in_data) override;
  void forward_postprocess(const FunctionNode& function, const Arrays& in_data) override;
  void backward_preprocess(const FunctionNode& function, const Arrays& in_data, const Arrays& out_grad) override;
  void backward_postprocess(const FunctionNode& function, const Arrays& in_data, const Arrays& out_grad) override;
  void failed(const FunctionNode& function) noexcept override;

  // Label of the function and seconds, in order of execution.
  const std::vector<std::pair<std::string, double>>& call_history() const noexcept { return call_history_; }
  double total_time() const noexcept;

 private:
  void stop(const FunctionNode& function, const Arrays& in_data);
  std::vector<std::int64_t> started_;  // in nanoseconds; a stack: functions may call functions
  std::vector<std::pair<std::string, double>> call_history_;
};

// Shows every forward and backward on the timeline of a profiler as a range LABEL.forward or LABEL.backward (NVTX). The
// ranges are those of the host: of work on a GPU they cover the launches. An exception ends its ranges.
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

namespace internal {
// Null when the thread has no hooks.
CATENA_EXPORT const std::vector<std::pair<std::string, FunctionHook*>>* thread_hooks() noexcept;
// The thread's hooks, then the function's; a hook of the function replaces one of the thread with the same name.
std::vector<FunctionHook*> merged_hooks(const NamedHooks& local);

// The hooks around one forward or backward: step(hook) is a preprocess in before(), a postprocess in after(). The hooks
// whose postprocess was not reached hear of it in the destructor.
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
