// Instructions that access memory, and conversions of addresses between spaces. Every access is checked: allocations,
// natural alignment, races in shared memory (shadow.h), uses of shared memory that was not written (undefined.h), and
// in check mode the order of accesses to global memory (check.h).
#pragma once

#include <vector>

#include <catena/tests/support/cuda_device/ptx/decode.h>

namespace cuda_device::ptx {

// Returns false if the opcode belongs to another group. Throws Fault for an unsupported form.
bool decode_memory(const Words& words, const std::vector<Operand>& operands, Operands& context, Step& step);

// The address that a lane uses in a load, a store or an atomic operation; in the space of the step.
std::uint64_t address_of(const Warp& warp, const Step& step, unsigned lane);

}  // namespace cuda_device::ptx
