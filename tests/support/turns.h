// Which cases of a long list a test of the framework runs on the software CUDA device. Tests of ndarray have Turns of
// ndarray_values.h.
#pragma once

#include <catena/tests/support/cuda_device/control.h>

namespace test {

// True on the software device: its kernels are compiled by the system's compiler, or interpreted, so tests give it one
// dtype of each layout where every dtype has the same code around its loop. The CPU and a real GPU run all.
inline bool on_software_device() { return cuda_device::Control::available(); }

// True if case number k of a list is to be run: on the software device every nth.
inline bool in_turn(int k, int n) { return k % n == 0 || !on_software_device(); }

}  // namespace test
