// The intrinsics with a rounding in their name against the processor's arithmetic in that rounding mode.
#include <catena/kernels/device/user_intrinsics.h>

#include <boost/test/unit_test.hpp>

#include <cfenv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>

namespace {

template <class F> using BitsOf = std::conditional_t<sizeof(F) == 4, std::uint32_t, std::uint64_t>;

template <class F> bool identical(F a, F b) { return (a != a && b != b) || std::memcmp(&a, &b, sizeof a) == 0; }

// Numbers of all magnitudes, subnormal ones, neighbours of 1, and special values.
template <class F> F sample(std::mt19937_64& random) {
  using L = std::numeric_limits<F>;
  static constexpr F kSpecial[] = {
      0, -F(0), 1, -1, F(0.5), 2, L::infinity(), -L::infinity(), L::quiet_NaN(), L::denorm_min(), L::min(), L::max()};
  auto bits = static_cast<BitsOf<F>>(random());
  switch (random() % 5) {
    case 0: bits &= ~BitsOf<F>(0) << (random() % (8 * sizeof(F) - 2)); break;
    case 1: return (random() % 2 != 0 ? 1 : -1) * (1 + F(static_cast<int>(random() % 2001) - 1000) / 1024);
    case 2: bits &= (BitsOf<F>(1) << (L::digits - 1)) - 1; break;
    case 3: return kSpecial[random() % std::size(kSpecial)];
    default: break;
  }
  F value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

// The processor's result in a rounding mode. Operands and result go through memory, so that the compiler cannot
// move the operation out of the mode.
template <class R, class A, class F> R in_mode(int mode, A a, A b, A c, F operation) {
  volatile A va = a, vb = b, vc = c;
  std::fesetround(mode);
  volatile R result = operation(A(va), A(vb), A(vc));
  std::fesetround(FE_TONEAREST);
  return result;
}

template <class R, class A, class F, class G>
void compare(const char* name, int mode, A a, A b, A c, F operation, G intrinsic) {
  const R expected = in_mode<R>(mode, a, b, c, operation), got = intrinsic(a, b, c);
  if (!identical(got, expected))
    BOOST_ERROR(name << " of " << a << ", " << b << ", " << c << " gives " << got << ", not " << expected);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(user_intrinsics)

#define COMPARE(R, A, name, operation, call)                                                                          \
  compare<R, A>(                                                                                                      \
      #name, mode, a, b, c,                                                                                           \
      [](A a, A b, A c) -> R { return static_cast<void>(a), static_cast<void>(b), static_cast<void>(c), operation; }, \
      [](A a, A b, A c) -> R { return static_cast<void>(a), static_cast<void>(b), static_cast<void>(c), name call; });
#define COMPARE_ALL(_, rounding)                                                 \
  {                                                                              \
    constexpr int mode = rounding;                                               \
    {                                                                            \
      const float a = fa, b = fb, c = fc;                                        \
      COMPARE(float, float, __fadd##_, a + b, (a, b))                            \
      COMPARE(float, float, __fsub##_, a - b, (a, b))                            \
      COMPARE(float, float, __fmul##_, a* b, (a, b))                             \
      COMPARE(float, float, __fdiv##_, a / b, (a, b))                            \
      COMPARE(float, float, __frcp##_, 1 / a, (a))                               \
      COMPARE(float, float, __fsqrt##_, std::sqrt(a), (a))                       \
      COMPARE(float, float, __fmaf##_, std::fma(a, b, c), (a, b, c))             \
    }                                                                            \
    {                                                                            \
      const double a = da, b = db, c = dc;                                       \
      COMPARE(double, double, __dadd##_, a + b, (a, b))                          \
      COMPARE(double, double, __dsub##_, a - b, (a, b))                          \
      COMPARE(double, double, __dmul##_, a* b, (a, b))                           \
      COMPARE(double, double, __ddiv##_, a / b, (a, b))                          \
      COMPARE(double, double, __drcp##_, 1 / a, (a))                             \
      COMPARE(double, double, __dsqrt##_, std::sqrt(a), (a))                     \
      COMPARE(double, double, __fma##_, std::fma(a, b, c), (a, b, c))            \
      COMPARE(float, double, __double2float##_, static_cast<float>(a), (a))      \
    }                                                                            \
    {                                                                            \
      const std::int64_t a = whole, b = 0, c = 0;                                \
      COMPARE(float, std::int64_t, __ll2float##_, static_cast<float>(a), (a))    \
      COMPARE(double, std::int64_t, __ll2double##_, static_cast<double>(a), (a)) \
    }                                                                            \
  }

BOOST_AUTO_TEST_CASE(roundings_are_those_of_the_processor) {
  std::mt19937_64 random(5);
  for (int k = 0; k < 20000; ++k) {
    const float fa = sample<float>(random), fb = sample<float>(random);
    const float fc = k % 3 == 0 ? -fa * fb : sample<float>(random);  // cancels the product
    const double da = sample<double>(random), db = sample<double>(random);
    const double dc = k % 3 == 0 ? -da * db : sample<double>(random);
    const auto whole = static_cast<std::int64_t>(random()) >> (random() % 64);
    COMPARE_ALL(_rn, FE_TONEAREST)
    COMPARE_ALL(_rz, FE_TOWARDZERO)
    COMPARE_ALL(_ru, FE_UPWARD)
    COMPARE_ALL(_rd, FE_DOWNWARD)
  }
}

// 1 / sqrt(x) lies between the middles to the neighbours of the result. Over both binades, in integers.
BOOST_AUTO_TEST_CASE(reciprocal_square_roots) {
  using Wide = unsigned __int128;
  for (int binade = 0; binade < 2; ++binade)
    for (std::uint32_t m = 1u << 23; m < 1u << 24; m += 97) {
      const float x = std::ldexp(static_cast<float>(m), binade - 23), y = __frsqrt_rn(x);
      const auto twice = static_cast<std::uint64_t>(std::ldexp(static_cast<double>(y), 25));  // in units of 2^-25
      const Wide one = Wide(1) << (50 + 23 - binade);
      const auto square = [&](std::uint64_t v) { return Wide(v) * v * m; };
      if (y < 1 && !(square(twice - 1) <= one && square(twice + 1) >= one)) BOOST_ERROR("__frsqrt_rn of " << x);
    }
}

BOOST_AUTO_TEST_SUITE_END()
