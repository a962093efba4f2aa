// The class of a PTX instruction, for counters (kernel_profile.h).
#pragma once

#include <string_view>

#include <catena/tests/support/cuda_device/kernel_profile.h>

namespace cuda_device::ptx {

// From the text of an instruction, such as "@%p1 add.s32 %r1, %r2, 1;". Loads and stores to any space but that of
// parameters and constants have the class `global`, which their address decides.
InstructionClass class_of(std::string_view text);
bool is_store(std::string_view text);
// A load of memory that the kernel does not change.
bool is_read_only_load(std::string_view text);

}  // namespace cuda_device::ptx
