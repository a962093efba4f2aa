// Comparisons, selections and logic of predicates.
#pragma once

#include <vector>

#include <catena/tests/support/cuda_device/ptx/decode.h>

namespace cuda_device::ptx {

// Returns false if the opcode belongs to another group. Throws Fault for an unsupported form.
bool decode_compare(const Words& words, const std::vector<Operand>& operands, Operands& context, Step& step);

}  // namespace cuda_device::ptx
