#include <catena/ndarray/engine/call_watch.h>

#include <utility>

namespace nd::internal {

CallWatch::~CallWatch() = default;

CallWatch*& thread_call_watch() noexcept {
  static constinit thread_local CallWatch* watch = nullptr;
  return watch;
}

CallWatch::Scope::Scope(CallWatch& watch) noexcept : outer_(std::exchange(thread_call_watch(), &watch)) {}
CallWatch::Scope::~Scope() { thread_call_watch() = outer_; }

}  // namespace nd::internal
