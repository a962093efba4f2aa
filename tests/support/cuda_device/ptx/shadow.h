// The last accesses to every byte of a block's shared memory. If different threads access a byte, at least one writes
// and not both accesses are atomic, there must be a barrier of the block between them, or of the warp if both threads
// are in it. A bit that the block has not written has no value (undefined.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cuda_device::ptx {

enum class Access : std::uint8_t { read, write, atomic };

class Shadow {
 public:
  // Begins a new block with that many bytes of shared memory.
  void begin_block(std::size_t bytes);
  void pass_barrier() { ++epoch_; }

  struct Finding {
    bool race = false;
    unsigned thread = 0;  // race: the other thread
    std::int32_t line = 0;
    Access access = Access::read;  // its access
    bool undefined = false;        // a bit that is read has no value
  };
  // Records an access of a thread; `moment`: the number of barriers of its warp so far.
  Finding note(std::size_t first, std::size_t bytes, Access access, unsigned thread, std::uint32_t moment,
               std::int32_t line);

  // Returns the bits of a byte that have no value.
  std::uint8_t undefined(std::size_t at) const {
    const Cell& cell = cell_of(at);
    return cell.written.epoch < block_begin_ ? 0xff : cell.undefined;
  }
  // To be called for a byte that was written.
  void set_undefined(std::size_t at, std::uint8_t bits) {
    if (cell_of(at).undefined == bits) return;
    split(at);
    cells_[at].undefined = bits;
  }
  // True if the block has written a byte of the aligned 16 bytes that contain this one.
  bool written_near(std::size_t at) const;

 private:
  struct Mark {
    std::uint64_t epoch = 0;
    std::uint32_t moment = 0;
    std::int32_t line = 0;
    std::uint16_t thread = 0;
    bool atomic = false;
    bool lanes = false, warps = false;  // reads: other lanes of the warp, or other warps, have read since as well
  };
  struct Cell {
    Mark written, read;
    std::uint8_t undefined = 0;
  };
  bool unordered(const Mark& mark, unsigned thread, std::uint32_t moment) const;
  bool is_split(std::size_t at) const { return split_[at / kWord] == block_begin_; }
  const Cell& cell_of(std::size_t at) const { return cells_[is_split(at) ? at : at / kWord * kWord]; }
  // From now on in this block, the bytes of the word have cells of their own.
  void split(std::size_t at);

  // Most accesses are to whole words of kWord bytes. All bytes of such a word have the same history, so the cell of the
  // first byte stands for the word until the block accesses a part of it.
  static constexpr std::size_t kWord = 4;
  std::vector<Cell> cells_;           // of bytes
  std::vector<std::uint64_t> split_;  // of words: the block_begin_ of the last block that split it
  std::uint64_t epoch_ = 0, block_begin_ = 0;
};

}  // namespace cuda_device::ptx
