// Threads for the replicas of a model, one for each. Internal to this folder.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include <catena/kernels/base/function.h>

namespace training::internal {

// Thread safety: the members belong to one thread.
class ThreadPool {
 public:
  explicit ThreadPool(int size);
  ~ThreadPool();  // waits for running tasks
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  int size() const noexcept { return static_cast<int>(threads_.size()); }

  // Starts task(k) in thread k, for every k below size().
  void start(catena::Function<void(int)> task);
  // Waits until all tasks have ended, and rethrows the error of the first thread with an error. Does nothing without
  // start().
  void wait();

 private:
  void serve(int k);
  void stop();
  std::mutex mutex_;
  std::condition_variable begin_, end_;
  std::uint64_t round_ = 0;  // number of calls of start()
  int working_ = 0;
  bool stopping_ = false;
  catena::Function<void(int)> task_;
  std::vector<std::exception_ptr> errors_;
  std::vector<std::thread> threads_;
};

}  // namespace training::internal
