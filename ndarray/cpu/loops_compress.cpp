// Copies the elements at which a mask is true. The blocks of the mask are those of nonzero.cpp, which has counted its
// elements: each block writes behind those of the earlier blocks.
#include <algorithm>
#include <bit>
#include <cstring>

#include <catena/kernels/base/mask_word.h>
#include <catena/kernels/base/parallel.h>
#include <catena/kernels/base/word.h>
#include <catena/kernels/registry/bound_call.h>
#include <catena/kernels/registry/multiarch.h>
#include <catena/ndarray/cpu/run.h>
#include <catena/ndarray/cpu/tuning.h>

namespace nd::cpu {
namespace {

using catena::kMaskBlock;
using catena::kMaskWord;
constexpr int kFew = 8;  // true elements of a block that are copied one by one

// Copies the elements of a word of the mask at which `bits` are set, and returns the place behind them. Words without
// zeros are copied as a whole. In other words every element is stored, but the place moves on for those that are true
// only; the last ones of a block, behind which other blocks write, are stored one by one.
template <class T>
inline __attribute__((always_inline)) T* copy_word(unsigned bits, const T* in, T* out, const T* end) {
  if (bits == 0xff) {
    std::memcpy(static_cast<void*>(out), in, kMaskWord * sizeof(T));
    out += kMaskWord;
  } else if (end - out > kMaskWord) {
    for (int j = 0; j < kMaskWord; ++j) {
      *out = in[j];
      out += bits >> j & 1;
    }
  } else {
    for (int j = 0; j < kMaskWord; ++j)
      if ((bits >> j & 1) != 0) *out++ = in[j];
  }
  return out;
}

// Masks are often sparse or have runs, so blocks and words of zeros are skipped.
template <class T>
inline __attribute__((always_inline)) void copy_true(const std::byte* mask, const T* in, std::int64_t n, T* out,
                                                     const T* end) {
  std::int64_t i = 0;
  for (; i + kMaskBlock <= n; i += kMaskBlock) {
    if (!catena::any_in_block(mask + i)) continue;
    std::uint64_t bits = catena::nonzero_in_block(mask + i);
    if (std::popcount(bits) <= kFew) {
      for (; bits != 0; bits &= bits - 1) *out++ = in[i + std::countr_zero(bits)];
      continue;
    }
    for (int k = 0; k < kMaskBlock; k += kMaskWord, bits >>= kMaskWord)
      if ((bits & 0xff) != 0) out = copy_word(unsigned(bits & 0xff), in + i + k, out, end);
  }
  for (; i < n; ++i)
    if (mask[i] != std::byte(0)) *out++ = in[i];
}

struct Part {
  const catena::bound::Compress& call;
  std::int64_t begin, end, first, count;  // elements of the mask, and the places of the true ones
};
template <class T> CATENA_MULTIARCH void copy_as(const Part& p) {
  T* const out = reinterpret_cast<T*>(p.call.out) + p.first;
  copy_true(p.call.mask + p.begin, reinterpret_cast<const T*>(p.call.in) + p.begin, p.end - p.begin, out,
            out + p.count);
}
void copy_part(const Part& p) {
  catena::visit_word(static_cast<std::size_t>(p.call.item),
                     [&](auto word) { copy_as<typename decltype(word)::type>(p); });
}

}  // namespace

void run(const catena::bound::Compress& call) {
  const std::int64_t blocks = (call.n + kNonzeroBlock - 1) / kNonzeroBlock;
  if (blocks == 1) return copy_part({call, 0, call.n, 0, call.count});
  const std::int64_t* const first = call.counts + 1;
  catena::parallel_for(blocks, 1, [&](std::int64_t b, std::int64_t e) {
    for (; b < e; ++b) {
      const std::int64_t behind = b + 1 < blocks ? first[b + 1] : call.count;
      copy_part({call, b * kNonzeroBlock, std::min((b + 1) * kNonzeroBlock, call.n), first[b], behind - first[b]});
    }
  });
}

}  // namespace nd::cpu
