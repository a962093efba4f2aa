#include <catena/tests/support/cuda_device/memory_pool.h>

#include <algorithm>
#include <array>
#include <unordered_map>

void CUmemPoolHandle_st::add(std::size_t bytes) {
  used += bytes;
  used_high = std::max(used_high, used);
  reserved = std::max(reserved, used);
  reserved_high = std::max(reserved_high, reserved);
}

void CUmemPoolHandle_st::trim(std::size_t bytes_to_keep) {
  reserved = std::max(used, std::min(reserved, bytes_to_keep));
}

namespace cuda_device {
namespace {

struct Pooled {
  PoolPtr pool;
  std::size_t bytes = 0;
};

struct Pools {
  std::array<PoolPtr, kDevices> defaults;
  std::unordered_map<const void*, Pooled> blocks;

  Pools() {
    for (int device = 0; device < kDevices; ++device) {
      PoolPtr& pool = defaults[static_cast<std::size_t>(device)] = std::make_shared<CUmemPoolHandle_st>();
      pool->device = device;
      pool->is_default = true;
      runtime().pools.add(pool);
    }
  }
};
// Never destroyed, because threads may call the driver until the process ends.
Pools& pools() {
  static Pools& p = *new Pools;
  return p;
}

}  // namespace

const PoolPtr& default_pool(int device) { return pools().defaults[static_cast<std::size_t>(device)]; }

std::byte* allocate_from_pool(const PoolPtr& pool, std::size_t bytes) {
  std::byte* const data = allocate_device(pool->device, bytes);
  if (data == nullptr) return nullptr;
  pool->add(bytes);
  pools().blocks[data] = {pool, bytes};
  return data;
}

bool is_of_pool(const void* data) { return pools().blocks.contains(data); }

void leave_pool(const void* data) {
  const auto found = pools().blocks.find(data);
  if (found == pools().blocks.end()) return;
  found->second.pool->used -= found->second.bytes;
  pools().blocks.erase(found);
}

void trim_pools() {
  runtime().pools.for_each([](CUmemPoolHandle_st& pool) { pool.trim(pool.release_threshold); });
}

}  // namespace cuda_device
