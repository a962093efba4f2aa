// The memory pool under 8 and 24 threads: blocks are never shared, counts are exact, blocks travel between threads.
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <future>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include <catena/kernels/base/error.h>
#include <catena/ndarray/memory/memory_pool.h>
#include <catena/tests/support/counting_backend.h>

namespace {

using catena::release;
using catena::Storage;

struct Exchange {  // blocks that one thread allocates and another frees
  std::mutex mutex;
  std::vector<std::pair<Storage*, std::byte>> blocks;
};

void work(nd::MemoryPool& pool, Exchange& exchange, unsigned seed, int steps, std::atomic<int>& wrong) {
  std::mt19937 rng(seed);
  std::vector<std::pair<Storage*, std::byte>> live;
  const auto check_and_free = [&](std::pair<Storage*, std::byte> b) {
    if (b.first->data[0] != b.second || b.first->data[b.first->bytes - 1] != b.second) ++wrong;
    release(b.first);
  };
  for (int i = 0; i < steps; ++i) {
    const unsigned what = rng() % 8;
    if (what < 4 || live.empty()) {
      const std::size_t bytes = 1 + rng() % (std::size_t(64) << (rng() % 12));
      Storage* s = pool.allocate(bytes);
      const auto mark = std::byte(rng());
      s->data[0] = s->data[bytes - 1] = mark;
      live.push_back({s, mark});
    } else if (what < 6) {
      std::swap(live[rng() % live.size()], live.back());
      check_and_free(live.back());
      live.pop_back();
    } else {
      const std::lock_guard lock(exchange.mutex);
      std::swap(live[rng() % live.size()], live.back());
      exchange.blocks.push_back(live.back());
      live.pop_back();
      if (exchange.blocks.size() > 20) {
        std::swap(exchange.blocks[rng() % exchange.blocks.size()], exchange.blocks.back());
        live.push_back(exchange.blocks.back());
        exchange.blocks.pop_back();
      }
    }
    if (live.size() > 60) {
      check_and_free(live.back());
      live.pop_back();
    }
    if (i % 1000 == 0) pool.free_all_blocks();
    if (i % 500 == 0) static_cast<void>(pool.statistics());
  }
  for (const auto& b : live) check_and_free(b);
}

void stress(int threads, int steps) {
  test::CountingBackend backend;
  Exchange exchange;
  std::atomic<int> wrong{0};
  {
    nd::MemoryPool pool(backend);
    {
      std::vector<std::thread> all;
      for (int t = 0; t < threads; ++t) all.emplace_back([&, t] { work(pool, exchange, unsigned(t), steps, wrong); });
      for (std::thread& t : all) t.join();
    }
    std::size_t held = 0;
    for (const auto& b : exchange.blocks) held += b.first->bytes;
    BOOST_TEST(pool.used_bytes() >= held);
    while (exchange.blocks.size() > 2) {
      release(exchange.blocks.back().first);
      exchange.blocks.pop_back();
    }
    const nd::PoolStatistics s = pool.statistics();
    BOOST_TEST(std::int64_t(s.total_bytes) == backend.bytes);
    BOOST_TEST(s.used_bytes + s.free_bytes == s.total_bytes);
  }
  BOOST_TEST(wrong == 0);
  for (const auto& b : exchange.blocks) release(b.first);  // after the pool
  BOOST_TEST(backend.bytes == 0);
  BOOST_TEST(backend.allocations == backend.deallocations);
}

BOOST_AUTO_TEST_CASE(eight_threads) { stress(8, 20000); }
BOOST_AUTO_TEST_CASE(twenty_four_threads) { stress(24, 6000); }

BOOST_AUTO_TEST_CASE(pools_come_and_go_while_threads_keep_their_caches) {
  test::CountingBackend backend;
  for (int round = 0; round < 20; ++round) {
    nd::MemoryPool pool(backend);
    std::vector<std::thread> all;
    for (int t = 0; t < 4; ++t)
      all.emplace_back([&] {
        for (int i = 0; i < 200; ++i) release(pool.allocate(std::size_t(100 + i)));
      });
    release(pool.allocate(100));
    for (std::thread& t : all) t.join();
  }
  BOOST_TEST(backend.bytes == 0);
}

BOOST_AUTO_TEST_CASE(running_out_of_memory_together) {
  test::CountingBackend backend;
  backend.capacity = 64 << 20;
  nd::MemoryPool pool(backend);
  std::atomic<int> failures{0}, successes{0};
  std::vector<std::thread> all;
  for (int t = 0; t < 8; ++t)
    all.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        Storage* kept[4] = {};
        for (Storage*& s : kept) try {
            s = pool.allocate(5 << 20);
            ++successes;
          } catch (const catena::OutOfMemoryError&) {
            ++failures;
          }
        for (Storage* s : kept) release(s);
      }
    });
  for (std::thread& t : all) t.join();
  BOOST_TEST(successes > 0);
  BOOST_TEST(pool.used_bytes() == 0u);
  pool.free_all_blocks();
  BOOST_TEST(backend.bytes == 0);
}

// Statistics hold the pool's lock and wait for that of an arena, in which a block is being given back. Whoever has
// allocated from another arena before needs neither: bins that are empty, large blocks and a second arena included.
BOOST_AUTO_TEST_CASE(allocations_do_not_wait_for_the_lock_of_the_pool) {
  test::CountingBackend backend(nd::Device::Kind::cuda);
  nd::MemoryPool pool(backend);
  char stream[4];
  std::atomic<bool> inside{false}, go_on{false};
  backend.on_create_event = [&] {
    inside = true;
    while (!go_on) std::this_thread::yield();
  };
  Storage* used_elsewhere = pool.allocate(4096, 0, &stream[0]);
  nd::MemoryPool::record_stream(*used_elsewhere, {used_elsewhere->device, &stream[1]});

  std::promise<void> ready, begin, done;
  std::thread worker([&] {
    const auto allocate_all = [&](std::size_t small) {
      for (char* s : {&stream[2], &stream[3]})
        for (std::size_t bytes : {small, std::size_t(3) << 20}) release(pool.allocate(bytes, 0, s));
    };
    allocate_all(100);
    ready.set_value();
    begin.get_future().wait();
    allocate_all(5000);  // of a class that its bins do not have
    done.set_value();    // the end of a thread needs the pool's lock
  });
  ready.get_future().wait();
  std::thread holder([&] { release(used_elsewhere); });
  while (!inside) std::this_thread::yield();
  std::thread reader([&] { static_cast<void>(pool.statistics()); });
  std::this_thread::sleep_for(std::chrono::milliseconds(100));  // until it waits
  begin.set_value();
  BOOST_TEST((done.get_future().wait_for(std::chrono::seconds(20)) == std::future_status::ready));
  go_on = true;
  worker.join();
  holder.join();
  reader.join();
  BOOST_TEST(pool.used_bytes() == 0u);
}

}  // namespace
