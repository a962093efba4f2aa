#include <boost/test/unit_test.hpp>

#include <catena/kernels/base/parallel.h>

#include <dlfcn.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <catena/kernels/base/error.h>

using namespace catena;

namespace {

using Range = std::pair<std::int64_t, std::int64_t>;

std::vector<Range> ranges_of(std::int64_t n, std::int64_t grain) {
  std::mutex mutex;
  std::vector<Range> ranges;
  parallel_for(n, grain, [&](std::int64_t begin, std::int64_t end) {
    const std::lock_guard lock(mutex);
    ranges.emplace_back(begin, end);
  });
  std::sort(ranges.begin(), ranges.end());
  return ranges;
}

struct ThreadsGuard {
  int before = max_threads();
  explicit ThreadsGuard(int n) { set_max_threads(n); }
  ~ThreadsGuard() { set_max_threads(before); }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(parallel)

BOOST_AUTO_TEST_CASE(ranges_tile_and_respect_the_grain) {
  for (const int threads : {1, 2, 3, 8}) {
    const ThreadsGuard guard(threads);
    for (const std::int64_t grain : {std::int64_t(0), std::int64_t(1), std::int64_t(7), std::int64_t(100)}) {
      for (const std::int64_t n : {std::int64_t(0), std::int64_t(1), std::int64_t(7), std::int64_t(8), std::int64_t(15),
                                   std::int64_t(99), std::int64_t(1000), std::int64_t(1) << 62}) {
        const auto ranges = ranges_of(n, grain);
        BOOST_TEST(ranges.size() <= 4 * static_cast<std::size_t>(threads));
        std::int64_t at = 0;
        for (std::size_t i = 0; i < ranges.size(); ++i) {
          BOOST_TEST(ranges[i].first == at);
          BOOST_TEST((ranges[i].second - at >= grain || i + 1 == ranges.size()));
          at = ranges[i].second;
        }
        BOOST_TEST(at == n);
        BOOST_TEST(ranges.empty() == (n == 0));
        if (n >= 8 * std::max<std::int64_t>(grain, 1)) BOOST_TEST(ranges.size() >= static_cast<std::size_t>(threads));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(several_threads_take_part) {
  const ThreadsGuard guard(4);
  std::mutex mutex;
  std::set<std::thread::id> ids;
  std::atomic<int> arrived{0};
  parallel_for(4, 1, [&](std::int64_t, std::int64_t) {
    // Wait for the others, so that none of them can do the work of two; give up where a team is smaller than asked for.
    arrived.fetch_add(1);
    for (int i = 0; i < 1000000 && arrived.load() < 2; ++i) std::this_thread::yield();
    const std::lock_guard lock(mutex);
    ids.insert(std::this_thread::get_id());
  });
  BOOST_TEST(ids.size() >= 2u);
  BOOST_TEST(ids.size() <= 4u);
}

BOOST_AUTO_TEST_CASE(available_threads_are_one_inside) {
  const ThreadsGuard guard(3);
  BOOST_TEST(available_threads() == 3);
  std::atomic<int> wrong{0};
  parallel_for(3, 1, [&](std::int64_t, std::int64_t) { wrong += available_threads() != 1 || max_threads() != 3; });
  BOOST_TEST(wrong.load() == 0);
  BOOST_TEST(available_threads() == 3);
}

BOOST_AUTO_TEST_CASE(nested_calls_are_serial) {
  const ThreadsGuard guard(4);
  std::atomic<int> inner_ranges{0}, strangers{0};
  std::atomic<std::int64_t> total{0};
  parallel_for(4, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const auto self = std::this_thread::get_id();
      parallel_for(1000, 1, [&](std::int64_t b, std::int64_t e) {
        inner_ranges.fetch_add(1);
        if (std::this_thread::get_id() != self) strangers.fetch_add(1);
        total.fetch_add(e - b);
      });
    }
  });
  BOOST_TEST(inner_ranges.load() == 4);
  BOOST_TEST(strangers.load() == 0);
  BOOST_TEST(total.load() == 4000);
}

// A region of the caller's own OpenMP, if this process has that of GCC.
BOOST_AUTO_TEST_CASE(regions_of_openmp_are_not_multiplied) {
  using Region = void (*)(void (*)(void*), void*, unsigned, unsigned);
  const auto region = reinterpret_cast<Region>(dlsym(RTLD_DEFAULT, "GOMP_parallel"));
  if (region == nullptr) {
    std::puts("skipped: no OpenMP of GCC in this process");
    return;
  }
  const ThreadsGuard guard(4);
  std::atomic<int> ranges{0};
  const auto body = [](void* count) {
    parallel_for(1000, 1, [&](std::int64_t, std::int64_t) { ++*static_cast<std::atomic<int>*>(count); });
  };
  region(body, &ranges, 2, 0);
  BOOST_TEST(ranges.load() == 2);  // one in each thread of the region
}

BOOST_AUTO_TEST_CASE(exceptions_reach_the_caller) {
  const ThreadsGuard guard(4);
  for (int round = 0; round < 50; ++round) {
    std::atomic<int> ran{0};
    const auto all_throw = [&](std::int64_t begin, std::int64_t) {
      ran.fetch_add(1);
      throw IndexError("range " + std::to_string(begin));
    };
    BOOST_CHECK_EXCEPTION(parallel_for(4000, 1, all_throw), IndexError,
                          [](const IndexError& e) { return std::string(e.what()).starts_with("range "); });
    BOOST_TEST(ran.load() == 16);  // a range that fails does not stop the others
    BOOST_CHECK_THROW(parallel_for(4000, 1,
                                   [](std::int64_t begin, std::int64_t) {
                                     if (begin >= 3000) throw std::out_of_range("last");
                                   }),
                      std::out_of_range);
  }
  std::atomic<std::int64_t> total{0};  // works as before afterwards
  parallel_for(1000, 1, [&](std::int64_t b, std::int64_t e) { total.fetch_add(e - b); });
  BOOST_TEST(total.load() == 1000);
}

BOOST_AUTO_TEST_CASE(user_threads_do_not_disturb_each_other) {
  const ThreadsGuard guard(2);
  std::atomic<int> wrong{0};
  std::vector<std::thread> users;
  for (int u = 0; u < 8; ++u) {
    users.emplace_back([&wrong, u] {
      for (int round = 0; round < 100; ++round) {
        std::vector<int> hits(997);
        parallel_for(997, 10, [&](std::int64_t b, std::int64_t e) {
          for (std::int64_t i = b; i < e; ++i) hits[static_cast<std::size_t>(i)] += u + 1;
        });
        for (int h : hits) wrong += h != u + 1;
      }
    });
  }
  for (auto& t : users) t.join();
  BOOST_TEST(wrong.load() == 0);
}

BOOST_AUTO_TEST_CASE(threads_that_have_gone_to_sleep_take_part_again) {
  const ThreadsGuard guard(3);
  for (const int pause : {0, 1, 300, 3000}) {  // microseconds; waiting threads look for work for some 200
    for (int round = 0; round < 20; ++round) {
      std::vector<int> hits(64);
      parallel_for(64, 1, [&](std::int64_t b, std::int64_t e) {
        for (std::int64_t i = b; i < e; ++i) ++hits[static_cast<std::size_t>(i)];
      });
      BOOST_TEST(std::count(hits.begin(), hits.end(), 1) == 64);
      std::this_thread::sleep_for(std::chrono::microseconds(pause));
    }
  }
}

// A thread that is woken is kept from the core of the one that wakes it; when it works, it may use all cores again.
BOOST_AUTO_TEST_CASE(threads_that_were_woken_may_use_all_cores) {
  cpu_set_t own;
  BOOST_REQUIRE(sched_getaffinity(0, sizeof(own), &own) == 0);
  const ThreadsGuard guard(2);
  std::atomic<int> others{0}, restricted{0};
  const std::thread::id caller = std::this_thread::get_id();
  for (int round = 0; round < 40; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    parallel_for(2, 1, [&](std::int64_t, std::int64_t) {
      cpu_set_t allowed;
      if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0 || !CPU_EQUAL(&allowed, &own)) ++restricted;
      if (std::this_thread::get_id() != caller) ++others;
      const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(1);
      while (others == 0 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    });
  }
  BOOST_TEST(restricted == 0);
  BOOST_TEST(others > 0);
  cpu_set_t after;
  BOOST_TEST((sched_getaffinity(0, sizeof(after), &after) == 0 && CPU_EQUAL(&after, &own)));
}

BOOST_AUTO_TEST_CASE(one_slow_range_leaves_the_rest_to_the_others) {
  const ThreadsGuard guard(2);
  // The first range waits for all others: they are done only if the other thread takes what belongs to the one that
  // waits.
  std::atomic<int> done{0};
  std::atomic<bool> alone{false};
  parallel_for(8, 1, [&](std::int64_t begin, std::int64_t) {  // eight ranges
    if (begin == 0)
      for (int i = 0; done.load() < 7; ++i) {
        if (i == 2000000) {  // the system had no second thread
          alone = true;
          break;
        }
        std::this_thread::yield();
      }
    done.fetch_add(1);
  });
  BOOST_TEST(done.load() == 8);
  BOOST_TEST(!alone.load());
}

BOOST_AUTO_TEST_CASE(a_child_of_fork_has_threads_of_its_own) {
#ifdef __SANITIZE_THREAD__
  std::puts("skipped: the thread sanitizer lets no child of fork start threads");
  return;
#endif
  const ThreadsGuard guard(2);
  const auto sum = [] {
    std::atomic<std::int64_t> total{0};
    parallel_for(1000, 1, [&](std::int64_t b, std::int64_t e) { total.fetch_add(e - b); });
    return total.load();
  };
  BOOST_TEST(sum() == 1000);
  const pid_t child = fork();
  BOOST_REQUIRE(child >= 0);
  if (child == 0) {
    alarm(20);
    _exit(sum() == 1000 && sum() == 1000 ? 0 : 1);
  }
  int status = -1;
  BOOST_REQUIRE(waitpid(child, &status, 0) == child);
  BOOST_TEST(WIFEXITED(status));
  BOOST_TEST(WEXITSTATUS(status) == 0);
  BOOST_TEST(sum() == 1000);
}

BOOST_AUTO_TEST_CASE(the_number_of_threads_is_checked) {
  BOOST_TEST(max_threads() >= 1);
  const int before = max_threads();
  BOOST_CHECK_EXCEPTION(set_max_threads(0), ValueError, [](const ValueError& e) {
    return std::string(e.what()) == "set_max_threads: 0 threads were asked for, at least 1 is needed";
  });
  BOOST_TEST(max_threads() == before);
}

BOOST_AUTO_TEST_SUITE_END()
