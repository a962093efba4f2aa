// Sorts. Rows are independent and shared among threads; a few rows are copied together if neighbouring rows are
// neighbours in memory. Short rows pass through a sorting network. Long rows are partitioned first, or sorted digit by
// digit if elements have few digits. The result is always the one of a stable sort: see ValueKeys. If only some
// positions of the sorted rows matter, long rows are partitioned only as far as necessary.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <span>
#include <utility>

#include <catena/kernels/base/parallel.h>
#include <catena/kernels/registry/multiarch.h>
#include <catena/kernels/traits.h>
#include <catena/ndarray/cpu/along_axis.h>
#include <catena/ndarray/cpu/copy.h>
#include <catena/ndarray/cpu/quicksort.h>
#include <catena/ndarray/cpu/run.h>
#include <catena/ndarray/cpu/sort_network.h>
#include <catena/ndarray/cpu/workspace.h>

namespace nd::cpu {
namespace {

using catena::Dtype;

constexpr std::int64_t kGrain = 4 * 1024;
constexpr std::int64_t kRankTo = 64;     // up to this many elements, comparing all pairs is faster than merging
constexpr int kRankGroup = 8;            // keys whose ranks are counted at once
constexpr std::int64_t kRadixFrom = 16;  // elements per digit; with fewer, the counters cost more than comparisons
constexpr std::int64_t kCacheLine = 64;
constexpr std::int64_t kTogetherBytes = 4 << 20;
constexpr std::int64_t kNetworkBytes = 32 * 1024;  // bytes of keys on the stack
constexpr std::int64_t kNetworkTo = 2048;          // elements of the longest row; half as many for 64-bit keys
constexpr std::int64_t kSideBySideTo = 16;         // elements of the longest rows that are sorted one per lane

// Converts the bits of an element to an unsigned number in the order of the elements: integers by inverting the sign
// bit, floats so that both zeros are equal and every NaN is the largest number. `infinity` distinguishes the float
// formats of one width.
template <class B> inline constexpr B kSign = B(B(1) << (8 * sizeof(B) - 1));
template <class B> B float_order(B bits, B infinity) {
  const B magnitude = B(bits & B(~kSign<B>));
  if (magnitude > infinity) return B(~B(0));
  if (magnitude == 0) return kSign<B>;
  return bits & kSign<B> ? B(~bits) : B(bits | kSign<B>);
}
template <class B> struct Order {
  B flip = 0;  // XOR mask for integers
  B infinity = 0;
  bool floating = false;

  B operator()(B bits) const { return floating ? float_order(bits, infinity) : B(bits ^ flip); }
};
template <class E> using BitsOf = typename catena::uint_of_size<sizeof(E)>::type;
template <class E> ND_FN BitsOf<E> infinity_of() {
  return catena::bit_cast<BitsOf<E>>(E(std::numeric_limits<float>::infinity()));
}
template <class E> Order<BitsOf<E>> order_of() {
  if constexpr (!std::is_integral_v<E>) return {0, infinity_of<E>(), true};
  else return {std::is_signed_v<E> ? kSign<BitsOf<E>> : BitsOf<E>(0), 0, false};
}

// The items that are moved: an integer as its number; a float, whose number does not hold all of its bits; or the
// number of an element with its position. Integers of one width share the code, and so do positions.
template <class B> struct Integer {
  B order;
  B key() const { return order; }
};
template <class E> struct Float {
  BitsOf<E> bits;
  BitsOf<E> key() const { return float_order(bits, infinity_of<E>()); }
};
template <class B, class P> struct Place {
  B order;
  P position;
  B key() const { return order; }
};

// Sets rank[i] to the number of keys that precede key i in the sorted order, for n <= kRankTo keys. Among equal keys,
// those at lower positions precede. Compares each key with all others in vectors, without jumps. Both arrays must hold
// a multiple of kRankGroup elements.
CATENA_MULTIARCH void rank_keys(const std::int64_t* __restrict key, std::int64_t n, std::int64_t* __restrict rank) {
  for (std::int64_t first = 0; first < n; first += kRankGroup) {
    std::int64_t before[kRankGroup] = {};
    for (std::int64_t j = 0; j < n; ++j) {
      const std::int64_t other = key[j];
#pragma GCC unroll 1
      for (int l = 0; l < kRankGroup; ++l) {
        const std::int64_t i = first + l;
        before[l] += std::int64_t(other < key[i]) | (std::int64_t(other == key[i]) & std::int64_t(j < i));
      }
    }
    for (int l = 0; l < kRankGroup; ++l) rank[first + l] = before[l];
  }
}
template <class Item> Item* sort_few_items(Item* row, Item* spare, std::int64_t n) {
  std::int64_t key[kRankTo], rank[kRankTo];
  std::fill_n(key + (n - 1) / kRankGroup * kRankGroup, kRankGroup, 0);
  for (std::int64_t i = 0; i < n; ++i) key[i] = std::int64_t(row[i].key() ^ kSign<std::uint64_t>);
  rank_keys(key, n, rank);
  for (std::int64_t i = 0; i < n; ++i) spare[rank[i]] = row[i];
  return spare;
}

// Sorts n elements of `row`; `spare` must hold n elements. Returns the array that holds the result: `row` or `spare`.
template <class Item> Item* sort_items(Item* row, Item* spare, std::int64_t n) {
  using Bits = decltype(row->key());
  constexpr int digits = sizeof(Bits);
  if constexpr (digits ==
                8) {  // rows of smaller elements, and of values, pass through a network if they are that short
    if (n <= kRankTo) return sort_few_items(row, spare, n);
    if (n < kRadixFrom * digits) {
      std::stable_sort(row, row + n, [](const Item& a, const Item& b) { return a.key() < b.key(); });
      return row;
    }
  }
  std::int64_t count[digits][256] = {};
  for (std::int64_t i = 0; i < n; ++i) {
    const Bits key = row[i].key();
    for (int d = 0; d < digits; ++d) ++count[d][(key >> (8 * d)) & 255];
  }
  for (int d = 0; d < digits; ++d) {
    std::int64_t* const next = count[d];
    if (next[(row[0].key() >> (8 * d)) & 255] == n) continue;  // all elements have the same digit
    std::int64_t start = 0;
    for (int v = 0; v < 256; ++v) start += std::exchange(next[v], start);
    for (std::int64_t i = 0; i < n; ++i) spare[next[(row[i].key() >> (8 * d)) & 255]++] = row[i];
    std::swap(row, spare);
  }
  return row;
}

// As sort_items, for a row in which only some positions matter. Equal keys are ordered by position.
template <class B, class P>
Place<B, P>* select_items(Place<B, P>* row, std::int64_t n, std::span<const std::int64_t> kth) {
  std::int64_t done = 0;  // elements before this position are in place
  for (const std::int64_t k : kth) {
    std::nth_element(row + done, row + k, row + n, [](const Place<B, P>& a, const Place<B, P>& b) {
      return a.order != b.order ? a.order < b.order : a.position < b.position;
    });
    done = k + 1;
  }
  return row;
}

// A block of neighbouring rows.
struct Block {
  const std::byte* in;
  std::int64_t in_stride;
  std::byte* out;
  std::int64_t out_stride, rows;
};

struct RowsToSort {
  const Walk& rows;
  std::int64_t length, in_step, out_step;
  std::span<const std::int64_t> kth;  // the positions that matter, in ascending order; empty: all

