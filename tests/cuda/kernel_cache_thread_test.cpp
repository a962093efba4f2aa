// The table behind the kernel cache under 8 and 24 threads, with a loader that compiles nothing: every value is made
// once, its errors reach all waiting threads, and readers see whole entries while the table grows. The disk cache
// beside it.
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <barrier>
#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <catena/kernels/base/error.h>
#include <catena/ndarray/compile/disk_cache.h>
#include <catena/ndarray/cuda/compiler/once_table.h>

namespace {

using nd::cuda::OnceTable;
using nd::cuda::PackedKey;

PackedKey key_of(std::uint64_t k) { return {{k, k * 3, 7, k % 5}}; }

struct Kernel {
  std::uint64_t number = 0;
  std::string name;
};
Kernel compiled(std::uint64_t k) { return {k, "kernel_" + std::to_string(k)}; }

template <class Work> void run_threads(int threads, Work work) {
  std::vector<std::jthread> all;
  for (int t = 0; t < threads; ++t) all.emplace_back([&work, t] { work(t); });
}

}  // namespace

BOOST_AUTO_TEST_CASE(every_value_is_made_once) {
  for (const int threads : {1, 8, 24}) {
    constexpr std::uint64_t keys = 500;
    OnceTable<Kernel> table;
    std::vector<std::atomic<int>> made(keys);
    std::vector<std::atomic<const Kernel*>> seen(keys);
    std::atomic<int> wrong{0};
    run_threads(threads, [&](int t) {
      for (std::uint64_t i = 0; i < keys * 4; ++i) {
        const std::uint64_t k =
            (i * 7 + static_cast<std::uint64_t>(t) * (t % 3 == 0 ? 0 : 13)) % keys;  // a third of them neck and neck
        const Kernel* found = table.find(key_of(k));
        const Kernel& kernel = found != nullptr ? *found : table.find_or_make(key_of(k), [&] {
          ++made[k];
          std::this_thread::yield();
          return compiled(k);
        });
        if (kernel.number != k || kernel.name != "kernel_" + std::to_string(k)) ++wrong;
        const Kernel* first = nullptr;
        if (!seen[k].compare_exchange_strong(first, &kernel) && first != &kernel) ++wrong;
      }
    });
    BOOST_CHECK_EQUAL(wrong.load(), 0);
    BOOST_CHECK_EQUAL(table.size(), keys);
    for (std::uint64_t k = 0; k < keys; ++k) BOOST_REQUIRE_EQUAL(made[k].load(), 1);
    BOOST_CHECK(table.find(key_of(keys)) == nullptr);
  }
}

// Keys whose first word, or whose hash, is the same are still two keys.
BOOST_AUTO_TEST_CASE(keys_are_compared_in_full) {
  OnceTable<int> table;
  std::vector<PackedKey> keys;
  for (std::size_t word = 0; word < 4; ++word) {
    for (int bit = 0; bit < 64; ++bit) {
      keys.emplace_back();
      keys.back().words[word] = std::uint64_t(1) << bit;
    }
  }
  for (std::size_t k = 0; k < keys.size(); ++k) table.find_or_make(keys[k], [&] { return static_cast<int>(k); });
  for (std::size_t k = 0; k < keys.size(); ++k) BOOST_CHECK_EQUAL(*table.find(keys[k]), static_cast<int>(k));
  BOOST_CHECK(table.find(PackedKey{}) == nullptr);
}

// No lock is held while a value is made: others are made and found meanwhile.
BOOST_AUTO_TEST_CASE(making_one_does_not_hold_up_others) {
  OnceTable<int> table;
  table.find_or_make(key_of(1), [] { return 1; });
  std::atomic<bool> started{false}, others_done{false};
  std::jthread slow([&] {
    table.find_or_make(key_of(2), [&] {
      started = true;
      while (!others_done) std::this_thread::yield();
      return 2;
    });
  });
  while (!started) std::this_thread::yield();
  BOOST_CHECK_EQUAL(*table.find(key_of(1)), 1);
  BOOST_CHECK(table.find(key_of(2)) == nullptr);
  BOOST_CHECK_EQUAL(table.find_or_make(key_of(3), [] { return 3; }), 3);
  others_done = true;
  slow.join();
  BOOST_CHECK_EQUAL(*table.find(key_of(2)), 2);
}

