#include <array>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <catena/kernels/nn/normalization.h>
#include <catena/kernels/registry/multiarch.h>
#include <catena/ndarray/cpu/group_norm_loops.h>

namespace nd::cpu {
namespace {

using Forward = catena::k::layer_norm_fwd;
using Backward = catena::k::layer_norm_bwd;

// The longest part whose numbers are added up in T; the sums of parts are added in float64.
constexpr std::int64_t kPart = 4096;

template <class T> constexpr std::int64_t kWidth = 32 / std::int64_t(sizeof(T));
template <class T> struct VectorOf {
  static_assert(kWidth<T> <= kFewestPositions);
  typedef T type __attribute__((vector_size(32)));
  typedef T anywhere __attribute__((vector_size(32), aligned(alignof(T)), may_alias));
};
template <class T> using Vector = typename VectorOf<T>::type;
// The vector that begins at an element. (Functions without vectors among their values have one calling convention.)
template <class T> ND_FN const typename VectorOf<T>::anywhere& at(const T* x) {
  return *reinterpret_cast<const typename VectorOf<T>::anywhere*>(x);
}

// Two sums at a time.
template <class T> struct Pair {
  Vector<T> first{}, second{};
  ND_FN void add(const Pair& p) {
    first += p.first;
    second += p.second;
  }
};
struct Totals {
  double first = 0, second = 0;
};

// Lanes are added and dropped by instructions on vectors: vectors that are stored as elements, or loaded from them,
// would wait for the stores.
template <class T, std::size_t... I> ND_FN T sum_of_lanes(const Vector<T>& v, std::index_sequence<I...>) {
  const auto half = __builtin_shufflevector(v, v, int(I)...) + __builtin_shufflevector(v, v, int(I + sizeof...(I))...);
  if constexpr (sizeof...(I) == 4) return (half[0] + half[2]) + (half[1] + half[3]);
  else return half[0] + half[1];
}
template <class T> ND_FN T sum_of_lanes(const Vector<T>& v) {
  return sum_of_lanes<T>(v, std::make_index_sequence<std::size_t(kWidth<T> / 2)>());
}
// Sets the lanes before `from` to 0.
template <class T> ND_FN void drop(Vector<T>& v, std::int64_t from) {
  using Bits = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
  static constexpr std::int64_t w = kWidth<T>;
  static constexpr auto kMasks = [] {
    std::array<Bits, std::size_t(2 * w)> masks{};
    for (std::size_t l = std::size_t(w); l < masks.size(); ++l) masks[l] = -1;
    return masks;
  }();
  typedef Bits Mask __attribute__((vector_size(32)));
  typedef Bits Anywhere __attribute__((vector_size(32), aligned(alignof(Bits)), may_alias));
  const Mask mask = *reinterpret_cast<const Anywhere*>(kMasks.data() + (w - from));
  v = (Vector<T>)((Mask)v & mask);
}

// Calls terms.add(i, sums), which adds the terms of a vector of elements from element i on, for n elements from `begin`
// on; n is at least a vector. The elements that do not fill a vector are the last ones of a vector that begins before
// them.
template <class T, class Terms>
ND_FN void add_part(const Terms& terms, std::int64_t begin, std::int64_t n, Totals& to) {
  constexpr std::int64_t w = kWidth<T>;
  const std::int64_t end = begin + n;
  Pair<T> a, b, c, d;
  std::int64_t i = begin;
  for (; i + 4 * w <= end; i += 4 * w) {
    terms.add(i, a);
    terms.add(i + w, b);
    terms.add(i + 2 * w, c);
    terms.add(i + 3 * w, d);
  }
  for (; i + w <= end; i += w) terms.add(i, a);
  if (i < end) {
    Pair<T> last;
    terms.add(end - w, last);
    drop<T>(last.first, w - (end - i));
    drop<T>(last.second, w - (end - i));
    b.add(last);
  }
  a.add(b);
  c.add(d);
  a.add(c);
  to.first += double(sum_of_lanes<T>(a.first));
  to.second += double(sum_of_lanes<T>(a.second));
}

// The number of parts of equal length into which `count` elements are divided. A part is at least half of kPart if
// there are several.
constexpr std::int64_t parts_of(std::int64_t count) { return (count + kPart - 1) / kPart; }

// ---- statistics ---------------------------------------------------------------------------------
template <class T> struct Distances {
  const T* x;
  T origin;
  ND_FN void add(std::int64_t i, Pair<T>& sums) const { sums.first += at(x + i) - origin; }
};
template <class T> struct SquaredDistances {
  const T* x;
  T origin, center;
  ND_FN void add(std::int64_t i, Pair<T>& sums) const {
    const Vector<T> d = at(x + i) - origin - center;
    sums.first += d * d;
  }
};

template <class T> ND_FN typename Forward::In<T> first_of(const GroupStatistics<T>& s, T eps) {
  return {s.origin, {s.origin}, T(1), T(0), {eps}, {T(0)}};
}

// Mean and squared distances of a part are computed while it is in the nearest cache, and then joined with those of the
// parts before it (Chan, Golub and LeVeque 1979).
template <class T> CATENA_MULTIARCH void find_statistics(const ChannelGroup<T>& g, T eps, GroupStatistics<T>& found) {
  found.origin = g.x[0];
  double done = 0, mean = 0, squares = 0;
  const std::int64_t count = g.channels * g.positions, parts = parts_of(count);
  for (std::int64_t p = 0; p < parts; ++p) {
    const std::int64_t begin = count * p / parts, n = count * (p + 1) / parts - begin;
    Totals sum, squared;
    add_part<T>(Distances<T>{g.x, found.origin}, begin, n, sum);
    const double of_part = sum.first / double(n);
    add_part<T>(SquaredDistances<T>{g.x, found.origin, T(of_part)}, begin, n, squared);
    const double distance = of_part - mean, all = done + double(n);
    mean += distance * (double(n) / all);
    squares += squared.first + distance * distance * (done * double(n) / all);
    done = all;
  }
  typename Forward::Stats<T> row{T(mean), T(squares)};
  Forward::finish1<T>(row, count, first_of(found, eps), {found.center, found.scale});
}

template <class T>
ND_FN void write_elements(const T* __restrict x, std::int64_t n, T gamma, T beta, const GroupStatistics<T>& s,
                          T* __restrict y) {
  const typename Forward::Stats<T> row{s.center, s.scale};
  typename Forward::In<T> in = first_of(s, T(0));
  in.gamma = gamma;
  in.beta = beta;
  for (std::int64_t i = 0; i < n; ++i) {
    in.x = x[i];
    Forward::write<T>(in, row, {y[i]});
  }
}

// A remainder of elements is written as part of a whole vector, whose first elements are written twice.
template <class T>
CATENA_MULTIARCH void write_channels(const ChannelGroup<T>& g, const T* beta, const GroupStatistics<T>& given, T* y) {
  const GroupStatistics<T> s = given;
  const std::int64_t n = g.positions, whole = n / kWidth<T> * kWidth<T>;
  for (std::int64_t c = 0; c < g.channels; ++c) {
    const T* const x = g.x + c * n;
    T* const out = y + c * n;
    write_elements(x, whole, g.gamma[c], beta[c], s, out);
    if (whole < n) write_elements(x + n - kWidth<T>, kWidth<T>, g.gamma[c], beta[c], s, out + n - kWidth<T>);
  }
}

// ---- gradients ----------------------------------------------------------------------------------
// The terms of the gradients of gamma (layer_norm_ggamma) and beta (gy).
template <class T> struct Shares {
  const T *x, *gy;
  T origin, center, scale;
  ND_FN void add(std::int64_t i, Pair<T>& sums) const {
    const Vector<T> g = at(gy + i);
    sums.first += g * ((at(x + i) - origin - center) * scale);
    sums.second += g;
  }
};

template <class T>
CATENA_MULTIARCH void add_channels(const ChannelGroup<T>& g, const T* gy, const GroupStatistics<T>& given, T* ggamma,
                                   T* gbeta) {
  Shares<T> shares{g.x, gy, given.origin, given.center, given.scale};
  const std::int64_t n = g.positions, parts = parts_of(n);
  for (std::int64_t c = 0; c < g.channels; ++c) {
    Totals sums;
    for (std::int64_t p = 0; p < parts; ++p) {
      const std::int64_t begin = n * p / parts;
      add_part<T>(shares, begin, n * (p + 1) / parts - begin, sums);
    }
    ggamma[c] = T(sums.first);
    gbeta[c] = T(sums.second);
    shares.x += n;
    shares.gy += n;
  }
}

template <class T>
ND_FN void write_gradients(const T* __restrict x, const T* __restrict gy, std::int64_t n, typename Backward::In<T> in,
                           const typename Backward::Stats<T>& row, T* __restrict gx) {
  for (std::int64_t i = 0; i < n; ++i) {
    in.x = x[i];
    in.gy = gy[i];
    Backward::write<T>(in, row, {gx[i]});
  }
}

template <class T>
CATENA_MULTIARCH void write_gradient(const ChannelGroup<T>& g, const T* gy, const GroupStatistics<T>& s,
                                     const T* ggamma, const T* gbeta, T* gx) {
  // The sums of h = gamma gy and of h xhat over the group.
  double h = 0, h_xhat = 0;
  for (std::int64_t c = 0; c < g.channels; ++c) {
    h += double(g.gamma[c]) * double(gbeta[c]);
    h_xhat += double(g.gamma[c]) * double(ggamma[c]);
  }
  typename Backward::Stats<T> row{T(h), T(h_xhat)};
  typename Backward::In<T> in{T(0), T(0), {s.origin}, T(0), {s.center}, {s.scale}, {T(0)}};
  const std::int64_t n = g.positions, whole = n / kWidth<T> * kWidth<T>, count = g.channels * n;
  Backward::finish0<T>(row, count, in);
  Backward::finish1<T>(row, count, in);
  for (std::int64_t c = 0; c < g.channels; ++c) {
    const std::int64_t at = c * n, end = at + n - kWidth<T>;
    in.gamma = g.gamma[c];
    write_gradients(g.x + at, gy + at, whole, in, row, gx + at);
    if (whole < n) write_gradients(g.x + end, gy + end, kWidth<T>, in, row, gx + end);
  }
}

}  // namespace

template <class T> GroupStatistics<T> group_statistics(const ChannelGroup<T>& g, T eps) {
  GroupStatistics<T> found;
  find_statistics(g, eps, found);
  return found;
}
template <class T>
void write_group(const ChannelGroup<T>& g, const T* beta, const GroupStatistics<T>& statistics, T* y) {
  write_channels(g, beta, statistics, y);
}
template <class T>
void group_sums(const ChannelGroup<T>& g, const T* gy, const GroupStatistics<T>& statistics, T* ggamma, T* gbeta) {
  add_channels(g, gy, statistics, ggamma, gbeta);
}
template <class T>
void write_group_gradient(const ChannelGroup<T>& g, const T* gy, const GroupStatistics<T>& statistics, const T* ggamma,
                          const T* gbeta, T* gx) {
  write_gradient(g, gy, statistics, ggamma, gbeta, gx);
}

#define CATENA_GROUP_LOOPS(T)                                                                                         \
  template GroupStatistics<T> group_statistics(const ChannelGroup<T>&, T);                                            \
  template void write_group(const ChannelGroup<T>&, const T*, const GroupStatistics<T>&, T*);                         \
  template void group_sums(const ChannelGroup<T>&, const T*, const GroupStatistics<T>&, T*, T*);                      \
  template void write_group_gradient(const ChannelGroup<T>&, const T*, const GroupStatistics<T>&, const T*, const T*, \
                                     T*);
CATENA_GROUP_LOOPS(float)
CATENA_GROUP_LOOPS(double)
#undef CATENA_GROUP_LOOPS

}  // namespace nd::cpu
