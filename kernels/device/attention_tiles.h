// How a block of attention (attention.h) multiplies tiles: on tensor cores, or by fused multiply-additions in float32.
// Both classes have the same interface. A block owns kRows rows, and visits tiles of kColumns rows of other operands:
//   nt: scores (kRows, kColumns) += own rows * tile^T
//   nn: result (kRows, kDepth) += weights (kRows, kColumns) * tile
// kThreads threads make a block; the rows first_row() to last_row() include all that a warp owns.
// A thread has the elements (row_of(i), column_of(j)) of scores and results, i < kOwnRows. Tiles are in shared memory,
// their rows kStep elements apart, so that neither a column nor a row of them meets in a bank.
#pragma once

#include <catena/kernels/device/tensor_core.h>

namespace catena::device {

// Calls f(Constant<0>{}), f(Constant<1>{}), ...
template <int K> struct Constant {
  enum : int { value = K };
};
template <class F, int... K> ND_FN void each_constant(Indices<K...>, F f) { (f(Constant<K>{}), ...); }

// The sum and the maximum over neighbouring lanes, a power of two of them.
template <int Lanes> ND_FN float sum_of_lanes(float v) {
  ND_UNROLL
  for (int distance = 1; distance < Lanes; distance *= 2) v += __shfl_xor_sync(0xffffffffu, v, distance);
  return v;
}
template <int Lanes> ND_FN float max_of_lanes(float v) {
  ND_UNROLL
  for (int distance = 1; distance < Lanes; distance *= 2) v = ::fmaxf(v, __shfl_xor_sync(0xffffffffu, v, distance));
  return v;
}

// A warp owns Groups times 16 rows: each part of a tile that it loads is multiplied by all of its groups. A tile is
// copied while the tile before it is multiplied. Registers hold the first 16 Kept columns of the rows that a block
// owns; the other columns are loaded from shared memory before each product.
template <class T, int Depth, int Columns, int Warps, int Groups, int Kept> struct TensorTiles {
  using Stored = T;
  using Element = T;  // in shared memory
  using Tile = SharedAddress;
  enum : int {
    kDepth = Depth,
    kThreads = Warps * kWarp,
    kRows = Warps * Groups * 16,
    kColumns = Columns,
    kOwnRows = 2 * Groups,
    kScores = Columns / 4,
    kResults = Depth / 4,
    kStep = Depth + 8,
    kLanes = 4,  // neighbouring lanes with the same rows
    kStages = 2
  };
  static_assert(Depth % 16 == 0 && Columns % 16 == 0);
  enum : bool { kInRegisters = 16 * Kept == Depth };  // else rows stay in shared memory

  // 16 columns of the rows of the warp, as left factors of products.
  struct Left {
    uint32_t of_group[Groups][4];
  };
  // The rows of an operand that the warp owns.
  struct Own {
    Left part[Kept > 0 ? Kept : 1];
    SharedAddress at;  // the address that this lane passes to load_matrices()
  };

  // The elements of shared memory that the block needs; `owns`: operands of which it owns rows.
  static ND_FN constexpr int elements(int owns) {
    const int tiles = 2 * kStages * Columns, staging = kInRegisters ? 0 : owns * kRows;
    return (staging + tiles > kRows ? staging + tiles : int(kRows)) * kStep;
  }

  T* memory;
  SharedAddress first_tile;

  ND_FN TensorTiles(unsigned char* shared, int owns)
      : memory(reinterpret_cast<T*>(shared)),
        first_tile(shared_address(shared) + SharedAddress(kInRegisters ? 0 : owns * kRows * kStep * 2)) {}

  static ND_FN int lane() { return int(threadIdx.x) % kWarp; }
  static ND_FN int first_row() { return int(threadIdx.x) / kWarp * (16 * Groups); }
  static ND_FN int last_row() { return first_row() + 16 * Groups - 1; }
  static ND_FN int row_of(int i) { return first_row() + lane() / 4 + 8 * i; }
  static ND_FN int column_of(int j) { return j / 2 * 8 + lane() % 4 * 2 + j % 2; }
  ND_FN Tile tile(int stage, int which) const {
    return first_tile + SharedAddress((stage * 2 + which) * (Columns * kStep * 2));
  }

  // Neighbouring threads copy 16 bytes each, kChunkLanes of them in a row.
  enum : int { kChunks = Depth / 8, kChunkLanes = kChunks & -kChunks };
  static ND_FN int chunk_row() { return int(threadIdx.x) / kChunkLanes; }
  static ND_FN int chunk() { return int(threadIdx.x) % kChunkLanes; }
  // Returns the address for fetch(): the place at which this thread begins in rows that are `step` bytes apart.
  static ND_FN const char* of_thread(const char* rows, int64_t step) {
    return rows + (chunk_row() * int(step) + chunk() * 16);
  }
  // Begins to copy Rows rows, `step` bytes apart; those from number `rows` on are 0.
  template <int Rows> static ND_FN void fetch(Tile to, const char* of_thread, int64_t step, int rows) {
    if (rows >= Rows) copy_rows<Rows>(to, of_thread, int(step), [](int) { return true; });
    else copy_rows<Rows>(to, of_thread, int(step), [rows](int row) { return row < rows; });
  }
  template <int Rows, class Exists>
  static ND_FN void copy_rows(SharedAddress to, const char* from, int step, Exists exists) {
    constexpr int height = kThreads / kChunkLanes;
    to += SharedAddress(chunk_row() * kStep + chunk() * 8) * 2;
    ND_UNROLL
    for (int first = 0; first < Rows; first += height) {
      if (Rows % height != 0 && first + chunk_row() >= Rows) break;
      ND_UNROLL
      for (int c = 0; c < kChunks; c += kChunkLanes)
        copy_later<16>(to + SharedAddress(first * kStep + c * 8) * 2, from + first * step + c * 16,
                       exists(first + chunk_row()));
    }
  }
  // Begins to copy two numbers, or to set them to 0.
  static ND_FN void fetch_pair(float* to, const float* from, bool exists) {
    copy_later<8>(shared_address(to), from, exists);
  }

  // Offsets, in bytes, of the address that this lane passes to load_matrices() for 16 rows and columns in shared
  // memory. The four matrices then follow each other down the columns, or along the rows. A product takes two words of
  // its right factor from neighbouring registers, so that nt() and nn() need different orders.
  static ND_FN SharedAddress down() { return SharedAddress(lane() % 16 * kStep + lane() / 16 * 8) * 2; }
  static ND_FN SharedAddress along() {
    return SharedAddress((lane() / 16 * 8 + lane() % 8) * kStep + lane() / 8 % 2 * 8) * 2;
  }

  // Loads the rows that the block owns of one operand; `number` counts such operands from 0. The first barrier of
  // each_tile makes rows in shared memory visible.
  ND_FN void own(Own& to, int number, const char* from, int64_t step, int rows) const {
    const SharedAddress staging = shared_address(memory + (kInRegisters ? 0 : number * kRows * kStep));
    fetch<kRows>(staging, of_thread(from, step), step, rows);
    to.at = staging + SharedAddress(first_row() * kStep * 2) + down();
    if constexpr (Kept > 0) {
      wait_for_copies();
      __syncthreads();
      each_constant(make_indices<Kept * Groups>{}, [&](auto number_of_part) {
        constexpr int k = decltype(number_of_part)::value / Groups, g = decltype(number_of_part)::value % Groups;
        load_matrices<false, (g * 16 * kStep + k * 16) * 2>(to.part[k].of_group[g], to.at);
      });
      if constexpr (kInRegisters) __syncthreads();  // tiles come into this memory
    }
  }

  // Calls load(n, stage) and use(n, stage) for n = count, count - 1, ..., 1: n is the number of tiles that are left. At
  // the end no thread reads a tile any more.
  template <class Load, class Use> static ND_FN void each_tile(int count, Load load, Use use) {
    if (count > 0) load(count, count % 2);
    for (int n = count; n > 0; --n) {
      wait_for_copies();
      __syncthreads();  // the tile is there, and all warps have used the one before it
      if (n > 1) load(n - 1, (n - 1) % 2);
      use(n, n % 2);
    }
    wait_for_copies();  // of rows that the block owns, if there is no tile
    __syncthreads();
  }

  ND_FN void nt(float (&s)[kOwnRows][kScores], const Own& left, Tile right) const {
    const SharedAddress at = right + along();
    each_constant(make_indices<Depth / 16>{}, [&](auto k_number) {
      constexpr int k = decltype(k_number)::value;
      Left a;
      if constexpr (k < Kept) a = left.part[k];
      else
        each_constant(make_indices<Groups>{}, [&](auto g) {
          load_matrices<false, (decltype(g)::value * 16 * kStep + k * 16) * 2>(a.of_group[decltype(g)::value], left.at);
        });
      each_constant(make_indices<Columns / 16>{}, [&](auto n_number) {
        constexpr int n = decltype(n_number)::value;
        uint32_t b[4];
        load_matrices<false, (n * 16 * kStep + k * 16) * 2>(b, at);
        multiply<n>(s, a, b);
      });
    });
  }

  ND_FN void nn(float (&o)[kOwnRows][kResults], const float (&p)[kOwnRows][kScores], Tile right) const {
    const SharedAddress at = right + down();
    each_constant(make_indices<Columns / 16>{}, [&](auto k_number) {
      constexpr int k = decltype(k_number)::value;
      Left a;
      ND_UNROLL
      for (int g = 0; g < Groups; ++g) {
        ND_UNROLL
        for (int m = 0; m < 4; ++m) {
          const float(&row)[kScores] = p[2 * g + m % 2];
          a.of_group[g][m] = pair_of<T>(row[4 * k + m / 2 * 2], row[4 * k + m / 2 * 2 + 1]);
        }
      }
      each_constant(make_indices<Depth / 16>{}, [&](auto n_number) {
        constexpr int n = decltype(n_number)::value;
        uint32_t b[4];
        load_matrices<true, (k * 16 * kStep + n * 16) * 2>(b, at);
        multiply<n>(o, a, b);
      });
    });
  }

  // The columns 16 N to 16 N + 15 of d += a b, for all groups.
  template <int N, int Count>
  static ND_FN void multiply(float (&d)[kOwnRows][Count], const Left& a, const uint32_t (&b)[4]) {
    ND_UNROLL
    for (int g = 0; g < Groups; ++g) {
      float(&above)[Count] = d[2 * g], (&below)[Count] = d[2 * g + 1];
      ND_UNROLL
      for (int j = 4 * N; j < 4 * N + 4; j += 2)
        multiply_tiles<T>(above[j], above[j + 1], below[j], below[j + 1], a.of_group[g], b[j % 4], b[j % 4 + 1]);
    }
  }

  // Writes the results, times a factor per row, to the first `rows` rows at `to`. Between the last tile and this.
  ND_FN void put(const float (&o)[kOwnRows][kResults], const float (&factor)[kOwnRows], char* to, int64_t step,
                 int rows) const {
    __syncwarp();  // the warp has stored the results before from here
    ND_UNROLL
    for (int i = 0; i < kOwnRows; ++i) {
      ND_UNROLL
      for (int j = 0; j < kResults; j += 2)
        *reinterpret_cast<uint32_t*>(memory + row_of(i) * kStep + column_of(j)) =
            pair_of<T>(o[i][j] * factor[i], o[i][j + 1] * factor[i]);
    }
    __syncwarp();
    constexpr int chunks = Depth / 8;
    ND_UNROLL
    for (int first = 0; first < 16 * Groups * chunks; first += kWarp) {
      const int k = first + lane(), row = first_row() + k / chunks, chunk = k % chunks;
      if (16 * Groups * chunks % kWarp != 0 && k >= 16 * Groups * chunks) break;
      if (row < rows)
        *reinterpret_cast<Word<16>*>(to + row * step + chunk * 16) =
            *reinterpret_cast<const Word<16>*>(memory + row * kStep + chunk * 8);
    }
  }
};

// 16 x 16 threads, each with every 16th row and column.
template <class T, int Depth, int OwnRows, int OwnColumns> struct FmaTiles {
  using Stored = T;
  using Element = float;
  using Tile = float*;
  enum : int {
    kDepth = Depth,
    kThreads = kBlock,
    kRows = 16 * OwnRows,
    kColumns = 16 * OwnColumns,
    kOwnRows = OwnRows,
    kScores = OwnColumns,
    kResults = Depth / 16,
    kStep = Depth + 4,
    kLanes = 16,
    kStages = 1,
    kWeightStep = kColumns + 4
  };
  static_assert(Depth % 16 == 0);

  struct Own {
    const float* rows;
  };

  static ND_FN constexpr int elements(int owns) { return (owns * kRows + 2 * kColumns) * kStep + kRows * kWeightStep; }

  float* memory;
  int owns;

  ND_FN FmaTiles(unsigned char* shared, int owned) : memory(reinterpret_cast<float*>(shared)), owns(owned) {}

  static ND_FN int first_row() { return int(threadIdx.x) / kWarp * 2; }
  static ND_FN int last_row() { return first_row() + 1 + 16 * (OwnRows - 1); }
  static ND_FN int row_of(int i) { return int(threadIdx.x) / 16 + 16 * i; }
  static ND_FN int column_of(int j) { return int(threadIdx.x) % 16 + 16 * j; }
  ND_FN Tile tile(int, int which) const { return memory + (owns * kRows + which * kColumns) * kStep; }
  ND_FN float* weights() const { return memory + (owns * kRows + 2 * kColumns) * kStep; }

  static ND_FN const char* of_thread(const char* rows, int64_t) { return rows; }
  template <int Rows> static ND_FN void fetch(Tile to, const char* from, int64_t step, int rows) {
    constexpr int width = kAccess / int(sizeof(T)), chunks = Depth / width;
    for (int k = int(threadIdx.x); k < Rows * chunks; k += kBlock) {
      const int row = k / chunks, first = k % chunks * width;
      float v[width] = {};
      if (row < rows) {
        T stored[width];
        read<width>(stored, from + row * step + first * int(sizeof(T)));
        ND_UNROLL
        for (int j = 0; j < width; ++j) v[j] = load(stored[j]);
      }
      write<width>(reinterpret_cast<char*>(to + row * kStep + first), v);
    }
  }
  static ND_FN void fetch_pair(float* to, const float* from, bool exists) {
    to[0] = exists ? from[0] : 0.0f;
    to[1] = exists ? from[1] : 0.0f;
  }
  // `number`: of the operand among those of which the block owns rows. The next barrier makes the rows visible.
  ND_FN void own(Own& to, int number, const char* from, int64_t step, int rows) const {
    float* const at = memory + number * kRows * kStep;
    fetch<kRows>(at, from, step, rows);
    to.rows = at;
  }

  template <class Load, class Use> static ND_FN void each_tile(int count, Load load, Use use) {
    for (int n = count; n > 0; --n) {
      __syncthreads();
      load(n, 0);
      __syncthreads();
      use(n, 0);
    }
    __syncthreads();
  }

  ND_FN void nt(float (&s)[OwnRows][kScores], const Own& left, Tile right) const {
#pragma unroll 2
    for (int k = 0; k < Depth; k += 4) {
      float a[OwnRows][4], b[kScores][4];
      ND_UNROLL
      for (int i = 0; i < OwnRows; ++i) read<4>(a[i], reinterpret_cast<const char*>(left.rows + row_of(i) * kStep + k));
      ND_UNROLL
      for (int j = 0; j < kScores; ++j) read<4>(b[j], reinterpret_cast<const char*>(right + column_of(j) * kStep + k));
      ND_UNROLL
      for (int e = 0; e < 4; ++e) {
        ND_UNROLL
        for (int i = 0; i < OwnRows; ++i) {
          ND_UNROLL
          for (int j = 0; j < kScores; ++j) s[i][j] = ::fmaf(a[i][e], b[j][e], s[i][j]);
        }
      }
    }
  }

  // The 16 threads with a row exchange its weights through shared memory.
  ND_FN void nn(float (&o)[OwnRows][kResults], const float (&p)[OwnRows][kScores], Tile right) const {
    float* const shared = weights();
    __syncwarp();  // the weights before have been read
    ND_UNROLL
    for (int i = 0; i < OwnRows; ++i) {
      ND_UNROLL
      for (int j = 0; j < kScores; ++j) shared[row_of(i) * kWeightStep + column_of(j)] = p[i][j];
    }
    __syncwarp();
#pragma unroll 1
    for (int c = 0; c < kColumns; c += 4) {
      float a[OwnRows][4];
      ND_UNROLL
      for (int i = 0; i < OwnRows; ++i)
        read<4>(a[i], reinterpret_cast<const char*>(shared + row_of(i) * kWeightStep + c));
      ND_UNROLL
      for (int e = 0; e < 4; ++e) {
        ND_UNROLL
        for (int j = 0; j < kResults; ++j) {
          const float b = right[(c + e) * kStep + column_of(j)];
          ND_UNROLL
          for (int i = 0; i < OwnRows; ++i) o[i][j] = ::fmaf(a[i][e], b, o[i][j]);
        }
      }
    }
  }

  ND_FN void put(const float (&o)[OwnRows][kResults], const float (&factor)[OwnRows], char* to, int64_t step,
                 int rows) const {
    ND_UNROLL
    for (int i = 0; i < OwnRows; ++i) {
      if (row_of(i) >= rows) continue;
      T* const row = reinterpret_cast<T*>(to + row_of(i) * step);
      ND_UNROLL
      for (int j = 0; j < kResults; ++j) store(row[column_of(j)], o[i][j] * factor[i]);
    }
  }
};

}  // namespace catena::device
