// Handles accesses that page protection stops: by the host to device memory and to pinned memory that a copy has yet to
// write, and by a kernel to other memory. They are reported with the stack; all other faults go to the previous
// handler.
#pragma once

namespace cuda_device {

void install_trap();

}  // namespace cuda_device
