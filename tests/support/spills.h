// The limit for register bytes that a kernel may spill.
#pragma once

namespace test {

// The assembler spills a few registers around calls of slow paths, such as that of a division. This costs nothing if
// the slow path is not taken.
inline constexpr int kFewSpilledBytes = 64;

}  // namespace test