BOOST_AUTO_TEST_CASE(an_error_reaches_all_who_wait_and_the_next_call_tries_again) {
  for (const int threads : {8, 24}) {
    OnceTable<int> table;
    std::atomic<int> attempts{0}, waiting{0}, told{0};
    run_threads(threads, [&](int) {
      try {
        ++waiting;
        table.find_or_make(key_of(9), [&]() -> int {
          ++attempts;
          while (waiting < threads) std::this_thread::yield();
          std::this_thread::sleep_for(std::chrono::milliseconds(100));  // most of them wait for this attempt by then
          throw catena::CompileError("broken.cu: does not compile");
        });
      } catch (const catena::CompileError& e) {
        if (e.what() == std::string("broken.cu: does not compile")) ++told;
      }
    });
    BOOST_CHECK_EQUAL(told.load(), threads);
    BOOST_CHECK_GE(attempts.load(), 1);
    BOOST_CHECK_LT(attempts.load(), threads);
    BOOST_CHECK(table.find(key_of(9)) == nullptr);
    BOOST_CHECK_EQUAL(table.find_or_make(key_of(9), [] { return 9; }), 9);
  }
}

// The failure of one thread's attempt (the device was out of memory, say) is not that of the others.
BOOST_AUTO_TEST_CASE(other_errors_belong_to_the_thread_that_tried) {
  constexpr int threads = 8;
  OnceTable<int> table;
  std::atomic<int> attempts{0}, told{0}, got{0};
  run_threads(threads, [&](int) {
    try {
      got += table.find_or_make(key_of(9), [&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        if (++attempts == 1) throw catena::OutOfMemoryError("full");
        return 1;
      });
    } catch (const catena::OutOfMemoryError&) {
      ++told;
    }
  });
  BOOST_CHECK_EQUAL(told.load(), 1);
  BOOST_CHECK_EQUAL(got.load(), threads - 1);
  BOOST_CHECK_EQUAL(attempts.load(), 2);
}

// Hits and misses add up, and no value is ever another's, while records are damaged and the folder goes away.
BOOST_AUTO_TEST_CASE(threads_share_a_disk_cache) {
  std::string name = (std::filesystem::temp_directory_path() / "catena-kernel-cache-XXXXXX").string();
  const std::filesystem::path folder = ::mkdtemp(name.data());
  constexpr int threads = 8, rounds = 3, keys = 40;
  nd::cuda::DiskCache cache((folder / "kernels").string(), 1'000'000);
  std::atomic<std::uint64_t> found{0}, missed{0};
  std::atomic<int> wrong{0};
  run_threads(threads, [&](int t) {
    for (int i = 0; i < rounds * keys; ++i) {
      const std::string key = std::to_string((i + t * 5) % keys), value(1000, key[0]);
      std::error_code ignored;  // others may write into it at this moment
      if (t == 0 && i % keys == 0) std::filesystem::remove_all(folder / "kernels", ignored);
      if (t == 1 && i % 10 == 0) cache.discard(key);
      if (const std::optional<std::string> record = cache.find(key)) {
        ++found;
        if (*record != value) ++wrong;
      } else {
        ++missed;
        cache.store(key, value);
      }
    }
  });
  BOOST_CHECK_EQUAL(wrong.load(), 0);
  BOOST_CHECK_EQUAL(cache.statistics().hits, found.load());
  BOOST_CHECK_EQUAL(cache.statistics().misses, missed.load());
  BOOST_CHECK_EQUAL(found + missed, std::uint64_t(threads * rounds * keys));
  std::filesystem::remove_all(folder);
}