  // True if the elements of a row share cache lines.
  bool lies_close() const { return std::llabs(in_step) < kCacheLine && std::llabs(out_step) < kCacheLine; }
  // Returns the number of rows that are copied at once: rows whose elements share cache lines, as far as `available`
  // bytes hold them.
  std::int64_t together(std::int64_t row_bytes, std::int64_t item_bytes, std::int64_t available) const {
    if (lies_close()) return 1;
    const std::int64_t all = rows.units() * rows.elements_per_unit();
    return std::clamp<std::int64_t>(std::min(available / row_bytes, all), 1, kCacheLine / item_bytes);
  }
  // Calls f(begin, end) on ranges of units, on several threads.
  template <class F> void share(F&& f) const {
    catena::parallel_for(rows.units(), rows.grain(std::max<std::int64_t>(1, kGrain / length)), f);
  }
  // Calls f on blocks of at most `together` rows.
  template <class F> void each_block(std::int64_t begin, std::int64_t end, std::int64_t together, F&& f) const {
    rows.run(begin, end, [&](std::byte* const* ptr, const std::int64_t* stride, std::int64_t count) {
      for (std::int64_t j = 0; j < count; j += together)
        f({ptr[0] + j * stride[0], stride[0], ptr[1] + j * stride[1], stride[1], std::min(together, count - j)});
    });
  }
};

template <class B> ND_FN B load_bits(const std::byte* from) {
  B bits;
  std::memcpy(&bits, from, sizeof(B));
  return bits;
}
template <class B> void load_item(Integer<B>& to, const Order<B>& order, const std::byte* from, std::int64_t) {
  to.order = B(load_bits<B>(from) ^ order.flip);
}
template <class E> void load_item(Float<E>& to, const Order<BitsOf<E>>&, const std::byte* from, std::int64_t) {
  to.bits = load_bits<BitsOf<E>>(from);
}
template <class B, class P>
void load_item(Place<B, P>& to, const Order<B>& order, const std::byte* from, std::int64_t i) {
  to = {order(load_bits<B>(from)), P(i)};
}
template <class B> void store_item(const Integer<B>& from, const Order<B>& order, std::byte* to) {
  const B bits = B(from.order ^ order.flip);
  std::memcpy(to, &bits, sizeof(B));
}
template <class E> void store_item(const Float<E>& from, const Order<BitsOf<E>>&, std::byte* to) {
  std::memcpy(to, &from.bits, sizeof(E));
}
template <class B, class P> void store_item(const Place<B, P>& from, const Order<B>&, std::byte* to) {
  const std::int64_t position = from.position;
  std::memcpy(to, &position, sizeof(position));
}

// Not inlined, to avoid one copy per kind of walk. `rows` must hold b.rows rows, row_bytes apart; `spare` must hold one
// row.
template <class Item, class B>
[[gnu::noinline]] void sort_block(const RowsToSort& call, const Order<B>& order, const Block& b, std::byte* rows,
                                  std::size_t row_bytes, Item* spare) {
  const std::int64_t n = call.length;
  const auto row = [&](std::int64_t k) { return reinterpret_cast<Item*>(rows + std::size_t(k) * row_bytes); };
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t k = 0; k < b.rows; ++k) load_item(row(k)[i], order, b.in + i * call.in_step + k * b.in_stride, i);
  for (std::int64_t k = 0; k < b.rows; ++k) {
    const Item* sorted = nullptr;
    if constexpr (requires { row(k)->position; } && sizeof(B) == 8)
      if (!call.kth.empty()) sorted = select_items(row(k), n, call.kth);
    if (sorted == nullptr) sorted = sort_items(row(k), spare, n);
    for (std::int64_t i = 0; i < n; ++i) store_item(sorted[i], order, b.out + i * call.out_step + k * b.out_stride);
  }
}

template <class Item, class B> void sort_rows(const RowsToSort& call, const Order<B>& order) {
  const std::size_t row_bytes = round_up_64(std::size_t(call.length) * sizeof(Item));
  const std::int64_t together = call.together(call.length * std::int64_t(sizeof(Item)), sizeof(Item), kTogetherBytes);
  call.share([&](std::int64_t begin, std::int64_t end) {
    const Workspace memory(std::size_t(together + 1) * row_bytes);
    auto* const spare = reinterpret_cast<Item*>(memory.data() + std::size_t(together) * row_bytes);
    call.each_block(begin, end, together,
                    [&](const Block& b) { sort_block(call, order, b, memory.data(), row_bytes, spare); });
  });
}

// ---- positions of elements of one or two digits ----------------------------------------------------
// For rows whose elements share cache lines: the pass over the last digit stores the positions in the output, and the
// pass over the first of two digits reads the elements in place. Other rows are copied first (sort_rows).
template <class B, class P> class DigitPositions {
 public:
  DigitPositions(const RowsToSort& call, const Order<B>& order) : call_(call), order_(order), n_(call.length) {}

  void run() const {
    call_.share([&](std::int64_t begin, std::int64_t end) {
      const Workspace memory(kDigits == 1 ? 1 : std::size_t(n_) * sizeof(Place<B, P>));
      auto* const places = reinterpret_cast<Place<B, P>*>(memory.data());
      call_.each_block(begin, end, 1, [&](const Block& b) { sort_row(b, places); });
    });
  }

 private:
  static constexpr int kDigits = sizeof(B);
  // The two halves of a row have separate counters: a counter that was just written cannot be read at once.
  using Counters = std::int64_t[2][256];

  static int digit_of(B number, int d) { return (number >> (8 * d)) & 255; }
  // Replaces the counts by the positions of the first element with each digit.
  static void start(Counters& next) {
    std::int64_t place = 0;
    for (int v = 0; v < 256; ++v)
      for (std::int64_t(&half)[256] : next) place += std::exchange(half[v], place);
  }
  // Calls f(position, half) for the elements of both halves alternately.
  template <class F> static void each(std::int64_t n, F&& f) {
    const std::int64_t half = n / 2;
    for (std::int64_t i = 0; i < half; ++i) {
      f(i, 0);
      f(half + i, 1);
    }
    if (n % 2 != 0) f(n - 1, 1);
  }

  // Not inlined, to avoid one copy per kind of walk. Uses local copies of members, because the compiler must assume
  // that the positions it stores change members.
  [[gnu::noinline]] void sort_row(const Block& b, Place<B, P>* places) const {
    const std::int64_t n = n_, in_step = call_.in_step, out_step = call_.out_step;
    const auto load = [order = order_, in = b.in, in_step](std::int64_t i) {
      return order(load_bits<B>(in + i * in_step));
    };
    const auto put = [out = b.out, out_step](std::int64_t place, std::int64_t position) {
      std::memcpy(out + place * out_step, &position, sizeof(position));
    };
    Counters next[kDigits] = {};
    each(n, [&](std::int64_t i, int half) {
      const B number = load(i);
      for (int d = 0; d < kDigits; ++d) ++next[d][half][digit_of(number, d)];
    });
    // False if all elements have the same digit.
    const auto moves = [&](int d) {
      const int first = digit_of(load(0), d);
      return next[d][0][first] + next[d][1][first] != n;
    };
    const int last = kDigits > 1 && moves(kDigits - 1) ? kDigits - 1 : 0;
    const bool two = last > 0 && moves(0);
    for (int d = 0; d < kDigits; ++d) start(next[d]);
    if (!two) {
      each(n, [&](std::int64_t i, int half) { put(next[last][half][digit_of(load(i), last)]++, i); });
      return;
    }
    each(n, [&](std::int64_t i, int half) {
      const B number = load(i);
      places[next[0][half][digit_of(number, 0)]++] = {number, P(i)};
    });
    for (std::int64_t i = 0; i < n; ++i)  // in the order of the first digit: the halves follow each other
      put(next[last][0][digit_of(places[i].order, last)]++, places[i].position);
  }

  const RowsToSort& call_;
  const Order<B> order_;
  const std::int64_t n_;
};

// ---- values of one digit --------------------------------------------------------------------------
// Sorts by counting, for elements of one byte: the sorted row repeats each of the 256 values as often as it occurs.
template <class B> class ValueCounts {
 public:
  ValueCounts(const RowsToSort& call, const Order<B>& order) : call_(call), order_(order) {}

  void run() const {
    call_.share([&](std::int64_t begin, std::int64_t end) {
      call_.each_block(begin, end, 1, [&](const Block& b) { sort_row(b); });
    });
  }

 private:
  // Not inlined, to avoid one copy per kind of walk.
  [[gnu::noinline]] void sort_row(const Block& b) const {
    constexpr int kTables = 4;  // a counter that was just written cannot be read at once
    std::int64_t count[kTables][256] = {}, i = 0;
    const std::int64_t n = call_.length, in_step = call_.in_step, out_step = call_.out_step;
    for (; i + kTables <= n; i += kTables)
      for (int t = 0; t < kTables; ++t) ++count[t][order_(load_bits<B>(b.in + (i + t) * in_step))];
    for (; i < n; ++i) ++count[0][order_(load_bits<B>(b.in + i * in_step))];
    std::byte* out = b.out;
    for (int v = 0; v < 256; ++v) {
      std::int64_t times = 0;
      for (const auto& table : count) times += table[v];
      const std::byte value{static_cast<unsigned char>(v ^ order_.flip)};
      if (out_step == 1) std::memset(out, int(value), std::size_t(times)), out += times;
      else
        for (; times > 0; --times, out += out_step) *out = value;
    }
  }

  const RowsToSort& call_;
  const Order<B> order_;
};

// ---- networks and partitions ----------------------------------------------------------------------
// The keys by which networks and partitions sort. They are not stable, so equal keys must stand for identical elements.
// The key of an integer is the integer; the key of a position combines the element with its position. The bits of a
// float are ordered like integers, with two exceptions: NaNs share the largest key, and zeros of both signs keep their
// order of appearance. mend() restores these in rows that have them.
template <class E> struct ValueKeys {
  using Bits = BitsOf<E>;
  using Element = Bits;
  using Signed = std::make_signed_t<Bits>;
  using Key = std::conditional_t<sizeof(E) <= 4, std::int32_t, std::int64_t>;
  static constexpr bool floating = !std::is_integral_v<E>;
  static constexpr bool is_element = std::is_same_v<Key, E>;  // the key of an element is the element itself
  static constexpr Bits flip = std::is_unsigned_v<E> && sizeof(E) >= 4 ? kSign<Bits> : Bits(0);
  static constexpr Bits magnitude = Bits(~kSign<Bits>);

  // The functions return 0 or 1 without comparisons, which do not vectorise for every width on every processor.
  static ND_FN Bits top(Bits x) { return Bits(x >> (8 * sizeof(E) - 1)); }
  static ND_FN Bits is_nan(Bits bits) { return top(Bits(infinity_of<E>() - (bits & magnitude))); }
  static ND_FN Bits is_zero(Bits bits) {
    return top(Bits(Bits((bits & magnitude) - 1) & ~bits)) | is_negative_zero(bits);
  }
  static ND_FN Bits is_negative_zero(Bits bits) {
    const Bits x = Bits(bits ^ kSign<Bits>);
    return top(Bits(Bits(x - 1) & ~x));
  }
  // 1 if mend() must place this element.
  static ND_FN Bits keeps_place(Bits bits) {
    if constexpr (floating) return is_nan(bits) | is_negative_zero(bits);
    else return 0;
  }
  static ND_FN Key key(Bits bits, std::int64_t = 0) {
    if constexpr (floating) {
      const Bits nan = Bits(Bits(0) - is_nan(bits));
      const Bits ordered = Bits(bits ^ (Bits(Bits(0) - top(bits)) & magnitude));
      return Key(std::make_signed_t<Bits>(Bits(ordered & ~nan) | Bits(nan & magnitude)));
    } else if constexpr (std::is_unsigned_v<E> && sizeof(E) < 4) {
      return Key(bits);
    } else {
      return Key(std::make_signed_t<Bits>(bits ^ flip));
    }
  }
  static ND_FN Element element(Key key) {
    if constexpr (floating) return Bits(Bits(key) ^ (Bits(Bits(0) - top(Bits(key))) & magnitude));
    else return Bits(Bits(key) ^ flip);
  }
  static void mend(const std::byte* in, std::int64_t in_step, std::byte* out, std::int64_t out_step, std::int64_t n) {
    if constexpr (floating) {
      std::int64_t nan = n, zero = 0;  // positions of the first NaN and the first zero
      for (std::int64_t i = 0; i < n; ++i) {
        const Bits bits = load_bits<Bits>(in + i * in_step);
        nan -= is_nan(bits);
        zero += top(bits) && !is_nan(bits) && !is_zero(bits);
      }
      for (std::int64_t i = 0; i < n; ++i) {
        const Bits bits = load_bits<Bits>(in + i * in_step);
        if (is_nan(bits)) std::memcpy(out + nan++ * out_step, &bits, sizeof(bits));
        else if (is_zero(bits)) std::memcpy(out + zero++ * out_step, &bits, sizeof(bits));
      }
    }
  }
};
template <class E> struct PositionKeys {
  using Bits = BitsOf<E>;
  using Element = std::int64_t;
  using Key = std::int64_t;
  static_assert(sizeof(E) <= 4);

  static constexpr bool floating = false;  // keys have positions in place of bits
  static constexpr bool is_element = false;
  static ND_FN Bits keeps_place(Bits) { return 0; }
  static ND_FN Key key(Bits bits, std::int64_t i) {
    std::int32_t key = ValueKeys<E>::key(bits);
    if constexpr (ValueKeys<E>::floating) key += ValueKeys<E>::is_negative_zero(bits);
    return Key(std::uint64_t(std::uint32_t(key)) << 32 | std::uint64_t(i));
  }
  static ND_FN Element element(Key key) { return key & 0xffffffff; }
  static void mend(const std::byte*, std::int64_t, std::byte*, std::int64_t, std::int64_t) {}
};

template <class Keys> class KeySort {
 public:
  using Key = typename Keys::Key;
  using Bits = typename Keys::Bits;
  using Element = typename Keys::Element;

  explicit KeySort(const RowsToSort& call) : call_(call), n_(call.length), rows_per_vector_(n_ <= kSideBySideTo) {}

  void run() const {
    const std::int64_t longest = sizeof(Key) == 8 ? kNetworkTo / 2 : kNetworkTo;
    if (n_ > (call_.kth.empty() ? longest : kSelectedTo)) return run_long();
    const std::int64_t row_bytes = vectors_ * lanes_ * std::int64_t(sizeof(Key));
    const std::int64_t together = rows_per_vector_ ? lanes_ : call_.together(row_bytes, sizeof(Bits), kNetworkBytes);
    call_.share([&](std::int64_t begin, std::int64_t end) {
      call_.each_block(begin, end, together, [&](const Block& b) {
        if (rows_per_vector_) sort_side_by_side(b);
        else sort_each(b);
      });
    });
  }

 private:
  // The load functions return a mask of the rows that have elements which mend() must place: bit k for row k.
  template <class At> std::uint64_t load(const Block& b, At&& at) const {
    std::uint64_t mend = 0;
    for (std::int64_t i = 0; i < n_; ++i)
      for (std::int64_t k = 0; k < b.rows; ++k) {
        const Bits bits = load_bits<Bits>(b.in + i * call_.in_step + k * b.in_stride);
        mend |= std::uint64_t(Keys::keeps_place(bits)) << k;
        at(i, k) = Keys::key(bits, i);
      }
    return mend;
  }
  std::uint64_t load_rows(const Block& b, Key* keys, std::int64_t pitch) const {
    if (b.rows == 1 && call_.in_step == std::int64_t(sizeof(Bits))) return load_row(b.in, keys, n_);
    return load(b, [&](std::int64_t i, std::int64_t k) -> Key& { return keys[k * pitch + i]; });
  }
  CATENA_MULTIARCH static std::uint64_t load_row(const std::byte* in, Key* keys, std::int64_t n) {
    Bits mend = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      const Bits bits = load_bits<Bits>(in + i * std::int64_t(sizeof(Bits)));
      mend |= Keys::keeps_place(bits);
      keys[i] = Keys::key(bits, i);
    }
    return mend != 0;
  }
  static ND_FN void store(std::byte* to, Key key) {
    const Element e = Keys::element(key);
    std::memcpy(to, &e, sizeof(e));
  }
  CATENA_MULTIARCH static void store_row(const Key* keys, std::byte* out, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) store(out + i * std::int64_t(sizeof(Element)), keys[i]);
  }
  void store_keys(const Key* keys, std::byte* out, std::int64_t n) const {
    if (call_.out_step == std::int64_t(sizeof(Element))) return store_row(keys, out, n);
    for (std::int64_t i = 0; i < n; ++i) store(out + i * call_.out_step, keys[i]);
  }
  void mend(const Block& b, std::uint64_t which) const {
    for (std::int64_t k = 0; which != 0; ++k, which >>= 1)
      if (which & 1) Keys::mend(b.in + k * b.in_stride, call_.in_step, b.out + k * b.out_stride, call_.out_step, n_);
  }

  [[gnu::noinline]] void sort_side_by_side(const Block& b) const {
    alignas(64) Key keys[kSideBySideTo * 64 / sizeof(Key)];
    if (b.rows < lanes_) std::fill_n(keys, n_ * lanes_, Key(0));
    const std::uint64_t which = load(b, [&](std::int64_t i, std::int64_t k) -> Key& { return keys[i * lanes_ + k]; });
    network_.rows(keys, n_);
    for (std::int64_t k = 0; k < b.rows; ++k)
      for (std::int64_t i = 0; i < n_; ++i) store(b.out + i * call_.out_step + k * b.out_stride, keys[i * lanes_ + k]);
    mend(b, which);
  }

  [[gnu::noinline]] void sort_each(const Block& b) const {
    alignas(64) Key keys[kNetworkBytes / sizeof(Key)], sorted[kNetworkTo];
    const std::int64_t pitch = vectors_ * lanes_;
    const std::uint64_t which = load_rows(b, keys, pitch);
    for (std::int64_t k = 0; k < b.rows; ++k) {
      std::fill_n(keys + k * pitch + n_, pitch - n_, std::numeric_limits<Key>::max());
      network_.row(keys + k * pitch, vectors_, sorted);
      store_keys(sorted, b.out + k * b.out_stride, n_);
    }
    mend(b, which);
  }

  void run_long() const {
    const std::size_t row_bytes = round_up_64(std::size_t(n_) * sizeof(Key));
    const std::int64_t together = call_.together(std::int64_t(row_bytes), sizeof(Bits), kTogetherBytes);
    call_.share([&](std::int64_t begin, std::int64_t end) {
      const Workspace memory(std::size_t(together + 1) * row_bytes);
      auto* const keys = reinterpret_cast<Key*>(memory.data());
      call_.each_block(begin, end, together,
                       [&](const Block& b) { sort_long(b, keys, std::int64_t(row_bytes / sizeof(Key)), together); });
    });
  }
  // Sorts long rows. `keys` must hold b.rows + 1 rows of `pitch` keys each.
  [[gnu::noinline]] void sort_long(const Block& b, Key* keys, std::int64_t pitch, std::int64_t together) const {
    const bool reads_in_place = Keys::is_element && b.rows == 1 && call_.in_step == std::int64_t(sizeof(Key));
    std::uint64_t which = reads_in_place ? 0 : load_rows(b, keys, pitch);
    for (std::int64_t k = 0; k < b.rows; ++k) {
      std::byte* const out = b.out + k * b.out_stride;
      const auto store_part = [&](std::int64_t begin, const Key* sorted, std::int64_t n) {
        if (std::byte* const to = out + begin * call_.out_step; to != reinterpret_cast<const std::byte*>(sorted))
          store_keys(sorted, to, n);
      };
      const bool all = call_.kth.empty() || ((which >> k & 1) != 0 && has_nan(b.in + k * b.in_stride));
      Quicksort<Key, decltype(store_part)> sort(store_part, all ? std::span<const std::int64_t>() : call_.kth);
      Key* const spare = keys + together * pitch;
      // If the result is partitioned in place, parts that need no further sorting are often in their final position.
      const bool writes_in_place = call_.out_step == std::int64_t(sizeof(Key));
      if (reads_in_place)
        sort.run(reinterpret_cast<const Key*>(b.in), writes_in_place ? reinterpret_cast<Key*>(out) : keys, spare, n_);
      else sort.run(keys + k * pitch, spare, n_);
      if (!all) which &= ~(std::uint64_t(1) << k);
    }
    mend(b, which);
  }
  // The keys of NaNs have lost their bits, which only mend() restores, so a row with NaNs is sorted as a whole. A
  // negative zero has its own key, below the key of zero.
  bool has_nan(const std::byte* in) const {
    if constexpr (Keys::floating)
      for (std::int64_t i = 0; i < n_; ++i)
        if (Keys::is_nan(load_bits<Bits>(in + i * call_.in_step)) != 0) return true;
    return false;
  }

  const RowsToSort& call_;
  const SortNetwork<Key>& network_ = sort_network(Key());
  const std::int64_t n_;
  const bool rows_per_vector_;
  const std::int64_t lanes_ = network_.lanes;
  const std::int64_t vectors_ = network_.vectors_for(n_);  // vectors of a row
};

