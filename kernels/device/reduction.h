// Launch skeletons of reductions. Types: the stored input and output, and those of the loop (T, R). Rank 0 means that the number of
// axes is known at run time.
#pragma once

#include "kernels/device/group.h"

namespace catena::device {

template <class Stored, class Slot> ND_FN compute_t<Slot> element_at(const void* data, int64_t offset) {
  return to_slot<Slot>(*reinterpret_cast<const Stored*>(static_cast<const char*>(data) + offset));
}

template <class Body, class StoredIn, class T, class StoredOut, class R, class Index, int Kept, int Reduced> struct Reduce {
  using A = typename Body::template accumulator<compute_t<T>, compute_t<R>>;

  // Runs of neighbouring elements, every `size`-th one from that of `rank` on, into four independent accumulators. Contiguous runs are
  // read at once; which element goes where depends on none of that.
  static constexpr int kRun = sizeof(StoredIn) > 4 ? 4 : 16 / int(sizeof(StoredIn));
  template <class P> static ND_FN A fold(const P& p, int64_t kept, Index begin, Index end, int rank, int size) {
    const char* in = static_cast<const char*>(p.in) + kept;
    A acc[4];
    ND_UNROLL
    for (int j = 0; j < 4; ++j) acc[j] = Body::template identity<A>();
    bool whole = Reduced == 1 && p.reduced_in[0] == int64_t(sizeof(StoredIn));
    whole = whole && reinterpret_cast<uint64_t>(in + int64_t(begin) * sizeof(StoredIn)) % kAccess == 0;
    for (Index first = begin + Index(rank * kRun); first < end; first += Index(size * kRun)) {
      if (whole && end - first >= Index(kRun)) {
        StoredIn raw[kRun];
        read<kRun>(raw, in + int64_t(first) * sizeof(StoredIn));
        ND_UNROLL
        for (int j = 0; j < kRun; ++j)
          acc[j % 4] = Body::combine(acc[j % 4], Body::template map<A>(to_slot<T>(raw[j]), int64_t(first) + j));
      } else {
        for (Index i = first; i < first + kRun && i < end; i += 4) {
          ND_UNROLL
          for (int j = 0; j < 4; ++j) {
            if (i + j >= end) continue;
            const int64_t offset = offset_of<Reduced>(i + j, p.reduced_length, p.reduced_in, p.reduced_rank);
            acc[j] = Body::combine(acc[j], Body::template map<A>(element_at<StoredIn, T>(in, offset), int64_t(i) + j));
          }
        }
      }
    }
    return Body::combine(Body::combine(acc[0], acc[1]), Body::combine(acc[2], acc[3]));
  }
  // Elements begin, begin + step, ... of one output.
  template <class P> static ND_FN A fold_column(const P& p, int64_t kept, Index begin, Index end, Index step) {
    const char* in = static_cast<const char*>(p.in) + kept;
    A acc = Body::template identity<A>();
    for (Index i = begin; i < end; i += step) {
      const int64_t offset = offset_of<Reduced>(i, p.reduced_length, p.reduced_in, p.reduced_rank);
      acc = Body::combine(acc, Body::template map<A>(element_at<StoredIn, T>(in, offset), int64_t(i)));
    }
    return acc;
  }
  template <class P> static ND_FN void finish(const P& p, Index output, const A& acc) {
    const int64_t offset = offset_of<Kept>(output, p.kept_length, p.kept_out, p.kept_rank);
    *reinterpret_cast<StoredOut*>(static_cast<char*>(p.out) + offset) =
        from_slot<StoredOut, R>(Body::template finish<compute_t<R>>(acc, p.count));
  }
  template <class P> static ND_FN void result(const P& p, Index output, const A& acc) {
    if (p.splits == 1) finish(p, output, acc);
    else static_cast<A*>(p.partial)[int64_t(output) * p.splits + blockIdx.y] = acc;
  }
  // The part of the elements that blocks of this gridDim.y work on.
  template <class P> static ND_FN void part(const P& p, Index& begin, Index& end) {
    const int64_t share = (p.count + p.splits - 1) / p.splits, length = (share + kRun - 1) / kRun * kRun, first = blockIdx.y * length,
                  last = first + length;
    begin = Index(first < p.count ? first : p.count);
    end = Index(last < p.count ? last : p.count);
  }

  // A group of threads per output: the reduced axes are the inner ones.
  template <class Group, class P> static ND_FN void rows(const P& p) {
    Index begin, end;
    part(p, begin, end);
    for (int64_t output = Group::item(); output < p.outputs; output += Group::items()) {
      const int64_t kept = offset_of<Kept>(Index(output), p.kept_length, p.kept_in, p.kept_rank);
      const A acc = Group::template reduce<Body>(fold(p, kept, begin, end, Group::rank(), Group::size));
      if (Group::rank() == 0) result(p, Index(output), acc);
    }
  }

  // 32 neighbouring outputs per block, 8 threads each: the innermost axis is kept.
  template <class P> static ND_FN void columns(const P& p) {
    constexpr int height = kBlock / kWarp;
    alignas(16) __shared__ unsigned char memory[kBlock * sizeof(A)];
    A* of_thread = reinterpret_cast<A*>(memory);
    const int x = int(threadIdx.x) % kWarp, y = int(threadIdx.x) / kWarp;
    Index begin, end;
    part(p, begin, end);
    for (int64_t first = int64_t(blockIdx.x) * kWarp; first < p.outputs; first += int64_t(gridDim.x) * kWarp) {
      const int64_t output = first + x;
      if (output < p.outputs) {
        const int64_t kept = offset_of<Kept>(Index(output), p.kept_length, p.kept_in, p.kept_rank);
        of_thread[y * kWarp + x] = fold_column(p, kept, Index(begin + Index(y)), end, Index(height));
      }
      __syncthreads();
      if (y == 0 && output < p.outputs) {
        A acc = of_thread[x];
        ND_UNROLL
        for (int k = 1; k < height; ++k) acc = Body::combine(acc, of_thread[k * kWarp + x]);
        result(p, Index(output), acc);
      }
      __syncthreads();
    }
  }

  // The second stage: one warp per output over its partial accumulators.
  template <class P> static ND_FN void second(const P& p) {
    for (int64_t output = WarpGroup::item(); output < p.outputs; output += WarpGroup::items()) {
      const A* partial = static_cast<const A*>(p.partial) + output * p.splits;
      A acc = Body::template identity<A>();
      for (int64_t s = WarpGroup::rank(); s < p.splits; s += kWarp) acc = Body::combine(acc, partial[s]);
      acc = WarpGroup::reduce<Body>(acc);
      if (WarpGroup::rank() == 0) finish(p, Index(output), acc);
    }
  }
};

}  // namespace catena::device
