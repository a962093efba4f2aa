#include <catena/autograd/control_flow.h>

#include <catena/autograd/capture.h>
#include <catena/autograd/forget.h>
#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/math.h>
#include <catena/kernels/registry/families.h>

namespace autograd {

using catena::check;
using catena::RuntimeError;
using catena::ValueError;

Predicate::Predicate(const Array& value) {
  check<ValueError>(value && value.size() == 1, "Predicate", "the condition has the shape ",
                    value ? value.shape() : Shape(), "; it must have one element");
  array_ = reshape(value, Shape{});
  if (array_.dtype() != Dtype::bool_) array_ = apply(catena::kernels::not_equal, {array_, 0.0});
}
bool Predicate::value() const { return known_ ? *known_ : to_vector<double>(array_)[0] != 0; }

namespace {

// Checks that values have the number, shapes and dtypes of others.
void check_same_types(const char* op, const char* what, const Variables& values, const Variables& others) {
  check<ValueError>(values.size() == others.size(), op, what, " has ", values.size(), " values, and ", others.size(),
                    " are needed");
  for (std::size_t i = 0; i < values.size(); ++i)
    check<ValueError>(
        values[i] && others[i] && values[i].shape() == others[i].shape() && values[i].dtype() == others[i].dtype(), op,
        what, " has ", values[i] ? values[i].label() : std::string("a null variable"), " at position ", i, ", and ",
        others[i] ? others[i].label() : std::string("a null variable"), " is needed");
}

Variables selected(const Array& condition, const Variables& xs, const Variables& ys) {
  Variables result;
  for (std::size_t i = 0; i < xs.size(); ++i) result.push_back(where(condition, xs[i], ys[i]));
  return result;
}

// ---- scan ---------------------------------------------------------------------------------------
std::int64_t number_of_steps(const Variables& xs, std::int64_t length) {
  check<ValueError>(!xs.empty() || length >= 0, "scan", "there are no xs; then options.length is the number of steps");
  std::int64_t steps = length;
  for (const Variable& x : xs) {
    check<ValueError>(x && x.ndim() >= 1, "scan", "an array of xs has no axis");
    if (steps < 0) steps = x.shape(0);
    check<ValueError>(x.shape(0) == steps, "scan", "xs have ", x.shape(0), " and ", steps, " elements");
  }
  return steps;
}

Variables joined(const Variables& a, const Variables& b) {
  Variables all = a;
  for (const Variable& v : b) all.push_back(v);
  return all;
}
Variables part(const Variables& values, std::size_t first, std::size_t last) {
  Variables result;
  for (std::size_t i = first; i < last; ++i) result.push_back(values[i]);
  return result;
}

// One step, whose intermediate values are kept or computed again.
ScanResult step_of(const ScanFunction& f, const Variables& carry, const Variables& x, bool checkpoint) {
  if (!checkpoint) return f(carry, x);
  const std::size_t carried = carry.size();
  const auto step = [f, carried](const Variables& given) {
    const ScanResult r = f(part(given, 0, carried), part(given, carried, given.size()));
    check<ValueError>(r.carry.size() == carried, "scan", "a step returned ", r.carry.size(),
                      " carried values instead of ", carried);
    return joined(r.carry, r.ys);
  };
  const Variables y = forget(step, joined(carry, x));
  return {part(y, 0, carried), part(y, carried, y.size())};
}

}  // namespace

ScanResult scan(const ScanFunction& f, const Variables& init, const Variables& xs, const ScanOptions& o) {
  const std::int64_t steps = number_of_steps(xs, o.length);
  std::vector<Variables> elements;  // of each array
  for (const Variable& x : xs) elements.push_back(steps > 0 ? separate(x, 0) : Variables());
  ScanResult result{init, {}};
  std::vector<Variables> ys;  // of each output, in the order of xs
  for (std::int64_t k = 0; k < steps; ++k) {
    const auto at = static_cast<std::size_t>(o.reverse ? steps - 1 - k : k);
    Variables x;
    for (const Variables& of_array : elements) x.push_back(of_array[at]);
    ScanResult step = step_of(f, result.carry, x, o.checkpoint);
    check_same_types("scan", "the carry of a step", step.carry, result.carry);
    if (k == 0) ys.assign(step.ys.size(), Variables(static_cast<std::size_t>(steps)));
    check<ValueError>(step.ys.size() == ys.size(), "scan", "a step returned ", step.ys.size(), " values instead of ",
                      ys.size());
    for (std::size_t i = 0; i < ys.size(); ++i) ys[i][at] = step.ys[i];
    result.carry = std::move(step.carry);
  }
  for (const Variables& of_output : ys) result.ys.push_back(stack(of_output, 0));
  return result;
}

Variables cond(const Predicate& pred, const BranchFunction& true_fun, const BranchFunction& false_fun,
               const Variables& xs) {
  if (pred.is_known() || !is_capturing()) return pred.value() ? true_fun(xs) : false_fun(xs);
  const Variables a = true_fun(xs), b = false_fun(xs);
  check_same_types("cond", "the result of true_fun", a, b);
  return selected(pred.array(), a, b);
}

namespace {

// A fixed number of steps; those after the first false condition have no effect.
Variables masked_loop(const catena::Function<Predicate(const Variables&)>& condition, const BranchFunction& body,
                      const Variables& init, std::int64_t steps) {
  Variables values = init;
  Array active;
  for (std::int64_t k = 0; k < steps; ++k) {
    const Predicate p = condition(values);
    if (p.is_known()) {
      if (!p.value()) break;
    } else {
      Array holds = p.array();
      active = active ? apply(catena::kernels::logical_and, {active, holds}) : holds;
    }
    const Variables next = body(values);
    check_same_types("while_loop", "the result of body", next, values);
    values = active ? selected(active, next, values) : next;
  }
  return values;
}

}  // namespace

Variables while_loop(const catena::Function<Predicate(const Variables&)>& condition, const BranchFunction& body,
                     const Variables& init, const WhileOptions& o) {
  if (is_capturing() && o.max_iterations) return masked_loop(condition, body, init, *o.max_iterations);
  Variables values = init;
  for (std::int64_t k = 0;; ++k) {
    const Predicate p = condition(values);
    check<RuntimeError>(p.is_known() || !is_capturing(), "while_loop",
                        "captured work cannot read the condition: options.max_iterations gives the number of steps");
    if (!p.value()) return values;
    check<RuntimeError>(!o.max_iterations || k < *o.max_iterations, "while_loop", "the condition is still true after ",
                        o.max_iterations.value_or(0), " steps");
    Variables next = body(values);
    check_same_types("while_loop", "the result of body", next, values);
    values = std::move(next);
  }
}

}  // namespace autograd
