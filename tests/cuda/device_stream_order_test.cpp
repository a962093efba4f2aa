// F16: random schedules of allocations, frees and work over several streams. Every array is filled with its own number
// and checked on the stream that it belongs to: memory that were given to two of them at a time would show another
// number.
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <chrono>
#include <random>
#include <thread>
#include <vector>

#include <catena/ndarray/ndarray.h>
#include <catena/tests/support/ndarray_values.h>

namespace {

struct Held {
  nd::Array array;
  std::size_t home;  // the stream that wrote it last
  int number;
};

BOOST_AUTO_TEST_SUITE(stream_order)

BOOST_AUTO_TEST_CASE(no_two_arrays_share_memory_at_a_time) {
  constexpr int kSeeds = 6, kSteps = 250;
  for (int seed = 0; seed < kSeeds; ++seed) {
    std::mt19937 random(static_cast<unsigned>(seed));
    std::vector<nd::Stream> streams;
    for (int i = 0; i < 4; ++i) streams.push_back(nd::Stream({.non_blocking = i % 2 == 1}));
    std::vector<Held> held;
    // One flag per stream gathers what its checks find; read at the end only.
    std::vector<nd::Array> wrong;
    for (const nd::Stream& s : streams) {
      const nd::StreamScope on(s);
      wrong.push_back(nd::zeros({1}, nd::int64));
    }
    const auto check = [&](const Held& h, std::size_t on) {
      const nd::StreamScope scope(streams[on]);
      if (on != h.home) streams[on].wait_event(streams[h.home].record());
      wrong[on] += nd::sum(nd::not_equal(h.array, h.number), {.dtype = nd::int64});
      if (on != h.home)
        streams[h.home].wait_event(streams[on].record());  // whoever writes it next comes after this read
    };
    int next = 1;
    for (int step = 0; step < kSteps; ++step) {
      const std::size_t on = random() % streams.size();
      const int what = int(random() % 10);
      if (what < 4 || held.empty()) {
        const nd::StreamScope scope(streams[on]);
        const std::int64_t n = 1 + std::int64_t(random() % 3000);
        held.push_back({nd::full({n}, next), on, next});
        ++next;
      } else {
        const std::size_t k = random() % held.size();
        Held& h = held[k];
        if (what < 6) {
          check(h, on);
        } else if (what < 8) {
          // Another stream takes it over, after the work so far.
          const nd::StreamScope scope(streams[on]);
          if (on != h.home) streams[on].wait_event(streams[h.home].record());
          h.array.fill(next);
          h.number = next++;
          h.home = on;
        } else {
          // Freed right after it was used elsewhere: the memory must not be given again before that has ended.
          check(h, on);
          held.erase(held.begin() + std::ptrdiff_t(k));
        }
      }
    }
    for (const Held& h : held) check(h, h.home);
    for (std::size_t i = 0; i < streams.size(); ++i) {
      streams[i].synchronize();
      BOOST_TEST(wrong[i].item<std::int64_t>() == 0, "seed " << seed << ", stream " << i);
    }
  }
}

// A thread that has not called the driver yet allocates memory and queries an event: unfinished work must not count as
// complete.
BOOST_AUTO_TEST_CASE(threads_that_have_not_used_the_device) {
  std::atomic<bool> may_go_on{false};
  const nd::Stream side({.non_blocking = true}), other({.non_blocking = true});
  const auto on_side = [&] {
    const nd::StreamScope scope(side);
    return nd::empty({100}, nd::float32);
  };
  nd::Array first = on_side();
  other.add_callback([&](const nd::Stream&, int) {
    for (int k = 0; k < 3000 && !may_go_on; ++k) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  });
  {
    const nd::StreamScope scope(other);
    first.fill(1);
  }
  const nd::Event filled = other.record();
  const void* const before = first.get()->data;
  first = nd::Array();  // freed while the other stream still has to write it
  bool same = true, done = false;
  std::thread([&] { same = on_side().get()->data == before; }).join();
  BOOST_TEST(!same);
  may_go_on = true;
  std::thread([&] { filled.synchronize(); }).join();
  std::thread([&] { done = filled.done(); }).join();
  BOOST_TEST(done);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
