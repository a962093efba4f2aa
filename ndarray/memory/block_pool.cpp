#include <catena/ndarray/memory/block_pool.h>

#include <memory>
#include <new>

#include <catena/kernels/base/error.h>
#include <catena/ndarray/core/dtype.h>
#include <catena/ndarray/device/stream.h>

namespace nd::internal {

using catena::check;

// A block in use: a storage over memory of the allocator.
struct BlockPool::Block : Storage {
  catena::Shared<BlockPool> pool;
  MemoryPointer memory;  // null once the block was freed
  Key key;
};

BlockPool::BlockPool(const char* op, BlockAllocator allocator, bool by_stream)
    : op_(op), allocator_(std::move(allocator)), by_stream_(by_stream) {
  check<TypeError>(allocator_ != nullptr, op, "the allocator is empty");
}

MemoryPointer BlockPool::take(std::size_t rounded, Key key) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = free_.find(key);
    if (found != free_.end() && !found->second.empty()) {
      MemoryPointer block = std::move(found->second.back());
      found->second.pop_back();
      return block;
    }
  }
  try {
    return allocator_(rounded);
  } catch (const OutOfMemoryError&) {
    if (n_free_blocks() == 0) throw;
    free_all_blocks();
  }
  return allocator_(rounded);
}

MemoryPointer BlockPool::malloc(const catena::Shared<BlockPool>& pool, std::size_t size) {
  if (size == 0) return {};
  constexpr std::size_t kUnit = 512;
  check<OutOfMemoryError>(size <= std::size_t(-1) - kUnit, pool->op_, size, " bytes are more than there can be");
  const std::size_t rounded = (size + kUnit - 1) / kUnit * kUnit;
  const Key key{rounded, pool->by_stream_ ? current_stream(current_device()).handle : nullptr};
  auto block = std::make_unique<Block>();
  block->pool = pool;
  block->key = key;
  block->memory = pool->take(rounded, key);
  check<ValueError>(block->memory.size() >= rounded, pool->op_, "the allocator was asked for ", rounded,
                    " bytes and gave a block of ", block->memory.size());
  block->device = block->memory.device();
  block->data = block->memory.ptr();
  block->bytes = size;
  block->destroy = &BlockPool::destroy;
  const std::lock_guard lock(pool->mutex_);
  pool->used_[block->data] = block.get();
  return MemoryPointer(block.release());
}

MemoryPointer BlockPool::take_back(Block& block) {
  used_.erase(block.data);
  block.data = nullptr;
  block.bytes = 0;
  MemoryPointer memory = std::exchange(block.memory, {});
  if (!keeps_) return memory;
  try {
    free_[block.key].push_back(memory);
  } catch (const std::bad_alloc&) {
    return memory;  // a block that cannot be added to the list goes back to the allocator
  }
  return {};
}

void BlockPool::free(const void* data) {
  MemoryPointer dropped;
  const std::lock_guard lock(mutex_);
  const auto found = used_.find(data);
  check<RuntimeError>(found != used_.end(), op_, "free: ", data,
                      " is not the address of a block in use: it is unknown or was freed before");
  dropped = take_back(*found->second);
}

bool BlockPool::free_block(Storage& storage) noexcept {
  if (storage.destroy != &BlockPool::destroy) return false;
  auto& block = static_cast<Block&>(storage);
  MemoryPointer dropped;
  const std::lock_guard lock(block.pool->mutex_);
  if (block.memory) dropped = block.pool->take_back(block);
  return true;
}

void BlockPool::destroy(Storage* storage) {
  free_block(*storage);
  delete static_cast<Block*>(storage);
}

void BlockPool::free_all_blocks() {
  std::map<Key, std::vector<MemoryPointer>> dropped;
  const std::lock_guard lock(mutex_);
  dropped.swap(free_);
}

std::size_t BlockPool::n_free_blocks() const {
  const std::lock_guard lock(mutex_);
  std::size_t n = 0;
  for (const auto& [key, list] : free_) n += list.size();
  return n;
}

void BlockPool::close() {
  {
    const std::lock_guard lock(mutex_);
    keeps_ = false;
  }
  free_all_blocks();
}

// ---- AllocatorPool ------------------------------------------------------------------------------
struct AllocatorPool::Owner {
  explicit Owner(catena::Shared<BlockPool> pool) : blocks(std::move(pool)) {}
  Owner(const Owner&) = delete;
  Owner& operator=(const Owner&) = delete;
  ~Owner() { blocks->close(); }
  catena::Shared<BlockPool> blocks;
};

AllocatorPool::AllocatorPool(const char* op, BlockAllocator allocator, bool by_stream)
    : owner_(catena::Shared<const Owner>::make(catena::Shared<BlockPool>::make(op, std::move(allocator), by_stream))) {}
MemoryPointer AllocatorPool::malloc(std::size_t size) const { return BlockPool::malloc(owner_->blocks, size); }
void AllocatorPool::free(const void* data) const { owner_->blocks->free(data); }
void AllocatorPool::free_all_blocks() const { owner_->blocks->free_all_blocks(); }
std::size_t AllocatorPool::n_free_blocks() const { return owner_->blocks->n_free_blocks(); }

}  // namespace nd::internal