// ---- positions in short rows of wide elements ----------------------------------------------------------
// For elements so wide that a key cannot hold a position too. Compares all pairs of elements of short rows, one row per
// lane, and stores each position at the rank of its element.
template <class E> class RankSideBySide {
 public:
  static_assert(sizeof(E) == 8);

  explicit RankSideBySide(const RowsToSort& call) : call_(call), n_(call.length) {}
  void run() const {
    call_.share([&](std::int64_t begin, std::int64_t end) {
      call_.each_block(begin, end, kRankGroup, [&](const Block& b) { sort_block(b); });
    });
  }

 private:
  using Bits = BitsOf<E>;
  using Lanes = std::int64_t[kRankGroup];

  // Converts bits to numbers in the order of the elements. Sets rank[i][l] to the number of elements of row l that
  // precede its element i in the sorted order. Among equal elements, those at lower positions precede.
  CATENA_MULTIARCH static void count(Lanes* __restrict key, std::int64_t n, Lanes* __restrict rank) {
    for (std::int64_t i = 0; i < n; ++i) {
      std::int64_t before[kRankGroup];
#pragma GCC unroll 1
      for (int l = 0; l < kRankGroup; ++l) {
        const Bits bits = Bits(key[i][l]);
        std::int64_t number = ValueKeys<E>::key(bits);
        if constexpr (ValueKeys<E>::floating) number += std::int64_t(ValueKeys<E>::is_negative_zero(bits));
        key[i][l] = number;
        before[l] = i;
      }
      for (std::int64_t j = 0; j < i; ++j)
#pragma GCC unroll 1
        for (int l = 0; l < kRankGroup; ++l) {
          const auto overtakes = std::int64_t(key[i][l] < key[j][l]);
          before[l] -= overtakes;
          rank[j][l] += overtakes;
        }
      for (int l = 0; l < kRankGroup; ++l) rank[i][l] = before[l];
    }
  }

  // Not inlined, to avoid one copy per kind of walk.
  [[gnu::noinline]] void sort_block(const Block& b) const {
    alignas(64) Lanes key[kSideBySideTo], rank[kSideBySideTo];
    if (b.rows < kRankGroup) std::memset(key, 0, std::size_t(n_) * sizeof(Lanes));
    for (std::int64_t i = 0; i < n_; ++i)
      for (std::int64_t k = 0; k < b.rows; ++k)
        key[i][k] = load_bits<std::int64_t>(b.in + i * call_.in_step + k * b.in_stride);
    count(key, n_, rank);
    for (std::int64_t k = 0; k < b.rows; ++k)
      for (std::int64_t i = 0; i < n_; ++i)
        std::memcpy(b.out + rank[i][k] * call_.out_step + k * b.out_stride, &i, sizeof(i));
  }

  const RowsToSort& call_;
  const std::int64_t n_;
};

