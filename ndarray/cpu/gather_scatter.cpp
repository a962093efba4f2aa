// Gather and scatter by index arrays. A gather reads the base at each position of the loop. A scatter writes to the
// base in C order of the loop: if one element receives several values, the last value stays (set) or all values are
// added in that order (add). The result does not depend on the number of threads.
#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <cstring>

#include <catena/kernels/base/error.h>
#include <catena/kernels/base/parallel.h>
#include <catena/kernels/base/word.h>
#include <catena/kernels/numeric.h>
#include <catena/kernels/registry/cast.h>
#include <catena/kernels/registry/multiarch.h>
#include <catena/ndarray/cpu/convert.h>
#include <catena/ndarray/cpu/copy.h>
#include <catena/ndarray/cpu/counts.h>
#include <catena/ndarray/cpu/run.h>
#include <catena/ndarray/cpu/stream_store.h>
#include <catena/ndarray/cpu/tuning.h>
#include <catena/ndarray/cpu/workspace.h>

namespace nd::cpu {
namespace {

using catena::itemsize;
using catena::Shape;
using catena::Strides;

constexpr int kMaxIndices = catena::kMaxRank;

// Wraps an index of any value to [0, length).
inline std::int64_t wrapped(std::int64_t at, std::int64_t length) {
  if (at >= 0 && at < length) [[likely]]
    return at;
  at %= length;
  return at < 0 ? at + length : at;
}

// offset[i] += wrap(index[i], length) * step
template <class T>
void add_offsets(const std::byte* index, std::int64_t stride, std::int64_t length, std::int64_t step,
                 std::int64_t* offset, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) {
    const T v = *reinterpret_cast<const T*>(index + i * stride);
    std::int64_t at;
    if constexpr (sizeof(T) == 8 && T(-1) > T(0)) {
      at = v < static_cast<std::uint64_t>(length) ? static_cast<std::int64_t>(v)
                                                  : static_cast<std::int64_t>(v % static_cast<std::uint64_t>(length));
    } else {
      at = wrapped(static_cast<std::int64_t>(v), length);
    }
    offset[i] += at * step;
  }
}

using OffsetFn = void (*)(const std::byte*, std::int64_t, std::int64_t, std::int64_t, std::int64_t*, std::int64_t);

OffsetFn offset_function(Dtype t) {
  switch (t) {
    case Dtype::bool_:
    case Dtype::uint8: return &add_offsets<std::uint8_t>;
    case Dtype::int8: return &add_offsets<std::int8_t>;
    case Dtype::int16: return &add_offsets<std::int16_t>;
    case Dtype::uint16: return &add_offsets<std::uint16_t>;
    case Dtype::int32: return &add_offsets<std::int32_t>;
    case Dtype::uint32: return &add_offsets<std::uint32_t>;
    case Dtype::int64: return &add_offsets<std::int64_t>;
    case Dtype::uint64: return &add_offsets<std::uint64_t>;
    default: catena::fail<catena::IndexError>("indexing", "index arrays must be of an integer dtype, not ", t);
  }
}

// Visits the positions of the loop in runs of its innermost axis. f receives, for a run of n elements, their location
// in `base` (one offset and a stride, or a list of offsets) and in `other`.
class IndexedWalk {
 public:
  explicit IndexedWalk(const catena::bound::Gather& call)
      : call_(call), loop_(call.loop), base_(*call.base.strides), other_(*call.other.strides) {
    n_ = static_cast<int>(call.axes.size());
    catena::check<catena::ValueError>(n_ <= kMaxIndices, "indexing", n_, " index arrays exceed the limit of ",
                                      kMaxIndices);
    for (int k = 0; k < n_; ++k) {
      const catena::bound::Index& a = call.axes[std::size_t(k)];
      index_[k] = *a.index.strides;
      add_[k] = offset_function(a.index.dtype);
      catena::check<catena::IndexError>(a.length > 0 || catena::size_of(loop_) == 0, "indexing",
                                        "an axis of length 0 has no element ", "for the ", catena::size_of(loop_),
                                        " indices");
    }
    drop_unit_axes();
    merge_plain_axes();
  }

