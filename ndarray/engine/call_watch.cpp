#include <catena/ndarray/engine/call_watch.h>

#include <utility>

namespace nd::internal {

constinit thread_local CallWatch::Scope* call_watch_scope = nullptr;

CallWatch::~CallWatch() = default;

CallWatch::Scope::Scope(CallWatch& watch) noexcept : watch_(watch), outer_(std::exchange(call_watch_scope, this)) {}
CallWatch::Scope::~Scope() { call_watch_scope = outer_; }

}  // namespace nd::internal
