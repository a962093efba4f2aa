// Instructions between lanes and threads: ends of threads, barriers, votes, shuffles.
#pragma once

#include <vector>

#include <catena/tests/support/cuda_device/ptx/decode.h>

namespace cuda_device::ptx {

// Returns false if the opcode belongs to another group. Throws Fault for an unsupported form.
bool decode_control(const Words& words, const std::vector<Operand>& operands, Operands& context, Step& step);

// Returns the lanes that must execute a .sync instruction together. Throws Fault if a lane is not in its own member
// mask, or if the masks differ.
Mask members_of(const Warp& warp, const Step& step, Mask lanes);

// The result of a shuffle that reads a non-participating lane; the ISA does not specify it.
inline constexpr std::uint64_t kAbsentLane = 0xdeadbeefu;

// True if the instruction meets lanes of other paths at any .sync instruction of its kind (bar.warp.sync), not only at
// the same instruction.
bool meets_anywhere(const Step& step);

}  // namespace cuda_device::ptx
