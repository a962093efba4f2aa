// The families of elementwise functions that exist in NumPy.
#pragma once

#include <catena/kernels/rows/families/arithmetic.h>
#include <catena/kernels/rows/families/bitwise.h>
#include <catena/kernels/rows/families/comparison.h>
#include <catena/kernels/rows/families/division.h>
#include <catena/kernels/rows/families/explog.h>
#include <catena/kernels/rows/families/floating.h>
#include <catena/kernels/rows/families/hyperbolic.h>
#include <catena/kernels/rows/families/logic.h>
#include <catena/kernels/rows/families/rounding.h>
#include <catena/kernels/rows/families/trigonometric.h>

// clang-format off
#define CATENA_ELEMENTWISE_ROWS(ROW) \
  CATENA_ARITHMETIC_ROWS(ROW) \
  CATENA_DIVISION_ROWS(ROW) \
  CATENA_COMPARISON_ROWS(ROW) \
  CATENA_EXPLOG_ROWS(ROW) \
  CATENA_TRIGONOMETRIC_ROWS(ROW) \
  CATENA_HYPERBOLIC_ROWS(ROW) \
  CATENA_ROUNDING_ROWS(ROW) \
  CATENA_FLOATING_ROWS(ROW) \
  CATENA_LOGIC_ROWS(ROW) \
  CATENA_BITWISE_ROWS(ROW)
// clang-format on
