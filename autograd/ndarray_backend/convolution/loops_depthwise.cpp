// The loops of depthwise.h. A band of rows of a plane is copied with its padding into a buffer, in which columns and
// rows at the distance of the stride are neighbours. The buffer is one line, and a tap of the filter is a distance in
// it, so outputs are sums of shifted lines for any lengths. The few sums at the ends of rows are not used.
#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include <catena/autograd/ndarray_backend/convolution/depthwise.h>
#include <catena/kernels/registry/multiarch.h>

#define CATENA_INLINE inline __attribute__((always_inline))

namespace autograd::internal {
namespace {

using Int = std::int64_t;

constexpr Int kBand = 12 * 1024;  // floats of a band with all its buffers, if rows are short enough
constexpr Int kSlack = 64;        // floats after each buffer, because loops access whole vectors

// Distance of a tap in the buffer, and its index in the filter.
struct Tap {
  Int at, index;
};

// Prefetches memory that the next loops will access, while the current loop computes; `step` elements of this memory
// correspond to one element of the current loop. Without this, loops would alternate between waiting for memory and
// computing.
struct Fetch {
  const float* from;
  Int step;

  CATENA_INLINE void lines(Int i, Int n) const {
    constexpr Int kLine = 16;  // floats
    for (Int at = i * step; at < (i + n) * step; at += kLine) __builtin_prefetch(from + at);
  }
};

// ---- lines ----------------------------------------------------------------------------------------
template <int bytes> struct Line {
  static constexpr Int L = bytes / int(sizeof(float));
  typedef float V __attribute__((vector_size(bytes)));

  static CATENA_INLINE void load(V& v, const float* from) { std::memcpy(&v, from, bytes); }
  static CATENA_INLINE void store(float* to, const V& v) { std::memcpy(to, &v, bytes); }

  // Clears whole vectors, at least one, so up to L elements after the last one are cleared too. The first vector is
  // separate, because GCC would otherwise replace the loop by a call of memset().
  static CATENA_INLINE void clear(float* to, Int n) {
    store(to, V{});
    for (Int i = L; i < n; i += L) store(to + i, V{});
  }

  // The copies move exactly n elements: the last vector overlaps the one before it, and lines shorter than a vector are
  // moved in shorter vectors.
  static CATENA_INLINE void copy(float* to, const float* from, Int n) {
    if (n < L) return shorter_copy(to, from, n);
    for (Int i = 0; i < n; i += L) {
      const Int at = std::min(i, n - L);
      V v;
      load(v, from + at);
      store(to + at, v);
    }
  }
  static CATENA_INLINE void shorter_copy(float* to, const float* from, Int n) {
    if constexpr (L > 2) Line<bytes / 2>::copy(to, from, n);
    else if (n == 1) *to = *from;
  }

  // to[i] = from[2 i].
  static CATENA_INLINE void copy_even(float* to, const float* from, Int n) {
    if constexpr (L > 2) {
      if (n < L) return Line<bytes / 2>::copy_even(to, from, n);
      for (Int i = 0; i < n; i += L) {
        const Int at = std::min(i, n - L);
        evens(to + at, from + 2 * at, std::make_index_sequence<std::size_t(L)>());
      }
    } else {
      for (Int i = 0; i < n; ++i) to[i] = from[2 * i];
    }
  }
  template <std::size_t... I> static CATENA_INLINE void evens(float* to, const float* from, std::index_sequence<I...>) {
    V a, b;
    load(a, from);
    load(b, from + L - 1);
    store(to, __builtin_shufflevector(a, b, (2 * int(I) + (int(I) < L / 2 ? 0 : 1))...));
  }

  // to[2 i] = even[i], to[2 i + 1] = odd[i].
  static CATENA_INLINE void interleave(float* to, const float* even, const float* odd, Int n) {
    Int i = 0;
    if constexpr (L > 2) {
      if (n < 2 * L) return Line<bytes / 2>::interleave(to, even, odd, n);
      const Int pairs = n / 2;
      for (; i < pairs; i += L) {
        const Int at = std::min(i, pairs - L);
        merge(to + 2 * at, even + at, odd + at, std::make_index_sequence<std::size_t(L)>());
      }
      i = 2 * pairs;
    }
    for (; i < n; ++i) to[i] = i % 2 ? odd[i / 2] : even[i / 2];
  }
  template <std::size_t... I>
  static CATENA_INLINE void merge(float* to, const float* even, const float* odd, std::index_sequence<I...>) {
    V a, b;
    load(a, even);
    load(b, odd);
    store(to, __builtin_shufflevector(a, b, (int(I) / 2 + (I % 2 ? L : 0))...));
    store(to + L, __builtin_shufflevector(a, b, (L / 2 + int(I) / 2 + (I % 2 ? L : 0))...));
  }

  // out[i] = last + the sum over the taps of weights[index] * in[i + at]. Writes whole vectors.
  template <int vectors>
  static CATENA_INLINE void correlate_at(const float* in, const Tap* taps, Int count, const float* weights, float last,
                                         float* out) {
    V sum[vectors] = {};
    for (Int t = 0; t < count; ++t) {
      const float* const from = in + taps[t].at;
      const V weight = weights[taps[t].index] - V{};
#pragma GCC unroll 8
      for (int v = 0; v < vectors; ++v) {
        V x;
        load(x, from + v * L);
        sum[v] += weight * x;
      }
    }
#pragma GCC unroll 8
    for (int v = 0; v < vectors; ++v) store(out + v * L, sum[v] + last);
  }
  static CATENA_INLINE void correlate(const float* in, const Tap* taps, Int count, const float* weights, float last,
                                      float* out, Int n, const Fetch& read, const Fetch& written) {
    Int i = 0;
    for (; i + 7 * L < n; i += 8 * L) {
      read.lines(i, 8 * L);
      written.lines(i, 8 * L);
      correlate_at<8>(in + i, taps, count, weights, last, out + i);
    }
    for (; i + 3 * L < n; i += 4 * L) correlate_at<4>(in + i, taps, count, weights, last, out + i);
    for (; i < n; i += L) correlate_at<1>(in + i, taps, count, weights, last, out + i);
  }

  // sums[t] += the sum of g[i] * in[i + at] for tap t. The elements of g after the last one must be 0.
  template <int count>
  static CATENA_INLINE void add_products(const float* in, const Tap* taps, const float* g, Int n, float* sums,
                                         const Fetch& read, const Fetch& read_g) {
    V sum[count] = {};
    for (Int i = 0; i < n; i += L) {
      V factor;
      load(factor, g + i);
      read.lines(i, L);
      read_g.lines(i, L);
#pragma GCC unroll 9
      for (int t = 0; t < count; ++t) {
        V x;
        load(x, in + i + taps[t].at);
        sum[t] += x * factor;
      }
    }
    for (int t = 0; t < count; ++t) {
      float lane[L];
      store(lane, sum[t]);
      for (int half = L / 2; half > 0; half /= 2)
        for (int i = 0; i < half; ++i) lane[i] += lane[i + half];
      sums[t] += lane[0];
    }
  }
  static CATENA_INLINE void products(const float* in, const Tap* taps, Int count, const float* g, Int n, float* sums,
                                     const Fetch& read, const Fetch& read_g) {
    Int t = 0;
    for (; t + 9 <= count; t += 9) add_products<9>(in, taps + t, g, n, sums + t, read, read_g);
    for (; t + 3 <= count; t += 3) add_products<3>(in, taps + t, g, n, sums + t, read, read_g);
    for (; t < count; ++t) add_products<1>(in, taps + t, g, n, sums + t, read, read_g);
  }
};

// ---- axes -----------------------------------------------------------------------------------------
// The part of an axis in a buffer: element i of phase f is element i * stride + f - pad of the plane.
struct Window {
  Int size, stride, pad;

