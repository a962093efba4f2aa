// Keeps fork() away from the moments in which a thread of this folder works with arrays. Internal to this folder.
//
// A child of fork() has one thread and a copy of all locks. A lock that another thread of the parent held at that time
// (of a memory pool, say) is never released there. So threads of this folder do their work within a Work, and fork() is
// called within a Fork, which waits until no Work is in progress and holds off new ones. The threads of
// catena::parallel_for hold no locks between loops, and a child makes its own.
#pragma once

namespace training::internal {

struct ForkGate {
  class Work {
   public:
    Work();
    ~Work();
    Work(const Work&) = delete;
    Work& operator=(const Work&) = delete;
  };
  // May be used within the thread's own Work, which is then set aside.
  class Fork {
   public:
    Fork();
    ~Fork();
    Fork(const Fork&) = delete;
    Fork& operator=(const Fork&) = delete;
  };
  // While one lives, the thread waits for other threads of this folder: its own Work, if any, is set aside, for those
  // may not begin theirs before a fork() that waits for this one.
  class Rest {
   public:
    Rest();
    ~Rest();
    Rest(const Rest&) = delete;
    Rest& operator=(const Rest&) = delete;
  };
  static void in_child() noexcept;  // to be called by the child, where no other thread exists
};

}  // namespace training::internal
