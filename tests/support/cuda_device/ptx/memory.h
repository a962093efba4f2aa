// Instructions that access memory, and copies of addresses between spaces. Every access is checked: allocations,
// natural alignment, races in shared memory (shadow.h) and uses of what was not written there (undefined.h), and in
// check mode the order of accesses to global memory (check.h).
#pragma once

#include <vector>

#include <catena/tests/support/cuda_device/ptx/decode.h>

namespace cuda_device::ptx {

// False: the opcode is none of these. Throws Fault for a form that is not supported.
bool decode_memory(const Words& words, const std::vector<Operand>& operands, Operands& context, Step& step);

}  // namespace cuda_device::ptx
