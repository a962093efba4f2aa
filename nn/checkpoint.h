// Sequences that keep some of their intermediate values and compute the others again in backward.
#pragma once

#include <concepts>
#include <cstdint>
#include <utility>

#include <catena/autograd/checkpoint.h>
#include <catena/autograd/forget.h>
#include <catena/kernels/base/function.h>
#include <catena/nn/sequential.h>

namespace nn {

// Calls a function of variables, whose intermediate values are computed again in backward.
using autograd::forget;
namespace utils {
// PyTorch's name of forget, for one variable.
template <class F> Variable checkpoint(F&& f, const Variable& x) { return autograd::forget(std::forward<F>(f), x); }
}  // namespace utils

struct CheckpointOptions {
  // The sequence is divided into so many parts of equal numbers of elements. Between the parts the values are kept.
  int segments = 1;
  // In place of `segments`: says of each element, by its index, whether its result is kept. A part ends there.
  catena::Function<bool(std::int64_t index, const Sequential::Element& element)> keep = {};
  // The values within the parts that are kept: autograd::checkpoint_policies::dots_saveable keeps the products of
  // links, so that backward computes only the rest again.
  autograd::CheckpointPolicy policy = {};
};

// Returns links(x), of which backward computes each part again (autograd::forget), except for the last one, whose
// values are needed at once. The memory of a part is that of its result. `links` must live until backward; running
// averages and captured variables are treated as by forget().
//   nn::checkpoint_sequential(net, x, {.segments = 4})
//   nn::checkpoint_sequential(net, x, {.keep = [](std::int64_t, const auto& e) { return e.is_link(); }})
// ValueError for an empty sequence, and unless 1 <= segments <= links.size().
CATENA_EXPORT Variable checkpoint_sequential(const Sequential& links, const Variable& x,
                                             const CheckpointOptions& options = {});
// PyTorch's arguments in their order: checkpoint_sequential(net, 4, x).
template <std::integral I> Variable checkpoint_sequential(const Sequential& links, I segments, const Variable& x) {
  return checkpoint_sequential(links, x, CheckpointOptions{.segments = int(segments)});
}

}  // namespace nn
