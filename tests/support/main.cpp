// The main function of every test program.
#define BOOST_TEST_NO_MAIN
#include <boost/test/unit_test.hpp>

#include <dlfcn.h>

#include <cstdlib>
#include <iostream>

namespace {

// Whether the driver finds a device. (Asked directly: not every test program links the library that knows.)
bool have_gpu() {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (driver == nullptr) return false;
  const auto init = reinterpret_cast<int (*)(unsigned)>(dlsym(driver, "cuInit"));
  const auto count_devices = reinterpret_cast<int (*)(int*)>(dlsym(driver, "cuDeviceGetCount"));
  int count = 0;
  return init != nullptr && count_devices != nullptr && init(0) == 0 && count_devices(&count) == 0 && count > 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (std::getenv("CATENA_TEST_NEEDS_GPU") != nullptr && !have_gpu()) {
    std::cout << "skipped: there is no CUDA device on this machine\n";
    return 77;  // SKIP_RETURN_CODE
  }
  const auto name_suite = [] {
    boost::unit_test::framework::master_test_suite().p_name.value = "catena";
    return true;
  };
  return boost::unit_test::unit_test_main(name_suite, argc, argv);
}
