// Instructions that access memory, and conversions of addresses between spaces. Every access is checked: allocations,
// natural alignment, races in shared memory (shadow.h), uses of shared memory that was not written (undefined.h), and
// in check mode the order of accesses to global memory (check.h).
#pragma once

#include <cstddef>
#include <vector>

#include <catena/tests/support/cuda_device/ptx/decode.h>
#include <catena/tests/support/cuda_device/ptx/shadow.h>

namespace cuda_device::ptx {

// Returns false if the opcode belongs to another group. Throws Fault for an unsupported form.
bool decode_memory(const Words& words, const std::vector<Operand>& operands, Operands& context, Step& step);

// The address that a lane uses in a load, a store or an atomic operation; in the space of the step.
std::uint64_t address_of(const Warp& warp, const Step& step, unsigned lane);

// Checks and records an access of a lane to an address in a space; returns where it is. Bytes that are read must have
// been written.
std::byte* reach(Warp& warp, const Step& step, unsigned lane, Space space, std::uint64_t address, std::size_t bytes,
                 Access access);

}  // namespace cuda_device::ptx
