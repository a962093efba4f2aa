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

// How the bits of an element become an unsigned number in the order of the elements: integers by their sign bit, floats
// so that zeros are equal and every NaN is the largest number. `infinity` tells floats of one width apart.
template <class B> inline constexpr B kSign = B(B(1) << (8 * sizeof(B) - 1));
template <class B> B float_order(B bits, B infinity) {
  const B magnitude = B(bits & B(~kSign<B>));
  if (magnitude > infinity) return B(~B(0));
  if (magnitude == 0) return kSign<B>;
  return bits & kSign<B> ? B(~bits) : B(bits | kSign<B>);
}
template <class B> struct Order {
  B flip = 0;  // of integers
  B infinity = 0;
  bool floating = false;

  B operator()(B bits) const { return floating ? float_order(bits, infinity) : B(bits ^ flip); }
};
template <class E> using BitsOf = typename catena::uint_of_size<sizeof(E)>::type;
template <class E> BitsOf<E> infinity_of() {
  return catena::bit_cast<BitsOf<E>>(E(std::numeric_limits<float>::infinity()));
}
template <class E> Order<BitsOf<E>> order_of() {
  if constexpr (!std::is_integral_v<E>) return {0, infinity_of<E>(), true};
  else return {std::is_signed_v<E> ? kSign<BitsOf<E>> : BitsOf<E>(0), 0, false};
}

// What is moved about: an integer as its number, a float, whose number does not hold all of its bits, or the number of
// an element with its position. Integers of one width share the code, and so do positions.
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

// n elements of `row`, with room for as many in `spare`; returns where they lie in order.
template <class Item> Item* sort_items(Item* row, Item* spare, std::int64_t n) {
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

template <class B> B load_bits(const std::byte* from) {
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

template <class Item, class B> void sort_rows(const RowsToSort& call, const Order<B>& order) {
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
                                               load_item(row(k)[i], order, in + i * call.in_step + k * stride[0], i);
                                           for (std::int64_t k = 0; k < w; ++k) {
                                             const Item* sorted = sort_items(row(k), spare, n);
                                             for (std::int64_t i = 0; i < n; ++i)
                                               store_item(sorted[i], order, out + i * call.out_step + k * stride[1]);
                                           }
                                         }
                                       });
                       });
}

}  // namespace

void CpuBackend::sort(const catena::bound::Sort& call, StreamRef) {
  if (catena::size_of(*call.in.shape) == 0) return;
  const Walk rows = walk_rows(call.in, call.out, call.axis);
  const RowsToSort all{rows, (*call.in.shape)[call.axis], (*call.in.strides)[call.axis],
                       (*call.out.strides)[call.axis]};
  catena::visit_real_dtype("sort", call.in.dtype, [&](auto tag) {
    using E = typename decltype(tag)::type;
    using B = BitsOf<E>;
    const Order<B> order = order_of<E>();
    if (call.positions && all.length <= std::numeric_limits<std::uint32_t>::max())
      return sort_rows<Place<B, std::uint32_t>>(all, order);
    if (call.positions) return sort_rows<Place<B, std::int64_t>>(all, order);
    if constexpr (std::is_integral_v<E>) return sort_rows<Integer<B>>(all, order);
    else return sort_rows<Float<E>>(all, order);
  });
}

}  // namespace nd::cpu
