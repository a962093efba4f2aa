#include <boost/test/unit_test.hpp>

#include <cmath>
#include <cstdint>
#include <cstdio>

#include <catena/kernels/bfloat16.h>
#include <catena/kernels/float16.h>

using catena::bfloat16;
using catena::float16;

namespace {

using catena::bit_cast;

bool same_half(std::uint16_t ours, std::uint16_t reference) {
  const bool nan = (ours & 0x7fff) > 0x7c00, reference_nan = (reference & 0x7fff) > 0x7c00;
  return nan || reference_nan ? nan && reference_nan && ((ours ^ reference) & 0x8000) == 0 : ours == reference;
}

// Nearest by exact comparison in double: the value lies between two neighbours, ties go to the even one. The neighbour
// of the largest finite value counts as 2^128, as IEEE rounding to infinity has it.
std::uint16_t nearest_bfloat16(float f) {
  const auto x = bit_cast<std::uint32_t>(f);
  const auto below = static_cast<std::uint16_t>(x >> 16);
  const auto magnitude = [](std::uint16_t b) {
    return (b & 0x7fff) == 0x7f80 ? 0x1p128 : double(std::fabs(bit_cast<float>(std::uint32_t(b) << 16)));
  };
  const double v = std::fabs(double(f)), low = magnitude(below),
               high = magnitude(static_cast<std::uint16_t>(below + 1));
  if (v - low < high - v) return below;
  if (v - low > high - v) return static_cast<std::uint16_t>(below + 1);
  return below & 1 ? static_cast<std::uint16_t>(below + 1) : below;
}

// Floats worth rounding: every 16-bit float, its neighbours, the midpoints and their neighbours, and a scan over all
// bit patterns.
template <class F> void for_each_interesting_float(F&& f) {
  for (std::uint32_t h = 0; h < 0x10000; ++h) {
    for (const std::uint32_t base : {bit_cast<std::uint32_t>(float(float16::from_bits(std::uint16_t(h)))), h << 16})
      for (const std::uint32_t step : {0x0u, 0x1u, 0xfffu, 0x1000u, 0x1001u, 0x7fffu, 0x8000u, 0x8001u, 0xffffffffu})
        f(bit_cast<float>(base + step));
  }
  for (std::uint64_t x = 0; x < (std::uint64_t(1) << 32); x += 1021) f(bit_cast<float>(static_cast<std::uint32_t>(x)));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(float16_)

BOOST_AUTO_TEST_CASE(every_float16_survives_float_and_double) {
  int failures = 0;
  for (std::uint32_t b = 0; b < 0x10000; ++b) {
    const float16 h = float16::from_bits(static_cast<std::uint16_t>(b));
    const auto f = static_cast<float>(h);
    if ((b & 0x7fff) > 0x7c00) {
      failures += !std::isnan(f) || !std::isnan(static_cast<double>(h)) || !same_half(float16(f).bits, h.bits);
      continue;
    }
    failures += float16(f).bits != b || float16(static_cast<double>(f)).bits != b ||
                static_cast<double>(h) != static_cast<double>(f);
    // The value by the definition of the format.
    const int exponent = (b >> 10) & 31, fraction = b & 1023;
    const double magnitude = exponent == 31  ? HUGE_VAL
                             : exponent == 0 ? std::ldexp(fraction, -24)
                                             : std::ldexp(1024 + fraction, exponent - 25);
    failures += static_cast<double>(f) != (b & 0x8000 ? -magnitude : magnitude);
    failures += std::signbit(f) != ((b & 0x8000) != 0);
  }
  BOOST_TEST(failures == 0);
}

BOOST_AUTO_TEST_CASE(every_bfloat16_survives_float_and_double) {
  int failures = 0;
  for (std::uint32_t b = 0; b < 0x10000; ++b) {
    const bfloat16 h = bfloat16::from_bits(static_cast<std::uint16_t>(b));
    const auto f = static_cast<float>(h);
    failures += bit_cast<std::uint32_t>(f) != b << 16;
    if (std::isnan(f)) failures += (bfloat16(f).bits & 0x7fff) <= 0x7f80 || ((bfloat16(f).bits ^ b) & 0x8000);
    else failures += bfloat16(f).bits != b || bfloat16(static_cast<double>(f)).bits != b;
  }
  BOOST_TEST(failures == 0);
}

#ifdef __FLT16_MANT_DIG__
BOOST_AUTO_TEST_CASE(float16_rounds_as_the_compilers_own_type) {
  long failures = 0, tested = 0;
  for_each_interesting_float([&](float f) {
    ++tested;
    const auto reference = bit_cast<std::uint16_t>(static_cast<_Float16>(f));
    if (!same_half(float16(f).bits, reference) && ++failures < 5)
      BOOST_TEST_MESSAGE(f << ": " << float16(f).bits << " not " << reference);
  });
  BOOST_TEST(failures == 0);
  BOOST_TEST(tested > 5000000);
}
#else
BOOST_AUTO_TEST_CASE(float16_rounding, *boost::unit_test::disabled()) {
  std::puts("skipped: this compiler has no _Float16 to compare with");
}
#endif

BOOST_AUTO_TEST_CASE(bfloat16_rounds_to_nearest_even) {
  long failures = 0;
  for_each_interesting_float([&](float f) {
    if (std::isnan(f)) {
      failures += !std::isnan(static_cast<float>(bfloat16(f)));
    } else if (std::isinf(f)) {
      failures += static_cast<float>(bfloat16(f)) != f;
    } else if (bfloat16(f).bits != nearest_bfloat16(f) && ++failures < 5) {
      BOOST_TEST_MESSAGE(f << ": " << bfloat16(f).bits << " not " << nearest_bfloat16(f));
    }
  });
  BOOST_TEST(failures == 0);
}

BOOST_AUTO_TEST_CASE(landmarks) {
  BOOST_TEST(float16(65504.f).bits == 0x7bff);
  BOOST_TEST(float16(65519.99f).bits == 0x7bff);
  BOOST_TEST(float16(65520.f).bits == 0x7c00);
  BOOST_TEST(float16(-1e30f).bits == 0xfc00);
  BOOST_TEST(float16(0x1p-24f).bits == 1);
  BOOST_TEST(float16(0x1p-25f).bits == 0);  // the tie below the smallest goes to 0, the even one
  BOOST_TEST(float16(0x1.000002p-25f).bits == 1);
  BOOST_TEST(float16(-0.f).bits == 0x8000);
  BOOST_TEST(float16(0.1f).bits == 0x2e66);
  BOOST_TEST(bfloat16(1.f).bits == 0x3f80);
  BOOST_TEST(bfloat16(3.4028235e38f).bits == 0x7f80);
  BOOST_TEST(bfloat16(0x1p-149f).bits == 0);
  BOOST_TEST(std::isnan(float(bfloat16(bit_cast<float>(0x7f800001u)))));  // a payload in the lower half alone
}

BOOST_AUTO_TEST_SUITE_END()
