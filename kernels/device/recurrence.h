// The launch skeleton of recurrences: a program whose positions along the first axis are computed in order, because a
// position reads what earlier ones have written. All elements of a line, a position along the second axis, belong to
// one block, which waits for all its threads between two positions of the first axis; lines do not depend on each
// other.
#pragma once

#include <catena/kernels/device/elementwise.h>

namespace catena::device {

// The compiler does not move loads behind this call, to where their values are used: a step waits once for memory.
ND_FN void wait_for_all_at_once() { asm volatile("" ::: "memory"); }

template <class Program, class Index, int Rank, class P, int... K, class... L>
ND_FN void run_recurrence(const P& p, Indices<K...>, L... lane) {
  using Offset = typename signed_of<Index>::type;
  const Index steps = Index(p.length[0]), lines = Index(p.length[1]), n = Index(p.n) / steps / lines;
  for (Index line = blockIdx.x; line < lines; line += gridDim.x)
    for (Index t = 0; t < steps; ++t) {
      for (Index i = threadIdx.x; i < n; i += blockDim.x) {
        Offset offset[sizeof...(L)] = {};
        ((L::advances ? void(offset[K] = Offset(t) * Offset(p.stride[K][0]) + Offset(line) * Offset(p.stride[K][1]))
                      : void()),
         ...);
        for_each_axis<Rank - 2>(i, p.length + 2, 0, [&](int a, Index c) {
          ((L::advances ? void(offset[K] += Offset(c) * Offset(p.stride[K][a + 2])) : void()), ...);
        });
        (lane.move(offset[K]), ...);
        (lane.template fetch<1>(), ...);
        wait_for_all_at_once();
        Program::run(lane(0)...);
        (lane.template flush<1>(), ...);
      }
      __syncthreads();
    }
}
template <class Program, class Index, int Rank, class P, class... Tag, int... K>
ND_FN void recurrence_over(const P& p, Indices<K...> all) {
  run_recurrence<Program, Index, Rank>(p, all, typename Tag::template lane<1>(p, K)...);
}
template <class Program, class Index, int Rank, class... Tag, class P> ND_FN void recurrence(const P& p) {
  recurrence_over<Program, Index, Rank, P, Tag...>(p, make_indices<int(sizeof...(Tag))>{});
}

}  // namespace catena::device
