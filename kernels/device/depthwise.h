// Kernels of depthwise convolutions: each channel has one filter of K x K, whose windows move by S. Elements are read
// through the L1 cache; a thread computes kRows results below each other, so that it uses an element up to K times. The
// lanes of a warp are neighbours in memory: along the width, or along the channels if these are innermost. No sum
// depends on the number of blocks.
#pragma once

#include <catena/kernels/device/depthwise_parameters.h>
#include <catena/kernels/device/group.h>

namespace catena::device {

template <class T, int K, int S, bool Last> struct Depthwise {
  using A = compute_t<T>;
  using P = DepthwiseParameters;
  // Rows of results per thread; rows of x under them; rows that are loaded before the first of them is used, as many as
  // registers hold beside the filter.
  enum : int { kRows = 4, kReach = (kRows - 1) * S + K, kTogether = K == 3 ? kReach : 1, kTaps = K * K };

  static ND_FN A read_at(const void* data, uint32_t i) { return load(static_cast<const T*>(data)[i]); }
  static ND_FN void write_at(void* data, uint32_t i, A v) { store(static_cast<T*>(data)[i], v); }

  // Images in memory: the element (row, column) of a plane is at first + row * down + column * right.
  struct Plane {
    uint32_t first, down, right;
  };
  static ND_FN Plane plane(const P& p, uint32_t image, uint32_t channel, int64_t height, int64_t width) {
    const uint32_t channels = uint32_t(p.channels), h = uint32_t(height), w = uint32_t(width);
    if constexpr (Last) return {image * h * w * channels + channel, w * channels, channels};
    else return {(image * channels + channel) * h * w, w, 1};
  }

  // The position of item i of a loop over images, channels, rows and columns, with neighbours in memory next to each
  // other.
  struct Position {
    uint32_t image, channel, row, column;
  };
  static ND_FN Position position(uint32_t i, uint32_t channels, uint32_t rows, uint32_t columns) {
    Position at;
    if constexpr (Last) {
      at.channel = i % channels;
      i /= channels;
      at.column = i % columns;
      i /= columns;
      at.row = i % rows;
      at.image = i / rows;
    } else {
      at.column = i % columns;
      i /= columns;
      at.row = i % rows;
      i /= rows;
      at.channel = i % channels;
      at.image = i / channels;
    }
    return at;
  }

  // Calls use(j, v) for the rows j of x from y0 on that kRows windows cover, where v are the K elements from x0 on; 0
  // outside.
  template <class Use> static ND_FN void each_row(const P& p, const Plane& x, int y0, int x0, Use use) {
    bool inside[K];
    ND_UNROLL
    for (int k = 0; k < K; ++k) inside[k] = uint32_t(x0 + k) < uint32_t(p.width);
    ND_UNROLL
    for (int first = 0; first < kReach; first += kTogether) {
      A v[kTogether][K];
      ND_UNROLL
      for (int j = 0; j < kTogether; ++j) {
        const int row = y0 + first + j;
        const bool is_row = first + j < kReach && uint32_t(row) < uint32_t(p.height);
        const uint32_t at = x.first + uint32_t(row) * x.down + uint32_t(x0) * x.right;
        ND_UNROLL
        for (int k = 0; k < K; ++k) v[j][k] = is_row && inside[k] ? read_at(p.x, at + uint32_t(k) * x.right) : A(0);
      }
      ND_UNROLL
      for (int j = 0; j < kTogether; ++j)
        if (first + j < kReach) use(first + j, v[j]);
    }
  }

  // y from x, w and bias.
  static ND_FN void forward(const P& p) {
    const uint32_t channels = uint32_t(p.channels), columns = uint32_t(p.out_width),
                   groups = uint32_t(p.out_height + kRows - 1) / kRows,
                   n = uint32_t(p.images) * channels * groups * columns, step = gridDim.x * blockDim.x;
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
      const Position at = position(i, channels, groups, columns);
      const int first = int(at.row) * kRows;
      A w[kTaps], sum[kRows];
      ND_UNROLL
      for (int t = 0; t < kTaps; ++t)
        w[t] = read_at(p.w, at.channel * kTaps + uint32_t(p.flip != 0 ? kTaps - 1 - t : t));
      ND_UNROLL
      for (int r = 0; r < kRows; ++r) sum[r] = p.bias != nullptr ? read_at(p.bias, at.channel) : A(0);
      each_row(p, plane(p, at.image, at.channel, p.height, p.width), first * S - int(p.pad_y),
               int(at.column) * S - int(p.pad_x), [&](int j, const A(&v)[K]) {
                 ND_UNROLL
                 for (int r = 0; r < kRows; ++r) {
                   if (j - r * S < 0 || j - r * S >= K) continue;
                   ND_UNROLL
                   for (int k = 0; k < K; ++k) sum[r] += w[(j - r * S) * K + k] * v[k];
                 }
               });
      const Plane y = plane(p, at.image, at.channel, p.out_height, p.out_width);
      ND_UNROLL
      for (int r = 0; r < kRows; ++r)
        if (first + r < int(p.out_height))
          write_at(p.y, y.first + uint32_t(first + r) * y.down + at.column * y.right, sum[r]);
    }
  }

