// Runs programs of elementwise steps, tile by tile, for fused functions and for reductions over them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <catena/kernels/base/small_vector.h>
#include <catena/ndarray/cpu/compiled_program.h>
#include <catena/ndarray/cpu/convert.h>

namespace nd::cpu {

// True if an output should be written with stores that bypass the caches: it has many bytes and the compute type of its
// slot. `n` is its number of elements.
bool is_streamed(const catena::Program& program, std::size_t slot, const catena::BoundOperand& operand, std::int64_t n);

// Runs a program. A loop accesses a slot in its memory, or in a tile that is filled before and emptied after a block.
// The program must outlive the interpreter; of the operands, only the dtypes are used. `n` is the number of elements of
// all calls of run() together. If an output is large, the caller must call stream_fence() after run(). Thread safety:
// run() may be called from several threads, each with its own tiles.
class Interpreter {
 public:
  // `rows`: the caller will use run_rows() instead of run().
  Interpreter(const catena::Program& program, std::span<const catena::BoundOperand> operands, std::int64_t n,
              bool rows = false);

  // From now on run() calls the loop compiled from the program, if there is one, instead of the steps, wherever the
  // operands have the layout that the loop needs.
  void use(const CompiledProgram& compiled);

  std::size_t tile_bytes() const { return tile_bytes_; }  // size of the tiles for run(), aligned to 64

  // Computes n elements; element i of operand k is at ptr[k] + i * stride[k].
  void run(std::byte* tiles, std::byte* const* ptr, const std::int64_t* stride, std::int64_t n) const;
  // Computes `rows` short rows of n <= kTile elements, as many at once as a tile holds. Row r of operand k begins at
  // ptr[k] + r * row_stride[k].
  void run_rows(std::byte* tiles, std::byte* const* ptr, const std::int64_t* row_stride, const std::int64_t* stride,
                std::int64_t rows, std::int64_t n) const;

 private:
  struct Slot {
    catena::Dtype dtype;
    bool bits;      // the memory holds elements as the loops read them
    bool direct;    // the loops access the memory directly
    bool streamed;  // a contiguous output goes through a tile and bypasses the caches
    std::int64_t item;
    // If not 0: size of an element in memory; lines of the next tile are then prefetched while this tile is computed.
    std::int64_t ahead = 0;
    std::size_t tile;
    Load load;
    Store store;
  };

  // A step with its constant properties looked up in advance, because there are many short blocks.
  struct Ready {
    const catena::Loop* loop;
    catena::ElementwiseFn run;
    std::uint8_t n, nin, first_output;
    std::uint16_t recast = 0;   // bit k: the step computes in another type than operand k's slot holds
    std::uint16_t rounded = 0;  // bit k: that slot holds a 16-bit float, and later steps read it
    std::array<std::uint8_t, catena::kMaxOperands> slot;
  };

  // True if consecutive rows of n elements are contiguous, as in a tile.
  static bool is_joined(const Slot& slot, std::int64_t stride, std::int64_t row_stride, std::int64_t n);
  // For each of `count` rows of a tile: stores the element at from + r * step n times.
  static void load_repeated(const Slot& slot, const std::byte* from, std::int64_t step, std::byte* to,
                            std::int64_t count, std::int64_t n);
  // True if the program is one step that needs no conversion and has contiguous outputs. The outputs are then written
  // with stores that bypass the caches.
  bool is_streamed_step(const std::int64_t* stride) const;
  void run_streamed(std::byte* tiles, std::byte* const* ptr, const std::int64_t* stride, std::int64_t n) const;
  // Prefetches, during step k, a share of the cache lines of the tile that begins at element `at`. The processor
  // prefetches only the inputs of the first step, and only to the end of a page; without this, memory would be idle
  // while the other steps compute.
  void fetch_ahead(std::byte* const* ptr, const std::int64_t* stride, std::int64_t at, std::int64_t k) const;
  void run_step(const Ready& step, std::byte* tiles, std::byte* const* p, const std::int64_t* st, std::int64_t m) const;
  void recast_in(const Ready& step, std::byte* tiles, std::byte* const* p, const std::int64_t* st, std::byte** ptr,
                 std::int64_t* stride, std::int64_t m) const;
  // True if the compiled loop supports the strides of a tile.
  bool suits_compiled(const std::int64_t* st) const;
  // False for an output that might be written before later steps have read an input in the same memory.
  bool may_be_direct(int s) const;

  const catena::Program& program_;
  int n_slots_ = 0, first_output_ = 0;
  std::size_t tile_bytes_ = 0, recast_tiles_ = 0;
  std::int64_t at_once_ = kTile;  // elements that pass through all steps before the next ones
  bool fetches_ahead_ = false;
  CompiledProgram compiled_;
  Slot slot_[catena::kMaxSlots];
  catena::SmallVector<Ready, 4> steps_;
};

}  // namespace nd::cpu
