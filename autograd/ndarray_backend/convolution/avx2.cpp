#include <catena/autograd/ndarray_backend/convolution/avx2.h>

#include <catena/kernels/registry/multiarch.h>

namespace autograd::internal {

#ifdef CATENA_HAS_MULTIARCH

namespace {
bool& pretended() {
  static bool yes = false;
  return yes;
}
}  // namespace

bool avx2_is_widest() {
  static const bool has = __builtin_cpu_supports("x86-64-v3"), has_wider = __builtin_cpu_supports("x86-64-v4");
  return has && (!has_wider || pretended());
}
bool pretend_avx2_is_widest(bool yes) {
  pretended() = yes;
  return avx2_is_widest();
}

#else

bool avx2_is_widest() { return false; }
bool pretend_avx2_is_widest(bool) { return false; }

#endif

}  // namespace autograd::internal
