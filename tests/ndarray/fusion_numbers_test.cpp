// Numbers among the arguments of a fused function: the same function, called with the same arguments without fuse,
// gives the same bits and dtypes.
#include <catena/ndarray/user_kernel/fusion.h>

#include <cmath>
#include <complex>
#include <optional>
#include <string>

#include <catena/kernels/base/error.h>
#include <catena/ndarray/routines/math.h>
#include <catena/tests/support/message_of.h>
#include <catena/tests/support/ndarray_values.h>

namespace {

using nd::Array;
using nd::Dtype;

// The result, or none where the function throws.
template <class F, class... A> std::optional<Array> result_of(const F& f, const A&... arguments) {
  try {
    return Array(f(arguments...));
  } catch (const nd::Error&) {
    return {};
  }
}

template <class F, class H, class K>
void check_one(const char* text, const F& f, const Array& x, H h, K k, const std::string& types) {
  const std::optional<Array> plain = result_of(f, x, h, k), fused = result_of(nd::fuse(f), x, h, k);
  const std::string what = catena::concat(text, " of ", x.dtype(), ", ", types, " ", h, " and ", k);
  BOOST_TEST(plain.has_value() == fused.has_value(), what);
  if (!plain || !fused) return;
  BOOST_TEST(plain->dtype() == fused->dtype(), what << ": " << fused->dtype() << " instead of " << plain->dtype());
  if (plain->dtype() == fused->dtype()) BOOST_TEST(test::same_bits(*fused, *plain), what);
}

// Twice with each pair of types, because the program of a call may be used for the next one.
template <class F> void check_numbers(const char* text, const F& f) {
  for (const Dtype t : {nd::float32, nd::float16, nd::float64, nd::int8, nd::int32, nd::uint8, nd::bool_}) {
    if (test::cases_take_turns() && t != nd::float32 && t != nd::int8) continue;  // every dtype is another kernel
    const Array x = (nd::arange(7.) - (t == nd::uint8 ? 0 : 3)).astype(t);
    for (const int more : {0, 1}) {
      check_one(text, f, x, 0.7 + more, 3.1, "double, double");
      check_one(text, f, x, 0.7f + float(more), 3.1f, "float, float");
      check_one(text, f, x, 0.7f, 3.1 + more, "float, double");
      check_one(text, f, x, 3 + more, 2, "int, int");
      check_one(text, f, x, 3, 0.25 + more, "int, double");
      check_one(text, f, x, 2.5f, 4 + more, "float, int");
      check_one(text, f, x, 5u + unsigned(more), 2LL, "unsigned, long long");
      check_one(text, f, x, more == 1, 2.5, "bool, double");
    }
  }
}
#define CHECK_NUMBERS(...) check_numbers(#__VA_ARGS__, [](auto x, auto h, auto k) { return __VA_ARGS__; })
// For whole numbers only.
template <class F> void check_integers(const char* text, const F& f) {
  for (const Dtype t : {nd::int8, nd::int32, nd::uint8, nd::float32}) {
    if (test::cases_take_turns() && t != nd::int8) continue;
    const Array x = nd::arange(7).astype(t);
    for (const int more : {0, 1}) {
      check_one(text, f, x, 7 + more, 3, "int, int");
      check_one(text, f, x, -7 - more, 3, "int, int");
      check_one(text, f, x, 9u, 2 + more, "unsigned, int");
      check_one(text, f, x, 100LL + more, 3u, "long long, unsigned");
      check_one(text, f, x, true, 2 + more, "bool, int");
    }
  }
}
#define CHECK_INTEGERS(...) check_integers(#__VA_ARGS__, [](auto x, auto h, auto k) { return __VA_ARGS__; })

}  // namespace

BOOST_AUTO_TEST_SUITE(fusion_numbers)

BOOST_AUTO_TEST_CASE(two_numbers_in_an_operator) {
  CHECK_NUMBERS(x * (2.0 * h) + k * 0);
  CHECK_NUMBERS(x * (h * h) / (k * k));
  CHECK_NUMBERS(1.0 - (x * x) / (h * h) - k);
  CHECK_NUMBERS(x * (1 - h) + (k - 1) * x);
  CHECK_NUMBERS((h + k) * x - (h - k));
  CHECK_NUMBERS(x / (h / k + 1));
}

