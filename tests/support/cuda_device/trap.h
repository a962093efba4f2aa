// Accesses that the pages' protection stops: the host's to device memory and to pinned memory that a copy still writes,
// and a kernel's to memory that is not the device's. They are reported with the stack; all other faults go to the
// handler that was there before.
#pragma once

namespace cuda_device {

void install_trap();

}  // namespace cuda_device
