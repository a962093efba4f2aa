#include <catena/tests/support/cuda_device/ptx/shadow.h>

#include <algorithm>

namespace cuda_device::ptx {

void Shadow::begin_block(std::size_t bytes) {
  const std::size_t words = (bytes + kWord - 1) / kWord;
  if (split_.size() < words) {
    split_.resize(words);
    cells_.resize(words * kWord);
  }
  block_begin_ = ++epoch_;
}

void Shadow::split(std::size_t at) {
  if (is_split(at)) return;
  split_[at / kWord] = block_begin_;
  const std::size_t first = at / kWord * kWord;
  std::fill_n(cells_.begin() + std::ptrdiff_t(first) + 1, kWord - 1, Cell(cells_[first]));
}

bool Shadow::unordered(const Mark& mark, unsigned thread, std::uint32_t moment) const {
  if (mark.epoch != epoch_) return false;
  if (mark.thread / 32 != thread / 32) return true;
  return mark.thread != thread && mark.moment == moment;
}

Shadow::Finding Shadow::note(std::size_t first, std::size_t bytes, Access access, unsigned thread, std::uint32_t moment,
                             std::int32_t line) {
  bool undefined_bits = false;
  const bool whole = first % kWord == 0 && bytes % kWord == 0;
  for (std::size_t k = first, step = 0; k < first + bytes; k += step) {
    if (!whole) split(k);
    step = is_split(k) ? 1 : kWord;
    Cell& cell = cells_[k];
    Mark& w = cell.written;
    Mark& r = cell.read;
    const bool atomic = access == Access::atomic;
    if (access != Access::write) undefined_bits |= undefined(k) != 0;
    if (unordered(w, thread, moment) && !(atomic && w.atomic))
      return {true, w.thread, w.line, w.atomic ? Access::atomic : Access::write, false};
    if (access != Access::read) {
      const bool others = r.epoch == epoch_ && (r.warps || (r.lanes && r.moment == moment));
      if (others || unordered(r, thread, moment)) return {true, r.thread, r.line, Access::read, false};
      w = {epoch_, moment, line, static_cast<std::uint16_t>(thread), atomic, false, false};
      cell.undefined = 0;
      continue;
    }
    const bool same_epoch = r.epoch == epoch_;
    const bool warps = same_epoch && (r.warps || r.thread / 32 != thread / 32);
    const bool lanes = same_epoch && r.moment == moment && (r.lanes || r.thread != thread);
    r = {epoch_, moment, line, static_cast<std::uint16_t>(thread), false, lanes, warps};
  }
  return {false, 0, 0, Access::read, undefined_bits};
}

bool Shadow::written_near(std::size_t at) const {
  const std::size_t begin = at / 16 * 16, end = std::min(begin + 16, cells_.size());
  for (std::size_t k = begin; k < end; ++k)
    if (cell_of(k).written.epoch >= block_begin_) return true;
  return false;
}

}  // namespace cuda_device::ptx
