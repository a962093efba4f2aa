#include <boost/test/unit_test.hpp>

#include <catena/kernels/numeric.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include <catena/kernels/base/dtype.h>
#include <catena/tests/support/golden.h>

using namespace catena;

namespace {

using Wide = __int128;

// n-bit two's complement of an exact result.
template <class T> T wrap(Wide v) { return static_cast<T>(static_cast<std::uint64_t>(v)); }

Wide floor_quotient(Wide a, Wide b) {
  const Wide q = a / b;
  return q - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

// All values of the 8-bit types; the corners and their neighbours of wider ones.
template <class T> std::vector<T> samples() {
  std::vector<T> result;
  if constexpr (sizeof(T) == 1) {
    for (int i = 0; i < 256; ++i) result.push_back(static_cast<T>(i));
  } else {
    using L = std::numeric_limits<T>;
    for (const Wide base :
         {Wide(L::min()), Wide(L::min() / 2), Wide(0), Wide(L::max() / 2), Wide(L::max()), Wide(46341), Wide(1000003)})
      for (int d = -3; d <= 3; ++d) result.push_back(wrap<T>(base + d));
  }
  return result;
}

template <class F> void for_integer_types(F&& f) {
  f(std::int8_t{}), f(std::uint8_t{}), f(std::int16_t{}), f(std::uint16_t{}), f(std::int32_t{}), f(std::uint32_t{});
  f(std::int64_t{}), f(std::uint64_t{});
}

Wide power(Wide base, Wide exponent, Wide modulus) {
  Wide result = 1;
  for (; exponent > 0; --exponent) result = result * base % modulus;
  return result;
}

template <class T> bool same(T a, T b) {
  if constexpr (is_float<T>) return a != a ? b != b : a == b && std::signbit(a) == std::signbit(b);
  return a == b;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(numeric)

BOOST_AUTO_TEST_CASE(conversions_are_the_reference_values) {
  const auto golden = test::Golden::open("nd_cast");
  long elements = 0;
  for (const auto& c : golden.cases()) {
    const NpyArray x = golden.array(c["inputs"][0]), y = golden.array(c["outputs"][0]);
    BOOST_TEST_REQUIRE((x.dtype && y.dtype && x.size() == y.size() && x.size() > 0));
    visit_dtype(*x.dtype, [&](auto from_tag) {
      visit_dtype(*y.dtype, [&](auto to_tag) {
        using From = typename decltype(from_tag)::type;
        using To = typename decltype(to_tag)::type;
        const auto in = x.as<From>();
        const auto out = y.as<To>();
        for (std::size_t i = 0; i < in.size(); ++i, ++elements) {
          const To got = convert<To>(in[i]);
          // Bits, but for the payload of a NaN.
          const bool nan = is_nan(static_cast<compute_t<To>>(got)) && is_nan(static_cast<compute_t<To>>(out[i]));
          BOOST_TEST((nan || std::memcmp(&got, &out[i], sizeof(To)) == 0),
                     c["name"] << " element " << i << ": " << convert<double>(in[i]) << " gave " << convert<double>(got)
                               << ", not " << convert<double>(out[i]));
        }
      });
    });
  }
  BOOST_TEST(golden.cases().size() == 144u);
  BOOST_TEST(elements > 1000);
}

BOOST_AUTO_TEST_CASE(floats_saturate_to_integers) {
  for_integer_types([](auto tag) {
    using T = decltype(tag);
    using L = std::numeric_limits<T>;
    const auto check_from = [](auto f) {
      using F = decltype(f);
      const F inf = std::numeric_limits<F>::infinity();
      BOOST_TEST(convert<T>(inf) == L::max());
      BOOST_TEST(convert<T>(-inf) == L::min());
      BOOST_TEST(convert<T>(std::numeric_limits<F>::quiet_NaN()) == T(0));
      BOOST_TEST(convert<T>(F(-0.99)) == T(0));
      // The first float beyond the range and the last one within it.
      const F beyond = std::ldexp(F(1), L::digits);
      BOOST_TEST(convert<T>(beyond) == L::max());
      const F within = std::nextafter(beyond, F(0));
      BOOST_TEST((Wide(convert<T>(within)) == Wide(within)));
      if (L::is_signed) {
        BOOST_TEST(convert<T>(-beyond) == L::min());
        BOOST_TEST(convert<T>(std::nextafter(-beyond, -inf)) == L::min());
        BOOST_TEST((Wide(convert<T>(-within)) == Wide(-within)));
      } else {
        BOOST_TEST(convert<T>(F(-1)) == T(0));
      }
    };
    check_from(1.0f);
    check_from(1.0);
  });
  BOOST_TEST(convert<bool>(std::nan("")));
  BOOST_TEST(!convert<bool>(-0.0));
  BOOST_TEST(convert<std::int32_t>(float16::from_bits(0x7c00)) == INT32_MAX);
  BOOST_TEST(convert<std::uint8_t>(bfloat16(300.f)) == 255);
}

BOOST_AUTO_TEST_CASE(integer_division_follows_the_sign_rules) {
  for_integer_types([](auto tag) {
    using T = decltype(tag);
    long wrong = 0;
    for (const T a : samples<T>()) {
      for (const T b : samples<T>()) {
        if (b == 0) {
          wrong += floor_divide(a, b) != 0 || floor_mod(a, b) != 0 || c_mod(a, b) != 0;
          continue;
        }
        const Wide q = floor_quotient(a, b);
        wrong += floor_divide(a, b) != wrap<T>(q);
        wrong += floor_mod(a, b) != wrap<T>(Wide(a) - q * Wide(b));
        wrong += c_mod(a, b) != wrap<T>(Wide(a) % Wide(b));
      }
    }
    BOOST_TEST(wrong == 0, "of " << name_of(dtype_of<T>));
  });
}

BOOST_AUTO_TEST_CASE(integer_arithmetic_wraps) {
  for_integer_types([](auto tag) {
    using T = decltype(tag);
    long wrong = 0;
    for (const T a : samples<T>()) {
      for (const T b : samples<T>()) {
        wrong += wrap_add(a, b) != wrap<T>(Wide(a) + Wide(b));
        wrong += wrap_sub(a, b) != wrap<T>(Wide(a) - Wide(b));
        // The low 64 bits of a product need only the low 64 bits of its factors.
        wrong += wrap_mul(a, b) != static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
      }
    }
    BOOST_TEST(wrong == 0, "of " << name_of(dtype_of<T>));
  });
}

BOOST_AUTO_TEST_CASE(integer_powers_are_exact_modulo_the_width) {
  for_integer_types([](auto tag) {
    using T = decltype(tag);
    using U = std::make_unsigned_t<T>;
    const Wide modulus = Wide(1) << (sizeof(T) < 8 ? 8 * sizeof(T) : 62);
    long wrong = 0;
    for (const T base : samples<T>()) {
      for (int e = 0; e <= (sizeof(T) == 1 ? 127 : 40); ++e) {
        const T got = int_power(base, static_cast<T>(e));
        if constexpr (sizeof(T) < 8) {
          wrong += static_cast<U>(got) != static_cast<U>(power(static_cast<U>(base), e, modulus));
        } else {
          std::uint64_t expected = 1;
          for (int i = 0; i < e; ++i) expected *= static_cast<std::uint64_t>(base);
          wrong += static_cast<std::uint64_t>(got) != expected;
        }
      }
      if constexpr (std::is_signed_v<T>) {
        for (const T e : {T(-1), T(-2), std::numeric_limits<T>::min()}) {
          const T expected = base == 1 ? 1 : base == -1 ? (e % 2 ? -1 : 1) : 0;
          wrong += int_power(base, e) != expected;
        }
      }
    }
    BOOST_TEST(wrong == 0, "of " << name_of(dtype_of<T>));
  });
}

BOOST_AUTO_TEST_CASE(float_remainders_take_the_sign_of_the_divisor) {
  const double inf = HUGE_VAL, nan = std::nan("");
  BOOST_TEST(floor_mod(5.5, 2.0) == 1.5);
  BOOST_TEST(floor_mod(-5.5, 2.0) == 0.5);
  BOOST_TEST(floor_mod(5.5, -2.0) == -0.5);
  BOOST_TEST(same(floor_mod(-4.0, 2.0), 0.0));
  BOOST_TEST(same(floor_mod(4.0, -2.0), -0.0));
  BOOST_TEST(same(floor_mod(1.0, 0.0), nan));
  BOOST_TEST(same(floor_mod(inf, 2.0), nan));
  BOOST_TEST(same(c_mod(-5.5, 2.0), -1.5));
  BOOST_TEST(same(c_mod(-4.0, 2.0), -0.0));
  BOOST_TEST(floor_divide(-5.5, 2.0) == -3.0);
  BOOST_TEST(floor_divide(7.f, 2.f) == 3.f);
}

BOOST_AUTO_TEST_CASE(minimum_and_maximum_treat_nan_as_asked) {
  const float nan = std::nanf(""), inf = HUGE_VALF;
  for (const float v : {-inf, -1.f, 0.f, 3.f, inf}) {
    BOOST_TEST((std::isnan(nan_max(v, nan)) && std::isnan(nan_max(nan, v)) && std::isnan(nan_min(v, nan)) &&
                std::isnan(nan_min(nan, v))));
    BOOST_TEST((skip_nan_max(v, nan) == v && skip_nan_max(nan, v) == v && skip_nan_min(v, nan) == v &&
                skip_nan_min(nan, v) == v));
  }
  BOOST_TEST((std::isnan(skip_nan_max(nan, nan)) && std::isnan(skip_nan_min(nan, nan))));
  BOOST_TEST((nan_max(-2, 3) == 3 && nan_min(-2, 3) == -2 && nan_max(3u, 2u) == 3u));
  BOOST_TEST((nan_max(true, false) && !nan_min(true, false)));
}

BOOST_AUTO_TEST_CASE(load_widens_and_store_rounds) {
  float16 h;
  store(h, 1.0f + 0x1p-11f);  // the tie goes to the even neighbour
  BOOST_TEST(h.bits == 0x3c00);
  BOOST_TEST(load(h) == 1.0f);
  bfloat16 b;
  store(b, 1.0f + 0x1p-7f);
  BOOST_TEST(load(b) == 1.0f + 0x1p-7f);
  std::int8_t i;
  store(i, std::int8_t(-5));
  BOOST_TEST(load(i) == -5);
}

BOOST_AUTO_TEST_SUITE_END()
