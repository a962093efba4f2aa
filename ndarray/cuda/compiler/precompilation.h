// Compiles many kernels in advance, on several threads and into one cache: the common part of warm_up() and
// recompile(). Internal to ndarray/cuda/compiler.
#pragma once

#include <algorithm>
#include <atomic>
#include <exception>
#include <functional>
#include <limits>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <catena/kernels/base/error.h>
#include <catena/ndarray/cuda/compiler/kernel_cache.h>
#include <catena/ndarray/cuda/compiler/kernel_store.h>

namespace nd::cuda {

// A cache in one folder, which all users may read, without a limit of size.
inline DiskCache cache_for_all_users(const std::string& folder) {
  return DiskCache(DiskCacheSettings{
      .directory = folder, .limit_bytes = std::numeric_limits<std::uint64_t>::max(), .for_all_users = true});
}

class Precompilation {
 protected:
  Precompilation(std::string_view op, DiskCache& cache, int arch,
                 const std::function<void(const WarmUpProgress&)>& progress)
      : cache_(cache), arch_(arch), op_(op), progress_(progress) {}

  // Calls compile(first, number) for batches of `jobs` jobs, on several threads. After an error of the compiler the
  // other batches are compiled, too.
  template <class F> void compile_in_batches(std::size_t jobs, std::size_t batch, F compile) {
    std::atomic<std::size_t> next{0};
    const auto work = [&] {
      for (std::size_t first; (first = next.fetch_add(batch)) < jobs;) {
        try {
          compile(first, std::min(batch, jobs - first));
        } catch (const catena::CompileError&) {
          keep_error();
        } catch (...) {
          keep_error();
          next = jobs;  // the folder cannot be written, so further results would be lost too
        }
      }
    };
    const std::size_t batches = (jobs + batch - 1) / batch;
    std::vector<std::jthread> threads;
    for (std::size_t k = 1; k < std::min<std::size_t>(std::thread::hardware_concurrency(), batches); ++k)
      threads.emplace_back(work);
    work();
  }

  void write(const std::string& key, const std::string& record) {
    catena::check<catena::RuntimeError>(cache_.store_in_first(key, record), op_, "a record of ", record.size(),
                                        " bytes could not be written to \"", cache_.directory(), "\"");
  }
  // `found`: the kernels were there.
  void report(const std::vector<KernelResources>& kernels, bool found) {
    const std::lock_guard lock(mutex_);
    done_ += kernels.size();
    if (!found) compiled_ += kernels.size();
    if (progress_) progress_({done_, total_, found, kernels});
  }
  // Returns the number of compiled kernels, or throws the first error. Called when all threads have ended.
  std::size_t finish() {
    remember_compiler(cache_);
    if (error_) std::rethrow_exception(error_);
    return compiled_;
  }

  DiskCache& cache_;
  const int arch_;
  std::size_t total_ = 0;  // kernels, set before the first report

 private:
  void keep_error() {
    const std::lock_guard lock(mutex_);
    if (!error_) error_ = std::current_exception();
  }

  const std::string_view op_;
  const std::function<void(const WarmUpProgress&)>& progress_;
  std::mutex mutex_;  // guards all members below
  std::size_t done_ = 0, compiled_ = 0;
  std::exception_ptr error_;
};

}  // namespace nd::cuda
