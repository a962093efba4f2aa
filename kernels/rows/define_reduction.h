// Reduction rows.
#pragma once

#include <catena/kernels/rows/define.h>

namespace catena::define {

template <class Body, int Width = kLanes / 2, class A> ND_FN A combine_lanes(A* lane) {
  for (int l = 0; l < Width; ++l) lane[l] = Body::combine(lane[l], lane[l + Width]);
  if constexpr (Width == 1) return lane[0];
  else return combine_lanes<Body, Width / 2>(lane);
}

template <class Body, fixed_string S> struct Reduction {
  // Loops over bool do not vectorise, those over the byte that it is do.
  using T = std::conditional_t<std::is_same_v<computed_t<S, 0>, bool>, std::uint8_t, computed_t<S, 0>>;
  using R = computed_t<S, 1>;
  using A = typename Body::template accumulator<T, R>;

  static void init(std::byte* acc, std::int64_t n) {
    for (std::int64_t j = 0; j < n; ++j) reinterpret_cast<A*>(acc)[j] = Body::template identity<A>();
  }
  // The order of combination by definition: see kernel.h.
  static ND_FN void fold_lanes(A& out, A* kept, const T* x, std::int64_t index, std::int64_t n, bool first, bool last) {
    A lane[kLanes];
    for (int l = 0; l < kLanes; ++l) lane[l] = first ? Body::template identity<A>() : kept[l];
    std::int64_t i = 0;
    for (; i + kLanes <= n; i += kLanes)
      for (int l = 0; l < kLanes; ++l) lane[l] = Body::combine(lane[l], Body::template map<A>(x[i + l], index + i + l));
    for (int l = 0; i < n; ++i, ++l) lane[l] = Body::combine(lane[l], Body::template map<A>(x[i], index + i));
    if (last) {
      out = Body::combine(out, combine_lanes<Body>(lane));
    } else {
      for (int l = 0; l < kLanes; ++l) kept[l] = lane[l];
    }
  }
  // The same for the place of an extremum, whose result does not depend on the order: values are compared without their
  // places, and only the block that held the best one is searched.
  static constexpr std::int64_t kWindow = 256 / sizeof(T);  // a comparison takes long to end: several vectors at once
  static ND_FN A find_extremum(const T* x, std::int64_t index, std::int64_t n) {
    constexpr std::int64_t kBlock = 16 * kWindow;
    std::int64_t i = 0, place = 0;
    T value = x[0];
    for (std::int64_t m; n - i >= kWindow && !is_nan(value); i += m) {
      m = n - i < kBlock ? (n - i) / kWindow * kWindow : kBlock;
      if (find_better(x + i, m, value)) place = i;
    }
    if (i > 0) place += find_value(x + place, value);
    A best = Body::template map<A>(x[place], index + place);
    for (; i < n; ++i) best = Body::combine(best, Body::template map<A>(x[i], index + i));
    return best;
  }
  // Whether the extremum of n values, whole windows of them, is better than `value`, which then becomes it. `value` is
  // no NaN.
  static ND_FN bool find_better(const T* x, std::int64_t n, T& value) {
    using E = typename Body::extremum;
    T lane[kWindow];
    for (int l = 0; l < kWindow; ++l) lane[l] = x[l];
    for (std::int64_t i = kWindow; i < n; i += kWindow)
      for (int l = 0; l < kWindow; ++l) lane[l] = E::combine(lane[l], x[i + l]);
    for (int l = 0; l < kWindow; ++l) lane[l] = E::combine(value, lane[l]);
    unsigned better = 0;
    for (int l = 0; l < kWindow; ++l) better |= lane[l] != value;
    if (better) value = combine_lanes<E, kWindow / 2>(lane);
    return better != 0;
  }
  // The first place of a value that is among those of `x`.
  static ND_FN std::int64_t find_value(const T* x, T value) {
    const bool nan = is_nan(value);
    std::int64_t i = 0;
    for (;; i += kWindow) {
      unsigned found = 0;
      for (int l = 0; l < kWindow; ++l) found |= (x[i + l] == value) | (nan & is_nan(x[i + l]));
      if (found) break;
    }
    while (!(x[i] == value || (nan && is_nan(x[i])))) ++i;
    return i;
  }
  CATENA_MULTIARCH static void fold(std::byte* acc, std::byte* lanes, const std::byte* elements, std::int64_t index,
                                    std::int64_t n, bool first, bool last) {
    A& out = *reinterpret_cast<A*>(acc);
    const T* x = reinterpret_cast<const T*>(elements);
    if constexpr (requires { typename Body::extremum; }) {
      if (n > 0) out = Body::combine(out, find_extremum(x, index, n));
      (void)lanes, (void)first, (void)last;
    } else {
      fold_lanes(out, reinterpret_cast<A*>(lanes), x, index, n, first, last);
    }
  }
  CATENA_MULTIARCH static void fold_rows(std::byte* acc, const std::byte* elements, std::int64_t index,
                                         std::int64_t n) {
    A* a = reinterpret_cast<A*>(acc);
    const T* x = reinterpret_cast<const T*>(elements);
#pragma GCC ivdep
    for (std::int64_t j = 0; j < n; ++j) a[j] = Body::combine(a[j], Body::template map<A>(x[j], index));
  }
  CATENA_MULTIARCH static void combine(std::byte* acc, const std::byte* other, std::int64_t n) {
    A* a = reinterpret_cast<A*>(acc);
    const A* b = reinterpret_cast<const A*>(other);
#pragma GCC ivdep
    for (std::int64_t j = 0; j < n; ++j) a[j] = Body::combine(a[j], b[j]);
  }
  static void store(const std::byte* acc, std::int64_t count, std::byte* out, std::int64_t stride, std::int64_t n) {
    for (std::int64_t j = 0; j < n; ++j)
      *reinterpret_cast<R*>(out + j * stride) = Body::template finish<R>(reinterpret_cast<const A*>(acc)[j], count);
  }
  // Scans read bools where they lie; every byte but 0 counts as 1.
  static ND_FN T scanned(T x) {
    if constexpr (std::is_same_v<computed_t<S, 0>, bool>) return T(x != 0);
    else return x;
  }
  // Computes element i of row j. `first`: there is none before it.
  static ND_FN A scan_element(A a, const ScanBlock& b, std::int64_t i, std::int64_t j, bool first) {
    const T x0 = *reinterpret_cast<const T*>(b.in + i * b.in_step + j * b.in_stride);
    const A x = Body::template map<A>(scanned(x0), b.index + i);
    const A next = first ? x : Body::combine(a, x);
    *reinterpret_cast<R*>(b.out + i * b.out_step + j * b.out_stride) = Body::template finish<R>(next, b.index + i + 1);
    return next;
  }
  // A few rows at once hide the time that one combination takes to end.
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
    const ScanBlock b = block;  // a result that is stored may be part of `block`, as far as the compiler knows
    A* acc = reinterpret_cast<A*>(cells);
    if (b.n == 0) return;
    if (b.width > 1 && b.in_stride == std::int64_t(sizeof(T)) && b.out_stride == std::int64_t(sizeof(R))) {
      std::int64_t i = 0;
      if (b.index == 0) scan_across<true>(acc, b, i++);
      for (; i < b.n; ++i) scan_across<false>(acc, b, i);
      return;
    }
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
  // Integers of one width are the same memory, and a bool is a byte; but not every byte is a bool, and where bytes are
  // compared with each other, all that are true must be 1.
  static constexpr bool finds_place = requires { typename Body::extremum; };
  static constexpr Dtype read(Dtype from, Dtype to) {
    if (finds_place && from == Dtype::bool_) return from;
    return itemsize(from) == itemsize(to) && !is_floating(from) && !is_floating(to) && to != Dtype::bool_ ? to : from;
  }
  static constexpr auto scan() {
    if constexpr (Scans) return &Reduction<Body, compute_signature<S>>::scan;
    else return nullptr;
  }
  static constexpr ReductionLoop table = {sizeof(typename Host::A),
                                          read(from.type[0], to.type[0]),
                                          to.type[0],
                                          to.type[1],
                                          read(from.type[1], to.type[1]),
                                          &Host::init,
                                          &Host::fold,
                                          &Host::fold_rows,
                                          &Host::combine,
                                          &Host::store,
                                          scan()};
};
template <class Body, Sharing Share, bool Scans, class L> struct ReductionLoops;
template <class Body, Sharing Share, bool Scans, fixed_string... S>
struct ReductionLoops<Body, Share, Scans, loops<S...>> {
  static constexpr Loop table[] = {
      {.type = signature_of<S>.type, .reduction = &ReductionTable<Body, S, Share, Scans>::table}...};
};
template <class Body, class L, Sharing Share, RowTraits Traits = no_traits>
constexpr KernelDef reduction(const char* name, const char* header, bool has_identity) {
  constexpr const Loop* table = ReductionLoops<Body, Share, (Traits & may_scan) != 0, L>::table;
  KernelDef d = make_row(name, header, KernelKind::reduction, table, L{}).with(Traits);
  d.has_identity = has_identity;
  return d;
}

}  // namespace catena::define
