// Launch skeletons of matrix products for operands of any strides: one through tiles in shared memory, and two for
// products with at most four rows. The order of additions depends only on the lengths of the call.
#pragma once

#include <catena/kernels/device/group.h>

namespace catena::device {

// The accumulator type: float32 for 16-bit floats, 32-bit integers for small integers (the low bits are the same),
// logical or of ands for bool.
template <class T> struct Dot {
  enum : bool { inexact = is_float<real_of_t<compute_t<T>>> };
  enum : bool { in_parts = inexact && sizeof(real_of_t<compute_t<T>>) < sizeof(double) };  // see part_length
  using A = conditional_t<inexact, compute_t<T>, conditional_t<sizeof(T) == 8, uint64_t, uint32_t>>;
  static ND_FN A fetch(const char* at) { return A(load(element<T>(at))); }
  static ND_FN void put(char* at, A v) {
    if constexpr (inexact) store(*reinterpret_cast<T*>(at), v);
    else *reinterpret_cast<T*>(at) = T(v);
  }
  static ND_FN A add(A sum, A x, A y) {
    if constexpr (is_same<A, float>) return ::fmaf(x, y, sum);
    else if constexpr (is_same<A, double>) return ::fma(x, y, sum);
    else if constexpr (is_same<T, bool>) return sum | (x & y);
    else return sum + x * y;
  }
  static ND_FN A combine(A a, A b) {
    if constexpr (is_same<T, bool>) return a | b;
    else return a + b;
  }
};

// Rounding errors of a sum grow with the number of its terms. A thread therefore adds up n products in parts of this
// many products, about the root of n, and then adds the parts.
ND_FN int64_t part_length(int64_t n) {
  int64_t length = 256;
  while (length < n / length) length *= 2;
  return length;
}

template <class T, int Rank> struct Matmul {
  using D = Dot<T>;
  using A = typename D::A;
  using P = MatmulParameters<Rank == 0 ? kGenericRank : Rank>;
  struct Matrices {
    const char* a;
    const char* b;
    char* out;
    int64_t number;
  };

  static ND_FN Matrices matrices(const P& p, int64_t number) {
    Matrices m{static_cast<const char*>(p.a), static_cast<const char*>(p.b), static_cast<char*>(p.out), number};
    for_each_axis<Rank>(uint64_t(number), p.length, p.batch_rank, [&](int axis, uint64_t c) {
      m.a += int64_t(c) * p.a_stride[axis];
      m.b += int64_t(c) * p.b_stride[axis];
      m.out += int64_t(c) * p.out_stride[axis];
    });
    return m;
  }
  static ND_FN void result(const P& p, const Matrices& at, int64_t row, int64_t column, A v) {
    if (p.splits == 1) D::put(at.out + row * p.out_row + column * p.out_column, v);
    else static_cast<A*>(p.partial)[(blockIdx.y * p.batch + at.number) * p.m * p.n + row * p.n + column] = v;
  }
  // Computes the range of k that the blocks with this blockIdx.y add up.
  static ND_FN void part(const P& p, int64_t& begin, int64_t& end) {
    const int64_t length = (p.k + p.splits - 1) / p.splits, last = (blockIdx.y + 1) * length;
    begin = blockIdx.y * length;
    end = last < p.k ? last : p.k;
  }

  // The four elements of a tile that this thread fetches; neighbouring threads access neighbouring memory.
  struct Share {
    int outer, k, outer_step, k_step;
    ND_FN explicit Share(bool along_k) {
      const int t = int(threadIdx.x);
      outer = along_k ? t / kTileDepth : t % kTile;
      k = along_k ? t % kTileDepth : t / kTile;
      outer_step = along_k ? kBlock / kTileDepth : 0;
      k_step = along_k ? 0 : kBlock / kTile;
    }
    ND_FN void fetch(A* value, const char* from, int64_t outer_stride, int64_t k_stride, int64_t outers,
                     int64_t ks) const {
      ND_UNROLL
      for (int j = 0; j < 4; ++j) {
        const int o = outer + j * outer_step, d = k + j * k_step;
        value[j] = o < outers && d < ks ? D::fetch(from + o * outer_stride + d * k_stride) : A(0);
      }
    }
    ND_FN void put(A (*tile)[kTile + 4], const A* value) const {
      ND_UNROLL
      for (int j = 0; j < 4; ++j) tile[k + j * k_step][outer + j * outer_step] = value[j];
    }
  };

  static ND_FN void tile_product(A (&sum)[4][4], const A (*left)[kTile + 4], const A (*right)[kTile + 4]) {
    const int x = int(threadIdx.x) % (kTile / 4) * 4, y = int(threadIdx.x) / (kTile / 4) * 4;
#pragma unroll 1  // unrolling it completely would double the registers and the compile time
    for (int d = 0; d < kTileDepth; d += 4) {
      ND_UNROLL
      for (int e = d; e < d + 4; ++e) {
        A a[4], b[4];
        read<4>(a, reinterpret_cast<const char*>(&left[e][y]));
        read<4>(b, reinterpret_cast<const char*>(&right[e][x]));
        ND_UNROLL
        for (int i = 0; i < 4; ++i) {
          ND_UNROLL
          for (int j = 0; j < 4; ++j) sum[i][j] = D::add(sum[i][j], a[i], b[j]);
        }
      }
    }
  }

  static ND_FN void end_part(A (&all)[4][4], A (&part)[4][4]) {
    ND_UNROLL
    for (int i = 0; i < 4; ++i) {
      ND_UNROLL
      for (int j = 0; j < 4; ++j) {
        all[i][j] = D::combine(all[i][j], part[i][j]);
        part[i][j] = A(0);
      }
    }
  }

  // One block per tile of results; each thread computes 4 x 4 of them. The next tiles are loaded while the current ones
  // are multiplied.
  static ND_FN void tiles(const P& p) {
    alignas(16) __shared__ A left[kTileDepth][kTile + 4], right[kTileDepth][kTile + 4];
    const int64_t down = (p.m + kTile - 1) / kTile, across = (p.n + kTile - 1) / kTile;
    const auto distance = [](int64_t v) { return v < 0 ? -v : v; };
    const Share of_a(distance(p.a_column) <= distance(p.a_row)), of_b(distance(p.b_row) < distance(p.b_column));
    int64_t begin, end;
    part(p, begin, end);
    for (int64_t item = blockIdx.x; item < down * across * p.batch; item += gridDim.x) {
      const int64_t row = item / across % down * kTile, column = item % across * kTile;
      const Matrices at = matrices(p, item / (across * down));
      const char* a = at.a + row * p.a_row;
      const char* b = at.b + column * p.b_column;
      A sum[4][4] = {}, all[4][4] = {}, next_a[4], next_b[4];
      const int64_t length = part_length(end - begin);
      int64_t end_of_part = begin + length;
      of_a.fetch(next_a, a + begin * p.a_column, p.a_row, p.a_column, p.m - row, end - begin);
      of_b.fetch(next_b, b + begin * p.b_row, p.b_column, p.b_row, p.n - column, end - begin);
      for (int64_t k = begin; k < end; k += kTileDepth) {
        of_a.put(left, next_a);
        of_b.put(right, next_b);
        __syncthreads();
        const int64_t next = k + kTileDepth;
        if (next < end) {
          of_a.fetch(next_a, a + next * p.a_column, p.a_row, p.a_column, p.m - row, end - next);
          of_b.fetch(next_b, b + next * p.b_row, p.b_column, p.b_row, p.n - column, end - next);
        }
        tile_product(sum, left, right);
        if constexpr (D::in_parts) {
          if (next >= end_of_part) {
            end_of_part += length;
            end_part(all, sum);
          }
        }
        __syncthreads();
      }
      if constexpr (D::in_parts) end_part(sum, all);
      const int64_t x = column + int(threadIdx.x) % (kTile / 4) * 4, y = row + int(threadIdx.x) / (kTile / 4) * 4;
      ND_UNROLL
      for (int i = 0; i < 4; ++i) {
        ND_UNROLL
        for (int j = 0; j < 4; ++j)
          if (y + i < p.m && x + j < p.n) result(p, at, y + i, x + j, sum[i][j]);
      }
    }
  }

  // Adds up one column of results (at most four rows) over the elements begin, begin + step, ... of k.
  static ND_FN void narrow(const P& p, const Matrices& at, int64_t column, int64_t begin, int64_t end, int step,
                           A (&sum)[kNarrow]) {
    const char* b = at.b + column * p.b_column;
    const int64_t length = part_length((end - begin) / step) * step;
    for (int64_t k = begin; k < end;) {
      const int64_t end_of_part = end - k > length ? k + length : end;
      A part[kNarrow] = {};
      for (; k < end_of_part; k += step) {
        const A y = D::fetch(b + k * p.b_row);
        ND_UNROLL
        for (int i = 0; i < kNarrow; ++i)
          if (i < p.m) part[i] = D::add(part[i], D::fetch(at.a + i * p.a_row + k * p.a_column), y);
      }
      ND_UNROLL
      for (int i = 0; i < kNarrow; ++i) sum[i] = D::combine(sum[i], part[i]);
    }
  }

  // One warp per column, for operands that are contiguous along k.
  static ND_FN void narrow_rows(const P& p) {
    int64_t begin, end;
    part(p, begin, end);
    for (int64_t item = WarpGroup::item(); item < p.n * p.batch; item += WarpGroup::items()) {
      const Matrices at = matrices(p, item / p.n);
      A sum[kNarrow] = {};
      narrow(p, at, item % p.n, begin + WarpGroup::rank(), end, WarpGroup::size, sum);
      ND_UNROLL
      for (int i = 0; i < kNarrow; ++i) {
        sum[i] = reduce_warp<D>(sum[i]);
        if (WarpGroup::rank() == 0 && i < p.m) result(p, at, i, item % p.n, sum[i]);
      }
    }
  }

  // 32 neighbouring columns per block, with 8 threads for each.
  static ND_FN void narrow_columns(const P& p) {
    constexpr int height = kBlock / kWarp;
    __shared__ A of_thread[height][kNarrow][kWarp];
    const int x = int(threadIdx.x) % kWarp, y = int(threadIdx.x) / kWarp;
    const int64_t groups = (p.n + kWarp - 1) / kWarp;
    int64_t begin, end;
    part(p, begin, end);
    for (int64_t item = blockIdx.x; item < groups * p.batch; item += gridDim.x) {
      const Matrices at = matrices(p, item / groups);
      const int64_t column = item % groups * kWarp + x;
      A sum[kNarrow] = {};
      if (column < p.n) narrow(p, at, column, begin + y, end, height, sum);
      ND_UNROLL
      for (int i = 0; i < kNarrow; ++i) of_thread[y][i][x] = sum[i];
      __syncthreads();
      if (y < p.m && column < p.n) {  // row y
        A all = of_thread[0][y][x];
        for (int part = 1; part < height; ++part) all = D::combine(all, of_thread[part][y][x]);
        result(p, at, y, column, all);
      }
      __syncthreads();
    }
  }

  // The second stage: one thread per result adds up the partial sums of the splits, at most 256, in groups of 16.
  static ND_FN void second(const P& p) {
    const int64_t each = p.m * p.n, outputs = each * p.batch;
    for (int64_t i = int64_t(blockIdx.x) * kBlock + threadIdx.x; i < outputs; i += int64_t(gridDim.x) * kBlock) {
      const A* partial = static_cast<const A*>(p.partial) + i;
      A sum = partial[0];
      for (int64_t first = 0; first < p.splits; first += 16) {
        A group = partial[first * outputs];
        for (int64_t s = first + 1; s < p.splits && s < first + 16; ++s)
          group = D::combine(group, partial[s * outputs]);
        sum = first == 0 ? group : D::combine(sum, group);
      }
      const Matrices at = matrices(p, i / each);
      D::put(at.out + i % each / p.n * p.out_row + i % p.n * p.out_column, sum);
    }
  }
};

}  // namespace catena::device
