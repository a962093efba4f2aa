// The launch skeletons of a ReductionKernel. The generated struct R holds the user's expressions: R::_accumulator_type,
// _identity, _map, _combine and _finish; the result of every thread starts from the identity. A thread combines a few
// elements one after the other, and then these results as a binary tree.
//
// The order of combination depends only on the parameters, so every launch gives the same result.
#pragma once

#include <catena/kernels/device/partials.h>
#include <catena/kernels/device/user_types.h>

namespace catena::user {

// A block of the CPU has one thread. In a loop over outputs, its compilers would keep the addresses of so many elements
// of `fold` that no register is left.
#if defined(CATENA_USER_HOST)
enum : int { kReductionThreads = 1 };
#define CATENA_USER_FOLD __attribute__((noinline)) static
#else
enum : int { kReductionThreads = kReductionBlock };
#define CATENA_USER_FOLD static ND_FN
#endif

template <class R, int Kept, int Reduced, class Width, class P> struct Reduction {
  using A = typename R::_accumulator_type;
  using Out = Position<Kept>;
  using In = Position<Reduced + Kept>;  // the reduced axes come first

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
  CATENA_USER_FOLD A fold(const P& p, const R& body, const Out& out, int64 begin, int64 end, int64 step) {
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

  // Combines the accumulators of the threads of a block for `width` outputs; the first `width` threads have the
  // results.
  static ND_FN A tree(const R& body, int width, const A& mine) {
#if defined(CATENA_USER_HOST)
    return mine;  // a block has one thread
#else
    alignas(16) __shared__ unsigned char memory[kReductionBlock * sizeof(A)];
    A* const of_thread = reinterpret_cast<A*>(memory);
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
#endif
  }
  // Reduces the part blockIdx.y of every output.
  static ND_FN void first(const P& p) {
    const R body(p);
    const int width = int(p._work.width), lane = int(threadIdx.x) % width, strand = int(threadIdx.x) / width;
    int64 begin, end;
    part(p, int64(blockIdx.y), begin, end);
    const Share<1> share((p._work.outputs + width - 1) / width);
    for (int64 k = share.begin; k < share.end; k += share.step()) {
      const int64 output = k * width + lane;
      const bool inside = output < p._work.outputs;
      const Out out = output_at(p, inside ? output : 0);
      const A mine =
          inside ? fold(p, body, out, begin + strand, end, kReductionThreads == 1 ? 1 : kReductionThreads / width)
                 : body._identity();
      const A acc = tree(body, width, mine);
      if (strand != 0 || !inside) continue;
      if (p._work.splits == 1) body._finish(out, input_of(p, out), acc);
      else static_cast<A*>(p._work.partial)[output * p._work.splits + blockIdx.y] = acc;
    }
  }
  // Combines the parts of every output, each in one block.
  static ND_FN void second(const P& p) {
    const R body(p);
    const auto join = [&](const A& a, const A& b) { return body._combine(a, b); };
    const Share<1> share(p._work.outputs);
    for (int64 output = share.begin; output < share.end; output += share.step()) {
      const A* partial = static_cast<const A*>(p._work.partial) + output * p._work.splits;
      device::Partials<A> mine;
      for (int64 s = int64(threadIdx.x); s < p._work.splits; s += kReductionThreads) mine.add(partial[s], join);
      const bool any = int64(threadIdx.x) < p._work.splits;
      const A acc = tree(body, 1, any ? mine.total(join) : body._identity());
      const Out out = output_at(p, output);
      if (threadIdx.x == 0) body._finish(out, input_of(p, out), acc);
    }
  }
};
#undef CATENA_USER_FOLD

}  // namespace catena::user
