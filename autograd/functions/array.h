// Differentiable functions that move elements: reshape, transpose, broadcast, indexing, concatenation, cast.
#pragma once

#include <initializer_list>
#include <optional>
#include <vector>

#include <catena/autograd/variable.h>

namespace autograd {

// One length may be -1 (AssertionError for more). InvalidType when the sizes differ.
CATENA_EXPORT Variable reshape(const Variable& x, const Shape& shape);
CATENA_EXPORT Variable transpose(const Variable& x);                    // axes reversed
CATENA_EXPORT Variable transpose(const Variable& x, const Dims& axes);  // negative axes count from the end
CATENA_EXPORT Variable broadcast_to(const Variable& x, const Shape& shape);
// Floating input; x itself when it has the dtype.
CATENA_EXPORT Variable cast(const Variable& x, Dtype dtype);
// Broadcasts all to their common shape. ValueError for an empty list, InvalidType when the shapes do not broadcast.
CATENA_EXPORT Variables broadcast(const Variables& xs);
// Equal dtypes, ranks and lengths except along `axis` (else InvalidType); at least one array (else ValueError).
CATENA_EXPORT Variable concat(const Variables& xs, int axis = 1);

// x[items] by NumPy's rules: integers, slices, ellipsis, newaxis and integer arrays. Gradients of repeated elements are
// summed. InvalidType for more items than axes; IndexError for an integer out of range or arrays that do not broadcast.
// An index out of range in an array is an IndexError on the CPU; on CUDA it wraps unless nd::check_indices is on.
CATENA_EXPORT Variable get_item(const Variable& x, const std::vector<IndexItem>& items);

}  // namespace autograd
