// Integer and bool loops against 128-bit arithmetic, on all pairs of the values where such loops go wrong.
#include <boost/test/unit_test.hpp>

#include <catena/kernels/registry/kernel.h>
#include <catena/tests/kernels/kernel_calls.h>

BOOST_AUTO_TEST_SUITE(integer)

using namespace test;  // NOLINT
using Wide = __int128;

template <class T> std::vector<T> samples() {
  std::vector<T> v;
  if constexpr (sizeof(T) == 1) {
    for (int i = 0; i < 256; ++i) v.push_back(static_cast<T>(i));
  } else {
    using L = std::numeric_limits<T>;
    for (Wide base :
         {Wide(L::min()), Wide(L::min() / 2), Wide(0), Wide(L::max() / 2), Wide(L::max()), Wide(46341), Wide(31)})
      for (int d = -4; d <= 4; ++d) v.push_back(static_cast<T>(base + d));
  }
  return v;
}

template <class T> struct Pairs {
  std::vector<T> a, b;
  Pairs() {
    for (T x : samples<T>())
      for (T y : samples<T>()) a.push_back(x), b.push_back(y);
  }
};

template <class T> std::string pair_sig() { return std::string(2, char_of(dtype_of<T>)) + "->" + char_of(dtype_of<T>); }

template <class T, class F> void check_pairs(const char* name, const Pairs<T>& p, F&& oracle) {
  const auto y = apply<T>(name, pair_sig<T>(), p.a, p.b);
  for (std::size_t i = 0; i < y.size(); ++i) {
    const T expected = static_cast<T>(oracle(Wide(p.a[i]), Wide(p.b[i])));
    if (y[i] != expected) {
      BOOST_ERROR(
          concat(name, ' ', pair_sig<T>(), ": ", +p.a[i], ", ", +p.b[i], " gives ", +y[i], " and not ", +expected));
      return;
    }
  }
}
template <class T, class F> void check_one(const char* name, F&& oracle) {
  const std::vector<T> x = samples<T>();
  const std::string sig = concat(char_of(dtype_of<T>), "->", char_of(dtype_of<T>));
  const auto y = apply<T>(name, sig, x);
  for (std::size_t i = 0; i < x.size(); ++i)
    BOOST_TEST(y[i] == static_cast<T>(oracle(Wide(x[i]))), name << ' ' << sig << ": " << +x[i] << " gives " << +y[i]);
}

Wide floor_quotient(Wide a, Wide b) { return b == 0 ? 0 : a / b - (a % b != 0 && (a < 0) != (b < 0)); }

template <class T> T power_mod(Wide a, Wide b) {
  if (b < 0) return a == 1 ? T(1) : a == -1 ? (b % 2 ? T(-1) : T(1)) : T(0);
  unsigned __int128 result = 1, base = static_cast<unsigned __int128>(a);
  for (; b > 0; b /= 2, base *= base)
    if (b % 2) result *= base;
  return static_cast<T>(result);
}

template <class F> void for_integer_types(F&& f) {
  f(std::int8_t{}), f(std::uint8_t{}), f(std::int16_t{}), f(std::uint16_t{}), f(std::int32_t{}), f(std::uint32_t{});
  f(std::int64_t{}), f(std::uint64_t{});
}

