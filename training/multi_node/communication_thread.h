// A thread that communicates, one task after the other. Internal to this folder.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>

#include <catena/kernels/base/function.h>

namespace training::internal {

// Thread safety: the members belong to one thread.
class CommunicationThread {
 public:
  CommunicationThread();
  ~CommunicationThread();  // runs the tasks that are left
  CommunicationThread(const CommunicationThread&) = delete;
  CommunicationThread& operator=(const CommunicationThread&) = delete;

  // Returns the number of the task, from 1. After an error, tasks are not run.
  std::uint64_t post(catena::Function<void()> task);
  // Waits for the task with this number. Rethrows the first error of any task so far.
  void wait(std::uint64_t number);

 private:
  void serve();
  std::mutex mutex_;
  std::condition_variable begin_, end_;
  std::deque<catena::Function<void()>> tasks_;
  std::uint64_t posted_ = 0, done_ = 0;
  bool stopping_ = false;
  std::exception_ptr error_;
  std::thread thread_;
};

}  // namespace training::internal
