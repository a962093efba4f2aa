#include <catena/tests/support/cuda_device/ptx/shadow.h>

namespace cuda_device::ptx {

void Shadow::begin_block(std::size_t bytes) {
  if (cells_.size() < bytes) cells_.resize(bytes);
  block_begin_ = ++epoch_;
}

bool Shadow::unordered(const Mark& mark, unsigned thread, std::uint32_t moment) const {
  if (mark.epoch != epoch_) return false;
  if (mark.thread / 32 != thread / 32) return true;
  return mark.thread != thread && mark.moment == moment;
}

Shadow::Finding Shadow::note(std::size_t first, std::size_t bytes, Access access, unsigned thread, std::uint32_t moment,
                             std::int32_t line) {
  for (std::size_t k = first; k < first + bytes; ++k) {
    Cell& cell = cells_[k];
    Mark& w = cell.written;
    Mark& r = cell.read;
    const bool atomic = access == Access::atomic;
    if (access != Access::write && w.epoch < block_begin_) return {Finding::Kind::uninitialised, 0, 0, Access::write};
    if (unordered(w, thread, moment) && !(atomic && w.atomic))
      return {Finding::Kind::race, w.thread, w.line, w.atomic ? Access::atomic : Access::write};
    if (access != Access::read) {
      const bool others = r.epoch == epoch_ && (r.warps || (r.lanes && r.moment == moment));
      if (others || unordered(r, thread, moment)) return {Finding::Kind::race, r.thread, r.line, Access::read};
      w = {epoch_, moment, line, static_cast<std::uint16_t>(thread), atomic, false, false};
      continue;
    }
    const bool same_epoch = r.epoch == epoch_;
    const bool warps = same_epoch && (r.warps || r.thread / 32 != thread / 32);
    const bool lanes = same_epoch && r.moment == moment && (r.lanes || r.thread != thread);
    r = {epoch_, moment, line, static_cast<std::uint16_t>(thread), false, lanes, warps};
  }
  return {};
}

}  // namespace cuda_device::ptx
