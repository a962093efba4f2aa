// Variables that a function reads without having them as arguments. Internal to functions that call users' functions.
#pragma once

#include <cstdint>
#include <string_view>

#include <catena/autograd/variable.h>

namespace autograd::internal {

// Returns a new number for Modes::recomputation, which is not 0.
std::uint32_t next_recomputation() noexcept;

// While an object of this class exists, the functions that this thread applies have a number of their own
// (FunctionNode::recomputation).
class NumberedCall {
 public:
  NumberedCall() noexcept;
  ~NumberedCall();
  NumberedCall(const NumberedCall&) = delete;
  NumberedCall& operator=(const NumberedCall&) = delete;
  std::uint32_t number() const noexcept { return number_; }
  std::uint32_t outer() const noexcept { return outer_; }

 private:
  const std::uint32_t outer_, number_;
};

// Returns the variables, except xs, from which functions of this call made ys: leaves and results of functions of the
// outer call. RuntimeError, which begins with `op`, for results of other functions and for those that no Variable
// holds.
Variables captured_variables(const char* op, const Variables& ys, const Variables& xs, const NumberedCall& call);

}  // namespace autograd::internal
