// Keys of random numbers, and the sequences of Sobol and Halton against SciPy.
#include <set>
#include <thread>

#include <catena/tests/support/ndarray_numpy.h>
#include <catena/tests/support/ndarray_values.h>

using nd::random::default_rng;
using nd::random::Key;
using test::same_bits;

BOOST_AUTO_TEST_SUITE(random_key)

BOOST_AUTO_TEST_CASE(children_of_keys) {
  const Key key(7);
  const auto [a, b] = key.split<2>();
  const std::vector<Key> three = key.split(3);
  BOOST_TEST((three.size() == 3 && three[0] == a && three[1] == b && three[2] == key.child(2)));
  BOOST_TEST(key.split(0).empty());
  BOOST_TEST((a == Key(7).child(0)));
  // Four generations of two children and the folded keys: all are different.
  std::set<std::uint64_t> seeds = {key.seed()};
  std::vector<Key> generation = {key};
  for (int depth = 0; depth < 4; ++depth) {
    std::vector<Key> next;
    for (const Key& k : generation)
      for (const Key& child : {k.child(0), k.child(1), k.fold_in(0), k.fold_in(1)}) next.push_back(child);
    for (const Key& k : next) seeds.insert(k.seed());
    generation = next;
  }
  BOOST_TEST(seeds.size() == 1 + 4 + 16 + 64 + 256);
  BOOST_CHECK_THROW(key.child(-1), nd::ValueError);
  BOOST_CHECK_THROW(key.split(-1), nd::ValueError);
}

BOOST_AUTO_TEST_CASE(numbers_depend_on_the_key_alone) {
  const auto [a, b] = Key(3).split();
  const nd::Array of_a = default_rng(a).normal(0, 1, {1000}), of_b = default_rng(b).normal(0, 1, {1000});
  nd::Array in_thread;
  std::thread([&, k = a] {
    default_rng(b).random({17});
    in_thread = default_rng(k).normal(0, 1, {1000});
  }).join();
  BOOST_TEST(same_bits(in_thread, of_a));
  BOOST_TEST(!same_bits(of_a, of_b));
  const double correlation = nd::mean(of_a * of_b).item<double>();
  BOOST_TEST(std::abs(correlation) < 5 / std::sqrt(1000.0));
  // Neighbouring seeds and children have nothing in common.
  const nd::Array of_seed = default_rng(Key(3)).random({1000}), of_child = default_rng(Key(3).child(0)).random({1000});
  BOOST_TEST(nd::sum(of_seed == of_child).item<int>() == 0);
}

BOOST_FIXTURE_TEST_CASE(sequences, test::NumpyScene) {
  // numpy: from scipy.stats import qmc
  // numpy: sobol = lambda n, d, skip=0: qmc.Sobol(d, scramble=False).random(n + skip)[skip:]
  // numpy: halton = lambda n, d, skip=0: qmc.Halton(d, scramble=False).fast_forward(skip).random(n)
  using nd::random::halton, nd::random::sobol;
  NUMPY("sobol(4, 3)", sobol(4, 3), "float64 (4, 3) 0 0 0 0.5 0.5 0.5 0.75 0.25 0.25 0.25 0.75 0.75");
  NUMPY("sobol(64, 8)", sobol(64, 8), "float64 (64, 8) # 252 65598");
  NUMPY("sobol(300, 64)", sobol(300, 64), "float64 (300, 64) # 9569.15625 92183582.7");
  NUMPY("sobol(300, 64)[-2:, ::9]", sobol(300, 64)(nd::Slice(-2, {}), nd::Slice({}, {}, 9)),
        "float64 (2, 8) 0.990234375 0.955078125 0.001953125 0.216796875 0.638671875 0.607421875 0.654296875 "
        "0.826171875 0.490234375 0.455078125 0.501953125 0.716796875 0.138671875 0.107421875 0.154296875 0.326171875");
  NUMPY("sobol(5, 2, 1000003)", sobol(5, 2, {.skip = 1000003}),
        "float64 (5, 2) 0.276474953 0.561919212 0.401474953 0.186919212 0.901474953 0.686919212 0.651474953 "
        "0.436919212 0.151474953 0.936919212");
  NUMPY("sobol(1, 1)", sobol(1), "float64 (1, 1) 0");
  NUMPY("halton(5, 3)", halton(5, 3),
        "float64 (5, 3) 0 0 0 0.5 0.333333333 0.2 0.25 0.666666667 0.4 0.75 0.111111111 0.6 0.125 0.444444444 0.8");
  NUMPY("halton(200, 20)", halton(200, 20), "float64 (200, 20) # 1906.94034 3937842.89");
  NUMPY("halton(3, 2, 12345)", halton(3, 2, {.skip = 12345}),
        "float64 (3, 2) 0.609558105 0.246354722 0.359558105 0.579688056 0.859558105 0.913021389");
  BOOST_TEST(sobol(0, 3).shape() == (nd::Shape{0, 3}));
  // A shift moves all points by one vector.
  const nd::Array moved = sobol(16, 3, {.shift = Key(1)}) - sobol(16, 3);
  const nd::Array first = moved - nd::floor(moved);
  BOOST_TEST(bool(nd::allclose(first, first(0), 1e-9, 1e-9)));
  BOOST_TEST(bool((first(0) != 0).all()));
  BOOST_CHECK_THROW(sobol(-1, 2), nd::ValueError);
  BOOST_CHECK_THROW(sobol(4, 65), nd::ValueError);
  BOOST_CHECK_THROW(sobol(4, 1, {.skip = std::int64_t(1) << 32}), nd::ValueError);
  BOOST_CHECK_THROW(halton(4, 0), nd::ValueError);
  BOOST_CHECK_THROW(halton(4, 1, {.skip = -1}), nd::ValueError);
}

BOOST_AUTO_TEST_SUITE_END()
