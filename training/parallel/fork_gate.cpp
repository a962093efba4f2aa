#include <catena/training/parallel/fork_gate.h>

#include <condition_variable>
#include <mutex>

namespace training::internal {
namespace {

struct State {
  std::mutex mutex;
  std::condition_variable changed;
  int working = 0;  // number of threads within a Work
  bool forking = false;
};
State* shared = nullptr;  // never destroyed, because threads may end after static destructors
State& state() {
  static const bool made = (shared = new State, true);
  static_cast<void>(made);
  return *shared;
}
thread_local int depth = 0;  // nesting of Work in this thread

void enter() {
  State& s = state();
  std::unique_lock lock(s.mutex);
  s.changed.wait(lock, [&] { return !s.forking; });
  ++s.working;
}
void leave() {
  State& s = state();
  {
    const std::lock_guard lock(s.mutex);
    --s.working;
  }
  s.changed.notify_all();
}

}  // namespace

ForkGate::Work::Work() {
  if (depth++ == 0) enter();
}
ForkGate::Work::~Work() {
  if (--depth == 0) leave();
}

ForkGate::Rest::Rest() {
  if (depth > 0) leave();
}
ForkGate::Rest::~Rest() {
  if (depth > 0) enter();
}

ForkGate::Fork::Fork() {
  State& s = state();
  std::unique_lock lock(s.mutex);
  if (depth > 0) {
    --s.working;
    s.changed.notify_all();
  }
  s.changed.wait(lock, [&] { return !s.forking; });
  s.forking = true;
  s.changed.wait(lock, [&] { return s.working == 0; });
}

ForkGate::Fork::~Fork() {
  State& s = state();
  {
    const std::lock_guard lock(s.mutex);
    s.forking = false;
    if (depth > 0) ++s.working;
  }
  s.changed.notify_all();
}

void ForkGate::in_child() noexcept {
  shared = new State;  // the parent's state may have waiting threads
  depth = 0;
}

}  // namespace training::internal
