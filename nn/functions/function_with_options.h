// Functions of one variable and a number or options that may be omitted. They are objects, because
// Sequential(Linear(10), dropout) could not tell which of several overloads is meant.
#pragma once

#include <concepts>

#include <catena/autograd/cudnn_options.h>
#include <catena/autograd/variable.h>

namespace nn {

using autograd::CudnnOptions;
using autograd::Variable;

// f(x), f(x, 0.3), f(x, 0.3, false), f(x, {.ratio = 0.3})
template <auto body, class Options, class First, class... More> struct FunctionWithOptions {
  Variable operator()(const Variable& x, const Options& options = {}) const { return body(x, options); }
  Variable operator()(const Variable& x, First first) const { return body(x, Options{first}); }
  Variable operator()(const Variable& x, First first, More... more) const requires(sizeof...(More) > 0) {
    return body(x, Options{first, more...});
  }
};

// f(x), f(x, 0.3)
template <Variable (*body)(const Variable& x, double number)> struct FunctionWithNumber {
  double default_number;
  Variable operator()(const Variable& x) const { return body(x, default_number); }
  Variable operator()(const Variable& x, double number) const { return body(x, number); }
};

// f(x), f(x, false), f(x, {.use_cudnn = false})
template <Variable (*body)(const Variable& x, const CudnnOptions& options)> struct FunctionWithCudnn {
  Variable operator()(const Variable& x, const CudnnOptions& options = {}) const { return body(x, options); }
  template <std::same_as<bool> B> Variable operator()(const Variable& x, B use_cudnn) const {
    return body(x, {.use_cudnn = use_cudnn});
  }
  // Where a pointer to a function is wanted.
  using Pointer = Variable (*)(const Variable& x);
  constexpr operator Pointer() const noexcept {
    return [](const Variable& x) { return body(x, {}); };
  }
};

}  // namespace nn
