#include <catena/autograd/func.h>

#include <algorithm>

#include <catena/autograd/function_node.h>
#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/grad.h>
#include <catena/autograd/vmap.h>
#include <catena/kernels/base/error_context.h>

namespace autograd::func {

using catena::check;
using catena::ValueError;

namespace internal {
namespace {

constinit thread_local int transforms = 0;  // calls in progress on this thread

// Lasts until the derivatives are there, because backward of vmap calls functions again.
struct Nested {
  Nested() noexcept { ++transforms; }
  ~Nested() { --transforms; }
  Nested(const Nested&) = delete;
  Nested& operator=(const Nested&) = delete;
};

// The derivatives of one argument after the other.
template <class F> Variables of_each(const ListFunction& f, const Chosen& of, F&& derivative) {
  Variables result;
  for (std::size_t k = 0; k < of.leaves.size(); ++k) {
    const ListFunction one = [&, k](const Variables& x) {
      Variables all = of.leaves;
      all[k] = x[0];
      return f(all);
    };
    result.push_back(derivative(one, of.leaves[k]));
  }
  return result;
}

}  // namespace

bool is_nested() noexcept { return transforms > 0; }

bool Argnums::contains(std::size_t i) const noexcept {
  return std::find(numbers.begin(), numbers.end(), int(i)) != numbers.end();
}

void Argnums::check(const char* op, std::size_t given) const {
  catena::check<ValueError>(!numbers.empty(), op, "argnums is empty");
  for (const int n : numbers)
    catena::check<catena::IndexError>(n >= 0 && std::size_t(n) < given, op, "argnums ", n, " for ", given,
                                      " arguments");
  catena::check<ValueError>(std::is_sorted(numbers.begin(), numbers.end()), op, "argnums must increase");
}

VariablesAndDerivatives gradients(const char* op, const ListFunction& f, const Chosen& of) {
  const Nested scope;
  const auto one = [&](const Variables& xs) {
    const Variables y = f(xs);
    check<ValueError>(y.size() == 1 && y[0] && y[0].size() == 1, op, "the function must return one element, not ",
                      y.size(), " results", y.empty() || !y[0] ? "" : " of ", y.empty() ? 0 : y[0].size());
    return y;
  };
  return autograd::internal::vjp(one, of.leaves, {}, of.graph);
}

Variables jacobians(const ListFunction& f, const Chosen& of) {
  const Nested scope;
  return of_each(f, of, [&](const ListFunction& one, const Variable& x) {
    return autograd::internal::jacobian(one, x, of.graph);
  });
}

Variables hessians(const ListFunction& f, const Chosen& of) {
  const Nested scope;
  return of_each(f, of, [&](const ListFunction& one, const Variable& x) {
    const ListFunction first = [&one](const Variables& xs) {
      return Variables{autograd::internal::jacobian(one, xs[0], true)};
    };
    return autograd::internal::jacobian(first, x, of.graph);
  });
}

Pullback pullback(const ListFunction& f, const Variables& xs) {
  Pullback p;
  p.graph = is_nested() || std::any_of(xs.begin(), xs.end(), [](const Variable& x) { return x && x.requires_grad(); });
  const auto backprop = force_backprop_mode();
  for (const Variable& x : xs) {
    check<catena::TypeError>(bool(x), "vjp", "an argument is a null Variable");
    p.inputs.push_back(p.graph && x.requires_grad() ? identity(x) : Variable(x.data()));
  }
  const Nested scope;
  p.outputs = f(p.inputs);
  for (const Variable& y : p.outputs) check<ValueError>(bool(y), "vjp", "the function returned a null Variable");
  return p;
}

Variables Pullback::operator()(const Variables& cotangents) const {
  check<ValueError>(cotangents.size() == outputs.size(), "vjp", cotangents.size(), " cotangents for ", outputs.size(),
                    " results");
  for (std::size_t k = 0; k < outputs.size(); ++k)
    check<ValueError>(cotangents[k] && cotangents[k].shape() == outputs[k].shape(), "vjp", "the cotangent ", k,
                      " is no variable of shape ", outputs[k].shape());
  const bool with_graph = graph || is_nested();
  const Nested scope;
  Variables gx = autograd::grad(outputs, inputs, cotangents, with_graph);
  for (std::size_t i = 0; i < gx.size(); ++i)
    if (!gx[i]) gx[i] = Variable(zeros_like(inputs[i].data()), {.requires_grad = false});
  return gx;
}

VariablesAndDerivatives along(const ListFunction& f, const Variables& xs, const Variables& tangents) {
  const bool graph =
      is_nested() || std::any_of(xs.begin(), xs.end(), [](const Variable& x) { return x && x.requires_grad(); });
  const Nested scope;
  return autograd::internal::jvp(f, xs, tangents, graph);
}

Variables values_of(const Pullback& p) {
  if (p.graph) return p.outputs;
  Variables values;
  for (const Variable& y : p.outputs) values.push_back(Variable(y.data(), {.requires_grad = false}));
  return values;
}

Variables vmapped(const ListFunction& f, const Variables& xs, const std::vector<std::optional<int>>& axes,
                  const VmapOptions& o) {
  check<ValueError>(o.randomness == "error" || o.randomness == "different" || o.randomness == "same", "vmap",
                    "randomness must be \"error\", \"different\" or \"same\", not \"", o.randomness, "\"");
  return autograd::internal::vmap(f, xs,
                                  {.in_axes = axes,
                                   .out_axis = o.out_dims,
                                   .randomness = o.randomness == "same" ? Randomness::same : Randomness::different});
}

}  // namespace internal

std::optional<int> InDims::of(std::size_t argument) const {
  return each_.empty() ? std::optional<int>(all_) : each_[argument];
}

void InDims::check(std::size_t arguments) const {
  catena::check<ValueError>(each_.empty() || each_.size() == arguments, "vmap", each_.size(), " in_dims for ",
                            arguments, " arguments");
}

}  // namespace autograd::func
