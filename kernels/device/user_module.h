// Runs complete CUDA texts on the CPU: texts of RawKernel and RawModule whose kernels need no barrier. The backend
// appends a registration to the body of every kernel; the shared object compiled from the text then lists its kernels
// in catena_user_kernels.
#pragma once

#include <catena/kernels/device/user_host.h>
#include <catena/kernels/device/user_registry.h>

#if defined(CATENA_USER_HOST)

namespace catena::user {

struct Place {
  uint3 thread, block;
  dim3 block_dim, grid_dim;
};
static thread_local Place place;

template <int... K> struct Positions {};
template <int N, int... K> struct MakePositions { using type = typename MakePositions<N - 1, N - 1, K...>::type; };
template <int... K> struct MakePositions<0, K...> { using type = Positions<K...>; };

template <auto F, class... A, int... K> inline void run_block(void* const* parameters, Positions<K...>) {
  const dim3 size = place.block_dim;
  for (unsigned z = 0; z < size.z; ++z)
    for (unsigned y = 0; y < size.y; ++y)
      for (unsigned x = 0; x < size.x; ++x) {
        place.thread = {x, y, z};
        F(*static_cast<const A*>(parameters[K])...);
      }
}
template <auto F, class... A>
void run(void* const* parameters, const unsigned* grid, const unsigned* block, long begin, long end) {
  place.grid_dim = dim3(grid[0], grid[1], grid[2]);
  place.block_dim = dim3(block[0], block[1], block[2]);
  for (long b = begin; b < end; ++b) {
    const long row = b / grid[0];
    place.block = {unsigned(b % grid[0]), unsigned(row % grid[1]), unsigned(row / grid[1])};
    run_block<F, A...>(parameters, typename MakePositions<int(sizeof...(A))>::type{});
  }
}

template <class... A> struct Sizes {
  static constexpr unsigned long of[sizeof...(A) + 1] = {sizeof(A)...};
};
}  // namespace catena::user

extern "C" {
__attribute__((visibility("default"))) catena::user::HostKernel* catena_user_kernels = nullptr;
}

namespace catena::user {

template <auto F> struct Registered;
template <class... A, void (*F)(A...)> struct Registered<F> : HostKernel {
  explicit Registered(const char* of)
      : HostKernel{of, &catena::user::run<F, A...>, Sizes<A...>::of, int(sizeof...(A)), catena_user_kernels} {
    catena_user_kernels = this;
  }
};

}  // namespace catena::user

#define threadIdx (catena::user::place.thread)
#define blockIdx (catena::user::place.block)
#define blockDim (catena::user::place.block_dim)
#define gridDim (catena::user::place.grid_dim)
static const int warpSize = 32;

#endif
