// Weights of recurrent networks in cuDNN's weight space, kept from call to call. Internal to this folder.
//
// A weight space is made from the matrices and biases of a network by copying each to its place. It is kept for these
// arrays in their present state: memory, layout, dtype, and the version that every write raises. A call finds it as
// long as the state is the same, and replaces it after a write. It is dropped when the memory of one of the arrays is
// released, by free_all_blocks, which also runs when memory is short, and where the bounds below are exceeded: then the
// spaces that were used longest ago go first.
//
// Nothing is kept where the state cannot be known: for arrays whose writes are not all counted (nd::is_exposed, foreign
// memory, a user's allocator), and in a graph that is being captured. There the copying is part of the graph, so that
// every replay reads the weights of its time. Writes by replays are not counted either: a kept space is used only until
// the next launch of a graph in the process.
//
// A space may be found on another stream than the one on which it was made: that stream then waits for the copying.
//
// Thread safety: all functions may be called from any thread; several may make the same space at the same time.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <catena/autograd/array.h>
#include <catena/kernels/base/function.h>

namespace autograd::internal::cudnn {

// The kept weight space, or the result of pack(), which enqueues the copying on the current stream of the device.
// `layout` tells apart the networks whose weight spaces differ for the same arrays. The result must not be written. It
// may be used on the current stream.
CATENA_EXPORT Array packed_weights(std::span<const std::int64_t> layout, const std::vector<Array>& ws,
                                   const std::vector<Array>& bs, const catena::Function<Array()>& pack);

// The number of weight spaces that are kept, and their bytes. A space larger than the limit of bytes is not kept.
CATENA_EXPORT std::size_t kept_weight_spaces();
CATENA_EXPORT std::size_t kept_weight_bytes();
inline constexpr std::size_t kMostWeightSpaces = 64;
inline constexpr std::size_t kMostWeightBytes = std::size_t(1) << 30;

}  // namespace autograd::internal::cudnn
