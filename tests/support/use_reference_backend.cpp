// Linked into a test program: arrays are made by the reference backend unless something else is said.
#include <catena/tests/support/reference_backend.h>

namespace {
[[maybe_unused]] const bool installed = (autograd::set_default_backend(&test::reference_backend), true);
}
