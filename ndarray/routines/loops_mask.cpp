#include <catena/ndarray/routines/loops_mask.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <catena/kernels/base/mask_word.h>
#include <catena/kernels/base/parallel.h>
#include <catena/kernels/base/word.h>
#include <catena/kernels/registry/multiarch.h>

namespace nd::internal {
namespace {

using catena::kMaskBlock;
constexpr std::int64_t kGrain = 1 << 15;
constexpr int kFew = 8;  // true elements of a block that are written one by one

struct Part {
  const std::byte* mask;
  std::byte* out;
  const std::byte* value;
  std::int64_t n;
};

template <class T>
inline __attribute__((always_inline)) void select_one(const std::byte* mask, T* out, const T& value, std::int64_t n) {
  for (std::int64_t j = 0; j < n; ++j) out[j] = mask[j] != std::byte(0) ? value : out[j];
}

// Masks are often sparse or have runs: of a block with few true elements, only the memory of these is touched. The
// elements of other blocks are all written, with their own value or the new one, which vectors do without branches.
template <class T> CATENA_MULTIARCH void fill_as(const Part& p) {
  T* const out = reinterpret_cast<T*>(p.out);
  T value;
  std::memcpy(static_cast<void*>(&value), p.value, sizeof value);
  std::int64_t i = 0;
  for (; i + kMaskBlock <= p.n; i += kMaskBlock) {
    if (!catena::any_in_block(p.mask + i)) continue;
    std::uint64_t bits = catena::nonzero_in_block(p.mask + i);
    if (std::popcount(bits) > kFew) select_one(p.mask + i, out + i, value, kMaskBlock);
    else
      for (; bits != 0; bits &= bits - 1) out[i + std::countr_zero(bits)] = value;
  }
  select_one(p.mask + i, out + i, value, p.n - i);
}

}  // namespace

void fill_true(const Array& a, const Array& mask, const Array& value) {
  catena::visit_word(a.itemsize(), [&](auto word) {
    using T = typename decltype(word)::type;
    catena::parallel_for(a.size(), kGrain, [&](std::int64_t begin, std::int64_t end) {
      fill_as<T>({mask->data + begin, a->data + begin * std::int64_t(sizeof(T)), value->data, end - begin});
    });
  });
}

}  // namespace nd::internal
