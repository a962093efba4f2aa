// Finds non-zero elements: their number, and their positions. The array is divided into blocks of kNonzeroBlock
// elements in C order. First the elements of each block are counted; then each block writes its positions behind those
// of the earlier blocks.
#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

#include <catena/kernels/base/mask_word.h>
#include <catena/kernels/base/parallel.h>
#include <catena/kernels/base/word.h>
#include <catena/kernels/registry/multiarch.h>
#include <catena/ndarray/cpu/run.h>
#include <catena/ndarray/cpu/tuning.h>

namespace nd::cpu {
namespace {

using catena::BoundOperand;
using catena::Dtype;

static_assert(kNonzeroBlock >= catena::kLeastPiece);
constexpr std::int64_t kTile = 1024;

// The bits of a word, or of each half of 16 bytes, that are not all 0 if the element is not 0: zeros have either sign.
std::uint64_t bits_of_values(Dtype t) {
  constexpr std::uint64_t all = ~std::uint64_t(0);
  if (t == Dtype::complex64) return 0x7fffffff7fffffffu;
  if (catena::is_complex_dtype(t)) return all >> 1;
  return catena::is_floating(t) ? all >> (65 - 8 * catena::itemsize(t)) : all;
}

template <class W> inline __attribute__((always_inline)) bool is_nonzero(const std::byte* p, std::uint64_t bits) {
  const W& word = *reinterpret_cast<const W*>(p);
  if constexpr (sizeof(W) == sizeof(catena::Word16)) return ((word.half[0] | word.half[1]) & bits) != 0;
  else return W(word & W(bits)) != 0;
}

// The number of non-zero elements of n contiguous ones.
template <class W>
CATENA_MULTIARCH std::int64_t count_contiguous(const std::byte* p, std::int64_t n, std::uint64_t bits) {
  using Part = std::conditional_t<std::is_integral_v<W>, W, std::uint64_t>;  // as wide as an element, for vectors
  constexpr std::int64_t kPart = 192;                                        // a byte can hold the number of so many
  constexpr auto size = std::int64_t(sizeof(W));
  std::int64_t count = 0, i = 0;
  for (; i + kPart <= n; i += kPart) {
    Part part = 0;
    for (std::int64_t j = 0; j < kPart; ++j) part = Part(part + Part(is_nonzero<W>(p + (i + j) * size, bits)));
    count += std::int64_t(part);
  }
  for (; i < n; ++i) count += is_nonzero<W>(p + i * size, bits);
  return count;
}

// ---- contiguous bytes, as in masks --------------------------------------------------------------
using catena::kMaskBlock;
using catena::kMaskWord;
// A word, and a number per byte. They are vector types because compilers do not vectorise the loop over the bytes.
using Bytes = std::uint8_t __attribute__((vector_size(8)));
using Numbers = std::int64_t __attribute__((vector_size(64)));

// The places of the set bits of every byte, in ascending order, followed by zeros.
struct Places {
  std::uint8_t of[256][kMaskWord];
};
constexpr Places kPlaces = [] {
  Places places{};
  for (unsigned bits = 0; bits < 256; ++bits) {
    int count = 0;
    for (unsigned j = 0; j < kMaskWord; ++j)
      if ((bits >> j & 1) != 0) places.of[bits][count++] = std::uint8_t(j);
  }
  return places;
}();

// Writes from + j for every byte j that is not 0, and returns their number. Skips blocks of zeros, because masks are
// often sparse or have runs. `found` must hold n numbers and one word more.
CATENA_MULTIARCH std::int64_t find_bytes(const std::byte* p, std::int64_t from, std::int64_t n, std::int64_t* found) {
  std::int64_t count = 0, i = 0;
  for (; i + kMaskBlock <= n; i += kMaskBlock) {
    if (!catena::any_in_block(p + i)) continue;
    for (std::int64_t k = 0; k < kMaskBlock; k += kMaskWord) {
      const std::uint64_t word = catena::mask_word(p + i + k);
      if (word == 0) continue;
      const unsigned bits = catena::nonzero_bytes(word);
      const std::int64_t at = from + i + k;
      Bytes places;
      std::memcpy(&places, kPlaces.of[bits], sizeof places);
      const Numbers numbers = __builtin_convertvector(places, Numbers) + at;
      std::memcpy(found + count, &numbers, sizeof numbers);
      count += __builtin_popcount(bits);
    }
  }
  for (; i < n; ++i) {
    found[count] = from + i;
    count += p[i] != std::byte(0);
  }
  return count;
}

template <class W> class Finder {
 public:
  explicit Finder(const BoundOperand& in)
      : in_(in),
        bits_(bits_of_values(in.dtype)),
        rank_(in.shape->size()),
        size_(catena::size_of(*in.shape)),
        length_(rank_ == 0 ? 1 : in.shape->back()),
        step_(rank_ == 0 ? kItem : in.strides->back()) {}

  void count(std::int64_t* counts) const {
    const bool contiguous = catena::is_c_contiguous(*in_.shape, *in_.strides, sizeof(W));
    const std::int64_t blocks = num_blocks();
    std::int64_t* const of_block = counts + 1;
    catena::parallel_for(blocks, 1, [&](std::int64_t b, std::int64_t e) {
      for (; b < e; ++b)
        of_block[b] = contiguous ? count_run(in_.data + begin(b) * kItem, end(b) - begin(b)) : count_runs(b);
    });
    std::int64_t total = 0;
    for (std::int64_t b = 0; b < blocks; ++b) total += std::exchange(of_block[b], total);
    counts[0] = total;
  }

  // Writes the positions, of which there are `total`.
  void write(const std::int64_t* counts, std::int64_t* out, std::int64_t total) const {
    const std::int64_t blocks = num_blocks();
    if (blocks == 1) return write_block(0, out, total);
    catena::parallel_for(blocks, 1, [&](std::int64_t b, std::int64_t e) {
      for (; b < e; ++b) write_block(b, out + counts[1 + b], total);
    });
  }

 private:
  static constexpr auto kItem = std::int64_t(sizeof(W));

  std::int64_t num_blocks() const { return (size_ + kNonzeroBlock - 1) / kNonzeroBlock; }
  std::int64_t begin(std::int64_t block) const { return block * kNonzeroBlock; }
  std::int64_t end(std::int64_t block) const { return std::min(begin(block + 1), size_); }

  // Calls f(first element, its position along the last axis, count, positions along the other axes) for every run of a
  // block along the last axis.
  template <class F> void visit(std::int64_t block, F&& f) const {
    std::int64_t position[catena::kMaxRank];
    std::int64_t run = begin(block) / length_, from = begin(block) % length_;
    for (std::int64_t i = begin(block), n; i < end(block); i += n, ++run, from = 0) {
      const std::byte* p = in_.data + from * step_;
      std::int64_t rest = run;
      for (int a = rank_ - 2; a >= 0; --a) {
        position[a] = rest % (*in_.shape)[a];
        rest /= (*in_.shape)[a];
        p += position[a] * (*in_.strides)[a];
      }
      n = std::min(length_ - from, end(block) - i);
      f(p, from, n, position);
    }
  }

  std::int64_t count_run(const std::byte* p, std::int64_t n) const { return count_contiguous<W>(p, n, bits_); }
  std::int64_t count_runs(std::int64_t block) const {
    std::int64_t count = 0;
    visit(block, [&](const std::byte* p, std::int64_t, std::int64_t n, const std::int64_t*) {
      if (step_ == kItem) count += count_run(p, n);
      else
        for (std::int64_t i = 0; i < n; ++i) count += is_nonzero<W>(p + i * step_, bits_);
    });
    return count;
  }

  void write_block(std::int64_t block, std::int64_t* out, std::int64_t total) const {
    const bool bytes = kItem == 1 && step_ == 1;
    visit(block, [&](const std::byte* p, std::int64_t from, std::int64_t n, const std::int64_t* position) {
      std::int64_t found[kTile + kMaskWord];
      for (std::int64_t i = 0; i < n; i += kTile) {
        const std::int64_t m = std::min(kTile, n - i);
        std::int64_t count = 0;
        if (bytes) {
          count = find_bytes(p + i, from + i, m, found);
        } else {
          for (std::int64_t j = 0; j < m; ++j) {
            found[count] = from + i + j;
            count += is_nonzero<W>(p + (i + j) * step_, bits_);
          }
        }
        for (int a = 0; a < rank_ - 1; ++a) std::fill_n(out + a * total, count, position[a]);
        std::copy_n(found, count, out + (rank_ - 1) * total);
        out += count;
      }
    });
  }

  const BoundOperand& in_;
  const std::uint64_t bits_;
  const int rank_;
  const std::int64_t size_, length_, step_;  // length and step: of the last axis
};

template <class F> void with_finder(const BoundOperand& in, F&& f) {
  catena::visit_word(catena::itemsize(in.dtype), [&](auto word) { f(Finder<typename decltype(word)::type>(in)); });
}

}  // namespace

void run(const catena::bound::CountPieces& call) {
  with_finder(call.in, [&](const auto& finder) { finder.count(reinterpret_cast<std::int64_t*>(call.counts.data)); });
}

void run(const catena::bound::Nonzero& call) {
  const std::int64_t total = (*call.out.shape)[1];
  if (total == 0 || call.in.shape->empty()) return;
  with_finder(call.in, [&](const auto& finder) {
    finder.write(reinterpret_cast<const std::int64_t*>(call.counts.data),
                 reinterpret_cast<std::int64_t*>(call.out.data), total);
  });
}

}  // namespace nd::cpu
