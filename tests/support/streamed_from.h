// Sets, until the end of the scope, from which size on results are written past the caches
// (ndarray/cpu/stream_store.h).
#pragma once

#include <cstdint>

#include <catena/ndarray/cpu/stream_store.h>

namespace test {

class StreamedFrom {
 public:
  explicit StreamedFrom(std::int64_t bytes) { nd::cpu::set_streamed_bytes(bytes); }
  ~StreamedFrom() { nd::cpu::set_streamed_bytes(0); }
  StreamedFrom(const StreamedFrom&) = delete;
  StreamedFrom& operator=(const StreamedFrom&) = delete;
};

}  // namespace test
