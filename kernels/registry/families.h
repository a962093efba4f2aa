// All families of kernels. The list is explicit instead of being built by static initialisers, so that linking a static
// library needs no whole-archive.
#pragma once

#include <catena/kernels/registry/families/activation.h>
#include <catena/kernels/registry/families/bits.h>
#include <catena/kernels/registry/families/cell.h>
#include <catena/kernels/registry/families/creation.h>
#include <catena/kernels/registry/families/dropout.h>
#include <catena/kernels/registry/families/elementwise.h>
#include <catena/kernels/registry/families/extremum.h>
#include <catena/kernels/registry/families/im2col.h>
#include <catena/kernels/registry/families/logical.h>
#include <catena/kernels/registry/families/loss.h>
#include <catena/kernels/registry/families/normalization.h>
#include <catena/kernels/registry/families/optimizer.h>
#include <catena/kernels/registry/families/pooling.h>
#include <catena/kernels/registry/families/random.h>
#include <catena/kernels/registry/families/random_distributions.h>
#include <catena/kernels/registry/families/search.h>
#include <catena/kernels/registry/families/segment.h>
#include <catena/kernels/registry/families/softmax.h>
#include <catena/kernels/registry/families/statistics.h>
#include <catena/kernels/registry/families/sum.h>

// clang-format off
#define CATENA_ALL_KERNELS(KERNEL) \
  CATENA_ELEMENTWISE_KERNELS(KERNEL) \
  CATENA_SUM_KERNELS(KERNEL) \
  CATENA_EXTREMUM_KERNELS(KERNEL) \
  CATENA_LOGICAL_KERNELS(KERNEL) \
  CATENA_STATISTICS_KERNELS(KERNEL) \
  CATENA_SOFTMAX_KERNELS(KERNEL) \
  CATENA_LOSS_KERNELS(KERNEL) \
  CATENA_NORMALIZATION_KERNELS(KERNEL) \
  CATENA_ACTIVATION_KERNELS(KERNEL) \
  CATENA_CELL_KERNELS(KERNEL) \
  CATENA_POOLING_KERNELS(KERNEL) \
  CATENA_IM2COL_KERNELS(KERNEL) \
  CATENA_DROPOUT_KERNELS(KERNEL) \
  CATENA_RANDOM_KERNELS(KERNEL) \
  CATENA_RANDOM_DISTRIBUTION_KERNELS(KERNEL) \
  CATENA_SEARCH_KERNELS(KERNEL) \
  CATENA_SEGMENT_KERNELS(KERNEL) \
  CATENA_BITS_KERNELS(KERNEL) \
  CATENA_CREATION_KERNELS(KERNEL) \
  CATENA_OPTIMIZER_KERNELS(KERNEL)
// clang-format on
