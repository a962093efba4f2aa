// One more reference to an array header, for code that makes a handle of a header that it does not own.
#pragma once

#include <catena/kernels/base/array_header.h>

namespace catena {

// Returns the header for HeaderRef(ArrayHeader*), whose handle drops the reference that this call adds.
inline ArrayHeader* retained(ArrayHeader& h) noexcept {
  h.refs.fetch_add(1, MemoryOrder::relaxed);
  return &h;
}

}  // namespace catena
