// Instructions between lanes and threads: ends of threads, barriers, votes, shuffles.
#pragma once

#include <vector>

#include <catena/tests/support/cuda_device/ptx/decode.h>

namespace cuda_device::ptx {

// False: the opcode is none of these. Throws Fault for a form that is not supported.
bool decode_control(const Words& words, const std::vector<Operand>& operands, Operands& context, Step& step);

// What a .sync instruction asks of the path that reaches it: the lanes that must execute it together. Throws Fault if a
// lane is not in its own member mask, or the masks differ.
Mask members_of(const Warp& warp, const Step& step, Mask lanes);

// What a shuffle gives that reads a lane which does not take part: no value is specified.
inline constexpr std::uint64_t kAbsentLane = 0xdeadbeefu;

// Whether the instruction waits for the lanes of other paths at any other .sync instruction of its kind
// (bar.warp.sync), not only at itself.
bool meets_anywhere(const Step& step);

}  // namespace cuda_device::ptx
