// The constants kernels::<name> of all kernels (kernels/lists/kernels.inc). They are defined in loops_<family>.cpp.
#pragma once

#include <catena/kernels/base/export.h>
#include <catena/kernels/registry/kernel_declaration.h>

namespace catena::kernels {

#define CATENA_KERNEL(name, use) extern CATENA_EXPORT const KernelDef name;
#include <catena/kernels/lists/kernels.inc>
#undef CATENA_KERNEL

}  // namespace catena::kernels