  const Shape& loop() const { return loop_; }
  bool is_indexed(int axis) const {
    for (int k = 0; k < n_; ++k)
      if (index_[k][axis] != 0) return true;
    return false;
  }
  std::int64_t base_stride(int axis) const { return base_[axis]; }
  std::int64_t other_stride(int axis) const { return other_[axis]; }
  std::int64_t index_stride(int k, int axis) const { return index_[k][axis]; }
  // True if the loop consists of contiguous rows of elements of `item` bytes, with one index per row.
  bool is_of_rows(std::int64_t item) const {
    return rank() == 2 && is_indexed(0) && !is_indexed(1) && base_[1] == item && other_[1] == item;
  }
  int rank() const { return loop_.size(); }

  // Visits outer positions [begin, end) and, for each, the innermost elements [from, to).
  template <class Run, class List>
  void visit(std::int64_t begin, std::int64_t end, std::int64_t from, std::int64_t to, Run&& run, List&& list) const {
    const int rank = loop_.size();
    const bool inner_indexed = rank > 0 && is_indexed(rank - 1);
    const std::int64_t base_step = rank > 0 ? base_[rank - 1] : 0, other_step = rank > 0 ? other_[rank - 1] : 0;
    std::int64_t position[catena::kMaxRank];
    std::int64_t rest = begin;
    for (int a = rank - 2; a >= 0; --a) {
      position[a] = rest % loop_[a];
      rest /= loop_[a];
    }
    for (std::int64_t outer = begin; outer < end; ++outer) {
      std::int64_t base = 0, other = 0;
      const std::byte* index[kMaxIndices];
      for (int a = 0; a < rank - 1; ++a) {
        base += position[a] * base_[a];
        other += position[a] * other_[a];
      }
      for (int k = 0; k < n_; ++k) {
        index[k] = call_.axes[std::size_t(k)].index.data;
        for (int a = 0; a < rank - 1; ++a) index[k] += position[a] * index_[k][a];
      }
      std::byte* other_at = call_.other.data + other;
      if (!inner_indexed) {
        for (int k = 0; k < n_; ++k) add_[k](index[k], 0, length(k), step(k), &base, 1);
        run(call_.base.data + base + from * base_step, base_step, other_at + from * other_step, other_step, to - from);
      } else {
        visit_list(rank - 1, base, index, other_at, from, to, list);
      }
      for (int a = rank - 2; a >= 0; --a) {
        if (++position[a] < loop_[a]) break;
        position[a] = 0;
      }
    }
  }

  // True if the first axis is indexed by one array of dtype `t`.
  bool is_line(Dtype t) const { return n_ == 1 && base_[0] == 0 && call_.axes[0].index.dtype == t; }
  // True if the axis of the first index array fits the cache of a core.
  bool is_near() const { return std::llabs(step(0)) <= kCoreCache / length(0); }

  // Calls list() for positions [begin, end) of axis 0 and position 0 of the other axes.
  template <class List> void visit_outer(std::int64_t begin, std::int64_t end, List&& list) const {
    const std::byte* index[kMaxIndices];
    for (int k = 0; k < n_; ++k) index[k] = call_.axes[std::size_t(k)].index.data;
    visit_list(0, 0, index, call_.other.data, begin, end, list);
  }

