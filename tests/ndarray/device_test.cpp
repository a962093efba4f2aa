// Devices: names, the current one, scopes, what is said about CUDA where there is none.
#include "ndarray/device/device.h"

#include <boost/test/unit_test.hpp>
#include <thread>

#include "kernels/host/error.h"

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
  for (const char* bad : {"", "gpu", "cuda:", "cuda:x", "cuda:-1", "cuda:1x", "cpu:99999"}) BOOST_CHECK_THROW(nd::device_from_name(bad), catena::ValueError);
}

BOOST_AUTO_TEST_CASE(what_there_is) {
  BOOST_TEST(nd::device_count(Device::Kind::cpu) == 1);
  const nd::MemoryInfo info = nd::memory_info(cpu_device);
  BOOST_TEST(info.total_bytes > 0u);
  BOOST_TEST(info.free_bytes <= info.total_bytes);
  nd::synchronize(cpu_device);
  if (nd::is_available(Device::Kind::cuda)) return;
  BOOST_TEST(nd::device_count(Device::Kind::cuda) == 0);
  BOOST_TEST(nd::default_device() == cpu_device);
  BOOST_CHECK_EXCEPTION(nd::backend(Device::Kind::cuda), catena::RuntimeError,
                        [](const catena::RuntimeError& e) { return std::string(e.what()).starts_with("CUDA is unavailable: "); });
  BOOST_CHECK_THROW(nd::set_current_device({Device::Kind::cuda, 0}), catena::RuntimeError);
}

}  // namespace
