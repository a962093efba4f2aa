// Row-wise loops over operands that are not all contiguous: these pass through tiles in pieces.
#include <algorithm>

#include <catena/kernels/registry/cast.h>
#include <catena/kernels/registry/kernel.h>
#include <catena/kernels/registry/tuning.h>

namespace catena {
namespace {

static_assert(kTileBytes % (16 * kLanes) == 0);

// Passes the operands of a segment to a loop in pieces. ptr() returns their addresses; the operands there are
// contiguous or have one element per row.
class Pieces {
 public:
  // For `n` elements.
  Pieces(const RowWiseLoop& loop, std::byte* const* ptr, const std::int64_t* stride, std::int64_t n)
      : loop_(loop),
        item_(static_cast<std::int64_t>(itemsize(loop.type))),
        most_(kTileBytes / item_),
        repeated_(std::min(n, most_)),
        copy_(cast_function(loop.type, loop.type)),
        memory_(ptr),
        stride_(stride) {}

  bool inputs_in_place() const { return in_place(0, loop_.nin); }
  bool outputs_in_place() const { return in_place(loop_.nin, loop_.nin + loop_.nout); }
  std::int64_t most() const { return most_; }
  std::byte* const* ptr() const { return ptr_; }

  // Loads elements i .. i + n of the segment. n is at most most(), unless all operands are in place.
  void load(std::int64_t i, std::int64_t n) {
    for (int k = 0; k < loop_.nin; ++k) {
      if (is_in_place(k)) {
        ptr_[k] = memory_[k] + i * stride_[k];
        continue;
      }
      ptr_[k] = tile(k);
      if (stride_[k] != 0) copy_(memory_[k] + i * stride_[k], stride_[k], ptr_[k], item_, n);
      else if (i == 0) copy_(memory_[k], 0, ptr_[k], item_, repeated_);
    }
    place_outputs(i);
  }
  void place_outputs(std::int64_t i) {
    for (int k = loop_.nin; k < loop_.nin + loop_.nout; ++k)
      ptr_[k] = is_in_place(k) ? memory_[k] + i * stride_[k] : tile(k);
  }
  void load_outputs(std::int64_t i, std::int64_t n) {
    place_outputs(i);
    for (int k = loop_.nin; k < loop_.nin + loop_.nout; ++k)
      if (!is_in_place(k)) copy_(memory_[k] + i * stride_[k], stride_[k], ptr_[k], item_, n);
  }
  void store_outputs(std::int64_t i, std::int64_t n) const {
    for (int k = loop_.nin; k < loop_.nin + loop_.nout; ++k)
      if (!is_in_place(k)) copy_(ptr_[k], item_, memory_[k] + i * stride_[k], stride_[k], n);
  }

 private:
  bool is_in_place(int k) const { return ((loop_.per_row >> k) & 1) != 0 || stride_[k] == item_; }
  bool in_place(int begin, int end) const {
    for (int k = begin; k < end; ++k)
      if (!is_in_place(k)) return false;
    return true;
  }
  std::byte* tile(int k) { return tiles_ + k * kTileBytes; }

