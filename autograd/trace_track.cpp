#include <catena/autograd/trace_track.h>

#include <exception>
#include <utility>

#include <catena/kernels/base/clock.h>

namespace autograd::internal {

using catena::Shared;

namespace {

thread_local const Shared<TraceTrack>* of_thread = nullptr;

}  // namespace

Shared<TraceTrack> TraceTrack::of_this_thread() noexcept {
  return of_thread == nullptr ? Shared<TraceTrack>() : *of_thread;
}

TraceTrack::Scope::Scope(const Shared<TraceTrack>& track) noexcept { of_thread = &track; }
TraceTrack::Scope::~Scope() { of_thread = nullptr; }

void TraceTrack::add(TraceRange range) noexcept try {
  const std::lock_guard lock(mutex_);
  ranges_.push_back(std::move(range));
} catch (const std::exception&) {}

std::vector<TraceRange> TraceTrack::ranges() const {
  const std::lock_guard lock(mutex_);
  return ranges_;
}

TracedScope::TracedScope(Shared<TraceTrack> track, TraceRange range)
    : track_(std::move(track)), range_(std::move(range)) {
  if (track_) range_.begin = catena::internal::steady_nanoseconds();
}

TracedScope::~TracedScope() {
  if (!track_) return;
  range_.end = catena::internal::steady_nanoseconds();
  track_->add(std::move(range_));
}

}  // namespace autograd::internal