 private:
  template <class List>
  void visit_list(int axis, std::int64_t base, const std::byte* const* index, std::byte* other, std::int64_t from,
                  std::int64_t to, List&& list) const {
    std::int64_t offset[kTile];
    for (std::int64_t i = from; i < to; i += kTile) {
      const std::int64_t m = std::min(kTile, to - i);
      for (std::int64_t j = 0; j < m; ++j) offset[j] = base + (i + j) * base_[axis];
      for (int k = 0; k < n_; ++k)
        add_[k](index[k] + i * index_[k][axis], index_[k][axis], length(k), step(k), offset, m);
      list(call_.base.data, offset, other + i * other_[axis], other_[axis], m);
    }
  }
  std::int64_t length(int k) const { return call_.axes[std::size_t(k)].length; }
  std::int64_t step(int k) const { return call_.axes[std::size_t(k)].stride; }

  void erase_axis(int a) {
    loop_.erase(a);
    base_.erase(a);
    other_.erase(a);
    for (int k = 0; k < n_; ++k) index_[k].erase(a);
  }
  void drop_unit_axes() {
    for (int a = loop_.size() - 1; a >= 0; --a)
      if (loop_[a] == 1) erase_axis(a);
  }
  // Merges neighbouring axes if their strides allow it in all operands.
  void merge_plain_axes() {
    for (int a = loop_.size() - 1; a > 0; --a) {
      const std::int64_t n = loop_[a];
      bool merges = base_[a - 1] == base_[a] * n && other_[a - 1] == other_[a] * n;
      for (int k = 0; k < n_; ++k) merges &= index_[k][a - 1] == index_[k][a] * n;
      if (!merges) continue;
      loop_[a] *= loop_[a - 1];
      erase_axis(a - 1);
    }
  }

  const catena::bound::Gather& call_;
  Shape loop_;
  Strides base_, other_;
  int n_ = 0;
  Strides index_[kMaxIndices];
  OffsetFn add_[kMaxIndices];
};

// Splits the loop into ranges of outer positions, or of the innermost axis; calls f(begin, end, from, to).
template <class F> void split(const IndexedWalk& walk, bool by_inner, F&& f) {
  const int rank = walk.rank();
  const std::int64_t inner = rank > 0 ? walk.loop()[rank - 1] : 1;
  const std::int64_t outer = catena::size_of(walk.loop()) / std::max<std::int64_t>(inner, 1);
  if (by_inner || outer == 1) {
    catena::parallel_for(inner, std::max<std::int64_t>(16, kHeavyGrain / std::max<std::int64_t>(outer, 1)),
                         [&](std::int64_t b, std::int64_t e) { f(0, outer, b, e); });
  } else {
    catena::parallel_for(outer, std::max<std::int64_t>(1, kHeavyGrain / inner),
                         [&](std::int64_t b, std::int64_t e) { f(b, e, 0, inner); });
  }
}

// Copies n bytes that do not overlap; short copies without a function call.
ND_FN void move_bytes(std::byte* to, const std::byte* from, std::int64_t n) {
  const auto ends = [&](auto word) __attribute__((always_inline)) {  // the first and the last word may overlap
    decltype(word) first, last;
    std::memcpy(&first, from, sizeof(word));
    std::memcpy(&last, from + n - sizeof(word), sizeof(word));
    std::memcpy(to, &first, sizeof(word));
    std::memcpy(to + n - sizeof(word), &last, sizeof(word));
  };
  const auto words = [&](auto word) __attribute__((always_inline)) {  // the last word may overlap the one before it
    constexpr std::int64_t size = sizeof(word);
    std::memcpy(&word, from + n - size, sizeof(word));
    for (std::int64_t i = 0; i < n - size; i += size) std::memcpy(to + i, from + i, sizeof(word));
    std::memcpy(to + n - size, &word, sizeof(word));
  };
  struct Line {
    std::uint64_t word[8];
  };
  struct HalfLine {
    std::uint64_t word[4];
  };
  if (n > 512) copy_bytes(to, from, n);
  else if (n >= 64) words(Line());
  else if (n >= 32) words(HalfLine());
  else if (n >= 16) ends(std::array<std::uint64_t, 2>());
  else if (n >= 8) ends(std::uint64_t());
  else if (n >= 4) ends(std::uint32_t());
  else
    for (std::int64_t i = 0; i < n; ++i) to[i] = from[i];
}
// Copies n rows of `bytes` bytes; row i is at base + offset[i]. `far`: prefetches the next rows.
CATENA_MULTIARCH void move_rows(std::byte* out, std::int64_t out_step, const std::byte* base,
                                const std::int64_t* offset, std::int64_t n, std::int64_t bytes, bool far) {
  const std::int64_t fetched = bytes < 512 ? bytes : 512;
  for (std::int64_t i = 0; i < n; ++i) {
    if (far) {
      const std::byte* const next = base + offset[i + kGatheredAhead < n ? i + kGatheredAhead : n - 1];
      for (std::int64_t b = 0; b < fetched; b += kLine) __builtin_prefetch(next + b);
      __builtin_prefetch(next + fetched - 1);
    }
    move_bytes(out + i * out_step, base + offset[i], bytes);
  }
}

// Gathers contiguous rows, each with its own index.
void gather_rows(const IndexedWalk& walk, std::int64_t item) {
  const std::int64_t bytes = walk.loop()[1] * item, grain = std::max<std::int64_t>(1, kHeavyGrain / walk.loop()[1]);
  const bool far = !walk.is_near();
  catena::parallel_for(walk.loop()[0], grain, [&](std::int64_t begin, std::int64_t end) {
    walk.visit_outer(begin, end,
                     [&](const std::byte* base, const std::int64_t* offset, std::byte* out, std::int64_t out_step,
                         std::int64_t n) { move_rows(out, out_step, base, offset, n, bytes, far); });
  });
}

// The loop of `walk` as one line of words. A word is an element, or a row with the size of a word.
struct Line {
  const catena::bound::Gather& call;
  std::int64_t n, index_step, other_step;

