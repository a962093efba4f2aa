// MemoryProfileHook: the memory that functions take. TimerHook, which measures their time, is in hooks.h.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include <catena/autograd/hooks.h>
#include <catena/kernels/base/pointers.h>

namespace autograd {

// Counts the bytes that every forward and backward takes from the memory pool of the array library, on this thread:
//   used_bytes      of all blocks that were given out, whether or not they were returned since
//   acquired_bytes  taken for them from the device, because the pool had no block
//
//   MemoryProfileHook memory;
//   {
//     HookScope scope(memory);
//     model(x).backward();
//   }
//   memory.print_report();
//
// Calls that end with an exception are not in the history. (Chainer's CupyMemoryProfileHook, for all devices.)
class CATENA_EXPORT MemoryProfileHook : public FunctionHook {
 public:
  MemoryProfileHook();  // RuntimeError if the array library does not report its allocations
  ~MemoryProfileHook() override;
  std::string name() const override { return "MemoryProfileHook"; }
  void forward_preprocess(const FunctionNode& function, const Arrays& in_data) override;
  void forward_postprocess(const FunctionNode& function, const Arrays& in_data) override;
  void backward_preprocess(const FunctionNode& function, const Arrays& in_data, const Arrays& out_grad) override;
  void backward_postprocess(const FunctionNode& function, const Arrays& in_data, const Arrays& out_grad) override;
  void failed(const FunctionNode& function) noexcept override;

  struct Call {
    std::string function;  // its label
    std::int64_t used_bytes, acquired_bytes;
    int depth;  // 0; of a function that another one calls, 1 more than of that one, which counts its bytes, too
  };
  // In the order in which the calls ended.
  const std::vector<Call>& call_history() const noexcept { return call_history_; }
  std::int64_t total_used_bytes() const noexcept;
  std::int64_t total_acquired_bytes() const noexcept;
  struct Total {
    std::string function;
    std::int64_t used_bytes, acquired_bytes;
    std::int64_t calls;  // forwards and backwards
  };
  // Returns the sums over calls with the same label, in the order of their first calls.
  std::vector<Total> summary() const;
  // Prints the summary as a table. null: std::cout
  void print_report(std::ostream* file = nullptr) const;

 private:
  class Counter;
  void stop(const FunctionNode& function);
  catena::Owned<Counter> counter_;
  std::vector<Call> call_history_;
};

namespace function_hooks {
using autograd::MemoryProfileHook;
// Chainer's name of MemoryProfileHook.
using CupyMemoryProfileHook = MemoryProfileHook;
}  // namespace function_hooks

}  // namespace autograd
