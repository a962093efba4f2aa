// Arrays for all examples, within a function that vmap computes for all examples at once.
#pragma once

#include <catena/kernels/base/export.h>
#include <catena/kernels/base/pointers.h>

namespace autograd {

namespace internal {
class ScopedBackend;
// True within a function that vmap computes for all examples at once: values of arrays may differ between the examples,
// and those cannot be read.
CATENA_EXPORT bool within_vmap() noexcept;
}  // namespace internal

// While an object of this class exists, the thread computes as if it were not within vmap: the arrays that it makes are
// the same for all examples and stay valid after the call, as the values of a parameter must. Arrays of single examples
// cannot be used (RuntimeError).
class CATENA_EXPORT Unbatched {
 public:
  Unbatched();
  ~Unbatched();
  Unbatched(const Unbatched&) = delete;
  Unbatched& operator=(const Unbatched&) = delete;

 private:
  catena::Owned<internal::ScopedBackend> scope_;  // null outside of vmap
};

}  // namespace autograd