  explicit Line(const catena::bound::Gather& call, const IndexedWalk& walk)
      : call(call), n(walk.loop()[0]), index_step(walk.index_stride(0, 0)), other_step(walk.other_stride(0)) {}
};

// Returns the index of type I at `from` as a position in [0, length): negative numbers count from the end. The indices
// have been checked, except where they wrap.
template <class I> std::int64_t place(const std::byte* from, std::int64_t length) {
  I v;
  std::memcpy(&v, from, sizeof(v));
  const auto at = std::int64_t(v);
  return wrapped(at + ((at >> 63) & length), length);
}

// Gathers n words of type T by indices of type I.
template <class T, class I, bool contiguous>
void gather_words(const std::byte* base, std::int64_t length, std::int64_t base_step, const std::byte* index,
                  std::int64_t index_step, std::byte* out, std::int64_t out_step, std::int64_t n) {
  if constexpr (contiguous) base_step = sizeof(T), index_step = sizeof(I), out_step = sizeof(T);
#pragma GCC unroll 4
  for (std::int64_t i = 0; i < n; ++i)
    std::memcpy(out + i * out_step, base + place<I>(index + i * index_step, length) * base_step, sizeof(T));
}
template <class T, class I> void gather_line(const Line& line) {
  const catena::bound::Index& axis = line.call.axes[0];
  const bool contiguous = axis.stride == std::int64_t(sizeof(T)) && line.index_step == std::int64_t(sizeof(I)) &&
                          line.other_step == std::int64_t(sizeof(T));
  const auto words = contiguous ? gather_words<T, I, true> : gather_words<T, I, false>;
  catena::parallel_for(line.n, kHeavyGrain, [&](std::int64_t begin, std::int64_t end) {
    words(line.call.base.data, axis.length, axis.stride, axis.index.data + begin * line.index_step, line.index_step,
          line.call.other.data + begin * line.other_step, line.other_step, end - begin);
  });
}
// Gathers a line. Returns false if there is no loop for its index dtype.
template <class T> bool gathered_line(const catena::bound::Gather& call, const IndexedWalk& walk) {
  const Line line(call, walk);
  if (walk.is_line(Dtype::int64)) gather_line<T, std::int64_t>(line);
  else if (walk.is_line(Dtype::int32)) gather_line<T, std::int32_t>(line);
  else return false;
  return true;
}

template <class T> void gather_as(const catena::bound::Gather& call, const IndexedWalk& walk) {
  constexpr std::int64_t item = sizeof(T);
  if (walk.rank() == 1 && gathered_line<T>(call, walk)) return;
  split(walk, false, [&](std::int64_t b, std::int64_t e, std::int64_t from, std::int64_t to) {
    walk.visit(
        b, e, from, to,
        [](const std::byte* base, std::int64_t base_step, std::byte* out, std::int64_t out_step, std::int64_t n) {
          if (base_step == item && out_step == item) {
            copy_bytes(out, base, n * item);
            return;
          }
          for (std::int64_t i = 0; i < n; ++i) std::memcpy(out + i * out_step, base + i * base_step, sizeof(T));
        },
        [](const std::byte* base, const std::int64_t* offset, std::byte* out, std::int64_t out_step, std::int64_t n) {
          for (std::int64_t i = 0; i < n; ++i) std::memcpy(out + i * out_step, base + offset[i], sizeof(T));
        });
  });
}

struct Set {
  template <class T> static void run(T& to, const T& v) { to = v; }
};
struct Add {
  template <class T> static void run(T& to, const T& v) { to = T(catena::wrap_add(catena::load(to), catena::load(v))); }
};
// The sum of bools, as bytes: a byte of a view of another dtype may be neither 0 nor 1.
struct Or {
  static void run(std::uint8_t& to, const std::uint8_t& v) { to = (to | v) != 0; }
};

// Scatters a list of elements in one pass, in order.
template <class Op, class T, class I> void scatter_line(const Line& line) {
  const catena::bound::Index& axis = line.call.axes[0];
  std::byte* const base = line.call.base.data;
  const std::byte *index = axis.index.data, *value = line.call.other.data;
  for (std::int64_t i = 0; i < line.n; ++i, index += line.index_step, value += line.other_step)
    Op::run(*reinterpret_cast<T*>(base + place<I>(index, axis.length) * axis.stride),
            *reinterpret_cast<const T*>(value));
}

// Counts how often each position of an axis occurs among n indices. Neighbouring indices are counted in separate
// tables, because a counter that was just written cannot be read at once.
constexpr int kNeighbours = 4;
template <class I>
void count_places(const std::byte* index, std::int64_t step, std::int64_t n, std::int64_t length, std::uint32_t* counts,
                  std::int64_t to_next) {
  std::int64_t i = 0;
  for (; i + kNeighbours <= n; i += kNeighbours)
    for (int k = 0; k < kNeighbours; ++k) ++counts[k * to_next + place<I>(index + (i + k) * step, length)];
  for (; i < n; ++i) ++counts[place<I>(index + i * step, length)];
}
using CountFn = void (*)(const std::byte*, std::int64_t, std::int64_t, std::int64_t, std::uint32_t*, std::int64_t);
CountFn count_function(Dtype t) {
  CountFn count = nullptr;
  catena::visit_dtype(t, [&](auto tag) {
    using I = typename decltype(tag)::type;
    if constexpr (std::is_integral_v<I> && !std::is_same_v<I, bool>) count = &count_places<I>;
  });
  return count;
}

// Adds one integer at all positions of a list, by counting the positions on all threads; the order does not matter.
// Returns false if a table per thread is not worth it.
template <class T> bool scatter_counts(const Line& line) {
  const catena::bound::Index& axis = line.call.axes[0];
  const std::int64_t length = axis.length;
  const std::int64_t threads = std::clamp<std::int64_t>(line.n / kHeavyGrain, 1, catena::available_threads());
  const std::int64_t part = (line.n + threads - 1) / threads;
  if (line.other_step != 0 || part > INT32_MAX || length > (threads > 1 ? 2 * part : part / 8)) return false;
  const int tables = length <= kSmallTable ? kNeighbours : 1;
  const CountFn count = count_function(axis.index.dtype);
  if (!count) return false;
  // The tables of different threads share no cache line.
  constexpr std::size_t kCount = sizeof(std::uint32_t);
  const auto pitch = static_cast<std::int64_t>(round_up_64(std::size_t(length) * kCount) / kCount);
  const Workspace memory(std::size_t(threads * tables * pitch) * kCount);
  auto* const counts = reinterpret_cast<std::uint32_t*>(memory.data());
  catena::parallel_for(threads, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t t = begin; t < end; ++t) {
      std::uint32_t* const own = counts + t * tables * pitch;
      std::fill_n(own, tables * pitch, 0u);
      const std::int64_t from = t * part, n = std::clamp<std::int64_t>(line.n - from, 0, part);
      count(axis.index.data + from * line.index_step, line.index_step, n, length, own, tables > 1 ? pitch : 0);
    }
  });
  using U = std::make_unsigned_t<T>;
  const U value = U(*reinterpret_cast<const T*>(line.call.other.data));
  catena::parallel_for(length, kHeavyGrain, [&](std::int64_t begin, std::int64_t end) {
    add_counts<U>(line.call.base.data + begin * axis.stride, axis.stride, value, counts + begin, threads * tables,
                  pitch, end - begin);
  });
  return true;
}

