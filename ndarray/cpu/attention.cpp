#include <catena/ndarray/cpu/attention.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include <catena/kernels/base/parallel.h>
#include <catena/kernels/registry/cast.h>
#include <catena/ndarray/cpu/attention_rows.h>
#include <catena/ndarray/cpu/gemm.h>
#include <catena/ndarray/cpu/workspace.h>

namespace nd::cpu {
namespace {

using catena::ArrayHeader;
using catena::Dtype;
using catena::Shape;
using catena::Strides;

// The queries and the keys of a tile at most: the scores and a block of every operand stay in the cache of a core. The
// results depend on these numbers, but not on the number of threads.
constexpr std::int64_t kQueries = 128, kKeys = 256;

std::int64_t blocks_of(std::int64_t n, std::int64_t length) { return (n + length - 1) / length; }

// Returns the fastest product for tiles; its library is loaded once.
Multiply tile_product(Dtype dtype) {
  if (onednn_takes(dtype)) return onednn_gemm();
  if (openblas_takes(dtype, {}) && openblas_knows_processor()) return openblas_gemm();
  return [](Dtype t, const Gemm& g) {
    gemm_portable(t, g);
    return true;
  };
}

// A matrix of an operand: the last two axes for one index of the others.
struct Matrix {
  std::byte* data;
  Dtype dtype;
  std::int64_t row, column;  // strides in bytes
};

// An operand (..., G, rows, columns), of which matrices are taken by the index of the leading axes and the group.
class Operand {
 public:
  explicit Operand(const ArrayHeader& h) : h_(h), rank_(h.shape.size()) {}
  std::int64_t length(int axis_from_end) const { return h_.shape[rank_ - axis_from_end]; }
  Matrix matrix(std::int64_t outer, std::int64_t group) const {
    std::byte* data = h_.data + group * h_.strides[rank_ - 3];
    for (int axis = rank_ - 4; axis >= 0; --axis) {
      data += outer % h_.shape[axis] * h_.strides[axis];
      outer /= h_.shape[axis];
    }
    return {data, h_.dtype, h_.strides[rank_ - 2], h_.strides[rank_ - 1]};
  }

