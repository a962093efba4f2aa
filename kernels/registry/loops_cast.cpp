#include <array>
#include <cstring>
#include <type_traits>
#include <utility>

#include <catena/kernels/base/error.h>
#include <catena/kernels/base/word.h>
#include <catena/kernels/registry/cast.h>
#include <catena/kernels/registry/define.h>
#include <catena/kernels/registry/tuning.h>

#ifdef CATENA_HAS_MULTIARCH
#include <immintrin.h>
#endif

namespace catena {
namespace {

// Signed and unsigned integers of one width share conversions: a target counts as unsigned, and so does a source that
// is not widened.
template <class T>
inline constexpr bool any_integer = std::is_integral_v<T> && !is_same<T, bool>;  // (is_int is about compute types)
template <class T, bool kInteger> struct without_sign { using type = T; };
template <class T> struct without_sign<T, true> { using type = unsigned_of<T>; };
template <class From, class To> struct canonical {
  static constexpr bool widens = any_integer<To> && sizeof(From) < sizeof(To);
  static constexpr bool exact_source = is_same<To, bool> || (any_integer<To> && !widens);
  static constexpr bool exact_target = any_integer<From> || is_same<From, bool>;
  using integer_from = typename without_sign<From, any_integer<From> && exact_source>::type;
  // Loops over bool do not vectorise; loops over its byte do.
  using from = std::conditional_t<is_same<From, bool>, std::uint8_t, integer_from>;
  using to = typename without_sign<To, any_integer<To> && exact_target>::type;
};

using BlockFn = void (*)(const std::byte* in, std::byte* out, std::int64_t n);

template <class From, class To>
CATENA_MULTIARCH void convert_block(const std::byte* in, std::byte* out, std::int64_t n) {
  const From* x = reinterpret_cast<const From*>(in);
  To* y = reinterpret_cast<To*>(out);
#pragma GCC ivdep
  for (std::int64_t i = 0; i < n; ++i) y[i] = convert<To>(x[i]);
}
// Converts bools, whose bytes other than 0 all mean true, to 0 and 1.
template <class To> CATENA_MULTIARCH void convert_bools(const std::byte* in, std::byte* out, std::int64_t n) {
  const std::uint8_t* x = reinterpret_cast<const std::uint8_t*>(in);
  To* y = reinterpret_cast<To*>(out);
#pragma GCC ivdep
  for (std::int64_t i = 0; i < n; ++i) y[i] = convert<To>(std::uint8_t(x[i] != 0));
}

// Converts numbers to float32, rounded to odd, from which they can be rounded to a 16-bit float without double
// rounding.
template <class From> CATENA_MULTIARCH void round_to_odd_block(const std::byte* in, std::byte* out, std::int64_t n) {
  const From* x = reinterpret_cast<const From*>(in);
  float* y = reinterpret_cast<float*>(out);
#pragma GCC ivdep
  for (std::int64_t i = 0; i < n; ++i) y[i] = rounded_to_odd(x[i]);
}

// Converts between float16 and float by the processor's instructions, which compilers do not generate for the portable
// code. Both agree in all values except NaN: converting to float, the instructions quiet a signalling NaN; converting
// to float16, they keep the payload. Groups with a NaN and the last elements therefore use the portable code.
#ifdef CATENA_HAS_MULTIARCH
constexpr std::int64_t kGroup = 32;
constexpr int kNearest = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
constexpr __mmask16 kAll = 0xffff;  // g++ 12 warns of a variable inside the intrinsics that have no mask

__attribute__((target("default"))) void halves_to_floats(const std::byte* in, std::byte* out, std::int64_t n) {
  convert_block<float16, float>(in, out, n);
}
__attribute__((target("default"))) void floats_to_halves(const std::byte* in, std::byte* out, std::int64_t n) {
  convert_block<float, float16>(in, out, n);
}

__attribute__((target("arch=x86-64-v3"))) void halves_to_floats(const std::byte* in, std::byte* out, std::int64_t n) {
  for (; n >= kGroup; n -= kGroup, in += 2 * kGroup, out += 4 * kGroup) {
    __m256 f[4];
    for (int k = 0; k < 4; ++k) f[k] = _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(in) + k));
    const __m256 nan = _mm256_or_ps(_mm256_cmp_ps(f[0], f[1], _CMP_UNORD_Q), _mm256_cmp_ps(f[2], f[3], _CMP_UNORD_Q));
    if (_mm256_movemask_ps(nan) != 0) convert_block<float16, float>(in, out, kGroup);
    else
      for (int k = 0; k < 4; ++k) _mm256_storeu_ps(reinterpret_cast<float*>(out) + 8 * k, f[k]);
  }
  if (n > 0) convert_block<float16, float>(in, out, n);
}
__attribute__((target("arch=x86-64-v3"))) void floats_to_halves(const std::byte* in, std::byte* out, std::int64_t n) {
  for (; n >= kGroup; n -= kGroup, in += 4 * kGroup, out += 2 * kGroup) {
    __m256 f[4];
    for (int k = 0; k < 4; ++k) f[k] = _mm256_loadu_ps(reinterpret_cast<const float*>(in) + 8 * k);
    const __m256 nan = _mm256_or_ps(_mm256_cmp_ps(f[0], f[1], _CMP_UNORD_Q), _mm256_cmp_ps(f[2], f[3], _CMP_UNORD_Q));
    if (_mm256_movemask_ps(nan) != 0) convert_block<float, float16>(in, out, kGroup);
    else
      for (int k = 0; k < 4; ++k)
        _mm_storeu_si128(reinterpret_cast<__m128i*>(out) + k, _mm256_cvtps_ph(f[k], kNearest));
  }
  if (n > 0) convert_block<float, float16>(in, out, n);
}

