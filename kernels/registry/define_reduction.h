// Reduction kernels. A body has accumulator<T, R>; identity; map, from an element to an accumulator; combine; finish,
// from an accumulator and the number of elements to the result. Combining with the identity must change nothing,
// because it fills lanes without an element; without any_order, neither may combining with map(identity). Optional
// members:
//   is_light   one instruction combines two vectors of numbers; fold_columns then exists for integers, too
//   by_parts   map and combine treat the parts of complex numbers separately, as a sum does and a product does not
//   any_order  the order of combination does not show in the result; also implied by `extremum`, of an extremum with
//              its position: the reduction of the values alone, beside `better`, which compares two values
//   counts     the mapped values are 0 or 1 and are added
//   absorbs    absorbs(a): no further element can change the accumulator a
//   join       combines the accumulators of two parts of a row, if combine does not
#pragma once

#include <catena/kernels/registry/define.h>
#include <catena/kernels/registry/find_extremum.h>
#include <catena/kernels/registry/fold_groups.h>
#include <catena/kernels/registry/fold_moments.h>
#include <catena/kernels/registry/tuning.h>

namespace catena::define {

// Combines the lanes as a binary tree. The loop must stay a loop until it is vectorised: unrolled, it would compare
// single numbers with jumps that are mispredicted.
template <class Body, int Width = kLanes / 2, class A> ND_FN A combine_lanes(A* lane) {
#pragma GCC unroll 1
  for (int l = 0; l < Width; ++l) lane[l] = Body::combine(lane[l], lane[l + Width]);
  if constexpr (Width == 1) return lane[0];
  else return combine_lanes<Body, Width / 2>(lane);
}

template <class Body, fixed_string S> struct Reduction {
  // Loops over bool do not vectorise; loops over its byte do.
  using T = std::conditional_t<std::is_same_v<computed_t<S, 0>, bool>, std::uint8_t, computed_t<S, 0>>;
  using R = computed_t<S, 1>;
  using A = typename Body::template accumulator<T, R>;

  // An unsigned integer as wide as an element: loops that mix widths need several times the instructions.
  using U = typename uint_of_size<(sizeof(T) < 8 ? sizeof(T) : 8)>::type;

  static void init(std::byte* acc, std::int64_t n) {
    for (std::int64_t j = 0; j < n; ++j) reinterpret_cast<A*>(acc)[j] = Body::template identity<A>();
  }
  static constexpr int kWindow = kWindowBytes / sizeof(T);  // elements
  static constexpr bool any_order = std::is_integral_v<A> || requires { typename Body::extremum; }
  || requires { Body::any_order; };
  // True if fold_windows() is used. kLanes elements are too few vectors: at most one vector of 8-bit integers, and two
  // of floats, whose extrema take five instructions each.
  static constexpr bool has_windows =
      any_order && std::is_arithmetic_v<A> && sizeof(T) == sizeof(A) && (sizeof(A) <= 2 || std::is_floating_point_v<A>);
  static ND_FN std::int64_t fold_windows(A* lane, const T* x, std::int64_t index, std::int64_t n) {
    if (n < 2 * kWindow) return 0;
    A wide[kWindow];
    for (int l = 0; l < kWindow; ++l) wide[l] = Body::template identity<A>();
    std::int64_t i = 0;
    for (; i + kWindow <= n; i += kWindow) {
      if constexpr (requires(A a) { Body::absorbs(a); })  // for `all` and `any`; extrema of bytes are slower with it
        for (int line = 0; line < kWindowBytes; line += 64)
          __builtin_prefetch(reinterpret_cast<const char*>(x + i) + kAhead + line);
      for (int l = 0; l < kWindow; ++l)
        wide[l] = Body::combine(wide[l], Body::template map<A>(x[i + l], index + i + l));
    }
    for (int w = 0; w < kWindow; w += kLanes)
      for (int l = 0; l < kLanes; ++l) lane[l] = Body::combine(lane[l], wide[w + l]);
    return i;
  }

  // The order of combination is defined in kernel.h.
  static constexpr bool has_moments = folds_moments<Body, A, T>;
  // Sums of integers as float64 rarely round, so they need no groups.
  static constexpr bool has_groups = !any_order && !has_moments && !std::is_integral_v<T>;
  static ND_FN void fold_rounds(A* lane, const T* x, std::int64_t index, std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; i += kLanes) {
#pragma GCC ivdep
      for (int l = 0; l < kLanes; ++l) lane[l] = Body::combine(lane[l], Body::template map<A>(x[i + l], index + i + l));
    }
  }
  static ND_FN void fold_lanes(A& out, const T* x, std::int64_t index, std::int64_t n) {
    alignas(64) A lane[kLanes];
    for (int l = 0; l < kLanes; ++l) lane[l] = Body::template identity<A>();
    std::int64_t i = 0;
    if constexpr (has_windows) i = fold_windows(lane, x, index, n);
    const std::int64_t whole = i + (n - i) / kLanes * kLanes;
    fold_rounds(lane, x, index, i, whole);
    fold_end(out, lane, x, index, whole, n);
  }
  // The last elements, fewer than there are lanes, and the tree over the lanes.
  static ND_FN void fold_end(A& out, A* lane, const T* x, std::int64_t index, std::int64_t i, std::int64_t n) {
    if constexpr (std::is_arithmetic_v<A>) {
      if (const U rest = U(n - i); rest > 0) {
#pragma GCC ivdep
#pragma GCC unroll 1
        for (int l = 0; l < kLanes; ++l)  // the length is fixed, so the loop becomes a few masked vectors
          lane[l] = U(l) < rest ? Body::combine(lane[l], Body::template map<A>(x[i + l], index + i + l)) : lane[l];
      }
    } else {
      for (int l = 0; i < n; ++i, ++l) lane[l] = Body::combine(lane[l], Body::template map<A>(x[i], index + i));
    }
    out = Body::combine(out, combine_lanes<Body>(lane));
  }
  static ND_FN void fold_row(A& out, const T* x, std::int64_t index, std::int64_t n) {
    if constexpr (has_moments) {
      MomentFolds<Body, A, T>::fold(out, x, n);
    } else if constexpr (has_groups) {
      static_assert(std::is_same_v<A, T>);
      GroupFolds<Body, A>::template fold<false>(out, x, n);
    } else {
      fold_lanes(out, x, index, n);
    }
  }