  // The gradient of x, which is written to p.y, from that of y in p.x: every element adds up the windows over it. Here
  // out_height and out_width are those of the gradient of x.
  static ND_FN void data(const P& p) {
    const uint32_t channels = uint32_t(p.channels), rows = uint32_t(p.out_height), columns = uint32_t(p.out_width),
                   n = uint32_t(p.images) * channels * rows * columns, step = gridDim.x * blockDim.x;
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
      const Position at = position(i, channels, rows, columns);
      const Plane x = plane(p, at.image, at.channel, p.height, p.width);
      const int bottom = int(at.row) + int(p.pad_y), right = int(at.column) + int(p.pad_x);
      A sum = A(0);
      for (int ky = bottom % S; ky < K && ky <= bottom; ky += S) {
        const uint32_t row = uint32_t(bottom - ky) / S;
        if (row >= uint32_t(p.height)) continue;
        for (int kx = right % S; kx < K && kx <= right; kx += S) {
          const uint32_t column = uint32_t(right - kx) / S;
          if (column < uint32_t(p.width))
            sum += read_at(p.w, at.channel * kTaps + uint32_t(ky * K + kx)) *
                   read_at(p.x, x.first + row * x.down + column * x.right);
        }
      }
      write_at(p.y, i, sum);
    }
  }

  // Adds the products of the elements under kRows results with their gradients in p.y.
  static ND_FN void add_products(const P& p, uint32_t group, uint32_t channel, uint32_t column, A (&sum)[kTaps]) {
    const uint32_t groups = uint32_t(p.out_height + kRows - 1) / kRows, image = group / groups;
    const int first = int(group % groups) * kRows;
    const Plane y = plane(p, image, channel, p.out_height, p.out_width);
    A g[kRows];
    ND_UNROLL
    for (int r = 0; r < kRows; ++r)
      g[r] = first + r < int(p.out_height) ? read_at(p.y, y.first + uint32_t(first + r) * y.down + column * y.right)
                                           : A(0);
    each_row(p, plane(p, image, channel, p.height, p.width), first * S - int(p.pad_y), int(column) * S - int(p.pad_x),
             [&](int j, const A(&v)[K]) {
               ND_UNROLL
               for (int r = 0; r < kRows; ++r) {
                 if (j - r * S < 0 || j - r * S >= K) continue;
                 ND_UNROLL
                 for (int k = 0; k < K; ++k) sum[(j - r * S) * K + k] += g[r] * v[k];
               }
             });
  }

  // The gradients of the filters from x and the gradient of y. A block sums one piece for one channel or, if the
  // channels are innermost, for the channels of a warp's lanes.
  static ND_FN void filter(const P& p) {
    alignas(16) __shared__ unsigned char memory[kBlock * sizeof(A)];
    A* of_thread = reinterpret_cast<A*>(memory);
    const uint32_t channels = uint32_t(p.channels), together = Last ? kWarp : 1,
                   tiles = (channels + together - 1) / together, workers = kBlock / together,
                   columns = uint32_t(p.out_width);
    const uint32_t groups = uint32_t(p.images) * (uint32_t(p.out_height + kRows - 1) / kRows);
    for (uint32_t item = blockIdx.x; item < tiles * uint32_t(p.pieces); item += gridDim.x) {
      const uint32_t piece = item / tiles, begin = piece * uint32_t(p.piece),
                     end = begin + uint32_t(p.piece) < groups ? begin + uint32_t(p.piece) : groups;
      const uint32_t channel = item % tiles * together + threadIdx.x % together;
      A sum[kTaps] = {};
      if (channel < channels && begin < end)
        for (uint32_t q = threadIdx.x / together; q < (end - begin) * columns; q += workers)
          add_products(p, begin + q / columns, channel, q % columns, sum);
      A* to = static_cast<A*>(p.partial) + (int64_t(piece) * channels + channel) * kTaps;
      ND_UNROLL
      for (int t = 0; t < kTaps; ++t) {
        if constexpr (Last) {
          __syncthreads();  // all threads have read the sums of the tap before
          of_thread[threadIdx.x] = sum[t];
          __syncthreads();
          if (threadIdx.x >= kWarp || channel >= channels) continue;
          A all = of_thread[threadIdx.x];
          for (int w = 1; w < kBlock / kWarp; ++w) all += of_thread[w * kWarp + threadIdx.x];
          to[t] = all;
        } else {
          const A all = BlockGroup::reduce<Plus>(sum[t]);
          if (threadIdx.x == 0) to[t] = all;
        }
      }
    }
  }
};

}  // namespace catena::device
