// Multithreading of both libraries: a pool of threads, which the first loop that needs it starts. Libraries with their
// own threads (oneDNN, OpenBLAS) run single-threaded inside it, see SingleThreadedLibraries.
#pragma once

#include <cstdint>
#include <type_traits>

#include <catena/kernels/base/export.h>

namespace catena {

// Returns the maximal number of threads of parallel_for: OMP_NUM_THREADS, or else the number of cores on which this
// process may run.
CATENA_EXPORT int max_threads() noexcept;
CATENA_EXPORT void set_max_threads(int n);
// Returns max_threads(), or 1 if parallel_for would run on the calling thread alone: the number of parts into which
// work should be divided.
CATENA_EXPORT int available_threads() noexcept;

namespace internal {
CATENA_EXPORT void parallel_for(std::int64_t n, std::int64_t grain, void (*body)(void*, std::int64_t, std::int64_t),
                                void* context);
// Makes the OpenMP of a library that dlopen() has opened known to SingleThreadedLibraries, if this process has no other
// OpenMP.
CATENA_EXPORT void use_openmp_of(void* library);
}  // namespace internal

// Calls body(begin, end) on disjoint ranges that cover [0, n). Each range has at least `grain` elements, except the
// last one. Runs on the calling thread alone if n <= grain, inside another parallel_for or an OpenMP parallel region,
// or while another thread uses the pool. The first exception thrown by a body is rethrown here.
template <class F> void parallel_for(std::int64_t n, std::int64_t grain, F&& body) {
  if (n <= grain) {
    if (n > 0) body(std::int64_t(0), n);
    return;
  }
  using Body = std::remove_reference_t<F>;
  internal::parallel_for(
      n, grain, [](void* f, std::int64_t b, std::int64_t e) { (*static_cast<Body*>(f))(b, e); },
      const_cast<void*>(static_cast<const void*>(&body)));
}

// While an object of this class exists, libraries that parallelise with OpenMP use only the calling thread, if they
// were loaded before. The threads of such a library would either block between two calls, which costs as much as a
// small matrix product, or busy-wait on the cores that parallel_for needs next.
class CATENA_EXPORT SingleThreadedLibraries {
 public:
  SingleThreadedLibraries() noexcept;
  ~SingleThreadedLibraries();
  SingleThreadedLibraries(const SingleThreadedLibraries&) = delete;
  SingleThreadedLibraries& operator=(const SingleThreadedLibraries&) = delete;

 private:
  int before_ = 1;
};

}  // namespace catena
