// A function of one variable and options, the first of which may be given by position: f(x), f(x, 0.3), f(x, 0.3,
// false), f(x, {.ratio = 0.3}). It is an object, because in Sequential(Linear(10), dropout) the name of an overloaded
// function would be ambiguous.
#pragma once

#include <catena/autograd/variable.h>

namespace nn {

using autograd::Variable;

template <auto body, class Options, class First, class... More> struct FunctionWithOptions {
  Variable operator()(const Variable& x, const Options& options = {}) const { return body(x, options); }
  Variable operator()(const Variable& x, First first) const { return body(x, Options{first}); }
  Variable operator()(const Variable& x, First first, More... more) const requires(sizeof...(More) > 0) {
    return body(x, Options{first, more...});
  }
};

}  // namespace nn