  Int begin(Int f) const { return std::max<Int>(0, ceil_divide(pad - f, stride)); }
  Int end(Int f) const { return std::max<Int>(0, ceil_divide(size + pad - f, stride)); }
};

// Maps the taps of an axis to phases of the input.
struct Phases {
  std::vector<Int> used;   // the phases, ascending
  std::vector<Int> index;  // for each tap: index into `used`
  std::vector<Int> shift;  // for each tap: offset within the phase
  Int reach = 0;           // the largest shift

  Phases() : used{0} {}  // one phase: all elements
  explicit Phases(const ConvolutionAxis& a) {
    for (Int k = 0; k < a.kernel; ++k) used.push_back(k * a.dilate % a.stride);
    std::sort(used.begin(), used.end());
    used.erase(std::unique(used.begin(), used.end()), used.end());
    for (Int k = 0; k < a.kernel; ++k) {
      index.push_back(std::lower_bound(used.begin(), used.end(), k * a.dilate % a.stride) - used.begin());
      shift.push_back(k * a.dilate / a.stride);
    }
    reach = shift.back();
  }
  Int count() const { return Int(used.size()); }
};

// The same for the gradient of the input. Position p = element + pad of an axis has the residue p % stride, and only
// the taps of this residue contribute to it. Positions are counted in steps of the stride, from that of element 0 on.
struct Residues {
  Int first, count;  // steps
  Int reach;

