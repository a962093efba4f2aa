// Counters of one launch of a kernel, made by the interpreter of PTX (ptx/profile.h). Plain data, because the device's
// library and the program that reads them exchange it (control.h).
#pragma once

#include <cstdint>

namespace cuda_device {

// Groups of PTX instructions by the unit of a multiprocessor that executes them.
#define CATENA_INSTRUCTION_CLASSES(X)                                                             \
  X(move)      /* moves, conversions of addresses, reads of parameters: mostly no machine code */ \
  X(integer)   /* 32 bits: additions, shifts, logic */                                            \
  X(integer64) /* the same with 64 bits */                                                        \
  X(multiply)  /* products of 32-bit integers, also with results of 64 bits */                    \
  X(multiply64)                                                                                   \
  X(divide) /* quotients and remainders of 32-bit integers */                                     \
  X(divide64)                                                                                     \
  X(float32)                                                                                      \
  X(float32_slow) /* correctly rounded quotients and roots */                                     \
  X(special)      /* approximate functions */                                                     \
  X(float64)                                                                                      \
  X(float64_slow)                                                                                 \
  X(half)   /* float16 and bfloat16 */                                                            \
  X(tensor) /* products of 16 x 16 and 16 x 8 elements of 16 bits */                              \
  X(convert)                                                                                      \
  X(compare) /* comparisons, selections, logic of predicates */                                   \
  X(control) /* branches, calls, ends */                                                          \
  X(lanes)   /* shuffles, votes */                                                                \
  X(barrier)                                                                                      \
  X(global) /* loads and stores */                                                                \
  X(shared)                                                                                       \
  X(local)                                                                                        \
  X(atomic)                                                                                       \
  X(other)

enum class InstructionClass : std::uint8_t {
#define CATENA_CLASS(name) name,
  CATENA_INSTRUCTION_CLASSES(CATENA_CLASS)
#undef CATENA_CLASS
};
inline constexpr const char* kInstructionClasses[] = {
#define CATENA_CLASS(name) #name,
    CATENA_INSTRUCTION_CLASSES(CATENA_CLASS)
#undef CATENA_CLASS
};
inline constexpr int kClasses = sizeof(kInstructionClasses) / sizeof(kInstructionClasses[0]);

// Instructions are counted per warp: one that a warp executes for 32 lanes, or for one, counts once. A sector is 32
// aligned bytes of global memory.
#define CATENA_PROFILE_COUNTERS(X)                                                                           \
  X(warps)                                                                                                   \
  X(lanes)              /* lanes that executed an instruction, summed over all instructions */               \
  X(branches)           /* conditional ones */                                                               \
  X(divergent_branches) /* some lanes of a warp branch and others do not */                                  \
  X(barriers)           /* of the block, counted per warp */                                                 \
  X(load_requests)      /* load instructions to global memory */                                             \
  X(load_bytes)         /* that the lanes ask for */                                                         \
  X(load_sectors)       /* different sectors, summed over the instructions */                                \
  X(load_fetches)       /* of them, those that the level-1 cache does not have */                            \
  X(load_waits)         /* a warp must have what it has loaded; below: loads that are made together */       \
  X(load_lines)         /* different 128 aligned bytes, summed over the instructions */                      \
  X(partial_sectors)    /* fetched or stored by an instruction that does not use all bytes of its sectors */ \
  X(store_lines)                                                                                             \
  X(store_requests)                                                                                          \
  X(store_bytes)                                                                                             \
  X(store_sectors)                                                                                           \
  X(input_sectors)  /* first access of the call is a read: what the call gets from its caller */             \
  X(changed_inputs) /* of these, those that are written later */                                             \
  X(memory_reads)   /* sectors that neither cache has */                                                     \
  X(memory_writes)  /* sectors of device memory that change */                                               \
  X(shared_requests)                                                                                         \
  X(shared_passes)       /* passes that the 32 banks need for them */                                        \
  X(shared_least_passes) /* passes without a conflict of banks */                                            \
  X(atomic_requests)     /* to global memory */                                                              \
  X(atomic_lanes)                                                                                            \
  X(atomic_sectors)                                                                                          \
  X(atomic_meetings)  /* lanes of the busiest address of a warp, summed over the instructions */             \
  X(atomic_busiest)   /* lanes that change the sector with the most changes */                               \
  X(atomic_addresses) /* different addresses */

struct KernelProfile {
  char kernel[256];  // truncated if longer
  unsigned grid[3], block[3];
  std::uint64_t shared_bytes;  // static and dynamic
  std::uint64_t instructions[kClasses];
#define CATENA_COUNTER(name) std::uint64_t name;
  CATENA_PROFILE_COUNTERS(CATENA_COUNTER)
#undef CATENA_COUNTER
};

// The caches that are modelled.
struct ProfiledDevice {
  unsigned multiprocessors;
  std::uint64_t level1_bytes;  // of a multiprocessor, shared memory included
  std::uint64_t level2_bytes;  // that are used before lines are replaced
};

}  // namespace cuda_device
