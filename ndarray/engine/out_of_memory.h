// Which function found too little memory. Functions are made of others, and arrays are allocated in the innermost one;
// the message of an OutOfMemoryError names the one that the user called:
//
//   Array sort(const Array& a, const SortOptions& options) try {
//     ...
//   } catch (...) {
//     internal::rethrow_out_of_memory("sort");
//   }
#pragma once

#include <cstddef>
#include <string_view>

#include <catena/kernels/base/export.h>

namespace nd::internal {

// To be called in a catch block. An OutOfMemoryError is thrown again with a message that begins with `op` in place of
// the function there; an exception by which the standard library says that it has no memory, or that a container cannot
// be so large, becomes one. Any other exception is thrown on as it is.
[[noreturn]] CATENA_EXPORT void rethrow_out_of_memory(std::string_view op);

// OutOfMemoryError if the host has no room for `count` objects of `bytes` bytes each. Memory of the system's allocator
// is missing only when it is touched, and then the system ends the process.
CATENA_EXPORT void check_host_room(std::string_view op, std::size_t count, std::size_t bytes);

}  // namespace nd::internal