__attribute__((target("arch=x86-64-v4"))) void halves_to_floats(const std::byte* in, std::byte* out, std::int64_t n) {
  for (; n >= kGroup; n -= kGroup, in += 2 * kGroup, out += 4 * kGroup) {
    __m512 f[2];
    for (int k = 0; k < 2; ++k)
      f[k] = _mm512_maskz_cvtph_ps(kAll, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(in) + k));
    if (_mm512_cmp_ps_mask(f[0], f[1], _CMP_UNORD_Q) != 0) convert_block<float16, float>(in, out, kGroup);
    else
      for (int k = 0; k < 2; ++k) _mm512_storeu_ps(reinterpret_cast<float*>(out) + 16 * k, f[k]);
  }
  if (n > 0) convert_block<float16, float>(in, out, n);
}
__attribute__((target("arch=x86-64-v4"))) void floats_to_halves(const std::byte* in, std::byte* out, std::int64_t n) {
  for (; n >= kGroup; n -= kGroup, in += 4 * kGroup, out += 2 * kGroup) {
    __m512 f[2];
    for (int k = 0; k < 2; ++k) f[k] = _mm512_loadu_ps(reinterpret_cast<const float*>(in) + 16 * k);
    if (_mm512_cmp_ps_mask(f[0], f[1], _CMP_UNORD_Q) != 0) convert_block<float, float16>(in, out, kGroup);
    else
      for (int k = 0; k < 2; ++k)
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(out) + k, _mm512_maskz_cvtps_ph(kAll, f[k], kNearest));
  }
  if (n > 0) convert_block<float, float16>(in, out, n);
}
#else
constexpr BlockFn halves_to_floats = &convert_block<float16, float>, floats_to_halves = &convert_block<float, float16>;
#endif

