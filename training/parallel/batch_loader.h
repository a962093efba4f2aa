// Threads that load batches in the order in which they were requested. Internal to this folder.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include <catena/autograd/random_state.h>
#include <catena/kernels/base/function.h>
#include <catena/training/iterator.h>

namespace training::internal {

// The unit of work of a loading thread: an example, or a batch if the dataset stacks batches.
struct LoadUnit {
  Selection selected;
  bool is_batch = false;
};
// `random` belongs to the thread.
using LoadFunction = catena::Function<Batch(const LoadUnit&, autograd::RandomScope& random)>;

// Loads in the calling thread. Errors name the examples.
Batch load_unit(const Dataset& dataset, const LoadUnit& unit, autograd::RandomScope& random);
Batch joined(std::vector<Batch> units);

// One thread per function; a thread calls its own function only. Thread safety: the members belong to one thread.
class BatchLoader {
 public:
  // `who`: class name of the iterator, for messages.
  BatchLoader(const char* who, std::vector<LoadFunction> functions);
  // Waits for functions in progress, because threads cannot be ended from outside. Warns after some seconds.
  virtual ~BatchLoader();
  BatchLoader(const BatchLoader&) = delete;
  BatchLoader& operator=(const BatchLoader&) = delete;

  void request(std::vector<LoadUnit> units);
  // Returns the batch of the oldest request; waits until it is loaded. Rethrows the error of its first failed unit; no
  // further units are started after a failure.
  Batch take();
  void drop();  // forgets all requests
  // Called by next() on the caller's thread after a batch was taken, for warnings. Nothing by default.
  virtual void after_take() {}

 protected:
  void stop();  // for destructors of derived classes, because the functions use their members

 private:
  struct Request {
    std::vector<LoadUnit> units;
    std::vector<Batch> results;
    std::size_t begun = 0, ended = 0;
    std::size_t failed = SIZE_MAX;  // the first unit that failed
    std::exception_ptr error;
    // Units are started in order, so no unit before the failed one is missing.
    bool is_complete() const { return ended == begun && (error || begun == units.size()); }
  };
  void serve(std::size_t thread);
  std::shared_ptr<Request> unit_to_begin();
  void warn_of_slow_thread() const;

  std::mutex mutex_;
  std::condition_variable work_, done_, idle_;
  std::deque<std::shared_ptr<Request>> requests_;
  bool stopping_ = false;
  const char* who_;
  std::vector<LoadFunction> functions_;
  std::vector<const LoadUnit*> loading_;  // the current unit of each thread; null between units
  std::vector<std::thread> threads_;
};

}  // namespace training::internal
