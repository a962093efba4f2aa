// Watching the call layer of a thread: which operations it executes and which bytes it copies, for profilers.
#pragma once

#include <cstddef>
#include <string_view>

#include <catena/kernels/base/export.h>
#include <catena/ndarray/device/types.h>

namespace nd::internal {

// While a Scope exists, its watch is called for the calls and copies of the thread that made it; those of several
// scopes are nested. begin_*() and end() stand around the work of the host; work of a GPU may still be queued at end().
// An exception of the watch leaves the call; after an exception of the work, end() is called as well, and its own
// exceptions are dropped. Calls and copies within these functions are not watched.
class CATENA_EXPORT CallWatch {
 public:
  virtual ~CallWatch();
  virtual void begin_call(std::string_view op) = 0;
  virtual void begin_copy(Device to, Device from, std::size_t bytes) = 0;
  virtual void end() = 0;

  class CATENA_EXPORT Scope {
   public:
    explicit Scope(CallWatch& watch) noexcept;
    ~Scope();  // on the thread that made it, before the scopes around it
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    template <class Begin, class Work> friend void watch_work(Scope* scope, const Begin& begin, const Work& work);
    template <class F> void call(const F& f);
    CallWatch& watch_;
    Scope* outer_;
  };
};

// The innermost scope of the thread; null without one. The initial-exec TLS model makes access one instruction in a
// shared library too.
#if defined(__GNUC__) && defined(__linux__)
__attribute__((tls_model("initial-exec")))
#endif
extern constinit thread_local CallWatch::Scope* call_watch_scope;

inline bool is_watched() noexcept { return call_watch_scope != nullptr; }

// Calls a function of the watch, unwatched.
template <class F> void CallWatch::Scope::call(const F& f) {
  struct Unwatched {
    Scope* const before = call_watch_scope;
    Unwatched() { call_watch_scope = nullptr; }
    ~Unwatched() { call_watch_scope = before; }
  } const unwatched;
  f(watch_);
}

// Calls work() between the begin and the end of the watches of this scope and those around it. begin(watch) calls one
// of the functions that begin something.
template <class Begin, class Work> void watch_work(CallWatch::Scope* scope, const Begin& begin, const Work& work) {
  if (scope == nullptr) return work();
  const auto end = [](CallWatch& watch) { watch.end(); };
  scope->call(begin);
  try {
    watch_work(scope->outer_, begin, work);
  } catch (...) {
    try {
      scope->call(end);
    } catch (...) {  // the exception of the work is thrown on
    }
    throw;
  }
  scope->call(end);
}

}  // namespace nd::internal
