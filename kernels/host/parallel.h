// The one way to use several cores. OpenMP, so that oneDNN and OpenBLAS share the same threads; std::thread under the thread
// sanitizer, which does not understand OpenMP's barriers.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/host/export.h"

namespace catena {

// Threads that parallel_for may use; OMP_NUM_THREADS, else the number of cores this process may run on.
CATENA_EXPORT int max_threads() noexcept;
CATENA_EXPORT void set_max_threads(int n);

namespace internal {
CATENA_EXPORT void parallel_for(std::int64_t n, std::int64_t grain, void (*body)(void*, std::int64_t, std::int64_t), void* context);
}

// Calls body(begin, end) on disjoint ranges that cover 0..n, each at least `grain` long (but the last); on the calling thread
// alone when n <= grain or inside another parallel_for. An exception thrown by a body is rethrown here (the first one).
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

}  // namespace catena
