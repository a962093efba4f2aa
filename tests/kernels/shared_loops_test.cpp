// Loops that several dtypes share give what the body gives in each dtype itself: every pair of bytes, and many pairs of
// wider integers with their extremes.
#include <array>
#include <boost/test/unit_test.hpp>

#include <catena/kernels/elementwise/arithmetic.h>
#include <catena/kernels/elementwise/bitwise.h>
#include <catena/kernels/elementwise/comparison.h>
#include <catena/kernels/elementwise/division.h>
#include <catena/kernels/elementwise/logic.h>
#include <catena/kernels/reduction/extremum.h>
#include <catena/kernels/reduction/logical.h>
#include <catena/kernels/reduction/statistics.h>
#include <catena/kernels/reduction/sum.h>
#include <catena/tests/kernels/kernel_calls.h>

BOOST_AUTO_TEST_SUITE(shared_loops)

using namespace test;  // NOLINT

template <class T> struct Pairs { Cells<T> a, b; };

template <class T> Pairs<T> pairs() {
  Pairs<T> p;
  if constexpr (sizeof(T) == 1) {
    const int first = std::is_signed_v<T> ? -128 : 0, last = std::is_same_v<T, bool> ? 1 : first + 255;
    for (int i = first; i <= last; ++i)
      for (int j = first; j <= last; ++j) {
        p.a.push_back(static_cast<typename Cells<T>::value_type>(i));
        p.b.push_back(static_cast<typename Cells<T>::value_type>(j));
      }
  } else {
    using L = std::numeric_limits<T>;
    std::vector<T> special = {
        0,     1,    2, 3, 7, 8, 15, 16, 31, 32, 33, 63, 64, 100, L::max(), T(L::max() - 1), L::min(), T(L::min() + 1),
        T(-1), T(-2)};
    Noise noise(sizeof(T));
    for (int i = 0; i < 40; ++i) special.push_back(static_cast<T>(noise.bits() >> (noise.bits() % 64)));
    for (T x : special)
      for (T y : special) p.a.push_back(x), p.b.push_back(y);
  }
  return p;
}

// One function for all bodies of a type: what Body::run gives comes through a pointer.
template <class Out, class T>
void check_binary_against(Out (*expected)(T, T), const char* name, const std::string& sig) {
  const Pairs<T> p = pairs<T>();
  const Cells<Out> y = apply<Out>(name, sig, p.a, p.b);
  // Every second element, and one operand repeated.
  const std::size_t half = p.a.size() / 2, one = p.b.size() > 5 ? 5 : 1;
  Cells<Out> strided(half), repeated(half);
  const auto size = std::int64_t(sizeof(T)), out_size = std::int64_t(sizeof(Out));
  std::byte* const ptr[] = {bytes_of(p.a), bytes_of(p.b), bytes_of(strided)};
  const std::int64_t stride[] = {2 * size, 2 * size, out_size};
  loop_of(name, sig).elementwise(ptr, stride, std::int64_t(half));
  std::byte* const ptr_repeated[] = {bytes_of(p.a), bytes_of(p.b) + std::int64_t(one) * size, bytes_of(repeated)};
  const std::int64_t stride_repeated[] = {size, 0, out_size};
  loop_of(name, sig).elementwise(ptr_repeated, stride_repeated, std::int64_t(half));
  int wrong = 0;
  for (std::size_t i = 0; i < p.a.size(); ++i) {
    wrong += !same_value(static_cast<Out>(y[i]), expected(T(p.a[i]), T(p.b[i])));
    if (i >= half) continue;
    wrong += !same_value(static_cast<Out>(strided[i]), expected(T(p.a[2 * i]), T(p.b[2 * i])));
    wrong += !same_value(static_cast<Out>(repeated[i]), expected(T(p.a[i]), T(p.b[one])));
  }
  BOOST_TEST(wrong == 0, name << " " << sig << ": " << wrong << " results differ from the body's");
}
template <class Body, class Out, class T> void check_binary(const char* name, const std::string& sig) {
  check_binary_against<Out, T>(
      [](T a, T b) {
        Out e;
        Body::run(a, b, e);
        return e;
      },
      name, sig);
}