  static constexpr bool has_short_rows = std::is_arithmetic_v<A> && !requires { Body::counts; };
  // Folds a row of n <= Lanes elements. The loops have a fixed length, so they become masked vectors that stay in
  // registers. Lanes without an element hold the identity, which does not change the result. `Whole`: x has `Lanes`
  // readable elements.
  template <int Lanes, bool Whole>
  static ND_FN void fold_short(A& out, const T* x, std::int64_t index, std::int64_t n) {
    A lane[Lanes];
    const A none = Body::template identity<A>();
#pragma GCC unroll 1
    for (int l = 0; l < Lanes; ++l) {
      const bool has_element = U(l) < U(n);
      const T element = Whole || has_element ? x[l] : T();
      lane[l] = has_element ? Body::combine(none, Body::template map<A>(element, index + l)) : none;
    }
    out = Body::combine(out, combine_lanes<Body, Lanes / 2>(lane));
  }
  // Not every processor can load part of a vector of 8-bit or 16-bit elements. For these the loop reads `Lanes`
  // elements from each row on; where the memory ends earlier, it reads a copy of the row.
  template <int Lanes> static ND_FN void fold_short_rows(A* acc, const ReductionBlock& b) {
    // The hardware prefetcher is too slow for rows this short.
    const std::byte* const end = b.in + (b.rows - 1) * b.row_step + b.n * std::int64_t(sizeof(T));
    for (std::int64_t r = 0; r < b.rows; ++r) {
      const T* x = reinterpret_cast<const T*>(b.in + r * b.row_step);
      for (std::size_t line = 0; line < sizeof(T) * Lanes; line += 64)
        __builtin_prefetch(reinterpret_cast<const char*>(x) + kAheadOfShortRows + line);
      if constexpr (sizeof(T) >= 4) {
        fold_short<Lanes, false>(acc[r], x, b.index, b.n);
      } else {
        T copy[Lanes] = {};
        if (end - reinterpret_cast<const std::byte*>(x) < std::ptrdiff_t(sizeof(copy))) {
          std::memcpy(copy, x, std::size_t(b.n) * sizeof(T));
          x = copy;
        }
        fold_short<Lanes, true>(acc[r], x, b.index, b.n);
      }
    }
  }

