// The launch skeleton that searches for integers which break their rule. The first one that a thread finds is written
// to a record in host memory, unless the record holds one already.
#pragma once

#include <catena/kernels/device/lane.h>

namespace catena::device {

template <class I, class Index, int Rank> struct IndexCheck {
  static ND_FN void report(IndexRecord* record, I v, const IndexRule& rule, const char* name) {
    if (atomicCAS(&record->state, IndexRecord::empty, IndexRecord::claimed) != IndexRecord::empty) return;
    record->value = int64_t(v);
    record->is_unsigned = is_unsigned_int<I>;
    record->rule = rule;
    record->name = name;
    // The host reads the record as soon as it is marked complete.
    __threadfence_system();
    atomicExch(&record->state, IndexRecord::complete);
  }

  template <class P> static ND_FN void run(const P& p) {
    const Index n = Index(p.n), step = Index(gridDim.x) * blockDim.x;
    for (Index i = Index(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) {
      const I v =
          *reinterpret_cast<const I*>(static_cast<const char*>(p.in) + offset_of<Rank>(i, p.length, p.stride, p.rank));
      if (breaks(v, p.rule)) return report(p.record, v, p.rule, p.name);
    }
  }
};

}  // namespace catena::device
