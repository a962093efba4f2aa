// What both backends look up for a random fill.
#pragma once

#include <catena/kernels/rows/bind.h>
#include <catena/kernels/rows/calls.h>
#include <catena/kernels/rows/families.h>

namespace nd {

// The registry's row, and its loop that writes the call's dtype; 16-bit floats are rounded from float32. TypeError
// where there is none.
struct RandomRow {
  const catena::KernelDef& kernel;
  int loop;
};
inline RandomRow random_row(const catena::RandomCall& call) {
  const catena::KernelDef& kernel = [&]() -> const catena::KernelDef& {
    switch (call.kind) {
      case catena::RandomKind::bits: return catena::rows::random_bits;
      case catena::RandomKind::uniform: return catena::rows::random_uniform;
      case catena::RandomKind::normal: return catena::rows::random_normal;
      default: return catena::rows::random_integers;
    }
  }();
  return {kernel, catena::choose_loop_by_output(kernel, catena::compute_dtype(call.out.dtype))};
}

}  // namespace nd
