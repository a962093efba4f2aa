// Positions of sorted elements, for elements so wide that a key cannot hold a position too. Short rows are compared
// pair by pair, one row per lane. Long rows are sorted digit by digit, or partitioned if only some positions matter.
#include <utility>

#include <catena/kernels/registry/multiarch.h>
#include <catena/ndarray/cpu/sort_rows.h>
#include <catena/ndarray/cpu/workspace.h>

namespace nd::cpu {
namespace {

constexpr int kLanes = 8;              // rows whose elements are compared at once
constexpr std::int64_t kPairsTo = 64;  // elements of the longest rows that are compared pair by pair

// Compares all pairs of elements of short rows, and stores each position at the rank of its element.
template <class E> class Ranks {
 public:
  explicit Ranks(const RowsToSort& call) : call_(call), n_(call.length) {}
  void run() const {
    call_.share([&](std::int64_t begin, std::int64_t end) {
      call_.each_block(begin, end, kLanes, [&](const Block& b) { sort_block(b); });
    });
  }

 private:
  using Lanes = std::int64_t[kLanes];

  // Converts bits to numbers in the order of the elements. Sets rank[i][l] to the number of elements of row l that
  // precede its element i in the sorted order. Among equal elements, those at lower positions precede.
  CATENA_MULTIARCH static void count(Lanes* __restrict key, std::int64_t n, Lanes* __restrict rank) {
    for (std::int64_t i = 0; i < n; ++i) {
      std::int64_t before[kLanes];
#pragma GCC unroll 1
      for (int l = 0; l < kLanes; ++l) {
        key[i][l] = NumberOf<E>::place_number(BitsOf<E>(key[i][l]));
        before[l] = i;
      }
      for (std::int64_t j = 0; j < i; ++j)
#pragma GCC unroll 1
        for (int l = 0; l < kLanes; ++l) {
          const auto overtakes = std::int64_t(key[i][l] < key[j][l]);
          before[l] -= overtakes;
          rank[j][l] += overtakes;
        }
      for (int l = 0; l < kLanes; ++l) rank[i][l] = before[l];
    }
  }

  // Not inlined, to avoid one copy per kind of walk.
  [[gnu::noinline]] void sort_block(const Block& b) const {
    alignas(64) Lanes key[kPairsTo], rank[kPairsTo];
    if (b.rows < kLanes) std::memset(key, 0, std::size_t(n_) * sizeof(Lanes));
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

// An element of a long row.
template <class P> struct Place {
  std::uint64_t order;
  P position;
};

// Sorts n elements of `row`; `spare` must hold n elements. Returns the array that holds the result: `row` or `spare`.
template <class P> Place<P>* sort_digits(Place<P>* row, Place<P>* spare, std::int64_t n) {
  constexpr int digits = 8;
  std::int64_t count[digits][256] = {};
  const auto digit = [](const Place<P>& place, int d) { return (place.order >> (8 * d)) & 255; };
  for (std::int64_t i = 0; i < n; ++i)
    for (int d = 0; d < digits; ++d) ++count[d][digit(row[i], d)];
  for (int d = 0; d < digits; ++d) {
    std::int64_t* const next = count[d];
    if (next[digit(row[0], d)] == n) continue;  // all elements have the same digit
    std::int64_t start = 0;
    for (int v = 0; v < 256; ++v) start += std::exchange(next[v], start);
    for (std::int64_t i = 0; i < n; ++i) spare[next[digit(row[i], d)]++] = row[i];
    std::swap(row, spare);
  }
  return row;
}

// As sort_digits, for a row in which only some positions matter. Equal elements are ordered by position.
template <class P> Place<P>* select_places(Place<P>* row, std::int64_t n, std::span<const std::int64_t> kth) {
  std::int64_t done = 0;  // elements before this position are in place
  for (const std::int64_t k : kth) {
    std::nth_element(row + done, row + k, row + n, [](const Place<P>& a, const Place<P>& b) {
      return a.order != b.order ? a.order < b.order : a.position < b.position;
    });
    done = k + 1;
  }
  return row;
}

template <class E, class P> class LongPlaces {
 public:
  explicit LongPlaces(const RowsToSort& call) : call_(call), n_(call.length) {}
  void run() const {
    constexpr auto item = std::int64_t(sizeof(Place<P>));
    const std::size_t row_bytes = round_up_64(std::size_t(n_) * sizeof(Place<P>));
    const std::int64_t together = call_.together(n_ * item, item, kTogetherBytes);
    call_.share([&](std::int64_t begin, std::int64_t end) {
      const Workspace memory(std::size_t(together + 1) * row_bytes);
      call_.each_block(begin, end, together,
                       [&](const Block& b) { sort_block(b, memory.data(), row_bytes, together); });
    });
  }

 private:
  // Not inlined, to avoid one copy per kind of walk. `rows` must hold `together` + 1 rows, row_bytes apart.
  [[gnu::noinline]] void sort_block(const Block& b, std::byte* rows, std::size_t row_bytes,
                                    std::int64_t together) const {
    const auto row = [&](std::int64_t k) { return reinterpret_cast<Place<P>*>(rows + std::size_t(k) * row_bytes); };
    constexpr std::uint64_t sign = std::uint64_t(1) << 63;
    for (std::int64_t i = 0; i < n_; ++i)
      for (std::int64_t k = 0; k < b.rows; ++k) {
        const auto bits = load_bits<BitsOf<E>>(b.in + i * call_.in_step + k * b.in_stride);
        row(k)[i] = {std::uint64_t(std::int64_t(NumberOf<E>::place_number(bits))) ^ sign, P(i)};
      }
    for (std::int64_t k = 0; k < b.rows; ++k) {
      const Place<P>* const sorted =
          call_.kth.empty() ? sort_digits(row(k), row(together), n_) : select_places(row(k), n_, call_.kth);
      for (std::int64_t i = 0; i < n_; ++i) {
        const std::int64_t position = sorted[i].position;
        std::memcpy(b.out + i * call_.out_step + k * b.out_stride, &position, sizeof(position));
      }
    }
  }

  const RowsToSort& call_;
  const std::int64_t n_;
};

template <class E> void sort_places_as(const RowsToSort& call) {
  if constexpr (sizeof(E) == 8) {
    if (call.length <= kPairsTo) return Ranks<E>(call).run();
    if (call.length <= std::numeric_limits<std::uint32_t>::max()) return LongPlaces<E, std::uint32_t>(call).run();
  }
  LongPlaces<E, std::int64_t>(call).run();
}

}  // namespace

void sort_places(catena::Dtype dtype, const RowsToSort& call) {
  catena::visit_real_dtype("sort", dtype, [&](auto tag) { sort_places_as<typename decltype(tag)::type>(call); });
}

}  // namespace nd::cpu
