// The loops over one row of a tile of scores: the scores of one query and a block of keys. Internal to attention.cpp.
#pragma once

#include <cstdint>

namespace nd::cpu {

// Rows are processed in blocks of this many columns, and memory for them is a multiple of it.
inline constexpr std::int64_t kScoreBlock = 32;
constexpr std::int64_t whole_blocks(std::int64_t n) { return (n + kScoreBlock - 1) / kScoreBlock * kScoreBlock; }

// For T float and double.
template <class T> struct ScoreRow {
  T* products;            // of the query and the keys
  const T* mask;          // added to the scaled products; may be null
  std::int64_t from, to;  // the columns of the keys that the query sees; from <= to
  std::int64_t n;         // columns
  T scale;
};

// A softmax whose terms come block by block: the largest score so far, and the sum of exp(score - largest).
template <class T> struct RunningSoftmax { T largest, sum; };

// Replaces the products by exp(score - largest) for the largest score so far, and takes them into `state`. Returns the
// factor exp(largest before - largest) of the earlier terms.
template <class T> T softmax_step(const ScoreRow<T>& row, RunningSoftmax<T>& state);
// Replaces the products by the weights p = exp(score - log_sum), and the gradients gp of the weights by the gradients
// of the products, scale p (gp - delta).
template <class T> void softmax_gradient(const ScoreRow<T>& row, T* gp, T log_sum, T delta);
// to = factor * from; the two may be one row.
template <class T> void scale_row(const T* from, T factor, T* to, std::int64_t n);
template <class T> T row_product(const T* a, const T* b, std::int64_t n);

}  // namespace nd::cpu