BOOST_AUTO_TEST_CASE(chains_signs_and_functions_of_numbers) {
  CHECK_NUMBERS(x * h * k + h * h * h * 0.1f);
  CHECK_NUMBERS(x + -h * -k);
  CHECK_NUMBERS(nd::maximum(x, h * k) + nd::clip(x, k * 0, k));
  CHECK_NUMBERS(x * (h > k) + (h == k) * x + x * (h <= k));
  CHECK_NUMBERS(nd::where(x > h - k, x, h * 2));
  CHECK_NUMBERS(nd::exp(x) * h + (h * 0.1f + k));
}

BOOST_AUTO_TEST_CASE(whole_numbers) {
  CHECK_INTEGERS(x + h / k);
  CHECK_INTEGERS(x * (h % k) + (h & k));
  CHECK_INTEGERS(x + (h | 1) + (k ^ 3));
  CHECK_INTEGERS(x * (1 << k) + (h >> 1));
  CHECK_INTEGERS(x + (~k & 15));
}

BOOST_AUTO_TEST_CASE(numbers_that_are_assigned_to) {
  const auto f = [](auto x, auto h, auto k) {
    k += h;
    k *= 2;
    k -= h / 3;
    return x * k + h;
  };
  check_numbers("k += h; k *= 2; k -= h / 3", f);
}

BOOST_AUTO_TEST_CASE(complex_numbers) {
  const Array x = nd::arange(4.).astype(nd::float32), z = x.astype(nd::complex64) * std::complex<float>(1, 2);
  const auto f = [](auto a, auto h, auto k) { return a * (h * k) + h / k - -h; };
  const auto same = [](const auto& function, const Array& a, auto h, auto k) {
    const Array plain = function(a, h, k), fused = nd::fuse(function)(a, h, k);
    return plain.dtype() == fused.dtype() && test::same_bits(plain, fused);
  };
  BOOST_TEST(same(f, x, std::complex<double>(0.5, 1), std::complex<double>(2, 3)));
  BOOST_TEST(same(f, z, std::complex<float>(0.5, 1), std::complex<float>(2, 3)));
  BOOST_TEST(same(f, z, std::complex<double>(0.5, 1), 2.0));
}

BOOST_AUTO_TEST_CASE(complex_constants) {
  using Z = std::complex<float>;
  const auto f = [](auto a) { return (a * Z(0, 2) - std::complex<double>(1, 1)) / Z(3, 1) + (Z(1, 0) - a); };
  const auto g = [](auto a) { return nd::where(a == Z(1, 0), Z(5, 6), a) + (Z(2, 0) != a); };
  for (const nd::Dtype t :
       {nd::bool_, nd::int64, nd::float16, nd::float32, nd::float64, nd::complex64, nd::complex128}) {
    const Array x = nd::arange(5).astype(t);
    BOOST_TEST(test::same_bits(nd::fuse(f)(x), f(x)), t);
    BOOST_TEST(test::same_bits(nd::fuse(g)(x), g(x)), t);
  }
}

BOOST_AUTO_TEST_CASE(reductions_and_results_that_are_numbers) {
  const Array x = nd::arange(12.).astype(nd::float32).reshape(3, 4);
  const auto f = [](auto a, auto h) { return a * (h * h) + 2.0 * h; };
  const auto sums = nd::fuse(f, {.reduce = nd::Reduction::sum});
  for (const double h : {0.5, 3.0}) {
    const Array fused = sums(x, h, {.axis = 1}), plain = nd::sum(f(x, h), {.axis = 1});
    BOOST_TEST((fused.dtype() == nd::float32));
    BOOST_TEST(test::same_bits(fused, plain));
  }
  const auto number = nd::fuse([](auto a, auto h) { return std::pair(a + h, h * h); });
  for (const double h : {0.5, 3.0}) {
    const auto both = number(x, h);
    BOOST_TEST((both[1].dtype() == nd::float64));
    test::check_values(both[1], std::vector<double>(12, h * h));
  }
}

BOOST_AUTO_TEST_CASE(division_of_an_integer_by_zero) {
  const auto f = nd::fuse([](auto x, auto h) { return x * (1 / h); });
  BOOST_TEST(test::message_of<nd::ValueError>([&] { f(nd::ones({2}), 0); }) ==
             "fused function: the integer 1 is divided by zero");
  BOOST_TEST((Array(f(nd::ones({2}), 0.0)).to_vector<double>() == std::vector<double>(2, HUGE_VAL)));
}

BOOST_AUTO_TEST_SUITE_END()