  // Counts elements; the order does not matter. Lanes are as wide as an element, so at most kMost elements are added to
  // a lane before it is emptied.
  static ND_FN void fold_counts(A& out, const T* x, std::int64_t n) {
    constexpr std::int64_t kMost = 255;
    std::int64_t i = 0;
    while (n - i >= kWindow) {
      const std::int64_t end = n - i < kMost * kWindow ? i + (n - i) / kWindow * kWindow : i + kMost * kWindow;
      U lane[kWindow] = {};
      for (; i < end; i += kWindow)
        for (int l = 0; l < kWindow; ++l) lane[l] = U(lane[l] + Body::template map<U>(x[i + l], 0));
      for (int l = 0; l < kWindow; ++l) out += A(lane[l]);
    }
    U rest = 0;  // fewer than kWindow <= 256 elements
    for (; i < n; ++i) rest = U(rest + Body::template map<U>(x[i], 0));
    out += A(rest);
  }

  static ND_FN void find_extremum(A& best, const T* x, std::int64_t index, std::int64_t n) {
    if (best.index == Body::template identity<A>().index) best = Body::template map<A>(x[0], index);
    if (is_nan(best.value)) return;
    T value = best.value;
    const std::int64_t place = ExtremumFinder<Body, T>::find(x, n, value);
    if (place >= 0) best = Body::template map<A>(value, index + place);
  }
  CATENA_MULTIARCH static void fold(std::byte* acc, const ReductionBlock& b) {
    if constexpr (has_short_rows) {
      A* out = reinterpret_cast<A*>(acc);
      if (b.n <= kLanes / 4) return fold_short_rows<kLanes / 4>(out, b);
      if (b.n <= kLanes / 2) return fold_short_rows<kLanes / 2>(out, b);
      if (b.n < kLanes) return fold_short_rows<kLanes>(out, b);
    }
    for (std::int64_t r = 0; r < b.rows; ++r) {
      A& out = reinterpret_cast<A*>(acc)[r];
      const T* x = reinterpret_cast<const T*>(b.in + r * b.row_step);
      if constexpr (requires { typename Body::extremum; }) {
        if (b.n > 0) find_extremum(out, x, b.index, b.n);
      } else if constexpr (requires { Body::counts; }) {
        fold_counts(out, x, b.n);
      } else {
        fold_row(out, x, b.index, b.n);
      }
    }
  }

  // True for accumulators that are plain numbers.
  static constexpr bool is_number = std::is_arithmetic_v<A> && !requires { typename Body::extremum; }
  &&!requires { Body::counts; };
  CATENA_MULTIARCH static void fold_prefetching(std::byte* acc, const ReductionBlock& b) {
    for (std::int64_t r = 0; r < b.rows; ++r)
      GroupFolds<Body, A>::template fold<true>(reinterpret_cast<A*>(acc)[r],
                                               reinterpret_cast<const T*>(b.in + r * b.row_step), b.n);
  }

  // Complex numbers whose parts are combined each on its own are two columns.
  static constexpr bool by_parts = has_groups && GroupFolds<Body, A>::by_parts;
  static constexpr bool has_long_steps = has_groups && GroupFolds<Body, A>::has_long_steps;
  // Whether one instruction combines a vector of columns.
  static constexpr bool combines_columns =
      by_parts || (is_number && (std::is_floating_point_v<A> || requires { Body::is_light; }));
  // The accumulators of some columns stay in registers for all rows.
  template <int W, class C, class E>
  static ND_FN void fold_strip(C* acc, const ReductionBlock& b, std::int64_t j, bool first) {
    if constexpr (has_moments) {
      MomentFolds<Body, A, T>::template fold_strip<W>(acc, b, j, first);
    } else {
      C column[W];
      for (int l = 0; l < W; ++l) column[l] = has_groups || first ? Body::template identity<C>() : acc[j + l];
      for (std::int64_t r = 0; r < b.rows; ++r) {
        const E* x = reinterpret_cast<const E*>(b.in + r * b.row_step) + j;
        for (int l = 0; l < W; ++l) column[l] = Body::combine(column[l], Body::template map<C>(x[l], b.index));
      }
      if (has_groups && !first)
        for (int l = 0; l < W; ++l) column[l] = Body::combine(acc[j + l], column[l]);
      for (int l = 0; l < W; ++l) acc[j + l] = column[l];
    }
  }
  CATENA_MULTIARCH static void fold_columns(std::byte* cells, const ReductionBlock& b, bool first) {
    using C = std::conditional_t<by_parts, real_of_t<A>, A>;
    using E = std::conditional_t<by_parts, real_of_t<T>, T>;
    constexpr int kStrip = has_moments ? 2 * kMomentLanes : int(kWindowBytes / sizeof(E));
    C* acc = reinterpret_cast<C*>(cells);
    const std::int64_t n = by_parts ? 2 * b.n : b.n;
    std::int64_t j = 0;
    for (; j + kStrip <= n; j += kStrip) fold_strip<kStrip, C, E>(acc, b, j, first);
    for (; j + kStrip / 4 <= n; j += kStrip / 4) fold_strip<kStrip / 4, C, E>(acc, b, j, first);
    for (; j < n; ++j) fold_strip<1, C, E>(acc, b, j, first);
  }

