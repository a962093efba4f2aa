// Scratch memory of one call: from the pool, aligned to 64 bytes, freed at the end of the scope.
#pragma once

#include <cstddef>

#include <catena/kernels/base/array_header.h>
#include <catena/ndarray/core/storage.h>
#include <catena/ndarray/device/device.h>

namespace nd::cpu {

class Workspace {
 public:
  explicit Workspace(std::size_t bytes) : storage_(new_storage(bytes, cpu_device)) {}
  ~Workspace() { catena::release(storage_); }
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
  std::byte* data() const noexcept { return storage_ ? storage_->data : nullptr; }

 private:
  catena::Storage* storage_;
};

constexpr std::size_t round_up_64(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

}  // namespace nd::cpu
