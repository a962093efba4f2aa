// The snapshot of a pool against a model of what was allocated: addresses, states, streams, totals, text.
#include <catena/ndarray/memory/memory_snapshot.h>

#include <boost/test/unit_test.hpp>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <catena/kernels/base/array_header.h>
#include <catena/ndarray/device/runtime.h>
#include <catena/ndarray/memory/memory_pool.h>
#include <catena/ndarray/ndarray.h>
#include <catena/tests/support/counting_backend.h>
#include <catena/tests/support/memory_snapshots.h>

namespace {

using catena::release;
using catena::Storage;
using State = nd::MemoryBlock::State;
using test::check_totals;
using test::CountingBackend;
using test::is_tiled;

constexpr std::size_t kMega = 1 << 20;
const nd::Device kCuda0{nd::Device::Kind::cuda, 0}, kCuda1{nd::Device::Kind::cuda, 1};

// The block that holds an address; none has the address null.
nd::MemoryBlock block_at(const nd::MemorySnapshot& s, const std::byte* address) {
  for (const nd::MemoryArena& arena : s.arenas)
    for (const nd::MemorySegment& segment : arena.segments)
      for (const nd::MemoryBlock& b : segment.blocks)
        if (address >= b.address && address < b.address + b.bytes) return b;
  return {};
}

BOOST_AUTO_TEST_CASE(blocks_and_what_became_of_them) {
  CountingBackend backend(nd::Device::Kind::cuda);
  nd::MemoryPool pool(backend);
  BOOST_TEST(pool.snapshot().arenas.empty());
  char one, two, three;
  Storage* small = pool.allocate(100, 0, &one);        // 512 bytes of a segment of 2 MB
  Storage* large = pool.allocate(3 * kMega, 0, &one);  // of a segment of 4 MB
  Storage* elsewhere = pool.allocate(2 * kMega, 1, &one);
  nd::MemoryPool::record_stream(*large, {kCuda0, &two});
  nd::MemoryPool::record_stream(*large, {kCuda0, &three});
  pool.hold_stream(1, &one);

  nd::MemorySnapshot s = pool.snapshot();
  BOOST_REQUIRE(s.arenas.size() == 2u);
  BOOST_TEST(is_tiled(s));
  BOOST_TEST((s.arenas[0].stream == nd::StreamRef{kCuda0, &one}));
  BOOST_TEST((s.arenas[1].stream == nd::StreamRef{kCuda1, &one}));
  BOOST_TEST(!s.arenas[0].recorded);
  BOOST_TEST(s.arenas[1].recorded);
  BOOST_TEST(s.arenas[0].segments.size() == 2u);
  BOOST_TEST((block_at(s, small->data).state == State::used));
  BOOST_TEST(block_at(s, small->data).bytes == 512u);
  BOOST_TEST(block_at(s, small->data).streams.empty());
  BOOST_TEST((block_at(s, small->data + 512).state == State::free));
  BOOST_TEST(block_at(s, small->data + 512).bytes == 2 * kMega - 512);
  BOOST_TEST((block_at(s, large->data).streams == std::vector<void*>{&two, &three}));
  check_totals(s.totals(), pool.statistics());
  check_totals(s.totals(kCuda0), pool.statistics(0));
  check_totals(s.totals(kCuda1), pool.statistics(1));
  BOOST_TEST(s.totals().n_segments == 3u);
  BOOST_TEST(s.totals(kCuda0).total_bytes == 6 * kMega);

  backend.events_done = false;
  const std::byte *where = large->data, *where_small = small->data;
  release(large);
  release(small);
  release(elsewhere);
  s = pool.snapshot();
  BOOST_TEST(is_tiled(s));
  BOOST_TEST((block_at(s, where).state == State::held));
  BOOST_TEST((block_at(s, where).streams == std::vector<void*>{&two, &three}));
  BOOST_TEST((block_at(s, where_small).state == State::cached));
  check_totals(s.totals(), pool.statistics());
  BOOST_TEST(s.totals().used_bytes == 0u);
  BOOST_TEST(s.totals().held_bytes == 3 * kMega);
  BOOST_TEST(s.totals().cached_bytes == 512u);

  backend.events_done = true;
  pool.release_stream(1, &one);
  pool.free_all_blocks();
  s = pool.snapshot();
  BOOST_TEST(s.totals().total_bytes == 0u);
  BOOST_TEST(s.totals().n_segments == 0u);
}

BOOST_AUTO_TEST_CASE(random_traces_agree_with_what_is_held) {
  for (const auto kind : {nd::Device::Kind::cpu, nd::Device::Kind::cuda}) {
    CountingBackend backend(kind);
    nd::MemoryPool pool(backend);
    std::mt19937 random(1);
    char streams[3];
    std::map<const std::byte*, Storage*> held;
    for (int step = 0; step < 1500; ++step) {
      if (held.empty() || random() % 5 < 3) {
        const std::size_t bytes = 1 + random() % (std::size_t(1) << (random() % 23));
        Storage* b = pool.allocate(bytes, int(random() % 2), &streams[random() % 3]);
        BOOST_REQUIRE(held.emplace(b->data, b).second);
      } else {
        auto victim = held.begin();
        std::advance(victim, std::ptrdiff_t(random() % held.size()));
        release(victim->second);
        held.erase(victim);
      }
      if (step % 7 != 0) continue;
      const nd::MemorySnapshot s = pool.snapshot();
      BOOST_REQUIRE(is_tiled(s));
      std::size_t used = 0;
      for (const nd::MemoryArena& arena : s.arenas)
        for (const nd::MemorySegment& segment : arena.segments)
          for (const nd::MemoryBlock& b : segment.blocks) {
            if (b.state != State::used) continue;
            ++used;
            const auto found = held.find(b.address);
            BOOST_REQUIRE(found != held.end());
            BOOST_REQUIRE(b.bytes >= found->second->bytes);
            BOOST_REQUIRE((arena.stream.device == found->second->device));
          }
      BOOST_REQUIRE(used == held.size());
      check_totals(s.totals(), pool.statistics());
      BOOST_REQUIRE(std::int64_t(s.totals().total_bytes) == backend.bytes);
    }
    for (const auto& [address, b] : held) release(b);
    check_totals(pool.snapshot().totals(), pool.statistics());
  }
}

BOOST_AUTO_TEST_CASE(text) {
  const auto at = [](std::uintptr_t address) { return reinterpret_cast<std::byte*>(address); };
  nd::MemorySnapshot s;
  BOOST_TEST(s.to_json() == R"({"totals":[],"arenas":[]})");
  nd::MemoryArena arena{{kCuda1, at(0xab)}, true, {}};
  arena.segments.push_back({at(0x1000),
                            2048,
                            {{at(0x1000), 512, State::used, {at(0xcd), nullptr}},
                             {at(0x1200), 512, State::held, {at(0xcd)}},
                             {at(0x1400), 256, State::cached, {}},
                             {at(0x1500), 768, State::free, {}}}});
  s.arenas = {arena, {{nd::cpu_device, nullptr}, false, {}}};
  BOOST_TEST(s.to_json() ==
             R"({"totals":[{"device":"cuda:1","used_bytes":512,"total_bytes":2048,"free_bytes":1536,"n_free_blocks":3,)"
             R"("cached_bytes":256,"held_bytes":512,"n_segments":1},)"
             R"({"device":"cpu:0","used_bytes":0,"total_bytes":0,"free_bytes":0,)"
             R"("n_free_blocks":0,"cached_bytes":0,"held_bytes":0,"n_segments":0}],)"
             R"("arenas":[{"device":"cuda:1","stream":"0xab","recorded":true,)"
             R"("segments":[{"address":"0x1000","bytes":2048,"blocks":[)"
             R"({"address":"0x1000","bytes":512,"state":"used","streams":["0xcd","0x0"]},)"
             R"({"address":"0x1200","bytes":512,"state":"held","streams":["0xcd"]},)"
             R"({"address":"0x1400","bytes":256,"state":"cached","streams":[]},)"
             R"({"address":"0x1500","bytes":768,"state":"free","streams":[]}]}]},)"
             R"({"device":"cpu:0","stream":"0x0","recorded":false,"segments":[]}]})");
}

BOOST_AUTO_TEST_CASE(arrays_of_the_current_device) {
  const std::byte* where = nullptr;
  {
    const nd::Array a = nd::zeros({1000}, nd::float64), b = nd::zeros({2, 3});
    where = a->storage->data;
    const nd::MemorySnapshot s = nd::memory_snapshot();
    BOOST_TEST(is_tiled(s));
    BOOST_TEST((block_at(s, where).state == State::used));
    BOOST_TEST(block_at(s, where).bytes >= 8000u);
    BOOST_TEST((block_at(s, b->storage->data).state == State::used));
    check_totals(s.totals(a.device()), nd::memory_pool().statistics(a.device().id));
  }
  BOOST_TEST((block_at(nd::memory_snapshot(), where).state != State::used));
}

}  // namespace
