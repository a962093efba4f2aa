// memoize and clear_memo: one computation per argument values, also for many threads.
#include <catena/ndarray/user_kernel/memoize.h>

#include <atomic>
#include <chrono>
#include <thread>

#include <catena/ndarray/user_kernel/elementwise_kernel.h>
#include <catena/tests/support/ndarray_values.h>

namespace {

using test::message_of;

int twice(int n) { return n * 2; }

}  // namespace

BOOST_AUTO_TEST_SUITE(memoize)

BOOST_AUTO_TEST_CASE(results_are_kept_per_argument_values) {
  int calls = 0;
  const auto f = nd::memoize([&calls](int n, const std::string& text, double x) {
    ++calls;
    return text + std::to_string(n) + std::to_string(x);
  });
  BOOST_TEST(f(1, "a", 0.5) == "a10.500000");
  BOOST_TEST(f(1, "a", 0.5) == "a10.500000");
  BOOST_TEST(calls == 1);
  BOOST_TEST(f(2, "a", 0.5) == "a20.500000");
  BOOST_TEST(f(1, "b", 0.5) == "b10.500000");
  BOOST_TEST(f(1, "a", 0.25) == "a10.250000");
  BOOST_TEST(calls == 4);
  const auto copy = f;  // shares what is known
  copy(2, "a", 0.5);
  BOOST_TEST(calls == 4);
}

BOOST_AUTO_TEST_CASE(texts_are_compared_by_their_characters) {
  int calls = 0;
  const auto f = nd::memoize([&calls](const char* name) {
    ++calls;
    return std::string(name);
  });
  std::string changing = "first";
  BOOST_TEST(f(changing.c_str()) == "first");
  changing[0] = 'F';
  BOOST_TEST(f(changing.c_str()) == "First");
  BOOST_TEST(f(std::string("first").c_str()) == "first");
  BOOST_TEST(calls == 2);
}

BOOST_AUTO_TEST_CASE(all_kinds_of_functions_and_arguments) {
  const auto plain = nd::memoize(twice);
  BOOST_TEST(plain(21) == 42);
  const auto generic = nd::memoize<double(double)>([](auto x) { return x / 2; });
  BOOST_TEST(generic(3) == 1.5);
  int calls = 0;
  const auto shaped = nd::memoize([&calls](const nd::Shape& shape, nd::Dtype dtype, const std::vector<int>& list) {
    ++calls;
    return nd::full(shape, double(list.size()), {.dtype = dtype});
  });
  const nd::Array a = shaped({2, 3}, nd::float32, {1, 2, 3}), b = shaped({2, 3}, nd::float32, {1, 2, 3});
  BOOST_TEST(a.get() == b.get());
  BOOST_TEST((shaped({3, 2}, nd::float32, {1, 2, 3}).shape() == nd::Shape{3, 2}));
  shaped({2, 3}, nd::float64, {1, 2, 3});
  shaped({2, 3}, nd::float32, {1, 2, 4});
  BOOST_TEST(calls == 4);
  BOOST_TEST(a(0, 0).item<float>() == 3);
}

BOOST_AUTO_TEST_CASE(per_device) {
  int calls = 0;
  const auto count = [&calls](int n) {
    ++calls;
    return n;
  };
  const auto everywhere = nd::memoize(count), each = nd::memoize(count, {.for_each_device = true});
  const nd::Device here = nd::current_device();
  std::vector<nd::Device> devices = {here};
  if (!(here == nd::cpu_device)) devices.push_back(nd::cpu_device);
  for (int round = 0; round < 2; ++round)
    for (const nd::Device device : devices) {
      const nd::DeviceScope scope(device);
      everywhere(7);
    }
  BOOST_TEST(calls == 1);
  calls = 0;
  for (int round = 0; round < 2; ++round)
    for (const nd::Device device : devices) {
      const nd::DeviceScope scope(device);
      each(7);
    }
  BOOST_TEST(calls == int(devices.size()));
}

BOOST_AUTO_TEST_CASE(clear_memo_drops_everything) {
  int calls = 0;
  const auto f = nd::memoize([&calls](int n) {
    ++calls;
    return n;
  });
  f(1);
  const nd::ElementwiseKernel kernel("T x", "T z", "z = x + 1", "before_and_after_clear");
  const nd::Array x = nd::ones({3}, nd::float32);
  BOOST_TEST(kernel(x)(0).item<float>() == 2);
  nd::clear_memo();
  f(1);
  BOOST_TEST(calls == 2);
  BOOST_TEST(kernel(x)(0).item<float>() == 2);  // loaded again
}

BOOST_AUTO_TEST_CASE(exceptions_are_not_kept) {
  int calls = 0;
  const auto f = nd::memoize([&calls](int n) {
    if (++calls == 1) throw nd::ValueError("not yet");
    return n;
  });
  BOOST_TEST(message_of<nd::ValueError>([&] { f(3); }) == "not yet");
  BOOST_TEST(f(3) == 3);
  BOOST_TEST(calls == 2);
}

BOOST_AUTO_TEST_CASE(recursion) {
  std::function<std::int64_t(int)> fibonacci;
  const auto f = nd::memoize([&](int n) { return n < 2 ? std::int64_t(n) : fibonacci(n - 1) + fibonacci(n - 2); });
  fibonacci = f;
  BOOST_TEST(f(80) == 23416728348467685);
  std::function<int(int)> self;
  const auto endless = nd::memoize([&](int n) { return self(n); });
  self = endless;
  BOOST_TEST(message_of<nd::RuntimeError>([&] { endless(1); }) ==
             "memoize: the value for these arguments is needed to compute itself");
}

BOOST_AUTO_TEST_CASE(many_threads_compute_once) {
  std::atomic<int> calls{0}, right{0};
  const auto f = nd::memoize([&calls](int n) {
    ++calls;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return n * n;
  });
  std::atomic<int> failures{0};
  const auto throws = nd::memoize([](int n) -> int {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    throw nd::ValueError(std::to_string(n));
  });
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&] {
      for (int n = 0; n < 4; ++n) right += f(n) == n * n;
      try {
        throws(1);
      } catch (const nd::ValueError& e) {
        failures += std::string(e.what()) == "1";
      }
    });
  for (std::thread& t : threads) t.join();
  BOOST_TEST(calls == 4);
  BOOST_TEST(right == 32);
  BOOST_TEST(failures == 8);
}

BOOST_AUTO_TEST_CASE(clearing_while_others_compute) {
  std::atomic<bool> stop{false};
  std::atomic<int> wrong{0};
  const auto f = nd::memoize([](int n) { return std::make_shared<int>(n); });
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int k = 0; !stop; ++k) wrong += *f(k % 10) != k % 10;
    });
  for (int k = 0; k < 200; ++k) nd::clear_memo();
  stop = true;
  for (std::thread& t : threads) t.join();
  BOOST_TEST(wrong == 0);
}

BOOST_AUTO_TEST_SUITE_END()
