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

#include <catena/kernels/base/function.h>
#include <catena/training/iterator.h>

namespace training::internal {

// What one thread loads at once: an example, or a batch that the dataset stacks.
struct LoadUnit {
  std::vector<std::int64_t> indices;
  bool is_batch = false;
  std::uint64_t seed = 0;  // of the random numbers that the dataset draws
};
using LoadFunction = catena::Function<Batch(const LoadUnit&)>;

// Sets the thread's default generator until the end of the scope.
class GeneratorScope {
 public:
  explicit GeneratorScope(std::uint64_t seed) : before_(autograd::default_generator()) {
    autograd::default_generator() = {seed, 0};
  }
  ~GeneratorScope() { autograd::default_generator() = before_; }
  GeneratorScope(const GeneratorScope&) = delete;
  GeneratorScope& operator=(const GeneratorScope&) = delete;

 private:
  autograd::Generator before_;
};

// In the calling thread. An error names the examples.
Batch load_unit(const Dataset& dataset, const LoadUnit& unit);
Batch joined(std::vector<Batch> units);

// One thread per function; a thread calls its own function only. Thread safety: the members belong to one thread.
class BatchLoader {
 public:
  explicit BatchLoader(std::vector<LoadFunction> functions);
  virtual ~BatchLoader();  // waits for what is being loaded
  BatchLoader(const BatchLoader&) = delete;
  BatchLoader& operator=(const BatchLoader&) = delete;

  void request(std::vector<LoadUnit> units);
  // The batch of the oldest request, when it is there. Throws what the first of its units to fail threw; no further
  // units are begun after a failure.
  Batch take();
  void drop();  // forgets all requests
  // What should be told to the caller of next() on its own thread. Nothing by default.
  virtual void after_take() {}

 protected:
  void stop();  // for destructors of derived classes, whose members the functions use

 private:
  struct Request {
    std::vector<LoadUnit> units;
    std::vector<Batch> results;
    std::size_t begun = 0, ended = 0;
    std::size_t failed = SIZE_MAX;  // the first unit that failed
    std::exception_ptr error;
    // Units are begun in order, so none before the one that failed is left out.
    bool is_complete() const { return ended == begun && (error || begun == units.size()); }
  };
  void serve(const LoadFunction& load);
  std::shared_ptr<Request> unit_to_begin();

  std::mutex mutex_;
  std::condition_variable work_, done_;
  std::deque<std::shared_ptr<Request>> requests_;
  bool stopping_ = false;
  std::vector<LoadFunction> functions_;
  std::vector<std::thread> threads_;
};

}  // namespace training::internal
