// The families of elementwise functions that exist in NumPy.
#pragma once

#include <catena/kernels/registry/families/arithmetic.h>
#include <catena/kernels/registry/families/bitwise.h>
#include <catena/kernels/registry/families/comparison.h>
#include <catena/kernels/registry/families/division.h>
#include <catena/kernels/registry/families/explog.h>
#include <catena/kernels/registry/families/floating.h>
#include <catena/kernels/registry/families/hyperbolic.h>
#include <catena/kernels/registry/families/logic.h>
#include <catena/kernels/registry/families/rounding.h>
#include <catena/kernels/registry/families/trigonometric.h>

// clang-format off
#define CATENA_ELEMENTWISE_KERNELS(KERNEL) \
  CATENA_ARITHMETIC_KERNELS(KERNEL) \
  CATENA_DIVISION_KERNELS(KERNEL) \
  CATENA_COMPARISON_KERNELS(KERNEL) \
  CATENA_EXPLOG_KERNELS(KERNEL) \
  CATENA_TRIGONOMETRIC_KERNELS(KERNEL) \
  CATENA_HYPERBOLIC_KERNELS(KERNEL) \
  CATENA_ROUNDING_KERNELS(KERNEL) \
  CATENA_FLOATING_KERNELS(KERNEL) \
  CATENA_LOGIC_KERNELS(KERNEL) \
  CATENA_BITWISE_KERNELS(KERNEL)
// clang-format on
