// How a block of attention (attention.h) multiplies tiles: on tensor cores, or by fused multiply-additions in float32.
// Both classes have the same interface. A block owns kRows rows, and visits tiles of kColumns rows of other operands:
//   nt: scores (kRows, kColumns) += own rows * tile^T
//   nn: result (kRows, kDepth) += weights (kRows, kColumns) * tile
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

// 8 warps with 16 rows each. Tiles are copied while the one before them is multiplied.
template <class T, int Depth, int Columns> struct TensorTiles {
  using Stored = T;
  using Element = T;  // in shared memory
  enum : int {
    kDepth = Depth,
    kRows = kBlock / kWarp * 16,
    kColumns = Columns,
    kOwnRows = 2,
    kScores = Columns / 4,
    kResults = Depth / 4,
    kStep = Depth + 8,
    kLanes = 4,  // neighbouring lanes with the same rows
    kStages = 2
  };
  static_assert(Depth % 16 == 0 && Columns % 16 == 0);

  // The rows of an operand that the warp owns, in registers.
  struct Own {
    uint32_t part[Depth / 16][4];
  };

  // The elements of shared memory that the block needs; `owns`: operands of which it owns rows.
  static ND_FN constexpr int elements(int) { return (4 * Columns > kRows ? 4 * Columns : int(kRows)) * kStep; }

  unsigned char* memory;

  ND_FN TensorTiles(unsigned char* shared, int) : memory(shared) {}

  static ND_FN int lane() { return int(threadIdx.x) % kWarp; }
  static ND_FN int first_row() { return int(threadIdx.x) / kWarp * 16; }
  static ND_FN int row_of(int i) { return first_row() + lane() / 4 + 8 * i; }
  static ND_FN int column_of(int j) { return j / 2 * 8 + lane() % 4 * 2 + j % 2; }
  ND_FN T* tile(int stage, int which) const {
    return reinterpret_cast<T*>(memory) + (stage * 2 + which) * Columns * kStep;
  }

  // Begins to copy Rows rows from `from` on, `step` bytes apart; those from number `rows` on are 0.
  template <int Rows> static ND_FN void fetch(T* to, const char* from, int64_t step, int rows) {
    constexpr int chunks = Depth / 8;
    const SharedAddress at = shared_address(to);
    ND_UNROLL
    for (int first = 0; first < Rows * chunks; first += kBlock) {
      const int k = first + int(threadIdx.x), row = k / chunks, chunk = k % chunks;
      if (Rows * chunks % kBlock != 0 && k >= Rows * chunks) break;
      copy_later(at + SharedAddress(row * kStep + chunk * 8) * 2, from + (row * int(step) + chunk * 16), row < rows);
    }
  }

  // Loads the rows that the block owns, through the memory of the tiles.
  ND_FN void own(Own& to, int, const char* from, int64_t step, int rows) const {
    T* const staging = reinterpret_cast<T*>(memory);
    fetch<kRows>(staging, from, step, rows);
    wait_for_copies();
    __syncthreads();
    const int m = lane() / 8;
    const SharedAddress at = shared_address(staging + (first_row() + m % 2 * 8 + lane() % 8) * kStep + m / 2 * 8);
    ND_UNROLL
    for (int k = 0; k < Depth / 16; ++k) load_matrices<false>(to.part[k], at + SharedAddress(k * 32));
    __syncthreads();
  }

  // Calls load(number, stage) and use(number, stage) for all tiles; at the end no thread reads one any more.
  template <class Load, class Use> static ND_FN void each_tile(int count, Load load, Use use) {
    if (count > 0) load(0, 0);
    for (int n = 0; n < count; ++n) {
      wait_for_copies();
      __syncthreads();  // the tile is there, and all warps have used the one before it
      if (n + 1 < count) load(n + 1, (n + 1) % 2);
      use(n, n % 2);
    }
    __syncthreads();
  }

  ND_FN void nt(float (&s)[2][kScores], const Own& left, const T* right) const {
    const int m = lane() / 8;
    const SharedAddress at = shared_address(right + (m / 2 * 8 + lane() % 8) * kStep + m % 2 * 8);
    each_constant(make_indices<Depth / 16 * (Columns / 16)>{}, [&](auto at_number) {
      constexpr int k = decltype(at_number)::value / (Columns / 16), n = decltype(at_number)::value % (Columns / 16);
      uint32_t b[4];
      load_matrices<false, (n * 16 * kStep + k * 16) * 2>(b, at);
      ND_UNROLL
      for (int h = 0; h < 2; ++h)
        multiply_tiles<T>(s[0][4 * n + 2 * h], s[0][4 * n + 2 * h + 1], s[1][4 * n + 2 * h], s[1][4 * n + 2 * h + 1],
                          left.part[k], b[2 * h], b[2 * h + 1]);
    });
  }

  ND_FN void nn(float (&o)[2][kResults], const float (&p)[2][kScores], const T* right) const {
    const int m = lane() / 8;
    const SharedAddress at = shared_address(right + (m % 2 * 8 + lane() % 8) * kStep + m / 2 * 8);
    each_constant(make_indices<Columns / 16>{}, [&](auto k_number) {
      constexpr int k = decltype(k_number)::value;
      const uint32_t a[4] = {pair_of<T>(p[0][4 * k], p[0][4 * k + 1]), pair_of<T>(p[1][4 * k], p[1][4 * k + 1]),
                             pair_of<T>(p[0][4 * k + 2], p[0][4 * k + 3]),
                             pair_of<T>(p[1][4 * k + 2], p[1][4 * k + 3])};
      each_constant(make_indices<Depth / 16>{}, [&](auto n_number) {
        constexpr int n = decltype(n_number)::value;
        uint32_t b[4];
        load_matrices<true, (k * 16 * kStep + n * 16) * 2>(b, at);
        ND_UNROLL
        for (int h = 0; h < 2; ++h)
          multiply_tiles<T>(o[0][4 * n + 2 * h], o[0][4 * n + 2 * h + 1], o[1][4 * n + 2 * h], o[1][4 * n + 2 * h + 1],
                            a, b[2 * h], b[2 * h + 1]);
      });
    });
  }

  // Writes the results, times a factor per row, to the first `rows` rows at `to`. Between the last tile and this.
  ND_FN void put(const float (&o)[2][kResults], const float (&factor)[2], char* to, int64_t step, int rows) const {
    T* const staging = reinterpret_cast<T*>(memory);
    __syncwarp();  // the warp has stored the results before from here
    ND_UNROLL
    for (int i = 0; i < 2; ++i) {
      ND_UNROLL
      for (int j = 0; j < kResults; j += 2)
        *reinterpret_cast<uint32_t*>(staging + row_of(i) * kStep + column_of(j)) =
            pair_of<T>(o[i][j] * factor[i], o[i][j + 1] * factor[i]);
    }
    __syncwarp();
    constexpr int chunks = Depth / 8;
    ND_UNROLL
    for (int first = 0; first < 16 * chunks; first += kWarp) {
      const int k = first + lane(), row = first_row() + k / chunks, chunk = k % chunks;
      if (16 * chunks % kWarp != 0 && k >= 16 * chunks) break;
      if (row < rows)
        *reinterpret_cast<Word<16>*>(to + row * step + chunk * 16) =
            *reinterpret_cast<const Word<16>*>(staging + row * kStep + chunk * 8);
    }
  }
};

