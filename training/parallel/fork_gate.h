// Prevents fork() while a thread of this folder works with arrays. Internal to this folder.
//
// A child of fork() has one thread and a copy of all locks. A lock that another thread of the parent held at that time
// (of a memory pool, for example) is never released in the child. So threads of this folder work within a Work, and
// fork() is called within a Fork, which waits until no Work is in progress and delays new ones. The threads of
// catena::parallel_for hold no locks between loops, and a child starts its own threads.
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
  // May be used within the thread's own Work, which is suspended meanwhile.
  class Fork {
   public:
    Fork();
    ~Fork();
    Fork(const Fork&) = delete;
    Fork& operator=(const Fork&) = delete;
  };
  // A scope in which the thread waits for other threads of this folder. Its own Work, if any, is suspended: otherwise a
  // fork() would wait for it while the other threads cannot start their work.
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