  // Arguments of find_in_columns: `rows` elements per lane, `row_step` bytes apart. `width` is the number of columns.
  // If the columns are few, `side` neighbouring rows are joined to one vector. `index` is the number of the first row.
  struct Columns {
    std::int64_t row_step, rows, width, side, index;
  };
  template <int W> static ND_FN void find_in_columns(A* acc, const std::byte* in, const Columns& c, std::int64_t at) {
    T value[W];
    U place[W];
    const T* x = reinterpret_cast<const T*>(in) + at;
    for (int l = 0; l < W; ++l) value[l] = x[l], place[l] = 0;
    for (std::int64_t i = 1; i < c.rows; ++i) {
      const T* y = reinterpret_cast<const T*>(in + i * c.row_step) + at;
      for (int l = 0; l < W; ++l) {
        const bool better = Body::better(y[l], value[l]);
        value[l] = better ? y[l] : value[l];
        place[l] = better ? U(i) : place[l];
      }
    }
    std::int64_t j = at % c.width, row = c.index + at / c.width;
#pragma GCC unroll 1  // one number at a time, once per W columns: unrolled, it would only be more code
    for (int l = 0; l < W; ++l) {
      acc[j] = Body::combine(acc[j], Body::template map<A>(value[l], row + std::int64_t(place[l]) * c.side));
      if (++j == c.width) j = 0, ++row;
    }
  }
  // Finds extrema in columns, in windows of W elements. Returns the number of rows processed: all rows, or fewer if the
  // last ones do not fill a window.
  template <int W> static ND_FN std::int64_t find_in_rows(A* acc, const ReductionBlock& b) {
    constexpr std::int64_t kMost = 128;  // rows per step: all windows fit a cache, places fit 8 bits
    const bool dense = b.row_step == b.n * std::int64_t(sizeof(T));
    const std::int64_t side = dense && b.n < W ? (W + b.n - 1) / b.n : 1, width = side * b.n;
    std::int64_t r = 0;
    if (width < W) return 0;
    for (std::int64_t m; b.rows - r >= side; r += m * side) {
      m = (b.rows - r) / side < kMost ? (b.rows - r) / side : kMost;
      const Columns c = {side * b.row_step, m, b.n, side, b.index + r};
      for (std::int64_t j = 0; j < width; j += W)
        find_in_columns<W>(acc, b.in + r * b.row_step, c, j < width - W ? j : width - W);
    }
    return r;
  }
  CATENA_MULTIARCH static void fold_positions(std::byte* cells, const ReductionBlock& b) {
    A* acc = reinterpret_cast<A*>(cells);
    // Rows that are shorter than a window can share a window only if they are contiguous.
    const bool is_wide = b.n >= kWindow || b.row_step == b.n * std::int64_t(sizeof(T));
    std::int64_t r = is_wide ? find_in_rows<kWindow>(acc, b) : find_in_rows<kWindow / 4>(acc, b);
    for (; r < b.rows; ++r) {
      const T* x = reinterpret_cast<const T*>(b.in + r * b.row_step);
      for (std::int64_t j = 0; j < b.n; ++j) acc[j] = Body::combine(acc[j], Body::template map<A>(x[j], b.index + r));
    }
  }
  CATENA_MULTIARCH static void add_row(std::byte* acc, const std::byte* elements, std::int64_t index, std::int64_t n) {
    A* a = reinterpret_cast<A*>(acc);
    const T* x = reinterpret_cast<const T*>(elements);
#pragma GCC ivdep
    for (std::int64_t j = 0; j < n; ++j) {
      if constexpr (has_moments) a[j] = Body::add(a[j], x[j]);
      else a[j] = Body::combine(a[j], Body::template map<A>(x[j], index));
    }
  }
  CATENA_MULTIARCH static void combine(std::byte* acc, const std::byte* other, std::int64_t n) {
    A* a = reinterpret_cast<A*>(acc);
    const A* b = reinterpret_cast<const A*>(other);
#pragma GCC ivdep
    for (std::int64_t j = 0; j < n; ++j) a[j] = Body::combine(a[j], b[j]);
  }
  static void join(std::byte* acc, const std::byte* other, std::int64_t n) {
    if constexpr (requires(A x) { Body::join(x, x); }) {
      A* a = reinterpret_cast<A*>(acc);
      const A* b = reinterpret_cast<const A*>(other);
      for (std::int64_t j = 0; j < n; ++j) a[j] = Body::join(a[j], b[j]);
    } else {
      combine(acc, other, n);
    }
  }
  static void store(const std::byte* acc, std::int64_t count, std::byte* out, std::int64_t stride, std::int64_t n) {
    const A* a = reinterpret_cast<const A*>(acc);
    R* y = reinterpret_cast<R*>(out);
    if (stride == std::int64_t(sizeof(R))) {
#pragma GCC ivdep
      for (std::int64_t j = 0; j < n; ++j) y[j] = Body::template finish<R>(a[j], count);
    } else {
      for (std::int64_t j = 0; j < n; ++j)
        *reinterpret_cast<R*>(out + j * stride) = Body::template finish<R>(a[j], count);
    }
  }
  static bool is_final(const std::byte* acc) { return Body::absorbs(*reinterpret_cast<const A*>(acc)); }
  // Returns an element as a scan reads it. A bool is read as a byte; every byte other than 0 counts as 1.
  static ND_FN T scanned(T x) {
    if constexpr (std::is_same_v<computed_t<S, 0>, bool>) return T(x != 0);
    else return x;
  }
  // Computes element i of row j. `first`: no element precedes it.
  static ND_FN A scan_element(A a, const ScanBlock& b, std::int64_t i, std::int64_t j, bool first) {
    const T x0 = *reinterpret_cast<const T*>(b.in + i * b.in_step + j * b.in_stride);
    const A x = Body::template map<A>(scanned(x0), b.index + i);
    const A next = first ? x : Body::combine(a, x);
    *reinterpret_cast<R*>(b.out + i * b.out_step + j * b.out_stride) = Body::template finish<R>(next, b.index + i + 1);
    return next;
  }
  // Scans several rows at once to hide the latency of one combination.
  template <int Rows> static ND_FN void scan_rows(A* acc, const ScanBlock& b, std::int64_t j) {
    A a[Rows];
    for (int k = 0; k < Rows; ++k) a[k] = b.index == 0 ? scan_element(a[k], b, 0, j + k, true) : acc[j + k];
    for (std::int64_t i = b.index == 0; i < b.n; ++i)
      for (int k = 0; k < Rows; ++k) a[k] = scan_element(a[k], b, i, j + k, false);
    for (int k = 0; k < Rows; ++k) acc[j + k] = a[k];
  }
  template <bool First> static ND_FN void scan_across(A* acc, const ScanBlock& b, std::int64_t i) {
    const T* x = reinterpret_cast<const T*>(b.in + i * b.in_step);
    R* y = reinterpret_cast<R*>(b.out + i * b.out_step);
#pragma GCC ivdep
    for (std::int64_t j = 0; j < b.width; ++j) {
      const A value = Body::template map<A>(scanned(x[j]), b.index + i);
      const A next = First ? value : Body::combine(acc[j], value);
      acc[j] = next;
      y[j] = Body::template finish<R>(next, b.index + i + 1);
    }
  }
  static void scan(std::byte* cells, const ScanBlock& block) {
    constexpr std::int64_t kNarrow = 8, kPiece = 256;
    ScanBlock b = block;
    A* acc = reinterpret_cast<A*>(cells);
    const bool neighbours = b.in_stride == std::int64_t(sizeof(T)) && b.out_stride == std::int64_t(sizeof(R));
    if (neighbours && b.width > kNarrow) return scan_wide(acc, b);
    // A few neighbouring rows share cache lines, so they are scanned in pieces by turns.
    const std::int64_t piece = neighbours && b.width > 1 ? kPiece : b.n;
    for (std::int64_t rest = b.n; rest > 0; rest -= b.n) {
      b.n = rest < piece ? rest : piece;
      scan_narrow(acc, b);
      b.in += b.n * b.in_step;
      b.out += b.n * b.out_step;
      b.index += b.n;
    }
  }
  // Takes the block by value: otherwise the compiler must assume that storing a result changes it.
  static ND_FN void scan_wide(A* acc, const ScanBlock b) {
    std::int64_t i = 0;
    if (b.n == 0) return;
    if (b.index == 0) scan_across<true>(acc, b, i++);
    for (; i < b.n; ++i) scan_across<false>(acc, b, i);
  }
  static ND_FN void scan_narrow(A* acc, const ScanBlock b) {
    std::int64_t j = 0;
    constexpr int kRows = std::is_integral_v<A> ? 1 : 4;
    for (; j + kRows <= b.width; j += kRows) scan_rows<kRows>(acc, b, j);
    for (; j < b.width; ++j) scan_rows<1>(acc, b, j);
  }
};

