// Threads that load batches in the order in which they were requested. Internal to this folder.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
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
Batch load_unit(const DatasetMixin& dataset, const LoadUnit& unit, autograd::RandomScope& random);
Batch joined(std::vector<Batch> units);

// One thread per function; a thread calls its own function only. Thread safety: the members belong to one thread.
class BatchLoader {
 public:
  // `who`: the class of the iterator, for messages. `timeout`: seconds that a function may take for one unit; empty: as
  // long as it takes.
  BatchLoader(const char* who, std::vector<LoadFunction> functions, std::optional<double> timeout);
  // Waits for the functions that are at work, for threads cannot be ended from outside. Warns after some seconds.
  virtual ~BatchLoader();
  BatchLoader(const BatchLoader&) = delete;
  BatchLoader& operator=(const BatchLoader&) = delete;

  void request(std::vector<LoadUnit> units);
  // The batch of the oldest request, when it is there. Throws what the first of its units to fail threw; no further
  // units are begun after a failure. RuntimeError, with the worker and the examples, when a function on which the batch
  // depends exceeds the limit; its request is then forgotten.
  Batch take();
  void drop();  // forgets all requests
  // Called by next() on the caller's thread after a batch was taken, for warnings. Nothing by default.
  virtual void after_take() {}
  // Whether the destructor would wait for a function that has exceeded the limit.
  virtual bool is_stuck();

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
  using Clock = std::chrono::steady_clock;
  // The unit that a thread works on; none between two units.
  struct Work {
    const LoadUnit* unit = nullptr;
    const Request* request = nullptr;
    Clock::time_point since;
  };
  void serve(std::size_t thread);
  std::shared_ptr<Request> unit_to_begin();
  bool exceeds_limit(const Work& work, Clock::time_point now) const;
  const Work* work_that_holds_up(const Request& request) const;
  void warn_of_slow_thread() const;

  std::mutex mutex_;
  std::condition_variable work_, done_, idle_;
  std::deque<std::shared_ptr<Request>> requests_;
  bool stopping_ = false;
  const char* who_;
  std::vector<LoadFunction> functions_;
  std::optional<double> timeout_;
  std::vector<Work> loading_;  // of each thread
  std::vector<std::thread> threads_;
};

}  // namespace training::internal
