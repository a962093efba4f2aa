// Variables that a function reads without having them as arguments. Internal to functions that call users' functions.
#pragma once

#include <cstdint>
#include <optional>

#include <catena/autograd/autocast.h>
#include <catena/autograd/variable.h>
#include <catena/autograd/variable_node.h>
#include <catena/kernels/base/function.h>

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

// Calls f(node) for every variable, except xs, at which the graph that ends in ys leaves the functions with the number
// `recomputation`: leaves, and results of other functions.
void for_each_source(const Variables& ys, const Variables& xs, std::uint32_t recomputation,
                     const catena::Function<void(VariableNode&)>& f);

// Returns the variables, except xs, from which functions of this call made ys: leaves and results of functions of the
// outer call. RuntimeError, whose message begins with `op`, for results of other functions and for results that no
// Variable holds.
Variables captured_variables(const char* op, const Variables& ys, const Variables& xs, const NumberedCall& call);

// RuntimeError, whose message begins with `op`, for an empty list of results of a function and for a null Variable in
// it.
void check_results(const char* op, const Variables& ys);

// While an object of this class exists, functions that a backward rule calls build a graph. `autocast`: the dtype of
// casts; nullopt: no casts.
class GraphScope {
 public:
  explicit GraphScope(std::optional<Dtype> autocast);
  ~GraphScope();
  GraphScope(const GraphScope&) = delete;
  GraphScope& operator=(const GraphScope&) = delete;

 private:
  const bool enable_backprop_, double_backprop_, in_backward_rule_;
  const AutocastScope autocast_;
};

}  // namespace autograd::internal
