// Conversion between memory and the compute types of kernels. The value of an operand is rounded to the dtype of its
// slot; loops read the compute type of the slot (float for the 16-bit floats).
#pragma once

#include <catena/kernels/registry/cast.h>
#include <catena/kernels/registry/program.h>

namespace nd::cpu {

using catena::CastFn;
using catena::Dtype;

inline constexpr std::int64_t kTile = 1024;  // elements that are converted or interpreted at a time

inline bool is_half(Dtype t) { return t == Dtype::float16 || t == Dtype::bfloat16; }
// True if a loop can use memory of that dtype directly.
inline bool is_direct(Dtype memory, Dtype slot) { return memory == slot && !is_half(slot); }

// Converts from memory of one dtype to the compute type of a slot. If a 16-bit slot has another dtype than the memory,
// the value is first rounded to the slot's dtype.
class Load {
 public:
  Load() = default;
  Load(Dtype memory, Dtype slot) : slot_(slot) {
    if (memory != slot && is_half(slot)) {
      first_ = catena::cast_function(memory, slot);
      second_ = catena::cast_function(slot, Dtype::float32);
    } else {
      first_ = catena::cast_function(memory, catena::compute_dtype(slot));
    }
  }
  // Converts n elements; `out` is contiguous. Conversions with two steps work in tiles.
  void operator()(const std::byte* in, std::int64_t stride, std::byte* out, std::int64_t n) const {
    const auto item = static_cast<std::int64_t>(catena::itemsize(catena::compute_dtype(slot_)));
    if (!second_) return first_(in, stride, out, item, n);
    alignas(64) std::byte half[2 * kTile];
    const auto step = stride;
    for (std::int64_t i = 0; i < n; i += kTile) {
      const std::int64_t m = n - i < kTile ? n - i : kTile;
      first_(in + i * step, step, half, 2, m);
      second_(half, 2, out + i * item, item, m);
    }
  }

 private:
  Dtype slot_ = Dtype::float64;
  CastFn first_ = nullptr, second_ = nullptr;
};

class Store {
 public:
  Store() = default;
  Store(Dtype slot, Dtype memory) : slot_(slot) {
    if (memory != slot && is_half(slot)) {
      first_ = catena::cast_function(Dtype::float32, slot);
      second_ = catena::cast_function(slot, memory);
    } else {
      first_ = catena::cast_function(catena::compute_dtype(slot), memory);
    }
  }
  // Converts n elements; `in` is contiguous.
  void operator()(const std::byte* in, std::byte* out, std::int64_t stride, std::int64_t n) const {
    const auto item = static_cast<std::int64_t>(catena::itemsize(catena::compute_dtype(slot_)));
    if (!second_) return first_(in, item, out, stride, n);
    alignas(64) std::byte half[2 * kTile];
    for (std::int64_t i = 0; i < n; i += kTile) {
      const std::int64_t m = n - i < kTile ? n - i : kTile;
      first_(in + i * item, item, half, 2, m);
      second_(half, 2, out + i * stride, stride, m);
    }
  }

 private:
  Dtype slot_ = Dtype::float64;
  CastFn first_ = nullptr, second_ = nullptr;
};

// Rounds the floats of a tile to a 16-bit dtype.
inline void round_tile(Dtype slot, std::byte* tile, std::int64_t n) {
  if (!is_half(slot)) return;
  alignas(64) std::byte half[2 * kTile];
  catena::cast_function(Dtype::float32, slot)(tile, 4, half, 2, n);
  catena::cast_function(slot, Dtype::float32)(half, 2, tile, 4, n);
}

}  // namespace nd::cpu
