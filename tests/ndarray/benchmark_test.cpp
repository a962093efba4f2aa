// nd::benchmark: the number of calls, the times, and the line of text.
#include <chrono>
#include <regex>
#include <sstream>
#include <thread>

#include <catena/ndarray/ndarray.h>
#include <catena/ndarray/routines/benchmark.h>
#include <catena/tests/support/ndarray_values.h>

namespace {

using test::message_of;

}  // namespace

BOOST_AUTO_TEST_SUITE(benchmark)

BOOST_AUTO_TEST_CASE(calls_and_times) {
  int calls = 0;
  const nd::BenchmarkResult r = nd::benchmark([&] { ++calls; }, {.n_repeat = 7, .name = "nothing", .n_warmup = 3});
  BOOST_TEST(calls == 10);
  BOOST_TEST(r.name == "nothing");
  BOOST_TEST((r.device == nd::current_device()));
  BOOST_TEST((r.cpu_times.dtype() == nd::float64 && r.cpu_times.shape() == nd::Shape{7}));
  BOOST_TEST(bool(nd::all(r.cpu_times >= 0)));
  const bool is_gpu = nd::current_device() != nd::cpu_device;
  BOOST_TEST((r.gpu_times.shape() == nd::Shape{is_gpu ? 1 : 0, 7}));
}

BOOST_AUTO_TEST_CASE(a_sleep_is_seen) {
  const auto sleep = [] { std::this_thread::sleep_for(std::chrono::milliseconds(2)); };
  const nd::BenchmarkResult r = nd::benchmark(sleep, {.n_repeat = 3, .n_warmup = 0});
  BOOST_TEST(double(r.cpu_times.min()) >= 0.002);
}

// No call begins after the time; one call is always timed.
BOOST_AUTO_TEST_CASE(duration) {
  int calls = 0;
  const auto sleep = [&] {
    ++calls;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  };
  nd::benchmark(sleep, {.n_repeat = 1000, .n_warmup = 0, .max_duration = 0.02});
  BOOST_TEST(calls >= 1);
  BOOST_TEST(calls <= 5);
  BOOST_TEST(nd::benchmark([] {}, {.n_warmup = 0, .max_duration = 0}).cpu_times.size() == 1);
  BOOST_TEST(nd::benchmark([] {}).cpu_times.size() == 10000);
}

BOOST_AUTO_TEST_CASE(text) {
  nd::BenchmarkResult r;
  r.name = "add";
  r.cpu_times = nd::array({1e-6, 3e-6, 2e-6});
  r.gpu_times = nd::zeros({0, 3});
  r.device = nd::cpu_device;
  BOOST_TEST(r.to_string() ==
             "add                 :    CPU:     2.000 us   +/-  0.816 (min:     1.000 / max:     3.000) us");
  r.gpu_times = nd::array({{5e-4, 5e-4, 5e-4}});
  std::ostringstream out;
  out << r;
  BOOST_TEST(out.str() == r.to_string());
  BOOST_TEST(r.to_string().ends_with("GPU-0:   500.000 us   +/-  0.000 (min:   500.000 / max:   500.000) us"));
}

BOOST_AUTO_TEST_CASE(errors) {
  const auto nothing = [] {};
  BOOST_TEST(message_of<nd::ValueError>([&] { nd::benchmark(nothing, {.n_repeat = 0}); }) ==
             "benchmark: n_repeat is 0 and should be at least 1");
  BOOST_TEST(message_of<nd::ValueError>([&] { nd::benchmark(nothing, {.n_warmup = -1}); }) ==
             "benchmark: n_warmup is -1 and should not be negative");
  BOOST_CHECK_THROW(nd::benchmark(nothing, {.max_duration = nd::nan}), nd::ValueError);
  BOOST_CHECK_THROW(nd::benchmark([] { throw nd::IndexError("mine"); }), nd::IndexError);
}

BOOST_AUTO_TEST_SUITE_END()
