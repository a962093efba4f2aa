// The memory pool: reuse, best fit, statistics, limits, out of memory, streams, hooks, lifetime; storages and fresh
// arrays over it.
#include <catena/ndarray/memory/memory_pool.h>

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstring>
#include <memory>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <catena/kernels/base/error.h>
#include <catena/ndarray/core/storage.h>
#include <catena/ndarray/memory/memory_snapshot.h>
#include <catena/tests/support/counting_backend.h>

namespace {

using catena::release;
using catena::Storage;
using test::CountingBackend;

constexpr std::size_t kMega = 1 << 20;

bool consistent(const nd::MemoryPool& pool, const CountingBackend& backend) {
  const nd::PoolStatistics s = pool.statistics();
  return s.used_bytes + s.free_bytes == s.total_bytes && std::int64_t(s.total_bytes) == backend.bytes;
}

BOOST_AUTO_TEST_CASE(blocks_are_aligned_disjoint_and_reused) {
  CountingBackend backend;
  nd::MemoryPool pool(backend);
  BOOST_TEST(pool.allocate(0) == nullptr);
  for (std::size_t bytes : {std::size_t(1), std::size_t(64), std::size_t(65), std::size_t(1000), std::size_t(65536),
                            std::size_t(65537), kMega, 3 * kMega}) {
    Storage* a = pool.allocate(bytes);
    Storage* b = pool.allocate(bytes);
    BOOST_TEST(a->bytes == bytes);
    BOOST_TEST(reinterpret_cast<std::uintptr_t>(a->data) % 64 == 0u);
    BOOST_TEST((a->data + bytes <= b->data || b->data + bytes <= a->data));
    std::memset(a->data, 1, bytes);
    std::memset(b->data, 2, bytes);
    BOOST_TEST((a->data[bytes - 1] == std::byte(1)));
    std::byte* where = a->data;
    release(a);
    Storage* again = pool.allocate(bytes);
    if (bytes <= 65536) BOOST_TEST(again->data == where);  // larger ones: the best fit, wherever it is
    BOOST_TEST(again->refs.load() == 1u);
    release(again);
    release(b);
    BOOST_TEST(consistent(pool, backend));
    BOOST_TEST(pool.used_bytes() == 0u);
  }
}

BOOST_AUTO_TEST_CASE(statistics_are_exact) {
  CountingBackend backend;
  nd::MemoryPool pool(backend);
  Storage* a = pool.allocate(100);  // 128 after rounding
  Storage* b = pool.allocate(4 * kMega);
  nd::PoolStatistics s = pool.statistics();
  BOOST_TEST(s.used_bytes == 128 + 4 * kMega);
  BOOST_TEST(s.total_bytes == 6 * kMega);
  BOOST_TEST(s.n_free_blocks == 1u);  // the rest of the shared segment
  release(a);
  s = pool.statistics();
  BOOST_TEST(s.used_bytes == 4 * kMega);
  BOOST_TEST(s.n_free_blocks == 2u);
  release(b);
  s = pool.statistics();
  BOOST_TEST(s.used_bytes == 0u);
  BOOST_TEST(s.n_free_blocks == 3u);
  BOOST_TEST(s.peak_total_bytes == 6 * kMega);
  BOOST_TEST(s.peak_used_bytes >= 4 * kMega);
  pool.free_all_blocks();
  s = pool.statistics();
  BOOST_TEST(s.total_bytes == 0u);
  BOOST_TEST(s.n_free_blocks == 0u);
  BOOST_TEST(backend.bytes == 0);
  BOOST_TEST(backend.allocations == backend.deallocations);
  pool.reset_peaks();
  BOOST_TEST(pool.statistics().peak_total_bytes == 0u);
  Storage* other = pool.allocate(100, 1);  // devices are counted apart
  BOOST_TEST(pool.used_bytes(0) == 0u);
  BOOST_TEST(pool.used_bytes(1) == 128u);
  release(other);
}

BOOST_AUTO_TEST_CASE(neighbours_merge_and_the_best_fit_is_taken) {
  CountingBackend backend;
  nd::MemoryPool pool(backend);
  Storage* a = pool.allocate(8 * kMega);
  release(a);
  Storage* x = pool.allocate(2 * kMega);
  Storage* y = pool.allocate(2 * kMega);
  Storage* z = pool.allocate(4 * kMega);
  BOOST_TEST(backend.allocations == 1);
  release(x);
  release(z);
  Storage* small = pool.allocate(2 * kMega);  // fits the first hole better than the second
  BOOST_TEST(small == x);
  release(small);
  release(y);
  a = pool.allocate(8 * kMega);
  BOOST_TEST(backend.allocations == 1);
  release(a);
  BOOST_TEST(pool.n_free_blocks() == 1u);
}

BOOST_AUTO_TEST_CASE(limits) {
  CountingBackend backend;
  nd::MemoryPool pool(backend);
  pool.set_limit(3 * kMega);
  BOOST_TEST(pool.limit() == 3 * kMega);
  Storage* a = pool.allocate(2 * kMega);
  BOOST_CHECK_EXCEPTION(pool.allocate(2 * kMega), catena::OutOfMemoryError, [](const catena::OutOfMemoryError& e) {
    const std::string text = e.what();
    BOOST_TEST_MESSAGE(text);
    return text.find("requested 2097152") != text.npos && text.find("used 2097152") != text.npos &&
           text.find("pooled 0") != text.npos && text.find("total 2097152") != text.npos &&
           text.find("limit 3145728") != text.npos;
  });
  BOOST_TEST(consistent(pool, backend));
  Storage* b = pool.allocate(100);  // the usual segment would pass the limit: only what is needed is taken
  release(b);
  release(a);
  a = pool.allocate(3 * kMega);  // free blocks are given back first
  release(a);
  pool.set_limit(0);
  pool.set_limit_fraction(0.5);
  BOOST_TEST(pool.limit() == std::size_t(1) << 29);
  BOOST_CHECK_THROW(pool.set_limit_fraction(1.5), catena::ValueError);
  BOOST_CHECK_THROW(pool.allocate(std::size_t(1) << 63), catena::OutOfMemoryError);
}

BOOST_AUTO_TEST_CASE(out_of_memory_at_every_allocation) {
  for (int n = 1; n < 12; ++n) {
    CountingBackend backend;
    backend.fail_at = n;
    nd::MemoryPool pool(backend);
    std::vector<Storage*> live;
    bool failed = false;
    for (int i = 0; i < 6 && !failed; ++i) {
      try {
        live.push_back(pool.allocate(std::size_t(i % 2 ? 3 : 1) * kMega + 1));
        std::memset(live.back()->data, i, live.back()->bytes);
      } catch (const catena::OutOfMemoryError&) {
        failed = true;
      }
      BOOST_TEST(consistent(pool, backend));
    }
    for (std::size_t i = 0; i < live.size(); ++i) BOOST_TEST((live[i]->data[live[i]->bytes - 1] == std::byte(i)));
    backend.fail_at = 0;
    live.push_back(pool.allocate(5 * kMega));  // usable again
    for (Storage* s : live) release(s);
    pool.free_all_blocks();
    BOOST_TEST(backend.bytes == 0);
  }
}

BOOST_AUTO_TEST_CASE(free_blocks_are_given_back_before_memory_runs_out) {
  CountingBackend backend;
  backend.capacity = 8 * kMega;
  nd::MemoryPool pool(backend);
  Storage* a = pool.allocate(6 * kMega);
  release(a);
  a = pool.allocate(8 * kMega);
  BOOST_TEST(pool.total_bytes() == 8 * kMega);
  release(a);
}

BOOST_AUTO_TEST_CASE(blocks_outlive_the_pool) {
  CountingBackend backend;
  Storage *small, *large;
  {
    nd::MemoryPool pool(backend);
    small = pool.allocate(100);
    large = pool.allocate(5 * kMega);
    release(pool.allocate(3 * kMega));
  }
  std::memset(small->data, 1, 100);
  std::memset(large->data, 1, 5 * kMega);
  release(large);
  release(small);
  BOOST_TEST(backend.bytes == 0);
  BOOST_TEST(backend.allocations == backend.deallocations);
}

BOOST_AUTO_TEST_CASE(streams_have_blocks_of_their_own) {
  CountingBackend backend(catena::Device::Kind::cuda);
  nd::MemoryPool pool(backend);
  char one, two;
  Storage* a = pool.allocate(4096, 0, &one);
  std::byte* where = a->data;
  release(a);
  Storage* b = pool.allocate(4096, 0, &two);
  BOOST_TEST(b->data != where);
  release(b);
  a = pool.allocate(4096, 0, &one);
  BOOST_TEST(a->data == where);

  // Another stream has work that uses it: not reused before that is done.
  nd::MemoryPool::record_stream(*a, {a->device, &two});
  nd::MemoryPool::record_stream(*a, {a->device, &two});
  nd::MemoryPool::record_stream(*a, {a->device, &one});  // its own
  backend.events_done = false;
  release(a);
  BOOST_TEST(backend.recorded == 1);
  Storage* c = pool.allocate(4096, 0, &one);
  BOOST_TEST(c->data != where);
  backend.events_done = true;
  release(c);
  std::set<std::byte*> seen;
  std::vector<Storage*> live;
  for (int i = 0; i < 4; ++i) {
    live.push_back(pool.allocate(4096, 0, &one));
    seen.insert(live.back()->data);
  }
  BOOST_TEST(seen.count(where) == 1u);
  BOOST_TEST(backend.events == 0);
  for (Storage* s : live) release(s);
}

struct Recorder : nd::MemoryHook {
  std::string log;
  void malloc_preprocess(const nd::MemoryEvent& e) override { log += "m" + std::to_string(e.bytes); }
  void malloc_postprocess(const nd::MemoryEvent& e) override {
    log += e.data ? "M" + std::to_string(e.block_bytes) : "?";
  }
  void alloc_preprocess(const nd::MemoryEvent&) override { log += "a"; }
  void alloc_postprocess(const nd::MemoryEvent&) override { log += "A"; }
  void free_preprocess(const nd::MemoryEvent& e) override { log += "f" + std::to_string(e.bytes); }
  void free_postprocess(const nd::MemoryEvent&) override { log += "F"; }
};

BOOST_AUTO_TEST_CASE(hooks_see_every_step) {
  CountingBackend backend;
  nd::MemoryPool pool(backend);
  Recorder hook;
  {
    const nd::MemoryHookScope scope(hook);
    release(pool.allocate(100));
    release(pool.allocate(100));
  }
  release(pool.allocate(100));
  BOOST_TEST(hook.log == "m100aAM128f100Fm100M128f100F");
}

struct Thrower : nd::MemoryHook {
  enum Step { malloc_pre, malloc_post, alloc_pre, alloc_post } at;
  explicit Thrower(Step step) : at(step) {}
  void when(Step step) const {
    if (step == at) throw std::runtime_error("hook");
  }
  void malloc_preprocess(const nd::MemoryEvent&) override { when(malloc_pre); }
  void malloc_postprocess(const nd::MemoryEvent&) override { when(malloc_post); }
  void alloc_preprocess(const nd::MemoryEvent&) override { when(alloc_pre); }
  void alloc_postprocess(const nd::MemoryEvent&) override { when(alloc_post); }
};

BOOST_AUTO_TEST_CASE(a_hook_that_throws_leaves_nothing_behind) {
  for (std::size_t bytes : {std::size_t(100), 3 * kMega}) {
    for (Thrower::Step step : {Thrower::malloc_pre, Thrower::malloc_post, Thrower::alloc_pre, Thrower::alloc_post}) {
      CountingBackend backend;
      nd::MemoryPool pool(backend);
      Thrower hook(step);
      {
        const nd::MemoryHookScope scope(hook);
        BOOST_CHECK_THROW(pool.allocate(bytes), std::runtime_error);
      }
      BOOST_TEST(pool.used_bytes() == 0u);
      BOOST_TEST(consistent(pool, backend));
      // Memory that was given back at once was never part of the pool.
      if (step != Thrower::malloc_post) BOOST_TEST(pool.statistics().peak_total_bytes == 0u);
      pool.free_all_blocks();
      BOOST_TEST(pool.total_bytes() == 0u);
      BOOST_TEST(backend.bytes == 0);
      Storage* a = pool.allocate(bytes);
      BOOST_TEST(consistent(pool, backend));
      release(a);
    }
  }
}

// A thread keeps blocks of four arenas.
BOOST_AUTO_TEST_CASE(a_thread_gives_up_the_arena_that_it_took_up_first) {
  CountingBackend backend(catena::Device::Kind::cuda);
  nd::MemoryPool pool(backend);
  char stream[7];
  const auto kept = [&] {
    std::string numbers;
    for (std::size_t i = 0; i < std::size(stream); ++i)
      for (const nd::MemoryArena& arena : pool.snapshot().arenas)
        if (arena.stream.handle == &stream[i] &&
            arena.segments.at(0).blocks.at(0).state == nd::MemoryBlock::State::cached)
          numbers += std::to_string(i);
    return numbers;
  };
  std::string seen;
  for (char& s : stream) {
    release(pool.allocate(4096, 0, &s));
    seen += kept() + " ";
  }
  BOOST_TEST(seen == "0 01 012 0123 1234 2345 3456 ");
  // All four are served from their own blocks, whichever slot they have.
  for (std::size_t i = 3; i < 7; ++i) {
    Storage* a = pool.allocate(4096, 0, &stream[i]);
    BOOST_TEST(kept().find(char('0' + i)) == std::string::npos);
    release(a);
    BOOST_TEST(kept() == "3456");
  }
}

void follow_random_trace(bool growing) {
  CountingBackend backend(growing);
  nd::MemoryPool pool(backend);
  std::mt19937 rng(1);
  struct Live {
    Storage* s;
    std::byte mark;
  };
  std::vector<Live> live;
  std::size_t peak = 0, now = 0;
  for (int i = 0; i < 20000; ++i) {
    if (live.size() < 40 || rng() % 2) {
      const std::size_t bytes = std::size_t(1) << (rng() % 22), n = bytes + rng() % bytes;
      live.push_back({pool.allocate(n), std::byte(rng())});
      live.back().s->data[0] = live.back().s->data[n - 1] = live.back().mark;
      now += n;
      peak = std::max(peak, now);
    } else {
      std::swap(live[rng() % live.size()], live.back());
      const Live l = live.back();
      BOOST_REQUIRE((l.s->data[0] == l.mark && l.s->data[l.s->bytes - 1] == l.mark));
      now -= l.s->bytes;
      release(l.s);
      live.pop_back();
    }
    if (live.size() > 80)
      while (live.size() > 40) {
        now -= live.back().s->bytes;
        release(live.back().s);
        live.pop_back();
      }
  }
  BOOST_TEST(consistent(pool, backend));
  BOOST_TEST_MESSAGE("taken from the device / most in use: " << double(pool.statistics().peak_total_bytes) /
                                                                    double(peak));
  for (const Live& l : live) release(l.s);
  BOOST_TEST(pool.used_bytes() == 0u);
  pool.free_all_blocks();
  BOOST_TEST(backend.bytes == 0);
}

BOOST_AUTO_TEST_CASE(random_trace_keeps_contents_and_counts) {
  for (const bool growing : {false, true}) follow_random_trace(growing);
}

// Sizes from 64 bytes to 4 MB, of which half of 256 slots are in use.
BOOST_AUTO_TEST_CASE(memory_that_grows_is_hardly_more_than_what_is_used) {
  CountingBackend backend(true);
  nd::MemoryPool pool(backend);
  std::mt19937 rng(1);
  std::uniform_real_distribution<> exponent(6, 22);
  std::vector<Storage*> slots(256);
  for (int i = 0; i < 200000; ++i) {
    Storage*& s = slots[rng() % slots.size()];
    if (s) release(std::exchange(s, nullptr));
    else s = pool.allocate(std::size_t(std::exp2(exponent(rng))));
  }
  const nd::PoolStatistics s = pool.statistics();
  const double ratio = double(s.peak_total_bytes) / double(s.peak_used_bytes);
  BOOST_TEST_MESSAGE("taken from the device / most in use: " << ratio);
  BOOST_TEST(ratio < 1.25);
  for (Storage* a : slots)
    if (a) release(a);
  pool.free_all_blocks();
  BOOST_TEST(backend.bytes == 0);
}

BOOST_AUTO_TEST_CASE(memory_that_grows_goes_back_around_what_is_used) {
  CountingBackend backend(true);
  nd::MemoryPool pool(backend);
  Storage* first = pool.allocate(5 * kMega);
  Storage* middle = pool.allocate(3 * kMega);
  Storage* last = pool.allocate(20 * kMega);
  BOOST_TEST(middle->data == first->data + 5 * kMega);
  BOOST_TEST(last->data == middle->data + 3 * kMega);
  BOOST_TEST(pool.total_bytes() == 28 * kMega);
  std::memset(middle->data, 7, middle->bytes);
  release(first);
  release(last);
  pool.free_all_blocks();
  BOOST_TEST(pool.total_bytes() == 4 * kMega);  // the units that the block in the middle lies in
  BOOST_TEST(consistent(pool, backend));
  BOOST_TEST(pool.n_free_blocks() == 1u);
  for (std::size_t i = 0; i < middle->bytes; ++i) BOOST_REQUIRE((middle->data[i] == std::byte(7)));

  // The next block begins where this one ends; the memory in front of it does not come back.
  Storage* next = pool.allocate(6 * kMega);
  BOOST_TEST(next->data == middle->data + 3 * kMega);
  BOOST_TEST(pool.total_bytes() == 10 * kMega);
  std::memset(next->data, 1, next->bytes);
  release(middle);
  release(next);
  BOOST_TEST(pool.n_free_blocks() == 1u);
  pool.free_all_blocks();
  BOOST_TEST(pool.total_bytes() == 0u);
  BOOST_TEST(backend.bytes == 0);
  Storage* again = pool.allocate(kMega);
  std::memset(again->data, 1, again->bytes);
  release(again);
}

BOOST_AUTO_TEST_CASE(growing_memory_that_runs_out) {
  CountingBackend backend(true);
  nd::MemoryPool pool(backend);
  pool.set_limit(8 * kMega);
  Storage* a = pool.allocate(3 * kMega);
  Storage* b = pool.allocate(3 * kMega);
  BOOST_CHECK_THROW(pool.allocate(3 * kMega), catena::OutOfMemoryError);
  BOOST_TEST(consistent(pool, backend));
  release(a);
  Storage* c = pool.allocate(3 * kMega);  // in its place
  release(c);
  release(b);
  Storage* whole = pool.allocate(8 * kMega);
  release(whole);
  backend.fail_at = backend.allocations + 1;
  BOOST_CHECK_THROW(pool.allocate(9 * kMega), catena::OutOfMemoryError);
  BOOST_TEST(consistent(pool, backend));
  BOOST_TEST(pool.used_bytes() == 0u);
}

BOOST_AUTO_TEST_CASE(storages_and_fresh_arrays) {
  catena::ArrayHeader* h = nd::internal::new_array({2, 3, 4}, catena::Dtype::float16, {});
  BOOST_TEST(h->size == 24);
  BOOST_TEST(h->strides == (catena::Strides{24, 8, 2}));
  BOOST_TEST(h->c_contiguous);
  BOOST_TEST(h->owner == &nd::array_owner());
  BOOST_TEST(h->storage->bytes == 48u);
  catena::delete_header(h);
  h = nd::internal::new_array({2, 0, 4}, catena::Dtype::float64, {});
  BOOST_TEST(h->size == 0);
  BOOST_TEST(h->storage == nullptr);
  catena::delete_header(h);
  h = nd::internal::new_array({}, catena::Dtype::bool_, {});
  BOOST_TEST(h->size == 1);
  catena::delete_header(h);
  BOOST_CHECK_THROW(nd::internal::new_array({-1}, catena::Dtype::bool_, {}), catena::ValueError);
  BOOST_CHECK_THROW(nd::internal::new_array({std::int64_t(1) << 62}, catena::Dtype::float64, {}),
                    catena::OutOfMemoryError);
  BOOST_CHECK_THROW(nd::internal::new_array({std::int64_t(1) << 60}, catena::Dtype::bool_, {}),
                    catena::OutOfMemoryError);

  int deleted = 0;
  std::vector<float> mine(10);
  Storage* s = nd::wrap_storage(mine.data(), 40, {}, [&] { ++deleted; });
  catena::retain(s);
  release(s);
  BOOST_TEST(deleted == 0);
  release(s);
  BOOST_TEST(deleted == 1);
}

BOOST_AUTO_TEST_CASE(allocators_can_be_replaced) {
  const std::size_t before = nd::memory_pool(catena::Device::Kind::cpu).used_bytes();
  {
    const nd::AllocatorScope scope(nd::raw_allocator());
    Storage* s = nd::new_storage(1000, {});
    BOOST_TEST(nd::memory_pool(catena::Device::Kind::cpu).used_bytes() == before);
    release(s);
    BOOST_TEST(nd::new_storage(0, {}) == nullptr);
  }
  int calls = 0;
  {
    const nd::AllocatorScope scope(std::make_shared<const nd::Allocator>([&](std::size_t bytes, catena::Device device) {
      ++calls;
      return (*nd::raw_allocator())(bytes, device);
    }));
    release(nd::new_storage(10, {}));
  }
  BOOST_TEST(calls == 1);
  Storage* s = nd::new_storage(1000, {});
  BOOST_TEST(nd::memory_pool(catena::Device::Kind::cpu).used_bytes() > before);
  release(s);
}

}  // namespace
