// Folder tests/support: code shared by tests: the reference backend, golden values, comparisons, fixtures, and the
// software CUDA device in cuda_device. Tests themselves are in the folders that mirror the libraries. This folder may
// use all libraries, but files of the framework do not include ndarray.
//
// A naive implementation of autograd::Backend: the address of every element is computed from its index; results are
// computed separately and stored at the end. It shares the kernel bodies and the conversions with the real backends,
// but not the binder and the engine, so tests of binding, views and graphs can compare with it. It also shows that the
// framework needs no other array library.
//
// It has the devices cpu:0 to cpu:7 and cuda:0 to cuda:7, all in host memory, and rejects mixing them, so that device
// rules can be tested without devices.
#pragma once

#include <catena/autograd/backend/backend.h>

namespace test {

autograd::Backend& reference_backend();
// Returns the bytes of all existing arrays of this backend.
std::int64_t reference_live_bytes() noexcept;

}  // namespace test
