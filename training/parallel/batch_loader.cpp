#include <catena/training/parallel/batch_loader.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include <catena/kernels/base/error.h>
#include <catena/kernels/base/error_context.h>
#include <catena/kernels/base/parallel.h>
#include <catena/kernels/base/warning.h>
#include <catena/training/parallel/fork_gate.h>

namespace training::internal {

Batch load_unit(const DatasetMixin& dataset, const LoadUnit& unit, autograd::RandomScope& random) {
  if (unit.is_batch) return load_batch(dataset, unit.selected);
  const std::vector<std::int64_t>& indices = unit.selected.indices;
  Batch batch;
  try {
    random.begin(unit.selected.keys[0].seed);
    const ExampleKeyScope key(unit.selected.keys[0]);
    batch.examples.push_back(dataset.get_example(indices[0]));
  } catch (...) {
    catena::rethrow_from(place_of(indices, false));
  }
  batch.indices = indices;
  return batch;
}

Batch joined(std::vector<Batch> units) {
  if (units.size() == 1) return std::move(units[0]);
  Batch batch;
  for (Batch& unit : units) {
    for (Example& e : unit.examples) batch.examples.push_back(std::move(e));
    batch.indices.insert(batch.indices.end(), unit.indices.begin(), unit.indices.end());
  }
  return batch;
}

BatchLoader::BatchLoader(const char* who, std::vector<LoadFunction> functions, std::optional<double> timeout)
    : who_(who), functions_(std::move(functions)), timeout_(timeout), loading_(functions_.size()) {
  try {
    for (std::size_t k = 0; k < functions_.size(); ++k) threads_.emplace_back([this, k] { serve(k); });
  } catch (...) {  // the system cannot start more threads
    stop();
    catena::rethrow_standard(catena::concat(who_, ": a thread cannot be started"));
  }
}

BatchLoader::~BatchLoader() { stop(); }

void BatchLoader::stop() {
  constexpr std::chrono::seconds kPatience(5);
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    requests_.clear();
  }
  work_.notify_all();
  const ForkGate::Rest rest;
  {
    std::unique_lock lock(mutex_);
    const auto all_are_idle = [&] {
      return std::none_of(loading_.begin(), loading_.end(), [](const Work& w) { return w.unit != nullptr; });
    };
    if (!idle_.wait_for(lock, kPatience, all_are_idle)) warn_of_slow_thread();
  }
  for (std::thread& t : threads_) t.join();
  threads_.clear();
}

// The caller must hold the mutex. Exceptions are ignored, because this runs in destructors.
void BatchLoader::warn_of_slow_thread() const try {
  const auto slow = std::find_if(loading_.begin(), loading_.end(), [](const Work& w) { return w.unit != nullptr; });
  catena::warn("UserWarning",
               catena::concat(who_, ": waits for a thread that is loading ",
                              place_of(slow->unit->selected.indices, slow->unit->is_batch),
                              "; a thread cannot be ended from outside (MultiprocessIterator ends its processes)"));
} catch (const std::exception&) {}

void BatchLoader::request(std::vector<LoadUnit> units) {
  auto request = std::make_shared<Request>();
  request->results.resize(units.size());
  request->units = std::move(units);
  {
    const std::lock_guard lock(mutex_);
    requests_.push_back(std::move(request));
  }
  work_.notify_all();
}

// Returns null if no unit can be started. The caller must hold the mutex.
std::shared_ptr<BatchLoader::Request> BatchLoader::unit_to_begin() {
  for (const std::shared_ptr<Request>& r : requests_) {
    if (r->error) return nullptr;
    if (r->begun < r->units.size()) return r;
  }
  return nullptr;
}

void BatchLoader::serve(std::size_t thread) {
  const catena::SingleThreadedLibraries alone;
  std::optional<autograd::RandomScope> random;  // made with the first unit: an error of it is one of the request
  std::unique_lock lock(mutex_);
  for (;;) {
    std::shared_ptr<Request> request;
    work_.wait(lock, [&] { return stopping_ || (request = unit_to_begin()) != nullptr; });
    if (stopping_) break;
    const std::size_t k = request->begun++;
    loading_[thread] = {&request->units[k], request.get(), Clock::now()};
    lock.unlock();
    std::exception_ptr error;
    Batch result;
    {  // constructor and destructor of the scope take locks, so they must not run during a fork either
      const ForkGate::Work work;
      try {
        if (!random) random.emplace(0);
        result = functions_[thread](request->units[k], *random);
      } catch (...) {
        error = std::current_exception();
      }
    }
    lock.lock();
    loading_[thread] = {};
    if (stopping_) idle_.notify_all();
    request->results[k] = std::move(result);
    ++request->ended;
    if (error && k < request->failed) {
      request->failed = k;
      request->error = std::move(error);
    }
    const bool complete = request->is_complete();
    lock.unlock();
    if (complete) done_.notify_all();  // not for each example, which would wake take() too early
    {  // may release the last reference and free arrays, so it must not run during a fork
      const ForkGate::Work work;
      request.reset();
    }
    lock.lock();
  }
  lock.unlock();
  const ForkGate::Work work;
  random.reset();
}

bool BatchLoader::exceeds_limit(const Work& work, Clock::time_point now) const {
  return timeout_ && work.unit != nullptr && std::chrono::duration<double>(now - work.since).count() >= *timeout_;
}

// A unit of the request that exceeds the limit, or any unit when all threads are at work on such: no thread is left for
// the request. Null: there is none. The caller holds the mutex.
const BatchLoader::Work* BatchLoader::work_that_holds_up(const Request& request) const {
  const Clock::time_point now = Clock::now();
  bool all = true;
  for (const Work& work : loading_) {
    const bool exceeds = exceeds_limit(work, now);
    if (exceeds && work.request == &request) return &work;
    all = all && exceeds;
  }
  return all ? &loading_[0] : nullptr;
}

bool BatchLoader::is_stuck() {
  const std::lock_guard lock(mutex_);
  const Clock::time_point now = Clock::now();
  return std::any_of(loading_.begin(), loading_.end(), [&](const Work& w) { return exceeds_limit(w, now); });
}

Batch BatchLoader::take() {
  std::shared_ptr<Request> request;
  {
    const ForkGate::Rest rest;
    std::unique_lock lock(mutex_);
    request = requests_.front();
    const auto is_complete = [&] { return request->is_complete(); };
    if (!timeout_) done_.wait(lock, is_complete);
    constexpr std::chrono::milliseconds kStep(50);
    while (timeout_ && !done_.wait_for(lock, kStep, is_complete)) {
      const Work* const work = work_that_holds_up(*request);
      if (work == nullptr) continue;
      requests_.clear();
      catena::fail<catena::RuntimeError>(who_, "worker ", work - loading_.data(), " has been loading ",
                                         place_of(work->unit->selected.indices, work->unit->is_batch),
                                         " for more than ", *timeout_, " s (the option timeout)");
    }
    requests_.pop_front();
  }
  if (request->error) std::rethrow_exception(std::exchange(request->error, nullptr));
  return joined(std::move(request->results));
}

void BatchLoader::drop() {
  const std::lock_guard lock(mutex_);
  requests_.clear();
}

}  // namespace training::internal
