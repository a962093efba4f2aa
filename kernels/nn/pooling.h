// Pooling of images (N, C, H, W) by windows of kh x kw, strides sy, sx and padding ph, pw. Gradients gather: every
// input position adds up the contributions of the windows over it, in a fixed order and without atomics.
#pragma once

#include <catena/kernels/index.h>

namespace catena::k {

// The type in which a kernel computes positions in its operands: int64_t, unless the loop has a shorter one.
template <class I> struct position_in { using type = int64_t; };
template <class I>
requires requires { typename I::integer; }
struct position_in<I> {
  using type = typename I::integer;
};

// Some windows or positions along an axis: first <= k < last.
template <class Integer = int64_t> struct window_range { Integer first, last; };
// a / b for non-negative numbers. Lengths of axes are short enough for the fast division in all cases in which time
// matters.
ND_FN int64_t window_quotient(int64_t a, int64_t b) {
  return (a | b) >> 32 ? a / b : int64_t(uint32_t(a) / uint32_t(b));
}
ND_FN int32_t window_quotient(int32_t a, int32_t b) { return int32_t(uint32_t(a) / uint32_t(b)); }
// The windows that cover position `at`. The last one is found by a division, the ones before it by subtractions: a
// kernel visits each of them.
template <class Integer>
ND_FN window_range<Integer> windows_over(int64_t at, int64_t size, int64_t stride, int64_t pad, int64_t windows) {
  const Integer end = Integer(at) + Integer(pad), step = Integer(stride), below = window_quotient(end, step) + 1;
  const Integer last = below < Integer(windows) ? below : Integer(windows);
  Integer first = last;
  for (Integer inside = Integer(size) - (end - (last - 1) * step); inside > 0 && first > 0; inside -= step) --first;
  return {first, last};
}

// The maximum and its position ky kw + kx in the window; the first maximum in row order wins, and a NaN wins over all.
template <class T> ND_FN bool wins_window(T v, T best) { return !(v <= best) & (best == best); }

// Visits the positions one by one; `v` is the element at one position of each window. The kernels count the distance
// from the winner to the present position, which does not need the number of the position; at the end it is subtracted
// from the last position.
struct max_pool_first {
  template <class T> ND_FN static void run(T v, T& best, int32_t& distance) {
    best = v;
    distance = 0;
  }
};
struct max_pool_step {
  template <class T> ND_FN static void run(T v, T& best, int32_t& distance) {
    const bool better = wins_window(v, best);
    best = better ? v : best;
    distance = better ? 0 : distance + 1;
  }
};

// The positions of a window of `size` from `start` on, in 0 .. length.
template <class Integer> ND_FN window_range<Integer> window_inside(Integer start, Integer size, Integer length) {
  const Integer end = start + size < length ? start + size : length;
  return {start < 0 ? Integer(0) : start, end < 0 ? Integer(0) : end};
}

// All positions in one kernel: the padding is -inf, and a window inside the padding gives -inf at a position outside
// the image.
struct max_pool_2d {
  template <class I, class X, class T>
  ND_FN static void run(const I& i, const X& x, int64_t kh, int64_t kw, int64_t sy, int64_t sx, int64_t ph, int64_t pw,
                        T& y, int32_t& index) {
    using integer = typename position_in<I>::type;
    enum : int { together = 4 };  // elements that are loaded before the first is used
    T best = limits<T>::min();
    int32_t best_index = 0;
    const integer y0 = integer(i[2]) * integer(sy) - integer(ph), x0 = integer(i[3]) * integer(sx) - integer(pw);
    const window_range<integer> rows = window_inside(y0, integer(kh), integer(x.shape(2))),
                                columns = window_inside(x0, integer(kw), integer(x.shape(3)));
    const integer image = integer(i[0]), channel = integer(i[1]), end = columns.last;
    for (integer row = rows.first; row < rows.last; ++row) {
      const int32_t before = int32_t(uint32_t(row - y0) * uint32_t(kw) - uint32_t(x0));
      for (integer column = columns.first; column < end; column += together) {
        T v[together];
        ND_UNROLL
        for (int k = 0; k < together; ++k) v[k] = column + k < end ? x(image, channel, row, column + k) : best;
        // An element that is not there has an earlier maximum, which does not win.
        ND_UNROLL
        for (int k = 0; k < together; ++k) {
          const bool better = wins_window(v[k], best);
          best = better ? v[k] : best;
          best_index = better ? int32_t(uint32_t(before) + uint32_t(column + k)) : best_index;
        }
      }
    }
    y = best;
    index = best_index;
  }
};

// The contributions of the windows to one position after the other; `ahead` is the number of positions before the
// winner's.
struct max_pool_step_bwd {
  template <class T> ND_FN static void run(T gy, int32_t& ahead, T& gx) {
    gx = ahead == 0 ? gy : T(0);
    --ahead;
  }
};

// Loop: the input's shape. The numbers of positions in a window are compared modulo 2^32, which the largest number is
// below.
struct max_pool_2d_bwd {
  template <class I, class G, class X, class T>
  ND_FN static void run(const I& i, const G& gy, const X& index, int64_t kh, int64_t kw, int64_t sy, int64_t sx,
                        int64_t ph, int64_t pw, T& gx) {
    using integer = typename position_in<I>::type;
    const window_range<integer> rows = windows_over<integer>(i[2], kh, sy, ph, gy.shape(2)),
                                columns = windows_over<integer>(i[3], kw, sx, pw, gy.shape(3));
    const integer image = integer(i[0]), channel = integer(i[1]);
    const uint32_t y = uint32_t(i[2]) + uint32_t(ph), x = uint32_t(i[3]) + uint32_t(pw);
    T sum = T(0);
    for (integer oy = rows.first; oy < rows.last; ++oy) {
      uint32_t here = (y - uint32_t(oy) * uint32_t(sy)) * uint32_t(kw) + x - uint32_t(columns.first) * uint32_t(sx);
      // A row has a few windows.
      ND_NO_UNROLL
      for (integer ox = columns.first; ox < columns.last; ++ox, here -= uint32_t(sx))
        if (uint32_t(index(image, channel, oy, ox)) == here) sum += gy(image, channel, oy, ox);
    }
    gx = sum;
  }
};

// y = x at the position `index` in each window; 0 if it is outside the image. Loop: the output's shape.
struct max_pool_2d_by_index {
  template <class I, class X, class T>
  ND_FN static void run(const I& i, const X& x, int32_t index, int64_t kw, int64_t sy, int64_t sx, int64_t ph,
                        int64_t pw, T& y) {
    const int64_t row = i[2] * sy - ph + index / kw, column = i[3] * sx - pw + index % kw;
    const bool inside = row >= 0 && row < x.shape(2) && column >= 0 && column < x.shape(3);
    y = inside ? T(x(i[0], i[1], row, column)) : T(0);
  }
};

// The sum of x(n, c, y, x) over a window. The rounding errors of a sum grow with the number of its terms, so the terms
// of large windows are added up in parts, and the parts in larger parts.
template <class T, class X>
ND_FN T window_sum(const X& x, int64_t n, int64_t c, window_range<> rows, window_range<> columns) {
  enum : int { part = 64, levels = 4, large = 1024 };
  T sum = T(0);
  if ((rows.last - rows.first) * (columns.last - columns.first) <= large) {
    for (int64_t y = rows.first; y < rows.last; ++y)
      for (int64_t k = columns.first; k < columns.last; ++k) sum += x(n, c, y, k);
    return sum;
  }
  T level[levels] = {};  // level l adds up to `part` sums of level l - 1, the last level any number
  int64_t taken = 0;
  for (int64_t y = rows.first; y < rows.last; ++y)
    for (int64_t k = columns.first; k < columns.last; ++k) {
      level[0] += x(n, c, y, k);
      int64_t full = ++taken;
      for (int l = 0; l + 1 < levels && full % part == 0; ++l, full /= part) {
        level[l + 1] += level[l];
        level[l] = T(0);
      }
    }
  for (int l = levels - 1; l >= 0; --l) sum += level[l];
  return sum;
}

// The sum of the window divided by kh kw: the padding counts.
struct average_pool_2d {
  template <class I, class X, class T>
  ND_FN static void run(const I& i, const X& x, int64_t kh, int64_t kw, int64_t sy, int64_t sx, int64_t ph, int64_t pw,
                        T& y) {
    const int64_t y0 = i[2] * sy - ph, x0 = i[3] * sx - pw;
    const window_range<> rows{y0 < 0 ? 0 : y0, y0 + kh < x.shape(2) ? y0 + kh : x.shape(2)},
        columns{x0 < 0 ? 0 : x0, x0 + kw < x.shape(3) ? x0 + kw : x.shape(3)};
    y = window_sum<T>(x, i[0], i[1], rows, columns) / T(kh * kw);
  }
};

// Loop: the input's shape.
struct average_pool_2d_bwd {
  template <class I, class G, class T>
  ND_FN static void run(const I& i, const G& gy, int64_t kh, int64_t kw, int64_t sy, int64_t sx, int64_t ph, int64_t pw,
                        T& gx) {
    const window_range<> rows = windows_over<int64_t>(i[2], kh, sy, ph, gy.shape(2)),
                         columns = windows_over<int64_t>(i[3], kw, sx, pw, gy.shape(3));
    gx = window_sum<T>(gy, i[0], i[1], rows, columns) / T(kh * kw);
  }
};

// Rounds half away from zero.
ND_FN float rounded_corner(float v) { return m::copysign(m::floor(m::fabs(v) + 0.5f), v); }

// The bin `at` of `bins` along one axis of a region from `corner` to `end`, both inclusive, clipped to 0 .. size.
ND_FN window_range<> roi_bin(float corner, float end, int64_t at, int64_t bins, int64_t size) {
  const float length = end - corner + 1.0f > 1.0f ? end - corner + 1.0f : 1.0f, bin = length / float(bins);
  const float most = float(size);
  const float low = m::floor(float(at) * bin) + corner, high = m::ceil(float(at + 1) * bin) + corner;
  return {low > 0.0f ? (low < most ? int64_t(low) : size) : 0, high > 0.0f ? (high < most ? int64_t(high) : size) : 0};
}

// Loop: (regions, channels, outh, outw). A region is {image, x_min, y_min, x_max, y_max}, in units of 1 / scale pixels.
// `index` is the position of the maximum in all of x, or -1 if y is 0: for an empty bin and for an image that does not
// exist.
struct roi_max_pool_2d {
  template <class I, class X, class R, class T>
  ND_FN static void run(const I& i, const X& x, const R& roi, float scale, int64_t outh, int64_t outw, T& y,
                        int64_t& index) {
    const float at = roi(i[0], 0);
    const bool known = at >= 0.0f && at < float(x.shape(0));
    const int64_t image = known ? int64_t(at) : 0;
    const window_range<> rows = roi_bin(rounded_corner(roi(i[0], 2) * scale), rounded_corner(roi(i[0], 4) * scale),
                                        i[2], outh, known ? x.shape(2) : 0),
                         columns = roi_bin(rounded_corner(roi(i[0], 1) * scale), rounded_corner(roi(i[0], 3) * scale),
                                           i[3], outw, known ? x.shape(3) : 0);
    T best = limits<T>::min();
    int64_t place = -1;
    for (int64_t row = rows.first; row < rows.last; ++row)
      for (int64_t column = columns.first; column < columns.last; ++column) {
        const T v = x(image, i[1], row, column);
        const bool better = place < 0 || wins_window(v, best);
        best = better ? v : best;
        place = better ? ((image * x.shape(1) + i[1]) * x.shape(2) + row) * x.shape(3) + column : place;
      }
    y = place < 0 ? T(0) : best;
    index = place;
  }
};

}  // namespace catena::k
