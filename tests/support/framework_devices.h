// The devices of the backend of a framework test. The reference backend has several devices of both kinds on any
// machine; ndarray has the CPU, and CUDA if there is a driver or the software device.
#pragma once

#include <boost/test/unit_test.hpp>
#include <iostream>
#include <optional>
#include <string>

#include <catena/autograd/array.h>
#include <catena/autograd/array_backend.h>

namespace test {

inline const autograd::Device kCpu{}, kCuda{autograd::Device::Kind::cuda, 0};

inline autograd::Device default_device() { return autograd::default_backend().default_device(); }

// True for the message of the error that CUDA is used without a driver.
inline bool says_that_cuda_is_unavailable(const std::string& message) {
  return message.starts_with("CUDA is unavailable: ");
}

// Returns false without CUDA, after printing ndarray's error to standard output. Any other failure is a test error.
inline bool has_cuda() {
  try {
    autograd::arrays::zeros({1}, autograd::Dtype::float32, kCuda);
    return true;
  } catch (const catena::RuntimeError& e) {
    BOOST_TEST(autograd::default_backend().name() == "ndarray");
    BOOST_TEST(says_that_cuda_is_unavailable(e.what()), e.what());
    std::cout << "there is one device: " << e.what() << "\n";
    return false;
  }
}

// Returns a device other than the default one; nothing if there is none.
inline std::optional<autograd::Device> other_device() {
  if (!has_cuda()) return std::nullopt;
  return default_device() == kCpu ? kCuda : kCpu;
}

}  // namespace test
