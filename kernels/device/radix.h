// Launch skeletons for rows that are longer than a block can sort: a stable radix sort, and a division by pivots, which
// are the elements at given positions of the sorted row.
//
// One kernel counts all digits of a row. A pass of the sort, from the least significant digit on, moves every element
// to the bin of its digit: a block sorts a piece in shared memory and stores it as one run per bin. The start of each
// run is the number of elements of the bin in earlier pieces. It is found by decoupled look-back (Merrill and Garland,
// Single-pass Parallel Prefix Scan with Decoupled Look-back): the block of a piece stores the counts of its piece,
// loads the counts of earlier pieces until it has their sum, and stores the counts of all pieces up to its own. Loads
// are repeated until the counts of a piece are there. Blocks take the numbers of their pieces from a counter, so that
// these loads concern only blocks that already run. Places depend only on the elements, whichever block moves them. A
// pass over a digit that is the same in the whole row does nothing, but for the last pass if all digits are the same;
// every pass loads the counts of all digits to know which passes move elements. Elements are moved as they are, since
// equal keys (zeros, NaN) may have different bits.
//
// Pivots are found from the most significant digit on: each pass counts one digit of the elements whose higher digits
// are those of the pivot. One pass of the same kind as above then moves the elements into bins: those before, equal to
// and behind each pivot.
#pragma once

#include <catena/kernels/device/nonzero.h>
#include <catena/kernels/device/sort.h>

