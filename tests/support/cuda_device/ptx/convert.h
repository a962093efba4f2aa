// cvt: between all types, with all rounding modes.
#pragma once

#include <vector>

#include <catena/tests/support/cuda_device/ptx/decode.h>

namespace cuda_device::ptx {

// False: the opcode is none of these. Throws Fault for a form that is not supported.
bool decode_convert(const Words& words, const std::vector<Operand>& operands, Operands& context, Step& step);

}  // namespace cuda_device::ptx
