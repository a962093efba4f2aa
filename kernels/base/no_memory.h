// The error where there is not even memory for a message. Internal to this folder.
#pragma once

namespace catena::internal {

// Throws an OutOfMemoryError that was made when the program started: to copy it takes no memory.
[[noreturn, gnu::cold]] void throw_out_of_memory();

}  // namespace catena::internal
