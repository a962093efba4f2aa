#include <catena/kernels/registry/kernel.h>
#include <catena/ndarray/user_kernel/elementwise_kernel.h>
#include <catena/tests/headers/uses/uses.h>

void use_elementwise_kernel() {
  const nd::ElementwiseKernel kernel("T x", "T y", "y = x * x", "square_of_header_test");
  REQUIRE(kernel.nin() == 1 && kernel.name() == "square_of_header_test");
}
