// Launch skeleton of joining arrays along an axis, with one thread per element of the output.
#pragma once

#include <catena/kernels/device/lane.h>

namespace catena::device {

// Elements are only moved, so they are copied as words of their size, or as wider words.
template <int Bytes, class P> ND_FN void join(const P& p) {
  const int64_t n = p.rows * p.columns, step = int64_t(gridDim.x) * kBlock;
  for (int64_t i = int64_t(blockIdx.x) * kBlock + threadIdx.x; i < n; i += step) {
    const int64_t row = i / p.columns, column = i - row * p.columns;
    int low = 0, high = int(p.pieces) - 1;  // the first piece that ends behind the column
    while (low < high) {
      const int middle = (low + high) / 2;
      if (column < p.piece[middle].end) high = middle;
      else low = middle + 1;
    }
    const JoinPiece& from = p.piece[low];
    const int64_t c = column - (low > 0 ? p.piece[low - 1].end : 0), along = c / p.inner, behind = c - along * p.inner;
    *reinterpret_cast<Word<Bytes>*>(static_cast<char*>(p.out) + row * p.pitch + column * Bytes) =
        *reinterpret_cast<const Word<Bytes>*>(static_cast<const char*>(from.data) + row * from.row +
                                              along * from.along + behind * from.behind);
  }
}

}  // namespace catena::device