ND_FN std::uint16_t round_to_bfloat16(std::uint32_t float_bits) {
  return std::uint16_t((float_bits + 0x7fff + (float_bits >> 16 & 1)) >> 16);
}
// Of float32 numbers that were rounded from integers. Returns false if one lies in the middle of two bfloat16, where
// the integer may have been at either side of it.
CATENA_MULTIARCH bool try_to_bfloat16(const std::byte* floats, std::byte* out, std::int64_t n) {
  constexpr std::uint32_t kFraction = 0xffff, kMiddle = 0x8000, kNoSign = 0x7fffffff;
  const std::uint32_t exact = bit_cast<std::uint32_t>(float(1 << 24));  // float32 holds the integers below
  const std::uint32_t* x = reinterpret_cast<const std::uint32_t*>(floats);
  std::uint16_t* y = reinterpret_cast<std::uint16_t*>(out);
  std::uint32_t any = 0;
#pragma GCC ivdep
  for (std::int64_t i = 0; i < n; ++i) {
    any |= ((x[i] & kFraction) == kMiddle) & ((x[i] & kNoSign) >= exact);
    y[i] = round_to_bfloat16(x[i]);
  }
  return any == 0;
}

// Integers of 32 bits. Numbers that float32 does not hold have 25 bits or more, of which the last 8 are cut off and the
// next one is set where they were not 0: of a negative number, too, that is the odd one of its two neighbours.
template <class From> CATENA_MULTIARCH void integers_to_bfloat16(const std::byte* in, std::byte* out, std::int64_t n) {
  constexpr std::uint32_t kCut = 0xff, kHeld = 1 << 24;
  const From* x = reinterpret_cast<const From*>(in);
  std::uint16_t* y = reinterpret_cast<std::uint16_t*>(out);
#pragma GCC ivdep
  for (std::int64_t i = 0; i < n; ++i) {
    const std::uint32_t v = std::uint32_t(x[i]);
    const bool is_long = std::is_signed_v<From> ? v + kHeld > 2 * kHeld : v > kHeld;
    const std::uint32_t odd = (v | ((v & kCut) + kCut)) & ~kCut;
    y[i] = round_to_bfloat16(bit_cast<std::uint32_t>(static_cast<float>(From(is_long ? odd : v))));
  }
}

template <class From, class To> constexpr BlockFn direct_block() {
  using to = typename canonical<From, To>::to;
  if constexpr (is_same<From, float16> && is_same<To, float>) return halves_to_floats;
  if constexpr (is_same<From, float> && is_same<To, float16>) return floats_to_halves;
  if constexpr (is_same<From, bool> && !is_same<To, bool>) return &convert_bools<to>;
  else return &convert_block<typename canonical<From, To>::from, to>;
}
// Conversions of some types pass through one other type: 16-bit floats through float, complex numbers through their
// real part. The conversions are defined this way.
template <class From, class Middle, class To> void convert_by(const std::byte* in, std::byte* out, std::int64_t n);
template <class T> inline constexpr bool is_half = is_same<T, float16> || is_same<T, bfloat16>;
// True if a number may round to a float that is halfway between two 16-bit floats. Integers do not for float16: an
// integer that a float cannot hold is beyond the largest float16.
template <class From, class To>
inline constexpr bool needs_odd = is_same<From, double> ||
                                  (is_same<To, bfloat16> && any_integer<From> && sizeof(From) > 2);
template <class From, class To> constexpr BlockFn block_function() {
  if constexpr (is_half<From> && !is_same<To, float>) {
    return &convert_by<From, float, To>;
  } else if constexpr (is_same<To, bfloat16> && any_integer<From> && sizeof(From) == 4) {
    return &integers_to_bfloat16<From>;
  } else if constexpr (is_half<To> && !is_same<From, float> && !is_complex<From>) {
    return &convert_by<From, float, To>;
  } else if constexpr (is_complex<From> && !is_complex<To> && !is_same<To, bool> && !is_same<To, real_of_t<From>>) {
    return &convert_by<From, real_of_t<From>, To>;
  } else if constexpr (is_complex<To> && !is_complex<From> && !is_same<From, real_of_t<To>>) {
    return &convert_by<From, real_of_t<To>, To>;
  } else {
    return direct_block<From, To>();
  }
}
template <class From, class Middle, class To> void convert_by(const std::byte* in, std::byte* out, std::int64_t n) {
  alignas(64) std::byte tile[kTileElements * sizeof(Middle)];
  for (std::int64_t i = 0; i < n; i += kTileElements) {
    const std::int64_t m = n - i < kTileElements ? n - i : kTileElements;
    const std::byte* const from = in + i * std::int64_t(sizeof(From));
    std::byte* const to = out + i * std::int64_t(sizeof(To));
    if constexpr (is_half<To> && is_same<From, double>) {
      round_to_odd_block<From>(from, tile, m);
    } else {
      block_function<From, Middle>()(from, tile, m);
      if constexpr (is_half<To> && needs_odd<From, To>) {
        if (try_to_bfloat16(tile, to, m)) continue;
        round_to_odd_block<From>(from, tile, m);
      }
    }
    block_function<Middle, To>()(tile, to, m);
  }
}

