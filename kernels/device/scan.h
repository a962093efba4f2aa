// Launch skeletons of scans along rows, with the bodies of reductions. Earlier elements are always the left operand of
// a combination.
//
// A long row is divided into pieces. If neighbouring threads read neighbouring rows, the kernels compute first the
// result of every piece alone, then the combination of the pieces before each piece, then the elements. If a block
// reads a piece, it keeps the elements in registers, publishes the result of the piece and waits for those of earlier
// pieces (chain). Pieces form groups of kWarp. The result before a piece is that before its group, combined with the
// scan of the pieces of its group, and the result up to a group is that before it, combined with that of the group: the
// same expression, however many groups a block finds combined already, so that every run gives the same bits. Blocks
// take the numbers of their pieces from a counter, so that a block waits only for blocks that already run.
#pragma once

#include <catena/kernels/device/reduction.h>

namespace catena::device {

// Rounds: in a chain, the vectors of neighbouring elements that a thread keeps in registers.
template <class Body, class StoredIn, class T, class StoredOut, class R, int Rank, int Rounds = 1> struct Scan {
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

  // ---- chains -----------------------------------------------------------------------------------
  enum : int {
    kWarps = kBlock / kWarp,
    kWide = kAccess / int(sizeof(StoredIn) > sizeof(StoredOut) ? sizeof(StoredIn) : sizeof(StoredOut)),
    kRounds = Rounds,
    kOfWarp = kRounds * kWide * int(kWarp)  // elements
  };
  enum : uint32_t { own = 1, all = 2 };  // flags: the result is that of the group, or of all groups up to it

  static ND_FN uint32_t read_flag(const uint32_t* flag) { return *static_cast<const volatile uint32_t*>(flag); }
  static ND_FN void publish(A* at, const A& v, uint32_t* flag, uint32_t state) {
    *at = v;
    __threadfence();
    *static_cast<volatile uint32_t*>(flag) = state;
  }
  static ND_FN A scan_warp(A v) {
    const int lane = int(threadIdx.x) % kWarp;
    ND_UNROLL
    for (int distance = 1; distance < kWarp; distance *= 2) {
      const A below = shuffle_up(v, distance);
      if (lane >= distance) v = Body::combine(below, v);
    }
    return v;
  }

  // The result of all groups before `group`, which is not the first one. Waits for it.
  static ND_FN A before_group(const A* of_group, const A* through, const uint32_t* flags, int64_t group) {
    const int lane = int(threadIdx.x) % kWarp;
    const int64_t at = group - 1 - lane;
    int nearest = 0;
    for (bool found = false; !found;) {
      const uint32_t flag = at >= 0 ? read_flag(flags + at) : 0;
      const uint32_t complete = __ballot_sync(0xffffffffu, flag == all), some = __ballot_sync(0xffffffffu, flag != 0);
      nearest = __ffs(int(complete)) - 1;
      const uint32_t needed = nearest < 0 ? 0 : (1u << nearest) - 1;
      found = nearest >= 0 && (some & needed) == needed;
    }
    __threadfence();
    const A of_lane = lane <= nearest ? (lane == nearest ? through[at] : of_group[at]) : Body::template identity<A>();
    A before = shuffle_from(of_lane, nearest);
    for (int l = nearest - 1; l >= 0; --l) before = Body::combine(before, shuffle_from(of_lane, l));
    return before;
  }
  // Publishes the result of a piece and returns that of all pieces before it; of the first piece, an unspecified value.
  // Called by a warp.
  static ND_FN A before_piece(const P& p, int64_t row, int64_t number, const A& result) {
    const int lane = int(threadIdx.x) % kWarp, place = int(number % kWarp);
    const int64_t group = number / kWarp, first = group * kWarp;
    uint32_t *const flags = p.flags + kTaken + row * (p.splits + p.groups), *const group_flags = flags + p.splits;
    A* const pieces = static_cast<A*>(p.partial) + row * (p.splits + 2 * p.groups);
    A *const of_group = pieces + p.splits, *const through = of_group + p.groups;
    if (lane == 0) publish(pieces + number, result, flags + number, own);
    if (lane < place)
      while (read_flag(flags + first + lane) == 0) {}
    __threadfence();
    const A inside = scan_warp(lane < place ? pieces[first + lane] : result);
    const A up_to_here = shuffle_from(inside, place), earlier = shuffle_from(inside, place > 0 ? place - 1 : 0);
    const bool publishes = place == kWarp - 1 && lane == 0;
    if (group == 0) {
      if (publishes) publish(through, up_to_here, group_flags, all);
      return earlier;
    }
    if (publishes) publish(of_group + group, up_to_here, group_flags + group, own);
    const A before = before_group(of_group, through, group_flags, group);
    if (publishes) publish(through + group, Body::combine(before, up_to_here), group_flags + group, all);
    return place > 0 ? Body::combine(before, earlier) : before;
  }

  // The elements of a thread: kWide neighbours in each round; the lanes of a warp have neighbouring ones.
  static ND_FN void load_items(const P& p, const Piece& piece, int64_t first, bool whole, A (*of_item)[kWide]) {
    if (whole && is_vector<kWide, StoredIn>(piece.in, p.in_step)) {
      loaded_t<StoredIn> raw[kRounds][kWide];
      ND_UNROLL
      for (int r = 0; r < kRounds; ++r) read<kWide>(raw[r], piece.in + (first + r * kWide * kWarp) * p.in_step);
      ND_UNROLL
      for (int r = 0; r < kRounds; ++r) {
        ND_UNROLL
        for (int j = 0; j < kWide; ++j)
          of_item[r][j] = Body::template map<A>(to_slot<T>(raw[r][j]), first + r * kWide * kWarp + j);
      }
      return;
    }
    ND_UNROLL
    for (int r = 0; r < kRounds; ++r) {
      ND_UNROLL
      for (int j = 0; j < kWide; ++j) {
        const int64_t i = first + r * kWide * kWarp + j;
        of_item[r][j] = i < p.count ? value(p, piece, i) : Body::template identity<A>();
      }
    }
  }
  static ND_FN void store_items(const P& p, const Piece& piece, int64_t first, bool whole, const A (*of_item)[kWide]) {
    const bool vector = whole && is_vector<kWide, StoredOut>(piece.out, p.out_step);
    ND_UNROLL
    for (int r = 0; r < kRounds; ++r) {
      const int64_t begin = first + r * kWide * kWarp;
      if (vector) {
        StoredOut raw[kWide];
        ND_UNROLL
        for (int j = 0; j < kWide; ++j)
          raw[j] = from_slot<StoredOut, R>(Body::template finish<compute_t<R>>(of_item[r][j], begin + j + 1));
        write<kWide>(piece.out + begin * p.out_step, raw);
      } else {
        ND_UNROLL
        for (int j = 0; j < kWide; ++j)
          if (begin + j < p.count) put(p, piece, begin + j, of_item[r][j]);
      }
    }
  }

  // Scans one piece, with all results before it.
  static ND_FN void chain_piece(const P& p, int64_t row, int64_t number) {
    alignas(16) __shared__ unsigned char memory[(kWarps + 1) * sizeof(A)];
    A* const of_warp = reinterpret_cast<A*>(memory);
    const int warp = int(threadIdx.x) / kWarp, lane = int(threadIdx.x) % kWarp;
    const Piece piece = piece_of(p, row, number);
    const int64_t first = piece.begin + warp * kOfWarp + lane * kWide;
    const bool whole = piece.begin + kWarps * kOfWarp <= p.count;
    A of_item[kRounds][kWide], below[kRounds], total[kRounds];
    load_items(p, piece, first, whole, of_item);
    ND_UNROLL
    for (int r = 0; r < kRounds; ++r) {
      ND_UNROLL
      for (int j = 1; j < kWide; ++j) of_item[r][j] = Body::combine(of_item[r][j - 1], of_item[r][j]);
      const A scanned = scan_warp(of_item[r][kWide - 1]);
      below[r] = shuffle_up(scanned, 1);
      total[r] = shuffle_from(scanned, kWarp - 1);
    }
    A result = total[0];
    ND_UNROLL
    for (int r = 1; r < kRounds; ++r) result = Body::combine(result, total[r]);
    if (lane == 0) of_warp[warp] = result;
    __syncthreads();
    if (warp == 0) {
      result = of_warp[0];
      for (int w = 1; w < kWarps; ++w) result = Body::combine(result, of_warp[w]);
      const A before = before_piece(p, row, number, result);
      if (lane == 0) of_warp[kWarps] = before;
    }
    __syncthreads();
    A before = of_warp[kWarps];
    bool some = number > 0;
    for (int w = 0; w < warp; ++w) {
      before = some ? Body::combine(before, of_warp[w]) : of_warp[w];
      some = true;
    }
    ND_UNROLL
    for (int r = 0; r < kRounds; ++r) {
      const bool has_before = r > 0 || some;
      A left = before;
      if (lane > 0) left = has_before ? Body::combine(before, below[r]) : below[r];
      ND_UNROLL
      for (int j = 0; j < kWide; ++j)
        if (has_before || lane > 0) of_item[r][j] = Body::combine(left, of_item[r][j]);
      before = has_before ? Body::combine(before, total[r]) : total[r];
    }
    store_items(p, piece, first, whole, of_item);
  }
  static ND_FN void chain(const P& p) {
    __shared__ uint32_t taken;
    for (;;) {
      if (threadIdx.x == 0) taken = atomicAdd(p.flags, 1u);
      __syncthreads();
      const uint32_t item = taken, pieces = uint32_t(p.splits);
      if (item >= p.rows * p.splits) return;
      chain_piece(p, int64_t(item / pieces), int64_t(item % pieces));
      __syncthreads();
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
