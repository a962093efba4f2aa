#include <cstdint>
#include <cstring>

#include <catena/kernels/registry/multiarch.h>
#include <catena/ndarray/cpu/copy.h>

namespace nd::cpu {
namespace {

constexpr int kVector = 32, kVectors = 4;
constexpr std::int64_t kBlock = kVector * kVectors;
typedef unsigned char Vector __attribute__((vector_size(kVector)));

struct Block {
  Vector v[kVectors];
};
inline __attribute__((always_inline)) void load(Block& b, const std::byte* from) {
  for (int k = 0; k < kVectors; ++k) std::memcpy(&b.v[k], from + k * kVector, kVector);
}
inline __attribute__((always_inline)) void store(std::byte* to, const Block& b) {
  for (int k = 0; k < kVectors; ++k) std::memcpy(to + k * kVector, &b.v[k], kVector);
}

// Copies at least one block. The last block ends with the last byte.
CATENA_MULTIARCH void copy_blocks(std::byte* to, const std::byte* from, std::int64_t n) {
  Block block, last;
  load(last, from + n - kBlock);
  for (std::int64_t i = 0; i + kBlock <= n; i += kBlock) {
    load(block, from + i);
    store(to + i, block);
  }
  store(to + n - kBlock, last);
}

}  // namespace

void copy_bytes(std::byte* to, const std::byte* from, std::int64_t n) {
  constexpr std::int64_t kLeast = 1024, kMost = 1024 * 1024;
  constexpr std::uintptr_t kPage = 4096, kClose = 64;
  const std::uintptr_t behind = (reinterpret_cast<std::uintptr_t>(to) - reinterpret_cast<std::uintptr_t>(from)) % kPage;
  if (n >= kLeast && n <= kMost && behind != 0 && behind < kClose) copy_blocks(to, from, n);
  else std::memcpy(to, from, static_cast<std::size_t>(n));
}

}  // namespace nd::cpu