template <class Bits>
void copy_elements(const std::byte* in, std::int64_t in_stride, std::byte* out, std::int64_t out_stride,
                   std::int64_t n) {
  // Four elements per pass: advancing a pointer for each element would limit the loop.
  for (; n >= 4; n -= 4, in += 4 * in_stride, out += 4 * out_stride) {
    Bits bits[4];
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k) std::memcpy(&bits[k], in + k * in_stride, sizeof(Bits));
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k) std::memcpy(out + k * out_stride, &bits[k], sizeof(Bits));
  }
  for (std::int64_t i = 0; i < n; ++i, in += in_stride, out += out_stride) {
    Bits bits;
    std::memcpy(&bits, in, sizeof(bits));
    std::memcpy(out, &bits, sizeof(bits));
  }
}
// Copies every kStep-th element. Compilers use shuffles if the step is a constant.
template <class Bits, std::int64_t kStep>
CATENA_MULTIARCH void gather_block(const std::byte* in, std::byte* out, std::int64_t n) {
  const Bits* x = reinterpret_cast<const Bits*>(in);
  Bits* y = reinterpret_cast<Bits*>(out);
#pragma GCC ivdep
  for (std::int64_t i = 0; i < n; ++i) y[i] = x[i * kStep];
}
// Stores whole vectors, because storing single elements is several times slower.
template <class Bits> CATENA_MULTIARCH void repeat_element(const std::byte* in, std::byte* out, std::int64_t n) {
  constexpr std::int64_t kVector = 64 / std::int64_t(sizeof(Bits));
  Bits x, *y = reinterpret_cast<Bits*>(out);
  std::memcpy(&x, in, sizeof(Bits));
  std::int64_t i = 0;
  for (; i + kVector <= n; i += kVector)
#pragma GCC unroll 1
    for (std::int64_t j = 0; j < kVector; ++j) y[i + j] = x;
  for (; i < n; ++i) y[i] = x;
}
template <class Bits>
void gather_elements(const std::byte* in, std::int64_t in_stride, std::byte* out, std::int64_t n) {
  constexpr std::int64_t size = sizeof(Bits);
  if (in_stride == 0 && n >= 8) return repeat_element<Bits>(in, out, n);
  if constexpr (size <= 4) {
    if (n < 16) return copy_elements<Bits>(in, in_stride, out, size, n);
    if (in_stride == 2 * size) return gather_block<Bits, 2>(in, out, n);
    if (in_stride == 3 * size) return gather_block<Bits, 3>(in, out, n);
    if (in_stride == 4 * size) return gather_block<Bits, 4>(in, out, n);
    if (in_stride == -size) return gather_block<Bits, -1>(in, out, n);
  }
  copy_elements<Bits>(in, in_stride, out, size, n);
}
void copy_strided(std::int64_t size, const std::byte* in, std::int64_t in_stride, std::byte* out,
                  std::int64_t out_stride, std::int64_t n) {
  visit_word(static_cast<std::size_t>(size), [&](auto word) {
    using Bits = typename decltype(word)::type;
    if (out_stride == size) gather_elements<Bits>(in, in_stride, out, n);
    else copy_elements<Bits>(in, in_stride, out, out_stride, n);
  });
}