// 16 x 16 threads, each with every 16th row and column.
template <class T, int Depth, int OwnRows, int OwnColumns> struct FmaTiles {
  using Stored = T;
  using Element = float;
  enum : int {
    kDepth = Depth,
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

  static ND_FN int row_of(int i) { return int(threadIdx.x) / 16 + 16 * i; }
  static ND_FN int column_of(int j) { return int(threadIdx.x) % 16 + 16 * j; }
  ND_FN float* tile(int, int which) const { return memory + (owns * kRows + which * kColumns) * kStep; }
  ND_FN float* weights() const { return memory + (owns * kRows + 2 * kColumns) * kStep; }

  template <int Rows> static ND_FN void fetch(float* to, const char* from, int64_t step, int rows) {
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
  // `number`: of the operand among those of which the block owns rows. The next barrier makes the rows visible.
  ND_FN void own(Own& to, int number, const char* from, int64_t step, int rows) const {
    float* const at = memory + number * kRows * kStep;
    fetch<kRows>(at, from, step, rows);
    to.rows = at;
  }

  template <class Load, class Use> static ND_FN void each_tile(int count, Load load, Use use) {
    for (int n = 0; n < count; ++n) {
      __syncthreads();
      load(n, 0);
      __syncthreads();
      use(n, 0);
    }
    __syncthreads();
  }

  ND_FN void nt(float (&s)[OwnRows][kScores], const Own& left, const float* right) const {
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
  ND_FN void nn(float (&o)[OwnRows][kResults], const float (&p)[OwnRows][kScores], const float* right) const {
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