  const RowWiseLoop& loop_;
  const std::int64_t item_, most_, repeated_;
  const CastFn copy_;
  std::byte* const* const memory_;
  const std::int64_t* const stride_;
  std::byte* ptr_[kMaxOperands];
  alignas(64) std::byte tiles_[kMaxOperands * kTileBytes];
};

bool usual(const RowWiseLoop& loop, const std::int64_t* stride, int begin, int end) {
  const auto item = static_cast<std::int64_t>(itemsize(loop.type));
  for (int k = begin; k < end; ++k)
    if (stride[k] != (((loop.per_row >> k) & 1) != 0 ? 0 : item)) return false;
  return true;
}

using Fold = void (*)(std::byte* stats, std::byte* const* ptr, std::int64_t n);

// The first piece ends at a multiple of kLanes, so that later pieces start with the first lane.
[[gnu::noinline]] void fold_pieces(const RowWiseLoop& loop, Fold fold, bool stores, std::byte* stats,
                                   std::byte* const* ptr, const std::int64_t* stride, std::int64_t n) {
  Pieces pieces(loop, ptr, stride, n);
  const bool in_place = pieces.inputs_in_place() && (!stores || pieces.outputs_in_place());
  for (std::int64_t i = 0, m; i < n; i += m) {
    const std::int64_t at = reinterpret_cast<const RowProgress*>(stats)->position % kLanes;
    m = std::min(n - i, at != 0 ? kLanes - at : in_place ? n : pieces.most());
    pieces.load(i, m);
    fold(stats, pieces.ptr(), m);
    if (stores) pieces.store_outputs(i, m);
  }
}

void fold_segment(const RowWiseLoop& loop, Fold fold, bool stores, std::byte* stats, std::byte* const* ptr,
                  const std::int64_t* stride, std::int64_t n) {
  const bool begins_lanes = reinterpret_cast<const RowProgress*>(stats)->position % kLanes == 0;
  if (begins_lanes && usual(loop, stride, 0, loop.nin + (stores ? loop.nout : 0))) fold(stats, ptr, n);
  else fold_pieces(loop, fold, stores, stats, ptr, stride, n);
}

// Calls f(p, i, m) for pieces: f computes elements i to i + m, which begin at p.
template <class F>
[[gnu::noinline]] void write_pieces(const RowWiseLoop& loop, bool kept, std::byte* const* ptr,
                                    const std::int64_t* stride, std::int64_t n, F&& f) {
  Pieces pieces(loop, ptr, stride, n);
  for (std::int64_t i = 0, m; i < n; i += m) {
    m = std::min(n - i, pieces.most());
    if (kept) pieces.load_outputs(i, m);
    else pieces.load(i, m);
    f(pieces.ptr(), i, m);
    pieces.store_outputs(i, m);
  }
}

}  // namespace

void RowWiseLoop::phase0(std::byte* stats, std::byte* const* ptr, const std::int64_t* stride, std::int64_t n) const {
  fold_segment(*this, fold[0], false, stats, ptr, stride, n);
}
void RowWiseLoop::phase1(std::byte* stats, std::byte* const* ptr, const std::int64_t* stride, std::int64_t n) const {
  fold_segment(*this, fold[1], false, stats, ptr, stride, n);
}
void RowWiseLoop::phase1_kept(std::byte* stats, std::byte* const* ptr, const std::int64_t* stride,
                              std::int64_t n) const {
  fold_segment(*this, fold_kept, true, stats, ptr, stride, n);
}
void RowWiseLoop::write(const std::byte* stats, std::byte* const* ptr, const std::int64_t* stride,
                        std::int64_t n) const {
  if (usual(*this, stride, 0, nin + nout)) store(stats, ptr, n);
  else
    write_pieces(*this, false, ptr, stride, n,
                 [&](std::byte* const* p, std::int64_t, std::int64_t m) { store(stats, p, m); });
}
void RowWiseLoop::write_sums(const std::byte* stats, std::byte* const* ptr, const std::int64_t* stride,
                             std::byte* const* sums, std::int64_t n) const {
  if (usual(*this, stride, 0, nin + nout)) return store_sums(stats, ptr, sums, n);
  const auto item = static_cast<std::int64_t>(itemsize(type));
  write_pieces(*this, false, ptr, stride, n, [&](std::byte* const* p, std::int64_t i, std::int64_t m) {
    std::byte* at[kMaxRowSums];
    for (int k = 0; k < nsums; ++k) at[k] = sums[k] + i * item;
    store_sums(stats, p, at, m);
  });
}
void RowWiseLoop::write_kept(const std::byte* stats, std::byte* const* ptr, const std::int64_t* stride,
                             std::int64_t n) const {
  if (usual(*this, stride, nin, nin + nout)) store_kept(stats, ptr, n);
  else
    write_pieces(*this, true, ptr, stride, n,
                 [&](std::byte* const* p, std::int64_t, std::int64_t m) { store_kept(stats, p, m); });
}

}  // namespace catena