// Combines n contiguous elements, in blocks that compile to vector operations.
template <class Op, class T> void combine(std::byte* to, const std::byte* from, std::int64_t n) {
  constexpr std::int64_t kBlock = 16;
  T sums[kBlock], values[kBlock];
  const auto block = [&](std::int64_t at, std::int64_t m) __attribute__((always_inline)) {
    std::memcpy(sums, to + at * std::int64_t(sizeof(T)), std::size_t(m) * sizeof(T));
    std::memcpy(values, from + at * std::int64_t(sizeof(T)), std::size_t(m) * sizeof(T));
    for (std::int64_t i = 0; i < m; ++i) Op::run(sums[i], values[i]);
    std::memcpy(to + at * std::int64_t(sizeof(T)), sums, std::size_t(m) * sizeof(T));
  };
  std::int64_t at = 0;
  for (; at + kBlock <= n; at += kBlock) block(at, kBlock);
  if (at < n) block(at, n - at);
}

// Scatters contiguous rows. Each row of the base belongs to one thread, which visits all indices and uses those of its
// own rows. Every row thus gets its values in the order of the loop.
template <class Op, class T> void scatter_rows(const IndexedWalk& walk) {
  const std::int64_t rows = walk.loop()[0], columns = walk.loop()[1],
                     fetched = std::min<std::int64_t>(columns * std::int64_t(sizeof(T)), 512);
  const auto threads =
      std::uint64_t(std::clamp<std::int64_t>(rows * columns / kHeavyGrain, 1, catena::available_threads()));
  catena::parallel_for(std::int64_t(threads), 1, [&](std::int64_t begin, std::int64_t end) {
    const auto is_own = [&](std::int64_t offset) {
      const std::uint64_t hash = (std::uint64_t(offset) * 0x9E3779B97F4A7C15u) >> 32;
      const auto owner = std::int64_t((hash * threads) >> 32);
      return owner >= begin && owner < end;
    };
    walk.visit_outer(
        0, rows,
        [&](std::byte* base, const std::int64_t* offset, const std::byte* value, std::int64_t step, std::int64_t n) {
          for (std::int64_t i = 0; i < n; ++i) {
            // Prefetches the next rows, because the hardware cannot predict their addresses.
            if (const std::int64_t next = std::min(i + kScatteredAhead, n - 1); is_own(offset[next]))
              for (std::int64_t b = 0; b < fetched; b += kLine) {
                __builtin_prefetch(base + offset[next] + b, 1);
                __builtin_prefetch(value + next * step + b);
              }
            if (is_own(offset[i])) combine<Op, T>(base + offset[i], value + i * step, columns);
          }
        });
  });
}