template <class T> void check_type() {
  const char c = char_of(dtype_of<T>);
  const std::string own = concat(c, c, "->", c), test = concat(c, c, "->?");
#define OWN(name) check_binary<k::name, T, T>(#name, own)
#define TEST(name) check_binary<k::name, bool, T>(#name, test)
  TEST(equal);
  TEST(not_equal);
  TEST(less);
  TEST(less_equal);
  TEST(greater);
  TEST(greater_equal);
  TEST(logical_and);
  TEST(logical_or);
  TEST(logical_xor);
  OWN(maximum);
  OWN(minimum);
  OWN(fmax);
  OWN(fmin);
  OWN(add);
  OWN(multiply);
  OWN(bitwise_and);
  OWN(bitwise_or);
  OWN(bitwise_xor);
  if constexpr (!std::is_same_v<T, bool>) {
    OWN(subtract);
    OWN(left_shift);
    OWN(right_shift);
    OWN(floor_divide);
    OWN(remainder);
    OWN(fmod);
    OWN(power);
    check_binary<k::true_divide, double, T>("true_divide", concat(c, c, "->d"));
  }
#undef OWN
#undef TEST
}

BOOST_AUTO_TEST_CASE(binary_rows_of_every_integer_type) {
  check_type<bool>();
  check_type<std::int8_t>();
  check_type<std::uint8_t>();
  check_type<std::int16_t>();
  check_type<std::uint16_t>();
  check_type<std::int32_t>();
  check_type<std::uint32_t>();
  check_type<std::int64_t>();
  check_type<std::uint64_t>();
}

template <class Out, class T> void check_unary_against(Out (*expected)(T), const char* name, const std::string& sig) {
  const Cells<T> x = pairs<T>().a;
  const Cells<Out> y = apply<Out>(name, sig, x);
  int wrong = 0;
  for (std::size_t i = 0; i < x.size(); ++i) wrong += !same_value(static_cast<Out>(y[i]), expected(T(x[i])));
  BOOST_TEST(wrong == 0, name << " " << sig << ": " << wrong << " results differ from the body's");
}
template <class Body, class Out, class T> void check_unary(const char* name, const std::string& sig) {
  check_unary_against<Out, T>(
      [](T x) {
        Out e;
        Body::run(x, e);
        return e;
      },
      name, sig);
}

template <class T> void check_unary_type() {
  const char c = char_of(dtype_of<T>);
  const std::string own = concat(c, "->", c);
  check_unary<k::copy, T, T>("copy", own);
  check_unary<k::absolute, T, T>("absolute", own);
  check_unary<k::invert, T, T>("invert", own);
  check_unary<k::logical_not, bool, T>("logical_not", concat(c, "->?"));
  if constexpr (!std::is_same_v<T, bool>) {
    check_unary<k::negative, T, T>("negative", own);
    check_unary<k::reciprocal, T, T>("reciprocal", own);
    check_unary<k::square, T, T>("square", own);
    check_unary<k::sign, T, T>("sign", own);
  }
}

BOOST_AUTO_TEST_CASE(unary_rows_of_every_integer_type) {
  check_unary_type<bool>();
  check_unary_type<std::int8_t>();
  check_unary_type<std::uint8_t>();
  check_unary_type<std::int16_t>();
  check_unary_type<std::uint16_t>();
  check_unary_type<std::int32_t>();
  check_unary_type<std::uint32_t>();
  check_unary_type<std::int64_t>();
  check_unary_type<std::uint64_t>();
}

BOOST_AUTO_TEST_CASE(moved_values_keep_their_bits) {
  // Signalling NaN with a payload, and negative zero.
  const std::uint32_t bits[] = {0x7fa00001u, 0x80000000u, 0xffc12345u, 0x3f800000u};
  std::vector<float> x(std::begin(bits), std::end(bits));
  std::memcpy(x.data(), bits, sizeof(bits));
  const Cells<float> copied = apply<float>("copy", "f->f", x);
  BOOST_TEST(std::memcmp(copied.data(), bits, sizeof(bits)) == 0);
  const std::vector<unsigned char> condition = {1, 0, 1, 0};
  const std::vector<float> other = {1, 2, 3, 4};
  const Cells<float> chosen = apply<float>("where", "?ff->f", condition, x, other);
  BOOST_TEST(std::memcmp(&chosen[0], &bits[0], 4) == 0);
  BOOST_TEST(std::memcmp(&chosen[2], &bits[2], 4) == 0);
  BOOST_TEST((chosen[1] == 2 && chosen[3] == 4));
}

