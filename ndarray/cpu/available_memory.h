// The memory that this process can still allocate. The kernel grants more memory than there is, and kills a process
// when it uses too much.
#pragma once

#include <cstddef>
#include <string>

#include <catena/kernels/base/export.h>

namespace nd::cpu {

struct MachineMemory {
  std::size_t available = 0;  // bytes that can be used without taking memory from other processes
  std::size_t total = 0;      // bytes of memory and swap space, or the limit of the process's control group
};

// Reads proc/ and sys/ in the folder `root`. All members are zero if the system does not provide the numbers.
CATENA_EXPORT MachineMemory machine_memory(const std::string& root = "/");

}  // namespace nd::cpu
