// How many bytes of registers a kernel may spill.
#pragma once

namespace test {

// The assembler spills a few registers around calls of slow paths, such as that of a division, which costs nothing
// where they are not taken.
inline constexpr int kFewSpilledBytes = 64;

}  // namespace test
