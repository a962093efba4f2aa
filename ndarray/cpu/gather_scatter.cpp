// Gather and scatter by index arrays. A gather reads the base at each position of the loop. A scatter writes it, in C
// order of the loop, so that of several values for one element the last stays (set) or all are added in that order
// (add), whatever the number of threads.
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include <catena/kernels/base/error.h>
#include <catena/kernels/base/parallel.h>
#include <catena/kernels/base/word.h>
#include <catena/kernels/numeric.h>
#include <catena/kernels/rows/cast.h>
#include <catena/ndarray/cpu/convert.h>
#include <catena/ndarray/cpu/cpu_backend.h>

namespace nd::cpu {
namespace {

using catena::itemsize;
using catena::Shape;
using catena::Strides;

constexpr std::int64_t kGrain = 16 * 1024;
constexpr int kMaxIndices = catena::kMaxRank;

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
      at = static_cast<std::int64_t>(v);
      if (at < 0 || at >= length) [[unlikely]] {
        at %= length;
        if (at < 0) at += length;
      }
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
  int rank() const { return loop_.size(); }

  // Visits outer positions [begin, end) and, of each, the innermost elements [from, to).
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
        std::int64_t offset[kTile];
        for (std::int64_t i = from; i < to; i += kTile) {
          const std::int64_t m = std::min(kTile, to - i);
          for (std::int64_t j = 0; j < m; ++j) offset[j] = base + (i + j) * base_step;
          for (int k = 0; k < n_; ++k)
            add_[k](index[k] + i * index_[k][rank - 1], index_[k][rank - 1], length(k), step(k), offset, m);
          list(call_.base.data, offset, other_at + i * other_step, other_step, m);
        }
      }
      for (int a = rank - 2; a >= 0; --a) {
        if (++position[a] < loop_[a]) break;
        position[a] = 0;
      }
    }
  }

 private:
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
  // Merges neighbouring axes where all operands allow it.
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
    catena::parallel_for(inner, std::max<std::int64_t>(16, kGrain / std::max<std::int64_t>(outer, 1)),
                         [&](std::int64_t b, std::int64_t e) { f(0, outer, b, e); });
  } else {
    catena::parallel_for(outer, std::max<std::int64_t>(1, kGrain / inner),
                         [&](std::int64_t b, std::int64_t e) { f(b, e, 0, inner); });
  }
}

template <class T> void gather_as(const IndexedWalk& walk) {
  constexpr std::int64_t item = sizeof(T);
  split(walk, false, [&](std::int64_t b, std::int64_t e, std::int64_t from, std::int64_t to) {
    walk.visit(
        b, e, from, to,
        [](const std::byte* base, std::int64_t base_step, std::byte* out, std::int64_t out_step, std::int64_t n) {
          if (base_step == item && out_step == item) {
            std::memcpy(out, base, static_cast<std::size_t>(n * item));
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
// The sum of bools, as bytes: those of a view of another dtype may be other numbers than 0 and 1.
struct Or {
  static void run(std::uint8_t& to, const std::uint8_t& v) { to = (to | v) != 0; }
};

template <class Op, class T> void scatter_as(const IndexedWalk& walk, bool by_inner) {
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

void CpuBackend::gather(const catena::bound::Gather& call, StreamRef) {
  const IndexedWalk walk(call);
  if (catena::size_of(call.loop) == 0) return;
  catena::visit_word(itemsize(call.base.dtype), [&](auto word) { gather_as<typename decltype(word)::type>(walk); });
}

void CpuBackend::scatter(const catena::bound::Gather& call, catena::ScatterMode mode, StreamRef) {
  const IndexedWalk walk(call);
  if (catena::size_of(call.loop) == 0) return;
  // Positions along an axis without an index array write different elements, so that axis can be split over threads.
  const int last = walk.rank() - 1;
  const bool by_inner = last >= 0 && !walk.is_indexed(last) && walk.base_stride(last) != 0;
  if (mode == catena::ScatterMode::set)
    return catena::visit_word(itemsize(call.base.dtype),
                              [&](auto word) { scatter_as<Set, typename decltype(word)::type>(walk, by_inner); });
  catena::visit_dtype(call.base.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_same_v<T, bool>) scatter_as<Or, std::uint8_t>(walk, by_inner);
    else scatter_as<Add, T>(walk, by_inner);
  });
}

}  // namespace nd::cpu
