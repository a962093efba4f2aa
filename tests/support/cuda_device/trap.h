// Accesses that page protection stops: the host's to device memory and to pinned memory that a copy has yet to write,
// and a kernel's to other memory. They are reported with the stack; all other faults go to the previous handler.
#pragma once

namespace cuda_device {

void install_trap();

}  // namespace cuda_device
