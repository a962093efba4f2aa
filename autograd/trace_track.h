// Ranges that other parts of the library add to the Trace of a thread, also from other threads. Internal to the
// libraries.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <catena/kernels/base/export.h>
#include <catena/kernels/base/pointers.h>

namespace autograd::internal {

struct TraceRange {
  std::string thread;  // the name of its row; empty: that of the thread which is traced
  std::string name;
  std::string_view category;  // outlives the trace
  std::int64_t bytes = -1;    // negative: not stated
  std::string detail = {};
  std::int64_t begin = 0, end = 0;  // nanoseconds of the steady clock
};

// Thread safety: add() and ranges() may be called from any thread, also after the trace has ended.
class CATENA_EXPORT TraceTrack {
 public:
  // That of the trace which records this thread; null if there is none.
  static catena::Shared<TraceTrack> of_this_thread() noexcept;
  // Leaves the range out if there is no memory for it.
  void add(TraceRange range) noexcept;
  std::vector<TraceRange> ranges() const;

  // While it lives, the track is that of this thread.
  class CATENA_EXPORT Scope {
   public:
    explicit Scope(const catena::Shared<TraceTrack>& track) noexcept;
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
  };

 private:
  mutable std::mutex mutex_;
  std::vector<TraceRange> ranges_;
};

// A range from the construction to the end of this object. Nothing if `track` is null.
class CATENA_EXPORT TracedScope {
 public:
  TracedScope(catena::Shared<TraceTrack> track, TraceRange range);
  ~TracedScope();
  TracedScope(const TracedScope&) = delete;
  TracedScope& operator=(const TracedScope&) = delete;

 private:
  catena::Shared<TraceTrack> track_;
  TraceRange range_;
};

}  // namespace autograd::internal
