// Random numbers: reproducibility, ranges, distributions with fixed seeds and stated bounds, dtypes, orders.
#include <catena/ndarray/routines/random.h>

#include <cstdlib>

#include <catena/ndarray/routines/indexing.h>
#include <catena/ndarray/routines/math.h>
#include <catena/ndarray/routines/reduction.h>
#include <catena/ndarray/routines/statistics.h>
#include <catena/tests/support/ndarray_values.h>

namespace {

using nd::Array;
using nd::random::RandomState;
using test::chi_square;
using test::difference;
using test::message_of;
using test::same_bits;

constexpr nd::Dtype kFloats[] = {nd::float16, nd::bfloat16, nd::float32, nd::float64};

}  // namespace

namespace suites {  // the C library has a function random
BOOST_AUTO_TEST_SUITE(random)

BOOST_AUTO_TEST_CASE(seeds_replay) {
  for (nd::Dtype t : kFloats) {
    nd::random::seed(0);
    const Array first = nd::random::random_sample({10}, {.dtype = t}),
                second = nd::random::random_sample({10}, {.dtype = t});
    nd::random::seed(0);
    BOOST_TEST(same_bits(nd::random::random_sample({10}, {.dtype = t}), first), t);
    BOOST_TEST(same_bits(nd::random::random_sample({10}, {.dtype = t}), second), t);
    BOOST_TEST(!same_bits(first, second), t);
  }
  nd::random::seed(1);
  const Array a = nd::random::rand(10);
  nd::random::seed(2);
  BOOST_TEST(!same_bits(nd::random::rand(10), a));
  nd::random::seed();
  const std::uint64_t own = nd::random::get_random_state().initial_seed();
  nd::random::seed();
  BOOST_TEST(nd::random::get_random_state().initial_seed() != own);
}

// A sample is a function of {seed, offset}: whatever was drawn before, and however many numbers are drawn at once.
BOOST_AUTO_TEST_CASE(seed_and_offset_are_all_there_is) {
  RandomState g(7);
  const Array whole = g.random_sample({1000});
  BOOST_TEST(g.offset() == 250u);
  RandomState later(7, 100);
  CHECK_SAME(difference(later.random_sample({600}), whole(nd::Slice(400, {}))), "from offset 100");
  RandomState copy = g;
  BOOST_TEST(same_bits(copy.standard_normal({50}), g.standard_normal({50})));
  BOOST_TEST(copy.offset() == g.offset());
  g.random_sample({5});  // uses two blocks of four
  BOOST_TEST(g.offset() == copy.offset() + 2);
  g.seed(7);
  CHECK_SAME(difference(g.random_sample({10, 100}).ravel(), whole), "another shape");
  BOOST_TEST(g.random_sample({0, 3}).size() == 0);
  BOOST_TEST(g.offset() == 250u);
}

// Philox4x32-10 of the counter 0 and the key 0, from the authors' table of known answers.
BOOST_AUTO_TEST_CASE(known_answers) {
  RandomState g(0);
  const Array a = g.random_sample({4}, {.dtype = nd::float32});
  const std::uint32_t words[4] = {0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u};
  for (int i = 0; i < 4; ++i) BOOST_TEST(a(i).item<double>() == double(words[i] >> 8) * 0x1p-24);
}

BOOST_AUTO_TEST_CASE(shapes_and_dtypes) {
  RandomState g(1);
  for (nd::Dtype t : kFloats) {
    BOOST_TEST(g.random_sample({2, 3}, {.dtype = t}).dtype() == t);
    BOOST_TEST(g.uniform(-1, 1, {2, 3}, {.dtype = t}).dtype() == t);
    BOOST_TEST(g.standard_normal({2, 3}, {.dtype = t}).dtype() == t);
    BOOST_TEST(g.normal(1, 2, nd::Shape{2, 3}, {.dtype = t}).dtype() == t);
    BOOST_TEST(g.lognormal(0, 1, nd::Shape{2, 3}, {.dtype = t}).dtype() == t);
    BOOST_TEST(g.gumbel(0, 1, {2, 3}, {.dtype = t}).dtype() == t);
  }
  BOOST_TEST(nd::random::rand().ndim() == 0);
  BOOST_TEST(nd::random::rand().dtype() == nd::float64);
  BOOST_TEST(nd::random::rand(2, 3).shape() == (nd::Shape{2, 3}));
  BOOST_TEST(nd::random::randn(5).shape() == nd::Shape{5});
  BOOST_TEST(nd::random::random().ndim() == 0);
  BOOST_TEST(nd::random::normal().ndim() == 0);
  BOOST_TEST(nd::random::uniform().ndim() == 0);
  BOOST_TEST(nd::random::randint(5).ndim() == 0);
  BOOST_TEST(nd::random::randint(5).dtype() == nd::int64);
  for (std::int64_t n = 1; n < 10; ++n) BOOST_TEST(nd::random::standard_normal({n}).size() == n);
  for (nd::Dtype t : {nd::int8, nd::uint8, nd::int16, nd::uint16, nd::int32, nd::uint32, nd::int64, nd::uint64}) {
    const Array a = g.randint(0, 100, {1000}, {.dtype = t});
    BOOST_TEST(a.dtype() == t);
    BOOST_TEST(a.max().item<int>() == 99);
    BOOST_TEST(a.min().item<int>() == 0);
  }
}

// A million uniform numbers: mean 1/2 +- 5 deviations of the mean (5 x 0.2887 / 1000), variance 1/12 likewise, 0 <= u <
// 1, and the chi-square of 100 cells below 160 (probability 1e-4).
BOOST_AUTO_TEST_CASE(uniform_numbers) {
  for (nd::Dtype t : kFloats) {
    RandomState g(3);
    const Array u = g.random_sample({1000000}, {.dtype = t});
    const Array d = u.astype(nd::float64);
    BOOST_TEST(u.min().item<double>() >= 0);
    BOOST_TEST(u.max().item<double>() < 1);
    const double coarse =
        t == nd::bfloat16 ? 2e-3 : (t == nd::float16 ? 3e-4 : 0);  // the largest number below 1 takes the place of 1
    BOOST_TEST(std::abs(d.mean().item<double>() - 0.5) < 1.5e-3 + coarse);
    BOOST_TEST(std::abs(d.var().item<double>() - 1.0 / 12) < 4e-4 + coarse);
    if (nd::itemsize(t) >= 4)
      BOOST_TEST(chi_square(nd::floor(d * 100).astype(nd::int64).to_vector<std::int64_t>(), 100) < 160);
  }
}

// The same count of normal numbers: mean, variance, skewness and kurtosis within 5 of their deviations; 68.27% within
// one deviation of 0.
BOOST_AUTO_TEST_CASE(normal_numbers) {
  for (nd::Dtype t : {nd::float32, nd::float64}) {
    RandomState g(4);
    const Array x = g.standard_normal({1000000}, {.dtype = t}).astype(nd::float64);
    BOOST_TEST(std::abs(x.mean().item<double>()) < 5e-3);
    BOOST_TEST(std::abs(x.var().item<double>() - 1) < 5 * 1.4143e-3);
    BOOST_TEST(std::abs((x * x * x).mean().item<double>()) < 5 * 3.873e-3);
    BOOST_TEST(std::abs((x * x * x * x).mean().item<double>() - 3) < 5 * 9.8e-3);
    BOOST_TEST(std::abs((nd::abs(x) < 1).astype(nd::float64).mean().item<double>() - 0.6827) < 2.4e-3);
    BOOST_TEST(nd::all(nd::isfinite(x)).item<bool>());
    const Array pairs = x.reshape(-1, 2);  // the two numbers of a pair are independent
    BOOST_TEST(std::abs((pairs(nd::Slice(), 0) * pairs(nd::Slice(), 1)).mean().item<double>()) < 5 * 1.4143e-3);
  }
  RandomState g(5);
  const Array y = g.normal(-3, 0.5, nd::Shape{100000});
  BOOST_TEST(std::abs(y.mean().item<double>() + 3) < 5 * 0.5 / 316);
  BOOST_TEST(std::abs(y.std().item<double>() - 0.5) < 0.006);
  const Array means = nd::array({{0.0}, {100.0}});
  const Array z = g.normal(means, nd::array({1.0, 0.0, 2.0}));
  BOOST_TEST(z.shape() == (nd::Shape{2, 3}));
  BOOST_TEST(z(1, 1).item<double>() == 100);
  BOOST_TEST(g.normal(means, 1, nd::Shape{4, 2, 3}).shape() == (nd::Shape{4, 2, 3}));
  const Array l = nd::log(g.lognormal(1, 2, nd::Shape{100000}));
  BOOST_TEST(std::abs(l.mean().item<double>() - 1) < 5 * 2 / 316.0);
  const Array e = g.gumbel(2, 3, {100000});
  BOOST_TEST(std::abs(e.mean().item<double>() - (2 + 3 * 0.5772156649)) < 5 * 3 * 1.2825 / 316);
  BOOST_TEST(nd::all(nd::isfinite(e)).item<bool>());
}

BOOST_AUTO_TEST_CASE(uniform_ranges) {
  for (nd::Dtype t : kFloats)
    for (const auto& [low, high] :
         {std::pair{-2.0, 3.0}, {1.0, 1.0078125}, {0.0, 1e-4}, {1000.0, 1008.0}, {-1.0, 0.0}, {3.0, -2.0}}) {
      RandomState g(6);
      const Array x = g.uniform(low, high, {200000}, {.dtype = t}).astype(nd::float64);
      const double from = std::min(low, high), to = std::max(low, high);
      BOOST_TEST((low < high ? x.max().item<double>() < high : x.min().item<double>() > high),
                 t << " from " << low << " to " << high);
      BOOST_TEST(std::abs(x.mean().item<double>() - (from + to) / 2) <
                 0.05 * (to - from) + (t == nd::bfloat16 ? 0.004 * to : 0.0));
    }
  RandomState g(6);
  CHECK_SAME(difference(g.uniform(2, 2, {3}), nd::full({3}, 2.0)), "an empty range");
  BOOST_TEST(message_of<nd::ValueError>([&] { g.uniform(-1e308, 1e308); }) ==
             "uniform: the range from -1e+308 to 1e+308 is not finite");
}

// Chi-square of equally likely integers: 12 degrees of freedom, below 39 with probability 0.9999.
BOOST_AUTO_TEST_CASE(integers) {
  RandomState g(8);
  const Array a = g.randint(-6, 7, {130000});
  BOOST_TEST(chi_square((a + 6).to_vector<std::int64_t>(), 13) < 39);
  BOOST_TEST(a.min().item<int>() == -6);
  BOOST_TEST(a.max().item<int>() == 6);
  const Array b = g.randint(3, {}, {3000});
  BOOST_TEST(chi_square(b.to_vector<std::int64_t>(), 3) < 19);
  const Array c = g.random_integers(1, 6, {6000});
  BOOST_TEST(c.min().item<int>() == 1);
  BOOST_TEST(c.max().item<int>() == 6);
  BOOST_TEST(g.random_integers(2, {}, {100}).min().item<int>() == 1);
  BOOST_TEST(g.randint(5, 6, {10}).to_vector<int>() == std::vector<int>(10, 5), boost::test_tools::per_element());
  // The full range, and its ends.
  const Array wide = g.random_integers(INT64_MIN, INT64_MAX, {1000});
  BOOST_TEST(wide.min().item<std::int64_t>() < INT64_MIN / 2);
  BOOST_TEST(wide.max().item<std::int64_t>() > INT64_MAX / 2);
  const Array top = g.random_integers(INT64_MAX - 1, INT64_MAX, {100});
  BOOST_TEST(top.min().item<std::int64_t>() == INT64_MAX - 1);
  BOOST_TEST(top.max().item<std::int64_t>() == INT64_MAX);
  BOOST_TEST(g.randint(-128, 128, {5000}, {.dtype = nd::int8}).min().item<int>() == -128);
}

BOOST_AUTO_TEST_CASE(orders) {
  RandomState g(9);
  const Array p = g.permutation(1000);
  BOOST_TEST(p.dtype() == nd::int64);
  auto sorted = p.to_vector<std::int64_t>();
  BOOST_TEST(!std::is_sorted(sorted.begin(), sorted.end()));
  std::sort(sorted.begin(), sorted.end());
  BOOST_TEST(sorted == nd::arange(1000).to_vector<std::int64_t>(), boost::test_tools::per_element());
  RandomState again(9);
  BOOST_TEST(same_bits(again.permutation(1000), p));
  BOOST_TEST(g.permutation(0).size() == 0);
  Array a = nd::arange(10).reshape(5, 2);
  const Array shuffled = g.permutation(a);
  BOOST_TEST(!shuffled.shares_memory(a));
  for (int i = 0; i < 5; ++i) BOOST_TEST(shuffled(i, 1).item<int>() == shuffled(i, 0).item<int>() + 1);
  g.shuffle(a.T());
  g.shuffle(a);
  BOOST_TEST(a.sum().item<int>() == 45);
  // All six orders of three things are equally likely: 5 degrees of freedom, below 26 with probability 0.9999.
  std::vector<std::int64_t> outcomes;
  for (int i = 0; i < 6000; ++i) {
    const auto o = g.permutation(3).to_vector<std::int64_t>();
    outcomes.push_back(o[0] * 2 + (o[1] > o[2]));
  }
  BOOST_TEST(chi_square(outcomes, 6) < 26);
}

// The functions of the namespace draw from the state of the device what a RandomState of that seed draws.
BOOST_AUTO_TEST_CASE(free_functions) {
  const auto check = [](const char* what, auto&& free, auto&& member) {
    nd::random::seed(21);
    const Array a = free();
    RandomState state(21);
    BOOST_TEST(same_bits(a, member(state)), what);
    BOOST_TEST(nd::random::get_random_state().offset() == state.offset(), what);
  };
  using RS = RandomState;
  namespace r = nd::random;
  check(
      "ranf", [] { return r::ranf({5}); }, [](RS& g) { return g.random_sample({5}); });
  check(
      "sample", [] { return r::sample({5}, nd::float32); }, [](RS& g) { return g.random_sample({5}, nd::float32); });
  check(
      "random", [] { return r::random({5}); }, [](RS& g) { return g.random_sample({5}); });
  check(
      "rand", [] { return r::rand(2, 3); },
      [](RS& g) {
        return g.rand({2, 3});
      });
  check(
      "randn", [] { return r::randn(2, 3); },
      [](RS& g) {
        return g.standard_normal({2, 3});
      });
  check(
      "uniform", [] { return r::uniform(1, 2, {5}); }, [](RS& g) { return g.uniform(1, 2, {5}); });
  check(
      "normal", [] { return r::normal(1, 2, {5}); }, [](RS& g) { return g.normal(1, 2, {5}); });
  check(
      "lognormal", [] { return r::lognormal(1, 2, {5}); }, [](RS& g) { return nd::exp(g.normal(1, 2, {5})); });
  check(
      "gumbel", [] { return r::gumbel(1, 2, {5}); }, [](RS& g) { return g.gumbel(1, 2, {5}); });
  check(
      "randint", [] { return r::randint(3, 9, {5}); }, [](RS& g) { return g.randint(3, 9, {5}); });
  check(
      "random_integers", [] { return r::random_integers(3, 9, {5}); }, [](RS& g) { return g.randint(3, 10, {5}); });
  check(
      "choice", [] { return r::choice(9, {5}); }, [](RS& g) { return g.randint(0, 9, {5}); });
  check(
      "permutation", [] { return r::permutation(9); }, [](RS& g) { return g.permutation(9); });
  nd::random::seed(21);
  BOOST_TEST(r::bytes(9) == RandomState(21).bytes(9));
}

BOOST_AUTO_TEST_CASE(state_of_the_device) {
  RandomState& state = nd::random::get_random_state();
  BOOST_TEST(&state == &nd::random::get_random_state());
  setenv("CHAINER_SEED", "17", 1);
  nd::random::reset_states();
  BOOST_TEST(state.initial_seed() == 17u);
  BOOST_TEST(state.offset() == 0u);
  setenv("CHAINER_SEED", "x17", 1);
  BOOST_TEST(message_of<nd::ValueError>([] { nd::random::reset_states(); }) ==
             "CHAINER_SEED: \"x17\" is no unsigned 64-bit integer");
  unsetenv("CHAINER_SEED");
}

BOOST_AUTO_TEST_CASE(errors) {
  RandomState g(10);
  BOOST_TEST(message_of<nd::TypeError>([&] { g.random_sample({2}, {.dtype = nd::int32}); }) ==
             "random_sample: samples cannot have the dtype int32, which is not floating");
  BOOST_CHECK_THROW(g.standard_normal({2}, {.dtype = nd::bool_}), nd::TypeError);
  BOOST_TEST(message_of<nd::TypeError>([&] { g.randint(2, {}, {}, {.dtype = nd::float32}); }) ==
             "randint: samples cannot have the dtype float32, which is no integer dtype");
  BOOST_TEST(message_of<nd::ValueError>([&] { g.randint(3, 3); }) == "randint: low 3 is not below high 3");
  BOOST_CHECK_THROW(g.randint(0), nd::ValueError);
  BOOST_TEST(message_of<nd::ValueError>([&] { g.randint(0, 257, {}, {.dtype = nd::uint8}); }) ==
             "randint: the range from 0 to 256 does not fit uint8");
  BOOST_CHECK_THROW(g.randint(-1, 3, {}, {.dtype = nd::uint64}), nd::ValueError);
  BOOST_TEST(message_of<nd::ValueError>([&] { g.random_integers(3, 2); }) == "random_integers: low 3 is above high 2");
  BOOST_TEST(message_of<nd::ValueError>([&] { g.normal(0, -1); }) == "normal: the deviation -1 is negative");
  BOOST_TEST(message_of<nd::ValueError>([&] { g.normal(nd::zeros(3), 1, nd::Shape{2}); }) ==
             "normal: shapes (3,) and (2,) do not match: lengths 3 and 2 on axis -1 are neither equal nor 1");
  BOOST_CHECK_THROW(g.permutation(-1), nd::ValueError);
  BOOST_CHECK_THROW(g.permutation(nd::zeros({})), nd::TypeError);
  BOOST_CHECK_THROW(g.shuffle(nd::zeros({})), nd::TypeError);
  BOOST_CHECK_THROW(g.random_sample({-1}), nd::ValueError);
  BOOST_TEST(g.offset() == 0u);  // nothing was used up
}

BOOST_AUTO_TEST_SUITE_END()
}  // namespace suites
