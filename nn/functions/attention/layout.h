// Shapes of attention: heads in groups that share keys and values. Internal to this folder.
#pragma once

#include <catena/nn/functions/composed.h>

namespace nn::internal {

// The lengths of an attention. Canonical operands are q (lead..., heads, groups, queries, depth), k (lead..., heads, 1,
// keys, depth), v (lead..., heads, 1, keys, values) and the mask (lead..., heads, groups, queries, keys); the result is
// (lead..., heads * groups, queries, values), without the axis of heads if no operand has one.
struct AttentionLayout {
  Shape lead;
  std::int64_t heads = 1, groups = 1, queries = 0, keys = 0, depth = 0, values = 0;
  bool has_heads = false;

  // InvalidType if the shapes do not fit each other.
  AttentionLayout(const Shape& q, const Shape& k, const Shape& v);
  // The shapes of the result and, with all leading axes, of the operands as the caller gives them.
  Shape of_queries(std::int64_t columns) const { return with_heads(heads * groups, queries, columns); }
  Shape of_keys(std::int64_t columns) const { return with_heads(heads, keys, columns); }

  // Canonical views of an operand, broadcast; `shared`: it has one head for each group.
  Array view(const Array& a, bool shared, std::int64_t rows, std::int64_t columns) const;
  // The same with axes of length 1 where the operand is broadcast.
  Variable grouped(const Variable& x, bool shared) const;

 private:
  Shape with_heads(std::int64_t n, std::int64_t rows, std::int64_t columns) const;
};

}  // namespace nn::internal
