// Snapshots of a pool while threads allocate and free.
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include <catena/kernels/base/array_header.h>
#include <catena/ndarray/device/runtime.h>
#include <catena/tests/support/counting_backend.h>
#include <catena/tests/support/memory_snapshots.h>

namespace {

using catena::release;
using catena::Storage;

BOOST_AUTO_TEST_CASE(snapshots_are_whole_while_threads_work_and_show_what_they_keep) {
  test::CountingBackend backend(nd::Device::Kind::cuda);
  nd::MemoryPool pool(backend);
  std::atomic<bool> stop{false};
  std::atomic<int> working{0}, waiting{0};
  std::atomic<bool> end{false};
  std::vector<std::thread> threads;
  for (unsigned seed = 0; seed < 3; ++seed)
    threads.emplace_back([&, seed] {
      std::mt19937 random(seed);
      std::vector<Storage*> mine;
      ++working;
      while (!stop) {
        if (mine.size() < 20)
          mine.push_back(pool.allocate(1 + random() % (std::size_t(1) << (random() % 21)), 0, nullptr));
        else {
          std::swap(mine[random() % mine.size()], mine.back());
          if (random() % 3 == 0) nd::MemoryPool::record_stream(*mine.back(), {{nd::Device::Kind::cuda, 0}, &backend});
          release(mine.back());
          mine.pop_back();
        }
      }
      for (Storage* b : mine) release(b);
      release(pool.allocate(100));
      ++waiting;
      while (!end) std::this_thread::yield();
    });
  while (working < 3) std::this_thread::yield();
  for (int i = 0; i < 200; ++i) {
    const nd::MemorySnapshot s = pool.snapshot();
    BOOST_REQUIRE(test::is_tiled(s));
    const nd::MemoryTotals t = s.totals();
    BOOST_REQUIRE(t.used_bytes + t.free_bytes == t.total_bytes);
  }
  stop = true;
  while (waiting < 3) std::this_thread::yield();
  const nd::MemorySnapshot s = pool.snapshot();
  test::check_totals(s.totals(), pool.statistics());
  BOOST_TEST(s.totals().used_bytes == 0u);
  BOOST_TEST(s.totals().cached_bytes >= 3 * 512u);  // what each thread freed last is in its bins
  end = true;
  for (std::thread& t : threads) t.join();
  BOOST_TEST(pool.snapshot().totals().cached_bytes == 0u);
}

}  // namespace
