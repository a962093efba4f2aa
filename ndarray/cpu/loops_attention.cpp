#include <algorithm>

#include <catena/kernels/exp_log.h>
#include <catena/kernels/numeric.h>
#include <catena/kernels/registry/multiarch.h>
#include <catena/ndarray/cpu/attention_rows.h>

namespace nd::cpu {
namespace {

using catena::limits;

// e^x for x <= 0; NaN gives NaN.
template <class T> ND_FN T exponential(T x) {
  const T e = catena::exp_of_negative(x);
  return x == x ? e : x;
}

// Writes 0 to the columns that the query does not see. Returns the columns from which, and up to which (`end`), blocks
// have one that it sees; both are the end of the row if it sees none.
template <class T> ND_FN std::int64_t hide(const ScoreRow<T>& row, std::int64_t& end) {
  const std::int64_t all = whole_blocks(row.n);
  std::fill(row.products, row.products + row.from, T(0));
  std::fill(row.products + row.to, row.products + all, T(0));
  end = row.from < row.to ? whole_blocks(row.to) : all;
  return row.from < row.to ? row.from / kScoreBlock * kScoreBlock : all;
}

// Computes the scores of blocks: -infinity in columns that the query does not see.
template <class T, bool kMasked> struct Scores {
  const T* products;
  const T* mask;
  std::int64_t from, to;
  T scale;

  ND_FN bool is_whole(std::int64_t i) const { return from <= i && i + kScoreBlock <= to; }
  ND_FN T score(std::int64_t i) const {
    if constexpr (kMasked) return products[i] * scale + mask[i];
    else return products[i] * scale;
  }
  ND_FN void block(std::int64_t i, T* out) const {
    for (std::int64_t l = 0; l < kScoreBlock; ++l) out[l] = score(i + l);
    if (is_whole(i)) return;
    for (std::int64_t l = 0; l < kScoreBlock; ++l) {
      const bool seen = (i + l >= from) & (i + l < to);
      out[l] = seen ? out[l] : limits<T>::min();
    }
  }
};

template <class T> ND_FN T sum_of(T* part) {
  for (std::int64_t half = kScoreBlock / 2; half > 0; half /= 2)
    for (std::int64_t l = 0; l < half; ++l) part[l] += part[l + half];
  return part[0];
}

template <class T, bool kMasked> ND_FN T step(const ScoreRow<T>& row, RunningSoftmax<T>& state) {
  std::int64_t end;
  const std::int64_t begin = hide(row, end);
  const Scores<T, kMasked> scores{row.products, row.mask, row.from, row.to, row.scale};
  T top[kScoreBlock], score[kScoreBlock], part[kScoreBlock] = {};
  for (std::int64_t l = 0; l < kScoreBlock; ++l) top[l] = state.largest;
  for (std::int64_t i = begin; i < end; i += kScoreBlock) {
    scores.block(i, score);
    for (std::int64_t l = 0; l < kScoreBlock; ++l) top[l] = score[l] > top[l] ? score[l] : top[l];
  }
  for (std::int64_t half = kScoreBlock / 2; half > 0; half /= 2)
    for (std::int64_t l = 0; l < half; ++l) top[l] = top[l + half] > top[l] ? top[l + half] : top[l];
  const T largest = top[0], shift = largest == limits<T>::min() ? T(0) : largest;
  for (std::int64_t i = begin; i < end; i += kScoreBlock) {
    scores.block(i, score);
    for (std::int64_t l = 0; l < kScoreBlock; ++l) {
      const T e = exponential(score[l] - shift);
      row.products[i + l] = e;
      part[l] += e;
    }
  }
  const T factor = state.largest == largest ? T(1) : exponential(state.largest - shift);
  state.sum = state.sum * factor + sum_of(part);
  state.largest = largest;
  return factor;
}

template <class T, bool kMasked> ND_FN void gradient(const ScoreRow<T>& row, T* gp, T log_sum, T delta) {
  std::int64_t end;
  const std::int64_t begin = hide(row, end), all = whole_blocks(row.n);
  std::fill(gp, gp + begin, T(0));
  std::fill(gp + end, gp + all, T(0));
  const Scores<T, kMasked> scores{row.products, row.mask, row.from, row.to, row.scale};
  T score[kScoreBlock], weight[kScoreBlock];
  for (std::int64_t i = begin; i < end; i += kScoreBlock) {
    scores.block(i, score);
    for (std::int64_t l = 0; l < kScoreBlock; ++l) weight[l] = exponential(score[l] - log_sum);
    for (std::int64_t l = 0; l < kScoreBlock; ++l) {
      const T g = weight[l] * (gp[i + l] - delta) * scores.scale;
      gp[i + l] = weight[l] == T(0) ? T(0) : g;
    }
    std::copy(weight, weight + kScoreBlock, row.products + i);
  }
}

template <class T> CATENA_MULTIARCH T plain_step(const ScoreRow<T>& row, RunningSoftmax<T>& state) {
  return step<T, false>(row, state);
}
template <class T> CATENA_MULTIARCH T masked_step(const ScoreRow<T>& row, RunningSoftmax<T>& state) {
  return step<T, true>(row, state);
}
template <class T> CATENA_MULTIARCH void plain_gradient(const ScoreRow<T>& row, T* gp, T log_sum, T delta) {
  gradient<T, false>(row, gp, log_sum, delta);
}
template <class T> CATENA_MULTIARCH void masked_gradient(const ScoreRow<T>& row, T* gp, T log_sum, T delta) {
  gradient<T, true>(row, gp, log_sum, delta);
}
template <class T> CATENA_MULTIARCH void scale_elements(const T* from, T factor, T* to, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) to[i] = factor * from[i];
}
template <class T> CATENA_MULTIARCH T product_of(const T* a, const T* b, std::int64_t n) {
  T part[kScoreBlock] = {};
  std::int64_t i = 0;
  for (; i + kScoreBlock <= n; i += kScoreBlock)
    for (std::int64_t l = 0; l < kScoreBlock; ++l) part[l] += a[i + l] * b[i + l];
  for (std::int64_t l = 0; i + l < n; ++l) part[l] += a[i + l] * b[i + l];
  return sum_of(part);
}

}  // namespace

template <class T> T softmax_step(const ScoreRow<T>& row, RunningSoftmax<T>& state) {
  return row.mask ? masked_step(row, state) : plain_step(row, state);
}
template <class T> void softmax_gradient(const ScoreRow<T>& row, T* gp, T log_sum, T delta) {
  row.mask ? masked_gradient(row, gp, log_sum, delta) : plain_gradient(row, gp, log_sum, delta);
}
template <class T> void scale_row(const T* from, T factor, T* to, std::int64_t n) {
  scale_elements(from, factor, to, n);
}
template <class T> T row_product(const T* a, const T* b, std::int64_t n) { return product_of(a, b, n); }

#define CATENA_ATTENTION_ROWS(T)                                   \
  template T softmax_step(const ScoreRow<T>&, RunningSoftmax<T>&); \
  template void softmax_gradient(const ScoreRow<T>&, T*, T, T);    \
  template void scale_row(const T*, T, T*, std::int64_t);          \
  template T row_product(const T*, const T*, std::int64_t);
CATENA_ATTENTION_ROWS(float)
CATENA_ATTENTION_ROWS(double)
#undef CATENA_ATTENTION_ROWS

}  // namespace nd::cpu
