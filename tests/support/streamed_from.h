// What the process finds worth writing past the caches (ndarray/cpu/stream_store.h), until the end of the scope.
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