template <class Op, class T>
void scatter_as(const catena::bound::Gather& call, const IndexedWalk& walk, bool by_inner) {
  // For few rows, sharing the columns among threads is faster.
  if (walk.is_of_rows(sizeof(T)) && walk.loop()[0] >= 64) return scatter_rows<Op, T>(walk);
  if constexpr (std::is_same_v<Op, Add> && std::is_integral_v<T>) {
    if (walk.rank() == 1 && walk.is_line(call.axes[0].index.dtype) && scatter_counts<T>(Line(call, walk))) return;
  }
  // For data outside the cache, computing the offsets first allows more memory accesses to overlap.
  const auto is_near_line = [&](Dtype index) { return walk.rank() == 1 && walk.is_line(index) && walk.is_near(); };
  if (is_near_line(Dtype::int64)) return scatter_line<Op, T, std::int64_t>(Line(call, walk));
  if (is_near_line(Dtype::int32)) return scatter_line<Op, T, std::int32_t>(Line(call, walk));
  const auto job = [&](std::int64_t b, std::int64_t e, std::int64_t from, std::int64_t to) {
    walk.visit(
        b, e, from, to,
        [](std::byte* base, std::int64_t base_step, const std::byte* v, std::int64_t v_step, std::int64_t n) {
          for (std::int64_t i = 0; i < n; ++i)
            Op::run(*reinterpret_cast<T*>(base + i * base_step), *reinterpret_cast<const T*>(v + i * v_step));
        },
        [](std::byte* base, const std::int64_t* offset, const std::byte* v, std::int64_t v_step, std::int64_t n) {
          for (std::int64_t i = 0; i < n; ++i)
            Op::run(*reinterpret_cast<T*>(base + offset[i]), *reinterpret_cast<const T*>(v + i * v_step));
        });
  };
  const int rank = walk.rank();
  const std::int64_t inner = rank > 0 ? walk.loop()[rank - 1] : 1;
  if (by_inner) split(walk, true, job);
  else job(0, catena::size_of(walk.loop()) / inner, 0, inner);
}

}  // namespace

