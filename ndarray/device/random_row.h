// What both backends look up for a random fill.
#pragma once

#include "kernels/host/bind.h"
#include "kernels/host/calls.h"

namespace nd {

// The registry's row, and its loop that writes the call's dtype; 16-bit floats are rounded from float32. TypeError where there is none.
struct RandomRow {
  const catena::KernelDef& kernel;
  int loop;
};
inline RandomRow random_row(const catena::RandomCall& call) {
  const catena::KernelDef& kernel = [&]() -> const catena::KernelDef& {
    switch (call.kind) {
      case catena::RandomKind::bits: return catena::kernel<"random_bits">();
      case catena::RandomKind::uniform: return catena::kernel<"random_uniform">();
      case catena::RandomKind::normal: return catena::kernel<"random_normal">();
      default: return catena::kernel<"random_integers">();
    }
  }();
  return {kernel, catena::choose_loop_by_output(kernel, catena::compute_dtype(call.out.dtype))};
}

}  // namespace nd
