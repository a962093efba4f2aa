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
  // True if runs from element `begin` on, a multiple of Run, are contiguous and aligned, so that wide loads can be
  // used.
  template <int Reduced, class Index, class P> ND_FN bool whole(const P& p, int64_t begin) {
    if constexpr (Reduced == 0) {
      return false;
    } else {
      const bool in_rows = Reduced == 1 || Index(p.reduced_length[Reduced - 1]) % Index(Run) == 0;
      return in_rows && (lies_together<Reduced>(p, get<K>(lanes), K, begin) && ...);
    }
  }
  // Loads `Width` elements of a run starting with number `first`; operator() then gives their values.
  template <int Reduced, class Index, class P> ND_FN void fetch(const P& p, Index first) {
    if constexpr (Reduced == 1) (move(get<K>(lanes), kept[K], int64_t(first)), ...);
    else move_to<Reduced>(p, first);
    (get<K>(lanes).template fetch<Width>(), ...);
  }
  ND_FN value operator()(int j) {
    value v;
    Program::run(get<K>(lanes)(j)..., v);
    return v;
  }
  // Returns element i, for any strides.
  template <int Reduced, class Index, class P> ND_FN value single(const P& p, Index i) {
    move_to<Reduced>(p, i);
    (get<K>(lanes).template fetch<1>(), ...);
    return (*this)(0);
  }

  // The same for several outputs side by side: true if element i of V outputs can be loaded at once, for every i.
  template <int V, int Kept, int Reduced, class P> ND_FN bool side_by_side(const P& p) {
    return (lie_side_by_side<V, Kept, Reduced>(p, get<K>(lanes), K) && ...);
  }
  // Loads element i of V outputs; operator() then gives their values. Wide: they are side by side.
  template <int V, int Kept, int Reduced, bool Wide, class Index, class P>
  ND_FN void fetch_across(const P& p, Index i) {
    move_to<Reduced>(p, i);
    if constexpr (Wide) (get<K>(lanes).template fetch<V>(), ...);
    else (get<K>(lanes).template fetch_along<V>(p.kept_stride[K][innermost<Kept>(p.kept_rank)]), ...);
  }

 private:
  template <int Rank> static ND_FN int innermost(int64_t rank) { return (Rank != 0 ? Rank : int(rank)) - 1; }
  template <int Reduced, class P, class L> ND_FN bool lies_together(const P& p, L& lane, int k, int64_t begin) {
    if constexpr (L::advances) {
      bool outer = true;
      ND_UNROLL
      for (int a = 0; a + 1 < Reduced; ++a) outer &= p.reduced_stride[k][a] % word<Width, L>() == 0;
      return outer && p.reduced_stride[k][Reduced - 1] == L::size &&
             lane.template aligned<Width>(kept[k] + (Reduced == 1 ? begin * L::size : 0));
    } else {
      return true;
    }
  }
  template <int V, int Kept, int Reduced, class P, class L> ND_FN bool lie_side_by_side(const P& p, L& lane, int k) {
    if constexpr (L::advances) {
      bool rows = true;
      ND_UNROLL
      for (int a = 0; a < (Reduced != 0 ? Reduced : int(p.reduced_rank)); ++a)
        rows &= p.reduced_stride[k][a] % word<V, L>() == 0;
      return rows && p.kept_stride[k][innermost<Kept>(p.kept_rank)] == L::size && lane.template aligned<V>(kept[k]);
    } else {
      return true;
    }
  }
  // Bytes of an access of N elements.
  template <int N, class L> static ND_FN int64_t word() {
    return N * int(L::size) < int(kAccess) ? N * int(L::size) : int(kAccess);
  }
  template <int Reduced, class Index, class P> ND_FN void move_to(const P& p, Index i) {
    using Offset = typename signed_of<Index>::type;
    Offset offset[sizeof...(K)] = {};
    for_each_axis<Reduced>(i, p.reduced_length, p.reduced_rank,
                           [&](int a, Index c) { ((offset[K] += Offset(c) * Offset(p.reduced_stride[K][a])), ...); });
    (get<K>(lanes).move(kept[K] + offset[K]), ...);
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

// N neighbouring lanes of a warp per item, for short rows: at most four runs per lane. N is a power of two.
template <int N> struct LaneGroup {
  enum : int { size = N };
  static ND_FN int rank() { return int(threadIdx.x) % N; }
  static ND_FN int64_t item() { return int64_t(blockIdx.x) * (kBlock / N) + int(threadIdx.x) / N; }
  static ND_FN int64_t items() { return int64_t(gridDim.x) * (kBlock / N); }
  // The first lane gets the result. All lanes of the warp must call it.
  template <class Combine, class A> static ND_FN A reduce(A v) {
    ND_UNROLL
    for (int distance = N / 2; distance > 0; distance /= 2) v = Combine::combine(v, shuffle_down(v, distance));
    return v;
  }
};

// Accumulators of V outputs.
template <class A, int V> struct Several { A of[V]; };
// Copies of the inputs of a thread, for elements that are loaded together.
template <class E, int N> struct Each;
template <class E> struct Each<E, 2> {
  E of[2];
  ND_FN explicit Each(const E& e) : of{e, e} {}
};
template <class E> struct Each<E, 4> {
  E of[4];
  ND_FN explicit Each(const E& e) : of{e, e, e, e} {}
};

// The elements that a thread combines before it starts another partial result, in four independent accumulators.
template <class Body, class A> struct FourAccumulators {
  A acc[4];
  ND_FN FourAccumulators() {
    ND_UNROLL
    for (int j = 0; j < 4; ++j) acc[j] = Body::template identity<A>();
  }
  template <class T> ND_FN void take(int j, T x, int64_t index) { device::take<Body>(acc[j], x, index); }
  ND_FN A total() const { return Body::combine(Body::combine(acc[0], acc[1]), Body::combine(acc[2], acc[3])); }
};
// Bodies may have a class of their own for this, which needs fewer registers.
template <class Body, class A> struct FourSums { using type = FourAccumulators<Body, A>; };
template <class Body, class A>
requires requires { typename Body::four_sums; }
struct FourSums<Body, A> {
  using type = typename Body::four_sums;
};

template <class Body, class E, class Result, class Index, int Kept, int Reduced> struct Reduce {
  using A = typename Body::template accumulator<typename E::value, typename Result::value>;

  using Join = Joined<Body>;
  // Number of elements that a thread combines, in four accumulators, before it starts another partial result; more than
  // it ever has, if the order of combination does not matter. fold_across(), which has one accumulator per output,
  // combines a quarter of this number.
  enum : int { kElements = !rounds<Body, A> ? 1 << 30 : (joins<Body, A> ? 1024 : 4 * kGroup) };
  // Runs that a thread loads before it uses the first: 64 bytes are enough to fill the memory of a processor that holds
  // 1024 threads; large accumulators leave registers for less.
  enum : int { kAhead = sizeof(A) <= 8 ? 4 : 2 };

  template <int V> struct JoinSeveral {
    ND_FN Several<A, V> operator()(Several<A, V> a, const Several<A, V>& b) const {
      ND_UNROLL
      for (int j = 0; j < V; ++j) a.of[j] = Join::combine(a.of[j], b.of[j]);
      return a;
    }
  };

  // Returns the result of a thread. `group` reduces one group of elements, from element `i` on, and advances `i`.
  template <class J, class Group> static ND_FN auto fold_groups(Index i, Index end, J join, Group group) {
    if constexpr (rounds<Body, A>) {
      auto acc = group(i);
      if (i < end) {
        Partials<decltype(acc)> partials;
        partials.add(acc, join);
        while (i < end) partials.add(group(i), join);
        acc = partials.total(join);
      }
      return acc;
    } else {
      return group(i);  // of all elements
    }
  }
  using Sums = typename FourSums<Body, A>::type;

  // Takes the elements that were fetched from number `first` on.
  static ND_FN void take_fetched(E& elements, Index first, Sums& sums) {
    ND_UNROLL
    for (int j = 0; j < E::width; ++j) sums.take(j % 4, elements(j), int64_t(first) + j);
  }

  // Reduces runs of neighbouring elements in four independent accumulators: every `size`-th run, starting with run
  // `rank`. Contiguous runs are loaded at once, several of them before the first is used; the assignment of elements to
  // accumulators does not depend on that.
  // Short: no thread has more elements than it combines before it starts another partial result.
  template <bool Short, class P>
  static ND_FN A fold(const P& p, E& elements, Index from, Index end, int rank, int size) {
    const bool whole = elements.template whole<Reduced, Index>(p, int64_t(from));
    const Index step = Index(size * E::run);
    const auto group = [&](Index& first) {
      Sums sums;
      int run = whole ? fold_ahead(p, elements, first, end, step, sums) : 0;
      for (; run < kElements / E::run && first < end; ++run, first += step) {
        if (whole && end - first >= Index(E::run)) {
          for (Index i = first; i < first + E::run; i += E::width) {
            elements.template fetch<Reduced>(p, i);
            take_fetched(elements, i, sums);
          }
        } else {
          for (Index i = first; i < first + E::run && i < end; i += 4) {
            ND_UNROLL
            for (int j = 0; j < 4; ++j) {
              if (i + j >= end) continue;
              sums.take(j, elements.template single<Reduced>(p, Index(i + j)), int64_t(i) + j);
            }
          }
        }
      }
      return sums.total();
    };
    Index start = from + Index(rank * E::run);
    if constexpr (Short) return group(start);
    else return fold_groups(start, end, Join(), group);
  }
  // Takes kAhead runs at a time while there are so many. Returns the number of runs.
  template <class P>
  static ND_FN int fold_ahead(const P& p, const E& elements, Index& first, Index end, Index step, Sums& sums) {
    int run = 0;
    if constexpr (E::run == E::width && kAhead > 1) {
      for (;
           run + kAhead <= kElements / E::run && first < end && end - first >= Index(kAhead - 1) * step + Index(E::run);
           run += kAhead, first += Index(kAhead) * step) {
        Each<E, kAhead> loaded(elements);
        ND_UNROLL
        for (int k = 0; k < kAhead; ++k) loaded.of[k].template fetch<Reduced>(p, Index(first + Index(k) * step));
        ND_UNROLL
        for (int k = 0; k < kAhead; ++k) take_fetched(loaded.of[k], Index(first + Index(k) * step), sums);
      }
    }
    return run;
  }
  // Reduces elements from, from + step, ... of V neighbouring outputs, in one accumulator each, whatever V is.
  template <int V, bool Wide, class P>
  static ND_FN Several<A, V> fold_across(const P& p, E& elements, Index from, Index end, Index step) {
    return fold_groups(from, end, JoinSeveral<V>(), [&](Index& i) {
      Several<A, V> acc;
      ND_UNROLL
      for (int k = 0; k < V; ++k) acc.of[k] = Body::template identity<A>();
      for (int round = 0; round < kElements / (rounds<Body, A> ? 16 : 4) && i < end; ++round, i += 4 * step) {
        ND_UNROLL
        for (int j = 0; j < 4; ++j) {
          const Index at = i + Index(j) * step;
          if (at >= end) continue;
          elements.template fetch_across<V, Kept, Reduced, Wide>(p, at);
          ND_UNROLL
          for (int k = 0; k < V; ++k) take<Body>(acc.of[k], elements(k), int64_t(at));
        }
      }
      return acc;
    });
  }
  template <class P> static ND_FN void finish(const P& p, Index output, const A& acc) {
    Result::template put<Kept>(p, output, Body::template finish<typename Result::value>(acc, p.divisor));
  }
  template <bool Split, class P> static ND_FN void result(const P& p, Index output, const A& acc) {
    if constexpr (Split) static_cast<A*>(p.partial)[int64_t(output) * p.splits + blockIdx.y] = acc;
    else finish(p, output, acc);
  }
  // Computes the range of elements that the blocks with this blockIdx.y reduce.
  template <class P> static ND_FN void part(const P& p, Index& begin, Index& end) {
    const int64_t first = blockIdx.y * p.part, last = first + p.part;
    begin = Index(first < p.count ? first : p.count);
    end = Index(last < p.count ? last : p.count);
  }

  // One group of threads per output, for reductions of the innermost axis. Split: the blocks along y share the
  // elements.
  template <class Group, bool Split, class P> static ND_FN void rows(const P& p) {
    // The groups of a warp stay together, because they exchange values.
    const int64_t lead = int(Group::size) < int(kWarp) ? int(threadIdx.x) % kWarp / Group::size : 0;
    Index begin, end;
    part(p, begin, end);
    E elements(p);
    for (int64_t output = Group::item(); output - lead < p.outputs; output += Group::items()) {
      A acc = Body::template identity<A>();
      if (output < p.outputs) {
        elements.template select<Kept>(p, Index(output));
        acc = fold<(int(Group::size) < int(kWarp))>(p, elements, begin, end, Group::rank(), Group::size);
      }
      acc = Group::template reduce<Join>(acc);
      if (Group::rank() == 0 && output < p.outputs) result<Split>(p, Index(output), acc);
    }
    if constexpr (Split) finish_if_last(p, kBlock / Group::size);
  }

  template <int V, class P>
  static ND_FN Several<A, V> columns_of_thread(const P& p, E& elements, Index from, Index end, Index step) {
    if constexpr (V == 1) return fold_across<1, true>(p, elements, from, end, step);
    else if (elements.template side_by_side<V, Kept, Reduced>(p))
      return fold_across<V, true>(p, elements, from, end, step);
    else return fold_across<V, false>(p, elements, from, end, step);
  }

  // For reductions that keep the innermost axis: `Across` threads side by side compute V neighbouring outputs each,
  // which have the same place along the other kept axes, with kBlock / Across threads behind each other.
  template <int Across, int V, bool Split, class P> static ND_FN void columns(const P& p) {
    constexpr int height = kBlock / Across;
    alignas(16) __shared__ unsigned char memory[(height > 1 ? kBlock : 1) * sizeof(Several<A, V>)];
    Several<A, V>* of_thread = reinterpret_cast<Several<A, V>*>(memory);
    const int x = int(threadIdx.x) % Across, y = int(threadIdx.x) / Across;
    Index begin, end;
    part(p, begin, end);
    E elements(p);
    for (int64_t first = int64_t(blockIdx.x) * Across * V; first < p.outputs;
         first += int64_t(gridDim.x) * Across * V) {
      const int64_t output = first + x * V;
      Several<A, V> acc;
      if (output < p.outputs) {
        elements.template select<Kept>(p, Index(output));
        acc = columns_of_thread<V>(p, elements, Index(begin + Index(y)), end, Index(height));
        if (height > 1) of_thread[threadIdx.x] = acc;
      }
      ND_UNROLL
      for (int half = height / 2; half > 0; half /= 2) {
        __syncthreads();
        if (y >= half || output >= p.outputs) continue;
        acc = JoinSeveral<V>()(acc, of_thread[threadIdx.x + half * Across]);
        if (half > 1) of_thread[threadIdx.x] = acc;
      }
      if (y == 0 && output < p.outputs) {
        ND_UNROLL
        for (int k = 0; k < V; ++k) result<Split>(p, Index(output + k), acc.of[k]);
      }
      if (height > 1) __syncthreads();
    }
    if constexpr (Split) finish_if_last(p, Across * V);
  }

  // Called by all threads of a block that has stored its accumulators of every output; `together` is the number of
  // outputs that it computed at a time. Computes the results of these outputs if the blocks with the other splits have
  // stored theirs, too.
  template <class P> static ND_FN void finish_if_last(const P& p, int together) {
    if (p.blocks_done == nullptr || !is_last_block(p.blocks_done + blockIdx.x, uint32_t(p.splits))) return;
    const bool by_warps = p.splits <= kSplitsOfWarp;
    for (int64_t first = int64_t(blockIdx.x) * together; first < p.outputs; first += int64_t(gridDim.x) * together) {
      const int64_t end = first + together < p.outputs ? first + together : p.outputs;
      if (by_warps) combine_parts<WarpGroup>(p, first + int(threadIdx.x) / kWarp, end, kBlock / kWarp);
      else combine_parts<BlockGroup>(p, first, end, 1);
    }
  }

  // The second stage: a group of threads per output combines its partial accumulators.
  template <class Group, class P> static ND_FN void second(const P& p) {
    combine_parts<Group>(p, Group::item(), p.outputs, Group::items());
  }
  template <class Group, class P>
  static ND_FN void combine_parts(const P& p, int64_t begin, int64_t end, int64_t step) {
    for (int64_t output = begin; output < end; output += step) {
      const A* partial = static_cast<const A*>(p.partial) + output * p.splits;
      A acc = Body::template identity<A>();
      if (Group::rank() < p.splits) {
        Partials<A> partials;
        for (int64_t s = Group::rank(); s < p.splits; s += Group::size) partials.add(partial[s], Join());
        acc = partials.total(Join());
      }
      acc = Group::template reduce<Join>(acc);
      if (Group::rank() == 0) finish(p, Index(output), acc);
    }
  }
};

}  // namespace catena::device
