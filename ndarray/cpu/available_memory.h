// How much more memory this process can have: the kernel promises more than there is, and ends a process when it uses
// it.
#pragma once

#include <cstddef>
#include <string>

#include <catena/kernels/base/export.h>

namespace nd::cpu {

struct MachineMemory {
  std::size_t available = 0;  // bytes that can be used without taking memory from other processes
  std::size_t total = 0;      // bytes of memory and swap space, or the limit of the process's control group
};

// `root` is the folder in which proc/ and sys/ lie. All zero if the system tells nothing.
CATENA_EXPORT MachineMemory machine_memory(const std::string& root = "/");

}  // namespace nd::cpu
