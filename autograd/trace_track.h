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
  std::string thread;  // the name of its row; empty: the row of the traced thread
  std::string name;
  std::string_view category;  // outlives the trace
  std::int64_t bytes = -1;    // negative: not stated
  std::string detail = {};
  std::int64_t begin = 0, end = 0;  // nanoseconds of the steady clock
};

// Thread safety: add() and ranges() may be called from any thread, also after the trace has ended.
class CATENA_EXPORT TraceTrack {
 public:
  // Returns the track of the trace that records this thread; null if there is none.
  static catena::Shared<TraceTrack> of_this_thread() noexcept;
  // Leaves the range out if there is no memory for it.
  void add(TraceRange range) noexcept;
  std::vector<TraceRange> ranges() const;

  // While an object of this class exists, of_this_thread() returns its track.
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

// Adds a range from its construction to its end to the track. No effect if `track` is null.
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
