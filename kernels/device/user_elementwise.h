// The loop of an ElementwiseKernel. The generated function contains `for (Loop _ind(...); _ind.more(); _ind.next())`.
#pragma once

#include <catena/kernels/device/user_types.h>

namespace catena::user {

template <int Rank, class Width> struct Loop : Position<Rank> {
  Range<Rank, Width> range;
  Share<kElementwiseBlock> share;

  ND_FN explicit Loop(const Range<Rank, Width>& r) : range(r), share(r.size) {
    this->total = r.size;
    this->position = share.begin;
    locate<Rank, Width>(share.begin, range.shape, this->coordinates);
  }
  ND_FN bool more() const { return this->position < share.end; }
  ND_FN void next() {
    this->position += share.step();
#if defined(CATENA_USER_HOST)
    advance<Rank>(range.shape, this->coordinates);
#else
    locate<Rank, Width>(this->position, range.shape, this->coordinates);
#endif
  }
};

}  // namespace catena::user
