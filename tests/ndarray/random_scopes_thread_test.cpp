// StatesScope: generators of a thread's own, whose numbers depend on a seed alone and leave those outside alone.
#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include <catena/ndarray/ndarray.h>
#include <catena/ndarray/routines/random_states.h>

namespace {

using nd::random::StatesScope;

// Numbers of several kinds, of the current device.
std::vector<double> draw() {
  std::vector<double> all = nd::random::uniform(0, 1, {3}).to_vector<double>();
  const auto add = [&](const nd::Array& a) {
    for (const double v : a.astype(nd::float64).to_vector<double>()) all.push_back(v);
  };
  add(nd::random::randint(0, 1000000, {2}));
  add(nd::random::standard_normal({3}));
  add(nd::random::permutation(7));
  add(nd::random::choice(50, {3}, {.replace = false}));
  for (const char c : nd::random::bytes(4)) all.push_back(double(c));
  return all;
}

BOOST_AUTO_TEST_SUITE(random_scopes)

BOOST_AUTO_TEST_CASE(numbers_follow_from_the_seed_of_the_scope) {
  nd::random::seed_all(1);
  const std::vector<double> outside = draw();
  nd::random::seed_all(5);
  const std::vector<double> of_five = draw();
  nd::random::seed_all(1);
  for (int times = 0; times < 2; ++times) {
    const StatesScope scope(5);
    BOOST_TEST((draw() == of_five));  // as after seed_all(5)
    BOOST_TEST((draw() != of_five));
  }
  {
    StatesScope scope(6);
    BOOST_TEST((draw() != of_five));
    scope.begin(5);
    BOOST_TEST((draw() == of_five));
  }
  BOOST_TEST((draw() == outside));  // the generators outside have drawn nothing
}

BOOST_AUTO_TEST_CASE(scopes_are_nested) {
  const StatesScope outer(5);
  const std::vector<double> first = draw(), second = draw();
  nd::random::seed_all(5);
  BOOST_TEST((draw() == first));
  {
    const StatesScope inner(9);
    draw();
    nd::random::seed(3);
    nd::random::reset_states();
  }
  BOOST_TEST((draw() == second));
  {
    const StatesScope same(5);
    BOOST_TEST((draw() == first));
  }
}

BOOST_AUTO_TEST_CASE(states_are_those_of_the_scope) {
  draw();
  const std::vector<nd::random::DeviceState> outside = nd::random::get_states();
  {
    const StatesScope scope(8);
    BOOST_TEST(nd::random::get_states().empty());
    draw();
    const std::vector<nd::random::DeviceState> now = nd::random::get_states();
    BOOST_REQUIRE(now.size() == 1u);
    BOOST_TEST(now[0].seed == 8u);
    const std::vector<double> next = draw();
    nd::random::set_states(now);
    BOOST_TEST((draw() == next));
  }
  const std::vector<nd::random::DeviceState> after = nd::random::get_states();
  BOOST_REQUIRE(after.size() == outside.size());
  for (std::size_t i = 0; i < after.size(); ++i) {
    BOOST_TEST(after[i].seed == outside[i].seed);
    BOOST_TEST(after[i].offset == outside[i].offset);
  }
}

BOOST_AUTO_TEST_CASE(generators_without_a_seed) {
  const auto fresh = [] {
    std::vector<double> all = nd::random::default_rng().random({2}).to_vector<double>();
    const auto add = [&](const nd::Array& a) {
      for (const double v : a.to_vector<double>()) all.push_back(v);
    };
    add(nd::random::RandomState().uniform(0, 1, {2}));
    add(nd::random::Generator(nd::random::Philox4x3210()).random({2}));
    nd::random::RandomState again(3);
    again.seed();
    add(again.uniform(0, 1, {2}));
    nd::random::seed();
    add(nd::random::uniform(0, 1, {2}));
    return all;
  };
  std::vector<std::vector<double>> seen;
  for (const std::uint64_t seed : {5u, 5u, 6u}) {
    const StatesScope scope(seed);
    seen.push_back(fresh());
    BOOST_TEST((fresh() != seen.back()));
  }
  BOOST_TEST((seen[0] == seen[1]));
  BOOST_TEST((seen[0] != seen[2]));
  BOOST_TEST((fresh() != fresh()));  // outside: from the operating system
}

// A reference that a program keeps too long draws other numbers, but is no dangling one.
BOOST_AUTO_TEST_CASE(references_outlive_the_scope) {
  nd::random::RandomState* kept = nullptr;
  std::thread([&] {
    const StatesScope scope(1);
    kept = &nd::random::get_random_state();
  }).join();
  BOOST_TEST(kept->uniform(0, 1, {5}).size() == 5);
}

BOOST_AUTO_TEST_CASE(threads_do_not_see_each_other) {
  std::vector<std::vector<double>> expected;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const StatesScope scope(seed);
    expected.push_back(draw());
  }
  constexpr int kThreads = 8;
  std::vector<std::vector<std::vector<double>>> seen(kThreads);
  std::vector<std::thread> threads;
  const nd::Device device = nd::current_device();
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      const nd::DeviceScope on(device);
      for (std::uint64_t seed = 0; seed < 40; ++seed) {
        const StatesScope scope(seed);
        seen[std::size_t(t)].push_back(draw());
      }
    });
  for (std::thread& t : threads) t.join();
  for (const auto& one : seen) BOOST_TEST((one == expected));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
