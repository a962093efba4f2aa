// Caches arrays that are computed only from the bytes of one other array, such as a filter in the layout of a library's
// convolution. As long as the bytes do not change, the result is computed once.
//
//   Array packed = derived(w, &kPacked, [&] { return pack(w); });
//
// A result is kept from the second call that finds the same bytes: a result that is used once between two writes, as in
// training, needs no memory. Kept results are released by the next call after the source's version has changed, and
// when the source's memory is released. Nothing is kept for sources whose writes are not all counted
// (Backend::counts_writes).
#pragma once

#include <catena/autograd/backend/backend.h>

namespace autograd {

// Returns make(), or the array that an earlier call with the same `what` returned for these elements. `what` is the
// address of an object with static lifetime that identifies the computation of make(), including the dtype, shape and
// strides that it depends on. The result must not be written. Any thread may call this function; several threads may
// compute the same result.
CATENA_EXPORT Array derived(const Array& source, const void* what, const catena::Function<Array()>& make);

// Returns the memory of all kept results in bytes. It is at most kMostDerivedBytes: a result that would exceed it is
// not kept.
CATENA_EXPORT std::size_t derived_bytes();
inline constexpr std::size_t kMostDerivedBytes = std::size_t(1) << 30;

}  // namespace autograd
