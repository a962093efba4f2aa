// Launch skeletons of reductions. A program over the inputs computes the elements that are reduced, and another program
// computes the stored result from the reduced value. Rank 0: the number of axes is known only at run time.
#pragma once

#include <catena/kernels/device/group.h>
#include <catena/kernels/device/partials.h>

namespace catena::device {

template <class Stored, class Slot> ND_FN compute_t<Slot> element_at(const void* data, int64_t offset) {
  return to_slot<Slot>(element<Stored>(static_cast<const char*>(data) + offset));
}

// The program of a plain reduction: the element is the value of the only input, the result is stored unchanged.
struct Unchanged {
  template <class T> static ND_FN void run(T x, T& y) { y = x; }
};

// The elements that are reduced: Program::run(inputs..., element), of type T. A thread takes runs of `Run` neighbouring
// elements and loads `Width` of them at once; the assignment of elements to threads depends only on Run.
template <class Program, class T, int Run, int Width, class Seq, class... Tag> struct Elements;
template <class Program, class T, int Run, int Width, int... K, class... Tag>
struct Elements<Program, T, Run, Width, Indices<K...>, Tag...> {
  static_assert(Run % Width == 0 && Width % 4 == 0);
  using value = compute_t<T>;
  enum : int { run = Run, width = Width };

  LaneSet<Indices<K...>, typename Tag::template lane<Width>...> lanes;
  int64_t kept[sizeof...(K)];  // byte offset of each input for the current output

  template <class P> ND_FN explicit Elements(const P& p) : lanes(typename Tag::template lane<Width>(p, K)...) {}
  // Selects the output to whose elements the calls below refer.
  template <int Kept, class Index, class P> ND_FN void select(const P& p, Index output) {
    ((kept[K] = offset_of<Kept>(output, p.kept_length, p.kept_stride[K], p.kept_rank)), ...);
    (get<K>(lanes).begin_row(kept[K]), ...);
  }
  // True if runs from element `begin` on are contiguous and aligned, so that wide loads can be used.
  template <int Reduced, class P> ND_FN bool whole(const P& p, int64_t begin) {
    return Reduced == 1 && (lies_together(p, get<K>(lanes), K, begin) && ...);
  }
  // Loads `Width` elements starting with number `first`; operator() then gives their values.
  ND_FN void fetch(int64_t first) {
    (move(get<K>(lanes), kept[K], first), ...);
    (get<K>(lanes).template fetch<Width>(), ...);
  }
  ND_FN value operator()(int j) {
    value v;
    Program::run(get<K>(lanes)(j)..., v);
    return v;
  }
  // Returns element i, for any strides.
  template <int Reduced, class Index, class P> ND_FN value single(const P& p, Index i) {
    using Offset = typename signed_of<Index>::type;
    Offset offset[sizeof...(K)] = {};
    for_each_axis<Reduced>(i, p.reduced_length, p.reduced_rank,
                           [&](int a, Index c) { ((offset[K] += Offset(c) * Offset(p.reduced_stride[K][a])), ...); });
    (get<K>(lanes).move(kept[K] + offset[K]), ...);
    (get<K>(lanes).template fetch<1>(), ...);
    return (*this)(0);
  }

