// Invariants of memory snapshots of a pool.
#pragma once

#include <boost/test/unit_test.hpp>

#include <catena/ndarray/memory/memory_pool.h>
#include <catena/ndarray/memory/memory_snapshot.h>

namespace test {

// Segments are disjoint and sorted, and their blocks cover them.
inline bool is_tiled(const nd::MemorySnapshot& s) {
  for (const nd::MemoryArena& arena : s.arenas) {
    const std::byte* end_of_last = nullptr;
    for (const nd::MemorySegment& segment : arena.segments) {
      if (segment.address < end_of_last || segment.bytes == 0) return false;
      const std::byte* at = segment.address;
      for (const nd::MemoryBlock& b : segment.blocks) {
        if (b.address != at || b.bytes == 0) return false;
        at += b.bytes;
      }
      end_of_last = segment.address + segment.bytes;
      if (at != end_of_last) return false;
    }
  }
  return true;
}

// Valid while no other thread allocates.
inline void check_totals(const nd::MemoryTotals& t, const nd::PoolStatistics& s) {
  BOOST_TEST(t.used_bytes == s.used_bytes);
  BOOST_TEST(t.total_bytes == s.total_bytes);
  BOOST_TEST(t.free_bytes == s.free_bytes);
  BOOST_TEST(t.n_free_blocks == s.n_free_blocks);
  BOOST_TEST(t.used_bytes + t.free_bytes == t.total_bytes);
}

}  // namespace test
