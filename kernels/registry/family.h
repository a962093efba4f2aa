// How a family of kernels is declared: kernels/registry/families/<family>.h has one line per kernel.
//
//   #define CATENA_BITWISE_KERNELS(KERNEL)
//     KERNEL(invert, unary)
//     KERNEL(bitwise_and, binary) ...
//
// All lists of kernels are derived from these lines: the constants kernels::<name>, the registry, the functions of
// ndarray (math.h) and the functions that nd::fuse can trace. The second argument is the kind of public function:
//   unary, binary   an elementwise function of that many arrays: nd::<name>(x, options)
//   own             a function with its own signature
//   internal        none: the kernel is used by other functions
#pragma once

#include <catena/kernels/registry/kernel.h>

#define CATENA_DECLARE_KERNEL(name, use) extern CATENA_EXPORT const KernelDef name;
