// Which cases the software CUDA device runs of a long list: see test::Turns of ndarray_values.h for tests of ndarray.
#pragma once

#include <cstdlib>

namespace test {

// True if the program's CUDA device is the software device of the tests: its kernels are compiled by the system's
// compiler, or interpreted, so tests give it one dtype of each layout where every dtype has the same code around its
// loop. The CPU and a real GPU run all.
inline bool on_software_device() {
  const char* folder = std::getenv("CATENA_CUDA_LIBRARIES");
  return folder != nullptr && *folder != '\0';
}

// True if case number k of a list is to be run: on the software device every nth.
inline bool in_turn(int k, int n) { return k % n == 0 || !on_software_device(); }

}  // namespace test
