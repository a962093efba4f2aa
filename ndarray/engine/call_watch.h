// Watching the call layer of a thread: which operations it executes and which bytes it copies, for profilers.
#pragma once

#include <cstddef>
#include <string_view>

#include <catena/kernels/base/export.h>
#include <catena/ndarray/device/types.h>

namespace nd::internal {

// While a Scope exists, its watcher hears of the calls and copies of the thread that made it. begin() and end() stand
// around the work of the host; work of a GPU may still be queued at end(), which is called after an exception, too.
class CATENA_EXPORT CallWatch {
 public:
  virtual ~CallWatch();
  virtual void begin_call(std::string_view op) = 0;
  virtual void begin_copy(Device to, Device from, std::size_t bytes) = 0;
  virtual void end() = 0;

  class CATENA_EXPORT Scope {
   public:
    explicit Scope(CallWatch& watch) noexcept;
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    CallWatch* outer_;
  };
};

// The watcher of the thread; null without one.
CallWatch*& thread_call_watch() noexcept;

// Reports the work of the scope to the watcher of the thread, if there is one: begin(watch) calls one of
// the functions that begin something.
class WatchedCall {
 public:
  template <class Begin> explicit WatchedCall(const Begin& begin) : watch_(thread_call_watch()) {
    if (watch_ != nullptr) [[unlikely]]
      begin(*watch_);
  }
  ~WatchedCall() {
    if (watch_ != nullptr) [[unlikely]]
      watch_->end();
  }
  WatchedCall(const WatchedCall&) = delete;
  WatchedCall& operator=(const WatchedCall&) = delete;

 private:
  CallWatch* watch_;
};

}  // namespace nd::internal
