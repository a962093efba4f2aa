// UnaryFunction: any function of one variable, as parameters and options that are an activation take it.
#pragma once

#include <utility>

#include <catena/autograd/variable.h>
#include <catena/kernels/base/function.h>

namespace autograd {

// The name of several functions, such as tanh, stands for the one that takes a variable alone.
class UnaryFunction : public catena::Function<Variable(const Variable&)> {
 public:
  using Base = catena::Function<Variable(const Variable&)>;
  using Base::Base;
  UnaryFunction() = default;
  UnaryFunction(Variable (*f)(const Variable&)) : Base(f) {}
  UnaryFunction(Base f) : Base(std::move(f)) {}
};

}  // namespace autograd
