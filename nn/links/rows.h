// Layers that are applied to the last axis of sequences (B, L, n). Internal to nn/links.
#pragma once

#include <catena/nn/functions/array.h>
#include <catena/nn/functions/connection.h>
#include <catena/nn/links/linear.h>

namespace nn::internal {

inline Variable linear_rows(const Variable& x, const Variable& W, const Variable& b) {
  const std::int64_t rows = x.shape(0) * x.shape(1);
  return reshape(linear(reshape(x, {rows, x.shape(2)}), W, b), {x.shape(0), x.shape(1), W.shape(0)});
}
inline Variable linear_rows(Linear& layer, const Variable& x) {
  return linear_rows(x, layer.W, layer.b ? static_cast<const Variable&>(*layer.b) : Variable());
}

}  // namespace nn::internal
