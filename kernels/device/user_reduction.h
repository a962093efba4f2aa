// The launch skeletons of a ReductionKernel. The generated struct R holds the user's expressions: R::_accumulator_type,
// _identity, _map, _combine and _finish; the result of every thread starts from the identity. A thread combines a few
// elements one after the other, and then these results as a binary tree.
//
// The order of combination depends only on the parameters, so every launch gives the same result.
#pragma once

#include <catena/kernels/device/partials.h>
#include <catena/kernels/device/user_parameters.h>
#include <catena/kernels/device/user_types.h>

namespace catena::user {

// Operands: inputs have strides along the kept and the reduced axes.
template <class T, int Kept, int Reduced> struct ReducedInput {
  T* data;
  int64 kept[Kept];
  int64 reduced[Reduced];
  template <class O, class I> ND_FN T& at(const O& out, const I& in) const {
    return element(data, offset_at<Kept>(out.coordinates, kept) + offset_at<Reduced>(in.coordinates, reduced));
  }
};
template <class T, int Kept> struct ReducedOutput {
  T* data;
  int64 kept[Kept];
  template <class O> ND_FN T& at(const O& out) const { return element(data, offset_at<Kept>(out.coordinates, kept)); }
};

// The user-visible _out_ind and _in_ind. In positions of the input, the reduced axes come first.
template <int Kept> struct OutIndex {
  int64 position, total;
  int64 coordinates[Kept];
  ND_FN int64 size() const { return total; }
  ND_FN const int64* get() const { return coordinates; }
};
template <int Kept, int Reduced> struct InIndex {
  int64 position, total;
  int64 coordinates[Reduced + Kept];
  ND_FN int64 size() const { return total; }
  ND_FN const int64* get() const { return coordinates; }
};

template <class R, int Kept, int Reduced, class Width, class P> struct Reduction {
  using A = typename R::_accumulator_type;
  using Out = OutIndex<Kept>;
  using In = InIndex<Kept, Reduced>;

  static ND_FN Out output_at(const P& p, int64 position) {
    Out out;
    out.position = position;
    out.total = p._work.outputs;
    locate<Kept, Width>(position, p._kept.shape, out.coordinates);
    return out;
  }
  static ND_FN In input_of(const P& p, const Out& out) {
    In in;
    in.total = p._work.outputs * p._work.count;
    in.position = out.position;
    ND_UNROLL
    for (int a = 0; a < Reduced; ++a) in.coordinates[a] = 0;
    ND_UNROLL
    for (int a = 0; a < Kept; ++a) in.coordinates[Reduced + a] = out.coordinates[a];
    return in;
  }
  // Reduces elements begin, begin + step, ... of one output.
  static ND_FN A fold(const P& p, const R& body, const Out& out, int64 begin, int64 end, int64 step) {
    In in = input_of(p, out);
    if (begin >= end) return body._identity();
    locate<Reduced, Width>(begin, p._reduced.shape, in.coordinates);
    int64 k = begin;
    const auto next = [&] {
      in.position = k * p._work.outputs + out.position;
      const A value = body._map(out, in);
      k += step;
      if (step == 1) advance<Reduced>(p._reduced.shape, in.coordinates);
      else locate<Reduced, Width>(k, p._reduced.shape, in.coordinates);
      return value;
    };
    const auto group = [&](A acc) {
      for (int i = 1; i < device::kGroup && k < end; ++i) acc = body._combine(acc, next());
      return acc;
    };
    const auto join = [&](const A& a, const A& b) { return body._combine(a, b); };
    const A first = group(body._combine(body._identity(), next()));
    if (k >= end) return first;
    device::Partials<A> partials;
    partials.add(first, join);
    while (k < end) partials.add(group(next()), join);
    return partials.total(join);
  }
  static ND_FN void part(const P& p, int64 split, int64& begin, int64& end) {
    const int64 length = (p._work.count + p._work.splits - 1) / p._work.splits;
    begin = split * length < p._work.count ? split * length : p._work.count;
    end = begin + length < p._work.count ? begin + length : p._work.count;
  }

#if defined(CATENA_USER_HOST)
  // Processes items [begin, end); an item is one split of one output.
  static void first(const P& p, int64 begin, int64 end) {
    const R body(p);
    for (int64 item = begin; item < end; ++item) {
      const Out out = output_at(p, item / p._work.splits);
      int64 from, to;
      part(p, item % p._work.splits, from, to);
      const A acc = fold(p, body, out, from, to, 1);
      if (p._work.splits == 1) body._finish(out, input_of(p, out), acc);
      else static_cast<A*>(p._work.partial)[item] = acc;
    }
  }
  // Second pass: combines the splits of outputs [begin, end).
  static void second(const P& p, int64 begin, int64 end) {
    const R body(p);
    for (int64 output = begin; output < end; ++output) {
      const Out out = output_at(p, output);
      const A* partial = static_cast<const A*>(p._work.partial) + output * p._work.splits;
      device::Partials<A> all;
      for (int64 s = 0; s < p._work.splits; ++s)
        all.add(partial[s], [&](const A& a, const A& b) { return body._combine(a, b); });
      body._finish(out, input_of(p, out), all.total([&](const A& a, const A& b) { return body._combine(a, b); }));
    }
  }
#else
  // Combines the accumulators of the threads of a block for `width` outputs; the first `width` threads have the
  // results.
  static ND_FN A tree(const R& body, A* of_thread, int width, const A& mine) {
    const int t = int(threadIdx.x), strand = t / width;
    of_thread[t] = mine;
    __syncthreads();
    for (int s = kReductionBlock / width / 2; s > 0; s /= 2) {
      if (strand < s) of_thread[t] = body._combine(of_thread[t], of_thread[t + s * width]);
      __syncthreads();
    }
    const A all = of_thread[t % width];
    __syncthreads();  // before the next round overwrites the accumulators
    return all;
  }
  static ND_FN void first(const P& p) {
    alignas(16) __shared__ unsigned char memory[kReductionBlock * sizeof(A)];
    const R body(p);
    const int width = int(p._work.width), lane = int(threadIdx.x) % width, strand = int(threadIdx.x) / width;
    int64 begin, end;
    part(p, int64(blockIdx.y), begin, end);
    for (int64 block = int64(blockIdx.x) * width; block < p._work.outputs; block += int64(gridDim.x) * width) {
      const int64 output = block + lane;
      const bool inside = output < p._work.outputs;
      const Out out = output_at(p, inside ? output : 0);
      const A mine = inside ? fold(p, body, out, begin + strand, end, kReductionBlock / width) : body._identity();
      const A acc = tree(body, reinterpret_cast<A*>(memory), width, mine);
      if (strand != 0 || !inside) continue;
      if (p._work.splits == 1) body._finish(out, input_of(p, out), acc);
      else static_cast<A*>(p._work.partial)[output * p._work.splits + blockIdx.y] = acc;
    }
  }
  // One block per output of a reduction with splits.
  static ND_FN void second(const P& p) {
    alignas(16) __shared__ unsigned char memory[kReductionBlock * sizeof(A)];
    const R body(p);
    for (int64 output = int64(blockIdx.x); output < p._work.outputs; output += int64(gridDim.x)) {
      const A* partial = static_cast<const A*>(p._work.partial) + output * p._work.splits;
      A mine = body._identity();
      for (int64 s = int64(threadIdx.x); s < p._work.splits; s += kReductionBlock)
        mine = body._combine(mine, partial[s]);
      const A acc = tree(body, reinterpret_cast<A*>(memory), 1, mine);
      const Out out = output_at(p, output);
      if (threadIdx.x == 0) body._finish(out, input_of(p, out), acc);
    }
  }
#endif
};

}  // namespace catena::user
