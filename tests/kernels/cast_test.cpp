// Conversion loops: every pair of dtypes, every layout.
#include <cmath>

#include <boost/test/unit_test.hpp>

#include <catena/kernels/base/error.h>
#include <catena/kernels/registry/cast.h>
#include <catena/tests/kernels/kernel_calls.h>

BOOST_AUTO_TEST_SUITE(cast)

using namespace test;  // NOLINT

template <class T> T value(Noise& noise) {
  const std::uint64_t bits = noise.bits();
  if constexpr (std::is_same_v<T, bool>) return bits & 1;
  else if constexpr (std::is_integral_v<T>) return static_cast<T>(bits >> (bits % 4 == 0 ? 56 : 1));
  constexpr double special[] = {
      0.0,   -0.0, HUGE_VAL, -HUGE_VAL, NAN,  2147483648.0, -2147483649.0, 9223372036854775808.0, 1.8446744073709552e19,
      255.5, -0.5, 65504.0,  65520.0,   1e-8, 3e38,         1e300};
  const auto part = [&](std::uint64_t k) {
    return bits % 3 == 0 ? special[(bits >> k) % 16] : noise.uniform(-300, 300);
  };
  if constexpr (is_complex<T>) return T(convert<real_of_t<T>>(part(8)), convert<real_of_t<T>>(part(16)));
  else return convert<T>(part(8));
}

template <class T> bool same_bits_or_nan(T a, T b) {
  if constexpr (std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>)
    return same_value(static_cast<float>(a), static_cast<float>(b));
  else return same_value(a, b);
}

template <class From, class To> int wrong_layouts(Noise& noise) {
  constexpr std::int64_t n = 1200;
  const CastFn cast = cast_function(dtype_of<From>, dtype_of<To>);
  int wrong = 0;
  for (std::int64_t in_step : {1, 2, -1, 0})
    for (std::int64_t out_step : {1, 3, -2})
      for (std::int64_t count : {std::int64_t(0), std::int64_t(1), std::int64_t(37), std::int64_t(512), n}) {
        Cells<From> in(3 * n);
        Cells<To> out(3 * n);
        for (auto& v : in) v = value<From>(noise);
        const From* x = reinterpret_cast<const From*>(in.data()) + (in_step < 0 ? n : 0);
        To* y = reinterpret_cast<To*>(out.data()) + (out_step < 0 ? 2 * n : 0);
        cast(reinterpret_cast<const std::byte*>(x), in_step * std::int64_t(sizeof(From)),
             reinterpret_cast<std::byte*>(y), out_step * std::int64_t(sizeof(To)), count);
        for (std::int64_t i = 0; i < count; ++i)
          wrong += !same_bits_or_nan(y[i * out_step], convert<To>(x[i * in_step]));
      }
  return wrong;
}

BOOST_AUTO_TEST_CASE(all_pairs_convert_as_the_scalar_rule_in_any_layout) {
  Noise noise(5);
  for (int from = 0; from < kNumDtypes; ++from)
    for (int to = 0; to < kNumDtypes; ++to)
      visit_dtype(static_cast<Dtype>(from), [&](auto f) {
        visit_dtype(static_cast<Dtype>(to), [&](auto t) {
          const int wrong = wrong_layouts<typename decltype(f)::type, typename decltype(t)::type>(noise);
          BOOST_TEST(wrong == 0, static_cast<Dtype>(from) << " to " << static_cast<Dtype>(to) << ": " << wrong);
        });
      });
}

BOOST_AUTO_TEST_CASE(every_half_survives_the_way_to_float_and_back) {
  std::vector<std::uint16_t> bits(65536), back(65536);
  for (int i = 0; i < 65536; ++i) bits[std::size_t(i)] = static_cast<std::uint16_t>(i);
  std::vector<float> wide(65536);
  for (Dtype t : {Dtype::float16, Dtype::bfloat16}) {
    cast_function(t, Dtype::float32)(bytes_of(bits), 2, bytes_of(wide), 4, 65536);
    cast_function(Dtype::float32, t)(bytes_of(wide), 4, bytes_of(back), 2, 65536);
    int wrong = 0;
    for (std::size_t i = 0; i < 65536; ++i) wrong += !std::isnan(wide[i]) && bits[i] != back[i];
    BOOST_TEST(wrong == 0);
  }
}

// The loops may use instructions of the processor: their bits are those of the rule in float16.h, at any place of a
// vector, next to NaN and without.
BOOST_AUTO_TEST_CASE(float16_has_the_bits_of_the_rule) {
  std::vector<std::uint16_t> half(65536);
  for (std::size_t i = 0; i < half.size(); ++i) half[i] = static_cast<std::uint16_t>(i);
  std::vector<std::uint32_t> wide(65536);
  cast_function(Dtype::float16, Dtype::float32)(bytes_of(half), 2, bytes_of(wide), 4, 65536);
  int wrong = 0;
  for (std::size_t i = 0; i < half.size(); ++i)
    wrong += wide[i] != bit_cast<std::uint32_t>(float(float16::from_bits(half[i])));
  BOOST_TEST(wrong == 0, wrong << " of float16");

  Noise noise(7);
  std::vector<std::uint32_t> x;
  for (std::uint32_t bits : wide)  // every float16, the midpoints between them, and the neighbours of both
    for (const std::uint32_t step : {0x0u, 0x1u, 0xfffu, 0x1000u, 0x1001u, 0xffffffffu}) x.push_back(bits + step);
  for (int i = 0; i < 1000000; ++i) x.push_back(static_cast<std::uint32_t>(noise.bits()));
  for (std::uint32_t bits = 0x7f7ffff0u; bits < 0x7f800010u; ++bits) x.push_back(bits), x.push_back(bits | 1u << 31);
  for (int i = 0; i < 1000; ++i) x.push_back((i % 2 == 0 ? 0x7f800001u : 0xff800001u) + std::uint32_t(i) * 4001u);
  for (const std::size_t from : {0u, 5u}) {
    const std::size_t n = x.size() - from;
    std::vector<std::uint16_t> narrow(n);
    cast_function(Dtype::float32, Dtype::float16)(bytes_of(x) + 4 * from, 4, bytes_of(narrow), 2, std::int64_t(n));
    wrong = 0;
    for (std::size_t i = 0; i < n; ++i) wrong += narrow[i] != float16(bit_cast<float>(x[i + from])).bits;
    BOOST_TEST(wrong == 0, wrong << " of float32");
  }
}

