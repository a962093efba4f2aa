// Examples as bytes, to be sent between processes. Internal to training/parallel and training/multi_node.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include <catena/training/dataset.h>
#include <catena/training/parallel/worker_process.h>

namespace training::internal {

// Writes the elements to shared memory, one array after the other; elements that do not fit become part of the message.
class ExampleWriter {
 public:
  explicit ExampleWriter(std::span<std::byte> memory = {}) : memory_(memory) {}
  // Arrays may be null. TypeError for an array that is not in host memory.
  void put(MessageWriter& w, const Example& e);
  std::size_t needed() const noexcept { return needed_; }  // bytes of the elements so far

 private:
  void put(MessageWriter& w, const Array& a);

  std::span<std::byte> memory_;
  std::size_t used_ = 0, needed_ = 0;
};

// Reads what ExampleWriter has written, as arrays on the CPU.
class ExampleReader {
 public:
  explicit ExampleReader(std::span<const std::byte> memory = {}) : memory_(memory) {}
  Example get(MessageReader& r);

 private:
  Array get_array(MessageReader& r);

  std::span<const std::byte> memory_;
  std::size_t used_ = 0;
};

}  // namespace training::internal
