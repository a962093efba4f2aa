// Positions of non-zero elements. The array is cut into blocks of whole runs of the last axis; the blocks are counted
// first, and each block then writes behind the positions of the blocks before it.
#include <algorithm>
#include <utility>

#include <catena/kernels/base/parallel.h>
#include <catena/kernels/numeric.h>
#include <catena/ndarray/cpu/cpu_backend.h>
#include <catena/ndarray/cpu/workspace.h>

namespace nd::cpu {
namespace {

using catena::Shape;

constexpr std::int64_t kBlock = 16 * 1024;
constexpr std::int64_t kTile = 1024;

template <class E> bool is_nonzero(const std::byte* p) {
  if constexpr (sizeof(E) == 1) return *p != std::byte(0);  // of a bool too, only the byte is examined
  else return catena::convert<bool>(*reinterpret_cast<const E*>(p));
}

template <class E> class Finder {
 public:
  explicit Finder(const catena::bound::Nonzero& call)
      : call_(call),
        rank_(call.in.shape->size()),
        length_((*call.in.shape)[rank_ - 1]),
        step_((*call.in.strides)[rank_ - 1]) {
    pieces_ = (length_ + kBlock - 1) / kBlock;
    outer_ = *call.in.shape;
    outer_.pop_back();
    runs_ = catena::size_of(outer_);
    runs_per_block_ = std::max<std::int64_t>(1, kBlock / length_);
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
      const std::int64_t from = k % pieces_ * kBlock;
      f(p + from * step_, from, std::min(kBlock, length_ - from), position);
    }
  }

  void write(std::int64_t block, std::int64_t to) const {
    auto* const out = reinterpret_cast<std::int64_t*>(call_.out.data);
    visit(block, [&](const std::byte* p, std::int64_t from, std::int64_t n, const std::int64_t* position) {
      std::int64_t found[kTile];
      for (std::int64_t i = 0; i < n; i += kTile) {
        const std::int64_t m = std::min(kTile, n - i);
        std::int64_t count = 0;
        for (std::int64_t j = 0; j < m; ++j) {
          found[count] = from + i + j;
          count += is_nonzero<E>(p + (i + j) * step_);
        }
        for (int a = 0; a < rank_ - 1; ++a) std::fill_n(out + a * call_.count + to, count, position[a]);
        std::copy_n(found, count, out + (rank_ - 1) * call_.count + to);
        to += count;
      }
    });
  }

  const catena::bound::Nonzero& call_;
  const int rank_;
  const std::int64_t length_, step_;                      // of the last axis
  Shape outer_;                                           // the other axes
  std::int64_t pieces_, runs_, runs_per_block_, blocks_;  // runs longer than kBlock are cut into pieces
};

}  // namespace

void CpuBackend::nonzero(const catena::bound::Nonzero& call, StreamRef) {
  if (call.count == 0 || call.in.shape->empty()) return;
  catena::visit_dtype(call.in.dtype, [&](auto tag) { Finder<typename decltype(tag)::type>(call).run(); });
}

}  // namespace nd::cpu