template <class T> void check_steps() {
  for (std::int64_t step : {-4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 7, 8})
    for (std::int64_t n : {0, 1, 15, 16, 17, 33, 257}) {
      std::vector<T> x(std::size_t(8 * n + 1)), y(std::size_t(n + 1), T(77));
      for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<T>(i * 31 + i / 200);
      const std::int64_t first = step < 0 ? -step * std::max<std::int64_t>(n - 1, 0) : 0;
      const auto size = std::int64_t(sizeof(T));
      copy_function(sizeof(T))(bytes_of(x) + first * size, step * size, bytes_of(y), size, n);
      bool good = y[std::size_t(n)] == T(77);
      for (std::int64_t i = 0; i < n; ++i) good = good && y[std::size_t(i)] == x[std::size_t(first + i * step)];
      BOOST_TEST(good, sizeof(T) << " bytes, step " << step << ", " << n << " elements");
    }
}

BOOST_AUTO_TEST_CASE(elements_are_gathered_with_any_step) {
  check_steps<std::uint8_t>();
  check_steps<std::uint16_t>();
  check_steps<std::uint32_t>();
  check_steps<std::uint64_t>();
}

BOOST_AUTO_TEST_CASE(equal_types_copy_bits_also_in_place) {
  std::vector<std::uint32_t> x = {0x7fa00001u, 0x80000000u, 0xffc12345u}, y(3);  // NaNs with payloads
  const CastFn copy = cast_function(Dtype::float32, Dtype::float32);
  copy(bytes_of(x), 4, bytes_of(y), 4, 3);
  BOOST_TEST((x == y));
  copy(bytes_of(x), 4, bytes_of(x), 4, 3);
  BOOST_TEST((x == y));
  copy(bytes_of(x), 0, bytes_of(y), 4, 3);
  BOOST_TEST((y == std::vector<std::uint32_t>(3, x[0])));
}

BOOST_AUTO_TEST_CASE(numbers_that_are_no_dtype_are_refused) {
  BOOST_CHECK_THROW(cast_function(static_cast<Dtype>(99), Dtype::float32), TypeError);
  BOOST_CHECK_THROW(cast_function(Dtype::float32, static_cast<Dtype>(kNumDtypes)), TypeError);
}

BOOST_AUTO_TEST_CASE(complex_numbers_lose_their_imaginary_part) {
  const complex128 z[] = {{1.75, -2}, {-3e10, NAN}, {0, 5}, {NAN, 0}, {0, 0}};
  const auto cast = [&](auto zero) {
    std::vector<decltype(zero)> out(5);
    cast_function(Dtype::complex128, dtype_of<decltype(zero)>)(reinterpret_cast<const std::byte*>(z), 16, bytes_of(out),
                                                               sizeof(zero), 5);
    return out;
  };
  BOOST_TEST((cast(std::int32_t()) == std::vector<std::int32_t>{1, INT32_MIN, 0, 0, 0}));
  BOOST_TEST((cast(std::uint8_t()) == std::vector<std::uint8_t>{1, 0, 0, 0, 0}));  // 1: true
  BOOST_TEST((cast(0.0f)[1] == -3e10f && std::isnan(cast(0.0f)[3])));
  std::vector<unsigned char> truth(5);
  cast_function(Dtype::complex128, Dtype::bool_)(reinterpret_cast<const std::byte*>(z), 16, bytes_of(truth), 1, 5);
  BOOST_TEST((truth == std::vector<unsigned char>{1, 1, 1, 1, 0}));
  const std::int64_t n = (std::int64_t(1) << 53) + 1;
  complex64 narrow;
  cast_function(Dtype::int64, Dtype::complex64)(reinterpret_cast<const std::byte*>(&n), 8,
                                                reinterpret_cast<std::byte*>(&narrow), 8, 1);
  BOOST_TEST((narrow.re == float(n) && narrow.im == 0));
}

// Beside the middle of two bfloat16, where float32 would be the middle itself.
BOOST_AUTO_TEST_CASE(integers_round_to_bfloat16_once) {
  for (const auto& [shift, dtype] : {std::pair(22, Dtype::int32), {40, Dtype::int64}, {40, Dtype::uint64}})
    for (std::int64_t off : {-1, 0, 1}) {
      const std::int64_t x = (std::int64_t(257) << shift) + off;
      std::uint16_t bits = 0;
      const auto size = std::int64_t(itemsize(dtype));
      cast_function(dtype, Dtype::bfloat16)(reinterpret_cast<const std::byte*>(&x), size,
                                            reinterpret_cast<std::byte*>(&bits), 2, 1);
      BOOST_TEST(static_cast<float>(bfloat16::from_bits(bits)) == std::ldexp(off > 0 ? 258.0 : 256.0, shift));
    }
}

BOOST_AUTO_TEST_SUITE_END()
