// The loop of an ElementwiseKernel. The generated function contains `for (Loop _ind(...); _ind.more(); _ind.next())`.
// On a device a thread visits its positions in steps of the grid size; on the host a call visits a range.
#pragma once

#include <catena/kernels/device/user_types.h>

namespace catena::user {

// A contiguous operand.
template <class T> struct Flat {
  T* data;
  template <class L> ND_FN T& at(const L& loop) const { return data[loop.position]; }
};
// An operand of any strides (bytes).
template <class T, int Rank> struct Strided {
  T* data;
  int64 strides[Rank];
  template <class L> ND_FN T& at(const L& loop) const {
    return element(data, offset_at<Rank>(loop.coordinates, strides));
  }
};

template <int Rank, class Width> struct Loop {
  Range<Rank, Width> range;
  int64 position, end, step;
  int64 coordinates[Rank];

#if defined(CATENA_USER_HOST)
  ND_FN Loop(const Range<Rank, Width>& r, int64 begin, int64 last) : range(r), position(begin), end(last), step(1) {
    locate<Rank, Width>(position, range.shape, coordinates);
  }
  ND_FN void next() {
    ++position;
    if constexpr (Rank == 1) coordinates[0] = position;
    else advance<Rank>(range.shape, coordinates);
  }
#else
  ND_FN explicit Loop(const Range<Rank, Width>& r)
      : range(r),
        position(int64(blockIdx.x) * blockDim.x + threadIdx.x),
        end(r.size),
        step(int64(gridDim.x) * blockDim.x) {
    locate<Rank, Width>(position, range.shape, coordinates);
  }
  ND_FN void next() {
    position += step;
    locate<Rank, Width>(position, range.shape, coordinates);
  }
#endif
  ND_FN bool more() const { return position < end; }
  ND_FN int64 size() const { return range.size; }
  ND_FN const int64* get() const { return coordinates; }  // the position along each axis
};

}  // namespace catena::user
