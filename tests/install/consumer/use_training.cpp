// The training loop's parts without a backend: an exception thrown inside the library is caught here.
#include <cstdio>

#include <catena/kernels/base/error.h>
#include <catena/training/trigger.h>

int main() {
  try {
    static_cast<void>(training::IntervalTrigger(-1, training::epoch));
    return 1;
  } catch (const catena::ValueError& error) {
    std::printf("caught: %s\n", error.what());
  }
  return 0;
}