  explicit Residues(const ConvolutionAxis& a)
      : first(a.pad / a.stride),
        count((a.size - 1 + a.pad) / a.stride - first + 1),
        reach((a.kernel - 1) * a.dilate / a.stride) {}
  Window window(const ConvolutionAxis& a) const { return {a.out, 1, reach - first}; }
};

Int rows_of_band(Int rows, Int width, Int buffers) { return std::clamp<Int>(kBand / (width * buffers), 1, rows); }

// The bands of the forward pass and of the gradient of the filter: buffers for the phases of the input and for the
// output.
struct Bands {
  Phases y, x;
  Int width, band;  // elements in a line; rows of the output per band

  explicit Bands(const DepthwiseSizes& s)
      : y(s.y), x(s.x), width(s.x.out + x.reach), band(rows_of_band(s.y.out, width, phases() + 1)) {}
  Int phases() const { return y.count() * x.count(); }
  Int scratch() const { return input() + (band + 1) * width + kSlack; }
  Int input() const { return (phases() * (band + y.reach) + 1) * width + kSlack; }
  void set_taps(const DepthwiseSizes& s, Int rows, std::vector<Tap>& taps) const {
    taps.clear();
    for (Int ky = 0; ky < s.y.kernel; ++ky)
      for (Int kx = 0; kx < s.x.kernel; ++kx) {
        const Int phase = y.index[std::size_t(ky)] * x.count() + x.index[std::size_t(kx)];
        const Int row = phase * (rows + y.reach) + y.shift[std::size_t(ky)];
        taps.push_back({row * width + x.shift[std::size_t(kx)], Int(taps.size())});
      }
  }
};

// The bands of the gradient of the input: buffers for the output's gradient and for the sums of each residue of x.
struct ResidueBands {
  Residues y, x;
  Int width, band, apart;
  std::vector<std::vector<Tap>> taps;  // for each pair of residues

