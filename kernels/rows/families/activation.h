// The rows of kernels/nn/activation.h.
#pragma once

#include <catena/kernels/rows/family.h>

// clang-format off
#define CATENA_ACTIVATION_ROWS(ROW) \
  ROW(relu, internal)             \
  ROW(relu_bwd, internal)         \
  ROW(clipped_relu, internal)     \
  ROW(clipped_relu_bwd, internal) \
  ROW(sigmoid, internal)          \
  ROW(sigmoid_bwd, internal)      \
  ROW(tanh_bwd, internal)         \
  ROW(leaky_relu, internal)       \
  ROW(leaky_relu_bwd, internal)   \
  ROW(elu, internal)              \
  ROW(elu_bwd, internal)          \
  ROW(softplus, internal)         \
  ROW(softplus_bwd, internal)     \
  ROW(hard_sigmoid, internal)     \
  ROW(hard_sigmoid_bwd, internal)
// clang-format on

namespace catena::rows {
CATENA_ACTIVATION_ROWS(CATENA_DECLARE_ROW)
}
