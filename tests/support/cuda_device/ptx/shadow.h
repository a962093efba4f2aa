// The last accesses to every byte of a block's shared memory. Two accesses of different threads, of which at least one
// writes and not both are atomic, need a barrier of the block in between, or of the warp if both threads are in it. A
// byte that the block has not written must not be read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cuda_device::ptx {

enum class Access : std::uint8_t { read, write, atomic };

class Shadow {
 public:
  // A new block with that many bytes of shared memory.
  void begin_block(std::size_t bytes);
  void pass_barrier() { ++epoch_; }

  struct Finding {
    enum class Kind { none, race, uninitialised } kind = Kind::none;
    unsigned thread = 0;  // race: the other thread
    std::int32_t line = 0;
    Access access = Access::read;  // its access
  };
  // Records an access of a thread; `moment`: the number of barriers of its warp so far.
  Finding note(std::size_t first, std::size_t bytes, Access access, unsigned thread, std::uint32_t moment,
               std::int32_t line);

 private:
  struct Mark {
    std::uint64_t epoch = 0;
    std::uint32_t moment = 0;
    std::int32_t line = 0;
    std::uint16_t thread = 0;
    bool atomic = false;
    bool lanes = false, warps = false;  // reads: others of the warp, of other warps, have read since, too
  };
  struct Cell {
    Mark written, read;
  };
  bool unordered(const Mark& mark, unsigned thread, std::uint32_t moment) const;

  std::vector<Cell> cells_;
  std::uint64_t epoch_ = 0, block_begin_ = 0;
};

}  // namespace cuda_device::ptx
