// Linked into a test program: the reference backend is the default backend.
#include <catena/tests/support/reference_backend.h>

namespace {
[[maybe_unused]] const bool installed = (autograd::set_default_backend(&test::reference_backend), true);
}
