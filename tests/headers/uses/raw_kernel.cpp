#include <catena/ndarray/user_kernel/raw_kernel.h>
#include <catena/tests/headers/uses/uses.h>

void use_raw_kernel() {
  const nd::RawKernel kernel("extern \"C\" __global__ void f(float* y) { y[0] = 1; }", "f");
  const nd::RawKernel copy = kernel;
  REQUIRE(copy.name() == "f");
}
