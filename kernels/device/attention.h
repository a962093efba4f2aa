// Attention in tiles, as in FlashAttention-2 (Dao 2023): y = softmax(scale q k^T + mask) v without the scores in
// memory. The forward pass keeps the logarithm of the sum of exp(scores) of each query, from which the two kernels of
// the backward pass compute the weights again: one per block of queries for the gradient of q, one per block of keys
// for those of k and v. Each gradient is added up by one block, in the order of the tiles, so results are the same in
// every launch.
#pragma once

#include <catena/kernels/device/attention_parameters.h>
#include <catena/kernels/device/attention_tiles.h>

namespace catena::device {

enum class AttentionMask : int { none, seen, added };  // seen: bool, true where a query sees a key

// Tiles: TensorTiles or FmaTiles.
template <class Tiles, AttentionMask Mask> struct Attention {
  using T = typename Tiles::Stored;
  using P = AttentionParameters;
  using Own = typename Tiles::Own;
  enum : int { R = Tiles::kOwnRows, C = Tiles::kScores, W = Tiles::kResults };
  enum : int { kRows = Tiles::kRows, kColumns = Tiles::kColumns };
  static ND_FN constexpr int bytes(int owns) { return Tiles::elements(owns) * int(sizeof(typename Tiles::Element)); }

  static ND_FN float infinity() { return bit_cast<float>(0x7f800000u); }

  // ---- the place of a block in the operands -------------------------------------------------------
  struct Head {
    uint32_t axis[kAttentionAxes];
    uint32_t number, group;
    ND_FN Head(const P& p, uint32_t head, uint32_t g) : number(head), group(g) {
      ND_UNROLL
      for (int a = kAttentionAxes - 1; a >= 0; --a) {
        const uint32_t length = uint32_t(p.length[a]);
        axis[a] = head % length;
        head /= length;
      }
    }
    ND_FN char* of(const AttentionOperand& o) const {
      char* at = o.data + group * o.group;
      ND_UNROLL
      for (int a = 0; a < kAttentionAxes; ++a) at += axis[a] * o.axis[a];
      return at;
    }
    // The first query's position in arrays of one number per query.
    ND_FN int64_t rows(const P& p) const { return (number * p.groups + group) * p.queries; }
  };
  static ND_FN uint32_t blocks(int64_t rows) { return (uint32_t(rows) + kRows - 1) / kRows; }

  // ---- which queries see which keys ---------------------------------------------------------------
  struct Span {
    int begin, end;
  };
  static ND_FN int within(int64_t v, int64_t end) { return int(v < 0 ? 0 : (v < end ? v : end)); }
  // The keys that a query sees; the ends do not decrease with the query.
  static ND_FN Span keys_of(const P& p, int64_t query) {
    const int64_t at = query + p.offset;
    return {p.window > 0 ? within(at - p.window + 1, p.keys) : 0, p.causal != 0  ? within(at + 1, p.keys)
                                                                  : p.window > 0 ? within(at + p.window, p.keys)
                                                                                 : int(p.keys)};
  }
  // The queries that see a key, likewise.
  static ND_FN Span queries_of(const P& p, int64_t key) {
    const int64_t at = key - p.offset;
    return {p.causal != 0  ? within(at, p.queries)
            : p.window > 0 ? within(at - p.window + 1, p.queries)
                           : 0,
            p.window > 0 ? within(at + p.window, p.queries) : int(p.queries)};
  }

  // The tiles of columns that a block of rows visits, and the columns that the rows of this thread see.
  struct Visit {
    int begin = 0, tiles = 0;  // begin: the first column of the first tile
    Span seen[R];
    template <class F> ND_FN Visit(int64_t first, int64_t rows, F columns_of) {
      const int64_t last = first + kRows < rows ? first + kRows : rows;
      const int low = columns_of(first).begin, high = columns_of(last - 1).end;
      begin = low / kColumns * kColumns;
      tiles = high > begin ? (high - begin + kColumns - 1) / kColumns : 0;
      ND_UNROLL
      for (int i = 0; i < R; ++i) {
        const int64_t row = first + Tiles::row_of(i);
        seen[i] = row < rows ? columns_of(row) : Span{0, 0};
      }
    }
    // True if every row of this thread sees every column of the tile.
    ND_FN bool whole(int column) const {
      bool all = true;
      ND_UNROLL
      for (int i = 0; i < R; ++i) all = all && seen[i].begin <= column && column + kColumns <= seen[i].end;
      return all;
    }
  };

  // The masks of the rows of this thread; strides in bytes.
  struct Masks {
    const char* at[R];
    int64_t column;
    ND_FN Masks(const char* first, int64_t row_stride, int64_t column_stride) : column(column_stride) {
      ND_UNROLL
      for (int i = 0; i < R; ++i) at[i] = first + Tiles::row_of(i) * row_stride;
    }
    ND_FN bool sees(int i, int c) const { return *reinterpret_cast<const uint8_t*>(at[i] + c * column) != 0; }
    ND_FN float addend(int i, int c) const {
      return load(*reinterpret_cast<const T*>(at[i] + c * column)) * 1.44269504088896341f;
    }
  };
  // Calls visible(i, j, the position's addend) for each score of this thread that is seen, and hidden(i, j) for others.
  template <class Visible, class Hidden>
  static ND_FN void each_score(const Visit& visit, const Masks& masks, int column, Visible visible, Hidden hidden) {
    if (Mask == AttentionMask::none && visit.whole(column)) {
      ND_UNROLL
      for (int i = 0; i < R; ++i) {
        ND_UNROLL
        for (int j = 0; j < C; ++j) visible(i, j, 0.0f);
      }
      return;
    }
    ND_UNROLL
    for (int i = 0; i < R; ++i) {
      ND_UNROLL
      for (int j = 0; j < C; ++j) {
        const int c = column + Tiles::column_of(j);
        bool seen = c >= visit.seen[i].begin && c < visit.seen[i].end;
        if constexpr (Mask == AttentionMask::seen) seen = seen && masks.sees(i, c);
        float addend = 0;
        if constexpr (Mask == AttentionMask::added) addend = seen ? masks.addend(i, c) : 0.0f;
        if (seen) visible(i, j, addend);
        else hidden(i, j);
      }
    }
  }

  // The block of queries of a head and group that a thread block computes.
  struct QueryBlock {
    Head at;
    int64_t first;  // query
    int rows;       // from the first query to the last one of the head
    Visit visit;
    Masks masks;
    ND_FN explicit QueryBlock(const P& p) : QueryBlock(p, blocks(p.queries)) {}
    ND_FN QueryBlock(const P& p, uint32_t of_head)
        : at(p, blockIdx.x / of_head / uint32_t(p.groups), blockIdx.x / of_head % uint32_t(p.groups)),
          // The last queries of causal attention have the most keys, and begin first.
          first(int64_t(of_head - 1 - blockIdx.x % of_head) * kRows),
          rows(int(p.queries - first)),
          visit(first, p.queries, [&](int64_t query) { return keys_of(p, query); }),
          masks(Mask == AttentionMask::none ? nullptr : at.of(p.mask) + first * p.mask.row, p.mask.row, p.mask_column) {
    }
  };
  // Begins to copy the tile n of keys and values that a block of queries visits.
  static ND_FN void fetch_keys(const P& p, const Tiles& tiles, const Visit& visit, const char* k, const char* v, int n,
                               int stage) {
    const int column = visit.begin + n * kColumns, left = int(p.keys) - column;
    Tiles::template fetch<kColumns>(tiles.tile(stage, 0), k + column * p.k.row, p.k.row, left);
    Tiles::template fetch<kColumns>(tiles.tile(stage, 1), v + column * p.v.row, p.v.row, left);
  }

  template <int N> static ND_FN void clear(float (&v)[R][N]) {
    ND_UNROLL
    for (int i = 0; i < R; ++i) {
      ND_UNROLL
      for (int j = 0; j < N; ++j) v[i][j] = 0;
    }
  }
  template <int N> static ND_FN void fill(float (&v)[N], float value) {
    ND_UNROLL
    for (int i = 0; i < N; ++i) v[i] = value;
  }

  // ---- forward --------------------------------------------------------------------------------------
  // The softmax of the tiles so far, per row: the largest score, the sum of the weights of this thread's columns, and
  // the results, both relative to the largest score.
  struct Running {
    float most[R], sum[R], o[R][W];
    ND_FN Running() {
      fill(most, -infinity());
      fill(sum, 0);
      clear(o);
    }
    // Replaces scores by weights; `unit`: the factor that makes scores exponents of 2, positive.
    ND_FN void add(float (&s)[R][C], float unit) {
      ND_UNROLL
      for (int i = 0; i < R; ++i) {
        float high = most[i];
        ND_UNROLL
        for (int j = 0; j < C; ++j) high = ::fmaxf(high, s[i][j]);
        high = max_of_lanes<Tiles::kLanes>(high);
        const float base = high == -infinity() ? 0.0f : high * unit;  // no difference of infinities
        const float factor = approximate_exp2(::fmaf(most[i], unit, -base));
        most[i] = high;
        float total = 0;
        ND_UNROLL
        for (int j = 0; j < C; ++j) {
          s[i][j] = approximate_exp2(::fmaf(s[i][j], unit, -base));
          total += s[i][j];
        }
        sum[i] = ::fmaf(sum[i], factor, total);
        ND_UNROLL
        for (int j = 0; j < W; ++j) o[i][j] *= factor;
      }
    }
  };

  // One block per block of queries of a head and group.
  static ND_FN void forward(const P& p) {
    alignas(16) __shared__ unsigned char memory[bytes(1)];
    const Tiles tiles(memory, 1);
    // With an added mask, scores are exponents before they are compared.
    const float magnitude = p.scale2 < 0 ? -p.scale2 : p.scale2,
                unit = Mask == AttentionMask::added ? 1.0f : (magnitude > 1e-37f ? magnitude : 1e-37f);
    const QueryBlock block(p);
    const Head& at = block.at;
    const int64_t first = block.first;
    const int rows = block.rows;
    Own q;
    tiles.own(q, 0, at.of(p.q) + first * p.q.row, p.q.row, rows);
    const char *k = at.of(p.k), *v = at.of(p.v);
    Running state;
    Tiles::each_tile(
        block.visit.tiles, [&](int n, int stage) { fetch_keys(p, tiles, block.visit, k, v, n, stage); },
        [&](int n, int stage) {
          float s[R][C];
          clear(s);
          tiles.nt(s, q, tiles.tile(stage, 0));
          if (Mask == AttentionMask::added || p.scale2 < 0) {
            ND_UNROLL
            for (int i = 0; i < R; ++i) {
              ND_UNROLL
              for (int j = 0; j < C; ++j) s[i][j] *= Mask == AttentionMask::added ? p.scale2 : -1.0f;
            }
          }
          each_score(
              block.visit, block.masks, block.visit.begin + n * kColumns,
              [&](int i, int j, float addend) {
                if constexpr (Mask == AttentionMask::added) s[i][j] += addend;
              },
              [&](int i, int j) { s[i][j] = -infinity(); });
          state.add(s, unit);
          tiles.nn(state.o, s, tiles.tile(stage, 1));
        });
    float factor[R];
    ND_UNROLL
    for (int i = 0; i < R; ++i) {
      const float sum = sum_of_lanes<Tiles::kLanes>(state.sum[i]);
      factor[i] = state.most[i] == -infinity() ? 0.0f : 1 / sum;
      const int row = Tiles::row_of(i);
      if (Tiles::column_of(0) == 0 && row < rows)
        p.log_sums[at.rows(p) + first + row] =
            state.most[i] == -infinity() ? infinity() : ::fmaf(state.most[i] * unit, 0.693147180559945f, ::logf(sum));
    }
    tiles.put(state.o, factor, at.of(p.y) + first * p.y.row, p.y.row, rows);
  }

  // ---- backward -------------------------------------------------------------------------------------
  // delta of the rows of the block, for the thread's own rows and for the other kernel.
  static ND_FN void products(const P& p, const Head& at, int64_t first, int rows, float* shared, float (&delta)[R]) {
    const char *gy = at.of(p.gy) + first * p.gy.row, *y = at.of(p.y) + first * p.y.row;
    const int lane = int(threadIdx.x) % kWarp;
    for (int row = int(threadIdx.x) / kWarp; row < kRows && row < rows; row += kBlock / kWarp) {
      const T *a = reinterpret_cast<const T*>(gy + row * p.gy.row), *b = reinterpret_cast<const T*>(y + row * p.y.row);
      float sum = 0;
      for (int k = lane; k < Tiles::kDepth; k += kWarp) sum = ::fmaf(load(a[k]), load(b[k]), sum);
      sum = sum_of_lanes<kWarp>(sum);
      if (lane == 0) {
        shared[row] = sum;
        p.delta[at.rows(p) + first + row] = sum;
      }
    }
    __syncthreads();
    ND_UNROLL
    for (int i = 0; i < R; ++i) delta[i] = Tiles::row_of(i) < rows ? shared[Tiles::row_of(i)] : 0.0f;
  }
  // The weight of a score: `log_sum` in units of log 2.
  static ND_FN float weight(const P& p, float s, float addend, float log_sum) {
    return approximate_exp2(::fmaf(s, p.scale2, addend - log_sum));
  }

  // The gradient of q, and delta; one block per block of queries of a head and group.
  static ND_FN void queries(const P& p) {
    alignas(16) __shared__ unsigned char memory[bytes(2)];
    __shared__ float of_row[kRows];
    const Tiles tiles(memory, 2);
    const QueryBlock block(p);
    const Head& at = block.at;
    const int64_t first = block.first;
    const int rows = block.rows;
    float delta[R], log_sum[R];
    products(p, at, first, rows, of_row, delta);
    ND_UNROLL
    for (int i = 0; i < R; ++i)
      log_sum[i] = Tiles::row_of(i) < rows ? p.log_sums[at.rows(p) + first + Tiles::row_of(i)] * 1.44269504088896341f
                                           : infinity();
    Own q, gy;
    tiles.own(q, 0, at.of(p.q) + first * p.q.row, p.q.row, rows);
    tiles.own(gy, 1, at.of(p.gy) + first * p.gy.row, p.gy.row, rows);
    const char *k = at.of(p.k), *v = at.of(p.v);
    float gq[R][W];
    clear(gq);
    Tiles::each_tile(
        block.visit.tiles, [&](int n, int stage) { fetch_keys(p, tiles, block.visit, k, v, n, stage); },
        [&](int n, int stage) {
          float s[R][C], g[R][C];
          clear(s);
          clear(g);
          tiles.nt(s, q, tiles.tile(stage, 0));
          tiles.nt(g, gy, tiles.tile(stage, 1));
          each_score(
              block.visit, block.masks, block.visit.begin + n * kColumns,
              [&](int i, int j, float addend) {
                s[i][j] = weight(p, s[i][j], addend, log_sum[i]) * (g[i][j] - delta[i]);
              },
              [&](int i, int j) { s[i][j] = 0; });
          tiles.nn(gq, s, tiles.tile(stage, 0));
        });
    float factor[R];
    fill(factor, p.scale);
    tiles.put(gq, factor, at.of(p.gq) + first * p.gq.row, p.gq.row, rows);
  }

  // The gradients of k and v, or one of them; one block per block of keys of a head. Rows are keys and columns are
  // queries, those of one group after the other.
  template <bool OfKeys, bool OfValues> static ND_FN void keys(const P& p) {
    alignas(16) __shared__ unsigned char memory[bytes(2)];
    __shared__ float numbers[Tiles::kStages][2][kColumns];  // log_sums in units of log 2, and delta, of a tile
    const Tiles tiles(memory, 2);
    const uint32_t of_head = blocks(p.keys), head = blockIdx.x / of_head;
    const Head first_group(p, head, 0);
    const int64_t first = int64_t(blockIdx.x % of_head) * kRows;
    const int rows = int(p.keys - first);
    const Visit visit(first, p.keys, [&](int64_t key) { return queries_of(p, key); });
    Own k, v;
    tiles.own(k, 0, first_group.of(p.k) + first * p.k.row, p.k.row, rows);
    if constexpr (OfKeys) tiles.own(v, 1, first_group.of(p.v) + first * p.v.row, p.v.row, rows);
    float gk[R][W], gv[R][W];
    clear(gk);
    clear(gv);
    Tiles::each_tile(
        visit.tiles * int(p.groups),
        [&](int n, int stage) {
          const Head at(p, head, uint32_t(n / visit.tiles));
          const int column = visit.begin + n % visit.tiles * kColumns, left = int(p.queries) - column;
          Tiles::template fetch<kColumns>(tiles.tile(stage, 0), at.of(p.q) + column * p.q.row, p.q.row, left);
          Tiles::template fetch<kColumns>(tiles.tile(stage, 1), at.of(p.gy) + column * p.gy.row, p.gy.row, left);
          const int c = int(threadIdx.x);
          if (c < kColumns) {
            const int64_t row = at.rows(p) + column + c;
            numbers[stage][0][c] = c < left ? p.log_sums[row] * 1.44269504088896341f : infinity();
            numbers[stage][1][c] = c < left ? p.delta[row] : 0.0f;
          }
        },
        [&](int n, int stage) {
          const int column = visit.begin + n % visit.tiles * kColumns;
          const Head at(p, head, uint32_t(n / visit.tiles));
          const Masks masks(Mask == AttentionMask::none ? nullptr : at.of(p.mask) + first * p.mask_column,
                            p.mask_column, p.mask.row);
          float s[R][C];
          clear(s);
          tiles.nt(s, k, tiles.tile(stage, 0));
          each_score(
              visit, masks, column,
              [&](int i, int j, float addend) {
                s[i][j] = weight(p, s[i][j], addend, numbers[stage][0][Tiles::column_of(j)]);
              },
              [&](int i, int j) { s[i][j] = 0; });
          if constexpr (OfValues) tiles.nn(gv, s, tiles.tile(stage, 1));
          if constexpr (OfKeys) {
            float g[R][C];
            clear(g);
            tiles.nt(g, v, tiles.tile(stage, 1));
            ND_UNROLL
            for (int i = 0; i < R; ++i) {
              ND_UNROLL
              for (int j = 0; j < C; ++j) s[i][j] *= g[i][j] - numbers[stage][1][Tiles::column_of(j)];
            }
            tiles.nn(gk, s, tiles.tile(stage, 0));
          }
        });
    float factor[R];
    if constexpr (OfKeys) {
      fill(factor, p.scale);
      tiles.put(gk, factor, first_group.of(p.gk) + first * p.gk.row, p.gk.row, rows);
    }
    if constexpr (OfValues) {
      fill(factor, 1);
      tiles.put(gv, factor, first_group.of(p.gv) + first * p.gv.row, p.gv.row, rows);
    }
  }
};

}  // namespace catena::device
