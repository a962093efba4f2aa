// Launch skeletons of scans along rows, with the bodies of reductions. A long row is divided into pieces. The kernels
// compute first the result of every piece alone, then the combination of the pieces before each piece, then the
// elements. Earlier elements are always the left operand of a combination.
#pragma once

#include <catena/kernels/device/reduction.h>

namespace catena::device {

template <class Body, class StoredIn, class T, class StoredOut, class R, int Rank> struct Scan {
  using A = typename Body::template accumulator<compute_t<T>, compute_t<R>>;
  using P = ScanParameters<Rank == 0 ? kGenericRank : Rank>;
  enum : int { kItems = 4 };  // neighbouring elements per thread

  // A piece of a row.
  struct Piece {
    const char* in;
    char* out;
    A* partial;
    int64_t begin, end;
    bool first;  // the first piece of its row: no carry is combined with it
  };
  static ND_FN Piece piece_of(const P& p, int64_t row, int64_t number) {
    int64_t in = 0, out = 0;
    for_each_axis<Rank>(uint64_t(row), p.length, p.rank, [&](int a, uint64_t c) {
      in += int64_t(c) * p.in_stride[a];
      out += int64_t(c) * p.out_stride[a];
    });
    const int64_t begin = number * p.piece, end = begin + p.piece;
    return {static_cast<const char*>(p.in) + in,
            static_cast<char*>(p.out) + out,
            static_cast<A*>(p.partial) + row * p.splits + number,
            begin,
            end < p.count ? end : p.count,
            number == 0};
  }
  static ND_FN A value(const P& p, const Piece& piece, int64_t i) {
    return Body::template map<A>(element_at<StoredIn, T>(piece.in, i * p.in_step), i);
  }
  static ND_FN void put(const P& p, const Piece& piece, int64_t i, const A& acc) {
    *reinterpret_cast<StoredOut*>(piece.out + i * p.out_step) =
        from_slot<StoredOut, R>(Body::template finish<compute_t<R>>(acc, i + 1));
  }

  // One block per piece of a row.
  static ND_FN void rows(const P& p) {
    alignas(16) __shared__ unsigned char memory[sizeof(A)];
    A* last = reinterpret_cast<A*>(memory);
    for (int64_t item = blockIdx.x; item < p.rows * p.splits; item += gridDim.x) {
      const Piece piece = piece_of(p, item / p.splits, item % p.splits);
      bool carried = !piece.first;
      A carry = carried ? *piece.partial : Body::template identity<A>();
      for (int64_t base = piece.begin; base < piece.end; base += kBlock * kItems) {
        const int64_t first = base + int64_t(threadIdx.x) * kItems;
        A of_item[kItems];
        ND_UNROLL
        for (int j = 0; j < kItems; ++j) {
          of_item[j] = first + j < piece.end ? value(p, piece, first + j) : Body::template identity<A>();
          if (j > 0) of_item[j] = Body::combine(of_item[j - 1], of_item[j]);
        }
        A before = carry;
        BlockGroup::scan<Body>(of_item[kItems - 1], before);
        if (carried && threadIdx.x > 0) before = Body::combine(carry, before);
        ND_UNROLL
        for (int j = 0; j < kItems; ++j) {
          if (carried || threadIdx.x > 0) of_item[j] = Body::combine(before, of_item[j]);
          if (first + j < piece.end) put(p, piece, first + j, of_item[j]);
        }
        if (threadIdx.x == kBlock - 1) *last = of_item[kItems - 1];
        __syncthreads();
        carry = *last;
        carried = true;
      }
    }
  }
  static ND_FN void row_sums(const P& p) {
    for (int64_t item = blockIdx.x; item < p.rows * p.splits; item += gridDim.x) {
      const Piece piece = piece_of(p, item / p.splits, item % p.splits);
      A acc = Body::template identity<A>();
      for (int64_t i = piece.begin + threadIdx.x; i < piece.end; i += kBlock)
        acc = Body::combine(acc, value(p, piece, i));
      acc = BlockGroup::reduce<Body>(acc);
      if (threadIdx.x == 0) *piece.partial = acc;
    }
  }

  // Calls act(piece) for every piece of a row, with one thread per piece.
  template <class Act> static ND_FN void each_thread(const P& p, Act act) {
    for (int64_t item = int64_t(blockIdx.x) * kBlock + threadIdx.x; item < p.rows * p.splits;
         item += int64_t(gridDim.x) * kBlock)
      act(piece_of(p, item % p.rows, item / p.rows));
  }
  static ND_FN void columns(const P& p) {
    each_thread(p, [&](const Piece& piece) {
      int64_t i = piece.begin;
      if (i >= piece.end) return;
      A acc = value(p, piece, i);
      if (!piece.first) acc = Body::combine(*piece.partial, acc);
      put(p, piece, i, acc);
      while (++i < piece.end) {
        acc = Body::combine(acc, value(p, piece, i));
        put(p, piece, i, acc);
      }
    });
  }
  static ND_FN void column_sums(const P& p) {
    each_thread(p, [&](const Piece& piece) {
      A acc = Body::template identity<A>();
      for (int64_t i = piece.begin; i < piece.end; ++i) acc = Body::combine(acc, value(p, piece, i));
      *piece.partial = acc;
    });
  }

  // One block per row: replaces the result of each piece by the combination of all pieces before it.
  static ND_FN void carries(const P& p) {
    alignas(16) __shared__ unsigned char memory[sizeof(A)];
    A* last = reinterpret_cast<A*>(memory);
    for (int64_t row = blockIdx.x; row < p.rows; row += gridDim.x) {
      A* partial = static_cast<A*>(p.partial) + row * p.splits;
      A carry = Body::template identity<A>();
      for (int64_t base = 0; base < p.splits; base += kBlock) {
        const int64_t s = base + threadIdx.x;
        const A own = s < p.splits ? partial[s] : Body::template identity<A>();
        A before = carry;
        BlockGroup::scan<Body>(own, before);
        if (base > 0 && threadIdx.x > 0) before = Body::combine(carry, before);
        if (s < p.splits) partial[s] = before;
        if (threadIdx.x == kBlock - 1) *last = Body::combine(before, own);
        __syncthreads();
        carry = *last;
      }
    }
  }
};

}  // namespace catena::device
