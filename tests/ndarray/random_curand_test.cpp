// Samplers on generators of cuRAND: against what the library gives for the same seed, ranges, distributions, replays,
// streams. On the CPU they are the library's host generators.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <vector>

#include <catena/ndarray/cuda/runtime/graph.h>
#include <catena/ndarray/cuda/vendor/curand_library.h>
#include <catena/ndarray/device/stream.h>
#include <catena/ndarray/routines/curand.h>
#include <catena/ndarray/routines/indexing.h>
#include <catena/ndarray/routines/math.h>
#include <catena/ndarray/routines/random.h>
#include <catena/ndarray/routines/reduction.h>
#include <catena/ndarray/routines/statistics.h>
#include <catena/tests/support/last_words.h>
#include <catena/tests/support/ndarray_values.h>

namespace {

using nd::Array;
using nd::cuda::CurandGenerator;
using nd::cuda::CurandMethod;
using nd::random::RandomState;
using test::chi_square;
using test::difference;
using test::message_of;
using test::same_bits;

// The library's host generators take 0.8 s (MRG32k3a) and 4.5 s (MT19937) for every seed, so that those run on devices
// only.
std::vector<CurandMethod> methods() {
  std::vector<CurandMethod> list = {CurandMethod::pseudo_default, CurandMethod::xorwow, CurandMethod::mtgp32,
                                    CurandMethod::philox4_32_10};
  if (nd::current_device().kind == nd::Device::Kind::cuda)
    list.insert(list.end(), {CurandMethod::mrg32k3a, CurandMethod::mt19937});
  else std::cout << "thinned out on the CPU: 2 of 6 methods of cuRAND, MRG32k3a and MT19937\n";
  return list;
}

bool have_curand() {
  try {
    nd::cuda::curand();
    return true;
  } catch (const catena::RuntimeError& e) {
    std::cout << "skipped: " << e.what() << "\n";
    return false;
  }
}

BOOST_AUTO_TEST_SUITE(random_curand)

// First of all: once the library is open it stays open.
BOOST_AUTO_TEST_CASE(without_the_library) {
  const nd::DeviceScope cpu(nd::cpu_device);
  const std::string said = test::last_words([] {
    setenv("CATENA_CUDA_LIBRARIES", "/nowhere", 1);
    try {
      RandomState(1, CurandMethod::xorwow);
    } catch (const catena::RuntimeError& e) {
      std::fputs(e.what(), stderr);
      std::abort();
    }
  });
  BOOST_TEST(said.starts_with("cuRAND is unavailable: libcurand.so.10 not found"), said);
}

BOOST_AUTO_TEST_CASE(numbers_are_those_of_the_library) {
  if (!have_curand()) return;
  for (const CurandMethod method : methods()) BOOST_TEST_CONTEXT("method " << int(method)) {
      RandomState g(7, method);
      BOOST_TEST((g.method() == method));
      BOOST_TEST(g.initial_seed() == 7u);
      // On (0, 1] there, on [0, 1) here.
      const Array u = nd::empty({1001}, nd::float64);
      CurandGenerator(method, {.seed = 7}).uniform(u);
      CHECK_SAME(difference(g.random_sample({7, 143}).ravel(), 1.0 - u), "uniform");
      // An odd count: one number more is drawn.
      for (const nd::Dtype t : {nd::float32, nd::float64}) {
        const Array x = nd::empty({8}, t);
        CurandGenerator(method, {.seed = 7}).normal(x);
        g.seed(7);
        CHECK_SAME(difference(g.standard_normal({7}, {.dtype = t}), x(nd::Slice({}, 7))), "normal " << t);
        g.seed(7);
        CHECK_SAME(difference(g.standard_normal({2, 4}, {.dtype = t}).ravel(), x), "normal " << t);
        if (t == nd::float64) continue;
        g.seed(7);
        CHECK_SAME(difference(g.standard_normal({8}, {.dtype = nd::float16}), x.astype(nd::float16)), "normal float16");
      }
      // A range of a power of 2 takes the low bits.
      const Array bits = nd::empty({50}, nd::uint32);
      CurandGenerator(method, {.seed = 7}).generate(bits);
      g.seed(7);
      CHECK_SAME(difference(g.randint(-3, 253, {50}), (bits & 255).astype(nd::int64) - 3), "integers");
    }
}

BOOST_AUTO_TEST_CASE(ranges_dtypes_and_shapes) {
  if (!have_curand()) return;
  RandomState g(3, CurandMethod::philox4_32_10);
  for (const nd::Dtype t : {nd::float16, nd::bfloat16, nd::float32, nd::float64}) {
    const Array u = g.random_sample({100001}, {.dtype = t});
    BOOST_TEST(u.dtype() == t);
    BOOST_TEST(u.min().item<double>() >= 0);
    BOOST_TEST(u.max().item<double>() < 1);  // where 16 bits would round to it
    BOOST_TEST(g.uniform(-2, 3, {1000}, {.dtype = t}).max().item<double>() < 3);
    BOOST_TEST(g.standard_normal({3, 5}, {.dtype = t}).dtype() == t);
    BOOST_TEST(g.lognormal(0, 1, nd::Shape{3}, {.dtype = t}).dtype() == t);
    BOOST_TEST(nd::all(nd::isfinite(g.gumbel(0, 1, {1000}, {.dtype = t}))).item<bool>());
  }
  BOOST_TEST(g.rand().ndim() == 0);
  BOOST_TEST(g.randn().ndim() == 0);
  BOOST_TEST(g.randint(5).ndim() == 0);
  BOOST_TEST(g.random_sample({0, 3}).size() == 0);
  for (const nd::Dtype t : {nd::int8, nd::uint8, nd::int16, nd::uint16, nd::int32, nd::uint32, nd::int64, nd::uint64}) {
    const Array a = g.randint(0, 100, {3000}, {.dtype = t});
    BOOST_TEST(a.dtype() == t);
    BOOST_TEST(a.max().item<int>() == 99);
    BOOST_TEST(a.min().item<int>() == 0);
  }
  BOOST_TEST(g.randint(5, 6, {10}).to_vector<int>() == std::vector<int>(10, 5), boost::test_tools::per_element());
  const Array wide = g.random_integers(INT64_MIN, INT64_MAX, {1000});
  BOOST_TEST(wide.min().item<std::int64_t>() < INT64_MIN / 2);
  BOOST_TEST(wide.max().item<std::int64_t>() > INT64_MAX / 2);
  const Array top = g.random_integers(INT64_MAX - 2, INT64_MAX, {100});
  BOOST_TEST(top.min().item<std::int64_t>() == INT64_MAX - 2);
  BOOST_TEST(top.max().item<std::int64_t>() == INT64_MAX);
  const Array long_range = g.randint(-5'000'000'000, 5'000'000'001, {2000});
  BOOST_TEST(long_range.min().item<std::int64_t>() >= -5'000'000'000);
  BOOST_TEST(long_range.max().item<std::int64_t>() <= 5'000'000'000);
  BOOST_TEST(std::abs(long_range.astype(nd::float64).mean().item<double>()) < 5 * 5e9 / std::sqrt(3.0 * 2000));
}

// Bounds as in random_test.cpp: 5 deviations of each statistic, chi-square with probability 1e-4.
BOOST_AUTO_TEST_CASE(distributions) {
  if (!have_curand()) return;
  for (const CurandMethod method : methods()) BOOST_TEST_CONTEXT("method " << int(method)) {
      RandomState g(11, method);
      const Array u = g.random_sample({100000});
      BOOST_TEST(std::abs(u.mean().item<double>() - 0.5) < 5 * 0.2887 / 316);
      BOOST_TEST(chi_square(nd::floor(u * 100).to_vector<std::int64_t>(), 100) < 160);
      const Array x = g.normal(-3, 0.5, nd::Shape{100001});
      BOOST_TEST(std::abs(x.mean().item<double>() + 3) < 5 * 0.5 / 316);
      BOOST_TEST(std::abs(x.std().item<double>() - 0.5) < 5 * 0.5 / 447);
      BOOST_TEST(std::abs(nd::log(g.lognormal(1, 2, nd::Shape{100000})).mean().item<double>() - 1) < 5 * 2 / 316.0);
      BOOST_TEST(chi_square((g.randint(-6, 7, {130000}) + 6).to_vector<std::int64_t>(), 13) < 39);
    }
}

BOOST_AUTO_TEST_CASE(seeds_replay_and_copies_begin_again) {
  if (!have_curand()) return;
  for (const CurandMethod method : methods()) BOOST_TEST_CONTEXT("method " << int(method)) {
      RandomState g(5, method);
      const Array first = g.random_sample({100}), second = g.random_sample({100});
      BOOST_TEST(!same_bits(first, second));
      RandomState copy = g;
      BOOST_TEST((copy.method() == method));
      BOOST_TEST(same_bits(copy.random_sample({100}), first));
      BOOST_TEST(same_bits(copy.random_sample({100}), second));
      const Array third = g.random_sample({100});  // the copy has its own place
      BOOST_TEST(!same_bits(third, first));
      g.seed(5);
      BOOST_TEST(same_bits(g.random_sample({100}), first));
      g.seed();
      BOOST_TEST(!same_bits(g.random_sample({100}), first));
      BOOST_TEST((g.method() == method));
      BOOST_TEST(!same_bits(RandomState(6, method).random_sample({100}), first));
    }
  RandomState own({}, CurandMethod::xorwow), other({}, CurandMethod::xorwow);
  BOOST_TEST(own.initial_seed() != other.initial_seed());
}

BOOST_AUTO_TEST_CASE(behind_the_functions_of_the_device) {
  if (!have_curand()) return;
  RandomState& state = nd::random::get_random_state();
  BOOST_TEST(!state.method());
  state = RandomState(21, CurandMethod::philox4_32_10);
  BOOST_TEST(&nd::random::get_random_state() == &state);
  RandomState same(21, CurandMethod::philox4_32_10);
  BOOST_TEST(same_bits(nd::random::rand(50), same.rand({50})));
  BOOST_TEST(same_bits(nd::random::randint(1000, {}, {50}), same.randint(1000, {}, {50})));
  nd::random::seed(22);
  same.seed(22);
  BOOST_TEST(same_bits(nd::random::randn(5), same.randn({5})));
  // Orders are Philox's.
  RandomState philox(22);
  BOOST_TEST(same_bits(nd::random::permutation(100), philox.permutation(100)));
  nd::random::reset_states();
  BOOST_TEST(!state.method());
  nd::random::seed(23);
  BOOST_TEST(same_bits(nd::random::rand(50), RandomState(23).rand({50})));
}

BOOST_AUTO_TEST_CASE(streams_take_turns) {
  if (!have_curand()) return;
  RandomState alone(9, CurandMethod::xorwow), shared(9, CurandMethod::xorwow);
  const nd::Stream streams[2] = {nd::Stream({.non_blocking = true}), nd::Stream({.non_blocking = true})};
  std::vector<Array> expected, drawn;
  for (int k = 0; k < 20; ++k) {
    expected.push_back(alone.standard_normal({501}));
    const nd::StreamScope scope(streams[k % 2]);
    drawn.push_back(shared.standard_normal({501}));
  }
  for (const nd::Stream& s : streams) s.synchronize();
  for (std::size_t k = 0; k < drawn.size(); ++k) CHECK_SAME(difference(drawn[k], expected[k]), "draw " << k);
}

BOOST_AUTO_TEST_CASE(errors) {
  if (!have_curand()) return;
  BOOST_CHECK_THROW(RandomState(1, CurandMethod::sobol32), catena::ValueError);
  BOOST_CHECK_THROW(RandomState(1, static_cast<CurandMethod>(99)), catena::ValueError);
  RandomState g(1, CurandMethod::xorwow);
  BOOST_TEST(message_of<nd::ValueError>([&] { g.randint(3, 3); }) == "randint: low 3 is not below high 3");
  BOOST_CHECK_THROW(g.random_sample({2}, {.dtype = nd::int32}), nd::TypeError);
  BOOST_CHECK_THROW(g.random_sample({-1, -1}), nd::ValueError);
  if (nd::current_device().kind == nd::Device::Kind::cpu) {
    std::cout << "skipped: generators of a device\n";
    return;
  }
  BOOST_TEST(message_of<nd::RuntimeError>([&] { nd::cuda::Graph([&] { g.rand({4}); }); }) ==
             "random: cannot be recorded in a CUDA graph, replays would not go on in cuRAND's sequence");
  const nd::DeviceScope cpu(nd::cpu_device);
  BOOST_TEST(message_of<nd::ValueError>([&] { g.rand({4}); }) ==
             "random: the generator of cuRAND is on cuda:0, the numbers are to be on cpu:0");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
