// Linked into a test program: ndarray is the default backend.
#include <catena/autograd/ndarray_backend/ndarray_backend.h>

namespace {
[[maybe_unused]] const bool installed = (autograd::set_default_backend(&autograd::ndarray_backend), true);
}
