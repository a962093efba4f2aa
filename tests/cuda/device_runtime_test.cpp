// nd::cuda::runtime: memory, copies, streams and events by bare addresses, on the software device.
#include <catena/ndarray/chainer_cuda/runtime.h>

#include <boost/test/unit_test.hpp>

#include <cstring>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include <catena/ndarray/ndarray.h>
#include <catena/tests/support/cuda_device/control.h>

namespace {

namespace runtime = nd::cuda::runtime;

std::vector<unsigned char> counting(std::size_t n) {
  std::vector<unsigned char> v(n);
  std::iota(v.begin(), v.end(), static_cast<unsigned char>(1));
  return v;
}

BOOST_AUTO_TEST_SUITE(device_runtime)

BOOST_AUTO_TEST_CASE(devices) {
  BOOST_TEST(runtime::driver_get_version() >= 12000);
  BOOST_TEST(runtime::runtime_get_version() >= 12000);
  const int count = runtime::get_device_count();
  BOOST_TEST(count == nd::device_count(nd::Device::Kind::cuda));
  const int before = runtime::get_device();
  std::thread([&] {
    runtime::set_device(count - 1);
    BOOST_TEST(runtime::get_device() == count - 1);
    BOOST_TEST(nd::current_device().id == count - 1);
    runtime::device_synchronize();
    const auto [free_bytes, total] = runtime::mem_get_info();
    BOOST_TEST(free_bytes <= total);
    BOOST_TEST(total == nd::properties(nd::current_device()).total_bytes);
    if (count > 1 && runtime::device_can_access_peer(count - 1, 0)) {
      runtime::device_enable_peer_access(0);
      runtime::device_enable_peer_access(0);
    }
  }).join();
  BOOST_TEST(runtime::get_device() == before);
  BOOST_TEST(runtime::device_get_attribute(75, 0) * 10 + runtime::device_get_attribute(76, 0) ==
             nd::properties({nd::Device::Kind::cuda, 0}).arch);
  BOOST_CHECK_THROW(runtime::set_device(count), nd::ValueError);
  BOOST_CHECK_THROW(runtime::device_get_attribute(75, count), nd::CudaRuntimeError);
}

BOOST_AUTO_TEST_CASE(memory) {
  const auto values = counting(100);
  void* const device = runtime::malloc(100);
  auto* const pinned = static_cast<unsigned char*>(runtime::host_alloc(100, nd::host_alloc_portable));
  std::vector<unsigned char> out(100);
  runtime::memcpy(device, values.data(), 100, runtime::memcpy_host_to_device);
  runtime::memcpy(out.data(), device, 100);  // by the addresses
  BOOST_TEST(out == values);
  void* const other = runtime::malloc(100);
  runtime::memset(other, 7, 100);
  runtime::memcpy(static_cast<char*>(other) + 10, device, 20);
  runtime::memcpy(pinned, other, 100, runtime::memcpy_device_to_host);
  std::vector<unsigned char> expected(100, 7);
  std::copy_n(values.begin(), 20, expected.begin() + 10);
  BOOST_TEST(std::equal(expected.begin(), expected.end(), pinned));
  runtime::memcpy(out.data(), pinned, 100);
  BOOST_TEST(out == expected);
  runtime::memcpy(nullptr, nullptr, 0);
  runtime::memset(nullptr, 1, 0);

  const runtime::PointerAttributes of_device = runtime::pointer_get_attributes(device),
                                   of_pinned = runtime::pointer_get_attributes(pinned),
                                   of_host = runtime::pointer_get_attributes(&values);
  BOOST_TEST(of_device.is_device);
  BOOST_TEST(of_device.device == runtime::get_device());
  BOOST_TEST(of_device.device_pointer == device);
  BOOST_TEST(!of_pinned.is_device);
  BOOST_TEST(of_pinned.host_pointer == pinned);
  BOOST_TEST(of_host.device == -1);
  BOOST_TEST(of_host.host_pointer == &values);

  BOOST_TEST(runtime::malloc(0) == nullptr);
  BOOST_TEST(runtime::host_alloc(0) == nullptr);
  runtime::free(nullptr);
  runtime::free_host(nullptr);
  runtime::free(other);
  runtime::free(device);
  runtime::free_host(pinned);
  BOOST_CHECK_THROW(runtime::malloc(std::size_t(1) << 60), nd::OutOfMemoryError);
  try {
    runtime::free(out.data());
    BOOST_ERROR("nothing was thrown");
  } catch (const nd::CudaRuntimeError& e) {
    BOOST_TEST(e.symbol() == "CUDA_ERROR_INVALID_VALUE");
    BOOST_TEST(std::string(e.what()).starts_with("cuMemFree_v2: "), e.what());
  }
}

BOOST_AUTO_TEST_CASE(between_devices) {
  if (runtime::get_device_count() < 2) return;
  const auto values = counting(64);
  void* const here = runtime::malloc(64);
  void* there = nullptr;
  {
    const auto on = nd::cuda::Device(1).scope();
    there = runtime::malloc(64);
  }
  runtime::memcpy(here, values.data(), 64);
  runtime::memcpy_peer(there, 1, here, 0, 64);
  const auto on = nd::cuda::Device(1).scope();
  std::vector<unsigned char> out(64);
  runtime::memcpy(out.data(), there, 64);
  BOOST_TEST(out == values);
  BOOST_CHECK_THROW(runtime::memcpy_peer(there, 99, here, 0, 64), nd::ValueError);
  runtime::free(there);
  const auto back = nd::cuda::Device(0).scope();
  runtime::free(here);
}

BOOST_AUTO_TEST_CASE(streams_and_events) {
  void* const stream = runtime::stream_create_with_flags(runtime::stream_non_blocking);
  void* const second = runtime::stream_create();
  auto* const pinned = static_cast<unsigned char*>(runtime::host_alloc(32));
  void* const device = runtime::malloc(32);
  void* const start = runtime::event_create();
  void* const end = runtime::event_create_with_flags(runtime::event_blocking_sync);
  const auto values = counting(32);
  std::memcpy(pinned, values.data(), 32);
  runtime::event_record(start, stream);
  runtime::memset_async(device, 9, 32, stream);
  runtime::memcpy_async(device, pinned, 16, runtime::memcpy_host_to_device, stream);
  runtime::event_record(end, stream);
  runtime::stream_wait_event(second, end);
  runtime::memcpy_async(pinned, device, 32, runtime::memcpy_device_to_host, second);
  static int status, calls;
  status = -1;
  calls = 0;
  runtime::stream_add_callback(
      second,
      [](void*, int s, void* argument) {
        status = s;
        ++*static_cast<int*>(argument);
      },
      &calls);
  runtime::stream_synchronize(second);
  BOOST_TEST(status == 0);
  BOOST_TEST(calls == 1);
  BOOST_TEST(runtime::stream_query(second));
  BOOST_TEST(runtime::event_query(end));
  runtime::event_synchronize(end);
  BOOST_TEST(runtime::event_elapsed_time(start, end) >= 0.f);
  for (int k = 0; k < 32; ++k) BOOST_TEST(int(pinned[k]) == (k < 16 ? k + 1 : 9));
  if (cuda_device::Control::available()) {  // which executes nothing before something waits
    runtime::memset_async(device, 1, 32, stream);
    void* const later = runtime::event_create();
    runtime::event_record(later, stream);
    int polls = 0;
    while (!runtime::event_query(later)) ++polls;
    BOOST_TEST(polls > 0);
    runtime::event_destroy(later);
  }
  BOOST_CHECK_THROW(runtime::event_create_with_flags(1u << 20), nd::CudaRuntimeError);
  runtime::event_destroy(start);
  runtime::event_destroy(end);
  runtime::stream_destroy(stream);
  runtime::stream_destroy(second);
  runtime::free(device);
  runtime::free_host(pinned);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
