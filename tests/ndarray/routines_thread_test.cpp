// Objects that threads share: one random generator, one open archive, one array that is read.
#include <algorithm>
#include <atomic>
#include <filesystem>
#include <thread>

#include <catena/ndarray/routines/indexing.h>
#include <catena/ndarray/routines/io.h>
#include <catena/ndarray/routines/print.h>
#include <catena/ndarray/routines/random.h>
#include <catena/ndarray/routines/reduction.h>
#include <catena/tests/support/ndarray_values.h>

namespace {

using nd::Array;

template <class F> void on_threads(int n, F&& f) {
  std::vector<std::thread> threads;
  for (int i = 0; i < n; ++i) threads.emplace_back([&f, i] { f(i); });
  for (auto& t : threads) t.join();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(routines_thread)

// Together the threads get exactly the numbers that one thread would have got, each once.
BOOST_AUTO_TEST_CASE(one_generator) {
  constexpr int kDraws = 50;
  for (int n : {8, 24}) {
    nd::random::RandomState shared(5), alone(5);
    std::vector<std::vector<double>> drawn(static_cast<std::size_t>(n));
    on_threads(n, [&](int i) {
      for (int k = 0; k < kDraws; ++k)
        for (double v : shared.random_sample({4}).to_vector<double>()) drawn[std::size_t(i)].push_back(v);
    });
    std::vector<double> all;
    for (const auto& d : drawn) all.insert(all.end(), d.begin(), d.end());
    auto expected = alone.random_sample({4 * kDraws * n}).to_vector<double>();
    std::sort(all.begin(), all.end());
    std::sort(expected.begin(), expected.end());
    BOOST_TEST((all == expected));
    BOOST_TEST(shared.offset() == alone.offset());
  }
  on_threads(8, [](int) { nd::random::rand(100); });  // the generator of the device, made by whoever comes first
}

BOOST_AUTO_TEST_CASE(one_archive_and_one_array) {
  const std::string path = (std::filesystem::temp_directory_path() / "catena_routines_thread_test.npz").string();
  const Array a = nd::arange(5000), i = nd::array({3, 1, 4, 1, 5});
  nd::savez_compressed(path, {{"a", a}, {"i", i}});
  const nd::NpzFile file = nd::loadz(path);
  std::atomic<int> right = 0;
  on_threads(24, [&](int k) {
    const bool same = k % 2 ? file.at("a").sum().item<int>() == 12497500 : file.at("i").sum().item<int>() == 14;
    right += same && nd::take(a, i).sum().item<int>() == 14 && nd::to_string(i) == "[3 1 4 1 5]";
  });
  BOOST_TEST(right == 24);
  std::filesystem::remove(path);
}

BOOST_AUTO_TEST_SUITE_END()
