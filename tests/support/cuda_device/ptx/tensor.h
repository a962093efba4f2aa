// Instructions of a warp on tiles of 16-bit floats (mma.m16n8k16, ldmatrix), and cp.async, which copies from global to
// shared memory. A copy reads its source at once and writes its destination as late as it may: when its thread waits
// for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <catena/tests/support/cuda_device/ptx/decode.h>

namespace cuda_device::ptx {

// Returns false if the opcode belongs to another group. Throws Fault for an unsupported form.
bool decode_tensor(const Words& words, const std::vector<Operand>& operands, Operands& context, Step& step);

// ---- for counters (profile.h) ---------------------------------------------------------------------
// The lanes whose addresses an instruction uses: of ldmatrix as many as it loads rows.
Mask lanes_with_addresses(const Step& step, Mask lanes);

enum class CopyAction : std::uint8_t { none, begins, ends_group, waits };
CopyAction copy_action(const Step& step);
// Of CopyAction::begins: the source in global memory, whether a lane reads it, and whether level 1 keeps it.
std::uint64_t copy_source(const Warp& warp, const Step& step, unsigned lane);
bool copy_reads(const Warp& warp, const Step& step, unsigned lane);
bool copy_is_cached(const Step& step);
// Of CopyAction::waits: how many of the last groups need not be complete; -1: everything must.
int groups_left(const Step& step);

}  // namespace cuda_device::ptx
