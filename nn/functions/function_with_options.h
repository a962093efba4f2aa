// Functions of one variable and a number or options that may be omitted. They are objects, because
// Sequential(Linear(10), dropout) could not tell which of several overloads is meant.
#pragma once

#include <concepts>

#include <catena/autograd/cudnn_options.h>
#include <catena/autograd/variable.h>
#include <catena/kernels/base/named.h>

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

// Options of a function of a number whose number has no name.
struct UnnamedNumber {
  [[no_unique_address]] catena::Named named = catena::Named();
};
// PyTorch's flag, which saves the memory of a result. Here it has no effect: results are new arrays.
struct InplaceOption {
  [[no_unique_address]] catena::Named named = catena::Named();
  bool inplace = false;
};
// f(x), f(x, 0.3), and f(x, {.name = 0.3}) for the member `name` of Options, which may be a function
template <Variable (*body)(const Variable& x, double number), class Options = UnnamedNumber, auto name = nullptr>
struct FunctionWithNumber {
  double default_number;
  Variable operator()(const Variable& x) const { return body(x, default_number); }
  Variable operator()(const Variable& x, double number) const { return body(x, number); }
  Variable operator()(const Variable& x, const Options& options) const {
    if constexpr (requires { (options.*name)(); }) return body(x, (options.*name)());
    else return body(x, options.*name);
  }
};

// f(x), f(x, false), f(x, {.use_cudnn = false})
template <Variable (*body)(const Variable& x, const CudnnOptions& options)> struct FunctionWithCudnn {
  Variable operator()(const Variable& x, const CudnnOptions& options = {}) const { return body(x, options); }
  template <std::same_as<bool> B> Variable operator()(const Variable& x, B use_cudnn) const {
    return body(x, {.use_cudnn = use_cudnn});
  }
  template <std::same_as<InplaceOption> O = InplaceOption> Variable operator()(const Variable& x, const O&) const {
    return body(x, {});
  }
  // Where a pointer to a function is wanted.
  using Pointer = Variable (*)(const Variable& x);
  constexpr operator Pointer() const noexcept {
    return [](const Variable& x) { return body(x, {}); };
  }
};

}  // namespace nn