template <class Body, fixed_string S, Sharing Share, bool Scans> struct ReductionTable {
  static constexpr auto H = host_signature<S, Share>();
  static constexpr Signature from = signature_of<compute_signature<S>>, to = signature_of<H>;
  using Host = Reduction<Body, H>;
  // The type in which the loop reads elements of type `from`. Integers of one width share their loop, and a bool is
  // read as a byte. Exception: argmax and argmin compare the bytes, so they convert bools, because a true bool may be
  // any byte other than 0.
  static constexpr bool finds_place = requires { typename Body::extremum; };
  static constexpr Dtype read(Dtype from, Dtype to) {
    if (finds_place && from == Dtype::bool_) return from;
    return itemsize(from) == itemsize(to) && !is_floating(from) && !is_floating(to) && to != Dtype::bool_ ? to : from;
  }
  static constexpr auto scan() {
    if constexpr (Scans) return &Reduction<Body, compute_signature<S>>::scan;
    else return nullptr;
  }
  static constexpr void (*fold_prefetching())(std::byte*, const ReductionBlock&) {
    if constexpr (Host::has_groups && !Host::has_long_steps) return &Host::fold_prefetching;
    else return nullptr;
  }
  static constexpr void (*fold_columns())(std::byte*, const ReductionBlock&, bool) {
    if constexpr (Host::has_moments || Host::combines_columns) return &Host::fold_columns;
    else return nullptr;
  }
  static constexpr auto fold_positions() {
    if constexpr (finds_place) return &Host::fold_positions;
    else return nullptr;
  }
  static constexpr auto is_final() {
    if constexpr (requires(typename Host::A a) { Body::absorbs(a); }) return &Host::is_final;
    else return nullptr;
  }
  static constexpr ReductionLoop table = {.acc_bytes = sizeof(typename Host::A),
                                          .in = read(from.type[0], to.type[0]),
                                          .element = to.type[0],
                                          .result = to.type[1],
                                          .out = read(from.type[1], to.type[1]),
                                          .any_order = Host::any_order,
                                          .short_rows = Host::has_short_rows || finds_place,
                                          .group = Host::has_groups ? kGroup : kOneGroup,
                                          .adds_pairs = !Host::has_moments,
                                          .lanes = Host::has_moments ? kMomentLanes : kLanes,
                                          .init = &Host::init,
                                          .fold = &Host::fold,
                                          .fold_prefetching = fold_prefetching(),
                                          .add_row = &Host::add_row,
                                          .fold_columns = fold_columns(),
                                          .fold_positions = fold_positions(),
                                          .combine = &Host::combine,
                                          .join = &Host::join,
                                          .store = &Host::store,
                                          .is_final = is_final(),
                                          .scan = scan()};
};
template <class Body, Sharing Share, bool Scans, class L> struct ReductionLoops;
template <class Body, Sharing Share, bool Scans, fixed_string... S>
struct ReductionLoops<Body, Share, Scans, loops<S...>> {
  static constexpr Loop table[] = {
      {.type = signature_of<S>.type, .reduction = &ReductionTable<Body, S, Share, Scans>::table}...};
};
template <class Body, class L, Sharing Share, KernelTraits Traits = no_traits>
constexpr KernelDef reduction(const char* name, const char* header) {
  constexpr const Loop* table = ReductionLoops<Body, Share, (Traits & may_scan) != 0, L>::table;
  return make_row(name, header, KernelKind::reduction, table, L{}).with(Traits);
}

}  // namespace catena::define