template <class Bits>
void copy(const std::byte* in, std::int64_t in_stride, std::byte* out, std::int64_t out_stride, std::int64_t n) {
  constexpr std::int64_t size = sizeof(Bits);
  if (in_stride == size && out_stride == size) {
    if (in != out && n > 0) std::memmove(out, in, static_cast<std::size_t>(n * size));
  } else if (out_stride == size) {
    gather_elements<Bits>(in, in_stride, out, n);
  } else {
    copy_elements<Bits>(in, in_stride, out, out_stride, n);
  }
}

constexpr CastFn copy_of(std::size_t itemsize) {
  return visit_word(itemsize, [](auto word) -> CastFn { return &copy<typename decltype(word)::type>; });
}

void convert_by_tiles(BlockFn block, std::int64_t from_size, std::int64_t to_size, const std::byte* in,
                      std::int64_t in_stride, std::byte* out, std::int64_t out_stride, std::int64_t n) {
  alignas(64) std::byte tile_in[kTileElements * kMaxItemsize], tile_out[kTileElements * kMaxItemsize];
  if (in_stride == 0 && n > 0) {
    block(in, tile_out, 1);
    return copy_strided(to_size, tile_out, 0, out, out_stride, n);
  }
  for (std::int64_t i = 0; i < n; i += kTileElements) {
    const std::int64_t m = n - i < kTileElements ? n - i : kTileElements;
    const std::byte* from = in + i * in_stride;
    if (in_stride != from_size) {
      copy_strided(from_size, from, in_stride, tile_in, from_size, m);
      from = tile_in;
    }
    std::byte* to = out + i * out_stride;
    block(from, out_stride == to_size ? to : tile_out, m);
    if (out_stride != to_size) copy_strided(to_size, tile_out, to_size, to, out_stride, m);
  }
}
template <class From, class To>
void convert_strided(const std::byte* in, std::int64_t in_stride, std::byte* out, std::int64_t out_stride,
                     std::int64_t n) {
  constexpr std::int64_t from_size = sizeof(From), to_size = sizeof(To);
  constexpr BlockFn block = block_function<From, To>();
  if (in_stride == from_size && out_stride == to_size) return block(in, out, n);
  convert_by_tiles(block, from_size, to_size, in, in_stride, out, out_stride, n);
}

template <std::size_t From, std::size_t To> constexpr CastFn entry() {
  using F = typename element_type<static_cast<Dtype>(From)>::type;
  using T = typename element_type<static_cast<Dtype>(To)>::type;
  // True for equal types and integers of one width. (bool is different: its byte may be other than 0 and 1.)
  constexpr bool same_bits = is_same<F, T> || (sizeof(F) == sizeof(T) && is_integer(static_cast<Dtype>(To)) &&
                                               is_integer(static_cast<Dtype>(From)));
  if constexpr (same_bits) return copy_of(sizeof(F));
  else return &convert_strided<F, T>;
}

using Row = std::array<CastFn, kNumDtypes>;
template <std::size_t From, std::size_t... To> constexpr Row make_row(std::index_sequence<To...>) {
  return {entry<From, To>()...};
}
template <std::size_t... From> constexpr std::array<Row, kNumDtypes> make_table(std::index_sequence<From...> all) {
  return {make_row<From>(all)...};
}
constexpr std::array<Row, kNumDtypes> kTable = make_table(std::make_index_sequence<kNumDtypes>{});

}  // namespace

CastFn cast_function(Dtype from, Dtype to) {
  const auto f = static_cast<std::size_t>(from), t = static_cast<std::size_t>(to);
  check<TypeError>(f < kNumDtypes && t < kNumDtypes, "cast", "from dtype ", f, " to dtype ", t,
                   ": one of them is no element type");
  return kTable[f][t];
}

CastFn copy_function(std::size_t itemsize) { return copy_of(itemsize); }

}  // namespace catena