BOOST_AUTO_TEST_CASE(arithmetic_wraps) {
  for_integer_types([](auto tag) {
    using T = decltype(tag);
    const Pairs<T> p;
    check_pairs<T>("add", p, [](Wide a, Wide b) { return a + b; });
    check_pairs<T>("subtract", p, [](Wide a, Wide b) { return a - b; });
    check_pairs<T>("multiply", p,
                   [](Wide a, Wide b) { return static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b); });
    check_pairs<T>("floor_divide", p, floor_quotient);
    check_pairs<T>("remainder", p, [](Wide a, Wide b) { return b == 0 ? 0 : a - floor_quotient(a, b) * b; });
    check_pairs<T>("fmod", p, [](Wide a, Wide b) { return b == 0 ? 0 : a % b; });
    check_pairs<T>("power", p, power_mod<T>);
    check_pairs<T>("maximum", p, [](Wide a, Wide b) { return a > b ? a : b; });
    check_pairs<T>("minimum", p, [](Wide a, Wide b) { return a < b ? a : b; });
    check_pairs<T>("fmax", p, [](Wide a, Wide b) { return a > b ? a : b; });
    check_pairs<T>("fmin", p, [](Wide a, Wide b) { return a < b ? a : b; });
    check_one<T>("negative", [](Wide a) { return -a; });
    check_one<T>("absolute", [](Wide a) { return a < 0 ? -a : a; });
    check_one<T>("square", [](Wide a) { return static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(a); });
    check_one<T>("reciprocal", [](Wide a) { return a == 1 || a == -1 ? a : 0; });
    check_one<T>("sign", [](Wide a) { return (a > 0) - (a < 0); });
    check_one<T>("copy", [](Wide a) { return a; });
  });
}

BOOST_AUTO_TEST_CASE(divmod_is_both_at_once) {
  for_integer_types([](auto tag) {
    using T = decltype(tag);
    const Pairs<T> p;
    std::vector<T> q(p.a.size()), r(p.a.size());
    std::byte* const ptr[] = {bytes_of(p.a), bytes_of(p.b), bytes_of(q), bytes_of(r)};
    const std::int64_t stride[] = {sizeof(T), sizeof(T), sizeof(T), sizeof(T)};
    const char c = char_of(dtype_of<T>);
    loop_of("divmod", concat(c, c, "->", c, c)).elementwise(ptr, stride, std::int64_t(q.size()));
    BOOST_TEST((q == apply<T>("floor_divide", pair_sig<T>(), p.a, p.b)));
    BOOST_TEST((r == apply<T>("remainder", pair_sig<T>(), p.a, p.b)));
  });
}

BOOST_AUTO_TEST_CASE(division_of_integers_is_in_float64) {
  for_integer_types([](auto tag) {
    using T = decltype(tag);
    const Pairs<T> p;
    const char c = char_of(dtype_of<T>);
    const auto y = apply<double>("true_divide", concat(c, c, "->d"), p.a, p.b);
    bool same = true;
    for (std::size_t i = 0; i < y.size(); ++i) same &= same_value(y[i], double(p.a[i]) / double(p.b[i]));
    BOOST_TEST(same);
  });
}

BOOST_AUTO_TEST_CASE(bits_and_shifts) {
  for_integer_types([](auto tag) {
    using T = decltype(tag);
    const Pairs<T> p;
    constexpr int width = 8 * sizeof(T);
    check_pairs<T>("bitwise_and", p, [](Wide a, Wide b) { return a & b; });
    check_pairs<T>("bitwise_or", p, [](Wide a, Wide b) { return a | b; });
    check_pairs<T>("bitwise_xor", p, [](Wide a, Wide b) { return a ^ b; });
    check_pairs<T>("left_shift", p, [](Wide a, Wide b) {
      return b < 0 || b >= width ? Wide(0) : Wide(static_cast<unsigned __int128>(a) << int(b));
    });
    check_pairs<T>("right_shift", p,
                   [](Wide a, Wide b) { return b < 0 || b >= width ? Wide(a < 0 ? -1 : 0) : a >> int(b); });
    check_one<T>("invert", [](Wide a) { return ~a; });
  });
}

