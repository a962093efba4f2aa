// Caches the weights of recurrent networks in cuDNN's weight space. Internal to this folder.
//
// A weight space is made by copying each matrix and bias of a network to its place. It is kept for these arrays in
// their present state: memory, layout, dtype, and the version that every write increases. A call finds it while the
// state is the same, and replaces it after a write. It is released when the memory of one of the arrays is released,
// and by free_all_blocks, which also runs when memory is short. If the limits below are exceeded, the least recently
// used spaces are released first.
//
// Nothing is kept where writes may go unnoticed: for arrays whose writes are not all counted (nd::is_exposed, foreign
// memory, a user's allocator), and in a graph that is being captured. There the copying is part of the graph, so that
// every replay reads the current weights. Writes by replays are not counted either, so a kept space is used only until
// the next launch of a graph in the process.
//
// A space may be found on another stream than the one on which it was made; that stream then waits for the copying.
//
// Thread safety: all functions may be called from any thread; several may make the same space at the same time.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <catena/autograd/array.h>
#include <catena/kernels/base/function.h>

namespace autograd::internal::cudnn {

// Returns the kept weight space, or else the result of pack(), which enqueues the copying on the current stream of the
// device. `layout` distinguishes networks that have different weight spaces for the same arrays. The result must not be
// written, and may be used on the current stream.
CATENA_EXPORT Array packed_weights(std::span<const std::int64_t> layout, const std::vector<Array>& ws,
                                   const std::vector<Array>& bs, const catena::Function<Array()>& pack);

// Return the number of kept weight spaces and their bytes. A space larger than the limit of bytes is not kept.
CATENA_EXPORT std::size_t kept_weight_spaces();
CATENA_EXPORT std::size_t kept_weight_bytes();
inline constexpr std::size_t kMostWeightSpaces = 64;
inline constexpr std::size_t kMostWeightBytes = std::size_t(1) << 30;

}  // namespace autograd::internal::cudnn
