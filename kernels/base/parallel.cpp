#include <catena/kernels/base/parallel.h>

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <climits>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

#include <catena/kernels/base/error.h>
#include <catena/kernels/base/text.h>

namespace catena {
namespace {

thread_local constinit bool inside_parallel = false;

// The OpenMP run time of this process. It is looked up by name, because starting it takes time and few programs have
// one: programs compiled with OpenMP, and programs that have loaded a module.
struct OpenMp {
  int (*in_parallel)() = nullptr;
  int (*get_max_threads)() = nullptr;
  void (*set_num_threads)(int) = nullptr;

  bool find_in(void* library) {
    const auto find = [&](auto& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
      return function != nullptr;
    };
    return find(in_parallel, "omp_in_parallel") && find(get_max_threads, "omp_get_max_threads") &&
           find(set_num_threads, "omp_set_num_threads");
  }
};
// Returns null without OpenMP.
std::atomic<const OpenMp*>& openmp() {
  static OpenMp of_program;
  static std::atomic<const OpenMp*> known = of_program.find_in(RTLD_DEFAULT) ? &of_program : nullptr;
  return known;
}

// True inside a body of parallel_for, or inside a parallel region of the caller's OpenMP.
bool is_inside_parallel() {
  const OpenMp* omp = openmp().load(std::memory_order_acquire);
  return (omp != nullptr && omp->in_parallel() != 0) || inside_parallel;
}

int default_threads() {
  if (const char* text = std::getenv("OMP_NUM_THREADS")) {
    const std::int64_t n = leading_integer(text);
    if (n > 0) return static_cast<int>(std::min<std::int64_t>(n, INT_MAX));
  }
  cpu_set_t cores;
  if (sched_getaffinity(0, sizeof(cores), &cores) == 0) return std::max(1, CPU_COUNT(&cores));
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

std::atomic<int>& thread_limit() {
  static std::atomic<int> limit{default_threads()};
  return limit;
}

// The loops of a training step follow each other within microseconds, while waking a blocked thread takes much longer.
// A waiting thread therefore polls for a while before it blocks, and yields its core between the polls.
template <class Condition> bool looks_until(Condition&& condition) {
  using Clock = std::chrono::steady_clock;
  constexpr auto kPatience = std::chrono::microseconds(200);
  constexpr int kLooks = 16;
  const auto end = Clock::now() + kPatience;
  do {
    for (int i = 0; i < kLooks; ++i) {
      if (condition()) return true;
#ifdef __x86_64__
      __builtin_ia32_pause();
#endif
    }
    std::this_thread::yield();
  } while (Clock::now() < end);
  return false;
}

// One call of parallel_for. Every thread has a fixed share of the ranges, the same in all calls of that size, so that
// data from the previous call is still in its caches. A thread that has finished its share takes ranges from the other
// shares.
class Job {
 public:
  struct alignas(64) Share {
    std::atomic<std::int64_t> next{0};
    std::int64_t end = 0;
  };
  static constexpr int kRangesPerThread = 4;

  Job(std::int64_t n, std::int64_t ranges, int threads, Share* shares, void (*body)(void*, std::int64_t, std::int64_t),
      void* context)
      : length_(n / ranges), longer_(n % ranges), threads_(threads), shares_(shares), body_(body), context_(context) {
    for (int t = 0; t < threads; ++t) {
      shares[t].next.store(ranges * t / threads, std::memory_order_relaxed);
      shares[t].end = ranges * (t + 1) / threads;
    }
  }

  void work(int thread) noexcept {
    for (int i = 0; i < threads_; ++i) {
      Share& share = shares_[(thread + i) % threads_];
      if (share.next.load(std::memory_order_relaxed) >= share.end) continue;
      for (std::int64_t k; (k = share.next.fetch_add(1, std::memory_order_relaxed)) < share.end;) run_range(k);
    }
  }
  // Must be called after all ranges have ended.
  void rethrow() {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  void run_range(std::int64_t k) noexcept {
    const std::int64_t begin = k * length_ + std::min(k, longer_);
    try {
      body_(context_, begin, begin + length_ + (k < longer_ ? 1 : 0));
    } catch (...) {
      if (!failed_.exchange(true)) error_ = std::current_exception();
    }
  }

  std::int64_t length_, longer_;  // a range has n / ranges elements; the first n % ranges ranges have one more
  int threads_;
  Share* shares_;
  void (*body_)(void*, std::int64_t, std::int64_t);
  void* context_;
  std::atomic<bool> failed_{false};
  std::exception_ptr error_;
};

// Serves one caller at a time. Its threads are detached and never joined; between jobs they wait until the process
// ends.
class Pool {
 public:
  // Returns the pool of this process. A child of fork() has none of the parent's threads and creates a new pool.
  static Pool& instance() {
    static const int registered =
        pthread_atfork(nullptr, nullptr, [] { current().store(new (std::nothrow) Pool, std::memory_order_relaxed); });
    (void)registered;
    Pool* pool = current().load(std::memory_order_acquire);
    if (pool == nullptr) [[unlikely]] {  // the child had no memory for it
      auto fresh = std::make_unique<Pool>();
      if (current().compare_exchange_strong(pool, fresh.get(), std::memory_order_acq_rel)) pool = fresh.release();
    }
    return *pool;
  }

  std::mutex& mutex() { return mutex_; }

  // Runs the body on `threads` threads, including the calling one. The caller must hold the mutex.
  void run(std::int64_t n, std::int64_t ranges, int threads, void (*body)(void*, std::int64_t, std::int64_t),
           void* context) {
    start(threads - 1);
    if (shares_.size() < std::size_t(threads)) shares_ = std::vector<Job::Share>(std::size_t(threads));
    Job job(n, ranges, threads, shares_.data(), body, context);
    const std::size_t helpers = std::min(workers_.size(), std::size_t(threads) - 1);
    at_work_.store(static_cast<int>(helpers), std::memory_order_relaxed);
    for (std::size_t w = 0; w < helpers; ++w) workers_[w]->offer(job);
    inside_parallel = true;
    job.work(0);
    inside_parallel = false;
    // The work is done: withdraw the job from workers that have not taken it yet.
    for (std::size_t w = 0; w < helpers; ++w)
      if (workers_[w]->take()) at_work_.fetch_sub(1, std::memory_order_relaxed);
    wait_for_workers();
    job.rethrow();
  }

 private:
  class alignas(64) Worker {
   public:
    void set_thread(pthread_t thread) { thread_ = thread; }
    void begin() {
      begun_.store(true, std::memory_order_release);
      begun_.notify_one();
    }
    void wait_until_begun() { begun_.wait(false, std::memory_order_acquire); }
    void offer(Job& job) {
      offered_.store(&job, std::memory_order_release);
      calls_.fetch_add(1);
      if (asleep_.load()) wake();
    }
    Job* take() { return offered_.exchange(nullptr, std::memory_order_acq_rel); }
    Job& wait_for_job() {
      for (;;) {
        const std::uint32_t seen = calls_.load(std::memory_order_acquire);
        if (Job* job = take()) {
          return_to_all_cores();
          return *job;
        }
        if (looks_until([&] { return offered_.load(std::memory_order_relaxed) != nullptr; })) continue;
        asleep_.store(true);
        calls_.wait(seen);
        asleep_.store(false);
      }
    }

   private:
    // Linux may place a thread on the core of the thread that wakes it, where it waits although another core is idle.
    // Until the thread runs, it is therefore excluded from this core.
    void wake() {
      const int here = sched_getcpu();
      {
        const std::scoped_lock lock(placing_);
        if (!kept_away_.load(std::memory_order_relaxed) &&
            pthread_getaffinity_np(thread_, sizeof(allowed_), &allowed_) != 0)
          CPU_ZERO(&allowed_);
        cpu_set_t others = allowed_;
        if (here >= 0) CPU_CLR(here, &others);
        if (CPU_COUNT(&others) > 0 && !CPU_EQUAL(&others, &allowed_) &&
            pthread_setaffinity_np(thread_, sizeof(others), &others) == 0)
          kept_away_.store(true, std::memory_order_release);
      }
      calls_.notify_one();
    }
    void return_to_all_cores() {
      if (!kept_away_.load(std::memory_order_acquire)) return;
      const std::scoped_lock lock(placing_);
      pthread_setaffinity_np(pthread_self(), sizeof(allowed_), &allowed_);
      kept_away_.store(false, std::memory_order_relaxed);
    }

    std::atomic<Job*> offered_{nullptr};
    std::atomic<std::uint32_t> calls_{0};
    std::atomic<bool> asleep_{false}, kept_away_{false}, begun_{false};
    pthread_t thread_{};
    std::mutex placing_;
    cpu_set_t allowed_;  // cores on which the thread may run, except while it is being woken
  };

  static std::atomic<Pool*>& current() {
    static std::atomic<Pool*> pool{new Pool};
    return pool;
  }

  // Returns after the threads have begun, so that none allocates its first memory while a later caller relies on free
  // addresses (has_space_for_onednn).
  void start(int count) {
    const std::size_t before = workers_.size();
    while (workers_.size() < std::size_t(count) && add_worker()) {}
    for (std::size_t w = before; w < workers_.size(); ++w) workers_[w]->wait_until_begun();
  }

  // False if the system refuses a further thread.
  bool add_worker() {
    const int number = static_cast<int>(workers_.size()) + 1;
    try {
      auto worker = std::make_unique<Worker>();
      workers_.reserve(workers_.size() + 1);
      std::thread thread([this, number, w = worker.get()] { serve(*w, number); });
      worker->set_thread(thread.native_handle());
      thread.detach();
      workers_.push_back(std::move(worker));
      return true;
    } catch (const std::system_error&) {
      return false;
    } catch (const std::bad_alloc&) {
      return false;
    }
  }

  [[noreturn]] void serve(Worker& worker, int number) {
    inside_parallel = true;
    const SingleThreadedLibraries forever;
    ::operator delete(::operator new(1, std::nothrow));  // malloc prepares this thread
    worker.begin();
    for (;;) {
      worker.wait_for_job().work(number);
      // The job is on the stack of the caller and may be destroyed after this decrement.
      if (at_work_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
        finished_.fetch_add(1, std::memory_order_release);
        finished_.notify_all();
      }
    }
  }

  void wait_for_workers() {
    const auto all_done = [&] { return at_work_.load(std::memory_order_acquire) == 0; };
    if (all_done() || looks_until(all_done)) return;
    for (;;) {
      const std::uint32_t seen = finished_.load(std::memory_order_acquire);
      if (all_done()) return;
      finished_.wait(seen, std::memory_order_acquire);
    }
  }

  std::mutex mutex_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<Job::Share> shares_;
  alignas(64) std::atomic<int> at_work_{0};  // workers that hold the job or may still take it
  std::atomic<std::uint32_t> finished_{0};
};

}  // namespace

int max_threads() noexcept { return thread_limit().load(std::memory_order_relaxed); }

int available_threads() noexcept { return is_inside_parallel() ? 1 : max_threads(); }

void set_max_threads(int n) {
  check<ValueError>(n >= 1, "set_max_threads", n, " threads were asked for, at least 1 is needed");
  thread_limit().store(n, std::memory_order_relaxed);
}

SingleThreadedLibraries::SingleThreadedLibraries() noexcept {
  const OpenMp* omp = openmp().load(std::memory_order_acquire);
  if (omp == nullptr) return;
  before_ = omp->get_max_threads();
  if (before_ != 1) omp->set_num_threads(1);
}
SingleThreadedLibraries::~SingleThreadedLibraries() {
  if (before_ != 1) openmp().load(std::memory_order_acquire)->set_num_threads(before_);
}

void internal::use_openmp_of(void* library) {
  if (openmp().load(std::memory_order_acquire) != nullptr) return;
  // Symbols of the whole process precede those of the dependencies of `library`, as they do for the dependencies.
  auto found = std::make_unique<OpenMp>();
  if (!found->find_in(RTLD_DEFAULT) && !found->find_in(library)) return;
  const OpenMp* none = nullptr;
  if (openmp().compare_exchange_strong(none, found.get(), std::memory_order_acq_rel))
    static_cast<void>(found.release());
}

void internal::parallel_for(std::int64_t n, std::int64_t grain, void (*body)(void*, std::int64_t, std::int64_t),
                            void* context) {
  if (n <= 0) return;
  const std::int64_t most = n / std::max<std::int64_t>(grain, 1);
  const std::int64_t threads = std::min<std::int64_t>(max_threads(), most);
  if (threads <= 1 || is_inside_parallel()) return body(context, 0, n);
  Pool& pool = Pool::instance();
  const std::unique_lock lock(pool.mutex(), std::try_to_lock);
  if (!lock) return body(context, 0, n);
  pool.run(n, std::min(most, Job::kRangesPerThread * threads), static_cast<int>(threads), body, context);
}

}  // namespace catena
