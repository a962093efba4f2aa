// A grid in execution: blocks run one after the other, and the warps of a block from barrier to barrier.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include <catena/tests/support/cuda_device/ptx/program.h>
#include <catena/tests/support/cuda_device/ptx/shadow.h>
#include <catena/tests/support/cuda_device/ptx/warp.h>
#include <catena/tests/support/cuda_device/shim.h>

namespace cuda_device::ptx {

// Generic addresses of shared memory, of local memory and of an entry's parameters are in three windows of addresses
// that are used for nothing else.
inline constexpr std::uint64_t kWindow = std::uint64_t(1) << 24;
std::uint64_t shared_window();
inline std::uint64_t local_window() { return shared_window() + kWindow; }
inline std::uint64_t parameter_window() { return shared_window() + 2 * kWindow; }

inline constexpr std::size_t kLocalBytes = 64 * 1024;  // per thread

class Profile;

struct Block {
  const Program* program = nullptr;
  const Routine* entry = nullptr;
  dim3 grid_size, size;
  uint3 index{};
  unsigned threads = 0, warps = 0;
  std::vector<std::byte> parameters;
  std::vector<std::byte> shared;
  std::size_t static_shared = 0, dynamic_shared = 0;  // dynamic: from Program::dynamic_shared_begin on
  Shadow shadow;
  std::byte* local = nullptr;                                  // kLocalBytes of each thread
  std::unordered_map<std::size_t, Undefined> undefined_local;  // by byte of `local`; mask: 8 bits
  std::uint64_t grid = 0;                                      // number of the grid in the process
  bool checks_order = false;                                   // accesses to global memory are reported to check.h
  // Ranges of global memory found in an allocation during this grid; [0] is the most recent one.
  struct Range {
    std::uint64_t begin = 0, end = 0;
  };
  Range known[4];
  std::uint64_t reduced = 0;   // the result of a barrier with a reduction
  Profile* profile = nullptr;  // null: nothing is counted
};

// Runs a whole grid on the calling thread; throws Fault.
void run(const Program& program, const Routine& entry, dim3 grid, dim3 block, std::size_t dynamic_shared_bytes,
         void* const* parameters);

}  // namespace cuda_device::ptx
