#include <catena/ndarray/routines/loops_mask.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <catena/kernels/base/parallel.h>
#include <catena/kernels/registry/multiarch.h>

namespace nd::internal {
namespace {

constexpr std::int64_t kBlock = 64, kGrain = 1 << 15;

struct Word16 {
  std::uint64_t halves[2];
};

struct Part {
  const std::byte* mask;
  std::byte* out;
  const std::byte* value;
  std::int64_t n;
  std::size_t itemsize;
};

template <class T>
inline __attribute__((always_inline)) void select_one(const std::byte* mask, T* out, const T& value, std::int64_t n) {
  for (std::int64_t j = 0; j < n; ++j) out[j] = mask[j] != std::byte(0) ? value : out[j];
}

// Masks are often sparse or have runs: memory of blocks without a true element is not touched. The elements of other
// blocks are all written, with their own value or the new one, which vectors do without branches.
template <class T> inline __attribute__((always_inline)) void fill_as(const Part& p) {
  T* const out = reinterpret_cast<T*>(p.out);
  T value;
  std::memcpy(static_cast<void*>(&value), p.value, sizeof value);
  std::int64_t i = 0;
  for (; i + kBlock <= p.n; i += kBlock) {
    std::uint64_t words[kBlock / 8], any = 0;
    std::memcpy(words, p.mask + i, sizeof words);
    for (const std::uint64_t word : words) any |= word;
    if (any != 0) select_one(p.mask + i, out + i, value, kBlock);
  }
  select_one(p.mask + i, out + i, value, p.n - i);
}
CATENA_MULTIARCH void fill_part(const Part& p) {
  switch (p.itemsize) {
    case 1: return fill_as<std::uint8_t>(p);
    case 2: return fill_as<std::uint16_t>(p);
    case 4: return fill_as<std::uint32_t>(p);
    case 8: return fill_as<std::uint64_t>(p);
    default: return fill_as<Word16>(p);
  }
}

}  // namespace

void fill_true(const Array& a, const Array& mask, const Array& value) {
  const auto itemsize = static_cast<std::size_t>(a.itemsize());
  catena::parallel_for(a.size(), kGrain, [&](std::int64_t begin, std::int64_t end) {
    fill_part({mask->data + begin, a->data + begin * std::int64_t(itemsize), value->data, end - begin, itemsize});
  });
}

}  // namespace nd::internal
