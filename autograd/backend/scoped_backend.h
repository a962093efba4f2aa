// A backend that takes the place of all others on one thread (autograd/batching).
#pragma once

#include <catena/autograd/backend/array.h>
#include <catena/autograd/backend/backend.h>

namespace autograd::internal {

// Until the end of the scope, Array::backend() and default_backend() of this thread return `backend`, and arrays of
// different libraries may be operands of one call. Null ends the effect of an outer scope. Scopes may be nested.
class CATENA_EXPORT ScopedBackend {
 public:
  explicit ScopedBackend(Backend* backend) noexcept;
  ~ScopedBackend();
  ScopedBackend(const ScopedBackend&) = delete;
  ScopedBackend& operator=(const ScopedBackend&) = delete;

 private:
  Backend* const before_;
};

// Returns the backend of the innermost scope of this thread; null without one.
CATENA_EXPORT Backend* scoped_backend() noexcept;

}  // namespace autograd::internal
