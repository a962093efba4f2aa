#include <algorithm>

#include <catena/kernels/registry/multiarch.h>
#include <catena/ndarray/cpu/counts.h>

namespace nd::cpu {
namespace {

constexpr std::int64_t kBlock = 128;

template <class U>
CATENA_MULTIARCH void sum_block(U* sum, U value, const std::uint32_t* counts, std::int64_t tables, std::int64_t length,
                                std::int64_t n) {
  for (std::int64_t j = 0; j < n; ++j) sum[j] = 0;
  for (std::int64_t t = 0; t < tables; ++t) {
    const std::uint32_t* const table = counts + t * length;
#pragma GCC ivdep
    for (std::int64_t j = 0; j < n; ++j) sum[j] = U(sum[j] + U(table[j]));
  }
  for (std::int64_t j = 0; j < n; ++j) sum[j] = U(std::uint64_t(sum[j]) * value);
}

}  // namespace

template <class U>
void add_counts(std::byte* to, std::int64_t step, U value, const std::uint32_t* counts, std::int64_t tables,
                std::int64_t length, std::int64_t n) {
  U sum[kBlock];
  for (std::int64_t k = 0; k < n; k += kBlock) {
    const std::int64_t m = std::min(kBlock, n - k);
    sum_block(sum, value, counts + k, tables, length, m);
    for (std::int64_t j = 0; j < m; ++j) {
      U& at = *reinterpret_cast<U*>(to + (k + j) * step);
      at = U(at + sum[j]);
    }
  }
}

#define CATENA_ADD_COUNTS(U)                                                                                 \
  template void add_counts<U>(std::byte*, std::int64_t, U, const std::uint32_t*, std::int64_t, std::int64_t, \
                              std::int64_t);
CATENA_ADD_COUNTS(std::uint8_t)
CATENA_ADD_COUNTS(std::uint16_t)
CATENA_ADD_COUNTS(std::uint32_t)
CATENA_ADD_COUNTS(std::uint64_t)
#undef CATENA_ADD_COUNTS

}  // namespace nd::cpu