template <class E> void sort_as(const RowsToSort& call, bool positions) {
  using B = BitsOf<E>;
  const Order<B> order = order_of<E>();
  constexpr std::int64_t all = std::numeric_limits<std::int64_t>::max();
  // Elements of one or two digits are sorted digit by digit.
  constexpr std::int64_t keys_to = sizeof(E) == 1 ? kNetworkTo / 4 : sizeof(E) == 2 ? kNetworkTo : all;
  if (!positions) {
    if (call.length <= keys_to) return KeySort<ValueKeys<E>>(call).run();
    if constexpr (sizeof(E) == 1)
      if (call.lies_close()) return ValueCounts<B>(call, order).run();
    if constexpr (sizeof(E) > 2) return;
    else if constexpr (std::is_integral_v<E>) return sort_rows<Integer<B>>(call, order);
    else return sort_rows<Float<E>>(call, order);
  }
  constexpr std::int64_t most_positions = std::numeric_limits<std::uint32_t>::max();
  if constexpr (sizeof(E) <= 4)
    if (call.length <= std::min(keys_to, most_positions)) return KeySort<PositionKeys<E>>(call).run();
  if constexpr (sizeof(E) <= 2)
    if (call.length <= most_positions && call.lies_close()) return DigitPositions<B, std::uint32_t>(call, order).run();
  if constexpr (sizeof(E) == 8)
    if (call.length <= kSideBySideTo) return RankSideBySide<E>(call).run();
  if (call.length <= most_positions) return sort_rows<Place<B, std::uint32_t>>(call, order);
  sort_rows<Place<B, std::int64_t>>(call, order);
}

// Sorts rows of one element: copies the elements, or stores position 0.
void sort_single_elements(const catena::bound::Sort& call) {
  alignas(16) const std::byte zero[sizeof(std::int64_t)] = {};
  const catena::Strides repeated = catena::Strides::filled(call.in.shape->size(), 0);
  copy_elements(call.out.data, *call.out.strides, call.positions ? zero : call.in.data,
                call.positions ? repeated : *call.in.strides, *call.in.shape, catena::itemsize(call.out.dtype));
}

}  // namespace

void run(const catena::bound::Sort& call) {
  if (catena::size_of(*call.in.shape) == 0) return;
  if ((*call.in.shape)[call.axis] == 1) return sort_single_elements(call);
  const Walk rows = walk_rows(call.in, call.out, call.axis);
  const RowsToSort all{rows, (*call.in.shape)[call.axis], (*call.in.strides)[call.axis], (*call.out.strides)[call.axis],
                       call.kth};
  catena::visit_real_dtype("sort", call.in.dtype,
                           [&](auto tag) { sort_as<typename decltype(tag)::type>(all, call.positions); });
}

}  // namespace nd::cpu
