// The blocks of an AllocatorPool (memory.h), with the rules of CuPy's pools: a free block is reused only for requests
// of exactly its rounded size. (The pool of arrays, memory_pool.h, splits and merges blocks.) Internal to
// ndarray/memory.
//
// Thread safety: all functions may be called from any thread.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include <catena/kernels/base/pointers.h>
#include <catena/ndarray/memory/memory.h>

namespace nd::internal {

using BlockAllocator = catena::Function<MemoryPointer(std::size_t size)>;

class BlockPool {
 public:
  // See AllocatorPool.
  BlockPool(const char* op, BlockAllocator allocator, bool by_stream);

  // Returns null for 0 bytes. If the allocator throws OutOfMemoryError, the free blocks are released and it is called
  // again.
  static MemoryPointer malloc(const catena::Shared<BlockPool>& pool, std::size_t size);
  // Frees a block by its address. RuntimeError unless `data` is the address of a block in use.
  void free(const void* data);
  // Frees a block of any BlockPool. Returns false if the memory is not such a block; returns true for a block that was
  // freed before.
  static bool free_block(Storage& storage) noexcept;
  void free_all_blocks();
  std::size_t n_free_blocks() const;
  // From now on, freed blocks go back to the allocator.
  void close();

 private:
  struct Block;
  using Key = std::pair<std::size_t, void*>;  // rounded size, and the stream or null
  static void destroy(Storage* storage);
  MemoryPointer take(std::size_t rounded, Key key);
  // Must be called with the lock; the caller must release the lock before it drops the result.
  MemoryPointer take_back(Block& block);

  const char* const op_;
  const BlockAllocator allocator_;
  const bool by_stream_;
  mutable std::mutex mutex_;
  bool keeps_ = true;
  std::map<Key, std::vector<MemoryPointer>> free_;
  std::unordered_map<const void*, Block*> used_;
};

}  // namespace nd::internal
