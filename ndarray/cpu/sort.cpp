// Sorts. Rows are independent and shared among threads; a few of them are copied together when neighbouring rows are
// neighbours in memory. Long rows are sorted digit by digit, short ones by comparison; both are stable, so the result
// is one and the same.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <utility>

#include <catena/kernels/base/parallel.h>
#include <catena/kernels/traits.h>
#include <catena/ndarray/cpu/along_axis.h>
#include <catena/ndarray/cpu/cpu_backend.h>
#include <catena/ndarray/cpu/workspace.h>

namespace nd::cpu {
namespace {

using catena::Dtype;

constexpr std::int64_t kGrain = 4 * 1024;
constexpr std::int64_t kRadixFrom = 16;  // elements per digit; with fewer, the counters cost more than comparisons
constexpr std::int64_t kCacheLine = 64;
constexpr std::int64_t kTogetherBytes = 4 << 20;

// The bits of an element as an unsigned number in the order of the elements: zeros are equal, every NaN is the largest
// number.
template <class E>
struct OrderOf {
  using Bits = typename catena::uint_of_size<sizeof(E)>::type;
  static constexpr int kBits = 8 * sizeof(E);
  static constexpr Bits kSign = Bits(Bits(1) << (kBits - 1));
  static Bits key(Bits bits) {
    if constexpr (std::is_same_v<E, bool>) {
      return bits;
    } else if constexpr (std::is_integral_v<E>) {
      return std::is_signed_v<E> ? Bits(bits ^ kSign) : bits;
    } else {
      const Bits magnitude = Bits(bits & Bits(~kSign));
      if (magnitude > catena::bit_cast<Bits>(E(std::numeric_limits<float>::infinity()))) return Bits(~Bits(0));
      if (magnitude == 0) return kSign;
      return bits & kSign ? Bits(~bits) : Bits(bits | kSign);
    }
  }
};

// What is moved about: an element, or the key of one with its position.
template <class E>
struct Value {
  typename OrderOf<E>::Bits bits;
  auto key() const { return OrderOf<E>::key(bits); }
};
template <class E, class P>
struct Place {
  typename OrderOf<E>::Bits order;
  P position;
  auto key() const { return order; }
};

// n elements of `row`, with room for as many in `spare`; returns where they lie in order.
template <class Item>
Item* sort_items(Item* row, Item* spare, std::int64_t n) {
  using Bits = decltype(row->key());
  constexpr int digits = sizeof(Bits);
  if (n < kRadixFrom * digits) {
    std::stable_sort(row, row + n, [](const Item& a, const Item& b) { return a.key() < b.key(); });
    return row;
  }
  std::int64_t count[digits][256] = {};
  for (std::int64_t i = 0; i < n; ++i) {
    const Bits key = row[i].key();
    for (int d = 0; d < digits; ++d) ++count[d][(key >> (8 * d)) & 255];
  }
  for (int d = 0; d < digits; ++d) {
    std::int64_t* const next = count[d];
    if (next[(row[0].key() >> (8 * d)) & 255] == n) continue;  // the same digit everywhere
    std::int64_t start = 0;
    for (int v = 0; v < 256; ++v) start += std::exchange(next[v], start);
    for (std::int64_t i = 0; i < n; ++i) spare[next[(row[i].key() >> (8 * d)) & 255]++] = row[i];
    std::swap(row, spare);
  }
  return row;
}

struct RowsToSort {
  const Walk& rows;
  std::int64_t length, in_step, out_step;

  // Rows whose elements share cache lines are copied at once.
  std::int64_t together(std::int64_t item_bytes) const {
    if (std::llabs(in_step) < kCacheLine && std::llabs(out_step) < kCacheLine) return 1;
    const std::int64_t all = rows.units() * rows.elements_per_unit();
    return std::clamp<std::int64_t>(std::min(kTogetherBytes / (length * item_bytes), all), 1, kCacheLine / item_bytes);
  }
};

template <class E>
void load_item(Value<E>& to, const std::byte* from, std::int64_t) {
  std::memcpy(&to.bits, from, sizeof(E));
}
template <class E, class P>
void load_item(Place<E, P>& to, const std::byte* from, std::int64_t i) {
  typename OrderOf<E>::Bits bits;
  std::memcpy(&bits, from, sizeof(E));
  to = {OrderOf<E>::key(bits), P(i)};
}
template <class E>
void store_item(const Value<E>& from, std::byte* to) {
  std::memcpy(to, &from.bits, sizeof(E));
}
template <class E, class P>
void store_item(const Place<E, P>& from, std::byte* to) {
  const std::int64_t position = from.position;
  std::memcpy(to, &position, sizeof(position));
}

template <class Item>
void sort_rows(const RowsToSort& call) {
  const std::int64_t n = call.length;
  const std::size_t row_bytes = round_up_64(std::size_t(n) * sizeof(Item));
  const std::int64_t together = call.together(sizeof(Item));
  catena::parallel_for(call.rows.units(), call.rows.grain(std::max<std::int64_t>(1, kGrain / n)),
                       [&](std::int64_t begin, std::int64_t end) {
                         const Workspace memory(std::size_t(together + 1) * row_bytes);
                         const auto row = [&](std::int64_t k) {
                           return reinterpret_cast<Item*>(memory.data() + std::size_t(k) * row_bytes);
                         };
                         Item* const spare = row(together);
                         call.rows.run(begin, end,
                                       [&](std::byte* const* ptr, const std::int64_t* stride, std::int64_t count) {
                                         for (std::int64_t j = 0; j < count; j += together) {
                                           const std::int64_t w = std::min(together, count - j);
                                           const std::byte* in = ptr[0] + j * stride[0];
                                           std::byte* out = ptr[1] + j * stride[1];
                                           for (std::int64_t i = 0; i < n; ++i)
                                             for (std::int64_t k = 0; k < w; ++k)
                                               load_item(row(k)[i], in + i * call.in_step + k * stride[0], i);
                                           for (std::int64_t k = 0; k < w; ++k) {
                                             const Item* sorted = sort_items(row(k), spare, n);
                                             for (std::int64_t i = 0; i < n; ++i)
                                               store_item(sorted[i], out + i * call.out_step + k * stride[1]);
                                           }
                                         }
                                       });
                       });
}

}  // namespace

void CpuBackend::sort(const catena::SortCall& call, StreamRef) {
  if (catena::size_of(*call.in.shape) == 0) return;
  const Walk rows = walk_rows(call.in, call.out, call.axis);
  const RowsToSort all{rows, (*call.in.shape)[call.axis], (*call.in.strides)[call.axis],
                       (*call.out.strides)[call.axis]};
  catena::visit_dtype(call.in.dtype, [&](auto tag) {
    using E = typename decltype(tag)::type;
    if (!call.positions) return sort_rows<Value<E>>(all);
    if (all.length <= std::numeric_limits<std::uint32_t>::max()) return sort_rows<Place<E, std::uint32_t>>(all);
    return sort_rows<Place<E, std::int64_t>>(all);
  });
}

}  // namespace nd::cpu