namespace catena::device {

// Blocks per multiprocessor for which a thread that moves elements has registers: for 16 elements, and for places or
// for elements of 8 bytes. The code of later architectures needs more of them.
#if CATENA_DEVICE && __CUDA_ARCH__ >= 1000
enum : int { kMovers = 2, kWideMovers = 1 };
#else
enum : int { kMovers = 3, kWideMovers = 2 };
#endif

// A mask of the lanes of the warp that have the same bin as this lane.
ND_FN uint32_t peers_of(int bin) {
  uint32_t peers = 0xffffffffu;
  ND_UNROLL
  for (int bit = 0; bit < 8; ++bit) {
    uint32_t same;
#if CATENA_DEVICE
    // The compiler tests the bit twice, once for the ballot and once for the complement.
    asm volatile(
        "{ .reg .pred p; .reg .b32 b; and.b32 b, %1, %2; setp.ne.u32 p, b, 0;"
        " vote.sync.ballot.b32 %0, p, 0xffffffff; @!p not.b32 %0, %0; }"
        : "=r"(same)
        : "r"(bin), "r"(1 << bit));
#else
    const bool is_set = ((bin >> bit) & 1) != 0;
    const uint32_t set = ballot(is_set);
    same = is_set ? set : ~set;
#endif
    peers &= same;
  }
  return peers;
}

// State: an unsigned integer for a count and two bits. Places: the result is positions.
template <class T, class State, bool Places, int Rank> struct Radix {
  using Bits = typename key_bits<T>::type;
  using P = RadixParameters<Rank == 0 ? kGenericRank : Rank>;
  enum : int {
    kNumber = int(sizeof(T)),  // digits of a key
    kWarps = kBlock / kWarp,
    kItems = kSortPiece / kBlock,                            // elements per thread
    kStaged = sizeof(T) < 4 && Places ? 4 : int(sizeof(T)),  // bytes of an element in shared memory
    kVector = kAccess / int(sizeof(T)),                      // elements that are loaded at once
    kWindow = 8,                                             // states that are read at once
    kFlag = 8 * int(sizeof(State)) - 2                       // position of the two bits of a state
  };
  enum : uint32_t { own = 1, all = 2 };  // these bits: the count is that of the piece, or of all pieces up to it

  static ND_FN const char* row_of(const P& p, int64_t row) {
    return static_cast<const char*>(p.in) + offset_of<Rank>(uint64_t(row), p.length, p.in_stride, p.rank);
  }
  static ND_FN char* result_of(const P& p, int64_t row) {
    return static_cast<char*>(p.out) + offset_of<Rank>(uint64_t(row), p.length, p.out_stride, p.rank);
  }
  static ND_FN int digit_of(Bits key, int64_t digit) { return int((key >> (8 * digit)) & Bits(kDigits - 1)); }
  static ND_FN uint32_t* counts_of(const P& p, int64_t row, int64_t digit, int64_t pivot) {
    return p.counts + kTaken + ((row * kNumber + digit) * p.pivots + pivot) * kDigits;
  }

  // ---- counting ---------------------------------------------------------------------------------
  static ND_FN T value_of(T v) { return v; }
  static ND_FN bool value_of(BoolByte b) { return b.byte != 0; }

  // Calls act(element) for the elements of a part of a row. `Loads` wide loads are in flight.
  template <int Loads, class Act> static ND_FN void each(const P& p, int64_t row, int64_t begin, int64_t end, Act act) {
    const char* const in = row_of(p, row);
    int64_t i = begin + threadIdx.x;
    if (is_vector<kVector, T>(in, p.in_step)) {
      const int64_t thread = begin + int64_t(threadIdx.x) * kVector, step = int(kBlock) * kVector;
      loaded_t<T> raw[Loads][kVector];
      int64_t at = thread;
      for (; at + (Loads - 1) * step + kVector <= end; at += Loads * step) {
        ND_UNROLL
        for (int k = 0; k < Loads; ++k) read<kVector>(raw[k], in + (at + k * step) * int64_t(sizeof(T)));
        ND_UNROLL
        for (int k = 0; k < Loads; ++k) {
          ND_UNROLL
          for (int j = 0; j < kVector; ++j) act(value_of(raw[k][j]));
        }
      }
      for (; at + kVector <= end; at += step) {
        read<kVector>(raw[0], in + at * int64_t(sizeof(T)));
        ND_UNROLL
        for (int j = 0; j < kVector; ++j) act(value_of(raw[0][j]));
      }
      i = begin + (end - begin) / kVector * kVector + threadIdx.x;
    }
    for (; i < end; i += kBlock) act(element<T>(in + i * p.in_step));
  }

  // The part of a row with that number among all parts of all rows.
  struct Part {
    int64_t row, begin, end;
  };
  static ND_FN Part part_of(const P& p, int64_t item) {
    const int64_t row = item / p.splits, begin = item % p.splits * p.part, end = begin + p.part;
    return {row, begin, end < p.count ? end : p.count};
  }

  static ND_FN void count(const P& p) {
    __shared__ uint32_t found[kNumber][kDigits];
    for (int64_t item = blockIdx.x; item < p.rows * p.splits; item += gridDim.x) {
      const Part part = part_of(p, item);
      ND_UNROLL
      for (int d = 0; d < kNumber; ++d) found[d][threadIdx.x] = 0;
      __syncthreads();
      each<4>(p, part.row, part.begin, part.end, [&](T v) {
        const Bits key = sort_key(v);
        ND_UNROLL
        for (int d = 0; d < kNumber; ++d) atomicAdd(&found[d][digit_of(key, d)], 1u);
      });
      __syncthreads();
      for (int d = 0; d < kNumber; ++d) {
        const uint32_t n = found[d][threadIdx.x];
        if (n != 0) atomicAdd(counts_of(p, part.row, d, 0) + threadIdx.x, n);
      }
    }
  }

  // Sets `pivot` to the pivots of a row after `known` > 0 digits: the digit last counted is that whose bin has the
  // position of the pivot.
  static ND_FN void settle(const P& p, int64_t row, int64_t known, Pivot* pivot) {
    __syncthreads();  // all threads have read the pivots of another row from here
    for (int64_t j = 0; j < p.pivots; ++j) {
      const Pivot before =
          known == 1 ? Pivot{0, uint32_t(p.kth[j]), 0} : p.found[(row * kNumber + known - 1) * p.pivots + j];
      const uint32_t here = counts_of(p, row, kNumber - known, known == 1 ? 0 : j)[threadIdx.x];
      uint32_t below = 0;
      BlockGroup::scan<Plus>(here, below);
      if (below <= before.rank && before.rank - below < here)
        pivot[j] = {before.prefix << 8 | threadIdx.x, before.rank - below, here};
    }
    __syncthreads();
  }

  static ND_FN void select_count(const P& p) {
    __shared__ uint32_t found[kPivots][kDigits];
    __shared__ Pivot pivot[kPivots];
    const int64_t known = kNumber - 1 - p.digit;
    const int pivots = known == 0 ? 1 : int(p.pivots);  // no digit is known: the counts are the same for all pivots
    int64_t settled = -1;
    for (int64_t item = blockIdx.x; item < p.rows * p.splits; item += gridDim.x) {
      const Part part = part_of(p, item);
      if (known > 0 && part.row != settled) settle(p, part.row, known, pivot);
      settled = part.row;
      if (known > 0 && part.begin == 0 && threadIdx.x < p.pivots)
        p.found[(part.row * kNumber + known) * p.pivots + threadIdx.x] = pivot[threadIdx.x];
      for (int j = 0; j < pivots; ++j) found[j][threadIdx.x] = 0;
      __syncthreads();
      each<2>(p, part.row, part.begin, part.end, [&](T v) {
        const Bits key = sort_key(v);
        for (int j = 0; j < pivots; ++j)
          if (known == 0 || Bits(key >> (8 * (p.digit + 1))) == Bits(pivot[j].prefix))
            atomicAdd(&found[j][digit_of(key, p.digit)], 1u);
      });
      __syncthreads();
      for (int j = 0; j < pivots; ++j) {
        const uint32_t n = found[j][threadIdx.x];
        if (n != 0) atomicAdd(counts_of(p, part.row, p.digit, j) + threadIdx.x, n);
      }
    }
  }

  // ---- moving -----------------------------------------------------------------------------------
  // A pass over a row. `number` is the number of passes before it that move elements of the row: the first one reads
  // the input, the last one writes the output.
  struct Pass {
    bool moves, last;
    int number;
  };
  static ND_FN T* values_of(const P& p, int64_t row, int64_t half) {
    return static_cast<T*>(p.values) + (half * p.rows + row) * p.count;
  }
  static ND_FN uint32_t* places_of(const P& p, int64_t row, int64_t half) {
    return p.places + (half * p.rows + row) * p.count;
  }
  // The states of this thread's bin; those of the next piece are kDigits behind.
  static ND_FN State* states_of(const P& p, int64_t row, int64_t half) {
    return static_cast<State*>(p.states) + (half * p.rows + row) * p.pieces * kDigits + threadIdx.x;
  }
  static ND_FN void publish(State* at, uint32_t n, uint32_t flag) {
    *static_cast<volatile State*>(at) = State(State(flag) << kFlag | n);
  }
  // The number of elements of the bin before the piece, from the states of earlier pieces. Waits for them.
  static ND_FN uint32_t look_back(const State* states, int64_t piece) {
    uint32_t sum = 0;
    for (int64_t at = piece - 1;;) {
      State seen[kWindow];
      ND_UNROLL
      for (int w = 0; w < kWindow; ++w)
        seen[w] = *static_cast<const volatile State*>(states + (at > w ? at - w : 0) * kDigits);
      bool ready = true, done = false;
      int used = 0;
      ND_UNROLL
      for (int w = 0; w < kWindow; ++w) {
        const uint32_t flag = uint32_t(seen[w] >> kFlag);
        ready = ready && !done && flag != 0;
        if (!ready) continue;
        sum += uint32_t(seen[w] & ((State(1) << kFlag) - 1));
        done = flag == all;
        ++used;
      }
      if (done) return sum;
      at -= used;
    }
  }

  // The shared memory of a block that moves a piece.
  struct Memory {
    alignas(16) unsigned char staged[int(kSortPiece) * kStaged];
    uint32_t found[kWarps][kDigits];  // elements of the bin per warp, then the slot of the first of them
    uint32_t to[kDigits];             // added to a slot of the bin, it is the place in the row
  };

  // Sets slot[j] to the bin of value[j], in the high half, and the number of earlier elements of the bin in the warp.
  template <class Bin>
  static ND_FN void rank(Memory& m, const T* value, uint32_t* slot, int first, int valid, Bin bin) {
    const int warp = int(threadIdx.x) / kWarp;
    ND_UNROLL
    for (int j = 0; j < kItems; ++j) {
      // Behind the end of the row: behind all elements of the last bin.
      const int of_value = bin(sort_key(value[j])), b = first + j * kWarp < valid ? of_value : kDigits - 1;
      const uint32_t peers = peers_of(b), below = uint32_t(rank_among(peers)), before = m.found[warp][b];
      slot[j] = uint32_t(b) << 16 | (before + below);
      __syncwarp();
      if (below == 0) m.found[warp][b] = before + uint32_t(__popc(peers));
      __syncwarp();
    }
  }

  // bin(key): the bin of an element. start(): the start of this thread's bin in the row; called by all threads.
  template <class Bin, class Start>
  static ND_FN void move_piece(const P& p, const Pass& pass, int64_t row, int64_t piece, Bin bin, Start start) {
    __shared__ Memory m;
    const int warp = int(threadIdx.x) / kWarp, first = warp * kItems * kWarp + int(threadIdx.x) % kWarp;
    const int64_t begin = piece * kSortPiece, rest = p.count - begin;
    const int valid = rest < kSortPiece ? int(rest) : int(kSortPiece);
    ND_UNROLL
    for (int w = 0; w < kWarps; ++w) m.found[w][threadIdx.x] = 0;
    T value[kItems] = {};
    const int number = pass.number;
    const bool last = pass.last;
    const int64_t step = number == 0 ? p.in_step : int64_t(sizeof(T));
    const char* const from =
        number == 0 ? row_of(p, row) : reinterpret_cast<const char*>(values_of(p, row, (number + 1) % 2));
    ND_UNROLL
    for (int j = 0; j < kItems; ++j) {
      const int64_t i = begin + first + j * kWarp;
      if (first + j * kWarp < valid) value[j] = element<T>(from + i * step);
    }
    __syncthreads();
    uint32_t slot[kItems];
    rank(m, value, slot, first, valid, bin);
    __syncthreads();

    uint32_t here = 0;
    ND_UNROLL
    for (int w = 0; w < kWarps; ++w) {
      const uint32_t n = m.found[w][threadIdx.x];
      m.found[w][threadIdx.x] = here;
      here += n;
    }
    const uint32_t count = here - (threadIdx.x == kDigits - 1 ? uint32_t(kSortPiece - valid) : 0u);
    State* const states = states_of(p, row, number % 2);
    if (piece > 0) publish(states + piece * kDigits, count, own);
    if (!last) states_of(p, row, (number + 1) % 2)[piece * kDigits] = 0;
    uint32_t slots = 0;
    BlockGroup::scan<Plus>(here, slots);
    ND_UNROLL
    for (int w = 0; w < kWarps; ++w) m.found[w][threadIdx.x] += slots;
    const uint32_t before = piece > 0 ? look_back(states, piece) : start();
    publish(states + piece * kDigits, before + count, all);
    m.to[threadIdx.x] = before - slots;
    __syncthreads();

    T* const staged = reinterpret_cast<T*>(m.staged);
    ND_UNROLL
    for (int j = 0; j < kItems; ++j) {
      slot[j] = (slot[j] & 0xffffu) + m.found[warp][slot[j] >> 16];
      if (first + j * kWarp < valid) staged[slot[j]] = value[j];
    }
    __syncthreads();
    uint32_t to[kItems];
    char* const out = last ? result_of(p, row) : reinterpret_cast<char*>(values_of(p, row, number % 2));
    const int64_t out_step = last ? p.out_step : int64_t(sizeof(T));
    ND_UNROLL
    for (int j = 0; j < kItems; ++j) {
      const int s = int(threadIdx.x) + j * kBlock;
      if (s >= valid) continue;
      const T v = staged[s];
      to[j] = m.to[bin(sort_key(v))] + uint32_t(s);
      if (!Places || !last) *reinterpret_cast<T*>(out + int64_t(to[j]) * out_step) = v;
    }
    __syncthreads();
    if constexpr (Places) move_places(m, p, number, last, row, begin, first, valid, slot, to);
  }

  // Moves the places of the elements, which were moved from `slot` in the piece to `to` in the row.
  static ND_FN void move_places(Memory& m, const P& p, int number, bool last, int64_t row, int64_t begin, int first,
                                int valid, const uint32_t* slot, const uint32_t* to) {
    uint32_t* const staged = reinterpret_cast<uint32_t*>(m.staged);
    const uint32_t* const from = places_of(p, row, (number + 1) % 2) + begin;
    ND_UNROLL
    for (int j = 0; j < kItems; ++j) {
      const int i = first + j * kWarp;
      if (i < valid) staged[slot[j]] = number > 0 ? from[i] : uint32_t(begin) + uint32_t(i);
    }
    __syncthreads();
    uint32_t* const next = places_of(p, row, number % 2);
    char* const out = result_of(p, row);
    ND_UNROLL
    for (int j = 0; j < kItems; ++j) {
      const int s = int(threadIdx.x) + j * kBlock;
      if (s >= valid) continue;
      if (last) *reinterpret_cast<int64_t*>(out + int64_t(to[j]) * p.out_step) = int64_t(staged[s]);
      else next[to[j]] = staged[s];
    }
    __syncthreads();
  }

  // Calls act(row, piece) for the pieces that this block takes.
  template <class Act> static ND_FN void each_piece(const P& p, Act act) {
    __shared__ uint32_t taken;
    for (;;) {
      if (threadIdx.x == 0) taken = atomicAdd(p.counts + p.digit, 1u);
      __syncthreads();
      const uint32_t item = taken, pieces = uint32_t(p.pieces);
      __syncthreads();
      if (item >= p.rows * p.pieces) return;
      act(int64_t(item / pieces), int64_t(item % pieces));
    }
  }

  // The elements of a row are moved by a digit in which they differ, or by the last one if they differ in none.
  static ND_FN Pass pass_over(const P& p, int64_t row) {
    const Bits key = sort_key(element<T>(row_of(p, row)));
    int before = 0, behind = 0;
    bool moves = false;
    ND_UNROLL
    for (int d = 0; d < kNumber; ++d) {
      const bool differs = counts_of(p, row, d, 0)[digit_of(key, d)] != uint32_t(p.count);
      before += differs && d < p.digit;
      behind += differs && d > p.digit;
      moves = moves || (differs && d == p.digit);
    }
    if (before + behind == 0) moves = moves || p.digit == kNumber - 1;
    return {moves, behind == 0, before};
  }

  static ND_FN void move(const P& p) {
    __shared__ Pass pass;
    int64_t begun = -1;
    each_piece(p, [&](int64_t row, int64_t piece) {
      if (row != begun) {
        if (threadIdx.x == 0) pass = pass_over(p, row);
        __syncthreads();
      }
      begun = row;
      if (!pass.moves) return;
      move_piece(
          p, pass, row, piece, [&](Bits key) { return digit_of(key, p.digit); },
          [&] {
            uint32_t before = 0;
            BlockGroup::scan<Plus>(counts_of(p, row, p.digit, 0)[threadIdx.x], before);
            return before;
          });
    });
  }

  // Bin 2j: the elements between pivots j - 1 and j; bin 2j + 1: those equal to pivot j, if none before it is equal.
  static ND_FN void select_move(const P& p) {
    __shared__ Pivot pivot[kPivots];
    const int pivots = int(p.pivots);
    int64_t settled = -1;
    each_piece(p, [&](int64_t row, int64_t piece) {
      if (row != settled) settle(p, row, kNumber, pivot);
      settled = row;
      const Pass pass{true, true, 0};
      move_piece(
          p, pass, row, piece,
          [&](Bits key) {
            int below = 0, equal = 0;
            for (int j = 0; j < pivots; ++j) {
              const Bits of_pivot = Bits(pivot[j].prefix);
              below += of_pivot < key;
              equal |= of_pivot == key;
            }
            return 2 * below + equal;
          },
          [&]() -> uint32_t {
            const int bin = int(threadIdx.x), j = bin % 2 != 0 ? bin / 2 : bin / 2 - 1;
            if (bin == 0 || bin > 2 * pivots) return 0;
            return uint32_t(p.kth[j]) - pivot[j].rank + (bin % 2 != 0 ? 0 : pivot[j].equal);
          });
    });
  }
};

}  // namespace catena::device