 private:
  const ArrayHeader& h_;
  int rank_;
};

// Rows of a matrix in the dtype of the computation: `step` elements apart.
template <class T> struct Rows {
  const T* data;
  std::int64_t step;
};

// Scratch memory of one thread, in parts.
template <class T> class Scratch {
 public:
  explicit Scratch(std::int64_t elements) : memory_(std::size_t(elements) * sizeof(T) + 64 * kParts) {
    next_ = reinterpret_cast<T*>(memory_.data());
  }
  T* take(std::int64_t elements) {
    T* const part = next_;
    next_ += round_up_64(std::size_t(elements) * sizeof(T)) / sizeof(T);
    return part;
  }
  static constexpr std::size_t kParts = 16;

 private:
  Workspace memory_;
  T* next_;
};

template <class T> class Tiles {
 public:
  explicit Tiles(const Attention& a) : q_(a.q), k_(a.k), v_(a.v), a_(a), multiply_(tile_product(catena::dtype_of<T>)) {
    groups_ = q_.length(3);
    queries_ = q_.length(2);
    keys_ = k_.length(2);
    depth_ = q_.length(1);
    values_ = v_.length(1);
    outer_ = 1;
    for (int i = 0; i + 3 < a.q.shape.size(); ++i) outer_ *= a.q.shape[i];
    query_block_ = std::clamp<std::int64_t>(queries_, 1, kQueries);
    key_block_ = std::clamp<std::int64_t>(keys_, 1, kKeys);
    score_step_ = whole_blocks(key_block_);
  }

 protected:
  // The keys that the query sees.
  std::int64_t first_key(std::int64_t query) const {
    return a_.window > 0 ? std::clamp<std::int64_t>(query + a_.offset - a_.window + 1, 0, keys_) : 0;
  }
  std::int64_t last_key(std::int64_t query) const {
    std::int64_t end = keys_;
    if (a_.causal) end = query + a_.offset + 1;
    else if (a_.window > 0) end = query + a_.offset + a_.window;
    return std::clamp<std::int64_t>(end, 0, keys_);
  }

  // Reads rows of a matrix in place, or converts them to `memory`.
  Rows<T> read(const Matrix& m, std::int64_t begin, std::int64_t rows, std::int64_t columns, T* memory) const {
    std::byte* const data = m.data + begin * m.row;
    if (lies_in_rows(m, rows, columns)) return {reinterpret_cast<const T*>(data), rows > 1 ? m.row / kItem : columns};
    const catena::CastFn cast = catena::cast_function(m.dtype, catena::dtype_of<T>);
    for (std::int64_t i = 0; i < rows; ++i)
      cast(data + i * m.row, m.column, reinterpret_cast<std::byte*>(memory + i * columns), kItem, columns);
    return {memory, columns};
  }
  static void write(const Matrix& m, std::int64_t begin, std::int64_t rows, std::int64_t columns, const T* from) {
    const catena::CastFn cast = catena::cast_function(catena::dtype_of<T>, m.dtype);
    for (std::int64_t i = 0; i < rows; ++i)
      cast(reinterpret_cast<const std::byte*>(from + i * columns), kItem, m.data + (begin + i) * m.row, m.column,
           columns);
  }
  // Reads the mask of a tile; its rows begin at whole blocks, and step is 0 if all are the same.
  Rows<T> read_mask(std::int64_t outer, std::int64_t group, std::int64_t query, std::int64_t queries, std::int64_t key,
                    std::int64_t keys, T* memory) const {
    if (a_.mask == nullptr) return {nullptr, 0};
    const Matrix m = Operand(*a_.mask).matrix(outer, group);
    const catena::CastFn cast = catena::cast_function(m.dtype, catena::dtype_of<T>);
    const std::int64_t rows = m.row == 0 ? 1 : queries;
    for (std::int64_t i = 0; i < rows; ++i) {
      T* const row = memory + i * score_step_;
      cast(m.data + (query + i) * m.row + key * m.column, m.column, reinterpret_cast<std::byte*>(row), kItem, keys);
      if (m.dtype == Dtype::bool_)
        for (std::int64_t j = 0; j < keys; ++j) row[j] = row[j] != T(0) ? T(0) : -std::numeric_limits<T>::infinity();
      std::fill(row + keys, row + whole_blocks(keys), T(0));
    }
    return {memory, m.row == 0 ? 0 : score_step_};
  }
  ScoreRow<T> score_row(T* products, const Rows<T>& mask, std::int64_t i, std::int64_t query, std::int64_t key,
                        std::int64_t keys) const {
    const std::int64_t from = std::clamp<std::int64_t>(first_key(query + i) - key, 0, keys);
    const std::int64_t to = std::clamp<std::int64_t>(last_key(query + i) - key, from, keys);
    return {products + i * score_step_, mask.data ? mask.data + i * mask.step : nullptr, from, to, keys, T(a_.scale)};
  }

  // c (m x n) = or += op(a) op(b)
  void multiply(bool transpose_a, bool transpose_b, std::int64_t m, std::int64_t n, std::int64_t k, const Rows<T>& a,
                const Rows<T>& b, T* c, std::int64_t c_step, bool accumulate) const {
    const Gemm g{.transpose_a = transpose_a,
                 .transpose_b = transpose_b,
                 .m = m,
                 .n = n,
                 .k = k,
                 .a = reinterpret_cast<const std::byte*>(a.data),
                 .lda = a.step,
                 .b = reinterpret_cast<const std::byte*>(b.data),
                 .ldb = b.step,
                 .c = reinterpret_cast<std::byte*>(c),
                 .ldc = c_step,
                 .accumulate = accumulate};
    // The overhead of a library exceeds a tiny product.
    constexpr std::int64_t kTiny = 32 * 32 * 32, kFewRows = 4;
    const bool tiny = m * n * k <= kTiny || (m <= kFewRows && !accumulate);
    if (tiny || !multiply_(catena::dtype_of<T>, g)) gemm_portable(catena::dtype_of<T>, g);
  }

  static bool lies_in_rows(const Matrix& m, std::int64_t rows, std::int64_t columns) {
    return m.dtype == catena::dtype_of<T> && (columns == 1 || m.column == kItem) &&
           (rows == 1 || (m.row % kItem == 0 && m.row / kItem >= columns));
  }

  static constexpr auto kItem = std::int64_t(sizeof(T));
  Operand q_, k_, v_;
  const Attention& a_;
  Multiply multiply_;
  std::int64_t outer_, groups_, queries_, keys_, depth_, values_;
  std::int64_t query_block_, key_block_, score_step_;
};

template <class T> class Forward : Tiles<T> {
  using Base = Tiles<T>;
  using Base::a_, Base::depth_, Base::groups_, Base::key_block_, Base::keys_, Base::outer_, Base::queries_,
      Base::query_block_, Base::score_step_, Base::values_;

 public:
  Forward(const Attention& a, const ArrayHeader& y, T* log_sums) : Base(a), y_(y), log_sums_(log_sums) {}

  void run() const {
    const std::int64_t blocks = blocks_of(queries_, query_block_);
    catena::parallel_for(outer_ * groups_ * blocks, 1, [&](std::int64_t begin, std::int64_t end) {
      const catena::SingleThreadedLibraries single;
      Memory memory(*this);
      // The last block comes first: with a causal mask it takes longest.
      for (std::int64_t u = begin; u < end; ++u)
        run_block(memory, u / blocks / groups_, u / blocks % groups_, (blocks - 1 - u % blocks) * query_block_);
    });
  }

 private:
  struct Memory {
    Scratch<T> all;
    T *scores, *sums, *q, *k, *v, *mask;
    RunningSoftmax<T> state[kQueries];
    explicit Memory(const Forward& f)
        : all(f.query_block_ * (f.score_step_ * (f.a_.mask ? 2 : 1) + f.depth_ + f.values_) +
              f.key_block_ * (f.depth_ + f.values_)),
          scores(all.take(f.query_block_ * f.score_step_)),
          sums(all.take(f.query_block_ * f.values_)),
          q(all.take(f.query_block_ * f.depth_)),
          k(all.take(f.key_block_ * f.depth_)),
          v(all.take(f.key_block_ * f.values_)),
          mask(f.a_.mask ? all.take(f.query_block_ * f.score_step_) : nullptr) {}
  };

  void run_block(Memory& memory, std::int64_t outer, std::int64_t group, std::int64_t query) const {
    const std::int64_t rows = std::min(query_block_, queries_ - query);
    const Rows<T> q = Base::read(this->q_.matrix(outer, group), query, rows, depth_, memory.q);
    const Matrix k = this->k_.matrix(outer, 0), v = this->v_.matrix(outer, 0);
    std::fill(memory.state, memory.state + rows, RunningSoftmax<T>{-std::numeric_limits<T>::infinity(), 0});
    std::fill(memory.sums, memory.sums + rows * values_, T(0));
    const std::int64_t first = Base::first_key(query) / key_block_ * key_block_;
    const std::int64_t end = Base::last_key(query + rows - 1);
    for (std::int64_t key = first; key < end; key += key_block_) {
      const std::int64_t n = std::min(key_block_, keys_ - key);
      Base::multiply(false, true, rows, n, depth_, q, Base::read(k, key, n, depth_, memory.k), memory.scores,
                     score_step_, false);
      const Rows<T> mask = Base::read_mask(outer, group, query, rows, key, n, memory.mask);
      for (std::int64_t i = 0; i < rows; ++i) {
        const T factor = softmax_step(Base::score_row(memory.scores, mask, i, query, key, n), memory.state[i]);
        if (key > first && factor != T(1))
          scale_row(memory.sums + i * values_, factor, memory.sums + i * values_, values_);
      }
      Base::multiply(false, false, rows, values_, n, {memory.scores, score_step_},
                     Base::read(v, key, n, values_, memory.v), memory.sums, values_, key > first);
    }
    finish(memory, outer, group, query, rows);
  }

  void finish(Memory& memory, std::int64_t outer, std::int64_t group, std::int64_t query, std::int64_t rows) const {
    T* const log_sums = log_sums_ + (outer * groups_ + group) * queries_ + query;
    for (std::int64_t i = 0; i < rows; ++i) {
      const auto [largest, sum] = memory.state[i];
      const bool sees_none = sum == T(0);
      log_sums[i] = sees_none ? std::numeric_limits<T>::infinity() : largest + std::log(sum);
      scale_row(memory.sums + i * values_, sees_none ? T(0) : T(1) / sum, memory.sums + i * values_, values_);
    }
    Base::write(y_.matrix(outer, group), query, rows, values_, memory.sums);
  }

  Operand y_;
  T* log_sums_;
};

// The gradients of the weights are gy v^T, and those of the products scale p (gp - sum(gy y)).
template <class T> class Backward : Tiles<T> {
  using Base = Tiles<T>;
  using Base::a_, Base::depth_, Base::groups_, Base::key_block_, Base::keys_, Base::outer_, Base::queries_,
      Base::query_block_, Base::score_step_, Base::values_;

 public:
  Backward(const Attention& a, const ArrayHeader& y, const T* log_sums, const ArrayHeader& gy, const ArrayHeader& gq,
           const ArrayHeader& gk, const ArrayHeader& gv)
      : Base(a),
        y_(y),
        gy_(gy),
        gq_(gq),
        gk_(gk),
        gv_(gv),
        log_sums_(log_sums),
        delta_(std::size_t(outer_ * groups_ * queries_) * sizeof(T)) {}

  void run() const {
    find_delta();
    const std::int64_t threads = catena::available_threads();
    // One pass over the tiles of a head computes five products per tile. If the heads do not occupy all threads, a pass
    // over the keys computes the gradients of k and v, and one over the queries those of q: seven products.
    const bool few = outer_ % threads != 0 && outer_ < 4 * threads;
    if (!few) return in_parallel(outer_, true, true, [&](Memory& m, std::int64_t u) { run_head(m, u); });
    const std::int64_t keys = blocks_of(keys_, key_block_), queries = blocks_of(queries_, query_block_);
    in_parallel(outer_ * keys, true, false,
                [&](Memory& m, std::int64_t u) { run_keys(m, u / keys, u % keys * key_block_); });
    in_parallel(outer_ * groups_ * queries, false, true, [&](Memory& m, std::int64_t u) {
      run_queries(m, u / queries / groups_, u / queries % groups_, (queries - 1 - u % queries) * query_block_);
    });
  }

 private:
  struct Memory {
    Scratch<T> all;
    T *scores, *gscores, *q, *gy, *k, *v, *mask, *gk, *gv, *gq;
    bool keys, queries;  // the gradients that are computed
    Memory(const Backward& b, bool keys_, bool queries_, std::int64_t rows_of_gq)
        : all(b.query_block_ * (b.score_step_ * (b.a_.mask ? 3 : 2) + b.depth_ + b.values_) +
              2 * b.key_block_ * (b.depth_ + b.values_) + rows_of_gq * b.depth_),
          scores(all.take(b.query_block_ * b.score_step_)),
          gscores(all.take(b.query_block_ * b.score_step_)),
          q(all.take(b.query_block_ * b.depth_)),
          gy(all.take(b.query_block_ * b.values_)),
          k(all.take(b.key_block_ * b.depth_)),
          v(all.take(b.key_block_ * b.values_)),
          mask(b.a_.mask ? all.take(b.query_block_ * b.score_step_) : nullptr),
          gk(all.take(b.key_block_ * b.depth_)),
          gv(all.take(b.key_block_ * b.values_)),
          gq(all.take(rows_of_gq * b.depth_)),
          keys(keys_),
          queries(queries_) {}
  };
  struct Tile {
    std::int64_t outer, group, query, rows, key, n;
  };

  template <class F> void in_parallel(std::int64_t units, bool keys, bool queries, F&& f) const {
    const std::int64_t rows_of_gq = !queries ? 0 : keys ? groups_ * queries_ : query_block_;
    catena::parallel_for(units, 1, [&](std::int64_t begin, std::int64_t end) {
      const catena::SingleThreadedLibraries single;
      Memory memory(*this, keys, queries, rows_of_gq);
      for (std::int64_t u = begin; u < end; ++u) f(memory, u);
    });
  }
  std::int64_t row_of(std::int64_t outer, std::int64_t group, std::int64_t query) const {
    return (outer * groups_ + group) * queries_ + query;
  }
  T* delta() const { return reinterpret_cast<T*>(delta_.data()); }

  void find_delta() const {
    const std::int64_t blocks = blocks_of(queries_, query_block_);
    constexpr std::int64_t kGrain = 4;
    catena::parallel_for(outer_ * groups_ * blocks, kGrain, [&](std::int64_t begin, std::int64_t end) {
      Scratch<T> memory(2 * query_block_ * values_);
      T *const y_memory = memory.take(query_block_ * values_), *const gy_memory = memory.take(query_block_ * values_);
      for (std::int64_t u = begin; u < end; ++u) {
        const std::int64_t outer = u / blocks / groups_, group = u / blocks % groups_,
                           query = u % blocks * query_block_;
        const std::int64_t rows = std::min(query_block_, queries_ - query);
        const Rows<T> y = Base::read(y_.matrix(outer, group), query, rows, values_, y_memory);
        const Rows<T> gy = Base::read(gy_.matrix(outer, group), query, rows, values_, gy_memory);
        for (std::int64_t i = 0; i < rows; ++i)
          delta()[row_of(outer, group, query + i)] = row_product(y.data + i * y.step, gy.data + i * gy.step, values_);
      }
    });
  }

  // The gradients of one head of keys and its queries.
  void run_head(Memory& memory, std::int64_t outer) const {
    std::fill(memory.gq, memory.gq + groups_ * queries_ * depth_, T(0));
    for (std::int64_t key = 0; key < keys_; key += key_block_) run_keys(memory, outer, key);
    for (std::int64_t group = 0; group < groups_; ++group)
      Base::write(gq_.matrix(outer, group), 0, queries_, depth_, memory.gq + group * queries_ * depth_);
  }

  void run_keys(Memory& memory, std::int64_t outer, std::int64_t key) const {
    const std::int64_t n = std::min(key_block_, keys_ - key);
    std::fill(memory.gk, memory.gk + n * depth_, T(0));
    std::fill(memory.gv, memory.gv + n * values_, T(0));
    const Rows<T> k = Base::read(this->k_.matrix(outer, 0), key, n, depth_, memory.k);
    const Rows<T> v = Base::read(this->v_.matrix(outer, 0), key, n, values_, memory.v);
    for (std::int64_t group = 0; group < groups_; ++group)
      for (std::int64_t query = 0; query < queries_; query += query_block_) {
        const std::int64_t rows = std::min(query_block_, queries_ - query);
        if (key >= Base::last_key(query + rows - 1) || key + n <= Base::first_key(query)) continue;
        run_tile(memory, {outer, group, query, rows, key, n}, k, v,
                 memory.queries ? memory.gq + (group * queries_ + query) * depth_ : nullptr);
      }
    Base::write(gk_.matrix(outer, 0), key, n, depth_, memory.gk);
    Base::write(gv_.matrix(outer, 0), key, n, values_, memory.gv);
  }

  void run_queries(Memory& memory, std::int64_t outer, std::int64_t group, std::int64_t query) const {
    const std::int64_t rows = std::min(query_block_, queries_ - query);
    std::fill(memory.gq, memory.gq + rows * depth_, T(0));
    const Matrix k = this->k_.matrix(outer, 0), v = this->v_.matrix(outer, 0);
    const std::int64_t end = Base::last_key(query + rows - 1);
    for (std::int64_t key = Base::first_key(query) / key_block_ * key_block_; key < end; key += key_block_) {
      const std::int64_t n = std::min(key_block_, keys_ - key);
      run_tile(memory, {outer, group, query, rows, key, n}, Base::read(k, key, n, depth_, memory.k),
               Base::read(v, key, n, values_, memory.v), memory.gq);
    }
    Base::write(gq_.matrix(outer, group), query, rows, depth_, memory.gq);
  }

  // Adds what the tile contributes to the gradients of its keys and queries.
  void run_tile(Memory& memory, const Tile& t, const Rows<T>& k, const Rows<T>& v, T* gq) const {
    const Rows<T> q = Base::read(this->q_.matrix(t.outer, t.group), t.query, t.rows, depth_, memory.q);
    const Rows<T> gy = Base::read(gy_.matrix(t.outer, t.group), t.query, t.rows, values_, memory.gy);
    const Rows<T> p{memory.scores, score_step_}, gp{memory.gscores, score_step_};
    Base::multiply(false, true, t.rows, t.n, depth_, q, k, memory.scores, score_step_, false);
    Base::multiply(false, true, t.rows, t.n, values_, gy, v, memory.gscores, score_step_, false);
    const Rows<T> mask = Base::read_mask(t.outer, t.group, t.query, t.rows, t.key, t.n, memory.mask);
    const std::int64_t first = row_of(t.outer, t.group, t.query);
    for (std::int64_t i = 0; i < t.rows; ++i)
      softmax_gradient(Base::score_row(memory.scores, mask, i, t.query, t.key, t.n), memory.gscores + i * score_step_,
                       log_sums_[first + i], delta()[first + i]);
    if (memory.keys) {
      Base::multiply(true, false, t.n, values_, t.rows, p, gy, memory.gv, values_, true);
      Base::multiply(true, false, t.n, depth_, t.rows, gp, q, memory.gk, depth_, true);
    }
    if (gq) Base::multiply(false, false, t.rows, depth_, t.n, gp, k, gq, depth_, true);
  }

  Operand y_, gy_, gq_, gk_, gv_;
  const T* log_sums_;
  Workspace delta_;
};

template <class F> void with_type(Dtype compute, F&& f) {
  if (compute == Dtype::float64) f(double());
  else f(float());
}

}  // namespace

void attention(const Attention& a, const ArrayHeader& y, const ArrayHeader& log_sums) {
  if (log_sums.size == 0) return;
  with_type(log_sums.dtype, [&](auto type) {
    using T = decltype(type);
    Forward<T>(a, y, reinterpret_cast<T*>(log_sums.data)).run();
  });
}

void attention_backward(const Attention& a, const ArrayHeader& y, const ArrayHeader& log_sums, const ArrayHeader& gy,
                        const ArrayHeader& gq, const ArrayHeader& gk, const ArrayHeader& gv) {
  if (gq.size == 0 && gk.size == 0 && gv.size == 0) return;
  with_type(log_sums.dtype, [&](auto type) {
    using T = decltype(type);
    Backward<T>(a, y, reinterpret_cast<const T*>(log_sums.data), gy, gq, gk, gv).run();
  });
}

}  // namespace nd::cpu
