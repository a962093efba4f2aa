// vmap: a function of one example becomes a function of a batch.
//
//   const auto distance = [](const Variable& x, const Variable& y) { return autograd::norm(x - y); };
//   Variable d = autograd::vmap(distance)(xs, ys);                                 // (N,)
//   Variable p = autograd::vmap(f, {.in_axes = {0, std::nullopt}})(xs, w);         // w is the same for all examples
//   auto per_example = autograd::vmap([&](const Variable& x, const Variable& t) {  // (N, ...) for each parameter
//     return autograd::grad({loss(model(x), t)}, parameters);
//   });
//
// The arguments of f have no batch axis: f is written for one example. It is called once, and each of its operations is
// computed for all examples at once: elementwise functions, reductions, products, convolutions and pooling,
// normalization, softmax, indexing, sorting, functions of shapes and of linear algebra, and their derivatives. Dropout
// and some losses are computed example by example.
//
// A function that cannot be computed in this way is called once for each example, with the same result: a function that
// reads values (item(), to_vector(), branches on values), writes values to arrays that were made outside of it (running
// averages), calls functions of ndarray with its variables, or throws. A first call that fails precedes these calls.
//
// The result can be differentiated, any number of times, with respect to the arguments and to the variables that f
// reads, such as parameters. backward calls f again, with the same random numbers: objects to which f refers must still
// exist and have the same values. Within f, derivatives are computed by grad(), vjp() and the like, not by backward(),
// which would leave gradients of single examples in variables outside of f. Variables that f keeps cannot be used after
// the call.
//
// Calls may be nested: vmap of a function that calls vmap has two batch axes.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <catena/autograd/transformed.h>

namespace autograd {

// The numbers that a function of one example draws in vmap.
enum class Randomness : std::uint8_t {
  different,  // every example draws numbers of its own
  same,       // all examples draw the same numbers
};

struct VmapOptions {
  // The batch axis of each argument; nullopt: the argument is the same for all examples. Empty: axis 0 of all. Negative
  // axes count from the end.
  std::vector<std::optional<int>> in_axes = {};
  int out_axis = 0;  // of the results; negative ones count from the end
  // The random numbers of f, as in dropout. Each example has a seed that is derived from the generator's seed and from
  // its position, so that the numbers differ from those of a function of the whole batch.
  Randomness randomness = Randomness::different;
  // A function that cannot be computed for all examples at once is called for each example. false: RuntimeError, or
  // the exception of the function.
  bool fallback = true;
};

namespace internal {
CATENA_EXPORT Variables vmap(const catena::Function<Variables(const Variables&)>& f, const Variables& xs,
                             const VmapOptions& options);
}  // namespace internal

// Returns a function of batches: it takes the arguments of f, with one more axis each, and returns the results of f in
// the form in which f returns them, with one more axis. f takes Variables one by one, or a list.
// The returned function throws ValueError unless all batch axes have the same length, at least 1, an IndexError for an
// axis out of range, and a RuntimeError if f returns a null Variable. Results of f must have the same shapes and dtypes
// for all examples (ValueError).
template <class F> auto vmap(F&& f, const VmapOptions& options = {}) {
  return internal::transformed(std::forward<F>(f), [options](const auto& func, const Variables& xs) {
    return internal::vmap(func, xs, options);
  });
}

}  // namespace autograd
