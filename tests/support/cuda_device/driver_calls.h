// For tests that call the driver directly: a fixture with a ready device, and macros for calls that must succeed.
#pragma once

#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

#include <catena/ndarray/cuda/compiler/compiler.h>
#include <catena/ndarray/cuda/runtime/library.h>
#include <catena/tests/support/cuda_device/control.h>

namespace cuda_device {

using namespace nd::cuda::api;

// CU(stream_synchronize, stream): the call must succeed. STATUS(...): the status it returns.
#define STATUS(field, ...) nd::cuda::driver().field(__VA_ARGS__)
#define CU(field, ...) BOOST_REQUIRE_EQUAL(STATUS(field, __VA_ARGS__), nd::cuda::api::cu_success)

// Every test case begins on device 0 without planned failures and records, and must leave no work queued.
struct OnDevice {
  Control control;
  cu_context context[2] = {};

  OnDevice() {
    for (int d = 1; d >= 0; --d) {
      CU(primary_context_retain, &context[d], d);
      CU(context_set_current, context[d]);
    }
    control.clear_faults();
    control.reset_records();
  }
  ~OnDevice() {
    control.clear_faults();
    for (int d : {1, 0}) {
      STATUS(context_set_current, context[d]);
      STATUS(context_synchronize);
    }
    control.set_check(false);
    control.set_report_mode(OnReport::abort);
  }
};

// Returns the capability of device 0: 90 for compute_90.
inline int capability() {
  int major = 0, minor = 0;
  CU(device_get_attribute, &major, cu_compute_capability_major, 0);
  CU(device_get_attribute, &minor, cu_compute_capability_minor, 0);
  return major * 10 + minor;
}

inline cu_deviceptr allocate(std::size_t bytes) {
  cu_deviceptr address = 0;
  CU(memory_allocate, &address, bytes);
  return address;
}
template <class T> T* allocate_pinned(std::size_t count) {
  void* data = nullptr;
  CU(host_allocate, &data, count * sizeof(T), 0);
  return static_cast<T*>(data);
}
inline cu_stream make_stream(unsigned flags = cu_stream_non_blocking) {
  cu_stream stream = nullptr;
  CU(stream_create, &stream, flags);
  return stream;
}
inline cu_event make_event(unsigned flags = cu_event_disable_timing) {
  cu_event event = nullptr;
  CU(event_create, &event, flags);
  return event;
}
template <class T> std::vector<T> download(cu_deviceptr from, std::size_t count) {
  std::vector<T> values(count);
  CU(copy_to_host, values.data(), from, count * sizeof(T));
  return values;
}

// A kernel compiled from its text.
struct Kernel {
  cu_module module = nullptr;
  cu_function function = nullptr;

  Kernel(const std::string& name, const std::string& text) {
    const nd::cuda::Module compiled = nd::cuda::compile({text, name + ".cu", {}, 90, {}});
    CU(module_load_data, &module, compiled.code.data());
    CU(module_get_function, &function, module, name.c_str());
  }
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;
  ~Kernel() { STATUS(module_unload, module); }

  template <class... A> cu_result launch(unsigned blocks, unsigned threads, cu_stream stream, A... arguments) const {
    void* parameters[] = {&arguments..., nullptr};
    return STATUS(launch_kernel, function, blocks, 1, 1, threads, 1, 1, 0, stream, parameters, nullptr);
  }
};

// p[i] += v for i < n.
inline const char* const kAddText =
    "extern \"C\" __global__ void add(int* p, int v, int n) {\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  if (i < n) p[i] += v;\n"
    "}\n";

}  // namespace cuda_device
