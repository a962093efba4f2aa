// Arrays that are computed from the bytes of one other array alone, such as a filter in the layout that a library's
// convolution reads. While the bytes stay as they are, the result is computed once.
//
//   Array packed = derived(w, &kPacked, [&] { return pack(w); });
//
// The result of a call is kept from the second call on that finds the same bytes: what is used once between two writes,
// as in training, costs no memory. Kept results are dropped when the source's version has changed (at the next call)
// and when its memory is released. Sources whose writes are not all counted (Backend::counts_writes) keep nothing.
#pragma once

#include <catena/autograd/backend/backend.h>

namespace autograd {

// make(), or the array that an earlier call with the same `what` returned for these elements. `what` is the address of
// an object that lives as long as the program and identifies what make() computes from them, including their dtype,
// shape and strides. The result must not be written. Any thread may call this; several may compute the same result.
CATENA_EXPORT Array derived(const Array& source, const void* what, const catena::Function<Array()>& make);

// The memory of all results that are kept, in bytes. It is at most kMostDerivedBytes: what would exceed it is not kept.
CATENA_EXPORT std::size_t derived_bytes();
inline constexpr std::size_t kMostDerivedBytes = std::size_t(1) << 30;

}  // namespace autograd
