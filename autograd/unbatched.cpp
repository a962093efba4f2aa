#include <catena/autograd/unbatched.h>

#include <catena/autograd/backend/scoped_backend.h>

namespace autograd {

bool internal::within_vmap() noexcept { return scoped_backend() != nullptr; }

Unbatched::Unbatched()
    : scope_(internal::scoped_backend() == nullptr ? nullptr : new internal::ScopedBackend(nullptr)) {}
Unbatched::~Unbatched() = default;

}  // namespace autograd