 private:
  template <class P, class L> ND_FN bool lies_together(const P& p, L& lane, int k, int64_t begin) {
    if constexpr (L::advances)
      return p.reduced_stride[k][0] == L::size && lane.template aligned<Width>(kept[k] + begin * L::size);
    else return true;
  }
  template <class L> static ND_FN void move(L& lane, int64_t start, int64_t first) {
    lane.move(start + first * L::size);
  }
};

// The stored results: Program::run(reduced value of type R, inputs..., result). The operands start with number `First`;
// the last one is the output.
template <class Program, class R, int First, class Seq, class... Tag> struct Results;
template <class Program, class R, int First, int... K, class... Tag>
struct Results<Program, R, First, Indices<K...>, Tag...> {
  using value = compute_t<R>;
  template <int Kept, class Index, class P> static ND_FN void put(const P& p, Index output, value v) {
    LaneSet<Indices<K...>, typename Tag::template lane<1>...> lanes(typename Tag::template lane<1>(p, First + K)...);
    (get<K>(lanes).move(offset_of<Kept>(output, p.kept_length, p.kept_stride[First + K], p.kept_rank)), ...);
    (get<K>(lanes).template fetch<1>(), ...);
    Program::run(v, get<K>(lanes)(0)...);
    (get<K>(lanes).template flush<1>(), ...);
  }
};

template <class Body, class E, class Result, class Index, int Kept, int Reduced> struct Reduce {
  using A = typename Body::template accumulator<typename E::value, typename Result::value>;

  using Join = Joined<Body>;
  // Number of elements that a thread combines before it starts another partial result.
  enum : int { kElements = !rounds<Body, A> ? 1 << 30 : (joins<Body, A> ? 1024 : 4 * kGroup) };

  // Returns the result of a thread. `group` reduces one group of elements, from element `i` on, and advances `i`.
  template <class Group> static ND_FN A fold_groups(Index i, Index end, Group group) {
    A acc = group(i);
    if constexpr (rounds<Body, A>) {
      if (i < end) {
        Partials<A> partials;
        partials.add(acc, Join());
        while (i < end) partials.add(group(i), Join());
        acc = partials.total(Join());
      }
    } else {
      while (i < end) acc = Body::combine(acc, group(i));
    }
    return acc;
  }
  static ND_FN void clear(A* acc) {
    ND_UNROLL
    for (int j = 0; j < 4; ++j) acc[j] = Body::template identity<A>();
  }
  static ND_FN A combined(const A* acc) {
    return Body::combine(Body::combine(acc[0], acc[1]), Body::combine(acc[2], acc[3]));
  }

  // Reduces runs of neighbouring elements in four independent accumulators: every `size`-th run, starting with run
  // `rank`. Contiguous runs are loaded at once; the assignment of elements to accumulators does not depend on that.
  template <class P> static ND_FN A fold(const P& p, E& elements, Index from, Index end, int rank, int size) {
    const bool whole = elements.template whole<Reduced>(p, int64_t(from));
    return fold_groups(from + Index(rank * E::run), end, [&](Index& first) {
      A acc[4];
      clear(acc);
      for (int run = 0; run < kElements / E::run && first < end; ++run, first += Index(size * E::run)) {
        if (whole && end - first >= Index(E::run)) {
          for (Index i = first; i < first + E::run; i += E::width) {
            elements.fetch(int64_t(i));
            ND_UNROLL
            for (int j = 0; j < E::width; ++j) take<Body>(acc[j % 4], elements(j), int64_t(i) + j);
          }
        } else {
          for (Index i = first; i < first + E::run && i < end; i += 4) {
            ND_UNROLL
            for (int j = 0; j < 4; ++j) {
              if (i + j >= end) continue;
              take<Body>(acc[j], elements.template single<Reduced>(p, Index(i + j)), int64_t(i) + j);
            }
          }
        }
      }
      return combined(acc);
    });
  }
  // Reduces elements begin, begin + step, ... of one output, in four independent accumulators.
  template <class P> static ND_FN A fold_column(const P& p, E& elements, Index from, Index end, Index step) {
    return fold_groups(from, end, [&](Index& i) {
      A acc[4];
      clear(acc);
      for (int round = 0; round < kElements / 4 && i < end; ++round, i += 4 * step) {
        ND_UNROLL
        for (int j = 0; j < 4; ++j) {
          const Index at = i + Index(j) * step;
          if (at < end) take<Body>(acc[j], elements.template single<Reduced>(p, at), int64_t(at));
        }
      }
      return combined(acc);
    });
  }
  template <class P> static ND_FN void finish(const P& p, Index output, const A& acc) {
    Result::template put<Kept>(p, output, Body::template finish<typename Result::value>(acc, p.divisor));
  }
  template <class P> static ND_FN void result(const P& p, Index output, const A& acc) {
    if (p.splits == 1) finish(p, output, acc);
    else static_cast<A*>(p.partial)[int64_t(output) * p.splits + blockIdx.y] = acc;
  }
  // Computes the range of elements that the blocks with this blockIdx.y reduce.
  template <class P> static ND_FN void part(const P& p, Index& begin, Index& end) {
    const int64_t share = (p.count + p.splits - 1) / p.splits, length = (share + E::run - 1) / E::run * E::run,
                  first = blockIdx.y * length, last = first + length;
    begin = Index(first < p.count ? first : p.count);
    end = Index(last < p.count ? last : p.count);
  }

  // One group of threads per output, for reductions of the innermost axis.
  template <class Group, class P> static ND_FN void rows(const P& p) {
    Index begin, end;
    part(p, begin, end);
    E elements(p);
    for (int64_t output = Group::item(); output < p.outputs; output += Group::items()) {
      elements.template select<Kept>(p, Index(output));
      const A acc = Group::template reduce<Join>(fold(p, elements, begin, end, Group::rank(), Group::size));
      if (Group::rank() == 0) result(p, Index(output), acc);
    }
  }

  // 32 neighbouring outputs per block, with 8 threads each, for reductions that keep the innermost axis.
  template <class P> static ND_FN void columns(const P& p) {
    constexpr int height = kBlock / kWarp;
    alignas(16) __shared__ unsigned char memory[kBlock * sizeof(A)];
    A* of_thread = reinterpret_cast<A*>(memory);
    const int x = int(threadIdx.x) % kWarp, y = int(threadIdx.x) / kWarp;
    Index begin, end;
    part(p, begin, end);
    E elements(p);
    for (int64_t first = int64_t(blockIdx.x) * kWarp; first < p.outputs; first += int64_t(gridDim.x) * kWarp) {
      const int64_t output = first + x;
      if (output < p.outputs) {
        elements.template select<Kept>(p, Index(output));
        of_thread[y * kWarp + x] = fold_column(p, elements, Index(begin + Index(y)), end, Index(height));
      }
      __syncthreads();
      if (y == 0 && output < p.outputs) {
        A acc = of_thread[x];
        ND_UNROLL
        for (int k = 1; k < height; ++k) acc = Join::combine(acc, of_thread[k * kWarp + x]);
        result(p, Index(output), acc);
      }
      __syncthreads();
    }
  }

  // The second stage: one warp per output combines its partial accumulators.
  template <class P> static ND_FN void second(const P& p) {
    for (int64_t output = WarpGroup::item(); output < p.outputs; output += WarpGroup::items()) {
      const A* partial = static_cast<const A*>(p.partial) + output * p.splits;
      A acc = Body::template identity<A>();
      if (WarpGroup::rank() < p.splits) {
        Partials<A> partials;
        for (int64_t s = WarpGroup::rank(); s < p.splits; s += kWarp) partials.add(partial[s], Join());
        acc = partials.total(Join());
      }
      acc = WarpGroup::reduce<Join>(acc);
      if (WarpGroup::rank() == 0) finish(p, Index(output), acc);
    }
  }
};

}  // namespace catena::device
