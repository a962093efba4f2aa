// Pooling over windows of (n, c, h, w) images.
#pragma once

#include <optional>

#include <catena/nn/functions/connection.h>

namespace nn {

struct MaxPoolingOptions {
  std::optional<Pair> stride = {};  // default: ksize
  Pair pad = 0;                     // padded with -infinity
  bool cover_all = true;
};
// The gradient goes to the first maximum of a window in row-major order.
CATENA_EXPORT Variable max_pooling_2d(const Variable& x, Pair ksize, const MaxPoolingOptions& options = {});

struct AveragePoolingOptions {
  std::optional<Pair> stride = {};  // default: ksize
  Pair pad = 0;                     // zeros that count in the divisor kh kw
};
CATENA_EXPORT Variable average_pooling_2d(const Variable& x, Pair ksize, const AveragePoolingOptions& options = {});

}  // namespace nn
