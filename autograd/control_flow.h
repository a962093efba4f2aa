// Loops and branches as functions: scan, cond, while_loop, with the meaning that they have in JAX.
//
//   auto [h, ys] = autograd::scan([&](const Variables& h, const Variables& x) { ... }, {h0}, {xs});
//   Variables y = autograd::cond(loss.data() < 1, [&](const Variables& v) { ... },
//                                [&](const Variables& v) { ... }, {x});
//   Variables z = autograd::while_loop([](const Variables& v) { return v[0].data() < 100; },
//                                      [](const Variables& v) { ... }, {x});
//
// Ordinary loops and branches of C++ build the same graphs. These functions are for three cases: scan with
// `checkpoint` keeps only the carried values of a long loop; within captured work (capture.h), where no value can be
// read, cond computes both branches and while_loop a fixed number of steps, and both select; and programs that are
// carried over from JAX. Gradients can be differentiated again.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>

#include <catena/autograd/variable.h>
#include <catena/kernels/base/function.h>

namespace autograd {

struct ScanOptions {
  bool reverse = false;  // from the last element of xs to the first; ys are in the order of xs
  // Each step is computed again in backward (forget.h), so that a loop of T steps stores T carried values instead of
  // all that a step computes. f must meet the conditions of forget() on functions and captured variables.
  bool checkpoint = false;
  std::int64_t length = -1;  // the number of steps, if xs is empty
};
// The values that a step passes to the next one, and those that it gives for its element; as the result of scan, the
// last carry, and the ys of all steps, stacked along a new axis 0.
struct ScanResult {
  Variables carry, ys;
};
// One step of scan: f(carry, x) -> (carry, y).
using ScanFunction = catena::Function<ScanResult(const Variables& carry, const Variables& x)>;

// Calls f for the elements of xs along axis 0, of which x has one each, without that axis, and passes `carry` from step
// to step. Returns the last carry and the y of all steps, stacked along a new axis 0; no ys for 0 steps.
// ValueError for arrays of different lengths, for no array and no length, and if a step returns another number of
// values than the step before, or a carry of another shape or dtype.
CATENA_EXPORT ScanResult scan(const ScanFunction& f, const Variables& init, const Variables& xs,
                              const ScanOptions& options = {});

// A condition: a bool, or an array or Variable of one element, which counts as true unless it is 0. ValueError for
// others.
class CATENA_EXPORT Predicate {
 public:
  template <std::same_as<bool> B> Predicate(B value) : known_(value) {}
  Predicate(const Array& value);
  Predicate(const Variable& value) : Predicate(value.data()) {}
  template <ForeignArray T> Predicate(const T& value) : Predicate(Array(value)) {}

  bool is_known() const noexcept { return known_.has_value(); }  // without reading an array
  bool value() const;                                            // waits for the device
  const Array& array() const noexcept { return array_; }         // 0-d, of dtype bool; null if it is a bool

 private:
  std::optional<bool> known_;
  Array array_;
};

// A branch of cond, which returns any values, or one step of while_loop, which returns as many values as it gets, with
// the same shapes and dtypes.
using BranchFunction = catena::Function<Variables(const Variables&)>;

// Returns true_fun(xs) if `pred` is true, else false_fun(xs). Only that function is called, and the value is read from
// the device. Within captured work, both are called, with all their side effects, and the values are selected from
// their results, which must have the same number, shapes and dtypes (ValueError). A gradient of one branch that is not
// finite makes the whole gradient not finite.
CATENA_EXPORT Variables cond(const Predicate& pred, const BranchFunction& true_fun, const BranchFunction& false_fun,
                             const Variables& xs);

struct WhileOptions {
  // The largest number of steps. RuntimeError if the condition is still true after them, except in captured work,
  // where so many steps are computed, and those for which the condition is false have no effect.
  std::optional<std::int64_t> max_iterations = {};
};
// Returns the values after as many calls of values = body(values) as cond(values) is true.
// RuntimeError within captured work without max_iterations. ValueError if body returns another number of values, or
// others in shape or dtype.
CATENA_EXPORT Variables while_loop(const catena::Function<Predicate(const Variables&)>& cond,
                                   const BranchFunction& body, const Variables& init, const WhileOptions& options = {});

}  // namespace autograd
