// Runs the functions of this folder. Only this file says, by catena.h, that the framework's arrays are ndarray's.
#include <cstdio>
#include <cstdlib>

#include <catena/catena.h>
#include <catena/tests/headers/uses/uses.h>

void require(bool condition, const char* file, int line) {
  if (condition) return;
  std::fprintf(stderr, "%s:%d: does not hold\n", file, line);
  std::exit(1);
}

int main() {
  use_creation();
  use_device();
  use_elementwise_kernel();
  use_fusion();
  use_indexing();
  use_io();
  use_linalg();
  use_math();
  use_memoize();
  use_memory();
  use_random();
  use_raw_kernel();
  use_reduction();
  use_autograd_functions();
  use_classifier();
  use_gradient_check();
  use_linear();
  use_optimizers();
  use_serializers();
  use_trainer();
}
