// Devices: names, the current one, scopes, what is said about CUDA where there is none.
#include <catena/ndarray/device/device.h>

#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <iostream>
#include <string>
#include <thread>

#include <catena/kernels/base/error.h>
#include <catena/ndarray/device/runtime.h>
#include <catena/tests/support/ndarray_values.h>

namespace {

using nd::cpu_device;
using nd::Device;

BOOST_AUTO_TEST_CASE(current_device_belongs_to_the_thread) {
  nd::set_current_device(cpu_device);
  BOOST_TEST(nd::current_device() == cpu_device);
  std::thread([] { BOOST_TEST((nd::current_device() == nd::default_device())); }).join();
  {
    const nd::DeviceScope scope(cpu_device);
    BOOST_TEST(nd::current_device() == cpu_device);
  }
  BOOST_CHECK_THROW(nd::set_current_device({Device::Kind::cpu, 1}), catena::ValueError);
  BOOST_CHECK_THROW(nd::set_current_device({Device::Kind::cpu, -1}), catena::ValueError);
  BOOST_TEST(nd::current_device() == cpu_device);
}

BOOST_AUTO_TEST_CASE(names) {
  BOOST_TEST(nd::device_from_name("cpu") == cpu_device);
  BOOST_TEST(nd::device_from_name("cpu:0") == cpu_device);
  BOOST_TEST(nd::device_from_name("cuda") == (Device{Device::Kind::cuda, 0}));
  BOOST_TEST(nd::device_from_name("cuda:12") == (Device{Device::Kind::cuda, 12}));
  for (const char* bad : {"", "gpu", "cuda:", "cuda:x", "cuda:-1", "cuda:1x", "cpu:99999"})
    BOOST_CHECK_THROW(nd::device_from_name(bad), catena::ValueError);
}

BOOST_AUTO_TEST_CASE(what_there_is) {
  BOOST_TEST(nd::device_count(Device::Kind::cpu) == 1);
  const nd::MemoryInfo info = nd::memory_info(cpu_device);
  BOOST_TEST(info.total_bytes > 0u);
  BOOST_TEST(info.free_bytes <= info.total_bytes);
  nd::synchronize(cpu_device);
  if (nd::is_available(Device::Kind::cuda)) {
    BOOST_TEST(nd::device_count(Device::Kind::cuda) >= 1);
    BOOST_TEST(&nd::runtime(Device::Kind::cuda) != &nd::runtime(Device::Kind::cpu));
    const nd::MemoryInfo memory = nd::memory_info({Device::Kind::cuda, 0});
    BOOST_TEST(memory.total_bytes > 0u);
    BOOST_TEST(memory.free_bytes <= memory.total_bytes);
    return;
  }
  BOOST_TEST(nd::device_count(Device::Kind::cuda) == 0);
  BOOST_TEST(test::message_of<catena::RuntimeError>([] {
               nd::properties({Device::Kind::cuda, 0});
             }).starts_with("CUDA is unavailable: "));
  BOOST_TEST(nd::default_device() == cpu_device);
  BOOST_CHECK_EXCEPTION(nd::runtime(Device::Kind::cuda), catena::RuntimeError, [](const catena::RuntimeError& e) {
    return std::string(e.what()).starts_with("CUDA is unavailable: ");
  });
  BOOST_CHECK_THROW(nd::set_current_device({Device::Kind::cuda, 0}), catena::RuntimeError);
}

// The system's own report.
BOOST_AUTO_TEST_CASE(properties_of_the_cpu) {
  const nd::DeviceProperties& p = nd::properties(cpu_device);
  BOOST_TEST(!p.name.empty());
  BOOST_TEST(p.compute_capability().empty());
  BOOST_TEST(p.processors == int(sysconf(_SC_NPROCESSORS_ONLN)));
  BOOST_TEST(p.total_bytes == nd::memory_info(cpu_device).total_bytes);
  BOOST_TEST(p.total_bytes / std::size_t(sysconf(_SC_PAGE_SIZE)) == std::size_t(sysconf(_SC_PHYS_PAGES)));
  BOOST_TEST(&nd::properties(cpu_device) == &p);
  BOOST_TEST(test::message_of<catena::ValueError>([] {
               nd::properties({Device::Kind::cpu, 3});
             }) == "properties: cpu:3 does not exist, there is 1 cpu device");
}

BOOST_AUTO_TEST_CASE(properties_of_cuda) {
  if (!nd::is_available(Device::Kind::cuda)) {
    std::cout << "skipped: there is no CUDA device\n";
    return;
  }
  const int count = nd::device_count(Device::Kind::cuda);
  for (int id = 0; id < count; ++id) {
    const Device device{Device::Kind::cuda, std::int16_t(id)};
    const nd::DeviceProperties& p = nd::properties(device);
    BOOST_TEST(!p.name.empty());
    BOOST_TEST(p.arch >= 75);  // the oldest that CUDA 13 compiles for
    BOOST_TEST(p.compute_capability() == std::to_string(p.arch / 10) + std::to_string(p.arch % 10));
    BOOST_TEST(p.processors > 0);
    BOOST_TEST(p.total_bytes == nd::memory_info(device).total_bytes);
    BOOST_TEST(p.shared_bytes_per_block >= 48u * 1024);
    BOOST_TEST(p.shared_bytes_per_block_optin >= p.shared_bytes_per_block);
  }
  BOOST_CHECK_THROW(nd::properties({Device::Kind::cuda, std::int16_t(count)}), catena::ValueError);
}

// Copies between devices do not depend on it: they are tried in both cases.
BOOST_AUTO_TEST_CASE(peers) {
  BOOST_TEST(nd::can_access_peer(cpu_device, cpu_device));
  BOOST_CHECK_THROW(nd::can_access_peer(cpu_device, {Device::Kind::cpu, 1}), catena::ValueError);
  const int count = nd::device_count(Device::Kind::cuda);
  for (int a = 0; a < count; ++a) {
    const Device one{Device::Kind::cuda, std::int16_t(a)};
    BOOST_TEST(nd::can_access_peer(one, one));
    BOOST_TEST(!nd::can_access_peer(one, cpu_device));
    BOOST_TEST(!nd::can_access_peer(cpu_device, one));
    BOOST_CHECK_THROW(nd::can_access_peer(one, {Device::Kind::cuda, std::int16_t(count)}), catena::ValueError);
    for (int b = 0; b < count; ++b) {
      const Device other{Device::Kind::cuda, std::int16_t(b)};
      BOOST_TEST(nd::can_access_peer(one, other) == nd::can_access_peer(other, one));
      const nd::DeviceScope scope(one);
      CHECK_SAME(test::difference(nd::arange(5).to_device(other), nd::array({0, 1, 2, 3, 4})), one << " to " << other);
    }
  }
}

}  // namespace