  explicit ResidueBands(const DepthwiseSizes& s)
      : y(s.y),
        x(s.x),
        width(x.count + x.reach),
        band(rows_of_band(y.count, width, s.x.stride + 1)),
        apart(band * width + kSlack),
        taps(std::size_t(s.y.stride * s.x.stride)) {
    for (Int ky = 0; ky < s.y.kernel; ++ky)
      for (Int kx = 0; kx < s.x.kernel; ++kx) {
        const Int ty = ky * s.y.dilate, tx = kx * s.x.dilate;
        const Int at = (y.reach - ty / s.y.stride) * width + x.reach - tx / s.x.stride;
        taps[std::size_t(ty % s.y.stride * s.x.stride + tx % s.x.stride)].push_back({at, ky * s.x.kernel + kx});
      }
  }
  Int scratch(const DepthwiseSizes& s) const { return input() + s.x.stride * apart; }
  Int input() const { return (band + y.reach + 1) * width + kSlack; }
};

// ---- planes ---------------------------------------------------------------------------------------
template <int bytes> struct Planes {
  using Of = Line<bytes>;
  static constexpr Int L = Of::L;

  // Copies the rows of the plane from `row` on to to[phases of y][phases of x][rows][width].
  static CATENA_INLINE void gather(const float* plane, const Window& y, const Window& x, const Phases& py,
                                   const Phases& px, Int row, Int rows, Int width, float* to) {
    for (const Int fy : py.used)
      for (const Int fx : px.used) {
        const Int c0 = std::min(x.begin(fx), width), c1 = std::clamp(x.end(fx), c0, width);
        for (Int r = 0; r < rows; ++r, to += width) {
          const Int at = (row + r) * y.stride + fy - y.pad;
          if (at < 0 || at >= y.size || c0 == c1) {
            Of::clear(to, width);
            continue;
          }
          const float* const from = plane + at * x.size + c0 * x.stride + fx - x.pad;
          Of::clear(to, c0);
          if (x.stride == 1) Of::copy(to + c0, from, c1 - c0);
          else if (x.stride == 2) Of::copy_even(to + c0, from, c1 - c0);
          else
            for (Int c = c0; c < c1; ++c) to[c] = from[(c - c0) * x.stride];
          Of::clear(to + c1, width - c1);
        }
      }
    Of::clear(to, width + kSlack - L);  // taps also read beyond the last line
  }

  static CATENA_INLINE void forward(const DepthwiseCall& call, const float* x, const float* w, const float* bias,
                                    float* y) {
    const DepthwiseSizes& s = call.sizes;
    const Bands b(s);
    std::vector<Tap> taps;
    float* const out = call.scratch + b.input();
    for (Int p = call.begin; p < call.end; ++p)
      for (Int first = 0; first < s.y.out; first += b.band) {
        const Int rows = std::min(b.band, s.y.out - first);
        b.set_taps(s, rows, taps);
        gather(x + p * s.y.size * s.x.size, {s.y.size, s.y.stride, s.y.pad}, {s.x.size, s.x.stride, s.x.pad}, b.y, b.x,
               first, rows + b.y.reach, b.width, call.scratch);
        const Int c = p % s.channels, count = Int(taps.size());
        const float* const next = x + (p * s.y.size + (first + rows) * s.y.stride) * s.x.size;
        float* const to = y + (p * s.y.out + first) * s.x.out;
        Of::correlate(call.scratch, taps.data(), count, w + c * count, bias != nullptr ? bias[c] : 0.0f, out,
                      rows * b.width, {next, s.y.stride * s.x.stride}, {to, 1});
        for (Int r = 0; r < rows; ++r) Of::copy(to + r * s.x.out, out + r * b.width, s.x.out);
      }
  }

  static CATENA_INLINE void backward_filter(const DepthwiseCall& call, const float* x, const float* gy, float* gw) {
    const DepthwiseSizes& s = call.sizes;
    const Bands b(s);
    const Phases one;
    std::vector<Tap> taps;
    float* const g = call.scratch + b.input();
    for (Int p = call.begin; p < call.end; ++p) {
      float* const sums = gw + p * s.y.kernel * s.x.kernel;
      std::fill_n(sums, s.y.kernel * s.x.kernel, 0.0f);
      for (Int first = 0; first < s.y.out; first += b.band) {
        const Int rows = std::min(b.band, s.y.out - first);
        b.set_taps(s, rows, taps);
        gather(x + p * s.y.size * s.x.size, {s.y.size, s.y.stride, s.y.pad}, {s.x.size, s.x.stride, s.x.pad}, b.y, b.x,
               first, rows + b.y.reach, b.width, call.scratch);
        gather(gy + p * s.y.out * s.x.out, {s.y.out, 1, 0}, {s.x.out, 1, 0}, one, one, first, rows, b.width, g);
        const float* const next = x + (p * s.y.size + (first + rows) * s.y.stride) * s.x.size;
        Of::products(call.scratch, taps.data(), Int(taps.size()), g, rows * b.width, sums,
                     {next, s.y.stride * s.x.stride}, {gy + (p * s.y.out + first + rows) * s.x.out, 1});
      }
    }
  }

  // Writes a row of the input's gradient from the sums of the residues of x. The sums of consecutive residues are
  // `apart` elements apart.
  static CATENA_INLINE void put_row(const ConvolutionAxis& x, Int first, const float* sums, Int apart, float* to) {
    const auto line = [&](Int j) { return sums + (x.pad + j) % x.stride * apart + (x.pad + j) / x.stride - first; };
    if (x.stride == 1) return Of::copy(to, sums, x.size);
    if (x.stride == 2) return Of::interleave(to, line(0), line(1), x.size);
    for (Int j = 0; j < x.stride; ++j) {
      const float* const from = line(j);
      for (Int c = 0, i = j; i < x.size; ++c, i += x.stride) to[i] = from[c];
    }
  }

  static CATENA_INLINE void backward_data(const DepthwiseCall& call, const float* w, const float* gy, float* gx) {
    const DepthwiseSizes& s = call.sizes;
    const ResidueBands b(s);
    const Phases one;
    float* const sums = call.scratch + b.input();
    for (Int p = call.begin; p < call.end; ++p)
      for (Int first = 0; first < b.y.count; first += b.band) {
        const Int rows = std::min(b.band, b.y.count - first);
        gather(gy + p * s.y.out * s.x.out, b.y.window(s.y), b.x.window(s.x), one, one, first, rows + b.y.reach, b.width,
               call.scratch);
        for (Int fy = 0; fy < s.y.stride; ++fy) {
          for (Int fx = 0; fx < s.x.stride; ++fx) {
            const std::vector<Tap>& taps = b.taps[std::size_t(fy * s.x.stride + fx)];
            const Int begin = fy == 0 && fx == 0 ? 1 : 0;
            Of::correlate(call.scratch, taps.data(), Int(taps.size()), w + p % s.channels * s.y.kernel * s.x.kernel,
                          0.0f, sums + fx * b.apart, rows * b.width,
                          {gy + (p * s.y.out + first + rows) * s.x.out, begin},
                          {gx + (p * s.y.size + first * s.y.stride) * s.x.size, begin * s.y.stride * s.x.stride});
          }
          for (Int r = 0; r < rows; ++r) {
            const Int row = (b.y.first + first + r) * s.y.stride + fy - s.y.pad;
            if (row >= 0 && row < s.y.size)
              put_row(s.x, b.x.first, sums + r * b.width, b.apart, gx + (p * s.y.size + row) * s.x.size);
          }
        }
      }
  }
};

// Not done with target_clones, because the number of lanes depends on the instruction set.
struct Kernels {
  decltype(&depthwise_forward) forward;
  decltype(&depthwise_backward_data) data;
  decltype(&depthwise_backward_filter) filter;
};
#define CATENA_DEPTHWISE(bytes, target)                                                                           \
  target void forward_##bytes(const DepthwiseCall& c, const float* x, const float* w, const float* b, float* y) { \
    Planes<bytes>::forward(c, x, w, b, y);                                                                        \
  }                                                                                                               \
  target void data_##bytes(const DepthwiseCall& c, const float* w, const float* gy, float* gx) {                  \
    Planes<bytes>::backward_data(c, w, gy, gx);                                                                   \
  }                                                                                                               \
  target void filter_##bytes(const DepthwiseCall& c, const float* x, const float* gy, float* gw) {                \
    Planes<bytes>::backward_filter(c, x, gy, gw);                                                                 \
  }
