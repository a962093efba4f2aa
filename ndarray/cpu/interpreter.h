// Programs of elementwise steps, tile by tile: what fused functions and reductions over them run.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <catena/kernels/base/small_vector.h>
#include <catena/ndarray/cpu/compiled_program.h>
#include <catena/ndarray/cpu/convert.h>

namespace nd::cpu {

// An output that is worth writing past the caches: a large one of `n` elements, of the type that its slot computes in.
bool is_streamed(const catena::Program& program, std::size_t slot, const catena::BoundOperand& operand, std::int64_t n);

// How each slot is seen by the loops: its memory itself, or a tile that is filled before and emptied after a block. The
// program must outlive it; of the operands only the dtypes count. `n`: how many elements there are in all; when outputs
// are large, whoever ran a part calls stream_fence() after it. Thread safety: run() may be called from several threads,
// each with tiles of its own.
class Interpreter {
 public:
  // `rows`: run_rows() will be called in place of run().
  Interpreter(const catena::Program& program, std::span<const catena::BoundOperand> operands, std::int64_t n,
              bool rows = false);

  // run() calls the loop, which has been compiled from the program, in place of the steps wherever operands lie as it
  // takes them. Without one, nothing changes.
  void use(const CompiledProgram& compiled);

  std::size_t tile_bytes() const { return tile_bytes_; }  // what run() needs, aligned to 64

  // n elements; element i of operand k lies at ptr[k] + i * stride[k].
  void run(std::byte* tiles, std::byte* const* ptr, const std::int64_t* stride, std::int64_t n) const;
  // `rows` short rows of n <= kTile elements, as many at once as a tile holds; row r of operand k begins at ptr[k] + r
  // * row_stride[k].
  void run_rows(std::byte* tiles, std::byte* const* ptr, const std::int64_t* row_stride, const std::int64_t* stride,
                std::int64_t rows, std::int64_t n) const;

 private:
  struct Slot {
    catena::Dtype dtype;
    bool bits;      // its memory holds what the loops see,
    bool direct;    // and is itself read and written,
    bool streamed;  // but an output of neighbouring elements goes through a tile and past the caches
    std::int64_t item;
    std::int64_t ahead =
        0;  // the size of an element in memory, when lines of the next tile are fetched while this one is computed
    std::size_t tile;
    Load load;
    Store store;
  };

  // A step with what is the same in every block looked up: short blocks are many.
  struct Ready {
    const catena::Loop* loop;
    catena::ElementwiseFn run;
    std::uint8_t n, nin, first_output;
    std::uint16_t recast = 0;   // bit k: the step computes in another type than operand k's slot holds
    std::uint16_t rounded = 0;  // bit k: that slot holds a 16-bit float, and later steps read it
    std::array<std::uint8_t, catena::kMaxOperands> slot;
  };

  // Whether rows of n elements follow each other as they do in a tile.
  static bool is_joined(const Slot& slot, std::int64_t stride, std::int64_t row_stride, std::int64_t n);
  // Element r at from + r * step, n times, for each of `count` rows of a tile.
  static void load_repeated(const Slot& slot, const std::byte* from, std::int64_t step, std::byte* to,
                            std::int64_t count, std::int64_t n);
  // Whether the program is one step that needs no conversion and whose outputs are contiguous: these are then written
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
  // Whether the compiled loop takes what a tile of the program sees.
  bool suits_compiled(const std::int64_t* st) const;
  // An output must not be written before later steps have read inputs that may be the same memory.
  bool may_be_direct(int s) const;

  const catena::Program& program_;
  int n_slots_ = 0, first_output_ = 0;
  std::size_t tile_bytes_ = 0, recast_tiles_ = 0;
  std::int64_t at_once_ = kTile;  // elements that all steps compute before the next ones
  bool fetches_ahead_ = false;
  CompiledProgram compiled_;
  Slot slot_[catena::kMaxSlots];
  catena::SmallVector<Ready, 4> steps_;
};

}  // namespace nd::cpu
