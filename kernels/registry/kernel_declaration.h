// The part of kernel.h for public headers.
#pragma once

namespace catena {

inline constexpr int kMaxOperands = 16;
struct KernelDef;

}  // namespace catena
