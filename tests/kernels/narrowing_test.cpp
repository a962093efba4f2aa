// Conversions to 16-bit floats round once, to the nearest number and to the even one of two. The oracle forms the exact
// midpoints between neighbours.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <catena/kernels/base/scalar.h>
#include <catena/kernels/convert.h>
#include <catena/kernels/registry/cast.h>

namespace {

using catena::bfloat16;
using catena::float16;

// Numbers beside, and at, the midpoint of each pair of neighbours, and what they round to.
template <class H> struct Sample {
  std::vector<double> x;
  std::vector<std::uint16_t> expected;
  void add(double v, std::uint16_t bits) {
    for (const bool negative : {false, true}) {
      x.push_back(negative ? -v : v);
      expected.push_back(std::uint16_t(bits | (negative ? 0x8000 : 0)));
    }
  }
};
template <class H> Sample<H> midpoints() {
  constexpr std::uint16_t kInfinity = std::is_same_v<H, float16> ? 0x7c00 : 0x7f80;
  Sample<H> s;
  for (std::uint16_t bits = 0; bits < kInfinity; ++bits) {
    const double low = float(H::from_bits(bits));
    // Beyond the largest number the next one would be a power of two.
    const double high = bits + 1 == kInfinity ? 2 * low - double(float(H::from_bits(std::uint16_t(bits - 1))))
                                              : double(float(H::from_bits(std::uint16_t(bits + 1))));
    const double middle = (low + high) / 2;
    s.add(low, bits);
    s.add(std::nextafter(middle, 0.0), bits);
    s.add(middle, bits % 2 == 0 ? bits : std::uint16_t(bits + 1));
    s.add(std::nextafter(middle, INFINITY), std::uint16_t(bits + 1));
  }
  for (double v : {std::numeric_limits<double>::max(), double(INFINITY), 1e300}) s.add(v, kInfinity);
  for (double v : {0.0, std::numeric_limits<double>::denorm_min(), 1e-60}) s.add(v, 0);
  return s;
}

template <class H> void check_float64() {
  const Sample<H> s = midpoints<H>();
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < s.x.size(); ++i) {
    wrong += catena::convert<H>(s.x[i]).bits != s.expected[i];
    wrong += H(s.x[i]).bits != s.expected[i];
    wrong += catena::Scalar(s.x[i]).to<H>().bits != s.expected[i];
  }
  BOOST_TEST(wrong == 0u);
  // In tiles, of contiguous and of strided elements, and of the real parts of complex numbers.
  std::vector<H> out(s.x.size());
  const auto cast = catena::cast_function(catena::Dtype::float64, catena::dtype_of<H>);
  const auto count = [&] {
    std::size_t n = 0;
    for (std::size_t i = 0; i < out.size(); ++i) n += out[i].bits != s.expected[i];
    return n;
  };
  const auto n = std::int64_t(s.x.size());
  cast(reinterpret_cast<const std::byte*>(s.x.data()), 8, reinterpret_cast<std::byte*>(out.data()), 2, n);
  BOOST_TEST(count() == 0u);
  std::vector<catena::complex128> pairs;
  for (double x : s.x) pairs.push_back({x, -x});
  std::fill(out.begin(), out.end(), H::from_bits(0));
  cast(reinterpret_cast<const std::byte*>(pairs.data()), 16, reinterpret_cast<std::byte*>(out.data()), 2, n);
  BOOST_TEST(count() == 0u);
  std::fill(out.begin(), out.end(), H::from_bits(0));
  catena::cast_function(catena::Dtype::complex128, catena::dtype_of<H>)(
      reinterpret_cast<const std::byte*>(pairs.data()), 16, reinterpret_cast<std::byte*>(out.data()), 2, n);
  BOOST_TEST(count() == 0u);
}

// The midpoints of neighbours that are integers, and the integers beside them.
template <class H, class I> void check_integers() {
  std::vector<I> x;
  std::vector<std::uint16_t> expected;
  const long double most = static_cast<long double>(std::numeric_limits<I>::max());
  for (std::uint16_t bits = 1; bits < (std::is_same_v<H, float16> ? 0x7bff : 0x7f7f); ++bits) {
    const long double low = float(H::from_bits(bits)), high = float(H::from_bits(std::uint16_t(bits + 1)));
    const long double middle = (low + high) / 2;
    if (middle != std::floor(middle) || middle + 1 > most) continue;
    const auto add = [&](I v, std::uint16_t b) {
      x.push_back(v);
      expected.push_back(b);
      if (!std::is_signed_v<I>) return;
      x.push_back(I(-v));
      expected.push_back(std::uint16_t(b | 0x8000));
    };
    if (middle - 1 >= low) add(I(middle - 1), bits);
    add(I(middle), bits % 2 == 0 ? bits : std::uint16_t(bits + 1));
    if (middle + 1 <= high) add(I(middle + 1), std::uint16_t(bits + 1));
  }
  BOOST_REQUIRE(!x.empty());
  std::vector<H> out(x.size());
  catena::cast_function(catena::dtype_of<I>, catena::dtype_of<H>)(reinterpret_cast<const std::byte*>(x.data()),
                                                                  sizeof(I), reinterpret_cast<std::byte*>(out.data()),
                                                                  2, std::int64_t(x.size()));
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    wrong += catena::convert<H>(x[i]).bits != expected[i];
    wrong += out[i].bits != expected[i];
    wrong += catena::Scalar(x[i]).to<H>().bits != expected[i];
  }
  BOOST_TEST(wrong == 0u);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(narrowing)

BOOST_AUTO_TEST_CASE(float64_to_float16) {
  check_float64<float16>();
  BOOST_TEST(float(catena::convert<float16>(1 + std::ldexp(1, -11) + std::ldexp(1, -40))) == 1 + std::ldexp(1, -10));
  BOOST_TEST(float(float16(1025.49999999)) == 1025);
  BOOST_TEST(std::isnan(float(catena::convert<float16>(double(NAN)))));
  BOOST_TEST(catena::convert<float16>(-double(NAN)).bits == catena::convert<float16>(-NAN).bits);
}

BOOST_AUTO_TEST_CASE(float64_to_bfloat16) {
  check_float64<bfloat16>();
  BOOST_TEST(std::isnan(float(catena::convert<bfloat16>(double(NAN)))));
}

BOOST_AUTO_TEST_CASE(integers_to_16_bit_floats) {
  check_integers<float16, std::int32_t>();
  check_integers<float16, std::int64_t>();
  check_integers<float16, std::uint32_t>();
  check_integers<float16, std::uint64_t>();
  check_integers<bfloat16, std::int16_t>();
  check_integers<bfloat16, std::uint16_t>();
  check_integers<bfloat16, std::int32_t>();
  check_integers<bfloat16, std::uint32_t>();
  check_integers<bfloat16, std::int64_t>();
  check_integers<bfloat16, std::uint64_t>();
  BOOST_TEST(float(catena::convert<bfloat16>(INT64_MIN)) == -0x1p63f);
  BOOST_TEST(float(catena::convert<bfloat16>(UINT64_MAX)) == 0x1p64f);
  BOOST_TEST(float(catena::convert<bfloat16>((std::int64_t(1) << 40) + (std::int64_t(1) << 32) + 1)) == 0x1.02p40f);
}

BOOST_AUTO_TEST_SUITE_END()
