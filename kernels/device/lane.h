// Lanes: an operand inside a kernel, with the address of its elements and their conversion to and from values of its
// slot.
//
// On load, an element of any stored dtype is converted to the dtype of the operand's slot and widened to its compute
// type. On store, the value is rounded to the slot and converted to the stored dtype.
#pragma once

#include <catena/kernels/device/half_pair.h>
#include <catena/kernels/device/parameters.h>
#include <catena/kernels/index.h>

namespace catena::device {

// ---- index sequences and a tuple, because NVRTC has no library for them -------------------------
template <int... K> struct Indices {};
template <int N, int... K> struct MakeIndices { using type = typename MakeIndices<N - 1, N - 1, K...>::type; };
template <int... K> struct MakeIndices<0, K...> { using type = Indices<K...>; };
template <int N> using make_indices = typename MakeIndices<N>::type;

template <int K, class L> struct HeldLane { L lane; };
template <class Seq, class... L> struct LaneSet;
template <int... K, class... L> struct LaneSet<Indices<K...>, L...> : HeldLane<K, L>... {
  ND_FN explicit LaneSet(L... lane) : HeldLane<K, L>{lane}... {}
};
template <int K, class L> ND_FN L& get(HeldLane<K, L>& held) { return held.lane; }

// ---- conversions --------------------------------------------------------------------------------
template <class Slot, class Stored> ND_FN compute_t<Slot> to_slot(Stored v) { return load(convert<Slot>(v)); }

// The byte of a bool that has been loaded together with its neighbours; see element() about bools.
struct BoolByte {
  uint8_t byte;
};
template <class Stored> using loaded_t = conditional_t<is_same<Stored, bool>, BoolByte, Stored>;
template <class Slot> ND_FN compute_t<Slot> to_slot(BoolByte b) { return to_slot<Slot>(b.byte != 0); }

template <class Stored, class Slot> ND_FN Stored from_slot(compute_t<Slot> v) {
  Slot s;
  store(s, v);
  return convert<Stored>(s);
}
// True if neighbouring elements are converted in pairs.
template <class Stored, class Slot>
concept in_pairs = sixteen_bit_float<Stored> &&(is_same<Slot, Stored> || is_same<Slot, float>);

// The values of W elements.
template <class Slot, int W, class Loaded> ND_FN void to_slots(compute_t<Slot>* value, const Loaded* raw) {
  if constexpr (in_pairs<Loaded, Slot> && W % 2 == 0) {
    ND_UNROLL
    for (int j = 0; j < W; j += 2) {
      uint32_t pair;
      memcpy(&pair, raw + j, sizeof pair);
      value[j] = low_of<Loaded>(pair);
      value[j + 1] = high_of<Loaded>(pair);
    }
  } else {
    ND_UNROLL
    for (int j = 0; j < W; ++j) value[j] = to_slot<Slot>(raw[j]);
  }
}
// W values as they are stored.
template <class Stored, class Slot, int W> ND_FN void from_slots(Stored* raw, const compute_t<Slot>* value) {
  if constexpr (in_pairs<Stored, Slot> && W % 2 == 0) {
    ND_UNROLL
    for (int j = 0; j < W; j += 2) {
      const uint32_t pair = exact_pair_of<Stored>(value[j], value[j + 1]);
      memcpy(raw + j, &pair, sizeof pair);
    }
  } else {
    ND_UNROLL
    for (int j = 0; j < W; ++j) raw[j] = from_slot<Stored, Slot>(value[j]);
  }
}
// Rounds a value to its slot, as if it had been stored and loaded again before a later step of the program reads it.
template <class Slot> ND_FN compute_t<Slot> rounded(compute_t<Slot> v) {
  Slot s;
  store(s, v);
  return load(s);
}
// Converts between a value of a slot and an operand of a loop of another dtype.
template <class To, class From> ND_FN compute_t<To> recast(compute_t<From> v) {
  if constexpr (is_same<compute_t<To>, compute_t<From>>) return v;
  else return load(convert<To>(v));
}

// ---- memory accesses of W elements at once ------------------------------------------------------
template <int Bytes> struct Word;
template <> struct Word<1> { uint8_t w; };
template <> struct Word<2> { uint16_t w; };
template <> struct Word<4> { uint32_t w; };
template <> struct alignas(8) Word<8> { uint32_t w[2]; };
template <> struct alignas(16) Word<16> { uint32_t w[4]; };

template <int W, class T> ND_FN void read(T* to, const char* from) {
  constexpr int bytes = W * int(sizeof(T)), step = bytes < kAccess ? bytes : kAccess;
  ND_UNROLL
  for (int b = 0; b < bytes; b += step) {
    const Word<step> word = *reinterpret_cast<const Word<step>*>(from + b);
    memcpy(reinterpret_cast<char*>(to) + b, &word, step);
  }
}
template <int W, class T> ND_FN void write(char* to, const T* from) {
  constexpr int bytes = W * int(sizeof(T)), step = bytes < kAccess ? bytes : kAccess;
  ND_UNROLL
  for (int b = 0; b < bytes; b += step) {
    Word<step> word;
    memcpy(&word, reinterpret_cast<const char*>(from) + b, step);
    *reinterpret_cast<Word<step>*>(to + b) = word;
  }
}

// As above for elements that are `step` bytes apart.
template <int W, class T> ND_FN bool is_vector(const char* at, int64_t step) {
  constexpr int bytes = W * int(sizeof(T));
  return step == int64_t(sizeof(T)) &&
         reinterpret_cast<uint64_t>(at) % uint64_t(bytes < kAccess ? bytes : kAccess) == 0;
}
template <int W, class T> ND_FN void read_along(T* to, const char* from, int64_t step) {
  if (is_vector<W, T>(from, step)) return read<W>(to, from);
  ND_UNROLL
  for (int j = 0; j < W; ++j) read<1>(to + j, from + j * step);
}
template <int W, class T> ND_FN void write_along(char* to, const T* from, int64_t step) {
  if (is_vector<W, T>(to, step)) return write<W>(to, from);
  ND_UNROLL
  for (int j = 0; j < W; ++j) write<1>(to + j * step, from + j);
}

// ---- lanes --------------------------------------------------------------------------------------
// Every lane has: advances (false for an operand that does not advance with the loop), size (bytes of an element),
// move(offset), fetch<W>(at) and flush<W>(at) of W elements starting with number `at`, fetch_along<W>(step) and
// flush_along<W>(step) of W elements that are `step` bytes apart, aligned<W>(offset), begin_row(offset), and (j): the
// value of fetched element j, or a reference to it.
template <class Stored> struct Moving {
  enum : bool { advances = true };
  enum : int { size = int(sizeof(Stored)) };
  char* base;
  char* at;
  ND_FN explicit Moving(void* data) : base(static_cast<char*>(data)), at(base) {}
  ND_FN void move(int64_t offset) { at = base + offset; }
  ND_FN void begin_row(int64_t) {}
  template <int W> ND_FN bool aligned(int64_t offset = 0) const {
    constexpr int bytes = W * size;
    return reinterpret_cast<uint64_t>(base + offset) % uint64_t(bytes < kAccess ? bytes : kAccess) == 0;
  }
};
struct Fixed {
  enum : bool { advances = false };
  enum : int { size = 0 };
  ND_FN void move(int64_t) {}
  ND_FN void begin_row(int64_t) {}
  template <int W> ND_FN bool aligned(int64_t = 0) const { return true; }
  template <int W> ND_FN void fetch(int = 0) {}
  template <int W> ND_FN void flush(int = 0) const {}
  template <int W> ND_FN void fetch_along(int64_t) {}
  template <int W> ND_FN void flush_along(int64_t) const {}
};

// Tags describe the operands in generated code. lane<V>(p, k) creates the lane of operand k for up to V elements at
// once.
template <class Stored, class Slot> struct In {
  template <int V> struct lane : Moving<Stored> {
    loaded_t<Stored> raw[V];
    template <class P> ND_FN lane(const P& p, int k) : Moving<Stored>(p.data[k]) {}
    template <int W> ND_FN void fetch(int at = 0) { read<W>(raw + at, this->at); }
    template <int W> ND_FN void flush(int = 0) const {}
    template <int W> ND_FN void fetch_along(int64_t step) { read_along<W>(raw, this->at, step); }
    template <int W> ND_FN void flush_along(int64_t) const {}
    ND_FN compute_t<Slot> operator()(int j) const {
      if constexpr (in_pairs<Stored, Slot> && V % 2 == 0) {
        uint32_t pair;
        memcpy(&pair, raw + j / 2 * 2, sizeof pair);
        return j % 2 == 0 ? low_of<Stored>(pair) : high_of<Stored>(pair);
      } else {
        return to_slot<Slot>(raw[j]);
      }
    }
  };
};
// An input of row-wise kernels that has one element per row.
template <class Stored, class Slot> struct PerRow {
  template <int V> struct lane : Fixed {
    const char* base;
    compute_t<Slot> value;
    template <class P> ND_FN lane(const P& p, int k) : base(static_cast<const char*>(p.data[k])) {}
    ND_FN void begin_row(int64_t offset) { value = to_slot<Slot>(element<Stored>(base + offset)); }
    ND_FN compute_t<Slot> operator()(int) const { return value; }
  };
};
template <class Stored, class Slot> struct InOut {
  template <int V> struct lane : Moving<Stored> {
    compute_t<Slot> value[V];
    template <class P> ND_FN lane(const P& p, int k) : Moving<Stored>(p.data[k]) {}
    template <int W> ND_FN void fetch(int at = 0) {
      loaded_t<Stored> raw[W];
      read<W>(raw, this->at);
      to_slots<Slot, W>(value + at, raw);
    }
    template <int W> ND_FN void flush(int at = 0) const {
      Stored raw[W];
      from_slots<Stored, Slot, W>(raw, value + at);
      write<W>(this->at, raw);
    }
    template <int W> ND_FN void fetch_along(int64_t step) {
      loaded_t<Stored> raw[W];
      read_along<W>(raw, this->at, step);
      to_slots<Slot, W>(value, raw);
    }
    template <int W> ND_FN void flush_along(int64_t step) const {
      Stored raw[W];
      from_slots<Stored, Slot, W>(raw, value);
      write_along<W>(this->at, raw, step);
    }
    ND_FN compute_t<Slot>& operator()(int j) { return value[j]; }
  };
};
template <class Stored, class Slot> struct Out {
  template <int V> struct lane : InOut<Stored, Slot>::template lane<V> {
    template <class P> ND_FN lane(const P& p, int k) : InOut<Stored, Slot>::template lane<V>(p, k) {}
    template <int W> ND_FN void fetch(int = 0) {}
    template <int W> ND_FN void fetch_along(int64_t) {}
  };
};
// A scalar operand: one element for the whole loop, in the parameters or at the address `data`.
template <class Stored, class Slot> struct Scalar {
  template <int V> struct lane : Fixed {
    compute_t<Slot> value;
    template <class P> ND_FN lane(const P& p, int k) {
      loaded_t<Stored> raw;
      if (p.data[k] != nullptr) raw = *static_cast<const loaded_t<Stored>*>(p.data[k]);
      else memcpy(&raw, p.cell[k].bytes, sizeof(Stored));
      value = to_slot<Slot>(raw);
    }
    ND_FN compute_t<Slot> operator()(int) const { return value; }
  };
};
// A scalar operand that is always at the address `data`.
template <class Stored, class Slot> struct Shared {
  template <int V> struct lane : Fixed {
    compute_t<Slot> value;
    template <class P> ND_FN lane(const P& p, int k) : value(to_slot<Slot>(element<Stored>(p.data[k]))) {}
    ND_FN compute_t<Slot> operator()(int) const { return value; }
  };
};
// A raw operand whose elements are all less than 2^31 bytes away from its first one.
template <class T> struct NearView : View<T> {
  template <class... I> ND_FN compute_t<T> operator()(I... i) const { return load(element<T>(at(i...))); }
  template <class... I> ND_FN void set(compute_t<T> v, I... i) const { store(*at(i...), v); }

 private:
  template <class... I> ND_FN T* at(I... i) const {
    int32_t offset = 0;
    int k = 0;
    ((offset += int32_t(i) * int32_t(this->strides[k++])), ...);
    return reinterpret_cast<T*>(reinterpret_cast<char*>(this->data) + offset);
  }
};
// The raw operand with number R among the raw operands. AsView: View or NearView.
template <class AsView, int R> struct Raw {
  template <int V> struct lane : Fixed {
    AsView view;
    template <class P>
    ND_FN lane(const P& p, int k)
        : view{static_cast<decltype(view.data)>(p.data[k]), p.raw_length[R], p.raw_stride[R]} {}
    ND_FN const AsView& operator()(int) const { return view; }
  };
};

// ---- positions ----------------------------------------------------------------------------------
template <class Index> struct signed_of;
template <> struct signed_of<uint32_t> { using type = int32_t; };
template <> struct signed_of<uint64_t> { using type = int64_t; };

// Splits position i of a loop of `rank` axes into one coordinate per axis, innermost first, and calls each(axis,
// coordinate). Rank > 0: the rank is known at compile time.
template <int Rank, class Index, class F>
ND_FN void for_each_axis(Index i, const int64_t* length, int64_t rank, F each) {
  if constexpr (Rank > 0) {
    ND_UNROLL
    for (int a = Rank - 1; a > 0; --a) {
      const Index n = Index(length[a]), q = i / n;
      each(a, i - q * n);
      i = q;
    }
    each(0, i);
  } else {
    for (int a = int(rank) - 1; a > 0; --a) {
      const Index n = Index(length[a]), q = i / n;
      each(a, i - q * n);
      i = q;
    }
    if (rank > 0) each(0, i);
  }
}

// Byte offset of position i.
template <int Rank, class Index>
ND_FN int64_t offset_of(Index i, const int64_t* length, const int64_t* stride, int64_t rank) {
  using Offset = typename signed_of<Index>::type;
  Offset offset = 0;
  for_each_axis<Rank>(i, length, rank, [&](int a, Index c) { offset += Offset(c) * Offset(stride[a]); });
  return offset;
}

}  // namespace catena::device
