// The rows of a sort and the numbers by which their elements are ordered. Internal to the files loops_sort*.cpp.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <span>
#include <type_traits>

#include <catena/kernels/base/parallel.h>
#include <catena/kernels/traits.h>
#include <catena/ndarray/cpu/stream_store.h>
#include <catena/ndarray/cpu/tuning.h>
#include <catena/ndarray/cpu/walk.h>

namespace nd::cpu {

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
  bool lies_close() const { return std::llabs(in_step) < kLine && std::llabs(out_step) < kLine; }
  // Returns the number of rows that are copied at once: rows whose elements share cache lines, as far as `available`
  // bytes hold them.
  std::int64_t together(std::int64_t row_bytes, std::int64_t item_bytes, std::int64_t available) const {
    if (lies_close()) return 1;
    const std::int64_t all = rows.units() * rows.elements_per_unit();
    return std::clamp<std::int64_t>(std::min(available / row_bytes, all), 1, kLine / item_bytes);
  }
  // Calls f(begin, end) on ranges of units, on several threads.
  template <class F> void share(F&& f) const {
    catena::parallel_for(rows.units(), rows.grain(std::max<std::int64_t>(1, kSortGrain / length)), f);
  }
  // Calls f on blocks of at most `together` rows.
  template <class F> void each_block(std::int64_t begin, std::int64_t end, std::int64_t together, F&& f) const {
    rows.run(begin, end, [&](std::byte* const* ptr, const std::int64_t* stride, std::int64_t count) {
      for (std::int64_t j = 0; j < count; j += together)
        f({ptr[0] + j * stride[0], stride[0], ptr[1] + j * stride[1], stride[1], std::min(together, count - j)});
    });
  }
};

// Stores the positions of the sorted elements, for rows whose keys cannot hold an element and its position: of elements
// of 8 bytes, or of more than 2^32 elements.
void sort_places(catena::Dtype dtype, const RowsToSort& call);

template <class E> using BitsOf = typename catena::uint_of_size<sizeof(E)>::type;
template <class B> ND_FN B load_bits(const std::byte* from) {
  B bits;
  std::memcpy(&bits, from, sizeof(B));
  return bits;
}

// The number of an element: a signed integer in the order of the elements, and the element of a number. The bits of a
// float are ordered like integers, but every NaN has the largest number, which loses its bits. A negative zero precedes
// zero.
template <class E> struct NumberOf {
  using Bits = BitsOf<E>;
  using Number = std::conditional_t<sizeof(E) <= 4, std::int32_t, std::int64_t>;
  static constexpr bool floating = !std::is_integral_v<E>;
  static constexpr Bits sign = Bits(Bits(1) << (8 * sizeof(E) - 1)), magnitude = Bits(~sign);
  static constexpr Bits flip = std::is_unsigned_v<E> && sizeof(E) >= 4 ? sign : Bits(0);

  static ND_FN Bits infinity() { return catena::bit_cast<Bits>(E(std::numeric_limits<float>::infinity())); }
  // The functions return 0 or 1 without comparisons, which do not vectorise for every width on every processor.
  static ND_FN Bits top(Bits x) { return Bits(x >> (8 * sizeof(E) - 1)); }
  static ND_FN Bits is_nan(Bits bits) { return top(Bits(infinity() - (bits & magnitude))); }
  static ND_FN Bits is_zero(Bits bits) {
    return top(Bits(Bits((bits & magnitude) - 1) & ~bits)) | is_negative_zero(bits);
  }
  static ND_FN Bits is_negative_zero(Bits bits) {
    const Bits x = Bits(bits ^ sign);
    return top(Bits(Bits(x - 1) & ~x));
  }
  static ND_FN Number number(Bits bits) {
    if constexpr (floating) {
      const Bits nan = Bits(Bits(0) - is_nan(bits));
      const Bits ordered = Bits(bits ^ (Bits(Bits(0) - top(bits)) & magnitude));
      return Number(std::make_signed_t<Bits>(Bits(ordered & ~nan) | Bits(nan & magnitude)));
    } else if constexpr (std::is_unsigned_v<E> && sizeof(E) < 4) {
      return Number(bits);
    } else {
      return Number(std::make_signed_t<Bits>(bits ^ flip));
    }
  }
  // The same number for both zeros.
  static ND_FN Number place_number(Bits bits) {
    if constexpr (floating) return number(bits) + Number(is_negative_zero(bits));
    else return number(bits);
  }
  static ND_FN Bits element(Number number) {
    if constexpr (floating) return Bits(Bits(number) ^ (Bits(Bits(0) - top(Bits(number))) & magnitude));
    else return Bits(Bits(number) ^ flip);
  }
};

}  // namespace nd::cpu
