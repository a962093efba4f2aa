// Finds the positions of non-zero elements. The array is divided into blocks of whole runs of the last axis. First the
// elements of each block are counted; then each block writes its positions behind those of the earlier blocks.
#include <algorithm>
#include <cstring>
#include <utility>

#include <catena/kernels/base/parallel.h>
#include <catena/kernels/numeric.h>
#include <catena/kernels/registry/multiarch.h>
#include <catena/ndarray/cpu/mask_words.h>
#include <catena/ndarray/cpu/run.h>
#include <catena/ndarray/cpu/tuning.h>
#include <catena/ndarray/cpu/workspace.h>

namespace nd::cpu {

CATENA_MULTIARCH std::int64_t count_bytes(const std::byte* p, std::int64_t n) {
  constexpr std::int64_t kPart = 192;  // a byte can hold the sum of that many bools
  std::int64_t count = 0, i = 0;
  for (; i + kPart <= n; i += kPart) {
    std::uint8_t part = 0;
    for (std::int64_t j = 0; j < kPart; ++j) part = std::uint8_t(part + std::uint8_t(p[i + j] != std::byte(0)));
    count += part;
  }
  for (; i < n; ++i) count += p[i] != std::byte(0);
  return count;
}

namespace {

using catena::Shape;

constexpr std::int64_t kTile = 1024;

template <class E> bool is_nonzero(const std::byte* p) {
  if constexpr (sizeof(E) == 1) return *p != std::byte(0);  // a bool is examined as a byte, too
  else return catena::convert<bool>(*reinterpret_cast<const E*>(p));
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
      const unsigned bits = nonzero_bytes(word);
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

template <class E> class Finder {
 public:
  explicit Finder(const catena::bound::Nonzero& call)
      : call_(call),
        rank_(call.in.shape->size()),
        length_((*call.in.shape)[rank_ - 1]),
        step_((*call.in.strides)[rank_ - 1]),
        total_((*call.out.shape)[1]) {
    pieces_ = (length_ + kNonzeroBlock - 1) / kNonzeroBlock;
    outer_ = *call.in.shape;
    outer_.pop_back();
    runs_ = catena::size_of(outer_);
    runs_per_block_ = std::max<std::int64_t>(1, kNonzeroBlock / length_);
    blocks_ = (runs_ * pieces_ + runs_per_block_ - 1) / runs_per_block_;
  }

  void run() const {
    if (blocks_ == 1) return write(0, 0);
    const Workspace memory(std::size_t(blocks_) * sizeof(std::int64_t));
    auto* const first = reinterpret_cast<std::int64_t*>(memory.data());
    catena::parallel_for(blocks_, 1, [&](std::int64_t b, std::int64_t e) {
      for (; b < e; ++b) {
        std::int64_t n = 0;
        visit(b, [&](const std::byte* p, std::int64_t, std::int64_t m, const std::int64_t*) {
          if (has_bytes()) n += count_bytes(p, m);
          else
            for (std::int64_t i = 0; i < m; ++i) n += is_nonzero<E>(p + i * step_);
        });
        first[b] = n;
      }
    });
    std::int64_t total = 0;
    for (std::int64_t b = 0; b < blocks_; ++b) total += std::exchange(first[b], total);
    catena::parallel_for(blocks_, 1, [&](std::int64_t b, std::int64_t e) {
      for (; b < e; ++b) write(b, first[b]);
    });
  }

 private:
  bool has_bytes() const { return sizeof(E) == 1 && step_ == 1; }

  // Calls f(first element, its position along the last axis, count, positions along the other axes) for every run of a
  // block.
  template <class F> void visit(std::int64_t block, F&& f) const {
    std::int64_t position[catena::kMaxRank];
    const std::int64_t end = std::min((block + 1) * runs_per_block_, runs_ * pieces_);
    for (std::int64_t k = block * runs_per_block_; k < end; ++k) {
      const std::byte* p = call_.in.data;
      std::int64_t rest = k / pieces_;
      for (int a = rank_ - 2; a >= 0; --a) {
        position[a] = rest % outer_[a];
        rest /= outer_[a];
        p += position[a] * (*call_.in.strides)[a];
      }
      const std::int64_t from = k % pieces_ * kNonzeroBlock;
      f(p + from * step_, from, std::min(kNonzeroBlock, length_ - from), position);
    }
  }

  void write(std::int64_t block, std::int64_t to) const {
    auto* const out = reinterpret_cast<std::int64_t*>(call_.out.data);
    visit(block, [&](const std::byte* p, std::int64_t from, std::int64_t n, const std::int64_t* position) {
      std::int64_t found[kTile + kMaskWord];
      for (std::int64_t i = 0; i < n; i += kTile) {
        const std::int64_t m = std::min(kTile, n - i);
        std::int64_t count = 0;
        if (has_bytes()) {
          count = find_bytes(p + i, from + i, m, found);
        } else {
          for (std::int64_t j = 0; j < m; ++j) {
            found[count] = from + i + j;
            count += is_nonzero<E>(p + (i + j) * step_);
          }
        }
        for (int a = 0; a < rank_ - 1; ++a) std::fill_n(out + a * total_ + to, count, position[a]);
        std::copy_n(found, count, out + (rank_ - 1) * total_ + to);
        to += count;
      }
    });
  }

  const catena::bound::Nonzero& call_;
  const int rank_;
  const std::int64_t length_, step_;                      // of the last axis
  const std::int64_t total_;                              // number of nonzero elements
  Shape outer_;                                           // the other axes
  std::int64_t pieces_, runs_, runs_per_block_, blocks_;  // runs longer than kNonzeroBlock are cut into pieces
};

}  // namespace

void run(const catena::bound::Nonzero& call) {
  if ((*call.out.shape)[1] == 0 || call.in.shape->empty()) return;
  catena::visit_dtype(call.in.dtype, [&](auto tag) { Finder<typename decltype(tag)::type>(call).run(); });
}

}  // namespace nd::cpu
