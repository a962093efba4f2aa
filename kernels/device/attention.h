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

  // The tiles of columns that a block of rows visits, and the columns that each of its rows sees. A row behind the last
  // row of the head sees the columns of the last row.
  struct Visit {
    const Span* seen;       // in shared memory; the block's next barrier makes it visible
    int begin, end, tiles;  // the columns of the tiles are [begin, end)
    int rows;               // from the block's first row to the last row of the head
    template <class F>
    ND_FN Visit(Span (&of_rows)[kRows], int64_t first, int64_t all_rows, F columns_of)
        : seen(of_rows), rows(int(all_rows - first)) {
      const int last = (rows < kRows ? rows : int(kRows)) - 1, high = columns_of(first + last).end;
      begin = columns_of(first).begin / kColumns * kColumns;
      tiles = high > begin ? (high - begin + kColumns - 1) / kColumns : 0;
      end = begin + tiles * kColumns;
      for (int row = int(threadIdx.x); row < kRows; row += Tiles::kThreads)
        of_rows[row] = columns_of(first + (row < last ? row : last));
    }
    // False if no row of the warp sees a column of the tile.
    ND_FN bool any(int column) const {
      return column < seen[Tiles::last_row()].end && column + kColumns > seen[Tiles::first_row()].begin;
    }
    // True if every row of the warp sees every column of the tile.
    ND_FN bool whole(int column) const {
      return seen[Tiles::last_row()].begin <= column && column + kColumns <= seen[Tiles::first_row()].end;
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
      const Span span = visit.seen[Tiles::row_of(i)];
      const bool exists = Mask == AttentionMask::none || Tiles::row_of(i) < visit.rows;
      ND_UNROLL
      for (int j = 0; j < C; ++j) {
        const int c = column + Tiles::column_of(j);
        bool seen = exists && c >= span.begin && c < span.end;
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
    Visit visit;
    Masks masks;
    ND_FN QueryBlock(const P& p, Span (&seen)[kRows]) : QueryBlock(p, seen, blocks(p.queries)) {}
    ND_FN QueryBlock(const P& p, Span (&seen)[kRows], uint32_t of_head)
        : at(p, blockIdx.x / of_head / uint32_t(p.groups), blockIdx.x / of_head % uint32_t(p.groups)),
          // The last queries of causal attention have the most keys, and begin first.
          first(int64_t(of_head - 1 - blockIdx.x % of_head) * kRows),
          visit(seen, first, p.queries, [&](int64_t query) { return keys_of(p, query); }),
          masks(Mask == AttentionMask::none ? nullptr : at.of(p.mask) + first * p.mask.row, p.mask.row, p.mask_column) {
    }
  };
  // The tiles of keys and values that a block of queries visits.
  struct KeyTiles {
    const char *k, *v;  // the next tile, as Tiles::fetch gets it
    ND_FN KeyTiles(const P& p, const QueryBlock& block)
        : k(Tiles::of_thread(block.at.of(p.k) + block.visit.begin * p.k.row, p.k.row)),
          v(Tiles::of_thread(block.at.of(p.v) + block.visit.begin * p.v.row, p.v.row)) {}
    // Begins to copy the next tile, whose keys are those from number `column` on.
    ND_FN void fetch(const P& p, const Tiles& tiles, int column, int stage) {
      const int left = int(p.keys) - column;
      Tiles::template fetch<kColumns>(tiles.tile(stage, 0), k, p.k.row, left);
      Tiles::template fetch<kColumns>(tiles.tile(stage, 1), v, p.v.row, left);
      k += kColumns * p.k.row;
      v += kColumns * p.v.row;
    }
  };

  // The addresses to which a block writes. They are in shared memory, because the tiles take all registers.
  struct Results {
    char* rows;
    float* log_sums;
    int count;  // of rows
    ND_FN void set(char* at, float* sums, int n) {
      if (threadIdx.x == 0) rows = at, log_sums = sums, count = n;
    }
  };

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
  // The softmax of the tiles so far, per row: the sum of the weights of this thread's columns, and the results, both
  // divided by 2 to the power of `base`. The base is near the largest exponent. While no exponent exceeds the base by
  // more than kExcess, neither the base nor the earlier results change.
  enum : int { kExcess = 8 };  // weights are at most 2 to this power, which 16-bit floats hold
  struct Running {
    float base[R], sum[R], o[R][W];
    ND_FN Running() {
      fill(base, -3.4028234663852886e38f);  // so that no difference of infinities is taken
      fill(sum, 0);
      clear(o);
    }
    // Replaces scores by weights; `unit`: the factor that makes scores exponents of 2, positive.
    ND_FN void add(float (&s)[R][C], float unit) {
      float high[R], excess = 0;
      ND_UNROLL
      for (int i = 0; i < R; ++i) {
        high[i] = s[i][0];
        ND_UNROLL
        for (int j = 1; j < C; ++j) high[i] = ::fmaxf(high[i], s[i][j]);
        excess = ::fmaxf(excess, ::fmaf(high[i], unit, -base[i]));
      }
      if (__any_sync(0xffffffffu, excess > float(kExcess))) raise(high, unit);
      ND_UNROLL
      for (int i = 0; i < R; ++i) {
        ND_UNROLL
        for (int j = 0; j < C; ++j) {
          s[i][j] = approximate_exp2(::fmaf(s[i][j], unit, -base[i]));
          sum[i] += s[i][j];
        }
      }
    }
    ND_FN void raise(const float (&high)[R], float unit) {
      ND_UNROLL
      for (int i = 0; i < R; ++i) {
        const float raised = ::fmaxf(base[i], max_of_lanes<Tiles::kLanes>(high[i]) * unit);
        const float factor = approximate_exp2(base[i] - raised);
        base[i] = raised;
        sum[i] *= factor;
        ND_UNROLL
        for (int j = 0; j < W; ++j) o[i][j] *= factor;
      }
    }
  };

  // One block per block of queries of a head and group.
  static ND_FN void forward(const P& p) {
    alignas(16) __shared__ unsigned char memory[bytes(1)];
    __shared__ Span seen[kRows];
    __shared__ Results to;
    const Tiles tiles(memory, 1);
    // With an added mask, scores are exponents before they are compared.
    const float unit = Mask == AttentionMask::added ? 1.0f : p.unit;
    const QueryBlock block(p, seen);
    const Head& at = block.at;
    const int64_t first = block.first;
    const int rows = block.visit.rows;
    to.set(at.of(p.y) + first * p.y.row, p.log_sums + at.rows(p) + first, rows);
    Own q;
    tiles.own(q, 0, at.of(p.q) + first * p.q.row, p.q.row, rows);
    KeyTiles fetched(p, block);
    Running state;
    Tiles::each_tile(
        block.visit.tiles, [&](int n, int stage) { fetched.fetch(p, tiles, block.visit.end - n * kColumns, stage); },
        [&](int n, int stage) {
          const int column = block.visit.end - n * kColumns;
          if (!block.visit.any(column)) return;
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
              block.visit, block.masks, column,
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
      factor[i] = sum == 0 ? 0.0f : 1 / sum;
      const int row = Tiles::row_of(i);
      if (Tiles::column_of(0) == 0 && row < to.count)
        to.log_sums[row] = sum == 0 ? infinity() : ::fmaf(state.base[i], 0.693147180559945f, ::logf(sum));
    }
    tiles.put(state.o, factor, to.rows, p.y.row, to.count);
  }

  // ---- backward -------------------------------------------------------------------------------------
  // Computes two numbers of each row of the block: log_sum in units of log 2, and delta. Writes them to shared memory
  // for this kernel (the next barrier makes them visible), and to p.row_numbers for the other kernel.
  static ND_FN void products(const P& p, const Head& at, int64_t first, int rows, float (&shared)[2 * kRows]) {
    enum : int {
      width = kAccess / int(sizeof(T)),
      chunks = Tiles::kDepth / width,
      of_row = chunks & -chunks,  // lanes: a power of 2
      step = Tiles::kThreads / of_row
    };
    const char *gy = at.of(p.gy) + first * p.gy.row, *y = at.of(p.y) + first * p.y.row;
    const int lane = int(threadIdx.x) % of_row;
    float* const of_rows = p.row_numbers + 2 * (at.rows(p) + first);
    ND_UNROLL
    for (int above = 0; above < kRows; above += step) {
      const int row = above + int(threadIdx.x) / of_row;
      float sum = 0;
      if (row < rows && (kRows % step == 0 || row < kRows)) {
        ND_UNROLL
        for (int chunk = 0; chunk < chunks; chunk += of_row) {
          T a[width], b[width];
          read<width>(a, gy + row * p.gy.row + (chunk + lane) * kAccess);
          read<width>(b, y + row * p.y.row + (chunk + lane) * kAccess);
          ND_UNROLL
          for (int k = 0; k < width; ++k) sum = ::fmaf(load(a[k]), load(b[k]), sum);
        }
      }
      sum = sum_of_lanes<of_row>(sum);
      if (lane != 0 || (kRows % step != 0 && row >= kRows)) continue;
      shared[2 * row] = row < rows ? p.log_sums[at.rows(p) + first + row] * 1.44269504088896341f : 0.0f;
      shared[2 * row + 1] = sum;
      if (row >= rows) continue;
      of_rows[2 * row] = shared[2 * row];
      of_rows[2 * row + 1] = sum;
    }
  }
  // The weight of a score: `log_sum` in units of log 2.
  static ND_FN float weight(const P& p, float s, float addend, float log_sum) {
    if constexpr (Mask == AttentionMask::added) return approximate_exp2(::fmaf(s, p.scale2, addend - log_sum));
    return approximate_exp2(::fmaf(s, p.scale2, -log_sum));
  }

  // The gradient of q, and the numbers of rows; one block per block of queries of a head and group.
  static ND_FN void queries(const P& p) {
    alignas(16) __shared__ unsigned char memory[bytes(2)];
    __shared__ Span seen[kRows];
    alignas(8) __shared__ float of_row[2 * kRows];
    __shared__ Results to;
    const Tiles tiles(memory, 2);
    const QueryBlock block(p, seen);
    const Head& at = block.at;
    const int64_t first = block.first;
    const int rows = block.visit.rows;
    products(p, at, first, rows, of_row);
    to.set(at.of(p.gq) + first * p.gq.row, nullptr, rows);
    Own q, gy;
    tiles.own(q, 0, at.of(p.q) + first * p.q.row, p.q.row, rows);
    tiles.own(gy, 1, at.of(p.gy) + first * p.gy.row, p.gy.row, rows);
    KeyTiles fetched(p, block);
    float gq[R][W];
    clear(gq);
    Tiles::each_tile(
        block.visit.tiles, [&](int n, int stage) { fetched.fetch(p, tiles, block.visit.end - n * kColumns, stage); },
        [&](int n, int stage) {
          const int column = block.visit.end - n * kColumns;
          if (!block.visit.any(column)) return;
          float s[R][C], g[R][C];
          clear(s);
          clear(g);
          tiles.nt(s, q, tiles.tile(stage, 0));
          tiles.nt(g, gy, tiles.tile(stage, 1));
          each_score(
              block.visit, block.masks, column,
              [&](int i, int j, float addend) {
                const float* const numbers = of_row + 2 * Tiles::row_of(i);
                s[i][j] = weight(p, s[i][j], addend, numbers[0]) * (g[i][j] - numbers[1]);
              },
              [&](int i, int j) { s[i][j] = 0; });
          tiles.nn(gq, s, tiles.tile(stage, 0));
        });
    float factor[R];
    fill(factor, p.scale);
    tiles.put(gq, factor, to.rows, p.gq.row, to.count);
  }

  // The tiles of queries that a block of keys visits, with their gradients and numbers, group after group.
  struct QueryTiles {
    uint32_t head, group = 0;
    int begin, tiles, tile = 0;  // tile: the next one of the group
    const char *q = nullptr, *gy = nullptr;
    const float* numbers = nullptr;
    ND_FN QueryTiles(uint32_t of_head, const Visit& visit) : head(of_head), begin(visit.begin), tiles(visit.tiles) {}
    // Begins to copy the next tile.
    ND_FN void fetch(const P& p, const Tiles& to, int stage, float (&to_numbers)[2 * kColumns]) {
      if (tile == 0) {
        const Head at(p, head, group++);
        q = Tiles::of_thread(at.of(p.q) + begin * p.q.row, p.q.row);
        gy = Tiles::of_thread(at.of(p.gy) + begin * p.gy.row, p.gy.row);
        numbers = p.row_numbers + 2 * (at.rows(p) + begin);
      }
      const int left = int(p.queries) - begin - tile * kColumns, c = int(threadIdx.x);
      Tiles::template fetch<kColumns>(to.tile(stage, 0), q, p.q.row, left);
      Tiles::template fetch<kColumns>(to.tile(stage, 1), gy, p.gy.row, left);
      if (c < kColumns) Tiles::fetch_pair(to_numbers + 2 * c, numbers + 2 * c, c < left);
      q += kColumns * p.q.row;
      gy += kColumns * p.gy.row;
      numbers += 2 * kColumns;
      if (++tile == tiles) tile = 0;
    }
  };

  // The masks of a block of keys: its rows are keys.
  static ND_FN Masks masks_of_keys(const P& p, uint32_t head, uint32_t group, int64_t first) {
    if constexpr (Mask == AttentionMask::none) return Masks(nullptr, 0, 0);
    const Head at(p, head, group);
    return Masks(at.of(p.mask) + first * p.mask_column, p.mask_column, p.mask.row);
  }
  // The gradients of k and v, or one of them; one block per block of keys of a head. Rows are keys and columns are
  // queries, those of one group after the other.
  template <bool OfKeys, bool OfValues> static ND_FN void keys(const P& p) {
    constexpr int owns = OfKeys ? 2 : 1;
    alignas(16) __shared__ unsigned char memory[bytes(owns)];
    __shared__ Span seen[kRows];
    alignas(16) __shared__ float numbers[Tiles::kStages][2 * kColumns];
    const Tiles tiles(memory, owns);
    const uint32_t of_head = blocks(p.keys), head = blockIdx.x / of_head;
    const Head first_group(p, head, 0);
    const int64_t first = int64_t(blockIdx.x % of_head) * kRows;
    const int rows = int(p.keys - first);
    const Visit visit(seen, first, p.keys, [&](int64_t key) { return queries_of(p, key); });
    Own k, v;
    tiles.own(k, 0, first_group.of(p.k) + first * p.k.row, p.k.row, rows);
    if constexpr (OfKeys) tiles.own(v, 1, first_group.of(p.v) + first * p.v.row, p.v.row, rows);
    QueryTiles fetched(head, visit);
    float gk[R][W], gv[R][W];
    clear(gk);
    clear(gv);
    int tile = 0;
    uint32_t group = 0;
    Tiles::each_tile(
        visit.tiles * int(p.groups), [&](int, int stage) { fetched.fetch(p, tiles, stage, numbers[stage]); },
        [&](int, int stage) {
          const int column = visit.begin + tile * kColumns;
          const Masks masks = masks_of_keys(p, head, group, first);
          if (++tile == visit.tiles) tile = 0, ++group;
          if (!visit.any(column)) return;
          float s[R][C];
          clear(s);
          tiles.nt(s, k, tiles.tile(stage, 0));
          const float* const of_query = numbers[stage];
          each_score(
              visit, masks, column,
              [&](int i, int j, float addend) {
                s[i][j] = weight(p, s[i][j], addend, of_query[2 * Tiles::column_of(j)]);
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
              for (int j = 0; j < C; ++j) s[i][j] *= g[i][j] - of_query[2 * Tiles::column_of(j) + 1];
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
