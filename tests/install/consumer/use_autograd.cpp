// The framework's arrays without a backend: an exception thrown inside the library is caught here.
#include <cstdio>

#include <catena/autograd/array.h>
#include <catena/kernels/base/error.h>

int main() {
  try {
    static_cast<void>(autograd::concatenate({}));
    return 1;
  } catch (const catena::ValueError& error) {
    std::printf("caught: %s\n", error.what());
  }
  return 0;
}
