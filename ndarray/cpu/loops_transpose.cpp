// The inner loops of transposing copies. Square blocks, held in vectors, are transposed by rounds of interleaving.
#include <cstdint>
#include <cstring>
#include <utility>

#include <catena/kernels/registry/multiarch.h>
#include <catena/ndarray/cpu/copy.h>

#define CATENA_INLINE inline __attribute__((always_inline))

namespace nd::cpu {
namespace {

// Transposes N x N elements in vectors of `bytes` bytes. Vectors are passed by reference, because the calling
// convention for values depends on the instruction set.
template <class T, int bytes> struct Block {
  static constexpr int N = bytes / int(sizeof(T));
  typedef T V __attribute__((vector_size(bytes)));

  template <std::size_t... I>
  static CATENA_INLINE void interleave(const V& a, const V& b, V& low, V& high, std::index_sequence<I...>) {
    low = __builtin_shufflevector(a, b, (I % 2 ? N + int(I) / 2 : int(I) / 2)...);
    high = __builtin_shufflevector(a, b, (I % 2 ? N + N / 2 + int(I) / 2 : N / 2 + int(I) / 2)...);
  }

  static CATENA_INLINE void run(std::byte* to, std::int64_t to_row, const std::byte* from, std::int64_t from_row) {
    V a[N], b[N];
#pragma GCC unroll 16
    for (int j = 0; j < N; ++j) std::memcpy(&a[j], from + j * from_row, bytes);
#pragma GCC unroll 4
    for (int width = N; width > 1; width /= 2) {
#pragma GCC unroll 8
      for (int j = 0; j < N / 2; ++j)
        interleave(a[j], a[j + N / 2], b[2 * j], b[2 * j + 1], std::make_index_sequence<std::size_t(N)>());
#pragma GCC unroll 16
      for (int j = 0; j < N; ++j) a[j] = b[j];
    }
#pragma GCC unroll 16
    for (int i = 0; i < N; ++i) std::memcpy(to + i * to_row, &a[i], bytes);
  }
};

struct Call {
  std::byte* to;
  std::int64_t to_row;
  const std::byte* from;
  std::int64_t from_row, rows, columns;
  std::size_t itemsize;
  std::int64_t from_ahead, to_ahead;
};

// Prefetches the cache lines of a matrix of `rows` rows of `bytes` bytes.
CATENA_INLINE void fetch(const std::byte* p, std::int64_t row, std::int64_t rows, std::int64_t bytes) {
  for (std::int64_t j = 0; j < rows; ++j)
    for (std::int64_t i = 0; i < bytes; i += 64) __builtin_prefetch(p + j * row + i);
}

template <class T, int bytes> CATENA_INLINE void transpose(const Call& c) {
  using B = Block<T, bytes>;
  constexpr std::int64_t N = B::N, size = sizeof(T);
  std::byte* const to = c.to;
  const std::byte* const from = c.from;
  const std::int64_t to_row = c.to_row, from_row = c.from_row, rows = c.rows, columns = c.columns;
  if (rows < N || columns < N) {
    if constexpr (N > 4) {
      transpose<T, bytes / 2>(c);
    } else {
      for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t j = 0; j < columns; ++j)
          std::memcpy(to + i * to_row + j * size, from + j * from_row + i * size, sizeof(T));
    }
    return;
  }
  constexpr std::int64_t kCacheBlock = 64 / size < N ? N : 64 / size;  // one cache line on each side
  // Short pieces of distant rows of `from` are prefetched, because hardware prefetchers do not follow them.
  const bool apart = rows * size <= 256 && from_row > 128;
  for (std::int64_t j0 = 0; j0 < columns; j0 += kCacheBlock) {
    const std::int64_t j1 = j0 + kCacheBlock < columns ? j0 + kCacheBlock : columns;
    if (apart)
      fetch(from + j1 * from_row, from_row, (columns < j1 + kCacheBlock ? columns : j1 + kCacheBlock) - j1,
            rows * size);
    // The last block in each direction ends with the matrix; elements that it shares with the block before are written
    // twice.
    for (std::int64_t i0 = 0; i0 < rows; i0 += N) {
      const std::int64_t i = i0 + N < rows ? i0 : rows - N;
      for (std::int64_t k = j0; k < j1; k += N) {
        const std::int64_t j = k + N < columns ? k : columns - N;
        std::byte* const at = to + i * to_row + j * size;
        const std::byte* const of = from + j * from_row + i * size;
        if (c.from_ahead != 0 && i0 % (64 / size) == 0) fetch(of + c.from_ahead, from_row, N, 1);
        if (c.to_ahead != 0 && k % (64 / size) == 0) fetch(at + c.to_ahead, to_row, N, 1);
        B::run(at, to_row, of, from_row);
      }
    }
  }
}

// Elements of 16 bytes fill a register, so they are moved one by one, one cache line of each row of `to` at a time.
CATENA_INLINE void transpose_words(const Call& c) {
  constexpr std::int64_t size = 16, line = 64 / size;
  for (std::int64_t j0 = 0; j0 < c.columns; j0 += line)
    for (std::int64_t i = 0; i < c.rows; ++i)
      for (std::int64_t j = j0; j < j0 + line && j < c.columns; ++j)
        std::memcpy(c.to + i * c.to_row + j * size, c.from + j * c.from_row + i * size, size);
}

template <class T, int widest> CATENA_INLINE void run_as(const Call& c) {
  constexpr int bytes =
      16 * int(sizeof(T)) < widest ? 16 * int(sizeof(T)) : widest;  // more than 16 vectors would not fit the registers
  transpose<T, bytes>(c);
}
template <int widest> CATENA_INLINE void run(const Call& c) {
  switch (c.itemsize) {
    case 1: return run_as<std::uint8_t, widest>(c);
    case 2: return run_as<std::uint16_t, widest>(c);
    case 4: return run_as<std::uint32_t, widest>(c);
    case 8: return run_as<std::uint64_t, widest>(c);
    default: return transpose_words(c);
  }
}

// The versions of the loop. target_clones cannot make them, because the block size depends on the instruction set.
void run_16(const Call& c) { run<16>(c); }
#ifdef CATENA_HAS_MULTIARCH
__attribute__((target("arch=x86-64-v3"))) void run_32(const Call& c) { run<32>(c); }
__attribute__((target("arch=x86-64-v4"))) void run_64(const Call& c) { run<64>(c); }
auto choose() {
  return __builtin_cpu_supports("x86-64-v4") ? run_64 : __builtin_cpu_supports("x86-64-v3") ? run_32 : run_16;
}
#else
auto choose() { return run_16; }
#endif

}  // namespace

void transpose_block(std::byte* to, std::int64_t to_row, const std::byte* from, std::int64_t from_row,
                     std::int64_t rows, std::int64_t columns, std::size_t itemsize, std::int64_t from_ahead,
                     std::int64_t to_ahead) {
  static const auto f = choose();
  f({to, to_row, from, from_row, rows, columns, itemsize, from_ahead, to_ahead});
}

}  // namespace nd::cpu