CATENA_DEPTHWISE(16, )
#ifdef CATENA_HAS_MULTIARCH
CATENA_DEPTHWISE(32, __attribute__((target("arch=x86-64-v3"))))
CATENA_DEPTHWISE(64, __attribute__((target("arch=x86-64-v4"))))
#endif
#undef CATENA_DEPTHWISE

const Kernels& kernels() {
  static const Kernels chosen = [] {
#ifdef CATENA_HAS_MULTIARCH
    if (__builtin_cpu_supports("x86-64-v4")) return Kernels{forward_64, data_64, filter_64};
    if (__builtin_cpu_supports("x86-64-v3")) return Kernels{forward_32, data_32, filter_32};
#endif
    return Kernels{forward_16, data_16, filter_16};
  }();
  return chosen;
}

}  // namespace

std::int64_t depthwise_scratch(const DepthwiseSizes& sizes) {
  return std::max(Bands(sizes).scratch(), ResidueBands(sizes).scratch(sizes));
}

void depthwise_forward(const DepthwiseCall& call, const float* x, const float* w, const float* bias, float* y) {
  kernels().forward(call, x, w, bias, y);
}
void depthwise_backward_data(const DepthwiseCall& call, const float* w, const float* gy, float* gx) {
  kernels().data(call, w, gy, gx);
}
void depthwise_backward_filter(const DepthwiseCall& call, const float* x, const float* gy, float* gw) {
  kernels().filter(call, x, gy, gw);
}

}  // namespace autograd::internal
