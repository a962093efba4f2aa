// Bytes of masks. Internal to ndarray/cpu.
#pragma once

#include <cstddef>
#include <cstdint>

#include <catena/kernels/base/mask_word.h>

namespace nd::cpu {

using catena::nonzero_bytes;

// Returns the number of bytes that are not 0.
std::int64_t count_bytes(const std::byte* p, std::int64_t n);

}  // namespace nd::cpu
