// The loops of winograd.h. Transformations use vectors of channels; products are blocks of 6 x 16 or 4 x 16 sums.
#include <algorithm>

#include <catena/autograd/ndarray_backend/convolution/avx2.h>
#include <catena/autograd/ndarray_backend/convolution/winograd.h>
#include <catena/kernels/registry/multiarch.h>

namespace autograd::internal {
namespace {

#ifdef CATENA_HAS_MULTIARCH

using Int = std::int64_t;

using avx2::kBytes, avx2::kFloats, avx2::kLanes, avx2::V, avx2::load, avx2::store;
static_assert(kLanes == kWinogradLanes);

// ---- transformations ------------------------------------------------------------------------------
// One-dimensional transformations of elements `step` apart. Names as in Lavin & Gray: B transforms the input, G the
// filter, A the output. The points of interpolation are 0, +-a, +-b and infinity, with a = 5/8 and b = 3/2, whose
// powers are exact. Rounding errors are a quarter of those with 1 and 2.
constexpr float a1 = 0.625f, a2 = a1 * a1, a3 = a2 * a1, b1 = 1.5f, b2 = b1 * b1, b3 = b2 * b1;
constexpr float kAtZero = 1 / (a2 * b2), kAtA = 1 / (2 * a2 * (a2 - b2)), kAtB = 1 / (2 * b2 * (b2 - a2));

template <int step, int to_step> CATENA_AVX2_INLINE void times_b(const V* d, V* t) {
  const V p = d[4 * step] - b2 * d[2 * step], q = a1 * (d[3 * step] - b2 * d[1 * step]);
  const V r = d[4 * step] - a2 * d[2 * step], u = b1 * (d[3 * step] - a2 * d[1 * step]);
  t[0] = a2 * b2 * d[0] - (a2 + b2) * d[2 * step] + d[4 * step];
  t[1 * to_step] = p + q;
  t[2 * to_step] = p - q;
  t[3 * to_step] = r + u;
  t[4 * to_step] = r - u;
  t[5 * to_step] = a2 * b2 * d[1 * step] - (a2 + b2) * d[3 * step] + d[5 * step];
}
template <int step, int to_step> CATENA_AVX2_INLINE void times_a(const V* m, V* y) {
  const V s = m[1 * step] + m[2 * step], d = m[1 * step] - m[2 * step];
  const V p = m[3 * step] + m[4 * step], q = m[3 * step] - m[4 * step];
  y[0] = m[0] + s + p;
  y[1 * to_step] = a1 * d + b1 * q;
  y[2 * to_step] = a2 * s + b2 * p;
  y[3 * to_step] = a3 * d + b3 * q + m[5 * step];
}
template <int step, int to_step> CATENA_AVX2_INLINE void times_a_transposed(const V* y, V* z) {
  const V p = y[0] + a2 * y[2 * step], q = a1 * y[1 * step] + a3 * y[3 * step];
  const V r = y[0] + b2 * y[2 * step], u = b1 * y[1 * step] + b3 * y[3 * step];
  z[0] = y[0];
  z[1 * to_step] = p + q;
  z[2 * to_step] = p - q;
  z[3 * to_step] = r + u;
  z[4 * to_step] = r - u;
  z[5 * to_step] = y[3 * step];
}
template <int step, int to_step> CATENA_AVX2_INLINE void times_g(const V* g, V* u) {
  const V p = (g[0] + a2 * g[2 * step]) * kAtA, q = g[1 * step] * (a1 * kAtA);
  const V r = (g[0] + b2 * g[2 * step]) * kAtB, v = g[1 * step] * (b1 * kAtB);
  u[0] = g[0] * kAtZero;
  u[1 * to_step] = p + q;
  u[2 * to_step] = p - q;
  u[3 * to_step] = r + v;
  u[4 * to_step] = r - v;
  u[5 * to_step] = g[2 * step];
}
template <int step, int to_step> CATENA_AVX2_INLINE void times_g_transposed(const V* u, V* g) {
  const V s = (u[1 * step] + u[2 * step]) * kAtA, d = (u[1 * step] - u[2 * step]) * (a1 * kAtA);
  const V p = (u[3 * step] + u[4 * step]) * kAtB, q = (u[3 * step] - u[4 * step]) * (b1 * kAtB);
  g[0] = u[0] * kAtZero + s + p;
  g[1 * to_step] = d + q;
  g[2 * to_step] = a2 * s + b2 * p + u[5 * step];
}

// Computes the addresses of the side x side elements of tile t; elements outside the image are read at `zeros`.
template <int side>
CATENA_AVX2_INLINE void places(const WinogradImages& s, Int t, const float* images, const float* zeros,
                               const float** at) {
  const Int tiles = s.tiles_y * s.tiles_x, image = t / tiles, y0 = t % tiles / s.tiles_x * 4 - s.pad_y,
            x0 = t % s.tiles_x * 4 - s.pad_x;
  for (int i = 0; i < side; ++i)
    for (int j = 0; j < side; ++j) {
      const Int y = y0 + i, x = x0 + j;
      const bool inside = y >= 0 && y < s.h && x >= 0 && x < s.w;
      at[i * side + j] = inside ? images + ((image * s.h + y) * s.w + x) * s.channels : zeros;
    }
}

// Returns the offset in a matrix of the channels from c on of tile t.
CATENA_AVX2_INLINE Int place(const WinogradTiles& tiles, Int channels, Int t, Int c) {
  const Int row = t - tiles.first;
  return tiles.in_panels ? (c / kLanes * tiles.count + row) * kLanes + c % kLanes : row * channels + c;
}

// Tiles of the input have 6 x 6 elements, tiles of the output's gradient 4 x 4.
struct OfInput {
  static constexpr int side = 6;
  template <int to_step> static CATENA_AVX2_INLINE void transform(const V* from, V* to) {
    times_b<1, to_step>(from, to);
  }
};
struct OfGradient {
  static constexpr int side = 4;
  template <int to_step> static CATENA_AVX2_INLINE void transform(const V* from, V* to) {
    times_a_transposed<1, to_step>(from, to);
  }
};

template <class Of>
CATENA_AVX2 void transform(const WinogradImages& s, const WinogradTiles& tiles, const float* images, const float* zeros,
                           float* to) {
  constexpr int side = Of::side;
  const float* at[side * side];
  for (Int t = tiles.begin; t < tiles.end; ++t) {
    places<side>(s, t, images, zeros, at);
    for (Int c = 0; c < s.channels; c += kFloats) {
      V half[6 * side];
#pragma GCC unroll 6
      for (int j = 0; j < side; ++j) {
        V column[side];
#pragma GCC unroll 6
        for (int i = 0; i < side; ++i) load(column[i], at[side * i + j] + c);
        Of::template transform<side>(column, half + j);
      }
      float* const out = to + place(tiles, s.channels, t, c);
#pragma GCC unroll 6
      for (int i = 0; i < 6; ++i) {
        V row[6];
        Of::template transform<1>(half + side * i, row);
#pragma GCC unroll 6
        for (int j = 0; j < 6; ++j) store(out + (6 * i + j) * tiles.plane, row[j]);
      }
    }
  }
}

CATENA_AVX2 void transform_output(const WinogradImages& s, const WinogradTiles& tiles, const float* from,
                                  const float* bias, float* images) {
  for (Int t = tiles.begin; t < tiles.end; ++t) {
    const Int all = s.tiles_y * s.tiles_x, image = t / all, y0 = t % all / s.tiles_x * 4, x0 = t % s.tiles_x * 4;
    const Int rows = std::min<Int>(4, s.h - y0), columns = std::min<Int>(4, s.w - x0);
    float* const to = images + ((image * s.h + y0) * s.w + x0) * s.channels;
    for (Int c = 0; c < s.channels; c += kFloats) {
      const float* const in = from + place(tiles, s.channels, t, c);
      V half[24], out[16], b = {};
      if (bias != nullptr) load(b, bias + c);
#pragma GCC unroll 6
      for (int j = 0; j < 6; ++j) {
        V column[6];
#pragma GCC unroll 6
        for (int i = 0; i < 6; ++i) load(column[i], in + (6 * i + j) * tiles.plane);
        times_a<1, 6>(column, half + j);
      }
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) {
        times_a<1, 1>(half + 6 * i, out + 4 * i);
        if (i >= rows) break;
#pragma GCC unroll 4
        for (int j = 0; j < 4; ++j)
          if (j < columns) store(to + (i * s.w + j) * s.channels + c, out[4 * i + j] + b);
      }
    }
  }
}

CATENA_AVX2 void transform_filter(const float* w, Int output_step, Int input_step, Int inputs, Int output, bool turned,
                                  Int plane, float* to) {
  to += output * inputs;
  for (Int i = 0; i < inputs; ++i, to += kLanes) {
    alignas(kBytes) float taps[9][kLanes];
    for (Int lane = 0; lane < kLanes; ++lane) {
      const float* const from = w + (output + lane) * output_step + i * input_step;
      for (int k = 0; k < 9; ++k) taps[turned ? 8 - k : k][lane] = from[k];
    }
    for (Int lane = 0; lane < kLanes; lane += kFloats) {
      V g[9], half[18];
#pragma GCC unroll 9
      for (int k = 0; k < 9; ++k) load(g[k], taps[k] + lane);
#pragma GCC unroll 3
      for (int j = 0; j < 3; ++j) times_g<3, 3>(g + j, half + j);
#pragma GCC unroll 6
      for (int r = 0; r < 6; ++r) {
        V row[6];
        times_g<1, 1>(half + 3 * r, row);
#pragma GCC unroll 6
        for (int j = 0; j < 6; ++j) store(to + (6 * r + j) * plane + lane, row[j]);
      }
    }
  }
}

CATENA_AVX2 void transform_filter_gradient(const float* sums, Int plane, Int inputs, Int outputs, Int begin, Int end,
                                           float* gw) {
  for (Int i = begin; i < end; ++i)
    for (Int o = 0; o < outputs; o += kFloats) {
      V half[18], g[9];
#pragma GCC unroll 6
      for (int j = 0; j < 6; ++j) {
        V column[6];
#pragma GCC unroll 6
        for (int r = 0; r < 6; ++r) load(column[r], sums + (6 * r + j) * plane + i * outputs + o);
        times_g_transposed<1, 6>(column, half + j);
      }
#pragma GCC unroll 3
      for (int r = 0; r < 3; ++r) times_g_transposed<1, 1>(half + 6 * r, g + 3 * r);
      for (int lane = 0; lane < kFloats; ++lane)
        for (int k = 0; k < 9; ++k) gw[((o + lane) * inputs + i) * 9 + k] = g[k][lane];
    }
}

// ---- products -------------------------------------------------------------------------------------
CATENA_AVX2 void multiply(const float* a, const float* b, float* c, Int rows, Int inputs, Int outputs) {
  constexpr int kRows = 6;
  for (Int o = 0; o < outputs; o += kLanes, b += inputs * kLanes)
    for (Int r = 0; r < rows; r += kRows) {
      const float* line[kRows];
      for (int i = 0; i < kRows; ++i) line[i] = a + std::min(r + i, rows - 1) * inputs;
      avx2::Sums<kRows> sum = {};
      const float* panel = b;
      for (Int p = 0; p < inputs; ++p, panel += kLanes) avx2::add_products(sum, line, p, panel);
#pragma GCC unroll 6
      for (int i = 0; i < kRows; ++i) {
        if (r + i >= rows) break;
        avx2::put(c + (r + i) * outputs + o, sum[i], true);
      }
    }
}

CATENA_AVX2 void add_products(const float* a, const float* b, float* c, Int tiles, Int begin, Int end, Int outputs,
                              bool first) {
  constexpr int kRows = 4;
  for (Int i0 = begin; i0 < end; i0 += kLanes)
    for (Int o = 0; o < outputs; o += kLanes)
      for (Int i = i0; i < i0 + kLanes; i += kRows) {
        avx2::Sums<kRows> sum = {};
        const float* line[kRows];
        for (int r = 0; r < kRows; ++r) line[r] = a + i0 * tiles + i - i0 + r;
        const float* right = b + o * tiles;
        for (Int t = 0; t < tiles; ++t, right += kLanes) avx2::add_products(sum, line, t * kLanes, right);
#pragma GCC unroll 4
        for (int r = 0; r < kRows; ++r) avx2::put(c + (i + r) * outputs + o, sum[r], first);
      }
}

#endif

}  // namespace

const WinogradKernels* winograd_kernels() {
#ifdef CATENA_HAS_MULTIARCH
  static constexpr WinogradKernels kernels{transform<OfInput>, transform<OfGradient>,     transform_output,
                                           transform_filter,   transform_filter_gradient, multiply,
                                           add_products};
  return avx2_is_widest() ? &kernels : nullptr;
#else
  return nullptr;
#endif
}

}  // namespace autograd::internal
