// Folder tests/support: code shared by tests: the reference backend, golden values, comparisons, fixtures, and the
// software CUDA device in cuda_device. Tests themselves are in the folders that mirror the libraries. This folder may
// use all libraries, but files of the framework do not include ndarray.
//
// A naive implementation of autograd::Backend: the address of every element is computed from its index, results are
// computed separately and stored at the end. It shares the kernel bodies and the conversions with the real backends,
// but no binder and no engine, so it is the oracle for binding, views and graphs. It also proves that the framework
// needs no other array library.
//
// It has the devices cpu:0 to cpu:7 and cuda:0 to cuda:7, all in host memory, and rejects mixing them: device rules can
// be tested without devices.
#pragma once

#include <catena/autograd/backend/backend.h>

namespace test {

autograd::Backend& reference_backend();
// The bytes of all its arrays that exist.
std::int64_t reference_live_bytes() noexcept;

}  // namespace test