// One accumulator, lane by lane as kernel.h has it, in the dtype itself.
template <class Body, class Out, class T>
Out reduce_by_definition(const std::vector<std::conditional_t<std::is_same_v<T, bool>, unsigned char, T>>& x) {
  using A = typename Body::template accumulator<T, Out>;
  constexpr bool adds = requires(A a, T v) { Body::add(a, v); };
  // Integers have no groups, but uint64 is averaged as float64.
  constexpr bool grouped = !adds && (!std::is_integral_v<T> || std::is_same_v<T, std::uint64_t>);
  constexpr std::size_t round = adds ? 8 : kLanes, group = grouped ? round * kGroup : SIZE_MAX / 2;
  std::array<A, kLanes> lane, ended;  // no vector, which packs bools
  lane.fill(Body::template identity<A>());
  ended = lane;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (i > 0 && i % group == 0)
      for (std::size_t l = 0; l < round; ++l) {
        ended[l] = Body::combine(ended[l], lane[l]);
        lane[l] = Body::template identity<A>();
      }
    A& a = lane[i % round];
    if constexpr (adds) a = Body::add(a, static_cast<T>(x[i]));
    else a = Body::combine(a, Body::template map<A>(static_cast<T>(x[i]), std::int64_t(i)));
  }
  for (std::size_t l = 0; l < round; ++l) lane[l] = Body::combine(ended[l], lane[l]);
  for (std::size_t width = round / 2; width > 0; width /= 2)
    for (std::size_t l = 0; l < width; ++l) lane[l] = Body::combine(lane[l], lane[l + width]);
  const A all = Body::combine(Body::template identity<A>(), lane[0]);
  return Body::template finish<Out>(all, std::int64_t(x.size()));
}
template <class Body, class Out, class T> void check_reduction(const char* name) {
  const std::string sig = concat(char_of(dtype_of<T>), "->", char_of(dtype_of<Out>));
  const Cells<T> all = pairs<T>().a;
  for (std::size_t n : {1u, 31u, 32u, 513u, 1600u})
    for (std::int64_t step : {1, 2}) {
      Cells<T> x, spread;
      for (std::size_t i = 0; i < n; ++i) {
        x.push_back(all[(i * 37) % all.size()]);
        spread.insert(spread.end(), std::size_t(step), x.back());
      }
      const Out got = reduce<Out>(name, sig, spread, step);
      BOOST_TEST((same_value(got, reduce_by_definition<Body, Out, T>(x))),
                 name << " " << sig << " of " << n << " step " << step);
    }
}
template <class T, class Sum> void check_reductions() {
  check_reduction<k::sum, Sum, T>("sum");
  check_reduction<k::prod, Sum, T>("prod");
  check_reduction<k::sum_squares, Sum, T>("sum_squares");
  check_reduction<k::mean, double, T>("mean");
  check_reduction<k::var, double, T>("var");
  check_reduction<k::amax, T, T>("amax");
  check_reduction<k::amin, T, T>("amin");
  check_reduction<k::argmax, std::int64_t, T>("argmax");
  check_reduction<k::argmin, std::int64_t, T>("argmin");
  check_reduction<k::all, bool, T>("all");
  check_reduction<k::any, bool, T>("any");
  check_reduction<k::count_nonzero, std::int64_t, T>("count_nonzero");
}

BOOST_AUTO_TEST_CASE(reductions_of_every_integer_type) {
  check_reductions<bool, std::int64_t>();
  check_reductions<std::int8_t, std::int64_t>();
  check_reductions<std::uint8_t, std::uint64_t>();
  check_reductions<std::int16_t, std::int64_t>();
  check_reductions<std::uint16_t, std::uint64_t>();
  check_reductions<std::int32_t, std::int64_t>();
  check_reductions<std::uint32_t, std::uint64_t>();
  check_reductions<std::int64_t, std::int64_t>();
  check_reductions<std::uint64_t, std::uint64_t>();
}

BOOST_AUTO_TEST_SUITE_END()
