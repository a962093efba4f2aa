// Programs of elementwise steps, tile by tile: what fused functions and reductions over them run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "ndarray/cpu/convert.h"

namespace nd::cpu {

// An output that is worth writing past the caches: a large one of `n` elements, of the type that its slot computes in.
bool is_streamed(const catena::Program& program, std::size_t slot, const catena::Operand& operand, std::int64_t n);

// How each slot is seen by the loops: its memory itself, or a tile that is filled before and emptied after a block. The program must
// outlive it; of the operands only the dtypes count. `n`: how many elements there are in all; when outputs are large, whoever ran a part
// calls stream_fence() after it. Thread safety: run() may be called from several threads, each with tiles of its own.
class Interpreter {
 public:
  Interpreter(const catena::Program& program, std::span<const catena::Operand> operands, std::int64_t n);

  std::size_t tile_bytes() const { return tile_bytes_; }  // what run() needs, aligned to 64

  // n elements; element i of operand k lies at ptr[k] + i * stride[k].
  void run(std::byte* tiles, std::byte* const* ptr, const std::int64_t* stride, std::int64_t n) const;

 private:
  struct Slot {
    catena::Dtype dtype;
    bool direct;    // its memory itself is read and written,
    bool streamed;  // but an output of neighbouring elements goes through a tile and past the caches
    std::int64_t item;
    std::size_t tile;
    Load load;
    Store store;
  };

  // The step computes in another type than the one its slot holds.
  bool is_recast(const catena::Step& step, int k) const;
  void run_step(std::size_t index, std::byte* tiles, std::byte* const* p, const std::int64_t* st, std::int64_t m) const;
  // An output must not be written before later steps have read inputs that may be the same memory.
  bool may_be_direct(int s) const;

  const catena::Program& program_;
  int n_slots_ = 0, first_output_ = 0;
  std::size_t tile_bytes_ = 0, recast_tiles_ = 0;
  Slot slot_[catena::kMaxSlots];
};

}  // namespace nd::cpu
