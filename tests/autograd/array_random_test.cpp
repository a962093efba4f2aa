// Random numbers: a function of {seed, offset} and position, whatever the backend.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <thread>

#include <catena/autograd/array.h>
#include <catena/kernels/random.h>
#include <catena/tests/support/backend_calls.h>

using namespace autograd;
using catena::TypeError;
using catena::ValueError;

namespace {

// Element i of a sequence, by the kernel's body.
template <class Body, class T, class... Parameters>
T number(std::int64_t i, std::uint64_t seed, std::uint64_t offset, Parameters... p) {
  catena::Index<1> index{};
  index.position = i;
  T y{};
  Body::run(index, seed, offset, p..., y);
  return y;
}
using uniform = catena::k::random_uniform;

}  // namespace

BOOST_AUTO_TEST_SUITE(array_random)

BOOST_AUTO_TEST_CASE(uniforms_are_those_of_the_stream) {
  Generator g{42, 7};
  const std::vector<float> u = to_vector<float>(random_uniform({3, 5}, 0, 1, Dtype::float32, g));
  BOOST_TEST(g.offset == 7u + 4u);
  for (std::size_t i = 0; i < u.size(); ++i) BOOST_TEST(u[i] == (number<uniform, float>(std::int64_t(i), 42, 7)));
  const std::vector<double> d = to_vector<double>(random_uniform({6}, 0, 1, Dtype::float64, g));
  for (std::size_t i = 0; i < d.size(); ++i) BOOST_TEST(d[i] == (number<uniform, double>(std::int64_t(i), 42, 11)));
  const std::vector<double> ranged = to_vector<double>(random_uniform({1000}, -2, 3, Dtype::float16, g));
  for (double v : ranged) BOOST_TEST((v >= -2 && v <= 3));
}

BOOST_AUTO_TEST_CASE(normals_have_their_moments) {
  Generator g{1, 0};
  const Array x = random_normal({20000}, 3, 2, Dtype::float32, g);
  const double mean_of = item(mean(x)).to_double();
  const double variance = item(mean((x - mean_of) * (x - mean_of))).to_double();
  BOOST_TEST(std::abs(mean_of - 3) < 0.06);
  BOOST_TEST(std::abs(std::sqrt(variance) - 2) < 0.05);
  BOOST_CHECK_THROW(random_normal({1}, 0, -1, Dtype::float32, g), ValueError);
  BOOST_CHECK_THROW(random_normal({1}, 0, 1, Dtype::int32, g), TypeError);
  BOOST_TEST(random_normal({0}, 0, 1, Dtype::float32, g).size() == 0);
}

BOOST_AUTO_TEST_CASE(a_seed_repeats_and_threads_differ) {
  seed(5);
  const auto first = to_vector<float>(random_uniform({8}, 0, 1, Dtype::float32, default_generator()));
  const auto second = to_vector<float>(random_uniform({8}, 0, 1, Dtype::float32, default_generator()));
  BOOST_TEST(first != second);
  seed(5);
  BOOST_TEST(to_vector<float>(random_uniform({8}, 0, 1, Dtype::float32, default_generator())) == first);
  std::uint64_t here = 0, there = 0;
  std::thread([&] { here = default_generator().seed; }).join();
  std::thread([&] { there = default_generator().seed; }).join();
  BOOST_TEST(here != there);
}

BOOST_AUTO_TEST_CASE(bits_and_integers) {
  Array out = arrays::empty({2, 9}, Dtype::uint32);
  test::calls::random(catena::RandomKind::bits, 3, 1, 0, 0, out);
  const auto bits = to_vector<std::uint32_t>(out);
  for (std::size_t i = 0; i < bits.size(); ++i)
    BOOST_TEST(bits[i] == (number<catena::k::random_bits, std::uint32_t>(std::int64_t(i), 3, 1)));
  for (Dtype t : {Dtype::int8, Dtype::int32, Dtype::uint64, Dtype::int64}) {
    Array ints = arrays::empty({50}, t);
    test::calls::random(catena::RandomKind::integers, 3, 1, 2, 9, ints);
    const auto v = to_vector<std::int64_t>(ints);
    for (std::size_t i = 0; i < v.size(); ++i)
      BOOST_TEST(v[i] == (number<catena::k::random_integers, std::int64_t>(std::int64_t(i), 3, 1, std::int64_t(2),
                                                                           std::int64_t(9))));
  }
  // a view is filled as if it were packed
  Array wide = arrays::zeros({4, 6});
  const Array part = slice(wide, 1, 0, 6, 2);
  test::calls::random(catena::RandomKind::uniform, 3, 1, 0, 0, part);
  BOOST_TEST(to_vector<float>(part)[4] == (number<uniform, float>(4, 3, 1)));
  BOOST_TEST(to_vector<float>(wide)[1] == 0);
}

BOOST_AUTO_TEST_SUITE_END()
