#include <catena/training/parallel/thread_pool.h>

#include <utility>

#include <catena/kernels/base/error_context.h>
#include <catena/training/parallel/fork_gate.h>

namespace training::internal {

ThreadPool::ThreadPool(int size) : errors_(static_cast<std::size_t>(size)) {
  try {
    for (int k = 0; k < size; ++k) threads_.emplace_back([this, k] { serve(k); });
  } catch (...) {  // the system cannot start more threads
    stop();
    catena::rethrow_standard("a thread of a parallel updater cannot be started");
  }
}

ThreadPool::~ThreadPool() { stop(); }

void ThreadPool::stop() {
  {
    std::unique_lock lock(mutex_);
    end_.wait(lock, [&] { return working_ == 0; });
    stopping_ = true;
  }
  begin_.notify_all();
  for (std::thread& t : threads_) t.join();
  threads_.clear();
}

void ThreadPool::serve(int k) {
  std::uint64_t seen = 0;
  std::unique_lock lock(mutex_);
  for (;;) {
    begin_.wait(lock, [&] { return stopping_ || round_ != seen; });
    if (stopping_) return;
    seen = round_;
    lock.unlock();
    std::exception_ptr error;
    {
      const ForkGate::Work work;
      try {
        task_(k);
      } catch (...) {
        error = std::current_exception();
      }
    }
    lock.lock();
    errors_[static_cast<std::size_t>(k)] = std::move(error);
    if (--working_ == 0) end_.notify_all();
  }
}

void ThreadPool::start(catena::Function<void(int)> task) {
  wait();
  {
    const std::lock_guard lock(mutex_);
    task_ = std::move(task);
    working_ = size();
    ++round_;
  }
  begin_.notify_all();
}

void ThreadPool::wait() {
  std::exception_ptr first;
  {
    std::unique_lock lock(mutex_);
    end_.wait(lock, [&] { return working_ == 0; });
    task_ = {};
    for (std::exception_ptr& e : errors_) {
      if (e && !first) first = std::move(e);
      e = nullptr;
    }
  }
  if (first) std::rethrow_exception(first);
}

}  // namespace training::internal
