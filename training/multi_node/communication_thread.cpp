#include <catena/training/multi_node/communication_thread.h>

#include <utility>

#include <catena/kernels/base/error_context.h>
#include <catena/training/parallel/fork_gate.h>

namespace training::internal {

CommunicationThread::CommunicationThread() try : thread_([this] { serve(); }) {
} catch (...) {
  catena::rethrow_standard("the communication thread of a multi-node optimizer cannot be started");
}

CommunicationThread::~CommunicationThread() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  begin_.notify_one();
  thread_.join();
}

std::uint64_t CommunicationThread::post(catena::Function<void()> task) {
  std::uint64_t number;
  {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
    number = ++posted_;
  }
  begin_.notify_one();
  return number;
}

void CommunicationThread::wait(std::uint64_t number) {
  const ForkGate::Rest rest;
  std::unique_lock lock(mutex_);
  end_.wait(lock, [&] { return done_ >= number; });
  if (error_) std::rethrow_exception(error_);
}

void CommunicationThread::serve() {
  std::unique_lock lock(mutex_);
  for (;;) {
    begin_.wait(lock, [&] { return stopping_ || !tasks_.empty(); });
    if (tasks_.empty()) return;
    catena::Function<void()> task = std::move(tasks_.front());
    tasks_.pop_front();
    std::exception_ptr error;
    if (!error_) {
      lock.unlock();
      {
        const ForkGate::Work work;
        try {
          task();
        } catch (...) {
          error = std::current_exception();
        }
        task = {};
      }
      lock.lock();
    }
    if (error) error_ = error;
    ++done_;
    end_.notify_all();
  }
}

}  // namespace training::internal
