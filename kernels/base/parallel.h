// The one way to use several cores: a pool of threads that the first loop which needs them starts. Libraries that would
// bring threads of their own (oneDNN, OpenBLAS) run on one thread each inside of it, see SingleThreadedLibraries.
#pragma once

#include <cstdint>
#include <type_traits>

#include <catena/kernels/base/export.h>

namespace catena {

// Threads that parallel_for may use; OMP_NUM_THREADS, else the number of cores this process may run on.
CATENA_EXPORT int max_threads() noexcept;
CATENA_EXPORT void set_max_threads(int n);

namespace internal {
CATENA_EXPORT void parallel_for(std::int64_t n, std::int64_t grain, void (*body)(void*, std::int64_t, std::int64_t),
                                void* context);
}

// Calls body(begin, end) on disjoint ranges that cover 0..n, each at least `grain` long (but the last); on the calling
// thread alone when n <= grain, inside another parallel_for or a parallel region of OpenMP, or while another thread has
// the pool. An exception thrown by a body is rethrown here (the first one).
template <class F>
void parallel_for(std::int64_t n, std::int64_t grain, F&& body) {
  if (n <= grain) {
    if (n > 0) body(std::int64_t(0), n);
    return;
  }
  using Body = std::remove_reference_t<F>;
  internal::parallel_for(
      n, grain, [](void* f, std::int64_t b, std::int64_t e) { (*static_cast<Body*>(f))(b, e); },
      const_cast<void*>(static_cast<const void*>(&body)));
}

// While it lives, libraries that parallelise with OpenMP use the calling thread alone. Their own teams would either
// sleep between two calls, which costs as much as a small product, or keep the cores busy that parallel_for needs next.
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
