// The operand types of row-wise kernels; see kernels/registry/define_row_wise.h.
#pragma once

#include <catena/kernels/traits.h>

namespace catena {

// Sizes of row-wise kernels on a GPU.
enum : int {
  kMostRowElements = 128,  // elements of a row that a thread keeps if the row would not fit a block otherwise: half of
                           // the registers that a thread can have
  kPartRow = 64,           // longest row of which a warp computes several at once
  kPartLanes = 8           // threads for such a row: 8 elements of 4 bytes are a sector of memory
};

// An input that has one element per row.
template <class T> struct PerRow {
  T value;
  ND_FN operator T() const { return value; }
};

// Returns the bit mask of the inputs that are the same for all rows. A thread on a GPU loads them where it uses them,
// because the caches hold them; registers keep the inputs that differ between rows.
template <class Body> ND_FN constexpr int shared_inputs() {
  if constexpr (requires { Body::shared; }) return int(Body::shared);
  else return 0;
}

// Set the first and the second member of a body's Stats to the combined accumulators of phase 0 and phase 1.
template <class Stats, class A> ND_FN void set_first(Stats& stats, A value) {
  if constexpr (sizeof(Stats) == sizeof(A)) {
    auto& [first] = stats;
    first = value;
  } else {
    auto& [first, second] = stats;
    first = value;
  }
}
template <class Stats, class A> ND_FN void set_second(Stats& stats, A value) {
  auto& [first, second] = stats;
  second = value;
}

}  // namespace catena
