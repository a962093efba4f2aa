#include "kernels/host/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <vector>

#include "kernels/host/error.h"

#ifdef _OPENMP
#include <omp.h>
#else
#include <sched.h>

#include <cstdlib>
#include <thread>
#endif

namespace catena {
namespace {

#ifdef _OPENMP

// omp_get_max_threads honours OMP_NUM_THREADS, cpusets and affinity masks.
int default_threads() { return std::max(1, omp_get_max_threads()); }

#else

int default_threads() {
  if (const char* text = std::getenv("OMP_NUM_THREADS")) {
    const int n = std::atoi(text);
    if (n > 0) return n;
  }
  cpu_set_t cores;
  if (sched_getaffinity(0, sizeof(cores), &cores) == 0) return std::max(1, CPU_COUNT(&cores));
  return std::max(1u, std::thread::hardware_concurrency());
}

thread_local bool inside_parallel = false;

#endif

std::atomic<int>& thread_limit() {
  static std::atomic<int> limit{default_threads()};
  return limit;
}

// One call of parallel_for: `count` ranges of n / count elements, the first n % count of them one longer.
class Job {
 public:
  Job(std::int64_t n, int count, void (*body)(void*, std::int64_t, std::int64_t), void* context)
      : length_(n / count), longer_(n % count), body_(body), context_(context) {}

  void run_range(std::int64_t k) noexcept {
    const std::int64_t begin = k * length_ + std::min(k, longer_);
    try {
      body_(context_, begin, begin + length_ + (k < longer_ ? 1 : 0));
    } catch (...) {
      if (!failed_.exchange(true)) error_ = std::current_exception();
    }
  }
  // After all ranges have ended.
  void rethrow() {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  std::int64_t length_, longer_;
  void (*body_)(void*, std::int64_t, std::int64_t);
  void* context_;
  std::atomic<bool> failed_{false};
  std::exception_ptr error_;
};

bool inside_parallel_region() {
#ifdef _OPENMP
  return omp_in_parallel() != 0;
#else
  return inside_parallel;
#endif
}

void run_on_threads(Job& job, int count) {
#ifdef _OPENMP
  // The team may be smaller than asked for, hence the loop.
#pragma omp parallel num_threads(count)
  for (int k = omp_get_thread_num(); k < count; k += omp_get_num_threads()) job.run_range(k);
#else
  const auto run = [&job](int k) {
    inside_parallel = true;
    job.run_range(k);
    inside_parallel = false;
  };
  std::vector<std::thread> threads;
  threads.reserve(static_cast<std::size_t>(count) - 1);
  int started = 1;
  try {
    for (; started < count; ++started) threads.emplace_back(run, started);
  } catch (const std::system_error&) {
    // The system gives no more threads: the calling thread does the rest.
  }
  run(0);
  for (int k = started; k < count; ++k) run(k);
  for (std::thread& t : threads) t.join();
#endif
}

}  // namespace

int max_threads() noexcept { return thread_limit().load(std::memory_order_relaxed); }

void set_max_threads(int n) {
  check<ValueError>(n >= 1, "set_max_threads", n, " threads were asked for, at least 1 is needed");
  thread_limit().store(n, std::memory_order_relaxed);
#ifdef _OPENMP
  omp_set_num_threads(n);  // so that BLAS and oneDNN, called from this thread, use the same number
#endif
}

void internal::parallel_for(std::int64_t n, std::int64_t grain, void (*body)(void*, std::int64_t, std::int64_t), void* context) {
  if (n <= 0) return;
  const std::int64_t ranges = std::min<std::int64_t>(max_threads(), n / std::max<std::int64_t>(grain, 1));
  if (ranges <= 1 || inside_parallel_region()) return body(context, 0, n);
  const int count = static_cast<int>(ranges);
  Job job(n, count, body, context);
  run_on_threads(job, count);
  job.rethrow();
}

}  // namespace catena
