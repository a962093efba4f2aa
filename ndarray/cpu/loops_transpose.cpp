// The inner loops of transposing copies: square blocks of vectors, transposed by rounds of interleaving.
#include <cstdint>
#include <cstring>
#include <utility>

#include "ndarray/cpu/copy.h"

namespace nd::cpu {
namespace {

template <class T> struct Block {
  static constexpr int N = 16 / sizeof(T);
  typedef T V __attribute__((vector_size(16)));

  template <std::size_t... I> static V low(V a, V b, std::index_sequence<I...>) {
    return __builtin_shufflevector(a, b, (I % 2 ? N + I / 2 : I / 2)...);
  }
  template <std::size_t... I> static V high(V a, V b, std::index_sequence<I...>) {
    return __builtin_shufflevector(a, b, (I % 2 ? N + N / 2 + I / 2 : N / 2 + I / 2)...);
  }

  // N x N elements.
  static inline __attribute__((always_inline)) void run(std::byte* to, std::int64_t to_row, const std::byte* from, std::int64_t from_row) {
    using Lanes = std::make_index_sequence<std::size_t(N)>;
    V a[N], b[N];
    for (int j = 0; j < N; ++j) std::memcpy(&a[j], from + j * from_row, 16);
    for (int width = N; width > 1; width /= 2) {
      for (int j = 0; j < N / 2; ++j) {
        b[2 * j] = low(a[j], a[j + N / 2], Lanes());
        b[2 * j + 1] = high(a[j], a[j + N / 2], Lanes());
      }
      for (int j = 0; j < N; ++j) a[j] = b[j];
    }
    for (int i = 0; i < N; ++i) std::memcpy(to + i * to_row, &a[i], 16);
  }
};

template <class T>
void run(std::byte* to, std::int64_t to_row, const std::byte* from, std::int64_t from_row, std::int64_t rows, std::int64_t columns) {
  constexpr std::int64_t N = Block<T>::N, size = sizeof(T);
  constexpr std::int64_t kCacheBlock = 64 / size < N ? N : 64 / size;  // one line of each side
  const auto element = [&](std::int64_t i, std::int64_t j) { std::memcpy(to + i * to_row + j * size, from + j * from_row + i * size, sizeof(T)); };
  const std::int64_t whole_rows = rows / N * N, whole_columns = columns / N * N;
  for (std::int64_t j0 = 0; j0 < whole_columns; j0 += kCacheBlock) {
    const std::int64_t j1 = j0 + kCacheBlock < whole_columns ? j0 + kCacheBlock : whole_columns;
    // Rows of `from` lie far apart: no hardware sees what comes next.
    for (std::int64_t j = j1; j < j1 + kCacheBlock && j < columns; ++j)
      for (std::int64_t i = 0; i < rows * size; i += 64) __builtin_prefetch(from + j * from_row + i);
    for (std::int64_t i = 0; i < whole_rows; i += N)
      for (std::int64_t j = j0; j < j1; j += N) Block<T>::run(to + i * to_row + j * size, to_row, from + j * from_row + i * size, from_row);
  }
  for (std::int64_t i = 0; i < whole_rows; ++i)
    for (std::int64_t j = whole_columns; j < columns; ++j) element(i, j);
  for (std::int64_t i = whole_rows; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j) element(i, j);
}

}  // namespace

void transpose_block(std::byte* to, std::int64_t to_row, const std::byte* from, std::int64_t from_row, std::int64_t rows,
                     std::int64_t columns, std::size_t itemsize) {
  switch (itemsize) {
    case 1: return run<std::uint8_t>(to, to_row, from, from_row, rows, columns);
    case 2: return run<std::uint16_t>(to, to_row, from, from_row, rows, columns);
    case 4: return run<std::uint32_t>(to, to_row, from, from_row, rows, columns);
    default: return run<std::uint64_t>(to, to_row, from, from_row, rows, columns);
  }
}

}  // namespace nd::cpu