void run(const catena::bound::Gather& call) {
  const IndexedWalk walk(call);
  if (catena::size_of(call.loop) == 0) return;
  const auto item = std::int64_t(itemsize(call.base.dtype));
  if (walk.is_of_rows(item)) {
    const std::int64_t bytes = walk.loop()[1] * item;
    bool done = false;
    if (bytes <= 16 && std::has_single_bit(std::uint64_t(bytes)))
      catena::visit_word(std::size_t(bytes),
                         [&](auto word) { done = gathered_line<typename decltype(word)::type>(call, walk); });
    return done ? void() : gather_rows(walk, item);
  }
  catena::visit_word(itemsize(call.base.dtype),
                     [&](auto word) { gather_as<typename decltype(word)::type>(call, walk); });
}

void run(const catena::bound::Scatter& scatter) {
  const catena::bound::Gather& call = scatter.walk;
  const IndexedWalk walk(call);
  if (catena::size_of(call.loop) == 0) return;
  // Along an axis without an index array, positions write different elements, so threads can share that axis.
  const int last = walk.rank() - 1;
  const bool by_inner = last >= 0 && !walk.is_indexed(last) && walk.base_stride(last) != 0;
  if (scatter.mode == catena::ScatterMode::set)
    return catena::visit_word(itemsize(call.base.dtype),
                              [&](auto word) { scatter_as<Set, typename decltype(word)::type>(call, walk, by_inner); });
  catena::visit_dtype(call.base.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_same_v<T, bool>) scatter_as<Or, std::uint8_t>(call, walk, by_inner);
    else scatter_as<Add, T>(call, walk, by_inner);
  });
}

}  // namespace nd::cpu
