// How a family of rows is declared. kernels/rows/families/<family>.h has one line per row:
//
//   #define CATENA_BITWISE_ROWS(ROW)
//     ROW(invert, unary)
//     ROW(bitwise_and, binary) ...
//
// Everything that lists rows derives from these lines: the constants rows::<name>, the registry, the functions of
// ndarray (math.h, logic.h) and what nd::fuse can trace. The second word says what kind of public function there is:
//   unary, binary             an elementwise function of that many arrays: nd::<name>(x, options)
//   unary_test, binary_test   the same with a result of bools
//   own                       a function with a signature of its own
//   internal                  none: what other functions are made of
#pragma once

#include <catena/kernels/rows/kernel.h>

#define CATENA_DECLARE_ROW(name, use) extern CATENA_EXPORT const KernelDef name;
