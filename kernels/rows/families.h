// All families of rows. The list is explicit, without registration by static initialisers, so that linking a static
// library needs no whole-archive.
#pragma once

#include <catena/kernels/rows/families/activation.h>
#include <catena/kernels/rows/families/bits.h>
#include <catena/kernels/rows/families/cell.h>
#include <catena/kernels/rows/families/creation.h>
#include <catena/kernels/rows/families/dropout.h>
#include <catena/kernels/rows/families/elementwise.h>
#include <catena/kernels/rows/families/extremum.h>
#include <catena/kernels/rows/families/im2col.h>
#include <catena/kernels/rows/families/logical.h>
#include <catena/kernels/rows/families/loss.h>
#include <catena/kernels/rows/families/normalization.h>
#include <catena/kernels/rows/families/optimizer.h>
#include <catena/kernels/rows/families/pooling.h>
#include <catena/kernels/rows/families/random.h>
#include <catena/kernels/rows/families/random_distributions.h>
#include <catena/kernels/rows/families/search.h>
#include <catena/kernels/rows/families/segment.h>
#include <catena/kernels/rows/families/softmax.h>
#include <catena/kernels/rows/families/statistics.h>
#include <catena/kernels/rows/families/sum.h>

// clang-format off
#define CATENA_ALL_ROWS(ROW) \
  CATENA_ELEMENTWISE_ROWS(ROW) \
  CATENA_SUM_ROWS(ROW) \
  CATENA_EXTREMUM_ROWS(ROW) \
  CATENA_LOGICAL_ROWS(ROW) \
  CATENA_STATISTICS_ROWS(ROW) \
  CATENA_SOFTMAX_ROWS(ROW) \
  CATENA_LOSS_ROWS(ROW) \
  CATENA_NORMALIZATION_ROWS(ROW) \
  CATENA_ACTIVATION_ROWS(ROW) \
  CATENA_CELL_ROWS(ROW) \
  CATENA_POOLING_ROWS(ROW) \
  CATENA_IM2COL_ROWS(ROW) \
  CATENA_DROPOUT_ROWS(ROW) \
  CATENA_RANDOM_ROWS(ROW) \
  CATENA_RANDOM_DISTRIBUTION_ROWS(ROW) \
  CATENA_SEARCH_ROWS(ROW) \
  CATENA_SEGMENT_ROWS(ROW) \
  CATENA_BITS_ROWS(ROW) \
  CATENA_CREATION_ROWS(ROW) \
  CATENA_OPTIMIZER_ROWS(ROW)
// clang-format on