template <class A, class B> void check_comparisons() {
  std::vector<A> a;
  std::vector<B> b;
  for (A x : samples<A>())
    for (B y : samples<B>()) a.push_back(x), b.push_back(y);
  const std::string sig = concat(char_of(dtype_of<A>), char_of(dtype_of<B>), "->?");
  const auto check = [&](const char* name, bool (*oracle)(Wide, Wide)) {
    const auto y = apply<bool>(name, sig, a, b);
    bool same = true;
    for (std::size_t i = 0; i < y.size(); ++i) same &= y[i] == oracle(Wide(a[i]), Wide(b[i]));
    BOOST_TEST(same, name << ' ' << sig);
  };
  check("equal", [](Wide x, Wide y) { return x == y; });
  check("not_equal", [](Wide x, Wide y) { return x != y; });
  check("less", [](Wide x, Wide y) { return x < y; });
  check("less_equal", [](Wide x, Wide y) { return x <= y; });
  check("greater", [](Wide x, Wide y) { return x > y; });
  check("greater_equal", [](Wide x, Wide y) { return x >= y; });
  if constexpr (std::is_same_v<A, B>) {
    check("logical_and", [](Wide x, Wide y) { return x && y; });
    check("logical_or", [](Wide x, Wide y) { return x || y; });
    check("logical_xor", [](Wide x, Wide y) { return (x != 0) != (y != 0); });
  }
}

BOOST_AUTO_TEST_CASE(comparisons_are_exact_for_mixed_signs_too) {
  for_integer_types([](auto tag) { check_comparisons<decltype(tag), decltype(tag)>(); });
  check_comparisons<std::int64_t, std::uint64_t>();
  check_comparisons<std::uint64_t, std::int64_t>();
}

BOOST_AUTO_TEST_CASE(clip_lets_the_upper_bound_win) {
  for_integer_types([](auto tag) {
    using T = decltype(tag);
    Noise noise(11);
    std::vector<T> x, low, high;
    const std::vector<T> v = samples<T>();
    for (int i = 0; i < 5000; ++i)
      for (auto* to : {&x, &low, &high}) to->push_back(v[noise.bits() % v.size()]);
    const char c = char_of(dtype_of<T>);
    const auto y = apply<T>("clip", concat(c, c, c, "->", c), x, low, high);
    bool same = true;
    for (std::size_t i = 0; i < y.size(); ++i) same &= y[i] == std::min(std::max(x[i], low[i]), high[i]);
    BOOST_TEST(same);
  });
}

BOOST_AUTO_TEST_CASE(bools) {
  const std::vector<unsigned char> a = {0, 0, 1, 1}, b = {0, 1, 0, 1};
  const auto table = [&](const char* name) {
    int bits = 0;
    const auto y = apply<bool>(name, "??->?", a, b);
    for (unsigned char v : y) bits = bits * 2 + v;
    return bits;
  };
  BOOST_TEST(table("add") == 0b0111);
  BOOST_TEST(table("multiply") == 0b0001);
  BOOST_TEST(table("bitwise_and") == 0b0001);
  BOOST_TEST(table("bitwise_or") == 0b0111);
  BOOST_TEST(table("bitwise_xor") == 0b0110);
  BOOST_TEST(table("logical_and") == 0b0001);
  BOOST_TEST(table("logical_or") == 0b0111);
  BOOST_TEST(table("logical_xor") == 0b0110);
  BOOST_TEST(table("maximum") == 0b0111);
  BOOST_TEST(table("minimum") == 0b0001);
  BOOST_TEST(table("less") == 0b0100);
  BOOST_TEST(table("greater_equal") == 0b1011);
  const auto no = apply<bool>("invert", "?->?", b), same = apply<bool>("absolute", "?->?", b),
             not2 = apply<bool>("logical_not", "?->?", b);
  for (int i = 0; i < 4; ++i) BOOST_TEST((no[i] == !b[i] && same[i] == b[i] && not2[i] == !b[i]));
  // There is no difference and no negative of bools (the loops of integers are not theirs).
  for (const char* name : {"subtract", "negative"})
    for (const Loop& loop : find_kernel(name).loops()) BOOST_TEST(loop.type[0] != Dtype::bool_);
}

BOOST_AUTO_TEST_SUITE_END()
