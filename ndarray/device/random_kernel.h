// Looks up the kernel of a random fill, for both backends.
#pragma once

#include <catena/kernels/registry/bind.h>
#include <catena/kernels/registry/bound_call.h>
#include <catena/kernels/registry/families.h>

namespace nd {

// The kernel and its loop for the dtype of the call; 16-bit floats use the float32 loop and are rounded. TypeError if
// there is no loop.
struct RandomKernel {
  const catena::KernelDef& kernel;
  int loop;
};
inline RandomKernel random_kernel(const catena::bound::Random& call) {
  const catena::KernelDef& kernel = [&]() -> const catena::KernelDef& {
    switch (call.kind) {
      case catena::RandomKind::bits: return catena::kernels::random_bits;
      case catena::RandomKind::uniform: return catena::kernels::random_uniform;
      case catena::RandomKind::normal: return catena::kernels::random_normal;
      default: return catena::kernels::random_integers;
    }
  }();
  return {kernel, catena::choose_loop_by_output(kernel, catena::compute_dtype(call.out.dtype))};
}

}  // namespace nd
